"""`crosstown matches verify` of a finished run: nothing can be taken from it, or put into it, unseen."""

import gzip
import json
import os
import shutil
import signal
from dataclasses import replace

import pytest

from leaderboard import completeness
from leaderboard.index import load_index
from referee.games.registry import get_game
from referee.record import Answer, read_record
from referee.record.journal import Control
from referee.record.writer import RecordWriter
from referee.run.journal import Journal, read_journal
from referee.run.run import Run

BOTS = ("cyd", "dan")


def say(folder, kind, **fields):
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append(kind, **fields)


@pytest.fixture
def finished(make_run):
    """finished(style, played) is a run whose journal says that all of it was played."""

    def make(style="round-robin", blocks=2, played=12, **more):
        folder = make_run(style=style, blocks=blocks, played=played, others=BOTS, **more)
        number = len(list(folder.matches.glob("*.gz")))
        say(folder, "finished", rated=number, missing=0)
        return folder

    return make


@pytest.fixture
def gaps(crosstown):
    """What `matches verify` finds wrong with runs as a whole. The made-up records themselves are wrong."""

    def read(*words):
        printed = crosstown("matches", "verify", *words, "--json")
        assert printed.code == 1
        return json.loads(printed.out)["runs"]

    return read


def names(folder):
    return sorted(path.name.partition(".")[0] for path in folder.matches.glob("*.gz"))


@pytest.mark.parametrize("words", [(), ("runs/cup",), ("cup",), ("--run", "runs/cup")])
def test_a_record_that_was_deleted_is_named(finished, crosstown, gaps, words):
    folder = finished(played=24)
    assert gaps(*words) == []
    gone = names(folder)[5]
    (folder.matches / f"{gone}.jsonl.gz").unlink()
    assert gaps(*words) == [{"run": "runs/cup", "missing": [gone], "foreign": [], "unknown": 0, "damaged": []}]
    printed = crosstown("matches", "verify", *words)
    assert f"missing: match {gone} of runs/cup was played, and has no record" in printed.out
    assert printed.code == 1


def test_of_rounds_that_depend_on_what_is_gone_only_the_number_is_known(finished, gaps):
    folder = finished("swiss", played=16)
    first, *_ = names(folder)
    for match_id in (first, names(folder)[9]):
        (folder.matches / f"{match_id}.jsonl.gz").unlink()
    assert gaps() == [{"run": "runs/cup", "missing": [first], "foreign": [], "unknown": 1, "damaged": []}]


def test_a_record_of_another_run_is_named(finished, make_run, gaps):
    folder = finished(played=24)
    other = make_run("other", seed=2, played=1, out="elsewhere")
    strange = names(other)[0]
    shutil.copy(other.matches / f"{strange}.jsonl.gz", folder.matches)
    assert gaps() == [{"run": "runs/cup", "missing": [], "foreign": [strange], "unknown": 0, "damaged": []}]


def test_what_was_never_played_is_not_missing(finished, crosstown, gaps):
    folder = finished(played=23)
    assert len(gaps()[0]["missing"]) == 1
    match_id = gaps()[0]["missing"][0]
    say(folder, "given_up", match=match_id, place=23, reason="platform_fault", detail="")
    assert gaps() == []
    assert crosstown("annul", "cup", names(folder)[0]).code == 0
    assert crosstown("annul", "cup", names(folder)[0], "--replay").code == 0
    assert gaps() == []


@pytest.mark.parametrize(
    "words",
    [
        ("extend", "cup", "--blocks", "9000000"),
        ("reinstate", "cup", "cyd"),
        ("withdraw", "cup", "cyd", "--choice", "annul"),
    ],
)
def test_matches_that_a_finished_run_was_given_are_still_to_be_played(make_run, crosstown, gaps, words):
    """They were called lost: "10 matches were played and have no good record"."""
    folder = make_run(played=6, others=BOTS)
    assert crosstown("withdraw", "cup", "cyd").code == 0
    progress = Run(folder.path).progress(load_index(folder).rows)
    for match_id in [spec.match_id for spec, state in progress if state == "open"]:
        say(folder, "given_up", match=match_id, place=0, reason="platform_fault", detail="")
    say(folder, "finished", rated=6, missing=0)
    assert Run(folder.path).state == "finished"
    assert gaps() == []
    assert crosstown(*words).code == 0
    assert gaps() == []
    told = crosstown("standings", "cup")
    assert "no good record" not in told.out + told.err
    assert not Run(folder.path).finished


