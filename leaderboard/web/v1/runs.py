"""`/api/v1/runs`: runs, tables and matches. Reads only, with the rights of the pages."""

from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from leaderboard.web import api, live, pages
from leaderboard.web.v1.models import Bot, Frames, Match, Matches, Problem, Run, Runs, Standings

_MOST_STEPS: Final = 999_999_999

Refusals = dict[int | str, dict[str, Any]]


def refusals(*statuses: int) -> Refusals:
    """The statuses of refused requests, for the description."""
    return {status: {"model": Problem, "description": "Refused"} for status in statuses}


router = APIRouter(tags=["Runs"], responses=refusals(404, 422, 503))

RunName = Annotated[str, Path(description="Name of a run folder.")]
EntryId = Annotated[str, Path(description="Id of a bot version in this run.")]
MatchId = Annotated[str, Path(description="Id of a match.")]
First = Annotated[int, Query(alias="from", ge=0, le=_MOST_STEPS, description="Index of the first match.")]
Count = Annotated[int, Query(ge=0, le=_MOST_STEPS, description=f"Number of matches; at most {api.MOST}.")]
Seat = Annotated[str, Query(alias="seat", description="A seat's view; `all`: everything; empty: a spectator's.")]


@router.get("/runs", response_model=Runs)
def list_runs(request: Request) -> dict[str, Any]:
    """List all runs, the one that changed last first."""
    return api.run_names(request)


@router.get("/runs/{run}", response_model=Run)
def show_run(request: Request, run: RunName) -> dict[str, Any]:
    """Show how far a run is, what comes next, and what does not count."""
    return api.run_facts(request)


@router.get("/runs/{run}/standings", response_model=Standings)
def show_standings(request: Request, run: RunName) -> dict[str, Any]:
    """Show the tables of a run, one after another for each game and number of players."""
    return api.standings(request)


@router.get("/runs/{run}/bots/{entry}", response_model=Bot)
def show_run_bot(
    request: Request, run: RunName, entry: EntryId, first: First = 0, count: Count = api.MOST
) -> dict[str, Any]:
    """Show one bot version in a run: its rows of the tables, and its matches, the last first."""
    return api.bot(request, first, count)


@router.get("/runs/{run}/matches", response_model=Matches)
def list_matches(request: Request, run: RunName, first: First = 0, count: Count = api.MOST) -> dict[str, Any]:
    """List the matches that count, in the order of the schedule."""
    return api.matches(request, first, count)


@router.get("/runs/{run}/matches/{match}", response_model=Match)
def show_match(request: Request, run: RunName, match: MatchId) -> dict[str, Any]:
    """Show one match without its steps."""
    return api.match(request)


@router.get(
    "/runs/{run}/matches/{match}/frames",
    responses={200: {"model": Frames, "description": "Frames"}, **refusals(403)},
)
def show_frames(
    request: Request,
    run: RunName,
    match: MatchId,
    seat: Seat = "",
    first: Annotated[int, Query(alias="from", ge=0, le=_MOST_STEPS, description="The first step.")] = 0,
    last: Annotated[int, Query(alias="to", ge=0, le=_MOST_STEPS, description="The last step.")] = _MOST_STEPS,
    boards: Annotated[
        Literal["yes", "no"], Query(description="`no` leaves out the boards, which is much faster.")
    ] = "yes",
) -> Response:
    """Show what happened at each step, and the board after it."""
    return api.frames(request, first, last, drawn=boards == "yes")


@router.get(
    "/runs/{run}/matches/{match}/record",
    responses={200: {"content": {"application/gzip": {}}, "description": "The record"}, **refusals(403)},
)
def download_record(request: Request, run: RunName, match: MatchId) -> Response:
    """Download the record, once the match is over. Its format: `crosstown docs records`."""
    return pages.download(request)


_EVENTS: Refusals = {200: {"content": {"text/event-stream": {}}, "description": "Server-sent events"}}


@router.get("/runs/{run}/events", responses=_EVENTS)
async def follow_run(request: Request, run: RunName) -> Response:
    """Follow a run: `{"changed": n}` at once with n = 0, and again whenever a match ended or something was decided."""
    return await live.run_events(request)


@router.get("/runs/{run}/matches/{match}/events", responses=_EVENTS)
async def follow_match(request: Request, run: RunName, match: MatchId) -> Response:
    """Follow a match: `{"bytes": n, "over": false}` whenever its record has grown, `"over": true` at the end."""
    return await live.match_events(request)
