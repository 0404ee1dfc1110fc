"""A match as sentences: one for each move, with what chance brought after it, and one on how the match ended."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from referee.games.api import (
    Event,
    EventSentence,
    Game,
    State,
    action_sentence,
    classified_sentence,
    folded,
    joined,
    seat_name,
)
from referee.record.format import EFFECT_CHOICE, EFFECT_TAKEN, Answer, FaultLine, Footer, Header, Line, Strike
from referee.record.reasons import OWN_FAULTS, TIMED_OUT, EndReason, is_fault
from referee.record.replay import Step
from referee.record.times import in_seconds, margin_us
from referee.texts import listed, plural

EVERYTHING: Final = "all"
Viewer: TypeAlias = int | Literal["all"] | None
"""A seat; all seats at once; None, what everybody could see."""

_FAULTS: Mapping[str, str] = {
    EndReason.RESIGNED: "resigned",
    EndReason.ILLEGAL_ACTION: "sent an illegal action",
    EndReason.MALFORMED_MESSAGE: "sent a message that cannot be read",
    EndReason.OVERSIZED_MESSAGE: "sent a message that is too long",
    EndReason.WRONG_TURN_MESSAGE: "sent messages that the referee did not ask for",
    EndReason.MOVE_TIMEOUT: "ran out of time",
    EndReason.BANK_EXHAUSTED: "used up its time for the match",
    EndReason.CRASHED: "crashed",
    EndReason.OUT_OF_MEMORY: "ran out of memory",
    EndReason.DISCONNECTED: "lost its connection",
    EndReason.PROVIDER_ERROR: "got no answer from its provider",
    EndReason.PROVIDER_ERROR_VOID: "got no answer from its provider",
    EndReason.START_FAILED: "did not start",
    EndReason.SUSPECT_TIMEOUT: "ran out of time while the machine was too busy to blame it",
}
_ENDS: Mapping[str, str] = {
    EndReason.CANCELLED: "the match was cancelled",
    EndReason.PLATFORM_FAULT: "the referee failed, which is no bot's fault; the match does not count",
    EndReason.SUSPECT_TIMEOUT: "an answer came late while the machine was too busy: the match does not count",
    EndReason.PROVIDER_ERROR_VOID: "a bot got no answer from its provider: the match does not count",
    EndReason.START_FAILED: "a bot did not start: the match does not count",
    EndReason.EVERYONE_FAULTED: "every bot had a fault",
}
_EFFECTS: Mapping[str, str] = {
    EFFECT_CHOICE: "; the referee chooses for it once",
    EFFECT_TAKEN: "; the referee plays for it from here on",
}


def fault_words(reason: str) -> str:
    """What a seat did, without a subject: 'ran out of time'."""
    return _FAULTS.get(reason, f"had a fault: {reason.replace('_', ' ')}")


class Row(NamedTuple):
    """One line of the list of moves: the steps from `start` on, as far as they have been played.

    `move` is the number of its first answer, from 1, 0 for the set-up; `turn` counts turns, from 1, 0 before the first
    answer; `seat` is whose turn it is by the rules of the game, though others may be asked in it, -1 for no seat. Rows
    with equal `start` are one line, the last of them whole.
    """

    start: int
    move: int
    turn: int
    seat: int
    text: str
    fault: bool


class Narrator:
    """Tells the steps of one match, in order, as `viewer` may know them."""

    def __init__(self, game: Game, names: Sequence[str], viewer: Viewer) -> None:
        self._game = game
        self._names = names
        self._viewer = viewer
        self._moves = 0
        self._turn_seat = -1
        """Whose turn it is once the last step is over."""
        self._row = Row(0, 0, 0, -1, "", False)
        self._answered = False
        """Whether the row has its answer. One that begins with what chance brings to a new turn waits for it."""
        self._said: list[str | EventSentence] = []
        self._silent: list[str] = []
        self._next: list[str | EventSentence] = []
        """What already belongs to the next turn of what the last step brought."""

    def tell(self, number: int, step: Step) -> tuple[Row, tuple[str, ...]]:
        """The line of the list that step `number` is part of, and the sentences of this step alone."""
        seen: dict[int | None, Any] = {}
        events = [self._sentence_of(event, step.state, seen) for event in step.events]
        acted = [line for line in step.lines if isinstance(line, Answer | FaultLine | Strike)]
        if acted:
            if self._answered or self._row.turn == 0:
                self._begin(number)
            faults = [line for line in acted if not isinstance(line, Answer)]
            answers = [line for line in acted if isinstance(line, Answer)]
            self._row = self._row._replace(move=self._moves + 1, fault=any(is_fault(line.reason) for line in faults))
            self._moves += len(answers)
            self._said += [self._fault(line) for line in faults]
            self._silent = [self._decided(line, step.state) for line in answers]
            own = self._of_this_turn(events, step.state)
            self._said += [event.sentence for event in events[:own]]
            self._next = [event.sentence for event in events[own:]]
            self._answered = True
        else:
            if self._answered and (self._next or self._turn_seat != self._row.seat):
                self._begin(number)
            own = self._of_this_turn(events, step.state) if self._answered else len(events)
            self._said += events[:own]
            self._next = list(events[own:])
        self._turn_seat = step.state.turn_seat
        text = joined(self._sentences() or self._silent, self._names) or "the match begins"
        self._row = self._row._replace(text=text)
        return self._row, tuple(event.sentence for event in events)

    def _begin(self, number: int) -> None:
        """Opens a line."""
        turn = self._row.turn + (self._row.turn == 0 or bool(self._next) or self._turn_seat != self._row.seat)
        self._row = Row(number, self._moves + 1, turn, self._turn_seat, "", False)
        self._said, self._next = self._next, []
        self._silent, self._answered = [], False

    def _of_this_turn(self, events: Sequence[EventSentence], state: State) -> int:
        """How many of the events of a step after an answer belong to the turn of that."""
        kind = getattr(self._game.view, "turn_begins", "")
        if not kind or state.is_terminal():
            return len(events)
        return next((number for number, event in enumerate(events) if event.kind == kind), len(events))

    def _sentences(self) -> list[str]:
        """Of the line so far, runs of what chance brought folded."""
        found: list[str] = []
        for by_chance, run in groupby(self._said, lambda said: isinstance(said, EventSentence)):
            sentences = list(run)
            if by_chance:
                found += folded(
                    self._game,
                    [item for item in sentences if isinstance(item, EventSentence)],
                    setting_up=self._row.turn == 0,
                )
            else:
                found += map(str, sentences)
        return found

    def _sentence_of(self, event: Event, state: State, seen: dict[int | None, Any]) -> EventSentence:
        """`seen` keeps the observations of this step."""
        viewer = min(event.private, default=None) if self._viewer == EVERYTHING else self._viewer
        if viewer not in seen:
            seen[viewer] = state.observation(viewer)
        return classified_sentence(self._game, event.seen_by(viewer), seen[viewer], self._names)

    def _fault(self, line: FaultLine | Strike) -> str:
        more = _EFFECTS.get(line.effect, "") if isinstance(line, Strike) else ""
        return f"{seat_name(self._names, line.seat)} {fault_words(line.reason)}{more}"

    def _decided(self, line: Answer, state: State) -> str:
        """What is said of an answer that no event tells of: what it was, to those who may know."""
        who = seat_name(self._names, line.seat)
        if self._viewer not in (EVERYTHING, line.seat):
            return f"{who} decides"
        action = self._game.parse_action(line.action)
        sentence = action_sentence(self._game, action, state.observation(line.seat), self._names)
        return f"{who}: {sentence}"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a match ended, in one sentence; `seat` is the one whose fault it was, -1 if that of none alone."""

    sentence: str
    seat: int = -1


