"""Rounds of a Swiss or knockout as tables of bots, drawn from who met whom and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard.records import MatchRow
from leaderboard.results import outcome_for

_POINTS = {"won": 1.0, "drawn": 0.5}


@dataclass(frozen=True, slots=True)
class Member:
    """A bot at a table. `points` are matches won, drawn ones as a half, None for a bye; `stays`: it plays in a later
    round too."""

    entry_id: str
    name: str
    points: float | None
    stays: bool


@dataclass(frozen=True, slots=True)
class Round:
    """The tables of a round, in the order in which they began, their members by points."""

    number: int
    tables: Sequence[Sequence[Member]]


def rounds_of(rows: Sequence[MatchRow], rounds: Mapping[str, int], first: frozenset[str]) -> list[Round]:
    """The rounds with a result. `first` are the entries that lead the format's table, who stay to the end."""
    tables: dict[int, dict[frozenset[str], list[MatchRow]]] = {}
    for row in rows:
        number = rounds.get(row.match_id)
        if number is not None:
            members = frozenset(seat.entry_id for seat in row.seats)
            tables.setdefault(number, {}).setdefault(members, []).append(row)
    names = {seat.entry_id: seat.name for row in rows for seat in row.seats}
    last = {entry: number for number in sorted(tables) for members in tables[number] for entry in members}
    found = []
    for number in sorted(tables):
        shown = []
        for members, matches in tables[number].items():
            table = [
                Member(
                    entry,
                    names[entry],
                    sum(_POINTS.get(outcome_for(row, entry), 0.0) for row in matches),
                    last[entry] > number or entry in first,
                )
                for entry in members
            ]
            shown.append(sorted(table, key=lambda member: (-(member.points or 0.0), not member.stays, member.name)))
        playing = {entry for members in tables[number] for entry in members}
        byes = sorted((entry for entry in last if entry not in playing and last[entry] > number), key=names.__getitem__)
        shown += [[Member(entry, names[entry], None, True)] for entry in byes]
        found.append(Round(number, shown))
    return found
