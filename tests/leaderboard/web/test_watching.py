"""Which matches are shown while they are played, by how their bots are confined."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from leaderboard.web.app import make_app
from leaderboard.web.facts import RunFacts
from referee.process.sandbox import Sandbox

ANN = "00ff00ff"
CONFINED = ("strict", str(Sandbox("strict", env=("HOME",), read=("/data",), devices=("/dev/null",))))
OPEN = {
    "plain": "plays outside of the sandbox",
    "": "plays outside of the sandbox",
    "remote": "plays from another machine",
    str(Sandbox("strict", network=True, env=("HOME",))): "may use the network",
}
MATCH = ("", "?step=last", "?fault=0", "/record")
API = ("", "/frames", "/record", "/events")


def client(runs: Path, facts: RunFacts, **more: Any) -> httpx.AsyncClient:
    app = make_app(runs, lambda folder: facts, **more)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost")


@pytest.mark.parametrize("sandbox", CONFINED)
async def test_a_match_of_confined_bots_is_shown_while_it_is_played_and_while_its_block_is_open(
    runs: Path, start: Callable[..., Any], open_blocks: set[Any], sandbox: str
) -> None:
    open_blocks.add(("toy", 0))
    start("m1", sandboxes=("strict", sandbox)).play().close()
    start("m2", place=1, sandboxes=("strict", sandbox)).step()
    async with client(runs, RunFacts("cup")) as web:
        for match in ("m1", "m2"):
            assert "<svg" in (await web.get(f"/runs/cup/matches/{match}?step=last")).text
        assert (await web.get("/api/v1/runs/cup")).json()["live"] == ["m2"]
        assert (await web.get("/api/v1/runs/cup/matches")).json()["total"] == 1
        assert '<a href="/runs/cup/matches/m2?step=last">' in (await web.get("/runs/cup/schedule")).text
        assert (await web.get("/")).text.count("/runs/cup/matches/m2?step=last") == 2


@pytest.mark.slow
@pytest.mark.parametrize("sandbox", OPEN)
async def test_a_match_of_a_bot_that_could_read_the_page_is_not_shown_until_its_block_is_complete(
    runs: Path, start: Callable[..., Any], open_blocks: set[Any], sandbox: str
) -> None:
    open_blocks.add(("toy", 0))
    start("m1", sandboxes=("strict", sandbox)).crash(0, stdout="last words")
    second = start("m2", place=1, sandboxes=("strict", sandbox), note="secret")
    second.step()
    async with client(runs, RunFacts("cup")) as web:
        for match in ("m1", "m2"):
            addresses = [f"/runs/cup/matches/{match}{part}" for part in MATCH]
            addresses += [f"/api/v1/runs/cup/matches/{match}{part}" for part in API]
            addresses += [f"/runs/cup/matches/{match}/events", f"/api/runs/cup/matches/{match}/frames"]
            for address in addresses:
                answer = await web.get(address)
                assert answer.status_code == 403, address
                assert "<svg" not in answer.text
                said = answer.text.replace("&#39;", "'")
                assert f"'bob' {OPEN[sandbox]} and could read this page" in said, address
                assert "once all matches with the same dice and cards are over" in said
                assert answer.headers["refresh"]
        assert (await web.get("/api/v1/runs/cup")).json()["live"] == []
        assert (await web.get("/api/v1/runs/cup/matches")).json()["total"] == 0
        assert '"seed"' not in (await web.get("/api/v1/runs/cup/matches")).text
        shown = (await web.get("/runs/cup/schedule")).text
        assert "/matches/m2" not in shown
        assert OPEN[sandbox] in shown
        assert "Live now" not in (await web.get("/")).text
        assert "last words" not in (await web.get(f"/runs/cup/bots/{ANN}")).text
        assert (await web.get("/api/v1/runs/cup/standings")).json()["matches"] == 1
        open_blocks.clear()
        second.play().close()
        for match in ("m1", "m2"):
            assert "<svg" in (await web.get(f"/runs/cup/matches/{match}?step=last")).text
        assert "last words" in (await web.get(f"/runs/cup/bots/{ANN}")).text


async def test_an_open_bot_of_the_run_that_may_have_the_same_seed_hides_the_matches_of_the_others(
    runs: Path, start: Callable[..., Any]
) -> None:
    start("m1").step()
    async with client(runs, RunFacts("cup", open_bots=("eve",))) as web:
        answer = await web.get("/runs/cup/matches/m1")
        assert answer.status_code == 403
        assert "eve&#39; plays with the same dice and cards in other matches" in answer.text


@pytest.mark.parametrize("known", [True, False])
async def test_a_single_match_is_shown_once_it_is_over(runs: Path, start: Callable[..., Any], known: bool) -> None:
    match = start("m1", sandboxes=("plain", "strict"))
    match.step()
    facts = RunFacts("cup", word="no tournament") if known else RunFacts("cup", word="journal lost", known=False)
    async with client(runs, facts) as web:
        answer = await web.get("/runs/cup/matches/m1")
        assert answer.status_code == 403
        assert ("once it is over" in answer.text) == known
        match.play().close()
        assert (await web.get("/runs/cup/matches/m1")).status_code == 200


async def test_the_events_of_a_match_that_has_just_ended_say_so(
    runs: Path, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    match = start("m1").play()
    path = match.writer.path
    match.close()
    monkeypatch.setattr("referee.record.store.RecordStore.find_anywhere", lambda *_: path)
    assert path.suffix == ".jsonl"
    assert not path.exists()
    async with client(runs, RunFacts("cup")) as web:
        answer = await web.get("/runs/cup/matches/m1/events")
    assert answer.status_code == 200
    assert '"over": true' in answer.text
