"""Finding the program of a bot before any match."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.process.entry import load_entry
from referee.process.manifest import ManifestError

WriteBot = Callable[..., Path]


def test_the_word_python_is_the_referees_own_interpreter(write_bot: WriteBot) -> None:
    assert load_entry(write_bot()).argv == (sys.executable, "bot.py")


def test_a_program_is_looked_for_in_path(write_bot: WriteBot) -> None:
    program, *rest = load_entry(write_bot(run=["sh", "-c", "true"])).argv
    assert Path(program).is_absolute()
    assert Path(program).name == "sh"
    assert rest == ["-c", "true"]


@pytest.mark.parametrize("word", ["./sh", "sh", "deep/sh"])
def test_a_program_in_the_bots_folder_comes_first(write_bot: WriteBot, word: str) -> None:
    folder = write_bot({"sh": "#!/bin/sh\n", "deep/sh": "#!/bin/sh\n"}, run=[word])
    (folder / "sh").chmod(0o755)
    (folder / "deep/sh").chmod(0o755)
    assert load_entry(folder).argv == (str(folder / word),)


@pytest.mark.parametrize(
    ("run", "toml", "message"),
    [
        (["no-such-program"], None, "'no-such-program', which is not there (looked in the bot's folder and in PATH)"),
        (["./bot"], None, "'./bot', which is not there (looked in the bot's folder)"),
        (["/no/such/program"], None, "which is not there"),
        (["./plain"], None, "which is not executable; run: chmod +x "),
        (["plain"], None, "which is not executable; run: chmod +x "),
        (["./folder"], None, "which is a folder; name a program"),
        (["./a plain"], None, "/a plain'"),
        (["{pyton}", "bot.py"], None, "'{pyton}', which stands for nothing; write {python} for"),
        (
            ["{python}", "-m", "crosstown_bridge", "perl", "bot.pl"],
            None,
            "starts the bridge without a program; write it after '--', such as",
        ),
        (
            [],
            'name = "B"\nversion = "1"\ngames = ["*"]\nrun = ["./target/bot"]\nbuild = ["cargo", "build"]\n',
            "the bot is not built, or was changed since; build the bot first: crosstown bots build ",
        ),
    ],
)
def test_a_program_that_cannot_run_is_said_before_any_match(
    write_bot: WriteBot, run: list[str], toml: str | None, message: str
) -> None:
    folder = write_bot({"plain": "", "a plain": "", "folder/x": ""}, run=run, toml=toml)
    (folder / "plain").chmod(0o644)
    (folder / "a plain").chmod(0o644)
    with pytest.raises(ManifestError) as error:
        load_entry(folder)
    assert message in str(error.value)
    assert str(error.value).startswith(str(folder / "bot.toml"))


BRIDGE = ["{python}", "-m", "crosstown_bridge", "--text", "--"]


def test_the_program_behind_the_bridge_is_looked_for_as_well(write_bot: WriteBot) -> None:
    with pytest.raises(ManifestError, match="'run' starts 'no-such-program', which is not there"):
        load_entry(write_bot(run=[*BRIDGE, "no-such-program", "x"]))
    argv = load_entry(write_bot(run=[*BRIDGE, "sh", "bot.sh"])).argv
    assert argv[-2:] == ("sh", "bot.sh")
    assert load_entry(write_bot(run=["sh", "--", "no-such-program"])).argv[1:] == ("--", "no-such-program")
