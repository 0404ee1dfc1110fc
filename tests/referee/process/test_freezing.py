"""A bot that is frozen between its decisions: stopped as a whole, and as easy to end as any other."""

import asyncio
import os
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from referee.process import bot as bot_module
from referee.process.bot import BotProcess, Freezer
from referee.process.cgroup import PREFIX, Cgroups, Group, Hierarchy, find
from referee.process.launch import LaunchContext
from referee.process.limits import ProcessLimits
from referee.process.meter import Meter
from referee.process.processes import places
from referee.process.sandbox import Sandbox

pytestmark = pytest.mark.strict_sandbox

BOTH = pytest.mark.parametrize("sandbox", [Sandbox(), Sandbox("strict")], ids=["plain", "strict"])


@pytest.fixture
async def begin(mark: Any, mock_bot: Any) -> Any:
    """begin(name of a mock bot, sandbox, groups or none, option=value...) -> a running bot; ended with the test."""
    started: list[BotProcess] = []

    async def start(name: str, sandbox: Sandbox, cgroups: Cgroups, **options: Any) -> BotProcess:
        bot = await BotProcess.start(
            mock_bot(name, **options),
            address="unix:/nowhere",
            token=mark.value,
            limits=ProcessLimits(start_timeout_s=60),
            env=mark.env,
            context=LaunchContext(sandbox, cgroups),
        )
        started.append(bot)
        return bot

    yield start
    for bot in started:
        await bot.stop(0)
    assert mark.alive() == []


@BOTH
async def test_a_frozen_bot_whose_guardian_is_killed_is_gone_with_its_groups(
    begin: Any, mark: Any, sandbox: Sandbox
) -> None:
    bot = await begin("slow", sandbox, find())
    folders = bot._group.folders if bot._group else ()
    bot.freeze()
    await asyncio.sleep(0.05)
    os.kill(bot.guardian_pid, signal.SIGKILL)
    await bot.wait_gone()
    assert mark.alive() == []
    assert not any(folder.exists() for folder in folders)


@BOTH
@pytest.mark.parametrize("groups", [True, False], ids=["groups", "signals"])
async def test_the_end_of_a_frozen_bot_that_somebody_kills_is_known_once_it_is_thawed(
    begin: Any, sandbox: Sandbox, groups: bool
) -> None:
    bot = await begin("slow", sandbox, find() if groups else Cgroups())
    bot.freeze()
    os.kill(bot.pid, signal.SIGKILL)
    bot.thaw()
    end = await bot.wait()
    assert (end.code, end.signal, end.guardian_lost) == (None, signal.SIGKILL, False)


