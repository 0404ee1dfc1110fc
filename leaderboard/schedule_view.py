"""What the schedule of a run tells a table beside its results: who misses what, the format's own table, what comes."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from leaderboard.controls import Missed
from leaderboard.records import MatchRow
from leaderboard.titles import names_apart
from referee.record.format import RecordError
from referee.record.journal import Control, departures
from referee.record.reader import read_header
from referee.run.run import Run
from referee.schedule.formats.registry import UnknownFormat
from referee.schedule.progress import Result
from referee.schedule.schedule import Schedule
from referee.texts import listed

_SHOWN = 20
"""Coming matches that are shown."""

_AT_ONCE = 1000
"""Beyond the last result at most this many matches go on."""


@dataclass(frozen=True, slots=True)
class FormatTable:
    """A format's own table: per row `rank`, `name`, `entry_id` and its figures, best first.

    `final`: the schedule has ended. Otherwise it is the table as it stands, over whole blocks. `gap`: the first match
    without a result, if others beyond it have one. `notes` are sentences that explain figures.
    """

    format: str
    rows: Sequence[Mapping[str, Any]] = ()
    final: bool = True
    gap: str = ""
    notes: Sequence[str] = ()

    @property
    def title(self) -> str:
        """What to write above it."""
        if self.final:
            return self.format
        return f"{self.format}, as it stands{f' up to the round with a gap at match {self.gap}' if self.gap else ''}"

    @property
    def columns(self) -> tuple[str, ...]:
        """What to show of each row."""
        return tuple(name for name in (self.rows[0] if self.rows else ()) if name != "entry_id")

    def cells_of(self, entry_id: str) -> dict[str, Any]:
        """The figures of one entry for a table that has other columns, too: `swiss rank`, `swiss points`; '' for who
        is not in this one."""
        row = next((row for row in self.rows if row["entry_id"] == entry_id), None)
        figures = [name for name in self.columns if name != "name"]
        return {f"{self.format} {name}": "" if row is None else row[name] for name in figures}


NO_TABLE = FormatTable("")


def placings_final(table: FormatTable, run: Run | None) -> bool:
    """Whether a run can get no other placings: by its own table, or, where its format has none, by its journal."""
    return table.final if table.rows else run is not None and run.finished


@dataclass(frozen=True, slots=True)
class Coming:
    """A match of the schedule that has no result yet."""

    match_id: str
    place: int
    block: int
    game: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ahead:
    """The next matches, and the blocks (game and number) that have begun, are not complete, and have luck that is still
    secret; None where that is not known, and any may be."""

    coming: Sequence[Coming] = ()
    open_blocks: frozenset[tuple[str, int]] | None = frozenset()

    def is_open(self, game: str, block: int) -> bool:
        """Whether the block may be one that is not complete."""
        return self.open_blocks is None or (game, block) in self.open_blocks


NOTHING_AHEAD = Ahead()
UNKNOWN_AHEAD = Ahead(open_blocks=None)


@dataclass(frozen=True, slots=True)
class Pairing:
    """The bots that sit together in a round, by entry id, and their matches. Of those that are `cancelled`, because
    a bot has left or they were annulled, the entries that have left. At table 0, without matches: a bye."""

    stage: str
    round: int
    table: int
    entries: tuple[str, ...]
    matches: tuple[str, ...] = ()
    cancelled: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScheduleView:
    """`missed` are the matches that will not be played because an entry has left and loses what it misses: of these,
    the entries that had to play it; `rounds`, by match id, the rounds of a format that pairs round by round, counted
    from 1; `pairings` its tables so far, played or not, in the order of the schedule; `names` all entries. `recorded`
    has, by match id, the tables of matches that count and are not in these pairings, as their records have them."""

    missed: Sequence[Missed] = ()
    table: FormatTable = NO_TABLE
    rounds: Mapping[str, int] = field(default_factory=dict)
    ahead: Ahead = NOTHING_AHEAD
    pairings: Sequence[Pairing] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    recorded: Mapping[str, Pairing] = field(default_factory=dict)

    @property
    def seating(self) -> Mapping[str, Pairing]:
        """By match id."""
        return {match_id: pairing for pairing in self.pairings for match_id in pairing.matches} | dict(self.recorded)


def view_schedule(run: Run, rows: Sequence[MatchRow], *, look_ahead: bool = False) -> ScheduleView:
    """The view of a run with these rated matches, as they are in the records, no control applied. `ahead` is filled
    only with `look_ahead`. An empty view of a run that has not begun, or whose format is not installed here.

    The schedule is gone through, once, only if someone who has left loses what it misses, the format has a table of
    its own, or with `look_ahead` the run is not finished, nor its season.
    """
    if not run.begun:
        return ScheduleView()
    look_ahead = look_ahead and not run.finished and not run.season_over
    revealed = look_ahead and run.reveals_all
    left = departures(run.controls)
    lost = {entry for entry, control in left.items() if control.choice == "losses"}
    try:
        style = run.schedule_config.style
    except UnknownFormat:
        return ScheduleView(ahead=UNKNOWN_AHEAD if look_ahead and not revealed else NOTHING_AHEAD)
    needed = bool(lost) or style.has_table
    if not needed and not look_ahead:
        return ScheduleView()
    from leaderboard.match_table import MatchTable, places_of

    results: Iterable[Result] = rows.outcomes if isinstance(rows, MatchTable) else rows
    progress = run.progress(results, skip_counted=not needed)
    schedule = progress.schedule
    later = _joined_since_leaving(run.controls) if lost else {}
    missed: list[Missed] = []
    rounds: dict[str, int] = {}
    ids: dict[tuple[str, int, int, frozenset[str]], tuple[str, ...]] = {}
    order: dict[tuple[str, int, int, frozenset[str]], tuple[str, ...]] = {}
    cancelled: dict[str, tuple[str, ...]] = {}
    coming: list[Coming] = []
    waiting: set[tuple[str, int]] = set()
    off: Counter[str] = Counter()
    still: Counter[str] = Counter()
    annulled: list[tuple[str, ...]] = []
    last = max(places_of(rows), default=-1)
    for spec, state in progress:
        if style.has_table:
            rounds[spec.match_id] = spec.round
            entries = tuple(seat.entry_id for seat in spec.seats)
            key = spec.stage, spec.round, spec.table, frozenset(entries)
            ids[key] = (*ids.get(key, ()), spec.match_id)
            order.setdefault(key, entries)
            if state in ("off", "annulled"):
                cancelled[spec.match_id] = schedule.absent(spec)
            if state == "annulled":
                annulled.append(schedule.absent(spec))
            still.update(set(entries) if state == "counts" else ())
        if look_ahead and state == "open":
            if not revealed:
                waiting.add((spec.game, spec.block))
            if len(coming) < _SHOWN:
                names = tuple(seat.name for seat in spec.seats)
                coming.append(Coming(spec.match_id, spec.place, spec.block, spec.game, names))
            else:
                look_ahead = spec.place <= last + _AT_ONCE
        if not needed and not look_ahead:
            return ScheduleView(ahead=Ahead(coming, frozenset(waiting)))
        if state != "off":
            continue
        out = {seat.entry_id for seat in schedule.out(spec)}
        off.update(out)
        seated = {seat.entry_id for seat in spec.seats}
        if out & lost and len(seated) == len(spec.seats):  # nobody loses against itself
            bound = tuple(entry for entry in seated if entry not in lost or later[entry].isdisjoint(seated))
            missed.append(Missed(spec.game, len(spec.seats), bound))
    final = schedule.ended and progress.whole
    if style.has_table:
        schedule.finish()
    placed = [
        {"rank": row.rank, "name": schedule.seats[row.bot].name, "entry_id": schedule.seats[row.bot].entry_id}
        | dict(row.columns)
        for row in schedule.placings
    ]
    uncounted = {entry: still[entry] for entry, control in left.items() if control.choice == "annul" and still[entry]}
    notes = (*schedule.notices, *_absences(schedule, off), *_points_kept(schedule, annulled, uncounted))
    table = FormatTable(style.name, tuple(placed), final, progress.gap, notes) if style.has_table else NO_TABLE
    pairings = [
        Pairing(*key[:3], entries, ids[key], {one: cancelled[one] for one in ids[key] if one in cancelled})
        for key, entries in order.items()
    ]
    pairings += [
        Pairing(one.stage, one.round, 0, (schedule.seats[bot].entry_id,)) for one in schedule.byes for bot in one.bots
    ]
    bearers = names_apart({seat.entry_id: seat.name for seat in schedule.seats})
    recorded = {one.matches[0]: one for one in _recorded(run, rows, rounds)} if style.has_table else {}
    rounds |= {match_id: one.round for match_id, one in recorded.items()}
    return ScheduleView(tuple(missed), table, rounds, Ahead(coming, frozenset(waiting)), pairings, bearers, recorded)


def _recorded(run: Run, rows: Sequence[MatchRow], paired: Collection[str]) -> Iterator[Pairing]:
    """Where matches sat that are not `paired`, as their records say: after a match was annulled, the schedule cannot
    come to later ones before it is played again, or pairs them otherwise."""
    from leaderboard.match_table import MatchTable

    others = rows.without(paired, ()) if isinstance(rows, MatchTable) else rows
    for row in others:
        if row.match_id in paired:
            continue
        try:
            head = read_header(run.records.at(row.stamp))
        except RecordError:  # the file is gone or damaged
            continue
        if head.round:
            entries = tuple(seat.entry_id for seat in row.seats)
            yield Pairing(head.stage, head.round, head.table, entries, (row.match_id,))


def _absences(schedule: Schedule, off: Counter[str]) -> tuple[str, ...]:
    """What the format's own table makes of the matches that were not played because a bot is out."""
    names = names_apart({seat.entry_id: seat.name for seat in schedule.seats})
    found = []
    for entry_id, number in sorted(off.items()):
        what = "1 match that it was paired for was" if number == 1 else f"{number} matches that it was paired for were"
        points = (
            f"this table counts {'it' if number == 1 else 'them'} as lost for it, and its opponents have the points"
        )
        found.append(f"'{names[entry_id]}' is out of the run: {what} not played; {points}")
    return tuple(found)


