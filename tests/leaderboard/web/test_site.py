"""Runs as a folder of pages: every link leads to a file, and a file shows what the page shows a visitor."""

import base64
import errno
import gzip
import os
import re
import shutil
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from leaderboard.web.hand_ins import Entry
from leaderboard.web.site import MARKER, publish
from referee.errors import PlatformError, UsageError
from tests.leaderboard.web.ladders import Intake

ANN, BOB = "00ff00ff", "01ff00ff"
HREF = re.compile(r'(?:href|src)="([^"]*)"')


pytestmark = pytest.mark.usefixtures("open_blocks")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return tmp_path / "site"


def play(start: Callable[..., Any], *ids: str, names: tuple[str, ...] = ("ann", "bob")) -> None:
    for place, match_id in enumerate(ids):
        start(match_id, names, place=place, note="a note of a bot").play().close()


def files(site: Path) -> set[str]:
    return {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}


def links(site: Path) -> dict[str, set[str]]:
    """By page what it links to."""
    return {
        name: {unescape(one) for one in HREF.findall((site / name).read_text())}
        for name in files(site)
        if name.endswith(".html")
    }


def check_links(site: Path) -> None:
    there = files(site)
    for name, found in links(site).items():
        for link in (one for one in found if not one.startswith("#")):
            parts = urlsplit(link)
            assert not parts.scheme, f"{name} loads {link}"
            assert not link.startswith("/"), f"{name} links to {link}, which is another thing elsewhere"
            target = (site / name).parent / unquote(parts.path)
            assert target.resolve().relative_to(site.resolve()).as_posix() in there, f"{name} links to {link}"


def test_one_run_is_a_site_whose_links_lead_to_files(runs: Path, start, site: Path) -> None:
    play(start, "m1", "m2", "m3")
    made = publish(runs, site, ["cup"])
    assert (made.replays, made.kept, made.unreadable) == (3, 0, ())
    check_links(site)
    front = (site / "index.html").read_text()
    assert "ann" in front
    assert 'href="runs/cup/bots/00ff00ff.html"' in front
    assert {"search.html", "runs/cup/cross.html", "runs/cup/matches.csv", "games/toy.html"} <= files(site)
    assert {f"runs/cup/matches/m{number}.html" for number in (1, 2, 3)} <= files(site)
    replay = (site / "runs/cup/matches/m1.html").read_text()
    assert '<a href="../../../index.html">cup</a>' in replay


def test_every_page_can_be_reached_from_the_first(runs: Path, start, site: Path, monkeypatch) -> None:
    monkeypatch.setattr("leaderboard.web.pages.PAGE", 3)
    play(start, *(f"m{number}" for number in range(5)))
    publish(runs, site, ["cup"])
    found, waiting, all_links = set[str](), ["index.html"], links(site)
    while waiting:
        name = waiting.pop()
        for link in all_links.get(name, ()):
            target = ((site / name).parent / unquote(urlsplit(link).path)).resolve()
            if not link.startswith("#") and (there := target.relative_to(site.resolve()).as_posix()) not in found:
                found.add(there)
                waiting.append(there)
    assert {name for name in files(site) if name.endswith(".html")} == {
        name for name in found if name.endswith(".html")
    }
    assert "runs/cup/matches-3.html" in found


def test_what_needs_a_server_is_not_in_the_pages(runs: Path, start, site: Path) -> None:
    play(start, "m1")
    publish(runs, site, ["cup"])
    for path in site.rglob("*.html"):
        text = path.read_text()
        if "/matches/" not in path.as_posix():
            assert not re.search(r"<form|data-events|/api/|follow\.js|renewal\.js", text), path


def test_several_runs_share_a_front_page_and_a_search(runs: Path, start, site: Path) -> None:
    play(start, "m1")
    other = runs / "other" / "matches"
    other.mkdir(parents=True)
    (other / "m1.jsonl.gz").write_bytes((runs / "cup" / "matches" / "m1.jsonl.gz").read_bytes())
    publish(runs, site)
    check_links(site)
    assert "Tournaments" in (site / "index.html").read_text()
    search = (site / "search.html").read_text()
    assert search.count("bots/00ff00ff.html") == 2
    assert (site / "runs/cup/matches/m1.html").is_file()
    assert (site / "runs/other/matches/m1.html").is_file()


def test_other_runs_of_the_folder_are_not_published(runs: Path, start, site: Path) -> None:
    play(start, "m1")
    secret = runs / "hushed" / "matches"
    secret.mkdir(parents=True)
    (secret / "m1.jsonl.gz").write_bytes((runs / "cup" / "matches" / "m1.jsonl.gz").read_bytes())
    publish(runs, site, ["cup"])
    assert not [name for name in files(site) if "hushed" in name]
    assert not [path for path in site.rglob("*.html") if "hushed" in path.read_text()]


def test_a_match_that_has_not_changed_is_not_drawn_again(runs: Path, start, site: Path) -> None:
    play(start, "m1", "m2")
    publish(runs, site, ["cup"])
    before = (site / "runs/cup/matches/m1.html").stat().st_ino
    start("m3", place=2).play().close()
    made = publish(runs, site, ["cup"])
    assert (made.replays, made.kept) == (3, 2)
    assert (site / "runs/cup/matches/m1.html").stat().st_ino == before
    check_links(site)


