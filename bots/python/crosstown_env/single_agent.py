"""Matches of one agent against fixed opponents, as an environment of Gymnasium."""

from random import Random
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from crosstown_env.opponents import Mixture, Opponent, Opponents
from crosstown_env.table import Setup, Table, whole

Rows = npt.NDArray[np.int8]
ILLEGAL = ("raise", "leave")


class CrosstownSingle(gymnasium.Env[Rows, np.int64]):
    """The agent plays one seat, opponents play the others. `info` holds its `action_mask`, and its `seat`.

    At the end of a match `info` also holds `ranking`, the ranks of all seats.
    """

    def __init__(
        self, setup: Setup, seat: int | None, opponents: Opponents, illegal: str, render_mode: str | None
    ) -> None:
        if seat is not None and not 0 <= seat < setup.players:
            raise ValueError(f"there is no seat {seat}; seats are 0 to {setup.players - 1}")
        if illegal not in ILLEGAL:
            raise ValueError(f"illegal='{illegal}' is unknown; use {' or '.join(ILLEGAL)}")
        self.metadata = {"render_modes": ["ansi"]}
        self.render_mode = render_mode
        layout, size = setup.arrays.layout, setup.arrays.actions.size
        self.observation_space = spaces.Box(layout.low(), layout.high(), dtype=np.int8)
        self.action_space = spaces.Discrete(size)
        self._setup, self._fixed_seat, self._leaves = setup, seat, illegal == "leave"
        self._mixture = Mixture(setup, opponents)
        self._mask = np.zeros(size, np.int8)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Rows, dict[str, Any]]:
        """Begin a match. The seed decides chance, opponents and, if not fixed, the seat. `options` are not used."""
        super().reset(seed=seed)
        rng = Random(int(self.np_random.integers(1 << 62)))
        while True:
            self.seat = rng.randrange(self._setup.players) if self._fixed_seat is None else self._fixed_seat
            self._opponents: list[Opponent] = [self._mixture.draw(rng) for _ in range(self._setup.players)]
            self.table = Table(self._setup, rng)
            self._reward = 0.0
            self._play_on()
            if not self.table.over:  # the agent has something to do
                return self._seen()

    def step(self, action: np.int64) -> tuple[Rows, float, bool, bool, dict[str, Any]]:
        """The agent takes this action; then the opponents play until it is asked again or the match is over.

        An illegal action raises ValueError, or the agent's seat leaves the match: see `illegal` of `single`.
        """
        self._reward = 0.0
        number = whole(action)
        if 0 <= number < len(self._mask) and self._mask[number]:
            self.table.answer_legal(number)
        elif self._leaves and not self.table.over:
            self.table.withdraw(self.seat)
        else:
            self.table.answer(number)  # says what is wrong
        self._reward += self.table.earned[self.seat]
        self._play_on()
        row, info = self._seen()
        return row, self._reward, self.table.over, False, info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The mask of legal actions, in the form that MaskablePPO of sb3-contrib expects."""
        return self._mask.astype(bool)

    def _play_on(self) -> None:
        table, mine = self.table, self.seat
        while not table.over and table.seat != mine:
            table.answer_by(self._opponents[table.seat])
            self._reward += table.earned[mine]

    def _seen(self) -> tuple[Rows, dict[str, Any]]:
        table = self.table
        info: dict[str, Any] = {"seat": self.seat}
        self._mask[:] = 0
        if table.over:
            info["ranking"] = table.state.ranking()
        else:
            self._mask[table.ids(self.seat)] = 1
        info["action_mask"] = self._mask.copy()
        return np.frombuffer(table.row(self.seat), np.int8).copy(), info

    def render(self) -> str | None:
        """With render_mode "ansi", the board as the agent sees it."""
        if self.render_mode is None:
            return None
        return self._setup.game.view.text_board(self.table.seen(self.seat), ())
