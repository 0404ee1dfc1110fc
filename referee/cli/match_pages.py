"""What `crosstown matches` and `crosstown match --watch` show of a match."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, groupby
from pathlib import Path

from leaderboard.completeness import Gaps
from leaderboard.evidence import LONGEST, evidence_of
from leaderboard.match_list import progress_of, ruling_of
from leaderboard.titles import game_title
from leaderboard.usage import spent_in, spent_words
from referee.cli.output import fold, print_json, print_text
from referee.errors import UsageError
from referee.games.api import Game, seat_name, text_board
from referee.record import Answer, Chance, Dropped, FaultLine, Record, SeatStats, Strike, Verdict
from referee.record.format import EFFECT_CHOICE, EFFECT_NONE, EFFECT_TAKEN, Header, Line
from referee.record.narration import EVERYTHING, Narrator, Row, Viewer, ending_of, fault_words
from referee.record.reader import NotARecordError, RecordFollower
from referee.record.reasons import is_fault
from referee.record.replay import Replay, ReplayError, Step, game_of
from referee.record.store import is_live
from referee.record.times import seat_times, time_words
from referee.run.checks import RunCheck
from referee.texts import clean, one_line, plural, with_seats

_TOOK = "took "
_SHOWN_CPU_US = 1000
NOTE_SHOWN = 200
"""Characters of a note beside its move; so many moves stay readable one below the other."""

KEPT_OUTPUT = (
    "output: a record keeps what a bot printed only for its fault; crosstown match --output shows it for any match"
)

_PROGRESS = {
    "going on": "; the match goes on",
    "cut off": "; the match was cut off when its run was stopped, and is played again when the run goes on",
}
_EFFECTS = {
    EFFECT_NONE: "",
    EFFECT_CHOICE: ", the referee chooses for it once",
    EFFECT_TAKEN: ", the referee plays for it from here on",
}


@dataclass(frozen=True, slots=True)
class Frame:
    """One step as it is shown: what happened in a few lines, and the board after it.

    `row` is the line of the list of moves that it belongs to, `extra` what is printed below that line: times where
    several seats answered, notes, reasons of faults. A step that cannot be followed has neither."""

    happened: tuple[str, ...]
    board: str
    fault: bool = False
    row: Row | None = None
    extra: tuple[str, ...] = ()


class Match:
    """A record, played again for people. It is shown as far as it goes."""

    def __init__(self, record: Record, seat: int | None = None, *, reveal: bool = False) -> None:
        """`seat`: whose view; None is a spectator. Of a match that is not over only what everybody could see is shown,
        and no text that may say more, unless `reveal`. UsageError if there is no such seat, or no view of it yet."""
        if seat is not None and seat >= record.header.players:
            raise UsageError(f"there is no seat {seat}", f"the match has the seats 0 to {record.header.players - 1}")
        self._secret = is_live(record.path) and not reveal
        if seat is not None and self._secret:
            raise UsageError("the match is not over: it has no views of seats", "leave --seat out, or say --reveal")
        self.record = record
        self.seat = seat
        self._names = tuple(one_line(name) for name in record.header.names)
        self._game = game_of(record.header)

    def frames(self, lines: Iterable[Line] | None = None) -> Iterator[Frame]:
        """From the start. If the record cannot be followed to its end, one says why, and what is left comes without
        boards. `lines`: those of a record that still grows, as they come."""
        read: list[Line] = []
        coming = _noted(self.record.lines if lines is None else lines, read)
        taken = 0
        if isinstance(self._game, str):
            wrong = one_line(self._game)
        else:
            viewer: Viewer = self.seat if self.seat is not None else None if self._secret else EVERYTHING
            narrator = Narrator(self._game, self._names, viewer)
            try:
                for number, step in enumerate(Replay(self.record.header, coming, self._game)):
                    taken += len(step.lines)
                    yield self._frame(self._game, narrator, number, step)
                return
            except ReplayError as error:
                wrong = f"line {error.line} cannot be followed: {one_line(str(error))}"
            except Exception as error:  # rules may stumble over values that no match has ever had
                what = f"{type(error).__name__}: {one_line(str(error))}"
                wrong = f"the record cannot be followed: the rules of {self._game.id} broke down: {what}"
        yield Frame((wrong,), "")
        for line in chain(read[taken:], coming):
            yield Frame((self._line(line),), "", isinstance(line, FaultLine | Strike))

    def head(self) -> list[str]:
        head = self.record.header
        lines = [
            f"match {head.match_id}: {game_title(head.game)}, rules {head.rules_version}, {head.created_at}",
            f"tournament {head.tournament or '-'}, place {head.place}, block {head.block}{_seating(head)}",
            *(
                f"seat {number + 1} (--seat {number}): {seat.name} ({seat.entry_id})"
                for number, seat in enumerate(head.seats)
            ),
        ]
        return [one_line(line) for line in lines]

    def foot(self) -> list[str]:
        """How it ended, with the evidence of faults, and what is wrong with the file."""
        record, lines = self.record, []
        for problem in record.problems:
            lines.append(f"damaged: {f'line {problem.line}: ' if problem.line else ''}{one_line(problem.what)}")
        if record.footer is None:
            more = _PROGRESS.get(progress_of(record.path), "")
            return [*lines, f"unfinished: the record has no footer{more}"]
        footer = record.footer
        lines.append(one_line(ending_of(record.header, record.lines, footer).sentence))
        lines.append(f"ended: {one_line(footer.reason)} ({one_line(footer.status)}){self._detail(footer.detail)}")
        lines += [one_line(ruled)] if (ruled := ruling_of(record)) else []
        for what, numbers in (("ranking", footer.ranking), ("points", footer.returns)):
            if numbers:
                by_name = (f"{self._name(seat)} {number}" for seat, number in enumerate(numbers))
                lines.append(f"{what}: {', '.join(by_name)}")
        times = seat_times(record.lines, len(footer.seat_stats), footer.faults)
        for seat, (stats, took) in enumerate(zip(footer.seat_stats, times, strict=True)):
            lines.append(
                f"{self._name(seat)}: {plural(stats.decisions, 'decision')}, mean {took.mean_charged_ms:.1f} ms,"
                f" worst {took.worst_charged_us / 1000:.1f} ms, worst lag {took.worst_lag_us / 1000:.1f} ms,"
                f" processor {stats.cpu_us / 1000:.1f} ms{_unasked(stats)}"
                + (f", {plural(stats.dropped, 'message')} dropped" if stats.dropped else "")
            )
        for seat, used in enumerate(footer.usage):
            if used is not None:
                lines.append(f"{self._name(seat)}: language model: {spent_words(spent_in(used))}")
        for fault in evidence_of(record):
            lines.append(f"fault of {self._name(fault.seat)}: {fault.said}")
            lines += [f"  {fault.cause}"] if fault.cause else []
            lines += [f"  {name}: {value}" for name, value in fault.values]
            for name, text in fault.texts:
                lines += [f"  {name}:", *_indented(text)]
        if not self._secret:
            lines.append(KEPT_OUTPUT)
        if footer.trouble:
            lines += ["the referee's own trouble:", *_indented(clean(footer.trouble, LONGEST))]
        return lines

    def _frame(self, game: Game, narrator: Narrator, number: int, step: Step) -> Frame:
        row, sentences = narrator.tell(number, step)
        answers = [line for line in step.lines if isinstance(line, Answer)]
        faults = [line for line in step.lines if isinstance(line, FaultLine | Strike)]
        shown = sentences or (() if faults else (row.text,))
        extra = [
            f"{f'{self._name(line.seat)} ' if len(answers) > 1 else ''}{_TOOK}{time_words(line.wall_us, line.lag_us)}"
            for line in answers
        ]
        extra += [f"note: {_note(line.note)}" for line in answers if line.note and not self._secret]
        extra += [self._line(line) for line in step.lines if isinstance(line, FaultLine | Strike | Dropped)]
        board = text_board(game, step.state.observation(self.seat), self._names)
        happened = (*(one_line(sentence) for sentence in shown), *(f"  {line}" for line in extra))
        return Frame(happened, board, row.fault, row, tuple(extra))

    def _line(self, line: object) -> str:
        """What is said of one line of the record beside the sentences, or without them."""
        match line:
            case Chance(outcome):
                return "chance" if self._secret else f"chance: {one_line(str(outcome))}"
            case Answer() if self._secret:
                return f"{self._name(line.seat)} answered  {time_words(line.wall_us, line.lag_us)}"
            case Answer():
                note = f"  note: {_note(line.note)}" if line.note else ""
                took = time_words(line.wall_us, line.lag_us)
                return f"{self._name(line.seat)}: {one_line(line.action)}  {took}{note}"
            case FaultLine():
                left = ", leaves" if line.withdrawn else ""
                return f"{self._blamed(line)}{left}{self._told(line.detail)}"
            case Strike():
                lost = _EFFECTS.get(line.effect, line.effect)
                return f"{self._blamed(line)}{lost}{self._told(line.detail)}"
            case Dropped():
                what = "" if self._secret else f" ({one_line(line.what)})"
                return f"a message of {self._name(line.seat)} was dropped{what}"
        raise TypeError(f"not a line of a record: {line!r}")

    def _blamed(self, line: FaultLine | Strike) -> str:
        if is_fault(line.reason):
            return f"fault of {self._name(line.seat)}: {one_line(line.reason)}"
        return f"{self._name(line.seat)} {fault_words(line.reason)}"

    def _told(self, detail: str) -> str:
        return "" if self._secret else f": {one_line(with_seats(detail, self.record.header.names))}"

    def _detail(self, detail: str) -> str:
        return f": {one_line(with_seats(detail, self.record.header.names))}" if detail else ""

    def _name(self, seat: int) -> str:
        """A line that cannot be followed may be of a seat that there is not."""
        return one_line(seat_name(self._names, seat))


def _unasked(stats: SeatStats) -> str:
    """The processor time that a bot used without being asked: nothing of less than a millisecond."""
    times = {"off turn": stats.off_turn_cpu_us, "between its last match and this one": stats.idle_cpu_us}
    return "".join(f", {us / 1000:.1f} ms {when}" for when, us in times.items() if us >= _SHOWN_CPU_US)


def _note(text: str) -> str:
    left = len(text) - NOTE_SHOWN
    return one_line(text) if left <= 0 else f"{one_line(text[:NOTE_SHOWN])}... ({left} more characters; --json has all)"


def _noted(lines: Iterable[Line], read: list[Line]) -> Iterator[Line]:
    for line in lines:
        read.append(line)
        yield line


def print_match(match: Match) -> None:
    """Everything but the boards in between: the moves by turns, each after the number of its step."""
    _print_folded(match.head())
    print_text()
    print_text(" step  turn")
    board, turn = "", 0
    more: Sequence[str]
    for frames in _by_rows(match.frames()):
        (number, _), (_, frame) = frames[0], frames[-1]
        board = next((shown.board for _, shown in reversed(frames) if shown.board), board)
        if frame.row is None:
            first, more, mark = frame.happened[0], frame.happened[1:], ""
        else:
            took, more = _taken_apart([line for _, shown in frames for line in shown.extra])
            first = f"{one_line(frame.row.text)}{took}"
            mark = str(frame.row.turn) if frame.row.turn != turn else ""
            turn = frame.row.turn
        print_text("\n".join(fold(f"{number:5} {mark:>5}  {first}", " " * 15)))
        for line in more:
            print_text("\n".join(fold(f"{' ' * 13}{line}", " " * 17)))
    print_text()
    print_text(board)
    print_text()
    _print_folded(match.foot())


def _taken_apart(extra: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The time of the one answer, to stand behind the sentence, and what is printed below it."""
    if extra and extra[0].startswith(_TOOK):
        return f"  {extra[0].removeprefix(_TOOK)}", extra[1:]
    return "", extra


