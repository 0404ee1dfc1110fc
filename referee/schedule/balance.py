"""How evenly a schedule treats its bots: matches, seats, meetings."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product

from referee.schedule.config import ScheduleConfig
from referee.schedule.spec import MatchSpec


@dataclass(frozen=True, slots=True)
class Row:
    """How evenly one bot is treated: its matches, those in each seat, and the extremes over its opponents."""

    name: str
    matches: int
    by_seat: tuple[int, ...]
    fewest_meetings: int
    most_meetings: int


@dataclass(frozen=True, slots=True)
class Balance:
    """Counted over the schedule as far as it is known. `spreads` has (what, most minus least, least possible)."""

    known: int
    rows: tuple[Row, ...]
    spreads: tuple[tuple[str, int, int], ...]


def balance(
    config: ScheduleConfig, matches_ahead: Iterable[MatchSpec], names: Mapping[str, str], *, steady: bool
) -> Balance:
    """Counted over these matches of the schedule, between the bots of these `names` by entry id. `steady`: nobody has
    joined or left, so that it can be compared with the best possible balance."""
    numbers = {entry_id: number for number, entry_id in enumerate(names)}
    bots = range(len(numbers))
    matches: Counter[int] = Counter()
    seats: Counter[tuple[int, int]] = Counter()
    kinds: Counter[tuple[int, str, int]] = Counter()
    meetings: Counter[tuple[int, int]] = Counter()
    met: Counter[tuple[frozenset[int], str, int]] = Counter()
    sat: Counter[tuple[int, str, int, int]] = Counter()
    known = 0
    for spec in matches_ahead:
        known += 1
        here = [numbers[seat.entry_id] for seat in spec.seats]
        for number, one in enumerate(here):
            seats[one, number] += 1
            sat[one, spec.game, len(here), number] += 1
        for one in set(here):
            matches[one] += 1
            kinds[one, spec.game, len(here)] += 1
            meetings.update((one, other) for other in set(here) if other != one)
        met.update((frozenset(pair), spec.game, len(here)) for pair in combinations(sorted(set(here)), 2))
    rows = tuple(
        Row(
            name,
            matches[bot],
            tuple(seats[bot, number] for number in range(max(variant.players for variant in config.field.variants))),
            min((meetings[bot, other] for other in bots if other != bot), default=0),
            max((meetings[bot, other] for other in bots if other != bot), default=0),
        )
        for bot, name in enumerate(names.values())
    )
    return Balance(known, rows, tuple(_spreads(config, kinds, met, sat)) if steady else ())


def _spreads(
    config: ScheduleConfig,
    kinds: Mapping[tuple[int, str, int], int],
    met: Mapping[tuple[frozenset[int], str, int], int],
    sat: Mapping[tuple[int, str, int, int], int],
) -> Iterator[tuple[str, int, int]]:
    """What was achieved against what is possible, each among those that the format treats alike, per game and number of
    seats. Whoever is in a block is in all its matches, so numbers come in whole blocks."""
    field = config.field
    alike = config.style.classes
    classes = alike(field) if alike else {"bot": range(field.bots)}
    for variant in field.variants:
        game, players, step = variant.game, variant.players, len(variant.orders)
        what = f"matches of {game} with {players} seats"
        for name, alike_here in classes.items():
            bots = field.players(alike_here, game)
            counts = [kinds.get((bot, game, players), 0) for bot in bots]
            if sum(counts):
                yield _spread(f"{what} per {name}", counts, step)
        for one, other in combinations_with_replacement(classes, 2):
            here, others = field.players(classes[one], game), field.players(classes[other], game)
            pairs = combinations(here, 2) if one == other else product(here, others)
            counts = [met.get((frozenset(pair), game, players), 0) for pair in pairs]
            if sum(counts):
                pair = "two bots" if len(classes) == 1 else f"a {one} and a {other}"
                yield _spread(f"meetings of {pair} in {game} with {players} seats", counts, step)
        seats = [[sat.get((bot, game, players, seat), 0) for seat in range(players)] for bot in range(field.bots)]
        if any(map(sum, seats)):
            yield f"seats of a bot in {game} with {players} seats", max(max(one) - min(one) for one in seats), 0


def _spread(what: str, counts: list[int], step: int) -> tuple[str, int, int]:
    """Most minus least; numbers that come in steps and add up to the same sum cannot be more even than their mean,
    rounded both ways to whole steps."""
    achieved = max(counts) - min(counts)
    # A bot that meets itself plays one match of such a block, and may even things out.
    return what, achieved, min(achieved, step) if sum(counts) % (step * len(counts)) else 0
