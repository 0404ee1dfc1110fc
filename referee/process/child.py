"""From fork to exec: what the guardian's child does to itself before it becomes the bot, or the sandbox around it."""

# Part of the guardian: few and cheap imports.
# ruff: noqa: PTH123, S606
import _signal as signal  # type: ignore[import-not-found]
import ctypes
import os

from referee.process.stage import make_stage

PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38

INFO_FD, STATUS_FD, SECCOMP_FD, PASSWD_FD, WORDS_FD = 40, 41, 42, 43, 44
"""Where a sandbox finds its pipes: it tells through the first two, and reads its filter, /etc/passwd and the words that
say how it is made. A bot sees the command line of its sandbox, and its environment: these are to tell it nothing."""

Settings = dict[str, list[str]]
"""The guardian's words `key=value`, by key."""


def prctl(option: int, value: int) -> None:
    """One process attribute. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


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
        step = "stage"
        if uid is not None:
            own = settings.get("own", [])
            make_stage(settings.get("stage", []), uid, uid, map_ids="no_id_maps" not in settings, own=own)
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

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for pair in settings.get("rlimit", ()):
        name, _, value = pair.partition(":")
        wanted, hard = int(value), resource.getrlimit(int(name))[1]
        wanted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(int(name), (wanted, wanted))
    try:
        # When memory runs out, the kernel shall take a bot rather than the referee.
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("500")
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
