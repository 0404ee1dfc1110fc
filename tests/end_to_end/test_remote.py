"""A tournament with a bot that dials in over TLS: its connection breaks, its worker dies, or it never comes."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from referee.record import read_record, verify

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "remote-token-0123456789"
LIMIT_S = 150
CLOCK = "[clock]\nstartup_s = 60\nready_s = 60\nfirst_move_s = 60\nmove_s = 60\n"


class Line:
    """A piece of network between bot and referee that can be cut."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.address = ""
        self.passed = 0
        self.cut_after = 0
        """Bytes from the referee after which the connection is cut, once; 0: never."""
        self.cuts = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, there_writer}
        for pair in ((reader, there_writer, False), (there_reader, writer, True)):
            task = asyncio.create_task(self._pass_on(*pair))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, back: bool) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                self.passed += len(data) if back else 0
                if self.cut_after and self.passed > self.cut_after:
                    self.cut_after = 0
                    self.cut()
                    return
                writer.write(data)
                await writer.drain()
        writer.transport.abort()

    def cut(self) -> None:
        self.cuts += 1
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    def close(self) -> None:
        self.cut()
        for task in self._tasks:
            task.cancel()


@pytest.fixture
async def line() -> AsyncIterator[Line]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        line = Line(free.getsockname()[1])
    server = await asyncio.start_server(line.connected, "127.0.0.1", 0)
    line.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield line
    line.close()
    server.close()


def remote(port: int, more: str = "") -> str:
    return (
        f'{CLOCK}[remote]\nlisten = "127.0.0.1:{port}"\nwait_s = 60\nreconnect_s = 60\n'
        f'[[bots]]\nremote = true\nname = "Ada"\ntoken_env = "ADA_TOKEN"\n{more}'
    )


def by_hand(certificate: Path, address: str, token: str = TOKEN, version: str = "") -> "subprocess.Popen[str]":
    told = {"CROSSTOWN_ADDRESS": address, "CROSSTOWN_TOKEN": token, "CROSSTOWN_TLS_CA": str(certificate)}
    told |= {"CROSSTOWN_VERSION": version} if version else {}
    return subprocess.Popen(
        [sys.executable, "bot.py"],
        cwd=ROOT / "bots" / "python" / "random",
        env={**os.environ, **told},
        stderr=subprocess.PIPE,
        text=True,
    )


async def until_there(path: Path, process: "subprocess.Popen[str]") -> None:
    async with asyncio.timeout(LIMIT_S):
        while not await asyncio.to_thread(path.exists):
            assert process.poll() is None, process.communicate()
            await asyncio.sleep(0.05)


async def begin(workplace, write_cup, line: Line, *, blocks: int) -> "tuple[subprocess.Popen[str], Path]":
    """A run of one bot here against Ada, which listens by now, and the certificate that it made."""
    workplace.environment["ADA_TOKEN"] = TOKEN
    write_cup(bots=1, blocks=blocks, more=remote(line.port))
    run = workplace.start("run", "cup.toml", "--workers", "1")
    certificate = workplace.folder / "runs" / "cup" / "tls" / "certificate.pem"
    await until_there(certificate, run)
    return run, certificate


