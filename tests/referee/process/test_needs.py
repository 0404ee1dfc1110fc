"""What a program needs is found beside it; a home or a checkout is never shown for the sake of one file in it."""

import sys
from pathlib import Path

import pytest

from referee.process.needs import find_needs


def program(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    folder = tmp_path / "bots" / "mine"
    folder.mkdir(parents=True)
    return folder


def test_of_a_program_in_usr_or_in_the_bots_folder_nothing(bot: Path) -> None:
    own = program(bot / "target" / "release" / "bot")
    assert find_needs(("/usr/bin/env", "x"), bot) == ()
    assert find_needs((str(own),), bot) == ()


def test_of_a_toolchain_all_of_it(bot: Path, tmp_path: Path) -> None:
    java = program(tmp_path / "opt" / "jdk-21" / "bin" / "java")
    (tmp_path / "opt" / "jdk-21" / "lib").mkdir()
    assert find_needs((str(java),), bot) == (tmp_path / "opt" / "jdk-21",)


def test_of_a_folder_with_other_things_only_what_toolchains_have(bot: Path, tmp_path: Path) -> None:
    tool = program(tmp_path / "project" / "bin" / "tool")
    for name in ("lib", "runs", "secret"):
        (tmp_path / "project" / name).mkdir()
    assert find_needs((str(tool),), bot) == (tmp_path / "project" / "bin", tmp_path / "project" / "lib")


@pytest.mark.parametrize("place", [".", ".local"])
def test_of_a_home_the_program_alone(bot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    home = tmp_path / "home" / "me"
    monkeypatch.setenv("HOME", str(home))
    tool = program(home / place / "bin" / "tool")
    (home / "lib").mkdir()
    assert find_needs((str(tool),), bot) == (tool,)


def test_of_what_the_bot_lies_in_the_program_alone(bot: Path, tmp_path: Path) -> None:
    tool = program(tmp_path / "bin" / "tool")
    assert find_needs((str(tool),), bot) == (tool,)


def test_of_links_each_and_where_they_lead(bot: Path, tmp_path: Path) -> None:
    node = program(tmp_path / "versions" / "v20" / "bin" / "node")
    (tmp_path / "versions" / "v20" / "lib").mkdir()
    link = tmp_path / "current" / "bin" / "node"
    link.parent.mkdir(parents=True)
    link.symlink_to(node)
    assert find_needs((str(link),), bot) == (tmp_path / "current", tmp_path / "versions" / "v20")


def test_of_a_script_what_its_first_line_names(bot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = program(tmp_path / "kit" / "bin" / "runner")
    monkeypatch.setenv("PATH", str(tool.parent))
    for line in (f"#!{tool} -x", "#!/usr/bin/env runner", "#!/usr/bin/env -S A=1 runner -x"):
        script = program(bot / "run.sh", line + "\n")
        assert find_needs((str(script),), bot) == (tmp_path / "kit",), line


def test_of_a_virtual_environment_its_base_too(bot: Path, tmp_path: Path) -> None:
    base = program(tmp_path / "python" / "bin" / "python")
    copy = program(tmp_path / "venv" / "bin" / "python")
    (tmp_path / "venv" / "pyvenv.cfg").write_text(f"home = {base.parent}\nversion = 3\n")
    assert find_needs((str(copy),), bot) == (tmp_path / "python", tmp_path / "venv")


def test_of_our_own_interpreter_our_packages_and_no_more(bot: Path) -> None:
    found = find_needs((sys.executable,), bot)
    root = Path(__file__).resolve().parents[3]
    inside = [path.relative_to(root) for path in found if path.is_relative_to(root)]
    for path in inside:
        assert path.parts[0] in (".venv", "venv", "referee", "proto", "bots"), path
        assert path.parts[0] not in ("proto", "bots") or path.name.startswith("crosstown_"), path
    assert not any(root.is_relative_to(path) for path in found)
