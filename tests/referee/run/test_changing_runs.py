"""Whatever an organiser does to a run, and whatever happens to its bots: it goes on, or says in a sentence why not."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from leaderboard.completeness import gaps_of
from referee.cli import run_pages
from referee.cli.app import run_command
from referee.errors import PlatformError
from referee.record import read_record
from referee.run.journal import Journal, read_journal
from referee.run.participants import participants_of
from referee.run.run import Run
from referee.tournament import config, joining
from referee.tournament.joining import load_joining
from referee.tournament.remote import invite_all
from tests.referee.run.organiser import Organiser

ROOT = Path(__file__).resolve().parents[3]

STEPS = ("run", "withdraw", "disable", "reinstate", "add", "add with settings", "add remote", "annul", "replay",
         "rejudge", "extend", "kill", "folder gone", "folder back", "new version")  # fmt: skip
Step = tuple[str, int]
STYLES = {
    "round-robin": ("round-robin", 2, ""),
    "mirrors": ("round-robin", 2, "[round-robin]\nmirrors = true\nsame_seeds = true"),
    "swiss": ("swiss", 2, ""),
    "fide": ("swiss", 1, '[swiss]\nrounds = 4\npairing = "fide"\nbyes = [{ round = 2, bots = ["bot1"] }]'),
    "knockout": ("knockout", 2, ""),
    "double": ("knockout", 2, "[knockout]\ndouble = true\nbest_of = 3"),
    "league": ("league", 2, ""),
    "gauntlet": ("gauntlet", 2, ""),
    "stages": ("stages", 2, '[[stages]]\ngroups = 2\nadvance = 1\n[[stages]]\nformat = "knockout"\nbest_of = 3'),
}
"""By name the format, the blocks, and what the tournament file says of the format."""


@pytest.mark.slow
@settings(
    max_examples=settings.default.max_examples // 5,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    bots=st.integers(2, 4),
    style=st.sampled_from([*STYLES]),
    steps=st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 11)), min_size=2, max_size=8),
)
@example(2, "round-robin", [("add", 0), ("run", 0), ("withdraw", 2), ("run", 0)])
@example(2, "round-robin", [("add", 0), ("run", 0), ("folder gone", 2), ("withdraw", 2), ("run", 0)])
@example(3, "round-robin", [("kill", 2), ("folder gone", 1), ("run", 0), ("withdraw", 1), ("run", 0)])
@example(3, "swiss", [("kill", 2), ("withdraw", 1), ("run", 0), ("reinstate", 1), ("kill", 1), ("withdraw", 2)])
@example(2, "round-robin", [("add", 0), ("run", 0), ("extend", 0), ("add", 1), ("kill", 1), ("extend", 2), ("run", 0)])
@example(3, "swiss", [("extend", 1), ("kill", 2), ("extend", 1), ("run", 0)])
@example(2, "league", [("kill", 2), ("extend", 2), ("withdraw", 1), ("run", 0), ("reinstate", 1)])
@example(4, "stages", [("withdraw", 0), ("kill", 2), ("disable", 1), ("run", 0), ("reinstate", 0)])
@example(3, "knockout", [("withdraw", 0), ("run", 0), ("reinstate", 0)])
@example(2, "round-robin", [("add remote", 0), ("run", 0), ("add", 0), ("run", 0), ("withdraw", 2), ("run", 0)])
def test_a_run_that_is_changed_in_any_way_goes_on_or_says_why(organiser, bots, style, steps):
    here = organiser()
    own, blocks, more = STYLES[style]
    here.begin(max(bots, 4 if own == "stages" else 2), own, blocks, more=more)
    for step in steps:
        here.step(*step)
    here.check()


def commands_in(folder: Path) -> Callable[..., tuple[int, str, str]]:
    """Runs commands there as processes of their own: (exit code, stdout, stderr)."""

    def command(*words: object) -> tuple[int, str, str]:
        line = [sys.executable, "-m", "referee.cli.main", *map(str, words)]
        done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        return done.returncode, done.stdout, done.stderr

    return command


@pytest.mark.long
@pytest.mark.parametrize("number", range(12))
def test_a_run_with_real_processes_that_is_changed_in_any_way_goes_on_or_says_why(tmp_path, monkeypatch, number):
    chance = random.Random(number)
    for far in range(2):
        monkeypatch.setenv(f"FAR{far}", f"0123456789abcdef{far}")

    class Real(Organiser):
        def kill(self, number: int) -> None:
            line = [sys.executable, "-m", "referee.cli.main", "run", str(self.file), "--quiet"]
            with subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.DEVNULL) as running:
                time.sleep(0.4 + number / 4)
                running.send_signal(signal.SIGKILL)

    here = Real(tmp_path, commands_in(tmp_path))
    here.begin(chance.choice([2, 3]), chance.choice(["round-robin", "swiss", "league"]), 2, "shibuya",
               ROOT / "bots" / "python" / "random")  # fmt: skip
    real = [step for step in STEPS if step != "add remote"]  # nobody dials in
    for _ in range(8):
        here.step(chance.choice(real), chance.randrange(12))
    here.check()


@pytest.mark.slow
@pytest.mark.parametrize("style", ["round-robin", "swiss"])
def test_a_run_whose_process_was_killed_and_that_was_changed_then_goes_on_or_says_why(tmp_path, monkeypatch, style):
    """SIGKILL between two changes drawn at random: before the first new match, in it, and after it."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests" / "toy_game"))
    killed = []

    class Real(Organiser):
        def kill(self, number: int) -> None:
            wanted = len(self.matches()) + number
            line = [sys.executable, "-m", "referee.cli.main", "run", str(self.file), "--quiet"]
            with subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.DEVNULL) as running:
                while running.poll() is None and len(self.matches()) < wanted:
                    time.sleep(0.01)
                killed.append(running.poll() is None)
                running.send_signal(signal.SIGKILL)

    here = Real(tmp_path, commands_in(tmp_path))
    here.begin(3, style, 1, "toy", ROOT / "bots" / "python" / "random")
    chance = random.Random(style)
    changes = [step for step in STEPS if step not in ("run", "kill", "add remote")]
    for matches in (0, 1, 2):
        here.explained("extend", "cup", "--rounds" if style == "swiss" else "--blocks", 3)
        here.kill(matches)
        here.step(chance.choice(changes), chance.randrange(12))
    assert any(killed)
    here.check()


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


