"""Plays a record again from its header: one step per chance outcome, node of answers, or seat that left."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from referee.games.api import Event, Game, GameError, State
from referee.games.keyed import KeyedChance
from referee.games.registry import UnknownGame, get_game
from referee.record.format import EFFECT_CHOICE, EFFECT_TAKEN, Answer, Chance, FaultLine, Header, Line, Strike
from referee.record.ranking import FORFEIT, RANDOM, Leavings, default_action

FIRST_LINE = 2
"""The line of the file on which `Record.lines` begins."""


class ReplayError(Exception):
    """The record does not follow from its header. `line` counts from 1; the message says what was expected."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def game_of(header: Header) -> Game | str:
    """The installed game that a record can be played again with, or a sentence on why there is none."""
    try:
        game = get_game(header.game)
    except UnknownGame as error:
        return f"no board: {error}"
    if game.rules_version != header.rules_version:
        return f"no board: played by rules version {header.rules_version}, installed is {game.rules_version}"
    return game


@dataclass(frozen=True, slots=True)
class Step:
    """What one step did. `state` is the position after it, and changes when the replay goes on: clone it to keep it.

    `lines` are what it came from, the last of them on line `line` of the file; a step without lines is the start.
    """

    line: int
    lines: tuple[Line, ...]
    events: tuple[Event, ...]
    state: State


class Replay:
    """Iterates over the steps of a match; iterate once. Lines are taken as they are needed: they may still come.

    After the last step `state` is the final position, `left` per seat None or when it left (1 for the first, 2 for the
    next; equal for those that left together), `struck` the seats that had a fault and stayed, `taken` those that the
    referee has come to play for, and `waiting` the answers of a node that not all seats have answered.
    """

    def __init__(self, header: Header, lines: Iterable[Line], game: Game, seed: str | None = None) -> None:
        """`seed` (hex) has every chance outcome compared with what it gives. ReplayError if the set-up is refused."""
        self._header = header
        self._lines = lines
        self._game = game
        self._chance = None if seed is None else KeyedChance(bytes.fromhex(seed))
        self._moment = 0
        self._leavings = Leavings()
        self.left: list[int | None] = [None] * header.players
        self.taken: set[int] = set()
        self.waiting: dict[int, Any] = {}
        self._seed = seed
        self._unanswered: set[int] = set()
        self.struck: list[int] = []
        try:
            self.state = game.new_initial_state(header.players, header.options)
        except GameError as error:
            raise ReplayError(1, f"the game refuses the set-up: {error}") from None

    def __iter__(self) -> Iterator[Step]:
        yield Step(FIRST_LINE - 1, (), (), self.state)
        gathered: list[Line] = []
        for number, line in enumerate(self._lines, start=FIRST_LINE):
            gathered.append(line)
            try:
                events = self._take(number, line)
            except GameError as error:
                raise ReplayError(number, f"{error.code}: {error}") from None
            if events is not None:
                yield Step(number, tuple(gathered), tuple(events), self.state)
                gathered.clear()

    def _take(self, number: int, line: Line) -> list[Event] | None:
        """The events of the step that this line completes, None if it completes none."""
        if isinstance(line, Answer):
            return self._answer(number, line)
        if isinstance(line, Chance):
            return self._outcome(number, line)
        if isinstance(line, FaultLine):
            return self._fault(number, line)
        if isinstance(line, Strike):
            self._strike(number, line)
        return None

    def _outcome(self, number: int, line: Chance) -> list[Event]:
        outcomes = self.state.chance_outcomes()
        if not outcomes:
            raise ReplayError(number, f"a chance outcome, but {self._asked()}")
        if self._chance is not None:
            expected = self._chance.choose(self.state.chance_stream(), outcomes)
            if expected != line.outcome:
                raise ReplayError(number, f"the seed gives the outcome {expected!r}, the record has {line.outcome!r}")
        self._moment += 1
        self._unanswered.clear()
        return self.state.apply_chance(line.outcome)

    def _answer(self, number: int, line: Answer) -> list[Event] | None:
        seats = [decision.seat for decision in self.state.decisions()]
        expected = next((seat for seat in seats if seat not in self.waiting), None)
        if expected != line.seat:
            raise ReplayError(number, f"an answer of seat {line.seat}, but {self._asked()}")
        action = self._game.parse_action(line.action)
        if action not in self.state.legal_actions(line.seat):
            raise ReplayError(
                number,
                f"illegal_action: {line.action} is not one of the {len(self.state.legal_actions(line.seat))} legal"
                f" actions of seat {line.seat}",
            )
        if line.seat in self._unanswered or line.seat in self.taken:
            self._check_stand_in(number, line.seat, action)
        self.waiting[line.seat] = action
        if len(self.waiting) < len(seats):
            return None
        actions, self.waiting = self.waiting, {}
        self._moment += 1
        self._unanswered.clear()
        return self.state.apply(actions)

    def _check_stand_in(self, number: int, seat: int, action: Any) -> None:
        """What the referee answered for a seat is what the policy says. `random` needs the seed."""
        policy = str(self._header.policy.get("policy", FORFEIT))
        if policy == RANDOM and self._seed is None:
            return
        legal = self.state.legal_actions(seat)
        expected = default_action(policy, legal, self._seed or "", seat, self._moment)
        if action != expected:
            text = self._game.format_action
            what = f"the referee's answer for seat {seat} is {text(expected)}, the record has {text(action)}"
            raise ReplayError(number, what)

    def _fault(self, number: int, line: FaultLine) -> list[Event]:
        if not 0 <= line.seat < len(self.left) or self.left[line.seat] is not None:
            raise ReplayError(number, f"seat {line.seat} cannot leave: it is not in the match")
        if self.waiting:
            raise ReplayError(number, f"a fault among answers, but {self._asked()}")
        if line.later and not self._leavings.is_open_at(self._moment):
            raise ReplayError(number, f"seat {line.seat} cannot leave later than others: none has left here")
        self.left[line.seat] = self._leavings.take(self._moment, later=line.later)
        return self.state.withdraw(line.seat) if line.withdrawn else []

    def _strike(self, number: int, line: Strike) -> None:
        if not 0 <= line.seat < len(self.left) or self.left[line.seat] is not None or line.seat in self.taken:
            raise ReplayError(number, f"seat {line.seat} cannot have a fault: the referee plays for it, or it left")
        if self.waiting:
            raise ReplayError(number, f"a fault among answers, but {self._asked()}")
        self.struck.append(line.seat)
        if line.effect == EFFECT_TAKEN:
            self.taken.add(line.seat)
        elif line.effect == EFFECT_CHOICE:
            self._unanswered.add(line.seat)

    def _asked(self) -> str:
        """What the position waits for, for messages."""
        if self.state.is_terminal():
            return "the game is over"
        seats = [str(item.seat) for item in self.state.decisions() if item.seat not in self.waiting]
        if seats:
            return f"the game expects an answer of seat {seats[0]}"
        return "the game expects a chance outcome"
