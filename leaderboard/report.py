"""One page about one tournament: tables, plots, faults, links. Self-contained: no script, nothing to load.

Everything that bots or files brought in is escaped by the template engine; only our own drawings are not.
"""

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from leaderboard.controls import Counted
from leaderboard.evidence import BotFault
from leaderboard.match_table import MatchTable, table_of
from leaderboard.plots import history_plot, interval_bar, intervals_plot, seats_plot
from leaderboard.records import MatchRow, ReadMatch
from leaderboard.results import has_people, is_mirror
from leaderboard.schedule_view import NO_TABLE, FormatTable, Pairing
from leaderboard.standings import CAPTION, Pool, Ratings, Standing, apart, pools_of, rate_pools, unsettled
from leaderboard.statistics import EntryFacts, Residual, Statistics, Versus, residuals, statistics
from leaderboard.times import PERCENTILES
from leaderboard.titles import game_title, in_words, pool_title, with_names
from referee.record.journal import FailedStart, slow_start
from referee.texts import clean, plural

TEMPLATES = Path(__file__).parent / "templates"
MOST_MATCHES = 2000
"""Matches listed in full; of more, the last ones and every one with a fault."""

MOST_CROSS = 200
"""Bots of the largest cross table."""

ODD_Z = 3.0


@dataclass(frozen=True, slots=True)
class PoolReport:
    """What the page shows of one game with one number of players. `cross` is empty for more than `MOST_CROSS` bots."""

    title: str
    rows: Sequence[Standing]
    warning: str
    statistics: Statistics
    cross: Sequence[Sequence[Versus | None]]
    facts: Sequence[EntryFacts | None]
    intervals: Markup
    ways: Markup
    seats: Markup
    odd: Sequence[Residual]


@dataclass(frozen=True, slots=True)
class MatchLine:
    """One line of the list of matches; `link` is relative to the page, '' where there is no file to link to. `at` says
    in which stage and round, and at which table; None where the format does not pair round by round."""

    row: MatchRow
    link: str
    at: Pairing | None


def report_html(
    title: str,
    counted: Counted,
    table: Sequence[Standing],
    *,
    total: int,
    at_most: bool = False,
    made_at: str,
    unusable: Iterable[ReadMatch] = (),
    link: str = "",
    packed: Callable[[MatchRow], bool] = lambda _row: False,
    replays: Mapping[str, str] = MappingProxyType({}),
    facts: Mapping[str, Any] | None = None,
    format_table: FormatTable = NO_TABLE,
    seating: Mapping[str, Pairing] = MappingProxyType({}),
    failed_starts: Sequence[FailedStart] = (),
    faults: Sequence[BotFault] = (),
    startup_s: Mapping[str, float] | None = None,
    ratings: Mapping[Pool, Ratings] | None = None,
) -> str:
    """The page. `faults` are the last ones of each bot. `at_most`: fewer than `total` matches may be played. `link` is
    where the records are, as seen from it; those of the matches that are `packed` have no file. `replays` has the page
    of a match by its id, which is linked instead. `seating` is that of the schedule's view. `facts` are shown as they
    are, by name. `ratings` are those of `rate_pools` for these matches, if they are known. `startup_s` has by entry id
    how long a bot may take to start."""
    rows = table_of(counted.rows)
    ratings = rate_pools(rows, approvals=counted.approvals, anchors=counted.anchors) if ratings is None else ratings
    pools = [pool_report(key, matches, table, ratings[key]) for key, matches in pools_of(rows).items()]
    matches = _listed(rows)
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    environment.filters |= FILTERS
    environment.filters["urlencode"] = lambda path: quote(os.fsencode(path))  # whose folders' names may be no UTF-8
    environment.globals["interval_bar"] = bar_cell
    environment.tests |= {"mirror": is_mirror, "with_people": has_people}
    return environment.get_template("report.html").render(
        title=title,
        style=Markup((TEMPLATES / "base.css").read_text(encoding="utf-8")),  # noqa: S704 - our own file
        pools=pools,
        empty=table if not pools else [],
        caption=CAPTION,
        controls=counted.caption(),
        played=len(counted.rows),
        total=total,
        at_most=at_most,
        made_at=made_at,
        link=link,
        replays=replays,
        matches=[
            MatchLine(
                row,
                replays.get(row.match_id, f"{link}/{row.stamp.name}" if link and not packed(row) else ""),
                seating.get(row.match_id),
            )
            for row in matches
        ],
        left_out=len(counted.rows) - len(matches),
        unusable=list(unusable),
        percentiles=PERCENTILES,
        facts=facts or {},
        format_table=format_table,
        failed_starts=failed_starts,
        faults=faults,
        slow_starts=_slow_starts(rows, startup_s or {}),
    )


def pool_report(key: Pool, matches: Sequence[MatchRow], table: Sequence[Standing], ratings: Ratings) -> PoolReport:
    """Everything about one pool. `table` may have the rows of others too."""
    rows = [row for row in table if (row.game, row.players) == key]
    found = statistics(matches)
    names = {row.entry_id: row.name for row in rows}
    return PoolReport(
        title=pool_title(*key),
        rows=rows,
        warning=" ".join(part for part in (unsettled(rows), apart(rows)) if part),
        statistics=found,
        cross=[[found.cross.get((one.entry_id, other.entry_id)) for other in rows] for one in rows]
        if len(rows) <= MOST_CROSS
        else (),
        facts=[found.entries.get(row.entry_id) for row in rows],
        intervals=Markup(intervals_plot(rows)),  # noqa: S704 - escaped where it is drawn
        ways=Markup(history_plot({entry: way.points for entry, way in sorted(ratings.live.ways.items())}, names)),  # noqa: S704
        seats=Markup(seats_plot(found.seats)),  # noqa: S704
        odd=[item for item in residuals(matches, ratings.official) if abs(item.z) > ODD_Z],
    )


def bar_cell(row: Standing, low: float, high: float) -> Markup:
    """The drawing of `interval_bar` for a cell of a table."""
    return Markup(interval_bar(row, low, high))  # noqa: S704 - numbers alone


def _slow_starts(rows: MatchTable, startup_s: Mapping[str, float]) -> list[str]:
    """A warning for each entry whose slowest start was near its limit."""
    names = rows.names_of({entry_id for entry_id, _, _ in rows.bots})
    worst = np.zeros(len(rows.entries), dtype=np.int64)
    np.maximum.at(worst, rows.seat_entries, rows.numbers["startup_us"])
    worst_us = {entry: int(took) for entry, took in zip(rows.entries, worst, strict=True) if entry in names}
    warnings = [slow_start(names[entry], took, startup_s.get(entry, math.inf)) for entry, took in worst_us.items()]
    return [warning for warning in warnings if warning]


def _listed(rows: MatchTable) -> list[MatchRow]:
    listed = rows.have_fault
    listed[-MOST_MATCHES:] = True
    return list(rows.only(listed))


def _plain(value: object) -> str:
    """One line of printable text."""
    return "".join(char if char.isprintable() else " " for char in str(value))


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _interval(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.3f} to {ends[1]:.3f}"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1f}"


FILTERS = {
    "clean": clean,
    "plain": _plain,
    "percent": _percent,
    "interval": _interval,
    "signed": _signed,
    "game": game_title,
    "words": in_words,
    "plural": plural,
    "with_names": with_names,
}
"""What templates need to show numbers and other people's text."""
