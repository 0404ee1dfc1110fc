"""What a bot uses and how long it waits is counted over all of its processes; frozen, it uses nothing."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from referee.process import meter
from referee.process.entry import load_entry
from referee.process.processes import children
from tests.living import open_files

Start = Any

SPIN = "import time\nend = time.process_time() + {s}\nwhile time.process_time() < end: pass\n"
IN_A_CHILD = f"import os, time\nif os.fork() == 0:\n    exec({SPIN.format(s=0.2)!r})\n    os._exit(0)\nos.wait()\n"


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.fixture
def spinner(write_bot: Any) -> Any:
    """A bot whose child and grandchild daemon count as fast as they can."""
    source = (
        "import os\n"
        "if os.fork() == 0:\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        print('on', flush=True)\n"
        "        while True: pass\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "if os.fork() == 0:\n"
        "    while True: pass\n"
        "print('on', flush=True)\n"
        "while True: pass\n"
    )
    return load_entry(write_bot({"bot.py": source}))


async def test_processor_time_counts_children_and_daemons(start: Start, spinner: Any, until: Any) -> None:
    bot = await start(spinner)
    await until(lambda: bot.output().stdout_text().count("on") == 2)
    first = bot.cpu_ns()
    await until(lambda: bot.cpu_ns() > first + 50_000_000)
    own = meter.Meter(os.getpid())
    members = {pid for pid in own.look() if pid in children(bot.guardian_pid) or pid in children(bot.pid)}
    assert len(members) == 3
    await bot.stop(0)
    assert bot.cpu_ns() is None
    assert bot.run_delay_ns() is None


async def test_the_time_of_a_child_that_has_ended_is_not_lost(start: Start, write_bot: Any, until: Any) -> None:
    source = IN_A_CHILD + "print('done', flush=True)\ntime.sleep(60)\n"
    bot = await start(load_entry(write_bot({"bot.py": source})))
    seen = [0]

    def done() -> bool:
        seen.append(bot.cpu_ns())
        return "done" in bot.output().stdout_text()

    await until(done)
    assert seen == sorted(seen)
    assert bot.cpu_ns() > 100_000_000


class Listings:
    """When processes were listed, on a clock of the test, which asks for them every 20 ms."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ms = 0
        self.newest = b"700"
        self.at_ms: list[int] = []
        monkeypatch.setattr("time.monotonic_ns", lambda: self.now_ms * 1_000_000)
        monkeypatch.setattr(meter, "newest_process", lambda: self.newest)
        monkeypatch.setattr(meter, "_below", self._below)
        self._meter = meter.Meter(os.getpid())

    def _below(self, root: int) -> list[int]:
        self.at_ms.append(self.now_ms)
        return []

    def until(self, end_ms: int) -> list[int]:
        """The times of the listings up to now."""
        while self.now_ms < end_ms:
            self.now_ms += 20
            self._meter.cpu_ns()
        return self.at_ms


def test_processes_are_listed_again_when_one_has_begun_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    listings = Listings(monkeypatch)
    assert listings.until(200) == [20, 40]
    listings.newest = b"701"
    assert listings.until(240) == [20, 40, 220, 240]


def test_processes_are_listed_now_and_then_although_none_has_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Listings(monkeypatch).until(640) == [20, 40, 240, 440, 640]


def test_processes_are_listed_each_time_where_the_system_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    listings = Listings(monkeypatch)
    listings.newest = b""
    assert listings.until(100) == [20, 40, 60, 80, 100]


def test_the_newest_process_changes_with_each_one_that_begins() -> None:
    before = meter.newest_process()
    pid = os.posix_spawn("/bin/true", ["true"], {})
    os.waitpid(pid, 0)
    assert not before or meter.newest_process() != before


# As the kernel writes them (6.18), in each version of control groups.
V1 = "nr_periods 20\nnr_throttled 19\nthrottled_time 682318051\nnr_bursts 0\nburst_time 0\n"
V2 = (
    "usage_usec 900000\nuser_usec 800000\nsystem_usec 100000\nnice_usec 0\n"
    "nr_periods 20\nnr_throttled 19\nthrottled_usec 682318\nnr_bursts 0\nburst_usec 0\n"
)
V2_WITHOUT_LIMITS = "usage_usec 900000\nuser_usec 800000\nsystem_usec 100000\n"


