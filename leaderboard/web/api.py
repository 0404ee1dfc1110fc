"""The same for programs: JSON, described by `openapi.json`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from leaderboard.frames import extent_of, frames_of, packed
from leaderboard.records import MatchRow
from leaderboard.results import is_mirror
from leaderboard.standings import apart
from leaderboard.web.pages import read_wanted, tables_of, there, wanted_run, wanted_viewer
from referee.record.store import is_live, match_id_of

MOST = 1000
"""Matches in one answer."""


def runs(request: Request) -> Response:
    return JSONResponse({"runs": [run.name for run in there(request)]})


def run(request: Request) -> Response:
    """How far a run is, what comes next, and what lies there and does not count."""
    place = wanted_run(request)
    found = tables_of(request, place)
    live = place.records.live()
    return JSONResponse(
        {
            "run": place.name,
            "title": found.facts.title,
            "matches": len(found.counted.rows),
            "total": found.facts.total,
            "facts": {name: str(value) for name, value in found.facts.shown.items()},
            "at_most": found.facts.at_most,
            "state": found.facts.state(),
            "warnings": list(found.warnings),
            "trouble": request.app.state.tables.trouble(place),
            "live": [] if request.app.state.hide_live else live,
            "coming": [asdict(match) for match in found.ahead.coming],
            "unusable": [
                {"file": item.path.name, "status": item.status}
                for item in found.unusable
                if match_id_of(item.path) not in live
            ],
        }
    )


def standings(request: Request) -> Response:
    place = wanted_run(request)
    found = tables_of(request, place)
    return JSONResponse(
        {
            "run": place.name,
            "matches": len(found.counted.rows),
            "total": found.facts.total,
            "at_most": found.facts.at_most,
            "warnings": list(found.warnings),
            "standings": [row.to_dict() for row in found.table],
            "apart": apart(found.table),
            "caption": found.counted.caption(),
            "placings": [dict(row) for row in found.format_table.rows],
            "placings_final": found.format_table.final,
            "placings_gap": found.format_table.gap,
            "placings_notes": list(found.format_table.notes),
        }
    )


def bot(request: Request) -> Response:
    """One entry: its rows of the tables, and its matches, the last first."""
    place = wanted_run(request)
    entry_id = request.path_params["entry"]
    found = tables_of(request, place)
    rows = [row.to_dict() for row in found.table if row.entry_id == entry_id]
    if not rows:
        raise HTTPException(404, "There is no such bot in this run.")
    played = found.entries.get(entry_id, ())
    first, count = _window(request)
    shown = [{"match_id": item.row.match_id, "seat": item.seat.seat, "rank": item.seat.rank, "fault": item.fault,
              "mirror": is_mirror(item.row)}
             for item in played[first : first + count]]  # fmt: skip
    start = found.facts.failed_starts.get(entry_id)
    return JSONResponse(
        {
            "run": place.name,
            "standings": rows,
            "total": len(played),
            "matches": shown,
            "startups_us": [item.seat.startup_us for item in played if item.seat.startup_us],
            "startup_limit_s": found.facts.startup_s.get(entry_id),
            "failed_starts": None if start is None else asdict(start),
        }
    )


def matches(request: Request) -> Response:
    tables = tables_of(request, wanted_run(request))
    rows = tables.listed
    first, count = _window(request)
    shown = [_match(row) | {"round": tables.rounds.get(row.match_id)} for row in rows[first : first + count]]
    return JSONResponse({"total": len(rows), "matches": shown})


def match(request: Request) -> Response:
    """The record without its lines; those are in `frames`, and in the record itself."""
    _, record = read_wanted(request)
    footer = None if record.footer is None or is_live(record.path) else asdict(record.footer)
    extent = extent_of(record)
    return JSONResponse(
        {
            "header": asdict(record.header),
            "live": is_live(record.path),
            "footer": footer,
            "problems": [asdict(problem) for problem in record.problems],
            "last_step": extent.last,
            "wrong": extent.wrong,
        }
    )


def frames(request: Request) -> Response:
    """Frames from step `from` to step `to`, as `seat` saw them. `wrong` in the last one: why there are no more.

    With `boards=no` the boards are left out, which makes it much quicker."""
    _, record = read_wanted(request)
    viewer = wanted_viewer(request, record)
    last = _number(request, "to", -1)
    drawn = request.query_params.get("boards", "") != "no"
    found = list(frames_of(record, viewer, _number(request, "from", 0), None if last < 0 else last, drawn=drawn))
    return _json({**packed(found), "seats": [seat.name for seat in record.header.seats], "live": is_live(record.path)})


def openapi(request: Request) -> Response:
    """The description of this interface."""
    text = (Path(__file__).parent / "openapi.json").read_text(encoding="utf-8")
    return Response(text, media_type="application/json")


def error_json(error: HTTPException) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


def _json(value: Any) -> Response:
    return Response(json.dumps(value, separators=(",", ":")), media_type="application/json")


def _match(row: MatchRow) -> dict[str, Any]:
    shown = asdict(row) | {"mirror": is_mirror(row)}
    for seat in shown["seats"]:
        del seat["times"]
    del shown["stamp"]
    return shown


def _window(request: Request) -> tuple[int, int]:
    return _number(request, "from", 0), min(_number(request, "count", MOST), MOST)


def _number(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else default
