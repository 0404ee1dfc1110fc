"""A worker that is started before it is known what it is to play."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from referee.event_loop import run_loop
from referee.schedule.schedule import known_matches
from referee.tournament import local, worker_process
from referee.tournament.identity import config_of
from referee.tournament.local import LocalExecutor
from referee.tournament.worker_process import WorkerProcess, early_worker

ROOT = Path(__file__).resolve().parents[3]

RUNNER = """
import sys, time
from referee.tournament.worker_process import early_worker
with early_worker() as early:
    early.prepare(sys.argv[1:])
    print(early.pid, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def executor(make_tournament, tmp_path, monkeypatch):
    """executor(early) plays with the real worker program."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests" / "toy_game"))

    def make(early: WorkerProcess | None, lock_fd: int | None = None) -> LocalExecutor:
        return LocalExecutor(
            make_tournament(blocks=10).entries,
            tmp_path / "matches",
            workers=1,
            log=tmp_path / "workers.log",
            lock_fd=lock_fd,
            early=early,
        )

    return make


@pytest.fixture
def install_game(tmp_path, monkeypatch):
    """install_game(id, code) installs a game whose module is `code`, for processes that are started afterwards."""

    def install(game: str, code: str) -> None:
        info = tmp_path / "games" / f"{game}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {game}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[crosstown.games]\n{game} = {game}_game:GAME\n")
        (tmp_path / "games" / f"{game}_game.py").write_text(code)
        monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'games'}:{ROOT / 'tests' / 'toy_game'}")

    return install


@pytest.fixture
def specs(make_tournament, luck):
    return list(known_matches(config_of(make_tournament(blocks=10)), luck))


async def test_the_first_worker_is_the_process_that_was_started_early(executor, specs, tmp_path):
    with (tmp_path / "lock").open("w") as lock, early_worker() as early:
        early.prepare(["toy", "unheard of"])
        async with executor(early, lock.fileno()) as table:
            result = await table.play(specs[0], 60)
            assert (result.match_id, table.worker_pids) == (specs[0].match_id, [early.pid])
            assert {tmp_path / "lock", tmp_path / "workers.log"} <= files_of(early.pid)
        assert early.returncode == 0


@pytest.mark.parametrize("code", ["os.write(1, b'loaded\\n')", "os.read(0, 100)"], ids=["prints", "reads"])
async def test_a_game_that_uses_stdin_or_stdout_when_it_is_loaded_does_not_disturb_the_early_worker(
    executor, specs, install_game, monkeypatch, code
):
    monkeypatch.setattr(local, "READY_LIMIT_S", 20)
    install_game("loud", f"import os\n{code}\nfrom toy_game import GAME\n")
    with early_worker() as early:
        early.prepare(["loud"])
        async with executor(early) as table:
            await table.play(specs[0], 60)
            assert table.worker_pids == [early.pid]


async def test_the_worker_after_a_dead_early_one_has_the_lock_too(executor, specs, tmp_path):
    with (tmp_path / "lock").open("w") as lock, early_worker() as early:
        async with executor(early, lock.fileno()) as table:
            await table.play(specs[0], 60)
            os.kill(early.pid, signal.SIGKILL)
            await early.wait()
            await table.play(specs[1], 60)
            (pid,) = table.worker_pids
            assert pid != early.pid
            assert tmp_path / "lock" in files_of(pid)


def test_a_run_whose_early_worker_dies_between_two_matches_ends_in_order(executor, specs):
    async def play(early):
        async with executor(early) as table:
            await table.play(specs[0], 60)
            early.kill()
            await early.wait()
            assert (await table.play(specs[1], 60)).match_id == specs[1].match_id

    with early_worker() as early:
        run_loop(play(early))


def test_an_early_worker_ends_even_if_it_cannot_be_closed(monkeypatch):
    def closed_loop():
        raise RuntimeError("Event loop is closed")

    with early_worker() as early:
        close = early.close
        monkeypatch.setattr(early, "close", closed_loop)
    assert early.returncode is not None
    close()


async def test_an_early_worker_that_has_ended_before_it_is_needed_costs_nothing(executor, specs):
    with early_worker() as early:
        early.kill()
        await early.wait()
        async with executor(early) as table:
            assert (await table.play(specs[0], 60)).match_id == specs[0].match_id
            assert table.worker_pids != [early.pid]


def test_an_early_worker_that_is_not_needed_ends():
    with early_worker() as early:
        assert early.returncode is None
    assert early.returncode is not None


async def test_an_early_worker_that_no_match_needed_ends_with_the_executor(executor):
    """It is none of the orphans that are given a moment to end at the end of the run."""
    with early_worker() as early:
        async with executor(early):
            pass
        assert early.returncode is not None


def test_an_early_worker_that_no_kill_ends_is_left_to_the_system(monkeypatch):
    monkeypatch.setattr(worker_process, "KILL_LIMIT_S", 0.1)
    with early_worker() as early:
        os.kill(early.pid, signal.SIGSTOP)  # else it would end when its runner closes the channel
        kill = early.kill
        monkeypatch.setattr(early, "kill", lambda: None)
    assert early.returncode is None
    kill()
    run_loop(early.wait())


def test_an_early_worker_ends_with_its_runner():
    with subprocess.Popen([sys.executable, "-c", RUNNER], stdout=subprocess.PIPE) as runner:
        pid = int(runner.stdout.readline())
        runner.kill()
    wait_until(lambda: not is_alive(pid))


def test_an_early_worker_that_is_stuck_in_the_import_of_a_game_ends_with_its_runner(install_game, tmp_path):
    loading = tmp_path / "loading"
    install_game("stuck", f"import time\nopen({str(loading)!r}, 'w').close()\ntime.sleep(300)\n")
    with subprocess.Popen([sys.executable, "-c", RUNNER, "stuck"], stdout=subprocess.PIPE) as runner:
        pid = int(runner.stdout.readline())
        wait_until(loading.exists)
        runner.kill()
    wait_until(lambda: not is_alive(pid))


async def test_what_a_worker_says_arrives_after_it_was_told_the_last(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import sys\nfor line in sys.stdin:\n    print(line.upper(), end='', flush=True)\nprint('END')")
    process = WorkerProcess.start((sys.executable, str(program)))
    await process.connect(1 << 16)
    await process.send(b"one\n")
    assert await process.readline() == b"ONE\n"
    process.send_last(b"two\n")
    assert [await process.readline() for _ in range(3)] == [b"TWO\n", b"END\n", b""]
    await process.wait()
    process.close()
    assert process.returncode == 0


def files_of(pid: int) -> set[Path]:
    """The files that a process has open."""
    found = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed since it was listed
            found.add(path.readlink())
    return found


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(true, limit_s=30):
    deadline = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)