def test_a_site_whose_writing_was_killed_is_there_again_and_nothing_is_left(runs: Path, start, site: Path) -> None:
    """A kill may come while pages are written, or between the two renames, when the site has no name."""
    play(start, "m1")
    publish(runs, site, ["cup"])
    before = (site / "runs/cup/matches/m1.html").stat().st_ino
    shutil.copytree(site, site.with_name(".site-0123abcd"))
    site.rename(site.with_name(".site-89abcdef-old"))
    assert publish(runs, site, ["cup"]).kept == 1
    assert (site / "runs/cup/matches/m1.html").stat().st_ino == before
    assert [path.name for path in site.parent.iterdir() if "site" in path.name] == ["site"]


def test_a_site_that_cannot_be_put_in_its_place_leaves_the_one_that_was_there(
    runs: Path, start, site: Path, monkeypatch
) -> None:
    play(start, "m1")
    publish(runs, site, ["cup"])
    before, rename = files(site), Path.rename

    def fails(path: Path, target: Path) -> Path:
        if target == site and not path.name.endswith("-old"):
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(PlatformError, match="cannot be written"):
        publish(runs, site, ["cup"])
    assert files(site) == before
    assert [path.name for path in site.parent.iterdir() if "site" in path.name] == ["site"]


def test_a_folder_with_other_files_is_not_replaced(runs: Path, start, site: Path) -> None:
    play(start, "m1")
    site.mkdir()
    (site / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="did not write"):
        publish(runs, site, ["cup"])
    assert files(site) == {"thesis.txt"}
    (site / "thesis.txt").unlink()
    publish(runs, site, ["cup"])
    assert MARKER in files(site)
    assert [path.name for path in site.parent.iterdir() if path.name.startswith(".site")] == []


@pytest.mark.parametrize(("name", "why"), [(b"caf\xe9", "its name is not UTF-8"), (b"a\nb", "its name has a line end")])
def test_a_folder_without_an_address_is_left_out_and_told(runs: Path, start, site: Path, name: bytes, why: str) -> None:
    play(start, "m1")
    odd = runs / os.fsdecode(name)
    shutil.copytree(runs / "cup", odd)
    assert publish(runs, site, []).left_out == {odd: why}
    assert (site / "index.html").is_file()
    check_links(site)
    shutil.rmtree(runs / "cup")
    for names in ([], [odd.name]):
        with pytest.raises(UsageError, match=why):
            publish(runs, site, names)


def test_a_record_that_cannot_be_read_is_left_out_and_named(runs: Path, start, site: Path) -> None:
    play(start, "m1", "m2")
    publish(runs, site, ["cup"])
    record = runs / "cup" / "matches" / "m2.jsonl.gz"
    stat = record.stat()
    record.write_bytes(gzip.compress(b"nothing\n"))
    os.utime(record, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    made = publish(runs, site, ["cup"])
    assert made.replays + len(made.unreadable) <= 2
    assert (site / "runs/cup/matches/m1.html").is_file()


def test_names_that_are_no_file_names_have_files(runs: Path, start, site: Path) -> None:
    names = ("a/../../b <i>", "index")
    play(start, "m1", names=names)
    publish(runs, site, ["cup"])
    check_links(site)
    assert not [path for path in site.rglob("*.html") if "<i>" in path.read_text()]
    assert {path.name for path in site.parent.iterdir()} <= {"site", "runs"}


def test_no_match_of_a_block_that_is_not_complete_is_there(runs: Path, start, site: Path, open_blocks) -> None:
    play(start, "m1")
    open_blocks.add(("toy", 0))
    made = publish(runs, site, ["cup"])
    assert made.replays == 0
    pages = [*(site / "runs").rglob("*.html"), site / "index.html", site / "search.html"]
    assert not [path for path in pages if "m1" in path.read_text()]


def test_of_a_ladder_it_has_the_pages_of_divisions_and_bots_and_no_output(
    runs: Path, start, site: Path, tmp_path: Path
) -> None:
    intake = Intake(tmp_path / "ladder")
    intake.entries_of["cup"] = {ANN: Entry(ANN, "ann bot", "ann", 1), BOB: Entry(BOB, "bobbot", "bob", 1)}
    for owner, name in (("ann", "ann bot"), ("bob", "bobbot")):
        intake.accounts.add_owner(owner)
        intake.store.hand_in(owner, name, f"content of {name}")
        intake.qualify(name, 1)
    match = start("m1", note="ann noted this")
    match.play().close()
    publish(runs, site, hand_ins=intake, caption="Season 1 of the class, which ended on 2026-11-29.")
    intake.store.close()
    check_links(site)
    assert "Season 1 of the class" in (site / "index.html").read_text()
    assert "Sign in" not in (site / "index.html").read_text()
    assert "ladder/cup.html" in files(site)
    assert [name for name in files(site) if name.startswith("bots/ann_bot~")]
    content = re.search(r'id="content">([^<]*)<', (site / "runs/cup/matches/m1.html").read_text())
    assert content
    assert b"ann noted this" not in gzip.decompress(base64.b64decode(content[1]))
