"""Worker processes: they die, hang, lie, and the run goes on."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from referee import folders
from referee.errors import PlatformError
from referee.record.reasons import EndReason
from referee.schedule.schedule import known_matches
from referee.tournament import local
from referee.tournament.executor import MatchLost
from referee.tournament.identity import config_of
from referee.tournament.local import LocalExecutor
from referee.tournament.worker_process import WorkerProcess
from tests.living import open_files

ANSWER = """
    import json, os, sys, time

    def say(**fields):
        print(json.dumps(fields), flush=True)

    def result(spec):
        return {"match_id": spec["match_id"], "status": "rated", "reason": "normal", "detail": str(os.getpid()),
                "ranking": [1, 2], "returns": [1, 0], "faults": [None, None], "seat_stats": [], "decisions": 0,
                "wall_s": 0.0, "state_hash": "", "startup_us": []}

    setup = json.loads(sys.stdin.readline())["setup"]
"""
LOOP = """
    say(ready=True)
    for line in sys.stdin:
        message = json.loads(line)
        if "play" not in message:
            break
        spec = message["play"]
        {answer}
        say(result=result(spec))
"""


@pytest.fixture
def specs(make_tournament, luck):
    return list(known_matches(config_of(make_tournament(blocks=10)), luck))


@pytest.fixture
def executor(make_tournament, tmp_path):
    """executor(answer) has a worker that does `answer` before each result; executor(whole=...) is a whole program."""

    def make(answer: str = "pass", whole: str = "", workers: int = 1) -> LocalExecutor:
        program = tmp_path / "worker.py"
        program.write_text(textwrap.dedent(ANSWER) + textwrap.dedent(whole or LOOP.format(answer=answer)))
        return LocalExecutor(
            make_tournament(blocks=10).entries,
            tmp_path / "matches",
            workers=workers,
            log=tmp_path / "workers.log",
            command=(sys.executable, str(program)),
        )

    return make


def kill(pid: int) -> None:
    """It has ended afterwards, but its parent does not know that yet."""
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


async def test_a_worker_plays_one_match_after_another(executor, specs):
    async with executor() as table:
        pids = {(await table.play(spec, 5)).detail for spec in specs[:4]}
    assert len(pids) == 1
    with pytest.raises(ProcessLookupError):
        os.kill(int(pids.pop()), 0)


async def test_a_run_whose_bots_are_taken_away_ends_and_says_how_to_go_on(executor, specs, make_tournament):
    void = "result = lambda spec, made=result: {**made(spec), 'status': 'void', 'reason': 'platform_fault'}"
    async with executor(void) as table:
        assert (await table.play(specs[0], 5)).status == "void"
        home = make_tournament(blocks=10).entries[0].home
        home.chmod(0o755)
        (home / "bot.toml").unlink()
        with pytest.raises(
            PlatformError, match=f"cannot play on: its copy in the cache, {home}, has changed"
        ) as raised:
            await table.play(specs[1], 5)
    assert raised.value.next_step.startswith("run the same command again")


async def test_a_dead_worker_costs_one_match_and_is_replaced(executor, specs):
    async with executor("if spec['place'] == 1: os.kill(os.getpid(), 9)") as table:
        first = await table.play(specs[0], 5)
        with pytest.raises(MatchLost, match="was killed by signal 9"):
            await table.play(specs[1], 5)
        assert (await table.play(specs[2], 5)).detail != first.detail


async def test_a_worker_that_dies_between_two_matches_costs_none_and_leaves_no_file_open(executor, specs):
    async with executor() as table:
        first = await table.play(specs[0], 60)
        files = open_files()
        kill(int(first.detail))
        assert (await table.play(specs[1], 60)).detail != first.detail
        assert open_files() <= files


async def test_the_last_words_of_a_worker_are_told(executor, specs):
    async with executor("sys.exit('cannot go on')") as table:
        with pytest.raises(MatchLost, match=r"ended with exit code 1 \(cannot go on\)"):
            await table.play(specs[0], 5)


async def test_a_stuck_worker_is_killed_at_the_cap_inf3(executor, specs):
    async with executor("if spec['place'] == 0: time.sleep(60)") as table:
        with pytest.raises(MatchLost, match="no result after"):
            await table.play(specs[0], 0.2)
        assert (await table.play(specs[1], 5)).match_id == specs[1].match_id


async def test_a_stopped_worker_is_found_by_its_silence_long_before_the_cap(executor, specs, monkeypatch):
    """RES-16: SIGSTOP on a worker costs one match, which is played again."""
    monkeypatch.setattr(local, "SILENCE_S", 0.3)
    async with executor("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)") as table:
        with pytest.raises(MatchLost, match="has not reported"):
            await table.play(specs[0], 600)


async def test_a_worker_that_says_it_is_alive_is_waited_for(executor, specs, monkeypatch):
    monkeypatch.setattr(local, "SILENCE_S", 3)
    async with executor("[(say(alive={}), time.sleep(0.01)) for _ in range(20)]") as table:
        assert (await table.play(specs[0], 600)).match_id == specs[0].match_id


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("print('hello', flush=True)", "not a line of this protocol"),
        ("say(ready=True)", "out of turn"),
        ("spec = {'match_id': 'another'}", "out of turn"),
        ("say(lost={'match': spec['match_id'], 'what': 'the rules broke'})", "the rules broke"),
        ("say(over={'match': 'another'})", "out of turn"),
    ],
)
async def test_a_worker_that_says_something_else_loses_its_match(executor, specs, answer, words):
    async with executor(answer) as table:
        with pytest.raises(MatchLost, match=words):
            await table.play(specs[0], 5)


CLOSING = """
    say(ready=True)
    waiting = []
    for line in sys.stdin:
        message = json.loads(line)
        if "play" not in message:
            break
        spec = message["play"]
        waiting.append(spec)
        {answer}
        say(over={{"match": spec["match_id"]}})
        if len(waiting) == 2:
            for spec in reversed(waiting):
                say(result=result(spec))
            waiting = []