def _points_kept(schedule: Schedule, annulled: Sequence[Sequence[str]], uncounted: Mapping[str, int]) -> Iterator[str]:
    """What the format's own table makes of matches that do not count: per match that was `annulled` the entries that
    lose it, and per entry those of bots that have left, and whose matches are annulled. Other rounds were paired by
    their points."""
    names = names_apart({seat.entry_id: seat.name for seat in schedule.seats})
    if annulled:
        lost = [entries for entries in annulled if entries]
        ties = len(annulled) - len(lost)
        what, them = ("1 match was", "it") if len(annulled) == 1 else (f"{len(annulled)} matches were", "them")
        losers = listed(sorted({f"'{names[entry_id]}'" for entries in lost for entry_id in entries}))
        counts = [f"{ties if lost else them} as {'a tie' if ties == 1 else 'ties'}"] if ties else []
        counts += [f"{len(lost) if ties else them} as lost for {losers}, out of the run"] if lost else []
        yield f"{what} annulled: this table counts {' and '.join(counts)}"
    for entry_id, number in sorted(uncounted.items()):
        yield (
            f"'{names[entry_id]}' is out of the run, and its matches are annulled: this table keeps the points of"
            f" {'the one match' if number == 1 else f'the {number} matches'} that it has played"
        )


def _joined_since_leaving(controls: Sequence[Control]) -> dict[str, set[str]]:
    """By entry that is out: the entries that have joined since it left. It never had to play against those."""
    found: dict[str, set[str]] = {}
    for number, control in enumerate(controls, start=1):
        out = departures(controls[:number])
        found = {entry: found.get(entry, set()) for entry in out}
        if control.kind == "added":
            for joined in found.values():
                joined.add(control.entry_id)
    return found
