"""Plays well but for one `deed` at one `phase` of a session; `salt` only makes it another entry."""

import asyncio
import errno
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

os.environ["GRPC_VERBOSITY"] = "NONE"

import grpc
from crosstown_proto.v1 import referee_pb2 as pb

OPTIONS = json.loads(os.environ["CROSSTOWN_OPTIONS"])
DEED, PHASE = OPTIONS["deed"], OPTIONS["phase"]
ADDRESS, TOKEN = os.environ["CROSSTOWN_ADDRESS"], os.environ["CROSSTOWN_TOKEN"]
LATER = 2
NOTES, HELD, SEEN = [], [], []
"""What was found out, which each move tells; what is kept open; and the MatchStart of each match."""

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
    os.write(1, b"begins\n")
    line = b"x" * 65536
    for _ in range(800):
        os.write(1, line)
    os.write(1, b"\nends\n")


def up_to_a_limit(deed, most):
    """Do it again and again. Notes by which error it came to an end."""
    for _ in range(most):
        try:
            deed()
        except OSError as error:
            NOTES.append(errno.errorcode[error.errno])
            return
    NOTES.append("no limit")


def forks_many():
    """A fork bomb: children that sleep, each in a session of its own, up to the limit. Some end again, so that this
    bot can go on to play."""
    children = []
    up_to_a_limit(lambda: children.append(os.posix_spawn("/bin/sleep", ["sleep", "600"], os.environ, setsid=True)), 200)
    for pid in children[::2]:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def double_forks():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(600)
        os._exit(0)
    os.wait()


def allocates():
    """Until it has 512 MB; then it dies of it."""
    import resource

    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = 512 << 20 if hard == resource.RLIM_INFINITY else min(hard, 512 << 20)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    gorges()


def gorges():
    hoard = []
    while True:
        hoard.append(bytearray(16 << 20))


def fills_disk():
    with Path(os.environ["TMPDIR"], "big").open("wb", buffering=0) as file:
        up_to_a_limit(lambda: file.write(bytes(1 << 20)), 64)


def opens_connections():
    """As many as it may have, silent or with the beginning of HTTP/2. Some are closed again, for this bot's own use;
    before its session is open all of them, for the referee takes few of one bot."""

    def connect():
        line = socket.socket(socket.AF_UNIX)
        HELD.append(line)
        with suppress(ConnectionRefusedError):  # nobody listens once its session is open
            line.connect(ADDRESS.removeprefix("unix:"))
        if len(HELD) % 2:
            with suppress(OSError):  # the referee may have closed it
                line.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5))

    up_to_a_limit(connect, 2000)
    spare = len(HELD) if PHASE in ("start", "hello") else 32
    for line in HELD[:spare]:
        line.close()
    del HELD[:spare]


async def steals_tokens():
    """Says Hello with the token of every other bot whose environment can be read."""
    for path in Path("/proc").glob("[0-9]*/environ"):  # noqa: ASYNC240
        try:
            values = dict(item.partition(b"=")[::2] for item in path.read_bytes().split(b"\0"))
        except OSError:
            continue
        token = values.get(b"CROSSTOWN_TOKEN", b"").decode()
        address = values.get(b"CROSSTOWN_ADDRESS", b"").decode()
        if token and token != TOKEN and Path(address).parent == Path(ADDRESS).parent:
            async with grpc.aio.insecure_channel(address, options=CHANNEL) as channel:
                call = channel.stream_stream("/crosstown.v1.Referee/Play")()
                try:
                    await call.write(hello(token))
                    await call.write(pack(move=pb.Move(match="m-1", decision=1, index=0)))
                    await asyncio.wait_for(call.read(), 1)
                except (grpc.aio.AioRpcError, asyncio.InvalidStateError, TimeoutError):
                    pass


def pings():
    """Floods the connection of its own session, beside gRPC, until the referee closes it."""
    data, at = (b"\0\0\x08\x06\0\0\0\0\0" + bytes(8)) * 1000, 0
    for place in list(Path("/proc/self/fd").iterdir()):
        with suppress(OSError):
            line = socket.socket(fileno=os.dup(int(place.name)))
            HELD.append(line)
            if line.family == socket.AF_UNIX and line.getpeername():
                while True:
                    with suppress(BlockingIOError):
                        at = (at + line.send(data[at:])) % len(data)


def knocks():
    """A child connects again and again, while this bot plays on."""
    code = (
        "import socket, sys, time\n"
        "end = time.monotonic() + 2\n"
        "while time.monotonic() < end:\n"
        "    with socket.socket(socket.AF_UNIX) as line:\n"
        "        line.connect_ex(sys.argv[1])\n"
    )
    subprocess.Popen([sys.executable, "-c", code, ADDRESS.removeprefix("unix:")])


