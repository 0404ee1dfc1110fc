"""`crosstown standings`: finds the run, prints the table, never changes anything."""

import csv
import io
import json
import os
import shutil

import pytest

from leaderboard import run_table
from leaderboard.ratings import official
from leaderboard.ratings.registry import MODELS
from leaderboard.ratings.skill import Skill
from leaderboard.records import read_match
from leaderboard.run_table import kept_live
from leaderboard.store import Store, read_rows, read_snapshot
from referee.record import read_record
from referee.record.journal import Control
from referee.run.head import head_file
from referee.run.journal import Journal, identity_of, read_journal
from referee.run.lock import RunLock
from referee.schedule.progress import ScheduleProgress
from referee.tournament.entrants import load_tournament
from referee.tournament.identity import describe


def test_the_table_for_people(make_run, crosstown):
    make_run()
    printed = crosstown("standings")
    assert printed.code == 0, printed.err
    head, first, second, caption = printed.out.splitlines()
    assert " ".join(head.split()) == (
        "rank bot version entry mu +- mu-3sigma > next Elo live mu played won drawn lost mean ms worst ms lag ms faults"
    )
    assert first.split()[:2] == ["1", "<ann>"]
    assert " 4 3 0 1 " in " ".join(first.split())
    assert first.endswith("crashed 1")
    assert second.split()[:2] == ["2", "[b]bob"]
    assert second.endswith("-")
    assert caption.startswith("Ranked by mu - 3 sigma.")
    assert "so far" not in caption


def test_the_live_table_has_its_own_order_and_says_that_it_is_provisional(make_run, crosstown):
    make_run()
    printed = crosstown("standings", "--live")
    assert "provisional" in printed.out
    assert "Elo" not in printed.out


def test_bots_without_a_match_are_marked_unrated_rat15(make_run, crosstown):
    make_run(played=0)
    rows = crosstown("standings").out.splitlines()[1:3]
    assert all("unrated" in row for row in rows)


def test_rebuild_makes_the_database_anew_from_the_records(make_run, crosstown):
    folder = make_run()
    folder.database.write_bytes(b"rubbish" * 1000)
    before = crosstown("standings", "--json").out
    printed = crosstown("rebuild", "--json")
    assert printed.code == 0, printed.err
    assert json.loads(printed.out)["matches"] == 4
    assert len(read_rows(folder.database)) == 4
    assert crosstown("standings", "--json").out == before
    assert not list(folder.path.glob(".crosstown.db*"))


def test_rebuild_does_not_get_in_a_runners_way(make_run, crosstown):
    folder = make_run()
    with RunLock(folder.lock):
        printed = crosstown("rebuild")
    assert printed.code == 3
    assert str(os.getpid()) in printed.err


def test_official_ratings_that_did_not_come_to_rest_are_told_everywhere(make_run, crosstown, monkeypatch):
    make_run()
    assert json.loads(crosstown("standings", "--json").out)["settled"] is True
    monkeypatch.setattr(official, "MAX_SWEEPS", 1)
    assert "did not come to rest" in crosstown("standings").out
    assert "did not come to rest" not in crosstown("standings", "--live").out
    assert json.loads(crosstown("standings", "--json").out)["settled"] is False
    rows = list(csv.DictReader(io.StringIO(crosstown("standings", "--csv").out)))
    assert [row["settled"] for row in rows] == ["False", "False"]


def test_no_name_of_a_bot_is_a_formula_in_csv_and_the_table_seeds(make_run, crosstown, write_tournament, tmp_path):
    others = ("=1+1", "dan")
    make_run(style="swiss", others=others, more="[swiss]\nrounds = 2")
    for command in ("standings", "pairings"):
        printed = crosstown(command, "--csv").out
        cells = {cell for row in csv.reader(io.StringIO(printed)) for cell in row}
        assert "'=1+1" in cells
        assert "=1+1" not in cells
    (tmp_path / "seeds.csv").write_text(crosstown("standings", "--csv").out)
    more = '[knockout]\nseeding = "seeds.csv"'
    second = load_tournament(write_tournament("next", style="knockout", others=others, more=more))
    assert "=1+1" in describe(second)["settings"]["seeding"]


def test_an_unfinished_run_says_so(make_run, crosstown):
    make_run(played=3)
    assert "3 of 4 matches so far" in crosstown("standings").out


def test_a_run_without_a_match_has_a_table_too(make_run, crosstown):
    make_run(played=0)
    printed = crosstown("standings", "--json")
    assert [(row["name"], row["played"], row["mean_move_ms"]) for row in json.loads(printed.out)["standings"]] == [
        ("<ann>", 0, None),
        ("[b]bob", 0, None),
    ]


