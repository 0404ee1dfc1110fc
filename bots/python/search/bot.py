"""Plays any game of `referee.games` by searching: see search.py.

It knows what its seat was shown, nothing more: each play-out begins in a position made up to fit that.
"""

import time
from dataclasses import dataclass, field
from typing import Any

from clock import Pace, time_for
from crosstown_bot import Bot, Match, Turn, run
from crosstown_greedy import POLICIES, Policy
from judging import Judge
from search import Search

from referee.games.api import Game, Payload
from referee.games.registry import get_game

NO_POLICY = Policy(lambda seen, legal, seat: [0.0] * len(legal), width=24)
"""For games whose policy nobody has written: all actions are alike."""


@dataclass
class Memory:
    """What is kept during a match."""

    game: Game
    policy: Policy
    judge: Judge
    history: list[Payload] = field(default_factory=list)
    pace: Pace = field(default_factory=Pace)


class SearchBot(Bot):
    wants_legal_actions = False

    def start(self, match: Match) -> None:
        policy = POLICIES.get(match.game, NO_POLICY)
        match.store = Memory(get_game(match.game), policy, Judge(match.teams, policy.outlook))

    def choose(self, turn: Turn) -> int:
        began_s = time.monotonic()
        match, memory = turn.match, turn.match.store
        codec, policy = memory.game.codec, memory.policy
        memory.history += codec.decode_events(turn.events_bytes)
        if turn.legal_count == 1:
            return 0
        observation = codec.decode_observation(turn.observation_bytes)
        root: Any = memory.game.from_observation(observation, memory.history, match.options, match.rng)
        horizon = self.options["depth"] or policy.horizon
        width, iterations = self.options["width"] or policy.width, self.options["iterations"]
        time_s = time_for(turn, self.options["clock_percent"] / 100)
        if not iterations:
            width = memory.pace.candidates(width, time_s)
        search = Search(root, match.seat, policy, memory.judge, match.rng, horizon, width)
        if iterations:
            while search.play_outs < iterations:
                search.play_world(search.play_outs / iterations)
        else:
            memory.pace.run(search, began_s, time_s)
        action = search.candidates.best()
        turn.note = f"{search.worlds} worlds, {search.play_outs} play-outs, gain {search.candidates.gain():.3f}"
        return list(root.legal_actions(match.seat)).index(action)


run(SearchBot)
