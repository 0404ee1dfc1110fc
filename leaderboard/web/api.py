"""The same for programs: JSON, described by `openapi.json`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from leaderboard.records import MatchRow
from leaderboard.web.frames import extent_of, frames_of, packed
from leaderboard.web.pages import read_wanted, wanted_run, wanted_viewer
from leaderboard.web.places import is_live, runs_in
from leaderboard.web.tables import Tables

MOST = 1000
"""Matches in one answer."""


def runs(request: Request) -> Response:
    return JSONResponse({"runs": [run.name for run in runs_in(request.app.state.runs)]})


def standings(request: Request) -> Response:
    place = wanted_run(request)
    tables: Tables = request.app.state.tables
    found = tables.of(place)
    return JSONResponse(
        {
            "run": place.name,
            "matches": len(found.counted.rows),
            "total": found.facts.total,
            "standings": [row.to_dict() for row in found.table],
        }
    )


def matches(request: Request) -> Response:
    place = wanted_run(request)
    tables: Tables = request.app.state.tables
    rows = tables.of(place).counted.rows
    first = _number(request, "from", 0)
    count = min(_number(request, "count", MOST), MOST)
    return JSONResponse({"total": len(rows), "matches": [_match(row) for row in rows[first : first + count]]})


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
    """Frames from step `from` on, as `seat` saw them. `wrong` in the last one: why there are no more."""
    _, record = read_wanted(request)
    viewer = wanted_viewer(request, record)
    found = list(frames_of(record, viewer, _number(request, "from", 0)))
    return _json({**packed(found), "seats": [seat.name for seat in record.header.seats], "live": is_live(record.path)})


def openapi(request: Request) -> Response:
    """The description of this interface."""
    text = (Path(__file__).parent / "openapi.json").read_text(encoding="utf-8")
    return Response(text, media_type="application/json")


def error_json(error: HTTPException) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code)


def _json(value: Any) -> Response:
    return Response(json.dumps(value, separators=(",", ":")), media_type="application/json")


def _match(row: MatchRow) -> dict[str, Any]:
    shown = asdict(row)
    for seat in shown["seats"]:
        del seat["times"]
    del shown["stamp"]
    return shown


def _number(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else default
