"""A bot of the Python SDK and a referee elsewhere that is late, goes away, or does not want it."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from crosstown_proto.v1 import referee_pb2 as pb

from referee.wire import Status
from referee.wire.http2 import Call
from referee.wire.listener import Bounds, Listener, bind_tcp

PROGRAM = """
import sys
from crosstown_bot import Bot, client, run
client.REMOTE_LIMIT_S = {limit_s}
client.LEAST_RETURN_S = {limit_s}
class Counting(Bot):
    asked = started = 0
    def start(self, match):
        self.started += 1
    def choose(self, turn):
        self.asked += 1
        turn.note = f"asked {{self.asked}}, started {{self.started}}, options {{dict(self.options)}}"
        return self.asked - 1
run(Counting)
"""
LIMIT_S = 60
Script = Callable[[Any, pb.Hello], Awaitable[None]]


class Stub:
    """A referee whose n-th stream follows the n-th script."""

    def __init__(self, scripts: list[Script]) -> None:
        self.scripts = scripts
        self.hellos: list[pb.Hello] = []
        self.problems: list[BaseException] = []

    async def play(self, call: Call) -> None:
        hello = (await heard(call)).hello
        call.admit(1 << 20)
        self.hellos.append(hello)
        try:
            await self.scripts[len(self.hellos) - 1](call, hello)
        except (AssertionError, IndexError) as problem:
            self.problems.append(problem)
            raise


async def say(call: Call, **body: Any) -> None:
    call.send(pb.RefereeMessage(**body).SerializeToString())


async def heard(call: Call) -> pb.BotMessage:
    raw = await call.read()
    assert raw is not None
    return pb.BotMessage.FromString(raw)


def welcome(next_message: int = 1, session: str = "s") -> pb.Welcome:
    return pb.Welcome(protocol=1, session=session, reconnect_us=30_000_000, next_message=next_message)


START = pb.MatchStart(match="m", game="shibuya", players=2, options="{}")
DECIDE = pb.Decide(match="m", decision=1, legal_count=9)


async def until_asked(call: Call, _: pb.Hello) -> None:
    """A match begins; the stream ends before the answer is read."""
    await say(call, welcome=welcome())
    await say(call, match_start=START)
    assert (await heard(call)).HasField("ready")
    await say(call, decide=DECIDE)
    await call.read()
    call.finish(Status.UNAVAILABLE, "gone")


async def bye(call: Call, _: pb.Hello) -> None:
    await say(call, welcome=welcome(1, "other"))
    await say(call, bye=pb.Bye())
    await call.read()


def refuse(code: Status, words: str) -> Script:
    async def script(call: Call, _: pb.Hello) -> None:
        call.finish(code, words)

    return script


@pytest.fixture
async def serve() -> AsyncIterator[Callable[..., Any]]:
    servers: list[Listener] = []

    async def start(stub: Stub, port: int = 0) -> int:
        sockets = bind_tcp("127.0.0.1", port)
        made: int = sockets[0].getsockname()[1]
        server = Listener(sockets, stub.play, Bounds(4))
        server.start()
        servers.append(server)
        return made

    yield start
    for server in servers:
        await server.stop()


class Bot:
    """A process of the bot above."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: Any = None

    async def start(self, port: int, *, limit_s: float = LIMIT_S, program: str = "", **environment: str) -> "Bot":
        (self.folder / "bot.py").write_text(program or PROGRAM.format(limit_s=limit_s))
        clean = {name: value for name, value in os.environ.items() if not name.startswith("CROSSTOWN_")}
        self.process = await asyncio.create_subprocess_exec(
            PYTHON,
            str(self.folder / "bot.py"),
            env={**clean, "CROSSTOWN_ADDRESS": f"127.0.0.1:{port}", "CROSSTOWN_TOKEN": "t", **environment},
            stderr=asyncio.subprocess.PIPE,
        )
        return self

    async def ended(self) -> tuple[int, str]:
        async with asyncio.timeout(LIMIT_S):
            _, stderr = await self.process.communicate()
        return self.process.returncode, stderr.decode()