def test_a_run_that_was_moved_with_its_file_is_changed_and_continued_where_it_is_now(organiser):
    here = organiser()
    here.begin(2, "round-robin")
    new = here.there.with_name(f"{here.there.name}-moved")
    here.there.rename(new)
    here.there = new
    try:
        code, out, err = here.command("add", "cup", "--remote", "--name", "Ada", "--token-env", "FAR0")
        assert (code, out) == (0, "'Ada' joins from place 4 on; continue with: crosstown run cup.toml\n"), err
        code, out, err = here.command("withdraw", "cup", "Ada")
        assert out.endswith("continue with: crosstown run cup.toml\n"), err
    finally:
        shutil.rmtree(new)


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


def test_a_new_version_joins_under_the_name_of_the_one_in_the_file_that_has_left(organiser):
    here = organiser()
    here.begin(3, "round-robin")
    here.explained("withdraw", "cup", "bot1")
    (here.folders["bot1"] / "salt.txt").write_text("better")
    code, _, err = here.command("run", here.file)
    assert code == 0
    assert "'bot1' has left this run, and what is in" in err
    assert here.command("add", "cup", "bots/bot1", "--name", "bot1")[0] == 0
    code, _, err = here.command("run", here.file)
    assert (code, "has left this run" in err) == (0, False), err
    assert [bot.out for bot in participants_of(read_journal(here.run.journal)) if bot.name == "bot1"] == [True, False]


def test_a_bot_that_has_left_is_told_how_it_plays_on(organiser):
    here = organiser()
    here.begin(3, "round-robin")
    here.explained("withdraw", "cup", "bot1")
    code, _, err = here.command("add", "cup", "bots/bot1", "--name", "again")
    assert code == 2
    assert "it has left this run" in err
    assert "crosstown reinstate" in " ".join(err.split())
    bot = next(bot for bot in participants_of(read_journal(here.run.journal)) if bot.name == "bot1")
    assert here.command("reinstate", "cup", bot.entry_id)[0] == 0
    assert here.command("run", here.file, "--quiet")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["keep", "annul", "losses"])
def test_a_run_that_was_finished_without_a_bot_is_whole_again_after_it_was_reinstated(organiser, choice):
    here = organiser()
    here.begin(3, "round-robin", blocks=4)
    whole = json.loads(here.command("standings", "cup", "--json")[1])
    shutil.rmtree(here.there / "runs")
    here.kill(3)
    here.explained("withdraw", "cup", "bot1", "--choice", choice)
    here.explained("run", here.file, "--quiet")
    assert len(here.matches()) < whole["played"]
    code, out, err = here.command("reinstate", "cup", "bot1")
    assert code == 0, err
    assert out.startswith("'bot1' plays on as if it had not left at place ")
    now = json.loads(here.command("standings", "cup", "--json")[1])
    assert now["total"] == whole["total"], "what it missed is to be played"
    here.kill(2)
    here.check()
    after = json.loads(here.command("standings", "cup", "--json")[1])
    assert (after["played"], after["total"]) == (whole["played"], whole["total"])
    assert [row["note"] for row in after["standings"] if row.get("note")] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("style", "more"), [("round-robin", ""), ("gauntlet", '[gauntlet]\nchallengers = ["bot0", "bot1"]')]
)
def test_a_bot_that_has_left_loses_no_matches_against_bots_that_joined_later(organiser, style, more):
    here = organiser()
    here.begin(3, style, more=more)
    shutil.rmtree(here.there / "runs")
    here.kill(3)

    def losses():
        rows = json.loads(here.command("standings", "cup", "--json")[1])["standings"]
        return {row["name"]: row["forfeited"] for row in rows}

    here.explained("withdraw", "cup", "bot0", "--choice", "losses")
    before = losses()
    assert before["bot0"] > 0
    here.explained("add", "cup", "bots/late0")
    assert here.explained("run", here.file, "--quiet") == 0
    assert losses() == before | {"late0": 0}
    here.explained("withdraw", "cup", "bot0", "--choice", "annul")
    here.explained("withdraw", "cup", "bot0", "--choice", "losses")
    assert losses() == before | {"late0": 0}, "changing the choice does not make it leave later"


