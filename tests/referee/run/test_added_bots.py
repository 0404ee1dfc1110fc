"""Bots that join a run: with what settings, from where, and which are refused."""

import json
import os
import shutil
from pathlib import Path

import pytest

from referee.cli.app import run_command
from referee.run.journal import Journal, read_journal
from referee.run.participants import participants_of
from referee.run.run import Run
from referee.tournament import config, joining
from referee.tournament.joining import load_joining
from referee.tournament.remote import invite_all
from tests.referee.run.organiser import seats_of


def test_a_bot_is_added_with_all_that_a_file_may_say_of_one(organiser):
    here = organiser()
    here.begin(2, "round-robin")
    data = here.there / "model.bin"
    data.write_text("weights")
    code, _, err = here.command(
        "add", "cup", "bots/late0", "--name", "Late", "--option", "depth=3", "--clock", "move_s=2.5",
        "--limit", "memory_mib=512", "--sandbox", "plain", "--network", "--env", "HOME", "--read", "model.bin",
        "--device", "/dev/null", "--fresh", "--copies", "2",
    )  # fmt: skip
    assert code == 0, err
    assert here.command("run", here.file, "--quiet")[0] == 0
    entries, keys = here.executed[-1]
    (late,) = [entry for entry in entries if entry.name == "Late"]
    assert dict(late.options) == {"depth": 3}
    sandbox = keys["sandboxes"][late.id]
    assert (sandbox.profile, sandbox.network, sandbox.env, sandbox.read) == ("plain", True, ("HOME",), (str(data),))
    assert sandbox.devices == ("/dev/null",)
    processes = keys["processes"]
    assert (processes.fresh, processes.copies) == ({late.id}, {late.id: 2})
    line = next(line for line in read_journal(here.run.journal).events if line.kind == "added")
    assert line.fields["clock"] == {"move_s": 2.5, "memory_mib": 512}
    data.unlink()
    code, _, err = here.command("run", here.file)
    assert code == 2
    assert f"the bot 'Late' that was added was granted {data} to read, which does not exist" in err


def test_a_bot_that_is_added_has_its_own_limit_of_start_up_time_wherever_that_is_shown(organiser):
    here = organiser()
    here.begin(2, "round-robin")
    here.explained("add", "cup", "bots/late0", "--clock", "startup_s=60")
    run = Run(here.run)
    limits = {bot.name: run.startup_limits_s[bot.entry_id] for bot in run.participants}
    assert limits == {"bot0": 10, "bot1": 10, "late0": 60}


def test_a_bot_that_is_added_plays_under_the_clock_it_was_added_with(organiser, fake_executor, monkeypatch):
    here = organiser()
    here.begin(2, "round-robin")
    here.explained("add", "cup", "bots/late0", "--clock", "move_s=2.5")
    clocks = {}

    def order(spec):
        clocks.update({seat.name: dict(seat.clock) for seat in spec.seats})
        return 0

    here.executor_keys["order"] = order
    assert here.explained("run", here.file, "--quiet") == 0
    assert clocks == {"bot0": {}, "bot1": {}, "late0": {"move_s": 2.5}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("bots/late0", "--clock", "movs=2"), "unknown key 'clock.movs'"),
        (("bots/late0", "--clock", "move_s=-1"), "'clock.move_s' must be at least 0.001, not -1"),
        (("bots/late0", "--clock", "move_s"), "--clock 'move_s' is not NAME=VALUE"),
        (("bots/late0", "--limit", "memory_mib=1e99"), "'limits.memory_mib'"),
        (("bots/late0", "--option", "deepness=3"), "it has no option 'deepness'"),
        (("bots/late0", "--option", "depth=x"), "option 'depth' is an integer"),
        (("bots/late0", "--option", f"depth={'9' * 5000}"), "option 'depth' is an integer"),
        (("bots/late0", "--option", f"depth={'[' * 5000}"), "option 'depth' is an integer"),
        (("bots/late0", "--option", "depth=3\nother=4"), "option 'depth' is an integer"),
        (("bots/late0", "--clock", f"move_s={'9' * 5000}"), "'clock.move_s' must be a number"),
        (("bots/late0", "--sandbox", "loose"), "'sandbox' must be strict or plain"),
        (("bots/late0", "--read", "nowhere"), "nowhere does not exist"),
        (("bots/late0", "--env", "A=B"), "'env'"),
        (("bots/late0", "--remote", "--token-env", "FAR0"), "a remote bot has no folder here"),
        (("bots/late0", "--token-env", "FAR0"), "'token_env' is for remote bots"),
        ((), "no bot is named"),
        (("--remote", "--name", "Ada"), "needs its token from one place"),
        (("--remote", "--token-env", "FAR0"), "'name' is missing"),
    ],
)
def test_what_is_wrong_with_a_bot_that_is_to_be_added_is_said_and_nothing_is_written(organiser, words, what):
    here = organiser()
    here.begin(2, "round-robin")
    before = here.run.journal.read_bytes()
    code, _, err = here.command("add", "cup", *words)
    assert code == 2, err
    assert what in err
    assert "bots[1]" not in err
    assert here.run.journal.read_bytes() == before


