"""How costs grow with the matches of a run, its bots, and the seats of a game: a table, and curves as a picture.

    python benchmarks/growth.py [--matches 1000 4000 16000] [--bots 10 20 40 80 160 320] [--seconds 0.3]
        [--svg FILE]

CPU milliseconds of this process. Results are made up, as in `ratings.py`: of 40 bots, or over 4,000 matches of two
seats and a third as many of four, where another number grows. Both axes of the curves are logarithmic.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise
from math import log10
from pathlib import Path
from random import Random

sys.path.pop(0)  # this folder, in which `referee` is another benchmark
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.random_play import boxes, ordinary_luck, play_at_random, play_for
from benchmarks.ratings import best, make_matches
from leaderboard.ratings.live import rate_live
from leaderboard.ratings.official import rate
from leaderboard.statistics import statistics

BOTS = 40
MATCHES = 4000
Curves = dict[str, list[tuple[float, float]]]
"""By name: what grows, and CPU milliseconds."""


def cost_ms(action: Callable[[], object]) -> float:
    return best(action, 1)[1] * 1000


def over_matches(counts: Sequence[int]) -> Curves:
    curves: Curves = {"official table, two seats": [], "live table": [], "statistics": []}
    for count in counts:
        rows = make_matches(count, BOTS, 2)
        for name, work in zip(curves, (rate, rate_live, statistics), strict=True):
            curves[name].append((count, cost_ms(lambda work=work, rows=rows: work(rows))))  # type: ignore[misc]
    return curves


def over_bots(counts: Sequence[int]) -> Curves:
    curves: Curves = {"official table, two seats": [], "official table, four seats": []}
    for count in counts:
        for name, seats in zip(curves, (2, 4), strict=True):
            rows = make_matches(MATCHES // (seats - 1), count, seats)
            curves[name].append((count, cost_ms(lambda rows=rows: rate(rows))))  # type: ignore[misc]
    return curves


def over_seats(seconds: float) -> Curves:
    """Random play of whole matches."""
    curves: Curves = {}
    for box in boxes(()):
        play_at_random(box, ordinary_luck, Random(0))
        matches, _, cpu_s = play_for(lambda rng, box=box: play_at_random(box, ordinary_luck, rng), 1, seconds)  # type: ignore[misc]
        curves.setdefault(f"match of {box.game.id}", []).append((box.players, 1000 * cpu_s / matches))
    return curves


def table(what: str, curves: Curves) -> str:
    """A row for each curve. The exponent is that of the last step: 1 is in proportion."""
    across = [value for value, _ in max(curves.values(), key=len)]
    lines = [
        f"| CPU ms by {what} | {' | '.join(f'{value:,.0f}' for value in across)} | exponent |",
        f"| --- |{' ---: |' * (len(across) + 1)}",
    ]
    for name, points in curves.items():
        known = dict(points)
        cells = [f"{known[value]:,.2f}" if value in known else "" for value in across]
        lines.append(f"| {name} | {' | '.join(cells)} | {exponent(points)} |")
    return "\n".join(lines)


def exponent(points: Sequence[tuple[float, float]]) -> str:
    steps = [log10(after[1] / before[1]) / log10(after[0] / before[0]) for before, after in pairwise(points)]
    return f"{steps[-1]:.2f}" if steps else ""


COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd")
WIDTH, HEIGHT, LEFT, BELOW, ABOVE = 300, 330, 52, 96, 30


def picture(parts: dict[str, Curves]) -> str:
    """The curves side by side."""
    whole = f"0 0 {WIDTH * len(parts)} {HEIGHT}"
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{whole}" font-family="sans-serif" font-size="11">']
    out.append('<rect width="100%" height="100%" fill="white"/>')
    for place, (what, curves) in enumerate(parts.items()):
        out.append(f'<g transform="translate({WIDTH * place} 0)">{panel(what, curves)}</g>')
    return "\n".join([*out, "</svg>\n"])


def panel(what: str, curves: Curves) -> str:
    points = [point for line in curves.values() for point in line]
    low_x, high_x = (log10(pick(value for value, _ in points)) for pick in (min, max))
    low_y, high_y = (log10(pick(cost for _, cost in points)) for pick in (min, max))
    inner_w, inner_h = WIDTH - LEFT - 14, HEIGHT - ABOVE - BELOW

    def x(value: float) -> float:
        return LEFT + inner_w * (log10(value) - low_x) / (high_x - low_x or 1)

    def y(cost: float) -> float:
        return ABOVE + inner_h * (1 - (log10(cost) - low_y) / (high_y - low_y or 1))

    out = [f'<text x="{LEFT}" y="18" font-weight="bold">CPU ms by {escape(what)}</text>']
    for value in sorted({value for value, _ in points}):
        out.append(f'<text x="{x(value):.0f}" y="{ABOVE + inner_h + 16}" text-anchor="middle">{value:,.0f}</text>')
    steps = (1, 2, 5) if high_y - low_y < 1.5 else (1,)
    for cost in [step * 10.0**power for power in range(-3, 8) for step in steps]:
        if low_y <= log10(cost) <= high_y:
            at = y(cost)
            out.append(f'<line x1="{LEFT}" y1="{at:.1f}" x2="{LEFT + inner_w}" y2="{at:.1f}" stroke="#ddd"/>')
            out.append(f'<text x="{LEFT - 5}" y="{at + 4:.1f}" text-anchor="end">{cost:,g}</text>')
    for number, (name, line) in enumerate(curves.items()):
        colour, beneath = COLOURS[number % len(COLOURS)], ABOVE + inner_h + 36 + 15 * number
        path = " ".join(f"{x(value):.1f},{y(cost):.1f}" for value, cost in line)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out.append(f'<text x="{LEFT}" y="{beneath}" fill="{colour}">{escape(name)}</text>')
    return "".join(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matches", type=int, nargs="+", default=[1000, 4000, 16_000])
    parser.add_argument("--bots", type=int, nargs="+", default=[10, 20, 40, 80, 160, 320])
    parser.add_argument("--seconds", type=float, default=0.3, help="CPU seconds of random play for a number of seats")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="where to draw the curves")
    given = parser.parse_args()
    parts = {"matches": over_matches(given.matches), "bots": over_bots(given.bots), "seats": over_seats(given.seconds)}
    print("\n\n".join(table(what, curves) for what, curves in parts.items()))
    if given.svg:
        given.svg.write_text(picture(parts))


if __name__ == "__main__":
    main()
