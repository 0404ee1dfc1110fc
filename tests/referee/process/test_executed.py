"""Whether a bot's program runs by now is told by what a bot cannot choose."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from referee.process.guardian import has_executed

WAIT = "import time; print(flush=True); time.sleep(60)"
ONLY_A_SECOND_THREAD = """
import ctypes, os, threading, time
threading.Thread(target=time.sleep, args=(60,)).start()
print(flush=True)
ctypes.CDLL(None).syscall({exit_number}, 0)
"""
"""Its first thread has ended: the system shows no program of it any more."""

EXIT_NUMBER = {"x86_64": 60, "aarch64": 93}.get(os.uname().machine)


@pytest.fixture
def run() -> Iterator[Callable[[str], int]]:
    """Starts a Python program and waits until it has printed a line; its process id."""
    started: list[subprocess.Popen[bytes]] = []

    def start(program: str) -> int:
        process = subprocess.Popen([sys.executable, "-I", "-S", "-c", program], stdout=subprocess.PIPE)
        started.append(process)
        assert process.stdout is not None
        process.stdout.readline()
        return process.pid

    yield start
    for process in started:
        process.kill()
        process.communicate()


def forked() -> int:
    """A child of this process that has executed nothing."""
    pid = os.fork()
    if pid == 0:
        time.sleep(60)
        os._exit(0)
    return pid


def test_a_fork_runs_no_program_of_its_own_and_what_it_executes_is_one(run: Callable[[str], int]) -> None:
    child = forked()
    try:
        assert not has_executed(child, os.getpid())
        assert has_executed(run(WAIT), os.getpid())
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


def test_a_program_that_is_the_same_as_its_parents_is_executed_all_the_same(run: Callable[[str], int]) -> None:
    """A bot may execute bubblewrap, to pass for one that was never started."""
    parent, child = run(WAIT), run(WAIT)
    assert os.readlink(f"/proc/{parent}/exe") == os.readlink(f"/proc/{child}/exe")  # noqa: PTH115
    assert has_executed(child, parent)


@pytest.mark.skipif(EXIT_NUMBER is None, reason="the number of exit(2) is not known here")
def test_a_program_that_goes_on_without_its_first_thread_is_executed(run: Callable[[str], int]) -> None:
    pid = run(ONLY_A_SECOND_THREAD.format(exit_number=EXIT_NUMBER))
    end_s = time.monotonic() + 20
    while not has_executed(pid, os.getpid()):
        assert time.monotonic() < end_s
        time.sleep(0.01)


def test_one_that_has_ended_before_it_executed_anything_has_not() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(1)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    try:
        assert not has_executed(pid, os.getpid())
    finally:
        os.waitpid(pid, 0)
    assert not has_executed(pid, os.getpid()), "it is gone"


def test_one_that_is_just_ending_and_has_executed_nothing_has_not() -> None:
    """It gives its memory back, which takes a while, before it is a zombie."""
    for _ in range(20):
        pid = os.fork()
        if pid == 0:
            kept = b"x" * (64 << 20)
            os._exit(len(kept) & 1)
        try:
            while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
                assert not has_executed(pid, os.getpid())
        finally:
            os.waitpid(pid, 0)
