"""Whether a process is alive, for tests that wait for its end."""

from pathlib import Path


def is_alive(pid: int) -> bool:
    """One that has ended and that its parent has not waited for is not: orphans may come to a process of the tests."""
    try:
        state = Path("/proc", str(pid), "stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return False
    return state not in (b"Z", b"X")
