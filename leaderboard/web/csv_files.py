"""The tables of a run as CSV, for spreadsheets."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from starlette.responses import Response

from leaderboard.export.cells import cell
from leaderboard.records import MatchRow
from leaderboard.results import is_mirror
from leaderboard.schedule_view import NO_TABLE, FormatTable, Pairing
from leaderboard.standings import Standing
from leaderboard.usage import COLUMNS as USAGE_COLUMNS

_STANDING = (
    "game", "players", "rank", "name", "version", "entry_id", "mu", "sigma", "low", "high", "conservative", "better",
    "elo", "elo_error", "live_mu", "played", "won", "drawn", "lost", "mirrors",
    "mean_move_ms", "worst_move_ms", "mean_lag_ms", "worst_lag_ms", "note", "group", "forfeited",
)  # fmt: skip
_MATCH = (
    "match_id",
    "place",
    "block",
    "stage",
    "round",
    "table",
    "game",
    "created_at",
    "reason",
    "decisions",
    "mirror",
    "seats",
)


def standings_csv(rows: Iterable[Standing], own: FormatTable = NO_TABLE) -> Response:
    """One line for each row of each table, with columns of provider usage if some bot reported it, and the figures of
    the format's own table."""
    table = list(rows)
    used = USAGE_COLUMNS if any(row.usage for row in table) else ()
    lines = (
        [
            *(getattr(row, name) for name in _STANDING),
            ";".join(f"{reason}={number}" for reason, number in row.faults.items()),
            *((row.usage or {}).get(name) for name in used),
            *own.cells_of(row.entry_id).values(),
        ]
        for row in table
    )
    return _csv((*_STANDING, "faults", *used, *own.cells_of("")), lines, "standings.csv")


def matches_csv(rows: Iterable[MatchRow], rounds: Mapping[str, int], seating: Mapping[str, Pairing]) -> Response:
    """One line for each match; `seats` has rank, name and fault of each seat."""
    lines = (
        [
            row.match_id,
            row.place,
            row.block,
            seating[row.match_id].stage if row.match_id in seating else "",
            rounds.get(row.match_id),
            (seating[row.match_id].table or None) if row.match_id in seating else None,
            row.game,
            row.created_at,
            row.reason,
            row.decisions,
            is_mirror(row),
            "; ".join(f"{seat.rank}. {seat.name}{f' ({seat.fault})' if seat.fault else ''}" for seat in row.seats),
        ]
        for row in rows
    )
    return _csv(_MATCH, lines, "matches.csv")


def pairings_csv(rows: Sequence[Mapping[str, object]]) -> Response:
    """One line for each table of each round."""
    heads = tuple(rows[0]) if rows else ("stage", "round", "table", "result")
    return _csv(heads, (list(row.values()) for row in rows), "pairings.csv")


def _csv(heads: Sequence[str], lines: Iterable[Sequence[object]], name: str) -> Response:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(heads)
    writer.writerows([cell(value) for value in line] for line in lines)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)
