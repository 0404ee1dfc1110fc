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
    return _dots(rated, low, high, "mu, 95 %")


def seats_plot(seats: Mapping[int, Score]) -> str:
    """The mean score of every seat with its 95 % interval. '' without matches."""
    if not seats:
        return ""
    rows = []
    for seat, score in seats.items():
        low, high = score.interval or (score.mean, score.mean)
        rows.append((f"seat {seat}", score.mean, low, high))
    return _dots(rows, 0.0, 1.0, "mean score by seat, 95 % over blocks")


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
        parts.append(f'<text class="axis" x="{x(value):.1f}" y="{height - 12}" text-anchor="middle">{value:g}</text>')
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
