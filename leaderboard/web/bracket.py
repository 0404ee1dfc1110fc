"""Rounds of a Swiss or knockout as tables of bots, drawn from who met whom and what came of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby, pairwise

from leaderboard.records import MatchRow
from leaderboard.results import outcome_for
from referee.texts import clean

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


@dataclass(frozen=True, slots=True)
class Bracket:
    """The rounds of a run, or of one group of a stage, whose name is then the `title`."""

    title: str
    knockout: bool
    rounds: Sequence[Round]


def rounds_of(
    rows: Sequence[MatchRow],
    rounds: Mapping[str, int],
    first: frozenset[str],
    *,
    knockout: bool = True,
    bronze: bool = False,
) -> list[Round]:
    """The rounds with a result. `first` are the entries that lead the format's table, who stay to the end. `bronze`:
    the losers of the semi-finals play for the third rank beside the final; that is not playing on."""
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
    final = max(tables, default=0)
    if bronze and len(tables.get(final, ())) == len(tables.get(final - 1, ())) == 2:
        last |= dict.fromkeys(list(tables[final])[1], final - 1)
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


_WIDTH, _GAP, _LINE, _PAD = 190, 40, 22, 12


def bracket_svg(rounds: Sequence[Round]) -> str:
    """The rounds of a knockout as a drawing: a box for each table, and a line to the table that its winner plays at. In
    bold who plays on. It has its colours itself, so that it can stand anywhere."""
    placed: list[list[tuple[float, Tie]]] = []
    for round_ in rounds:
        placed.append(_placed(round_, placed[-1] if placed else None))
    tall = max((y + len(tie.members) * _LINE / 2 for column in placed for y, tie in column), default=0) + 2 * _PAD
    wide = len(rounds) * (_WIDTH + _GAP) - _GAP + 2 * _PAD
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall:g}" width="{wide}" height="{tall:g}"'
        ' role="img">'
        "<title>Bracket</title><style>text { font: 13px system-ui, sans-serif; fill: #111 } .b { font-weight: 700 } "
        ".h { fill: #555 } rect { fill: #fff; stroke: #777 } path { fill: none; stroke: #777 }</style>"
        f'<rect width="{wide}" height="{tall:g}" style="stroke: none"/>'
    ]
    for number, round_ in enumerate(rounds):
        x = _PAD + number * (_WIDTH + _GAP)
        parts.append(f'<text class="h" x="{x}" y="{_PAD + 10}">Round {round_.number}</text>')
        for y, tie in placed[number]:
            parts += _box(x, y, tie)
    for number, (before, after) in enumerate(pairwise(placed)):
        x = _PAD + number * (_WIDTH + _GAP) + _WIDTH
        for y, tie in before:
            going = {one.entry_id for one in tie.members if one.ahead}
            for other_y, other in after:
                if going & {one.entry_id for one in other.members}:
                    parts.append(f'<path d="M{x} {y:g} h{_GAP / 2:g} V{other_y:g} h{_GAP / 2:g}"/>')
    return "".join(parts) + "</svg>"


def _placed(round_: Round, before: Sequence[tuple[float, Tie]] | None) -> list[tuple[float, Tie]]:
    """The tables of a round, each with the height of its middle: between the tables that lead to it, and below the one
    above it."""
    top, found = float(_PAD + _LINE), []
    for tie in (tie for group in round_.groups for tie in group):
        height = len(tie.members) * _LINE + 16.0  # with the space around it
        here = {one.entry_id for one in tie.members}
        sources = [y for y, other in before or () if any(one.ahead and one.entry_id in here for one in other.members)]
        middle = max(sum(sources) / len(sources) if sources else 0.0, top + height / 2)
        found.append((middle, tie))
        top = middle + height / 2
    return found


def _box(x: float, y: float, tie: Tie) -> Iterator[str]:
    height = len(tie.members) * _LINE
    top = y - height / 2
    yield f'<rect x="{x}" y="{top:g}" width="{_WIDTH}" height="{height}" rx="3"/>'
    for place, one in enumerate(tie.members):
        name = one.name if len(one.name) <= 22 else one.name[:21] + "…"
        shown = "bye" if one.points is None else f"{one.points:g}"
        style = ' class="b"' if one.ahead else ""
        line = top + place * _LINE + 15
        yield f'<text{style} x="{x + 6}" y="{line:g}">{escape(clean(name))}</text>'
        yield f'<text{style} x="{x + _WIDTH - 6}" y="{line:g}" text-anchor="end">{shown}</text>'
