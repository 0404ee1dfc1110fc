"""How many matches each format needs until its table has the field in the right order.

    python benchmarks/formats.py --seeds 20 --svg docs/formats.svg

A simulated field: `--bots` bots (40) with strengths drawn from a normal distribution, as far apart as TrueSkill
expects (sigma 25/3), matches of two seats with its luck (beta 25/6) and one in ten drawn. No bot is run. Each format's
schedule is played out, the official table (`leaderboard.ratings.official`) is fitted to the results so far at growing
numbers of matches, and its order is compared with the truth by Spearman's rank correlation, averaged over the seeds.
"""

import argparse
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from statistics import fmean

sys.path.pop(0)  # this folder, in which `referee` is another benchmark
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from leaderboard.ratings.official import rate_results
from leaderboard.results import Result
from referee.schedule.formats.api import BlockResult, Field, Format, Variant
from referee.schedule.formats.registry import get_format
from referee.schedule.formats.simulate import simulate
from referee.schedule.seat_orders import team_orders

SIGMA = 25 / 3
BETA = 25 / 6
DRAW_MARGIN = 0.74
"""Of performances; one in ten matches of equal bots is then drawn."""

GOALS = (0.9, 0.95)
COLOURS = ("#1b6ca8", "#d1495b", "#2e933c", "#8d6a9f", "#e09f3e", "#444444")

