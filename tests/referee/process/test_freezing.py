"""A bot that is frozen between its decisions: stopped as a whole, and as easy to end as any other."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from referee.process.bot import BotProcess
from referee.process.cgroup import PREFIX, Cgroups, Group, Hierarchy, find
from referee.process.launch import Ground
from referee.process.limits import ProcessLimits
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
            token="secret",
            limits=ProcessLimits(start_timeout_s=60),
            env=mark.env,
            ground=Ground(sandbox, cgroups),
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
