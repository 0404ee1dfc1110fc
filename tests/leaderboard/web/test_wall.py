"""The wall page: what is played now, what comes next, and the tables as they are, for a projector."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from leaderboard.web.app import make_app
from leaderboard.web.facts import RunFacts
from referee.record.journal import Control
from referee.run import status as module
from referee.run.folder import RunFolder
from referee.run.lock import RunLock
from referee.run.status import PlayedMatch, Status, end_status, read_status, write_status

SAID = Status(False, 90.0, 12.0, True, (PlayedMatch("m1", "toy", ("cyd", "<dan>"), 5.0),), "2 cores: 50% this run")


@pytest.fixture
def going_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunFacts, "state", lambda _self: "going on")


async def test_the_wall_shows_table_matches_in_play_and_what_the_machine_does(
    web: httpx.AsyncClient, start: Callable[..., Any], runs: Path, going_on: None
) -> None:
    start("m0", ("ann", "bob")).play().close()
    run = RunFolder(runs / "cup")
    with RunLock(run.lock):
        write_status(run, SAID)
        page = await web.get("/wall")
    assert page.headers["refresh"] == "5"
    assert "at most 90 s &plusmn; 12 s left" in page.text
    assert "2 cores: 50% this run" in page.text
    assert "cyd - &lt;dan&gt;" in page.text
    assert ">ann</th>" in page.text
    assert "Last results" in page.text


async def test_the_wall_says_that_a_run_is_paused(
    web: httpx.AsyncClient, start: Callable[..., Any], runs: Path, going_on: None
) -> None:
    start("m0", ("ann", "bob")).play().close()
    run = RunFolder(runs / "cup")
    with RunLock(run.lock):
        write_status(run, Status(held=True))
        assert "1 match, paused" in (await web.get("/wall")).text


async def test_a_run_whose_records_cannot_be_read_hides_no_other_on_the_wall(
    web: httpx.AsyncClient, start: Callable[..., Any], runs: Path, going_on: None
) -> None:
    start("m0", ("ann", "bob")).play().close()
    packed = runs / "broken" / "matches" / "packed"
    packed.mkdir(parents=True)
    (packed / "2026-01-01.1.pack.gz").write_bytes(b"cut off")
    (packed.parents[1] / "run.lock").touch()
    page = await web.get("/wall")
    assert page.status_code == 200
    assert ">ann</th>" in page.text
    assert 'The table of <a href="/runs/broken">broken</a> cannot be computed' in page.text
    for address in ("/", "/runs"):
        assert (await web.get(address)).status_code == 200, address
    listed = await web.get("/search")
    assert "ann" in listed.text
    assert 'The bots of <a href="/runs/broken">broken</a> are not listed' in listed.text


async def test_the_wall_does_not_say_who_plays_where_live_matches_are_hidden(
    start: Callable[..., Any], runs: Path, going_on: None
) -> None:
    start("m0", ("ann", "bob")).play().close()
    run = RunFolder(runs / "cup")
    transport = httpx.ASGITransport(app=make_app(runs, hide_live=True))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as hidden:
        with RunLock(run.lock):
            write_status(run, SAID)
            page = (await hidden.get("/wall")).text
    assert "1 match goes on." in page
    assert "cyd" not in page


async def test_a_wall_without_a_run_in_play_shows_the_last_one_with_its_scores(
    web: httpx.AsyncClient, start: Callable[..., Any]
) -> None:
    start("m0", ("ann", "bob")).play().close(ranking=(2, 1), returns=(5, 9))
    page = (await web.get("/wall")).text
    assert "<h1>Last tournament</h1>" in page
    assert 'Match 1: bob beats ann <span class="soft">9 : 5</span>' in page


async def test_a_wall_without_a_run_says_how_to_start_one(tmp_path: Path) -> None:
    transport = httpx.ASGITransport(app=make_app(tmp_path))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        page = await client.get("/wall")
    assert (page.status_code, "Nothing is being played." in page.text) == (200, True)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"at_s": "x"}', "[" * 9999])
def test_what_is_no_status_is_none(runs: Path, text: str) -> None:
    run = RunFolder(runs / "cup")
    with RunLock(run.lock):
        (run.path / "status.json").write_text(text)
        assert read_status(run) is None


def test_a_status_is_of_a_runner_that_lives_and_has_spoken_lately(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunFolder(runs / "cup")
    assert read_status(run) is None
    with RunLock(run.lock):
        write_status(run, SAID)
        assert read_status(run) == SAID
        later_s = time.time() + 60
        monkeypatch.setattr(module.time, "time", lambda: later_s)
        assert read_status(run) is None
        monkeypatch.undo()
        monkeypatch.setattr(module, "is_run", lambda _lock: False)
        assert read_status(run) is None
    end_status(run)
    end_status(run)
    assert not (run.path / "status.json").exists()


async def test_the_wall_says_what_is_wrong_with_a_run_and_what_was_decided_about_its_matches(
    start: Callable[..., Any], runs: Path
) -> None:
    """For people at a projector, who see no other page."""
    start("m0", ("ann", "bob")).play().close()
    start("m1", ("ann", "bob"), place=1).play().close()
    facts = RunFacts("cup", controls=(Control("annulled", 0, match_id="m1"),), warnings=("The journal <is> lost.",))
    transport = httpx.ASGITransport(app=make_app(runs, lambda _folder: facts))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as web:
        page = (await web.get("/wall")).text
    assert '<p class="wrong">The journal &lt;is&gt; lost.</p>' in page
    assert "1 match was annulled." in page