def test_without_a_control_group_groups_are_stopped_as_one_so_that_nobody_slips_from_id_to_id(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each look finds another process of the group, but for one that finds none."""
    looks = iter([(11, 12), (), (13,), (14,), (15,), (16,), (17,)])
    sent: list[tuple[int, int]] = []
    meter = Meter(0)
    monkeypatch.setattr(meter, "look", lambda: next(looks))
    monkeypatch.setattr(bot_module, "places", lambda pids: {pid: (1, 10 if pid != 17 else 17, 10) for pid in pids})
    monkeypatch.setattr(bot_module, "send", lambda target, number: sent.append((target, number)))
    monkeypatch.setattr(bot_module, "stop_threads", lambda pid: None)
    monkeypatch.setattr(bot_module, "MOST_PASSES", 7)
    one = Freezer(meter)
    one.freeze()
    assert sent[0] == (-10, signal.SIGSTOP)
    assert [target for target, _ in sent] == [-10, 11, 12, 13, 14, 15, 16, -17, 17]
    one.thaw()
    assert sorted(sent[9:]) == [(target, signal.SIGCONT) for target in (-17, -10, 11, 12, 13, 14, 15, 16, 17)]


@pytest.mark.parametrize(("of_a_pass_ms", "passes"), [(0.1, 50), (6, 9), (30, 4), (1000, 4)])
def test_what_cannot_be_stopped_does_not_hold_up_the_other_matches_for_long(
    monkeypatch: pytest.MonkeyPatch, of_a_pass_ms: float, passes: int
) -> None:
    looks = 0

    def look() -> tuple[int, ...]:
        nonlocal looks
        looks += 1
        return (looks + 10,)  # another each time

    meter = Meter(0)
    monkeypatch.setattr(meter, "look", look)
    monkeypatch.setattr(bot_module, "places", lambda pids: {pid: (1, pid, pid) for pid in pids})
    monkeypatch.setattr(bot_module, "send", lambda target, number: None)
    monkeypatch.setattr(bot_module, "stop_threads", lambda pid: None)
    monkeypatch.setattr("referee.process.bot.time.thread_time_ns", lambda: round(looks * of_a_pass_ms * 1e6))
    Freezer(meter).freeze()
    assert looks == passes


@BOTH
async def test_a_bot_that_forks_and_exits_without_end_is_stopped_without_a_control_group(
    begin: Any, until: Any, sandbox: Sandbox
) -> None:
    bot = await begin("hopping", sandbox, Cgroups())
    for _ in range(5):
        before = len(bot.output().stdout_text())
        await until(lambda before=before: len(bot.output().stdout_text()) > before + 20)
        bot.freeze()
        await asyncio.sleep(0.02)  # what is in the pipe is still read
        printed = len(bot.output().stdout_text())
        await asyncio.sleep(0.05)
        assert len(bot.output().stdout_text()) <= printed + 1  # of a write that had begun
        bot.thaw()


def states(pids: Iterable[int]) -> dict[int, list[str]]:
    """Of the threads of each process."""
    files = {pid: Path(f"/proc/{pid}/task").glob("*/stat") for pid in pids}
    return {pid: [file.read_text().rpartition(") ")[2][0] for file in found] for pid, found in files.items()}


def nothing_runs(bot: BotProcess) -> bool:
    """All are stopped, gone, or in a call that no signal ends."""
    return all(state in "TZD" for of_one in states(bot._meter.look()).values() for state in of_one)


@BOTH
async def test_threads_beside_one_that_waits_for_a_child_of_vfork_are_stopped_without_a_control_group(
    begin: Any, until: Any, sandbox: Sandbox
) -> None:
    bot = await begin("continuing", sandbox, Cgroups(), way="vfork")
    await until(lambda: "ready" in bot.output().stdout_text())
    await until(lambda: any("D" in of_one for of_one in states(bot._meter.look()).values()))
    bot.freeze()
    await until(lambda: nothing_runs(bot))
    bot.thaw()
    await until(lambda: any("R" in of_one for of_one in states(bot._meter.look()).values()))


@BOTH
@pytest.mark.parametrize("way", ["parent", "group"])
async def test_what_the_kernel_continues_when_another_process_ends_is_stopped_again_without_a_control_group(
    begin: Any, until: Any, sandbox: Sandbox, way: str
) -> None:
    bot = await begin("continuing", sandbox, Cgroups(), way=way)
    await until(lambda: "ready" in bot.output().stdout_text())
    bot.freeze()
    await until(lambda: nothing_runs(bot))
    last = bot._meter.look()[-1]
    parent = places([last])[last][0]
    os.kill(parent, signal.SIGKILL)  # as one that was killed before, and was in a long system call
    await until(lambda: places([last])[last][0] != parent)
    await until(lambda: nothing_runs(bot))


@pytest.mark.parametrize("separate", [True, False])
def test_the_freezers_group_is_the_first_to_be_ended_and_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, separate: bool
) -> None:
    names = ("memory", "pids", "freezer")
    places = {name: Hierarchy(tmp_path / (name if separate else "all"), 1 if separate else 2) for name in names}
    ended: list[Path] = []
    monkeypatch.setattr("referee.process.cgroup.end_group", ended.append)
    for place in places.values():
        (place.folder / f"{PREFIX}left").mkdir(parents=True, exist_ok=True)
    Group(places).remove()
    assert ended == [tmp_path / "freezer", tmp_path / "memory", tmp_path / "pids"] if separate else [tmp_path / "all"]
    ended.clear()
    Cgroups(places).sweep()
    assert [folder.parent.name for folder in ended] == (["freezer", "memory", "pids"] if separate else ["all"])