@pytest.mark.slow
@pytest.mark.parametrize("target", ["nowhere", "no bot"])
def test_a_bot_plays_on_as_it_was_when_a_link_lies_in_the_place_of_its_folder(organiser, target):
    here = organiser()
    here.begin(2, "round-robin")
    (here.there / "no bot").mkdir()
    here.explained("annul", "cup", here.matches()[0], "--replay")
    shutil.rmtree(here.folders["bot1"])
    here.folders["bot1"].symlink_to(here.there / target)
    code, _, err = here.command("run", here.file)
    assert code == 0, err
    assert "'bot1' plays on as it was then" in " ".join(err.split())


@pytest.mark.parametrize("leaves", [False, True])
def test_a_bot_plays_on_as_it_was_when_its_link_leads_to_another_version(organiser, leaves):
    here = organiser()
    here.begin(2, "round-robin")
    first, second = here.there / "v1", here.there / "v2"
    here.folders["bot1"].rename(first)
    shutil.copytree(first, second)
    (second / "salt.txt").write_text("better")
    here.folders["bot1"].symlink_to(first)
    assert here.command("run", here.file, "--new", "--quiet")[0] == 0
    match = sorted(path.name.partition(".")[0] for path in (here.there / "runs/cup-2/matches").glob("*.gz"))[0]
    here.explained("annul", "cup-2", match, "--replay")
    here.folders["bot1"].unlink()
    here.folders["bot1"].symlink_to(second)
    if leaves:
        here.explained("withdraw", "cup-2", "bot1")
    code, _, err = here.command("run", here.file)
    assert code == 0, err
    said = " ".join(err.split())
    assert ("'bot1' plays on as it was then" in said, "'bot1' has left this run" in said) == (not leaves, leaves)
    assert leaves or f"{here.folders['bot1']} leads elsewhere since this run began" in said


def test_the_command_that_plays_says_in_json_all_that_it_says_of_its_tables(organiser):
    here = organiser()
    here.begin(4, "swiss", 1, more="[swiss]\nrounds = 1")
    first = json.loads(here.command("run", here.file, "--json")[1])
    assert first["apart"].startswith("Not all bots have met (toy with 2 players: 2 groups)")
    assert (first["placings_notes"], first["caption"]) == ([], "")
    here.explained("withdraw", "cup", "bot0", "--choice", "annul")
    here.explained("annul", "cup", here.matches()[-1])
    then = json.loads(here.command("run", here.file, "--json")[1])
    shown = json.loads(here.command("standings", "cup", "--json")[1])
    assert then["placings_notes"] == shown["placings_notes"] != []
    assert (then["apart"], then["caption"]) == (shown["apart"], shown["caption"])


def test_a_run_that_has_all_its_matches_says_how_many_of_them_are_annulled(organiser):
    here = organiser()
    here.begin(3, "round-robin")
    total = len(here.matches())
    here.explained("withdraw", "cup", "bot1", "--choice", "annul")
    code, _, err = here.command("run", here.file)
    assert code == 0, err
    annulled = total - json.loads(here.command("standings", "cup", "--json")[1])["played"]
    assert annulled > 0
    assert f"all {total} matches were there already ({annulled} annulled)" in " ".join(err.split())


def test_a_bot_whose_name_another_one_has_now_is_not_reinstated(organiser):
    here = organiser()
    here.begin(3, "round-robin")
    here.explained("withdraw", "cup", "bot1")
    here.explained("add", "cup", "bots/late0", "--name", "bot1")
    code, _, err = here.command("reinstate", "cup", "bot1")
    assert code == 2
    assert "another bot plays as 'bot1' now" in err
    code, _, err = here.command("reinstate", "cup", "bot2")
    assert code == 2
    assert "'bot2' is in the run" in err


