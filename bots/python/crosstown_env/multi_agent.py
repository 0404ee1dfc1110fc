"""Matches as environments of PettingZoo."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv

from crosstown_env.actions import WAIT
from crosstown_env.table import Setup, Table, whole

Observed = dict[str, npt.NDArray[np.int8]]

OBSERVATION, MASK = "observation", "action_mask"


class _Seats:
    """What both kinds of environment share: agents, spaces and what an agent sees."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.agents_by_seat = [f"seat_{seat}" for seat in range(setup.players)]
        self.seats = {agent: seat for seat, agent in enumerate(self.agents_by_seat)}
        layout, size = setup.arrays.layout, setup.arrays.actions.size
        self.observation_spaces: dict[str, spaces.Space[Any]] = {}
        self.action_spaces: dict[str, spaces.Space[Any]] = {}
        for agent in self.agents_by_seat:
            parts = {
                OBSERVATION: spaces.Box(layout.low(), layout.high(), dtype=np.int8),
                MASK: spaces.Box(0, 1, (size,), np.int8),
            }
            self.observation_spaces[agent] = spaces.Dict(parts)
            self.action_spaces[agent] = spaces.Discrete(size)

    def seat_of(self, agent: str) -> int:
        """ValueError if there is no such agent."""
        if agent not in self.seats:
            raise ValueError(f"there is no agent {agent!r}; the agents are {', '.join(self.seats)}")
        return self.seats[agent]

    def seen(self, table: Table, agent: str, asked: bool) -> Observed:
        """The observation and the mask of an agent."""
        seat = self.seats[agent]
        mask = np.zeros(self.setup.arrays.actions.size, np.int8)
        mask[table.ids(seat) if asked else [WAIT]] = 1
        return {OBSERVATION: np.frombuffer(table.row(seat), np.int8).copy(), MASK: mask}

    def kinds(self, table: Table) -> dict[str, dict[str, str]]:
        """Per agent the kind of question that it is asked; empty if it is not asked."""
        asked = {decision.seat: decision.kind for decision in table.state.decisions()}
        return {agent: {"kind": asked.get(seat, "")} for agent, seat in self.seats.items()}


def _next_rng(seed: int | None, last: Random | None) -> Random:
    """A new generator if there is a seed, otherwise the one that was used before."""
    return Random(seed) if seed is not None or last is None else last


