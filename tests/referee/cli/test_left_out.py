"""`crosstown run` says which entries are left out, and plays the others."""

import json

import pytest

SKIP = 'on_bad_entry = "skip"\n[[bots]]\npath = "bots/none"\n'


def test_a_dry_run_names_the_entries_that_are_left_out(crosstown, write_tournament):
    write_tournament(more=SKIP)
    printed = crosstown("run", "cup.toml", "--dry-run")
    assert printed.code == 0
    assert "left out: bots/none: " in printed.out
    assert "withdraw" not in printed.out
    found = json.loads(crosstown("run", "cup.toml", "--dry-run", "--json").out)
    assert [one["entry"] for one in found["left_out"]] == ["bots/none"]


@pytest.mark.slow
def test_a_build_that_fails_leaves_the_bot_out(crosstown, write_tournament, tmp_path):
    write_tournament(more=SKIP + '[[bots]]\npath = "bots/made"\n')
    made = tmp_path / "bots" / "made"
    made.mkdir()
    (made / "bot.toml").write_text(
        'name = "made"\nversion = "1"\ngames = ["*"]\nrun = ["./made"]\nbuild = ["sh", "-c", "echo no; exit 3"]\n'
    )
    printed = crosstown("run", "cup.toml", "--workers", "1", "--json")
    assert "bots/made: not built" in printed.err
    assert [one["entry"] for one in json.loads(printed.out)["left_out"]] == ["bots/none", "bots/made"]
    assert "left out" in (tmp_path / "runs" / "cup" / "tournament.jsonl").read_text().splitlines()[0].replace("_", " ")
    crosstown("report", "cup", "page.html")
    assert "bots/made: " in (tmp_path / "page.html").read_text()
