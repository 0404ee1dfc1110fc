"""The commands in surroundings that machines do have: no home, a long TMPDIR, an ASCII locale, a read-only home."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
RANDOM = ROOT / "bots" / "python" / "random"
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def long_folder(place: Path) -> Path:
    """A folder whose path has more bytes than a socket's may."""
    deep = place / ("t" * 60) / ("u" * 60)
    deep.mkdir(parents=True)
    return deep


def without_home(place: Path) -> dict[str, str | None]:
    return {"HOME": None, "XDG_CACHE_HOME": None}


def with_a_long_tmpdir(place: Path) -> dict[str, str | None]:
    return {"TMPDIR": str(long_folder(place))}


def with_an_escape_in_tmpdir(place: Path) -> dict[str, str | None]:
    (place / "100%").mkdir()
    return {"TMPDIR": str(place / "100%")}


def with_an_ascii_locale(place: Path) -> dict[str, str | None]:
    return dict(ASCII)


def with_a_home_that_cannot_be_written(place: Path) -> dict[str, str | None]:
    (place / "tmp").mkdir()
    return {"HOME": "/proc/self", "XDG_CACHE_HOME": None, "CROSSTOWN_CACHE": None, "TMPDIR": str(place / "tmp")}


SURROUNDINGS = [
    without_home,
    with_a_long_tmpdir,
    with_an_escape_in_tmpdir,
    with_an_ascii_locale,
    with_a_home_that_cannot_be_written,
]


@pytest.fixture(params=SURROUNDINGS, ids=lambda make: make.__name__)
def surrounded(request: Any, workplace: Any, write_cup: Callable[..., Path], tmp_path: Path) -> Any:
    """The workplace in such surroundings, with a cup of two bots of which one has an umlaut in its folder."""
    write_cup(bots=2, blocks=1)
    shutil.move(tmp_path / "bots" / "bot1", tmp_path / "bots" / "bött")
    (tmp_path / "cup.toml").write_text((tmp_path / "cup.toml").read_text().replace("bots/bot1", "bots/bött"))
    surroundings = request.param(tmp_path)
    workplace.environment = {name: value for name, value in surroundings.items() if value is not None}
    workplace.without = tuple(name for name, value in surroundings.items() if value is None)
    return workplace


def test_every_command_works(surrounded: Any) -> None:
    bot = str(Path("bots") / "bött")
    commands = [
        ("run", "cup.toml"),
        ("match", "toy", "--seat", bot, "--seat", "bots/bot0"),
        ("compare", bot, "bots/bot0", "--games", "toy", "--cap", "1", "--quiet"),
        ("bots", "list", "bots"),
        ("matches", "verify"),
        ("report",),
        ("doctor",),
    ]
    wrong = []
    if "TMPDIR" in surrounded.environment:  # it listens on a socket of its own
        commands.append(("bots", "check", bot, "--game", "toy", "--fail-fast"))
    for words in commands:
        outcome = surrounded.run(*words)
        if outcome.code not in (0, 1) or "unexpected" in outcome.stderr or "Traceback" in outcome.stderr:
            wrong.append((words, outcome.code, outcome.stdout[-400:], outcome.stderr[-800:]))
    assert wrong == []
    surrounded.assert_nobody_left()


def test_in_an_ascii_locale_a_path_is_printed_so_that_it_can_be_copied(workplace: Any, tmp_path: Path) -> None:
    shutil.copytree(RANDOM, tmp_path / "bött")
    workplace.environment = dict(ASCII)
    listed = workplace.run("bots", "list", ".")
    assert "bött" in listed.stdout
    as_json = json.loads(workplace.run("bots", "list", ".", "--json").stdout)
    assert Path(tmp_path / as_json["bots"][0]["folder"]).is_dir()


def test_a_user_without_a_home_is_told_what_to_set_only_where_one_is_needed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from referee import folders

    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv(folders.CACHE_VARIABLE, raising=False)
    monkeypatch.setattr(folders.tempfile, "gettempdir", lambda: str(tmp_path))

    def nobody(_: int) -> Any:
        raise KeyError("no such user")

    monkeypatch.setattr(folders.pwd, "getpwuid", nobody)
    assert folders.home_folder() == Path("/nonexistent")
    own = folders.cache_folder()
    assert own.parent == tmp_path
    assert own.stat().st_mode & 0o777 == 0o700
    assert folders.cache_folder() == own
    with pytest.raises(folders.FolderError, match="there is no home folder here; set HOME"):
        folders.expanded("~/models")
    own.chmod(0o777)
    with pytest.raises(folders.FolderError, match="somebody else can write there; set CROSSTOWN_CACHE"):
        folders.cache_folder()


def test_a_socket_gets_a_short_path_whatever_tmpdir_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from referee import folders

    monkeypatch.setattr(folders.tempfile, "gettempdir", lambda: str(long_folder(tmp_path)))
    made = folders.make_socket_folder()
    made.rmdir()
    assert len(os.fsencode(made)) < 60


def test_a_working_directory_that_is_gone_is_said(workplace: Any, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    shell = f"mkdir -p {gone} && cd {gone} && rmdir {gone} && exec "
    for words in (["run", "cup.toml"], ["match", "toy", "--seat", "a"], ["bots", "list"], ["games", "list"]):
        outcome = workplace.run(*words, prefix=["sh", "-c", f'{shell} "$@"', "sh"])
        assert outcome.code == 2
        assert outcome.stderr.startswith("error: the working directory is gone\nnext: change to a folder")
