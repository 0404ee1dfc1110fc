"""Knockout: the losers of a table are out, until one bot is left.

A table plays up to `best_of` blocks (times the file's `blocks`), fewer if the result is out of reach before. If the
last place that goes on is tied, up to `extra` further blocks decide, one by one, then the higher seed. A round begins
when the one before is settled; who goes on is derived from results each time, so a match that is played again changes
all that follows from it.

The bracket is drawn anew in each round: the best seed against the worst. With k seats at most k-1 bots sit out a
round: those with the fewest byes, the highest seeds first. If fewer bots are left than a table has seats, the best of
those who went out last fill it. Or, with two seats, the bracket is fixed: all byes are in the first round, and the
winners of neighbouring tables meet. With `double`, a bot is out after the second table that it lost.
"""

import math
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from referee.schedule.formats.api import (
    Block,
    Byes,
    Extent,
    Field,
    Format,
    Need,
    Notice,
    Placing,
    Plan,
    RoundResults,
    Setting,
    answered,
    seats_problem,
)
from referee.schedule.formats.matching import best_matching
from referee.schedule.formats.parts import SEEDING, in_order_of_seeds
from referee.schedule.formats.points import block_points, ranks, show
from referee.schedule.formats.restrictions import FORBIDDEN, club_of, forbidden_pairs, names_of

RESEEDED, FIXED = BRACKETS = ("reseeded", "fixed")

SETTINGS = (
    Setting("best_of", "whole", 1, "blocks of a table, in units of the file's `blocks`", minimum=1, maximum=10_000),
    Setting(
        "extra", "whole", 2, "additional blocks, one by one, while the last rank that advances is tied", maximum=100
    ),
    Setting(
        "advance", "whole", None, "how many bots of a table advance; default: half of them", minimum=1, maximum=100
    ),
    Setting(
        "bracket",
        "word",
        None,
        "'reseeded': drawn in each round; 'fixed': all byes in round 1; left out: 'reseeded'",
        choices=BRACKETS,
        later=True,
    ),
    Setting("bronze", "flag", False, "the losers of the semi-finals play for the third rank", later=True),
    Setting("double", "flag", False, "a bot is out after the second table that it lost", later=True),
    FORBIDDEN,
    SEEDING,
)


@dataclass(slots=True)
class Tie:
    """One table of a round: its members by seed, and their points so far."""

    members: tuple[int, ...]
    advance: int
    blocks: int = 0
    points: dict[int, Fraction] = field(default_factory=dict)

    def order(self) -> list[int]:
        """The best first; equal points by seed."""
        return sorted(self.members, key=lambda bot: (-self.points.get(bot, Fraction()), bot))

    def lead(self) -> Fraction:
        """Points by which the last who goes on is ahead of the first who does not."""
        order = self.order()
        last, first = order[self.advance - 1], order[self.advance]
        return self.points.get(last, Fraction()) - self.points.get(first, Fraction())

    def decided(self, regular: int, extra: int) -> bool:
        if self.blocks >= regular + extra:
            return True
        if self.blocks >= regular:
            return self.lead() > 0
        return self.lead() > regular - self.blocks


