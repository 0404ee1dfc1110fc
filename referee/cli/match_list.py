"""What `crosstown matches list` chooses and prints."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from leaderboard.evidence import evidence_of, last_lines
from referee.cli.match_standing import Verdicts, progress_of, set_aside_as
from referee.cli.output import console, print_json, print_table, print_text, table
from referee.errors import UsageError
from referee.record import Answer, Footer, Header, Record, RecordError, read_record
from referee.record.journal import FailedStart
from referee.record.reader import read_header
from referee.record.reasons import EndReason
from referee.record.times import SeatTimes
from referee.run.folder import RunFolder
from referee.texts import one_line

_DAY = timedelta(days=1)

LAST = 20
"""Matches that are listed unasked."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which matches are wanted; an empty field asks for nothing. Times are UTC; `until` is the first that is too late.

    `bots`: names or beginnings of entry ids, all of which must have a seat. `reason`: why the match ended, or a seat's
    fault in it.
    """

    bots: tuple[str, ...] = ()
    game: str = ""
    reason: str = ""
    tournament: str = ""
    since: datetime | None = None
    until: datetime | None = None

    def takes_header(self, head: Header) -> bool:
        """Whether a match with this header may be wanted."""
        if self.since is not None or self.until is not None:
            created = _time(head.created_at)
            if created is None or not (self.since or created) <= created:
                return False
            if self.until is not None and created >= self.until:
                return False
        return (
            self.game in ("", head.game)
            and self.tournament in ("", head.tournament)
            and all(any(_is_bot(bot, seat.name, seat.entry_id) for seat in head.seats) for bot in self.bots)
        )

    def takes_end(self, footer: Footer | None) -> bool:
        """Whether a match with this end is wanted."""
        if not self.reason:
            return True
        faults = () if footer is None else (fault.get("reason") for fault in footer.faults if fault is not None)
        return footer is not None and self.reason in (footer.reason, *faults)

    @property
    def empty(self) -> bool:
        return self == Filter()


def make_filter(bots: Sequence[str], game: str, reason: str, tournament: str, since: str, until: str) -> Filter:
    """From what a user typed. A day as `until` is meant whole. UsageError."""
    if reason and reason not in list(EndReason):
        raise UsageError(f"no match ends by {reason!r}", f"choose one of {', '.join(EndReason)}")
    ends = _asked_time(until)
    if ends is not None and _is_day(until):
        ends = ends + _DAY if ends.date() < date.max else datetime.max.replace(tzinfo=UTC)
    return Filter(tuple(bots), game, reason, tournament, _asked_time(since), ends)


def print_list(paths: Sequence[Path], wanted: Filter, most: int | None = None, *, as_json: bool) -> None:
    """One row per record that is wanted, in the order of the schedule; at most `most`, the last ones. What cannot be
    read fits no filter."""
    total = len(paths)
    if most is not None and wanted.empty:
        paths = _last_written(paths, most)
    rows = sorted(_rows(paths, wanted), key=lambda row: (row["tournament"], row["place"], row["match"]))
    if not wanted.empty:
        total = len(rows)
        if most is not None:
            last = sorted(range(total), key=lambda number: rows[number]["created_at"])[-most:]
            rows = [rows[number] for number in sorted(last)]
    if as_json:
        print_json(rows)
        return
    if not rows:
        print_text("no match counts yet" if wanted.empty else "no match is like that")
        return
    out = console()
    rounds = any(row["round"] for row in rows)
    made = table(
        [("match", "left"), ("when", "left"), *([("round", "right")] if rounds else []), ("game", "left"),
         ("seats", "left"), ("ranking", "left"),
         ("status", "left"), ("reason", "left"), ("moves", "right"), ("s", "right")],
        plain=not out.is_terminal,
    )  # fmt: skip
    from rich.text import Text

    for row in rows:
        ranks = [str(seat["rank"]) for seat in row["seats"] if seat["rank"] is not None]
        made.add_row(
            *(Text(one_line(cell)) for cell in (
                row["match"], row["created_at"][:16], *([str(row["round"] or "-")] if rounds else []), row["game"],
                " ".join(seat["name"] for seat in row["seats"]),
                (" ".join(ranks) or "-") + ("*" if row["judged_again"] else ""),
                (row["progress"] or row["status"]) + (f", set aside: {row['set_aside']}" if row["set_aside"] else ""),
                row["problem"] or row["reason"] or "-", str(row["decisions"]),
                f"{row['wall_s']:.1f}",
            ))
        )  # fmt: skip
    print_table(out, made)
    if len(rows) < total:
        print_text(f"the last {len(rows)} of {total} matches; all of them: --all")
    if any(row["judged_again"] for row in rows):
        print_text("* as the organiser decided; the record has another ranking")


def print_failed_starts(found: Sequence[tuple[RunFolder, FailedStart]]) -> None:
    """Bots that did not start have no match that counts for it: what kept them, below the list."""
    for folder, start in found:
        first, *more = start.lines
        print_text(one_line(f"{folder.path.name}: {first}"))
        for line in more:
            print_text(one_line(line))


def _last_written(paths: Sequence[Path], most: int) -> Sequence[Path]:
    """The last records: of one run by their places, which their names have; of several by when they were written."""
    if len({path.parent.parent if path.parent.name == "void" else path.parent for path in paths}) == 1:
        return sorted(paths, key=lambda path: path.name)[-most:]

    def written_ns(path: Path) -> int:
        try:
            return path.stat().st_mtime_ns
        except OSError:  # gone since: whoever reads it says so
            return 0

    return sorted(paths, key=written_ns)[-most:]


def _rows(paths: Iterable[Path], wanted: Filter) -> Iterator[dict[str, Any]]:
    verdicts = Verdicts()
    for path in paths:
        try:
            if not wanted.empty and not wanted.takes_header(read_header(path)):
                continue
            record = read_record(path)
        except RecordError as error:
            if wanted.empty:
                yield _unreadable(path, str(error))
            continue
        if wanted.takes_end(record.footer):
            annulled = verdicts.is_annulled(path, (seat.entry_id for seat in record.header.seats))
            yield _row(record, verdicts.ranking(path), verdicts.round(path), annulled=annulled)


def _row(record: Record, ruled: Sequence[int], round_: int | None, *, annulled: bool) -> dict[str, Any]:
    head, footer, status = record.header, record.footer, _status(record)
    return {
        "match": head.match_id,
        "path": str(record.path),
        "tournament": head.tournament,
        "place": head.place,
        "round": round_,
        "block": head.block,
        "game": head.game,
        "rules_version": head.rules_version,
        "created_at": head.created_at,
        "status": "annulled" if annulled and status in ("rated", "unrated") else status,
        "progress": progress_of(record.path) if status == "unfinished" else "",
        "mirror": _is_mirror(head),
        "reason": footer.reason if footer else "",
        "detail": footer.detail if footer else "",
        "problem": record.problems[0].what if record.problems else "",
        "decisions": sum(isinstance(line, Answer) for line in record.lines),
        "wall_s": footer.wall_us / 1e6 if footer else 0.0,
        "judged_again": bool(ruled),
        "set_aside": set_aside_as(record.path),
        "seats": [_seat(record, number, ruled) for number in range(head.players)],
    }


def _status(record: Record) -> str:
    """In a word. A match of a bot against itself counts, and rates nobody."""
    if record.problems:
        return "damaged"
    if record.footer is None:
        return "unfinished"
    return "unrated" if record.footer.status == "rated" and _is_mirror(record.header) else record.footer.status


def _is_mirror(head: Header) -> bool:
    return len({seat.entry_id for seat in head.seats}) < len(head.seats)


def _seat(record: Record, number: int, ruled: Sequence[int]) -> dict[str, Any]:
    who, footer = record.header.seats[number], record.footer
    answers = [line for line in record.lines if isinstance(line, Answer) and line.seat == number]
    times = SeatTimes()
    for answer in answers:
        times.add(answer)
    fault = _of_seat(footer.faults, number) if footer else None
    return {
        "seat": number,
        "entry_id": who.entry_id,
        "name": who.name,
        "version": who.version,
        "rank": _of_seat(ruled or footer.ranking, number) if footer else None,
        "points": _of_seat(footer.returns, number) if footer else None,
        "fault": "" if fault is None else str(fault.get("reason", "unknown")),
        "fault_detail": "" if fault is None else str(fault.get("detail", "")),
        "last_output": "\n".join(last_lines(one) for one in evidence_of(record) if one.seat == number),
        "decisions": len(answers),
        "total_us": sum(answer.wall_us for answer in answers),
        "worst_us": max((answer.wall_us for answer in answers), default=0),
        "charged_us": times.charged_us,
        "worst_charged_us": times.worst_charged_us,
        "lag_us": times.lag_us,
        "worst_lag_us": times.worst_lag_us,
    }


def _of_seat(values: Sequence[Any], number: int) -> Any:
    """None where a footer does not say."""
    return values[number] if number < len(values) else None


def _unreadable(path: Path, problem: str) -> dict[str, Any]:
    return {
        "match": path.name, "path": str(path), "tournament": "", "place": -1, "round": None, "block": -1, "game": "",
        "rules_version": 0, "created_at": "", "status": "unreadable", "progress": "",
        "mirror": False, "reason": "", "detail": "",
        "problem": problem, "decisions": 0, "wall_s": 0.0, "judged_again": False, "set_aside": set_aside_as(path),
        "seats": [],
    }  # fmt: skip


def _is_bot(wanted: str, name: str, entry_id: str) -> bool:
    return wanted == name or (len(wanted) >= 4 and entry_id.startswith(wanted))


def _time(text: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _asked_time(text: str) -> datetime | None:
    if not text:
        return None
    time = _time(text)
    if time is None:
        raise UsageError(f"{text!r} is not a time", "write 2026-01-31 or 2026-01-31T18:00 (UTC)")
    return time
