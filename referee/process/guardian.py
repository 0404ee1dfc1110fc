"""The guardian: one small program per bot that outlives the referee just long enough to clean up.

Started as `python -I -S start_guardian.py key=value ... -- program argument ...`, stdin being a socket to the referee,
stdout and stderr the bot's own, the environment the bot's. It becomes child subreaper, starts the bot in a session
of its own and then waits. As a subreaper it inherits every double-forked or setsid'ed descendant of the bot, so the
tree under it is always the whole of it. When the referee says so, dies, or the bot exits, nothing of that tree stays.

From the referee: `t` asks the bot to end, `k` or end of file ends all. To the referee, one line each:
`started PID`, `failed ERRNO STEP`, `exit CODE CPU_US PEAK OOM`, `signal NUMBER CPU_US PEAK OOM`, `fault TEXT`;
PEAK in bytes, OOM 0 or 1. End of file means that nothing is left.
"""

# Imports decide start time and memory. `signal` alone costs 5 ms (it builds enums), so its C core is used here, and
# pathlib and contextlib are left out for the same reason.
# ruff: noqa: PTH106, PTH123, PTH208, SIM105, S606
import _signal as signal  # type: ignore[import-not-found]
import ctypes
import os
import select
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

CONTROL = 0
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_IGNORED = ("INT", "TERM", "HUP", "QUIT", "TSTP", "TTIN", "TTOU", "USR1", "USR2", "ALRM", "PIPE")
_LONGEST_PAUSE_S = 0.1
_MOST_PASSES = 50


def prctl(option: int, value: int) -> None:
    """One process attribute. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def become_subreaper() -> None:
    """From now on orphaned descendants become children of this process. Raises OSError."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)


def processes() -> dict[int, tuple[int, int, int]]:
    """Every process that /proc shows: (parent, group, session). What moves meanwhile may be missing."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                file = os.open(f"/proc/{name}/stat", os.O_RDONLY)
            except OSError:
                continue
            try:
                # "pid (command) state parent group session ...": the command may hold spaces and brackets.
                words = os.read(file, 1024).rpartition(b")")[2].split()
                found[int(name)] = (int(words[1]), int(words[2]), int(words[3]))
            except (OSError, IndexError, ValueError):
                continue
            finally:
                os.close(file)
    return found


def children(parent: int) -> list[int]:
    """Of one process, zombies too."""
    return [pid for pid, place in processes().items() if place[0] == parent]


def targets(pids: "Iterable[int]", seen: dict[int, tuple[int, int, int]]) -> set[int]:
    """What to signal to reach `pids`: themselves and, negative, their groups.

    A group is signalled as one, so that a process which forks and exits without end cannot slip from id to id.
    A bot lives in sessions of its own, so whatever is in one of our session is somebody else's group.
    """
    mine = os.getsid(0)
    groups = {-seen[pid][1] for pid in pids if seen[pid][2] != mine and seen[pid][1] > 1}
    return groups.union(pids)


def descendants(spare: "Container[int]" = ()) -> set[int]:
    """Targets for all that is below this process, without the children in `spare` and what is below these."""
    seen = processes()
    below: dict[int, list[int]] = {}
    for pid, place in seen.items():
        below.setdefault(place[0], []).append(pid)
    found: set[int] = set()
    waiting = [pid for pid in below.get(os.getpid(), ()) if pid not in spare]
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting.extend(below.get(pid, ()))
    return targets(found, seen)


def send(target: int, number: int) -> None:
    """A signal to a process, or with a negative number to a group, that may be gone."""
    try:
        os.kill(target, number)
    except OSError:
        pass


def stop_then_kill(find: "Callable[[], set[int]]") -> set[int]:
    """Kills the targets that `find` finds, and returns them; they may be dying still.

    All are stopped before any is killed, and looked for again until no new one turns up: what is stopped cannot
    fork, so a fork bomb cannot outrun this.
    """
    stopped: set[int] = set()
    for _ in range(_MOST_PASSES):
        fresh = find() - stopped
        if not fresh:
            break
        for target in fresh:
            send(target, signal.SIGSTOP)
        stopped |= fresh
    for target in stopped:
        send(target, signal.SIGKILL)
    return stopped


class Guardian:
    """The bot `pid`, and what has been reported of it."""

    def __init__(self, pid: int, born: int, wake: int, linger_s: float) -> None:
        self.pid = pid
        self.born = born
        self.wake = wake
        self.linger_s = linger_s
        self.exited = False

    def watch(self) -> None:
        """Returns when it is time to end everything."""
        poller = select.poll()
        for file in (CONTROL, self.born, self.wake):
            poller.register(file, select.POLLIN)
        referee = _watch_parent()
        if referee is not None:
            poller.register(referee, select.POLLIN)
        until: float | None = None
        asked = False
        while True:
            left_ms = None if until is None else max(0, int((until - time.monotonic()) * 1000))
            ready = dict(poller.poll(left_ms))
            if self.born in ready:
                problem = os.read(self.born, 64)
                if problem:
                    report(b"failed " + problem)
                    self.exited = True
                    return
                report(b"started %d" % self.pid)
                poller.unregister(self.born)
            if self.wake in ready:
                _drain(self.wake)
            if CONTROL in ready:
                words = os.read(CONTROL, 64)
                if not words or b"k" in words:
                    return
                if not self.exited:
                    asked = True
                    # The group, so that a wrapper script's real bot hears it too; continued, as a frozen bot cannot.
                    send(-self.pid, signal.SIGTERM)
                    send(-self.pid, signal.SIGCONT)
            if (referee is not None and referee in ready) or not self.reap():
                return
            # Once asked, whatever of the bot is still saving has the time that the referee gives.
            if self.exited and not asked:
                until = until or time.monotonic() + self.linger_s
                if time.monotonic() >= until:
                    return

    def reap(self) -> bool:
        """Collects the dead, reports the bot's own end. Returns whether any child is left, alive or stopped."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.pid and not self.exited:
                self.exited = True
                code = os.waitstatus_to_exitcode(status)
                cpu_us = int((usage.ru_utime + usage.ru_stime) * 1_000_000)
                word, number = (b"exit", code) if code >= 0 else (b"signal", -code)
                report(b"%s %d %d %d 0" % (word, number, cpu_us, usage.ru_maxrss * 1024))

    def end_all(self) -> None:
        """Returns when no descendant is left: as a subreaper, this process then has no child."""
        pause_s = 0.001
        while self.reap():
            stop_then_kill(descendants)
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


