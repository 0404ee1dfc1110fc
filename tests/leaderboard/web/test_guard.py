"""Under which names anything is answered at all: a site elsewhere may point a name of its own here."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from leaderboard.web.app import make_app

ADDRESSES = ("/", "/runs/cup", "/runs/cup/matches/m1", "/runs/cup/matches/m1/record", "/api/runs", "/api/v1/runs",
             "/api", "/static/replay.js", "/play", "/nowhere")  # fmt: skip


def client(runs: Path, *names: str) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=make_app(runs, names=frozenset(names)))
    return httpx.AsyncClient(transport=transport, base_url="http://localhost")


@pytest.mark.parametrize("host", [
    "elsewhere.example", "elsewhere.example:8000", "127.0.0.1.elsewhere.example", "localhost.elsewhere.example",
    "127.0.0.1@elsewhere.example", "[::1", "", "2130706433", "<b>.example",
])  # fmt: skip
async def test_under_a_name_that_is_not_ours_nothing_is_shown(runs: Path, start: Callable[..., Any], host: str) -> None:
    start("m1").play().close()
    async with client(runs, "games.example") as web:
        for address in ADDRESSES:
            answer = await web.get(address, headers={"Host": host})
            assert answer.status_code == 403, address
            assert "--name" in answer.text
            assert answer.headers["content-type"].startswith("text/plain")
            assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.slow
@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:8000", "127.0.0.1:8000", "192.0.2.7", "[::1]:8000", "games.example", "Games.Example:80"],
)
async def test_addresses_and_names_of_ours_are_answered(runs: Path, host: str) -> None:
    async with client(runs, "games.example") as web:
        assert (await web.get("/", headers={"Host": host})).status_code == 200
