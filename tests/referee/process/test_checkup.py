"""The check of a machine tells every lack apart, why it matters and what to do."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee import folders
from referee.process import checkup, sandbox
from referee.process.cgroup import Cgroups
from referee.process.checkup import Probe, Row, SandboxError, check_machine, choose_profile, sandbox_trial, try_sandbox
from referee.process.limits import Room, Share
from referee.process.processes import children


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def rows() -> dict[str, Row]:
    return {row.name: row for row in check_machine()}


def test_every_row_that_is_not_ok_says_how_to_mend_it() -> None:
    for row in check_machine():
        assert (row.fix == "") == (row.level == "ok"), row
        assert row.found


def test_a_machine_without_bubblewrap(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(folders, "USUAL_PATH", str(tmp_path))
    monkeypatch.setattr(checkup, "probe", lambda: try_sandbox())
    found = rows()
    assert found["bubblewrap"].level == found["strict sandbox"].level == "missing"
    assert "apt install bubblewrap" in found["strict sandbox"].fix


@pytest.mark.parametrize(
    ("path", "why", "fix"),
    [
        ("", "bwrap is not found, as PATH is empty", "set PATH, for instance to /usr/local/bin:/usr/bin:/bin"),
        ("/nowhere", "bwrap is not found, as PATH does not have {}, where it is", "add {} to PATH"),
    ],
)
def test_bubblewrap_that_is_there_and_not_in_the_path_is_not_called_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, path: str, why: str, fix: str
) -> None:
    program = tmp_path / "bwrap"
    program.touch(0o755)
    monkeypatch.setenv("PATH", path)
    monkeypatch.setattr(folders, "USUAL_PATH", str(tmp_path))
    monkeypatch.setattr(checkup, "probe", lambda: try_sandbox())
    found = rows()
    for name in ("bubblewrap", "strict sandbox"):
        assert found[name].fix == fix.format(tmp_path)
        assert why.format(tmp_path) in found[name].found


def test_a_machine_without_control_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup, "find", lambda: Cgroups())
    found = rows()
    assert [found[f"control group: {name}"].level for name in ("memory", "pids", "cpu")] == ["weaker"] * 3
    assert "Delegate=yes" in found["control group: memory"].fix
    assert "do not play bots of strangers here" in found["control group: memory"].found


@pytest.mark.parametrize(("mib", "level", "each"), [(64_000, "ok", 15_904), (1_000, "weaker", 154)])
def test_memory_for_bots_is_what_a_run_on_all_cores_would_give_each(
    monkeypatch: pytest.MonkeyPatch, mib: int, level: str, each: int
) -> None:
    """The usual limit is 2,048 MiB: with less, a run lowers it (`tests/chaos/test_memory.py`)."""
    monkeypatch.setattr(checkup.os, "sched_getaffinity", lambda pid: {0, 1})
    monkeypatch.setattr(checkup, "memory_room", lambda: Room(mib, "the control group of the referee (memory.max)"))
    row = rows()["memory for bots"]
    assert row.level == level
    assert row.found == (
        f"the control group of the referee (memory.max) has {mib} MiB: {each} MiB for each bot of 2 tables with two"
        " seats"
    )
    assert ("memory_mib" in row.fix) is (level == "weaker")
    assert each == Share(Room(mib, ""), 2, 4).mib


def test_an_ordinary_user_is_told_that_bots_run_as_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkup.os, "getuid", lambda: 1000)
    monkeypatch.setattr(checkup, "probe", lambda: Probe(True))
    assert rows()["users for bots"].level == "weaker"


@pytest.mark.parametrize(
    ("said", "why", "fix"),
    [
        ("bwrap: Unknown option --disable-userns", "too old", "bubblewrap 0.8"),
        ("bwrap: No permissions to create new namespace, likely because", "no user namespace", "user.max_user_namesp"),
        ("bwrap: setting up uid map: Permission denied", "no user namespace", "apparmor_restrict"),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "mount proc", "systempaths=unconfined"),
        ("bwrap: something else\n", "something else", "crosstown docs sandbox"),
    ],
)
def test_what_bubblewrap_says_is_explained(
    said: str, why: str, fix: str, open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a program in its place that fails as it does."""
    fake = open_folder / "bwrap"
    fake.write_text(f'#!/bin/sh\necho "{said.strip()}" >&2\nexit 1\n')
    fake.chmod(0o755)
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: str(fake) if name == "bwrap" else "/bin/true")
    found = try_sandbox()
    assert not found.works
    assert why in found.why
    assert fix in found.fix


def test_a_limit_on_open_files_that_is_too_low_is_named() -> None:
    """In a process of its own, which may not raise the limit again."""
    code = "from referee.process.checkup import try_sandbox as t; found = t(); print(found.why); print(found.fix)"
    limited = 'ulimit -n 20 && exec "$0" -c "$1"'
    done = subprocess.run(["sh", "-c", limited, sys.executable, code], capture_output=True, text=True, check=True)
    why, fix = done.stdout.splitlines()
    assert why.startswith("at most 20 files may be open, which are too few to start it")
    assert fix == "ulimit -n 4096"


def test_a_program_that_the_bots_user_cannot_reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("not a program")
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: str(fake) if name == "bwrap" else "/bin/true")
    assert try_sandbox().why == "its step 'exec' failed: Permission denied"


@pytest.mark.parametrize(
    ("wanted", "works", "profile"),
    [(None, True, "strict"), (None, False, "plain"), ("plain", True, "plain"), ("strict", True, "strict")],
)
def test_strict_is_the_default_where_it_works(wanted: Any, works: bool, profile: str) -> None:
    assert choose_profile(wanted, Probe(works, "why", "fix")) == profile


def test_strict_that_was_asked_for_and_does_not_work_is_refused_with_the_reason() -> None:
    with pytest.raises(SandboxError, match="does not work here: no bubblewrap") as caught:
        choose_profile("strict", Probe(False, "no bubblewrap", "install it"))
    assert caught.value.next_step == "install it"


def test_a_trial_that_nobody_waits_for_leaves_nothing_behind() -> None:
    before = set(children(os.getpid()))
    with sandbox_trial("yes"):  # which never ends
        assert len(set(children(os.getpid())) - before) == 1
    assert set(children(os.getpid())) <= before


def test_nothing_is_left_of_a_trial_whose_outcome_is_known(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run keeps the outcome to its end."""
    monkeypatch.setattr(tempfile, "tempdir", str(open_folder))
    with sandbox_trial() as outcome:
        assert list(open_folder.iterdir())
        assert outcome() is outcome()
        assert not list(open_folder.iterdir())


def test_the_probe_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = checkup.probe()
    monkeypatch.setattr(checkup, "try_sandbox", lambda: Probe(False, "not again", ""))
    assert checkup.probe() is first
