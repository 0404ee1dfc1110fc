"""Whose memory was at its end, when the kernel takes a bot: its own, or the machine's."""

import os
import secrets
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.process import guardian as guardians
from referee.process import supervised_command
from referee.process.bot import BotProcess, Exit
from referee.process.cgroup import Cgroups, Group, GroupLimits, Hierarchy, end_group, find
from referee.process.entry import load_entry
from referee.process.guardian import Guardian
from referee.process.launch import BOT_OOM_SCORE, LaunchContext
from referee.process.limits import ProcessLimits
from referee.process.sandbox import Sandbox
from referee.process.supervised_command import Ended
from tests.control_groups import needs_group

MIB = 1 << 20
KILLED = "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"
PEAK, SWAP_PEAK = "memory.max_usage_in_bytes", "memory.memsw.max_usage_in_bytes"
HOLDS = "held = [bytearray(b'x' * (1 << 20)) for _ in range(170)]\nprint('held it all')\n"


@pytest.fixture
def crowded() -> Iterator[Cgroups]:
    """Control groups below one that has 100 MiB of memory."""
    needs_group("memory")
    groups = find()
    memory = groups.hierarchies["memory"]
    around = Cgroups({"memory": memory}).make(GroupLimits(memory_bytes=100 * MIB))
    if memory.version == 2:
        (around.folders[0] / "cgroup.subtree_control").write_text("+memory")
    below = replace(groups, hierarchies={"memory": replace(memory, folder=around.folders[0])})
    yield below
    end_group(around.folders[0])
    around.close()


async def end_of(entry: Any, mark: Any, sandbox: Sandbox, cgroups: Cgroups, limit_mib: int) -> Exit:
    bot = await BotProcess.start(
        entry,
        address="unix:/nowhere",
        token=secrets.token_hex(8),
        limits=ProcessLimits(memory_bytes=limit_mib * MIB, start_timeout_s=60),
        env=mark.env,
        context=LaunchContext(sandbox, cgroups),
    )
    async with bot:
        return await bot.wait()


def score_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/oom_score_adj").read_text())


@pytest.mark.strict_sandbox
@pytest.mark.parametrize("sandbox", [Sandbox(), Sandbox("strict")], ids=["plain", "strict"])
async def test_the_kernel_takes_a_bot_and_its_children_before_the_referee(
    write_bot: Any, mark: Any, until: Any, sandbox: Sandbox
) -> None:
    """When the machine has no memory left. A bot under `strict` cannot change that: see `test_sandbox.py`."""
    source = (
        "import signal, subprocess\n"
        "look = ['cat', '/proc/self/oom_score_adj']\n"
        "print(open(look[1]).read(), subprocess.check_output(look, text=True), flush=True)\n"
        "signal.pause()\n"
    )
    bot = await BotProcess.start(
        load_entry(write_bot({"bot.py": source})),
        address="unix:/nowhere",
        token=secrets.token_hex(8),
        limits=ProcessLimits(start_timeout_s=60),
        env=mark.env,
        context=LaunchContext(sandbox),
    )
    async with bot:
        await until(lambda: len(bot.output().stdout_text().split()) == 2 or bot.exited)
        guardian = score_of(bot.guardian_pid)  # while the bot lives: its guardian ends with it
    assert [int(word) for word in bot.output().stdout_text().split()] == [BOT_OOM_SCORE] * 2, bot.output().stderr_text()
    assert guardian == score_of(os.getpid()) < BOT_OOM_SCORE


@pytest.mark.strict_sandbox
@pytest.mark.parametrize("sandbox", [Sandbox(), Sandbox("strict")], ids=["plain", "strict"])
@pytest.mark.parametrize(("limit_mib", "own"), [(2048, False), (60, True)])
async def test_only_a_bot_that_was_at_its_own_limit_is_out_of_memory(
    crowded: Cgroups, write_bot: Any, mark: Any, sandbox: Sandbox, limit_mib: int, own: bool
) -> None:
    """Where there are no control groups: see the table below."""
    end = await end_of(load_entry(write_bot({"bot.py": HOLDS})), mark, sandbox, crowded, limit_mib)
    assert end.signal == 9
    assert (end.out_of_memory, end.machine_out_of_memory) == (own, not own)
    limit = "at its memory limit" if own else "by the kernel, because the machine had no memory left"
    assert str(end) == f"killed {limit}"


