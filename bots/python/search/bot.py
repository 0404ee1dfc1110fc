"""Plays any game of `referee.games` by searching: see search.py.

It knows what its seat was shown, nothing more: each play-out begins in a position made up to fit that.
"""

import time
from dataclasses import dataclass, field
from typing import Any

from crosstown_bot import Bot, Match, Turn, run
from crosstown_greedy import POLICIES, Policy
from judging import Judge
from search import Search

from referee.games.api import Game, Payload
from referee.games.registry import get_game

SLOWEST_WORLD_S = 0.02
"""A guess, until there is experience."""
UNIFORM = Policy(lambda seen, legal, seat: [0.0] * len(legal))
"""For games whose policy nobody has written: all actions are alike."""


@dataclass
class Memory:
    """What is kept during a match."""

    game: Game
    policy: Policy
    judge: Judge
    history: list[Payload] = field(default_factory=list)
    slowest_s: float = SLOWEST_WORLD_S
    """Longest time it took to play candidates out in one world."""


class SearchBot(Bot):
    wants_legal_actions = False

    def start(self, match: Match) -> None:
        policy = POLICIES.get(match.game, UNIFORM)
        match.store = Memory(get_game(match.game), policy, Judge(match.teams, policy.outlook))

    def choose(self, turn: Turn) -> int:
        began_s = time.monotonic()
        match, memory = turn.match, turn.match.store
        codec = memory.game.codec
        memory.history += codec.decode_events(turn.events_bytes)
        if turn.legal_count == 1:
            return 0
        observation = codec.decode_observation(turn.observation_bytes)
        root: Any = memory.game.from_observation(observation, memory.history, match.options, match.rng)
        horizon = self.options["depth"] or memory.policy.horizon
        search = Search(root, match.seat, memory.policy, memory.judge, match.rng, horizon, self.options["width"])
        if self.options["iterations"]:
            while search.play_outs < self.options["iterations"]:
                search.play_world(search.play_outs / self.options["iterations"])
        else:
            self.search_until(search, memory, began_s, self.options["clock_percent"] / 100 * turn.left_s)
        action = search.candidates.best()
        turn.note = f"{search.worlds} worlds, {search.play_outs} play-outs, gain {search.candidates.gain():.3f}"
        return list(root.legal_actions(match.seat)).index(action)

    def search_until(self, search: Search, memory: Memory, began_s: float, time_s: float) -> None:
        """For as long as another world is sure to be over in time; not at all, if there is hardly any."""
        now_s = time.monotonic()
        while now_s + memory.slowest_s < began_s + time_s:
            search.play_world((now_s - began_s) / time_s)
            before_s, now_s = now_s, time.monotonic()
            memory.slowest_s = max(memory.slowest_s, now_s - before_s)


run(SearchBot)
