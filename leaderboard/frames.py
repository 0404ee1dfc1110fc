"""A record as frames: what happened at each step, and the board after it.

A viewer is None (what everybody could see), a seat, or EVERYTHING (all seats' knowledge on one board). Of a match that
may still be going on only what everybody could see is shown, and no answer's text, chance outcome or note, and of a
fault the reason alone: those may say what others must not know yet (why an action is illegal lists the legal ones).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from markupsafe import Markup

from leaderboard.evidence import evidence_of
from leaderboard.titles import with_names
from referee.games.api import Game, event_sentence, points_so_far, seat_name
from referee.games.drawing import Look, draw_board, event_places, seat_picture
from referee.record import Answer, Chance, Dropped, FaultLine, Record, Strike
from referee.record.format import Header, Line
from referee.record.narration import EVERYTHING, Ending, Narrator, Row, Viewer, fault_words
from referee.record.reasons import is_fault
from referee.record.replay import Replay, ReplayError, Step, game_of
from referee.record.store import is_live
from referee.record.times import late_us
from referee.texts import clean, one_line, plural

_PART = re.compile(r"(?=<g)")


@dataclass(frozen=True, slots=True)
class Frame:
    """One step. `board` is an `<svg>` element without a style sheet, '' where there is none; `wrong` says why the
    record cannot be followed any further. `row` is the line of the list of moves that the step is part of, as far as
    it has been played, None where the record cannot be followed; `points` are those of the seats, () if unknown."""

    step: int
    lines: tuple[dict[str, Any], ...]
    events: tuple[str, ...]
    board: str
    wrong: str = ""
    row: Row | None = None
    points: tuple[int, ...] = ()


def viewers(record: Record) -> list[Viewer]:
    """Whose views of this record may be looked at."""
    return [None] if is_live(record.path) else [None, *range(record.header.players), EVERYTHING]


def viewer_of(text: str, record: Record) -> Viewer:
    """'' is a spectator, a number a seat, 'all' everything. ValueError for what this record does not offer."""
    viewer: Viewer = None if text == "" else EVERYTHING if text == EVERYTHING else int(text)
    if viewer not in viewers(record):
        raise ValueError(f"the view {text!r} is not to be had")
    return viewer


def frames_of(
    record: Record, viewer: Viewer = None, first: int = 0, last: int | None = None, *, drawn: bool = True
) -> Iterator[Frame]:
    """The frames from step `first` to step `last`. Never raises for what a record contains.

    If the record cannot be followed to its end, one more frame has all lines from there on, without a board. Not
    `drawn`, no frame has one: to draw takes far longer than all the rest.
    """
    game = game_of(record.header)
    if isinstance(game, str):
        if first == 0:
            yield _stuck(record, 0, 0, one_line(game))
        return
    number, taken = -1, 0
    narrator = Narrator(game, record.header.names, viewer)
    try:
        for number, step in enumerate(Replay(record.header, record.lines, game)):
            taken += len(step.lines)
            row, events = narrator.tell(number, step)
            if number >= first:
                yield _frame(record, game, step, Frame(number, (), events, "", "", row), viewer, drawn=drawn)
            if number == last:
                return
    except Exception as error:
        yield _stuck(record, number + 1, taken, _wrong(game, error))


def _stuck(record: Record, number: int, taken: int, wrong: str) -> Frame:
    return Frame(number, tuple(_line(line, record) for line in record.lines[taken:]), (), "", wrong)


@dataclass(frozen=True, slots=True)
class Extent:
    """How far a record can be followed: the last step with a board, and why not further ('' if to its end). `faults`
    has by seat the step of its last fault, `points` are those of the last step, and `said` is its last event, ''
    without one. `step` is that last step, None if the record could not be followed to its end."""

    last: int
    wrong: str
    faults: Mapping[int, int] = field(default_factory=dict)
    points: tuple[int, ...] = ()
    said: str = ""
    step: Step | None = None

    def end(self, ending: Ending | None) -> int:
        """The step that shows how the match ended: that of the fault it ended with, or the last."""
        return self.last if ending is None else self.faults.get(ending.seat, self.last)


def step_words(step: int, last: int) -> str:
    """Where a step stands among `last`. The pages' scripts have the same words in `keys.js`."""
    return f"step {step} of {last}" if step else f"start, before {plural(last, 'step')}"


def extent_of(record: Record) -> Extent:
    """Plays the record without drawing anything."""
    game = game_of(record.header)
    if isinstance(game, str):
        return Extent(0, one_line(game))
    last, wrong, said = 0, "", ""
    faults: dict[int, int] = {}
    step = None
    replay = None
    try:
        replay = Replay(record.header, record.lines, game)
        for last, step in enumerate(replay):
            faults |= {line.seat: last for line in step.lines if isinstance(line, FaultLine | Strike)}
        if step is not None and step.events:
            seen = step.state.observation(None)
            said = one_line(event_sentence(game, step.events[-1].seen_by(None), seen, record.header.names))
    except Exception as error:
        wrong, step = _wrong(game, error), None
    points = () if replay is None else points_so_far(game, replay.state, replay.state.observation(None))
    return Extent(last, wrong, faults, points, said, step)


def board_at(record: Record, extent: Extent, viewer: Viewer, number: int) -> str:
    """The board of the frame of step `number`, without the sentences of all steps before it."""
    game = game_of(record.header)
    if isinstance(game, str):
        return ""
    try:
        if extent.step is not None and number == extent.last:
            return _board(record, game, extent.step, viewer)
        replay = Replay(record.header, record.lines, game)
        return next(_board(record, game, step, viewer) for at, step in enumerate(replay) if at == number)
    except Exception:  # what the frames of this record say
        return ""