def start(argv: list[str], cwd: str, rlimits: list[tuple[int, int]]) -> tuple[int, int]:
    """Forks the bot. Returns its pid and a pipe that ends on exec, or first holds what went wrong."""
    guardian = os.getpid()
    born, unborn = os.pipe()
    pid = os.fork()
    if pid == 0:
        step = "session"
        try:
            os.setsid()
            for number in signal.valid_signals():
                if number not in (signal.SIGKILL, signal.SIGSTOP):
                    signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            step = "limits"
            # Without new privileges nothing the bot starts can be beyond our reach.
            prctl(_PR_SET_NO_NEW_PRIVS, 1)
            prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != guardian:
                os._exit(127)
            _limit(rlimits)
            step = "folder"
            os.chdir(cwd)
            null = os.open(os.devnull, os.O_RDONLY)
            os.dup2(null, 0)
            os.close(null)
            step = "exec"
            os.execv(argv[0], argv)
        except (OSError, ValueError) as error:
            os.write(unborn, b"%d %s" % (getattr(error, "errno", None) or 22, step.encode()))
        finally:
            os._exit(127)
    os.close(unborn)
    return pid, born


def _limit(rlimits: list[tuple[int, int]]) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number, value in rlimits:
        hard = resource.getrlimit(number)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (value, value))
    try:
        # When memory runs out, the kernel shall take a bot rather than the referee.
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("500")
    except OSError:
        pass


def remove_scratch(folder: str) -> None:
    """The bot's private folder, which it usually leaves empty."""
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        pass
    except OSError:
        import shutil  # as slow to import as all the rest of this program

        shutil.rmtree(folder, ignore_errors=True)


def main(words: list[str]) -> None:
    """`words` as in the module's docstring; keys: cwd, scratch, linger_ms, rlimit (NUMBER:VALUE, repeated)."""
    separator = words.index("--")
    settings = [word.partition("=")[::2] for word in words[:separator]]
    single = dict(settings)
    rlimits = [value.partition(":")[::2] for key, value in settings if key == "rlimit"]
    for name in _IGNORED:
        signal.signal(getattr(signal, "SIG" + name), signal.SIG_IGN)
    wake, waker = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    become_subreaper()
    pid, born = start(words[separator + 1 :], single["cwd"], [(int(name), int(value)) for name, value in rlimits])
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    guardian = Guardian(pid, born, wake, int(single["linger_ms"]) / 1000)
    try:
        guardian.watch()
    except Exception as error:  # a mistake in here must not cost the clean-up; the referee hears of it
        report(b"fault " + repr(error).encode("ascii", "backslashreplace"))
    guardian.end_all()
    remove_scratch(single["scratch"])
    os._exit(0)  # nothing is left to tidy up, and the referee waits
