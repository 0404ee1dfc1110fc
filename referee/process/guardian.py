"""The guardian: one small program per bot that outlives the referee just long enough to clean up.

Started as `python -I -S start_guardian.py key=value ... -- program argument ...`, stdin being a socket to the referee,
stdout and stderr the bot's own, the environment the bot's. It becomes child subreaper, starts the bot in a session
of its own and then waits. As a subreaper it inherits every double-forked or setsid'ed descendant of the bot, so the
tree under it is always the whole of it. When the referee says so, dies, or the bot exits, nothing of that tree stays.

From the referee: `t` asks the bot to end, `k` or end of file ends all. To the referee, one line each:
`started PID`, `failed ERRNO STEP` (of the step "sandbox", the signal that killed it or 0), `exit CODE CPU_US PEAK OOM`,
`signal NUMBER CPU_US PEAK OOM`, `fault TEXT`; PEAK in bytes, OOM 0, 1 if the kernel took a process of it at its own
memory limit, 2 if for want of memory elsewhere; `ending` once it ends all. End of file means that nothing is left.

Keys: cwd, scratch, linger_ms, rlimit (NUMBER:VALUE), cgroup (a folder to join and to remove), cpu, peak, oom, full
(files of counters; cpu as FILE:NANOSECONDS_PER_UNIT, full as FILE:LEAST), thaw (FILE:WORD), sandbox (the program is
bubblewrap, and these its words: word), path (its PATH), seccomp (hex), users (FIRST:COUNT to choose from), mount (a
path to mount for the bot), own (one of these, to give to the user), oom_score (the program's oom_score_adj; the kernel
takes those with more first); rlimit, cgroup, full, mount, own and word may be repeated.
"""

# Part of the guardian: few and cheap imports.
# Imports decide start time and memory. `signal` alone costs 5 ms (it builds enums), so its C core is used here, and
# pathlib and contextlib are left out for the same reason.
# ruff: noqa: PTH106, PTH115, PTH123, S606, SIM105
import _signal as signal  # type: ignore[import-not-found]
import os
import select
import sys
import time

from referee.process.mounts import make_mounts
from referee.process.processes import (
    PR_SET_PDEATHSIG,
    become_subreaper,
    children,
    descendants,
    prctl,
    send,
    stop_then_kill,
)
from referee.process.trees import remove_tree

Settings = dict[str, list[str]]
"""The guardian's words `key=value`, by key."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

USERS_FOLDERS = ("/run", "/tmp")  # noqa: S108 - where the first cannot be written
_MOST_TRIES = 50
_LINES = {"cpu": ("", "usage_usec"), "oom": ("oom_kill",), "peak": ("",)}
"""Of each kind of counter, the names before its number."""

HOST_EVENTS = "/proc/vmstat"


def choose_user(span: str) -> int:
    """A user id that no other bot on this machine has, as long as this process lives. OSError if there is none.

    For root. Who has which is told by locks on the bytes of a file that nobody else can open, so that nobody else can
    take them all.
    """
    import fcntl

    first, _, count = span.partition(":")
    file = _open_users()  # until the end; the kernel then gives the lock back
    for number in range(int(count)):
        uid = int(first) + (os.getpid() + number) % int(count)
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, uid)
        except (BlockingIOError, PermissionError):
            continue
        return uid
    raise OSError(11, f"all {count} users for bots are taken")


def _open_users() -> int:
    why = ""
    for folder in USERS_FOLDERS:
        path = f"{folder}/crosstown-users"
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        except OSError as error:
            why = f"{error.strerror}: {path}"
            continue
        owner = os.fstat(file)
        if owner.st_uid == os.getuid() and not owner.st_mode & 0o077:
            return file
        os.close(file)
        why = f"somebody else's file is there, or others may open it: {path}"
    raise OSError(13, f"no list of the users that bots have; {why}")


def thaw(pair: str) -> None:
    """FILE:WORD, of a group that may be gone or never was frozen."""
    path, _, word = pair.rpartition(":")
    try:
        with open(path, "w") as file:
            file.write(word)
    except OSError:
        pass


def counter(settings: Settings, key: str) -> int:
    """The number that a file of the group holds, in the units it is asked for; 0 if unknown."""
    for place in settings.get(key, ()):
        path, unit = place, 1
        if key == "cpu":
            path, _, factor = place.rpartition(":")
            unit = int(factor)
        return _number(path, _LINES[key]) * unit
    return 0


def was_full(settings: Settings) -> bool:
    """Whether the group ever was at its own limit of memory."""
    pairs = [place.rpartition(":") for place in settings.get("full", ())]
    return any(_number(path, ("", "oom")) >= int(least) for path, _, least in pairs)


def kills() -> int:
    """How many processes of this machine the kernel has taken for want of memory; 0 if unknown."""
    return _number(HOST_EVENTS, ("oom_kill",))


def _number(path: str, names: tuple[str, ...]) -> int:
    try:
        with open(path) as file:
            text = file.read()
    except OSError:
        return 0
    for line in text.splitlines():
        name, _, value = line.rpartition(" ")
        if name in names and value.isdigit():
            return int(value)
    return 0


def remove_scratch(folder: str) -> None:
    """The bot's private folder, which it usually leaves empty."""
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        pass
    except OSError:
        remove_tree(folder)


