"""Rounds of a Swiss or knockout as tables of bots, drawn from who meets whom and what came of it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby, pairwise

from leaderboard.records import MatchRow
from leaderboard.results import outcome_for
from leaderboard.schedule_view import Pairing
from referee.texts import clean

_POINTS = {"won": 1.0, "drawn": 0.5}


@dataclass(frozen=True, slots=True)
class Member:
    """A bot at a table. `points` are matches won, drawn ones as a half, None before the first result and for a bye.
    `ahead`: it won the table, or in a knockout plays in a later round too."""

    entry_id: str
    name: str
    points: float | None
    ahead: bool


@dataclass(frozen=True, slots=True)
class Tie:
    """One table of a round: its members by points, and its matches in the order of the schedule. A bye has one member.
    `size` is how many ties of the first round lead to it, by way of others; `title` says what is special about it."""

    members: Sequence[Member]
    matches: Sequence[MatchRow] = ()
    size: int = 1
    title: str = ""


@dataclass(frozen=True, slots=True)
class Round:
    """The ties of a round. Of a knockout each group leads to one tie of the next round, in the order of those; of other
    formats each tie stands alone, in the order of the tables."""

    number: int
    groups: Sequence[Sequence[Tie]]


@dataclass(frozen=True, slots=True)
class Bracket:
    """The rounds of a run, or of one group of a `stage`. A double elimination has a bracket for each of its `pool`s:
    winners, losers, and the final."""

    knockout: bool
    rounds: Sequence[Round]
    stage: str = ""
    pool: str = ""

    @property
    def title(self) -> str:
        return ", ".join(word for word in (self.stage, self.pool) if word)


@dataclass(frozen=True, slots=True)
class _Known:
    """What rounds are drawn from: the matches that count by id, the names of all entries, and the entries that lead the
    final table of the format, who stay to the end."""

    played: Mapping[str, MatchRow]
    names: Mapping[str, str]
    first: frozenset[str]

    def tie(self, pairing: Pairing, ahead: frozenset[str], title: str = "") -> Tie:
        matches = tuple(self.played[match] for match in pairing.matches if match in self.played)
        points = self.points(pairing)
        members = [
            Member(entry, self.names[entry], points[entry] if matches else None, entry in ahead)
            for entry in pairing.entries
        ]
        if matches:
            members.sort(key=lambda one: (-(one.points or 0.0), not one.ahead, one.name))
        return Tie(members, matches, title=title)

    def points(self, pairing: Pairing) -> dict[str, float]:
        """Of the members of a table."""
        matches = [self.played[match] for match in pairing.matches if match in self.played]
        return {entry: sum(_POINTS.get(outcome_for(row, entry), 0.0) for row in matches) for entry in pairing.entries}


def brackets_of(
    pairings: Sequence[Pairing],
    rows: Sequence[MatchRow],
    names: Mapping[str, str],
    first: frozenset[str],
    *,
    stage: str = "",
    knockout: bool = True,
    bronze: bool = False,
    double: bool = False,
) -> list[Bracket]:
    """The rounds so far, of which the last may be still to be played; none without any. `rows` are the matches that
    count and may be shown, `first` the entries that lead the final table of the format. `bronze`: the losers of the
    semi-finals play for the third rank beside the final; that is not playing on."""
    known = _Known({row.match_id: row for row in rows}, names, first)
    ordered = sorted(pairings, key=lambda one: (one.round, not one.table, one.table))
    rounds = {number: list(found) for number, found in groupby(ordered, key=lambda one: one.round)}
    if not rounds:
        return []
    if knockout and double:
        return [Bracket(True, made, stage, pool) for pool, made in _pools(known, rounds).items() if made]
    if knockout:
        return [Bracket(True, list(_in_bracket(_single(known, rounds, bronze=bronze))), stage)]
    made = [
        Round(number, [[known.tie(one, _winners(known.points(one)))] for one in found])
        for number, found in rounds.items()
    ]
    return [Bracket(False, made, stage)]


def _winners(points: Mapping[str, float]) -> frozenset[str]:
    """Who has the most points of its table, alone."""
    best = [entry for entry, here in points.items() if here == max(points.values())]
    return frozenset(best if len(best) == 1 and len(points) > 1 else ())


def _single(known: _Known, rounds: Mapping[int, Sequence[Pairing]], *, bronze: bool) -> dict[int, list[Tie]]:
    """The ties of a single elimination, by round."""
    last = {entry: number for number, found in rounds.items() for one in found for entry in one.entries}
    final = max(rounds)
    third = None
    if bronze and len(rounds[final]) == len(rounds.get(final - 1, ())) == 2:
        third = rounds[final][1]
        last |= dict.fromkeys(third.entries, final - 1)
    ahead = {
        number: frozenset(entry for entry, until in last.items() if until > number or entry in known.first)
        for number in rounds
    }
    return {
        number: [known.tie(one, ahead[number], "for the third rank" if one is third else "") for one in found]
        for number, found in rounds.items()
    }


def _pools(known: _Known, rounds: Mapping[int, Sequence[Pairing]]) -> dict[str, list[Round]]:
    """The pools of a double elimination: bots that have not lost, bots that have lost once, and the last of both."""
    ties: dict[str, dict[int, list[Tie]]] = {"winners": {}, "losers": {}, "final": {}}
    lost: Counter[str] = Counter()
    decided_until = max(rounds) + bool(known.first)
    for number, found in rounds.items():
        losers: list[str] = []
        for one in found:
            losses = {lost[entry] for entry in one.entries}
            pool = "final" if len(losses) > 1 or ties["final"] else "losers" if losses == {1} else "winners"
            points, more = known.points(one), _cancelled_points(one)
            order = sorted(one.entries, key=lambda entry: (-points[entry] - more[entry], one.entries.index(entry)))
            ahead = frozenset(order[:1] if number < decided_until or not one.table else ())
            ties[pool].setdefault(number, []).append(known.tie(one, ahead))
            losers += order[1:]
        lost.update(losers)
    return {pool: list(_in_bracket(made)) for pool, made in ties.items()}


def _cancelled_points(pairing: Pairing) -> dict[str, float]:
    """Of both bots, as the format counts matches that are cancelled: a bot that has left loses to one that has not."""
    points = dict.fromkeys(pairing.entries, 0.0)
    for absent in pairing.cancelled.values():
        winners = [entry for entry in pairing.entries if entry not in absent] or pairing.entries
        for entry in winners:
            points[entry] += 1 / len(winners)
    return points


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


def bracket_svg(brackets: Sequence[Bracket]) -> str:
    """The rounds of a knockout as a drawing, its pools below each other: a box for each table, and a line to the table
    that its winner plays at. In bold who plays on. It has its colours itself, so that it can stand anywhere."""
    parts: list[str] = []
    tall, wide = 0.0, 0
    for bracket in brackets:
        if bracket.pool:
            parts.append(f'<text class="b" x="{_PAD}" y="{tall + _PAD + 10:g}">{bracket.pool.capitalize()}</text>')
            tall += _LINE
        drawn, height = _drawn(bracket.rounds, tall)
        parts += drawn
        tall += height
        wide = max(wide, len(bracket.rounds) * (_WIDTH + _GAP) - _GAP + 2 * _PAD)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall:g}" width="{wide}" height="{tall:g}"'
        ' role="img">'
        "<title>Bracket</title><style>text { font: 13px system-ui, sans-serif; fill: #111 } .b { font-weight: 700 } "
        ".h { fill: #555 } rect { fill: #fff; stroke: #777 } path { fill: none; stroke: #777 }</style>"
        f'<rect width="{wide}" height="{tall:g}" style="stroke: none"/>{"".join(parts)}</svg>'
    )


def _drawn(rounds: Sequence[Round], top: float) -> tuple[list[str], float]:
    """The rounds below `top`, and how high they are."""
    parts: list[str] = []
    placed: list[list[tuple[float, Tie]]] = []
    for round_ in rounds:
        placed.append(_placed(round_, top, placed[-1] if placed else None))
    tall = max((y + len(tie.members) * _LINE / 2 for column in placed for y, tie in column), default=top) + 2 * _PAD
    for number, round_ in enumerate(rounds):
        x = _PAD + number * (_WIDTH + _GAP)
        parts.append(f'<text class="h" x="{x}" y="{top + _PAD + 10:g}">Round {round_.number}</text>')
        for y, tie in placed[number]:
            parts += _box(x, y, tie)
    for number, (before, after) in enumerate(pairwise(placed)):
        x = _PAD + number * (_WIDTH + _GAP) + _WIDTH
        for y, tie in before:
            going = {one.entry_id for one in tie.members if one.ahead}
            for other_y, other in after:
                if going & {one.entry_id for one in other.members}:
                    parts.append(f'<path d="M{x} {y:g} h{_GAP / 2:g} V{other_y:g} h{_GAP / 2:g}"/>')
    return parts, tall - top


def _placed(round_: Round, above: float, before: Sequence[tuple[float, Tie]] | None) -> list[tuple[float, Tie]]:
    """The tables of a round, each with the height of its middle: between the tables that lead to it, and below the one
    above it."""
    top, found = above + _PAD + _LINE, []
    for tie in (tie for group in round_.groups for tie in group):
        top += _LINE * bool(tie.title)
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
    if tie.title:
        yield f'<text class="h" x="{x}" y="{top - 6:g}">{escape(tie.title.capitalize())}</text>'
    yield f'<rect x="{x}" y="{top:g}" width="{_WIDTH}" height="{height}" rx="3"/>'
    for place, one in enumerate(tie.members):
        name = one.name if len(one.name) <= 22 else one.name[:21] + "…"
        shown = "bye" if len(tie.members) == 1 else "" if one.points is None else f"{one.points:g}"
        style = ' class="b"' if one.ahead else ""
        line = top + place * _LINE + 15
        yield f'<text{style} x="{x + 6}" y="{line:g}">{escape(clean(name))}</text>'
        yield f'<text{style} x="{x + _WIDTH - 6}" y="{line:g}" text-anchor="end">{shown}</text>'
