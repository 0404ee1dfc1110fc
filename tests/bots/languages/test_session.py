"""A starter of each language and a scripted referee: matches at once, cancelled questions, TLS, a freeze, the ends."""

import asyncio
import os
import select
import signal
import ssl
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from crosstown_proto.v1 import referee_pb2 as pb

from referee.process.entry import Entry
from referee.wire import WireServer
from referee.wire.encode import WireLimits
from referee.wire.http2 import Call
from referee.wire.listener import Bounds, Listener, bind_tcp, bind_unix
from referee.wire.public_address import own_certificate
from referee.wire.tls import server_tls

LANGUAGES = ("go", "rust", "java", "typescript", "cpp")
LIMIT_S = 60.0
ONE_PROCESS = "it takes one process for each token, and no further connection after that"
TOKEN = f"secret-{uuid.uuid4().hex}"
"""Of these processes alone: a referee whose guardian was killed ends what has its bot's token, and others test that."""
UNKNOWN_FIELD = bytes([0xFA, 0x3F, 3]) + b"new"  # number 1023, three bytes

pytestmark = pytest.mark.parametrize("language", LANGUAGES)
Starter = Callable[..., Entry]
FairIndex = Callable[[int, int, int], int]


def environment(home: Path, **more: str) -> dict[str, str]:
    # With a UTF-8 locale, as the referee gives it: without one Java opens no path that has an umlaut.
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **more}


