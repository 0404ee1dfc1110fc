"""Plays well but for one `deed` at one `phase` of a session; `salt` only makes it another entry."""

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path

os.environ["GRPC_VERBOSITY"] = "NONE"

import grpc
from crosstown_proto.v1 import referee_pb2 as pb

OPTIONS = json.loads(os.environ["CROSSTOWN_OPTIONS"])
DEED, PHASE = OPTIONS["deed"], OPTIONS["phase"]
ADDRESS, TOKEN = os.environ["CROSSTOWN_ADDRESS"], os.environ["CROSSTOWN_TOKEN"]
LATER = 2
CHANNEL = [("grpc.use_local_subchannel_pool", 1)]


def pack(**body):
    return pb.BotMessage(**body).SerializeToString()


def hello(token=TOKEN):
    return pack(hello=pb.Hello(protocol=1, token=token, name="chaos"))


def raises():
    raise RuntimeError("boom")


def spins():
    while True:
        pass


def floods_stdout():
    line = b"x" * 65536
    for _ in range(800):
        os.write(1, line)


def forks_many():
    """A fork bomb that a test survives: 60 children, each in a session of its own, that sleep."""
    for _ in range(60):
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
            os._exit(0)


def double_forks():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(600)
        os._exit(0)
    os.wait()


def allocates():
    """Until it is killed, or in want of a limit, until it has 512 MB; then it dies of it."""
    import resource

    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = 512 << 20 if hard == resource.RLIM_INFINITY else min(hard, 512 << 20)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    hoard = []
    while True:
        hoard.append(bytearray(16 << 20))


def fills_disk():
    with Path(os.environ["TMPDIR"], "big").open("wb") as file:
        for _ in range(64):
            file.write(bytes(1 << 20))


async def opens_connections():
    channels = [grpc.aio.insecure_channel(ADDRESS, options=CHANNEL) for _ in range(100)]
    for channel in channels:
        channel.get_state(try_to_connect=True)
    await asyncio.sleep(0.2)


async def steals_tokens():
    """Says Hello with the token of every other bot whose environment can be read."""
    for path in Path("/proc").glob("[0-9]*/environ"):  # noqa: ASYNC240
        try:
            values = dict(item.partition(b"=")[::2] for item in path.read_bytes().split(b"\0"))
        except OSError:
            continue
        token = values.get(b"CROSSTOWN_TOKEN", b"").decode()
        if token and token != TOKEN and values.get(b"CROSSTOWN_ADDRESS", b"").decode() == ADDRESS:
            async with grpc.aio.insecure_channel(ADDRESS, options=CHANNEL) as channel:
                call = channel.stream_stream("/crosstown.v1.Referee/Play")()
                try:
                    await call.write(hello(token))
                    await call.write(pack(move=pb.Move(match="m-1", decision=1, index=0)))
                    await asyncio.wait_for(call.read(), 1)
                except (grpc.aio.AioRpcError, asyncio.InvalidStateError, TimeoutError):
                    pass


AT_ONCE = {
    "exits": lambda: os._exit(7),
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "aborts": os.abort,
    "raises": raises,
    "hangs": lambda: time.sleep(600),
    "spins": spins,
    "freezes": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "floods_stdout": floods_stdout,
    "forks_many": forks_many,
    "double_forks": double_forks,
    "allocates": allocates,
    "fills_disk": fills_disk,
    "under": lambda: time.sleep(0.1),
    "over": lambda: time.sleep(2),
}
IN_LOOP = {"connects": opens_connections, "steals": steals_tokens, "deaf": lambda: asyncio.sleep(600)}
SENDS = {
    "junk": lambda: [b"\xff\xff\xff\xff"],
    "empty": lambda: [b""],
    "huge": lambda: [b"\x1a\x84\xaf\x5f" + b"x" * (100 << 20)],
    "oversized": lambda: [pack(move=pb.Move(match="none", decision=1, index=0, note="x" * (2 << 20)))],
    "floods": lambda: [pack(move=pb.Move(match="none", decision=1, index=0))] * 3000,
    "wrong_ids": lambda: [pack(move=pb.Move(match="none", decision=10**6)), pack(ready=pb.Ready(match="none"))],
}


async def misbehave(phase, write=None):
    if phase != PHASE:
        return
    if DEED in AT_ONCE:
        AT_ONCE[DEED]()
    elif DEED in IN_LOOP:
        await IN_LOOP[DEED]()
    elif write is not None:
        for message in SENDS.get(DEED, tuple)():
            await write(message)


async def play(call):
    write, decisions = call.write, 0
    while (raw := await call.read()) is not grpc.aio.EOF:
        message = pb.RefereeMessage.FromString(raw)
        body = message.WhichOneof("body")
        if body == "welcome":
            await misbehave("welcome", write)
        elif body == "match_start":
            decisions = 0
            await misbehave("match_start", write)
            await write(pack(ready=pb.Ready(match=message.match_start.match)))
            await misbehave("ready", write)
        elif body == "decide":
            decide = message.decide
            await misbehave({0: "first", LATER: "later"}.get(decisions), write)
            answer = pack(move=pb.Move(match=decide.match, decision=decide.decision, index=0))
            await write(answer)
            if DEED == "twice" and decisions == LATER:
                await write(answer)
            if decisions == LATER:
                await misbehave("off_turn", write)
            decisions += 1
        elif body == "match_end":
            await misbehave("end", write)
        elif body == "bye":
            await misbehave("bye", write)
            return 0
    return 9


async def main():
    await misbehave("start")
    async with grpc.aio.insecure_channel(ADDRESS) as channel:
        call = channel.stream_stream("/crosstown.v1.Referee/Play")(wait_for_ready=True)
        try:
            await misbehave("hello", call.write)
            await call.write(hello())
            return await play(call)
        except grpc.aio.AioRpcError as error:
            print(f"status {error.code().name}: {error.details()}", file=sys.stderr, flush=True)
            return 9
        except asyncio.InvalidStateError:  # a write on a call that is over
            return 9


sys.exit(asyncio.run(main()))
