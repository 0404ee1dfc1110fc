"""From a file to a leaderboard, with real workers, bots and records."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from referee.record import verify

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.usefixtures("same_luck")
def test_one_worker_and_four_give_the_same_standings_but_for_times(workplace, write_cup):
    write_cup()
    one = workplace.run("run", "cup.toml", "--workers", "1", "--out", "one")
    assert one.code == 0, one.stderr
    four = workplace.run("run", "cup.toml", "--workers", "4", "--out", "four")
    assert four.code == 0, four.stderr
    table = workplace.standings("--out", "one")
    assert workplace.standings("--out", "four") == table
    assert sum(row["played"] for row in table) == 2 * 24
    workplace.assert_nobody_left()


def test_a_run_leaves_records_that_verify_a_journal_and_a_database(workplace, write_cup):
    write_cup(bots=2, blocks=4)
    outcome = workplace.run("run", "cup.toml")
    assert outcome.code == 0, outcome.stderr
    assert "8 matches in " in outcome.stderr
    lines = outcome.stdout.splitlines()
    assert lines[0].split()[:5] == ["rank", "bot", "version", "entry", "mu"]
    assert sorted(name for name in ("bot 0", "bot 1") if any(name in line for line in lines)) == ["bot 0", "bot 1"]
    records = workplace.records()
    assert len(records) == 8
    assert [verify(path).status for path in records] == ["ok"] * 8
    connection = sqlite3.connect(workplace.folder / "runs" / "cup" / "crosstown.db")
    assert connection.execute("SELECT count(*) FROM matches").fetchone() == (8,)
    assert connection.execute("SELECT sum(played) FROM ratings").fetchone() == (16,)
    connection.close()
    workplace.assert_nobody_left()


def test_the_same_command_again_prints_the_same_table_at_once(workplace, write_cup):
    write_cup(bots=2, blocks=1)
    first = workplace.run("run", "cup.toml")
    again = workplace.run("run", "cup.toml")
    assert again.code == 0
    assert again.stdout == first.stdout
    assert "were there already" in again.stderr


def test_a_folder_with_spaces_and_an_umlaut(workplace, write_cup, tmp_path):
    folder = tmp_path / "Mein Büro (100 %)"
    folder.mkdir()
    write_cup(bots=2, blocks=1, folder=folder)
    outcome = workplace.run("run", "Mein Büro (100 %)/cup.toml", "--out", "Mein Büro (100 %)/läufe")
    assert outcome.code == 0, outcome.stderr
    assert len(list((folder / "läufe" / "cup" / "matches").glob("*.gz"))) == 2


@pytest.mark.usefixtures("same_luck")
def test_kill_9_at_random_moments_and_the_same_command_again(workplace, write_cup):
    write_cup(bots=3, blocks=6)
    assert workplace.run("run", "cup.toml", "--out", "calm").code == 0
    kill_again_and_again(workplace, "cup.toml", 4, random.Random(1))
    final = workplace.run("run", "cup.toml", "--workers", "2")
    assert final.code == 0, final.stderr
    assert_exact(workplace, total=36)
    assert workplace.standings() == workplace.standings("--out", "calm")


@pytest.mark.usefixtures("same_luck")
@pytest.mark.long
def test_kill_9_at_twenty_random_moments_of_the_first_tournament(workplace):
    file = str(ROOT / "tournaments" / "first.toml")
    calm = workplace.run("run", file, "--out", "calm")
    assert calm.code == 0, calm.stderr
    kill_again_and_again(workplace, file, 20, random.Random(2))
    final = workplace.run("run", file)
    assert final.code == 0, final.stderr
    assert_exact(workplace, total=len(workplace.records("../calm/first")), run="first")
    assert workplace.standings() == workplace.standings("--out", "calm")


def kill_again_and_again(workplace, file: str, times: int, chance: random.Random) -> None:
    """Start the command and kill it: anywhere in its start-up, or some moments after it has played a few matches."""
    run = Path(file).stem
    for number in range(times):
        process = workplace.start("run", file, "--workers", "2")
        if number % 4:
            workplace.wait_for_records(len(workplace.records(run)) + chance.randrange(1, 8), process, run)
            time.sleep(chance.random() * 0.3)
        else:
            time.sleep(chance.random() * 1.5)
        workplace.kill(process)
        workplace.assert_nobody_left()


def assert_exact(workplace, total: int, run: str = "cup") -> None:
    """Every scheduled match once, every record sound."""
    records = workplace.records(run)
    assert len(records) == total
    assert [path.name[1:7] for path in records] == [f"{place:06d}" for place in range(total)]
    assert [str(verdict) for path in records if (verdict := verify(path)).status != "ok"] == []


def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(workplace, write_cup):
    write_cup(bots=2, blocks=200)
    process = workplace.start("run", "cup.toml", "--workers", "2")
    workplace.wait_for_records(4, process)
    outcome = workplace.kill(process, signal.SIGINT)
    assert outcome.code == 130
    assert "to continue: crosstown run cup.toml" in outcome.stderr
    assert "Traceback" not in outcome.stderr
    workplace.assert_nobody_left()
    assert all(path.suffix == ".gz" for path in workplace.records())
    journal = (workplace.folder / "runs" / "cup" / "tournament.jsonl").read_text().splitlines()
    kinds = [json.loads(line)[0] for line in journal]
    assert (kinds[0], kinds[-1]) == ("created", "stopped")
    assert set(kinds[1:-1]) <= {"counted"}, "as many digests as were due before the stop"


def test_a_killed_worker_costs_nothing_but_time(workplace, write_cup):
    write_cup(bots=2, blocks=20)
    process = workplace.start("run", "cup.toml", "--workers", "2")
    workplace.wait_for_records(5, process)
    workers = [pid for pid, command in workplace.processes().items() if "referee.tournament.worker" in command]
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    assert_exact(workplace, total=40)
    workplace.assert_nobody_left()


def test_a_second_runner_is_refused_and_the_first_is_not_disturbed(workplace, write_cup):
    write_cup(bots=2, blocks=1000)
    first = workplace.start("run", "cup.toml")
    workplace.wait_for_records(1, first)
    second = workplace.run("run", "cup.toml")
    assert second.code == 3
    assert f"is being run by process {first.pid} on " in second.stderr
    assert "next: " in second.stderr
    workplace.wait_for_records(len(workplace.records()) + 2, first)
    assert workplace.kill(first, signal.SIGINT).code == 130


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_reader_that_leaves_stops_nothing_and_leaves_nobody(workplace, write_cup, stream):
    write_cup(bots=2, blocks=3)
    reading, writing = os.pipe()
    process = workplace.start("run", "cup.toml", **{stream: writing})
    os.close(writing)
    os.close(reading)
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert_exact(workplace, total=6)
    workplace.assert_nobody_left()


def test_standings_can_be_read_while_the_run_goes_on(workplace, write_cup):
    write_cup(bots=2, blocks=100)
    process = workplace.start("run", "cup.toml")
    workplace.wait_for_records(3, process)
    outcome = workplace.run("standings")
    workplace.kill(process, signal.SIGINT)
    assert outcome.code == 0, outcome.stderr
    assert "of 200 matches so far" in outcome.stdout


def test_a_full_disk_ends_the_run_with_a_sentence_and_loses_nothing(workplace, write_cup, tmp_path):
    write_cup(bots=2, blocks=50)
    disk = tmp_path / "small disk"
    disk.mkdir()
    # A file system of 300 kB that only this run sees, and that ends with it.
    view = ["unshare", "--mount", "--map-root-user"]
    if subprocess.run([*view, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("this system does not let a process mount a file system of its own")
    script = 'mount -t tmpfs -o size=300k none "$1"; shift; "$@"; code=$?; cp -r "$0/cup" saved; exit $code'
    outcome = workplace.run(
        "run",
        "cup.toml",
        "--out",
        "small disk",
        prefix=[*view, "sh", "-c", script, "small disk", "small disk"],
    )
    assert outcome.code == 3, outcome.stderr
    assert "No space left on device" in outcome.stderr
    assert "next: free some space" in outcome.stderr
    assert "Traceback" not in outcome.stderr
    workplace.assert_nobody_left()
    saved = sorted((tmp_path / "saved" / "matches").glob("*.jsonl*"))
    counted = [path for path in saved if verify(path).status == "ok"]
    assert len(counted) > 10
    (tmp_path / "runs").mkdir()
    (tmp_path / "saved").rename(tmp_path / "runs" / "cup")
    resumed = workplace.run("run", "cup.toml")
    assert resumed.code == 0, resumed.stderr
    assert f"going on: {len(counted)} of 100 matches are there" in resumed.stderr
    assert_exact(workplace, total=100)


def test_a_socket_path_that_is_too_long_is_not_taken(workplace, write_cup, tmp_path):
    write_cup(bots=2, blocks=1)
    long = tmp_path / ("x" * 100)
    long.mkdir()
    workplace.environment["TMPDIR"] = str(long)
    outcome = workplace.run("run", "cup.toml")
    assert outcome.code == 0, outcome.stderr
    assert list(long.iterdir()) == []


def test_a_bot_changed_between_two_runs_of_the_command_is_noticed(workplace, write_cup):
    write_cup(bots=2, blocks=1)
    assert workplace.run("run", "cup.toml").code == 0
    with (workplace.folder / "bots" / "bot1" / "bot.py").open("a") as file:
        file.write("# better\n")
    outcome = workplace.run("run", "cup.toml")
    assert outcome.code == 0
    said = " ".join(outcome.stderr.split())
    assert (
        "bot1 has changed since this run began; 'bot 1' plays on as it was then; to play what is there now: --new"
        in said
    )
    beside = workplace.run("run", "cup.toml", "--new")
    assert beside.code == 0
    assert len(workplace.records("cup-2")) == 2
    assert len(workplace.records("cup")) == 2


def test_a_bot_that_never_starts_ends_in_a_summary_and_code_1(workplace, write_cup):
    write_cup(bots=2, blocks=1)
    (workplace.folder / "bots" / "bot1" / "bot.py").write_text("raise SystemExit('no licence')\n")
    outcome = workplace.run("run", "cup.toml", "--workers", "1")
    assert outcome.code == 1
    assert "start_failed" in outcome.stderr or "did not start" in outcome.stderr
    assert "2 matches cancelled" in outcome.stderr
    assert "'bot 1' was disqualified for its faults" in outcome.stderr
    assert "Traceback" not in outcome.stderr
    workplace.assert_nobody_left()


def test_the_pipe_does_not_cut_long_names(workplace, write_cup):
    path = write_cup(bots=2, blocks=1)
    name = "Ein sehr langer Name mit vielen Buchstaben, genau vierundsechzig"
    path.write_text(path.read_text() + f'name = "{name}"\n')
    outcome = workplace.run("run", "cup.toml")
    assert outcome.code == 0, outcome.stderr
    assert name in outcome.stdout


def test_output_as_json(workplace, write_cup):
    write_cup(bots=2, blocks=1)
    outcome = workplace.run("run", "cup.toml", "--json")
    assert outcome.code == 0
    values = json.loads(outcome.stdout)
    assert (values["total"], values["played"], values["missing"], values["stopped"]) == (2, 2, 0, False)
    assert len(values["standings"]) == 2
    assert not [line for line in outcome.stderr.splitlines() if "WITHOUT A SANDBOX" not in line]


def test_a_dry_run_plays_nothing(workplace, write_cup):
    write_cup(bots=3, blocks=2)
    outcome = workplace.run("run", "cup.toml", "--dry-run", "--list")
    assert outcome.code == 0
    assert outcome.stdout.splitlines()[0] == "cup: toy, round-robin of 3 bots, 2 seats, 2 blocks per group: 12 matches"
    assert len([line for line in outcome.stdout.splitlines() if " block " in line and "m0000" in line]) == 12
    assert not (workplace.folder / "runs").exists()


def test_start_up_is_quick(workplace):
    """Listing versions must not load grpc, the database or the ratings."""
    code = "import sys; from referee.cli.app import run_command; run_command(['--version']); print(sorted(sys.modules))"
    listed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for heavy in ("'grpc'", "'sqlite_utils'", "'trueskill'", "'google.protobuf'"):
        assert heavy not in listed


def test_the_first_tournament_needs_only_a_copy_of_two_folders(workplace, tmp_path):
    place = tmp_path / "Kopie für mich"
    for name in ("tournaments", "bots"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    here = workplace.run("run", str(ROOT / "tournaments" / "first.toml"), "--dry-run", "--list")
    there = workplace.run("run", str(place / "tournaments" / "first.toml"), "--dry-run", "--list")
    assert there.code == 0, there.stderr
    assert there.stdout == here.stdout
    assert "walker - random" in there.stdout


@pytest.mark.long
def test_the_first_tournament_is_quick_and_its_winner_is_clear(workplace, tmp_path):
    began_s = time.monotonic()
    outcome = workplace.run("run", str(ROOT / "tournaments" / "first.toml"))
    assert outcome.code == 0, outcome.stderr
    assert time.monotonic() - began_s < 30
    first, second = workplace.standings()
    assert (first["name"], second["name"]) == ("walker", "random")
    assert first["mu"] - 3 * first["sigma"] > second["mu"] + 3 * second["sigma"]
    assert first["faults"] == second["faults"] == {}
    assert_exact(workplace, total=first["played"], run="first")