"""


async def test_a_worker_gets_the_next_match_while_it_closes_the_record_of_the_last(executor, specs):
    async with executor(whole=CLOSING.format(answer="pass")) as table:
        over = asyncio.Event()
        first = asyncio.create_task(table.play(specs[0], 60, over=over.set))
        async with asyncio.timeout(30):
            await over.wait()
        second = await table.play(specs[1], 60)
        assert second.match_id == specs[1].match_id
        assert ((await first).match_id, first.result().detail) == (specs[0].match_id, second.detail)


async def test_a_worker_that_dies_loses_the_match_that_it_plays_and_the_one_that_it_closes(executor, specs):
    async with executor(whole=CLOSING.format(answer="if spec['place'] == 1: os.kill(os.getpid(), 9)")) as table:
        over = asyncio.Event()
        first = asyncio.create_task(table.play(specs[0], 60, over=over.set))
        async with asyncio.timeout(30):
            await over.wait()
        for playing in (table.play(specs[1], 60), first):
            with pytest.raises(MatchLost, match="was killed by signal 9"):
                await playing
        third = asyncio.create_task(table.play(specs[2], 60))
        assert (await table.play(specs[3], 60)).match_id == specs[3].match_id
        assert (await third).match_id == specs[2].match_id


async def test_a_match_that_is_abandoned_while_its_record_is_closed_costs_no_other(executor, specs):
    async with executor(whole=CLOSING.format(answer="pass")) as table:
        over = asyncio.Event()
        first = asyncio.create_task(table.play(specs[0], 60, over=over.set))
        async with asyncio.timeout(30):
            await over.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert (await table.play(specs[1], 60)).match_id == specs[1].match_id


async def test_an_abandoned_match_ends_its_worker(executor, specs):
    async with executor("time.sleep(60)") as table:
        playing = asyncio.create_task(table.play(specs[0], 60))
        await asyncio.sleep(0.3)
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing


async def test_a_killed_worker_is_closed_although_nobody_waits_for_its_end(executor, specs, monkeypatch):
    processes, wait = [], WorkerProcess.wait

    async def wait_for_ever(process):
        processes.append(process)
        await asyncio.Event().wait()

    monkeypatch.setattr(WorkerProcess, "wait", wait_for_ever)
    async with executor("time.sleep(60)") as table:
        files = open_files()
        playing = asyncio.create_task(table.play(specs[0], 60))
        await asyncio.sleep(0.3)
        for _ in range(2):
            playing.cancel()
            await asyncio.wait([playing], timeout=0.1)
        assert playing.cancelled()
        assert open_files() <= files
    await wait(processes[0])


async def test_a_refused_setup_ends_the_run_with_its_next_step(executor, specs):
    async with executor(whole="say(refused={'what': 'the path is too long', 'next': 'set TMPDIR'})") as table:
        with pytest.raises(PlatformError, match="the path is too long") as caught:
            await table.play(specs[0], 5)
    assert caught.value.next_step == "set TMPDIR"


async def test_workers_that_never_start_end_the_run(executor, specs, monkeypatch):
    monkeypatch.setattr(local, "BACK_OFF_S", 0.001)
    async with executor(whole="sys.exit('no module named x')") as table:
        with pytest.raises(PlatformError, match=r"does not start: .*no module named x") as caught:
            await table.play(specs[0], 5)
    assert "workers.log" in caught.value.next_step


async def test_a_program_that_is_not_there_ends_the_run(make_tournament, tmp_path, specs, monkeypatch):
    monkeypatch.setattr(local, "BACK_OFF_S", 0.001)
    entries = make_tournament(blocks=10).entries
    async with LocalExecutor(
        entries, tmp_path / "matches", workers=1, log=tmp_path / "w.log", command=("/none/python",)
    ) as table:
        with pytest.raises(PlatformError, match="/none/python: No such file"):
            await table.play(specs[0], 5)


async def test_a_worker_that_dies_again_and_again_is_restarted_ever_more_slowly(executor, specs, monkeypatch):
    waits = []
    real_sleep = asyncio.sleep

    async def sleep(delay, result=None):
        waits.append(delay)
        return await real_sleep(0, result)

    monkeypatch.setattr(local.asyncio, "sleep", sleep)
    async with executor("if spec['place'] < 4: os._exit(1)") as table:
        for spec in specs[:4]:
            with pytest.raises(MatchLost):
                await table.play(spec, 5)
        await table.play(specs[4], 5)
        await table.play(specs[5], 5)
    delays = [delay for delay in waits if delay >= local.BACK_OFF_S]
    assert delays == pytest.approx([0.1, 0.2, 0.4, 0.8])


async def test_kill_ends_all_workers_at_once(executor, specs):
    async with executor("time.sleep(60)", workers=2) as table:
        playing = [asyncio.create_task(table.play(spec, 60)) for spec in specs[:2]]
        await asyncio.sleep(0.3)
        table.kill()
        async with asyncio.timeout(30):  # half of what the workers sleep
            results = await asyncio.gather(*playing, return_exceptions=True)
        assert all(isinstance(result, MatchLost) for result in results)
        with pytest.raises(MatchLost, match="the run was ended"):
            await table.play(specs[2], 5)


async def test_a_worker_that_does_not_end_when_asked_is_killed_and_costs_nothing(executor, specs, monkeypatch):
    monkeypatch.setattr(local, "STOP_LIMIT_S", 0.1)
    async with executor(whole=LOOP.format(answer="pass") + "\n    time.sleep(60)") as table:
        pid = int((await table.play(specs[0], 5)).detail)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_kill_ends_workers_that_are_being_stopped(executor, specs, monkeypatch):
    monkeypatch.setattr(local, "STOP_LIMIT_S", 60)
    table = executor(whole=LOOP.format(answer="pass") + "\n    time.sleep(60)")
    await table.__aenter__()
    await table.play(specs[0], 5)
    stopping = asyncio.create_task(table.__aexit__(None, None, None))
    await asyncio.sleep(0.3)
    assert not stopping.done()
    table.kill()
    async with asyncio.timeout(30):
        await stopping


async def test_kill_ends_a_worker_that_is_not_ready_yet(executor, specs):
    async with executor(whole="time.sleep(60)") as table:
        playing = asyncio.create_task(table.play(specs[0], 60))
        await asyncio.sleep(0.3)
        table.kill()
        async with asyncio.timeout(30):
            with pytest.raises(MatchLost, match="the run was ended"):
                await playing


async def test_a_run_that_ends_before_a_worker_is_connected_ends_that_worker(executor, specs, monkeypatch):
    started, go_on = asyncio.Event(), asyncio.Event()
    processes, connect = [], WorkerProcess.connect

    async def connect_late(process, longest_line):
        processes.append(process)
        started.set()
        await go_on.wait()
        await connect(process, longest_line)

    monkeypatch.setattr(WorkerProcess, "connect", connect_late)
    async with executor("time.sleep(60)") as table:
        playing = asyncio.create_task(table.play(specs[0], 60))
        await started.wait()
    go_on.set()
    with pytest.raises(MatchLost, match="the run was ended"):
        await playing
    assert [process.returncode for process in processes] == [-signal.SIGKILL]


async def test_the_lock_is_handed_to_the_worker(make_tournament, executor, specs, tmp_path):
    fd = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    program = tmp_path / "worker.py"
    program.write_text(textwrap.dedent(ANSWER) + textwrap.dedent(LOOP.format(answer="os.fstat(setup['lock_fd'])")))
    async with LocalExecutor(
        make_tournament(blocks=10).entries,
        tmp_path / "matches",
        workers=1,
        log=tmp_path / "w.log",
        lock_fd=fd,
        command=(sys.executable, str(program)),
    ) as table:
        assert (await table.play(specs[0], 5)).reason is EndReason.NORMAL
    os.close(fd)


async def test_a_folder_for_sockets_that_cannot_be_made_is_told(make_tournament, tmp_path, monkeypatch):
    def full(**_):
        raise OSError(28, "No space left on device", "/tmp/crosstown-x")

    entries = make_tournament().entries
    monkeypatch.setattr(folders.tempfile, "mkdtemp", full)
    with pytest.raises(PlatformError, match="No space left") as caught:
        await LocalExecutor(entries, tmp_path / "matches", workers=1, log=tmp_path / "w.log").__aenter__()
    assert "TMPDIR" in caught.value.next_step


def test_what_dead_workers_leave_is_swept_at_the_end(tmp_path):
    """In a process of its own, since it becomes a subreaper."""
    worker = tmp_path / "worker.py"
    worker.write_text(
        textwrap.dedent(ANSWER)
        + textwrap.dedent(
            """
            if os.fork() == 0:
                os.setsid()
                open("daemon.pid", "w").write(str(os.getpid()))
                os.closerange(0, 3)
                os.execve("/bin/sleep", ["sleep", "600"], {})
            while not os.path.exists("daemon.pid") or not open("daemon.pid").read():
                time.sleep(0.01)
            os._exit(1)
            """
        )
    )
    runner = """
        import asyncio, sys
        from pathlib import Path
        from referee.process.child_reaper import ChildReaper
        from referee.tournament import local
        from referee.errors import PlatformError

        async def main():
            here = Path(sys.argv[1])
            local.GUARDIANS_S = 0.1
            made = local.LocalExecutor(
                (), here, workers=1, log=here / "log", command=(sys.executable, "worker.py"), child_reaper=ChildReaper()
            )
            async with made as executor:
                try:
                    await executor.play(None, 5)
                except PlatformError:
                    print(Path(f"/proc/{Path('daemon.pid').read_text()}").exists())

        asyncio.run(main())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(runner), str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("True\n", "")
    assert not Path(f"/proc/{(tmp_path / 'daemon.pid').read_text()}").exists()
