"""The application: addresses and what answers them."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from weakref import WeakKeyDictionary, WeakValueDictionary

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.staticfiles import StaticFiles

from leaderboard.report import TEMPLATES as SHARED
from leaderboard.web import (
    access,
    api,
    feed,
    games,
    ladder,
    live,
    members,
    monitoring,
    organiser,
    pages,
    play,
    tournaments,
    wall,
)
from leaderboard.web.accounts import STATUS, sentence
from leaderboard.web.facts import FactsOf
from leaderboard.web.glances import Glances
from leaderboard.web.guard import Guard, KnownNames
from leaderboard.web.hand_ins import HandInRefused
from leaderboard.web.limits import Places, WebLimits
from leaderboard.web.live_boards import LiveBoards
from leaderboard.web.metrics import Monitor
from leaderboard.web.people import LadderHost
from leaderboard.web.play_host import PlayHost
from leaderboard.web.rates import KnownAddresses, Rates
from leaderboard.web.request_queue import Turns
from leaderboard.web.security import SecurityHeaders
from leaderboard.web.tables import Tables
from leaderboard.web.v1.loading import Api
from referee.games.drawing import stylesheet
from referee.record import RecordError

UNPACKING = 2
"""Threads in which hand-ins are unpacked and stored, which takes seconds. In the threads that all requests share, a few
authors could keep all signed-in people waiting."""

ASKING = 4
"""Threads that ask where people have accounts elsewhere, which may take ten seconds to answer, for the same reason."""

_SHARED_FILES = StaticFiles(directory=SHARED)
_RUN = "/runs/{run}"
_MATCH = "/runs/{run}/matches/{match}"


def make_app(
    runs: Path,
    facts: FactsOf | None = None,
    *,
    hide_live: bool = False,
    play_host: PlayHost | None = None,
    hand_ins: LadderHost | None = None,
    monitor: Monitor | None = None,
    names: frozenset[str] = frozenset(),
    limits: WebLimits = WebLimits(),  # noqa: B008 - frozen
) -> Starlette:
    """The pages over the run folders in `runs`. With `hide_live` no match is shown before its block is complete.

    `facts` are taken instead of those of the journals.

    With `hand_ins` the runs are the divisions of a ladder, and open blocks are always hidden. `monitor` has what is
    answered to programs that watch the ladder.

    Answers only under `names`, `localhost` and addresses. Writes nothing, unless a `play_host` lets people play.
    """
    hide_live = hide_live or hand_ins is not None
    served_api = Api()
    routes: list[BaseRoute] = [
        Route("/", games.front),
        Route("/games", games.games),
        Route("/games/{game:path}", games.game),
        Route("/runs", pages.runs),
        Route("/search", pages.search),
        Route("/wall", wall.wall),
        Route(_RUN, pages.run),
        Route(f"{_RUN}/events", live.run_events),
        Route(f"{_RUN}/results.atom", feed.feed),
        Route(f"{_RUN}/embed", feed.embedded),
        Route(f"{_RUN}/standings.csv", pages.standings_file),
        Route(f"{_RUN}/cross", pages.cross_table),
        Route(f"{_RUN}/plots", pages.plots),
        Route(f"{_RUN}/schedule", pages.schedule),
        Route(f"{_RUN}/settings", pages.settings),
        Route(f"{_RUN}/matches", pages.match_list),
        Route(f"{_RUN}/matches.csv", pages.matches_file),
        Route(f"{_RUN}/pairings", pages.pairings),
        Route(f"{_RUN}/pairings.csv", pages.pairings_file),
        Route(f"{_RUN}/bracket.svg", pages.bracket_file),
        Route(f"{_RUN}/bots/{{entry}}", pages.bot),
        Route(_MATCH, pages.match),
        Route(f"{_MATCH}/events", live.match_events),
        Route(f"{_MATCH}/record", pages.download),
        Mount("/api/v1", served_api),
        Route("/api", served_api.operations),
        *api.routes(),
        Route("/static/board.css", _board_style),
        Route("/static/base.css", _shared_file),
        Route("/static/board.js", _shared_file),
        Route("/static/keys.js", _shared_file),
        Route("/static/moves.js", _shared_file),
        *(play.routes() if play_host else ()),
        *((*ladder.routes(), *members.routes(), *organiser.routes(), *tournaments.routes()) if hand_ins else ()),
        *(monitoring.routes() if hand_ins and monitor else ()),
        Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")),
    ]
    app = Starlette(
        routes=[Mount("", access.Gate(Router(routes, redirect_slashes=False)))],
        middleware=[
            Middleware(SecurityHeaders),
            Middleware(KnownNames, names=names),
            Middleware(GZipMiddleware, minimum_size=1000, compresslevel=5),
            Middleware(Turns, most=limits.answers_per_address),
        ],
        exception_handlers={HTTPException: _refused, HandInRefused: _hand_in_refused, RecordError: _unreadable},
    )
    app.state.runs = runs
    app.state.runs_shown = None  # of these names; None for all
    app.state.play_host = play_host
    app.state.hand_ins = hand_ins
    app.state.monitor = monitor
    app.state.guard = Guard()
    app.state.rates = Rates()
    app.state.known_addresses = KnownAddresses()
    app.state.unpacking = ThreadPoolExecutor(UNPACKING, thread_name_prefix="unpacking")
    app.state.unpacking_of = WeakValueDictionary()  # locks by owner, as long as somebody has one
    app.state.starting = asyncio.Lock()
    app.state.asking = ThreadPoolExecutor(ASKING, thread_name_prefix="asking")
    app.state.streams = Places(limits.streams, limits.streams_per_address)
    app.state.looks = live.SharedLooks()
    app.state.hide_live = hide_live
    app.state.kept_pages = WeakKeyDictionary()  # by the tables they show
    app.state.kept_standings = WeakKeyDictionary()  # by the same
    app.state.kept_divisions = WeakKeyDictionary()  # by the same
    app.state.kept_suspicions = {}  # by division, and as of when
    app.state.tables = Tables(facts, hide_live=hide_live)
    app.state.glances = Glances(app.state.tables)
    app.state.live_boards = LiveBoards()
    app.state.templates = pages.make_templates()
    app.state.sections = [
        pages.Section("Ladder", "/ladder") if hand_ins else pages.Section("Tournaments", "/runs"),
        pages.Section("Games", "/games"),
        *([pages.Section("Play", "/play")] if play_host else ()),
    ]
    return app


def _board_style(request: Request) -> Response:
    return Response(stylesheet(), media_type="text/css")


async def _shared_file(request: Request) -> Response:
    """What pages that stand alone have inside them."""
    return await _SHARED_FILES.get_response(Path(request.url.path).name, request.scope)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if request.url.path.startswith(f"{access.API}/"):
        return api.problem(error)
    if request.url.path.startswith("/api/") or request.url.path.endswith("/answer"):
        return api.error_json(error)
    return pages.error_page(request, error)


def _unreadable(request: Request, error: Exception) -> Response:
    return _refused(request, api.unreadable(error))


def _hand_in_refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HandInRefused)
    if request.url.path.startswith(f"{access.API}/"):
        return api.hand_in_problem(error)
    said = f"{sentence(str(error))} {sentence(error.next_step)}".strip()
    headers = None if error.retry_after_s is None else {"Retry-After": str(error.retry_after_s)}
    return pages.error_page(request, HTTPException(STATUS[error.refusal], said, headers))
