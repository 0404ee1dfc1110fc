"""One position of any of these games: OpenSpiel's state, the steps that led to it, and the seats that have left."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any, Self, TypeAlias

import pyspiel

from referee.games.api import DATA_OPTION, Chance, DataError, Decision, Event, GameError, IllegalAction, Outcome, Roll
from referee.games.openspiel.actions import Play, writable
from referee.games.openspiel.chance import are_even, weights_of
from referee.games.openspiel.codec import packed
from referee.games.openspiel.events import Acted, Chanced, OpenSpielEvent, Withdrew
from referee.games.openspiel.observation import NO_TENSOR, Observation, Tensor
from referee.games.openspiel.options import reason
from referee.games.openspiel.resampling import changed_steps
from referee.games.openspiel.text import plain

TURN, TOGETHER = "turn", "together"
"""The kinds of decisions: one seat acts, or several at the same time."""

_LINES_KEPT = 1 << 14
"""Texts of actions, which are the same again and again: chess has about 2,000."""

Step: TypeAlias = int | list[int]
"""What one node got: an action or an outcome of chance; where seats act together, an action of each."""

WriteActions: TypeAlias = Callable[[Any, int, Sequence[int]], list[str]]
"""The texts of actions of a seat in a `pyspiel.State`."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What stays the same during a match."""

    name: str
    game: Any
    """`pyspiel.Game`."""
    players: int
    options: Mapping[str, Any]
    start: str
    """The position to begin with; empty for the usual one."""
    perfect: bool
    """Whether information is perfect."""
    resamples: bool
    resamples_itself: bool
    """Whether OpenSpiel's `resample_from_infostate` works."""
    together: bool
    """Whether seats act at the same time."""
    teams: tuple[int, ...]
    unit: int
    """Points for one of OpenSpiel's."""
    tensors: bool
    write: WriteActions

    def begin(self) -> Any:
        """A new `pyspiel.State`."""
        return self.game.new_initial_state(self.start) if self.start else self.game.new_initial_state()


def write_actions(position: Any, seat: int, actions: Sequence[int]) -> list[str]:
    """As OpenSpiel writes them."""
    return [position.action_to_string(seat, action) for action in actions]


