"""How often what `stop_when` calls solid is wrong, in simulated round robins with known strengths."""

import math
import random
from itertools import combinations, cycle, pairwise

import pytest

from leaderboard.ratings.official import rate_results
from leaderboard.stopping import StoppingRule
from referee.schedule.formats.api import Block, BlockResult, MatchScore
from referee.schedule.stopping import parse_stop_when

MOST_BLOCKS = 4000


def played(skills: list[float], rule: StoppingRule, chance: random.Random) -> int | None:
    """Blocks of two matches until the rule stops; None if it has not by then."""
    bots = tuple(range(len(skills)))
    for number, pair in zip(range(MOST_BLOCKS), cycle(combinations(bots, 2)), strict=False):
        matches = []
        for seats in (pair, pair[::-1]):
            won = chance.random() < 1 / (1 + 10 ** ((skills[seats[1]] - skills[seats[0]]) / 400))
            entries = tuple(f"b{bot}" for bot in seats)
            matches.append(
                MatchScore(2 * number, f"m{number}", "toy", seats, entries, (0, 1), (1, 2) if won else (2, 1))
            )
        if rule(BlockResult(number, 2 * number, Block(pair), tuple(matches), bots)):
            return number + 1
    return None


def wrong_neighbours(bots: int, spread: float, percent: int, seed: int) -> tuple[int, int, int] | None:
    """Neighbours of the table in the wrong order, neighbours, and blocks."""
    chance = random.Random(seed)
    skills = [chance.gauss(0, spread) for _ in range(bots)]
    rule = StoppingRule(parse_stop_when(f"ranking {percent} %"), [str(bot) for bot in range(bots)])
    blocks = played(skills, rule, chance)
    if blocks is None:
        return None
    (results,) = rule._results.values()
    official = rate_results(results)
    order = sorted(official.skills, key=official.conservative, reverse=True)
    ranked = [skills[int(entry[1:])] for entry in order]
    return sum(one < other for one, other in pairwise(ranked)), bots - 1, blocks


@pytest.mark.parametrize(
    ("bots", "spread", "fields"),
    [(2, 100.0, 20), (4, 200.0, 4), pytest.param(4, 200.0, 300, marks=pytest.mark.long)],
)
def test_few_neighbours_are_in_the_wrong_order_when_the_ranking_is_called_solid(bots, spread, fields):
    found = [wrong_neighbours(bots, spread, 95, seed) for seed in range(fields)]
    over = [one for one in found if one is not None]
    wrong, pairs = sum(one[0] for one in over), sum(one[1] for one in over)
    share = wrong / pairs
    blocks = sorted(one[2] for one in over)
    print(f"{bots} bots: {wrong} of {pairs} neighbours wrong ({share:.1%}), {fields - len(over)} of {fields} not solid")
    print(f"blocks: median {blocks[len(blocks) // 2]}, most {blocks[-1]}")
    assert share <= 0.10 + 2 * math.sqrt(0.1 * 0.9 / pairs)
