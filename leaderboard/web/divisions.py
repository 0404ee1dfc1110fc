"""The table of a division: of each bot the version that plays, with its rank, its movement and its last results."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from leaderboard.ratings.live import LiveTable, Point, Way
from leaderboard.results import is_mirror
from leaderboard.standings import Pool, Standing, apart
from leaderboard.web.hand_ins import Entry
from leaderboard.web.tables import EntryMatch, RunTables
from referee.record.reasons import is_fault

SHOWN_RESULTS: Final = 5

Outcome = Literal["won", "drawn", "lost"]


@dataclass(frozen=True, slots=True)
class Result:
    """One match of a bot that may be looked at. `others` are the names in the other seats; `fault` is '' for none."""

    match_id: str
    seat: int
    outcome: Outcome
    others: tuple[str, ...]
    fault: str
    started: str


@dataclass(frozen=True, slots=True)
class Row:
    """One bot. `moved` is how many ranks it has gained since yesterday, by the live rating; None if it was not rated
    then. `low`, `middle` and `high` are where its rating and its interval lie, from 0 to 100 on the table's scale."""

    rank: int | None
    standing: Standing
    entry: Entry
    moved: int | None
    results: tuple[Result, ...]
    low: float
    middle: float
    high: float


@dataclass(frozen=True, slots=True)
class Table:
    """The bots of one number of players, best first in each group of bots that have met. `apart` says so if there are
    several groups."""

    title: str
    rows: tuple[Row, ...]
    apart: str = ""


def tables_of_division(
    tables: RunTables, entries: Mapping[str, Entry], playing: Mapping[str, int], now: datetime | None = None
) -> list[Table]:
    """The tables of a division. `playing` has the number of the version that plays, by name of the bot; a bot that is
    not there is shown with its last version."""
    since = (now or datetime.now(UTC)) - timedelta(days=1)
    newest: dict[str, int] = {}
    for one in entries.values():
        newest[one.bot] = max(newest.get(one.bot, 0), one.number)
    found = []
    for pool in tables.pools:
        shown = [
            (row, entry)
            for row in pool.rows
            if (entry := entries.get(row.entry_id)) is not None
            and entry.number == playing.get(entry.bot, newest[entry.bot])
        ]
        if not shown:
            continue
        key = (shown[0][0].game, shown[0][0].players)
        moved = _movement(
            tables.live.get(key), entries, [entry for _, entry in shown], _first_place(tables, key, since)
        )
        found.append(Table(pool.title, _rows(shown, moved, tables), apart(row for row, _ in shown)))
    return found


def _rows(shown: Sequence[tuple[Standing, Entry]], moved: Mapping[str, int], tables: RunTables) -> tuple[Row, ...]:
    low = min((row.low for row, _ in shown if row.low is not None), default=0.0)
    high = max((row.high for row, _ in shown if row.high is not None), default=1.0)

    def at(value: float | None) -> float:
        return 0.0 if value is None else round(100 * (value - low) / ((high - low) or 1.0), 1)

    rows, rank, place = [], 0, 0
    last: Standing | None = None
    for row, entry in shown:
        place = place + 1 if last is not None and last.group == row.group else 1
        if place == 1 or last is None or last.rank != row.rank:  # equal ratings have one rank in the run's table, too
            rank = place
        last = row
        results = results_of(tables.entries.get(row.entry_id, ())[:SHOWN_RESULTS])
        rows.append(
            Row(
                rank if row.rated else None,
                row,
                entry,
                moved.get(entry.bot),
                results,
                at(row.low),
                at(row.mu),
                at(row.high),
            )
        )
    return tuple(rows)


def results_of(matches: Iterable[EntryMatch]) -> tuple[Result, ...]:
    """How these matches of one entry ended, as they come. A match against itself has no winner."""
    return tuple(_result(match) for match in matches)


def _result(match: EntryMatch) -> Result:
    row, seat = match.row, match.seat
    first = [other for other in row.seats if other.rank == 1]
    alone = len({other.team for other in first}) == 1
    outcome: Outcome = "lost" if seat.rank != 1 else "won" if alone and not is_mirror(row) else "drawn"
    others = tuple(other.name for other in row.seats if other.seat != seat.seat)
    fault = next((own.fault for own in match.seats if is_fault(own.fault)), "")
    return Result(row.match_id, seat.seat, outcome, others, fault, row.created_at)


def _first_place(tables: RunTables, key: Pool, since: datetime) -> int | None:
    """The first place of the schedule of which a match began later; None if there is none."""
    text = since.strftime("%Y-%m-%dT%H:%M:%SZ")
    found = None
    for row in reversed(tables.counted.rows):
        if (row.game, len(row.seats)) == key:
            if row.created_at < text:
                break
            found = row.place
    return found


def _movement(
    live: LiveTable | None, entries: Mapping[str, Entry], shown: Sequence[Entry], since_place: int | None
) -> dict[str, int]:
    """Ranks gained since then, by name of the bot, of those that were rated then: a bot by the version that played."""
    if live is None:
        return {}
    ways: dict[str, list[Way]] = {}
    for entry in entries.values():
        if (way := live.ways.get(entry.entry_id)) is not None:
            ways.setdefault(entry.bot, []).append(way)
    then: dict[str, float] = {}
    now: dict[str, float] = {}
    for entry in shown:
        way = live.ways.get(entry.entry_id)
        before = [point for one in ways.get(entry.bot, ()) if (point := _point_before(one, since_place)) is not None]
        if way is not None and way.last is not None and before:
            then[entry.bot] = _conservative(max(before, key=lambda point: point.place))
            now[entry.bot] = _conservative(way.last)
    were, are = sorted(then.values()), sorted(now.values())
    # The number of bots above each one, then and now.
    return {bot: bisect_right(are, now[bot]) - bisect_right(were, then[bot]) for bot in now}


def _point_before(way: Way, place: int | None) -> Point | None:
    """The last point that is kept of before a place."""
    if way.last is not None and (place is None or way.last.place < place):
        return way.last
    number = bisect_left(way.kept, (place,))
    return way.kept[number - 1] if number else None


def _conservative(point: Point) -> float:
    return point.mu - 3 * point.sigma
