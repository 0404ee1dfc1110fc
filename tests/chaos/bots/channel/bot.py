"""Two processes of one bot, in two sandboxes, try to pass a bit through what the kernel shares between them.

The receiver gets ready, prints "ready" and looks for the bit in every way until the file `last-look` is older than a
day; the sender sets it in every way, prints "sent" and stays. At its end the receiver prints the ways in which the bit
arrived, else why a way was closed, as JSON.
"""

import ctypes
import fcntl
import json
import mmap
import os
import signal
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

OPTIONS: dict[str, Any] = json.loads(os.environ["CROSSTOWN_OPTIONS"])
LIBC = ctypes.CDLL(None, use_errno=True)
OFD_SETLK, OFD_GETLK = 37, 36
IN_OPEN, FAN_NONBLOCK, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD = 0x20, 2, 1, 0x20, -100
GET_RW_HINT, SET_RW_HINT = 1035, 1036
FIEMAP, CLEAR_ES_CACHE, GET_ES_CACHE = 0xC020660B, 0x6628, 0xC020662A
NO_WAIT = 8
DN_ACCESS, DN_MULTISHOT = 1, 0x80000000
PAGE = mmap.PAGESIZE

Way = tuple[Callable[[str], Any], Callable[[Any], bool], Callable[[str], Any]]
"""The receiver's preparation, its look with what that returned, and the sender's deed. Each way has a file that both
see, so that no way disturbs another; preparation and deed get its name."""


def call(name: str, *words: Any) -> int:
    result: int = getattr(LIBC, name)(*words)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def opened(path: str) -> int:
    return os.open(path, os.O_RDONLY)


def lock(kind: int) -> bytes:
    return struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 1, 0)


def is_locked(file: int, command: int) -> bool:
    kind: int = struct.unpack("hhqqi4x", fcntl.fcntl(file, command, lock(fcntl.F_WRLCK)))[0]
    return kind != fcntl.F_UNLCK