async def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Exit code and stderr."""
    _, stderr = await asyncio.to_thread(process.communicate, timeout=LIMIT_S)
    return process.returncode, stderr


def assert_all_counts(workplace, number: int) -> None:
    records = workplace.records()
    assert len(records) == number
    for path in records:
        assert verify(path).status == "ok"
        assert read_record(path).footer.reason == "normal"


async def test_a_connection_that_breaks_costs_nothing(workplace, write_cup, line):
    run, certificate = await begin(workplace, write_cup, line, blocks=4)
    line.cut_after = 9_000
    bot = by_hand(certificate, line.address)
    try:
        code, stderr = await ended(run)
        bot_code, bot_stderr = await ended(bot)
    finally:
        bot.kill()
    assert line.cuts == 1
    assert (code, bot_code) == (0, 0), (stderr, bot_stderr)
    assert "'Ada' has connected" in stderr
    assert "'Ada' has come back" in stderr
    assert "did not count" not in stderr
    assert_all_counts(workplace, 8)
    kept = b"".join(path.read_bytes() for path in (workplace.folder / "runs").rglob("*") if path.is_file())
    assert TOKEN.encode() not in kept
    workplace.assert_nobody_left()


async def test_after_its_worker_died_a_bot_opens_a_new_session(workplace, write_cup, line):
    run, certificate = await begin(workplace, write_cup, line, blocks=6)
    bot = by_hand(certificate, f"127.0.0.1:{line.port}")
    try:
        await asyncio.to_thread(workplace.wait_for_records, 2, run)
        (worker,) = [pid for pid, words in workplace.processes().items() if "referee.tournament.worker" in words]
        os.kill(worker, signal.SIGKILL)
        code, stderr = await ended(run)
        bot_code, bot_stderr = await ended(bot)
    finally:
        bot.kill()
    assert (code, bot_code) == (0, 0), (stderr, bot_stderr)
    assert stderr.count("'Ada' has connected") == 2
    assert_all_counts(workplace, 12)


async def test_a_bot_plays_on_when_a_run_is_given_bots_or_blocks_while_it_is_played(workplace, write_cup, line):
    """All bots are started again then, and nobody sits beside one that connects from elsewhere."""
    run, certificate = await begin(workplace, write_cup, line, blocks=20)
    bot = by_hand(certificate, line.address)
    try:
        await asyncio.to_thread(workplace.wait_for_records, 2, run)
        said = await asyncio.to_thread(workplace.run, "extend", "cup", "--blocks", "1")
        assert (said.code, "the runner at work goes on with this" in said.stdout) == (0, True), said
        code, stderr = await ended(run)
        bot_code, bot_stderr = await ended(bot)
    finally:
        bot.kill()
    assert code == 0, stderr
    assert bot_code == 0, bot_stderr
    assert stderr.count("'Ada' has connected") == 2, stderr
    assert_all_counts(workplace, 42)


async def test_a_run_that_is_stopped_says_bye(workplace, write_cup, line):
    run, certificate = await begin(workplace, write_cup, line, blocks=500)
    bot = by_hand(certificate, f"127.0.0.1:{line.port}")
    try:
        await asyncio.to_thread(workplace.wait_for_records, 2, run)
        run.send_signal(signal.SIGINT)
        assert (await ended(run))[0] == 130
        assert (await ended(bot))[0] == 0
    finally:
        bot.kill()
    workplace.assert_nobody_left()


async def test_a_remote_bot_that_comes_back_as_another_version_is_recorded_and_told(workplace, write_cup, line):
    address = f"127.0.0.1:{line.port}"
    run, certificate = await begin(workplace, write_cup, line, blocks=20)
    bots = [by_hand(certificate, address, version="1")]
    try:
        await asyncio.to_thread(workplace.wait_for_records, 2, run)
        run.send_signal(signal.SIGINT)
        assert [(await ended(one))[0] for one in (run, bots[0])] == [130, 0]
        bots.append(by_hand(certificate, address, version="2"))
        again = workplace.start("run", "cup.toml", "--workers", "1")
        code, stderr = await ended(again)
        assert (await ended(bots[1]))[0] == 0
    finally:
        for bot in bots:
            bot.kill()
    assert code == 0, stderr
    assert stderr.count("declared version: 1 -> 2") == 1, stderr
    footers = [read_record(path).footer for path in workplace.records()]
    assert {version for footer in footers for version in footer.versions} == {"", "1", "2"}
    assert "changed while the run went on: 'Ada': declared version: 1 -> 2" in workplace.run("standings").stdout


async def test_con_4_without_a_bot_that_never_comes_the_others_play_on(workplace, write_cup, line):
    workplace.environment["ADA_TOKEN"] = TOKEN
    more = remote(line.port, "clock = { startup_s = 0.2 }\n").replace("wait_s = 60", "wait_s = 1")
    write_cup(bots=2, blocks=1, more=more)
    outcome = await asyncio.to_thread(workplace.run, "run", "cup.toml", "--workers", "2", timeout_s=LIMIT_S)
    assert outcome.code == 1
    assert "waiting up to 1 s for 'Ada'" in outcome.stderr
    assert "'Ada' was disqualified for its faults" in outcome.stderr
    assert_all_counts(workplace, 2)


async def test_bots_that_dial_in_meet_in_many_matches_at_once(workplace, write_cup, line):
    """Each plays one match at a time, and nobody waits for ever."""
    names = ("Ada", "Bob", "Cyd", "Dan")
    tokens = {name: f"token-of-{name}-0123456789" for name in names}
    workplace.environment |= {f"{name.upper()}_TOKEN": token for name, token in tokens.items()}
    more = f'{CLOCK}[remote]\nlisten = "127.0.0.1:{line.port}"\n' + "".join(
        f'[[bots]]\nremote = true\nname = "{name}"\ntoken_env = "{name.upper()}_TOKEN"\n' for name in names
    )
    write_cup(bots=0, blocks=2, more=more)
    run = workplace.start("run", "cup.toml", "--workers", "2")
    certificate = workplace.folder / "runs" / "cup" / "tls" / "certificate.pem"
    await until_there(certificate, run)
    bots = [by_hand(certificate, f"127.0.0.1:{line.port}", token) for token in tokens.values()]
    try:
        code, stderr = await ended(run)
        ends = [await ended(bot) for bot in bots]
    finally:
        for bot in bots:
            bot.kill()
    assert (code, [end for end, _ in ends]) == (0, [0] * 4), (stderr, ends)
    assert_all_counts(workplace, 24)
    workplace.assert_nobody_left()
