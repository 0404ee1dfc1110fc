"""Two processes of one bot in two sandboxes share files of the machine. No bit passes through what they share."""

import asyncio
import json
import os
import shutil
import uuid
from contextlib import nullcontext
from pathlib import Path

import pytest

from referee.process.bot import BotProcess
from referee.process.entry import Entry, load_entry
from referee.process.launch import LaunchContext
from referee.process.limits import ProcessLimits
from referee.process.sandbox import Profile, Sandbox

pytestmark = pytest.mark.strict_sandbox

CHANNEL = Path(__file__).parents[1] / "bots" / "channel"
WAYS = (
    "a lock by flock",
    "a lock by fcntl",
    "a lock of an open file description",
    "a lease",
    "inotify",
    "inotify in /usr",
    "dnotify",
    "fanotify",
    "the count of open files",
    "the count of asynchronous reads",
    "the count of pseudo-terminals",
    "a hint for what is written",
    "the extents that ext4 has in memory",
    "asking whether a page is in memory (preadv2)",
    "asking whether a page is in memory (mincore)",
)
ROOT_ONLY = {"fanotify"}
UP_TO_THE_KERNEL = {"dnotify"}
"""Not every kernel is built with it (CONFIG_DNOTIFY)."""

EXT4_ONLY = {"the extents that ext4 has in memory"}
PATIENCE_S = 60.0


async def start(entry: Entry, profile: Profile) -> BotProcess:
    return await BotProcess.start(
        entry,
        address="unix:/nowhere",
        token=uuid.uuid4().hex,
        limits=ProcessLimits(start_timeout_s=60, open_files=2048),
        context=LaunchContext(Sandbox(profile)),
    )


async def until_printed(bot: BotProcess, word: str) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while word not in bot.output().stdout_text():
            assert bot.exited is None, bot.output().stderr_text()
            await asyncio.sleep(0.01)


async def received(folder: Path, profile: Profile, *, sent: bool) -> dict[str, str]:
    """What came through in each way, with or without a sender beside the receiver."""
    # Both first: to load an entry is to read the files that they share, which brings these into memory.
    receives = load_entry(folder, options={"role": "receiver"})
    sends = load_entry(folder, options={"role": "sender"})
    assert receives.home == sends.home
    last_look = receives.home / "last-look"
    last_look.touch()
    for path in receives.home.glob("shared-*"):
        with path.open("rb") as file:
            os.fsync(file.fileno())  # a page that is still to be written cannot be dropped from memory
    async with await start(receives, profile) as receiver:
        await until_printed(receiver, "ready")
        async with await start(sends, profile) if sent else nullcontext() as sender:
            if sender:
                await until_printed(sender, "sent")
            os.utime(last_look, (0, 0))
            await receiver.wait()
        outcome: dict[str, str] = json.loads(receiver.output().stdout_text().splitlines()[-1])
    assert set(outcome) == set(WAYS)
    return outcome


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    folder = tmp_path_factory.mktemp("channel") / "bot"
    shutil.copytree(CHANNEL, folder)
    for number in range(len(WAYS)):
        with (folder / f"shared-{number}").open("wb") as file:
            file.write(bytes(1 << 16))
    (folder / "last-look").touch()
    (folder / "apart").mkdir()
    (folder / "apart" / "file").write_bytes(bytes(1 << 12))

    async def all_three() -> dict[str, dict[str, str]]:
        return {
            "plain, nobody sends": await received(folder, "plain", sent=False),
            "plain": await received(folder, "plain", sent=True),
            "strict": await received(folder, "strict", sent=True),
        }

    return asyncio.run(all_three())


@pytest.mark.parametrize("way", WAYS)
def test_a_bit_passes_between_two_plain_bots(outcomes: dict[str, dict[str, str]], way: str) -> None:
    """So the attempt is real, and what arrives is what was sent."""
    if way in ROOT_ONLY and os.getuid() != 0:
        assert outcomes["plain"][way] != "nothing"
        return
    if way in UP_TO_THE_KERNEL and "Invalid argument" in outcomes["plain"][way]:
        pytest.skip("this kernel does not have it")
    if way in EXT4_ONLY and "Inappropriate ioctl" in outcomes["plain"][way]:
        pytest.skip("the bots lie on another file system")
    assert (outcomes["plain, nobody sends"][way], outcomes["plain"][way]) == ("nothing", "arrived")


@pytest.mark.parametrize("way", WAYS)
def test_no_bit_passes_between_two_strict_bots(outcomes: dict[str, dict[str, str]], way: str) -> None:
    assert outcomes["strict"][way] != "arrived"
