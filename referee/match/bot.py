"""Live bots with their streams: a process that the referee has started, or a remote bot that connects to it.

A remote bot may also be a person in a browser. To let one play, say who it is and with which token it comes:

    entry = remote_bot_entry("Ada")                                     # referee.process.entry
    invited = Invitation(token=secrets.token_hex(16), wait_s=60)
    async with Table({entry.id: entry, ...}, remote_bots={entry.id: invited}) as table:
        # Its program opens a gRPC stream to `table.address` and says Hello with the token, before the match or up to
        # `wait_s` after the table was opened: any client, such as `crosstown_bot`, in this process or another.
        result = await table.play(spec, records)                   # its seat: SeatSpec(entry.id, entry.name, ...)

It has one session for all matches, which are played one after the other. Bye comes when the table is left.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from referee.match.effort import NO_EFFORT, Effort, measure_effort, ready_below, state_below
from referee.match.seat import Contact, SeatEnd, SeatListener, Wants
from referee.process.bot import BotProcess, Exit
from referee.process.entry import Entry, lost_folders
from referee.process.manifest import plays
from referee.process.output import Output
from referee.process.sandbox import Sandbox
from referee.record.reasons import EndReason
from referee.wire import Hello, LastingSession, RemoteBot, Session, StreamEnd, encode
from referee.wire.encode import WireLimits
from referee.wire.listener import hard_message_bytes
from referee.wire.remote_bots import version_label

EXIT_AFTER_STREAM_S = 1.0
"""A stream that ends is mostly a process that ends: its exit is waited for, to tell a crash from a mere close, until it
has slept for so long."""

EXIT_AT_MOST_S = 30.0
"""Before its exit it may have much to do, or wait long for a processor. A decision that is open ends before that, soon
after its limit."""

_LOOK_S = 0.1
_SLEEPING = {"S", "T"}  # or stopped, by a signal or by the referee

IDLE_S = 0.25
"""After a match a bot that does not run off turn gets this long to read its end and to deal with it."""

DISMISSED_S = 0.25
"""What a bot that has left a match gets to read why."""

STREAM_AFTER_EXIT_S = 0.2
"""What a process sent before it exited is still read for so long, should a child keep the stream open."""

STREAM_ENDS = {
    StreamEnd.CLOSED_BY_BOT: "closed its stream",
    StreamEnd.NOT_READING: "does not read its stream",
    StreamEnd.CLOSED_BY_REFEREE: "the referee closed its stream",
    StreamEnd.BEGUN_ANEW: "its connection broke, and it opened a new session instead of taking this one up",
}
BROKEN_LIMITS = (StreamEnd.FLOODED, StreamEnd.OVERSIZED)
"""Ends of a stream that say all: how the process ends does not matter any more."""


class LiveBot:
    """One process, one session; a `Seat` in one match after another."""

    def __init__(
        self, process: BotProcess, session: Session, told: WireLimits, sandbox: Sandbox, startup_us: int = 0
    ) -> None:
        self.process = process
        self.startup_us = startup_us
        """From its start to its Hello, without what was not its doing, for the match that it was started for; 0 for
        every later one."""
        self.session = session
        self.told = told
        """What Welcome said."""
        self.wants = wants_of(session.hello)
        self.blocks: set[tuple[str, str, int]] = set()
        """Where it has played: (tournament, game, block)."""
        self.end: SeatEnd | None = None
        self.send = session.send
        self.freeze, self.thaw = process.freeze, process.thaw
        self.cpu_ns = process.cpu_ns
        self.idle_from_ns = self.cpu_ns()
        self._has_played = False
        self._freezing: asyncio.TimerHandle | None = None
        self.sandbox = sandbox
        """How it was confined when it was started."""
        self._listener: SeatListener | None = None
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    @property
    def ending(self) -> bool:
        return self.session.ended.done() or self.process.exited is not None

    @property
    def away_s(self) -> float:
        """A process of the referee's has no connection to lose."""
        return 0.0

    def contact(self, since_ns: int) -> Contact:
        return "there"

    def plays(self, game: str) -> bool:
        """Whether the bot says that it can."""
        return plays_game(self.session.hello, game)

    def listen(self, listener: SeatListener | None) -> None:
        self._listener = listener
        self.session.listen(None if listener is None else listener.on_message)
        if listener is not None and self.end is not None:
            listener.on_end(self.end)

    def effort(self) -> Effort:
        seen = measure_effort(self.process.guardian_pid)
        unseen = frozenset[str]() if self.process.counts_all else seen.processes
        return replace(seen, throttled_ns=self.process.throttled_ns(), processes=unseen)

    def traffic_ns(self) -> int:
        return self.session.spent_ns

    def process_state(self) -> str:
        return state_below(self.process.guardian_pid)

    def ready_tasks(self) -> frozenset[int]:
        return ready_below(self.process.guardian_pid)

    def seat(self, *, frozen: bool) -> None:
        """A match begins, to which what the bot prints belongs. `frozen`: it does not run until it is thawed."""
        self._stop_idling()
        if self._has_played:
            self.process.begin_output()
        self._has_played = True
        if frozen:
            self.freeze()

    def idle(self, *, frozen: bool) -> None:
        """Its match is over, and it waits for the next. `frozen`: it has `IDLE_S` for its end, and then does not run
        until it is thawed."""
        self.idle_from_ns = self.cpu_ns()
        if frozen:
            self._freezing = asyncio.get_running_loop().call_later(IDLE_S, self.freeze)

    def _stop_idling(self) -> None:
        if self._freezing is not None:
            self._freezing.cancel()

    def ask_for_stacks(self) -> None:
        if self.session.hello.prints_stacks:
            self.process.ask_for_stacks(prints_stacks=True)

    def dismiss(self) -> None:
        self.listen(None)
        asyncio.get_running_loop().call_later(DISMISSED_S, self.process.kill)

    async def last_output(self) -> Mapping[str, Any]:
        return await stacks_evidence(self.process)

    async def stop(self, bye_s: float, grace_s: float) -> None:
        """Bye if it still listens, after `bye_s` SIGTERM, and `grace_s` later the end of all that is left of it."""
        self._stop_idling()
        self.thaw()
        try:
            if self.process.exited is None:
                if not self.session.ended.done():
                    self.send(encode.bye())
                await asyncio.wait([asyncio.ensure_future(self.process.wait())], timeout=bye_s)
            await self.process.stop(0 if self.process.exited else grace_s)
        finally:
            self._watching.cancel()

    async def _watch(self) -> None:
        stream: asyncio.Future[Any] = self.session.ended
        exited: asyncio.Future[Any] = asyncio.ensure_future(self.process.wait())
        await asyncio.wait([stream, exited], return_when=asyncio.FIRST_COMPLETED)
        if not exited.done() and stream.result() not in BROKEN_LIMITS:
            await self._wait_for_exit(exited)
        elif not stream.done():
            await asyncio.wait([stream], timeout=STREAM_AFTER_EXIT_S)
        if stream.done() and stream.result() in BROKEN_LIMITS:
            exited.cancel()
            self.end = broken_limit(self.session, self.told.max_message_bytes, self.session.traffic.as_evidence())
        elif exited.done():
            self.end = exit_end(exited.result(), self.sandbox)
            if self.end.reason is EndReason.CRASHED and (lost := lost_folders(self.process.entry)):
                self.end = replace(self.end, reason=EndReason.PLATFORM_FAULT, detail=f"{self.end.detail}; {lost}")
        else:
            exited.cancel()
            self.end = SeatEnd(EndReason.DISCONNECTED, STREAM_ENDS[stream.result()])
        if self._listener is not None:
            self._listener.on_end(self.end)

    async def _wait_for_exit(self, exited: asyncio.Future[Any]) -> None:
        """Until it is known, or is no longer to be expected."""
        slept = 0
        for _ in range(round(EXIT_AT_MOST_S / _LOOK_S)):
            await asyncio.wait([exited], timeout=_LOOK_S)
            slept = slept + 1 if self.process_state() in _SLEEPING else 0
            if exited.done() or slept * _LOOK_S >= EXIT_AFTER_STREAM_S:
                return


