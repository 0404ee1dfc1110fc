"""What an organiser decides while a run is played: the runner does it at once; a kill leaves it done or not done."""

import json
import shutil
import signal
import time

import pytest

from referee.record import read_record
from tests.end_to_end.serving import wait_for


def names(workplace):
    """Of the records that count: a worker whose runner was killed closes what it plays as cancelled."""
    return {path.name for path in workplace.records() if path.suffix == ".gz" and counts(path)}


def counts(path):
    return read_record(path).footer.status == "rated"


def journal_of(workplace):
    """(kind, fields) of its whole lines."""
    text = (workplace.folder / "runs" / "cup" / "tournament.jsonl").read_text()
    return [(line[0], line[2]) for line in map(json.loads, text.splitlines(keepends=False)[: text.count("\n")])]


@pytest.fixture
def late(workplace, write_cup):
    """A run that is going on and has closed a record, and the folder of a bot that may join."""
    write_cup(bots=3, blocks=400)
    shutil.copytree(workplace.folder / "bots" / "bot2", workplace.folder / "bots" / "late")
    manifest = workplace.folder / "bots" / "late" / "bot.toml"
    manifest.write_text(manifest.read_text().replace('"bot 2"', '"late"', 1))
    process = workplace.start("run", "cup.toml", "--workers", "2")
    workplace.wait_for_records(4, process)
    wait_for(lambda: names(workplace), 60)  # so many matches have begun, which need not mean that one has ended
    return process


def test_a_run_that_is_played_takes_every_decision(workplace, late):
    match_id = min(names(workplace)).partition(".")[0]
    assert workplace.run("pause", "cup.toml").stdout.startswith("'cup' begins no match until: crosstown resume")
    assert "the run is paused already" in workplace.run("pause", "cup.toml").stderr
    for words in (
        ("annul", "cup.toml", match_id),
        ("withdraw", "cup.toml", "bot 1"),
        ("extend", "cup.toml", "--blocks", "1"),
        ("add", "cup.toml", "bots/late"),
    ):
        done = workplace.run(*words)
        assert done.code == 0, done.stderr
        assert done.stdout.endswith(
            "does not count\n" if words[0] == "annul" else "the runner at work goes on with this\n"
        )
    refused = workplace.run("withdraw", "cup.toml", "nobody")
    assert (refused.code, "no bot 'nobody' in this run" in refused.stderr) == (2, True)
    there = len(names(workplace))
    assert workplace.run("resume", "cup.toml").stdout == "'cup' goes on\n"
    workplace.wait_for_records(there + 6, late)
    assert late.poll() is None
    workplace.kill(late, signal.SIGINT)
    found = [kind for kind, fields in journal_of(workplace) if "order" in fields and kind != "resumed"]
    assert found == ["held", "annulled", "withdrawn", "extended", "added", "unheld"]
    later = [read_record(path).header.names for path in workplace.records() if path.suffix == ".gz"]
    assert any("late" in seats for seats in later)
    assert f"{match_id}.jsonl.gz" not in names(workplace)
    assert not (workplace.folder / "runs" / "cup" / "orders").exists()
    workplace.assert_nobody_left()


@pytest.mark.parametrize("wait_s", [0.0, 0.4, 0.7])
def test_a_decision_is_made_or_not_when_the_runner_is_killed_while_it_is_given(workplace, late, wait_s):
    giving = workplace.start("withdraw", "cup.toml", "bot 1")
    time.sleep(wait_s)
    workplace.kill(late, signal.SIGKILL)
    out, err = giving.communicate(timeout=60)
    # Whoever gave it has made it in the end, through the runner or without it, and once.
    assert giving.returncode == 0, err
    assert "'bot 1' is withdrawn from place" in out
    assert [kind for kind, _ in journal_of(workplace)].count("withdrawn") == 1
    assert workplace.run("disable", "cup.toml", "bot 0").code == 0
    final = workplace.run("run", "cup.toml", "--json")
    assert final.code == 0, final.stderr
    values = json.loads(final.stdout)
    assert (values["played"], values["missing"]) == (0, 0)
    workplace.assert_nobody_left()