class State:
    """See `referee.games.api.State`."""

    __slots__ = ("_actor", "_legal", "_outcomes", "_position", "_rolled", "_setup", "_steps", "_withdrawn")

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._position = setup.begin()
        self._steps: list[Step] = []
        self._withdrawn: tuple[int, ...] = ()
        """Seats that have left, ascending."""
        self._actor = setup.players
        """The last seat that acted alone; the number of players before and after others."""
        self._rolled: tuple[int, ...] = (0,) * (setup.players + 1)
        """Per actor how many chance nodes came after it."""
        self._forget()

    def _forget(self) -> None:
        """The position has changed."""
        self._legal: dict[int, tuple[Play, ...]] = {}
        self._outcomes: tuple[tuple[int, int], ...] | None = None

    # What is asked

    @property
    def name(self) -> str:
        """OpenSpiel's name of the game."""
        return self._setup.name

    @property
    def options(self) -> Mapping[str, Any]:
        """Those of the match."""
        return self._setup.options

    @property
    def position(self) -> Any:
        """The `pyspiel.State`, to be read only."""
        return self._position

    @property
    def turn_seat(self) -> int:
        if self._position.is_player_node() and not self._position.is_simultaneous_node():
            return int(self._position.current_player())
        asked = self._asked()
        if asked:
            return asked[0]
        return self._actor if self._actor < self._setup.players else 0

    def is_terminal(self) -> bool:
        return self._position.is_terminal() or self._is_decided()

    def _is_decided(self) -> bool:
        """Whether those that left have decided the match."""
        if not self._withdrawn:
            return False
        teams = set(self._setup.teams)
        return len(teams - {self._setup.teams[seat] for seat in self._withdrawn}) < min(2, len(teams))

    def _asked(self) -> tuple[int, ...]:
        position = self._position
        if position.is_terminal() or position.is_chance_node() or self._is_decided():
            return ()
        if not position.is_simultaneous_node():
            return (int(position.current_player()),)
        return tuple(
            seat
            for seat in range(self._setup.players)
            if seat not in self._withdrawn and len(position.legal_actions(seat)) > 0
        )

    def decisions(self) -> tuple[Decision, ...]:
        kind = TOGETHER if self._setup.together and self._position.is_simultaneous_node() else TURN
        return tuple(Decision(seat, kind) for seat in self._asked())

    def legal_actions(self, seat: int) -> tuple[Play, ...]:
        found = self._legal.get(seat)
        if found is None:
            if seat not in self._asked():
                return ()
            ids = self._position.legal_actions(seat)
            texts = _told_apart([_line(text) for text in self._setup.write(self._position, seat, ids)], ids)
            found = self._legal[seat] = tuple(map(Play, ids, texts))
        return found

    def is_optional(self, seat: int, action: Play) -> bool:
        """No rule of OpenSpiel's says so."""
        return False

    def chance_outcomes(self) -> tuple[tuple[int, int], ...]:
        if self._outcomes is None:
            at_chance = self._position.is_chance_node() and not self._is_decided()
            self._outcomes = weights_of(self._position.chance_outcomes()) if at_chance else ()
        return self._outcomes

    def chance_stream(self) -> Chance:
        """A die per seat that acted last, so that seats swapped on one seed meet the same luck.

        Where outcomes are not equally likely the name has the number of the step: equal outcomes may have other weights
        the next time.
        """
        name = "chance" if are_even(self.chance_outcomes()) else f"chance {len(self._steps)}"
        return Roll(name, self._actor, self._rolled[self._actor])

    # What happens

    def apply(self, actions: Mapping[int, Play]) -> list[Event]:
        asked = self._asked()
        if not asked or set(actions) != set(asked):
            expected = ", ".join(map(str, asked)) or "none"
            raise IllegalAction(f"answers of seats {sorted(actions, key=str)}; asked are: {expected}")
        for seat in asked:
            self._check_legal(seat, actions[seat])
        return self._act({seat: actions[seat].id for seat in asked}) + self._settle()

    def _check_legal(self, seat: int, action: Any) -> None:
        if type(action) is not Play:
            raise IllegalAction(f"seat {seat}: {action!r} is not an action of this game")
        for legal in self.legal_actions(seat):
            if legal.id == action.id:
                if action.text not in ("", legal.text):
                    raise IllegalAction(f"seat {seat}: action {legal.id} is {legal.text!r} here, not {action.text!r}")
                return
        raise IllegalAction(
            f"seat {seat}: action {action.id} is not one of the {len(self.legal_actions(seat))} legal ones"
        )

    def _act(self, chosen: Mapping[int, int]) -> list[Event]:
        """One decision node gets its actions; those of seats that left are the first of their lists."""
        position, setup = self._position, self._setup
        step: Step
        if position.is_simultaneous_node():
            step = [chosen.get(seat, self._first(seat)) for seat in range(setup.players)]
            acted = list(enumerate(step))
        else:
            seat = int(position.current_player())
            step = chosen.get(seat, self._first(seat))
            acted = [(seat, step)]
        payloads: list[OpenSpielEvent] = []
        if setup.perfect:
            payloads = [Acted(seat, action, _line(setup.write(position, seat, [action])[0])) for seat, action in acted]
        self._take(step)
        return [Event(payload) for payload in payloads]

    def _first(self, seat: int) -> int:
        legal = self._position.legal_actions(seat)
        return int(legal[0]) if len(legal) > 0 else 0

    def _take(self, step: Step) -> None:
        """Apply what a node got, unchecked."""
        position = self._position
        if isinstance(step, list):
            position.apply_actions(step)
            self._actor = self._setup.players
        elif position.is_chance_node():
            actor = self._actor
            position.apply_action(step)
            self._rolled = (*self._rolled[:actor], self._rolled[actor] + 1, *self._rolled[actor + 1 :])
        else:
            self._actor = int(position.current_player())
            position.apply_action(step)
        self._steps.append(step)
        self._forget()

    def _settle(self) -> list[Event]:
        """Play for seats that have left until another seat is asked, or chance decides, or the match is over."""
        events: list[Event] = []
        while self._withdrawn and not self.is_terminal() and not self._position.is_chance_node():
            asked = self._asked()
            if any(seat not in self._withdrawn for seat in asked):
                break
            events += self._act({})
        return events

    def apply_chance(self, outcome: Outcome) -> list[Event]:
        if type(outcome) is not int or all(outcome != known for known, _ in self.chance_outcomes()):
            raise IllegalAction(f"{outcome!r} is not one of the {len(self.chance_outcomes())} outcomes")
        events: list[Event] = []
        if self._setup.perfect:
            text = _line(self._position.action_to_string(pyspiel.PlayerId.CHANCE, outcome))
            events.append(Event(Chanced(outcome, text)))
        self._take(outcome)
        return events + self._settle()

    def withdraw(self, seat: int) -> list[Event]:
        known = type(seat) is int and 0 <= seat < self._setup.players
        if self.is_terminal() or not known or seat in self._withdrawn:
            raise IllegalAction(f"seat {seat} cannot leave: the match is over, it has left, or there is no such seat")
        self._leave(seat)
        return [Event(Withdrew(seat)), *self._settle()]

    def _leave(self, seat: int) -> None:
        self._withdrawn = tuple(sorted((*self._withdrawn, seat)))
        self._forget()

    # The result

    def returns(self) -> tuple[int, ...]:
        """OpenSpiel's returns, in whole numbers; 0 for every seat if the seats that left decided the match."""
        if not self._position.is_terminal():
            return (0,) * self._setup.players
        return tuple(round(self._setup.unit * points) for points in self._position.returns())

    def ranking(self) -> tuple[int, ...]:
        """By returns, exact to nine decimals; a team by the best of its seats, behind the others once one has left."""
        teams = self._setup.teams
        points = [0.0] * self._setup.players
        if self._position.is_terminal():
            points = [round(value, 9) for value in self._position.returns()]
        broken = {teams[seat] for seat in self._withdrawn}
        best = {team: max(points[seat] for seat in range(len(teams)) if teams[seat] == team) for team in teams}
        keys = [(team in broken, 0.0 if team in broken else -best[team]) for team in teams]
        return tuple(1 + sum(other < key for other in keys) for key in keys)

    # What is seen

    def observation(self, viewer: int | None) -> Observation:
        setup, position = self._setup, self._position
        kind = setup.game.get_type()
        over = self.is_terminal()
        text = information = ""
        tensor = information_tensor = NO_TENSOR
        if viewer is None:
            if setup.perfect:
                text = _position_text(kind, position, 0)
        else:
            text = _position_text(kind, position, viewer)
            if not setup.perfect and kind.provides_information_state_string:
                information = _written(position.information_state_string, viewer)
            if setup.tensors:
                if kind.provides_observation_tensor:
                    shape = tuple(setup.game.observation_tensor_shape())
                    tensor = _tensor(position.observation_tensor, viewer, shape)
                if not setup.perfect and kind.provides_information_state_tensor:
                    shape = tuple(setup.game.information_state_tensor_shape())
                    information_tensor = _tensor(position.information_state_tensor, viewer, shape)
        return Observation(
            setup.name,
            -1 if viewer is None else viewer,
            setup.players,
            self._asked(),
            over,
            text,
            tensor,
            information,
            information_tensor,
            self._history() if setup.perfect else (),
            self._withdrawn,
            self.returns() if over else (),
        )

    def _history(self) -> tuple[int, ...]:
        if not self._setup.together:
            return tuple(self._steps)  # type: ignore[arg-type]
        return tuple(action for step in self._steps for action in (step if isinstance(step, list) else (step,)))

    def resample(self, viewer: int | None, rng: Random) -> Self:
        """See `resampling`. A copy where information is perfect or the game is over, and where the game does not offer
        more: see its `not_offered`.
        """
        if self._setup.perfect or not self._setup.resamples or self.is_terminal():
            return self.clone()
        if self._setup.resamples_itself and viewer is not None:
            other = self._resampled_by_openspiel(viewer, rng)
            if other is not None:
                return other
        return self._after(changed_steps(self._setup.begin, self._steps, viewer, rng))

    def _resampled_by_openspiel(self, viewer: int, rng: Random) -> Self | None:
        """None where it raises, or leads to another node: before all cards are dealt."""
        try:
            position = self._position.resample_from_infostate(viewer, rng.random)
        except (pyspiel.SpielError, IndexError):
            return None
        other = self._after([int(item.action) for item in position.full_history()])
        same = (other._asked(), bool(other.chance_outcomes())) == (self._asked(), bool(self.chance_outcomes()))
        if not same or (self.chance_outcomes() and other.chance_stream() != self.chance_stream()):
            return None
        return other

    def _after(self, steps: Sequence[Step]) -> Self:
        """The state after other steps, with the same seats having left."""
        other = type(self)(self._setup)
        for step in steps:
            other._take(step)
        other._withdrawn = self._withdrawn
        return other

    # Copies

    def clone(self) -> Self:
        copy = type(self).__new__(type(self))
        copy._setup = self._setup
        copy._position = self._position.clone()
        copy._steps = self._steps.copy()
        copy._withdrawn = self._withdrawn
        copy._actor = self._actor
        copy._rolled = self._rolled
        copy._legal = self._legal.copy()
        copy._outcomes = self._outcomes
        return copy

    def to_dict(self) -> dict[str, Any]:
        options = dict(self._setup.options)
        return {
            "game": self._setup.name,
            "players": self._setup.players,
            "options": options,
            "steps": [step.copy() if isinstance(step, list) else step for step in self._steps],
            "withdrawn": list(self._withdrawn),
        }

    @classmethod
    def restored(cls, setup: Setup, steps: Sequence[Any], withdrawn: Sequence[Any]) -> Self:
        """The state after these steps. DataError if they are not the steps of a match."""
        state = cls(setup)
        for number, step in enumerate(steps):
            state._check_step(number, step)
            state._take(list(step) if isinstance(step, list) else step)
        for seat in withdrawn:
            if type(seat) is not int or not 0 <= seat < setup.players or seat in state._withdrawn:
                raise DataError(f"state: withdrawn: {seat!r} is not a seat that can have left")
            state._leave(seat)
        return state

    def _check_step(self, number: int, step: Any) -> None:
        position = self._position
        if position.is_terminal():
            raise DataError(f"state: steps[{number}]: the game is over before")
        together = position.is_simultaneous_node()
        actions = step if together and isinstance(step, list) else [step]
        seats = range(self._setup.players) if together else [int(position.current_player())]
        if len(actions) == len(seats):
            for seat, action in zip(seats, actions, strict=True):
                if position.is_chance_node():
                    legal = [outcome for outcome, _ in position.chance_outcomes()]
                else:
                    legal = list(position.legal_actions(seat)) or [0]
                if type(action) is not int or action not in legal:
                    raise DataError(f"state: steps[{number}]: {action!r} is not an action of seat {seat} there")
            return
        raise DataError(f"state: steps[{number}]: expected {len(seats)} actions, not {len(actions)}")

    @classmethod
    def from_events(cls, setup: Setup, history: Sequence[OpenSpielEvent]) -> Self:
        """The state after all events of a match of perfect information. GameError if no match has these events."""
        state = cls(setup)
        together: list[int] = []
        for event in history:
            if isinstance(event, Withdrew):
                state._leave(event.seat)
                continue
            position = state._position
            try:
                if position.is_simultaneous_node():
                    together.append(event.id)
                    if len(together) == setup.players:
                        state._take(together)
                        together = []
                else:
                    state._take(event.id)
            except pyspiel.SpielError as error:
                raise GameError(f"these are not the events of a match: {event} is refused: {reason(error)}") from None
        return state


