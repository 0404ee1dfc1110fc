"""Live bot processes: started with patience, used again where that is fair, stopped without waiting."""

import asyncio
import os
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from referee.match.bot import LiveBot, RemoteBotSeat, exit_end, output_evidence, say_bye, stacks_evidence
from referee.match.effort import measure_effort
from referee.match.invitation import Invitation, Seen
from referee.match.time_control import GRACE_NS, LoopTimeSource, TimeSource, time_limit
from referee.process.bot import BotProcess, StartError
from referee.process.cgroup import Cgroups
from referee.process.child_reaper import ChildReaper
from referee.process.entry import Entry, lost_files, may_have_changed
from referee.process.launch import LaunchContext
from referee.process.limits import ProcessLimits
from referee.process.sandbox import Sandbox
from referee.record.reasons import EndReason
from referee.schedule.spec import RESOURCE_KEYS, Limits
from referee.wire import HandshakeError, Hello, LastingSession, RemoteBot, Session, WireServer
from referee.wire.encode import WireLimits
from referee.wire.remote_bots import version_label

BYE_S = 1.0
"""What a sound bot gets to exit after Bye."""

FAULTED_BYE_S = 0.25
"""What a faulted one gets to read MatchEnd: it may be spinning on a core that the next match needs."""

_TERM_S = 0.25

CLOSE_S = 30.0
"""When a table closes it waits so long at the most. Processes that have not ended then are left to their guardians."""

STOOD_STILL_NS = 8_000_000_000
"""If the referee reads nothing for so long without interruption, a bot that starts may have given up: the SDKs wait ten
seconds for it."""

_SHOWN_GAMES = 20
_SHOWN_CHARACTERS = 500


Block = tuple[str, str, int]
"""(tournament, game, block): matches of one block share their luck, so no process may know two of them."""


