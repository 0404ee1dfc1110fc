"""A bot's folder that is too large or too deep: each command that takes a bot says so at once."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BOTS = Path(__file__).resolve().parents[3] / "bots" / "python"


def too_large(folder: Path) -> None:
    with (folder / "huge").open("wb") as file:
        file.truncate(200 << 30)


def too_deep(folder: Path) -> None:
    folder.joinpath(*["d"] * 60).mkdir(parents=True)


SIZES = {"holds more than 4 GiB": too_large, "is more than 40 folders deep in the bot's folder": too_deep}


@pytest.fixture
def bot(tmp_path: Path) -> Callable[[str], Path]:
    """bot("ann") is a folder with a bot of this name, which plays."""

    def make(name: str) -> Path:
        folder = tmp_path / "bots" / name
        shutil.copytree(BOTS / "random", folder, ignore=shutil.ignore_patterns("__pycache__"))
        manifest = folder / "bot.toml"
        manifest.write_text(manifest.read_text().replace('"random"', f'"{name}"', 1))
        return folder

    return make


COMMANDS: dict[str, tuple[str, ...]] = {
    "bots build": ("bots", "build", "bots/new"),
    "bots check": ("bots", "check", "bots/new", "--game", "toy"),
    "compare": ("compare", "bots/new", "bots/other", "--games", "toy", "--cap", "1"),
    "add": ("add", "cup", "bots/new"),
}


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_folder_beyond_the_limits_is_refused_before_it_is_read(
    crosstown: Callable[..., Any], make_run: Callable[..., Any], bot: Callable[[str], Path], words: tuple[str, ...]
) -> None:
    """Nothing hangs and nothing is written; the same folder without what is too much is taken."""
    make_run()
    new = bot("new")
    bot("other")
    if words[:2] == ("bots", "build"):
        build = (
            'run = ["build/bot"]\nbuild = ["sh", "-c", "mkdir build && cp bot.py build/bot && chmod +x build/bot"]\n'
        )
        (new / "bot.toml").write_text(f'name = "new"\nversion = "1"\ngames = ["*"]\n{build}')
    for sentence, spoil in SIZES.items():
        before = sorted(new.iterdir())
        spoil(new)
        refused = crosstown(*words)
        assert refused.code != 0
        assert sentence in " ".join((refused.err + refused.out).split())
        for path in set(new.iterdir()) - set(before):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    taken = crosstown(*words)
    assert taken.code in ((0, 1) if words[0] == "compare" else (0,)), taken.err


def test_a_list_of_bots_names_a_folder_beyond_the_limits_and_shows_the_others(
    crosstown: Callable[..., Any], bot: Callable[[str], Path]
) -> None:
    too_large(bot("large"))
    too_deep(bot("deep"))
    bot("sound")
    listed = crosstown("bots", "list", "bots", "--json")
    found = {Path(row["folder"]).name: row for row in json.loads(listed.out)["bots"]}
    for name, sentence in zip(("large", "deep"), SIZES, strict=True):
        assert sentence in found[name]["problem"]
    assert not found["sound"]["problem"]
