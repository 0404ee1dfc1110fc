"""The table of all addresses and roles: nothing is answered that is not in it, and nothing beyond its rows."""

import asyncio
import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route, Router

from leaderboard.web.access import API, ARCHIVE, TABLE, Access, Gate
from leaderboard.web.app import make_app
from leaderboard.web.v1.app import make_api
from tests.leaderboard.web.ladders import Intake

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND")
KINDS = ("", "application/x-www-form-urlencoded", "application/json", "multipart/form-data; boundary=x", "text/plain",
         "application/zip", "application/octet-stream", "text/html", "application/xml")  # fmt: skip
ROLES = ("visitor", "author", "organiser")
VALUES = {"game:path": "toy", "run": "cup", "match": "m1", "entry": "00ff00ff", "division": "cup", "name": "annbot",
          "number": "1", "token_id": "999", "invitation_id": "999", "owner": "nobody",
          "provider": "nowhere", "key": "k", "path:path": "pages.css"}  # fmt: skip
NOT_A_FORM_OF_OURS = "Only the pages of this server may ask for that."


@pytest.fixture
def intake(tmp_path: Path) -> Any:
    made = Intake(tmp_path / "ladder")
    made.accounts.add_owner("ann")
    made.accounts.add_owner("ola", organiser=True)
    made.store.hand_in("ann", "annbot", "c1")
    yield made
    made.store.close()


class Quiet:
    """A monitor of a ladder to which nothing happens."""

    def problems(self) -> list[str]:
        return []

    def metrics(self) -> list[Any]:
        return []


@pytest.fixture
def app(runs: Path, intake: Intake) -> Any:
    return make_app(runs, hand_ins=intake, monitor=Quiet())


@pytest.fixture
def sessions(intake: Intake) -> dict[str, str]:
    """By role, a session of somebody who has it and no more."""
    author = intake.accounts.create_token("ann", "browser", "manage", 1, kind="session").secret
    organiser = intake.accounts.create_token("ola", "browser", "organise", 1, kind="session").secret
    return {"visitor": "", "author": author, "organiser": organiser}


def is_stream(start: dict[str, Any]) -> bool:
    return dict(start["headers"]).get(b"content-type", b"").startswith(b"text/event-stream")


async def ask(app: Any, method: str, path: str, secret: str = "", kind: str = "") -> tuple[int, str]:
    """Status and the first part of the answer; a stream is left when it has begun."""
    headers = [(b"host", b"localhost:8000")]
    if secret:
        by_api = path.startswith(f"{API}/") or path == "/metrics"
        headers.append(
            (b"authorization", f"Bearer {secret}".encode())
            if by_api
            else (b"cookie", f"crosstown-session-8000={secret}".encode())
        )
    if kind:
        headers.append((b"content-type", kind.encode()))
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "headers": headers,
        "client": ("127.0.0.1", 1), "server": ("localhost", 8000),
    }  # fmt: skip
    answered: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()
    status = 0
    sent = False

    async def receive() -> dict[str, Any]:
        nonlocal sent
        if sent:
            await asyncio.Event().wait()
        sent = True
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            if is_stream(message):  # its first event may come only after seconds
                answered.set_result((status, ""))
        elif not answered.done():
            answered.set_result((status, message.get("body", b"").decode(errors="replace")))

    task = asyncio.ensure_future(app(scope, receive, send))
    await asyncio.wait([task, answered], timeout=20, return_when=asyncio.FIRST_COMPLETED)
    if answered.done():
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return answered.result()
    assert task.done(), f"{method} {path} was not answered"
    task.result()
    raise AssertionError(f"{method} {path} was not answered")


class Unlimited:
    """Counts nothing: this test asks more often than anybody may."""

    def take(self, *_: object) -> None: ...


def filled(path: str) -> str:
    for name, value in VALUES.items():
        path = path.replace(f"{{{name}}}", value)
    assert "{" not in path, path
    return path


def inner_routes(router: Any) -> Iterator[Any]:
    """Those of the application below `/api/v1`, which keeps its routers whole."""
    for route in router.routes:
        if hasattr(route, "original_router"):
            yield from inner_routes(route.original_router)
        else:
            yield route


def routes_of(app: Any) -> set[tuple[str, str]]:
    """Method and path of all that the application can answer."""
    gate = app.routes[0].app
    assert isinstance(gate, Gate)
    assert len(app.routes) == 1, "something is answered beside the table"
    found: set[tuple[str, str]] = set()
    for route in gate.app.routes:  # type: ignore[attr-defined]
        if isinstance(route, Mount):
            if route.path == API:
                for inner in inner_routes(make_api(app.state, with_ladder=True)):
                    found |= {(method, f"{API}{inner.path}") for method in inner.methods}
            else:
                found.add(("GET", f"{route.path}/{{path:path}}"))
        else:
            assert isinstance(route, Route)
            found |= {(method, route.path) for method in route.methods or ()}
    return {(method, path) for method, path in found if method != "HEAD"}


def test_each_route_stands_in_the_table_once_and_each_row_has_a_route(app: Any, runs: Path, intake: Intake) -> None:
    listed = [(row.method, row.path) for row in TABLE]
    assert len(set(listed)) == len(listed)
    with_play = make_app(runs, hand_ins=intake, play_host=object(), monitor=Quiet())  # type: ignore[arg-type]
    found = routes_of(with_play)
    files = {("GET", "/static/{path:path}")}
    found = {one for one in found if not one[1].startswith("/static/")} | files
    assert found == set(listed)


