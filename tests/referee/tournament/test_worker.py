"""The worker program itself, over its pipes, with real bots."""

import asyncio
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from referee.match.result import MatchResult
from referee.process.open_files import MOST_FILES
from referee.process.sandbox import Sandbox
from referee.record import SeatStats, read_record, verify
from referee.record.reasons import EndReason
from referee.schedule.schedule import known_matches
from referee.schedule.spec import MatchSpec
from referee.tournament import messages
from referee.tournament.entrants import load_tournament
from referee.tournament.identity import config_of
from referee.tournament.messages import Setup
from referee.tournament.worker import Bots, play_all, play_together

ROOT = Path(__file__).resolve().parents[3]


class WorkerProcess:
    """A worker and what goes to and fro."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "worker.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "referee.tournament.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, "PYTHONPATH": str(ROOT / "tests" / "toy_game"), "TMPDIR": str(folder)},
                cwd=folder,
            )

    def send(self, line: bytes) -> None:
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def receive(self) -> tuple[str, object]:
        """The next message that is no sign of life, which come whenever the time is, and not only that a match is over
        whose result follows."""
        while (message := messages.read_line(self.process.stdout.readline()))[0] in ("alive", "over"):
            pass
        return message

    def end_of_input(self) -> None:
        self.process.stdin.close()

    def wait(self, limit_s: float = 15) -> int:
        return self.process.wait(limit_s)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[WorkerProcess]:
    made = WorkerProcess(tmp_path)
    yield made
    made.close()


@pytest.fixture
def cup(tmp_path, write_bot, write_file):
    """A tournament of two playing bots."""
    bots = ""
    for name in ("bot0", "bot1"):
        write_bot(name, options="[options]\nsalt = 0\n")
        shutil.copy(ROOT / "bots" / "python" / "random" / "bot.py", tmp_path / "bots" / name / "bot.py")
        bots += f'[[bots]]\npath = "bots/{name}"\n'
    return load_tournament(write_file('game = "toy"\nseed = 3\nblocks = 10\n' + bots))


@pytest.fixture
def setup(cup, tmp_path) -> bytes:
    return messages.setup_line(cup.entries, tmp_path / "matches", tmp_path / "s" / "0", None)


def test_matches_are_played_and_recorded_until_stop(worker, cup, setup, tmp_path, luck):
    worker.send(setup)
    assert worker.receive() == ("ready", True)
    for spec in list(known_matches(config_of(cup), luck))[:3]:
        worker.send(messages.play_line(spec))
        kind, result = worker.receive()
        assert (kind, result.match_id, result.status) == ("result", spec.match_id, "rated")
        assert verify(tmp_path / "matches" / f"{spec.match_id}.jsonl.gz").status == "ok"
    worker.send(messages.stop_line())
    worker.end_of_input()
    assert worker.wait() == 0
    assert not (tmp_path / "s").exists()
    assert worker.log.read_text() == ""


def test_a_worker_whose_runner_has_gone_ends_in_the_midst_of_a_match(worker, cup, setup, tmp_path, cache, luck):
    bot = tmp_path / "bots" / "bot0" / "bot.py"
    bot.write_text(bot.read_text().replace("return", "__import__('time').sleep(60)\n        return"))
    slow = load_tournament(cup.config.path)
    spec = replace(
        next(known_matches(config_of(slow), luck)),
        limits=replace(cup.config.limits, first_move_s=60.0, move_s=60.0),
    )
    worker.send(messages.setup_line(slow.entries, tmp_path / "matches", tmp_path / "s" / "0", None))
    assert worker.receive() == ("ready", True)
    worker.send(messages.play_line(spec))
    deadline = time.monotonic() + 20
    while not (bots := bots_of(cache)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    began = time.monotonic()
    worker.end_of_input()
    worker.wait(30)
    while any(Path(f"/proc/{pid}").exists() for pid in bots):
        assert time.monotonic() - began < 30, "half of what the bots sleep"
        time.sleep(0.02)
    assert not (tmp_path / "s").exists()


def test_a_stopped_worker_wakes_up_when_its_runner_is_killed(tmp_path):
    """Stopped it would see no end of its input, and keep its bots for ever."""
    code = (
        "import subprocess, sys, time\n"
        "worker = subprocess.Popen([sys.executable, '-P', '-m', 'referee.tournament.worker'], stdin=subprocess.PIPE)\n"
        "print(worker.pid, flush=True)\n"
        "time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as runner:
        pid = int(runner.stdout.readline())
        wait_until(lambda: Path(f"/proc/{pid}/fd/0").readlink() == Path("/dev/null"))  # its main is at work
        wait_until(lambda: len(list(Path(f"/proc/{pid}/task").iterdir())) > 1)  # and reads
        os.kill(pid, signal.SIGSTOP)
        runner.kill()
    wait_until(lambda: not Path(f"/proc/{pid}").exists() or state_of(pid) == "Z")


def wait_until(true, limit_s=15):
    deadline = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def bots_of(cache: Path) -> list[int]:
    """Bot processes whose working folder is a bot's copy in the store."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").readlink().is_relative_to(cache / "bots"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