def ending_of(header: Header, lines: Iterable[Line], footer: Footer) -> Ending:
    """See `Ending`. `lines`: those of the record."""
    names = header.names
    decisions = 0
    faults: dict[int, str] = {}
    left: set[int] = set()
    for line in lines:
        if isinstance(line, Answer):
            decisions += 1
        elif isinstance(line, FaultLine | Strike):
            if isinstance(line, FaultLine) and line.withdrawn:
                left.add(line.seat)
            faults[line.seat] = f"{seat_name(names, line.seat)} {fault_words(line.reason)} after {_counted(decisions)}"
    for seat, fault in enumerate(footer.faults):
        if fault is not None:
            said = faults.get(seat) or f"{seat_name(names, seat)} {fault_words(str(fault.get('reason', '')))}"
            faults[seat] = said + _measured(fault, margin_us(header, seat))
    blamed = [seat for seat, fault in enumerate(footer.faults) if fault is not None]
    first = blamed[0] if blamed else -1
    if footer.status == "rated" and footer.ranking:
        result = _result(names, footer, left)
        if footer.reason in OWN_FAULTS and len(blamed) == 1:
            return Ending(f"{faults[first]}; {result}", first)
        return Ending("; ".join([f"{result} after {_counted(decisions)}", *(faults[seat] for seat in blamed)]), first)
    if footer.reason == EndReason.START_FAILED and footer.detail:
        return Ending(f"{footer.detail}: the match does not count", first)
    reasons = [faults[seat] for seat in blamed] or [_ENDS.get(footer.reason, footer.reason.replace("_", " "))]
    counts = "" if footer.status == "rated" or not blamed else ": the match does not count"
    return Ending("; ".join(reasons) + counts, first)


def _measured(fault: Mapping[str, Any], margin: int) -> str:
    """' (1.012 s; the limit is 1 s)' for a time-out: the time that was charged, and the limit that the bot knew."""
    limit, wall, lag = (fault.get(name) for name in ("limit_us", "wall_us", "lag_us"))
    if not (isinstance(limit, int) and isinstance(wall, int) and isinstance(lag, int) and limit > 0):
        return ""
    if fault.get("reason") not in TIMED_OUT:
        return ""
    return f" ({in_seconds(wall - lag)}; the limit is {in_seconds(max(0, limit - margin))})"


def _result(names: Sequence[str], footer: Footer, left: Collection[int]) -> str:
    """Who won, with the points unless they are no measure: a seat that left may have lost its points by that."""
    best = [seat for seat, rank in enumerate(footer.ranking) if rank == 1]
    who = listed(seat_name(names, seat) for seat in best)
    points = footer.returns if len(footer.returns) == len(footer.ranking) else ()
    if len(best) == len(footer.ranking):
        return f"{who} draw" + (f" {' to '.join(map(str, points))}" if points else "")
    verb = "wins" if len(best) == 1 else "win"
    others = [points[seat] for seat in range(len(points)) if seat not in best]
    if not points or points[best[0]] <= max(others) or (len(points) == 2 and left):
        return f"{who} {verb}"
    if len(points) == 2:
        return f"{who} {verb} {points[best[0]]} to {others[0]}"
    return f"{who} {verb} with {plural(points[best[0]], 'point')}"


def _counted(decisions: int) -> str:
    return f"{decisions} decision{'' if decisions == 1 else 's'}"