def locks():
    """A file that all bots of the machine can read."""
    file = os.open("/bin/sh", os.O_RDONLY)
    HELD.append(file)
    with suppress(BlockingIOError):  # without a sandbox another bot may have it
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def bot_seed(match_seed, seat):
    digest = blake2b(f"bot\x1f{seat}".encode(), digest_size=8, key=match_seed).digest()
    return int.from_bytes(digest) >> 1


def guesses():
    """The match seed, from all that is typed or counted, by the ways in which the referee computes one."""
    start = SEEN[-1]
    for number in range(2000):
        as_bytes = number.to_bytes(16)
        text = f"{number}\x1f{start.game}\x1f0".encode()
        public = blake2b(text, digest_size=16, person=b"crosstown-block").digest()
        keyed = blake2b(b"", digest_size=16, key=as_bytes, person=b"crosstown-match").digest()
        if start.bot_seed in (bot_seed(guess, start.seat) for guess in (as_bytes, public, keyed)):
            NOTES.append(f"found {number}")
            return
    NOTES.append("found nothing")


AT_ONCE = {
    "exits": lambda: os._exit(7),
    "exits_255": lambda: os._exit(255),
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
    "gorges": gorges,
    "pings": pings,
    "knocks": knocks,
    "locks": locks,
    "guesses": guesses,
    "kills_parent": lambda: os.kill(os.getppid(), signal.SIGKILL),
    "fills_disk": fills_disk,
    "connects": opens_connections,
    "under": lambda: time.sleep(0.3),
    "over": lambda: time.sleep(2),
}
IN_LOOP = {"steals": steals_tokens, "deaf": lambda: asyncio.sleep(600)}


def huge():
    return [b"\x1a\x84\xaf\x5f" + b"x" * (100 << 20)]


SENDS = {
    "junk": lambda: [b"\xff\xff\xff\xff"],
    "empty": lambda: [b""],
    "junk_and_exits": lambda: [b"\xff\xff\xff\xff"],
    "huge": huge,
    "huge_mute": huge,
    "oversized": lambda: [pack(move=pb.Move(match="none", decision=1, index=0, note="x" * (2 << 20)))],
    "floods": lambda: [pack(move=pb.Move(match="none", decision=1, index=0))] * 3000,
    "wrong_ids": lambda: [pack(move=pb.Move(match="none", decision=10**6)), pack(ready=pb.Ready(match="none"))],
}


async def misbehave(phase, call=None):
    if phase != PHASE:
        return
    if DEED in AT_ONCE:
        AT_ONCE[DEED]()
    elif DEED in IN_LOOP:
        await IN_LOOP[DEED]()
    elif call is not None:
        if DEED == "junk_and_exits":
            await asyncio.sleep(0.5)  # after the move before it: another, which hangs, has been asked by now
        for message in SENDS.get(DEED, tuple)():
            await call.write(message)
        if DEED == "junk_and_exits":
            await asyncio.sleep(0.1)  # it has to be sent before
            os._exit(7)
        if DEED in ("closes", "closes_and_spins"):
            await call.done_writing()
            await asyncio.sleep(0.1 if DEED == "closes_and_spins" else 600)
            spins()


async def play(call):
    decisions = 0
    while (raw := await call.read()) is not grpc.aio.EOF:
        message = pb.RefereeMessage.FromString(raw)
        body = message.WhichOneof("body")
        if body == "welcome":
            await misbehave("welcome", call)
        elif body == "match_start":
            decisions = 0
            SEEN.append(message.match_start)
            await misbehave("match_start", call)
            if DEED != "unready":
                await call.write(pack(ready=pb.Ready(match=message.match_start.match)))
            await misbehave("ready", call)
        elif body == "decide":
            decide = message.decide
            phase = {0: "first", LATER: "later"}.get(decisions)
            await misbehave(phase, call)
            note = " ".join(NOTES)
            answer = pack(move=pb.Move(match=decide.match, decision=decide.decision, index=0, note=note))
            await call.write(answer)
            if DEED == "twice" and phase == PHASE:
                await call.write(answer)
            if decisions == LATER:
                await misbehave("off_turn", call)
            decisions += 1
        elif body == "match_end":
            await misbehave("end", call)
        elif body == "bye":
            await misbehave("bye", call)
            return 0
    return 9


async def main():
    await misbehave("start")
    async with grpc.aio.insecure_channel(ADDRESS) as channel:
        call = channel.stream_stream("/crosstown.v1.Referee/Play")(wait_for_ready=True)
        try:
            await misbehave("hello", call)
            await call.write(hello())
            return await play(call)
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):  # the second is a write on a call that is over
            if DEED != "huge_mute":
                print(f"status {await call.code()}: {await call.details()}", file=sys.stderr)
            return 9


sys.exit(asyncio.run(main()))
