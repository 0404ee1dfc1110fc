"""Whatever an organiser does to a run, and whatever happens to its bots: it goes on, or says in a sentence why not."""

import json
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
from referee.record import read_record
from referee.run.journal import Journal, read_journal
from referee.run.participants import participants_of
from referee.run.run import Run
from tests.referee.run.organiser import Organiser, seatings, seats_of

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


def test_settings_are_read_of_a_run_without_its_file_too(organiser):
    here = organiser()
    here.begin(2, "round-robin")
    here.file.unlink()
    code, _, err = here.command("add", "cup", "bots/late0", "--clock", "move_s=2")
    assert code == 0, err
    code, _, err = here.command("add", "cup", "--remote", "--name", "Ada", "--token-env", "FAR0")
    assert code == 2
    assert "no such file" in err


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
