"""Control groups of both versions: found where the host lets us have them, swept when left behind."""

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from referee.process import cgroup
from referee.process.cgroup import PREFIX, Cgroups, Group, GroupLimits, Hierarchy, claim, find, sweep_folders

Host = Callable[..., Path]
LIMITS = GroupLimits(memory_bytes=1 << 30, processes=40, cores=1.5)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """host(lines of /proc/self/cgroup, lines of /proc/self/mountinfo, {file: content}) -> the root of such a machine"""

    def make(own: str, mounts: str, files: Mapping[str, str]) -> Path:
        for name, content in {"proc/self/cgroup": own, "proc/self/mountinfo": mounts, **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return tmp_path

    return make


V2_MOUNT = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
SCOPE = "sys/fs/cgroup/user.slice/run-1.scope"


def v2(host: Host, controllers: str, active: str, procs: str = "") -> Path:
    return host(
        "0::/user.slice/run-1.scope\n",
        V2_MOUNT,
        {
            f"{SCOPE}/cgroup.controllers": controllers,
            f"{SCOPE}/cgroup.subtree_control": active,
            f"{SCOPE}/cgroup.procs": procs,
            f"{SCOPE}/crosstown-referee/cgroup.procs": "",
        },
    )


def test_version_2_in_a_group_that_is_ours(host: Host) -> None:
    root = v2(host, "cpuset cpu io memory pids\n", "cpu memory pids\n")
    found = find(root)
    assert found.controllers == ("memory", "pids", "cpu", "cpuacct", "freezer")
    assert set(found.hierarchies.values()) == {Hierarchy(root / SCOPE, 2)}


def test_version_2_moves_us_aside_to_open_the_group_for_others(host: Host) -> None:
    root = v2(host, "cpu memory pids\n", "\n", f"{os.getpid()}\n")
    assert "memory" in find(root).controllers
    assert (root / SCOPE / "cgroup.subtree_control").read_text() == "+cpu +memory +pids"
    assert (root / SCOPE / "crosstown-referee" / "cgroup.procs").read_text() == str(os.getpid())


def test_version_2_leaves_the_processes_of_others_where_they_are(host: Host) -> None:
    root = v2(host, "cpu memory pids\n", "\n", f"{os.getpid()}\n{os.getppid()}\n")
    assert find(root).controllers == ("cpuacct", "freezer")
    assert (root / SCOPE / "crosstown-referee" / "cgroup.procs").read_text() == ""


def test_a_worker_finds_the_group_above_the_leaf_that_its_runner_made(host: Host) -> None:
    root = v2(host, "memory pids\n", "memory pids\n")
    (root / "proc/self/cgroup").write_text("0::/user.slice/run-1.scope/crosstown-referee\n")
    assert find(root).hierarchies["memory"].folder == root / SCOPE


def test_version_1_finds_each_controller_where_it_is_mounted_and_we_are(host: Host) -> None:
    root = host(
        "4:memory:/jobs/7\n3:cpu,cpuacct:/\n2:pids:/outside\n0::/\n",
        "31 30 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
        "32 30 0:30 /jobs /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "33 30 0:31 /elsewhere /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n",
        {
            "sys/fs/cgroup/memory/7/tasks": "",
            "sys/fs/cgroup/cpu,cpuacct/tasks": "",
            "sys/fs/cgroup/pids/tasks": "",
        },
    )
    found = find(root)
    assert found.controllers == ("memory", "cpu", "cpuacct")
    assert found.hierarchies["memory"] == Hierarchy(root / "sys/fs/cgroup/memory/7", 1)


def test_a_host_without_any(tmp_path: Path) -> None:
    assert find(tmp_path).controllers == ()


def places(folder: Path, version: int) -> dict[str, Hierarchy]:
    return {name: Hierarchy(folder, version) for name in cgroup.CONTROLLERS}


@pytest.mark.parametrize(
    ("version", "there", "written"),
    [
        (
            1,
            {"memory.memsw.limit_in_bytes", "memory.kmem.tcp.limit_in_bytes"},
            {
                "memory.limit_in_bytes": "1073741824",
                "memory.memsw.limit_in_bytes": "1073741824",
                "memory.kmem.tcp.limit_in_bytes": "67108864",
                "pids.max": "40",
                "cpu.cfs_period_us": "100000",
                "cpu.cfs_quota_us": "150000",
            },
        ),
        (
            2,
            {"memory.swap.max", "memory.oom.group"},
            {
                "memory.max": "1073741824",
                "memory.swap.max": "0",
                "memory.oom.group": "1",
                "pids.max": "40",
                "cpu.max": "150000 100000",
            },
        ),
        (2, set(), {"memory.max": "1073741824", "pids.max": "40", "cpu.max": "150000 100000"}),
    ],
)
def test_limits_in_the_words_of_each_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int, there: set[str], written: dict[str, str]
) -> None:
    for name in there:
        (tmp_path / name).touch()
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(4))
    settings = list(cgroup._settings(places(tmp_path, version), LIMITS))
    assert {file: value for _, file, value in settings} == written