def test_json_and_csv_have_the_same_numbers_in_full(make_run, crosstown):
    make_run()
    values = json.loads(crosstown("standings", "--json").out)
    assert (values["tournament"], values["game"], values["played"], values["total"]) == ("cup", "toy", 4, 4)
    rows = list(csv.DictReader(io.StringIO(crosstown("standings", "--csv").out)))
    assert [float(row["mu"]) for row in rows] == [row["mu"] for row in values["standings"]]
    assert [row["faults"] for row in rows] == ["crashed=1", ""]
    assert values["standings"][0]["faults"] == {"crashed": 1}
    assert values["standings"][0]["conservative"] == pytest.approx(
        values["standings"][0]["mu"] - 3 * values["standings"][0]["sigma"]
    )
    assert set(rows[0]) == set(values["standings"][0])


def test_a_run_is_found_by_file_folder_or_name_and_the_most_recent_by_default(make_run, crosstown, tmp_path):
    make_run("old")
    recent = make_run("recent", blocks=3, played=1)
    past = 1_000_000_000
    os.utime(tmp_path / "runs" / "old" / "tournament.jsonl", (past, past))

    def found(*words):
        return json.loads(crosstown("standings", "--json", *words).out)["tournament"]

    assert found() == "recent"
    assert [found(word) for word in ("old", "old.toml", "runs/old", str(recent.path))] == [
        "old",
        "old",
        "old",
        "recent",
    ]


def test_a_name_is_a_runs_whatever_else_is_called_so_in_the_working_directory(make_run, crosstown, tmp_path):
    make_run("cup")
    make_run("cup", blocks=3, played=1, out=".")
    make_run("alone", played=2, out=".")

    def played(*words):
        printed = crosstown("standings", "--json", *words)
        listed = crosstown("matches", "list", "--run", words[0], "--json")
        assert len(json.loads(listed.out)) == json.loads(printed.out)["played"]
        return json.loads(printed.out)["played"]

    assert played("cup") == played("runs/cup") == 4
    assert played(str(tmp_path / "cup")) == 1
    assert played("alone") == 2


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside_another_folder_of_that_name"])
def test_a_run_whose_folder_was_renamed_is_found_by_name_and_file(make_run, crosstown, tmp_path, beside):
    make_run("cup").path.rename(tmp_path / "runs" / "last week")
    if beside:
        (tmp_path / "cup").mkdir()
    for word in ("cup", "cup.toml", "last week"):
        assert json.loads(crosstown("standings", "--json", word).out)["tournament"] == "cup"
        verified = crosstown("matches", "verify", word)
        assert "runs/last week: " in verified.out, verified.err


def test_nothing_is_written(make_run, crosstown, tmp_path):
    folder = make_run()
    before = sorted(folder.path.rglob("*"))
    crosstown("standings")
    assert sorted(folder.path.rglob("*")) == before


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ((), "no run under runs"),
        (("cup",), "no run of cup under runs"),
        (("cup", "--out", "elsewhere"), "no run of cup under elsewhere"),
        (("cup.toml",), "cup.toml: no such file"),
    ],
)
def test_a_run_that_is_not_there(crosstown, words, what):
    printed = crosstown("standings", *words)
    assert printed.code == 2
    assert printed.err.splitlines()[0] == f"error: {what}"
    assert printed.err.splitlines()[1].startswith("next: ")
    assert printed.out == ""


@pytest.mark.parametrize("command", ["standings", "report", "rebuild", "sign"])
def test_matches_of_no_tournament_are_no_run_that_lost_its_journal(crosstown, tmp_path, command):
    record = tmp_path / "runs" / "single" / "matches" / "toy-20260101-000000-0000.jsonl.gz"
    record.parent.mkdir(parents=True)
    record.touch()
    printed = crosstown(command)
    assert printed.code == 2
    assert printed.err.startswith("error: no run under runs\nnext: start one")


def test_a_tournament_is_not_called_as_the_folder_of_single_matches(crosstown, write_tournament):
    write_tournament("single")
    printed = crosstown("run", "single.toml")
    assert printed.code == 2
    assert "runs/single is the folder of the matches that 'crosstown match' plays" in printed.err
    assert "give the tournament another name" in printed.err


