"""Walks the schedule of a run as far as its records go, for what only the schedule can tell of it.

The journal is enough: neither the tournament file nor the bots need to be there any more.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeAlias

from leaderboard.account import Account, FormatTable, Look
from leaderboard.records import MatchRow
from referee.record.journal import LEAVING, Control, in_force
from referee.run.journal import JournalText
from referee.schedule.formats.registry import UnknownFormat, get_format
from referee.schedule.schedule import Walk
from referee.schedule.spec import MatchSpec
from referee.tournament.schedule import stand_in


def looking(text: JournalText) -> Look:
    """What `leaderboard.run_table` asks."""
    return lambda rows: account_of(text, rows)


State: TypeAlias = Literal["counts", "annulled", "off", "open"]
"""Of a match of the schedule: it has a record; it never counts; it has none and someone who plays in it is out; it has
none."""

Watch: TypeAlias = Callable[[MatchSpec, State], bool]
"""Is told of the matches of the schedule, in its order; whether it wants to hear of more."""


def account_of(text: JournalText, rows: Sequence[MatchRow]) -> Account:
    """The account of a run with these rated matches; an empty one if its format is a plug-in that is gone."""
    try:
        return watched_account(text, rows)
    except UnknownFormat:
        return Account()


def watched_account(text: JournalText, rows: Sequence[MatchRow], watch: Watch | None = None) -> Account:
    """The account of a run with these rated matches. The schedule is walked, once, only if someone who has left loses
    what it misses, the format has a table of its own, or somebody watches. UnknownFormat."""
    if text.created is None:
        return Account()
    description = text.configuration
    controls = in_force(text.controls)
    lost = {control.entry_id for control in controls if control.kind in LEAVING and control.choice == "losses"}
    style = get_format(description["format"])
    needed = bool(lost) or style.has_table
    if not needed and watch is None:
        return Account()
    course = Course(text, rows)
    later = _joined_since_leaving(text.controls) if lost else {}
    missed: list[tuple[str, ...]] = []
    rounds: dict[str, int] = {}
    off: Counter[str] = Counter()
    watching = watch
    for spec, state in course:
        if style.has_table:
            rounds[spec.match_id] = course.walk.round
        if watching is not None and not watching(spec, state):
            watching = None
        if not needed and watching is None:
            return Account()
        if state == "off":
            off.update({seat.entry_id for seat in course.walk.out(spec)})
        if state == "off" and {seat.entry_id for seat in course.walk.out(spec)} & lost:
            seated = {seat.entry_id for seat in spec.seats}
            missed.append(tuple(entry for entry in seated if entry not in lost or later[entry].isdisjoint(seated)))
    walk = course.walk
    final = walk.ended and course.whole
    if style.has_table:
        walk.finish()
    placed = [
        {"rank": row.rank, "name": walk.seats[row.bot].name, "entry_id": walk.seats[row.bot].entry_id}
        | dict(row.columns)
        for row in walk.placings
    ]
    return Account(
        tuple(missed), FormatTable(style.name, tuple(placed), final, course.gap, _absences(walk, off)), rounds
    )


def _absences(walk: Walk, off: Counter[str]) -> tuple[str, ...]:
    """What the format's own table makes of the matches that were not played because a bot is out."""
    names = {seat.entry_id: seat.name for seat in walk.seats}
    found = []
    for entry_id, number in sorted(off.items()):
        what = "1 match that it was paired for was" if number == 1 else f"{number} matches that it was paired for were"
        points = (
            f"this table counts {'it' if number == 1 else 'them'} as lost for it, and its opponents have the points"
        )
        found.append(f"'{names[entry_id]}' is out of the run: {what} not played; {points}")
    return tuple(found)


def _joined_since_leaving(controls: Sequence[Control]) -> dict[str, set[str]]:
    """By entry that is out: the entries that have joined since it left. It never had to play against those."""
    found: dict[str, set[str]] = {}
    for number, control in enumerate(controls, start=1):
        out = {left.entry_id for left in in_force(controls[:number]) if left.kind in LEAVING}
        found = {entry: found.get(entry, set()) for entry in out}
        if control.kind == "added":
            for joined in found.values():
                joined.add(control.entry_id)
    return found


class Course:
    """One walk through a run's schedule with its records, as the runner itself would walk it.

    Ends where the schedule does, or where what follows depends on matches that are open.
    """

    def __init__(self, text: JournalText, rows: Sequence[MatchRow]) -> None:
        """`text` is that of a run that has begun. UnknownFormat if its format is a plug-in that is gone."""
        description = text.configuration
        controls = in_force(text.controls)
        self.walk = Walk(stand_in(text), controls, description=description)
        self.whole = True
        """Whether no match is open, so far."""
        self.gap = ""
        """The first match that is open, if there is a record of one beyond it."""
        self._last = max((row.place for row in rows), default=-1)
        self._rows = {row.match_id: row for row in rows}
        self._verdicts = {control.match_id: control for control in controls if control.match_id}

    def __iter__(self) -> Iterator[tuple[MatchSpec, State]]:
        while (spec := self.walk.next()) is not None:
            yield spec, self._settle(spec)
            for _, score in self.walk.in_order():
                if score is not None and score.counts and self.walk.broken(score):
                    self.walk.revoke(score)
            for _ in self.walk.settled():
                pass

    def _settle(self, spec: MatchSpec) -> State:
        verdict = self._verdicts.get(spec.match_id)
        row = self._rows.get(spec.match_id)
        if verdict is not None and verdict.kind == "annulled":
            self.walk.settle(spec)
            return "annulled"
        if row is not None:
            ranking = tuple(seat.rank for seat in row.seats) if verdict is None else verdict.ranking
            self.walk.settle(spec, ranking, tuple(seat.fault for seat in row.seats))
            return "counts"
        if self.walk.out(spec):
            self.walk.settle(spec)
            return "off"
        self.walk.give_up(spec)
        if self.whole and spec.place < self._last:
            self.gap = spec.match_id
        self.whole = False
        return "open"
