"""One bot process and its guardian, from the start to the end of its last descendant, for one asyncio loop.

Also: how a bot ended (`Exit`), whether a failed start is the fault of the bot or of this machine, freezing a bot
between its decisions, and asking a bot for its stacks.
"""

import asyncio
import contextlib
import errno
import os
import re
import secrets
import signal
import signal as signals
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from referee.folders import temporary_folder
from referee.process.cgroup import PREFIX, Group, claim
from referee.process.child_reaper import ChildReaper, end_marked, reap
from referee.process.entry import Entry
from referee.process.launch import LaunchContext, environment, guardian_argv, make_group
from referee.process.limits import ProcessLimits
from referee.process.meter import Meter
from referee.process.output import Capture, Drain, Output, joined
from referee.process.processes import MOST_PASSES, places, send, stop_threads, targets
from referee.process.program import ERRORS_OF_A_MACHINE
from referee.process.trees import remove_tree


@dataclass(frozen=True, slots=True)
class Exit:
    """How the bot itself ended: with a code, or by a signal.

    `cpu_us` is user and system time of the bot and those of its children that it waited for; None if unknown.
    `peak_memory_bytes` is the most that it held at once: all its processes together where the host lets us count that,
    else its largest process. `out_of_memory`: the kernel killed it, or a process of it, at its own memory limit.
    `machine_out_of_memory`: the kernel killed it though it was never at its limit, because the machine, or a control
    group around the referee's own, had no memory left. Without a control group this is a guess: it was killed, and the
    kernel has taken some process of the machine for want of memory since the bot began.
    `guardian_lost`: somebody killed the guardian, which took the bot with it. What the bot had started is then found
    by its token. A process that hides its token is ended by the sweep of a `ChildReaper`, where there is one.
    """

    code: int | None
    signal: int | None
    cpu_us: int | None = None
    guardian_lost: bool = False
    out_of_memory: bool = False
    peak_memory_bytes: int | None = None
    machine_out_of_memory: bool = False

    def __str__(self) -> str:
        if self.guardian_lost:
            return "killed together with its guardian"
        if self.out_of_memory:
            return "killed at its memory limit"
        if self.machine_out_of_memory:
            return "killed by the kernel, because the machine had no memory left"
        if self.signal is None:
            return f"exit code {self.code}"
        with contextlib.suppress(ValueError):
            return f"killed by {signals.Signals(self.signal).name}"
        return f"killed by signal {self.signal}"


_OF_THE_BOT = frozenset({errno.E2BIG, errno.EACCES, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOTDIR})
"""What comes of its options, its command line, and the paths that its folder names."""

_SHORT_OF_TO_EXECUTE = ERRORS_OF_A_MACHINE - {errno.EIO}
"""The same at the last step: EIO the kernel says as well of a program whose file is cut off."""

_ABOUT_THE_BOT = ("bwrap: execvp ", "bwrap: Can't chdir to ")
"""What bubblewrap does last, with what the bot brought along; all before that is made of what we give it."""


def error_is_ours(error: OSError | ValueError) -> bool:
    """Of what was raised while its command line was made, or its guardian executed."""
    return isinstance(error, OSError) and error.errno not in _OF_THE_BOT


def error_words(error: OSError | ValueError) -> str:
    """For a sentence, without numbers."""
    if not isinstance(error, OSError):
        return str(error)
    if error.errno == errno.E2BIG:
        return f"its command and its options are too long for this system ({error.strerror})"
    return str(error) if error.strerror is None else ": ".join(map(str, filter(None, (error.strerror, error.filename))))


def step_is_ours(step: str, number: int) -> bool:
    """Of a step between fork and exec, and its errno: only the last two are about what the bot brought along."""
    return step not in ("folder", "exec") or number in (_SHORT_OF_TO_EXECUTE if step == "exec" else ERRORS_OF_A_MACHINE)


def sandbox_words(said: str) -> str:
    """What bubblewrap printed. All of it: a program may have a name of several lines."""
    at = said.find("bwrap: ")
    return said[at:].strip() if at >= 0 else said.strip()


