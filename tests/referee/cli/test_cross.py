"""`crosstown standings --cross`: who did what against whom, for people and whole for programs."""

import csv
import io
import json
import re

import pytest


def test_the_cross_table_for_people(make_run, crosstown):
    make_run(blocks=3, played=6)
    printed = crosstown("standings", "--cross")
    assert printed.code == 0, printed.err
    lines = [" ".join(line.split()) for line in printed.out.splitlines()]
    # Three blocks of two matches: 2-0, 2-0 and, by a crash, 1-1.
    assert lines[:4] == [
        "toy, 2 players",
        "bot 1 2",
        "1 <ann> 0.833 +-0.208 5-0-1",
        "2 [b]bob 0.167 +-0.208 1-0-5",
    ]
    assert lines[4].endswith("6 matches in 3 blocks, without a single winner 0.0%")
    assert re.fullmatch(r"by seat: 1: 0\.\d+ \+-0\.\d+, 2: 0\.\d+ \+-0\.\d+", lines[5]), "people count from 1"


def test_json_has_pairs_seats_margins_faults_and_times_in_full(make_run, crosstown):
    make_run(blocks=3, played=6)
    (pool,) = json.loads(crosstown("standings", "--cross", "--json").out)["pools"]
    assert (pool["game"], pool["players"], pool["matches"], pool["blocks"], pool["whole_blocks"]) == ("toy", 2, 6, 3, 3)
    assert pool["reasons"] == {"normal": 5, "crashed": 1}
    first, second = pool["pairs"]
    assert (first["name"], first["opponent"], first["won"], first["lost"]) == ("<ann>", "[b]bob", 5, 1)
    assert first["score"] == pytest.approx(5 / 6)
    assert first["score"] + second["score"] == pytest.approx(1)
    assert first["low"] < first["score"] < first["high"] <= 1
    assert sum(seat["score"] for seat in pool["seats"]) == pytest.approx(1)
    facts = {row["name"]: row for row in pool["entries"]}
    assert facts["<ann>"]["faults"] == {"crashed": 1}
    assert set(facts["<ann>"]["move_ms"]) >= {"50", "99"}
    assert [seat["seat"] for seat in facts["<ann>"]["by_seat"]] == [0, 1]


def test_csv_has_a_line_for_each_pair_in_both_directions(make_run, crosstown):
    make_run(blocks=1, played=6, others=("cyd",))
    rows = list(csv.DictReader(io.StringIO(crosstown("standings", "--cross", "--csv").out)))
    assert [(row["name"], row["opponent"]) for row in rows] == [
        (one, other) for one in ("<ann>", "[b]bob", "cyd") for other in ("<ann>", "[b]bob", "cyd") if one != other
    ]


def test_faults_can_be_left_out_and_games_pooled(make_run, crosstown):
    make_run(blocks=3, played=6)
    (pool,) = json.loads(crosstown("standings", "--cross", "--faultless", "--pooled", "--json").out)["pools"]
    assert (pool["game"], pool["players"], pool["matches"]) == ("*", 0, 5)


@pytest.mark.parametrize("option", [("--live",), ("--anchor", "nobody=1")])
def test_options_of_ratings_are_refused(make_run, crosstown, option):
    """--anchor, even with a name that no bot has, changed nothing and said nothing."""
    make_run(played=2)
    printed = crosstown("standings", "--cross", *option)
    assert (printed.code, printed.out) == (2, "")
    assert printed.err.startswith(f"error: {option[0]} and --cross exclude each other")


def test_without_a_match_it_says_so(make_run, crosstown):
    make_run(played=0)
    assert crosstown("standings", "--cross").out == "No match counts yet.\n"
    assert json.loads(crosstown("standings", "--cross", "--json").out)["pools"] == []


def test_a_cross_table_has_no_live_ratings(make_run, crosstown):
    make_run()
    assert crosstown("standings", "--cross", "--live").code == 2
