"""`crosstown bots check` of many bots: one table by game, one exit code, whatever is wrong with one of them."""

import asyncio
import json
from pathlib import Path

import pytest

from referee.cli import bot_checks
from referee.compliance import Report, Row
from referee.process.checkup import probe

MANIFEST = 'name = "{name}"\nversion = "1"\ngames = [{games}]\nrun = ["{{python}}", "bot.py"]\n'


@pytest.fixture
def put(tmp_path: Path):
    """put("ann", games=..) leaves students/ann; what its manifest says can be replaced."""

    def write(name: str, games: str = '"toy"', manifest: str | None = None, more: str = "") -> Path:
        folder = tmp_path / "students" / name
        folder.mkdir(parents=True)
        (folder / "bot.toml").write_text(manifest or MANIFEST.format(name=name, games=games) + more)
        (folder / "bot.py").write_text(f"# {name}\n")
        return folder

    return write


@pytest.fixture
def drilled(monkeypatch: pytest.MonkeyPatch):
    """The bots that were checked, by name: (game ids, options), and how many were checked at once. 'bad' fails."""
    seen: dict[str, tuple[list[str], dict]] = {}
    at_once = {"now": 0, "most": 0}

    async def check(entry, games, **_given):
        at_once["now"] += 1
        at_once["most"] = max(at_once["most"], at_once["now"])
        await asyncio.sleep(0.01)
        at_once["now"] -= 1
        seen[entry.name] = [game.id for game in games], dict(entry.options)
        rows = [Row("handshake", "", "passed", "Hello", 0.0)]
        rows += [
            Row("moves", game.id, "failed" if entry.name == "bad" and game.id == "toy" else "passed", "it hung", 0.0)
            for game in games
        ]
        return Report(entry.name, tuple(rows), "", "")

    monkeypatch.setattr(bot_checks, "check_bot", check)
    seen["at once"] = at_once  # type: ignore[assignment]
    return seen


def test_each_bot_has_a_line_for_each_game_and_one_failure_fails_the_command(crosstown, put, drilled):
    put("ann")
    put("bad", games='"toy", "shibuya"')
    put("broken", manifest="not TOML")
    printed = crosstown("bots", "check", "students/ann", "students/bad", "students/broken", "--sandbox", "plain")
    assert printed.code == 1
    lines = [line.split() for line in printed.out.splitlines()]
    assert ["shibuya", "bad", "passed", "2/2"] in lines
    assert ["toy", "ann", "passed", "2/2"] in lines
    assert ["toy", "bad", "FAILED", "1/2", "moves:", "it", "hung"] in lines
    assert any(line[:4] == ["-", "students/broken", "FAILED", "-"] for line in lines)
    assert "1 of 3 bots passed" in printed.out


def test_all_good_bots_give_exit_code_0_and_are_checked_side_by_side(crosstown, put, drilled):
    for name in "abcdef":
        put(name)
    words = [f"students/{name}" for name in "abcdef"]
    printed = crosstown("bots", "check", *words, "--jobs", "3", "--json", "--sandbox", "plain")
    assert printed.code == 0
    found = json.loads(printed.out)
    assert (found["passed"], found["failed"]) == (6, 0)
    assert [bot["bot"] for bot in found["bots"]] == list("abcdef")
    assert drilled["at once"]["most"] == 3


def test_a_game_that_a_bot_does_not_declare_fails_it_alone(crosstown, put, drilled):
    put("ann")
    put("bob", games='"shibuya"')
    printed = crosstown("bots", "check", "students/ann", "students/bob", "--game", "shibuya", "--sandbox", "plain")
    assert printed.code == 1
    assert "does not declare the game 'shibuya'" in printed.out
    assert drilled["bob"][0] == ["shibuya"]


@pytest.mark.parametrize("file", ["cup.toml", "class.csv"])
def test_the_bots_of_a_file_are_checked_with_its_options_and_games(crosstown, put, drilled, tmp_path, file):
    put("ann", games='"toy", "shibuya"', more="[options]\ndepth = 1\n")
    (tmp_path / "class.csv").write_text("path,name,options.depth\nstudents/ann,Ann,4\nstudents/none,,\n")
    (tmp_path / "cup.toml").write_text('game = "shibuya"\nseed = 1\nblocks = 1\nentries = "class.csv"\n')
    printed = crosstown("bots", "check", file, "--sandbox", "plain")
    assert printed.code == 1
    assert drilled["Ann"] == (["shibuya"] if file == "cup.toml" else ["toy", "shibuya"], {"depth": 4})
    assert "students/none" in printed.out


@pytest.mark.parametrize(("option", "limits"), [((), (2, 0.5)), (("--startup-s", "7"), (7, 7))])
def test_a_file_that_gives_less_time_to_start_than_usual_is_checked_so(
    crosstown, put, drilled, tmp_path, monkeypatch, option, limits
):
    """A bot passed with the usual ten seconds, and did not start in the run."""
    given = {}

    async def noted(entry, games, **how):
        given[entry.name] = how["startup_s"]
        return await drilled_check(entry, games, **how)

    drilled_check = bot_checks.check_bot
    monkeypatch.setattr(bot_checks, "check_bot", noted)
    for name in ("ann", "bob"):
        put(name)
    (tmp_path / "cup.toml").write_text(
        'game = "toy"\nseed = 1\nblocks = 1\n[clock]\nstartup_s = 2\n'
        '[[bots]]\npath = "students/ann"\n[[bots]]\npath = "students/bob"\nclock = { startup_s = 0.5 }\n'
    )
    assert crosstown("bots", "check", "cup.toml", *option).code == 0
    assert (given["ann"], given["bob"]) == limits


def test_bots_that_do_not_start_are_told_with_what_to_correct(crosstown, put, tmp_path):
    put("ann")
    put("bob")
    printed = crosstown("bots", "check", "students/ann", "students/bob", "--sandbox", "plain")
    assert printed.code == 1
    assert printed.out.count("handshake: ") == 2
    assert "0 of 2 bots passed" in printed.out


def test_the_bots_of_a_file_are_checked_with_what_it_grants_and_its_time_to_start(
    crosstown, put, drilled, tmp_path, monkeypatch
):
    given = {}
    check = bot_checks.check_bot

    async def noted(entry, games, **how):
        given[entry.name] = how
        return await check(entry, games, **how)

    monkeypatch.setattr(bot_checks, "check_bot", noted)
    for name in ("ann", "bob"):
        put(name)
    (tmp_path / "weights").write_text("1")
    (tmp_path / "cup.toml").write_text(
        'game = "toy"\nseed = 1\nblocks = 1\n[clock]\nstartup_s = 30\n'
        '[[bots]]\npath = "students/ann"\nread = ["weights"]\nenv = ["HOME"]\nsandbox = "plain"\n'
        'clock = { startup_s = 90 }\n[[bots]]\npath = "students/bob"\n'
    )
    assert crosstown("bots", "check", "cup.toml").code == 0
    boxes = {name: how["context"].sandbox for name, how in given.items()}
    assert (boxes["ann"].profile, boxes["ann"].env) == ("plain", ("HOME",))
    assert (boxes["ann"].read, boxes["bob"].read) == ((str(tmp_path / "weights"),), ())
    assert {name: how["startup_s"] for name, how in given.items()} == {"ann": 90, "bob": 30}
    assert crosstown("bots", "check", "cup.toml", "--sandbox", "strict", "--network").code in (0, 3)
    assert "plain" not in {how["context"].sandbox.profile for how in given.values()} or not probe().works