@pytest.mark.parametrize(("text", "throttled_ns"), [(V1, 682_318_051), (V2, 682_318_000), (V2_WITHOUT_LIMITS, 0)])
def test_what_a_limit_of_cores_held_back_is_read_in_the_words_of_each_version(
    tmp_path: Path, text: str, throttled_ns: int
) -> None:
    file = tmp_path / "cpu.stat"
    file.write_text(text)
    look = meter.Meter(os.getpid(), throttle=file)
    assert look.throttled_ns() == throttled_ns
    file.write_text("")
    look.close()
    assert look.throttled_ns() == throttled_ns
    assert meter.Meter(os.getpid()).throttled_ns() == 0


async def test_waiting_for_a_processor_is_counted(start: Start, write_bot: Any, until: Any) -> None:
    """Three that spin on one processor: each waits most of the time."""
    source = (
        "import os\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "os.fork(), os.fork()\n"
        "print('on', flush=True)\n"
        "while True: pass\n"
    )
    bot = await start(load_entry(write_bot({"bot.py": source})))
    await until(lambda: bot.output().stdout_text().count("on") == 4)
    first = bot.run_delay_ns()
    await until(lambda: bot.run_delay_ns() > first + 100_000_000)
    seen = [bot.run_delay_ns() for _ in range(100)]
    assert seen == sorted(seen)


async def test_thousands_of_looks_keep_few_files_open(start: Start, write_bot: Any, until: Any) -> None:
    source = (
        "import threading, time\n"
        "for _ in range(100): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
        "print('on', flush=True)\n"
        "time.sleep(60)\n"
    )
    bot = await start(load_entry(write_bot({"bot.py": source})))
    await until(lambda: "on" in bot.output().stdout_text())
    before = open_files()
    for _ in range(50):
        assert bot.run_delay_ns() >= 0
    assert open_files() <= before + 16
    await bot.stop(0)
    assert open_files() <= before


async def test_a_frozen_bot_uses_no_processor_and_goes_on_when_thawed(start: Start, spinner: Any, until: Any) -> None:
    bot = await start(spinner)
    await until(lambda: bot.output().stdout_text().count("on") == 2)
    bot.freeze()
    bot.freeze()
    pids = [bot.pid, *children(bot.pid), *children(bot.guardian_pid)]
    await until(lambda: all(state(pid) in "TD" for pid in pids))
    used = bot.cpu_ns()
    await asyncio.sleep(0.1)
    assert bot.cpu_ns() == used
    bot.thaw()
    bot.thaw()
    await until(lambda: bot.cpu_ns() > used + 20_000_000)
    assert bot.exited is None


@pytest.mark.parametrize("grace_s", [0, 10])
async def test_a_frozen_bot_can_be_stopped(start: Start, until: Any, mark: Any, grace_s: float) -> None:
    bot = await start("slow")
    await until(lambda: bot.output().stdout_text())
    bot.freeze()
    end = await bot.stop(grace_s)
    assert (end.code, end.signal) == ((0, None) if grace_s else (None, signal.SIGKILL))
    assert mark.alive() == []
    bot.freeze()
    bot.thaw()


async def test_the_most_memory_it_held_is_reported(start: Start, write_bot: Any) -> None:
    bot = await start(load_entry(write_bot({"bot.py": "x = bytearray(b'x' * (100 << 20))\n"})))
    end = await bot.wait()
    assert 100 << 20 < end.peak_memory_bytes < 400 << 20
    assert not end.out_of_memory


async def test_a_kernel_that_lists_no_children_costs_a_look_at_all_processes(
    start: Start, spinner: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await start(spinner)
    await until(lambda: bot.output().stdout_text().count("on") == 2)
    with_lists = meter.Meter(bot.guardian_pid).look()
    monkeypatch.setattr(meter, "HAS_CHILDREN", False)
    assert sorted(meter.Meter(bot.guardian_pid).look()) == sorted(with_lists)


def test_a_meter_that_cannot_be_made_leaves_no_file_open(tmp_path: Path) -> None:
    cpu = tmp_path / "cpu.stat"
    cpu.write_text("usage_usec 1\n")
    before = open_files()
    with pytest.raises(FileNotFoundError):
        meter.Meter(os.getpid(), (cpu, 1000), tmp_path / "gone")
    assert open_files() <= before
