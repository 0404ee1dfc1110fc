"""`crosstown run --dry-run`: what blocks are counted for, and how even a schedule is against what is possible."""

import json

import pytest

from referee.record.journal import Control
from referee.run.journal import Journal, read_journal
from referee.schedule.schedule import known_matches

BOTS = ("cyd", "dan", "eve")


@pytest.fixture
def dry_run(write_tournament, crosstown):
    def run(style, bots, blocks, *words):
        write_tournament("cup", blocks, style=style, others=BOTS[: bots - 2])
        printed = crosstown("run", "cup.toml", "--dry-run", *words)
        assert printed.code == 0, printed.err
        return printed.out

    return run


@pytest.mark.parametrize(
    ("style", "blocks", "said"),
    [
        ("round-robin", 2, "2 blocks per group: 40 matches"),
        ("gauntlet", 1, "1 block per table: 8 matches"),
        ("swiss", 2, "2 blocks per table and round: 24 matches"),
        ("knockout", 1, "1 block per table, times best_of: 8 to 24 matches"),
        ("league", 7, "7 blocks in all: 14 matches"),
    ],
)
def test_what_blocks_are_counted_for_is_the_formats_own(dry_run, style, blocks, said):
    assert dry_run(style, 5, blocks).splitlines()[0].endswith(said)


@pytest.mark.parametrize(
    ("style", "bots", "blocks", "spreads"),
    [
        # Ten blocks for five bots: four each. Ten pairs for ten blocks.
        ("league", 5, 10, {"matches per bot": (0, 0), "meetings of two bots": (0, 0)}),
        # Eight seats at four tables for three bots cannot be even: somebody has a block, which is two matches, more.
        ("league", 3, 4, {"matches per bot": (2, 2), "meetings of two bots": (2, 2)}),
        ("round-robin", 4, 1, {"matches per bot": (0, 0), "meetings of two bots": (0, 0)}),
        # One against the rest is no uneven round robin.
        (
            "gauntlet",
            4,
            1,
            {
                "matches per challenger": (0, 0),
                "matches per bot of the rest": (0, 0),
                "meetings of a challenger and a bot of the rest": (0, 0),
            },
        ),
        # The first round, with a bye.
        ("swiss", 3, 1, {"matches per bot": (2, 2), "meetings of two bots": (2, 2)}),
    ],
)
def test_evenness_is_compared_with_what_is_possible_in_whole_blocks(dry_run, style, bots, blocks, spreads):
    found = {
        row["of"].replace(" of toy with 2 seats", "").replace(" in toy with 2 seats", ""): (
            row["achieved"],
            row["lower_bound"],
        )
        for row in json.loads(dry_run(style, bots, blocks, "--json"))["spreads"]
    }
    assert found == spreads | {"seats of a bot": (0, 0)}


def test_what_is_worse_than_possible_is_said(dry_run, monkeypatch):
    monkeypatch.setattr("leaderboard.forecast.known_matches", lambda config: list(known_matches(config))[:3])
    out = dry_run("league", 3, 3)
    # Cut in the middle of a block: one bot has three matches, one two, one one, and some sit here more than there.
    assert "matches of toy with 2 seats per bot differ by at most 2 (the lower bound is 0)" in out
    assert "meetings of two bots in toy with 2 seats differ by at most 2 (none can be less)" in out
    assert "seats of a bot in toy with 2 seats differ by at most 1 (the lower bound is 0)" in out


def test_records_in_the_folder_of_a_bot_are_refused_before_anything_is_played(write_tournament, crosstown):
    write_tournament("cup")
    printed = crosstown("run", "cup.toml", "--dry-run", "--out", "bots/ann/runs")
    assert printed.code == 2
    assert "holds the records of runs" in " ".join(printed.err.split())


def test_a_dry_run_of_millions_of_matches_says_how_many_at_once(dry_run, monkeypatch):
    monkeypatch.setattr("leaderboard.forecast.known_matches", None)
    out = dry_run("round-robin", 2, 10_000_000)
    assert out.splitlines()[0].endswith("10000000 blocks per group: 20000000 matches")
    assert "how even it is takes a while to count with more than 200000 matches: --list counts it" in out
    assert json.loads(dry_run("round-robin", 2, 10_000_000, "--json"))["total"] == 20_000_000


@pytest.mark.parametrize(
    ("style", "bots", "blocks", "said"),
    [
        ("gauntlet", 3, 5_000_000, "5000000 blocks per table: 20000000 matches"),
        ("league", 5, 10_000_000, "10000000 blocks in all: 20000000 matches"),
        ("swiss", 4, 5_000_000, "5000000 blocks per table and round: 40000000 matches"),
        ("knockout", 4, 5_000_000, "5000000 blocks per table, times best_of: "),
    ],
)
def test_a_dry_run_of_millions_of_matches_says_how_many_at_once_in_every_format(
    dry_run, monkeypatch, style, bots, blocks, said
):
    monkeypatch.setattr("leaderboard.forecast.known_matches", None)
    assert said in dry_run(style, bots, blocks).splitlines()[0]
    assert json.loads(dry_run(style, bots, blocks, "--json"))["total"] >= 20_000_000