def test_a_remote_bot_joins_and_is_invited_with_its_token(organiser):
    here = organiser()
    here.begin(2, "round-robin")
    here.explained("add", "cup", "--remote", "--name", "Ada", "--token-env", "FAR0", "--clock", "move_s=3")
    assert here.explained("run", here.file, "--quiet") == 0
    (invited,) = here.executed[-1][1]["guests"].invited.values()
    assert (invited.token, invited.limits.move_s) == ("0123456789abcdef0", 3)
    here.file.write_text(here.file.read_text().replace('[remote]\nlisten = "127.0.0.1:0"\nplain = true', ""))
    here.explained("annul", "cup", here.matches()[0], "--replay")
    code, _, err = here.command("run", here.file)
    assert code == 2
    assert f"the bot 'Ada' that was added is a remote bot, and {here.file} has no [remote] any more" in err


def test_a_bot_joins_a_run_with_a_remote_bot_wherever_the_command_is_given(organiser):
    """The remote bot has no folder; the working directory was taken for it."""
    here = organiser()
    here.begin(2, "round-robin")
    here.explained("add", "cup", "--remote", "--name", "Ada", "--token-env", "FAR0")
    assert here.command("add", "cup", here.there / "bots" / "late0")[0] == 0
    os.chdir(here.there / "bots" / "late1")
    assert run_command(["add", str(here.run.path), ".", "--name", "here"]) == 0


def test_a_run_whose_file_has_a_remote_bot_takes_others_from_the_working_directory(
    make_tournament, play, run_folder, write_bot, monkeypatch
):

    monkeypatch.setenv("ADA_TOKEN", "0123456789abcdef")
    more = '[[bots]]\nremote = true\nname = "Ada"\ntoken_env = "ADA_TOKEN"\n[remote]\nlisten = "127.0.0.1:0"\n'
    tournament = make_tournament(2, more=more)
    play(tournament)
    folder = write_bot("late")
    monkeypatch.chdir(folder)
    run = Run(run_folder)
    run.add(load_joining(run.journal, Path(), None), by="ann")
    text = read_journal(run_folder.journal)
    assert [bot.folder for bot in participants_of(text) if bot.name in ("Ada", "late")] == ["", str(folder)]
    guests = invite_all(joining.with_added(tournament, text), run_folder.path)
    assert [entry.name for entry in guests.entries.values()] == ["Ada"]


def test_the_folder_of_a_remote_bot_in_an_older_journal_is_none(make_tournament, play, run_folder, monkeypatch):
    from referee.run.head import head_file

    monkeypatch.setenv("ADA_TOKEN", "0123456789abcdef")
    more = '[[bots]]\nremote = true\nname = "Ada"\ntoken_env = "ADA_TOKEN"\n[remote]\nlisten = "127.0.0.1:0"\n'
    play(make_tournament(2, more=more))
    created = dict(read_journal(run_folder.journal).created.fields)
    run_folder.journal.unlink()
    head_file(run_folder.journal).unlink()
    with Journal(run_folder.journal, read_journal(run_folder.journal)) as journal:
        journal.append("created", **{**created, "folders": [*created["folders"][:2], "."]})
    assert participants_of(read_journal(run_folder.journal))[2].folder == ""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["withdraw", "disable"])
