"""What `crosstown matches` prints."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from referee.cli.output import console, plural, print_json, print_table, print_text, table
from referee.games.api import Game
from referee.record import Answer, Chance, Dropped, FaultLine, Record, RecordError, Verdict, read_record
from referee.record.replay import Replay, ReplayError, Step, game_of
from referee.texts import clean
from referee.texts import one_line as one_line
from referee.tournament.errors import UsageError

LONGEST = 20_000
"""Characters of captured output that are shown."""

_EVIDENCE_TEXTS = ("board", "stdout", "stderr")


@dataclass(frozen=True, slots=True)
class Frame:
    """One step as it is shown: what happened in a few lines, and the board after it."""

    happened: tuple[str, ...]
    board: str


class Match:
    """A record, played again for people. It is shown as far as it goes."""

    def __init__(self, record: Record, seat: int | None = None) -> None:
        """`seat`: whose view; None is a spectator. UsageError if there is no such seat."""
        if seat is not None and seat >= record.header.players:
            raise UsageError(f"there is no seat {seat}", f"the match has the seats 0 to {record.header.players - 1}")
        self.record = record
        self.seat = seat
        self._game = game_of(record.header)

    def frames(self) -> Iterator[Frame]:
        """From the start; the last one says what is wrong if the record cannot be followed to its end."""
        if isinstance(self._game, str):
            yield Frame((one_line(self._game),), "")
            return
        try:
            for step in Replay(self.record.header, self.record.lines, self._game):
                yield self._frame(self._game, step)
        except ReplayError as error:
            yield Frame((f"line {error.line} cannot be followed: {one_line(str(error))}",), "")
        except Exception as error:  # rules may stumble over values that no match has ever had
            what = f"{type(error).__name__}: {one_line(str(error))}"
            yield Frame((f"the record cannot be followed: the rules of {self._game.id} broke down: {what}",), "")

    def head(self) -> list[str]:
        head = self.record.header
        lines = [
            f"match {head.match_id}, {head.game} rules {head.rules_version}, {head.created_at}",
            f"tournament {head.tournament or '-'}, place {head.place}, block {head.block}",
            *(f"seat {number} {seat.name} ({seat.entry_id})" for number, seat in enumerate(head.seats)),
        ]
        return [one_line(line) for line in lines]

    def foot(self) -> list[str]:
        """How it ended, with the evidence of faults, and what is wrong with the file."""
        record, lines = self.record, []
        for problem in record.problems:
            lines.append(f"damaged: {f'line {problem.line}: ' if problem.line else ''}{one_line(problem.what)}")
        if record.footer is None:
            return [*lines, "unfinished: the record has no footer"]
        footer = record.footer
        lines.append(f"ended: {one_line(footer.reason)} ({one_line(footer.status)}){_detail(footer.detail)}")
        if footer.ranking:
            lines.append("ranking: " + "  ".join(f"seat {seat}: {rank}" for seat, rank in enumerate(footer.ranking)))
        if footer.returns:
            lines.append("returns: " + "  ".join(f"seat {seat}: {score}" for seat, score in enumerate(footer.returns)))
        for seat, stats in enumerate(footer.seat_stats):
            mean = stats.total_us / stats.decisions / 1000 if stats.decisions else 0.0
            lines.append(
                f"seat {seat}: {plural(stats.decisions, 'decision')}, mean {mean:.1f} ms,"
                f" worst {stats.worst_us / 1000:.1f} ms, processor {stats.cpu_us / 1000:.1f} ms"
                + (f", {plural(stats.dropped, 'message')} dropped" if stats.dropped else "")
            )
        for seat, fault in enumerate(footer.faults):
            if fault is not None:
                lines += _evidence(seat, fault)
        if footer.trouble:
            lines += ["the referee's own trouble:", *_indented(footer.trouble)]
        return lines

    def _frame(self, game: Game, step: Step) -> Frame:
        happened = [self._line(line) for line in step.lines] or ["start"]
        happened += [f"  {one_line(game.view.describe_event(event.seen_by(self.seat)))}" for event in step.events]
        return Frame(tuple(happened), game.view.text_board(step.state.observation(self.seat)))

    def _line(self, line: object) -> str:
        match line:
            case Chance(outcome):
                return f"chance: {one_line(str(outcome))}"
            case Answer():
                note = f"  note: {one_line(line.note)}" if line.note else ""
                name = one_line(self.record.header.seats[line.seat].name)
                return f"seat {line.seat} {name}: {one_line(line.action)}  {line.wall_us / 1000:.1f} ms{note}"
            case FaultLine():
                left = ", leaves" if line.withdrawn else ""
                return f"seat {line.seat} fault: {one_line(line.reason)}{left}: {one_line(line.detail)}"
            case Dropped():
                return f"seat {line.seat}: a message was dropped ({one_line(line.what)})"
        raise TypeError(f"not a line of a record: {line!r}")


def print_list(paths: Iterable[Path], *, as_json: bool) -> None:
    """One row per record."""
    rows = sorted((_row(path) for path in paths), key=lambda row: (row["tournament"], row["place"], row["match"]))
    if as_json:
        print_json(rows)
        return
    out = console()
    made = table(
        [("match", "left"), ("game", "left"), ("seats", "left"), ("ranking", "left"), ("status", "left"),
         ("reason", "left"), ("moves", "right"), ("s", "right")],
        plain=not out.is_terminal,
    )  # fmt: skip
    from rich.text import Text

    for row in rows:
        made.add_row(
            *(Text(one_line(cell)) for cell in (
                row["match"], row["game"], " ".join(row["seats"]), " ".join(map(str, row["ranking"])) or "-",
                row["status"], row["reason"], str(row["decisions"]), f"{row['wall_s']:.1f}",
            ))
        )  # fmt: skip
    print_table(out, made)


def print_match(match: Match) -> None:
    """Everything but the boards in between."""
    for line in match.head():
        print_text(line)
    print_text()
    board = ""
    for number, frame in enumerate(match.frames()):
        for index, line in enumerate(frame.happened):
            print_text(f"{number:5}  {line}" if index == 0 else f"       {line}")
        board = frame.board or board
    print_text()
    print_text(board)
    print_text()
    for line in match.foot():
        print_text(line)


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
    for line in match.head():
        print_text(line)
    for number, frame in enumerate(match.frames()):
        print_text()
        print_frame(number, frame)
    print_text()
    for line in match.foot():
        print_text(line)


def print_frame(number: int, frame: Frame) -> None:
    print_text(f"step {number}")
    for line in frame.happened:
        print_text(line)
    if frame.board:
        print_text(frame.board)


def print_json_record(record: Record) -> None:
    """The record as one JSON document."""
    print_json(
        {
            "path": str(record.path),
            "complete": record.complete,
            "problems": [asdict(problem) for problem in record.problems],
            "header": asdict(record.header),
            "lines": [{"kind": type(line).__name__.lower(), **asdict(line)} for line in record.lines],
            "footer": None if record.footer is None else asdict(record.footer),
        }
    )


def print_verdicts(verdicts: Iterable[Verdict], *, every: bool, as_json: bool) -> int:
    """The verdicts that matter and the sum; how many are wrong."""
    counts = {"ok": 0, "unfinished": 0, "wrong": 0}
    shown = []
    for verdict in verdicts:
        counts[verdict.status] += 1
        if as_json:
            if every or verdict.status == "wrong":
                shown.append({**asdict(verdict), "path": str(verdict.path)})
        elif every or verdict.status == "wrong":
            print_text(one_line(str(verdict)))
    if as_json:
        print_json({**counts, "records": shown})
    else:
        parts = [f"{counts['ok']} ok", f"{counts['wrong']} wrong"]
        if counts["unfinished"]:
            parts.append(f"{counts['unfinished']} unfinished")
        print_text(f"{plural(sum(counts.values()), 'record')}: {', '.join(parts)}")
    return counts["wrong"]


def _row(path: Path) -> dict[str, Any]:
    try:
        record = read_record(path)
    except RecordError as error:
        return {
            "match": path.name, "path": str(path), "tournament": "", "place": -1, "block": -1, "game": "-", "seats": [],
            "ranking": [], "status": "unreadable", "reason": str(error), "decisions": 0, "wall_s": 0.0,
        }  # fmt: skip
    head, footer = record.header, record.footer
    status = footer.status if footer else "unfinished"
    return {
        "match": head.match_id,
        "path": str(path),
        "tournament": head.tournament,
        "place": head.place,
        "block": head.block,
        "game": head.game,
        "seats": [seat.name for seat in head.seats],
        "ranking": list(footer.ranking) if footer else [],
        "status": "damaged" if record.problems else status,
        "reason": record.problems[0].what if record.problems else footer.reason if footer else "-",
        "decisions": sum(isinstance(line, Answer) for line in record.lines),
        "wall_s": footer.wall_us / 1e6 if footer else 0.0,
    }


def _evidence(seat: int, fault: Mapping[str, Any]) -> list[str]:
    lines = [f"fault of seat {seat}: {one_line(str(fault.get('reason')))}{_detail(str(fault.get('detail', '')))}"]
    for name, value in fault.items():
        if name in _EVIDENCE_TEXTS:
            lines += [f"  {name}:", *_indented(str(value))]
        elif name not in ("reason", "detail"):
            shown = " ".join(map(str, value)) if isinstance(value, list) else str(value)
            lines.append(f"  {one_line(name)}: {one_line(shown)}")
    return lines


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in clean(text, LONGEST).rstrip("\n").split("\n")]


def _detail(detail: str) -> str:
    return f": {one_line(detail)}" if detail else ""
