"""Plots as SVG text, drawn here: nothing to install, nothing to load. Colours and fonts come from the page's style
sheet (classes `s0`..`s7`, `axis`, `grid`), so that they follow its light and dark."""

from collections.abc import Mapping, Sequence
from html import escape
from math import floor, log10

from leaderboard.ratings.live import Point
from leaderboard.standings import Standing
from leaderboard.statistics import Score

WIDTH, ROW = 720, 26
COLOURS = 8
_LEFT, _RIGHT, _TOP, _BOTTOM = 180, 24, 12, 34


def intervals_plot(rows: Sequence[Standing]) -> str:
    """One line per entry: the official rating and its 95 % interval. '' without a rated one."""
    rated = [
        (row.name, row.mu, row.low, row.high)
        for row in rows
        if row.mu is not None and row.low is not None and row.high is not None
    ]
    if not rated:
        return ""
    low, high = min(start for *_, start, _ in rated), max(end for *_, end in rated)
    return _dots(rated, low, high, "rating, 95% interval")


def seats_plot(seats: Mapping[int, Score]) -> str:
    """The mean score of every seat with its 95 % interval. '' without matches."""
    if not seats:
        return ""
    rows = []
    for seat, score in seats.items():
        low, high = score.interval or (score.mean, score.mean)
        rows.append((f"seat {seat + 1}", score.mean, low, high))
    return _dots(rows, 0.0, 1.0, "mean score by seat, 95% interval over blocks")


