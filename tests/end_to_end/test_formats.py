"""The example file of each format plays to its end, and again after a kill; every record verifies."""

import json
import random
import time
from pathlib import Path

import pytest

from referee.record import read_record

ROOT = Path(__file__).resolve().parents[2]
FORMATS = ("swiss", "knockout")
SLOW = ("gauntlet", "round_robin", "league", "cup")


def rows():
    return [*FORMATS, *(pytest.param(name, marks=pytest.mark.long) for name in SLOW)]


@pytest.mark.parametrize("name", rows())
def test_the_example_of_a_format_plays_to_its_end(workplace, name):
    ran = workplace.run("run", str(ROOT / "tournaments" / f"{name}.toml"), "--workers", "2", "--json", timeout_s=300)
    assert ran.code == 0, ran.stderr
    values = json.loads(ran.stdout)
    assert values["missing"] == 0
    assert values["played"] == len(workplace.records(name))
    assert all(not row["faults"] for row in values["standings"])
    if name in ("swiss", "knockout", "cup"):
        assert values["placings"][0]["name"] == "walker"
        assert [row["rank"] for row in values["placings"]].count(1) == 1
    verified = workplace.run("matches", "verify")
    assert verified.code == 0, verified.stdout
    shown = json.loads(workplace.run("standings", "--json").stdout)
    assert (shown["placings"], shown["placings_final"]) == (values["placings"], True), "from the records alone"
    again = workplace.run("run", str(ROOT / "tournaments" / f"{name}.toml"), "--json")
    assert json.loads(again.stdout)["placings"] == values["placings"]
    workplace.assert_nobody_left()


@pytest.mark.usefixtures("same_luck")
@pytest.mark.long
@pytest.mark.parametrize("name", [*FORMATS, *SLOW])
def test_the_example_of_a_format_killed_again_and_again_ends_the_same(workplace, name):
    file = str(ROOT / "tournaments" / f"{name}.toml")
    calm = workplace.run("run", file, "--out", "calm", "--json", timeout_s=300)
    assert calm.code == 0, calm.stderr
    chance = random.Random(name)
    for _ in range(5):
        process = workplace.start("run", file, "--workers", "2")
        time.sleep(0.5 + chance.random() * 2)
        if process.poll() is None:
            workplace.kill(process)
    final = workplace.run("run", file, "--json", timeout_s=300)
    assert final.code == 0, final.stderr
    assert json.loads(final.stdout)["placings"] == json.loads(calm.stdout)["placings"]
    names = {path.name for path in workplace.records(name)}
    assert names == {path.name for path in (workplace.folder / "calm" / name / "matches").glob("*.jsonl*")}
    workplace.assert_nobody_left()


def counts(path):
    footer = read_record(path).footer
    return footer is not None and footer.status == "rated"


def test_a_bot_is_withdrawn_from_a_run_that_goes_on_without_it(workplace, write_cup):
    write_cup(bots=3, blocks=30)
    process = workplace.start("run", "cup.toml", "--workers", "2")
    deadline = time.monotonic() + 60
    while len(workplace.records()) < 6 and time.monotonic() < deadline:
        time.sleep(0.02)
    workplace.kill(process)
    workplace.assert_nobody_left()  # a worker that still closes a record would add to what has been played
    refused = workplace.run("withdraw", "cup.toml", "nobody")
    assert refused.code == 2
    assert "its bots are: 'bot 0', 'bot 1', 'bot 2'" in refused.stderr
    out = workplace.run("withdraw", "cup.toml", "bot 1", "--choice", "keep", "--reason", "its author asked")
    assert out.code == 0, out.stderr
    assert out.stdout.startswith("'bot 1' is withdrawn from place ")
    # A worker whose runner is gone closes what it plays as cancelled: that is played again, or cancelled with the bot.
    before = {path.name for path in workplace.records() if path.suffix == ".gz" and counts(path)}
    final = workplace.run("run", "cup.toml", "--json")
    assert final.code == 0, final.stderr
    values = json.loads(final.stdout)
    assert values["cancelled"] > 0
    assert values["missing"] == 0
    assert before <= {path.name for path in workplace.records()}


def test_a_match_is_annulled_and_played_again(workplace, write_cup):
    write_cup(bots=2, blocks=2)
    assert workplace.run("run", "cup.toml").code == 0
    match_id = workplace.records()[1].name.removesuffix(".jsonl.gz")
    annulled = workplace.run("annul", "cup.toml", match_id, "--replay")
    assert annulled.code == 0, annulled.stderr
    assert len(workplace.records()) == 3
    assert workplace.run("run", "cup.toml").code == 0
    assert len(workplace.records()) == 4