def test_two_bots_that_have_had_one_name_are_told_apart(organiser):
    here = organiser()
    here.begin(4, "swiss", more="[swiss]\nrounds = 1")
    here.explained("withdraw", "cup", "bot1", "--choice", "losses")
    here.explained("extend", "cup", "--rounds", 1)
    here.explained("add", "cup", "bots/late0", "--name", "bot1")
    assert here.explained("run", here.file, "--quiet") == 0
    first, second = (bot.entry_id[:8] for bot in participants_of(read_journal(here.run.journal)) if bot.name == "bot1")
    pairings = here.command("pairings", "cup", "--all")[1]
    assert f"bot1 ({first})" in pairings.partition("Round 2")[0]
    assert f"bot1 ({second})" in pairings.partition("Round 2")[2]
    assert f"bot1 ({first}): withdrawn: what it misses is lost" in here.command("standings", "cup")[1]


def test_the_anchor_of_a_bot_that_has_left_is_not_that_of_one_that_has_its_name_now(organiser):
    here = organiser()
    here.begin(3, "round-robin", more="[ratings]\nanchor = { bot1 = 1000 }")
    before = Run(here.run).rating_anchors
    here.explained("withdraw", "cup", "bot1")
    here.explained("add", "cup", "bots/late0", "--name", "bot1")
    assert here.explained("run", here.file, "--quiet") == 0
    first, second = (bot.entry_id for bot in participants_of(read_journal(here.run.journal)) if bot.name == "bot1")
    assert first != second
    assert Run(here.run).rating_anchors == before == {first: 1000}


@pytest.mark.parametrize(("style", "more"), [("swiss", "[swiss]\nrounds = 3"), ("knockout", "")])
@pytest.mark.parametrize("how", ["annul", "rejudge"])
def test_no_record_is_foreign_because_an_earlier_match_was_annulled_or_judged_again(organiser, style, more, how):
    here = organiser()
    here.begin(4, style, 1, more=more)
    for match in here.matches()[:2]:
        if how == "annul":
            assert here.explained("annul", "cup", match) == 0
        else:
            ranking = tuple(reversed(read_record(next(here.run.matches.glob(f"{match}.*"))).footer.ranking))
            Run(here.run).rejudge(match, ranking, by="eve")
    assert gaps_of(Run(here.run)).number == 0
    assert here.explained("run", here.file, "--quiet") == 0
    assert gaps_of(Run(here.run)).number == 0


def annul_as_older_versions_did(organiser: Organiser, match: str) -> None:
    """Without a word on who was out then."""
    with Journal(organiser.run.journal, read_journal(organiser.run.journal)) as journal:
        journal.append("annulled", place=int(match[1:7]), match_id=match)
    organiser.run.records.set_aside(organiser.run.records.find(match), "annulled")


@pytest.mark.parametrize("style", ["swiss", "fide"])
@pytest.mark.parametrize("kind", ["withdraw", "disable"])
def test_a_bot_that_leaves_later_changes_no_round_that_followed_an_annulled_match_of_it(organiser, style, kind):
    """The match was a tie when the next round was paired, and became a loss of the bot when it left."""
    here = organiser()
    here.begin(6, "swiss", 1, more=STYLES[style][2] or "[swiss]\nrounds = 3")
    first = here.matches()[:3]
    for match in first:
        assert here.explained("annul", "cup", match) == 0
    assert here.explained("run", here.file, "--quiet") == 0
    before, aside = seatings(here), len(here.run.records.aside_paths())
    taken_out = next(path for name, path in here.run.records.aside_paths().items() if name.startswith(first[0]))
    bot = read_record(taken_out).header.seats[0].name
    assert here.explained("extend", "cup", "--rounds", 1) == 0
    for step in ((kind, "cup", bot), ("reinstate", "cup", bot)):
        assert here.explained(*step) == 0
        assert here.explained("run", here.file, "--quiet") == 0
        assert seatings(here)[: len(before)] == before
        notes = json.loads(here.command("standings", "cup", "--json")[1])["placings_notes"]
        assert "3 matches were annulled: this table counts them as ties" in notes
    gone = [name for name in list(here.run.records.aside_paths())[aside:] if name.endswith("-foreign")]
    assert not [name for name in gone if int(name[1:7]) < len(before) + len(first)], gone
    # As it is since then: a bot that is out when its match is annulled loses it.
    assert here.explained(kind, "cup", bot) == 0
    another = next(match for match in here.matches() if bot in seats_of(here, match))
    assert here.explained("annul", "cup", another) == 0
    notes = json.loads(here.command("standings", "cup", "--json")[1])["placings_notes"]
    assert f"4 matches were annulled: this table counts 3 as ties and 1 as lost for '{bot}', out of the run" in notes


