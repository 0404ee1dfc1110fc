"""What an organiser decides while a run goes on: refused with the way there, and possible as soon as it has ended."""

import json
import shutil
import signal

import pytest

from referee.record import read_record


def names(workplace):
    """Of the records that count: a worker whose runner was killed closes what it plays as cancelled."""
    return {path.name for path in workplace.records() if path.suffix == ".gz" and counts(path)}


def counts(path):
    return read_record(path).footer.status == "rated"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_live_run_is_not_decided_about_and_an_ended_one_at_once(workplace, write_cup, number):
    write_cup(bots=3, blocks=300)
    shutil.copytree(workplace.folder / "bots" / "bot2", workplace.folder / "bots" / "late")
    manifest = workplace.folder / "bots" / "late" / "bot.toml"
    manifest.write_text(manifest.read_text().replace('"bot 2"', '"late"', 1))
    process = workplace.start("run", "cup.toml", "--workers", "2")
    workplace.wait_for_records(4, process)
    journal = workplace.folder / "runs" / "cup" / "tournament.jsonl"
    before = journal.read_bytes()
    match_id = min(names(workplace)).partition(".")[0]
    for words in (
        ("withdraw", "cup.toml", "bot 1"),
        ("disable", "cup.toml", "bot 1"),
        ("add", "cup.toml", "bots/late"),
        ("annul", "cup.toml", match_id),
    ):
        refused = workplace.run(*words)
        assert refused.code == 3, refused.stderr
        assert f"this tournament is being run by process {process.pid} on " in refused.stderr
        assert "next: stop it with Ctrl-C there (what was played stays played), enter this command again" in (
            refused.stderr
        )
    assert process.poll() is None
    after = journal.read_bytes()
    assert after.startswith(before)
    assert {json.loads(line)[0] for line in after.splitlines()} <= {"created", "counted"}  # no decision among them
    workplace.kill(process, number)
    # No waiting here: workers of a killed runner may still close their records, and are waited for by the command.
    left = workplace.run("withdraw", "cup.toml", "bot 1")
    assert left.code == 0, left.stderr
    assert left.stdout.rstrip().endswith("continue with: crosstown run cup.toml")
    there = names(workplace)
    assert workplace.run("annul", "cup.toml", match_id).code == 0
    assert workplace.run("disable", "cup.toml", "bot 0").code == 0
    final = workplace.run("run", "cup.toml", "--json")
    assert final.code == 0, final.stderr
    values = json.loads(final.stdout)
    assert (values["played"], values["missing"]) == (0, 0)
    assert {f"{match_id}.jsonl.gz"} == there - names(workplace)
    workplace.assert_nobody_left()