@pytest.mark.slow
async def test_each_route_answers_each_role_method_and_media_type_as_the_table_says(
    app: Any, sessions: dict[str, str]
) -> None:
    app.state.rates = Unlimited()
    paths = dict.fromkeys(row.path for row in TABLE if not row.path.startswith("/play"))
    tried = 0
    for path in paths:
        rows = {row.method: row for row in TABLE if row.path == path}
        for role, method in product(ROLES, METHODS):
            row = rows.get("GET" if method == "HEAD" else method)  # type: ignore[call-overload]
            for kind in KINDS if row is not None and row.method != "GET" else KINDS[:2]:
                status, text = await ask(app, method, filled(path), sessions[role], kind)
                tried += 1
                what = f"{method} {path} {kind} as {role}: {status} {text[:200]}"
                if row is None:
                    assert status == 405, what
                elif ROLES.index(role) < ROLES.index(row.role):
                    assert status == (401 if role == "visitor" else 403), what
                elif row.method != "GET" and kind.partition(";")[0] not in row.takes:
                    assert status == 415, what
                elif status == 403:
                    assert method == "POST", what
                    assert (NOT_A_FORM_OF_OURS if not path.startswith(API) else "belongs to 'ann'") in text, what
                elif status == 405:
                    assert method == "HEAD", what  # FastAPI does not answer it
                else:
                    assert status in (200, 303, 307, 400, 404, 409, 422), what
    assert tried > 2000


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    "path",
    ["/nowhere", "/organiser/", "/my/", "/ladder/cup/more", "/api/v1", "/api/v1/", "/api/v1/nothing", "/docs",
     "/api/v1/docs", "//organiser", "/static", "/my/../organiser", "/Organiser"],
)  # fmt: skip
async def test_an_address_that_is_not_in_the_table_is_not_there(
    app: Any, sessions: dict[str, str], path: str, role: str
) -> None:
    for method in METHODS:
        assert (await ask(app, method, path, sessions[role]))[0] == 404


async def test_a_route_that_nobody_has_put_into_the_table_is_not_answered(app: Any, sessions: dict[str, str]) -> None:
    def secret(request: object) -> PlainTextResponse:
        return PlainTextResponse("secret")

    app.routes[0].app.app.routes.append(Route("/forgotten", secret))
    assert (await ask(app, "GET", "/forgotten", sessions["organiser"]))[0] == 404
    app.routes[0].app = Gate(Router([Route("/forgotten", secret)]), [Access("GET", "/forgotten", "author")])
    assert await ask(app, "GET", "/forgotten", sessions["author"]) == (200, "secret")  # the control
    assert (await ask(app, "GET", "/forgotten"))[0] == 401
    app.routes[0].app = Gate(Router([Route("/forgotten", secret)]), [])
    assert (await ask(app, "GET", "/forgotten", sessions["organiser"]))[0] == 404


async def test_below_the_api_refusals_are_json_with_what_to_do(app: Any, sessions: dict[str, str]) -> None:
    status, text = await ask(app, "GET", f"{API}/organiser/overview", sessions["author"])
    assert status == 403
    assert json.loads(text) == {
        "error": "This is for organisers, and 'ann' is not one.",
        "next_step": "Ask the organiser.",
    }
    status, text = await ask(app, "GET", f"{API}/me")
    assert (status, json.loads(text)["error"]) == (401, "This needs a token.")


async def test_an_organisers_token_of_less_scope_opens_no_page_of_organisers(app: Any, intake: Intake) -> None:
    secret = intake.accounts.create_token("ola", "browser", "manage", 1, kind="session").secret
    assert (await ask(app, "GET", "/organiser", secret))[0] == 403
    assert (await ask(app, "GET", "/my", secret))[0] == 200


async def test_without_a_ladder_pages_of_accounts_are_not_there(runs: Path) -> None:
    app = make_app(runs)
    for row in TABLE:
        if row.role != "visitor":
            assert (await ask(app, row.method, filled(row.path)))[0] == 404, row


async def test_a_websocket_is_closed(app: Any) -> None:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "websocket", "path": "/my/events", "headers": [(b"host", b"localhost:8000")], "query_string": b"",
             "scheme": "ws", "root_path": "", "client": ("127.0.0.1", 1), "server": ("localhost", 8000)}  # fmt: skip
    await app(scope, receive, send)
    assert [message["type"] for message in sent] == ["websocket.close"]


@pytest.mark.parametrize("page", ["api.md", "join_a_ladder.md"])
def test_the_hand_in_of_the_documentation_names_a_media_type_that_is_taken(page: str) -> None:
    """`curl --data-binary` alone names that of a form, which is refused: a page of another server can send forms."""
    text = (Path(__file__).parents[3] / "docs" / page).read_text(encoding="utf-8")
    (command,) = re.findall(r"curl [^`]*?--data-binary[^`]*?/versions", text)
    named = re.findall(r'-H "Content-Type: ([^"]+)"', command)
    assert len(named) == 1
    assert named[0] in ARCHIVE
