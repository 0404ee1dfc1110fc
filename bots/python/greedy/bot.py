"""Plays every game that ships with Crosstown by looking one step ahead: what each game wants is in its own file."""

from collections.abc import Callable
from random import Random
from typing import Any

import king_of_new_york
import manhattan_traffiq
import shibuya
import ticket_to_ride_new_york
from crosstown_bot import Bot, Turn, run

PLAYERS: dict[str, Callable[[Any, Any, int, Random], int]] = {
    "shibuya": shibuya.choose,
    "ticket_to_ride_new_york": ticket_to_ride_new_york.choose,
    "manhattan_traffiq": manhattan_traffiq.choose,
    "king_of_new_york": king_of_new_york.choose,
}
"""Per game a function of observation, legal actions, own seat and luck; it returns the index of an action."""


class Greedy(Bot):
    games = tuple(PLAYERS)

    def choose(self, turn: Turn) -> int:
        if turn.legal_count == 1:
            return 0
        match = turn.match
        return PLAYERS[match.game](turn.observation, turn.legal_actions, match.seat, match.rng)


run(Greedy)
