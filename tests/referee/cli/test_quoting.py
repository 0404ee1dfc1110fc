"""A command that a message tells to run can be copied into a shell, whatever a folder or a bot is called."""

import re
import shlex
from pathlib import Path

import pytest

from leaderboard.export.film import NoBoardError
from referee.cli import match_actions as export
from referee.cli.errors import explain
from referee.process.entry import EntryError, ManifestError, load_entry
from referee.record import read_record

ROOT = Path(__file__).resolve().parents[3]
COMMAND = re.compile(r"(?:crosstown [a-z]+|fuser|chmod|openssl rand)\b[^\"{\n]*\{([^}]*)\}")
SAFE = {"game.id", "shown", "OPENSPIEL"}
"""Ids of games have neither spaces nor quotes; `shown` was made by shlex a line above; the last is a constant."""
FOLDERS = ("a bot", "it's a bot", "$HOME; ls")


def test_every_command_in_a_message_quotes_what_is_put_into_it():
    put_in = {
        expression
        for package in ("referee", "leaderboard")
        for path in (ROOT / package).rglob("*.py")
        for expression in COMMAND.findall(path.read_text(encoding="utf-8"))
    }
    assert {expression for expression in put_in if not expression.startswith("shlex.")} == SAFE
    assert len(put_in) > len(SAFE) + 3


@pytest.mark.parametrize("name", FOLDERS)
def test_a_bot_that_is_not_built(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    (folder / "bot.toml").write_text('name = "B"\nversion = "1"\ngames = ["*"]\nrun = ["./b"]\nbuild = ["make"]\n')
    with pytest.raises((ManifestError, EntryError)) as error:
        load_entry(folder)
    words = shlex.split(error.value.sentence.partition("build the bot first: ")[2])
    assert words == ["crosstown", "bots", "build", str(folder.resolve())]


@pytest.mark.parametrize("name", FOLDERS)
def test_a_record_without_a_board(tmp_path, make_run, monkeypatch, name):
    def no_board(record, *_):
        raise NoBoardError("no board", record)

    monkeypatch.setattr(export, "film", no_board)
    folder = tmp_path / name
    folder.mkdir()
    source = next(make_run().matches.iterdir())
    path = folder / source.name
    path.write_bytes(source.read_bytes())
    with pytest.raises(NoBoardError) as error:
        export.export_match(read_record(path), tmp_path / "match.svg", wanted="svg")
    words = shlex.split(explain(error.value).next_step.removeprefix("see: "))
    assert words == ["crosstown", "matches", "show", str(path)]