@dataclass(slots=True)
class Bracket:
    """What a knockout remembers: who is left, when the others went out, and everyone's way through it.

    `alive` are those who have not lost, `second` those who have lost once, in a double elimination. `fell` has the
    round in which a bot went out, then what orders those that went out in the same round, more being better. `slots`
    are the places of a fixed bracket, None for one that is empty. `ways` has per bot what it did in each round, for
    people.
    """

    alive: list[int] = field(default_factory=list)
    second: list[int] = field(default_factory=list)
    fell: dict[int, tuple[int, int]] = field(default_factory=dict)
    slots: list[int | None] = field(default_factory=list)
    bronze: list[int] = field(default_factory=list)
    """The losers of the semi-finals, where they play for the third rank in the next round."""
    byes: Counter[int] = field(default_factory=Counter)
    met: Counter[frozenset[int]] = field(default_factory=Counter)
    ways: dict[int, dict[int, str]] = field(default_factory=dict)

    def leave(self, absent: frozenset[int], number: int) -> None:
        """Bots are out of the run since round `number`, in which they were further than who lost there."""
        for bot in [bot for bot in (*self.alive, *self.second) if bot in absent]:
            self.fell[bot] = number, 1
        self.alive = [bot for bot in self.alive if bot not in absent]
        self.second = [bot for bot in self.second if bot not in absent]
        self.slots = [None if bot in absent else bot for bot in self.slots]
        self.bronze = [bot for bot in self.bronze if bot not in absent]

    def note(self, number: int, ties: Sequence[Tie], sitting_out: Sequence[int]) -> None:
        """How round `number` stands."""
        for bot in sitting_out:
            self.ways.setdefault(bot, {})[number] = "bye"
        for place, tie in enumerate(ties, start=1):
            for bot in tie.members:
                points = show(tie.points.get(bot, Fraction()))
                points += " point" if points == "1" else " points"
                self.ways.setdefault(bot, {})[number] = f"{points} at table {place}"

    def placings(self) -> list[Placing]:
        """Who is left, then by the round in which one went out, the latest first."""
        left = dict.fromkeys(self.alive, (-math.inf, 0)) | dict.fromkeys(self.second, (-math.inf, 1))
        key: dict[int, tuple[float, int]] = left | {bot: (-when, -better) for bot, (when, better) in self.fell.items()}
        order = sorted(key, key=lambda bot: (key[bot], bot))
        rounds = sorted({number for way in self.ways.values() for number in way})
        return [
            Placing(
                bot,
                rank,
                {"out in round": str(self.fell[bot][0]) if bot in self.fell else "-"}
                | {f"round {number}": self.ways.get(bot, {}).get(number, "-") for number in rounds},
            )
            for bot, rank in ranks(order, key)
        ]


@dataclass(slots=True)
class Draw:
    """A round as it is to be played: its tables, who sits out, the table for the third rank, if it has one (`bronze`,
    the last of `ties`), and what could not be done as the file asks for it."""

    ties: list[Tie]
    out: list[int]
    bronze: Tie | None = None
    notices: list[str] = field(default_factory=list)


def plan(field: Field) -> Plan:
    return (yield from in_order_of_seeds(_plan, field))


def _plan(field: Field) -> Plan:
    bracket = Bracket()
    number = 0
    while True:
        answer = answered((yield Need()))
        if number == 0:
            bracket.alive = list(range(answer.bots))
            bracket.slots = first_slots(answer.bots) if _fixed(field) else []
        elif len(bracket.alive) + len(bracket.second) < 2:
            return bracket.placings()  # a winner that leaves afterwards stays the winner
        bracket.leave(answer.absent, number)
        left = len(bracket.alive) + len(bracket.second)
        variant = _variant(field, number, left)
        players = field.variants[variant].players
        fallen = sorted(
            (bot for bot in bracket.fell if bot not in answer.absent), key=lambda bot: (-bracket.fell[bot][0], bot)
        )
        if answer.over or left < 2 or left + len(fallen) < players:
            return bracket.placings()
        number += 1
        drawn = _draw_round(field, bracket, players, fallen, number)
        for text in drawn.notices:
            yield Notice(text)
        if drawn.out:
            yield Byes(tuple(drawn.out), number)
        bracket.byes.update(drawn.out)
        bracket.met.update(frozenset(pair) for tie in drawn.ties for pair in combinations(tie.members, 2))
        cut_short = yield from _play(field, drawn.ties, variant, number)
        bracket.note(number, drawn.ties, drawn.out)
        if cut_short:
            return bracket.placings()
        _go_on(field, bracket, drawn, number)