def flock_is_taken(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def lease_is_refused(file: int) -> bool:
    try:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except BlockingIOError:
        return True
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False


def watch(path: str) -> int:
    file = call("inotify_init1", os.O_NONBLOCK)
    call("inotify_add_watch", file, path.encode(), IN_OPEN)
    return file


def watch_all(path: str) -> int:
    file = call("fanotify_init", FAN_NONBLOCK, os.O_RDONLY)
    call("fanotify_mark", file, FAN_MARK_ADD, ctypes.c_uint64(FAN_OPEN), AT_FDCWD, path.encode())
    return file


def rarely_read() -> str:
    """A file in /usr that nobody but these two opens now; the same for both."""
    return str(next(path for path in sorted(Path("/usr/share").glob("*/*/*")) if path.is_file()))


NOTIFIED: list[int] = []


def be_notified(_: str) -> int:
    """By a signal, when a file in a folder is read."""
    signal.signal(signal.SIGIO, lambda number, frame: NOTIFIED.append(number))
    folder = os.open("apart", os.O_RDONLY)
    fcntl.fcntl(folder, fcntl.F_NOTIFY, DN_ACCESS | DN_MULTISHOT)
    return folder


def has_events(file: int) -> bool:
    try:
        return bool(os.read(file, 4096))
    except BlockingIOError:
        return False


def evict(path: str) -> int:
    file = opened(path)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    return file


def is_cached(file: int) -> bool:
    try:
        return os.preadv(file, [bytearray(PAGE)], 0, NO_WAIT) > 0
    except BlockingIOError:
        return False


def is_in_core(file: int) -> bool:
    with mmap.mmap(file, PAGE, mmap.MAP_SHARED, mmap.PROT_READ) as view:
        inode = str(os.fstat(file).st_ino)
        lines = Path("/proc/self/maps").read_text().splitlines()
        address = next(int(line.split("-")[0], 16) for line in lines if line.split()[4] == inode)
        there = (ctypes.c_ubyte * 1)()
        call("mincore", ctypes.c_void_p(address), ctypes.c_size_t(len(view)), there)
        return bool(there[0] & 1)


def write_hint(file: int) -> int:
    hint: int = struct.unpack("Q", fcntl.fcntl(file, GET_RW_HINT, bytes(8)))[0]
    return hint


def read_write_hint(path: str) -> tuple[int, int]:
    file = opened(path)
    return file, write_hint(file)


def change_write_hint(path: str) -> None:
    """It stays with the file."""
    file, hint = read_write_hint(path)
    fcntl.fcntl(file, SET_RW_HINT, struct.pack("Q", 3 if hint == 4 else 4))


def extents(file: int, request: int) -> int:
    """Of a file, by FS_IOC_FIEMAP or by what ext4 has of them in memory."""
    wanted = bytearray(struct.pack("QQ4I", 0, 1 << 40, 0, 0, 16, 0) + bytes(16 * 56))
    fcntl.ioctl(file, request, wanted)
    count: int = struct.unpack_from("I", wanted, 20)[0]
    return count


def forget_extents(path: str) -> tuple[int, int]:
    file = opened(path)
    fcntl.ioctl(file, CLEAR_ES_CACHE)
    return file, extents(file, GET_ES_CACHE)


def number_in(path: str) -> int:
    return int(Path(path).read_text().split()[0])


def rose(path: str, least: int) -> tuple[Callable[[str], int], Callable[[int], bool]]:
    return lambda _: number_in(path), lambda before: number_in(path) >= before + least


def open_many_files(_: str) -> None:
    """Far more than the rest of the machine opens or closes in these seconds, as all are in one count: 15,000. That is
    more than one process may have open."""
    reader, writer = os.pipe()
    for _ in range(10):
        if os.fork() == 0:
            for _ in range(1500):
                os.open("/dev/null", os.O_RDONLY)
            os.write(writer, b"1")
            signal.pause()
    for _ in range(10):
        os.read(reader, 1)


def take_asynchronous_reads(_: str) -> None:
    number = 206 if os.uname().machine == "x86_64" else 0
    context = ctypes.c_ulong(0)
    call("syscall", number, 64, ctypes.byref(context))


def read_page(path: str) -> None:
    os.pread(opened(path), PAGE, 0)


WAYS: dict[str, Way] = {
    "a lock by flock": (opened, flock_is_taken, lambda path: fcntl.flock(opened(path), fcntl.LOCK_SH)),
    "a lock by fcntl": (
        opened,
        lambda file: is_locked(file, fcntl.F_GETLK),
        lambda path: fcntl.fcntl(opened(path), fcntl.F_SETLK, lock(fcntl.F_RDLCK)),
    ),
    "a lock of an open file description": (
        opened,
        lambda file: is_locked(file, OFD_GETLK),
        lambda path: fcntl.fcntl(opened(path), OFD_SETLK, lock(fcntl.F_RDLCK)),
    ),
    "a lease": (opened, lease_is_refused, opened),
    "inotify": (watch, has_events, opened),
    "inotify in /usr": (lambda _: watch(rarely_read()), has_events, lambda _: opened(rarely_read())),
    "dnotify": (be_notified, lambda _: bool(NOTIFIED), lambda _: read_page("apart/file")),
    "fanotify": (watch_all, has_events, opened),
    "the count of open files": (*rose("/proc/sys/fs/file-nr", 12_000), open_many_files),
    "the count of asynchronous reads": (*rose("/proc/sys/fs/aio-nr", 64), take_asynchronous_reads),
    "the count of pseudo-terminals": (*rose("/proc/sys/kernel/pty/nr", 8), lambda _: [os.openpty() for _ in range(8)]),
    "a hint for what is written": (
        read_write_hint,
        lambda before: write_hint(before[0]) != before[1],
        change_write_hint,
    ),
    "the extents that ext4 has in memory": (
        forget_extents,
        lambda before: extents(before[0], GET_ES_CACHE) > before[1],
        lambda path: extents(opened(path), FIEMAP),
    ),
    "asking whether a page is in memory (preadv2)": (evict, is_cached, read_page),
    "asking whether a page is in memory (mincore)": (evict, is_in_core, read_page),
}
ONE_LOOK = "asking whether"
"""Such a question may itself bring the page into memory, so the receiver asks once, at the end."""


def receive() -> dict[str, str]:
    outcome: dict[str, str] = {}
    ready = {}
    for number, (way, (prepare, _, _)) in enumerate(WAYS.items()):
        try:
            ready[way] = prepare(f"shared-{number}")
        except OSError as error:
            outcome[way] = str(error)

    def look(way: str) -> None:
        if way in outcome:
            return
        try:
            if WAYS[way][1](ready[way]):
                outcome[way] = "arrived"
        except OSError as error:
            outcome[way] = str(error)

    print("ready", flush=True)
    while time.time() - Path("last-look").stat().st_mtime < 24 * 3600:
        for way in ready:
            if not way.startswith(ONE_LOOK):
                look(way)
        time.sleep(0.01)
    for way in ready:
        look(way)
    return {way: outcome.get(way, "nothing") for way in WAYS}


def send() -> None:
    kept = []
    for number, (_, _, deed) in enumerate(WAYS.values()):
        try:
            kept.append(deed(f"shared-{number}"))
        except OSError as error:
            kept.append(str(error))
    print("sent", flush=True)
    time.sleep(60)


if OPTIONS["role"] == "sender":
    send()
else:
    print(json.dumps(receive()), flush=True)
