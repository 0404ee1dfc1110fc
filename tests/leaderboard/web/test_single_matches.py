"""Matches of no tournament: what tells them apart, and that people who play in them are no bots."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

RESIGNED = {"reason": "resigned", "detail": ""}
PAGES = ("/runs/single", "/runs/single/matches", "/runs/single/matches/m1", "/runs/single/results.atom")


@pytest.fixture
def single(runs: Path, begin: Callable[..., Any]) -> Callable[..., Any]:
    """single("m1", names=("ann", "greedy"), people=("ann",)) begins a match of no tournament."""
    folder = runs / "single" / "matches"
    folder.mkdir(parents=True)

    def begun(match_id: str, **given: Any) -> Any:
        return begin(folder, match_id, tournament="single", **given)

    return begun


@pytest.mark.parametrize("address", PAGES)
async def test_a_single_match_is_called_by_its_time_everywhere(
    single: Callable[..., Any], web: httpx.AsyncClient, address: str
) -> None:
    single("m1", game="shibuya").play().close()
    page = (await web.get(address)).text
    assert "2026-01-01 00:00:00" in page
    assert "atch 1<" not in page
    assert "atch 1:" not in page


@pytest.mark.parametrize("address", ["/", "/runs", "/runs/single", "/runs/single/embed", "/wall"])
async def test_one_match_is_no_plural(single: Callable[..., Any], web: httpx.AsyncClient, address: str) -> None:
    """It was "1 matches" and "All 1 matches"."""
    single("m1", game="shibuya").play().close()
    assert "1 matches" not in (await web.get(address)).text


async def test_the_title_of_its_page_has_game_bots_and_time(single: Callable[..., Any], web: httpx.AsyncClient) -> None:
    single("m1", game="shibuya").play().close()
    page = (await web.get("/runs/single/matches/m1")).text
    assert "<title>Shibuya: ann against bob, 2026-01-01 00:00:00 UTC - Crosstown</title>" in page
    assert "A single match, of no tournament. The name of its record" in page


async def test_a_person_is_marked_and_stands_in_no_table(single: Callable[..., Any], web: httpx.AsyncClient) -> None:
    single("m1", people=("ann",)).play().close(ranking=(1, 2))
    single("m2", names=("cleo", "bob")).play().close(ranking=(1, 2))
    page = (await web.get("/runs/single")).text
    assert "1. ann (person)" in page
    standings = (await web.get("/api/v1/runs/single/standings")).json()["standings"]
    assert sorted((row["name"], row["played"], row["rated"]) for row in standings) == [
        ("bob", 2, True),
        ("cleo", 1, True),
    ]
    match = (await web.get("/runs/single/matches/m1")).text
    assert 'ann <span class="soft">(person)</span>' in match


async def test_a_match_with_a_person_rates_nobody(single: Callable[..., Any], web: httpx.AsyncClient) -> None:
    single("m1", people=("ann",)).play().close(ranking=(2, 1))
    (row,) = (await web.get("/api/v1/runs/single/standings")).json()["standings"]
    assert (row["name"], row["played"], row["won"], row["rated"]) == ("bob", 1, 1, False)
    listed = (await web.get("/runs/single/matches")).text
    assert "(not rated)" in listed
    assert "1 match, the last first. A match of no tournament is called by the time it began (UTC)." in listed


async def test_two_people_leave_the_table_empty(single: Callable[..., Any], web: httpx.AsyncClient) -> None:
    single("m1", people=("ann", "bob")).play().close()
    page = await web.get("/runs/single")
    assert page.status_code == 200
    assert "/bots/" not in page.text
    assert "1. ann (person)" in page.text


async def test_to_resign_is_no_fault(single: Callable[..., Any], web: httpx.AsyncClient) -> None:
    match = single("m1")
    match.step()
    match.close(reason="resigned", ranking=(1, 2), returns=(), faults=(None, RESIGNED))
    for address in ("/runs/single/matches", "/runs/single/bots/01ff00ff"):
        page = (await web.get(address)).text
        assert "bob resigned" in page
        assert "(resigned)" in page
        assert "?fault=" not in page
    assert ">faults<" not in (await web.get("/runs/single")).text
    assert "<h2>Faults" not in (await web.get("/runs/single/bots/01ff00ff")).text
    assert "<h2>Fault" not in (await web.get("/runs/single/matches/m1")).text