@pytest.mark.parametrize("by", ["an older version", "this one"])
@pytest.mark.parametrize("choice", ["keep", "losses"])
@pytest.mark.parametrize("leaves", ["before the end", "after the end"])
def test_no_record_is_missing_because_a_bot_of_an_annulled_match_has_left_or_is_back(organiser, choice, leaves, by):
    """Where an older version annulled it, such a match is its loss while it is out, and a tie without it: other bots
    would have met in later rounds."""
    here = organiser()
    here.begin(6, "swiss", 1, more="[swiss]\nrounds = 3")
    first = here.matches()[0]
    bot = read_record(next(here.run.matches.glob(f"{first}.*"))).header.seats[0].name
    if by == "this one":
        assert here.explained("annul", "cup", first) == 0
    else:
        annul_as_older_versions_did(here, first)
    assert here.explained("run", here.file, "--quiet") == 0
    steps = [("withdraw", "cup", bot, "--choice", choice), ("reinstate", "cup", bot)]
    if leaves == "before the end":
        assert here.explained("extend", "cup", "--rounds", "1") == 0
        assert here.explained(*steps.pop(0)) == 0
        assert here.explained("run", here.file, "--quiet") == 0
    for step in steps:
        assert here.explained(*step) == 0
        assert gaps_of(Run(here.run)).number == 0
    assert here.explained("run", here.file, "--quiet") == 0
    assert gaps_of(Run(here.run)).number == 0


def test_a_match_that_was_off_without_its_bot_is_not_missing_when_the_bot_is_back(organiser):
    """Matches behind it had been played when the bot left, so its own place is before that of the return."""
    here = organiser()
    here.begin(3, "round-robin", 2)
    first = here.matches()[0]
    bot = read_record(next(here.run.matches.glob(f"{first}.*"))).header.seats[0].name
    assert here.explained("annul", "cup", first, "--replay") == 0
    assert here.explained("withdraw", "cup", bot) == 0
    assert here.explained("run", here.file, "--quiet") == 0
    assert here.explained("reinstate", "cup", bot) == 0
    assert gaps_of(Run(here.run)).number == 0


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


def test_settings_are_read_of_a_run_without_its_file_too(organiser):
    here = organiser()
    here.begin(2, "round-robin")
    here.file.unlink()
    code, _, err = here.command("add", "cup", "bots/late0", "--clock", "move_s=2")
    assert code == 0, err
    code, _, err = here.command("add", "cup", "--remote", "--name", "Ada", "--token-env", "FAR0")
    assert code == 2
    assert "no such file" in err


def lengthen(organiser: Organiser, old: str, new: str) -> None:
    text = organiser.file.read_text()
    assert old in text
    organiser.file.write_text(text.replace(old, new))


@pytest.mark.slow
@pytest.mark.parametrize("by", ["command", "file"])
@pytest.mark.parametrize(
    ("style", "words", "old", "new"),
    [
        ("round-robin", ("--blocks", 3), "blocks = 2", "blocks = 5"),
        ("gauntlet", ("--blocks", 3), "blocks = 2", "blocks = 5"),
        ("league", ("--blocks", 3), "blocks = 2", "blocks = 5"),
    ],
)
def test_a_run_that_is_extended_plays_what_a_longer_one_would_have_played(organiser, by, style, words, old, new):
    """After its end, by the command or by a larger number in the file: bots and seats of each match are the same."""
    longer = organiser()
    longer.begin(4, style, blocks=5)
    whole = seatings(longer)

    here = organiser()
    here.begin(4, style)
    short = seatings(here)
    assert len(short) < len(whole)
    if by == "command":
        assert here.explained("extend", "cup", *words) == 0
    else:
        lengthen(here, old, new)
    assert here.explained("run", here.file, "--quiet") == 0
    assert seatings(here) == whole
    assert whole[: len(short)] == short
    here.check()


@pytest.mark.slow
@pytest.mark.parametrize("by", ["command", "file"])
def test_a_swiss_that_is_extended_keeps_its_rounds_and_plays_more(organiser, by):
    here = organiser()
    here.begin(4, "swiss")
    short = seatings(here)
    if by == "command":
        assert here.explained("extend", "cup", "--rounds", 1) == 0
    else:
        lengthen(here, "[remote]", "[swiss]\nrounds = 3\n[remote]")
    assert here.explained("run", here.file, "--quiet") == 0
    longer = seatings(here)
    assert longer[: len(short)] == short
    assert len({frozenset(names) for names in longer}) == 6, "in three rounds each of four meets each other"
    here.check()


def test_matches_whose_pairing_is_gone_since_a_decision_are_told_of(organiser):
    here = organiser()
    here.begin(6, "swiss", 1, more="[swiss]\nrounds = 3")
    first = here.matches()[0]
    ranking = read_record(next(here.run.matches.glob(f"{first}.*"))).footer.ranking
    Run(here.run).rejudge(first, tuple(reversed(ranking)), by="eve")
    code, out, err = here.command("run", here.file)
    assert code == 0, err
    gone = [name for name in here.run.records.aside_paths() if name.endswith("-foreign")]
    assert len(gone) > 1, "table 1, which was even, has a winner now: others meet in round 2"
    told = " ".join((out + err).split())
    assert f"{len(gone)} earlier matches belong to no pairing any more; their records were set aside in" in told