Points = list[tuple[int, float]]
"""(matches, rank correlation), ascending."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else "")
    parser.add_argument("--bots", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--most", type=int, default=6400, help="matches at the most")
    parser.add_argument("--svg", type=Path)
    wanted = parser.parse_args()
    curves = {name: curve(make, wanted.bots, wanted.seeds, wanted.most) for name, make in styles(wanted.bots).items()}
    print(table(curves))
    if wanted.svg:
        wanted.svg.write_text(plot(curves, wanted.bots))


def styles(bots: int) -> dict[str, Callable[[int], list[tuple[Format, Field]]]]:
    """Per row of the table what is played for a seed: one long schedule that is looked at as it grows, or (a knockout)
    several."""

    def one(name: str, blocks: int, **settings: object) -> Callable[[int], list[tuple[Format, Field]]]:
        return lambda seed: [(get_format(name), field_of(get_format(name), bots, blocks, seed, settings))]

    knockouts = [1, 3, 7, 15, 31, 61]
    return {
        "league": one("league", 10_000),
        "league, close tables": one("league", 10_000, close=True),
        "Swiss": one("swiss", 1, rounds=200),
        "round robin": one("round-robin", 100),
        "gauntlet, one challenger": one("gauntlet", 1000),
        "knockout, best of 1 to 61": lambda seed: [
            (get_format("knockout"), field_of(get_format("knockout"), bots, 1, seed, {"best_of": best_of}))
            for best_of in knockouts
        ],
    }


def field_of(style: Format, bots: int, blocks: int, seed: int, settings: dict[str, object]) -> Field:
    complete = {setting.name: setting.default for setting in style.settings} | settings
    variant = Variant("simulated", 2, (0, 1), team_orders((0, 1)))
    return Field(tuple(str(number) for number in range(bots)), (variant,), seed, blocks, complete)


def curve(make: Callable[[int], list[tuple[Format, Field]]], bots: int, seeds: int, most: int) -> Points:
    """Mean correlation over the seeds at each number of matches that all of them have."""
    found: dict[int, list[float]] = {}
    for seed in range(seeds):
        chance = Random(f"strengths {seed}")
        strengths = [chance.gauss(0, SIGMA) for _ in range(bots)]
        for style, field in make(seed):
            for matches, correlation in looks(style, field, strengths, most):
                found.setdefault(matches, []).append(correlation)
    if any(len(values) < seeds for values in found.values()):  # a knockout ends where it ends: mean length, mean value
        return grouped(found, seeds)
    return sorted((matches, fmean(values)) for matches, values in found.items())


def grouped(found: dict[int, list[float]], seeds: int) -> Points:
    """Points of schedules whose lengths differ from seed to seed, taken `seeds` at a time in order of length."""
    flat = [(matches, value) for matches in sorted(found) for value in found[matches]]
    groups = [flat[start : start + seeds] for start in range(0, len(flat), seeds)]
    return [(round(fmean(matches for matches, _ in group)), fmean(value for _, value in group)) for group in groups]


def looks(style: Format, field: Field, strengths: list[float], most: int) -> Iterator[tuple[int, float]]:
    """(matches, correlation with the truth) at growing numbers of matches; for a knockout at its end."""
    results: Counter[Result] = Counter()
    at_end = style.name == "knockout"
    matches, next_look = 0, 80
    for block in simulate(style, field, lambda block, bots: outcome(field.seed, block, bots, strengths)):
        for match in block.matches:
            matches += 1
            results[as_result(match.bots, match.ranking)] += 1
        if not at_end and matches >= next_look:
            yield next_look, correlation(results, strengths)
            next_look = round(next_look * math.sqrt(2) / 10) * 10
            if next_look > most:
                return
    if at_end and matches <= most:
        yield matches, correlation(results, strengths)


def outcome(seed: int, block: BlockResult, bots: tuple[int, ...], strengths: list[float]) -> list[int]:
    chance = Random(f"{seed} {block.number} {len(block.matches)}")
    one, other = (strengths[bot] + chance.gauss(0, BETA) for bot in bots)
    if abs(one - other) < DRAW_MARGIN:
        return [1, 1]
    return [1, 2] if one > other else [2, 1]


def as_result(bots: tuple[int, ...], ranking: tuple[int, ...]) -> Result:
    by_rank: dict[int, list[tuple[str, ...]]] = {}
    for bot, rank in zip(bots, ranking, strict=True):
        by_rank.setdefault(rank, []).append((str(bot),))
    return tuple(tuple(sorted(by_rank[rank])) for rank in sorted(by_rank))


def correlation(results: Counter[Result], strengths: list[float]) -> float:
    """Spearman's, of the official table's mu and the truth; bots without a match are in the middle."""
    skills = rate_results(results, tolerance=1e-3).skills
    middle = fmean(skill.mu for skill in skills.values())
    mus = [skills[str(bot)].mu if str(bot) in skills else middle for bot in range(len(strengths))]
    one, other = ranks(mus), ranks(strengths)
    mean = (len(one) - 1) / 2
    over = sum((a - mean) * (b - mean) for a, b in zip(one, other, strict=True))
    return over / math.sqrt(sum((a - mean) ** 2 for a in one) * sum((b - mean) ** 2 for b in other))


def ranks(values: list[float]) -> list[float]:
    """From 0; equal values share the mean of theirs."""
    return [sum(other < value for other in values) + (values.count(value) - 1) / 2 for value in values]


def needed(points: Points, goal: float) -> str:
    """Matches at which a curve first reaches the goal, between two looks on a line over the logarithm."""
    before: tuple[int, float] | None = None
    for matches, value in points:
        if value >= goal:
            if before is None:
                return f"<= {matches}"
            share = (goal - before[1]) / (value - before[1])
            exact = math.exp(math.log(before[0]) + share * (math.log(matches) - math.log(before[0])))
            return f"{round(exact, -1):.0f}"
        before = matches, value
    last = points[-1]
    return f"not by {last[0]} ({last[1]:.2f})"


def table(curves: dict[str, Points]) -> str:
    lines = [
        "| format | " + " | ".join(f"matches for {goal}" for goal in GOALS) + " |",
        "| --- |" + " ---: |" * len(GOALS),
    ]
    for name, points in curves.items():
        lines.append(f"| {name} | " + " | ".join(needed(points, goal) for goal in GOALS) + " |")
    return "\n".join(lines)


def plot(curves: dict[str, Points], bots: int) -> str:
    """An SVG: matches on a logarithmic axis, rank correlation from 0.5 to 1."""
    width, height, left, top = 760, 420, 60, 20
    inner_w, inner_h = 460, 350
    low = math.log(min(points[0][0] for points in curves.values()))
    high = math.log(max(points[-1][0] for points in curves.values()))

    def x(matches: float) -> float:
        return left + (math.log(matches) - low) / (high - low) * inner_w

    def y(value: float) -> float:
        return top + (1 - max(0.5, value)) / 0.5 * inner_h

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif"'
        f' font-size="13"><title>Rank correlation with the truth, {bots} simulated bots</title>',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for tenth in range(5, 11):
        out.append(f'<path d="M{left} {y(tenth / 10):.1f}h{inner_w}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 8}" y="{y(tenth / 10) + 4:.1f}" text-anchor="end">{tenth / 10}</text>')
    for goal in GOALS:
        out.append(f'<path d="M{left} {y(goal):.1f}h{inner_w}" stroke="#888" stroke-dasharray="4 3"/>')
    matches = 80
    while math.log(matches) <= high:
        out.append(f'<path d="M{x(matches):.1f} {top}v{inner_h}" stroke="#eee"/>')
        out.append(f'<text x="{x(matches):.1f}" y="{top + inner_h + 18}" text-anchor="middle">{matches}</text>')
        matches *= 2
    for number, (name, points) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        line = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in points)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        key = top + 20 + 22 * number
        out.append(f'<path d="M{left + inner_w + 20} {key - 4}h24" stroke="{colour}" stroke-width="3"/>')
        out.append(f'<text x="{left + inner_w + 50}" y="{key}">{name}</text>')
    out.append(f'<text x="{left + inner_w / 2}" y="{height - 10}" text-anchor="middle">matches</text></svg>')
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    main()
