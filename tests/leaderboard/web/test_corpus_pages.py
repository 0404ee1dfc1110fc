"""Old, cut, changed and foreign records in the browser: shown as far as they go, with the reason."""

import shutil
from html import unescape
from pathlib import Path

import httpx
import pytest

CORPUS = Path(__file__).resolve().parents[2] / "referee" / "record" / "corpus"

REASONS = {
    "v1-toy": "Ended: normal (rated)",
    "v1-shibuya": "Ended: normal (rated)",
    "v1-crashed": "To the step</a>. exit code 3",
    "v1-hostile": "To the step</a>. exit code 3",
    "v1-strike": "To the step</a>. answered after 1.250 s of 1 s</p>",
    "v1-void": "Ended: platform fault (void): the disk is full",
    "v1-not-started": "Ada did not start: the match does not count</a>",
    "v1-cancelled": "Ended: cancelled (cancelled): by the organiser",
    "v1-live": "Going on, or cut off",
    "v1-cut-line": "Going on, or cut off",
    "v1-cut-closed": "Damaged: the compressed file is cut",
    "v1-no-footer": "Damaged: the file is closed but has no footer",
    "v1-changed-move": "line 11: the line was changed, lost or inserted",
    "v1-other-move": "line 23 cannot be followed",
    "v1-unknown-game": "no board: unknown game 'checkers'",
    "v1-other-rules": "no board: played by rules version 99, installed is 1",
}
REFUSED = ("v1-cut-header", "v1-newer-format", "v1-older-format")


@pytest.fixture
def web(web: httpx.AsyncClient, runs: Path) -> httpx.AsyncClient:
    """A server over a run of these records."""
    shutil.copytree(CORPUS, runs / "old" / "matches", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    return web


@pytest.mark.slow
@pytest.mark.parametrize("match", REASONS)
async def test_a_record_has_a_page_with_all_its_moves_and_the_reason(web: httpx.AsyncClient, match: str) -> None:
    page = await web.get(f"/runs/old/matches/{match}?step=last")
    assert page.status_code == 200
    assert REASONS[match] in unescape(page.text)
    assert "<script>alert" not in page.text
    frames = (await web.get(f"/api/runs/old/matches/{match}/frames")).json()["frames"]
    assert any(frame["lines"] for frame in frames) or match == "v1-not-started"


@pytest.mark.parametrize("match", REFUSED)
async def test_what_cannot_be_read_is_an_error_with_the_reason(web: httpx.AsyncClient, match: str) -> None:
    page = await web.get(f"/runs/old/matches/{match}")
    assert page.status_code == 422


async def test_the_page_of_the_run_stands_with_all_of_them_in_it(web: httpx.AsyncClient) -> None:
    page = await web.get("/runs/old")
    assert page.status_code == 200
    assert "<script>alert" not in page.text


async def test_halves_of_characters_in_a_record_keep_no_answer_from_being_sent(web: httpx.AsyncClient) -> None:
    """They were in every list with the record, for programs and in the feed."""
    feed = await web.get("/runs/old/results.atom")
    assert feed.status_code == 200
    for api in ("/api", "/api/v1"):
        listed = (await web.get(f"{api}/runs/old/matches")).json()["matches"]
        assert "v1-hostile" in [row["match_id"] for row in listed]
        match = (await web.get(f"{api}/runs/old/matches/v1-hostile")).json()
        assert match["header"]["seats"][0]["name"].startswith("0<script>")