def test_no_match_is_missing_that_an_annulment_since_the_end_would_have_led_to(make_run, crosstown, gaps):
    """The winner has left. Without one of its first matches, another bot would have been in the final."""
    folder = make_run(style="knockout", blocks=2, played=99, others=BOTS)
    assert crosstown("withdraw", "cup", "<ann>").code == 0
    say(folder, "finished", rated=len(names(folder)), missing=0)
    rows = [row for row in load_index(folder).rows if "<ann>" in [seat.name for seat in row.seats]]
    for row in rows:
        assert crosstown("annul", "cup", row.match_id).code == 0
        assert gaps() == []
    gone = names(folder)[0]
    (folder.matches / f"{gone}.jsonl.gz").unlink()
    assert [one["missing"] for one in gaps()] == [[gone]]


def test_a_run_that_goes_on_misses_nothing(make_run, gaps):
    make_run(played=2)
    assert gaps() == []


def spoil(path, how):
    """A record that is there, and no good any more."""
    if how == "truncated":
        path.write_bytes(path.read_bytes()[:-20])
    elif how == "changed":
        path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b"crashed", b"normal!")))
    else:
        path.write_bytes(b"rubbish")


@pytest.mark.parametrize("style", ["round-robin", "swiss"])
@pytest.mark.parametrize("how", ["truncated", "changed", "garbage"])
def test_a_damaged_record_is_told_of_once_and_is_not_called_missing(finished, crosstown, how, style):
    folder = finished(style, played=16 if style == "swiss" else 24)
    spoiled = names(folder)[1]  # which crashed
    spoil(folder.matches / f"{spoiled}.jsonl.gz", how)
    printed = crosstown("matches", "verify", "cup")
    assert printed.code == 1
    assert "missing" not in printed.out
    assert sum(spoiled in line for line in printed.out.splitlines()) == 1


@pytest.fixture
def spoiled(finished):
    """A finished run of which one record is deleted and one is garbage."""
    folder = finished(played=24)
    (folder.matches / f"{names(folder)[5]}.jsonl.gz").unlink()
    spoil(folder.matches / f"{names(folder)[7]}.jsonl.gz", "garbage")
    return folder


LOST = "2 matches were played and have no good record: crosstown matches verify runs/cup"


def test_the_table_of_a_finished_run_says_how_many_records_are_lost(spoiled, crosstown):
    printed = crosstown("standings")
    assert (printed.code, printed.out.splitlines()[0]) == (0, LOST)
    assert "22 of 24 matches." in printed.out
    assert "so far" not in printed.out
    assert json.loads(crosstown("standings", "--json").out)["lost"] == 2
    printed = crosstown("standings", "--csv")
    assert printed.out.startswith("rank,")
    assert LOST in printed.err


def test_the_report_of_a_finished_run_says_how_many_records_are_lost(spoiled, crosstown):
    assert crosstown("report").code == 0
    assert LOST in (spoiled.path / "report.html").read_text()


def test_rebuild_of_a_finished_run_fails_where_records_are_lost(spoiled, crosstown):
    printed = crosstown("rebuild")
    assert (printed.code, printed.out.splitlines()[-1]) == (1, LOST)
    assert json.loads(crosstown("rebuild", "--json").out)["lost"] == 2


@pytest.mark.parametrize("words", [("standings",), ("rebuild",), ("report",)])
def test_of_a_whole_run_nothing_is_said_to_be_lost(finished, crosstown, words):
    folder = finished(played=24)
    printed = crosstown(*words)
    assert printed.code == 0
    assert "no good record" not in printed.out
    crosstown("report")
    assert "no good record" not in (folder.path / "report.html").read_text()


def test_single_matches_are_verified_alone(finished, gaps):
    folder = finished(played=23)
    assert gaps(names(folder)[0]) == []


def test_the_list_of_matches_has_the_ranking_that_counts(make_run, crosstown):
    folder = make_run()
    match_id = names(folder)[0]
    before = [seat["rank"] for seat in json.loads(crosstown("matches", "list", "--json").out)[0]["seats"]]
    control = Control("rejudged", 0, match_id=match_id, ranking=tuple(3 - rank for rank in before))
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.control(control)
    row, *others = json.loads(crosstown("matches", "list", "--json").out)
    assert ([seat["rank"] for seat in row["seats"]], row["judged_again"]) == (list(control.ranking), True)
    assert not any(other["judged_again"] for other in others)
    shown = crosstown("matches", "list").out.splitlines()
    assert f"{control.ranking[0]} {control.ranking[1]}*" in shown[1]
    assert shown[-1] == "* as the organiser decided; the record has another ranking"


def test_the_list_of_matches_tells_which_were_set_aside_and_why(make_run, crosstown):
    folder = make_run()
    match_id = names(folder)[0]
    assert crosstown("annul", "cup", match_id).code == 0
    first, *others = json.loads(crosstown("matches", "list", "--void", "--json").out)
    assert first["set_aside"].startswith("annulled")
    assert not any(other["set_aside"] for other in others)
    lines = crosstown("matches", "list", "--void").out.splitlines()
    assert ["set aside: annulled" in line for line in lines[1:]] == [True, False, False, False]


