"""What memory there is for bots: the machine's, or that of the smallest control group around the referee."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from referee.process.cgroup import memory_limit
from referee.process.limits import RESERVE_MIB, Room, Share, memory_room

MIB = 1 << 20
V1_MOUNT = "33 24 0:29 / /sys/fs/cgroup/memory rw shared:5 - cgroup cgroup rw,memory\n"
V2_MOUNT = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
NONE_IN_V1 = "9223372036854771712\n"


def machine(root: Path, own: str, mounts: str, files: Mapping[str, str]) -> Path:
    for name, content in {"proc/self/cgroup": own, "proc/self/mountinfo": mounts, **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({"a/b/memory.max": f"{900 * MIB}\n", "a/memory.max": "max\n"}, 900),
        ({"a/b/memory.max": "max\n", "a/memory.max": f"{800 * MIB}\n"}, 800),
        ({"memory.max": f"{700 * MIB}\n", "a/memory.max": f"{800 * MIB}\n"}, 700),  # a container's own root
        ({"a/b/memory.max": "max\n", "a/memory.max": "max\n"}, None),
        ({}, None),
    ],
)
def test_version_2_the_smallest_limit_of_our_group_and_those_around_it(
    tmp_path: Path, files: dict[str, str], limit: int | None
) -> None:
    there = {f"sys/fs/cgroup/{name}": content for name, content in files.items()}
    found = memory_limit(machine(tmp_path, "0::/a/b\n", V2_MOUNT, there))
    assert (found and found[0]) == (limit and limit * MIB)


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({"a/b": f"{900 * MIB}\n", "a": NONE_IN_V1, ".": NONE_IN_V1}, 900),
        ({"a/b": NONE_IN_V1, "a": f"{800 * MIB}\n"}, 800),
        ({"a/b": NONE_IN_V1, "a": NONE_IN_V1, ".": NONE_IN_V1}, None),
    ],
)
def test_version_1_the_smallest_limit_of_our_group_and_those_around_it(
    tmp_path: Path, files: dict[str, str], limit: int | None
) -> None:
    there = {f"sys/fs/cgroup/memory/{name}/memory.limit_in_bytes": content for name, content in files.items()}
    found = memory_limit(machine(tmp_path, "5:memory:/a/b\n4:pids:/x\n", V1_MOUNT, there))
    assert (found and found[0]) == (limit and limit * MIB)


def test_a_machine_without_control_groups_has_its_own_memory(tmp_path: Path) -> None:
    assert memory_room(tmp_path).source == "this machine"
    assert memory_room(tmp_path).mib > 0


@pytest.mark.parametrize("pages", [1 << 10, 1 << 50])
def test_of_the_machines_memory_tcp_keeps_what_it_may_take_up_to_a_part(tmp_path: Path, pages: int) -> None:
    """No control group counts what lies in connections that nobody accepts."""
    whole = memory_room(tmp_path)
    tcp_mib = pages * os.sysconf("SC_PAGE_SIZE") // MIB
    (tmp_path / "proc/sys/net/ipv4").mkdir(parents=True)
    (tmp_path / "proc/sys/net/ipv4/tcp_mem").write_text(f"1\t2\t{pages}\n")
    assert memory_room(tmp_path) == Room(
        whole.mib - min(tcp_mib, whole.mib // 8), "this machine, without what TCP may take,"
    )


def test_a_group_with_less_than_the_machine_is_named(tmp_path: Path) -> None:
    root = machine(tmp_path, "0::/a\n", V2_MOUNT, {"sys/fs/cgroup/a/memory.max": f"{64 * MIB}\n"})
    assert memory_room(root) == Room(64, f"the control group of the referee ({root}/sys/fs/cgroup/a/memory.max)")


@pytest.mark.parametrize(("workers", "bots"), [(1, 2), (2, 4), (4, 24)])
def test_all_bots_at_their_limits_and_the_referee_fit_together(workers: int, bots: int) -> None:
    share = Share(Room(8192, "this machine"), workers, bots)
    assert share.mib * bots + RESERVE_MIB * (workers + 1) <= 8192
    assert (share.mib + 1) * bots + RESERVE_MIB * (workers + 1) > 8192
