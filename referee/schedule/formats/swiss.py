"""Swiss: in each round bots with about as many points meet, and nobody meets anybody twice while that is avoidable.

Points are rank points (see `points`), one round's worth for each round; ties are broken as the file chooses (see
`scores`), then by the seeding. With an odd field, or one that does not fill its tables, those with the fewest byes and
the lowest rank sit out: a bye is worth `bye` points and adds nothing to the tie-breaks. A round begins when the one
before is settled.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from referee.schedule.formats.api import (
    Block,
    BlockResult,
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
from referee.schedule.formats.dutch import (
    BLACK,
    WHITE,
    History,
    Part,
    Player,
    forbidden_leave_fewer_pairs,
    kept_from_pairing,
    pair_round,
    with_colours,
)
from referee.schedule.formats.pairing import kept_apart_by, leave_fewer_pairs, make_pairs, make_tables
from referee.schedule.formats.parts import SEEDING, in_order_of_seeds
from referee.schedule.formats.points import ranks, show
from referee.schedule.formats.restrictions import (
    BYES,
    FIXED,
    FORBIDDEN,
    REQUESTED_BYE,
    fixed_tables,
    forbidden_pairs,
    names_of,
    pairs_of,
    requested_byes,
    restrictions_problem,
)
from referee.schedule.formats.scores import TIE_BREAK_SETTING, Key, Scores, tie_breaks_of

FIDE = "fide"

_TOGETHER = "the forbidden pairs leave"
"""Where no single one of them is to blame."""

SETTINGS = (
    Setting(
        "rounds",
        "whole",
        None,
        "how many there are; left out: as many as halving the field to one takes",
        minimum=1,
        maximum=10_000,
    ),
    Setting("bye", "number", None, "points of a bye; left out: 1 with two seats, 0.5 with more", minimum=0, maximum=1),
    Setting(
        "late",
        "word",
        "zero",
        "points for each round that a bot missed because it joined later",
        choices=("zero", "half", "average"),
        later=True,
    ),
    Setting(
        "pairing",
        "word",
        None,
        "'usual', or 'fide' for the rules of chess, with one match a table; left out: 'usual'",
        choices=("usual", FIDE),
        later=True,
    ),
    Setting("accelerated", "flag", False, "the best seeds begin with virtual points", later=True),
    TIE_BREAK_SETTING,
    FORBIDDEN,
    FIXED,
    BYES,
    REQUESTED_BYE,
    SEEDING,
)


@dataclass(slots=True)
class Table:
    """What a Swiss tournament remembers: scores, byes, and per pair how often they met."""

    scores: Scores = field(default_factory=Scores)
    byes: Counter[int] = field(default_factory=Counter)
    asked: Counter[int] = field(default_factory=Counter)
    """Byes that bots asked for. They do not keep a bot from one that is drawn."""
    met: Counter[frozenset[int]] = field(default_factory=Counter)
    due: dict[int, Fraction] = field(default_factory=dict)
    """Whose bye in the round that goes on is worth how much: it counts when the round is over."""
    due_asked: frozenset[int] = frozenset()
    """Those of them who asked for it."""
    entered: int = 0
    """Bots that were there before the round."""
    history: History = field(default_factory=History)
    drawn: dict[frozenset[int], tuple[int, int]] = field(default_factory=dict)
    """The pairs of the round that goes on, by their bots: who has the first seat, and who the second."""
    before: dict[int, Fraction] = field(default_factory=dict)
    """The scores with which it was paired."""

    def add(self, answer: RoundResults, blocks: int) -> None:
        """Count settled blocks, of which a round has `blocks` per table, and the byes of a round that is over."""
        for result in answer.results:
            self.scores.add_block(result, blocks)
        if not answer.over:
            self._remember(answer.results)
            self.byes.update(self.due.keys() - self.due_asked)
            self.asked.update(self.due_asked)
            for bot, points in self.due.items():
                self.scores.add_points(bot, points)
            self.due, self.due_asked = {}, frozenset()

    def admit(self, answer: RoundResults, rounds: int, late: str) -> None:
        """Bots that join after so many rounds get points for these, which add nothing to the tie-breaks."""
        before = [bot for bot in answer.present if bot < self.entered]
        if late == "average":
            total = sum((self.scores.of(bot) for bot in before), Fraction())
            points = total / len(before) if before else Fraction()
        else:
            points = Fraction(rounds, 2) if late == "half" else Fraction()
        for bot in range(self.entered, answer.bots) if rounds else ():
            self.scores.add_points(bot, points)
        self.entered = answer.bots

    def begin(self, pairs: Sequence[tuple[int, ...]], before: dict[int, Fraction]) -> None:
        """A round of two seats begins; `before` has everyone's score."""
        self.drawn = {frozenset(pair): (pair[0], pair[1]) for pair in pairs}
        self.before = before

    def _remember(self, results: Sequence[BlockResult]) -> None:
        """What everyone did in the round that is over, for the FIDE pairing."""
        if not self.before:
            return
        parts = {
            bot: Part(score, had_bye=bot in self.due.keys() - self.due_asked) for bot, score in self.before.items()
        }
        for result in results:
            pair = self.drawn[frozenset(result.block.group)]
            played = result.matches[0].counts
            absent = set(result.matches[0].absent)
            for bot, other, colour in ((*pair, WHITE), (*pair[::-1], BLACK)):
                won = not played and other in absent and bot not in absent
                parts[bot] = Part(self.before[bot], other, colour, played, had_bye=won)
        self.history.rounds.append(parts)
        self.before = {}