def _draw_round(field: Field, bracket: Bracket, players: int, fallen: Sequence[int], number: int) -> Draw:
    if _fixed(field):
        drawn = _neighbours(bracket.slots)
    elif field.settings.get("double"):
        drawn = _draw_twice(field, bracket, number)
    else:
        bracket.alive += fallen[: max(0, players - len(bracket.alive))]
        bracket.fell = {bot: when for bot, when in bracket.fell.items() if bot not in bracket.alive}
        ties, out = draw(bracket.alive, players, bracket.byes, _advance(field, players))
        drawn = Draw(ties, out)
        if players == 2 and forbidden_pairs(field):
            drawn = _kept_apart(field, drawn, bracket, number)
    if len(bracket.bronze) == 2:
        drawn.bronze = Tie(tuple(sorted(bracket.bronze)), 1)
        drawn.ties.append(drawn.bronze)
    return drawn


def _go_on(field: Field, bracket: Bracket, drawn: Draw, number: int) -> None:
    """Who plays on after a round, and who is out."""
    if len(bracket.bronze) == 1:  # the other loser of the semi-finals has left
        bracket.fell[bracket.bronze[0]] = number, -1
    if drawn.bronze is not None:
        drawn.ties.remove(drawn.bronze)
        third, fourth = drawn.bronze.order()
        bracket.fell |= {third: (number, -1), fourth: (number, -2)}
    bracket.bronze = []
    lost = [bot for tie in drawn.ties for bot in tie.order()[tie.advance :]]
    if _fixed(field):
        winner = {bot: tie.order()[0] for tie in drawn.ties for bot in tie.members}
        bracket.slots = [
            next((winner.get(bot, bot) for bot in pair if bot is not None), None)
            for pair in zip(bracket.slots[::2], bracket.slots[1::2], strict=True)
        ]
        bracket.alive = [bot for bot in bracket.slots if bot is not None]
    elif field.settings.get("double"):
        once = [bot for bot in lost if bot in bracket.alive]
        lost = [bot for bot in lost if bot in bracket.second]
        bracket.alive = [bot for bot in bracket.alive if bot not in once]
        bracket.second = sorted([bot for bot in bracket.second if bot not in lost] + once)
    else:
        bracket.alive = drawn.out + [bot for tie in drawn.ties for bot in tie.order()[: tie.advance]]
    bracket.fell |= dict.fromkeys(lost, (number, 0))
    if field.settings.get("bronze") and len(drawn.ties) == 2 and not drawn.out and len(lost) == 2:
        bracket.bronze = sorted(lost)


def first_slots(bots: int) -> list[int | None]:
    """The places of a fixed bracket, a power of two: the best seeds meet last, and have the byes of the first round."""
    slots = [0]
    while len(slots) < bots:
        size = 2 * len(slots)
        slots = [seed for one in slots for seed in (one, size - 1 - one)]
    return [seed if seed < bots else None for seed in slots]


def first_tables(field: Field, bots: int) -> list[tuple[int, ...]]:
    """The tables of the first round as seeds alone decide them."""
    if _fixed(field):
        return [tie.members for tie in _neighbours(first_slots(bots)).ties]
    players = field.variants[_variant(field, 0, bots)].players
    return [tie.members for tie in draw(range(bots), players, Counter(), _advance(field, players))[0]]


def _neighbours(slots: Sequence[int | None]) -> Draw:
    """The next round of a fixed bracket: a bot without a neighbour has a bye."""
    pairs = [[bot for bot in pair if bot is not None] for pair in zip(slots[::2], slots[1::2], strict=True)]
    return Draw(
        [Tie(tuple(sorted(pair)), 1) for pair in pairs if len(pair) == 2],
        [pair[0] for pair in pairs if len(pair) == 1],
    )


def _draw_twice(field: Field, bracket: Bracket, number: int) -> Draw:
    """A round of a double elimination: those who have not lost among themselves, those who have lost once among
    themselves, and the last of each against each other."""
    if len(bracket.alive) == len(bracket.second) == 1:
        return _kept_apart(field, Draw([Tie(tuple(sorted(bracket.alive + bracket.second)), 1)], []), bracket, number)
    drawn = Draw([], [])
    for pool in (bracket.alive, bracket.second):
        ties, out = draw(pool, 2, bracket.byes, 1) if len(pool) > 1 else ([], list(pool))
        part = _kept_apart(field, Draw(ties, out), bracket, number)
        # One bot alone waits for the other pool; that is no bye.
        drawn = Draw(
            drawn.ties + part.ties, drawn.out + (out if len(pool) > 1 else []), None, drawn.notices + part.notices
        )
    for tie in drawn.ties:
        tie.advance = 1
    return drawn


