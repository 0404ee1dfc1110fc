"""A guardian that is killed in the middle of a match, with real processes."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from referee.games.api import resolve_options
from referee.games.registry import get_game
from referee.match import EndReason, Limits, MatchSpec, SeatSpec, Table
from referee.match.pool import Pool
from referee.process.entry import load_entry
from referee.process.sandbox import Sandbox
from referee.wire import encode

ROGUE = Path(__file__).resolve().parents[3] / "tests" / "mock_bots" / "grpc_rogue"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("profile", "reason"),
    [
        pytest.param("strict", EndReason.PLATFORM_FAULT, marks=pytest.mark.strict_sandbox),
        ("plain", EndReason.CRASHED),
    ],
)
async def test_it_makes_the_match_void_where_no_bot_can_have_done_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: Any, reason: EndReason
) -> None:
    """Without a sandbox it may have been the bot, which would buy a replay by that."""
    sleeps = load_entry(ROGUE, options={"deed": "spins", "at": 0, "delay_ms": 0})
    honest = load_entry(ROGUE, options={"deed": "honest", "at": 0, "delay_ms": 0})
    asked, bots = asyncio.Event(), []
    decide, acquire = encode.decide, Pool.acquire

    def decided(**fields: Any) -> bytes:
        asked.set()
        return decide(**fields)

    async def acquired(self: Pool, entry_id: str, *arguments: Any, **keys: Any) -> Any:
        bot = await acquire(self, entry_id, *arguments, **keys)
        bots.append((entry_id, bot))
        return bot

    monkeypatch.setattr(encode, "decide", decided)
    monkeypatch.setattr(Pool, "acquire", acquired)
    spec = MatchSpec(
        match_id="m-1",
        game="toy",
        options=resolve_options("toy", get_game("toy").options, {}),
        seats=(SeatSpec(sleeps.id, "a", "1"), SeatSpec(honest.id, "b", "1")),
        seed="00" * 16,
        limits=Limits(startup_s=60, ready_s=30, first_move_s=60, move_s=60),
    )
    entries = {entry.id: entry for entry in (sleeps, honest)}
    async with Table(entries, sandboxes=dict.fromkeys(entries, Sandbox(profile))) as table:
        match = asyncio.ensure_future(table.play(spec, tmp_path))
        await asyncio.wait_for(asked.wait(), 60)
        [bot] = [bot for entry_id, bot in bots if entry_id == sleeps.id]
        os.kill(bot.process.guardian_pid, signal.SIGKILL)
        result = await match
    assert result.reason is reason
    assert "killed together with its guardian" in result.detail