def seats_of(organiser: Organiser, match: str) -> list[str]:
    return [seat.name for seat in read_record(organiser.run.records.find(match)).header.seats]


def seatings(organiser: Organiser) -> list[tuple[str, ...]]:
    """Per match in schedule order the names of its seats."""
    headers = sorted(
        (read_record(path).header for path in organiser.run.matches.glob("*.gz")), key=lambda header: header.place
    )
    return [tuple(seat.name for seat in header.seats) for header in headers]


@pytest.mark.slow
def test_a_league_that_has_reached_its_precision_goes_on_to_a_finer_one(organiser):
    here = organiser()
    here.begin(3, "league", blocks=400, more="[league]\nprecision = 0.2\n")
    before = len(here.matches())
    assert here.explained("extend", "cup", "--precision", "0.1") == 0
    assert here.explained("run", here.file, "--quiet") == 0
    assert len(here.matches()) > before
    here.check()


@pytest.mark.slow
def test_a_bot_that_joined_late_plays_all_of_what_a_run_is_extended_by(organiser):
    here = organiser()
    here.begin(2, "round-robin")
    assert here.explained("add", "cup", here.there / "bots" / "late0") == 0
    assert here.explained("run", here.file, "--quiet") == 0
    assert here.explained("extend", "cup", "--blocks", 2) == 0
    assert here.explained("run", here.file, "--quiet") == 0
    met: dict[frozenset[str], int] = {}
    for names in seatings(here):
        met[frozenset(names)] = met.get(frozenset(names), 0) + 1
    assert set(met.values()) == {2 * 4}, "two orders of seats, two blocks and two more"
    here.check()


def test_a_file_that_is_shorter_than_the_run_has_become_is_refused(organiser):
    here = organiser()
    here.begin(2, "round-robin", blocks=4)
    lengthen(here, "blocks = 4", "blocks = 6")
    assert here.explained("run", here.file, "--quiet") == 0
    lengthen(here, "blocks = 6", "blocks = 5")
    assert here.explained("run", here.file, "--quiet") == 2
    lengthen(here, "blocks = 5", "blocks = 4")
    assert here.explained("run", here.file, "--quiet") == 0, "the file that the run began with"
    lengthen(here, "blocks = 4", "blocks = 3")
    assert here.explained("run", here.file, "--quiet") == 2


def test_a_file_that_made_a_run_longer_goes_on_after_the_command_made_it_longer_still(organiser):
    here = organiser()
    here.begin(2, "round-robin", blocks=2)
    lengthen(here, "blocks = 2", "blocks = 3")
    assert here.explained("run", here.file, "--quiet") == 0
    assert here.explained("extend", "cup", "--blocks", 3) == 0
    assert here.explained("run", here.file, "--quiet") == 0, "as `extend` said: continue with the same file"
    assert len(here.matches()) == 12, "six blocks"
    lengthen(here, "blocks = 3", "blocks = 4")
    assert here.explained("run", here.file, "--quiet") == 2, "fewer than six"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("style", "words", "what"),
    [
        ("round-robin", ("--rounds", "1"), "cannot be extended by rounds\nnext: give --blocks"),
        ("knockout", ("--blocks", "1"), "cannot be extended by blocks\nnext: start another run: --new"),
        ("swiss", ("--blocks", "1"), "give --rounds"),
        ("league", ("--precision", "0.1"), "cannot be extended by precision\nnext: give --blocks"),
        ("round-robin", (), "give --blocks, --rounds or --precision"),
        ("round-robin", ("--blocks", "10000000"), "10000002 blocks are too many"),
    ],
)
def test_what_cannot_be_extended_is_said(organiser, style, words, what):
    here = organiser()
    here.begin(3, style)
    before = here.run.journal.read_bytes()
    code, _, err = here.command("extend", "cup", *words)
    assert code == 2
    assert what in err
    assert here.run.journal.read_bytes() == before


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


def test_a_dry_run_shows_what_a_longer_file_adds(organiser):
    here = organiser()
    here.begin(2, "round-robin")
    lengthen(here, "blocks = 2", "blocks = 5")
    code, out, _ = here.command("run", here.file, "--dry-run")
    assert code == 0
    assert "will be extended to 5 blocks" in out
    assert "4 matches of the run in runs/cup have been played; 6 are to be played" in " ".join(out.split())


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


def begin_as(organiser: Organiser, place: str, bots: str, seed: int, *words: str) -> tuple[Path, tuple[int, str, str]]:
    """A file cup.toml in the folder `place` of the organiser, with the bots that a pattern finds; and how its run
    went."""
    file = organiser.there / place / "cup.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f'name = "cup"\ngame = "toy"\nseed = {seed}\nblocks = 2\n[[bots]]\npath = "{bots}"\n')
    return file, organiser.command("run", file, "--quiet", *words)