def _kept_apart(field: Field, drawn: Draw, bracket: Bracket, number: int) -> Draw:
    """The same tables of two with other partners where forbidden pairs would meet, or bots that have met, and others
    would not; as near to the draw as can be."""
    forbidden = forbidden_pairs(field)
    ties = drawn.ties
    if not any(frozenset(tie.members) in forbidden or bracket.met[frozenset(tie.members)] for tie in ties):
        return drawn
    playing = sorted(bot for tie in ties for bot in tie.members)
    most = len(playing) ** 3 + 1
    weights = {}
    for one, other in combinations(range(len(playing)), 2):
        pair = frozenset((playing[one], playing[other]))
        away = (other - (len(playing) - 1 - one)) ** 2
        weights[one, other] = -(((pair in forbidden) * most + min(bracket.met[pair], most - 1)) * most + away)
    mate = best_matching(weights)
    advance = ties[0].advance
    pairs = [(playing[one], playing[other]) for one, other in sorted(mate.items()) if one < other]
    together = [pair for pair in pairs if frozenset(pair) in forbidden]
    notices = [f"round {number}: {_called(field, pair)}, since no draw keeps all such pairs apart" for pair in together]
    return Draw([Tie(pair, advance) for pair in pairs], drawn.out, None, notices)


def _called(field: Field, pair: Sequence[int]) -> str:
    club = club_of(field, pair)
    if club:
        return f"{names_of(field, pair)} of the club '{club}' meet"
    return f"the forbidden pair {names_of(field, pair)} meets"


def draw(alive: Sequence[int], players: int, byes: Counter[int], advance: int) -> tuple[list[Tie], list[int]]:
    """The tables of a round, seeded so that the best meet late, and who sits out. A last table lets one go on."""
    by_need = sorted(alive, key=lambda bot: (byes[bot], bot))
    sitting_out = sorted(by_need[: len(alive) % players])
    playing = sorted(bot for bot in alive if bot not in sitting_out)
    number = len(playing) // players
    tables: list[list[int]] = [[] for _ in range(number)]
    for place, bot in enumerate(playing):
        row, column = divmod(place, number)
        tables[number - 1 - column if row % 2 else column].append(bot)
    last = number == 1 and not sitting_out
    return [Tie(tuple(table), 1 if last else advance) for table in tables], sitting_out


def _play(
    field: Field, ties: Sequence[Tie], variant: int, number: int
) -> Generator[Block | Need, RoundResults | None, bool]:
    """Blocks of all tables that are not decided, in waves: as many as any result takes at first, then one each. True if
    it was cut short by someone who only looks."""
    regular, extra = _regular(field), field.settings["extra"]
    wave = regular // 2 + 1
    place = {tie.members: number for number, tie in enumerate(ties, start=1)}
    while waiting := [tie for tie in ties if not tie.decided(regular, extra)]:
        for _ in range(wave):
            for tie in waiting:
                yield Block(tie.members, variant, number, table=place[tie.members])
                tie.blocks += 1
        wave = 1
        by_group = {tie.members: tie for tie in waiting}
        answer = answered((yield Need()))
        for result in answer.results:
            tie = by_group[result.block.group]
            for bot, points in block_points(result).items():
                tie.points[bot] = tie.points.get(bot, Fraction()) + points
        if answer.over:
            return True
    return False


def _variant(field: Field, number: int, alive: int) -> int:
    """The variant of a round: each in turn; where that has more seats than bots are left, the largest that fits."""
    turn = number % len(field.variants)
    fitting = [one for one, variant in enumerate(field.variants) if variant.players <= alive]
    if turn in fitting or not fitting:
        return turn
    return max(fitting, key=lambda one: (field.variants[one].players, -one))


