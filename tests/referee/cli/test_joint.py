"""One table over several runs, and one over several games."""

import json
import random
import shutil
from csv import DictReader
from dataclasses import replace
from io import StringIO
from itertools import permutations

import httpx
import pytest

from leaderboard.index import load_index
from leaderboard.joint import combined, join, joint_standings
from leaderboard.ratings.official import rate
from leaderboard.run_table import counted_matches, counted_rows, run_table
from leaderboard.web.app import make_app
from leaderboard.web.facts import facts_of
from referee.errors import UsageError
from referee.record import Header
from referee.run.journal import Journal, read_journal
from referee.run.run import Run
from referee.schedule.schedule import known_matches


@pytest.fixture
def runs(make_run, tmp_path):
    """Three runs of "ann" and "bob", and of "cyd" in the second and third, on different seeds."""
    folders = [
        make_run("one", seed=1),
        make_run("two", seed=2, others=["cyd"], played=7, blocks=3),
        make_run("six", seed=6, others=["cyd"], played=12),
    ]
    return [Run(folder) for folder in folders]


def test_all_matches_are_in_one_fit_and_the_order_of_the_runs_changes_nothing(runs):
    tables = [joint_standings(join(order)) for order in permutations(runs)]
    assert all(table == tables[0] for table in tables)
    rows = [row for run in runs for row in counted_matches(run).rows]
    assert sum(row.played for row in tables[0]) == 2 * len(rows)
    skills = rate(random.Random(1).sample(rows, len(rows))).skills
    assert {row.entry_id: (row.mu, row.sigma) for row in tables[0]} == {
        entry: (skill.mu, skill.sigma) for entry, skill in skills.items()
    }
    assert all(row.live_mu is None for row in tables[0])


def test_anchors_and_withdrawals_of_a_run_hold_in_the_joint_table(runs):
    ann, bob = (bot.entry_id for bot in runs[0].participants)
    cyd = runs[1].participants[2].entry_id
    runs[1].leave("withdrawn", "cyd", "annul", by="eve", reason="")
    joint = join(runs, anchors={ann: 1000})
    table = {row.entry_id: row for row in joint_standings(joint)}
    assert table[ann].elo == 1000
    assert table[bob].elo < 1000
    assert "in two: withdrawn" in table[cyd].note
    own = sum(cyd in {seat.entry_id for seat in row.seats} for row in counted_matches(runs[2]).rows)
    assert table[cyd].played == own > 0


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("[options]\nrounds = 6\n", "in toy, 'rounds' is 4 and 6"),
        ("[clock]\nmove_s = 9\n", "in [limits], 'move_s' is 1"),
        ("[faults]\nstrikes = 3\n", "in [faults], 'strikes' is 0 and 3"),
        ("ponder = false\n", "'ponder' is True and False"),
        ("[bot_defaults]\nclock = { move_s = 60 }\n", "for '<ann>', 'move_s' is 1"),
        ("[bot_defaults]\nlimits = { memory_mib = 9000 }\n", "for '<ann>', 'memory_mib' is"),
        ("[bot_defaults]\nfresh = true\n", "for '<ann>', 'fresh' is False and True"),
        ("[bot_defaults]\nnetwork = true\n", "for '<ann>', 'network' is not set and True"),
        ('[bot_defaults]\nread = ["bots/ann"]\n', "for '<ann>', 'read' is not set and ['bots/ann']"),
    ],
)
def test_runs_that_do_not_fit_are_refused_with_the_reason(make_run, more, why):
    one = Run(make_run("one"))
    other = Run(make_run("other", more=more))
    with pytest.raises(UsageError) as caught:
        join([one, other])
    assert why in str(caught.value)
    if "options" in more:
        with pytest.raises(UsageError):
            join([one, other], mixed=True)
    else:
        assert joint_standings(join([one, other], mixed=True))


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"outside": {"/opt/engine": "HERE"}}, "for '<ann>', /opt/engine: a in one, b in other"),
        ({"outside": {"packages of /home/me/venv": "HERE"}}, "for '<ann>', packages of /home/me/venv: a in one, b in"),
        ({"values": {"MODEL": "HERE"}}, "for '<ann>', value of MODEL: a in one, b in other"),
        ({"profile": "HERE"}, "for '<ann>', sandbox: a in one, b in other"),
    ],
)
def test_runs_whose_machines_make_a_bot_another_are_refused_and_told_when_mixed(make_run, crosstown, facts, why):
    on_machines(make_run, facts)
    printed = crosstown("standings", "one", "other")
    assert printed.code == 2
    assert why in printed.err
    mixed = crosstown("standings", "one", "other", "--mixed")
    assert mixed.code == 0
    said = why.removeprefix("for '<ann>', ")
    assert f"changed between these runs: '<ann>': {said}" in mixed.out
    found = json.loads(crosstown("standings", "one", "other", "--mixed", "--json").out)
    assert said in found["machine_changes"][0]