def run_alone(entry: Entry, home: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        entry.argv,
        cwd=entry.folder,
        env=environment(home, **more),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


class Stage:
    """A referee that says what a test tells it to. One stream."""

    def __init__(self, call: Call, process: asyncio.subprocess.Process) -> None:
        self.call = call
        self.process = process

    async def say(self, **body: Any) -> None:
        self.call.send(pb.RefereeMessage(**body).SerializeToString() + UNKNOWN_FIELD)

    async def hear(self) -> pb.BotMessage:
        async with asyncio.timeout(LIMIT_S):
            raw = await self.call.read()
        assert raw is not None, "the bot closed its stream"
        return pb.BotMessage.FromString(raw)

    async def begin(self, match: str, seed: int) -> None:
        await self.say(
            match_start=pb.MatchStart(match=match, game="shibuya", seat=1, players=2, options="{}", bot_seed=seed)
        )
        assert (await self.hear()).ready.match == match

    async def ask(self, match: str, decision: int, count: int) -> None:
        await self.say(decide=pb.Decide(match=match, decision=decision, kind="turn", legal_count=count))

    async def leave(self) -> int:
        await self.say(bye=pb.Bye())
        async with asyncio.timeout(LIMIT_S):
            return await self.process.wait()


@asynccontextmanager
async def stage(
    entry: Entry, home: Path, address: str, tls: tuple[Path, Path] | None = None, **more: str
) -> AsyncIterator[Stage]:
    """`tls` are a certificate and its key; then `address` has the port 0."""
    calls: asyncio.Queue[Call] = asyncio.Queue()
    over = asyncio.Event()

    async def play(call: Call) -> None:
        call.admit(1 << 20)
        calls.put_nowait(call)
        await over.wait()

    path = address.removeprefix("unix:")
    host, _, port = address.rpartition(":")
    sockets = [bind_unix(Path(path))] if path != address else bind_tcp(host, int(port))
    if path == address:
        address = f"{'localhost' if tls else '127.0.0.1'}:{sockets[0].getsockname()[1]}"
    server = Listener(sockets, play, Bounds(4), tls=tls and server_tls(*tls))
    server.start()
    process = await asyncio.create_subprocess_exec(
        *entry.argv,
        cwd=entry.folder,
        env=environment(home, CROSSTOWN_ADDRESS=address, CROSSTOWN_TOKEN=TOKEN, **more),
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(LIMIT_S):
            found = Stage(await calls.get(), process)
        hello = (await found.hear()).hello
        assert (hello.protocol, hello.token, hello.name) == (1, TOKEN, "random")
        await found.say(welcome=pb.Welcome(protocol=1))
        yield found
    finally:
        over.set()
        if process.returncode is None:
            process.kill()
        await process.communicate()
        await server.stop()


async def test_matches_at_once_cancelled_ones_and_bye(
    starter: Starter, fair_index: FairIndex, tmp_path: Path, language: str
) -> None:
    """On a socket in a folder with spaces; every message has a field of a later version."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    async with stage(starter(language), tmp_path, f"unix:{folder}/s.sock") as it:
        seeds = {"a": 1, "b": (1 << 64) - 1, "c": 1 << 63}
        for match, seed in seeds.items():
            await it.begin(match, seed)
        for decision in range(1, 21):
            for match in seeds:
                await it.ask(match, decision, 3 * decision)
            heard = [(await it.hear()).move for _ in seeds]
            assert {(move.match, move.decision, move.index) for move in heard} == {
                (match, decision, fair_index(seed, decision, 3 * decision)) for match, seed in seeds.items()
            }
        await it.ask("a", 21, 5)
        assert (await it.hear()).move.decision == 21
        await it.say(cancel=pb.Cancel(match="a", decision=21))
        await it.say(cancel=pb.Cancel(match="unheard of", decision=1))
        await it.say(match_end=pb.MatchEnd(match="a", reason="cancelled"))
        await it.begin("d", 4)
        for decision in (1, 4_294_967_295):
            await it.ask("d", decision, 4_294_967_295)
            assert (await it.hear()).move.index == fair_index(4, decision, 4_294_967_295)
        await it.say(match_end=pb.MatchEnd(match="d", ranking=[1, 2], returns=[3, -1], reason="normal"))
        assert await it.leave() == 0


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """A certificate authority, another one, and a server's key and certificate for localhost by the first."""
    folder = tmp_path_factory.mktemp("tls")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    for name in ("ca", "other"):
        openssl(
            *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.pem"),
            *("-days", "2", "-subj", f"/CN={name} of a test"),
        )
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "s.key", "-out", "s.csr", "-subj", "/CN=localhost")
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1")
    openssl(
        *("x509", "-req", "-in", "s.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"),
        *("-out", "s.pem", "-extfile", "names"),
    )
    return {name: folder / name for name in ("ca.pem", "other.pem", "s.key", "s.pem")}


def server_credentials(certificates: Mapping[str, Path]) -> tuple[Path, Path]:
    return certificates["s.pem"], certificates["s.key"]


async def test_tls_with_the_authority_it_is_given(
    starter: Starter, fair_index: FairIndex, certificates: Mapping[str, Path], tmp_path: Path, language: str
) -> None:
    credentials = server_credentials(certificates)
    ca = str(certificates["ca.pem"])
    async with stage(starter(language), tmp_path, "localhost:0", credentials, CROSSTOWN_TLS_CA=ca) as it:
        await it.begin("a", 9)
        await it.ask("a", 1, 100)
        assert (await it.hear()).move.index == fair_index(9, 1, 100)
        assert await it.leave() == 0


async def test_tls_with_a_certificate_that_the_referee_made(
    starter: Starter, fair_index: FairIndex, tmp_path: Path, language: str
) -> None:
    """It signs itself, and is no authority's: what one library takes another refuses."""
    certificate, key = own_certificate(tmp_path / "tls", "127.0.0.1")
    credentials = certificate, key
    ca = str(certificate)
    async with stage(starter(language), tmp_path, "localhost:0", credentials, CROSSTOWN_TLS_CA=ca) as it:
        await it.begin("a", 9)
        await it.ask("a", 1, 100)
        assert (await it.hear()).move.index == fair_index(9, 1, 100)
        assert await it.leave() == 0


def test_tls_with_another_authority_is_refused(
    starter: Starter, certificates: Mapping[str, Path], tmp_path: Path, language: str
) -> None:
    """The bot says no secret to a server that it does not know. A plain TLS server is enough for that."""
    program = f"""
import socket, ssl
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain({str(certificates["s.pem"])!r}, {str(certificates["s.key"])!r})
context.set_alpn_protocols(["h2"])
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    connection, _ = listener.accept()
    try:
        with context.wrap_socket(connection, server_side=True) as secure:
            print(secure.recv(1 << 16), flush=True)
    except (ssl.SSLError, OSError):
        pass
"""
    assert ssl.HAS_ALPN
    server = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        done = run_alone(
            starter(language),
            tmp_path,
            CROSSTOWN_ADDRESS=f"localhost:{port}",
            CROSSTOWN_TOKEN=TOKEN,
            CROSSTOWN_TLS_CA=str(certificates["other.pem"]),
            CROSSTOWN_CONNECT_S="2",
        )
    finally:
        server.kill()
        seen = server.communicate()[0]
    assert done.returncode == 1
    assert f"no answer from the referee at localhost:{port} within 2 s" in done.stderr
    assert TOKEN not in seen


def test_a_missing_authority_file_is_named(starter: Starter, tmp_path: Path, language: str) -> None:
    path = str(tmp_path / "none.pem")
    done = run_alone(
        starter(language),
        tmp_path,
        CROSSTOWN_ADDRESS="localhost:1",
        CROSSTOWN_TOKEN="t",
        CROSSTOWN_TLS_CA=path,
        CROSSTOWN_CONNECT_S="20",
    )
    assert done.returncode == 1
    assert f"CROSSTOWN_TLS_CA names {path}" in done.stderr


@pytest.mark.parametrize("host", ["referee.example", "[2001:db8::1]", "127.0.0.1.example"])
def test_a_token_is_never_sent_in_the_clear_to_another_machine(
    starter: Starter, tmp_path: Path, language: str, host: str
) -> None:
    """It does not even try: it would tell that nobody answered. The hosts are of the ranges for examples."""
    done = run_alone(
        starter(language),
        tmp_path,
        CROSSTOWN_ADDRESS=f"{host}:7000",
        CROSSTOWN_TOKEN=TOKEN,
        CROSSTOWN_TLS_CA="",
        CROSSTOWN_CONNECT_S="30",
    )
    assert done.returncode == 1
    assert f"the referee at {host}:7000 is not on this machine, and CROSSTOWN_TLS_CA is not set" in done.stderr
    assert TOKEN not in done.stderr


def test_a_referee_on_this_machine_may_be_given_by_ipv6(starter: Starter, tmp_path: Path, language: str) -> None:
    done = run_alone(
        starter(language), tmp_path, CROSSTOWN_ADDRESS="[::1]:1", CROSSTOWN_TOKEN="t", CROSSTOWN_CONNECT_S="1"
    )
    assert done.returncode == 1
    assert "no answer from the referee at [::1]:1 within 1 s" in done.stderr


async def test_a_plain_connection_takes_no_proxy(
    starter: Starter, fair_index: FairIndex, tmp_path: Path, language: str
) -> None:
    """Which may be on another machine."""
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "grpc_proxy", "HTTPS_PROXY"), "http://127.0.0.1:1")
    async with stage(starter(language), tmp_path, "127.0.0.1:0", **proxies) as it:
        await it.begin("a", 5)
        await it.ask("a", 1, 100)
        assert (await it.hear()).move.index == fair_index(5, 1, 100)
        assert await it.leave() == 0