def test_several_processes_find_what_one_finds(finished, crosstown, monkeypatch):
    folder = finished(played=24)
    paths = sorted(folder.matches.glob("*.gz"))
    paths[3].unlink()
    paths[7].write_bytes(paths[8].read_bytes())
    paths[9].write_bytes(paths[9].read_bytes()[:-30])
    alone = crosstown("matches", "verify", "cup", "--all", "--json")
    monkeypatch.setattr(completeness, "WORTH_PROCESSES", 1)
    monkeypatch.setattr(completeness, "_CHUNK", 2)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2})
    beside = crosstown("matches", "verify", "cup", "--all", "--json")
    assert len(json.loads(alone.out)["records"]) == 23
    assert (beside.code, beside.out) == (alone.code, alone.out)


def test_what_a_process_leaves_that_dies_is_verified_all_the_same(finished, crosstown, monkeypatch):
    finished(played=24)
    alone = crosstown("matches", "verify", "cup", "--all", "--json")
    monkeypatch.setattr(completeness, "WORTH_PROCESSES", 1)
    monkeypatch.setattr(completeness, "_CHUNK", 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    ours, check = os.getpid(), completeness.Verification._check

    def die(self, path):
        if os.getpid() != ours and path.name.startswith("m000009"):
            os.kill(os.getpid(), signal.SIGKILL)
        return check(self, path)

    monkeypatch.setattr(completeness.Verification, "_check", die)
    assert crosstown("matches", "verify", "cup", "--all", "--json").out == alone.out


@pytest.mark.parametrize("several", [False, True])
def test_a_record_whose_options_end_the_process_is_wrong_and_the_others_are_verified(
    finished, crosstown, monkeypatch, several
):
    """OpenSpiel ends the process for a board without rows."""
    pytest.importorskip("pyspiel")
    folder = finished(played=6)
    paths = sorted(folder.matches.glob("*.gz"))
    strangers = folder.path.parent.parent / "strangers"
    strangers.mkdir()
    for path in paths:
        shutil.copy(path, strangers / path.name)
    honest = read_record(paths[2])
    game = get_game("openspiel/connect_four")
    (strangers / paths[2].name).unlink()
    header = replace(honest.header, game=game.id, rules_version=game.rules_version, options={"rows": 0})
    writer = RecordWriter(strangers, header)
    writer.answer(Answer(0, "play(id=0)", 1000))
    writer.close(honest.footer)
    if several:
        monkeypatch.setattr(completeness, "WORTH_PROCESSES", 1)
        monkeypatch.setattr(completeness, "_CHUNK", 2)
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    printed = crosstown("matches", "verify", "--run", "strangers", "--all")
    assert printed.code == 1
    assert [path.name for path in paths if path.name not in printed.out] == []
    assert f"{paths[2].name}: wrong: playing it again ended the process (SIG" in printed.out
    assert printed.out.count("ended the process") == 1


def test_where_no_process_can_be_started_this_one_verifies(finished, crosstown, monkeypatch):
    finished(played=24)
    alone = crosstown("matches", "verify", "cup", "--all", "--json")
    monkeypatch.setattr(completeness, "WORTH_PROCESSES", 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    monkeypatch.setattr(os, "fork", lambda: raise_error(BlockingIOError(11, "Resource temporarily unavailable")))
    assert crosstown("matches", "verify", "cup", "--all", "--json").out == alone.out


def raise_error(error):
    raise error


@pytest.fixture
def alarm():
    """What waits for more than a minute ends with an error."""

    def ring(*_):
        raise AssertionError("it waits for what never comes")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    "name",
    [
        *("tournament.jsonl", "tournament.head", "tournament.signature", "tournament.brief", "status.json", "run.lock"),
        *("crosstown.db", "crosstown.db-journal", "matches/packed/2026-01-01.1.pack.gz"),
    ],
)
def test_a_pipe_in_the_place_of_a_file_keeps_no_command_waiting(finished, crosstown, alarm, name):
    folder = finished(played=24)
    path = folder.path / name
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    for words in (("matches", "verify", "cup"), ("matches", "list", "cup"), ("standings", "cup")):
        assert crosstown(*words).code in (0, 1, 2, 3)


@pytest.mark.parametrize("named", ["cup", "runs/cup"])
def test_a_run_that_has_begun_and_has_no_match_yet_is_an_empty_list_and_not_called_missing(make_run, crosstown, named):
    make_run(played=0)
    for words in ((), ("--bot", "<ann>"), ("--void",)):
        printed = crosstown("matches", "list", named, *words)
        assert (printed.code, printed.err) == (0, "")
        assert printed.out.startswith("no match ")
        assert crosstown("matches", "list", named, *words, "--json").out == "[]\n"
    printed = crosstown("matches", "verify", named)
    assert printed.code == 2
    assert printed.err == f"error: no match of {named} has a record yet\nnext: play it: crosstown run FILE\n"
