"""`crosstown bots`: begin, build, list and check, as a bot author uses them."""

import errno
import json
import os
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from referee.cli.app import run_command
from referee.cli.bot_pages import KITS, kit_folder
from referee.process.manifest import ManifestError, parse_manifest
from referee.process.trees import remove_tree
from referee.run.folder import RunFolder
from referee.run.journal import Journal, read_journal
from referee.schedule.config import digest
from referee.tournament.entrants import load_tournament
from referee.tournament.identity import describe

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "docs" / "bot.schema.json").read_text())

Say = Callable[..., tuple[int, str, str]]


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Say:
    """Runs a command line in a folder of its own: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CROSSTOWN_CACHE", str(tmp_path / ".cache"))

    def said(*words: str) -> tuple[int, str, str]:
        code = run_command(words)
        out, err = capsys.readouterr()
        return code, out, err

    return said


@pytest.mark.parametrize("language", sorted(KITS))
def test_a_kit_becomes_a_bot_with_the_authors_name_and_all_it_needs(say: Say, tmp_path: Path, language: str) -> None:
    code, out, _ = say("bots", "new", "--lang", language, "my bot")
    assert code == 0
    manifest = tomllib.loads((tmp_path / "my bot" / "bot.toml").read_text())
    assert manifest["name"] == "my bot"
    assert ("crosstown docs language_models" if language == "llm" else "crosstown bots check 'my bot'") in out
    assert ("crosstown bots build 'my bot'" in out) == ("build" in manifest)
    assert (tmp_path / "my bot" / "proto" / "crosstown" / "v1" / "referee.proto").is_file() == ("build" in manifest)


def test_a_kit_brings_nothing_that_a_build_made(say: Say, tmp_path: Path) -> None:
    say("bots", "new", "--lang", "c", "one")
    assert {path.name for path in (tmp_path / "one").iterdir()} == {"bot.toml", "bot.c", "proto"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--lang", "ruste", "x"], "did you mean rust?"),
        (["--lang", "cobol", "x"], "take one of: python, go"),
        (["--lang", "c", "n" * 65], "choose a shorter one"),
        (["--lang", "c", "a/b c/d"], "give them separately: crosstown bots new d --lang c --in 'a/b c'"),
        (["--lang", "c", "a/.."], "choose a name without '/'"),
        (["--lang", "c", ".."], "choose a name without '/'"),
        (["--lang", "c", " x"], "space"),
        (["--lang", "c", "a\x1b[31m"], "name"),
        (["--lang", "c", "taken"], "exists already"),
    ],
)
def test_what_cannot_be_begun_is_refused_with_a_next_step(
    say: Say, tmp_path: Path, words: list[str], sentence: str
) -> None:
    (tmp_path / "taken").mkdir()
    code, _, err = say("bots", "new", *words)
    assert code == 2
    assert sentence in err
    assert "Traceback" not in err
    assert not list((tmp_path / "taken").iterdir())


def test_a_bot_that_a_full_disk_does_not_take_is_no_fault_of_ours(
    say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("shutil.copyfile", full)
    code, _, err = say("bots", "new", "--lang", "c", "one")
    assert code == 3
    assert "cannot write one: No space left on device" in err
    assert "next: see whether" in err
    assert not (tmp_path / "one").exists()


@pytest.mark.slow
def test_a_bot_of_a_kit_is_built_listed_and_checked(say: Say) -> None:
    say("bots", "new", "--lang", "c", "my bot")
    code, out, _ = say("bots", "list", ".")
    assert code == 0
    assert "not built" in out
    code, out, _ = say("bots", "build", "my bot")
    assert code == 0
    assert "built in" in out
    code, out, _ = say("bots", "build", "my bot")
    assert "built before" in out
    code, out, _ = say("bots", "list", ".", "--json")
    (bot,) = json.loads(out)["bots"]
    assert bot["state"] == "built"
    assert len(bot["entry"]) == 16
    code, out, _ = say("bots", "check", "my bot", "--game", "toy", "--fail-fast")
    assert code == 0, out
    assert "ok   matches toy" in out
    assert re.search(r"^passed: \d+ drills$", out, re.MULTILINE)


def test_a_failed_build_shows_the_end_of_its_log_and_where_it_is(say: Say, tmp_path: Path) -> None:
    say("bots", "new", "--lang", "c", "mine")
    (tmp_path / "mine" / "bot.c").write_text("int main(void) { return no_such_thing; }\n")
    code, out, _ = say("bots", "build", "mine")
    assert code == 1
    assert "mine: not built: build: 'sh' ended with exit code 1" in out
    assert "no_such_thing" in out
    assert "the whole log: " in out
    code, out, _ = say("bots", "build", "mine", "--json")
    assert code == 1
    assert json.loads(out)["builds"][0]["built"] is False


@pytest.mark.slow
def test_a_check_says_what_to_mend_first_and_what_the_bot_printed(say: Say, tmp_path: Path) -> None:
    say("bots", "new", "--lang", "python", "mine")
    program = tmp_path / "mine" / "bot.py"
    program.write_text(
        program.read_text().replace("return luck", "raise OverflowError('too much')\n        return luck")
    )
    code, out, _ = say("bots", "check", "mine", "--game", "toy", "--fail-fast")
    assert code == 1
    assert "correct first: matches with toy" in out
    assert "OverflowError: too much" in out
    code, out, _ = say("bots", "check", "mine", "--game", "toy", "--fail-fast", "--json")
    report = json.loads(out)
    assert code == 1
    assert report["first_to_mend"]["drill"] == "matches"


def test_a_broken_bot_is_listed_with_its_problem_and_hides_no_other(say: Say, tmp_path: Path) -> None:
    say("bots", "new", "--lang", "python", "good")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "bot.toml").write_text("name = 3\n")
    code, out, _ = say("bots", "list", ".")
    assert code == 0
    assert "good" in out
    assert "broken" in out
    assert "bot.toml:1: " in out or "the key 'version' is missing" in out


def test_a_folder_that_lies_too_deep_for_a_path_hides_no_bot(say: Say, tmp_path: Path) -> None:
    """The command failed: "File name too long"."""
    say("bots", "new", "--lang", "python", "good")
    inside = os.open(tmp_path, os.O_RDONLY)
    for _ in range(30):
        os.mkdir("n" * 200, dir_fd=inside)
        outer, inside = inside, os.open("n" * 200, os.O_RDONLY, dir_fd=inside)
        os.close(outer)
    os.close(inside)
    code, out, _ = say("bots", "list", ".", "--json")
    remove_tree(tmp_path / ("n" * 200))
    assert (code, [bot["name"] for bot in json.loads(out)["bots"]]) == (0, ["good"])


def test_a_bot_whose_bot_toml_is_no_file_is_listed_as_broken(say: Say, tmp_path: Path) -> None:
    """It was not listed at all."""
    (tmp_path / "mine" / "bot.toml").mkdir(parents=True)
    code, out, _ = say("bots", "list", ".", "--json")
    (bot,) = json.loads(out)["bots"]
    assert (code, bot["state"]) == (0, "broken")
    assert "bot.toml: is not a file" in bot["problem"]


def test_the_list_says_how_the_last_build_of_a_bot_failed(say: Say, tmp_path: Path) -> None:
    """Only that it is not built was said."""
    bot = tmp_path / "mine"
    bot.mkdir()
    manifest = 'name = "mine"\nversion = "1"\ngames = ["*"]\nrun = ["bin/bot"]\nbuild = ["sh", "-c", "{}"]\n'
    (bot / "bot.toml").write_text(manifest.format("echo no such header >&2; exit 3"))
    assert say("bots", "build", "mine", "--plain")[0] == 1
    said = json.loads(say("bots", "list", ".", "--json")[1])["bots"][0]["problem"]
    assert "; its last build failed: no such header (" in said
    (bot / "bot.toml").write_text(manifest.format("true"))
    assert "failed" not in json.loads(say("bots", "list", ".", "--json")[1])["bots"][0]["problem"]


def test_a_folder_that_this_user_may_not_read_is_listed_as_broken(say: Say, tmp_path: Path, monkeypatch) -> None:
    say("bots", "new", "--lang", "python", "good")
    (tmp_path / "closed").mkdir()
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "closed" and may(path, mode))
    code, out, _ = say("bots", "list", ".", "--json")
    assert code == 0
    assert [(bot["name"], bot["state"]) for bot in json.loads(out)["bots"]] == [("closed", "broken"), ("good", "ready")]


def test_a_bot_whose_program_behind_the_bridge_is_missing_is_listed_as_broken(say: Say, tmp_path: Path) -> None:
    say("bots", "new", "--lang", "perl", "mine")
    manifest = tmp_path / "mine" / "bot.toml"
    manifest.write_text(manifest.read_text().replace('"perl"', '"perrl"', 2).replace('name = "perrl"', 'name = "mine"'))
    _, out, _ = say("bots", "list", ".", "--json")
    (bot,) = json.loads(out)["bots"]
    assert bot["state"] == "broken"
    assert "'run' starts 'perrl', which is not there" in bot["problem"]


def test_a_bot_without_a_build_has_nothing_to_build(say: Say) -> None:
    say("bots", "new", "--lang", "python", "mine")
    code, out, _ = say("bots", "build", "mine")
    assert code == 0
    assert "mine: nothing to build: it has no build command and no requirements.txt" in out


def test_of_a_list_of_packages_that_does_not_count_it_is_said_why(say: Say, tmp_path: Path) -> None:
    say("bots", "new", "--lang", "python", "mine")
    manifest = tmp_path / "mine" / "bot.toml"
    manifest.write_text(manifest.read_text().replace("{python}", "python3"))
    (tmp_path / "mine" / "requirements.txt").write_text("six\n")
    code, out, _ = say("bots", "build", "mine")
    assert code == 0
    assert "its requirements.txt does not count, because 'run' does not have {python}" in " ".join(out.split())
    code, out, _ = say("bots", "build", "mine", "--json")
    assert code == 0
    assert json.loads(out)["builds"] == [{"folder": "mine", "built": False, "fresh": False}]


def test_a_game_that_the_bot_does_not_declare_is_refused(say: Say, tmp_path: Path) -> None:
    say("bots", "new", "--lang", "python", "mine")
    manifest = tmp_path / "mine" / "bot.toml"
    manifest.write_text(manifest.read_text().replace('["*"]', '["shibuya"]'))
    code, _, err = say("bots", "check", "mine", "--game", "toy")
    assert code == 2
    assert "does not declare the game 'toy'" in err


@pytest.mark.parametrize("language", sorted(KITS))
def test_every_kit_keeps_the_published_schema(language: str) -> None:
    jsonschema.validate(tomllib.loads((kit_folder(language) / "bot.toml").read_text()), SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        'version = "1"\ngames = ["*"]\nrun = ["x"]',
        'name = ""\nversion = "1"\ngames = ["*"]\nrun = ["x"]',
        'name = "n"\nversion = "1"\ngames = []\nrun = ["x"]',
        'name = "n"\nversion = "1"\ngames = ["No"]\nrun = ["x"]',
        'name = "n"\nversion = "1"\ngames = ["*"]\nrun = "x"',
        'name = "n"\nversion = "1"\ngames = ["*"]\nrun = [""]',
        'name = "n"\nversion = "1"\ngames = ["*"]\nrun = ["x"]\nfetch = ["y"]',
        'name = "n"\nversion = "1"\ngames = ["*"]\nrun = ["x"]\nmore = 1',
        'name = "n"\nversion = "1"\ngames = ["*"]\nrun = ["x"]\n[options]\na = 1.5',
    ],
)
def test_schema_and_program_refuse_the_same(text: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomllib.loads(text), SCHEMA)
    with pytest.raises(ManifestError):
        parse_manifest(text, Path("bot.toml"))


def test_the_list_says_why_a_bot_with_options_of_the_tournament_did_not_start(say: Say, tmp_path: Path) -> None:
    say("bots", "new", "--lang", "python", "mine")
    manifest = tmp_path / "mine" / "bot.toml"
    manifest.write_text(f"{manifest.read_text().partition('[options]')[0]}[options]\ndepth = 1\n")
    cup = tmp_path / "cup.toml"
    cup.write_text('game = "toy"\nseed = 1\nblocks = 1\n[[bots]]\npath = "mine"\noptions = { depth = 3 }\n')
    cup.write_text(cup.read_text() + '[[bots]]\npath = "mine"\nname = "other"\n')
    tournament = load_tournament(cup, to_play=False)
    folder = RunFolder(tmp_path / "runs" / "cup")
    folder.make()
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        description = describe(tournament)
        journal.append("created", format=1, hash=digest(description), configuration=description)
        failed = [[tournament.entries[0].id, "exit code 3"]]
        fields = {"match": "m000000-aa", "place": 0, "attempt": 1, "reason": "start_failed", "detail": "exit code 3"}
        journal.append("void", **fields, failed_starts=failed)
    _, out, _ = say("bots", "list", ".")
    assert "mine did not start in 1 attempt; the last (m000000-aa): exit code 3" in out