@pytest.mark.parametrize(
    "words",
    [
        *(("standings", run) for run in ("cup", "cup.toml", "runs/cup")),
        ("standings",),
        ("rebuild", "cup"),
        ("report", "cup"),
        ("withdraw", "cup", "[b]bob"),
        ("annul", "cup", "m000001"),
    ],
)
def test_of_a_run_whose_journal_is_gone_every_command_says_so(make_run, crosstown, words):
    make_run().journal.unlink()
    printed = crosstown(*words)
    assert (printed.code, printed.out) == (3, "")
    assert printed.err.splitlines() == [
        "error: runs/cup has match records but no journal",
        "next: restore tournament.jsonl from a copy, or start a new run beside this one with --new",
    ]


def test_two_formats_at_once_are_refused(make_run, crosstown):
    make_run()
    assert crosstown("standings", "--json", "--csv").code == 2


def test_a_damaged_older_run_does_not_stand_in_the_way_of_the_most_recent(crosstown, make_run):
    old, new = make_run("old"), make_run("new")
    old.journal.write_text("rubbish\n")
    os.utime(old.journal, (1, 1))
    printed = crosstown("standings", "--json")
    assert printed.code == 0, printed.err
    assert json.loads(printed.out)["run"] == f"runs/{new.path.name}"
    os.utime(new.journal, (0, 0))
    assert "journal is damaged" in crosstown("standings").err


def test_the_report_is_one_page_beside_the_records(make_run, crosstown, tmp_path):
    folder = make_run()
    printed = crosstown("report")
    assert printed.code == 0, printed.err
    page = (folder.path / "report.html").read_text()
    assert "&lt;ann&gt;" in page
    assert "<ann>" not in page
    name = sorted(folder.matches.glob("*.gz"))[0].name
    assert f'href="matches/{name}"' in page
    printed = crosstown("report", "--html", "elsewhere/page.html", "--json")
    assert json.loads(printed.out) == {"report": "elsewhere/page.html", "matches": 4}
    assert f'href="../runs/cup/matches/{name}"' in (tmp_path / "elsewhere" / "page.html").read_text()


def test_the_report_of_a_run_that_is_not_finished_does_not_tell_its_seed(make_run, crosstown):
    folder = make_run(seed=987_654_321)
    assert crosstown("report").code == 0
    page = (folder.path / "report.html").read_text()
    assert "987654321" not in page
    assert "revealed when the run is finished" in page
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("finished", rated=4, missing=0)
    assert crosstown("report").code == 0
    assert "987654321" in (folder.path / "report.html").read_text()
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("resumed")
    assert crosstown("report").code == 0
    assert "987654321" not in (folder.path / "report.html").read_text()


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (("cup", "--html"), "runs/cup/report.html"),
        (("--html", "cup"), "runs/cup/report.html"),
        (("--html",), "runs/cup/report.html"),
        (("cup", "--html", "page.html"), "page.html"),
        (("cup", "page"), "page"),
        (("--html", "page.HTM"), "page.HTM"),
    ],
)
def test_html_takes_a_file_or_none_in_any_order(make_run, crosstown, tmp_path, words, place):
    make_run()
    printed = crosstown("report", *words)
    assert (printed.code, printed.out) == (0, f"{place}\n"), printed.err
    assert (tmp_path / place).read_text().startswith("<!doctype html>")


def test_a_report_that_cannot_be_written_is_an_error_in_words(make_run, crosstown, tmp_path):
    make_run()
    (tmp_path / "page.html").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for target, why in (("page.html", "a folder"), ("pipe", "not an ordinary file")):
        printed = crosstown("report", "cup", "--html", target)
        assert printed.code == 2
        assert f"cannot write {target}: it is {why}" in printed.err
    assert (tmp_path / "pipe").is_fifo()


def test_who_leaves_with_losses_loses_what_it_misses_and_the_table_says_so(make_run, crosstown, tmp_path):
    folder = make_run(blocks=3, played=3)
    created = read_journal(folder.journal).created
    folder.journal.unlink()
    head_file(folder.journal).unlink()  # which is of the journal that was there
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("created", **created.fields, file=str(tmp_path / "cup.toml"))
    assert crosstown("withdraw", "cup", "[b]bob", "--choice", "losses").code == 0
    rows = {row["name"]: row for row in json.loads(crosstown("standings", "--json").out)["standings"]}
    assert (rows["[b]bob"]["played"], rows["[b]bob"]["forfeited"], rows["[b]bob"]["lost"]) == (3, 3, 5)
    assert rows["<ann>"]["forfeited"] == 0
    printed = crosstown("standings").out
    assert "[b]bob: withdrawn: what it misses is lost" in printed
    assert "scored as lost, and not rated" in printed
    (tmp_path / "cup.toml").unlink()
    rows = {row["name"]: row for row in json.loads(crosstown("standings", "--json").out)["standings"]}
    assert rows["[b]bob"]["forfeited"] == 3, "the journal is enough"