def sandbox_is_ours(said: str) -> bool:
    """Of the words of bubblewrap, which name the program it could not execute, or what failed before."""
    if not said.startswith(_ABOUT_THE_BOT):
        return said.startswith("bwrap: ")
    short_of = _SHORT_OF_TO_EXECUTE if said.startswith(_ABOUT_THE_BOT[0]) else ERRORS_OF_A_MACHINE
    return said.endswith(tuple(f": {os.strerror(number)}" for number in short_of))


_FRAME = r'File (?:".*"|\?\?\?), line (?:\d+|\?\?\?) in .*|\.\.\.|<.*>'
_LINE = re.compile(rf"(?:Current thread|Thread|Stack) .*\(most recent call first\):|  (?:{_FRAME})|", re.ASCII)


STACKS = signal.SIGRTMAX - 1


def ask_for_stacks(pids: Sequence[int], numbers: Sequence[int] = (STACKS, signal.SIGUSR1)) -> bool:
    """Send the first of these signals that one of these processes handles to the first that does. The result is False
    if there is none: the signal would end a process that does not handle it."""
    return any(_signal(pid, number) for number in numbers for pid in pids)


def _signal(pid: int, number: int) -> bool:
    """Whether the process handles the signal, which is sent to it then."""
    try:
        process = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if handles := _handles(pid, number):
            signal.pidfd_send_signal(process, number)
        return handles
    except OSError:
        return False
    finally:
        os.close(process)


def stacks_in(printed: str) -> str:
    """The stacks in what was printed since, without what the bot printed between them; '' if there are none."""
    lines = [line for line in printed.splitlines() if _LINE.fullmatch(line)]
    first = next((number for number, line in enumerate(lines) if line.endswith("(most recent call first):")), None)
    return "" if first is None else "\n".join(lines[first:]).strip()


def _handles(pid: int, number: int) -> bool:
    """OSError if the process is gone."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


_MOST_NS = 50_000_000
"""Of this thread's own time: all matches of a worker stand still meanwhile, and a bot with hundreds of processes makes
each pass a slow one. Time that others keep the thread from running is not the bot's, and takes no pass away."""
_LEAST_PASSES = 4
_STOP_AGAIN_S = 0.05
_STOP_AGAIN_REST = 20
"""Where signals stop a bot, it is looked at again after this time, or so many times as long as the last look took."""
_QUIET_PASSES = 3
"""A process that has just forked and exited may hide its child from one look."""


class Freezer:
    """Stops and continues all processes of one bot: through its control group, or else by signals.

    `group` is a file, the word that freezes and the word that thaws.
    """

    def __init__(self, meter: Meter, group: tuple[Path, str, str] | None = None) -> None:
        self._meter = meter
        self._group = group
        self._stopped: dict[int, None] = {}
        """Processes and, negative, groups."""
        self.frozen = False
        self.by_signals = False
        """Whether it was frozen by signals: then `stop_again` is called now and again until the thaw."""

    def freeze(self) -> None:
        """Harmless when frozen."""
        if self.frozen:
            return
        self.frozen = True
        self.by_signals = self._group is None or not self._write(1)
        if self.by_signals:
            self._stop()

    def thaw(self) -> None:
        """Harmless when nothing is frozen."""
        if not self.frozen:
            return
        self.frozen = False
        if self._group is not None:
            self._write(2)
        while self._stopped:
            send(self._stopped.popitem()[0], signal.SIGCONT)

    def stop_again(self) -> None:
        """Stops what runs though it was stopped. When a process ends, the kernel continues others, if they have asked
        for that (PR_SET_PDEATHSIG, or the signal at the end of a child), or if their group has then no parent in its
        session. A bot chooses when: what it kills just before it is stopped ends when its system call is over."""
        for pid in self._meter.look():
            self._stopped[pid] = None
            stop_threads(pid)

    def _write(self, word: int) -> bool:
        assert self._group is not None
        with suppress(OSError):
            self._group[0].write_text(str(self._group[word]))
            return True
        return False

    def _stop(self) -> None:
        """What is stopped cannot fork, so this ends when no new process turns up.

        Groups are stopped as one, as a process may fork and exit without end. One that goes on into new groups all the
        time may escape for as long as it does, also by so many processes that time ends before the passes do: a control
        group alone is certain.
        """
        quiet, seen = 0, dict[int, tuple[int, int, int]]()
        until_ns = time.thread_time_ns() + _MOST_NS
        for number in range(MOST_PASSES):
            if number >= _LEAST_PASSES and time.thread_time_ns() > until_ns:
                break
            seen = places(self._meter.look())
            fresh = targets(seen, seen) - self._stopped.keys()
            quiet = 0 if fresh else quiet + 1
            if quiet == _QUIET_PASSES:
                break
            for target in sorted(fresh):  # groups first: see `stop_then_kill`
                send(target, signal.SIGSTOP)
                self._stopped[target] = None
        for pid in seen:
            stop_threads(pid)