def _regular(field: Field) -> int:
    best_of: int = field.settings["best_of"]
    return best_of * field.blocks


def _advance(field: Field, players: int) -> int:
    advance: int | None = field.settings.get("advance")
    return min(advance or players // 2, players - 1)


def _fixed(field: Field) -> bool:
    return field.settings.get("bracket") == FIXED


def extent(field: Field) -> Extent:
    """Where nobody leaves: the rounds are known, only how soon a table is decided is not. Of a double elimination the
    last table is played again if the bot that had not lost loses it."""
    if field.settings.get("double"):
        return _extent_of_ties(field, _ties_of_double(field.bots))
    if _fixed(field):
        return _extent_of_ties(field, _ties_of_fixed(field.bots, bronze=bool(field.settings.get("bronze"))))
    least = most = number = before = 0
    alive = field.bots
    regular = _regular(field)
    while alive > 1:
        variant = field.variants[_variant(field, number, alive)]
        tables, sitting_out = divmod(max(alive, variant.players), variant.players)
        orders = len(variant.orders)
        bronze = bool(field.settings.get("bronze")) and before == 4
        before = alive
        least += (tables + bronze) * (regular // 2 + 1) * orders
        most += (tables + bronze) * (regular + field.settings["extra"]) * orders
        alive = 1 if tables == 1 and not sitting_out else tables * _advance(field, variant.players) + sitting_out
        number += 1
    return Extent(least, most)


def _ties_of_fixed(bots: int, *, bronze: bool) -> list[tuple[int, int]]:
    """Per round the fewest and the most tables."""
    slots = len(first_slots(bots))
    made = [bots - slots // 2] + [slots >> number for number in range(2, slots.bit_length())]
    made = [tables for tables in made if tables]
    made[-1] += bronze and bots > 3
    return [(tables, tables) for tables in made]


def _ties_of_double(bots: int) -> list[tuple[int, int]]:
    """Per round the fewest and the most tables."""
    alive, second, made = bots, 0, []
    while alive + second > 2 or second == 0:
        tables, others = alive // 2, second // 2
        made.append((tables + others, tables + others))
        alive, second = alive - tables, second - others + tables
    return [*made, (1, 1), (0, 1)]


def _extent_of_ties(field: Field, ties: Sequence[tuple[int, int]]) -> Extent:
    regular = _regular(field)
    least = most = 0
    for number, (fewest, largest) in enumerate(ties):
        orders = len(field.variants[number % len(field.variants)].orders)
        least += fewest * (regular // 2 + 1) * orders
        most += largest * (regular + field.settings["extra"]) * orders
    return Extent(least, most)


def problem(field: Field) -> str:
    """What keeps these bots from a knockout; empty if nothing does."""
    advance: int | None = field.settings.get("advance")
    seats = min(variant.players for variant in field.variants)
    if advance is not None and advance >= seats:
        return f"'knockout.advance' is {advance}, but of a table of {seats} at most {seats - 1} go on"
    for_two = [key for key in ("bronze", "double", "forbidden") if field.settings.get(key)]
    for_two += ["bracket = 'fixed'"] if _fixed(field) else []
    most = max(variant.players for variant in field.variants)
    if for_two and most > 2:
        return f"'knockout.{for_two[0]}' is for matches of two seats, not of {most}"
    if field.settings.get("double") and field.settings.get("bronze"):
        return "'knockout.bronze' does not go with 'knockout.double', in which the third rank is played out"
    if _fixed(field) and (others := [key for key in ("double", "forbidden") if field.settings.get(key)]):
        return f"'knockout.{others[0]}' needs a bracket that is drawn in each round, not 'knockout.bracket' = 'fixed'"
    return seats_problem(field)


FORMAT = Format(
    "knockout",
    "the losers of a table are out",
    SETTINGS,
    plan,
    extent,
    problem,
    has_table=True,
    per="per table, times best_of",
)