def _by_rows(frames: Iterable[Frame]) -> Iterator[list[tuple[int, Frame]]]:
    """Steps with their numbers, those of one line of the list of moves together."""
    for _, steps in groupby(enumerate(frames), lambda step: step[1].row.start if step[1].row else -1 - step[0]):
        yield list(steps)


def print_step(match: Match, step: int) -> None:
    """One position. UsageError if the match is shorter."""
    last = 0
    for number, frame in enumerate(match.frames()):
        last = number
        if number == step:
            print_frame(number, frame)
            return
    raise UsageError(f"there is no step {step}", f"the record has the steps 0 to {last}")


def print_steps(match: Match) -> None:
    """All positions."""
    _print_folded(match.head())
    for number, frame in enumerate(match.frames()):
        print_text()
        print_frame(number, frame)
    print_text()
    _print_folded(match.foot())


def print_frame(number: int, frame: Frame) -> None:
    print_text(f"step {number}")
    _print_folded(frame.happened)
    if frame.board:
        print_text(frame.board)


def _print_folded(lines: Iterable[str]) -> None:
    for line in lines:
        print_text("\n".join(fold(line)))


def _seating(head: Header) -> str:
    """Where in the tournament the match stands, for formats that pair in rounds."""
    parts = (("stage", head.stage), ("round", head.round), ("table", head.table))
    return "".join(f", {what} {value}" for what, value in parts if value)


