"""Matches that are cancelled while their bots start: with sandbox and control groups there is much to take back."""

import asyncio
import time
from pathlib import Path

import pytest
from arena import BOTH, Arena, open_files

from referee.match import EndReason
from referee.process.sandbox import Profile

MOMENTS = 16
STEP_S = 0.004
"""A start takes some hundredths of a second, up to the program's first step."""

SLEEPER = 'name = "sleeper"\nversion = "1"\ngames = ["*"]\nrun = ["sleep", "600"]\n'


@pytest.mark.parametrize("profile", BOTH)
@pytest.mark.parametrize("times", [1, 2])
async def test_a_match_that_is_cancelled_at_any_moment_of_its_start_leaves_nothing(
    arena: Arena, profile: Profile, tmp_path: Path, times: int
) -> None:
    """Nor if it is cancelled again while it takes things back. The table plays on."""
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: complaints.append(context))
    (tmp_path / "sleeper").mkdir()
    (tmp_path / "sleeper" / "bot.toml").write_text(SLEEPER)
    sleepers = [arena.own(tmp_path / "sleeper", f"sleeper {number}") for number in range(2)]
    await arena.play(arena.good(0), arena.good(1))
    before, files = set(arena.left()), open_files()
    for moment in range(MOMENTS):
        spec = arena.spec(*sleepers)
        playing = asyncio.ensure_future(arena.table.play(spec, arena.records))
        await asyncio.sleep(moment * STEP_S)
        for _ in range(times):
            playing.cancel()
            await asyncio.sleep(0)
        await asyncio.wait([playing])
        assert playing.cancelled()
        footer = arena.record(spec).footer
        assert footer is not None
        assert footer.reason == EndReason.CANCELLED
    end_s = time.monotonic() + 5
    while (set(arena.left()) - before or open_files() > files) and time.monotonic() < end_s:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    assert set(arena.left()) - before == set()
    assert open_files() <= files
    after, _ = await arena.play(arena.good(0), arena.good(1))
    assert (after.reason, after.faults) == (EndReason.NORMAL, (None, None))
    assert complaints == []