@pytest.mark.parametrize(
    "facts",
    [{"outside": {"/usr/bin/python3.11": "HERE"}}, {"outside": {"packages of Crosstown": "HERE"}}, {"build": "HERE"}],
)
def test_what_the_system_has_updated_between_runs_is_told_and_refuses_nothing(make_run, crosstown, facts):
    on_machines(make_run, facts)
    printed = crosstown("standings", "one", "other")
    assert printed.code == 0, printed.err
    assert "changed between these runs: '<ann>': " in printed.out


def test_runs_that_a_cluster_has_played_are_compared_by_the_headers_of_their_records(make_run, crosstown, monkeypatch):
    """Its journal has no facts of the machines."""
    for seed, name, files in ((1, "one", ("a", "c")), (2, "other", ("b", "b"))):
        outside = iter(files * 9)

        def header_with(outside=outside, **fields):
            header = Header(**fields)
            book = {"/opt/book": next(outside)}
            seats = tuple(replace(seat, outside=book) if seat.name == "<ann>" else seat for seat in header.seats)
            return replace(header, seats=seats)

        monkeypatch.setitem(make_run.__globals__, "Header", header_with)
        make_run(name, seed=seed)
    printed = crosstown("standings", "one", "other")
    assert printed.code == 2
    assert "for '<ann>', /opt/book: a or c in one, b in other" in printed.err
    assert "changed between these runs: '<ann>': /opt/book" in crosstown("standings", "one", "other", "--mixed").out


def test_runs_whose_bots_could_have_other_amounts_of_memory_are_joined_with_a_note(make_run, crosstown):
    for seed, name, most_mib in ((1, "one", 900), (2, "other", 0)):
        folder = make_run(name, seed=seed)
        with Journal(folder.journal, read_journal(folder.journal)) as journal:
            journal.append("machine", machine={}, changes=[], most_memory_mib=most_mib)
    printed = crosstown("standings", "one", "other")
    assert printed.code == 0, printed.err
    assert "changed between these runs: most memory of a bot: 900 MiB in one, as in the file in other" in printed.out


def on_machines(make_run, facts):
    """Two runs, "one" and "other", in which a machine had another fact for the bot "<ann>"."""
    for seed, name, value in ((1, "one", "a"), (2, "other", "b")):
        folder = make_run(name, seed=seed)
        ann = Run(folder).participants[0].entry_id
        text = json.loads(json.dumps(facts).replace("HERE", value))
        with Journal(folder.journal, read_journal(folder.journal)) as journal:
            journal.append("machine", machine={ann: text}, changes=[])


def test_what_a_bot_has_as_all_have_it_is_no_other_condition(make_run):
    one = Run(make_run("one", more="fresh = true\n[clock]\nmove_s = 7\n"))
    more = "[clock]\nmove_s = 7\n[bot_defaults]\nfresh = true\nclock = { move_s = 7 }\n"
    own = Run(make_run("own", seed=2, more=more))
    assert joint_standings(join([one, own]))


def test_an_anchor_by_a_name_that_two_bots_have_is_refused(make_run, tmp_path, crosstown):
    first = Run(make_run("one")).participants[0]
    (tmp_path / "bots" / "ann" / "more.txt").write_text("another version")
    make_run("two", seed=2)
    printed = crosstown("standings", "one", "two", "--anchor", "<ann>=1000")
    assert printed.code == 2
    assert "2 bots of these runs have the name" in printed.err
    assert f"--anchor {first.entry_id}=" in printed.err
    assert crosstown("standings", "one", "two", "--anchor", f"{first.entry_id}=1000").code == 0


def test_a_run_counts_once(make_run, tmp_path):
    one = Run(make_run("one"))
    with pytest.raises(UsageError, match="is named twice"):
        join([one, Run(one.folder)])


@pytest.mark.slow
def test_a_copy_of_a_run_is_refused(played, tmp_path):
    shutil.copytree(played.path, tmp_path / "runs" / "again")
    with pytest.raises(UsageError, match="one is a copy of the other"):
        join([Run(played), Run(tmp_path / "runs" / "again")])


def test_anchors_that_contradict_each_other_are_refused(make_run, runs):
    ann = runs[0].participants[0].entry_id
    for run, value in zip(runs, (1000, 1200, 1000), strict=True):
        run.journal.events[0].fields["ratings"] = {"anchor": {ann: value}}  # as if the file had said so
    with pytest.raises(UsageError, match=r"fixes '<ann>' at 1000, .* at 1200"):
        join(runs)
    assert join(runs, anchors={}).counted.anchors == {}