DESERTER = """
import os, subprocess, time
from crosstown_bot import Bot, run

HIDE = 'env -i /bin/sleep 600 & echo $! > "$HOME/../daemon.pid"'

class Deserter(Bot):
    def choose(self, turn):
        # No os.fork: in a process with the threads of gRPC the child may wait for ever.
        subprocess.run(["/bin/sh", "-c", HIDE], start_new_session=True, check=True)
        with open(os.environ["HOME"] + "/../daemon.pid") as file:
            daemon = file.read().strip()
        while open(f"/proc/{daemon}/environ", "rb").read():
            time.sleep(0.01)
        os.kill(os.getppid(), 9)
        time.sleep(60)

run(Deserter)
"""


def test_what_a_bot_hides_before_it_kills_its_guardian_goes_and_the_crash_is_its_own(worker, cup, tmp_path, luck):
    (tmp_path / "bots" / "bot1" / "bot.py").write_text(DESERTER)
    changed = load_tournament(cup.config.path)
    deserter = changed.entries[1].id
    spec = next(known_matches(config_of(changed), luck))
    worker.send(messages.setup_line(changed.entries, tmp_path / "matches", tmp_path / "s" / "0", None))
    assert worker.receive() == ("ready", True)
    worker.send(messages.play_line(spec))
    kind, result = worker.receive()
    seat = [seat.entry_id for seat in spec.seats].index(deserter)
    assert (kind, result.status, result.reason) == ("result", "rated", "crashed")
    assert [fault is not None for fault in result.faults] == [number == seat for number in range(2)]
    daemon = int((tmp_path / "daemon.pid").read_text())
    deadline = time.monotonic() + 5
    while Path(f"/proc/{daemon}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert worker.process.poll() is None


def test_one_match_that_cannot_be_played_does_not_end_the_worker(worker, cup, setup, luck):
    first, second, *_ = known_matches(config_of(cup), luck)
    worker.send(setup)
    worker.receive()
    worker.send(messages.play_line(replace(first, game="no_such_game")))
    kind, content = worker.receive()
    assert (kind, content["match"]) == ("lost", first.match_id)
    assert "unknown game 'no_such_game'" in content["what"]
    worker.send(messages.play_line(second))
    assert worker.receive()[0] == "result"


def test_a_bot_whose_folder_was_changed_plays_on_as_it_was(worker, cup, setup, tmp_path, luck):
    (tmp_path / "bots" / "bot1" / "bot.py").write_text("raise SystemExit('another')\n")
    shutil.rmtree(tmp_path / "bots" / "bot0")
    worker.send(setup)
    assert worker.receive() == ("ready", True)
    worker.send(messages.play_line(next(known_matches(config_of(cup), luck))))
    kind, result = worker.receive()
    assert (kind, result.status) == ("result", "rated")


def test_a_bot_that_is_neither_in_the_store_nor_in_its_folder_is_refused(worker, cup, setup, tmp_path):
    (tmp_path / "bots" / "bot1" / "bot.py").write_text("# another\n")
    shutil.rmtree(cup.entries[1].home.parent)
    worker.send(setup)
    kind, refusal = worker.receive()
    assert kind == "refused"
    assert "'bot1'" in refusal["what"]
    assert "no copy of this bot is there any more" in refusal["what"]
    assert "restore the bot" in refusal["next"]
    assert worker.wait() == 0


def test_it_takes_as_many_file_descriptors_as_it_may_have(tmp_path, cup, setup):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        process = WorkerProcess(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    try:
        process.send(setup)
        assert process.receive() == ("ready", True)
        limits = Path(f"/proc/{process.process.pid}/limits").read_text()
    finally:
        process.close()
    assert f"Max open files {min(hard, MOST_FILES)} {hard} files" in " ".join(limits.split())


def test_where_no_socket_can_be_the_run_is_refused_with_a_sentence(worker, cup, setup, tmp_path):
    (tmp_path / "s" / "0" / "referee.sock").mkdir(parents=True)
    worker.send(setup)
    kind, refusal = worker.receive()
    assert kind == "refused"
    assert "referee.sock: Address already in use" in refusal["what"]
    assert "TMPDIR" in refusal["next"]
    assert worker.wait() == 0
    assert "Traceback" not in worker.log.read_text()


def test_a_bot_that_is_gone_is_refused(worker, cup, setup, tmp_path):
    shutil.rmtree(tmp_path / "bots" / "bot1")
    shutil.rmtree(cup.entries[1].home.parent)
    worker.send(setup)
    kind, refusal = worker.receive()
    assert kind == "refused"
    assert "bot1 has changed; restore the folder" in refusal["what"]


def test_lines_survive_the_way_there_and_back(cup, luck):
    spec = next(known_matches(config_of(cup), luck))
    assert messages.read_line(messages.play_line(spec)) == ("play", spec)
    kind, setup = messages.read_line(messages.setup_line(cup.entries, Path("m"), Path("s"), 7))
    assert kind == "setup"
    assert [bot.entry_id for bot in setup.bots] == [entry.id for entry in cup.entries]
    assert (setup.records, setup.socket_dir, setup.lock_fd) == (Path("m"), Path("s"), 7)
    assert messages.read_line(messages.lost_line("m", "a\nb")) == ("lost", {"match": "m", "what": "a\nb"})
    assert messages.read_line(messages.over_line("m")) == ("over", {"match": "m"})


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"[]\n",
        b"{}\n",
        b'{"a":1,"b":2}\n',
        b'{"dance":1}\n',
        b'{"play":{}}\n',
        b'{"setup":{"bots":[{}]}}\n',
        b'{"result":{"reason":"bored"}}\n',
    ],
)
def test_what_is_no_line_of_the_protocol_is_refused(line):
    with pytest.raises(ValueError, match="line"):
        messages.read_line(line)


