"""The default executor: worker processes on this machine, each with one table, restarted when they die."""

import asyncio
import os
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from contextlib import AsyncExitStack, ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from referee.errors import PlatformError
from referee.folders import FolderError, make_socket_folder
from referee.match.invitation import Invitation
from referee.match.result import MatchResult
from referee.process.child_reaper import ChildReaper
from referee.process.entry import Entry, lost_files
from referee.process.sandbox import Sandbox
from referee.record.reasons import EndReason
from referee.schedule.spec import MatchSpec
from referee.tournament import messages
from referee.tournament.executor import MatchLost, nothing
from referee.tournament.messages import Door, Meeting
from referee.tournament.processes import Processes
from referee.tournament.remote import Guests
from referee.tournament.resources import pinned
from referee.tournament.worker_process import BEAT_S, COMMAND, KILL_LIMIT_S, STOP_S, WorkerProcess

READY_LIMIT_S = 60.0
STOP_LIMIT_S = STOP_S + 1
"""What a worker gets to end when it is asked to: a little more than it gives itself."""

SILENCE_S = 60 * BEAT_S
"""A worker that has said nothing for so long is stopped, or stuck: it is killed, and its match played again."""

MAX_FAILED_STARTS = 3
"""So many in a row end the run: nothing can be played here."""

GUARDIANS_S = 2.0
"""What guardians of killed workers get to end their bots, at the end of the run."""

REOPEN_S = 10.0
"""How often it is tried to listen for remote bots where that failed."""

_CLOSED = Door("", {})
_GUARDIANS_LOOKS = 100
BACK_OFF_S = 0.1
_MAX_BACK_OFF_S = 5.0
_LOG_TAIL_BYTES = 4096