@pytest.mark.parametrize("seconds", [5, pytest.param(60, marks=pytest.mark.long)])
async def test_a_freeze_ends_no_stream(
    starter: Starter, fair_index: FairIndex, tmp_path: Path, language: str, seconds: int
) -> None:
    """Stopped and continued, over TCP, while the bot would ping every second."""
    async with stage(starter(language), tmp_path, "127.0.0.1:0", CROSSTOWN_KEEPALIVE_S="1") as it:
        await it.begin("a", 3)
        it.process.send_signal(signal.SIGSTOP)
        await it.ask("a", 1, 1000)
        await asyncio.sleep(seconds)  # what is tested is that so much time goes by
        it.process.send_signal(signal.SIGCONT)
        assert (await it.hear()).move.index == fair_index(3, 1, 1000)
        assert await it.leave() == 0


def test_started_by_hand_it_says_who_starts_bots(starter: Starter, tmp_path: Path, language: str) -> None:
    done = run_alone(starter(language), tmp_path)
    assert done.returncode == 1
    assert "is not set: a bot is started by the referee, for instance by `crosstown run FILE`" in done.stderr


def test_where_no_referee_listens_it_gives_up_after_its_limit(starter: Starter, tmp_path: Path, language: str) -> None:
    address = f"unix:{tmp_path}/none.sock"
    done = run_alone(
        starter(language), tmp_path, CROSSTOWN_ADDRESS=address, CROSSTOWN_TOKEN="t", CROSSTOWN_CONNECT_S="1"
    )
    assert done.returncode == 1
    assert f"no answer from the referee at {address} within 1 s; {ONE_PROCESS}" in done.stderr