def test_a_specification_is_one_line(cup, luck):
    spec = next(known_matches(config_of(cup), luck))
    assert isinstance(spec, MatchSpec)
    assert messages.play_line(spec).count(b"\n") == 1


class Desk:
    """A runner and a table in one: matches go on until they are ended."""

    def __init__(self) -> None:
        self.lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.said: list[bytes] = []
        self.went_on: asyncio.Queue[tuple[str, str]] = asyncio.Queue()

    async def receive(self) -> bytes | None:
        return await self.lines.get()

    def send(self, line: bytes) -> None:
        self.said.append(line)

    async def play(self, spec: MatchSpec, _: Path) -> None:
        self.went_on.put_nowait(("begins", spec.match_id))
        try:
            await asyncio.Event().wait()
        finally:
            self.went_on.put_nowait(("ends", spec.match_id))


async def test_of_matches_played_together_the_abandoned_one_ends_and_nothing_is_said_of_it(
    make_tournament, tmp_path: Path, luck
) -> None:
    one, other, *_ = known_matches(config_of(make_tournament(blocks=10)), luck)
    desk = Desk()
    setup = Setup((), tmp_path, tmp_path, None)
    serving = asyncio.create_task(play_together(desk, desk, setup, Bots(setup)))
    async with asyncio.timeout(60):
        for spec in (one, other):
            desk.lines.put_nowait(messages.play_line(spec))
            assert await desk.went_on.get() == ("begins", spec.match_id)
        desk.lines.put_nowait(messages.abandon_line(one.match_id))
        assert await desk.went_on.get() == ("ends", one.match_id)
        desk.lines.put_nowait(None)
        await serving
    assert (desk.went_on.get_nowait(), desk.said) == (("ends", other.match_id), [])


