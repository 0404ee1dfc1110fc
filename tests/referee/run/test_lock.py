"""One runner per folder; a killed one's workers hold it until they are gone."""

import fcntl
import json
import os
import socket
import subprocess
import sys

import pytest

from referee.errors import BusyError, PlatformError
from referee.run import lock
from referee.run.lock import RunLock, is_run

HOLD = (
    "import sys, time; from pathlib import Path; from referee.run.lock import RunLock;"
    "lock = RunLock(Path(sys.argv[1])); print('held', flush=True); time.sleep(600)"
)


@pytest.fixture
def holder(tmp_path):
    """A process that holds the lock."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path / "run.lock")], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_second_runner_is_refused_with_pid_and_host_of_the_first(tmp_path, holder):
    with pytest.raises(BusyError, match=rf"process {holder.pid} on {socket.gethostname()}") as caught:
        RunLock(tmp_path / "run.lock")
    assert "Ctrl-C" in caught.value.next_step


def test_a_killed_runner_leaves_the_lock_free(tmp_path, holder):
    holder.kill()
    holder.wait()
    with RunLock(tmp_path / "run.lock"):
        assert json.loads((tmp_path / "run.lock").read_text())["pid"] == os.getpid()


def test_workers_of_a_killed_runner_are_waited_for(tmp_path):
    path = tmp_path / "run.lock"
    first = RunLock(path)
    # The worker has inherited the file; the runner's own signature is that of a process that is gone.
    inherited = os.dup(first.fd)
    path.write_text(json.dumps({"pid": 2**22 - 1, "host": socket.gethostname(), "started": "1"}))
    first.release()
    with pytest.raises(BusyError, match="workers of process 4194303"):
        RunLock(path, wait_s=0.1)
    os.close(inherited)
    RunLock(path, wait_s=0.1).release()


def test_a_process_of_the_same_pid_is_not_taken_for_the_runner(tmp_path):
    path = tmp_path / "run.lock"
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(fd, fcntl.LOCK_EX)
    os.write(fd, json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "started": "1"}).encode())
    with pytest.raises(BusyError, match="workers of process"):
        RunLock(path, wait_s=0.05)
    os.close(fd)


def test_a_runner_on_another_host_is_believed(tmp_path):
    path = tmp_path / "run.lock"
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(fd, fcntl.LOCK_EX)
    os.write(fd, json.dumps({"pid": 7, "host": "elsewhere", "started": "1"}).encode())
    with pytest.raises(BusyError, match="process 7 on elsewhere"):
        RunLock(path, wait_s=0.05)
    os.close(fd)


def test_a_process_that_lives_on_runs_nothing_once_it_has_released_the_lock(tmp_path):
    path = tmp_path / "run.lock"
    with RunLock(path):
        assert is_run(path)
    assert not is_run(path)


def test_a_runner_on_another_host_is_not_believed_when_nobody_holds_the_lock(tmp_path):
    path = tmp_path / "run.lock"
    path.write_text(json.dumps({"pid": 7, "host": "a-container-that-is-gone", "started": "1"}))
    assert not is_run(path)
    fd = os.open(path, os.O_RDWR)
    fcntl.flock(fd, fcntl.LOCK_EX)
    assert is_run(path)
    os.close(fd)


def test_whoever_looks_at_a_lock_keeps_no_runner_from_taking_it(tmp_path, monkeypatch):
    path = tmp_path / "run.lock"
    path.write_text(json.dumps({"pid": 7, "host": "a-container-that-is-gone", "started": "1"}))
    looks = os.open(path, os.O_RDONLY)
    fcntl.flock(looks, fcntl.LOCK_SH)
    monkeypatch.setattr(lock.time, "sleep", lambda _s: os.close(looks))
    RunLock(path, wait_s=0).release()


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(PlatformError, match="cannot open"):
        RunLock(tmp_path / "none" / "run.lock")