async def test_it_comes_back_and_answers_the_same_once_more(serve: Any, tmp_path: Path) -> None:
    async def again(call: Call, hello: pb.Hello) -> None:
        assert (hello.token, hello.session, hello.received) == ("t", "s", 2)
        await say(call, welcome=welcome(2))
        await say(call, decide=DECIDE)
        move = (await heard(call)).move
        assert (move.decision, move.index, "asked 1, started 1" in move.note) == (1, 0, True)
        await say(call, decide=pb.Decide(match="m", decision=2, legal_count=9))
        assert (await heard(call)).move.index == 1
        call.finish(Status.UNAVAILABLE, "gone again")

    async def third(call: Call, hello: pb.Hello) -> None:
        assert hello.received == 3
        await bye(call, hello)

    stub = Stub([until_asked, again, third])
    code, stderr = await (await Bot(tmp_path).start(await serve(stub))).ended()
    assert (code, stub.problems, len(stub.hellos)) == (0, [], 3)
    assert stderr.count("trying again") == 2
    assert "Traceback" not in stderr


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [5, pytest.param(60, marks=pytest.mark.long)])
async def test_a_freeze_ends_no_stream(serve: Any, tmp_path: Path, seconds: int) -> None:
    """As in tests/bots/languages: stopped and continued while the bot would ping every second."""
    begun, continued = asyncio.Event(), asyncio.Event()

    async def asks(call: Call, _: pb.Hello) -> None:
        await say(call, welcome=welcome())
        await say(call, match_start=START)
        assert (await heard(call)).HasField("ready")
        begun.set()
        await continued.wait()
        await say(call, decide=DECIDE)
        assert (await heard(call)).move.index == 0
        await say(call, bye=pb.Bye())
        await call.read()

    stub = Stub([asks])
    bot = await Bot(tmp_path).start(await serve(stub), CROSSTOWN_KEEPALIVE_S="1")
    async with asyncio.timeout(LIMIT_S):
        await begun.wait()
    bot.process.send_signal(signal.SIGSTOP)
    await asyncio.sleep(seconds)  # what is tested is that so much time goes by
    bot.process.send_signal(signal.SIGCONT)
    continued.set()
    assert (await bot.ended(), stub.problems) == ((0, ""), [])


OWN_SERVER = """
import asyncio, grpc
from crosstown_bot import Bot, run
class Asking(Bot):
    async def choose(self, turn):
        {deed}
run(Asking)
"""

PYTHON = os.environ.get("CROSSTOWN_TEST_PYTHON", sys.executable)
"""What starts the bots: `test_sdk_versions` has environments with other versions of protobuf and gRPC."""


@pytest.mark.parametrize(
    "deed",
    [
        "raise grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, grpc.aio.Metadata(), grpc.aio.Metadata(), 'mine')",
        "raise asyncio.InvalidStateError('mine')",
    ],
    ids=["AioRpcError", "InvalidStateError"],
)
async def test_what_its_author_s_own_calls_raise_is_a_crash_and_no_broken_stream(
    serve: Any, tmp_path: Path, deed: str
) -> None:
    async def asks(call: Call, _: pb.Hello) -> None:
        await say(call, welcome=welcome())
        await say(call, match_start=START)
        await heard(call)
        await say(call, decide=DECIDE)
        await call.read()

    stub = Stub([asks])
    bot = Bot(tmp_path)
    code, stderr = await (await bot.start(await serve(stub), program=OWN_SERVER.format(deed=deed))).ended()
    assert (code, len(stub.hellos)) == (1, 1)
    assert "Traceback" in stderr
    assert "mine" in stderr
    assert "trying again" not in stderr


