"""What the journal's control events make of the matches: which count, with which ranking, and what tables must say."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from leaderboard.records import MatchRow, with_ranking
from referee.record.journal import (
    LEAVING,
    Approvals,
    Control,
    approvals_of,
    in_force,
    unapproved_among,
)
from referee.record.reader import Record
from referee.record.store import match_id_of, why_aside
from referee.texts import listed

_TOLD = {
    "withdrawn": "withdrawn",
    "disabled": "disabled",
    "breaker": "disqualified for faults",
    "replaced": "replaced by a newer version",
    "paused": "paused",
    "absent": "away",
}
_CHOICES = {
    "keep": "its matches count",
    "annul": "all its matches are annulled",
    "losses": "what it misses is lost",
}


class Seated(Protocol):
    """A seat of a match, as its record or a row has it."""

    @property
    def entry_id(self) -> str: ...
    @property
    def name(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Missed:
    """A match of the schedule that is not played because an entry has left and loses what it misses."""

    game: str
    players: int
    entries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """`rows` are the matches that count, by place. `annulled` and `rejudged` say how many were taken out or changed;
    `aside` are further ones that were annulled, whose records were set aside before.

    `notes` has a sentence on every entry that has left; `forfeits` how many matches each entry misses that are scored
    as losses, by entry id, game and number of players. `approvals` has the entries that were ever not approved, with
    the places from which on they were (True) or were not. `anchors` are the ratings that are fixed, in Elo points by
    entry id. `undecided` are the names of bots that the breaker had put out, and that are in these tables until it
    decides again.
    """

    rows: Sequence[MatchRow]
    annulled: int = 0
    rejudged: int = 0
    notes: Mapping[str, str] | None = None
    forfeits: Mapping[tuple[str, str, int], int] = field(default_factory=dict)
    approvals: Approvals = field(default_factory=dict)
    anchors: Mapping[str, float] = field(default_factory=dict)
    aside: int = 0
    undecided: Sequence[str] = ()

    def forfeited(self, entry_id: str, game: str, players: int) -> int:
        """How many matches of this game and number of players the entry misses; 0 players: of all."""
        return sum(
            number
            for (entry, *pool), number in self.forfeits.items()
            if entry == entry_id and (not players or pool == [game, players])
        )

    def caption(self) -> str:
        """What a table over these matches must say, '' if nothing."""
        parts = [
            f"{number} {'match was' if number == 1 else 'matches were'} {what}"
            for number, what in ((self.annulled + self.aside, "annulled"), (self.rejudged, "judged again"))
            if number
        ]
        matches = f"{' and '.join(parts)}." if parts else ""
        lost = "Matches missed are scored as lost, and not rated." if self.forfeits else ""
        return " ".join(part for part in (matches, self._undecided(), lost, self._anchored()) if part)

    def _undecided(self) -> str:
        if not self.undecided:
            return ""
        names = listed([f"'{name}'" for name in self.undecided])
        return (
            f"The disqualification of {names} rested on what was changed since: the run decides it again when it is"
            f" continued, and until then the matches of {names} count."
        )

    def _anchored(self) -> str:
        """To which bots ratings are relative."""
        from leaderboard.match_table import MatchTable

        names: dict[str, str] = {}
        rows = self.rows if self.anchors else ()
        if isinstance(rows, MatchTable):
            names, rows = rows.names_of(self.anchors), ()
        for row in rows:
            if len(names) == len(self.anchors):
                break
            names |= {seat.entry_id: seat.name for seat in row.seats if seat.entry_id in self.anchors}
        if not names:
            return ""
        fixed = ", ".join(f"{name} {self.anchors[entry]:g}" for entry, name in names.items())
        return f"Anchored: {fixed} (Elo); mu is relative to the anchors' mean of 25."


def apply_controls(rows: Iterable[MatchRow], controls: Sequence[Control], missed: Iterable[Missed] = ()) -> Counted:
    """The matches that count under `controls`, in the order in which they were decided: of two on one match or entry
    the later holds.

    A missed match is no evidence of strength: it is scored, and never rated.
    """
    from leaderboard.match_table import MatchTable

    leaving = _leaving(controls)
    judged = {control.match_id: control for control in in_force(controls) if control.kind in ("annulled", "rejudged")}
    annulled = annulled_entries(controls)
    counted: Sequence[MatchRow]
    taken_out = {match_id for match_id, verdict in judged.items() if verdict.kind == "annulled"}
    if isinstance(rows, MatchTable):
        here = len(rows.places_of(taken_out))
        rankings = {match_id: verdict.ranking for match_id, verdict in judged.items() if match_id not in taken_out}
        counted, changed = rows.without(taken_out, annulled).with_rankings(rankings)
        taken = len(rows) - len(counted)
    else:
        rows = tuple(rows)
        here = sum(row.match_id in taken_out for row in rows) if taken_out else 0
        counted, taken, changed = _apply(rows, judged, annulled)
    lost = {entry for entry, control in leaving.items() if control.choice == "losses"}
    # No bot loses by missing an entry whose matches all are annulled.
    forfeits = Counter(
        (entry, match.game, match.players)
        for match in missed
        if annulled.isdisjoint(match.entries)
        for entry in lost.intersection(match.entries)
    )
    notes = {entry: f"{_TOLD[control.kind]}: {_CHOICES[control.choice]}" for entry, control in leaving.items()}
    aside = len(taken_out) - here
    return Counted(counted, taken, changed, notes, dict(forfeits), approvals_of(controls), aside=aside)


def paired_rows(rows: Iterable[MatchRow], controls: Sequence[Control]) -> Sequence[MatchRow]:
    """The matches that a format pairs by: those that count, and those of bots that have left and whose matches all are
    annulled, for others were paired by their results."""
    return apply_controls(rows, [control for control in controls if control.choice != "annul"]).rows


def _apply(
    rows: Iterable[MatchRow], judged: Mapping[str, Control], annulled: frozenset[str]
) -> tuple[tuple[MatchRow, ...], int, int]:
    """The rows that count, by place, how many do not, and how many have another ranking."""
    counted: list[MatchRow] = []
    taken = changed = 0
    for row in rows:
        verdict = judged.get(row.match_id)
        if (verdict is not None and verdict.kind == "annulled") or not annulled.isdisjoint(
            seat.entry_id for seat in row.seats
        ):
            taken += 1
            continue
        if verdict is not None and len(verdict.ranking) == len(row.seats):
            row = with_ranking(row, verdict.ranking)
            changed += 1
        counted.append(row)
    counted.sort(key=lambda row: (row.place, row.match_id))
    return tuple(counted), taken, changed


def departure_words(controls: Sequence[Control]) -> dict[str, str]:
    """By entry id, of those that are out: the name with how it left, such as "mine was disqualified for faults"."""
    return {entry: f"{control.name} was {_TOLD[control.kind]}" for entry, control in _leaving(controls).items()}


class Rulings:
    """What was decided about matches, in sentences: of these controls those that hold."""

    def __init__(self, controls: Sequence[Control]) -> None:
        self._verdicts = {control.match_id: control for control in in_force(controls) if control.match_id}
        self._annulled = annulled_entries(controls)

    def about(self, match_id: str, seats: Sequence[Seated]) -> str:
        """What the record of a match that has ended does not say; '' for nothing."""
        if out := sorted({seat.name for seat in seats if seat.entry_id in self._annulled}):
            names = listed([f"'{name}'" for name in out])
            return f"This match does not count: all matches of {names} are annulled."
        verdict = self._verdicts.get(match_id)
        if verdict is None:
            return ""
        if verdict.kind == "annulled":  # and its record was not set aside yet
            return "This match does not count: it was annulled."
        ranks = ", ".join(f"{seat.name} {rank}" for seat, rank in zip(seats, verdict.ranking, strict=False))
        return f"This match was judged again, and counts with another ranking: {ranks}."


def ruling_on(record: Record, controls: Sequence[Control]) -> str:
    """A sentence on why the record of a match was set aside, or on what was decided about a match that has ended; ''
    for nothing."""
    if why := why_aside(record.path):
        return f"This record does not count: it was set aside ({why.replace('_', ' ')})."
    return Rulings(controls).about(match_id_of(record.path), record.header.seats) if record.footer is not None else ""


def unapproved_in(row: MatchRow, approvals: Approvals) -> frozenset[str]:
    """The entries of a match that were not approved then."""
    return unapproved_among((seat.entry_id for seat in row.seats), row.place, approvals) if approvals else frozenset()


def annulled_entries(controls: Sequence[Control]) -> frozenset[str]:
    """The entries that have left, and none of whose matches counts."""
    return frozenset(entry for entry, control in _leaving(controls).items() if control.choice == "annul")


def _leaving(controls: Sequence[Control]) -> dict[str, Control]:
    """By entry id, of those that are out: how they left."""
    leaving: dict[str, Control] = {}
    for control in in_force(controls):
        if control.kind in LEAVING:
            leaving[control.entry_id] = control
        elif control.kind in ("added", "returned"):
            leaving.pop(control.entry_id, None)
    return leaving