def wants_of(hello: Hello) -> Wants:
    """What a bot asked for."""
    return Wants(
        text=hello.wants_text,
        updates=hello.wants_updates,
        legal_actions=not hello.omit_legal_actions,
        observation=not hello.omit_observation,
    )


def plays_game(hello: Hello, game: str) -> bool:
    """Whether a bot says that it can; one that names no games, or "*", plays any."""
    return plays(hello.games, game)


def exit_end(how: Exit, sandbox: Sandbox) -> SeatEnd:
    """The end of a process that nobody asked to end. Under `strict` no bot can have killed its guardian; else it may
    have been the bot."""
    evidence: dict[str, Any] = {}
    if how.code is not None:
        evidence["exit_code"] = how.code
    if how.signal is not None:
        evidence["exit_signal"] = how.signal
    if how.peak_memory_bytes is not None:
        evidence["peak_memory_bytes"] = how.peak_memory_bytes
    if how.out_of_memory:
        held = "" if how.peak_memory_bytes is None else f" with {how.peak_memory_bytes / (1 << 20):.0f} MiB"
        return SeatEnd(EndReason.OUT_OF_MEMORY, f"the process ended: {how}{held}; memory_mib sets the limit", evidence)
    if how.machine_out_of_memory or (how.guardian_lost and sandbox.profile == "strict"):
        detail = f"a bot's process was {how}"
        return SeatEnd(EndReason.PLATFORM_FAULT, detail, evidence, machine_memory=how.machine_out_of_memory)
    return SeatEnd(EndReason.CRASHED, f"the process ended: {how}", evidence)


