"""The FastAPI application below `/api/v1`: its routers, its description, and how it refuses.

It serves no page of its own: FastAPI's pages load scripts from elsewhere. `/api` lists the operations.
"""

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import State
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from leaderboard.web import api
from leaderboard.web.access import API as PREFIX
from leaderboard.web.hand_ins import HandInRefused
from leaderboard.web.v1 import ladder, runs
from referee.record import RecordError
from referee.texts import one_line

_DESCRIPTION = (
    "Runs, tables and matches of this server. Text that a bot brought in is text: escape it before you show it."
    " A refused request has the sentence `error` and, where there is something to do, `next_step`."
)


def make_api(state: State, *, with_ladder: bool) -> FastAPI:
    """The application, over the state of the whole server."""
    made = FastAPI(
        title="Crosstown",
        version="1",
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        servers=[{"url": PREFIX}],
        root_path_in_servers=False,
        generate_unique_id_function=lambda route: route.name,
        telemetry={"tracing": False, "metrics": False, "logs": False},
        exception_handlers={
            HTTPException: _refused,
            RequestValidationError: _invalid,
            HandInRefused: _hand_in_refused,
            RecordError: _unreadable,
        },
    )
    made.state = state
    made.include_router(runs.router)
    if with_ladder:
        made.include_router(ladder.router)
    return made


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return api.problem(error)


async def _unreadable(request: Request, error: Exception) -> Response:
    return api.problem(api.unreadable(error))


async def _hand_in_refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HandInRefused)
    return api.hand_in_problem(error)


async def _invalid(request: Request, error: Exception) -> Response:
    """The first value that is not what the description says."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where, *names = (str(part) for part in first["loc"])
    name = one_line(".".join(names)) or where
    given = one_line(str(first.get("input", "")), 80)
    what = f"{name}: {first['msg'][0].lower()}{first['msg'][1:]}; got {given!r}."
    step = f"Correct {name}; {PREFIX}/openapi.json describes it."
    return JSONResponse({"error": what, "next_step": step}, 422)