class BotStartError(Exception):
    """A bot that did not come to the table. One sentence; `evidence` as in `Fault`."""

    def __init__(self, message: str, evidence: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.evidence = evidence


class LostAtStart(OSError):
    """A process that ended before Hello, and not by its own doing. `memory`: the machine had none left for it."""

    def __init__(self, message: str, *, memory: bool) -> None:
        super().__init__(message)
        self.memory = memory


class Pool:
    """The processes of one table. `close` ends them all."""

    def __init__(
        self,
        server: WireServer,
        entries: Mapping[str, Entry],
        *,
        max_idle: int,
        clock: LoopTimeSource,
        starts_at_once: int | None = None,
        child_reaper: ChildReaper | None = None,
        sandboxes: Mapping[str, Sandbox] | None = None,
        cgroups: Cgroups | None = None,
        remote_bots: Mapping[str, Invitation] | None = None,
        fresh: Collection[str] = (),
        copies: Mapping[str, int] | None = None,
        on_remote_bot: Callable[[str, str], None] = lambda _entry_id, _what: None,
    ) -> None:
        """Each process gets its own server. `server` is for `remote_bots`, by entry id, and accepts them from now on.
        `on_remote_bot` gets a sentence when one connects or leaves.

        Entries in `fresh` have a new process for each match. Of an entry in `copies` there are never more processes
        than that at once, counting those that are on their way out: a start waits until another has ended."""
        # Not `or`: a worker that has no bots yet fills its mapping later.
        self._sandboxes = {} if sandboxes is None else sandboxes
        self._cgroups = cgroups or Cgroups()
        self._server = server
        self._entries = entries
        self._max_idle = max_idle
        self._clock = clock
        self._child_reaper = child_reaper
        self.starts_at_once = starts_at_once or os.cpu_count() or 1
        self._starting = asyncio.Semaphore(self.starts_at_once)
        self._idle: list[LiveBot] = []
        self._fresh = fresh
        self._room = {entry_id: asyncio.Semaphore(number) for entry_id, number in (copies or {}).items()}
        self._ended = deque[BotProcess](maxlen=8)  # the seats of one match, and a few more
        self._sockets: dict[LiveBot, AsyncExitStack] = {}
        self._lasting: dict[str, set[asyncio.Task[object]]] = {}
        """By entry id: the ends of processes that were killed, and have not ended in time."""
        self._stopping: set[asyncio.Task[object]] = set()
        self._on_remote_bot = on_remote_bot
        self._places: dict[str, _Place] = {}
        self._known_as: dict[str, tuple[str, str | None]] = {}
        for entry_id, invited in (remote_bots or {}).items():
            self.expect(entry_id, invited)

    def expect(self, name: str, invited: Invitation) -> None:
        """From now on a remote bot may come, known as `name`. One that was expected before may from now on come with
        the tokens of this invitation alone."""
        if (place := self._places.get(name)) is not None:
            place.remote_bot.accept(invited.known_digests())
        else:
            self._places[name] = _Place(self._server, invited, partial(self._on_remote_bot, name), self._clock)

    def turn_away(self, name: str) -> None:
        """The remote bot may come no more; its session ends."""
        if (place := self._places.get(name)) is not None:
            place.remote_bot.accept(())

    def seat_as(self, entry_id: str, name: str, version: str) -> None:
        """The entry is the remote bot that is expected under this name, while it says that it is this version."""
        self._known_as[entry_id] = name, version

    def is_remote(self, entry_id: str) -> bool:
        """Whether the bot of this entry connects by itself."""
        return entry_id in self._places or entry_id in self._known_as

    def seen(self) -> dict[str, Seen]:
        """What is known of each remote bot that is expected, by name."""
        return {name: place.seen() for name, place in self._places.items()}

    async def acquire(
        self, entry_id: str, limits: Limits, game: str, block: Block, *, ponder: bool = True
    ) -> LiveBot | RemoteBotSeat:
        """A process of this entry that has not played in `block`: an idle one, or a new one; or its remote_bot.

        BotStartError if the bot does not come; OSError where the system does not let one be started.

        It plays no other match at the same time, however many it offers to in Hello.
        """
        if self.is_remote(entry_id):
            name, version = self._known_as.get(entry_id, (entry_id, None))
            if name not in self._places:
                raise BotStartError("it is not known where remote bots connect", {})
            return await self._places[name].take(self._entries[entry_id], limits.startup_s, game, version)
        told = _wire_limits(limits, ponder, self.starts_at_once)
        for bot in reversed(self._idle):
            if bot.process.entry.id == entry_id and bot.told == told and block not in bot.blocks:
                self._idle.remove(bot)
                if bot.ending:
                    self._retire(bot, FAULTED_BYE_S)
                    return await self.acquire(entry_id, limits, game, block, ponder=ponder)
                bot.startup_us = 0
                break
        else:
            bot = await self._start(entry_id, limits, told, await self._make_room(entry_id, limits.startup_s))
        if not bot.plays(game):
            self._retire(bot, FAULTED_BYE_S)
            raise BotStartError(_plays_others(bot.session.hello, game), output_evidence(bot.process.output()))
        bot.blocks.add(block)
        bot.seat(frozen=not ponder)
        return bot

    def release(self, bot: LiveBot | RemoteBotSeat, *, reusable: bool) -> None:
        """A match is done with this bot. Returns at once; processes that have to end do so in the background.

        a remote bot stays, whatever it did: there is no other process to take its place.
        """
        if isinstance(bot, RemoteBotSeat):
            bot.leave()
            name, _ = self._known_as.get(bot.entry.id, (bot.entry.id, None))
            self._places[name].free.set()
            return
        bot.listen(None)
        if not reusable:
            self._retire(bot, FAULTED_BYE_S)
            return
        entry_id = bot.process.entry.id
        # Another one than now: it was in a match when `forget` was called.
        old = bot.sandbox != self._sandboxes.get(entry_id, Sandbox())
        if bot.ending or old or entry_id in self._fresh:
            self._ended.append(bot.process)
            self._retire(bot, BYE_S)
            return
        bot.idle(frozen=bot.told.frozen_off_turn)
        self._idle.append(bot)
        while len(self._idle) > self._max_idle:
            self._retire(self._idle.pop(0), BYE_S)

    def forget(self, entry_id: str) -> None:
        """Processes of this entry that wait play no more matches."""
        for bot in [bot for bot in self._idle if bot.process.entry.id == entry_id]:
            self._idle.remove(bot)
            self._retire(bot, BYE_S)

    def waiting(self) -> list[BotProcess]:
        """Those that wait for their next match, after a match in the order of its seats; then the last ones that
        ended by themselves when theirs was over."""
        return [bot.process for bot in self._idle] + list(self._ended)

    async def close(self) -> None:
        """End all processes, and wait until they are gone; remote bots hear Bye."""
        for place in self._places.values():
            self._spawn(say_bye(place.remote_bot, BYE_S))
        while self._idle:
            self._retire(self._idle.pop(), BYE_S)
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                while self._stopping:
                    await asyncio.wait(self._stopping)
        for task in self._stopping:
            task.cancel()
        await asyncio.gather(*self._stopping, return_exceptions=True)

    async def _wait_for_ends(self, entry_id: str, startup_s: float) -> None:
        """Until what was killed of this entry has ended: until then it holds its memory, and what it has mapped.
        BotStartError if that takes longer."""
        end_s = time.monotonic() + startup_s
        while lasting := self._lasting.get(entry_id):  # more may be killed while this waits
            rest_s = end_s - time.monotonic()
            if rest_s > 0:
                await asyncio.wait(lasting, timeout=rest_s)
                continue
            what = f"an earlier process of the bot was killed and has not ended, after {startup_s:g} s more"
            raise BotStartError(f"{what}: it has threads in system calls that last long", {})

    async def _make_room(self, entry_id: str, startup_s: float) -> AsyncExitStack:
        """Once there may be one process more of this entry; it has ended, or was killed, when what is returned is
        closed. BotStartError as `_wait_for_ends`."""
        places = self._room.get(entry_id)
        async with AsyncExitStack() as room:
            if places is not None:
                idle = [bot for bot in self._idle if bot.process.entry.id == entry_id]
                if places.locked() and idle:  # it knows the luck of the block, or was told other limits
                    self._idle.remove(idle[0])
                    self._retire(idle[0], BYE_S)
                await places.acquire()
                room.callback(places.release)
            await self._wait_for_ends(entry_id, startup_s)
            return room.pop_all()

    async def _start(self, entry_id: str, limits: Limits, told: WireLimits, room: AsyncExitStack) -> LiveBot:
        entry = self._entries.get(entry_id)
        if entry is None:
            await room.aclose()
            raise BotStartError(f"no entry with the id {entry_id} is known to this table", {})
        sandbox = self._sandboxes.get(entry_id, Sandbox())
        async with room, self._starting, AsyncExitStack() as stack:
            if sandbox.profile == "plain" and await asyncio.to_thread(may_have_changed, entry):
                await _check_files(entry)  # it may write there, and plays as what the record names
            server = await stack.enter_async_context(self._server.for_one(told.max_message_bytes))
            token = secrets.token_hex(16)
            expected = server.expect(token, told)
            began_ns = time.monotonic_ns()
            took_us = partial(self._took_us, began_ns, self._clock.lag_ns())
            try:
                process = await BotProcess.start(
                    entry,
                    address=server.address,
                    token=token,
                    limits=_process_limits(limits),
                    context=LaunchContext(sandbox, self._cgroups),
                    child_reaper=self._child_reaper,
                )
            except StartError as error:
                if error.ours:
                    raise OSError(str(error)) from None
                await _check_files(entry)
                took = _start_evidence(*took_us(0))
                raise BotStartError(str(error), {**took, **output_evidence(error.output)}) from None
            try:
                session = await self.shake_hands(process, expected, limits, sandbox, began_ns)
            except BaseException as error:
                if isinstance(error, BotStartError):
                    error.evidence = {**_start_evidence(*took_us(_kept_waiting_ns(process))), **error.evidence}
                expected.cancel()
                self._spawn(self._leave(process, partial(process.stop, 0), room.pop_all()))
                raise
            charged_us, _ = took_us(_kept_waiting_ns(process))
            bot = LiveBot(process, session, told, sandbox, charged_us)
            self._sockets[bot] = room.pop_all()
            await self._sockets[bot].enter_async_context(stack.pop_all())
        return bot

    def _took_us(self, began_ns: int, lag_before_ns: int, waited_ns: int) -> tuple[int, int]:
        """Of the time since a start what the bot is charged, and what not. `waited_ns`: others kept it from running."""
        wall_us = (time.monotonic_ns() - began_ns) // 1000
        lag_us = min(wall_us, max(self._clock.lag_ns() - lag_before_ns, waited_ns) // 1000)
        return max(1, wall_us - lag_us), lag_us

    async def shake_hands(
        self,
        process: BotProcess,
        expected: "asyncio.Future[Session]",
        limits: Limits,
        sandbox: Sandbox,
        began_ns: int,
    ) -> Session:
        exited: asyncio.Future[Any] = asyncio.ensure_future(process.wait())
        try:
            waited: list[asyncio.Future[Any]] = [expected, exited]
            with suppress(TimeoutError):
                async with time_limit(self._clock, limits.startup_s, partial(_kept_waiting_ns, process)):
                    await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if expected.done():
                return expected.result()
            if exited.done():
                how = exited.result()
                end = exit_end(how, sandbox)
                if end.reason is EndReason.PLATFORM_FAULT:
                    raise LostAtStart(end.detail, memory=end.machine_memory)
                late_ns = self._clock.longest_stall_ns(began_ns)
                if how.code and late_ns > STOOD_STILL_NS:
                    what = f"bot '{process.entry.name}' ended before it said Hello: {how}"
                    raise LostAtStart(f"{what}; the referee had stood still for {late_ns / 1e9:.0f} s", memory=False)
                await _check_files(process.entry)
                ask = "; does the program call run(...) with your bot?" if how.code == 0 else ""
                raise BotStartError(
                    f"the process ended before it said Hello: {how}{ask}",
                    {**end.evidence, **output_evidence(process.output())},
                )
            process.ask_for_stacks(prints_stacks=False)
            raise BotStartError(f"no Hello {limits.startup_s:g} s after the start", await stacks_evidence(process))
        except HandshakeError as error:
            raise BotStartError(str(error), output_evidence(process.output())) from None
        finally:
            exited.cancel()

    def _retire(self, bot: LiveBot, bye_s: float) -> None:
        self._spawn(self._leave(bot.process, partial(bot.stop, bye_s, _TERM_S), self._sockets.pop(bot)))

    async def _leave(self, process: BotProcess, stop: Callable[[], Awaitable[object]], held: AsyncExitStack) -> None:
        """What it has `held` is given back when it was killed; it may be gone long after that."""
        async with held:
            await stop()
            if not process.is_gone:
                lasting = self._lasting.setdefault(process.entry.id, set())
                end = self._spawn(process.wait_gone())
                lasting.add(end)
                end.add_done_callback(lasting.discard)

    def _spawn(self, work: Coroutine[Any, Any, object]) -> asyncio.Task[object]:
        task = asyncio.get_running_loop().create_task(work)
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)
        return task


async def _check_files(entry: Entry) -> None:
    """OSError if what a bot plays from was taken away or changed."""
    if lost := await asyncio.to_thread(lost_files, entry):
        raise OSError(f"bot '{entry.name}': {lost}")


def _start_evidence(charged_us: int, lag_us: int) -> dict[str, int]:
    return {"startup_us": charged_us, "startup_lag_us": lag_us}


def _kept_waiting_ns(process: BotProcess) -> int:
    """How long others have kept a bot that starts from running: other bots may use up the processors meanwhile."""
    seen = replace(measure_effort(process.guardian_pid), throttled_ns=process.throttled_ns())
    return seen.excused_at_start_ns(process.cpu_ns() or 0)


_NOT_OURS: Mapping[str, Any] = dict.fromkeys(("max_output_bytes", "starts_at_once", *RESOURCE_KEYS), 0)
"""Limits that hold for no remote_bot: its processes and what it prints are its own."""


class _Place:
    """Where one remote bot is awaited, and whether it is free."""

    def __init__(self, server: WireServer, invited: Invitation, tell: Callable[[str], None], clock: TimeSource) -> None:
        told = replace(_wire_limits(invited.limits, True, 0), **_NOT_OURS)
        self.remote_bot = RemoteBot(
            invited.known_digests(), told, reconnect_s=invited.reconnect_s, version=invited.version, tell=tell
        )
        self.free = asyncio.Event()
        self.free.set()
        self._clock = clock
        self._max_message_bytes = invited.limits.max_message_bytes
        self._awaited_since_s = time.monotonic()
        self._waited_for_until_s = self._awaited_since_s + invited.wait_s
        server.invite(self.remote_bot)

    def seen(self) -> Seen:
        session = self.remote_bot.session
        if session is None:
            return Seen(connected=False)
        return Seen(session.online, version_label(session.hello.version), tuple(session.hello.games[:_SHOWN_GAMES]))

    async def take(self, entry: Entry, startup_s: float, game: str, version: str | None = None) -> RemoteBotSeat:
        """The remote_bot, once it is there and plays nothing else. BotStartError if that takes too long, or if it is
        not the `version` that is wanted; None for any."""
        left_s = self._waited_for_until_s - time.monotonic()
        limit_s = left_s if left_s > 0 and not self.remote_bot.has_come else max(startup_s, left_s)
        until_s, lag_before_ns = time.monotonic() + limit_s, self._clock.lag_ns()
        try:
            async with time_limit(self._clock, limit_s):
                while not self.free.is_set():
                    await self.free.wait()
        except TimeoutError:
            raise BotStartError(f"it is playing another match, which did not end within {limit_s:.0f} s", {}) from None
        self.free.clear()
        try:
            bot = RemoteBotSeat(entry, await self._arrival(until_s, lag_before_ns), self._max_message_bytes)
            if not bot.plays(game):
                bot.leave()
                raise BotStartError(_plays_others(bot.session.hello, game), {})
            if version is not None and bot.version != version:
                bot.leave()
                raise BotStartError(
                    f"it has connected as version {bot.version!r}, and version {version!r} is to play", {}
                )
        except HandshakeError as error:
            self.free.set()
            raise BotStartError(str(error), {}) from None
        except BaseException:
            self.free.set()
            raise
        return bot

    async def _arrival(self, until_s: float, lag_before_ns: int) -> LastingSession:
        """A bot whose connection broke is waited for as long as it may stay away. Time in which the referee was late
        since `lag_before_ns` is given back. Raises HandshakeError."""

        since_s = time.monotonic() if self.remote_bot.has_come else self._awaited_since_s

        def left_s() -> float:
            own_s = until_s + (self._clock.lag_ns() - lag_before_ns) / 1e9 - time.monotonic()
            return max(own_s, self.remote_bot.back_within_s)

        while True:
            try:
                waited_s = time.monotonic() - since_s
                return await self.remote_bot.arrive(max(GRACE_NS / 1e9, left_s()), waited_s)
            except HandshakeError:
                if left_s() <= 0:
                    raise


def _plays_others(hello: Hello, game: str) -> str:
    games = ", ".join(hello.games[:_SHOWN_GAMES])[:_SHOWN_CHARACTERS]
    return f"the bot says in Hello that it plays {games}; this match is {game}"


def _process_limits(limits: Limits) -> ProcessLimits:
    mib = 1 << 20
    return ProcessLimits(
        max_output_bytes=limits.max_output_bytes,
        start_timeout_s=limits.startup_s,
        memory_bytes=limits.memory_mib * mib or None,
        processes=limits.processes or None,
        open_files=limits.open_files or None,
        disk_bytes=limits.disk_mib * mib or None,
        file_bytes=limits.file_size_mib * mib or None,
        cores=limits.cores or None,
    )


def _wire_limits(limits: Limits, ponder: bool, starts_at_once: int) -> WireLimits:
    return WireLimits(
        limits.max_message_bytes,
        limits.max_note_bytes,
        limits.max_output_bytes,
        int(limits.ready_s * 1e6),
        frozen_off_turn=not ponder,
        memory_mib=limits.memory_mib,
        processes=limits.processes,
        open_files=limits.open_files,
        disk_mib=limits.disk_mib,
        file_size_mib=limits.file_size_mib,
        cores=limits.cores,
        match_us=int(limits.match_s * 1e6),
        starts_at_once=starts_at_once,
    )