def broken_limit(session: Session | LastingSession, limit_bytes: int, traffic: Mapping[str, Any]) -> SeatEnd:
    """The end of a bot whose stream the referee ended for what came on it."""
    size = session.refused_bytes
    if not size:
        return SeatEnd(EndReason.DISCONNECTED, f"the referee closed its stream: {session.failure}", dict(traffic))
    detail = (
        f"a message of {size} bytes, which ended the stream: no message may have more than"
        f" {hard_message_bytes(limit_bytes) / (1 << 20):g} MiB, and the limit (max_message_bytes) is {limit_bytes}"
    )
    return SeatEnd(EndReason.OVERSIZED_MESSAGE, detail, {"message_bytes": size})


def output_evidence(output: Output) -> dict[str, Any]:
    """What the bot printed, as far as it was kept."""
    evidence: dict[str, Any] = {}
    for name, text in (("stdout", output.stdout_text()), ("stderr", output.stderr_text())):
        if text:
            evidence[name] = text
    if dropped := output.stdout_dropped + output.stderr_dropped:
        evidence["output_dropped_bytes"] = dropped
    if output.earlier_bytes:
        evidence["earlier_output_bytes"] = output.earlier_bytes
    return evidence


async def stacks_evidence(process: BotProcess) -> dict[str, Any]:
    """The same of a process that may have been asked for its stacks, and those."""
    stacks = await process.stacks()
    evidence = output_evidence(process.output())
    if stacks:
        evidence["stacks"] = stacks
        evidence["stderr"] = evidence.get("stderr", "").replace(stacks, "").lstrip("\n")
    return evidence


class RemoteBotSeat:
    """A remote bot's session as a `Seat`, for one match.

    Nothing is known of its processes: no output, no processor time, nothing to stop or to freeze. All time between
    question and answer is the bot's, with that of the network.
    """

    def __init__(self, entry: Entry, session: LastingSession, max_message_bytes: int) -> None:
        """`max_message_bytes` is what Welcome said."""
        self.entry = entry
        self._max_message_bytes = max_message_bytes
        self.session = session
        self.wants = wants_of(session.hello)
        self.send = session.send
        self._listener: SeatListener | None = None
        session.ended.add_done_callback(self._on_end)

    @property
    def ending(self) -> bool:
        """Not while the bot may come back: its clock goes on."""
        return self.session.ended.done()

    @property
    def version(self) -> str:
        """What the bot calls its version, as a short line."""
        return version_label(self.session.hello.version)

    @property
    def idle_from_ns(self) -> int | None:
        return None

    @property
    def away_s(self) -> float:
        return self.session.away_s

    def contact(self, since_ns: int) -> Contact:
        if self.session.back_at_s * 1e9 > since_ns:
            return "back"
        return "lost" if self.session.is_lost(since_ns / 1e9) else "there"

    def plays(self, game: str) -> bool:
        """Whether the bot says that it can."""
        return plays_game(self.session.hello, game)

    def listen(self, listener: SeatListener | None) -> None:
        self._listener = listener
        self.session.listen(None if listener is None else listener.on_message)
        if listener is not None and self.session.ended.done():
            listener.on_end(self._end(self.session.ended.result()))

    def freeze(self) -> None:
        """Its process is not the referee's to stop."""

    def thaw(self) -> None:
        """Nor to let run."""

    def cpu_ns(self) -> int | None:
        return None

    def effort(self) -> Effort:
        return NO_EFFORT

    def traffic_ns(self) -> int:
        return self.session.spent_ns

    def process_state(self) -> str:
        return ""

    def ready_tasks(self) -> frozenset[int]:
        return frozenset()

    def ask_for_stacks(self) -> None:
        """Its process gets no signals from the referee."""

    def dismiss(self) -> None:
        self.listen(None)

    def leave(self) -> None:
        """The match is over for it; the session goes on."""
        self.listen(None)
        self.session.ended.remove_done_callback(self._on_end)

    async def last_output(self) -> Mapping[str, Any]:
        return {}

    def _on_end(self, ended: asyncio.Future[StreamEnd]) -> None:
        if self._listener is not None:
            self._listener.on_end(self._end(ended.result()))

    def _end(self, how: StreamEnd) -> SeatEnd:
        if how in BROKEN_LIMITS:
            return broken_limit(self.session, self._max_message_bytes, {})
        detail = STREAM_ENDS[how]
        if how is StreamEnd.CLOSED_BY_BOT and self.session.reconnect_s:
            detail = f"its connection broke, and it did not take its session up within {self.session.reconnect_s:g} s"
        return SeatEnd(EndReason.DISCONNECTED, detail)


async def say_bye(remote_bot: RemoteBot, bye_s: float) -> None:
    """Bye, then up to `bye_s` for the remote bot to close its stream. One that comes later hears it at once."""
    session = remote_bot.dismiss(encode.bye())
    if session is not None:
        await asyncio.wait([session.ended], timeout=bye_s)
