"""The list of all tournaments: what it says of each, and what it costs."""

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from leaderboard.schedule_view import FormatTable, ScheduleView
from leaderboard.web import glances as module
from leaderboard.web import tables
from leaderboard.web.app import make_app
from leaderboard.web.facts import RunFacts
from referee.run.folder import runs_in
from referee.run.participants import Participant
from referee.run.run import Run

NASTY = "<b>\u202e"


LISTS = pytest.mark.parametrize("page", ["/runs", "/"], ids=["list of runs", "cards of the front page"])


async def home(app: Any, page: str = "/runs") -> httpx.Response:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as web:
        return await web.get(page)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (RunFacts(word="going on", total=6), (">going on<", "<td>1 of 6</td>")),
        (RunFacts(word="finished", total=6, at_most=True), (">finished<", "<td>1 of at most 6</td>")),
        (RunFacts(word="journal lost", warnings=("x",)), ("<strong>journal lost</strong>", "<td>1</td>")),
    ],
)
async def test_each_run_has_its_state_its_matches_and_its_leader(
    runs: Path, start: Callable[..., Any], facts: RunFacts, said: tuple[str, ...]
) -> None:
    start("m1", names=(NASTY, "bob")).play().close(ranking=(1, 2))
    page = (await home(make_app(runs, lambda folder: facts))).text
    for words in (*said, '<a href="/runs/cup/bots/00ff00ff">&lt;b&gt;'):
        assert words in page
    assert "bob" not in page
    assert "\u202e" not in page


async def test_of_several_games_each_has_its_leader(runs: Path, start: Callable[..., Any]) -> None:
    start("m1").play().close(ranking=(1, 2))
    start("m2", game="shibuya", place=1).play().close(ranking=(2, 1))
    page = (await home(make_app(runs))).text
    found = re.findall(r"(ann|bob)</a> [\d.]+ ± [\d.]+ \((\w+), 2 players\)", page)
    assert found == [("bob", "Shibuya"), ("ann", "Toy")]


@LISTS
async def test_the_table_of_the_format_says_who_leads_where_there_is_one(
    runs: Path, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    start("m1").play().close(ranking=(1, 2))
    ann, bob = "00ff00ff", "01ff00ff"
    ranks = ((1, "bob", bob), (1, "cyd", "unrated"), (3, "ann", ann))
    rows = [{"rank": rank, "name": name, "entry_id": entry_id} for rank, name, entry_id in ranks]
    view = ScheduleView(table=FormatTable("swiss", rows))
    monkeypatch.setattr("leaderboard.run_table.view_schedule", lambda run, rows: view)
    text = (await home(make_app(runs), page)).text
    assert [f"/bots/{entry_id}" in text for entry_id in (bob, "unrated", ann)] == [True, False, False]
    assert "cyd" not in text


@LISTS
async def test_who_is_unrated_leads_nothing(runs: Path, start: Callable[..., Any], page: str) -> None:
    record = start("m1", names=("ann", "ann")).play().close()
    assert record.exists()
    run = Run(runs / "cup")
    run.participants = (Participant("eve", "eve", "1", {}),)
    text = (await home(make_app(runs, lambda folder: RunFacts(run=run)), page)).text
    assert "/bots/" not in text
    assert "o bot is rated yet" in text
    assert ">eve<" not in text


async def test_a_run_without_a_match_has_no_leader(runs: Path) -> None:
    page = (await home(make_app(runs))).text
    assert "<td>0</td>" in page
    assert "/bots/" not in page


async def test_a_run_that_cannot_be_computed_hides_no_other(
    runs: Path, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    start("m1").play().close()
    (runs / "bad" / "matches").mkdir(parents=True)

    def view(run: Run, rows: Any) -> ScheduleView:
        if run.folder.name == "bad":
            raise ZeroDivisionError
        return ScheduleView()

    monkeypatch.setattr("leaderboard.run_table.view_schedule", view)
    page = (await home(make_app(runs))).text
    assert "cannot be computed (ZeroDivisionError)" in page
    assert "/runs/cup/bots/" in page


async def test_what_takes_long_comes_later(
    runs: Path, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, wait_until: Callable[..., Any]
) -> None:
    start("m1").play().close()
    gate = threading.Event()
    compute = module.run_table

    def slow(*words: Any, **more: Any) -> Any:
        assert gate.wait(20)
        return compute(*words, **more)

    monkeypatch.setattr(module, "run_table", slow)
    monkeypatch.setattr(module, "QUICK_S", 0.05)
    app = make_app(runs)
    answer = await home(app)
    assert answer.headers["refresh"] == "2"
    assert "<td>…</td>" in answer.text
    gate.set()
    wait_until(lambda: not app.state.glances._busy)
    answer = await home(app)
    assert "refresh" not in answer.headers
    assert "<td>1</td>" in answer.text


async def test_a_run_whose_tables_are_gone_hides_no_other(
    runs: Path, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are forgotten while its folder is away."""
    monkeypatch.setattr(module, "QUICK_S", 30)
    start("m1").play().close()
    app = make_app(runs)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as web:
        assert (await web.get("/runs/cup")).status_code == 200

    def gone(_run: Any) -> None:
        raise tables.TablesBusy

    monkeypatch.setattr(app.state.tables, "of", gone)
    page = (await home(app)).text
    assert "cannot be computed (TablesBusy)" in page


@pytest.mark.parametrize("page", ["/", "/runs/cup"], ids=["front page", "page of the run"])
async def test_who_comes_long_after_the_last_visitor_sees_a_run_as_it_is(
    runs: Path, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    monkeypatch.setattr(module, "OLD_S", 0)
    monkeypatch.setattr(module, "QUICK_S", 30)
    monkeypatch.setattr(tables, "QUICK_S", 30)
    start("m1").play().close()
    app = make_app(runs)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as web:
        assert (await web.get(page)).status_code == 200
    assert "<td>1</td>" in (await home(app)).text
    start("m2", place=1).play().close()
    assert "<td>2</td>" in (await home(app)).text


async def test_tables_that_are_there_are_not_computed_once_more_and_new_matches_are_counted(
    runs: Path, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, wait_until: Callable[..., Any]
) -> None:
    start("m1").play().close()
    app = make_app(runs)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as web:
        assert (await web.get("/runs/cup")).status_code == 200
    monkeypatch.setattr(module, "run_table", None)
    assert "<td>1</td>" in (await home(app)).text
    monkeypatch.undo()
    start("m2", place=1).play().close()
    wait_until(lambda: app.state.glances.of(runs_in(runs))["cup"].played == 2)
