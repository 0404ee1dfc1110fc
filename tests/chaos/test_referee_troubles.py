"""The referee's own troubles: never a bot's loss. (A worker killed, a full disk and a locked database are tested where
they are handled: `tests/end_to_end/test_run.py`, `tests/referee/match/test_platform_faults.py`,
`tests/leaderboard/test_store.py`.)"""

import ast
import asyncio
import os
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from arena import Arena, open_files
from crosstown_proto.v1 import referee_pb2 as pb
from deeds import NORMAL, Case

from referee.match import EndReason, Table
from referee.process.entry import load_entry
from referee.process.sandbox import Sandbox

ROOT = Path(__file__).resolve().parents[2]
R = EndReason
HONEST = Case("none", "later", NORMAL)
GREEDY = Path(__file__).parent / "bots" / "greedy"
CONNECTIONS = 600


@contextmanager
def at_most_files(number: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize("spare", [0, 1, 4, 8])
async def test_out_of_file_descriptors_is_a_platform_fault(arena: Arena, spare: int) -> None:
    """CRA-6, CRA-16: void, whoever's bot was being started; the table says so, and plays on when there are some."""
    await arena.play(arena.good(0), arena.good(1))  # what is opened once is open
    spec = arena.spec(*(arena.chaos(HONEST, salt) for salt in (1, 2)))
    with at_most_files(open_files() + spare):
        result = await arena.table.play(spec, arena.records)
    assert (result.status, result.reason, result.ranking) == ("void", R.PLATFORM_FAULT, ()), result.detail
    assert "Too many open files" in result.detail
    after, _ = await arena.play(arena.good(0), arena.good(1))
    assert (after.reason, after.faults) == (R.NORMAL, (None, None))


@pytest.mark.parametrize("profile", [pytest.param("strict", marks=pytest.mark.strict_sandbox), "plain"])
async def test_a_bot_that_connects_without_end_takes_no_file_descriptor_that_others_need(
    place: Path, tmp_path: Path, profile: str
) -> None:
    """It plays on, and waits for its next match, with the one connection it has; others start and play beside it."""
    greedy = load_entry(GREEDY, options={"connections": CONNECTIONS})
    arena = Arena(place, tmp_path / "records", entries={greedy.id: greedy})
    arena.profile = profile
    others = [arena.good(number) for number in range(3)]
    sandboxes = {entry.id: Sandbox(profile) for entry in (greedy, *others)}
    async with Table(arena.entries, cgroups=arena.groups, sandboxes=sandboxes) as arena.table:
        await arena.play(*others[:2])  # what is opened once is open
        before = open_files()
        with at_most_files(before + CONNECTIONS // 2):
            result, _ = await arena.play(greedy, others[2])
            assert (result.reason, result.faults) == (R.NORMAL, (None, None)), result.detail
            result, _ = await arena.play(*others[:2])
            assert (result.reason, result.faults) == (R.NORMAL, (None, None)), result.detail
            output = next(bot for bot in arena.table.waiting() if bot.entry == greedy).output()
            assert f"{CONNECTIONS} of {CONNECTIONS} refused" in output.stdout_text()
            assert open_files() - before < 100
    await arena.nothing_is_left()


async def test_a_wall_clock_that_jumps_changes_nothing(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    real, jumps = time.time, iter(range(10**9))
    monkeypatch.setattr(time, "time", lambda: real() + (next(jumps) % 7 - 3) * 86_400)
    result, _ = await arena.play(arena.good(0), arena.good(1))
    assert (result.reason, result.faults) == (R.NORMAL, (None, None))


def test_no_deadline_is_counted_by_the_wall_clock() -> None:
    """Only the monotonic clock may be read where matches are played, but for the header's date, and the ages of
    certificates and of what builds keep."""
    found = []
    for folder in ("match", "wire", "process"):
        for path in (ROOT / "referee" / folder).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Attribute) and ast.unparse(node) in (
                    "time.time",
                    "time.time_ns",
                    "datetime.now",
                ):
                    found.append(f"{path.name}: {ast.unparse(node)}")
    assert sorted(found) == [
        "build.py: time.time_ns",
        "homes.py: time.time",
        "public_address.py: time.time",
        "table.py: datetime.now",
    ]


@pytest.mark.parametrize("stands_s", [0.4, 1.5])
async def test_an_event_loop_that_stands_still_costs_no_bot_anything(arena: Arena, stands_s: float) -> None:
    """TIM-1: several times longer than the limit of a move."""
    slow = arena.chaos(Case("under", "later", NORMAL))
    clocks = {0: {"move_s": 0.3}, 1: {"move_s": 0.3}}
    playing = asyncio.ensure_future(arena.play(slow, arena.good(0), clocks=clocks))
    while not playing.done():
        await asyncio.sleep(0.05)
        if any(path.stat().st_size > 800 for path in arena.records.glob("*.jsonl")):
            time.sleep(stands_s)  # noqa: ASYNC251 - standing still is what is tested
            stands_s = 0
    result, _ = await playing
    assert (result.reason, result.faults) == (R.NORMAL, (None, None))


async def test_outsiders_that_find_the_socket_get_nowhere(arena: Arena) -> None:
    """Junk, foreign tokens, and connections by the hundred to every socket, while a match is played."""
    address = arena.table.address
    folder = Path(address.removeprefix("unix:")).parent
    raw: list[socket.socket] = []
    bots = arena.chaos(HONEST, 3), arena.good(0)
    await arena.play(*bots)
    found = sorted(folder.iterdir())
    assert len(found) == 3  # the table's, and one of each bot
    playing = asyncio.ensure_future(arena.play(*bots))
    for number in range(300):
        line = socket.socket(socket.AF_UNIX)
        line.setblocking(False)
        try:
            line.connect(str(found[number % len(found)]))
            line.send(os.urandom(64) if number % 2 else b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        except OSError:
            pass
        raw.append(line)
        if number % 20 == 0:
            await asyncio.sleep(0)
    async with grpc.aio.insecure_channel(address) as channel:
        call = channel.stream_stream("/crosstown.v1.Referee/Play")()
        await call.write(pb.BotMessage(hello=pb.Hello(protocol=1, token="guessed")).SerializeToString())
        with pytest.raises(grpc.aio.AioRpcError, match="UNAUTHENTICATED"):
            await call.read()
    result, _ = await playing
    assert (result.reason, result.faults) == (R.NORMAL, (None, None))
    for line in raw:
        line.close()


async def test_a_slow_disk_costs_no_bot_anything(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    """TIM-2: what is made durable is made so off the event loop, beside matches that go on."""
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (time.sleep(0.7), sync(fd))[1])
    clocks = {0: {"move_s": 0.4}, 1: {"move_s": 0.4}}
    slow = [arena.chaos(Case("under", "later", NORMAL), salt) for salt in range(3)]
    plays = [arena.play(entry, arena.good(0), clocks=clocks) for entry in slow]
    for result, _ in await asyncio.gather(*plays):
        assert (result.reason, result.faults) == (R.NORMAL, (None, None))
