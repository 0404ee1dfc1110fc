"""The benchmark of the pages measures how late a decision is told."""

import json
import re
import urllib.request
from pathlib import Path

import pytest

from benchmarks.web import delays, live, make_run, serving


def test_a_decision_counts_from_its_line_to_the_first_event_that_has_it() -> None:
    assert delays([(10, 1.0), (20, 1.5), (30, 1.6)], [(9, 1.0), (10, 1.25), (31, 2.0)]) == [
        250,
        500,
        pytest.approx(400),
    ]


def test_a_row_tells_the_median_and_the_worst_of_all_decisions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(tmp_path) as address:
        live(address, tmp_path / "live", 3, None)
    row = re.search(r"told to a client \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", capsys.readouterr().out)
    assert row is not None
    number, median_ms, rare_ms, worst_ms = map(int, row.groups())
    assert number == 3
    assert 0 <= median_ms <= rare_ms <= worst_ms


def test_the_run_that_is_made_up_has_its_schedule(tmp_path: Path) -> None:
    make_run(tmp_path / "big", 7, 3)
    with serving(tmp_path) as address, urllib.request.urlopen(f"{address}/api/runs/big") as answer:
        run = json.load(answer)
    assert (run["matches"], run["total"], run["warnings"], run["unusable"]) == (7, 12, [], [])
    assert [match["place"] for match in run["coming"]] == [7, 8, 9, 10, 11]
