"""`crosstown publish`."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest


def test_a_run_becomes_a_folder_with_an_index(make_run, crosstown, tmp_path):
    make_run(played=4)
    said = crosstown("publish", "runs/cup", "site", "--json", "--jobs", "2")
    assert said.code == 0, said.err
    made = json.loads(said.out)
    assert (made["replays"], made["kept"], made["index"]) == (4, 0, "site/index.html")
    assert (tmp_path / "site" / "index.html").is_file()
    said = crosstown("publish", "runs", "site")
    assert "4 replays (4 as before)" in said.out


def test_a_run_whose_folder_has_no_address_is_left_out_and_named(make_run, crosstown, tmp_path):
    make_run(played=4)
    shutil.copytree(tmp_path / "runs" / "cup", tmp_path / "runs" / os.fsdecode(b"caf\xe9"))
    said = crosstown("publish", "runs", "site")
    assert said.code == 0, said.err
    assert "runs/caf\\udce9: its name is not UTF-8, so it has no address; rename the folder" in said.out
    made = json.loads(crosstown("publish", "runs", "site", "--json").out)
    assert [*made["left_out"].values()] == ["its name is not UTF-8"]
    assert made["replays"] == 4


def test_a_run_that_is_not_there_is_a_mistake_in_use(crosstown):
    said = crosstown("publish", "nowhere", "site")
    assert said.code == 2
    assert "nowhere is not a folder" in said.err


def test_a_folder_without_runs_is_a_mistake_in_use(crosstown, tmp_path):
    (tmp_path / "empty").mkdir()
    said = crosstown("publish", "empty", "site")
    assert said.code == 2
    assert "empty has no run with records" in said.err
    assert not (tmp_path / "site").exists()


def test_a_report_links_to_the_replays_of_a_site(make_run, crosstown, tmp_path):
    make_run(played=4)
    assert crosstown("publish", "runs/cup", "site").code == 0
    assert crosstown("report", "cup", "pages/report.html", "--site", "site").code == 0
    links = set(re.findall(r'href="([^"#]+)"', (tmp_path / "pages" / "report.html").read_text()))
    assert len(links) == 4
    for link in links:
        assert (tmp_path / "pages" / link).resolve().relative_to(tmp_path / "site" / "runs" / "cup" / "matches")
        assert (tmp_path / "pages" / link).is_file()
    refused = crosstown("report", "cup", "--site", "runs")
    assert (refused.code, "was not written by crosstown publish" in refused.err) == (2, True)


def test_the_address_of_a_site_is_an_address(make_run, crosstown):
    make_run(played=4)
    refused = crosstown("publish", "runs/cup", "site", "--url", "games.example")
    assert (refused.code, "begin it with https://" in refused.err) == (2, True)


def test_a_site_lies_in_the_folder_that_a_link_names(make_run, crosstown, tmp_path):
    make_run()
    (tmp_path / "www").mkdir()
    (tmp_path / "site").symlink_to("www")
    for _ in range(2):
        printed = crosstown("publish", "runs/cup", "site")
        assert printed.code == 0, printed.err
        assert (tmp_path / "site").is_symlink()
        assert (tmp_path / "www" / "index.html").is_file()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_site_that_cannot_take_the_place_of_a_folder_is_a_mistake_in_use(make_run, crosstown):
    make_run()
    printed = crosstown("publish", "runs/cup", "/")
    assert (printed.code, "/ has files in it that crosstown publish did not write" in printed.err) == (2, True)


PAIRINGS = {"pairings.html", "pairings.csv"}


@pytest.mark.parametrize(("style", "files"), [("swiss", PAIRINGS), ("knockout", {*PAIRINGS, "bracket.svg"})])
def test_every_link_of_a_site_names_a_file(make_run, crosstown, tmp_path, style, files):
    make_run(style=style, blocks=1, played=100, others=("cyd", "dan"))
    printed = crosstown("publish", "runs/cup", "site")
    assert printed.code == 0, printed.err
    site = tmp_path / "site"
    page = (site / "index.html").read_text()
    assert "<a>" not in page
    linked = {
        link for link in re.findall(r'href="([^"#?]+)"', page) if "://" not in link and not link.startswith("data:")
    }
    assert {*PAIRINGS, "bracket.svg"} & {Path(link).name for link in linked} == files
    assert [link for link in linked if not (site / "index.html").parent.joinpath(link).is_file()] == []
