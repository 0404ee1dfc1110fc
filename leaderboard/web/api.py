"""The same for programs, as JSON: what `/api/v1` answers about runs, and the older addresses below `/api`.

The older addresses answer without FastAPI, so a page whose script asks for frames does not load it. They ignore a
number that is not one. They get nothing new.
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from leaderboard.frames import extent_of, frames_of, packed
from leaderboard.records import MatchRow
from leaderboard.results import is_mirror
from leaderboard.schedule_view import placings_final
from leaderboard.standings import apart
from leaderboard.web.accounts import STATUS, sentence
from leaderboard.web.facts import signature_of
from leaderboard.web.hand_ins import HandInRefused
from leaderboard.web.pages import read_wanted, there, wanted_run, wanted_viewer
from leaderboard.web.rights import may_watch, shown_start
from leaderboard.web.tables import RunTables, tables_of
from leaderboard.web.watching import live_matches
from referee.record.store import is_live, match_id_of
from referee.texts import one_line, without_folders

MOST = 1000
"""Matches in one answer."""


def routes() -> list[Route]:
    """The older addresses."""
    return [
        Route("/api/openapi.json", _description),
        Route("/api/runs", _answers(run_names)),
        Route("/api/runs/{run}", _answers(run_facts)),
        Route("/api/runs/{run}/standings", _answers(standings)),
        Route("/api/runs/{run}/bots/{entry}", _answers(lambda request: bot(request, *_window(request)))),
        Route("/api/runs/{run}/matches", _answers(lambda request: matches(request, *_window(request)))),
        Route("/api/runs/{run}/matches/{match}", _answers(match)),
        Route("/api/runs/{run}/matches/{match}/frames", _frames),
    ]


def run_names(request: Request) -> dict[str, Any]:
    """All runs, the one that changed last first."""
    return {"runs": [run.name for run in there(request)]}


def run_facts(request: Request) -> dict[str, Any]:
    """How far a run is, what comes next, and what lies there and does not count."""
    place = wanted_run(request)
    found = tables_of(request, place)
    live = place.records.live()
    return {
        "run": place.name,
        "title": found.facts.title,
        "matches": len(found.counted.rows),
        "total": found.facts.total,
        "facts": {name: str(value) for name, value in found.facts.shown.items()} | signature_of(found.facts),
        "at_most": found.facts.at_most,
        "state": found.facts.state(),
        "warnings": list(found.warnings),
        "trouble": request.app.state.tables.trouble(place),
        "live": [match.match_id for match in live_matches(place) if may_watch(request, place, match.header)],
        "coming": [asdict(match) for match in found.ahead.coming],
        "unusable": [
            {"file": item.path.name, "status": item.status}
            for item in found.unusable
            if match_id_of(item.path) not in live
        ],
    }


def standings(request: Request) -> dict[str, Any]:
    """The table of a run, and that of its format where it has one."""
    place = wanted_run(request)
    found = tables_of(request, place)
    return {
        "run": place.name,
        "matches": len(found.counted.rows),
        "total": found.facts.total,
        "at_most": found.facts.at_most,
        "warnings": list(found.warnings),
        "standings": [row.to_dict() for row in found.table],
        "apart": apart(found.table),
        "caption": found.counted.caption(),
        "placings": [dict(row) for row in found.format_table.rows],
        "placings_final": placings_final(found.format_table, found.facts.run),
        "placings_gap": found.format_table.gap,
        "placings_notes": list(found.format_table.notes),
    }


def bot(request: Request, first: int, count: int) -> dict[str, Any]:
    """One entry: its rows of the tables, and its matches, the last first."""
    place = wanted_run(request)
    entry_id = request.path_params["entry"]
    found = tables_of(request, place)
    rows = [row.to_dict() for row in found.table if row.entry_id == entry_id]
    if not rows:
        raise HTTPException(404, "There is no such bot in this run.")
    played = found.entries.get(entry_id, ())
    shown = [{"match_id": item.row.match_id, "seat": item.seat.seat, "rank": item.seat.rank, "fault": item.fault,
              "mirror": is_mirror(item.row)}
             for item in played[first : first + min(count, MOST)]]  # fmt: skip
    start = found.facts.failed_starts.get(entry_id)
    return {
        "run": place.name,
        "standings": rows,
        "total": len(played),
        "matches": shown,
        "startups_us": [item.seat.startup_us for item in played if item.seat.startup_us],
        "startup_limit_s": found.facts.startup_s.get(entry_id),
        "failed_starts": None if start is None else asdict(shown_start(request, place, found, start)),
    }


def matches(request: Request, first: int, count: int) -> dict[str, Any]:
    """The matches that count, in the order of the schedule."""
    tables = tables_of(request, wanted_run(request))
    rows = tables.listed
    shown = [_match(row) | _seating(tables, row) for row in rows[first : first + min(count, MOST)]]
    return {"total": len(rows), "matches": shown}


def _seating(tables: RunTables, row: MatchRow) -> dict[str, Any]:
    at = tables.seating.get(row.match_id)
    return {
        "round": tables.rounds.get(row.match_id),
        "table": at.table or None if at else None,
        "stage": at.stage if at else "",
    }


def match(request: Request) -> dict[str, Any]:
    """The record without its lines; those are in `frames`, and in the record itself."""
    _, record = read_wanted(request)
    footer = None if record.footer is None or is_live(record.path) else _readable(asdict(record.footer))
    extent = extent_of(record)
    return {
        "header": _readable(asdict(record.header)),
        "live": is_live(record.path),
        "footer": footer,
        "problems": [asdict(problem) for problem in record.problems],
        "last_step": extent.last,
        "wrong": extent.wrong,
    }


def _readable(fields: dict[str, Any]) -> Any:
    """What a record has and JSON has not is left out or named: lone surrogates, and numbers such as NaN."""
    text = json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace")
    return json.loads(text, parse_constant=str)


def frames(request: Request, first: int, last: int | None, *, drawn: bool) -> Response:
    """Frames from step `first` to step `last`, as the seat that the address asks for saw them.

    `wrong` in the last one says why there are no more. To leave out the boards makes it much quicker.
    """
    _, record = read_wanted(request)
    viewer = wanted_viewer(request, record)
    found = list(frames_of(record, viewer, first, last, drawn=drawn))
    shown = {**packed(found), "seats": [one_line(name) for name in record.header.names], "live": is_live(record.path)}
    return Response(json.dumps(shown, separators=(",", ":")), media_type="application/json")


def error_json(error: HTTPException) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


def problem(error: HTTPException) -> Response:
    """A refusal below `/api/v1`."""
    return JSONResponse({"error": error.detail, "next_step": ""}, error.status_code, error.headers)


def unreadable(error: Exception) -> HTTPException:
    """The refusal where a record or an archive cannot be read. Where it lies is for the organiser."""
    return HTTPException(422, without_folders(str(error)))


def hand_in_problem(error: HandInRefused) -> Response:
    """The same, with what to do."""
    status = STATUS[error.refusal]
    answer = JSONResponse({"error": sentence(str(error)), "next_step": sentence(error.next_step)}, status)
    if status == 401:
        answer.headers["WWW-Authenticate"] = "Bearer"
    if error.retry_after_s is not None:
        answer.headers["Retry-After"] = str(error.retry_after_s)
    return answer


def _description(request: Request) -> Response:
    return RedirectResponse("/api/v1/openapi.json", 307)


def _answers(answer: Callable[[Request], dict[str, Any]]) -> Callable[[Request], Response]:
    def respond(request: Request) -> Response:
        return JSONResponse(answer(request))

    return respond


def _frames(request: Request) -> Response:
    drawn = request.query_params.get("boards", "") != "no"
    last = _number(request, "to", -1)
    return frames(request, _number(request, "from", 0), None if last < 0 else last, drawn=drawn)


def _match(row: MatchRow) -> dict[str, Any]:
    seats = [
        {name: value for name, value in seat._asdict().items() if name not in ("times", "usage")} for seat in row.seats
    ]
    shown = row._asdict() | {"seats": seats, "mirror": is_mirror(row)}
    del shown["stamp"]
    return shown


def _window(request: Request) -> tuple[int, int]:
    return _number(request, "from", 0), _number(request, "count", MOST)


def _number(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else default