def test_a_table_that_was_kept_is_not_shown_of_a_schedule_that_is_longer_since(make_run, crosstown):
    folder = make_run(blocks=3, played=3)
    assert crosstown("withdraw", "cup", "[b]bob", "--choice", "losses").code == 0

    def missed():
        return sum(row["forfeited"] for row in json.loads(crosstown("standings", "--json").out)["standings"])

    assert missed() == 3
    assert crosstown("rebuild").code == 0  # which keeps the table
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("extended", blocks=5)
    assert missed() > 3, "computed anew, with the matches of the longer schedule"


def test_an_annulled_match_is_not_missed(make_run, crosstown):
    folder = make_run(blocks=3, played=4)
    match_id = sorted(folder.matches.glob("*.gz"))[1].name.partition(".")[0]
    assert crosstown("annul", "cup", match_id).code == 0
    assert crosstown("withdraw", "cup", "[b]bob", "--choice", "losses").code == 0
    rows = {row["name"]: row for row in json.loads(crosstown("standings", "--json").out)["standings"]}
    assert (rows["[b]bob"]["played"], rows["[b]bob"]["forfeited"]) == (3, 2)


@pytest.mark.parametrize(("choice", "walks"), [("keep", 0), ("annul", 0), ("losses", 1)])
def test_the_schedule_is_walked_only_where_somebody_loses_what_it_misses(
    make_run, crosstown, monkeypatch, choice, walks
):
    made = []

    begin = ScheduleProgress.__init__

    def counted(progress, *words, **more):
        made.append(words)
        begin(progress, *words, **more)

    make_run(blocks=3, played=3)
    assert crosstown("withdraw", "cup", "[b]bob", "--choice", choice).code == 0
    monkeypatch.setattr(ScheduleProgress, "__init__", counted)
    assert crosstown("standings").code == 0
    assert len(made) == walks
    assert crosstown("rebuild").code == 0  # which keeps the table
    made.clear()
    assert crosstown("standings").code == 0
    assert made == []


def test_a_match_judged_again_counts_with_its_new_ranking(make_run, crosstown):
    folder = make_run()
    record = sorted(folder.matches.glob("*.gz"))[0]
    before = {row["name"]: row["won"] for row in json.loads(crosstown("standings", "--json").out)["standings"]}
    with RunLock(folder.lock):
        text = read_journal(folder.journal)
        with Journal(folder.journal, text) as journal:
            ranks = [seat.rank for seat in read_match(record).row.seats]
            turned = tuple(3 - rank for rank in ranks)
            journal.control(Control("rejudged", 0, match_id=record.name.partition(".")[0], ranking=turned))
    after = json.loads(crosstown("standings", "--json").out)
    won = {row["name"]: row["won"] for row in after["standings"]}
    assert won == {"<ann>": before["<ann>"] - 1, "[b]bob": before["[b]bob"] + 1}
    assert "1 match was judged again." in after["caption"]


@pytest.mark.parametrize("named", ["cup.toml", "runs/cup-2", "cup-2"])
@pytest.mark.parametrize("command", [("standings",), ("matches", "list", "--run"), ("matches", "verify")])
def test_every_command_about_a_run_takes_its_file_its_folder_and_its_name(make_run, crosstown, command, named):
    shutil.move(make_run("cup").path, "runs/cup-2")
    make_run("other", seed=2)
    printed = crosstown(*command, named, "--json")
    found = json.loads(printed.out)
    if command == ("standings",):
        assert (found["run"], found["played"]) == ("runs/cup-2", 4)
    else:
        records = found if command[1] == "list" else found["records"]  # made up: each is found to be wrong
        assert [row["path"].split("/")[:2] for row in records] == [["runs", "cup-2"]] * 4


def test_an_unrated_row_has_no_made_up_number_in_csv_or_json(make_run, crosstown):
    make_run(others=("cyd",), played=2)
    rows = list(csv.DictReader(io.StringIO(crosstown("standings", "cup", "--csv").out)))
    assert [row["rated"] for row in rows] == ["True", "True", "False"]
    assert {rows[2][name] for name in ("rank", "mu", "sigma", "conservative", "low", "high", "elo")} == {""}
    assert all(float(row["mu"]) for row in rows[:2])
    shown = json.loads(crosstown("standings", "cup", "--json").out)["standings"]
    assert [row["rated"] for row in shown] == [True, True, False]
    assert (shown[2]["rank"], shown[2]["mu"], shown[2]["sigma"]) == (None, None, None)


