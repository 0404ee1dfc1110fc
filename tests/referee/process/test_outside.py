"""What plays with a bot from outside of its folder: which files count, and that every change of them shows."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from importlib.metadata import distributions
from pathlib import Path

import pytest

from referee.process import outside
from referee.process.build import build
from referee.process.entry import Entry, load_entry
from referee.process.fact_names import BESIDE, OUR_PACKAGES, PACKAGES_OF
from referee.process.outside import (
    LISTED,
    MISSING,
    Prints,
    look_ahead,
    outside_of,
    runtime_of,
)
from referee.process.packages import Environment
from referee.process.sandbox import Sandbox
from referee.process.store import Built, Hold

WriteBot = Callable[..., Path]


@pytest.fixture(autouse=True)
def _own_cache(cache: Path) -> None:
    """Not the user's."""


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    """A program outside of any bot's folder."""
    path = tmp_path / "tools" / "engine"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def named(folder: Path, *read: Path) -> dict[str, str]:
    return outside_of(load_entry(folder), Sandbox(read=tuple(map(str, read))), Prints(0))


def with_environment(entry: Entry, made: Path) -> Entry:
    """The bot with packages of its own, which were installed there."""
    built = Built("0" * 16, made, made / "log.txt", 0.0, 0.0, "", "", "plain")
    return replace(entry, environment=Environment(built, Hold.on(made)))


