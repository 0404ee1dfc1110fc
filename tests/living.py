"""What lives: processes whose end a test waits for, and open files of this one."""

import gc
from pathlib import Path


def is_alive(pid: int) -> bool:
    """One that has ended and that its parent has not waited for is not: orphans may come to a process of the tests."""
    try:
        state = Path("/proc", str(pid), "stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return False
    return state not in (b"Z", b"X")


def open_files() -> int:
    """Of this process, without those that earlier tests left to the garbage collector. A thread of theirs may close its
    own at any time: compare with `<=`."""
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))
