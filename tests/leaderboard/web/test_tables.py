"""What is shown of a run while it goes on, and who waits for its tables."""

import gc
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from leaderboard.schedule_view import Ahead, Coming, ScheduleView
from leaderboard.web import tables as module
from leaderboard.web.app import make_app
from leaderboard.web.facts import RunFacts
from leaderboard.web.live import run_changes
from leaderboard.web.tables import Tables, TablesBusy
from referee.record.journal import Control
from referee.run.folder import RunFolder

NASTY = "<b>\u202e"


class OneBlock(RunFacts):
    """Of a run of one block of two matches, m1 and m2."""

    def view(self, rows: Any) -> tuple[ScheduleView, tuple[str, ...]]:
        played = {row.match_id for row in rows}
        coming = [Coming(name, place, 0, "toy", ("ann", NASTY)) for place, name in enumerate(("m1", "m2"))]
        coming = [match for match in coming if match.match_id not in played]
        return ScheduleView(ahead=Ahead(coming, frozenset({("toy", 0)} if coming else ()))), ()


def facts(folder: Path) -> RunFacts:
    return OneBlock("cup", total=2)


def client(runs: Path, **more: Any) -> httpx.AsyncClient:
    app = make_app(runs, facts, **more)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost")


async def test_the_page_of_a_run_names_the_next_matches(runs: Path, start: Callable[..., Any]) -> None:
    start("m1").play().close()
    async with client(runs) as web:
        page = (await web.get("/runs/cup/schedule")).text
        assert "Next matches" in page
        assert "ann, &lt;b&gt;" in page
        assert "\u202e" not in page
        run = (await web.get("/api/runs/cup")).json()
        assert (run["matches"], run["total"], [match["match_id"] for match in run["coming"]]) == (1, 2, ["m2"])
        start("m2", place=1).play().close()
        assert "Next matches" not in (await web.get("/runs/cup/schedule")).text


async def test_a_match_that_goes_on_is_none_of_the_next(runs: Path, start: Callable[..., Any]) -> None:
    start("m1").step()
    async with client(runs) as web:
        page = (await web.get("/runs/cup/schedule")).text
    going_on, following = page.split("<h2>Next matches</h2>")
    assert "/matches/m1" in going_on
    assert following.count("<tr><th") == 2  # the heads, and one match


HIDDEN = ("", "?step=last", "?fault=0", "/record", "/events")


async def test_with_hide_live_no_match_is_shown_before_its_block_is_complete(
    runs: Path, start: Callable[..., Any]
) -> None:
    start("m1").crash(0, stdout="last words")
    second = start("m2", place=1)
    second.step()
    async with client(runs, hide_live=True) as web:
        for match in ("m1", "m2"):
            for part in HIDDEN:
                assert (await web.get(f"/runs/cup/matches/{match}{part}")).status_code == 403, (match, part)
            for part in ("", "/frames"):
                assert (await web.get(f"/api/runs/cup/matches/{match}{part}")).status_code == 403
        for address in ("/runs/cup", "/runs/cup/matches", "/runs/cup/bots/00ff00ff", "/api/runs/cup/matches",
                        "/runs/cup/schedule", "/runs/cup/cross", "/runs/cup/plots", "/runs/cup/matches.csv",
                        "/api/runs/cup/bots/00ff00ff", "/api/runs/cup"):  # fmt: skip
            answer = await web.get(address)
            assert answer.status_code == 200
            assert "/matches/m" not in answer.text
            assert "last words" not in answer.text
            assert '"match_id":"m1"' not in answer.text
        assert "1 match goes on" in (await web.get("/runs/cup")).text
        assert (await web.get("/api/runs/cup/standings")).json()["matches"] == 1
        second.play().close()
        assert (await web.get("/runs/cup/matches/m1?step=last")).status_code == 200
        assert "last words" in (await web.get("/runs/cup/bots/00ff00ff")).text


