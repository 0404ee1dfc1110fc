"""A scripted referee with one process of the bot: sends what a drill wants and receives the replies."""

import asyncio
import secrets
import shutil
import time
from dataclasses import replace
from types import TracebackType
from typing import Self

from crosstown_proto.v1 import referee_pb2 as pb
from google.protobuf.message import DecodeError

from referee.compliance.report import Failed, Silent
from referee.folders import make_socket_folder
from referee.process.bot import BotProcess, Exit, StartError
from referee.process.entry import Entry
from referee.process.launch import LaunchContext
from referee.process.limits import ProcessLimits
from referee.process.output import Output
from referee.process.sandbox import Sandbox
from referee.schedule.spec import DEFAULTS, MOST_MESSAGE_BYTES
from referee.wire import Status, encode
from referee.wire.encode import PROTOCOL, WireLimits
from referee.wire.http2 import Call
from referee.wire.listener import Bounds, Listener, bind_unix

CONNECTIONS = Bounds(connections=4, in_all=64)
HELLO = "Hello"
LIMITS = WireLimits(
    DEFAULTS.max_message_bytes, DEFAULTS.max_note_bytes, DEFAULTS.max_output_bytes, int(DEFAULTS.ready_s * 1e6)
)


class ScriptedReferee:
    """An async context manager: the bot is started on entering it, and nothing of it is left on leaving."""

    def __init__(self, entry: Entry, *, startup_s: float, listen_after_s: float = 0.0, context: LaunchContext) -> None:
        """`listen_after_s`: how long the socket is not there yet when the bot already runs."""
        self._entry = entry
        self._context = context
        self._startup_s = startup_s
        self._listen_after_s = listen_after_s
        self._heard: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._call: Call | None = None
        self._listener: Listener | None = None
        self._process: BotProcess | None = None
        self.hello = pb.Hello()
        self.hello_s = 0.0
        """From the start of the process to its Hello."""

    async def __aenter__(self) -> Self:
        self._folder = make_socket_folder()
        # In a folder of its own that the sandbox shows, since the socket may come later than the bot.
        self._socket = self._folder / "referee" / "referee.sock"
        self._socket.parent.mkdir(mode=0o755)
        token = secrets.token_hex(16)
        try:
            try:
                self._process = await BotProcess.start(
                    self._entry,
                    address=f"unix:{self._socket}",
                    token=token,
                    limits=ProcessLimits(),
                    context=replace(self._context, sandbox=self._sandbox()),
                )
            except StartError as error:
                raise Failed(f"{error}; it printed: {error.output.stderr_text().strip() or 'nothing'}") from None
            try:
                began_s = time.monotonic()
                await asyncio.sleep(self._listen_after_s)
                self._listen()
                await self._greet(token)
                self.hello_s = time.monotonic() - began_s - self._listen_after_s
            except BaseException:
                await self.__aexit__(None, None, None)
                raise
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            await self._process.__aexit__(None, None, None)
        await self.leave()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def send(self, message: bytes) -> None:
        """Failed if the stream is not there any more."""
        if self._call is None or self._call.ended is not None:
            raise Failed(f"the bot has ended its stream{await self._ended()}")
        self._call.send(message)

    async def hear(self, limit_s: float, what: str) -> pb.BotMessage:
        """The bot's next message. Failed if none comes in time, the stream ends or it is no message."""
        exited = asyncio.ensure_future(self.process.wait())
        heard = asyncio.ensure_future(self._heard.get())
        try:
            await asyncio.wait({exited, heard}, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
            if not heard.done() and exited.done():
                await asyncio.wait({heard}, timeout=0.2)  # what it said before its end may still be on the way
            raw = heard.result() if heard.done() else None
            if not heard.done() and not exited.done():
                raise Silent(f"no {what} within {limit_s:g} s")
        finally:
            exited.cancel()
            heard.cancel()
        if raw is None:
            ended = await self.exit_within(1.0)
            silently = what == HELLO and ended is not None and ended.code == 0
            ask = "; does the program call run(...) with your bot?" if silently else ""
            raise Failed(f"the bot ended its stream instead of sending {what}{await self._ended()}{ask}")
        try:
            return pb.BotMessage.FromString(raw)
        except DecodeError:
            raise Failed(f"expected {what}, got {len(raw)} bytes that are not a crosstown.v1.BotMessage") from None

    async def hear_nothing(self, pause_s: float, when: str) -> None:
        """Failed if the bot sends anything within this time, in which nothing is asked."""
        heard = asyncio.ensure_future(self._heard.get())
        try:
            await asyncio.wait({heard}, timeout=pause_s)
            if not heard.done():
                return
            raw = heard.result()
        finally:
            heard.cancel()
        if raw is None:
            raise Failed(f"the bot ended its stream {when}{await self._ended()}")
        try:
            kind: str = pb.BotMessage.FromString(raw).WhichOneof("body") or "an empty message"
        except DecodeError:
            kind = f"{len(raw)} bytes that are not a crosstown.v1.BotMessage"
        raise Failed(f"it sent {kind} {when}, when nothing was asked; send one answer to each question")

    async def leave(self) -> None:
        """The referee is gone, without a word."""
        if self._listener is not None:
            await self._listener.stop()
            self._listener = None

    def output(self) -> Output:
        """What the process has printed so far; nothing if it was never started."""
        return Output() if self._process is None else self._process.output()

    @property
    def process(self) -> BotProcess:
        assert self._process is not None, "used before it was entered"
        return self._process

    async def exit_within(self, limit_s: float) -> Exit | None:
        """How the bot ended; None if it has not after `limit_s`."""
        try:
            async with asyncio.timeout(limit_s):
                return await self.process.wait()
        except TimeoutError:
            return None

    def _sandbox(self) -> Sandbox:
        sandbox = self._context.sandbox
        if sandbox.profile == "plain":
            return sandbox
        return replace(sandbox, read=(*sandbox.read, str(self._socket.parent)))

    def _listen(self) -> None:
        listening = bind_unix(self._socket)
        self._socket.chmod(0o666)  # the bot may have a user of its own; the folder above is private to us
        self._listener = Listener([listening], self._play, CONNECTIONS, one=True)
        self._listener.start()

    async def _play(self, call: Call) -> None:
        if self._call is not None:
            call.finish(Status.ALREADY_EXISTS, "one process, one stream for all its matches")
            return
        self._call = call
        ended = asyncio.Event()
        call.listen(self._heard.put_nowait, ended.set)
        await ended.wait()
        self._heard.put_nowait(None)

    async def _greet(self, token: str) -> None:
        first = await self.hear(self._startup_s, HELLO)
        if first.WhichOneof("body") != "hello":
            raise Failed(f"the first message is {first.WhichOneof('body') or 'empty'}; expected Hello")
        self.hello = first.hello
        if self.hello.protocol != PROTOCOL:
            raise Failed(f"Hello.protocol is {self.hello.protocol}; expected {PROTOCOL}")
        if self.hello.token != token:
            raise Failed("Hello.token is not the value of CROSSTOWN_TOKEN, unchanged")
        assert self._call is not None
        assert self._listener is not None
        self._call.admit(MOST_MESSAGE_BYTES)
        self._listener.stop_listening()  # as in a match
        self._listener.close_others(self._call)
        await self.send(encode.welcome(LIMITS))

    async def _ended(self) -> str:
        """Which limit it broke, or how the process ended, if it is about to."""
        if self._call is not None and self._call.failure:
            return f": {self._call.failure}"
        ended = await self.exit_within(1.0)
        stderr = self.output().stderr_text().strip()
        said = f"; the last it printed to stderr: {stderr.splitlines()[-1]}" if stderr else ""
        return (f", {ended}" if ended else "") + said
