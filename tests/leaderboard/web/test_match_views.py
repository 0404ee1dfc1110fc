"""What the page of a match says without its scripts: whose view it is, and which attempts did not count."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

CORPUS = Path(__file__).resolve().parents[2] / "referee" / "record" / "corpus"


async def test_a_finished_match_shows_everything_and_one_that_goes_on_what_everybody_knows(
    web: httpx.AsyncClient, start: Callable[..., Any]
) -> None:
    start("m1").play().close()
    assert 'data-seat="all"' in (await web.get("/runs/cup/matches/m1")).text
    assert 'data-seat=""' in (await web.get("/runs/cup/matches/m1?seat=")).text
    match = start("m7", place=7)
    match.step()
    assert 'data-seat=""' in (await web.get("/runs/cup/matches/m7")).text
    match.close()


async def test_an_attempt_that_does_not_count_is_shown_with_its_reason(
    web: httpx.AsyncClient, start: Callable[..., Any], runs: Path
) -> None:
    start("m1").play().close()
    folder = runs / "cup" / "matches"
    (folder / "void").mkdir(exist_ok=True)
    shutil.copy(CORPUS / "v1-not-started.jsonl.gz", folder / "void" / "m1.1-void.jsonl.gz")
    shown = (await web.get("/runs/cup/matches/m1")).text
    assert "Another attempt does not count (void):" in shown
    assert "Ada did not start: the match does not count</a>" in shown
    assert "This attempt" not in shown
    assert "This record does not count: it was set aside (void)." in (await web.get("/runs/cup/matches/m1.1-void")).text
