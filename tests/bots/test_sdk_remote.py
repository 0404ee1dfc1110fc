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
        sys.executable, str(program), env={**clean, **told}, stderr=asyncio.subprocess.PIPE
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