async def test_a_second_process_of_the_bot_says_that_one_may_connect(
    starter: Starter, tmp_path: Path, language: str
) -> None:
    """After Hello nobody listens any more, so the referee cannot say it."""
    entry = starter(language)
    async with WireServer() as server, server.for_one(1 << 20) as own:
        came = own.expect(TOKEN, WireLimits(1, 1, 1, 1))
        given = {"CROSSTOWN_ADDRESS": own.address, "CROSSTOWN_TOKEN": TOKEN, "CROSSTOWN_CONNECT_S": "1"}
        first = await asyncio.create_subprocess_exec(
            *entry.argv, cwd=entry.folder, env={**environment(tmp_path), **given, "CROSSTOWN_CONNECT_S": "30"}
        )
        try:
            await asyncio.wait_for(came, LIMIT_S)
            second = await asyncio.to_thread(run_alone, entry, tmp_path, **given)
            assert first.returncode is None
        finally:
            first.kill()
            await first.wait()
    assert second.returncode == 1
    assert f"no answer from the referee at {own.address} within 1 s; {ONE_PROCESS}" in second.stderr


@pytest.mark.parametrize(
    ("token", "spoken", "sentence"),
    [
        ("wrong", 1, "unknown token: send the value of CROSSTOWN_TOKEN unchanged; it is valid for one process only"),
        ("used", 1, "this token has opened a session already: one process, one token, one stream for all its matches"),
        ("right", 2, "the bot speaks protocol 1, the referee protocol 2: expected 2"),
    ],
    ids=["wrong token", "reused token", "unsupported protocol"],
)
async def test_a_refusal_is_explained_on_stderr(
    starter: Starter,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    language: str,
    token: str,
    spoken: int,
    sentence: str,
) -> None:
    entry = starter(language)
    monkeypatch.setattr("referee.wire.handshake.PROTOCOL", spoken)
    async with WireServer() as server:
        given = WireLimits(1, 1, 1, 1)
        server.expect("right", given)
        used = server.expect("used", given)
        environ = environment(tmp_path, CROSSTOWN_ADDRESS=server.address)
        first = None
        if token == "used":
            first = await asyncio.create_subprocess_exec(
                *entry.argv, cwd=entry.folder, env={**environ, "CROSSTOWN_TOKEN": token}
            )
            await asyncio.wait_for(used, LIMIT_S)
        done = await asyncio.to_thread(
            run_alone, entry, tmp_path, CROSSTOWN_ADDRESS=server.address, CROSSTOWN_TOKEN=token
        )
        if first is not None:
            first.kill()
            await first.wait()
    assert done.returncode == 1
    assert f"the referee ended the stream: {sentence}" in done.stderr


REFEREE = """
import asyncio
from referee.wire import WireServer
from referee.wire.encode import WireLimits
async def main():
    async with WireServer() as server:
        expected = server.expect("t", WireLimits(1, 1, 1, 1))
        print(server.address, flush=True)
        await expected
        print("connected", flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""


CONNECT_LIMIT_S = 30


def test_it_exits_when_its_referee_is_killed(starter: Starter, tmp_path: Path, language: str) -> None:
    entry = starter(language)
    referee = subprocess.Popen([sys.executable, "-c", REFEREE], stdout=subprocess.PIPE, text=True)
    bot = None
    try:
        assert referee.stdout is not None
        address = referee.stdout.readline().strip()
        bot = subprocess.Popen(
            entry.argv,
            cwd=entry.folder,
            env=environment(tmp_path, CROSSTOWN_ADDRESS=address, CROSSTOWN_TOKEN="t"),
            stderr=subprocess.PIPE,
            text=True,
        )
        if not select.select([referee.stdout], [], [], CONNECT_LIMIT_S)[0]:
            bot.kill()
            pytest.fail(f"it has not connected within {CONNECT_LIMIT_S} s; it printed: {bot.communicate()[1]}")
        assert referee.stdout.readline() == "connected\n"
        referee.kill()
        referee.wait(10)
        _, stderr = bot.communicate(timeout=20)
        assert bot.returncode == 1
        assert "the referee ended the stream" in stderr
    finally:
        for process in (referee, bot):
            if process is not None:
                process.kill()
                process.communicate()