def sizes(organiser: Organiser) -> dict[str, int]:
    return {run.name: (run / "tournament.jsonl").stat().st_size for run in (organiser.there / "runs").iterdir()}


@pytest.fixture
def two_files(organiser) -> tuple[Organiser, Path, Path]:
    """Two tournament files of one name, each with bots and a run of its own: cup and cup-2."""
    here = organiser()
    here.begin(2, "round-robin")
    shutil.rmtree(here.run.path)
    for number, place in enumerate(("one", "other")):
        for bot in ("bot0", "bot1"):
            shutil.copytree(here.there / "bots" / bot, here.there / place / "bots" / bot)
            (here.there / place / "bots" / bot / "salt.txt").write_text(f"{place} {bot}")
        file, (code, _, err) = begin_as(here, place, "bots/*", number, *(["--new"] if number else []))
        assert code == 0, err
    assert {*sizes(here)} == {"cup", "cup-2"}
    return here, here.there / "one" / "cup.toml", file


def test_of_two_files_with_one_name_each_names_its_own_run(two_files):
    here, one, other = two_files
    for file, run in ((one, "cup"), (other, "cup-2"), (one, "cup")):
        before = sizes(here)
        assert here.command("extend", file, "--blocks", "1")[0] == 0
        assert [name for name, size in sizes(here).items() if size != before[name]] == [run]


def test_a_command_about_an_older_run_says_that_its_file_continues_a_newer_one(organiser):
    here = organiser()
    here.begin(2, "round-robin")
    assert here.command("run", here.file, "--quiet")[0] == 0
    assert here.command("run", here.file, "--quiet", "--new")[0] == 0
    for words in (("extend", "cup", "--blocks", "1"), ("annul", "cup", here.matches()[0], "--replay")):
        code, out, err = here.command(*words)
        assert code == 0, err
        newer = "crosstown run cup.toml continues runs/cup-2, a newer run; to continue runs/cup, move the newer one"
        assert f"; {newer} out of runs\n" in out
    assert here.command("extend", "cup-2", "--blocks", "1")[1].endswith("; continue with: crosstown run cup.toml\n")


def test_a_new_run_that_the_machine_stops_is_to_be_continued_without_new(organiser, monkeypatch):
    """The same command, as the error said, began another run, and what had been played was not gone on with."""
    here = organiser()
    here.begin(2, "round-robin")
    play = run_pages.play

    def full(*given, **keys):
        play(*given, **keys)
        raise PlatformError("the disk is full", "free some space, then run the same command again")

    monkeypatch.setattr(run_pages, "play", full)
    told = "next: free some space, then run the same command again"
    code, _, err = here.command("run", here.file, "--quiet", "--new")
    assert (code, err.endswith(f"{told}; but without --new, which would begin another run beside runs/cup-2\n")) == (
        3,
        True,
    ), err
    code, _, err = here.command("run", here.file, "--quiet")
    assert (code, err.endswith(f"{told}\n")) == (3, True), err


def test_a_bot_whose_name_is_the_entry_id_of_another_is_not_taken_for_it(organiser):
    """The bot that came first in the file was withdrawn."""
    here = organiser()
    here.begin(3, "round-robin")
    victim = participants_of(read_journal(here.run.journal))[1]
    here.file.write_text(here.file.read_text().replace('name = "bot0"', f'name = "{victim.entry_id}"'))
    assert here.command("run", here.file, "--quiet", "--new")[0] == 0
    first = participants_of(read_journal(here.run.path.with_name("cup-2") / "tournament.jsonl"))[0]
    code, _, err = here.command("withdraw", "cup-2", victim.entry_id)
    assert code == 2
    assert f"is the entry id of 'bot1', and the name of the bot with the entry id {first.entry_id}" in err
    assert here.command("withdraw", "cup-2", first.entry_id)[0] == 0
    assert here.command("reinstate", "cup-2", first.entry_id)[0] == 0
    assert here.command("withdraw", "cup-2", "bot1")[0] == 0


def test_a_path_that_begins_with_a_dot_is_no_name_of_a_run(organiser):
    """The run of that name was changed, and its matches listed."""
    here = organiser()
    here.begin(2, "round-robin")
    other = here.there / "cup"
    shutil.copytree(here.run.path, other)
    before = here.run.journal.read_bytes()
    assert here.command("extend", "./cup", "--blocks", "1")[0] == 0
    assert here.run.journal.read_bytes() == before
    assert read_journal(other / "tournament.jsonl").length == {"blocks": 3}
    record = min((other / "matches").glob("*.gz"))
    record.unlink()
    gone = record.name.partition(".")[0]
    for option in ((), ("--run",)):
        assert gone not in here.command("matches", "list", *option, "./cup")[1]
        assert gone in here.command("matches", "list", *option, "cup")[1]