def test_a_dry_run_lists_the_matches_only_when_asked(dry_run):
    assert " block " not in dry_run("round-robin", 2, 2)
    assert dry_run("round-robin", 2, 2, "--list").count(" block ") == 4


def test_a_list_without_a_dry_run_is_refused(write_tournament, crosstown):
    write_tournament("cup")
    printed = crosstown("run", "cup.toml", "--list")
    assert (printed.code, "--list is for --dry-run" in printed.err) == (2, True)


def values(crosstown, *words):
    printed = crosstown("run", "cup.toml", "--dry-run", "--json", "--list", *words)
    assert printed.code == 0, printed.err
    return json.loads(printed.out)


@pytest.mark.slow
@pytest.mark.parametrize("style", ["round-robin", "gauntlet", "league", "swiss", "knockout"])
@pytest.mark.parametrize("renamed", [False, True])
def test_a_dry_run_of_a_run_that_has_begun_shows_what_is_left_of_it(make_run, crosstown, tmp_path, style, renamed):
    folder = make_run(played=3, style=style, others=("cyd", "dan"))
    fresh = values(crosstown, "--new")
    assert (fresh["run"], fresh["played"], fresh["out"]) == (None, 0, [])
    if renamed:
        folder.path.rename(tmp_path / "runs" / "old")
    found = values(crosstown)
    assert (found["run"], found["played"]) == ("runs/old" if renamed else "runs/cup", 3)
    assert found["total"] == fresh["total"]
    assert found["matches"][: len(fresh["matches"])] == fresh["matches"]
    out = crosstown("run", "cup.toml", "--dry-run").out
    assert f"3 matches of the run in {found['run']} have been played; " in out


def test_a_dry_run_knows_who_has_left_and_joined_and_what_was_annulled(make_run, crosstown, write_tournament):
    folder = make_run(played=3, others=("cyd", "dan"))
    write_tournament("other", others=("late",))
    fresh = values(crosstown, "--new")
    assert crosstown("withdraw", "cup", "cyd").code == 0
    assert crosstown("add", "cup", "bots/late").code == 0
    first = sorted(path.name.partition(".")[0] for path in folder.matches.glob("*.gz"))[0]
    assert crosstown("annul", "cup", first).code == 0
    found = values(crosstown)
    assert (found["out"], found["played"], found["spreads"]) == (["cyd"], 2, [])
    assert found["total"] == found["least"] == len(found["matches"])
    assert first not in {match["match"] for match in found["matches"]}
    counts = {row["bot"]: row["matches"] for row in found["balance"]}
    assert (counts["cyd"], counts["late"] > 0) == (sum("cyd" in match["seats"] for match in found["matches"]), True)
    out = crosstown("run", "cup.toml", "--dry-run").out
    assert "out of the run: cyd" in out
    assert f"2 matches of the run in runs/cup have been played; {found['total'] - 2} are to be played" in out
    assert values(crosstown, "--new")["matches"] == fresh["matches"]


def test_a_dry_run_does_not_count_matches_of_a_bot_whose_matches_are_all_annulled(make_run, crosstown):
    make_run(played=9, others=("cyd",))
    assert crosstown("withdraw", "cup", "cyd", "--choice", "annul").code == 0
    table = json.loads(crosstown("standings", "cup", "--json").out)
    found = values(crosstown)
    assert (found["played"], found["total"], found["least"]) == (table["played"], table["total"], table["total"])
    assert found["played"] < 9
    assert len(found["matches"]) == found["total"]
    assert not any("cyd" in match["seats"] for match in found["matches"])
    left = found["total"] - found["played"]
    out = crosstown("run", "cup.toml", "--dry-run").out
    assert f"{found['played']} matches of the run in runs/cup have been played; {left} are to be played" in out


def test_a_dry_run_of_a_run_that_was_extended_says_how_many_blocks_it_has_now(make_run, crosstown):
    make_run(blocks=2, played=4)
    assert ", 2 blocks per group: 4 matches" in crosstown("run", "cup.toml", "--dry-run").out
    assert crosstown("extend", "cup", "--blocks", "3").code == 0
    assert ", 5 blocks per group: 10 matches" in crosstown("run", "cup.toml", "--dry-run").out


def test_a_dry_run_knows_the_rule_that_the_file_has_now(make_run, write_tournament, crosstown):
    rule = 'stop_when = "ranking 60 %"'
    folder = make_run(blocks=4, played=8, others=("cyd",), more=rule)
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.control(Control("stopping", 0, by="file", reason="ranking 60 %"))
        journal.control(Control("decided", 8))
    assert values(crosstown)["total"] == 8
    write_tournament("cup", 4, others=("cyd",), more="")
    found = values(crosstown)
    assert (found["least"], found["total"], found["played"]) == (24, 24, 8)
    out = crosstown("run", "cup.toml", "--dry-run").out
    assert "the run in runs/cup will be continued without stop_when" in out
    assert "8 matches of the run in runs/cup have been played; 16 are to be played" in out
    write_tournament("cup", 4, others=("cyd",), more='stop_when = "ranking 90 %"')
    found = values(crosstown)
    assert (found["least"], found["total"]) == (0, 24)
    assert 'continued with stop_when = "ranking 90 %"' in crosstown("run", "cup.toml", "--dry-run").out
    assert "at most 24 matches" in crosstown("run", "cup.toml", "--dry-run", "--new").out