@dataclass(frozen=True, slots=True)
class Draw:
    """A round as it is to be played: its tables, who sits out, those of them who asked for it, and what could not be
    done as the file asks for it."""

    tables: Sequence[tuple[int, ...]]
    out: Sequence[int]
    asked: frozenset[int] = frozenset()
    notices: Sequence[str] = ()


def plan(field: Field) -> Plan:
    return (yield from in_order_of_seeds(_plan, field))


def _plan(field: Field) -> Plan:
    table = Table()
    tie_breaks = tie_breaks_of(field)
    number = 0
    while True:
        answer = answered((yield Need()))
        table.add(answer, field.blocks)
        table.admit(answer, number, field.settings.get("late") or "zero")
        variant = _variant(field, number, len(answer.present))
        if answer.over or variant is None or number >= answer.length.get("rounds", _rounds(field)):
            return _placings(table, range(answer.bots), tie_breaks)
        players = field.variants[variant].players
        key = table.scores.keys(answer.present, tie_breaks)
        rounds = int(answer.length.get("rounds", _rounds(field)))
        virtual = {bot: virtual_points(field, rounds, number + 1, bot) for bot in range(answer.bots)}
        order = sorted(answer.present, key=lambda bot: (key[bot][0] - virtual[bot], key[bot], bot))
        drawn = draw(field, number + 1, players, order, table, virtual, last_round=number + 1 == rounds)
        for text in drawn.notices:
            yield Notice(text)
        if drawn.out:
            yield Byes(tuple(drawn.out), number + 1)
        table.due = dict.fromkeys(drawn.out, _bye(field, players))
        table.due.update(dict.fromkeys(drawn.asked, _requested(field)))
        table.due_asked = drawn.asked
        if _is_fide(field):
            table.begin(drawn.tables, {bot: table.scores.of(bot) + virtual[bot] for bot in range(answer.bots)})
        for group in drawn.tables:
            table.met.update(frozenset((one, other)) for one in group for other in group if one < other)
        for _ in range(field.blocks):
            for place, group in enumerate(drawn.tables, start=1):
                yield Block(group, variant, number + 1, table=place, one_match=_is_fide(field))
        number += 1


def draw(
    field: Field,
    round_: int,
    players: int,
    order: Sequence[int],
    table: Table,
    virtual: Mapping[int, Fraction] | None = None,
    *,
    last_round: bool = False,
) -> Draw:
    """A round of the bots in `order`, the best first: who asked for a bye, then fixed tables, then the pairing.
    `virtual` are points that count only for the pairing."""
    virtual = virtual or dict.fromkeys(order, Fraction())
    here = set(order)
    asked = frozenset(requested_byes(field, round_) & here)
    fixed, notices = [], []
    for group in fixed_tables(field, round_):
        gone = [bot for bot in group if bot not in here]
        if not gone and len(group) == players:
            fixed.append(group)
            continue
        why = f"{names_of(field, gone)} is out of the run" if gone else f"matches of this round have {players} seats"
        notices.append(f"round {round_}: the fixed table of {names_of(field, group)} is not played, since {why}")
    taken = asked.union(*fixed)
    left = [bot for bot in order if bot not in taken]
    points = {bot: table.scores.of(bot) + virtual[bot] for bot in order}
    tables, out, said = _pair(field, round_, players, left, table, points, virtual, last_round=last_round)
    place = {bot: number for number, bot in enumerate(order)}
    tables = sorted([*tables, *fixed], key=lambda group: min(place[bot] for bot in group)) if fixed else tables
    return Draw(tables, [*out, *sorted(asked)], asked, [*notices, *said])


_USUAL = "; so the usual pairing is used"
"""What is done in a run. A file whose first round needs it is refused."""


