"""Race to twenty-one, whole: values, rules, text, messages, and the object that Crosstown finds."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from random import Random
from typing import Any, ClassVar

from referee.games.api import (
    ActionSyntaxError,
    ActionText,
    Chance,
    DataError,
    Decision,
    Event,
    IllegalAction,
    Option,
    Outcome,
    PlayersError,
    seat_name,
)

# What seats do, what happens, what is seen


@dataclass(frozen=True, slots=True)
class Add:
    """Add a number to the total."""

    KIND: ClassVar[str] = "add"
    number: int


@dataclass(frozen=True, slots=True)
class Added:
    """A seat has added a number."""

    KIND: ClassVar[str] = "added"
    seat: int
    number: int
    total: int


@dataclass(frozen=True, slots=True)
class Withdrew:
    """A seat has left the match."""

    KIND: ClassVar[str] = "withdrew"
    seat: int


@dataclass(frozen=True, slots=True)
class Observation:
    """Everybody sees everything."""

    players: int
    goal: int
    most: int
    total: int
    turn: int
    left: tuple[int, ...]
    """Seats that have left, ascending."""
    winner: int
    """-1 while there is none."""


# The rules


class State:
    """One position."""

    def __init__(self, players: int, goal: int, most: int) -> None:
        self.players, self.goal, self.most = players, goal, most
        self.total = 0
        self.turn_seat = 0
        self.left: tuple[int, ...] = ()
        self.winner = -1

    def decisions(self) -> tuple[Decision, ...]:
        return () if self.is_terminal() else (Decision(self.turn_seat, "turn"),)

    def legal_actions(self, seat: int) -> tuple[Add, ...]:
        if self.is_terminal() or seat != self.turn_seat:
            return ()
        return tuple(Add(number) for number in range(1, self.most + 1))

    def is_optional(self, seat: int, action: Add) -> bool:
        return False

    def apply(self, actions: Mapping[int, Add]) -> list[Event]:
        if self.is_terminal() or set(actions) != {self.turn_seat}:
            raise IllegalAction(f"it is the turn of seat {self.turn_seat}, or the match is over")
        seat, action = self.turn_seat, actions[self.turn_seat]
        if type(action) is not Add or action not in self.legal_actions(seat):
            raise IllegalAction(f"seat {seat} adds 1 to {self.most}, not {action!r}")
        self.total += action.number
        if self.total >= self.goal:
            self.winner = seat
        else:
            self._next()
        return [Event(Added(seat, action.number, self.total))]

    def _next(self) -> None:
        while True:
            self.turn_seat = (self.turn_seat + 1) % self.players
            if self.turn_seat not in self.left:
                return

    def withdraw(self, seat: int) -> list[Event]:
        known = type(seat) is int and 0 <= seat < self.players
        if self.is_terminal() or not known or seat in self.left:
            raise IllegalAction(f"seat {seat} cannot leave")
        self.left = tuple(sorted((*self.left, seat)))
        staying = [other for other in range(self.players) if other not in self.left]
        if len(staying) == 1:
            self.winner = self.turn_seat = staying[0]
        elif seat == self.turn_seat:
            self._next()
        return [Event(Withdrew(seat))]

    def chance_outcomes(self) -> Sequence[tuple[Outcome, int]]:
        """Nothing is left to chance."""
        return ()

    def chance_stream(self) -> Chance:
        raise IllegalAction("there is no chance node")

    def apply_chance(self, outcome: Outcome) -> list[Event]:
        raise IllegalAction(f"there is no chance node; got {outcome!r}")

    def is_terminal(self) -> bool:
        return self.winner >= 0

    def returns(self) -> tuple[int, ...]:
        return tuple(int(seat == self.winner) for seat in range(self.players))

    def ranking(self) -> tuple[int, ...]:
        keys = [(seat in self.left, seat != self.winner) for seat in range(self.players)]
        return tuple(1 + sum(other < key for other in keys) for key in keys)

    def observation(self, viewer: int | None) -> Observation:
        return Observation(self.players, self.goal, self.most, self.total, self.turn_seat, self.left, self.winner)

    def resample(self, viewer: int | None, rng: Random) -> "State":
        """Nothing is hidden."""
        return self.clone()

    def clone(self) -> "State":
        copy = State(self.players, self.goal, self.most)
        copy.total, copy.turn_seat, copy.left, copy.winner = self.total, self.turn_seat, self.left, self.winner
        return copy

    def to_dict(self) -> dict[str, Any]:
        seen = asdict(self.observation(None))
        return {**seen, "left": list(self.left)}


def state_of(seen: Observation) -> State:
    """The position that is seen."""
    state = State(seen.players, seen.goal, seen.most)
    state.total, state.turn_seat, state.left, state.winner = seen.total, seen.turn, seen.left, seen.winner
    return state


# Messages: JSON. A game whose bots are written in many languages has a .proto file instead.


class Codec:
    """See `referee.games.api.Codec`."""

    def encode_observation(self, observation: Observation) -> bytes:
        return json.dumps(asdict(observation)).encode()

    def decode_observation(self, data: bytes) -> Observation:
        fields = _read(data, dict)
        left = fields.get("left")
        if not isinstance(left, list):
            raise ActionSyntaxError("'left' is not a list")
        numbers = {name: _number(fields.get(name)) for name in Observation.__slots__ if name != "left"}
        return Observation(**numbers, left=tuple(_number(seat) for seat in left))

    def encode_action(self, action: Add) -> bytes:
        return json.dumps(action.number).encode()

    def decode_action(self, data: bytes) -> Add:
        return Add(_number(_read(data, int)))

    def encode_actions(self, actions: Sequence[Add]) -> bytes:
        return json.dumps([action.number for action in actions]).encode()

    def decode_actions(self, data: bytes) -> tuple[Add, ...]:
        return tuple(Add(_number(number)) for number in _read(data, list))

    def encode_events(self, payloads: Sequence[Added | Withdrew]) -> bytes:
        return json.dumps([asdict(payload) for payload in payloads]).encode()

    def decode_events(self, data: bytes) -> tuple[Added | Withdrew, ...]:
        return tuple(_event(fields) for fields in _read(data, list))


def _event(fields: Any) -> Added | Withdrew:
    if isinstance(fields, dict):
        numbers = {name: _number(value) for name, value in fields.items()}
        if numbers.keys() == {"seat"}:
            return Withdrew(**numbers)
        if numbers.keys() == {"seat", "number", "total"}:
            return Added(**numbers)
    raise ActionSyntaxError("this is not an event")


def _read(data: bytes, kind: type[Any]) -> Any:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, kind):
        raise ActionSyntaxError(f"these {len(data)} bytes are not the JSON of this game")
    return value


def _number(value: Any) -> int:
    if type(value) is not int:
        raise ActionSyntaxError(f"{str(value)[:40]!r} is not a whole number")
    return value


# Text


class View:
    """See `referee.games.api.View`."""

    def text_board(self, observation: Observation, names: Sequence[str] = ()) -> str:
        bar = "#" * min(observation.total, 60)
        who = observation.winner if observation.winner >= 0 else observation.turn
        what = "wins" if observation.winner >= 0 else f"adds 1 to {observation.most}"
        return f"{seat_name(names, who)} {what}\n\ntotal {observation.total} of {observation.goal}  {bar}".rstrip()

    def action_sentence(self, action: Add, observation: Observation, names: Sequence[str] = ()) -> str:
        return f"Add {action.number}"

    def event_sentence(self, payload: Added | Withdrew, observation: Observation, names: Sequence[str] = ()) -> str:
        who = seat_name(names, payload.seat)
        if isinstance(payload, Added):
            return f"{who} adds {payload.number}, which makes {payload.total}"
        return f"{who} leaves the match"


# What Crosstown finds


class MyGame:
    """See `referee.games.api.Game`."""

    id = "my_game"
    title = "Race to twenty-one"
    rules_version = 1
    player_counts = (2, 3, 4)
    options = (
        Option("goal", 21, "The total that wins.", "OURS", minimum=2, maximum=1000),
        Option("most", 3, "The largest number that can be added.", "OURS", minimum=1, maximum=9),
    )
    notes = ()
    draws_possible = False
    decision_kinds = ("turn",)
    codec = Codec()
    view = View()
    _text = ActionText((Add,))

    def new_initial_state(self, players: int, options: Mapping[str, Any]) -> State:
        if players not in self.player_counts:
            raise PlayersError(f"my_game is for 2 to 4 players, not {players}")
        return State(players, options["goal"], options["most"])

    def max_decisions(self, players: int, options: Mapping[str, Any]) -> int:
        """Each decision adds at least 1."""
        return int(options["goal"])

    def teams(self, players: int, options: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple(range(players))

    def default_data(self) -> dict[str, Any]:
        return {}

    def check_data(self, data: Any) -> None:
        if data != {} or not isinstance(data, dict):
            raise DataError("my_game has no box data: expected an empty table")

    def format_action(self, action: Add) -> str:
        return self._text.format(action)

    def parse_action(self, text: str) -> Add:
        action: Add = self._text.parse(text)
        return action

    def state_from_dict(self, data: Mapping[str, Any]) -> State:
        return state_of(Observation(**{**data, "left": tuple(data["left"])}))

    def from_observation(
        self, observation: Observation, history: Sequence[Any], options: Mapping[str, Any], rng: Random
    ) -> State:
        return state_of(observation)

    def conserved(self, state: State) -> dict[str, int]:
        """No cards, no tiles."""
        return {}


GAME = MyGame()
