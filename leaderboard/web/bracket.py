"""Rounds of a Swiss or knockout as tables of bots, drawn from who met whom and what came of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from leaderboard.records import MatchRow
from leaderboard.results import outcome_for

_POINTS = {"won": 1.0, "drawn": 0.5}


@dataclass(frozen=True, slots=True)
class Member:
    """A bot at a table. `points` are matches won, drawn ones as a half, None for a bye. `ahead`: it won the table, or
    in a knockout plays in a later round too."""

    entry_id: str
    name: str
    points: float | None
    ahead: bool


@dataclass(frozen=True, slots=True)
class Tie:
    """One table of a round: its members by points, and its matches in the order of the schedule, none for a bye.
    `size` is how many ties of the first round lead to it, by way of others."""

    members: Sequence[Member]
    matches: Sequence[MatchRow] = ()
    size: int = 1


@dataclass(frozen=True, slots=True)
class Round:
    """The ties of a round. Of a knockout each group leads to one tie of the next round, in the order of those; of other
    formats each tie stands alone, in the order in which they began."""

    number: int
    groups: Sequence[Sequence[Tie]]


def rounds_of(
    rows: Sequence[MatchRow], rounds: Mapping[str, int], first: frozenset[str], *, knockout: bool = True
) -> list[Round]:
    """The rounds with a result. `first` are the entries that lead the format's table, who stay to the end."""
    if not rounds:
        return []
    tables: dict[int, dict[frozenset[str], list[MatchRow]]] = {}
    for row in rows:
        number = rounds.get(row.match_id)
        if number is not None:
            members = frozenset(seat.entry_id for seat in row.seats)
            tables.setdefault(number, {}).setdefault(members, []).append(row)
    names = {seat.entry_id: seat.name for row in rows for seat in row.seats}
    last = {entry: number for number in sorted(tables) for members in tables[number] for entry in members}
    ties: dict[int, list[Tie]] = {}
    for number in sorted(tables):
        shown = ties[number] = []
        for members, matches in tables[number].items():
            points = {entry: sum(_POINTS.get(outcome_for(row, entry), 0.0) for row in matches) for entry in members}
            ahead = {
                entry: last[entry] > number or entry in first if knockout else _leads(entry, points)
                for entry in members
            }
            table = [Member(entry, names[entry], points[entry], ahead[entry]) for entry in members]
            shown.append(
                Tie(sorted(table, key=lambda one: (-(one.points or 0.0), not one.ahead, one.name)), tuple(matches))
            )
        playing = {entry for members in tables[number] for entry in members}
        byes = sorted((entry for entry in last if entry not in playing and last[entry] > number), key=names.__getitem__)
        shown += [Tie([Member(entry, names[entry], None, knockout)]) for entry in byes]
    return list(_in_bracket(ties)) if knockout else [Round(number, [[tie] for tie in ties[number]]) for number in ties]


def _leads(entry: str, points: Mapping[str, float]) -> bool:
    """Whether it has the most points of its table, alone."""
    return all(points[entry] > other for one, other in points.items() if one != entry)


def _in_bracket(ties: Mapping[int, Sequence[Tie]]) -> Iterator[Round]:
    """The rounds in their order, ties beside those that they lead to."""
    made: list[Round] = []
    after: dict[str, int] = {}
    """By entry: the place of its tie in the round that comes next."""
    for number in sorted(ties, reverse=True):
        nowhere = len(after) + 1
        led = [(min(after.get(one.entry_id, nowhere) for one in tie.members), tie) for tie in ties[number]]
        led.sort(key=lambda item: item[0])
        groups: list[list[Tie]] = []
        for place, found in groupby(led, key=lambda item: item[0]):
            together = [tie for _, tie in found]
            groups += [together] if place < nowhere else [[tie] for tie in together]
        made.append(Round(number, groups))
        order = [tie for group in groups for tie in group]
        after = {one.entry_id: place for place, tie in enumerate(order) for one in tie.members}
    sizes: list[int] = []
    for round_ in reversed(made):
        of_tie = iter(sizes)
        groups = [[replace(tie, size=next(of_tie, 1)) for tie in group] for group in round_.groups]
        sizes = [sum(tie.size for tie in group) for group in groups]
        yield replace(round_, groups=groups)