def _pair(
    field: Field,
    round_: int,
    players: int,
    left: Sequence[int],
    table: Table,
    points: Mapping[int, Fraction],
    virtual: Mapping[int, Fraction],
    *,
    last_round: bool,
) -> tuple[Sequence[tuple[int, ...]], Sequence[int], list[str]]:
    """The tables of the bots that are `left`, the best first, who sits out, and what the forbidden pairs rule out."""
    forbidden = forbidden_pairs(field)
    notices = []
    seen: list[Player] = []
    if _is_fide(field) and left:
        seen = [table.history.player(bot, table.scores.of(bot), virtual[bot], last_round=last_round) for bot in left]
        made = pair_round(seen, forbidden, rounds_played=len(table.history.rounds))
        if made is not None:
            return *made, []
        apart = kept_from_pairing(seen, forbidden)
        together = not apart and forbidden_leave_fewer_pairs(seen, forbidden)
        whose = pairs_of(field, apart) if apart else _TOGETHER if together else ""
        why = f", since {whose} too few other pairs" if whose else ""
        notices.append(f"round {round_}: no pairing keeps the FIDE rules{why}{_USUAL}")
    make = make_pairs if players == 2 else make_tables
    tables, out = make(left, players, points, table.met, table.byes, forbidden)
    if len(out) > len(left) % players:
        pairs = kept_apart_by(left, out, players, forbidden)
        why = pairs_of(field, pairs) if pairs else _TOGETHER
        notices.append(f"round {round_}: {names_of(field, out)} sit out, since {why} no table for them")
    if forbidden and players == 2 and (again := [pair for pair in tables if table.met[frozenset(pair)]]):
        playing = [bot for pair in tables for bot in pair]
        apart = kept_apart_by(playing, (), players, forbidden, table.met)
        if apart or leave_fewer_pairs(playing, forbidden, table.met):
            why = pairs_of(field, apart) if apart else _TOGETHER
            twice = ", ".join(f"{field.name_of(one)} - {field.name_of(other)}" for one, other in again)
            notices.append(f"round {round_}: {twice} meet again, since {why} too few other pairs")
    if seen:
        by_bot = {one.bot: one for one in seen}
        tables = [with_colours(by_bot[one], by_bot[other]) for one, other in tables]
    return tables, out, notices


def virtual_points(field: Field, rounds: int, round_: int, bot: int) -> Fraction:
    """The Baku acceleration (FIDE handbook C.04.7): the better half of the seeds, an even number, has a point more in
    the first half of the accelerated rounds, and half a point in the others. These are the first half of all rounds."""
    upper = 2 * math.ceil(field.bots / 4)
    accelerated = math.ceil(rounds / 2)
    if not field.settings.get("accelerated") or bot >= upper or round_ > accelerated:
        return Fraction()
    return Fraction(1) if round_ <= math.ceil(accelerated / 2) else Fraction(1, 2)


def _is_fide(field: Field) -> bool:
    return field.settings.get("pairing") == FIDE


def _placings(table: Table, bots: Sequence[int], tie_breaks: Sequence[str]) -> list[Placing]:
    key: dict[int, Key] = table.scores.keys(bots, tie_breaks)
    order = sorted(bots, key=lambda bot: (key[bot], bot))
    return [
        Placing(
            bot,
            rank,
            {name: show(-value) for name, value in zip(("points", *tie_breaks), key[bot], strict=True)}
            | {"byes": str(table.byes[bot] + table.asked[bot])},
        )
        for bot, rank in ranks(order, key)
    ]


def _variant(field: Field, number: int, present: int) -> int | None:
    """The variant of a round: each in turn; one with fewer seats when too few are left; None when none fits."""
    turn = number % len(field.variants)
    if field.variants[turn].players <= present:
        return turn
    fitting = [one for one, variant in enumerate(field.variants) if variant.players <= present]
    return max(fitting, key=lambda one: (field.variants[one].players, -one), default=None)


def _rounds(field: Field) -> int:
    rounds: int | None = field.settings.get("rounds")
    return rounds or max(1, math.ceil(math.log2(field.bots)))


def _bye(field: Field, players: int) -> Fraction:
    bye: float | None = field.settings.get("bye")
    if bye is not None:
        return Fraction(str(bye))
    return Fraction(1) if players == 2 else Fraction(1, 2)


def _requested(field: Field) -> Fraction:
    points: float | None = field.settings.get("requested_bye")
    return Fraction(1, 2) if points is None else Fraction(str(points))


def problem(field: Field) -> str:
    """Why these bots cannot play; '' if they can. Rounds that the settings rule out are found before any result."""
    if unseated := seats_problem(field):
        return unseated
    players_of = [field.variants[number % len(field.variants)].players for number in range(_rounds(field))]
    if wrong := restrictions_problem(field, players_of):
        return wrong
    if _is_fide(field) and set(players_of) != {2}:
        return "'swiss.pairing' = 'fide' is for matches of two seats"
    if forbidden_pairs(field):
        named = {table["round"] for key in ("fixed", "byes") for table in field.settings.get(key) or ()}
        for round_ in sorted({1, *named}):
            drawn = draw(field, round_, players_of[round_ - 1], range(field.bots), Table())
            if drawn.notices:
                return drawn.notices[0].removesuffix(_USUAL)
    return ""


def extent(field: Field) -> Extent:
    """The matches if no bot leaves. A bot that asked for a bye is not paired."""
    total = 0
    for number in range(_rounds(field)):
        variant = field.variants[number % len(field.variants)]
        orders = 1 if _is_fide(field) else len(variant.orders)
        paired = field.bots - len(requested_byes(field, number + 1))
        total += paired // variant.players * field.blocks * orders
    return Extent(total, total)


FORMAT = Format(
    "swiss",
    "rounds of those with equal points",
    SETTINGS,
    plan,
    extent,
    problem,
    has_table=True,
    per="per table and round",
    lengths=lambda field: {"rounds": _rounds(field)},
)