def test_a_name_is_free_once_its_bot_has_left(organiser, kind):
    here = organiser()
    here.begin(2, "round-robin")
    here.explained("add", "cup", "bots/late0", "--name", "Ada")
    assert here.command("add", "cup", "bots/late1", "--name", "Ada")[0] == 2
    here.explained("run", here.file, "--quiet")
    here.explained(kind, "cup", "Ada")
    code, _, err = here.command("add", "cup", "bots/late1", "--name", "Ada")
    assert code == 0, err
    assert here.explained("run", here.file, "--quiet") == 0
    rows = json.loads(here.command("standings", "cup", "--json")[1])["standings"]
    assert sorted(row["name"] for row in rows) == ["Ada", "Ada", "bot0", "bot1"]
    assert len({row["entry_id"] for row in rows}) == 4
    here.explained(kind, "cup", "Ada")
    out = [bot.out for bot in participants_of(read_journal(here.run.journal)) if bot.name == "Ada"]
    assert out == [True, True], "the name means the one that has it now"
    code, _, err = here.command(kind, "cup", "Ada")
    assert code == 2
    assert "'Ada' is out already" in err


def test_the_journal_of_a_bot_added_by_an_older_version_is_read(make_tournament, play, run_folder, write_bot):
    from referee.process.entry import load_entry
    from referee.run.journal import Journal

    tournament = make_tournament(2)
    play(tournament)
    folder = write_bot("late")
    entry = load_entry(folder)
    with Journal(run_folder.journal, read_journal(run_folder.journal)) as journal:
        fields = {"place": 4, "entry_id": entry.id, "name": "late", "by": "ann", "folder": str(folder), "version": "1"}
        journal.append("added", **fields, options={})
    joined = joining.with_added(tournament, read_journal(run_folder.journal))
    assert (joined.entries[2].id, joined.bots[2].clock, joined.bots[2].remote) == (entry.id, {}, None)
    assert play(joined).summary.complete


def test_a_bot_that_dials_in_does_not_join_a_run_in_which_bots_may_not_ponder(organiser):
    here = organiser()
    here.begin(2, "round-robin")
    shutil.rmtree(here.there / "runs")
    here.file.write_text("ponder = false\n" + here.file.read_text())
    here.explained("run", here.file, "--quiet")
    code, _, err = here.command("add", "cup", "--remote", "--name", "Ada", "--token-env", "FAR0")
    assert code == 2
    assert "this run has ponder = false" in err


def test_a_bot_that_cannot_take_both_seats_of_its_match_against_itself_is_not_added(organiser, monkeypatch):
    """Its match was never played, or a remote bot that was there was disqualified for it."""
    monkeypatch.setenv("ADA_TOKEN", "0123456789abcdef")
    here = organiser()
    here.begin(2, "round-robin", more="[round-robin]\nmirrors = true")
    before = here.run.journal.read_bytes()
    late = here.there / "bots" / "late0"
    for words in ((late, "--copies", 1), ("--remote", "--name", "Ada", "--token-env", "ADA_TOKEN")):
        code, _, err = here.command("add", "cup", *words)
        assert code == 2
        assert "with mirrors a bot takes 2 seats of a match" in err
        assert here.run.journal.read_bytes() == before
    assert here.explained("add", "cup", late, "--copies", 2) == 0
    assert here.explained("run", here.file, "--quiet") == 0
    here.check()


@pytest.mark.parametrize("who", ["a remote bot", "a bot with one copy"])
def test_a_run_with_a_bot_that_cannot_meet_itself_goes_on_without_those_matches(organiser, monkeypatch, who):
    """Older versions began such runs, or let such a bot join. A remote bot was disqualified, and with a bot of one copy
    the run never came to its end."""
    remote = '\n[[bots]]\nremote = true\nname = "Ada"\ntoken_env = "FAR0"' if who == "a remote bot" else ""
    here = organiser()
    with monkeypatch.context() as older:
        for module in (config, joining):
            older.setattr(module, "too_few_copies", lambda *_: None)
        here.begin(2, "round-robin", more=f"[round-robin]\nmirrors = true{remote}")
        if not remote:
            here.explained("add", "cup", here.there / "bots" / "late0", "--name", "Ada", "--copies", 1)
    before = here.matches()
    here.explained("extend", "cup", "--blocks", 2)
    code, _, err = here.command("run", here.file)
    assert code == 0, err
    number = 2 if remote else 4  # who joined later plays its first blocks, too
    assert f"annulled: {number} matches of 'Ada' against itself, as it takes 1 of the 2 seats" in " ".join(err.split())
    new = {match: set(seats_of(here, match)) for match in here.matches() if match not in before}
    assert {"Ada"} not in new.values()
    assert {"bot0"} in new.values()
    assert {"Ada", "bot0"} in new.values()
    assert not any(bot.out for bot in participants_of(read_journal(here.run.journal)))
    here.check()