def history_plot(ways: Mapping[str, Sequence[Point]], names: Mapping[str, str]) -> str:
    """The live mu of every entry over the schedule; a legend in the order of the last values. '' without points."""
    if not any(ways.values()):
        return ""
    height = 320
    points = [point for way in ways.values() for point in way]
    first, last = min(point.place for point in points), max(point.place for point in points)
    low, high = _padded(min(point.mu for point in points), max(point.mu for point in points))
    left = 56

    def x(place: float) -> float:
        return left + (WIDTH - left - _RIGHT) * ((place - first) / (last - first) if last > first else 0.5)

    def y(mu: float) -> float:
        return _TOP + (height - _TOP - _BOTTOM) * (high - mu) / (high - low)

    parts = [_opening(height, "live mu over the schedule")]
    for value in _ticks(low, high):
        parts.append(f'<line class="grid" x1="{left}" x2="{WIDTH - _RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>')
        parts.append(f'<text class="axis" x="{left - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
    for value in _ticks(first, last) if last > first else [first]:
        shown = f"{value + 1:g}"  # matches are counted from 1 wherever people see them
        parts.append(f'<text class="axis" x="{x(value):.1f}" y="{height - 12}" text-anchor="middle">{shown}</text>')
    order = sorted((entry for entry in ways if ways[entry]), key=lambda entry: -ways[entry][-1].mu)
    for number, entry in enumerate(order):
        way = ways[entry]
        path = " ".join(f"{x(point.place):.1f},{y(point.mu):.1f}" for point in way)
        title = f"<title>{_text(names.get(entry, entry))}: {way[-1].mu:.2f}</title>"
        colour = f"s{number % COLOURS}"
        if len(way) == 1:
            parts.append(f'<circle class="dot {colour}" cx="{x(way[0].place):.1f}" cy="{y(way[0].mu):.1f}" r="3">')
            parts.append(f"{title}</circle>")
        else:
            parts.append(f'<polyline class="way {colour}" points="{path}">{title}</polyline>')
    return "".join([*parts, "</svg>", _legend(order, names)])


def evidence_plot(path: Sequence[tuple[float, float]], needed: tuple[float, float], words: tuple[str, str]) -> str:
    """Evidence for two claims after each round, on a scale of powers, with what each needs. '' without rounds."""
    if not path:
        return ""
    height, left = 220, 56
    ways = [[log10(max(pair[side], 1e-3)) for pair in path] for side in (0, 1)]
    low, high = _padded(min(0.0, *ways[0], *ways[1]), max(log10(needed[0]), log10(needed[1]), *ways[0], *ways[1]))

    def x(number: int) -> float:
        return left + (WIDTH - left - _RIGHT) * number / len(path)

    def y(value: float) -> float:
        return _TOP + (height - _TOP - _BOTTOM) * (high - value) / (high - low)

    parts = [_opening(height, "evidence after each round")]
    for power in range(floor(low) + 1, floor(high) + 1):
        at = y(power)
        parts.append(f'<line class="grid" x1="{left}" x2="{WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text class="axis" x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for number in sorted({0, len(path) // 2, len(path)}):
        parts.append(f'<text class="axis" x="{x(number):.1f}" y="{height - 12}" text-anchor="middle">{number}</text>')
    for side, way in enumerate(ways):
        line = y(log10(needed[side]))
        parts.append(f'<line class="need s{side}" x1="{left}" x2="{WIDTH - _RIGHT}" y1="{line:.1f}" y2="{line:.1f}"/>')
        points = " ".join(f"{x(number):.1f},{y(value):.1f}" for number, value in enumerate([0.0, *way]))
        title = f"<title>{_text(words[side])}: {path[-1][side]:.3g}, {needed[side]:g} needed</title>"
        parts.append(f'<polyline class="way s{side}" points="{points}">{title}</polyline>')
    names = {str(side): f"{words[side]} (dashed: needed)" for side in (0, 1)}
    return "".join([*parts, "</svg>", _legend(list(names), names)])


def interval_bar(row: Standing, low: float, high: float) -> str:
    """The rating of a row and its 95 % interval on the scale of its table, for a cell. '' for a bot without one."""
    if row.mu is None or row.low is None or row.high is None:
        return ""

    def x(value: float) -> float:
        return 4 + 112 * (value - low) / ((high - low) or 1.0)

    return (
        '<svg class="rate" width="120" height="14" viewBox="0 0 120 14" aria-hidden="true">'
        f'<line class="bar s0" x1="{x(row.low):.1f}" x2="{x(row.high):.1f}" y1="7" y2="7"/>'
        f'<circle class="dot s0" cx="{x(row.mu):.1f}" cy="7" r="3.5"/></svg>'
    )


def _legend(order: Sequence[str], names: Mapping[str, str]) -> str:
    items = [
        f'<li><span class="key s{number % COLOURS}"></span>{_text(names.get(entry, entry))}</li>'
        for number, entry in enumerate(order)
    ]
    return f'<ul class="legend">{"".join(items)}</ul>'


def _dots(rows: Sequence[tuple[str, float, float, float]], low: float, high: float, title: str) -> str:
    """Rows of (name, value, from, to) on a common scale."""
    low, high = _padded(low, high)
    height = _TOP + ROW * len(rows) + _BOTTOM

    def x(value: float) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * (value - low) / (high - low)

    parts = [_opening(height, title)]
    for value in _ticks(low, high):
        parts.append(
            f'<line class="grid" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{_TOP}" y2="{height - _BOTTOM}"/>'
            f'<text class="axis" x="{x(value):.1f}" y="{height - 14}" text-anchor="middle">{value:g}</text>'
        )
    for number, (name, value, start, end) in enumerate(rows):
        middle = _TOP + ROW * (number + 0.5)
        shown = name if len(name) <= 21 else name[:20] + "…"
        parts.append(
            f'<text class="label" x="{_LEFT - 10}" y="{middle + 4:.1f}" text-anchor="end">{_text(shown)}</text>'
            f'<line class="bar s0" x1="{x(start):.1f}" x2="{x(end):.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>'
            f'<circle class="dot s0" cx="{x(value):.1f}" cy="{middle:.1f}" r="4">'
            f"<title>{_text(name)}: {value:.3g}, {start:.3g} to {end:.3g}</title></circle>"
        )
    return "".join([*parts, "</svg>"])


def _opening(height: int, title: str) -> str:
    return f'<svg class="plot" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{_text(title)}">'


def _padded(low: float, high: float) -> tuple[float, float]:
    room = (high - low) * 0.04 or 1.0
    return low - room, high + room


def _ticks(low: float, high: float) -> list[float]:
    """About six round values within the range."""
    raw = (high - low) / 6
    unit = 10.0 ** floor(log10(raw))
    step = unit * next(factor for factor in (1, 2, 5, 10) if factor * unit >= raw)
    first = floor(low / step) + 1
    return [round(step * number, 10) for number in range(first, first + 12) if step * number <= high]


def _text(value: str) -> str:
    """Safe in text and in attributes; what XML does not allow becomes a blank."""
    return escape("".join(char if char.isprintable() else " " for char in value), quote=True)