def test_what_was_looked_at_ahead_is_not_read_again(write_bot: WriteBot, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = load_entry(write_bot({"bot.py": ""}))
    prints = Prints(0)
    look_ahead(prints)
    read: list[str] = []
    monkeypatch.setattr(outside, "content_of", lambda name: read.append(name) or b"")
    monkeypatch.setattr(outside, "distributions", lambda: read.append("packages") or ())
    outside_of(entry, Sandbox(), prints)
    runtime_of(entry)
    assert {os.path.realpath(name) for name in read} == {os.path.realpath(sys.executable)}


def test_a_bot_of_our_python_has_its_interpreter_and_our_packages(write_bot: WriteBot) -> None:
    folder = write_bot({"bot.py": ""})
    assert set(named(folder)) == {os.path.realpath(sys.executable), OUR_PACKAGES}
    version = ".".join(map(str, sys.version_info[:3]))
    assert runtime_of(load_entry(folder)).startswith(f"CPython {version}, packages ")


def test_the_packages_of_our_python_are_those_that_it_lists_itself(write_bot: WriteBot) -> None:
    folder = write_bot(run=["{python}", "bot.py"])
    listed = sorted({f"{one.name}=={one.version}" for one in distributions()})
    made = blake2b("\n".join(listed).encode(), digest_size=8).hexdigest()
    assert runtime_of(load_entry(folder)).endswith(f"packages {made}")


@pytest.mark.parametrize(
    "run",
    [
        ["{tool}"],
        ["sh", "{tool}"],
        ["sh", "-c", "--engine={tool}"],
        ["{python}", "-m", "crosstown_bridge", "--", "{tool}"],
        ["../tools/engine"],
        ["env", "LANG=C", "{tool}"],
        ["nice", "-n", "5", "timeout", "60", "{tool}"],
        ["sh", "-c", "true", "/usr/none:{tool}"],
        ["sh", "-c", "true", "--class-path=/usr/none:{tool}"],
    ],
)
def test_a_program_that_run_names_counts_by_its_content(write_bot: WriteBot, tool: Path, run: list[str]) -> None:
    folder = write_bot({"bot.py": ""}, run=[word.replace("{tool}", str(tool)) for word in run])
    before, entry_id = named(folder), load_entry(folder).id
    tool.write_text("#!/bin/sh\necho other\n")
    after = named(folder)
    assert load_entry(folder).id == entry_id
    assert before.keys() == after.keys()
    assert [path for path in before if before[path] != after[path]] == [str(tool)]


def test_the_interpreter_of_a_script_and_what_a_link_leads_to_count(write_bot: WriteBot, tool: Path) -> None:
    (tool.parent / "link").symlink_to(tool)
    folder = write_bot({"bot": f"#!{tool.parent}/link\n"}, run=["./bot"])
    (folder / "bot").chmod(0o755)
    assert set(named(folder)) == {str(tool)}
    assert runtime_of(load_entry(folder)) == ""


def test_what_env_finds_in_path_counts(write_bot: WriteBot, tool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    folder = write_bot({"bot.py": ""}, run=["env", "engine"])
    assert str(tool) in named(folder)


@pytest.mark.parametrize("run", [["{python}", "bot.py"], ["./bot.py"], ["env", "{python}", "bot.py"]])
def test_the_packages_of_another_python_count(write_bot: WriteBot, tmp_path: Path, run: list[str]) -> None:
    """As of a virtual environment, whose program leads to the Python that it was made with."""
    python = tmp_path / "venv" / "bin" / "python3"
    packages = tmp_path / "venv" / "lib" / "python3.12" / "site-packages" / "net"
    for folder in (python.parent, packages):
        folder.mkdir(parents=True)
    python.symlink_to(os.path.realpath(sys.executable))
    (packages / "__init__.py").write_text("size = 1\n")
    folder = write_bot({"bot.py": f"#!{python}\n"}, run=[word.replace("{python}", str(python)) for word in run])
    (folder / "bot.py").chmod(0o755)
    before = named(folder)
    assert set(before) >= {os.path.realpath(sys.executable), f"{PACKAGES_OF}{tmp_path / 'venv'}"}
    (packages / "__init__.py").write_text("size = 2\n")
    after = named(folder)
    assert [path for path in before if before[path] != after[path]] == [f"{PACKAGES_OF}{tmp_path / 'venv'}"]


def test_the_same_content_has_the_same_hash_wherever_it_lies(write_bot: WriteBot, tool: Path, tmp_path: Path) -> None:
    shutil.copytree(tool.parent, tmp_path / "others")
    folder = write_bot({"bot.py": ""}, run=["sh"])
    found = named(folder, tool.parent, tmp_path / "others")
    assert found[str(tool.parent)] == found[str(tmp_path / "others")]


def test_what_is_granted_to_read_counts_with_all_that_is_in_it(write_bot: WriteBot, tmp_path: Path) -> None:
    grant = tmp_path / "models"
    (grant / "deep").mkdir(parents=True)
    folder = write_bot({"bot.py": ""}, run=["sh"])
    seen = [named(folder, grant)[str(grant)]]
    assert seen == [MISSING]
    for change in (
        lambda: (grant / "deep" / "weights").write_text("1"),
        lambda: (grant / "deep" / "weights").write_text("2"),
        lambda: (grant / "deep" / "weights").rename(grant / "weights"),
        lambda: (grant / "link").symlink_to("weights"),
    ):
        change()
        seen.append(named(folder, grant)[str(grant)])
    assert len(set(seen)) == 5
    (grant / "__pycache__").mkdir()
    (grant / "__pycache__" / "x.pyc").write_text("made by a tool")
    assert named(folder, grant)[str(grant)] == seen[-1]


def test_where_a_link_to_a_folder_leads_counts(write_bot: WriteBot, tmp_path: Path) -> None:
    grant, folder = tmp_path / "models", write_bot({"bot.py": ""}, run=["sh"])
    for version in ("1", "2"):
        (grant / version).mkdir(parents=True)
        (grant / version / "weights").write_text(version)
    (grant / "current").symlink_to("1")
    before = named(folder, grant)[str(grant)]
    (grant / "current").unlink()
    (grant / "current").symlink_to("2")
    assert named(folder, grant)[str(grant)] != before


def test_what_is_too_large_to_be_read_is_listed(
    write_bot: WriteBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grant = tmp_path / "huge"
    with grant.open("wb") as file:
        file.truncate(200 << 30)
    folder = write_bot({"bot.py": ""}, run=["sh"])
    before = named(folder, grant)[str(grant)]
    assert before.startswith(LISTED)
    os.utime(grant, (1, 1))
    assert named(folder, grant)[str(grant)] != before
    monkeypatch.setattr(outside, "MOST_FILES", 3)
    (tmp_path / "many").mkdir()
    for number in range(5):
        (tmp_path / "many" / str(number)).touch()
    assert named(folder, tmp_path / "many")[str(tmp_path / "many")].startswith(LISTED)


def test_files_are_read_again_only_when_they_have_changed(tool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []
    real = outside.content_of
    monkeypatch.setattr(outside, "content_of", lambda name: reads.append(name) or real(name))
    eager, patient = Prints(0), Prints(3600)
    before = eager.of(tool)
    assert (eager.of(tool), patient.of(tool), patient.of(tool)) == (before, before, before)
    assert len(reads) == 2
    tool.write_text("other")
    assert eager.of(tool) != before
    assert patient.of(tool) == before


@pytest.mark.parametrize(
    "run",
    [
        ["sh", "-c", "exec TOOL --fast"],
        ["sh", "-c", "cd /; TOOL && echo over"],
        ["bash", "-lc", "nice -n 5 TOOL\\nexit"],
        ["env", "LANG=C", "sh", "-c", "LEVEL=3 exec TOOL"],
        ["{python}", "-m", "crosstown_bridge", "--", "sh", "-c", "exec TOOL"],
        ["sh", "bot.sh", "-ITOOL"],
        ["sh", "bot.sh", "-cp", "FOLDER/*"],
        ["sh", "bot.sh", "-cp", "bot.jar:FOLDER/*"],
    ],
)
def test_programs_in_the_text_of_a_shell_and_paths_behind_options_count(
    write_bot: WriteBot, tool: Path, run: list[str]
) -> None:
    words = [word.replace("TOOL", str(tool)).replace("FOLDER", str(tool.parent)) for word in run]
    folder = write_bot({"bot.sh": "", "bot.jar": ""}, run=words)
    before = named(folder)
    assert {str(tool), str(tool.parent)} & before.keys()
    tool.write_text("#!/bin/sh\n# another\n")
    assert named(folder) != before


def test_a_shell_whose_text_cannot_be_read_starts_all_the_same(write_bot: WriteBot) -> None:
    assert set(named(write_bot({}, run=["sh", "-c", "echo 'open"]))) == {os.path.realpath("/bin/sh")}


def test_what_a_link_in_a_granted_folder_leads_to_outside_of_it_counts(write_bot: WriteBot, tmp_path: Path) -> None:
    granted, elsewhere = tmp_path / "granted", tmp_path / "elsewhere"
    granted.mkdir()
    (elsewhere / "deep").mkdir(parents=True)
    for name in ("model", "deep/book"):
        (elsewhere / name).write_text("1")
    (granted / "model").symlink_to(elsewhere / "model")
    (granted / "books").symlink_to(elsewhere / "deep")
    (elsewhere / "deep" / "round").symlink_to(granted)
    folder = write_bot({"bot.py": ""})
    prints = [named(folder, granted)[str(granted)]]
    for name in ("model", "deep/book"):
        (elsewhere / name).write_text("2")
        prints.append(named(folder, granted)[str(granted)])
    assert len(set(prints)) == 3


def test_packages_that_are_installed_in_place_for_another_python_count(write_bot: WriteBot, tmp_path: Path) -> None:
    site, source = tmp_path / "venv" / "lib" / "python3.11" / "site-packages", tmp_path / "mine"
    site.mkdir(parents=True)
    source.mkdir()
    (tmp_path / "venv" / "bin").mkdir()
    (tmp_path / "venv" / "bin" / "python").symlink_to(sys.executable)
    (site / "mine.pth").write_text(f"{source}\nimport os\n/nowhere\n")
    (source / "mine.py").write_text("1")
    folder = write_bot({"bot.py": ""}, run=[str(tmp_path / "venv" / "bin" / "python"), "bot.py"])
    key = f"packages of {tmp_path / 'venv'}"
    before = named(folder)[key]
    (source / "mine.py").write_text("2")
    assert named(folder)[key] != before


def test_packages_that_are_installed_in_place_for_the_bot_alone_count(write_bot: WriteBot, tmp_path: Path) -> None:
    """requirements.txt has `-e /where/it/lies`."""
    made, source = tmp_path / "made", tmp_path / "my own"
    for name, editable in (("mine", True), ("other", False), ("inside", True)):
        about = made / "python" / "lib" / "python3.11" / "site-packages" / f"{name}-1.dist-info"
        about.mkdir(parents=True)
        url = (made / "inside" if name == "inside" else source).as_uri()
        (about / "direct_url.json").write_text(json.dumps({"url": url, "dir_info": {"editable": editable}}))
    for folder in (source, made / "inside"):
        folder.mkdir()
        (folder / "mine.py").write_text("1")
    entry = with_environment(load_entry(write_bot({"bot.py": ""})), made)
    before = outside_of(entry, Sandbox(), Prints(0))
    (source / "mine.py").write_text("2")
    after = outside_of(entry, Sandbox(), Prints(0))
    assert {path for path in after if before[path] != after[path]} == {str(source)}
    assert not [path for path in after if path.startswith(str(made))]


def test_no_package_of_a_bot_in_the_sandbox_has_folders_hashed(write_bot: WriteBot, tmp_path: Path) -> None:
    """A wheel that a stranger hands in can have a .pth file. Which folders the machine has, and whether their files
    change, would stand in the records, and hashing them take as long as it names folders."""
    packages = tmp_path / "made" / "python" / "lib" / "python3.11" / "site-packages"
    about = packages / "mine-1.dist-info"
    about.mkdir(parents=True)
    folders = [tmp_path / name for name in ("secret", "other secret", "granted")]
    for folder in folders:
        folder.mkdir()
        (folder / "file.txt").touch()
    (packages / "mine.pth").write_text(f"{folders[0]}\n{folders[2]}\n")
    (about / "direct_url.json").write_text(json.dumps({"url": folders[1].as_uri(), "dir_info": {"editable": True}}))
    entry = with_environment(load_entry(write_bot({"bot.py": ""})), tmp_path / "made")
    found = outside_of(entry, Sandbox("strict", read=(str(folders[2]),)), Prints(0))
    assert {str(folder) for folder in folders} & found.keys() == {str(folders[2])}
    assert {str(folder) for folder in folders} <= outside_of(entry, Sandbox(), Prints(0)).keys()  # the control


@pytest.mark.parametrize(
    "run",
    [
        ["{python}", "SCRIPT"],
        ["{python}", "-O", "SCRIPT", "--fast"],
        ["SCRIPT"],
        ["env", "LANG=C", "{python}", "SCRIPT"],
        ["sh", "-c", "exec python3 SCRIPT"],
        ["{python}", "-m", "crosstown_bridge", "--", "python3", "SCRIPT"],
    ],
)
def test_what_a_script_outside_may_import_from_its_folder_counts(
    write_bot: WriteBot, tmp_path: Path, run: list[str]
) -> None:
    script = tmp_path / "shared" / "main.py"
    (script.parent / "net").mkdir(parents=True)
    (script.parent / "data").mkdir()
    script.write_text("#!/usr/bin/env python3\nimport helper, net\n")
    script.chmod(0o755)
    (script.parent / "net" / "__init__.py").touch()
    folder = write_bot({"bot.py": ""}, run=[word.replace("SCRIPT", str(script)) for word in run])
    key = f"{BESIDE}{script}"
    before = named(folder)
    for name in ("helper.py", "fast.cpython-312.so", "net/layers.py"):
        (script.parent / name).write_text(name)
        after = named(folder)
        assert {path for path in after if before[path] != after[path]} == {key}, name
        before = after
    (script.parent / "helper.py").rename(script.parent / "renamed.py")
    assert named(folder)[key] != before[key]
    before = named(folder)
    for name in ("notes.txt", "data/tables.py", ".cache/x.py"):
        (script.parent / name).parent.mkdir(exist_ok=True)
        (script.parent / name).write_text("of somebody else")
    script.write_text("#!/usr/bin/env python3\n# changed\n")
    after = named(folder)
    assert {path for path in after if before[path] != after[path]} == {str(script)}


def test_a_script_outside_with_nothing_beside_it_has_an_entry_all_the_same(write_bot: WriteBot, tool: Path) -> None:
    """So that a module that comes later is a change."""
    assert named(write_bot({}, run=["sh", str(tool)]))[f"{BESIDE}{tool}"] == "none"


def test_a_script_outside_that_a_build_has_made_a_link_to_counts(write_bot: WriteBot, tool: Path) -> None:
    what = (
        f'name = "Bot"\nversion = "1"\ngames = ["*"]\nbuild = ["sh", "-c", "mkdir bin && ln -s {tool} bin/main.sh"]\n'
    )
    folder = write_bot({}, toml=f'{what}run = ["sh", "bin/main.sh"]\n')
    build(folder)
    before = named(folder)
    tool.write_text("#!/bin/sh\n# changed\n")
    after = named(folder)
    assert {path for path in after if before.get(path) != after[path]} == {str(tool)}


def test_a_granted_folder_counts_once_with_the_script_in_it(write_bot: WriteBot, tool: Path) -> None:
    found = named(write_bot({}, run=["sh", str(tool)]), tool.parent)
    assert set(found) == {os.path.realpath("/bin/sh"), str(tool), str(tool.parent)}


def test_more_modules_beside_a_script_than_are_read_are_listed(
    write_bot: WriteBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outside, "MOST_FILES", 3)
    (tmp_path / "shared").mkdir()
    for name in ("main", "a", "b", "c", "d"):
        (tmp_path / "shared" / f"{name}.py").touch()
    script = tmp_path / "shared" / "main.py"
    assert named(write_bot(run=["{python}", str(script)]))[f"{BESIDE}{script}"].startswith(LISTED)


def test_files_that_an_option_names_by_their_whole_path_count_without_a_sandbox(
    write_bot: WriteBot, tmp_path: Path
) -> None:
    weights, book = tmp_path / "w.bin", tmp_path / "book.bin"
    weights.write_text("1")
    book.write_text("1")
    options = f'[options]\nweights = "{weights}"\nargs = "--book={book}"\nnone = "/none/x.bin"\nlevel = 3\n'
    manifest = f'name = "Bot"\nversion = "1"\ngames = ["*"]\nrun = ["{{python}}", "bot.py"]\n{options}'
    folder = write_bot(toml=manifest)
    before = named(folder)
    assert set(before) == {os.path.realpath(sys.executable), OUR_PACKAGES, str(weights), str(book)}
    weights.write_text("2")
    after = named(folder)
    assert {path for path in after if before[path] != after[path]} == {str(weights)}
    strict = outside_of(load_entry(folder), Sandbox("strict"), Prints(0))
    assert str(weights) not in strict, "which the bot cannot read"
