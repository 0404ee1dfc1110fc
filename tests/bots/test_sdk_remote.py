"""A bot of the Python SDK whose referee is reached over TCP: with TLS from anywhere, plain on the same machine only."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from crosstown_proto.v1 import referee_pb2 as pb

TLS = Path(__file__).parent / "tls"
PROGRAM = """
from crosstown_bot import Bot, run
class First(Bot):
    def choose(self, turn):
        return 0
run(First)
"""

PYTHON = os.environ.get("CROSSTOWN_TEST_PYTHON", sys.executable)
"""What starts the bots: `test_sdk_versions` has environments with other versions of protobuf and gRPC."""


class Referee:
    """Welcomes whoever says Hello, and says Bye."""

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self.address = ""

    async def play(self, _: Any, context: Any) -> None:
        self.tokens.append(pb.BotMessage.FromString(await context.read()).hello.token)
        await context.write(pb.RefereeMessage(welcome=pb.Welcome(protocol=1)).SerializeToString())
        await context.write(pb.RefereeMessage(bye=pb.Bye()).SerializeToString())
        await context.read()


@pytest.fixture
async def referee() -> AsyncIterator[Callable[[bool], Any]]:
    servers: list[Any] = []

    async def start(tls: bool) -> Referee:
        found, server = Referee(), grpc.aio.server()
        handler = grpc.stream_stream_rpc_method_handler(found.play)
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("crosstown.v1.Referee", {"Play": handler}),)
        )
        if tls:
            pair = (TLS / "key.pem").read_bytes(), (TLS / "certificate.pem").read_bytes()
            port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([pair]))
        else:
            port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        servers.append(server)
        found.address = f"localhost:{port}"
        return found

    yield start
    for server in servers:
        await server.stop(0)


async def played(tmp_path: Path, address: str, **environment: str) -> tuple[int | None, str]:
    """Exit code and stderr of a bot that is told this."""
    program = tmp_path / "bot.py"
    program.write_text(PROGRAM)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CROSSTOWN_")}
    told = {"CROSSTOWN_ADDRESS": address, "CROSSTOWN_TOKEN": "t", **environment}
    process = await asyncio.create_subprocess_exec(
        PYTHON, str(program), env={**clean, **told}, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(60):
        _, stderr = await process.communicate()
    return process.returncode, stderr.decode()


async def test_over_tls_with_the_certificate_it_is_given(referee: Any, tmp_path: Path) -> None:
    one = await referee(True)
    code, stderr = await played(tmp_path, one.address, CROSSTOWN_TLS_CA=str(TLS / "certificate.pem"))
    assert (code, stderr, one.tokens) == (0, "", ["t"])


async def test_plain_on_the_same_machine(referee: Any, tmp_path: Path) -> None:
    one = await referee(False)
    assert await played(tmp_path, one.address) == (0, "")
    assert one.tokens == ["t"]


@pytest.mark.parametrize("host", ["referee.example", "127.evil.example", "127.0.0.1.evil.example"])
async def test_a_token_is_never_sent_in_the_clear_to_another_machine(tmp_path: Path, host: str) -> None:
    code, stderr = await played(tmp_path, f"{host}:7000")
    assert code == 1
    assert "is not on this machine, and CROSSTOWN_TLS_CA is not set" in stderr
    assert "Traceback" not in stderr


async def test_a_certificate_that_is_not_there_is_told(tmp_path: Path) -> None:
    code, stderr = await played(tmp_path, "localhost:1", CROSSTOWN_TLS_CA="/none.pem")
    assert (code, "/none.pem" in stderr, "Traceback" in stderr) == (1, True, False)


@pytest.mark.parametrize(
    ("address", "environment", "sentence"),
    [
        ("localhost:1", {"CROSSTOWN_TLS_CA": "/none.pem"}, "CROSSTOWN_TLS_CA is '/none.pem', which cannot be read: No"),
        ("localhost:1", {"CROSSTOWN_TLS_CA": "garbage"}, "'garbage', which has no certificate in PEM form"),
        ("localhost", {}, "CROSSTOWN_ADDRESS is 'localhost', without a port; expected HOST:PORT"),
        ("localhost:1", {"CROSSTOWN_OPTIONS": "depth=3"}, "CROSSTOWN_OPTIONS is not JSON: Expecting value"),
        ("localhost:1", {"CROSSTOWN_OPTIONS": "[3]"}, "CROSSTOWN_OPTIONS is [3]; expected a JSON object"),
    ],
)
async def test_a_variable_that_cannot_be_used_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, environment: dict[str, str], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "garbage").write_text("no certificate \u00e9")
    code, stderr = await played(tmp_path, address, **environment)
    assert code == 1
    assert sentence in stderr
    assert "Traceback" not in stderr


@pytest.mark.parametrize(
    ("manifest", "sentence"),
    [
        (b"depth = \n", "not TOML: Invalid value (at line 1, column 9)"),
        (b"x = " + b"[" * 10_000, "not TOML: maximum recursion depth exceeded"),
        (b"options = 3\n", "'options' is 3; expected a table, which begins with [options]"),
        (b"# \xe4\n", "it is not UTF-8 text; save it as UTF-8"),
    ],
)
async def test_a_manifest_that_cannot_be_used_is_named_to_who_starts_the_bot_by_hand(
    tmp_path: Path, manifest: bytes, sentence: str
) -> None:
    (tmp_path / "bot.toml").write_bytes(manifest)
    code, stderr = await played(tmp_path, "localhost:1")
    assert code == 1
    assert f"{tmp_path / 'bot.toml'}: {sentence}" in stderr
    assert "Traceback" not in stderr


async def first_words(tmp_path: Path, address: str, **environment: str) -> str:
    """The first line on stderr of a bot that tries again and again."""
    (tmp_path / "bot.py").write_text(PROGRAM)
    told = {"CROSSTOWN_ADDRESS": address, "CROSSTOWN_TOKEN": "t", **environment}
    process = await asyncio.create_subprocess_exec(
        PYTHON, str(tmp_path / "bot.py"), env={**os.environ, **told}, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    async with asyncio.timeout(60):
        line = (await process.stderr.readline()).decode()
    process.kill()
    await process.wait()
    return line


async def test_a_plain_connection_to_a_referee_that_speaks_tls_is_guessed(referee: Any, tmp_path: Path) -> None:
    line = await first_words(tmp_path, (await referee(True)).address)
    assert "(UNAVAILABLE); if the referee speaks TLS, set CROSSTOWN_TLS_CA; trying again" in line


async def test_a_host_that_is_not_in_the_certificate_is_explained(referee: Any, tmp_path: Path) -> None:
    address = (await referee(True)).address.replace("localhost", "[::ffff:127.0.0.1]")
    line = await first_words(tmp_path, address, CROSSTOWN_TLS_CA=str(TLS / "certificate.pem"))
    assert "(UNAVAILABLE)" in line
    assert "and the host in the address must be in it" in line


@pytest.mark.slow
async def test_a_thread_that_outlives_the_match_is_named(referee: Any, tmp_path: Path) -> None:
    program = PROGRAM.replace("run(First)", "import threading, time\nthreading.Thread(target=time.sleep, args=(4,), name='loader').start()\nrun(First)")  # fmt: skip # noqa: E501
    (tmp_path / "bot.py").write_text(program)
    told = {"CROSSTOWN_ADDRESS": (await referee(False)).address, "CROSSTOWN_TOKEN": "t"}
    process = await asyncio.create_subprocess_exec(
        PYTHON, str(tmp_path / "bot.py"), env={**os.environ, **told}, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(60):
        _, stderr = await process.communicate()
    assert process.returncode == 0
    assert b"the process cannot end before these threads: 'loader'" in stderr
