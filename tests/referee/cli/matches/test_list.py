"""`crosstown matches list` with filters."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.record import SeatHeader


@pytest.fixture
def runs(tmp_path: Path, write: Callable[..., Path]) -> Path:
    """Five matches of two runs: by date, by bots, by end."""
    ann, bob, cid = (SeatHeader(f"{name}00ff00ff00ff00"[:16], name, "1") for name in ("ann", "bob", "cid"))
    cup, league = tmp_path / "runs" / "cup" / "matches", tmp_path / "runs" / "league" / "matches"
    write(cup, "m1", tournament="cup", place=0, seats=(ann, bob), created_at="2026-01-01T00:00:00.000+00:00")
    write(cup, "m2", tournament="cup", place=1, seats=(bob, ann), created_at="2026-01-31T23:30:00Z", crash_after=4)
    write(cup, "m3", tournament="cup", place=2, seats=(ann, cid), created_at="2026-02-01T00:00:00Z")
    write(league, "m4", tournament="league", seats=(cid, bob), created_at="2026-02-01T02:00:00+04:00")
    write(league, "m5", tournament="league", seats=(cid, ann), created_at="", decisions=3, close=False)
    return tmp_path / "runs"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("", "m1 m2 m3 m4 m5"),
        ("--bot ann", "m1 m2 m3 m5"),
        ("--bot ann --bot bob", "m1 m2"),
        ("--bot cid0", "m3 m4 m5"),
        ("--bot an", ""),
        ("--bot a*", ""),
        ("--game toy", "m1 m2 m3 m4 m5"),
        ("--game shibuya", ""),
        ("--reason crashed", "m2"),
        ("--reason normal --bot cid", "m3 m4"),
        ("--tournament league", "m4 m5"),
        ("--from 2026-01-31", "m2 m3 m4"),
        ("--to 2026-01-31", "m1 m2 m4"),
        ("--from 2026-01-31T23:00 --to 2026-01-31T23:59", "m2"),
        ("--to 2026-01-31T23:30", "m1 m4"),
        ("--to 2026-01-31_23:30", "m1 m4"),
        ("--to 20260131", "m1 m2 m4"),
        ("--to 9999-12-31", "m1 m2 m3 m4"),
        ("--to 9999-12-31T23:59", "m1 m2 m3 m4"),
        ("--from 0001-01-01 --to 9999-12-30", "m1 m2 m3 m4"),
        ("--run cup --reason crashed", "m2"),
    ],
)
def test_a_filter_leaves_those_that_fit_all_of_it(matches: Any, runs: Path, words: str, found: str) -> None:
    rows = json.loads(matches("list", "--json", *words.split()).stdout)
    assert [row["match"] for row in rows] == found.split()


def test_no_match_that_fits_is_said_and_is_no_error(matches: Any, runs: Path) -> None:
    nothing = "no match is like that; --void also lists records that do not count\n"
    assert matches("list", "--bot", "dan").stdout == nothing
    assert matches("list", "--bot", "dan", "--void").stdout == "no match is like that\n"
    assert matches("list", "--bot", "dan", "--json").stdout == "[]\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--reason crash", "no match ends by 'crash'"),
        ("--from yesterday", "'yesterday' is not a time"),
        ("--to 2026-13-01", "'2026-13-01' is not a time"),
        ("--to 2026-W48", "'2026-W48' is not a time"),
    ],
)
def test_a_filter_that_cannot_be_meant_is_refused(matches: Any, runs: Path, words: str, said: str) -> None:
    stderr = matches("list", *words.split(), code=2).stderr
    assert said in stderr
    assert "next: " in stderr


def test_what_cannot_be_read_fits_no_filter(matches: Any, runs: Path) -> None:
    (runs / "cup" / "matches" / "m6.jsonl.gz").write_bytes(b"no record")
    assert "m6" in matches("list").stdout
    assert "m6" not in matches("list", "--game", "toy").stdout


def test_a_header_beyond_the_first_bytes_is_found_all_the_same(matches: Any, tmp_path: Path, write: Any) -> None:
    seats = (SeatHeader("aa" * 8, "ann", "1"), SeatHeader("bb" * 8, "bob", "v" * 100_000))
    write(tmp_path / "runs" / "cup" / "matches", "m1", seats=seats)
    write(tmp_path / "runs" / "cup" / "matches", "m2", seats=seats, close=False)
    assert [row["match"] for row in json.loads(matches("list", "--json", "--bot", "bob").stdout)] == ["m1", "m2"]


def test_every_field_that_jq_may_ask_for_is_there(matches: Any, runs: Path) -> None:
    rows = json.loads(matches("list", "--json").stdout)
    assert {tuple(row) for row in rows} == {
        ("match", "path", "run", "tournament", "place", "round", "table", "stage", "block",
         "game", "rules_version", "created_at", "status", "progress", "mirror", "reason", "detail", "problem",
         "decisions", "wall_s", "judged_again", "set_aside", "seats")
    }  # fmt: skip
    crashed = next(row for row in rows if row["reason"] == "crashed")
    assert [(seat["name"], seat["rank"], seat["points"] is None, seat["fault"]) for seat in crashed["seats"]] == [
        ("bob", 1, False, ""),
        ("ann", 2, False, "crashed"),
    ]


def test_a_mirror_match_is_not_called_rated(make_run, crosstown):
    make_run("cup", more="[round-robin]\nmirrors = true", played=4)
    rows = json.loads(crosstown("matches", "list", "--json").out)
    mirrors = [row for row in rows if len({seat["entry_id"] for seat in row["seats"]}) == 1]
    assert len(mirrors) == 2
    assert [(row["status"], row["mirror"]) for row in mirrors] == [("unrated", True)] * 2
    assert {(row["status"], row["mirror"]) for row in rows if row not in mirrors} == {("rated", False)}
    text = crosstown("matches", "list").out.splitlines()
    assert sum(" unrated " in line for line in text) == 2


@pytest.mark.parametrize(("choice", "status"), [("annul", "annulled"), ("keep", "rated"), ("losses", "rated")])
def test_matches_of_a_bot_that_left_are_annulled_if_that_was_chosen(make_run, crosstown, choice, status):
    make_run("cup", more="[round-robin]\nmirrors = true", played=6)
    assert crosstown("withdraw", "cup", "<ann>", "--choice", choice).code == 0
    rows = json.loads(crosstown("matches", "list", "--json").out)
    of_it = [row for row in rows if "<ann>" in {seat["name"] for seat in row["seats"]}]
    assert 0 < len(of_it) < len(rows)
    assert {row["status"] for row in of_it if not row["mirror"]} == {status}
    assert {row["status"] for row in of_it if row["mirror"]} == {status if choice == "annul" else "unrated"}
    assert {row["status"] for row in rows if row not in of_it} <= {"rated", "unrated"}


def test_the_last_twenty_are_listed_and_all_on_request(make_run, crosstown):
    make_run("cup", blocks=12, played=24)
    make_run("league", seed=2, played=2)

    def listed(*words):
        lines = crosstown("matches", "list", *words).out.splitlines()
        return [line.split()[1][:7] for line in lines if " m0" in line], lines[-1]

    found, last = listed("cup")
    assert found == [f"m{place:06d}" for place in range(4, 24)]
    assert last == "the last 20 of 24 matches; all of them: --all"
    assert listed("cup", "--last", "3")[0] == ["m000021", "m000022", "m000023"]
    assert len(listed("cup", "--all")[0]) == 24
    assert len(listed("cup", "--game", "toy")[0]) == 20
    assert len(listed()[0]) == 20
    assert len(json.loads(crosstown("matches", "list", "cup", "--json").out)) == 24
    assert len(json.loads(crosstown("matches", "list", "cup", "--json", "--last", "2").out)) == 2


@pytest.mark.parametrize("name", ["cup", "cup.toml", "runs/cup"])
def test_a_run_is_named_as_for_standings(make_run, crosstown, name):
    make_run("cup")
    make_run("league", seed=2)
    assert crosstown("standings", name).code == 0
    rows = json.loads(crosstown("matches", "list", name, "--json").out)
    assert {row["tournament"] for row in rows} == {"cup"}
    assert rows == json.loads(crosstown("matches", "list", "--run", name, "--json").out)
    assert crosstown("matches", "list", name, "--run", name).code == 2


@pytest.mark.parametrize("style", ["swiss", "knockout"])
def test_formats_of_rounds_have_the_round_of_each_match(make_run, crosstown, style):
    make_run("cup", style=style, others=("cyd", "dan"), blocks=1, played=50)
    rows = json.loads(crosstown("matches", "list", "cup", "--json").out)
    rounds = [row["round"] for row in rows]
    assert rounds == sorted(rounds)
    assert set(rounds) == {1, 2}
    assert rounds.count(1) >= 4
    heads, *lines = crosstown("matches", "list", "cup", "--all").out.splitlines()
    assert heads.split()[:4] == ["run", "match", "when", "round"]
    assert [int(line.split()[3]) for line in lines] == rounds
    assert {line.split()[0] for line in lines} == {"cup"}


def test_a_round_robin_has_no_round(make_run, crosstown):
    make_run("cup")
    assert {row["round"] for row in json.loads(crosstown("matches", "list", "cup", "--json").out)} == {None}
    assert " round " not in crosstown("matches", "list", "cup").out


def test_the_json_of_a_crashed_match_says_why(matches: Any, tmp_path: Path, write: Callable[..., Path]) -> None:
    write(tmp_path / "runs" / "cup" / "matches", "m1", crash_after=4)
    (row,) = json.loads(matches("list", "--json").stdout)
    fault = row["seats"][1]
    assert fault["fault"] == "crashed"
    assert fault["fault_detail"].endswith("gnp.exe\nnext line")
    assert fault["last_output"].endswith("gnp.exe\nnext line")
    assert [row["seats"][0][name] for name in ("fault_detail", "last_output")] == ["", ""]
