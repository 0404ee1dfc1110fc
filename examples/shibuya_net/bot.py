"""Looks one action ahead and takes the position that its network likes best."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # bots share the machine

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crosstown_bot import Bot, Turn, run
from net import Eyes, Net, positions_after, worth_of

from referee.games.registry import get_game

GAME = get_game("shibuya")


class ShibuyaNet(Bot):
    games = ("shibuya",)
    wants_legal_actions = False

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__(options)
        self.net, self.eyes = Net.load(Path(__file__).with_name("weights.npz")), Eyes()

    def choose(self, turn: Turn) -> int:
        if turn.legal_count == 1 or turn.match.players != 2:
            return 0
        seen = GAME.codec.decode_observation(turn.observation_bytes)
        seat = turn.match.seat
        state = GAME.from_observation(seen, (), turn.match.options, turn.match.rng)
        worths = worth_of(self.net, self.eyes, [(after, seat) for after in positions_after(state, seat)])
        turn.note = f"{worths.max():+.3f}"
        return int(worths.argmax())


run(ShibuyaNet)