class CrosstownAEC(AECEnv[str, Observed, int]):
    """One agent after another. A seat that left or is eliminated is not asked; it stays an agent to the end."""

    def __init__(self, setup: Setup, render_mode: str | None) -> None:
        super().__init__()
        self.metadata = {
            "name": f"{setup.game.id}_v{setup.arrays.version}",
            "render_modes": ["ansi"],
            "is_parallelizable": False,
        }
        self.render_mode = render_mode
        self._seats = _Seats(setup)
        self.possible_agents = list(self._seats.agents_by_seat)
        self.observation_spaces = self._seats.observation_spaces
        self.action_spaces = self._seats.action_spaces
        self._rng: Random | None = None

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a match. The seed decides all chance; without one the generator of the last match continues.

        The options of the game are those of `aec`. `options` is part of PettingZoo's interface and is not used.
        """
        self._rng = _next_rng(seed, self._rng)
        self.table = Table(self._seats.setup, self._rng)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = self._seats.kinds(self.table)
        self.agent_selection = self.possible_agents[self.table.seat]

    def observe(self, agent: str) -> Observed:
        return self._seats.seen(self.table, agent, agent == self.agent_selection and not self.table.over)

    def step(self, action: int | None) -> None:
        """The selected agent takes this action. ValueError, without any change, if the mask does not allow it."""
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError(f"{agent} is asked and cannot answer None: choose an action that its mask allows")
        self.table.answer(whole(action))
        self._cumulative_rewards[agent] = 0.0
        self._after()

    def withdraw(self, agent: str) -> None:
        """The agent leaves the match, as a faulted bot does. ValueError if it has left before or the match is over."""
        self.table.withdraw(self._seats.seat_of(agent))
        self._after()

    def _after(self) -> None:
        self.rewards = dict(zip(self.possible_agents, map(float, self.table.earned), strict=True))
        self.infos = self._seats.kinds(self.table)
        if self.table.over:
            self.terminations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.agents[0]
        else:
            self.agent_selection = self.possible_agents[self.table.seat]
        self._accumulate_rewards()

    def render(self) -> str | None:
        """With render_mode "ansi", the board as the selected agent sees it."""
        if self.render_mode is None:
            return None
        view = self._seats.setup.game.view
        return view.text_board(self.table.seen(self._seats.seats[self.agent_selection]), ())

    def close(self) -> None:
        """Nothing is held open."""


class CrosstownParallel(ParallelEnv[str, Observed, int]):
    """All agents act in each step: those that are asked choose, the others wait (action 0)."""

    def __init__(self, setup: Setup, render_mode: str | None) -> None:
        self.metadata = {"name": f"{setup.game.id}_v{setup.arrays.version}", "render_modes": ["ansi"]}
        self.render_mode = render_mode
        self._seats = _Seats(setup)
        self.possible_agents = list(self._seats.agents_by_seat)
        self.observation_spaces = self._seats.observation_spaces
        self.action_spaces = self._seats.action_spaces
        self.agents: list[str] = []
        self._rng: Random | None = None

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observed], dict[str, dict[str, str]]]:
        """See `CrosstownAEC.reset`."""
        self._rng = _next_rng(seed, self._rng)
        self.table = Table(self._seats.setup, self._rng)
        self.agents = list(self.possible_agents)
        self._earned: Sequence[float] = self._seats.setup.nothing
        """Per seat what it has earned since the last step."""
        return self._seen(), self._seats.kinds(self.table)

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[dict[str, Observed], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, str]]]:
        """Every agent that is asked takes its action in `actions`. Actions of other agents are ignored.

        ValueError, without any change, if an agent that is asked has no action or one that its mask forbids.
        """
        table, names = self.table, self.possible_agents
        asked = table.asked
        for seat in asked:
            if names[seat] not in actions:
                raise ValueError(f"{names[seat]} is asked and has no action: give one for each of {len(asked)} agents")
            if len(asked) > 1:
                table.check(seat, whole(actions[names[seat]]))
        for seat in asked:
            table.answer(whole(actions[names[seat]]))
        if asked:
            self._earned = [sum(pair) for pair in zip(self._earned, table.earned, strict=True)]
        return self._after()

    def withdraw(self, agent: str) -> None:
        """The agent leaves the match before the next step. ValueError if it has left before or the match is over.

        What it earns, and the end of the match if it ends by this, comes with the next step.
        """
        self.table.withdraw(self._seats.seat_of(agent))
        self._earned = [sum(pair) for pair in zip(self._earned, self.table.earned, strict=True)]

    def _after(self) -> tuple[Any, ...]:
        agents = self.agents
        rewards = {agent: float(self._earned[seat]) for agent, seat in self._seats.seats.items()}
        self._earned = [0.0] * len(self._earned)
        over = dict.fromkeys(agents, self.table.over)
        seen, kinds = self._seen(), self._seats.kinds(self.table)
        if self.table.over:
            self.agents = []
        return seen, rewards, over, dict.fromkeys(agents, False), kinds

    def _seen(self) -> dict[str, Observed]:
        asked = self.table.asked
        return {agent: self._seats.seen(self.table, agent, self._seats.seats[agent] in asked) for agent in self.agents}

    def render(self) -> str | None:
        """With render_mode "ansi", the board as a spectator sees it."""
        if self.render_mode is None:
            return None
        return self._seats.setup.game.view.text_board(self.table.state.observation(None), ())

    def close(self) -> None:
        """Nothing is held open."""
