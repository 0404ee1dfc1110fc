"""The guardian: one small program per bot that outlives the referee just long enough to clean up.

Started as `python -I -S start_guardian.py key=value ... -- program argument ...`, stdin being a socket to the referee,
stdout and stderr the bot's own, the environment the bot's. It becomes child subreaper, starts the bot in a session
of its own and then waits. As a subreaper it inherits every double-forked or setsid'ed descendant of the bot, so the
tree under it is always the whole of it. When the referee says so, dies, or the bot exits, nothing of that tree stays.

From the referee: `t` asks the bot to end, `k` or end of file ends all. To the referee, one line each:
`started PID`, `failed ERRNO STEP` (of the step "sandbox", the signal that killed it or 0), `exit CODE CPU_US PEAK OOM`,
`signal NUMBER CPU_US PEAK OOM`, `fault TEXT`; PEAK in bytes, OOM 0, 1 if the kernel took a process of it at its own
memory limit, 2 if for want of memory elsewhere. End of file means that nothing is left.

Keys: cwd, scratch, linger_ms, rlimit (NUMBER:VALUE), cgroup (a folder to join and to remove), cpu, peak, oom, full
(files of counters; cpu as FILE:NANOSECONDS_PER_UNIT, full as FILE:LEAST), thaw (FILE:WORD), sandbox (the program is
bubblewrap, and these its words: word), path (its PATH), seccomp (hex), users (FIRST:COUNT to choose from), stage (a
path to bring along), own (one of these, to give to the user); rlimit, cgroup, full, stage, own and word may be
repeated.
"""

# Imports decide start time and memory. `signal` alone costs 5 ms (it builds enums), so its C core is used here, and
# pathlib and contextlib are left out for the same reason.
# ruff: noqa: SIM105
import _signal as signal  # type: ignore[import-not-found]
import os
import select
import time

from referee.process.child import Settings, become
from referee.process.holdings import choose_user, claim, counter, kills, remove_groups, remove_scratch, thaw, was_full
from referee.process.inside import Inside
from referee.process.processes import become_subreaper, descendants, send, stop_then_kill

CONTROL = 0
_IGNORED = ("INT", "TERM", "HUP", "QUIT", "TSTP", "TTIN", "TTOU", "USR1", "USR2", "ALRM", "PIPE")
_LONGEST_PAUSE_S = 0.1
_LOOK_MS = 1
_KERNEL_LOOK_MS = 1000
_RECENT_S = 3.0
"""So long before the end of a bot the kernel may have taken it: a large process takes a while to go."""