def remove_groups(folders: "Iterable[str]") -> None:
    """Empty by now, though the kernel may need a moment to notice."""
    for folder in folders:
        for _ in range(_MOST_TRIES):
            try:
                os.rmdir(folder)
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(0.002)
            else:
                break


def claim(folders: "Iterable[str]") -> None:
    """As long as this process lives, these folders are in use: whoever sweeps leaves them alone."""
    import fcntl

    for folder in folders:
        try:
            fcntl.flock(os.open(folder, os.O_RDONLY), fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            pass


_GET_INFO = 0xC040FF0B
"""PIDFD_GET_INFO (Linux 6.13) for 64 bytes of struct pidfd_info. The first 8 say what is wanted, then what is there."""
_INFO_EXIT = 8
"""Wanted and there (Linux 6.15), the last 4 bytes are the status of a process that somebody, anybody, has reaped."""


class Inside:
    """What is behind bubblewrap: an init of its own, and below that the bot."""

    def __init__(self, info: int, status: int) -> None:
        self.files = (info, status)
        for file in self.files:
            os.set_blocking(file, False)
        self.told = [b"", b""]
        self.init = 0
        self.init_gone = False
        self.bot_file: int | None = None

    def find_bot(self) -> int | None:
        """The bot once its program runs."""
        self.listen()
        if self.init:
            for pid in children(self.init):
                if self.bot_file is None:  # the first is to become the bot, and may be gone very soon
                    self.bot_file = open_process(pid)
                if has_executed(pid, self.init):
                    return pid
        return None

    def executed(self) -> bool:
        """Asked after the end: whether the program ever ran."""
        self.listen()
        return b'"exit-code"' in self.told[1]

    def how_it_ended(self, code: int) -> int:
        """Of what bubblewrap exited with: its exit code, or negative the signal that killed it.

        Bubblewrap tells a signal N as 128 + N, as shells do, and a program may exit with that number by itself. The
        kernel knows; if it does not tell (before Linux 6.15, or of a bot that was gone before it was seen), what can be
        a signal is taken for one.
        """
        if code <= 128:
            return code
        status = None if self.bot_file is None else exit_status(self.bot_file)
        if status is not None and (known := os.waitstatus_to_exitcode(status)) in (code, 128 - code):
            return known
        return 128 - code if code - 128 in signal.valid_signals() else code

    def kill(self) -> None:
        """Everything in the namespace ends with its init."""
        self.listen()
        if self.init and not self.init_gone:
            send(self.init, signal.SIGKILL)

    def listen(self) -> None:
        for place, file in enumerate(self.files):
            try:
                while chunk := os.read(file, 4096):
                    self.told[place] += chunk
            except BlockingIOError:
                continue
        if not self.init:
            digits = self.told[0].partition(b'"child-pid":')[2].split(b",")[0].split(b"}")[0].strip()
            self.init = int(digits) if digits.isdigit() and b"}" in self.told[0] else 0


def has_executed(pid: int, parent: int) -> bool:
    """Whether a process, forked by `parent`, runs a program of its own by now. False if one of the two is gone.

    A bot may execute the program that its parent runs, bubblewrap, to pass for one that was never started: its stack
    is then elsewhere. It may also end its first thread and go on in another one: then no program is shown.
    """
    try:
        (state, threads, stack), expected = _look_of(pid), _look_of(parent)[2]
        if state in b"ZX" or (stack == _NO_MEMORY != expected):
            return threads > 1
        if stack != expected:
            return True
        return os.readlink(f"/proc/{pid}/exe") != os.readlink(f"/proc/{parent}/exe")
    except OSError:
        return False


_NO_MEMORY = b"0"
"""Where the stack begins of a thread that is ending: it has given its memory back, and is no zombie yet."""


def _look_of(pid: int) -> tuple[bytes, int, bytes]:
    """The state of a process, how many threads it has, and where its stack begins: elsewhere in each program that is
    executed. OSError if it is gone."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        words = file.read().rpartition(b") ")[2].split()
    return words[0], int(words[17]), words[25]


def open_process(pid: int) -> int | None:
    """A file that stands for a process; None if it is gone, or before Linux 5.3."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def exit_status(file: int) -> int | None:
    """Of a process that is dead and was reaped by its parent; None if the kernel does not tell."""
    import fcntl

    info = bytearray(_INFO_EXIT.to_bytes(8, sys.byteorder) + bytes(56))
    try:
        fcntl.ioctl(file, _GET_INFO, info)
    except OSError:
        return None
    there = int.from_bytes(info[:8], sys.byteorder) & _INFO_EXIT
    return int.from_bytes(info[60:], sys.byteorder) if there else None


_PR_SET_NO_NEW_PRIVS = 38

INFO_FD, STATUS_FD, SECCOMP_FD, PASSWD_FD, WORDS_FD = 40, 41, 42, 43, 44
"""Where a sandbox finds its pipes: it tells through the first two, and reads its filter, /etc/passwd and the words that
say how it is made. A bot sees the command line of its sandbox, and its environment: these are to tell it nothing."""


def become(argv: list[str], settings: Settings, uid: int | None, pipes: tuple[int, int], unborn: int) -> None:
    """Executes `argv`; never returns. What goes wrong is written to `unborn`: "ERRNO STEP"."""
    guardian = os.getppid()
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
        _limit(settings)
        step = "group"
        for folder in settings.get("cgroup", ()):
            with open(f"{folder}/cgroup.procs", "w") as file:
                file.write("0")
        step = "mount"
        if uid is not None:
            own = settings.get("own", [])
            make_mounts(settings.get("mount", []), uid, uid, map_ids="no_id_maps" not in settings, own=own)
            step = "user"
            os.setgroups([int(gid) for gid in settings.get("member", ())])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # after the change of user, which takes it away
        if os.getppid() != guardian:
            os._exit(127)
        step = "folder"
        os.chdir(settings["cwd"][0])
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        if "sandbox" in settings:
            step = "pipes"
            _lay_pipes(settings, pipes)
        if "path" in settings:
            os.environ["PATH"] = settings["path"][0]
        step = "exec"
        os.execv(argv[0], argv)
    except (OSError, ValueError) as error:
        os.write(unborn, b"%d %s" % (getattr(error, "errno", None) or 22, step.encode()))
    finally:
        os._exit(127)


def _limit(settings: Settings) -> None:
    import resource

    # Of 0 bytes the kernel writes no core file, but where the machine has a program for them (as most have), it starts
    # that program all the same, as root and in nobody's limits. Only at 1 it does not.
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
    except (OSError, ValueError):  # the referee's own limit is 0
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for pair in settings.get("rlimit", ()):
        name, _, value = pair.partition(":")
        wanted, hard = int(value), resource.getrlimit(int(name))[1]
        wanted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(int(name), (wanted, wanted))
    try:
        # When memory runs out, the kernel shall take a bot rather than the referee.
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write(settings.get("oom_score", ["500"])[0])
    except OSError:
        pass


def _lay_pipes(settings: Settings, pipes: tuple[int, int]) -> None:
    os.dup2(pipes[0], INFO_FD)
    os.dup2(pipes[1], STATUS_FD)
    user = f"bot:x:{os.getuid()}:{os.getgid()}::/tmp:/bin/sh\n".encode()
    for target, content in ((SECCOMP_FD, bytes.fromhex(settings["seccomp"][0])), (PASSWD_FD, user)):
        if content:
            read_end, write_end = os.pipe()
            os.write(write_end, content)
            os.close(write_end)
            os.dup2(read_end, target)
            os.close(read_end)
    words = os.memfd_create("words")  # a pipe might not hold them all
    with open(words, "wb", closefd=False) as file:
        file.write(b"".join(os.fsencode(word) + b"\0" for word in settings["word"]))
    os.lseek(words, 0, os.SEEK_SET)
    os.dup2(words, WORDS_FD)
    os.close(words)


CONTROL = 0
_IGNORED = ("INT", "TERM", "HUP", "QUIT", "TSTP", "TTIN", "TTOU", "USR1", "USR2", "ALRM", "PIPE")
_LONGEST_PAUSE_S = 0.1
_LOOK_MS = 1
KERNEL_LOOK_MS = 1000
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
        referee = watch_parent()
        if referee is not None:
            poller.register(referee, select.POLLIN)
        until: float | None = None
        asked = executed = False
        while True:
            left_ms = None if until is None else max(0, int((until - time.monotonic()) * 1000))
            if executed and not self.started and not self.exited:
                left_ms = _LOOK_MS
            if "oom" not in self.settings:
                left_ms = KERNEL_LOOK_MS if left_ms is None else min(left_ms, KERNEL_LOOK_MS)
            ready = dict(poller.poll(left_ms))
            if "oom" not in self.settings and time.monotonic() - self.looked_s >= KERNEL_LOOK_MS / 1000:
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
                drain(self.wake)
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
                drain(self.wake)
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


def drain(file: int) -> None:
    try:
        while len(os.read(file, 4096)) == 4096:
            pass
    except BlockingIOError:
        pass


def watch_parent() -> int | None:
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
    report(b"ending")
    guardian.end_all()
    remove_groups(groups)
    remove_scratch(scratch)
    os._exit(0)  # nothing is left to tidy up, and the referee waits