def test_the_commands_print_one_table_as_text_json_and_csv(crosstown, runs):
    printed = crosstown("standings", "one", "two", "six")
    assert printed.code == 0
    assert "23 matches of 3 runs." in printed.out
    found = json.loads(crosstown("standings", "one", "two", "six", "--json", "--anchor", "cyd=500").out)
    assert len(found["runs"]) == 3
    assert {row["name"]: row["elo"] for row in found["standings"]}["cyd"] == 500
    assert "Anchored: cyd 500 (Elo)" in found["caption"]
    assert crosstown("standings", "one", "two", "--csv").out.count("\n") == 4
    for words in (("one", "two", "--cross"), ("one", "two", "--live"), ("--combined", "--pooled")):
        assert crosstown("standings", *words).code == 2


def test_a_table_over_several_runs_says_which_records_are_lost(crosstown, runs):
    assert json.loads(crosstown("standings", "one", "two", "six", "--json").out)["lost"] == {}
    for run in runs[::2]:
        number = len(list(run.folder.matches.glob("*.gz")))
        with Journal(run.folder.journal, read_journal(run.folder.journal)) as journal:
            journal.append("finished", rated=number, missing=0)
    next(runs[0].folder.matches.glob("*.gz")).unlink()
    sentence = "1 match was played and has no good record: crosstown matches verify "
    for words in ((), ("--combined",)):
        printed = crosstown("standings", "one", "six", *words)
        assert printed.out.count(sentence) == 1
        assert f"{sentence}runs/one" in printed.out
        assert f"{sentence}runs/one" in crosstown("standings", "one", "six", "--csv", *words).err
        assert json.loads(crosstown("standings", "one", "six", "--json", *words).out)["lost"] == {"runs/one": 1}


def test_a_table_over_games_sums_what_each_bot_has_played(crosstown, write_tournament, make_run, runs, tmp_path):
    """Three seats are a table of their own, in which nothing was played yet."""
    three = make_run("three", others=["cyd", "dan"], more="players = 3\n", played=0)
    table = joint_standings(join([*runs, Run(three)]))
    assert {(row.game, row.players) for row in table} == {("toy", 2), ("toy", 3)}
    rows = combined(table)
    rated = {row.entry_id: row for row in table if row.rated}
    assert [row.entry_id for row in rows[:3]] == [row.entry_id for row in table[:3]]
    for row in rows:
        own = [rated[row.entry_id].conservative] if row.entry_id in rated else []
        assert row.total == (pytest.approx(sum(own)) if own else None)
        assert len(row.games) == len(own)
    assert rows[-1].name == "dan"
    printed = crosstown("standings", "one", "two", "three", "--combined")
    assert printed.code == 0, printed.err
    assert "toy, 2 players" in printed.out
    assert "a game without a rated match counts 0" in printed.out
    found = json.loads(crosstown("standings", "one", "two", "three", "--combined", "--json").out)
    assert [row["rank"] for row in found["combined"]] == [1, 2, 3, None]
    csv = crosstown("standings", "one", "two", "--combined", "--csv").out
    assert csv.startswith("rank,name,version,entry_id,total,error,mu of toy with 2")


def test_a_bot_that_no_game_rates_has_no_rank_and_no_sum(crosstown, make_run, runs):
    """It had the rank below the last group, and the sum 0.00, which is above that of bots that are rated."""
    make_run("three", others=["dan"], more="players = 3\n", played=0)
    words = ("standings", "one", "two", "three", "--combined")
    found = json.loads(crosstown(*words, "--json").out)["combined"]
    assert [
        (row["name"], row["rank"], row["total"], row["error"], row["group"]) for row in found if not row["games"]
    ] == [("dan", None, None, None, None)]
    line = next(line for line in DictReader(StringIO(crosstown(*words, "--csv").out)) if line["name"] == "dan")
    assert (line["rank"], line["total"], line["error"]) == ("", "", "")
    shown = next(line.split() for line in crosstown(*words).out.splitlines() if " dan " in line)
    assert shown[0] == "-"
    assert shown[4:6] == ["-", "-"]


def test_a_sum_over_two_games_is_that_of_both(make_run, runs):
    table = joint_standings(join(runs))
    twice = [*table, *(replace(row, game="other") for row in table[:1])]
    found = {row.entry_id: row for row in combined(twice)}
    first = table[0]
    assert found[first.entry_id].total == pytest.approx(2 * first.conservative)
    assert found[first.entry_id].error == pytest.approx(1.959964 * (2 * first.sigma**2) ** 0.5)
    assert found[table[1].entry_id].total == pytest.approx(table[1].conservative)


