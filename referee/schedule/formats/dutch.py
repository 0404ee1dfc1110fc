"""The pairing of a round by FIDE's rules for the Dutch system (handbook C.04.3, as it was until 31 January 2026).

Colours are seats: white is the first. Brackets of equal points are paired from the top down. Of all pairings of a
bracket the one is taken that satisfies the criteria C.5 to C.19 best, in their order, and among equal ones the first
in the order of the rules (D.1 to D.3). Each criterion is a digit of the weight of a pair, so that a matching of
maximum weight is that pairing. Letters and numbers of rules stand beside what they say.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from referee.schedule.formats.matching import best_matching
from referee.schedule.formats.pairing import has_larger_matching, helping_edges, maximum_matching

WHITE, BLACK = "white", "black"
DOWN, UP = "down", "up"

NO_PREFERENCE, MILD, STRONG, ABSOLUTE = range(4)


@dataclass(frozen=True, slots=True)
class Player:
    """A bot as the rules see it before a round. `number` is its seed from 1. `score` has the virtual points of an
    accelerated tournament, which `points` has not. `colours` and `opponents` are of games that were played, `floats` of
    the last round and of the one before. `had_bye`: it had a bye that was drawn, or won without a game.
    """

    bot: int
    number: int
    points: Fraction
    score: Fraction
    colours: tuple[str, ...]
    opponents: frozenset[int]
    floats: tuple[str, str]
    had_bye: bool
    topscorer: bool

    @property
    def difference(self) -> int:
        return self.colours.count(WHITE) - self.colours.count(BLACK)

    @property
    def twice(self) -> bool:
        """Whether it had one colour in its last two games."""
        return len(self.colours) > 1 and self.colours[-1] == self.colours[-2]

    @property
    def preference(self) -> tuple[str, int]:
        """The colour that it should have, and how much (A.6)."""
        if not self.colours:
            return "", NO_PREFERENCE
        side = _other(self.colours[-1])
        if self.difference:
            side = BLACK if self.difference > 0 else WHITE
        if abs(self.difference) > 1 or self.twice:
            return side, ABSOLUTE
        return side, STRONG if self.difference else MILD


def _other(colour: str) -> str:
    return BLACK if colour == WHITE else WHITE


Pair = tuple[int, int]
"""Two bots, the first of them on the first seat."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a bot did in a round: its opponent and colour, None and '' without one; its score before the round; whether
    it played a game; whether the round gave it a drawn bye, or a win without a game."""

    score: Fraction
    opponent: int | None = None
    colour: str = ""
    played: bool = False
    had_bye: bool = False


@dataclass(slots=True)
class History:
    """Per round what each bot did."""

    rounds: list[dict[int, Part]] = field(default_factory=list)

    def player(self, bot: int, points: Fraction, virtual: Fraction, *, last_round: bool) -> Player:
        """The bot before the next round, with these points and virtual points."""
        games = [part for one in self.rounds if (part := one.get(bot)) is not None and part.played]
        return Player(
            bot=bot,
            number=bot + 1,
            points=points,
            score=points + virtual,
            colours=tuple(part.colour for part in games),
            opponents=frozenset(part.opponent for part in games if part.opponent is not None),
            floats=(self._float(bot, 1), self._float(bot, 2)),
            had_bye=any(one[bot].had_bye for one in self.rounds if bot in one),
            topscorer=last_round and 2 * (points + virtual) > len(self.rounds),
        )

    def _float(self, bot: int, ago: int) -> str:
        """A.4: who does not play floats down, too."""
        if ago > len(self.rounds):
            return ""
        here = self.rounds[-ago]
        part = here.get(bot)
        if part is None or not part.played or part.opponent is None:
            return DOWN
        theirs = here[part.opponent].score
        return DOWN if part.score > theirs else UP if part.score < theirs else ""


def pair_round(
    players: Sequence[Player], forbidden: frozenset[frozenset[int]] = frozenset(), *, rounds_played: int
) -> tuple[list[Pair], list[int]] | None:
    """The pairs in the order of the tables, and who has the bye; None if no pairing keeps the absolute criteria."""
    order = sorted(players, key=lambda one: (-one.score, one.number))
    if not _can_be_completed(order, forbidden):
        return None
    scores = sorted({one.score for one in order}, reverse=True)
    groups = [[one for one in order if one.score == score] for score in scores]
    pairs: list[tuple[Player, Player]] = []
    moved: list[Player] = []
    collapsed = False
    place = 0
    while place < len(groups):
        lower = groups[place + 1] if place + 1 < len(groups) else []
        rest = [one for group in groups[place + 1 :] for one in group]
        bye_below = place + 2 == len(groups) and len(order) % 2 == 1
        bracket = _Bracket(moved, groups[place], lower, forbidden, rounds_played, collapsed, bye_below)
        made = bracket.pairs()
        paired = {one.bot for pair in made for one in pair}
        left = [one for one in (*moved, *groups[place]) if one.bot not in paired]
        if lower and not collapsed and not _can_be_completed([*left, *rest], forbidden):
            groups[place + 1 :] = [rest]  # A.9: this is the penultimate bracket, and all that is below is the last one
            collapsed = True
            continue
        pairs += made
        moved, collapsed = left, False
        place += 1
    tables = sorted(pairs, key=_table_order)
    return [with_colours(one, other) for one, other in tables], [one.bot for one in moved]


def _allowed(one: Player, other: Player, forbidden: frozenset[frozenset[int]]) -> bool:
    """C.1 and C.3, and that the organiser did not forbid the pair."""
    if other.bot in one.opponents or frozenset((one.bot, other.bot)) in forbidden:
        return False
    if one.topscorer or other.topscorer:
        return True
    return not (one.preference == other.preference and one.preference[1] == ABSOLUTE)


def _can_be_completed(players: Sequence[Player], forbidden: frozenset[frozenset[int]]) -> bool:
    """Whether all can be paired, but for one who may have the bye (C.2) if their number is odd."""
    return -1 not in maximum_matching(_graph(players, forbidden))


def _graph(players: Sequence[Player], forbidden: frozenset[frozenset[int]]) -> list[frozenset[int]]:
    """Per player, and for the bye behind them, by place whom it may be paired with."""
    size = len(players) + len(players) % 2
    graph: list[set[int]] = [set() for _ in range(size)]
    for one, other in combinations(range(len(players)), 2):
        if _allowed(players[one], players[other], forbidden):
            graph[one].add(other)
            graph[other].add(one)
    if size > len(players):
        for place, one_player in enumerate(players):
            if not one_player.had_bye:
                graph[place].add(size - 1)
                graph[size - 1].add(place)
    return [frozenset(others) for others in graph]


def kept_from_pairing(players: Sequence[Player], forbidden: frozenset[frozenset[int]]) -> list[tuple[int, int]]:
    """The forbidden pairs each of which, if it were allowed, would make one more pair possible that keeps the absolute
    criteria."""
    edges = [
        (first, second)
        for (first, one), (second, other) in combinations(enumerate(players), 2)
        if frozenset((one.bot, other.bot)) in forbidden and _allowed(one, other, frozenset())
    ]
    return [(players[one].bot, players[other].bot) for one, other in helping_edges(_graph(players, forbidden), edges)]


def forbidden_leave_fewer_pairs(players: Sequence[Player], forbidden: frozenset[frozenset[int]]) -> bool:
    """Whether more pairs would keep the absolute criteria if none were forbidden."""
    return has_larger_matching(_graph(players, frozenset()), _graph(players, forbidden))


_Order = Callable[[int, int], int]
"""What a pair is worth to the order of candidates."""


class _Bracket:
    """A bracket (A.3): players moved down to it, its residents, and the residents of the next bracket below.

    `penultimate`: those below are all that are left, and must be paired with those that move down. `bye_below`: the
    next bracket is the last, and one of it has the bye.
    """

    def __init__(
        self,
        moved: Sequence[Player],
        residents: Sequence[Player],
        lower: Sequence[Player],
        forbidden: frozenset[frozenset[int]],
        rounds_played: int,
        penultimate: bool,
        bye_below: bool,
    ) -> None:
        self._moved, self._residents = len(moved), len(residents)
        self._players = [*moved, *residents, *lower]
        self._inside = self._moved + self._residents
        self._forbidden = forbidden
        self._rounds_played = rounds_played
        self._completes = penultimate or not lower
        self._bye_below = bye_below
        self._floor = residents[-1].score - 1
        here = self._players[: self._inside]
        distances = {one.score - self._floor for one in here}
        distances |= {one.score - other.score for one, other in combinations(here, 2)}
        self._rank = {distance: place for place, distance in enumerate(sorted(distances))}
        self._width = (4 * len(self._players)).bit_length() + 1

    def pairs(self) -> list[tuple[Player, Player]]:
        """The pairs of the bracket, the higher player first."""
        if not self._rounds_played and not self._moved and not self._forbidden and self._completes:
            half = self._residents // 2  # the first candidate is perfect: nobody has met, or has a preference
            return [(self._players[place], self._players[half + place]) for place in range(half)]
        quality = {
            (one, other): self._quality(one, other)
            for one, other in combinations(range(len(self._players)), 2)
            if _allowed(self._players[one], self._players[other], self._forbidden)
        }
        fixed: dict[int, int] = {}
        if self._moved:
            mate = best_matching(self._ordered(quality, self._order_of_moved), most_pairs=False)
            fixed = {one: mate[one] for one in range(self._moved) if mate.get(one, -1) in self._of_residents}
        remainder = [place for place in self._of_residents if place not in fixed.values()]
        gone = {*fixed, *fixed.values()}
        left = {pair: weight for pair, weight in quality.items() if not gone & set(pair)}
        mate = best_matching(left, most_pairs=False)
        pairs = sum(mate.get(place, -1) in remainder for place in remainder) // 2
        number = {place: rank for rank, place in enumerate(remainder)}
        mate = best_matching(
            self._ordered(left, lambda one, other: _order_of_remainder(number, pairs, one, other)), most_pairs=False
        )
        found = [*fixed.items(), *((one, other) for one, other in mate.items() if one < other < self._inside)]
        return [(self._players[one], self._players[other]) for one, other in found]

    @property
    def _of_residents(self) -> range:
        return range(self._moved, self._inside)

    def _ordered(self, weights: dict[Pair, int], order: _Order) -> dict[Pair, int]:
        """The weights with the order of candidates behind them."""
        second = {pair: order(*pair) for pair in weights}
        most = sum(map(abs, second.values())) * 2 + 1
        return {pair: weight * most + second[pair] for pair, weight in weights.items()}

    def _order_of_moved(self, one: int, other: int) -> int:
        """Of the players moved down the highest are paired (D.3), the highest with the highest residents (D.1)."""
        if one >= self._moved or other not in self._of_residents:
            return 0
        base = self._residents + 1
        chosen = 1 << (self._moved - 1 - one)
        partner: int = (self._inside - other) * base ** (self._moved - 1 - one)
        unit: int = 2 * base**self._moved
        return chosen * unit + partner

    def _quality(self, one: int, other: int) -> int:
        """The criteria of a pair, the most important digit first. `one` is the higher player."""
        first, second = self._players[one], self._players[other]
        weight = 0
        for digit in self._digits(first, second, one < self._inside, other < self._inside):
            weight = (weight << self._width) + digit
        return weight

    def _digits(self, one: Player, other: Player, one_here: bool, both_here: bool) -> Iterator[int]:
        if self._completes:  # C.4, and C.2: nobody has a second bye
            yield 1 + one.had_bye + other.had_bye
        yield int(both_here)  # C.5
        no_float = (one.score - self._floor, other.score - self._floor)
        yield from self._distances((*no_float, one.score - other.score), (1, 1, -1), both_here)  # C.6
        if not self._completes:  # C.7
            yield int(not both_here)
            if self._bye_below:  # C.2 holds in the next bracket: who is left of it has the bye
                yield one.had_bye + other.had_bye
            yield from self._distances(no_float, (int(one_here), int(both_here)), True)
        same = one.preference[0] == other.preference[0] != ""
        top = one.topscorer or other.topscorer
        both_wide = abs(one.difference) > 1 and abs(other.difference) > 1
        strong = min(one.preference[1], other.preference[1]) >= STRONG
        yield int(both_here and not (top and both_wide and same))  # C.8
        yield int(both_here and not (top and one.twice and other.twice and same))  # C.9
        yield int(both_here and not same)  # C.10
        yield int(both_here and not (strong and same))  # C.11
        further = one.score > other.score
        for ago in (0, 1):  # C.12 and C.13, C.14 and C.15
            down = (one.floats[ago] == DOWN and not further) + (other.floats[ago] == DOWN)
            yield down if both_here else 0
            yield int(both_here and not (other.floats[ago] == UP and further and self._rounds_played > 1))
        for ago in (0, 1):  # C.16 and C.17, C.18 and C.19
            again = int(one.floats[ago] == DOWN), int(other.floats[ago] == DOWN)
            yield from self._distances(
                (*no_float, one.score - other.score), (*again, -int(again[0] and further)), both_here
            )
            up = int(other.floats[ago] == UP and further)
            yield from self._distances(no_float[:1], (-up,), both_here)

    def _distances(self, distances: Sequence[Fraction], counts: Sequence[int], holds: bool) -> list[int]:
        """A digit for each distance of scores, the largest first, as the rules compare lists of them (A.8)."""
        digits = [0] * len(self._rank)
        for distance, count in zip(distances, counts, strict=True) if holds else ():
            if count:
                digits[len(digits) - 1 - self._rank[distance]] += count
        return digits


def _order_of_remainder(number: dict[int, int], pairs: int, one: int, other: int) -> int:
    """The order of a bracket of equals (D.2, then D.1): few exchanges between the halves, then small ones, then of the
    lowest of the upper half, then of the highest of the lower half; then the upper half has the highest opponents."""
    if one not in number or other not in number:
        return 0
    size = len(number)
    high, low = number[one], number[other]
    order = int(high < pairs)
    order = order * size * size * 4 - high
    order = (order << (size + 1)) - ((1 << high) if high < pairs else 0)
    order = (order << (size + 1)) + ((1 << (size - high)) if high >= pairs else 0)
    unit: int = (size + 1) ** (size + 1)
    opponent: int = (size - low) * (size + 1) ** (size - 1 - high)
    return order * unit + opponent


def with_colours(one: Player, other: Player) -> Pair:
    """Who has white (E.1 to E.5); `one` is the higher player."""
    colour = _colour_of(one, other)
    return (one.bot, other.bot) if colour == WHITE else (other.bot, one.bot)


def _colour_of(one: Player, other: Player) -> str:
    (side, much), (other_side, other_much) = one.preference, other.preference
    if side and other_side and side != other_side:
        return side  # E.1
    if much != other_much:  # E.2
        return side if much > other_much else _other(other_side)
    if much == ABSOLUTE and abs(one.difference) != abs(other.difference):
        return side if abs(one.difference) > abs(other.difference) else _other(other_side)
    for mine, theirs in zip(reversed(one.colours), reversed(other.colours), strict=False):
        if mine != theirs:
            return _other(mine)  # E.3
    if side:
        return side  # E.4
    return WHITE if one.number % 2 else BLACK  # E.5


def _table_order(pair: tuple[Player, Player]) -> tuple[Fraction, Fraction, int]:
    """The order of the tables: by the points of the higher player, then of the other, then by the seed."""
    high, low = sorted(pair, key=lambda one: (-one.points, one.number))
    return -high.points, -low.points, high.number
