"""The feed of a run's results, and its table for a frame elsewhere."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import httpx
import pytest

from leaderboard.results import result_words
from leaderboard.web.app import make_app
from leaderboard.web.feed import MOST, atom
from leaderboard.web.site import publish

ATOM = {"a": "http://www.w3.org/2005/Atom"}


def entries(text: str) -> list[tuple[str, str, str]]:
    """(title, link, id) of each result of a feed."""
    feed = ET.fromstring(text)
    found = []
    for entry in feed.findall("a:entry", ATOM):
        link = entry.find("a:link", ATOM)
        assert link is not None
        assert entry.findtext("a:updated", "", ATOM).endswith("Z")
        found.append((entry.findtext("a:title", "", ATOM), link.attrib["href"], entry.findtext("a:id", "", ATOM)))
    return found


async def test_a_feed_has_the_last_results_with_links(web: httpx.AsyncClient, start: Callable[..., Any]) -> None:
    for place in range(MOST + 2):
        start(f"m{place}", ("ann", "bob"), place=place).play().close()
    answer = await web.get("/runs/cup/results.atom")
    assert answer.headers["content-type"].startswith("application/atom+xml")
    found = entries(answer.text)
    assert len(found) == MOST
    title, link, id_ = found[0]
    assert link == f"{web.base_url}/runs/cup/matches/m{MOST + 1}"
    assert title in ("ann beats bob", "bob beats ann", "ann and bob draw")
    assert id_ == f"urn:crosstown:match:cup:m{MOST + 1}"
    assert len({one[2] for one in found}) == MOST


async def test_a_feed_shows_no_match_that_may_not_be_looked_at(
    start: Callable[..., Any], runs: Path, open_blocks: set[tuple[str, int]]
) -> None:
    start("m0", ("ann", "bob")).play().close()
    open_blocks.add(("toy", 0))
    transport = httpx.ASGITransport(app=make_app(runs, hide_live=True))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as hidden:
        assert entries((await hidden.get("/runs/cup/results.atom")).text) == []


@pytest.mark.parametrize("name", ["<b>&\"'", "a\x00\x1b]b", "\u202eevil", "]]>"])
def test_what_bots_call_themselves_is_text_in_a_feed(name: str, start: Callable[..., Any], runs: Path) -> None:
    from leaderboard.index import load_index
    from referee.run.folder import RunFolder

    start("m0", (name, "bob")).play().close()
    rows = load_index(RunFolder(runs / "cup")).rows
    ((title, _, _),) = entries(atom(name, "http://x/runs/cup", rows))
    assert "bob" in title
    assert all(char.isprintable() for char in title)


async def test_any_site_may_frame_the_tables_and_no_other_page(
    web: httpx.AsyncClient, start: Callable[..., Any]
) -> None:
    start("m0", ("ann", "bob")).play().close()
    answer = await web.get("/runs/cup/embed")
    assert answer.status_code == 200
    assert "frame-ancestors *" in answer.headers["content-security-policy"]
    assert "<form" not in answer.text
    assert "<script" not in answer.text
    assert '<base target="_blank">' in answer.text
    assert "/runs/cup/bots/" in answer.text
    other = await web.get("/runs/cup")
    assert "frame-ancestors 'none'" in other.headers["content-security-policy"]
    assert "/runs/cup/embed" in other.text
    assert "/runs/cup/results.atom" in other.text
    assert (await web.get("/runs/nowhere/embed")).status_code == 404
    assert (await web.get("/runs/nowhere/results.atom")).status_code == 404


@pytest.mark.parametrize(
    ("url", "begins"),
    [("", "../../runs/cup/matches/m0.html"), ("https://x.example/cup/", "https://x.example/cup/runs/cup/matches/")],
)
def test_a_site_of_files_has_feed_and_table(
    runs: Path, start: Callable[..., Any], tmp_path: Path, open_blocks: None, url: str, begins: str
) -> None:
    start("m0", ("ann", "bob")).play().close()
    site = tmp_path / "site"
    publish(runs, site, ["cup"], url=url)
    ((_, link, _),) = entries((site / "runs/cup/results.atom").read_text())
    assert link.startswith(begins)
    assert "localhost" not in (site / "runs/cup/results.atom").read_text()
    table = (site / "runs/cup/embed.html").read_text()
    assert 'href="../../runs/cup/bots/' in table
    assert 'href="../../static/base.css"' in table
    assert 'href="runs/cup/embed.html"' in (site / "index.html").read_text()


def test_results_in_words(start: Callable[..., Any], runs: Path) -> None:
    from leaderboard.index import load_index
    from referee.run.folder import RunFolder

    start("m0", ("ann", "bob", "cyd")).close(ranking=(1, 1, 3))
    start("m1", ("ann", "bob"), place=1).close(ranking=(1, 1))
    start("m2", ("ann", "bob", "cyd"), place=2).close(ranking=(2, 1, 3))
    rows = sorted(load_index(RunFolder(runs / "cup")).rows, key=lambda row: row.place)
    assert [result_words(row) for row in rows] == ["ann and bob beat cyd", "ann and bob draw", "bob beats ann, cyd"]
