"""Plays any game of `referee.games` by searching: see search.py.

It knows what its seat was shown, nothing more: each play-out begins in a position made up to fit that.
"""

import time
from dataclasses import dataclass, field
from typing import Any

from crosstown_bot import Bot, Match, Turn, run
from habits import Habits
from search import Search

from referee.games.api import Game, Payload
from referee.games.registry import get_game


@dataclass
class Memory:
    """What is kept during a match."""

    game: Game
    habits: Habits
    history: list[Payload] = field(default_factory=list)


class SearchBot(Bot):
    wants_legal_actions = False

    def start(self, match: Match) -> None:
        match.store = Memory(get_game(match.game), Habits(match.rng))

    def choose(self, turn: Turn) -> int:
        began_s = time.monotonic()
        match, memory = turn.match, turn.match.store
        codec = memory.game.codec
        memory.history += codec.decode_events(turn.events_bytes)
        if turn.legal_count == 1:
            return 0
        observation = codec.decode_observation(turn.observation_bytes)
        root: Any = memory.game.from_observation(observation, memory.history, match.options, match.rng)
        search = Search(root, match.seat, match.teams, memory.habits, match.rng, self.options["depth"])
        iterations, share = self.options["iterations"], self.options["clock_percent"] / 100
        if iterations:
            for _ in range(iterations):
                search.play_out()
        else:
            end_s = began_s + share * turn.left_s
            while time.monotonic() < end_s:
                search.play_out()
        action = search.most_visited()
        turn.note = f"{search.play_outs} play-outs, value {search.value(action):.2f}"
        return list(root.legal_actions(match.seat)).index(action)


run(SearchBot)
