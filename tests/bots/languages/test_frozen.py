"""A starter of each language frozen as `ponder = false` freezes it: in its sandbox, by its control group where there
are any, over the socket that it is given."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from crosstown_proto.v1 import referee_pb2 as pb

from referee.process.bot import BotProcess
from referee.process.cgroup import find
from referee.process.entry import Entry
from referee.process.launch import LaunchContext
from referee.process.limits import ProcessLimits
from referee.process.sandbox import Sandbox
from referee.wire import WireServer
from referee.wire.encode import WireLimits

TOLD = WireLimits(1 << 20, 4096, 65536, 60_000_000, frozen_off_turn=True)
PATIENCE_S = 60


@pytest.mark.strict_sandbox
@pytest.mark.parametrize("seconds", [2, pytest.param(60, marks=pytest.mark.long)])
@pytest.mark.parametrize("language", ["reference", "go", "rust", "java", "typescript", "cpp"])
async def test_a_bot_that_is_frozen_off_turn_is_there_when_it_is_asked(
    starter: Callable[..., Entry],
    fair_index: Callable[[int, int, int], int],
    tmp_path: Path,
    language: str,
    seconds: int,
) -> None:
    """While it would ping every second."""
    heard: asyncio.Queue[pb.BotMessage | None] = asyncio.Queue()
    async with WireServer(tmp_path) as server:
        expected = server.expect("t" * 32, TOLD)
        bot = await BotProcess.start(
            starter(language),
            address=server.address,
            token="t" * 32,
            limits=ProcessLimits(),
            env={"CROSSTOWN_KEEPALIVE_S": "1"},
            context=LaunchContext(Sandbox("strict"), find()),
        )
        async with bot, asyncio.timeout(PATIENCE_S + seconds):
            session = await expected
            session.listen(lambda received: heard.put_nowait(received.message))
            start = pb.MatchStart(match="m", game="shibuya", rules_version=1, players=2, options="{}", bot_seed=3)
            session.send(pb.RefereeMessage(match_start=start).SerializeToString())
            assert await heard.get() == pb.BotMessage(ready=pb.Ready(match="m"))
            bot.freeze()
            await asyncio.sleep(seconds)  # what is tested is that so much time goes by
            assert not session.ended.done()
            bot.thaw()
            question = pb.Decide(match="m", decision=1, kind="turn", legal_count=1000)
            session.send(pb.RefereeMessage(decide=question).SerializeToString())
            answer = await heard.get()
            assert answer is not None
            assert answer.move.index == fair_index(3, 1, 1000)
            session.send(pb.RefereeMessage(bye=pb.Bye()).SerializeToString())
            assert (await bot.wait()).code == 0