async def test_a_referee_that_welcomes_it_and_breaks_off_each_time_is_not_tried_for_ever(
    serve: Any, tmp_path: Path
) -> None:
    async def breaks(call: Call, _: pb.Hello) -> None:
        await say(call, welcome=pb.Welcome(protocol=1, session="s", reconnect_us=1_000_000, next_message=1))
        call.finish(Status.UNAVAILABLE, "gone")

    stub = Stub([breaks] * 1000)
    code, stderr = await (await Bot(tmp_path).start(await serve(stub), limit_s=1)).ended()
    assert (code, stub.problems) == (1, [])
    assert "gone" in stderr


async def test_a_lost_ready_is_said_again_without_a_second_start(serve: Any, tmp_path: Path) -> None:
    async def first(call: Call, _: pb.Hello) -> None:
        await say(call, welcome=welcome())
        await say(call, match_start=START)
        await call.read()
        call.finish(Status.UNAVAILABLE, "gone")

    async def again(call: Call, _: pb.Hello) -> None:
        await say(call, welcome=welcome(1))
        await say(call, match_start=START)
        assert (await heard(call)).ready.match == "m"
        await say(call, decide=DECIDE)
        assert "started 1" in (await heard(call)).move.note
        await say(call, bye=pb.Bye())
        await call.read()

    stub = Stub([first, again])
    code, _ = await (await Bot(tmp_path).start(await serve(stub))).ended()
    assert (code, stub.problems) == (0, [])


async def test_where_its_session_is_over_it_opens_a_new_one(serve: Any, tmp_path: Path) -> None:
    async def anew(call: Call, hello: pb.Hello) -> None:
        assert (hello.session, hello.received) == ("", 0)
        await bye(call, hello)

    stub = Stub([until_asked, refuse(Status.NOT_FOUND, "over"), anew])
    code, _ = await (await Bot(tmp_path).start(await serve(stub))).ended()
    assert (code, stub.problems, len(stub.hellos)) == (0, [], 3)


@pytest.mark.parametrize("code", [Status.UNAUTHENTICATED, Status.FAILED_PRECONDITION, Status.ABORTED])
async def test_a_refusal_for_good_ends_it(serve: Any, tmp_path: Path, code: Status) -> None:
    stub = Stub([refuse(code, "not with me")])
    ended = await (await Bot(tmp_path).start(await serve(stub))).ended()
    assert (ended[0], len(stub.hellos)) == (1, 1)
    assert ended[1].endswith(f"not with me ({code.name})\n")


async def test_one_that_is_connected_already_tries_again(serve: Any, tmp_path: Path) -> None:
    stub = Stub([refuse(Status.ALREADY_EXISTS, "has a session already"), bye])
    code, stderr = await (await Bot(tmp_path).start(await serve(stub))).ended()
    assert (code, "has a session already (ALREADY_EXISTS); trying again" in stderr) == (0, True)


async def test_it_waits_for_a_referee_that_comes_later(serve: Any, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    bot = await Bot(tmp_path).start(port)
    line = (await bot.process.stderr.readline()).decode()
    assert f"127.0.0.1:{port}" in line
    assert line.endswith("; trying again\n")
    stub = Stub([bye])
    await serve(stub, port)
    assert (await bot.ended())[0] == 0


async def test_it_does_not_try_for_ever(tmp_path: Path) -> None:
    code, stderr = await (await Bot(tmp_path).start(1, limit_s=0.5)).ended()
    assert (code, stderr.count("trying again"), "Traceback" in stderr) == (1, 1, False)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
async def test_started_by_hand_it_has_the_options_of_its_manifest(serve: Any, tmp_path: Path, encoding: str) -> None:
    (tmp_path / "bot.toml").write_text("[options]\ndepth = 3\n", encoding)

    async def ask(call: Call, hello: pb.Hello) -> None:
        await say(call, welcome=welcome())
        await say(call, match_start=START)
        await call.read()
        await say(call, decide=DECIDE)
        assert "options {'depth': 3}" in (await heard(call)).move.note
        await say(call, bye=pb.Bye())
        await call.read()

    stub = Stub([ask])
    assert (await (await Bot(tmp_path).start(await serve(stub))).ended())[0] == 0
    assert stub.problems == []