@pytest.mark.parametrize("bots", ["as they were", "in the store alone"])
def test_a_file_that_may_mean_several_renamed_runs_is_refused_by_every_command(organiser, bots):
    """`run` refused it, and the others took the last."""
    here = organiser()
    here.begin(2, "round-robin")
    if bots == "in the store alone":
        (here.folders["bot0"] / "salt.txt").write_text("another version")
    shutil.copytree(here.run.path, here.run.path.with_name("copy"))
    here.run.path.rename(here.run.path.with_name("old"))
    before = sizes(here)
    for words in (("extend", here.file, "--blocks", "1"), ("run", here.file, "--quiet")):
        code, _, err = here.command(*words)
        assert (code, "2 folders have a run of 'cup': runs/copy, runs/old" in err) == (2, True), err
    assert sizes(here) == before
    assert here.command("run", here.file, "--quiet", "--new")[0] == 0


def test_a_command_about_a_run_whose_file_is_gone_says_so(organiser):
    here = organiser()
    here.begin(2, "round-robin")
    here.file.unlink()
    code, out, err = here.command("extend", "cup", "--blocks", "1")
    gone = "; continue with: crosstown run cup.toml, with the tournament file, which is not there any more\n"
    assert (code, out.endswith(gone)) == (0, True), (out, err)


def test_of_two_files_with_one_name_each_continues_its_own_run(two_files):
    """A pattern finds the bots of the run that is continued, whichever run was played last."""
    here, one, other = two_files
    for file, run in ((one, "cup"), (other, "cup-2")):
        matches = here.there / "runs" / run / "matches"
        before = len([*matches.glob("*.gz")])
        assert here.command("extend", run, "--blocks", "1")[0] == 0
        code, _, err = here.command("run", file, "--quiet")
        assert (code, len([*matches.glob("*.gz")])) == (0, before + 2), err


def test_a_file_that_is_edited_back_continues_the_run_that_it_began(organiser):
    """In between it began another run, with a bot more that its pattern found."""
    here = organiser()
    here.begin(2, "round-robin")
    shutil.rmtree(here.run.path)
    away = here.there / "away"
    away.mkdir()
    for number in range(3):
        (here.there / "bots" / f"late{number}").rename(away / f"late{number}")
    assert begin_as(here, "one", "../bots/*", 1)[1][0] == 0
    (away / "late0").rename(here.there / "bots" / "late0")
    assert begin_as(here, "one", "../bots/*", 2, "--new")[1][0] == 0
    file, (code, _, err) = begin_as(here, "one", "../bots/*", 1)
    assert (code, {*sizes(here)}) == (0, {"cup", "cup-2"}), err
    before = sizes(here)
    assert here.command("extend", file, "--blocks", "1")[0] == 0
    assert [name for name, size in sizes(here).items() if size != before[name]] == ["cup"]


def test_a_file_names_the_run_of_its_bots_as_they_are_on_disk(organiser):
    """The other run could be continued, too, with the bot that it has in the store."""
    here = organiser()
    here.begin(2, "round-robin")
    salt = here.folders["bot0"] / "salt.txt"
    salt.write_text("another version")
    assert here.command("run", here.file, "--quiet", "--new")[0] == 0
    for text, run in (("another version", "cup-2"), ("bot0", "cup"), ("a third version", "cup-2")):
        salt.write_text(text)
        for words in (("extend", here.file, "--blocks", "1"), ("run", here.file, "--quiet")):
            before = sizes(here)
            code, _, err = here.command(*words)
            assert code == 0, err
            assert [name for name, size in sizes(here).items() if size != before[name]] == [run]


def test_a_run_that_begins_beside_a_renamed_one_has_its_bots_as_they_are_now(organiser):
    """The folder of the run before was renamed, to keep it, and the file changed."""
    here = organiser()
    here.begin(2, "round-robin")
    shutil.rmtree(here.run.path)
    (here.there / "bots" / "late0").rename(here.there / "late0")
    assert begin_as(here, "one", "../bots/*", 1)[1][0] == 0
    here.run.path.rename(here.run.path.with_name("last year"))
    (here.there / "late0").rename(here.there / "bots" / "late0")
    (here.folders["bot0"] / "salt.txt").write_text("another version")
    _, (code, _, err) = begin_as(here, "one", "../bots/*", 2)
    assert code == 0, err
    before, now = (
        {bot.name: bot.entry_id for bot in participants_of(read_journal(run / "tournament.jsonl"))}
        for run in (here.run.path.with_name("last year"), here.run.path)
    )
    assert {*now} == {*before, "late0"}
    assert [name for name in before if before[name] != now[name]] == ["bot0"]
