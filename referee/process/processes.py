"""The processes of this machine as /proc shows them: which are below which, and how to end a whole tree."""

# Part of the guardian: few and cheap imports.
# ruff: noqa: PTH123, PTH208, SIM105
import _signal as signal  # type: ignore[import-not-found]
import ctypes
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
MOST_PASSES = 50


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
    return places(int(name) for name in os.listdir("/proc") if name.isdigit())


def places(pids: "Iterable[int]") -> dict[int, tuple[int, int, int]]:
    """Of these processes, as far as they are there: (parent, group, session)."""
    found = {}
    for pid in pids:
        try:
            file = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
        except OSError:
            continue
        try:
            # "pid (command) state parent group session ...": the command may hold spaces and brackets.
            words = os.read(file, 1024).rpartition(b")")[2].split()
            found[pid] = (int(words[1]), int(words[2]), int(words[3]))
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
    return targets(below(os.getpid(), seen, spare), seen)


def below(top: int, seen: dict[int, tuple[int, int, int]], spare: "Container[int]" = ()) -> set[int]:
    """Of these processes the ones below `top`, without the children in `spare` and what is below these."""
    inside: dict[int, list[int]] = {}
    for pid, place in seen.items():
        inside.setdefault(place[0], []).append(pid)
    found: set[int] = set()
    waiting = [pid for pid in inside.get(top, ()) if pid not in spare]
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting.extend(inside.get(pid, ()))
    return found


def send(target: int, number: int) -> None:
    """A signal to a process, or with a negative number to a group, that may be gone."""
    try:
        os.kill(target, number)
    except OSError:
        pass


def stop_threads(pid: int) -> None:
    """Stops a process that a SIGSTOP has not stopped: each of its threads that runs is sent one of its own.

    The kernel gives the signal of a process to one thread. If that one waits for a child of vfork(2), the others run on
    for as long as it waits.
    """
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    tgkill = getattr(ctypes.CDLL(None), "tgkill", None)  # not in every C library
    if tgkill is None:
        return
    for task in tasks:
        try:
            with open(f"/proc/{pid}/task/{task}/stat", "rb") as file:
                state = file.read().rpartition(b") ")[2][:1]
        except OSError:
            continue
        if state not in _STANDS:
            tgkill(pid, int(task), signal.SIGSTOP)


_STANDS = (b"T", b"t", b"Z", b"X", b"")
"""Stopped, by a signal or by a tracer, and gone."""


def stop_then_kill(find: "Callable[[], set[int]]") -> set[int]:
    """Kills the targets that `find` finds, and returns them; they may be dying still.

    All are stopped before any is killed, and looked for again until no new one turns up: what is stopped cannot
    fork, so a fork bomb cannot outrun this.
    """
    stopped: set[int] = set()
    for _ in range(MOST_PASSES):
        fresh = find() - stopped
        if not fresh:
            break
        # Groups first: the kernel sends no second to a process that has one pending, and a child that it is just
        # forking then hears of none.
        for target in sorted(fresh):
            send(target, signal.SIGSTOP)
        stopped |= fresh
    for target in stopped:
        send(target, signal.SIGKILL)
    return stopped
