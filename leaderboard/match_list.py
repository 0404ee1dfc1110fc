"""The list of matches: which are wanted, and a row for each, with what organisers decided about it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from heapq import nlargest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from leaderboard.controls import annulled_entries, ruling_on
from leaderboard.records import MatchRow
from leaderboard.results import has_people, is_person
from referee.errors import JournalError, UsageError
from referee.record.format import Answer, Footer, Header, RecordError
from referee.record.journal import in_force
from referee.record.reader import Record, read_header, read_record
from referee.record.reasons import EndReason
from referee.record.store import FileStamp, RecordStore, counts_in, is_aside, match_id_of, run_of, why_aside
from referee.record.times import SeatTimes, seat_times
from referee.run.folder import RunFolder
from referee.run.journal import JournalText, read_brief
from referee.run.lock import is_run
from referee.schedule.formats.registry import UnknownFormat, get_format

if TYPE_CHECKING:
    from leaderboard.evidence import Evidence
    from leaderboard.match_table import Columns

_DAY = timedelta(days=1)


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

    def takes_row(self, row: MatchRow) -> bool:
        """Whether a match that counts is wanted."""
        return self.takes_header(row) and self.reason in ("", row.reason, *row.faults)

    def takes_header(self, head: Header | MatchRow) -> bool:
        """Whether a match with this header may be wanted."""
        return (
            self._takes_time(head.created_at)
            and self.game in ("", head.game)
            and self.tournament in ("", head.tournament)
            and all(any(_is_bot(bot, seat.name, seat.entry_id) for seat in head.seats) for bot in self.bots)
        )

    def _takes_time(self, created_at: str) -> bool:
        if self.since is None and self.until is None:
            return True
        created = _time(created_at)
        if created is None or not (self.since or created) <= created:
            return False
        return self.until is None or created < self.until

    def taken_of(self, columns: "Columns") -> Iterable[int]:
        """The indices of those of these matches that are wanted."""
        masks = [columns.with_bot(partial(_is_bot, bot)) for bot in self.bots]
        masks += [columns.with_text(name, text) for name in ("game", "tournament") if (text := getattr(self, name))]
        if self.reason:
            masks.append(columns.with_text("reason", self.reason) | columns.with_text("fault", self.reason))
        return [index for index in columns.indices_of(masks) if self._takes_time(columns.created[index])]

    def takes_end(self, footer: Footer | None) -> bool:
        """Whether a match with this end is wanted."""
        if not self.reason:
            return True
        faults = () if footer is None else (fault.get("reason") for fault in footer.faults if fault is not None)
        return footer is not None and self.reason in (footer.reason, *faults)

    @property
    def empty(self) -> bool:
        return self == Filter()


NO_FILTER = Filter()


def make_filter(bots: Sequence[str], game: str, reason: str, tournament: str, since: str, until: str) -> Filter:
    """From what a user typed. A day as `until` is meant whole. UsageError."""
    if reason and reason not in list(EndReason):
        raise UsageError(f"no match ends by {reason!r}", f"choose one of {', '.join(EndReason)}")
    ends = _asked_time(until)
    if ends is not None and _is_day(until):
        ends = ends + _DAY if ends.date() < date.max else datetime.max.replace(tzinfo=UTC)
    return Filter(tuple(bots), game, reason, tournament, _asked_time(since), ends)


def rows_of(paths: Iterable[Path], wanted: Filter = NO_FILTER) -> list[dict[str, Any]]:
    """A row for each of these records that is wanted, in the order of the schedule."""
    return sorted(_rows(paths, wanted), key=lambda row: (row["tournament"], row["place"], row["match"]))


def list_matches(paths: Sequence[Path], wanted: Filter, most: int | None = None) -> tuple[list[dict[str, Any]], int]:
    """A row for each record that is wanted, in the order of the schedule: at most `most`, the last ones; and how many
    there are in all. What cannot be read fits no filter."""
    total = len(paths)
    if most is not None and wanted.empty:
        paths = _last_written(paths, most)
    rows = rows_of(paths, wanted)
    if not wanted.empty:
        total = len(rows)
        if most is not None:
            last = sorted(range(total), key=lambda number: rows[number]["created_at"])[-most:]
            rows = [rows[number] for number in sorted(last)]
    return rows, total


def select_matches(
    folders: Iterable[Path], wanted: Filter, most: int | None = None
) -> tuple[list[dict[str, Any]], int]:
    """The same of all records in these folders that were not set aside, for a filter that is not empty: where a run has
    a database, only records that may be wanted are read."""
    found = {one for folder in folders for one in _candidates(folder, wanted)}
    chosen = found if most is None else nlargest(most, found)
    rows = rows_of([Path(one.folder, one.name) for one in chosen], wanted)
    return rows, len(found) - (len(chosen) - len(rows))


class _Candidate(NamedTuple):
    """A record that is wanted. The later one is the larger one."""

    created: str
    tournament: str
    place: int
    match_id: str
    name: str
    folder: str


def _candidates(folder: Path, wanted: Filter) -> Iterator[_Candidate]:
    from leaderboard.index import read_columns
    from leaderboard.store import is_readable

    run = RunFolder(folder)
    if not (run.records.exists and run.journal.exists() and is_readable(run.database)):
        for path in RecordStore.found_in(folder).paths().values():
            yield from _candidate(path, wanted)
        return
    matches = str(run.matches)
    for columns in read_columns(run, listed=True):
        tournaments, places = (columns.numbers[name].tolist() for name in ("tournament", "place"))
        for index in wanted.taken_of(columns):
            tournament, name = columns.texts[tournaments[index]], columns.file_name(index)
            yield _Candidate(columns.created[index], tournament, places[index], columns.ids[index], name, matches)
        for name in columns.others:
            yield from _candidate(run.matches / name, wanted)


def _candidate(path: Path, wanted: Filter) -> Iterator[_Candidate]:
    """The record itself, if it is wanted."""
    try:
        head = read_header(path)
        if wanted.takes_header(head) and wanted.takes_end(read_record(path).footer):
            yield _Candidate(head.created_at, head.tournament, head.place, head.match_id, path.name, str(path.parent))
    except RecordError:  # it fits no filter
        pass


def _last_written(paths: Sequence[Path], most: int) -> Sequence[Path]:
    """The last records: of one run by their places, which their names have; of several by when they were written."""
    if len({path.parent.parent if is_aside(path) else path.parent for path in paths}) == 1:
        return sorted(paths, key=lambda path: path.name)[-most:]

    def written_ns(path: Path) -> int:
        try:
            return FileStamp.of(path).mtime_ns
        except OSError:  # gone since: reading it says so
            return 0

    return sorted(paths, key=written_ns)[-most:]


def progress_of(path: Path) -> str:
    """Of a match without a result: "going on", or "cut off" when its run was stopped; '' where no run says that."""
    folder = counts_in(path)
    if folder is None or not RunFolder(folder).journal.exists():
        return ""
    return "going on" if is_run(RunFolder(folder).lock) else "cut off"


def ruling_of(record: Record) -> str:
    """`ruling_on` of a record, by the journal of the run in which it lies, if it can be read."""
    folder = counts_in(record.path)
    try:
        controls = read_brief(RunFolder(folder).journal).controls if folder is not None else ()
    except JournalError:
        controls = ()
    return ruling_on(record, controls)


class Decided:
    """Whether records count in their runs, and with which ranking. The journal of each run is read once."""

    def __init__(self) -> None:
        self._journals: dict[Path, JournalText | None] = {}
        self._paired: dict[Path, bool] = {}
        self._rounds: dict[Path, Mapping[str, int]] = {}
        self._rankings: dict[Path, Mapping[str, tuple[int, ...]]] = {}
        self._annulled: dict[Path, frozenset[str]] = {}

    def round(self, record: Record) -> int | None:
        """The round of a match, from 1; None where its format does not pair round by round, or that is not known.
        Records of older versions do not say it."""
        folder = run_of(record.path)
        if folder is None or (journal := self._journal(folder)) is None or journal.created is None:
            return None
        if folder not in self._paired:
            self._paired[folder] = _has_table(journal)
        if not self._paired[folder]:
            return None
        if record.header.round:
            return record.header.round
        if folder not in self._rounds:
            self._rounds[folder] = _rounds(folder)
        return self._rounds[folder].get(match_id_of(record.path))

    def ranking(self, path: Path) -> tuple[int, ...]:
        """The ranking that a match counts with instead of its own; () for its own."""
        folder = counts_in(path)
        if folder is None or (journal := self._journal(folder)) is None:
            return ()
        if folder not in self._rankings:
            self._rankings[folder] = {c.match_id: c.ranking for c in in_force(journal.controls) if c.match_id}
        return self._rankings[folder].get(match_id_of(path), ())

    def is_annulled(self, path: Path, entries: Iterable[str]) -> bool:
        """Whether one of these entries has left the run, and all its matches are annulled. Their records stay."""
        folder = counts_in(path)
        if folder is None or (journal := self._journal(folder)) is None:
            return False
        if folder not in self._annulled:
            self._annulled[folder] = annulled_entries(journal.controls)
        return not self._annulled[folder].isdisjoint(entries)

    def _journal(self, folder: Path) -> JournalText | None:
        """None where it is damaged: the records say what they say."""
        if folder not in self._journals:
            try:
                self._journals[folder] = read_brief(RunFolder(folder).journal)
            except JournalError:
                self._journals[folder] = None
        return self._journals[folder]


def _has_table(journal: JournalText) -> bool:
    try:
        return get_format(journal.configuration["format"]).has_table  # without the rules of its games
    except UnknownFormat:
        return False


def _rounds(folder: Path) -> Mapping[str, int]:
    from leaderboard.index import load_index
    from leaderboard.schedule_view import view_schedule
    from referee.run.run import Run

    return view_schedule(Run(folder, brief=True), load_index(RunFolder(folder)).rows).rounds


def _rows(paths: Iterable[Path], wanted: Filter) -> Iterator[dict[str, Any]]:
    standing = Decided()
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
            annulled = standing.is_annulled(path, (seat.entry_id for seat in record.header.seats))
            yield _row(record, standing.ranking(path), standing.round(record), annulled=annulled)


def _row(record: Record, ruled: Sequence[int], round_: int | None, *, annulled: bool) -> dict[str, Any]:
    head, footer, status = record.header, record.footer, _status(record)
    evidence = _evidence(record)
    times = seat_times(record.lines, head.players, footer.faults if footer else ())
    return {
        "match": head.match_id,
        "path": str(record.path),
        "run": _run_name(record.path),
        "tournament": head.tournament,
        "place": head.place,
        "round": round_,
        "table": head.table or None,
        "stage": head.stage,
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
        "set_aside": why_aside(record.path),
        "seats": [_seat(record, number, ruled, evidence, took) for number, took in enumerate(times)],
    }


def _evidence(record: Record) -> "Sequence[Evidence]":
    if record.footer is None or all(fault is None for fault in record.footer.faults):
        return ()
    from leaderboard.evidence import evidence_of

    return evidence_of(record)


def _run_name(path: Path) -> str:
    """The name of the folder of the run; '' for a record that lies elsewhere."""
    run = run_of(path)
    return "" if run is None else run.name


def _status(record: Record) -> str:
    """In a word. A match of a bot against itself, or with a person, counts, and changes no rating."""
    if record.problems:
        return "damaged"
    if record.footer is None:
        return "unfinished"
    unrated = _is_mirror(record.header) or has_people(record.header)
    return "unrated" if record.footer.status == "rated" and unrated else record.footer.status


def _is_mirror(head: Header) -> bool:
    return len({seat.entry_id for seat in head.seats}) < len(head.seats)


def _seat(
    record: Record, number: int, ruled: Sequence[int], evidence: "Sequence[Evidence]", times: SeatTimes
) -> dict[str, Any]:
    who, footer = record.header.seats[number], record.footer
    answers = [line for line in record.lines if isinstance(line, Answer) and line.seat == number]
    fault = _of_seat(footer.faults, number) if footer else None
    return {
        "seat": number,
        "entry_id": who.entry_id,
        "name": who.name,
        "version": who.version,
        "person": is_person(record.header, who),
        "rank": _of_seat(ruled or footer.ranking, number) if footer else None,
        "points": _of_seat(footer.returns, number) if footer else None,
        "fault": "" if fault is None else str(fault.get("reason", "unknown")),
        "fault_detail": "" if fault is None else str(fault.get("detail", "")),
        "last_output": "\n".join(one.last_lines for one in evidence if one.seat == number),
        "decisions": len(times.charged),
        "total_us": sum(answer.wall_us for answer in answers),
        "worst_us": times.worst_wall_us,
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
        "match": path.name, "path": str(path), "run": _run_name(path),
        "tournament": "", "place": -1, "round": None, "table": None, "stage": "", "block": -1, "game": "",
        "rules_version": 0, "created_at": "", "status": "unreadable", "progress": "",
        "mirror": False, "reason": "", "detail": "",
        "problem": problem, "decisions": 0, "wall_s": 0.0, "judged_again": False, "set_aside": why_aside(path),
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
    time = None if "W" in text else _time(text)  # a week, such as 2026-W48, would be taken for its first day
    if time is None:
        raise UsageError(f"{text!r} is not a time", "write 2026-01-31 or 2026-01-31T18:00 (UTC)")
    return time