def last_board(record: Record, viewer: Viewer) -> str:
    """The newest board. Whether the viewer may see it is the caller's to know."""
    extent = extent_of(record)
    return board_at(record, extent, viewer, extent.last)


def seat_pictures(header: Header) -> list[Markup]:
    """Per seat the piece that stands for it on the board; '' where its game has none, or no such number of seats."""
    game = game_of(header)
    if isinstance(game, str) or header.players not in game.player_counts:
        return [Markup("")] * header.players
    return [Markup(seat_picture(game, seat, header.players)) for seat in range(header.players)]  # noqa: S704 - our own


def step_of_fault(record: Record, seat: int) -> int | None:
    """The step with the first fault of a seat; None if the record cannot be followed to one."""
    game = game_of(record.header)
    if isinstance(game, str):
        return None
    try:
        for number, step in enumerate(Replay(record.header, record.lines, game)):
            if any(isinstance(line, FaultLine | Strike) and line.seat == seat for line in step.lines):
                return number
    except Exception:  # what is wrong is said where the frames are shown
        return None
    return None


def packed(frames: list[Frame]) -> dict[str, Any]:
    """Frames for a browser: boards are lists of indexes into `parts`, which have to be put together in that order.

    Consecutive boards share nearly all their parts, so this is a tenth of the boards' size.
    """
    parts: dict[str, int] = {}
    shown = [
        {
            "step": frame.step,
            "lines": frame.lines,
            "events": frame.events,
            "board": part_indexes(frame.board, parts),
            "wrong": frame.wrong,
            "row": row_values(frame.row),
            "points": frame.points,
        }
        for frame in frames
    ]
    return {"parts": list(parts), "frames": shown}


def row_values(row: Row | None) -> dict[str, Any] | None:
    """A line of the list of moves as JSON values."""
    return None if row is None else row._replace(text=one_line(row.text))._asdict()


def part_indexes(board: str, parts: dict[str, int]) -> list[int]:
    """Which parts a board is put together from, in that order; new ones are added."""
    return [parts.setdefault(part, len(parts)) for part in _PART.split(board) if part]


def _frame(record: Record, game: Game, step: Step, frame: Frame, viewer: Viewer, *, drawn: bool) -> Frame:
    """What is said of the step, with its lines, points and board."""
    seat = viewer if isinstance(viewer, int) else None
    state = step.state
    seen = state.observation(seat)
    frame = replace(
        frame,
        lines=tuple(_line(line, record) for line in step.lines),
        events=tuple(one_line(event) for event in frame.events),
        points=points_so_far(game, state, seen),
    )
    return replace(frame, board=_board(record, game, step, viewer)) if drawn else frame


def _board(record: Record, game: Game, step: Step, viewer: Viewer) -> str:
    seat = viewer if isinstance(viewer, int) else None
    state = step.state
    payloads = [event.seen_by(seat) for event in step.events]
    look = Look(
        names=record.header.names,
        marked=tuple(place for payload in payloads for place in event_places(game, payload)),
        styled=False,
    )
    revealed = [state.observation(seat) for seat in range(record.header.players)] if viewer == EVERYTHING else ()
    return draw_board(game, state.observation(seat), look, revealed)


def _line(line: Line, record: Record) -> dict[str, Any]:
    """What a page shows of one line of the record."""
    secret = is_live(record.path)
    match line:
        case Chance(outcome):
            return {"kind": "chance", "text": "" if secret else one_line(outcome)}
        case Answer():
            shown = {"kind": "answer", "seat": line.seat, "wall_us": line.wall_us, "lag_us": line.lag_us}
            return shown | {
                "cpu_us": line.cpu_us,
                "text": "" if secret else one_line(line.action),
                "note": "" if secret else clean(line.note),
            }
        case FaultLine():
            return _fault(line, "is out of the match" if line.withdrawn else "", record, secret=secret)
        case Strike():
            return _fault(line, "", record, secret=secret)
        case Dropped():
            return {"kind": "dropped", "seat": line.seat, "text": "" if secret else one_line(line.what)}
    raise TypeError(f"not a line of a record: {line!r}")


def _fault(line: FaultLine | Strike, said: str, record: Record, *, secret: bool) -> dict[str, Any]:
    detail = "" if secret else with_names(line.detail, record.header.names)
    text = "; ".join(part for part in (detail, said) if part)
    texts = [] if secret else _texts(record, line)
    words = f"{seat_name(record.header.names, line.seat)} {fault_words(line.reason)}"
    kind = "fault" if is_fault(line.reason) else "resigned"
    shown = {"kind": kind, "seat": line.seat, "text": one_line(text), "words": one_line(words), "texts": texts}
    late = 0 if secret else _late_us(record, line)
    return shown | ({"late_us": late} if late else {})


def _late_us(record: Record, line: FaultLine | Strike) -> int:
    """What the decision was charged that timed out with this fault; 0 if the record does not say."""
    faults = record.footer.faults if record.footer else ()
    fault = faults[line.seat] if 0 <= line.seat < len(faults) else None
    return late_us(fault) if fault is not None and fault.get("detail") == line.detail else 0


def _texts(record: Record, line: FaultLine | Strike) -> list[tuple[str, str]]:
    """What the referee kept of a seat's fault, its last one: captured output and the position, by name."""
    return [text for item in evidence_of(record) if (item.seat, item.reason) == (line.seat, line.reason)
            for text in item.texts]  # fmt: skip


def _wrong(game: Game, error: Exception) -> str:
    if isinstance(error, ReplayError):
        return f"line {error.line} cannot be followed: {one_line(error)}"
    # Rules may stumble over values that no match has ever had.
    return f"the rules of {game.id} broke down: {type(error).__name__}: {one_line(error)}"