@pytest.mark.parametrize("cores", [None, 4.0, 64.0])
@pytest.mark.parametrize(
    ("version", "file", "written"), [(1, "cpu.cfs_quota_us", "360000"), (2, "cpu.max", "360000 100000")]
)
def test_no_bot_gets_all_of_the_processors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int, file: str, written: str, cores: float | None
) -> None:
    """Its processes could keep all others of the machine from running."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(4))
    (tmp_path / file).touch()
    settings = cgroup._settings(places(tmp_path, version), GroupLimits(cores=cores))
    assert {name: value for _, name, value in settings}[file] == written


@pytest.mark.parametrize("cores", [None, 1.0, 2.0])
def test_a_bot_that_computes_in_one_thread_is_never_throttled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: float | None
) -> None:
    """Not where there is one processor, either: it would be late by what it waits."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3})
    (tmp_path / "cpu.max").touch()
    settings = cgroup._settings(places(tmp_path, 2), GroupLimits(cores=cores))
    assert {name: value for _, name, value in settings}["cpu.max"] == "100000 100000"


def test_no_limit_is_not_written(tmp_path: Path) -> None:
    assert list(cgroup._settings(places(tmp_path, 2), GroupLimits())) == []


@pytest.mark.parametrize(
    ("version", "files", "freezer", "cpu"),
    [
        (1, ("memory.oom_control", "cpuacct.usage", "freezer.state"), ("freezer.state", "FROZEN", "THAWED"), 1),
        (2, ("memory.events", "cpu.stat", "cgroup.freeze"), ("cgroup.freeze", "1", "0"), 1000),
    ],
)
def test_counters_and_the_freezer_of_each_version(
    tmp_path: Path, version: int, files: tuple[str, str, str], freezer: tuple[str, str, str], cpu: int
) -> None:
    for name in files:
        (tmp_path / name).touch()
    group = Group(places(tmp_path, version))
    assert group.oom_file == tmp_path / files[0]
    assert group.cpu_file == (tmp_path / files[1], cpu)
    assert group.throttle_file == (tmp_path / "cpu.stat" if version == 2 else None)
    assert group.freezer == (tmp_path / freezer[0], *freezer[1:])
    assert group.peak_file is None


@pytest.mark.parametrize("version", [1, 2])
def test_what_tells_of_a_limit_of_cores_lies_with_the_controller_that_holds_it(tmp_path: Path, version: int) -> None:
    """Version 2 has a file of this name without it, too, where nothing is said of limits."""
    for name in ("cpu", "cpuacct"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "cpu.stat").touch()
    found = {name: Hierarchy(tmp_path / name, version) for name in ("cpu", "cpuacct")}
    assert Group(found).throttle_file == tmp_path / "cpu" / "cpu.stat"
    del found["cpu"]
    assert Group(found).throttle_file is None


def test_what_a_dead_referee_left_is_swept_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Claimed folders belong to somebody who lives; others' names are others'."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, lived_in, foreign = tmp_path / f"{PREFIX}1", tmp_path / f"{PREFIX}2", tmp_path / "crosstown-other"
    os.close(claim(left))
    (left / "a" / "b").mkdir(parents=True)
    lock = claim(lived_in)
    foreign.mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(foreign)
    assert sweep_folders() == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{PREFIX}2", f"{PREFIX}link", "crosstown-other"]
    os.close(lock)
    assert sweep_folders() == 1


def test_a_group_that_was_left_is_swept(tmp_path: Path) -> None:
    groups = Cgroups({"pids": Hierarchy(tmp_path, 1), "memory": Hierarchy(tmp_path, 1)})
    os.close(claim(tmp_path / f"{PREFIX}left"))
    held = claim(tmp_path / f"{PREFIX}held")
    assert groups.sweep() == 1
    assert [path.name for path in tmp_path.iterdir()] == [f"{PREFIX}held"]
    os.close(held)
