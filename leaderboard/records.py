"""Match records as rows: what tables and ratings need of a match, and nothing else. See docs/records.md."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from leaderboard.times import histogram
from leaderboard.usage import usage_text
from referee.games.registry import get_game
from referee.record.format import Footer, Header, Line, RecordError, SeatStats
from referee.record.journal import mismatch
from referee.record.reader import Record, read_record
from referee.record.store import FileStamp, RecordStore, is_live
from referee.record.times import seat_times

RecordStatus: TypeAlias = Literal["rated", "void", "cancelled", "unfinished", "damaged"]
"""`unfinished`: no footer, as a killed referee leaves it. `damaged`: something in the file is wrong."""


class SeatRow(NamedTuple):
    """One seat of one rated match. `rank` 1 is the best, ties share; `fault` is the reason or ''; times in µs.

    `times` is the histogram of the times of its moves (see `leaderboard.times`). `startup_us` is how long the process
    that was started for this match took until its Hello, 0 for one that had played before. `total_us`, `worst_us` and
    `times` are of what was charged to the bot; `lag_us` and `worst_lag_us` of what was not. `usage` is the
    provider usage that the bot reported (see `leaderboard.usage`).
    """

    seat: int
    entry_id: str
    name: str
    version: str
    team: int
    rank: int
    points: int | None
    fault: str
    decisions: int
    total_us: int
    worst_us: int
    cpu_us: int
    times: str = ""
    startup_us: int = 0
    lag_us: int = 0
    worst_lag_us: int = 0
    usage: str = ""


class MatchRow(NamedTuple):
    """One rated match. `place` is its index in the schedule: the order in which ratings are applied."""

    match_id: str
    tournament: str
    place: int
    block: int
    game: str
    rules_version: int
    reason: str
    detail: str
    decisions: int
    wall_us: int
    seed: str
    state_hash: str
    created_at: str
    stamp: FileStamp
    seats: tuple[SeatRow, ...]

    @property
    def ranking(self) -> tuple[int, ...]:
        """Per seat."""
        return tuple(seat.rank for seat in self.seats)

    @property
    def faults(self) -> tuple[str, ...]:
        """Per seat."""
        return tuple(seat.fault for seat in self.seats)


def with_ranking(row: MatchRow, ranking: Sequence[int]) -> MatchRow:
    """The row as if the match had ended with this ranking, which is per seat."""
    return row._replace(seats=tuple(seat._replace(rank=rank) for seat, rank in zip(row.seats, ranking, strict=True)))


@dataclass(frozen=True, slots=True)
class ReadMatch:
    """One record as found. `row` is there exactly when `status` is rated; `problem` says what is not well."""

    path: Path
    status: RecordStatus
    row: MatchRow | None = None
    problem: str = ""


def read_matches(folder: Path) -> Iterator[ReadMatch]:
    """What each record says in the run folder `folder`, or in any folder of records; by match id.

    Those that were set aside are not among them.
    """
    for path in RecordStore.found_in(folder).paths().values():
        yield read_match(path)


def read_match(path: Path, anchored: str = "") -> ReadMatch:
    """What the record in `path` says. Never raises for what a file contains. `anchored`: the digest that the journal of
    its run has of it; another record in its place is damage."""
    try:
        stamp = FileStamp.of(path)
        record = read_record(path)
    except (RecordError, OSError) as error:
        # A killed referee may leave a live file without a whole line.
        return ReadMatch(path, "unfinished" if is_live(path) else "damaged", problem=str(error))
    return match_of(record, stamp, anchored)


def match_of(record: Record, stamp: FileStamp, anchored: str = "") -> ReadMatch:
    """What a record says that was read already from the file with this stamp."""
    path = record.path
    if record.problems:
        first = record.problems[0]
        where = f"line {first.line}: " if first.line else ""
        return ReadMatch(path, "damaged", problem=where + first.what)
    if record.footer is None:
        return ReadMatch(path, "unfinished", problem="the record has no footer")
    if what := mismatch(record.digest, anchored):
        return ReadMatch(path, "damaged", problem=what)
    return _finished(path, stamp, record, record.footer)


def _finished(path: Path, stamp: FileStamp, record: Record, footer: Footer) -> ReadMatch:
    if footer.status == "void":
        return ReadMatch(path, "void", problem=f"{footer.reason}: {footer.detail}")
    if footer.status == "cancelled":
        return ReadMatch(path, "cancelled", problem=footer.detail)
    players = record.header.players
    if footer.status != "rated" or len(footer.ranking) != players:
        return ReadMatch(
            path, "damaged", problem=f"the footer has status {footer.status!r} and ranking {list(footer.ranking)}"
        )
    return ReadMatch(path, "rated", match_row(record.header, footer, stamp, record.lines))


def match_row(header: Header, footer: Footer, stamp: FileStamp, lines: Sequence[Line]) -> MatchRow:
    """The row of a complete, rated record with these lines."""
    times = seat_times(lines, header.players, footer.faults)
    teams = teams_of(header)
    none: tuple[None, ...] = (None,) * header.players
    faults = footer.faults or none
    stats = footer.seat_stats or (SeatStats(),) * header.players
    points: tuple[int | None, ...] = footer.returns or none
    startups = footer.startup_us or (0,) * header.players
    used = footer.usage or none
    seats = (
        SeatRow(
            seat=seat,
            entry_id=who.entry_id,
            name=who.name,
            version=who.version,
            team=teams[seat],
            rank=footer.ranking[seat],
            points=points[seat],
            fault="" if (fault := faults[seat]) is None else str(fault.get("reason", "unknown")),
            decisions=len(times[seat].charged),
            total_us=times[seat].charged_us,
            worst_us=times[seat].worst_charged_us,
            cpu_us=stats[seat].cpu_us,
            times=histogram(times[seat].charged),
            startup_us=startups[seat],
            lag_us=times[seat].lag_us,
            worst_lag_us=times[seat].worst_lag_us,
            usage=usage_text(used[seat]),
        )
        for seat, who in enumerate(header.seats)
    )
    row = MatchRow(
        match_id=header.match_id,
        tournament=header.tournament,
        place=header.place,
        block=header.block,
        game=header.game,
        rules_version=header.rules_version,
        reason=footer.reason,
        detail=footer.detail,
        decisions=footer.decisions,
        wall_us=footer.wall_us,
        seed=footer.seed,
        state_hash=footer.state_hash,
        created_at=header.created_at,
        stamp=stamp,
        seats=tuple(SeatRow._make(map(_readable, seat)) for seat in seats),
    )
    return MatchRow._make(map(_readable, row))


def _readable(value: Any) -> Any:
    """The same value; of a text without lone surrogates, which no database, page or feed takes."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) and not value.isascii() else value


def teams_of(header: Header) -> tuple[int, ...]:
    """Per seat its team; each seat its own where the game is not installed here, or does not know these options."""
    alone = tuple(range(header.players))
    try:
        teams = tuple(get_game(header.game).teams(header.players, header.options))
    except Exception:  # rules may stumble over options that no match has ever had
        return alone
    return teams if len(teams) == header.players else alone