class Guardian:
    """The bot, and what has been reported of it."""

    def __init__(self, settings: Settings, wake: int) -> None:
        self.settings = settings
        self.wake = wake
        self.child = 0
        """What we have started: the bot, or the sandbox around it."""
        self.inside: Inside | None = None
        self.bot = 0
        self.started = self.exited = False
        self.ended: int | None = None
        self.cpu_us = self.peak_bytes = 0
        self.kills = kills()
        self.looked_s = time.monotonic()
        self.rose_s: float | None = None
        """When that number was last seen to have risen."""

    def start(self, argv: list[str]) -> int:
        """Forks the bot. Returns a pipe that ends on exec, or first holds what went wrong."""
        uid = choose_user(self.settings["users"][0]) if "users" in self.settings else None
        born, unborn = os.pipe()
        pipes = (0, 0)
        if "sandbox" in self.settings:
            (info, tells_info), (status, tells_status) = os.pipe(), os.pipe()
            pipes = (tells_info, tells_status)
            self.inside = Inside(info, status)
        pid = os.fork()
        if pid == 0:
            become(argv, self.settings, uid, pipes, unborn)
        self.child = self.bot = pid
        for file in (unborn, *filter(None, pipes)):
            os.close(file)
        return born

    def watch(self, born: int) -> None:
        """Returns when it is time to end everything."""
        poller = select.poll()
        for file in (CONTROL, born, self.wake):
            poller.register(file, select.POLLIN)
        referee = _watch_parent()
        if referee is not None:
            poller.register(referee, select.POLLIN)
        until: float | None = None
        asked = executed = False
        while True:
            left_ms = None if until is None else max(0, int((until - time.monotonic()) * 1000))
            if executed and not self.started and not self.exited:
                left_ms = _LOOK_MS
            if "oom" not in self.settings:
                left_ms = _KERNEL_LOOK_MS if left_ms is None else min(left_ms, _KERNEL_LOOK_MS)
            ready = dict(poller.poll(left_ms))
            if "oom" not in self.settings and time.monotonic() - self.looked_s >= _KERNEL_LOOK_MS / 1000:
                self.look_at_kernel()
            if born in ready:
                problem = os.read(born, 64)
                if problem:
                    report(b"failed " + problem)
                    self.exited = True
                    return
                executed = True
                poller.unregister(born)
            if executed and not self.started:
                self.see_start()
            if self.wake in ready:
                _drain(self.wake)
            if CONTROL in ready:
                words = os.read(CONTROL, 64)
                if not words or b"k" in words:
                    return
                if not self.exited:
                    asked = True
                    # The group, so that a wrapper script's real bot hears it too; continued, as a frozen bot cannot.
                    send(-self.group, signal.SIGTERM)
                    send(-self.group, signal.SIGCONT)
            if (referee is not None and referee in ready) or not self.reap():
                return
            # Once asked, whatever of the bot is still saving has the time that the referee gives.
            if self.exited and not asked:
                until = until or time.monotonic() + int(self.settings["linger_ms"][0]) / 1000
                if time.monotonic() >= until:
                    return

    @property
    def group(self) -> int:
        """The bot's process group, as we see it."""
        return self.inside.init or self.child if self.inside else self.child

    def see_start(self) -> None:
        """Reports the start once the bot's program runs: with a sandbox around it, that takes a little longer."""
        if self.inside is not None:
            bot = self.inside.find_bot()
            if bot is None:
                return
            self.bot = bot
        self.started = True
        report(b"started %d" % self.bot)

    def reap(self) -> bool:
        """Collects the dead, reports the bot's own end. Returns whether any child is left, alive or stopped."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                self.report_end(last=True)
                return False
            if pid == 0:
                self.report_end(last=False)
                return True
            if pid == self.child:
                self.ended = os.waitstatus_to_exitcode(status)
            if not self.exited and (pid == self.child or (self.inside is not None and pid == self.inside.init)):
                self.cpu_us += int((usage.ru_utime + usage.ru_stime) * 1_000_000)
                self.peak_bytes = max(self.peak_bytes, usage.ru_maxrss * 1024)
                if self.inside is not None and pid == self.inside.init:
                    self.inside.init_gone = True

    def report_end(self, *, last: bool) -> None:
        """Once: of the bot, or when the sandbox around it is gone as well, which holds the usage of what was in it."""
        if self.exited or self.ended is None:
            return
        code = self.ended
        if self.inside is not None:
            if self.inside.init and not self.inside.init_gone and not last:
                return
            if not self.started:
                if not self.inside.executed():
                    self.exited = True
                    # Who killed it before the program ran was not the bot, unless it was at its own limit of memory.
                    killed = code < 0 and self.see_memory(code) != 1
                    report(b"failed %d sandbox" % (-code if killed else 0))
                    return
                report(b"started %d" % (self.inside.init or self.child))
                self.started = True
            code = self.inside.how_it_ended(code)
        self.exited = True
        cpu_us = counter(self.settings, "cpu") // 1000 or self.cpu_us
        peak_bytes = counter(self.settings, "peak") or self.peak_bytes
        word, number = (b"exit", code) if code >= 0 else (b"signal", -code)
        report(b"%s %d %d %d %d" % (word, number, cpu_us, peak_bytes, self.see_memory(code)))

    def see_memory(self, code: int) -> int:
        """Whose memory was at its end: 0 nobody's, 1 the bot's, 2 the machine's or that of a group around ours."""
        if "oom" in self.settings:
            killed = code != 0 and counter(self.settings, "oom") > 0
        else:  # then the kernel says only that it took somebody just now
            self.look_at_kernel()
            recent = self.rose_s is not None and time.monotonic() - self.rose_s <= _RECENT_S
            killed = code == -signal.SIGKILL and recent
        if not killed:
            return 0
        return 1 if was_full(self.settings) else 2

    def look_at_kernel(self) -> None:
        """A bot sees the same number: what it sees rise must not serve it for the rest of its life."""
        number, self.looked_s = kills(), time.monotonic()
        if number > self.kills:
            self.kills, self.rose_s = number, self.looked_s

    def end_all(self) -> None:
        """Returns when no descendant is left: as a subreaper, this process then has no child."""
        pause_s = 0.001
        if self.inside is not None:
            self.inside.kill()
        while self.reap():
            stop_then_kill(descendants)
            for pair in self.settings.get("thaw", ()):
                thaw(pair)
            if select.select([self.wake], [], [], pause_s)[0]:
                _drain(self.wake)
            else:
                pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)


def report(line: bytes) -> None:
    """One line to the referee, which may be gone."""
    try:
        os.write(CONTROL, line + b"\n")
    except OSError:
        pass


def words_for(error: Exception) -> str:
    """Of what the system refused, in its words; else for whoever mends this program. One line."""
    if not isinstance(error, OSError) or not error.strerror:
        return repr(error)
    return error.strerror if error.filename is None else f"{error.strerror}: {error.filename!r}"


def _drain(file: int) -> None:
    try:
        while len(os.read(file, 4096)) == 4096:
            pass
    except BlockingIOError:
        pass


def _watch_parent() -> int | None:
    """Readable when the referee is gone: a copy of its socket in some forked child must not keep bots alive."""
    try:
        return os.pidfd_open(os.getppid())
    except (AttributeError, OSError):  # before Linux 5.3; the end of file on the socket remains
        return None


def main(words: list[str]) -> None:
    """`words` as in the module's docstring."""
    separator = words.index("--")
    settings: Settings = {}
    for word in words[:separator]:
        key, _, value = word.partition("=")
        settings.setdefault(key, []).append(value)
    for name in _IGNORED:
        signal.signal(getattr(signal, "SIG" + name), signal.SIG_IGN)
    wake, waker = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    become_subreaper()
    groups, scratch = settings.get("cgroup", []), settings["scratch"][0]
    claim([scratch, *groups])
    guardian = Guardian(settings, wake)
    try:
        born = guardian.start(words[separator + 1 :])
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        guardian.watch(born)
    except Exception as error:  # a mistake in here must not cost the clean-up; the referee hears of it
        report(b"fault " + words_for(error).encode("ascii", "backslashreplace"))
    guardian.end_all()
    remove_groups(groups)
    remove_scratch(scratch)
    os._exit(0)  # nothing is left to tidy up, and the referee waits