def test_bots_that_never_met_are_told_apart_in_every_output(make_run, crosstown):
    """The first match of each of two pairs: nothing says which pair is the stronger."""
    folder = make_run(others=("cyd", "dan"), played=4, blocks=1)
    ids = sorted(path.name.partition(".")[0] for path in folder.matches.glob("*.gz"))
    names = [{seat.name for seat in read_record(folder.matches / f"{ids[at]}.jsonl.gz").header.seats} for at in (0, 2)]
    assert names[0].isdisjoint(names[1])
    sentence = "Not all bots have met (toy with 2 players: 2 groups): each group is ranked separately"
    text = crosstown("standings", "cup").out
    assert "group 1, which has not met the others\n" in text
    assert "group 2, which has not met the others\n" in text
    assert sentence in text
    shown = json.loads(crosstown("standings", "cup", "--json").out)
    assert shown["apart"].startswith(sentence)
    assert [(row["group"], row["rank"]) for row in shown["standings"]] == [(1, 1), (1, 2), (2, 1), (2, 1)]
    printed = crosstown("standings", "cup", "--csv")
    assert [row["group"] for row in csv.DictReader(io.StringIO(printed.out))] == ["1", "1", "2", "2"]
    assert printed.err.startswith(sentence)
    assert crosstown("report", "cup").code == 0
    page = (folder.path / "report.html").read_text()
    assert sentence in page
    assert "<th>group</th>" in page


def test_a_finished_run_whose_bot_was_annulled_is_complete(make_run, crosstown):
    folder = make_run(others=("cyd",), played=12)
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("finished", rated=12, missing=0)
    assert crosstown("withdraw", "cup", "cyd", "--choice", "annul").code == 0
    printed = crosstown("standings", "cup")
    assert " of " not in printed.out.split("annulled")[0].rpartition("cross-check.")[2], printed.out
    shown = json.loads(crosstown("standings", "cup", "--json").out)
    assert (shown["played"], shown["total"]) == (4, 4)


def test_a_model_that_is_added_to_the_registry_is_in_every_output(make_run, crosstown, monkeypatch):
    monkeypatch.setitem(MODELS, "share", lambda matches, _anchors: {matches[0].seats[0].entry_id: Skill(0.75, 0.5)})
    make_run()
    head, *_ = crosstown("standings").out.splitlines()
    assert " live mu share played " in " ".join(head.split())
    rows = list(csv.DictReader(io.StringIO(crosstown("standings", "--csv").out)))
    assert sorted(row["more"] for row in rows) == ["", "share=0.75+-0.5"]
    shown = json.loads(crosstown("standings", "--json").out)["standings"]
    assert {"share": {"mu": 0.75, "sigma": 0.5}} in [row["more"] for row in shown]


def test_while_a_runner_is_at_work_the_live_table_is_kept_and_nothing_else(make_run, crosstown, monkeypatch):
    folder = make_run()
    crosstown("rebuild")
    monkeypatch.setattr(run_table, "WORTH_KEEPING_S", -1.0)
    with Store(folder.database) as store:
        store.keep_snapshot("standings", "", "")
        store.keep_snapshot("live", "", "")
    with RunLock(folder.lock):
        crosstown("standings")
    assert {pool: table.applied for pool, table in kept_live(folder.database, identity_of(folder.journal)).items()} == {
        ("toy", 2): 4
    }
    assert read_snapshot(folder.database, "standings", "") == ""


@pytest.mark.parametrize(
    ("word", "what"),
    [
        ("<ann>=1e300", "the rating must be a number from -100000 to 100000, not 1e+300"),
        ("<ann>=-100001", "the rating must be a number from -100000 to 100000, not -100001.0"),
        ("<ann>=nan", "the rating must be a number from -100000 to 100000, not nan"),
        ("<ann>", "is not BOT=ELO"),
        ("=5", "is not BOT=ELO"),
        ("<ann>=high", "is not BOT=ELO"),
    ],
)
def test_of_an_anchor_it_is_said_what_is_wrong_with_it(make_run, crosstown, word, what):
    make_run()
    printed = crosstown("standings", "cup", "--anchor", word)
    assert printed.code == 2
    assert f"--anchor '{word}'" in printed.err
    assert what in printed.err