_REAP_FIRST_S = 0.001
_REAP_PAUSE_S = 0.05
_STACKS_BYTES = 16384
_STACKS_LOOKS, _STACKS_PAUSE_S = 10, 0.02
_STEPS = {
    "session": "no session of its own",
    "limits": "its limits could not be set",
    "group": "it could not be put into its control group",
    "mount": "what it needs could not be mounted for it",
    "user": "no user of its own",
    "pipes": "no pipes to its sandbox",
    "folder": "its folder could not be entered",
    "exec": "its program could not be executed",
}


def _with_packages(context: LaunchContext, entry: Entry) -> LaunchContext:
    """The same with the bot's own environment to read, if it has one."""
    if entry.environment is None:
        return context
    sandbox = context.sandbox
    return replace(context, sandbox=replace(sandbox, read=(*sandbox.read, str(entry.environment.built.folder))))


class StartError(Exception):
    """A bot that could not be started. The message is one sentence; `output` is what was printed until then.

    `ours`: the machine did not let the referee begin, which says nothing about the bot; see `blame`.
    """

    def __init__(self, message: str, output: Output, *, ours: bool = False) -> None:
        super().__init__(message)
        self.output = output
        self.ours = ours


class BotProcess:
    """A running bot. Made by `start`; everything it learns comes through callbacks of the loop it was started in.

    However a task that uses it is cancelled, the process ends with `kill`, with `stop`, or with the referee.
    """

    def __init__(
        self,
        entry: Entry,
        limits: ProcessLimits,
        *,
        guardian: subprocess.Popen[bytes],
        control: socket.socket,
        pipes: tuple[int, int],
        marks: tuple[str, ...],
        scratch: tuple[Path, int],
        group: Group | None,
        child_reaper: ChildReaper | None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._limits = limits
        self._control = control
        self._marks = marks
        self._scratch, self._lock = scratch
        self._group = group
        self._child_reaper = child_reaper
        self._guardian = guardian
        self._meter = Meter(guardian.pid, group.cpu_file if group else None, group.throttle_file if group else None)
        self._freezer = Freezer(self._meter, group.freezer if group else None)
        self._stopping_again: asyncio.TimerHandle | None = None
        self._received = b""
        self._faulted = False
        self._finished = self._ending = False
        self._stdout, self._stderr = Capture(limits.max_output_bytes), Capture(limits.max_output_bytes)
        try:
            self._drain = Drain({pipes[0]: self._stdout, pipes[1]: self._stderr})
        except OSError:
            self._meter.close()
            raise
        self._started: asyncio.Future[None] = self._loop.create_future()
        self._exited: asyncio.Future[Exit] = self._loop.create_future()
        self._gone: asyncio.Future[None] = self._loop.create_future()
        control.setblocking(False)
        self._loop.add_reader(control, self._on_control)
        self.entry = entry
        self.pid = 0
        self.start_us = 0
        """From the referee's call to the bot's exec."""

    @classmethod
    async def start(
        cls,
        entry: Entry,
        *,
        address: str,
        token: str,
        limits: ProcessLimits,
        env: Mapping[str, str] | None = None,
        context: LaunchContext | None = None,
        child_reaper: ChildReaper | None = None,
    ) -> Self:
        """Starts the bot in its folder and returns once its program is executed.

        `env` is added to what the sandbox grants; a `child_reaper` is swept should the guardian be killed. Without a
        `context`, no sandbox and no control group. Raises StartError; when cancelled, leaves nothing behind.
        """
        context = context or LaunchContext()
        began_ns = time.monotonic_ns()
        with contextlib.ExitStack() as undo, contextlib.ExitStack() as given_away:
            try:
                scratch = temporary_folder() / f"{PREFIX}{secrets.token_hex(8)}"
                undo.callback(remove_tree, scratch)
                lock = claim(scratch)
                undo.callback(os.close, lock)
                group = make_group(limits, context, undo)
                mine, theirs = socket.socketpair()
                undo.callback(mine.close)
                given_away.callback(theirs.close)
                env = environment(
                    entry,
                    address=address,
                    token=token,
                    scratch=scratch,
                    granted=env or {},
                    sandbox=context.sandbox,
                )
                pipes = []
                for _ in range(2):
                    read_end, write_end = os.pipe()
                    undo.callback(os.close, read_end)
                    given_away.callback(os.close, write_end)
                    pipes.append((read_end, write_end))
            except (OSError, ValueError) as error:
                raise _not_begun(entry, error, ours=isinstance(error, OSError)) from None
            try:
                guardian = subprocess.Popen(  # noqa: ASYNC220 - vfork and exec: about a millisecond
                    guardian_argv(
                        entry.argv,
                        entry.home,
                        address=address,
                        limits=limits,
                        scratch=scratch,
                        context=_with_packages(context, entry),
                        group=group,
                    ),
                    stdin=theirs.fileno(),
                    stdout=pipes[0][1],
                    stderr=pipes[1][1],
                    env=env,
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                raise _not_begun(entry, error, ours=error_is_ours(error)) from None
            undo.callback(guardian.wait)
            undo.callback(guardian.kill)
            try:
                bot = cls(
                    entry,
                    limits,
                    guardian=guardian,
                    control=mine,
                    pipes=(pipes[0][0], pipes[1][0]),
                    # Without a sandbox the folder is the bot's own, so that no other bot has both, whoever chose the
                    # token.
                    marks=tuple(f"{name}={env[name]}" for name in ("CROSSTOWN_TOKEN", "TMPDIR")),
                    scratch=(scratch, lock),
                    group=group,
                    child_reaper=child_reaper,
                )
            except OSError as error:
                raise _not_begun(entry, error, ours=True) from None
            undo.pop_all()
        if child_reaper is not None:
            child_reaper.add(guardian.pid)
        try:
            async with asyncio.timeout(limits.start_timeout_s):
                await asyncio.shield(bot._started)
        except TimeoutError:
            await bot._end()
            what = f"bot '{entry.name}': not started within {limits.start_timeout_s:g} s"
            raise StartError(what, bot.output(), ours=True) from None
        except BaseException:
            await bot._end()
            raise
        bot.start_us = (time.monotonic_ns() - began_ns) // 1000
        return bot

    @property
    def guardian_pid(self) -> int:
        """The child of this process that `sweep_orphans` must spare."""
        return self._guardian.pid

    @property
    def exited(self) -> Exit | None:
        return self._exited.result() if self._exited.done() else None

    async def wait(self) -> Exit:
        """The bot's own exit, known at once and with its last words in `output()`. Descendants may still be dying."""
        return await asyncio.shield(self._exited)

    async def wait_gone(self) -> None:
        """Until no process of the bot, its descendants or its guardian is left."""
        await asyncio.shield(self._gone)

    @property
    def is_gone(self) -> bool:
        """Whether none is left."""
        return self._gone.done()

    def output(self) -> Output:
        """What has been printed so far, also what is still in the pipes."""
        self._drain.take_what_is_there(chunks=1)
        with self._drain.lock:
            return Output(
                self._stdout.head,
                self._stdout.tail,
                self._stdout.dropped_bytes,
                self._stderr.head,
                self._stderr.tail,
                self._stderr.dropped_bytes,
                self._stdout.earlier_bytes + self._stderr.earlier_bytes,
            )

    def begin_output(self) -> None:
        """A match begins: from here on `output` has what is printed in it. What is in the pipes belongs to the last."""
        self._drain.take_what_is_there()
        with self._drain.lock:
            self._stdout.begin_part()
            self._stderr.begin_part()

    def ask_for_stacks(self, *, prints_stacks: bool) -> None:
        """Have the bot print the stacks of its threads, if it is one that does on a signal. Returns at once. Unless it
        says that it `prints_stacks`, SIGUSR1 may mean something else to it: Node opens its debugger."""
        if not self._exited.done():
            self._drain.take_what_is_there()
            with self._drain.lock:
                self._stderr.copy = Capture(_STACKS_BYTES)
            if not ask_for_stacks(self._meter.look(), (STACKS, signal.SIGUSR1) if prints_stacks else (STACKS,)):
                self._stderr.copy = None

    async def stacks(self) -> str:
        """What it has printed since it was asked for them, up to a fifth of a second later; '' if nothing."""
        copy, seen_bytes = self._stderr.copy, -1
        for _ in range(_STACKS_LOOKS):
            if copy is None or self._exited.done() or (copy.total_bytes and copy.total_bytes == seen_bytes):
                break
            seen_bytes = copy.total_bytes
            await asyncio.sleep(_STACKS_PAUSE_S)
        return "" if copy is None else stacks_in(joined(copy.head, copy.tail, copy.dropped_bytes))

    def cpu_ns(self) -> int | None:
        """User and system time of the bot and its descendants, all threads. None when it is gone."""
        return None if self._exited.done() else self._meter.cpu_ns()

    @property
    def counts_all(self) -> bool:
        """Whether `cpu_ns` has the time of processes, too, that came and went between two looks."""
        return self._meter.counts_all

    def throttled_ns(self) -> int:
        """How long its own limit of `cores` kept the bot from running so far; see `Meter`."""
        return self._meter.throttled_ns()

    def run_delay_ns(self) -> int | None:
        """How long the bot's threads were ready to run and got no processor, summed. None when it is gone.

        Never falls. A wait that still goes on is counted when it ends, so ask again once the bot has run.
        """
        return None if self._exited.done() else self._meter.run_delay_ns()

    def freeze(self) -> None:
        """Stops the bot and its descendants where they are, until `thaw`. Returns at once; harmless when it is gone.

        The exit of a bot that somebody kills meanwhile may be known only when it is thawed.
        """
        if not self._exited.done() and not self._freezer.frozen:
            self._freezer.freeze()
            if self._freezer.by_signals:
                self._stopping_again = self._loop.call_later(_STOP_AGAIN_S, self._stop_again)

    def _stop_again(self) -> None:
        if self._finished or not self._freezer.frozen:
            return
        began_ns = time.thread_time_ns()
        self._freezer.stop_again()
        rest_s = (time.thread_time_ns() - began_ns) / 1e9 * _STOP_AGAIN_REST
        self._stopping_again = self._loop.call_later(max(_STOP_AGAIN_S, rest_s), self._stop_again)

    def thaw(self) -> None:
        """They run again when this returns. `stop` and `kill` end a frozen bot as any other."""
        if self._stopping_again is not None:
            self._stopping_again.cancel()
            self._stopping_again = None
        self._freezer.thaw()

    async def stop(self, grace_s: float) -> Exit:
        """Asks the bot to end (SIGTERM), gives it `grace_s`, then kills all of it. Returns when nothing is left.

        Takes at most `grace_s` and `kill_timeout_s`: some of it may then be in a long system call still, for which
        `wait_gone` waits. When cancelled, kills at once.
        """
        try:
            if grace_s > 0 and not self._gone.done():
                self.thaw()
                self._tell(b"t")
                await asyncio.wait([self._gone], timeout=grace_s)
        finally:
            self.kill()
        await self._end()
        return self._exited.result()

    def kill(self) -> None:
        """Kills the bot and all its descendants. Returns at once; harmless when they are gone."""
        self._tell(b"k")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop(0)

    async def _end(self) -> None:
        """Kills all and waits; a guardian that does not answer in time is killed itself.

        One that does answer goes on with its work. What is killed ends when its system call does, and a bot can make
        hundreds of threads begin a call that takes the kernel seconds for each.
        """
        self.kill()
        await asyncio.wait([self._gone], timeout=self._limits.kill_timeout_s)
        if not self._gone.done() and self._ending:
            self._set_exit(Exit(None, signal.SIGKILL))
        elif not self._gone.done():
            self._guardian.kill()
            await asyncio.wait([self._gone], timeout=self._limits.kill_timeout_s)
            self._finish()

    def _tell(self, word: bytes) -> None:
        if not self._gone.done():
            with contextlib.suppress(OSError):
                self._control.send(word)

    def _on_control(self) -> None:
        try:
            data = self._control.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._loop.remove_reader(self._control)
            self._reap_guardian(_REAP_FIRST_S)
            return
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            self._on_line(line.decode("ascii").split())

    def _on_line(self, words: list[str]) -> None:
        match words:
            case ["started", pid]:
                self.pid = int(pid)
                if not self._started.done():
                    self._started.set_result(None)
            case ["exit" | "signal" as word, number, cpu_us, peak_bytes, oom]:
                code, signalled = (int(number), None) if word == "exit" else (None, int(number))
                lost = self._faulted and signalled is not None
                self._set_exit(Exit(code, signalled, int(cpu_us), lost, oom == "1", int(peak_bytes), oom == "2"))
            case ["failed", number, "sandbox"] if number != "0":
                self._fail(f"its sandbox was killed by signal {number}", ours=True)
            case ["failed", _, "sandbox"]:
                self._drain.take_what_is_there()
                printed = sandbox_words(self.output().stderr_text())
                told = " ".join(printed.split()) or "no word of why"
                self._fail(f"in its sandbox, it could not be started: {told}", ours=sandbox_is_ours(printed))
            case ["failed", number, step]:
                self._fail(f"{_STEPS[step]}: {os.strerror(int(number))}", ours=step_is_ours(step, int(number)))
            case ["ending"]:
                self._ending = True
            case ["fault", *said_words]:
                self._faulted = True
                self._fail(f"its guardian failed: {' '.join(said_words)}", ours=True)

    def _set_exit(self, exit: Exit) -> None:  # noqa: A002
        if not self._exited.done():
            self._drain.take_what_is_there()
            self._exited.set_result(exit)

    def _fail(self, reason: str, *, ours: bool) -> None:
        if not self._started.done():
            self._started.set_exception(StartError(f"bot '{self.entry.name}': {reason}", self.output(), ours=ours))
            self._started.exception()  # seen, even if whoever waited for it was cancelled

    def _reap_guardian(self, pause_s: float) -> None:
        """After the end of file: the guardian is ending or dead, and will be a zombie within microseconds."""
        if self._guardian.poll() is None:
            self._loop.call_later(pause_s, self._reap_guardian, min(pause_s * 2, _REAP_PAUSE_S))
            return
        self._finish()

    def _finish(self) -> None:
        """Settles everything, once."""
        if self._finished:
            return
        self._finished = True
        os.close(self._lock)
        self._drain.take_what_is_there()
        self._drain.close()
        self._meter.close()
        self._loop.remove_reader(self._control)
        self._control.close()
        self._fail("its guardian ended before the bot started", ours=True)
        self._set_exit(Exit(None, signal.SIGKILL, None, guardian_lost=True))
        if self._child_reaper is not None and self._guardian.returncode is not None:
            self._child_reaper.discard(self._guardian.pid)
        if self._guardian.returncode == 0:
            if self._group is not None:
                self._group.close()
            self._set_gone()
        else:
            rest = self._loop.run_in_executor(None, _clean_up, self.pid, self._marks, self._scratch, self._group)
            rest.add_done_callback(self._sweep)

    def _sweep(self, done: object) -> None:
        """What has hidden the token too is below us by now. In this thread, so that no guardian is being started."""
        if self._child_reaper is not None:
            self._child_reaper.sweep()
        self._set_gone()

    def _set_gone(self) -> None:
        if not self._gone.done():
            self._gone.set_result(None)


def _not_begun(entry: Entry, error: OSError | ValueError, *, ours: bool) -> StartError:
    return StartError(f"bot '{entry.name}': it cannot be started: {error_words(error)}", Output(), ours=ours)


def _clean_up(pid: int, marks: Sequence[str], scratch: Path, group: Group | None) -> None:
    """What a killed guardian did not get to."""
    if group is not None:
        group.remove()
    end_marked(*marks)
    if pid:
        reap(pid)
    remove_tree(scratch)


__all__ = ["BotProcess", "Exit", "StartError"]