class LocalExecutor:
    """`workers` processes, started when first needed. Their stderr goes to `log`, appended.

    With `guests` there is one more, which has the only way in for them: their matches are played there, as many at once
    as there are workers and each guest in one at a time. If `guests` has `terms`, that one runs from the beginning, and
    others may come, too: see `expect`. With bots that are limited in `processes.copies` there is it,
    too, and their matches are played there: one process has to know of all that runs. No others are.

    With a `child_reaper`, one of a process that has no other children, nothing below this process is left at the end.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        records: Path,
        *,
        workers: int,
        log: Path,
        lock_fd: int | None = None,
        command: Sequence[str] = COMMAND,
        child_reaper: ChildReaper | None = None,
        sandboxes: Mapping[str, Sandbox] | None = None,
        cores: Sequence[Sequence[int]] = (),
        guests: Guests | None = None,
        processes: Processes | None = None,
        note: Callable[[str], None] = lambda _: None,
        most_memory_mib: int = 0,
        machine: Mapping[str, str] | None = None,
        early: WorkerProcess | None = None,
        goes_on: Callable[[], bool] = lambda: False,
    ) -> None:
        """`sandboxes` by entry id; a bot without is plain. `cores`: per worker those it is bound to, none for any; the
        one for `guests` is bound to none. `note` is told what the organiser should know.
        `most_memory_mib`: no bot may have more; 0 for any. `machine`: what records say of where they were played.
        `early`: the process of the first worker, which has been started already. `goes_on` is asked at the end: whether
        another executor goes on at once. Then the remote bots, which end when they hear Bye, connect to that one."""
        self._early = early
        self._goes_on = goes_on
        self._machine = machine
        self._cores = cores
        self._sandboxes = sandboxes or {}
        self._guests = None if guests is None else replace(guests, at_once=workers)
        self._invited = {} if guests is None else guests.invited
        self._processes = processes or Processes()
        self._note = note
        self._most_memory_mib = most_memory_mib
        self._host: _Host | None = None
        self._count = workers
        self.slots = workers + len(self._invited)
        self._entries = tuple(entries)
        self._records = records.resolve()
        self._log = log
        self._lock_fd = lock_fd
        self._command = command
        self._child_reaper = child_reaper
        self._sockets = Path()
        self._workers: list[_Worker] = []
        self._idle: asyncio.LifoQueue[_Worker] = asyncio.LifoQueue()

    async def __aenter__(self) -> Self:
        try:
            self._log.touch()
            self._sockets = make_socket_folder()
        except FolderError as error:
            raise PlatformError(str(error), error.next_step) from None
        except OSError as error:
            raise PlatformError(
                f"cannot make {error.filename or 'a folder for sockets'}: {error.strerror}",
                "free some space, or set TMPDIR to another folder, such as TMPDIR=/tmp",
            ) from error
        unlimited = replace(self._processes, copies={})
        local = [entry for entry in self._entries if entry.id not in self._invited]
        for number in reversed(range(self._count)):
            sockets = self._sockets / str(number)
            setup = partial(
                messages.setup_line,
                local,
                self._records,
                sockets,
                sandboxes=self._sandboxes,
                processes=unlimited,
                most_memory_mib=self._most_memory_mib,
                machine=self._machine,
            )
            command = pinned(self._command, self._cores[number]) if self._cores else self._command
            early = self._early if number == 0 and not self._cores else None
            worker = _Worker(command, setup, self._log, self._lock_fd, self._note, early)
            self._workers.append(worker)
            self._idle.put_nowait(worker)
        if self._guests is not None or self._processes.copies:
            sockets = self._sockets / "guests"
            setup = partial(
                messages.setup_line,
                self._entries,
                self._records,
                sockets,
                sandboxes=self._sandboxes,
                guests=self._guests,
                processes=self._processes,
                most_memory_mib=self._most_memory_mib,
            )
            worker = _Worker(self._command, setup, self._log, self._lock_fd, self._note)
            self._workers.append(worker)
            terms = None if self._guests is None else self._guests.terms
            reconnect_s = 0.0 if terms is None else terms.reconnect_s
            self._host = _Host(worker, self._invited, self._processes.copies, reconnect_s)
            if terms is not None:
                self._host.stay_open(self._note)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._host is not None and self._goes_on():
                self._host.kill()  # it would say Bye
            await asyncio.gather(*[worker.stop() for worker in self._workers])
        finally:
            self.kill()
            if self._host is not None:
                await self._host.close()
            if self._early is not None:
                await _end(self._early)  # no worker may have needed it
            if self._child_reaper is not None:
                await _sweep(self._child_reaper)
            if self._sockets != Path():  # it was not entered: that would be the current folder
                shutil.rmtree(self._sockets, ignore_errors=True)

    def has_room(self, spec: MatchSpec, playing: Collection[MatchSpec]) -> bool:
        """A match with guests has, while none of them is in another one that is played or awaited; of all others as
        many have as there are workers."""
        guests = self._guests_of(spec)
        if guests:
            return not any(guests & self._guests_of(other) for other in playing)
        return sum(not self._guests_of(other) for other in playing) < self._count

    def _guests_of(self, spec: MatchSpec) -> Set[str]:
        return {seat.entry_id for seat in spec.seats} & self._invited.keys()

    @property
    def worker_pids(self) -> list[int]:
        """Of the workers that live now."""
        return [pid for worker in self._workers if (pid := worker.pid) is not None]

    def flood_in(self, match_id: str) -> tuple[int, str] | None:
        """The seat of this match whose bot keeps its worker busy, and a sentence; None if no bot does."""
        return next((flood for worker in self._workers if (flood := worker.flood_in(match_id))), None)

    async def play(
        self, spec: MatchSpec, cap_s: float, meeting: Meeting | None = None, *, over: Callable[[], None] = nothing
    ) -> MatchResult:
        """`meeting`: the match is of another run than the one that this began with."""
        remote = {bot.remote for bot in meeting.bots if bot.remote} if meeting is not None else set()
        before = b"" if meeting is None else messages.meet_line(meeting)
        if self._host is not None and (remote or self._host.is_for(spec)):
            result = await self._host.play(spec, cap_s, remote, before)
        else:
            worker = await self._idle.get()
            with ExitStack() as busy:
                busy.callback(self._idle.put_nowait, worker)

                def is_over() -> None:
                    busy.close()
                    over()

                result = await worker.play(spec, cap_s, before, is_over)
        if result.reason is EndReason.PLATFORM_FAULT:
            self._check_files(spec)
        return result

    # Remote bots that come while it is open

    async def expect(self, name: str, digests: Sequence[str]) -> None:
        """From now on this remote bot may come with a token of these digests (SHA-256, in hex); without any it may not,
        and its session ends."""
        assert self._host is not None
        await self._host.expect(name, digests)

    @property
    def door(self) -> Door:
        """Where remote bots connect, and which of those that are expected are there."""
        return _CLOSED if self._host is None else self._host.door

    @property
    def door_trouble(self) -> str:
        """Why no remote bot can connect; '' if it can, or will in a moment."""
        return "" if self._host is None else self._host.trouble

    def is_busy(self, name: str) -> bool:
        """Whether this remote bot is in a match, or is awaited for one."""
        return self._host is not None and self._host.is_busy(name)

    def _check_files(self, spec: MatchSpec) -> None:
        """PlatformError if a bot of the match cannot be started again, because its files in the cache are gone."""
        playing = {seat.entry_id for seat in spec.seats}
        for entry in self._entries:
            if entry.id in playing and entry.argv and (lost := lost_files(entry)):
                raise PlatformError(
                    f"the bot '{entry.name}' cannot play on: {lost}",
                    "run the same command again: the bot is copied or built again, and every match that counts is kept",
                )

    async def end_idle(self) -> None:
        """End the processes of the workers that have nothing to do: they hold the files of the bots that they have
        played. Each gets a new one with its next match."""
        idle: list[_Worker] = []
        while not self._idle.empty():
            idle.append(self._idle.get_nowait())
        try:
            await asyncio.gather(*[worker.stop() for worker in idle if worker.is_idle])
        finally:
            for worker in reversed(idle):
                self._idle.put_nowait(worker)

    def kill(self) -> None:
        for worker in self._workers:
            worker.kill()


async def _sweep(child_reaper: ChildReaper) -> None:
    """After the last worker. Guardians that have lost theirs are given a moment to do their work."""
    for _ in range(_GUARDIANS_LOOKS):
        if not child_reaper.tidy():
            break
        await asyncio.sleep(GUARDIANS_S / _GUARDIANS_LOOKS)
    child_reaper.sweep()


@dataclass(slots=True)
class _Given:
    """A match that a worker was given. `over` is to be called when it has been played."""

    process: WorkerProcess
    result: asyncio.Future[MatchResult]
    over: Callable[[], None]
    is_over: bool = False


class _Worker:
    """One slot: a process while it lives, a new one after it died."""

    def __init__(
        self,
        command: Sequence[str],
        setup: Callable[[int | None], bytes],
        log: Path,
        lock_fd: int | None,
        note: Callable[[str], None],
        early: WorkerProcess | None = None,
    ) -> None:
        """`setup`: its first line, with the number that the lock has in the process. `early`: the first process."""
        self._early = early
        self._note = note
        self._command = command
        self._setup = setup
        self._log = log
        self._lock_fd = lock_fd
        self._process: WorkerProcess | None = None
        self._log_start = 0
        self._deaths = 0
        self._killed = False
        self._floods: Mapping[str, tuple[int, str]] = {}
        self._given: dict[str, _Given] = {}
        """The matches that it has been given and has reported no result of, by id."""
        self._heard: WorkerProcess | None = None
        self._hearing: asyncio.Task[None] | None = None
        self.door = _CLOSED
        """What the process said last of remote bots."""

    async def play(self, spec: MatchSpec, cap_s: float, before: bytes, over: Callable[[], None]) -> MatchResult:
        """`before`: a line that it needs first. Once it calls `over` it can be given another match."""
        process = await self.ready()
        given = _Given(process, asyncio.get_running_loop().create_future(), over)
        self._given[spec.match_id] = given
        if self._hearing is None or self._hearing.done() or self._heard is not process:
            self._heard, self._hearing = process, asyncio.create_task(self._hear_out(process))
        try:
            async with asyncio.timeout(cap_s):
                await self.tell(process, before + messages.play_line(spec))
                return await given.result
        except TimeoutError:
            await self.bury(process)
            sentence = f"no result after {cap_s:.0f} s; the worker was killed"
            raise MatchLost(sentence, self.flood_in(spec.match_id)) from None
        except asyncio.CancelledError:
            if not given.is_over:  # else its record is being closed, and the worker may play another match
                await self.bury(process)
            raise

    async def _hear_out(self, process: WorkerProcess) -> None:
        """Read its lines until it has reported all matches that it was given. If it breaks off, end its process."""
        try:
            while any(given.process is process for given in self._given.values()):
                self._take(*await self.hear(process))
        except MatchLost as error:
            lost = {match_id: given for match_id, given in self._given.items() if given.process is process}
            floods = {match_id: self.flood_in(match_id) for match_id in lost}
            for match_id in lost:
                del self._given[match_id]
            await self.bury(process)
            for match_id, given in lost.items():
                if not given.result.done():
                    given.result.set_exception(MatchLost(str(error), floods[match_id]))

    def _take(self, kind: str, content: Any) -> None:
        """Take a line about one of its matches. MatchLost for any other line."""
        match_id = content.match_id if kind == "result" else content["match"] if kind in ("lost", "over") else ""
        given = self._given.get(match_id)
        if given is None:
            raise MatchLost(f"the worker answered out of turn ({kind})")
        if kind == "over":
            given.is_over = True
            given.over()
            return
        del self._given[match_id]
        if given.result.done():  # nobody waits for it any more
            return
        if kind == "result":
            self.is_well()
            given.result.set_result(content)
        else:
            given.result.set_exception(MatchLost(str(content["what"])))

    async def stop(self) -> None:
        """Ask it to end, and see that it does, if need be by killing it."""
        process = self._process
        if process is None:
            return
        with suppress(OSError):
            process.send_last(messages.stop_line())
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(STOP_LIMIT_S):
                    await process.wait()
        finally:
            await _end(process)
            if self._hearing is not None:
                self._hearing.cancel()

    @property
    def is_idle(self) -> bool:
        """Whether it has reported the results of all its matches."""
        return not self._given

    @property
    def pid(self) -> int | None:
        """Of the process that lives now."""
        return None if self._process is None else self._process.pid

    def flood_in(self, match_id: str) -> tuple[int, str] | None:
        """The seat of this match whose bot kept the process busy when that was last heard of, and a sentence."""
        flood = self._floods.get(match_id)
        return None if flood is None else (flood[0], flood[1])

    def is_well(self) -> None:
        """It has done its work: its deaths before do not matter any more."""
        self._deaths = 0

    def kill(self) -> None:
        """End it at once; its bots end with it."""
        self._killed = True
        if self._process is not None:
            _kill(self._process)

    async def ready(self) -> WorkerProcess:
        """The living process, or a new one. PlatformError if none can be had."""
        if (process := self._process) is not None:
            if process.returncode is None:
                return process
            if self._heard is process and self.is_idle:  # it died between two matches: nobody reads its lines
                process.close()
        failed = 0
        while True:
            if self._deaths and not self._killed:
                await asyncio.sleep(min(_MAX_BACK_OFF_S, BACK_OFF_S * 2 ** (self._deaths - 1)))
            if self._killed:
                raise MatchLost("the run was ended")
            try:
                return await self._start()
            except MatchLost as error:
                failed += 1
                if failed == MAX_FAILED_STARTS and not self._killed:
                    raise PlatformError(
                        f"a worker process does not start: {error}", f"see the end of {self._log} for the cause"
                    ) from None

    async def _start(self) -> WorkerProcess:
        early, self._early = self._early, None
        files = () if self._lock_fd is None else (self._lock_fd,)
        try:
            with self._log.open("ab") as log:
                self._log_start = log.tell()
                if early is not None and early.take_up(log.fileno(), *files):
                    process, setup = early, self._setup(None)  # the lock has another number there
                else:
                    process = WorkerProcess.start(self._command, log.fileno(), *files)
                    setup = self._setup(self._lock_fd)
        except OSError as error:
            self._deaths += 1
            raise MatchLost(f"{self._command[0]}: {error.strerror}") from None
        self._floods, self.door = {}, _CLOSED
        try:
            await process.connect(messages.MAX_WORKER_LINE_BYTES)
            self._process = process  # not before: `stop` has to talk to it
            if self._killed:  # meanwhile
                _kill(process)
            async with asyncio.timeout(READY_LIMIT_S):
                kind, content = await self._ask(process, setup)
        except TimeoutError:
            await self.bury(process)
            raise MatchLost(f"it was not ready after {READY_LIMIT_S:.0f} s") from None
        except OSError as error:
            self._deaths += 1
            await _end(process)
            raise MatchLost(f"the socket to it: {error.strerror}") from None
        except BaseException:
            await self.bury(process)
            raise
        if kind == "refused":
            await self.bury(process)
            raise PlatformError(content["what"], content["next"])
        if kind != "ready":
            await self.bury(process)
            raise MatchLost(f"it began with {kind!r}")
        return process

    async def _ask(self, process: WorkerProcess, line: bytes) -> tuple[str, Any]:
        """Send a line and wait for the answer. MatchLost if the process ends, or says what it should not."""
        await self.tell(process, line)
        return await self.hear(process)

    async def tell(self, process: WorkerProcess, line: bytes) -> None:
        """That it is gone is for who hears."""
        with suppress(ConnectionError):
            await process.send(line)

    async def hear(self, process: WorkerProcess) -> tuple[str, Any]:
        """The next answer. MatchLost if the process ends, or says what it should not."""
        try:
            while (answer := await _line(process)).endswith(b"\n"):
                kind, content = messages.read_line(answer)
                if kind == "note":
                    self._note(str(content))
                elif kind == "alive":
                    self._floods = content
                elif kind == "door":
                    self.door = content
                else:
                    return kind, content
        except ConnectionError:
            pass
        except ValueError as error:
            raise MatchLost(f"the worker sent {error}") from None
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                await process.wait()
        raise MatchLost(f"the worker {_how(process.returncode)}{self._last_words()}")

    async def bury(self, process: WorkerProcess) -> None:
        """End the process. May be called again for each match that was lost with it."""
        if self._process is process:
            self._deaths += 1
            self._process = None
            self.door = _CLOSED
        await _end(process)

    def _last_words(self) -> str:
        """The last line of the log since this process began, for a sentence."""
        try:
            with self._log.open("rb") as log:
                log.seek(max(self._log_start, log.seek(0, os.SEEK_END) - _LOG_TAIL_BYTES))
                lines = log.read().decode("utf-8", "replace").split("\n")
        except OSError:
            return ""
        words = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f" ({words[:200]})" if words else ""


class _Host:
    """The worker that plays several matches at once: of guests, for which it has the way in, and of bots of which there
    may be only so many processes."""

    def __init__(
        self, worker: _Worker, invited: Mapping[str, Invitation], limited: Collection[str], reconnect_s: float = 0.0
    ) -> None:
        """`reconnect_s`: how long bots that may come at any time may stay away."""
        self._worker = worker
        self._invited = invited
        self._reconnect_s = reconnect_s
        self._limited = frozenset(limited)
        self._free = {entry_id: asyncio.Lock() for entry_id in invited}
        self._caps_s: dict[str, float] = {}
        self._starting = asyncio.Lock()
        self._awaited: dict[str, asyncio.Future[MatchResult]] = {}
        self._abandoned: set[str] = set()
        self._reading: asyncio.Task[None] | None = None
        self._heard: WorkerProcess | None = None
        self._hearing = False
        self._expected: dict[str, tuple[str, ...]] = {}
        self._staying: asyncio.Task[None] | None = None
        self.trouble = ""
        """Why it does not run although it should."""

    @property
    def door(self) -> Door:
        return self._worker.door

    def stay_open(self, note: Callable[[str], None]) -> None:
        """Have it run from now on, whether there are matches or not."""
        self._staying = asyncio.create_task(self._stay_open(note))

    async def _stay_open(self, note: Callable[[str], None]) -> None:
        while True:
            try:
                async with self._starting:
                    await self._ready()
                self.trouble = ""
            except PlatformError as error:
                if str(error) != self.trouble:
                    note(f"remote bots cannot connect: {error}; {error.next_step}; it is tried again")
                self.trouble = str(error)
                await asyncio.sleep(REOPEN_S)
            except MatchLost:  # it was killed: this is the end
                return
            else:
                assert self._reading is not None
                await asyncio.wait([self._reading])

    async def expect(self, name: str, digests: Sequence[str]) -> None:
        self._expected[name] = tuple(digests)
        if self._heard is not None and self._hearing:
            await self._worker.tell(self._heard, messages.expect_line(name, digests))

    def is_busy(self, name: str) -> bool:
        return name in self._free and self._free[name].locked()

    def is_for(self, spec: MatchSpec) -> bool:
        return any(seat.entry_id in self._invited or seat.entry_id in self._limited for seat in spec.seats)

    async def play(
        self, spec: MatchSpec, cap_s: float, remote: Collection[str] = (), before: bytes = b""
    ) -> MatchResult:
        """When its guests are free. They are waited for, and then for their turn, in the worker. `remote` are the names
        of its bots that may come at any time, `before` a line that the worker needs first."""
        ids = {seat.entry_id for seat in spec.seats} & self._invited.keys()
        async with AsyncExitStack() as stack:
            for key in sorted({*ids, *remote}):  # in order: nobody waits in a circle
                await stack.enter_async_context(self._free.setdefault(key, asyncio.Lock()))
            async with self._starting:
                process = await self._ready()
                answer: asyncio.Future[MatchResult] = asyncio.get_running_loop().create_future()
                self._awaited[spec.match_id] = answer
            self._caps_s[spec.match_id] = cap_s
            waits_s = [max(self._invited[one].wait_s, self._invited[one].reconnect_s) for one in ids]
            waits_s += [self._reconnect_s] if remote else []
            # Before the match, and once more while the bot gets ready.
            limit_s = sum(self._caps_s.values()) + 2 * max(waits_s, default=0.0)
            try:
                async with asyncio.timeout(limit_s):
                    await self._worker.tell(process, before + messages.play_line(spec))
                    return await answer
            except TimeoutError:
                await self._worker.bury(process)
                raise MatchLost(f"no result after {limit_s:.0f} s; the worker was killed") from None
            except asyncio.CancelledError:
                self._abandoned.add(spec.match_id)
                with suppress(TimeoutError):
                    async with asyncio.timeout(KILL_LIMIT_S):
                        await self._worker.tell(process, messages.abandon_line(spec.match_id))
                raise
            finally:
                del self._awaited[spec.match_id], self._caps_s[spec.match_id]

    def kill(self) -> None:
        """End the worker at once. The streams of its remote bots break."""
        self._worker.kill()

    async def close(self) -> None:
        tasks = [task for task in (self._staying, self._reading) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ready(self) -> WorkerProcess:
        """The living process, and somebody who hears what it says. One caller at a time."""
        if self._reading is not None and not self._hearing:  # it is being buried
            await asyncio.wait([self._reading])
        process = await self._worker.ready()
        if process is not self._heard:
            if self._reading is not None:
                await asyncio.wait([self._reading])
            self._heard, self._hearing = process, True
            for name, digests in list(self._expected.items()):
                await self._worker.tell(process, messages.expect_line(name, digests))
            self._reading = asyncio.create_task(self._read(process))
        return process

    async def _read(self, process: WorkerProcess) -> None:
        """Hands out what the worker says, until it says no more."""
        try:
            while True:
                kind, content = await self._worker.hear(process)
                match_id = content.match_id if kind == "result" else content["match"] if kind == "lost" else ""
                answer = self._awaited.get(match_id)
                if answer is None and match_id in self._abandoned:
                    continue
                if answer is None:
                    raise MatchLost(f"the worker answered out of turn ({kind})")
                if answer.done():
                    continue
                if kind == "result":
                    self._worker.is_well()
                    answer.set_result(content)
                else:
                    answer.set_exception(MatchLost(str(content["what"])))
        except MatchLost as error:
            self._hearing = False
            for match_id, answer in self._awaited.items():
                if not answer.done():
                    answer.set_exception(MatchLost(str(error), self._worker.flood_in(match_id)))
            await self._worker.bury(process)


async def _line(process: WorkerProcess) -> bytes:
    """The next line of a worker. MatchLost if it says nothing at all for `SILENCE_S`."""
    for limit_s in (SILENCE_S, 1.0):  # if it was this process that stood still, what the worker said is here by now
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                return await process.readline()
    raise MatchLost(f"the worker has not reported for {SILENCE_S:.0f} s")


def _how(returncode: int | None) -> str:
    if returncode is None:
        return "closed its output"
    return f"was killed by signal {-returncode}" if returncode < 0 else f"ended with exit code {returncode}"


async def _end(process: WorkerProcess) -> None:
    """Kill it and wait; what not even that ends is left to the system."""
    _kill(process)
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(KILL_LIMIT_S):
                await process.wait()
    finally:
        process.close()


def _kill(process: WorkerProcess) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
