"""A bot that plays without a sandbox may write where it plays from: what was changed there does not play."""

from pathlib import Path

import pytest

from referee.match.table import Table
from referee.process.build import Yard
from referee.process.build import build as make_build
from referee.record.reasons import EndReason
from tests.referee.match.toy_match import load_two, toy_match

BOT = """
from crosstown_bot import Bot, run
class Mine(Bot):
    def choose(self, turn):
        return 0
run(Mine)
"""
BUILD = 'build = ["sh", "-c", "mkdir bin && cp bot.py bin/"]\n'


@pytest.fixture
def play(tmp_path: Path, monkeypatch):
    """play(change, build) plays a match, changes what the bots play from, and plays another one: both results."""
    monkeypatch.setenv("CROSSTOWN_CACHE", str(tmp_path / "cache"))

    async def make(change, build=""):
        folder = tmp_path / "bot"
        folder.mkdir()
        run = '["{python}", "bin/bot.py"]' if build else '["{python}", "bot.py"]'
        manifest = f'name = "Bot"\nversion = "1"\ngames = ["*"]\nrun = {run}\n{build}[options]\nseat = 0\n'
        (folder / "bot.toml").write_text(manifest)
        (folder / "bot.py").write_text(BOT)
        if build:
            make_build(folder, Yard("plain"))
        entries = load_two(folder)
        results = []
        async with Table({entry.id: entry for entry in entries}) as table:
            for number, name in enumerate(("one", "two")):
                if number:
                    entries[0].home.chmod(0o755)
                    change(entries[0].home / "bin" if build else entries[0].home)
                    for entry in entries:
                        table.forget(entry.id)  # as after its last match, or for the first one of another worker
                results.append(await table.play(toy_match(name, number, entries), tmp_path))
        return results

    return make


def rewrite(folder: Path) -> None:
    (folder / "bot.py").chmod(0o644)
    (folder / "bot.py").write_text(BOT + "# stronger\n")


@pytest.mark.parametrize(("build", "what"), [("", "its copy in the cache"), (BUILD, "its build in the cache")])
async def test_a_copy_that_a_bot_has_changed_plays_no_other_match(play, build, what) -> None:
    first, second = await play(rewrite, build)
    assert first.status == "rated", first
    assert second.reason is EndReason.PLATFORM_FAULT
    assert what in second.detail
    assert "has changed" in second.detail
    assert second.faults == (None, None)


async def test_a_copy_with_compiled_python_that_a_bot_has_laid_beside_its_sources_plays_no_other_match(play) -> None:
    def compile_another(folder: Path) -> None:
        (folder / "__pycache__").mkdir()
        (folder / "__pycache__" / "helper.cpython-311.pyc").write_bytes(b"another program")

    first, second = await play(compile_another)
    assert first.status == "rated", first
    assert second.reason is EndReason.PLATFORM_FAULT
    assert "its copy in the cache" in second.detail


async def test_a_copy_to_which_a_bot_has_added_a_module_plays_no_other_match(play) -> None:
    def add(folder: Path) -> None:
        (folder / "helper").mkdir()
        (folder / "helper" / "__init__.py").write_text("# goes before helper.py")

    first, second = await play(add)
    assert first.status == "rated", first
    assert second.reason is EndReason.PLATFORM_FAULT
    assert "its copy in the cache" in second.detail


@pytest.mark.parametrize("build", ["", BUILD])
async def test_a_bot_that_writes_a_file_beside_its_own_plays_on(play, build) -> None:
    results = await play(lambda folder: (folder / "my.log").write_text("a match"), build)
    assert [result.status for result in results] == ["rated", "rated"]
