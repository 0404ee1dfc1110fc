"""What a position of Shibuya for two is worth to a seat: a small network in numpy, for the bot and for its training."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from crosstown_env import Features, arrays_of
from crosstown_greedy.shibuya import ground_to

from referee.games.shibuya.actions import OFF_GRID
from referee.games.shibuya.bitboard import BOARD_BITS
from referee.games.shibuya.moves import move_targets

Floats = npt.NDArray[np.float32]

REACH_BYTES = 11
"""A mask of targets has 88 bits: 72 of the board and 16 of goals."""
SCALE = 0.1
"""Of the features: there are many of them, and they should not drown the counts."""
COUNTS = 5
"""Of each team: see `Eyes.counts`."""


class Eyes:
    """Makes the inputs of the network from positions, as one of two seats sees them."""

    def __init__(self) -> None:
        self._arrays = arrays_of("shibuya", 2)
        self._features = Features(self._arrays.layout, 2)
        self.size = self._features.size + 2 * (8 * REACH_BYTES + COUNTS)

    def look(self, states: Sequence[Any], viewers: Sequence[int]) -> Floats:
        """Of each position the array of its viewer as features, and what both teams can reach with their next move."""
        rows, reach, counts = [], [], []
        for state, viewer in zip(states, viewers, strict=True):
            seen = state.observation(viewer)
            rows.append(self._arrays.row(seen, viewer))
            for team in (viewer, 1 - viewer):
                targets = move_targets(state, team)
                union = 0
                for mask in targets.values():
                    union |= mask
                reach.append(union.to_bytes(REACH_BYTES, "little"))
                counts += self.counts(seen, team, targets)
        observations = np.frombuffer(b"".join(rows), np.int8).reshape(len(rows), -1)
        bits = np.unpackbits(np.frombuffer(b"".join(reach), np.uint8), bitorder="little")
        return np.concatenate(
            [
                SCALE * self._features(observations),
                SCALE * bits.reshape(len(rows), -1).astype(np.float32),
                np.array(counts, np.float32).reshape(len(rows), -1),
            ],
            axis=1,
        )

    @staticmethod
    def counts(seen: Any, team: int, targets: dict[int, int]) -> tuple[float, ...]:
        """In goal; could go there now; steps to goals: now, saved by the best move, and left after a move of each."""
        setting, goals = seen.setting.teams[team], seen.goals[team]
        fronts = tuple([front for front, count in zip(setting.goal_fronts, goals, strict=True) if not count])
        ground = ground_to(fronts, setting.start_fronts)
        left, within = ground.left, ground.within
        steps = scorers = best = after = 0
        for source in (*seen.fields[team], *[OFF_GRID + place for place in seen.waiting[team]]):
            here = there = left[source]
            mask = targets.get(source, 0)
            if mask >> BOARD_BITS:
                scorers += 1
                there = -1
            elif mask:
                for number, fields in enumerate(within):
                    if fields & mask:
                        there = number
                        break
            steps += here
            after += min(here, there)
            best = max(best, here - there)
        return sum(goals) / 6, scorers / 4, steps / 64, best / 8, after / 64


PRIOR = np.array((2.4, 0.2, -1.0, 0.2, -0.8), np.float32)
"""Weights of the counts of the viewer's team to begin with; those of the other team are the opposite."""


class Net:
    """One hidden layer, and direct connections from the inputs to the output, which is from -1 (lost) to 1 (won)."""

    def __init__(self, weights: dict[str, Floats]) -> None:
        self.weights = weights

    @classmethod
    def new(cls, inputs: int, hidden: int, seed: int) -> "Net":
        """With small random weights."""
        rng = np.random.default_rng(seed)
        shape = (inputs, hidden)
        return cls(
            {
                "first": (rng.standard_normal(shape) / np.sqrt(inputs / 4)).astype(np.float32),
                "bias": np.zeros(hidden, np.float32),
                "second": (rng.standard_normal(hidden) / np.sqrt(hidden) / 4).astype(np.float32),
                "direct": np.concatenate([np.zeros(inputs - 2 * COUNTS), PRIOR, -PRIOR]).astype(np.float32),
                "last": np.zeros(1, np.float32),
            }
        )

    @classmethod
    def load(cls, path: Path) -> "Net":
        """From a file that `save` wrote."""
        with np.load(path) as found:
            return cls({name: found[name].astype(np.float32) for name in found.files})

    def save(self, path: Path) -> None:
        """Half precision is enough, and makes the file half as large."""
        with path.open("wb") as file:  # numpy adds .npz to the path of one that does not end so
            np.savez_compressed(file, **{name: part.astype(np.float16) for name, part in self.weights.items()})

    def hidden(self, inputs: Floats) -> Floats:
        hidden: Floats = np.maximum(inputs @ self.weights["first"] + self.weights["bias"], 0)
        return hidden

    def values(self, inputs: Floats) -> Floats:
        """Per row what the position is worth to its viewer."""
        w = self.weights
        values: Floats = np.tanh(self.hidden(inputs) @ w["second"] + inputs @ w["direct"] + w["last"])
        return values


def worth_of(net: Net, eyes: Eyes, choices: Sequence[tuple[Any, int]]) -> Floats:
    """What positions are worth, each to the seat that it is given with; exact where the match is over."""
    values = np.zeros(len(choices), np.float32)
    going = []
    for place, (state, seat) in enumerate(choices):
        if state.is_terminal():
            ranks = state.ranking()
            values[place] = 2.0 * ((ranks[seat] < ranks[1 - seat]) - (ranks[seat] > ranks[1 - seat]))
        else:
            going.append(place)
    if going:
        inputs = eyes.look([choices[place][0] for place in going], [choices[place][1] for place in going])
        values[going] = net.values(inputs)
    return values


def positions_after(state: Any, seat: int) -> list[Any]:
    """The position after each legal action of the seat."""
    found = []
    for action in state.legal_actions(seat):
        after = state.clone()
        after.apply({seat: action})
        found.append(after)
    return found
