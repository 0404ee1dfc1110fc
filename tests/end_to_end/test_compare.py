"""Two bots compared for real: the same verdict for any number of workers, and taken up again."""

import json


def compare(workplace, *words):
    return workplace.run("compare", "bots/bot0", "bots/bot1", "--games", "toy", "--json", *words)


def test_one_worker_and_two_give_the_same_evidence_and_again_nothing_is_played(workplace, write_cup):
    write_cup(bots=2)
    found = []
    for workers in ("1", "2"):
        printed = compare(workplace, "--cap", "6", "--workers", workers, "--out", f"out{workers}")
        assert printed.code in (0, 1), printed.stderr
        found.append(json.loads(printed.stdout))
        found[-1].pop("run")
    assert found[0] == found[1]
    assert 0 < found[0]["rounds"] <= 6
    again = json.loads(compare(workplace, "--cap", "6", "--out", "out1").stdout)
    again.pop("run")
    assert again == found[0]


def test_a_higher_cap_goes_on_and_plays_no_round_again(workplace, write_cup):
    write_cup(bots=2)
    wide = ("--scores", "0.3", "0.7")
    whole = json.loads(compare(workplace, "--cap", "4", *wide, "--out", "whole").stdout)
    short = json.loads(compare(workplace, "--cap", "2", *wide).stdout)
    assert (short["rounds"], short["cap"]) == (2, 2)
    records = sorted((workplace.folder / short["run"] / "matches").glob("*.gz"))
    times = [path.stat().st_mtime_ns for path in records]
    longer = json.loads(compare(workplace, "--cap", "4", *wide).stdout)
    assert longer["run"] == short["run"]
    assert {**longer, "run": ""} == {**whole, "run": ""}
    assert [path.stat().st_mtime_ns for path in records] == times
    less = json.loads(compare(workplace, "--cap", "3", *wide).stdout)
    assert less == longer, "what was played stays"
    verified = workplace.run("matches", "verify", short["run"], "--json")
    assert json.loads(verified.stdout)["runs"] == [], verified.stderr


def test_other_bounds_are_another_comparison(workplace, write_cup):
    write_cup(bots=2)
    assert compare(workplace, "--cap", "2").code in (0, 1)
    (file,) = (workplace.folder / "runs").glob("*.toml")
    before = file.read_text()
    refused = compare(workplace, "--cap", "2", "--elo", "0", "100")
    assert file.read_text() == before, "a refused comparison leaves the file of the other alone"
    assert refused.code == 2
    assert "high" in refused.stderr
    assert compare(workplace, "--cap", "2", "--elo", "0", "100", "--new").code in (0, 1)