def copied_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that a state can keep; box data, of which there is none, is an empty table."""
    return {name: {} if name == DATA_OPTION else value for name, value in options.items()}


def _position_text(kind: Any, position: Any, seat: int) -> str:
    """The observation as text; the information state where a game has no other text."""
    if kind.provides_observation_string:
        return _written(position.observation_string, seat)
    if kind.provides_information_state_string:
        return _written(position.information_state_string, seat)
    return ""


def _written(write: Callable[[int], str], seat: int) -> str:
    """The text, in plain characters; empty where the game refuses to write one: some do before all cards are dealt."""
    try:
        return plain(write(seat))
    except pyspiel.SpielError:
        return ""


def _tensor(write: Callable[[int], Sequence[float]], seat: int, shape: tuple[int, ...]) -> Tensor:
    """The same for a tensor."""
    try:
        return Tensor(packed(write(seat)), shape)
    except pyspiel.SpielError:
        return NO_TENSOR


@lru_cache(maxsize=_LINES_KEPT)
def _line(text: str) -> str:
    return writable(" ".join(plain(text).split()))


def _told_apart(texts: list[str], ids: Sequence[int]) -> list[str]:
    """The texts, each with its id if two are equal or one is empty."""
    if len(set(texts)) == len(texts) and all(texts):
        return texts
    return [f"{text} #{number}".strip() for text, number in zip(texts, ids, strict=True)]
