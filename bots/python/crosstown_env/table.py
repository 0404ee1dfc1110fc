"""One match in play: the seats that are asked, the effect of an answer, and the rewards."""

import operator
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from crosstown_env.actions import unpacked
from crosstown_env.arrays import Arrays, arrays_of
from referee.games.api import IllegalAction, State, points_so_far, resolve_options
from referee.games.keyed import random_outcome
from referee.games.registry import get_game

Earn = Callable[["Table"], Sequence[float]]
"""Per seat what it has earned since the last answer."""


def whole(action: Any) -> int:
    """The number of an action. ValueError for what is no whole number: 1.5, cut off, would be another action."""
    try:
        return operator.index(action)
    except TypeError:
        raise ValueError(f"an action is a whole number, not {action!r}") from None


class Setup:
    """What all matches of an environment share."""

    def __init__(self, game: str, players: int | None, options: Mapping[str, Any] | None, reward: str) -> None:
        self.game = get_game(game)
        self.players = self.game.player_counts[0] if players is None else players
        self.options = resolve_options(game, self.game.options, options or {})
        self.arrays: Arrays = arrays_of(game, self.players, self.options)
        self.teams = self.game.teams(self.players, self.options)
        self.opponents = tuple(
            tuple(other for other, team in enumerate(self.teams) if team != mine) for mine in self.teams
        )
        if reward not in REWARDS:
            raise ValueError(f"unknown reward '{reward}'; rewards: {', '.join(REWARDS)}")
        self.reward = reward
        self.earn = REWARDS[reward]
        self.nothing = (0.0,) * self.players

    def order(self) -> dict[str, Any]:
        """The arguments that make an equal setup, as JSON values."""
        return {"game": self.game.id, "players": self.players, "options": self.options, "reward": self.reward}


class Table:
    """A match from its set-up to its end. Chance is resolved by an ordinary generator.

    Where several seats are asked at once, they answer one after another, and none sees what another has answered.
    """

    __slots__ = ("_answers", "asked", "earned", "over", "points", "rng", "seat", "setup", "state")

    def __init__(self, setup: Setup, rng: Random) -> None:
        self.setup = setup
        self.start(rng)

    def start(self, rng: Random) -> None:
        """Begin a new match."""
        self.rng = rng
        self.state: State = self.setup.game.new_initial_state(self.setup.players, self.setup.options)
        self.points: Sequence[float] = self.setup.nothing
        """Per seat, for the reward by points: those at the last answer."""
        self.earned: Sequence[float] = self.setup.nothing
        """Per seat what the last answer has brought."""
        self._settle()

    def _settle(self) -> None:
        """Resolve chance, and find out who is asked."""
        state, rng = self.state, self.rng
        while outcomes := state.chance_outcomes():
            state.apply_chance(random_outcome(outcomes, rng))
        self.asked = tuple([decision.seat for decision in state.decisions()])
        """The seats that are asked at this node."""
        self._answers: dict[int, Any] | None = None
        """If several seats are asked, by seat the answers that were given."""
        self.over = not self.asked
        self.seat = -1 if self.over else self.asked[0]
        """The seat whose answer comes next; -1 when the match is over."""

    def seen(self, seat: int) -> Any:
        """What the seat may see."""
        return self.state.observation(seat)

    def row(self, seat: int) -> bytes:
        """The same as an array."""
        return self.setup.arrays.row(self.state, seat)

    def ids(self, seat: int) -> list[int]:
        """The numbers of what the seat, which is asked, may do."""
        return unpacked(self.setup.arrays.numbers(self.state, seat))

    def answer(self, number: int) -> None:
        """The seat that is asked next takes this action. ValueError, without any change, if it is illegal."""
        if self.over:
            raise ValueError("the match is over; reset the environment to begin another one")
        self.check(self.seat, number)
        self.answer_legal(number)

    def answer_legal(self, number: int) -> None:
        """The same for an action that is known to be legal."""
        self._take(self.setup.arrays.action(self.state, number))

    def answer_by(self, opponent: Callable[[Any, Sequence[Any], int, Random], int]) -> None:
        """The seat that is asked next takes the action that this function chooses. See `opponents.Opponent`."""
        seat = self.seat
        legal = self.state.legal_actions(seat)
        self._take(legal[opponent(self.state.observation(seat), legal, seat, self.rng)])

    def _take(self, action: Any) -> None:
        if len(self.asked) == 1:
            self.state.apply({self.seat: action})
        else:
            answers = self._answers = self._answers or {}
            answers[self.seat] = action
            if len(answers) < len(self.asked):
                self.seat = self.asked[len(answers)]
                self.earned = self.setup.nothing
                return
            self.state.apply(answers)
        self._settle()
        self.earned = self.setup.earn(self)

    def check(self, seat: int, number: int) -> None:
        """ValueError if the seat, which is asked, may not do this."""
        ids = self.ids(seat)
        if number not in ids:
            raise ValueError(_refusal(number, seat, ids))

    def withdraw(self, seat: int) -> None:
        """The seat leaves the match for good. ValueError if it cannot.

        If others are still asked the same, answers that were given stay.
        """
        before = [decision for decision in self.state.decisions() if decision.seat != seat]
        try:
            self.state.withdraw(seat)
        except IllegalAction as error:
            raise ValueError(str(error)) from None
        answers = {one: action for one, action in (self._answers or {}).items() if one != seat}
        if not before or list(self.state.decisions()) != before:
            self._settle()
        elif len(answers) == len(before):
            self.state.apply(answers)
            self._settle()
        else:
            waiting = [decision.seat for decision in before if decision.seat not in answers]
            self.asked = (*answers, *waiting)
            self._answers, self.seat = answers, waiting[0]
        self.earned = self.setup.earn(self)


def _refusal(number: int, seat: int, ids: Sequence[int]) -> str:
    shown = ", ".join(str(one) for one in sorted(ids)[:8])
    more = " .." if len(ids) > 8 else ""
    return (
        f"action {number} is not legal for seat {seat}; {len(ids)} are: {shown}{more}. Choose one that the mask allows."
    )


def by_rank(table: Table) -> Sequence[float]:
    """At the end, per seat from -1 to 1: the share of its opponents that it beat, less the share that beat it."""
    if not table.over:
        return table.setup.nothing
    ranks = table.state.ranking()
    return [
        sum((ranks[mine] < ranks[other]) - (ranks[mine] > ranks[other]) for other in others) / max(1, len(others))
        for mine, others in enumerate(table.setup.opponents)
    ]


def by_difference(table: Table) -> Sequence[float]:
    """At the end, per seat its points, less the mean of its opponents' points."""
    if not table.over:
        return table.setup.nothing
    points = table.state.returns()
    return [
        points[mine] - sum(points[other] for other in others) / max(1, len(others))
        for mine, others in enumerate(table.setup.opponents)
    ]


def by_points(table: Table) -> Sequence[float]:
    """After every answer, per seat the points it has gained by it. They add up to its points at the end."""
    state = table.state
    points = points_so_far(table.setup.game, state, state.observation(None)) or table.setup.nothing
    before, table.points = table.points, points
    return [now - then for now, then in zip(points, before, strict=True)]


REWARDS: Mapping[str, Earn] = {"rank": by_rank, "difference": by_difference, "points": by_points}