class ClosingDesk(Desk):
    """Each match is over when it has begun; its record is closed when a test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.closed: dict[str, asyncio.Event] = {}

    async def play(self, spec: MatchSpec, _: Path, *, over: Callable[[], None]) -> MatchResult:
        closed = self.closed[spec.match_id] = asyncio.Event()
        over()
        self.went_on.put_nowait(("is over", spec.match_id))
        await closed.wait()
        stats = (SeatStats(), SeatStats())
        return MatchResult(spec.match_id, "rated", EndReason.NORMAL, "", (1, 2), (), (None, None), stats, 0, 0.0, "")


async def test_a_match_begins_while_the_record_of_the_last_one_is_closed(make_tournament, tmp_path: Path, luck) -> None:
    one, other, *_ = known_matches(config_of(make_tournament(blocks=10)), luck)
    desk = ClosingDesk()
    serving = asyncio.create_task(play_all(desk, desk, tmp_path, Bots(Setup((), tmp_path, tmp_path, None))))

    def said() -> list[tuple[str, str]]:
        kinds = [messages.read_line(line) for line in desk.said]
        return [(kind, what.match_id if kind == "result" else what["match"]) for kind, what in kinds]

    async with asyncio.timeout(60):
        for spec in (one, other):
            desk.lines.put_nowait(messages.play_line(spec))
            assert await desk.went_on.get() == ("is over", spec.match_id)
        assert said() == [("over", one.match_id), ("over", other.match_id)]
        for spec in (other, one):
            desk.closed[spec.match_id].set()
            for _ in range(10):
                await asyncio.sleep(0)
        assert said()[2:] == [("result", other.match_id), ("result", one.match_id)]
        desk.lines.put_nowait(messages.stop_line())
        await serving


@pytest.mark.strict_sandbox
def test_no_bot_sees_another_or_the_run_in_what_is_granted_to_it(worker, write_bot, write_file, tmp_path, luck):
    listing = (
        "import os\n"
        f"found = [os.path.join(parent, name) for parent, _, names in os.walk({str(tmp_path)!r}) for name in names]\n"
        f"raise SystemExit(' '.join(sorted(os.path.relpath(path, {str(tmp_path)!r}) for path in found)))\n"
    )
    for name in ("ann", "bob"):
        (write_bot(name) / "bot.py").write_text(f"# {name}\n{listing}")
    tournament = load_tournament(
        write_file('game = "toy"\nseed = 3\nblocks = 1\n[[bots]]\npath = "bots/ann"\n[[bots]]\npath = "bots/bob"\n')
    )
    records = tmp_path / "runs" / "cup" / "matches"
    records.mkdir(parents=True)
    (records.parent / "tournament.jsonl").touch()
    sandboxes = {entry.id: Sandbox("strict", read=(str(tmp_path),)) for entry in tournament.entries}
    worker.send(messages.setup_line(tournament.entries, records, tmp_path / "sockets", None, sandboxes))
    assert worker.receive() == ("ready", True)
    spec = next(known_matches(config_of(tournament), luck))
    worker.send(messages.play_line(spec))
    assert worker.receive()[0] == "result"
    record = read_record(records / f"{spec.match_id}.jsonl.gz")
    for seat, fault in zip(spec.seats, record.footer.faults, strict=True):
        assert "cup.toml" in fault["stderr"].split(), seat.name
        assert not [path for path in fault["stderr"].split() if path.startswith(("runs/", "bots/"))]