def test_sums_of_bots_that_have_never_met_are_ranked_apart_in_every_form(crosstown, make_run, runs):
    """Ann and bob meet in one run, and in the other one only matches of cyd and dan count."""
    far = Run(make_run("far", others=["cyd", "dan"], blocks=1, played=12))
    for bot in far.participants[:2]:
        far.leave("withdrawn", bot.entry_id, "annul", by="eve", reason="")
    printed = crosstown("standings", "one", "far", "--combined")
    assert "each group is ranked separately, and the sums of different groups cannot be compared" in printed.out
    found = json.loads(crosstown("standings", "one", "far", "--combined", "--json").out)
    ranks = [(row["group"], row["rank"]) for row in found["combined"]]
    assert [group for group, rank in ranks if rank == 1] == [1, 2]
    assert "the sums of different groups" in found["combined_apart"]
    as_csv = crosstown("standings", "one", "far", "--combined", "--csv")
    assert "the sums of different groups" in as_csv.err
    lines = list(DictReader(StringIO(as_csv.out)))
    assert [(int(line["group"]), int(line["rank"])) for line in lines] == ranks
    assert "Not all bots have met" in crosstown("standings", "one", "far", "--csv").err


def test_a_bot_that_has_met_others_in_another_game_is_in_one_group_with_them(make_run, runs):
    row = joint_standings(join(runs))[0]
    met = [replace(row, entry_id=entry, game=game, group=1) for game, entry in (("x", "a"), ("x", "b"), ("y", "b"))]
    apart = [*met, *(replace(row, entry_id=entry, game="x", group=2) for entry in "cd")]
    assert {one.entry_id: one.group for one in combined(apart)} == {"a": 1, "b": 1, "c": 2, "d": 2}
    joined = [*apart, replace(row, entry_id="d", game="y", group=1)]
    assert {one.group for one in combined(joined)} == {1}


def test_a_bot_that_has_left_loses_no_match_against_itself(make_run):
    run = Run(make_run(played=0, blocks=1, more="[round-robin]\nmirrors = true"))
    name = run.participants[0].name
    run.leave("withdrawn", name, "losses", by="eve", reason="")
    schedule = known_matches(Run(run.folder).schedule_config)
    missed = [spec for spec in schedule if name in (names := {seat.name for seat in spec.seats}) and len(names) > 1]
    _, view = counted_rows(Run(run.folder), [])
    assert len(view.missed) == len(missed) > 0


def test_bots_that_are_equal_in_every_table_share_a_rank_in_the_sum(make_run, runs):
    """What floating-point sums lose differs by bot."""
    row = joint_standings(join(runs))[0]
    one, other = (
        replace(row, entry_id=id_, conservative=row.conservative + lost) for id_, lost in (("a", 0), ("b", 1e-13))
    )
    assert [found.rank for found in combined([one, other])] == [1, 1]


async def test_pages_and_the_interface_show_ratings_relative_to_the_anchors(make_run, tmp_path):
    folder = make_run("cup")
    ann = Run(folder).participants[0].entry_id
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("ratings", anchor={ann: 1000})
    app = make_app(tmp_path / "runs", facts_of)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as web:
        found = (await web.get("/api/v1/runs/cup/standings")).json()
        page = (await web.get("/runs/cup")).text
    rows = {row["entry_id"]: row for row in found["standings"]}
    assert (rows[ann]["elo"], rows[ann]["mu"]) == (1000, 25)
    assert "Anchored: " in page


def test_what_a_bot_misses_is_lost_in_the_table_of_these_matches_alone(make_run):
    folder = make_run("two", played=14, others=["cyd"], more="players = [2, 3]")
    run = Run(folder)
    run.leave("withdrawn", "cyd", "losses", by="eve", reason="")
    run = Run(folder)
    _, view = counted_rows(run, load_index(folder).rows)
    cyd = next(bot.entry_id for bot in run.participants if bot.name == "cyd")
    missed = {players: sum(one.players == players and cyd in one.entries for one in view.missed) for players in (2, 3)}
    assert sum(missed.values()) > max(missed.values()) > 0, "matches of both kinds are missed"
    other = Run(make_run("other", seed=2, others=["cyd"], more="players = [2, 3]"))
    for table, pooled in (
        (run_table(run).rows, False),
        (joint_standings(join([run, other])), False),
        (run_table(run, pooled=True).rows, True),
    ):
        found = {row.players: row for row in table if row.entry_id == cyd}
        expected = {0: sum(missed.values())} if pooled else missed
        assert {players: row.forfeited for players, row in found.items()} == expected
        for row in found.values():
            assert row.lost == row.played - row.won - row.drawn + row.forfeited
