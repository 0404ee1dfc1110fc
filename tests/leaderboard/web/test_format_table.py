"""The table of a format on the page of its run, and what is said of ratings that did not come to rest."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from leaderboard.ratings import official
from leaderboard.schedule_view import FormatTable, ScheduleView
from leaderboard.web.app import make_app
from leaderboard.web.facts import RunFacts
from referee.run.run import Run


def facts(folder: Path) -> RunFacts:
    return RunFacts("cup", run=Run(folder))


NASTY = "<script>alert(1)</script>"


@pytest.mark.parametrize("final", [True, False])
async def test_points_of_a_swiss_stand_above_the_ratings(
    runs: Path, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, final: bool
) -> None:
    start("m1").play().close()
    rows = [{"rank": 1, "name": NASTY, "entry_id": "00ff00ff", "points": "1.5", "buchholz": "2"}]
    view = ScheduleView(table=FormatTable("swiss", rows, final))
    monkeypatch.setattr("leaderboard.web.facts.view_schedule", lambda run, rows, look_ahead: view)
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=make_app(runs, facts)), base_url="http://localhost"
    ) as web:
        page = (await web.get("/runs/cup")).text
    assert ("<h2>Swiss</h2>" in page) == final
    assert ("<h2>Swiss, as it stands</h2>" in page) != final
    assert '<th scope="col">buchholz</th>' in page
    assert "<td>1.5</td>" in page
    assert "/runs/cup/bots/00ff00ff" in page
    assert NASTY not in page


async def test_ratings_that_did_not_come_to_rest_are_told(
    web: httpx.AsyncClient, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    start("m1").play().close()
    monkeypatch.setattr(official, "MAX_SWEEPS", 1)
    assert "did not come to rest" in (await web.get("/runs/cup")).text


async def test_the_api_has_the_placings_and_the_pages_the_round_of_each_match(
    runs: Path, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    start("m1").play().close()
    start("m2", place=1).play().close()
    rows = [{"rank": 1, "name": "ann", "entry_id": "00ff00ff", "points": "1.5"}]
    view = ScheduleView((), FormatTable("swiss", rows, final=False, gap="m2"), {"m1": 1, "m2": 2})
    monkeypatch.setattr("leaderboard.web.facts.view_schedule", lambda run, rows, look_ahead: view)
    app = make_app(runs, facts)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as web:
        answer = (await web.get("/api/runs/cup/standings")).json()
        matches = (await web.get("/api/runs/cup/matches")).json()["matches"]
        pages = [(await web.get(f"/runs/cup{where}")).text for where in ("", "/matches", "/bots/00ff00ff")]
    assert (answer["placings"], answer["placings_final"], answer["placings_gap"]) == (rows, False, "m2")
    assert {row["match_id"]: row["round"] for row in matches} == {"m1": 1, "m2": 2}
    for page in pages:
        assert '<th scope="col">round</th>' in page


async def test_the_csv_of_the_pages_has_the_figures_of_the_formats_own_table(
    runs: Path, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    start("m1").play().close(ranking=(1, 2))
    rows = [{"rank": 1, "name": "bob", "entry_id": "01ff00ff", "points": "1.5"}]
    view = ScheduleView(table=FormatTable("swiss", rows))
    monkeypatch.setattr("leaderboard.web.facts.view_schedule", lambda run, rows, look_ahead: view)
    app = make_app(runs, facts)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as web:
        found = list(csv.DictReader(io.StringIO((await web.get("/runs/cup/standings.csv")).text)))
    cells = [(row["name"], row["swiss rank"], row["swiss points"]) for row in found]
    assert cells == [("ann", "", ""), ("bob", "1", "1.5")]