@pytest.mark.parametrize(
    ("version", "files", "code", "whose"),
    [
        (1, {"memory.oom_control": KILLED, PEAK: "64000000\n"}, -9, 1),
        (1, {"memory.oom_control": KILLED, PEAK: "63500000\n"}, -9, 1),
        (1, {"memory.oom_control": KILLED, PEAK: "61000000\n"}, -9, 2),
        (1, {"memory.oom_control": KILLED, PEAK: "61000000\n", SWAP_PEAK: "63990000"}, -9, 1),
        (1, {"memory.oom_control": "oom_kill 0\n", PEAK: "64000000\n"}, -9, 0),
        (1, {"memory.oom_control": KILLED, PEAK: "64000000\n"}, 0, 0),
        (2, {"memory.events": "low 0\nhigh 0\nmax 70\noom 3\noom_kill 1\noom_group_kill 0\n"}, 1, 1),
        (2, {"memory.events": "low 0\nhigh 0\nmax 70\noom 0\noom_kill 1\noom_group_kill 0\n"}, 1, 2),
        (2, {"memory.events": "low 0\nhigh 0\nmax 70\noom 0\noom_kill 0\noom_group_kill 0\n"}, 1, 0),
    ],
)
def test_what_the_kernels_counters_say(
    tmp_path: Path, version: int, files: dict[str, str], code: int, whose: int
) -> None:
    for name, content in {"memory.limit_in_bytes": "64000000\n", **files}.items():
        (tmp_path / name).write_text(content)
    group = Group({"memory": Hierarchy(tmp_path, version)})
    settings = {"oom": [str(group.oom_file)], "full": [f"{path}:{least}" for path, least in group.full_files]}
    assert Guardian(settings, 0).see_memory(code) == whose


@pytest.mark.parametrize(
    ("line", "ended"),
    [
        (b"signal 9 10 20 1\n", Ended(-9, "", out_of_memory=True)),
        (b"exit 1 10 20 2\n", Ended(None, "killed by the kernel, because the machine had no memory left")),
        (b"exit 1 10 20 0\n", Ended(1)),
        (b"failed 11 fork\n", Ended(None, f"not started: {os.strerror(11)} (step 'fork')", machine_short=True)),
        (b"failed 2 exec\n", Ended(None, f"not started: {os.strerror(2)} (step 'exec')")),
    ],
)
def test_a_build_is_told_whose_memory_it_was_and_what_the_machine_is_short_of(line: bytes, ended: Ended) -> None:
    assert supervised_command._ended(line, "") == ended


@pytest.mark.parametrize(
    ("code", "before", "after", "whose"), [(-9, 3, 4, 2), (-9, 3, 3, 0), (-11, 3, 4, 0), (137, 3, 4, 0), (1, 3, 4, 0)]
)
def test_without_a_control_group_a_kill_is_the_machines_if_the_kernel_took_somebody_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, before: int, after: int, whose: int
) -> None:
    vmstat = tmp_path / "vmstat"
    monkeypatch.setattr(guardians, "HOST_EVENTS", str(vmstat))
    vmstat.write_text(f"nr_free_pages 1\noom_kill {before}\n")
    guardian = guardians.Guardian({}, 0)
    vmstat.write_text(f"nr_free_pages 2\noom_kill {after}\n")
    assert guardian.see_memory(code) == whose


@pytest.mark.parametrize(("later_s", "again", "whose"), [(2.0, False, 2), (4.0, False, 0), (4.0, True, 2)])
def test_without_a_control_group_only_a_kill_just_now_counts_that_was_seen_while_the_bot_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later_s: float, again: bool, whose: int
) -> None:
    """Else a bot could see one, wait until it loses, and end itself."""
    vmstat = tmp_path / "vmstat"
    monkeypatch.setattr(guardians, "HOST_EVENTS", str(vmstat))
    now_s = 100.0
    monkeypatch.setattr("referee.process.guardian.time.monotonic", lambda: now_s)
    vmstat.write_text("oom_kill 3\n")
    guardian = guardians.Guardian({}, 0)
    vmstat.write_text("oom_kill 4\n")
    guardian.look_at_kernel()
    now_s += later_s
    if again:
        vmstat.write_text("oom_kill 5\n")
    assert guardian.see_memory(-9) == whose


def test_a_guardian_looks_at_the_kernel_while_its_bot_runs_where_no_control_group_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Even if processes of the bot come and go without end, of each of which it hears."""
    control, referee = socket.socketpair()
    born, unborn = os.pipe()
    looks = 0

    def look(_: Guardian) -> None:
        nonlocal looks
        looks += 1
        if looks >= 3:
            referee.send(b"k")

    monkeypatch.setattr(guardians, "CONTROL", control.fileno())
    monkeypatch.setattr(guardians, "KERNEL_LOOK_MS", 1)
    monkeypatch.setattr(guardians, "watch_parent", lambda: None)
    monkeypatch.setattr(Guardian, "reap", lambda self: True)
    monkeypatch.setattr(Guardian, "look_at_kernel", look)
    wake, waker = os.pipe()
    os.write(waker, b"x")
    monkeypatch.setattr(guardians, "drain", lambda file: None)
    Guardian({}, wake).watch(born)
    assert looks >= 3
    control.close()
    referee.close()
    for file in (born, unborn, wake, waker):
        os.close(file)