async def test_what_a_bot_printed_stands_beside_its_fault(web: httpx.AsyncClient, start: Callable[..., Any]) -> None:
    match = start("m1")
    match.step()
    match.crash(1, stderr="Traceback\x1b[31m", board="position")
    lines = [
        line
        for frame in (await web.get("/api/runs/cup/matches/m1/frames")).json()["frames"]
        for line in frame["lines"]
        if line["kind"] == "fault"
    ]
    assert [line["texts"] for line in lines] == [[["board", "position"], ["stderr", "Traceback\\x1b[31m"]]]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Every computation waits for the event, and seems to have taken long."""
    gate = threading.Event()
    compute = module._tables

    def waiting(*words: Any, **more: Any) -> Any:
        assert gate.wait(20)
        return compute(*words, **more)

    monkeypatch.setattr(module, "_tables", waiting)
    monkeypatch.setattr(module, "QUICK_S", 0.0)
    monkeypatch.setattr(module, "PATIENCE_S", 0.05)
    return gate


def test_nobody_waits_who_can_be_shown_the_tables_of_before(
    runs: Path, start: Callable[..., Any], slow: threading.Event, wait_until: Callable[..., Any]
) -> None:
    run = RunFolder(runs / "cup")
    tables = Tables()
    start("m1").play().close()
    with pytest.raises(TablesBusy):
        tables.of(run)
    slow.set()
    wait_until(lambda: tables.number(run) == 1)
    before = tables.of(run)
    assert len(before.listed) == 1
    slow.clear()
    start("m2", place=1).play().close()
    wait_until(lambda: tables.of(run) is before and tables.number(run) == 1)
    slow.set()
    wait_until(lambda: tables.number(run) == 2)
    assert len(tables.of(run).listed) == 2


async def test_the_first_computation_asks_a_browser_to_look_again(
    web: httpx.AsyncClient, start: Callable[..., Any], slow: threading.Event, wait_until: Callable[..., Any]
) -> None:
    start("m1").play().close()
    answer = await web.get("/runs/cup")
    assert (answer.status_code, answer.headers["refresh"]) == (503, "2")
    assert (await web.get("/")).status_code == 200
    slow.set()


def test_a_computation_that_fails_tells_whoever_asked(runs: Path) -> None:
    def broken(folder: Path) -> RunFacts:
        raise RuntimeError("no facts")

    with pytest.raises(RuntimeError, match="no facts"):
        Tables(broken).of(RunFolder(runs / "cup"))


def test_a_computation_that_fails_later_leaves_the_tables_of_before_says_so_and_is_tried_again(
    runs: Path,
    start: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    wait_until: Callable[..., Any],
) -> None:
    monkeypatch.setattr(module, "AGAIN_S", 0.0)
    wrong = ""

    def sometimes(folder: Path) -> RunFacts:
        if wrong:
            raise RuntimeError(wrong)
        return RunFacts("cup")

    run, tables = RunFolder(runs / "cup"), Tables(sometimes)
    start("m1").play().close()
    assert len(tables.of(run).listed) == 1
    assert tables.trouble(run) == ""
    wrong = "no facts"
    start("m2", place=1).play().close()
    assert len(tables.of(run).listed) == 1
    assert "tables of 0 minutes ago: new ones cannot be computed (RuntimeError: no facts)" in tables.trouble(run)
    assert "the tables of cup cannot be computed" in caplog.text
    wrong = ""
    wait_until(lambda: len(tables.of(run).listed) == 2)
    assert tables.trouble(run) == ""


def test_while_an_annulment_is_worked_in_the_tables_of_before_are_shown_with_a_mark(
    runs: Path, start: Callable[..., Any], slow: threading.Event, wait_until: Callable[..., Any]
) -> None:
    controls: list[Control] = []
    run = RunFolder(runs / "cup")
    tables = Tables(lambda folder: RunFacts("cup", controls=tuple(controls)))
    start("m1").play().close()
    slow.set()
    wait_until(lambda: tables.number(run) == 1)
    before = tables.of(run)
    slow.clear()
    start("m2", place=1).play().close()
    wait_until(lambda: tables.of(run) is before)
    assert tables.trouble(run) == "", "one more match is no reason for a mark"
    slow.set()
    wait_until(lambda: tables.number(run) == 2)
    slow.clear()
    controls.append(Control("annulled", 0, match_id="m1"))
    run.journal.touch()
    before = tables.of(run)
    wait_until(lambda: tables.number(run) == 2 and "annulled" in tables.trouble(run))
    assert tables.of(run) is before
    slow.set()
    wait_until(lambda: tables.number(run) == 3)
    assert (tables.of(run).counted.annulled, tables.trouble(run)) == (1, "")


async def test_a_page_says_why_its_tables_are_old(
    runs: Path, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    start("m1").play().close()
    monkeypatch.setattr(Tables, "trouble", lambda self, run: "These are old <tables>.")
    async with client(runs) as web:
        assert "These are old &lt;tables&gt;." in (await web.get("/runs/cup")).text
        assert (await web.get("/api/runs/cup")).json()["trouble"] == "These are old <tables>."


@pytest.mark.parametrize("known", [True, False])
async def test_with_hide_live_nothing_is_shown_of_which_it_is_not_known_whether_it_is_complete(
    runs: Path, start: Callable[..., Any], known: bool
) -> None:
    start("m1").crash(0, stdout="last words")
    facts = RunFacts("cup", known=known)
    app = make_app(runs, lambda folder: facts, hide_live=True)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as web:
        for part in ("", "/record"):
            assert (await web.get(f"/runs/cup/matches/m1{part}")).status_code == (200 if known else 403)
        assert (await web.get("/api/runs/cup/matches")).json()["total"] == known
        assert ("last words" in (await web.get("/runs/cup/bots/00ff00ff")).text) == known


async def test_what_is_kept_of_a_run_goes_with_its_folder(runs: Path, start: Callable[..., Any]) -> None:
    start("m1").play().close()
    app = make_app(runs, facts)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as web:
        assert (await web.get("/runs/cup")).status_code == 200
        assert (await web.get("/")).text.count("/runs/cup") > 0
        assert len(app.state.kept_pages) == len(app.state.tables._shelves) == len(app.state.glances._kept) == 1
        shutil.rmtree(runs / "cup")
        assert "crosstown run FILE" in (await web.get("/")).text
    gc.collect()
    assert len(app.state.kept_pages) == len(app.state.tables._shelves) == len(app.state.glances._kept) == 0


async def test_the_events_of_a_run_end_with_its_folder(runs: Path, start: Callable[..., Any]) -> None:
    start("m1").play().close()
    app = make_app(runs, facts)
    run = RunFolder(runs / "cup")
    events = run_changes(run, app.state.tables, app.state.looks)
    assert "changed" in await anext(events)
    shutil.rmtree(run.path)
    assert [event async for event in events] in ([], ['data: {"changed": 1}\n\n'])