def print_verdicts(
    verdicts: Iterable[Verdict],
    gaps: Iterable[Gaps] = (),
    checks: Iterable[RunCheck] = (),
    *,
    every: bool,
    as_json: bool,
) -> int:
    """The verdicts that matter, what is wrong with runs as a whole, and the sum; how many things are not proven."""
    counts = {"ok": 0, "unfinished": 0, "other_rules": 0, "wrong": 0}
    failed = ("wrong", "other_rules")
    shown = []
    for verdict in verdicts:
        counts[verdict.status] += 1
        if as_json:
            if every or verdict.status in failed:
                shown.append({**asdict(verdict), "path": str(verdict.path)})
        elif every or verdict.status in failed:
            print_text(one_line(str(verdict)))
    holes, checked = list(gaps), list(checks)
    if as_json:
        runs = [{**asdict(gap), "run": str(gap.run)} for gap in holes]
        print_json({**counts, "records": shown, "runs": runs, "checks": [check.values() for check in checked]})
    else:
        for gap in holes:
            for line in gap.lines():
                print_text(one_line(line))
        for check in checked:
            for line in check.lines():
                print_text(one_line(line))
        parts = [f"{counts['ok']} ok", f"{counts['wrong']} wrong"]
        if counts["other_rules"]:
            parts.append(f"{counts['other_rules']} of other rules, not played again")
        if counts["unfinished"]:
            parts.append(f"{counts['unfinished']} unfinished")
        print_text(f"{plural(sum(counts.values()), 'record')}: {', '.join(parts)}")
    of_runs = sum(gap.number for gap in holes) + sum(len(check.wrong) for check in checked)
    return counts["wrong"] + counts["other_rules"] + of_runs


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in text.rstrip("\n").split("\n")]


LOOK_S = 0.1


def watch_record(path: Path, over: threading.Event) -> None:
    """Prints each step as it comes, until the match is `over` and its record read to the end.

    The record is played again once, along with its growing: a look costs what has come since the one before.
    """
    follower = RecordFollower(path)
    lines = _coming(follower, over)
    first = next(lines, None)  # by then there is a header
    try:
        match = Match(follower.record, reveal=True)  # who watches has started the bots
    except NotARecordError:
        return  # nothing of it was ever written
    for number, frame in enumerate(match.frames(_put_back(first, lines))):
        print_frame(number, frame)
        print_text()


def _coming(follower: RecordFollower, over: threading.Event) -> Iterator[Line]:
    while True:
        last = over.is_set()
        yield from follower.poll()
        if last:
            return
        over.wait(LOOK_S)


def _put_back(first: Line | None, lines: Iterator[Line]) -> Iterator[Line]:
    if first is not None:
        yield first
    yield from lines
