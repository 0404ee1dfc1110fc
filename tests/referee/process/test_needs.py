"""What a program needs is found beside it; a home or a checkout is never shown for the sake of one file in it.

What a bot's own files name is followed into what the organiser has given, and nowhere else.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.folders import CACHE_VARIABLE
from referee.process.needs import find_needs, find_toolchains, leads_out, our_python


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


def on_path(bot: Path) -> Callable[[], tuple[Path, ...]]:
    """What the organiser has given."""
    return lambda: find_toolchains(os.environ, bot)


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """Somebody's service, of which a stranger's bot may see nothing: a program, what it needs, passwords."""
    folder = tmp_path / "service" / "app"
    program(folder / "bin" / "tool")
    for name in ("etc", "conf", "lib"):
        (folder / name).mkdir()
        (folder / name / "key").write_text("secret")
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
    for line in (f"#!{tool} -x", f"#! \t{tool}\t-x", "#!/usr/bin/env runner", "#!/usr/bin/env -S A=1 runner -x"):
        script = program(bot / "run.sh", line + "\n")
        assert find_needs((str(script),), bot, on_path(bot)) == (tmp_path / "kit",), line


def test_of_a_virtual_environment_its_base_too(bot: Path, tmp_path: Path) -> None:
    base = program(tmp_path / "python" / "bin" / "python")
    copy = program(tmp_path / "venv" / "bin" / "python")
    (tmp_path / "venv" / "pyvenv.cfg").write_text(f"home = {base.parent}\nversion = 3\n")
    venv = tmp_path / "venv"
    assert find_needs((str(copy),), bot) == (tmp_path / "python", venv / "bin", venv / "pyvenv.cfg")


def test_settings_of_a_virtual_environment_are_not_read_to_an_end_that_never_comes(bot: Path, tmp_path: Path) -> None:
    base = program(tmp_path / "python" / "bin" / "python")
    copy = program(bot / ".venv" / "bin" / "python")
    with (bot / ".venv" / "pyvenv.cfg").open("w") as file:
        file.write(f"home = {base.parent}\n")
        file.truncate(1 << 40)
    assert find_needs((str(copy),), bot, lambda: (tmp_path / "python",)) == (tmp_path / "python",)


def test_of_a_virtual_environment_in_a_project_s_own_folder_nothing_of_the_project(
    bot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`python -m venv .`: whether bot.toml names it, PATH has it, or it is the one that runs us."""
    project = tmp_path / "project"
    python = program(project / "bin" / "python")
    for name in ("lib/x.py", "runs/m1.jsonl", ".env", "pyvenv.cfg"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("")
    monkeypatch.setenv("PATH", str(python.parent))
    wanted = [project / "bin", project / "lib", project / "pyvenv.cfg"]
    for shown in (find_needs((str(python),), bot), find_toolchains(os.environ, bot)):
        assert [path for path in shown if path.is_relative_to(project)] == wanted
    monkeypatch.setattr("sys.prefix", str(project))
    monkeypatch.setattr("sys.executable", str(python))
    our_python.cache_clear()
    shown = find_needs((str(python),), bot)
    our_python.cache_clear()
    assert [path for path in shown if path.is_relative_to(project)] == wanted


def test_what_may_not_be_looked_at_is_not_there(bot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of somebody else on our own PATH; here, since root may look anywhere, one with too long a name."""
    closed, python = tmp_path / ("x" * 300) / "bin", program(tmp_path / "python" / "bin" / "python")
    monkeypatch.setenv("PATH", f"{closed}:{python.parent}")
    assert tmp_path / "python" in find_toolchains(os.environ, bot)
    assert find_needs((str(closed / "tool"),), bot, on_path(bot)) == ()


def test_of_a_service_that_is_no_toolchain_nothing_of_its_settings(bot: Path, private: Path) -> None:
    assert find_needs((str(private / "bin" / "tool"),), bot) == (private / "bin", private / "lib")
    (private / "lib" / "modules").write_text("a JDK's")
    assert find_needs((str(private / "bin" / "tool"),), bot) == (private,)


@pytest.mark.parametrize("line", ["#!{tool}", "#! {tool} -x", "#!\x0b{tool}", "#!\x0c{tool}", "#!/usr/bin/env {tool}"])
def test_the_first_line_of_a_bots_script_shows_nothing_that_is_not_given(bot: Path, private: Path, line: str) -> None:
    script = program(bot / "run.sh", line.format(tool=private / "bin" / "tool") + "\n")
    assert find_needs((str(script),), bot, on_path(bot)) == ()


@pytest.mark.parametrize("end", ["", "/../bin", "/../etc"])
def test_nor_does_the_virtual_environment_that_a_bot_brings(bot: Path, private: Path, end: str) -> None:
    (bot / "pyvenv.cfg").write_text(f"home = {private}/bin{end}\n")
    tool = program(bot / "bin" / "tool")
    assert find_needs((str(tool),), bot, on_path(bot)) == ()


@pytest.mark.parametrize("home", ["/home/../bin", "//home/../bin", "/../bin", "/etc/bin", "/proc/self/root/bin"])
def test_no_way_of_writing_a_path_shows_folders_of_the_system(bot: Path, home: str) -> None:
    (bot / "pyvenv.cfg").write_text(f"home = {home}\n")
    tool = program(bot / "bin" / "tool")
    (bot / "run.sh").write_text(f"#!{home}/sh\n")
    for named in (str(tool), str(bot / "run.sh"), f"{home}/sh", f"{home}/../home/bin/sh"):
        shown = find_needs((named,), bot, on_path(bot))
        assert not [path for path in shown if path.name in ("etc", "root", "var", "home") or len(path.parts) < 3], named


@pytest.mark.parametrize("part", ["run", "folder/tool", "hop"])
def test_links_that_lead_out_of_a_bots_folder_show_nothing_that_is_not_given(
    bot: Path, private: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    (bot / "run").symlink_to(private / "bin" / "tool")
    (bot / "folder").symlink_to(private / "bin")
    (bot / "hop").symlink_to("run")
    program_ = bot / part
    assert find_needs((str(program_),), bot, on_path(bot)) == ()
    assert leads_out(program_, bot, ()) == private / "bin" / "tool"
    monkeypatch.setenv("PATH", str(private / "bin"))
    assert find_needs((str(program_),), bot, on_path(bot)) == (private,)
    assert leads_out(program_, bot, on_path(bot)()) is None


def test_of_what_is_granted_no_more_is_shown_than_that(bot: Path, private: Path) -> None:
    (bot / "run").symlink_to(private / "bin" / "tool")
    assert private / "etc" not in find_needs((str(bot / "run"),), bot, lambda: [private / "bin"])
    assert private not in find_needs((str(bot / "run"),), bot, lambda: [private / "bin"])


def test_of_another_bot_nothing_whatever_the_path_to_it(bot: Path, tmp_path: Path) -> None:
    other = tmp_path / "bots" / "other"
    tool = program(other / "bin" / "tool")
    (other / "lib").mkdir()
    (other / "bot.toml").write_text("")
    (other / ".venv").mkdir()
    (other / ".venv" / "bin").symlink_to("../bin")
    (tmp_path / "alias").symlink_to(other)
    for named in (tool, other / ".venv" / "bin" / "tool", tmp_path / "alias" / "bin" / "tool"):
        assert find_needs((str(named),), bot, on_path(bot)) == (), named


def test_of_builds_and_their_homes_nothing_since_bots_leave_links_there(
    bot: Path, tmp_path: Path, private: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    link = tmp_path / "cache" / "homes" / "0" / "home" / "bin" / "tool"
    link.parent.mkdir(parents=True)
    link.symlink_to(private / "bin" / "tool")
    assert find_needs((str(link),), bot, on_path(bot)) == ()


def test_a_virtual_environment_in_a_bots_folder_works_with_a_python_that_is_given(
    bot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By links, as venv makes them, from PATH or from a version manager."""
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    managed = program(tmp_path / "pyenv" / "versions" / "3.12" / "bin" / "python")
    on = program(tmp_path / "python" / "bin" / "python")
    monkeypatch.setenv("PATH", str(on.parent))
    (bot / ".venv" / "bin").mkdir(parents=True)
    for base in (managed, on):
        (base.parent.parent / "lib").mkdir()
        (bot / ".venv" / "pyvenv.cfg").write_text(f"home = {base.parent}\n")
        link = bot / ".venv" / "bin" / "python"
        link.unlink(missing_ok=True)
        link.symlink_to(base)
        assert find_needs((str(link),), bot, on_path(bot)) == (base.parent.parent,)
        copied = program(bot / ".venv" / "bin" / "python3")
        assert find_needs((str(copied),), bot, on_path(bot)) == (base.parent.parent,)


def test_our_own_python_is_shown_even_if_it_lies_in_the_folder_of_another_bot(
    bot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever writes a bot may have installed us beside it."""
    venv = tmp_path / "bots" / "other" / ".venv"
    python = program(venv / "bin" / "python")
    (venv.parent / "bot.toml").write_text("")
    monkeypatch.setattr(sys, "prefix", str(venv))
    assert venv in find_needs((str(python),), bot) or venv / "bin" in find_needs((str(python),), bot)


def test_of_our_own_interpreter_our_packages_and_no_more(bot: Path) -> None:
    found = find_needs((sys.executable,), bot)
    root = Path(__file__).resolve().parents[3]
    inside = [path.relative_to(root) for path in found if path.is_relative_to(root)]
    for path in inside:
        assert path.parts[0] in (".venv", "venv", "referee", "proto", "bots"), path
        assert path.parts[0] not in ("proto", "bots") or path.name.startswith("crosstown_"), path
    assert not any(root.is_relative_to(path) for path in found)
