"""What the strict sandbox costs: start-up of a bot, and a match's round trip, against plain in the same run.

    python -P benchmarks/sandbox.py [--starts 30]

Prints medians and the best, in milliseconds: of `true`, which is the sandbox alone; of an interpreter that does
nothing; and of what it takes to end a bot with all that is below it. Profiles take turns, so that a busy machine is
busy for both.
"""

import argparse
import asyncio
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from referee.process.bot import BotProcess
from referee.process.cgroup import find
from referee.process.entry import Entry, load_entry
from referee.process.launch import LaunchContext
from referee.process.limits import ProcessLimits
from referee.process.sandbox import PROFILES, Profile, Sandbox

LIMITS = ProcessLimits(
    start_timeout_s=60, memory_bytes=2 << 30, processes=512, open_files=1024, disk_bytes=64 << 20, file_bytes=256 << 20
)


@contextmanager
def bot(run: list[str], source: str = "") -> Iterator[Entry]:
    with tempfile.TemporaryDirectory(prefix="crosstown-bench-") as name:
        words = ", ".join(f'"{word}"' for word in run)
        Path(name, "bot.toml").write_text(f'name = "b"\nversion = "1"\ngames = ["*"]\nrun = [{words}]\n')
        Path(name, "bot.py").write_text(source)
        yield load_entry(Path(name))


async def life_ms(entry: Entry, profile: Profile, *, until_exit: bool) -> tuple[float, float]:
    """(start to exit, or to its first word; end)."""
    began_s = time.perf_counter()
    process = await BotProcess.start(
        entry, address="unix:/nowhere", token="t", limits=LIMITS, context=LaunchContext(Sandbox(profile), find())
    )
    if until_exit:
        await process.wait()
    else:
        while not process.output().stdout_text():  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.0005)
    ready_s = time.perf_counter()
    await process.stop(0)
    return (ready_s - began_s) * 1000, (time.perf_counter() - ready_s) * 1000


LINGERING = "import time\nprint(1, flush=True)\ntime.sleep(60)\n"


async def measure(starts: int) -> None:
    cases = [
        ("true", ["true"], "", True),
        ("{python}", ["{python}", "-I", "-S", "bot.py"], "print(1)", True),
        ("{python}, then ended", ["{python}", "-I", "-S", "bot.py"], LINGERING, False),
    ]
    print(f"{platform.machine()}, Python {platform.python_version()}, {len(os.sched_getaffinity(0))} cores,", end=" ")
    print(f"load {os.getloadavg()[0]:.1f}, {'root' if os.getuid() == 0 else 'not root'}, {shutil.which('bwrap')}")
    print(f"{'bot':22}{'':10}{'median':>10}{'best':>10}{'end':>10}")
    for name, run, source, until_exit in cases:
        with bot(run, source) as entry:
            lives: dict[Profile, list[tuple[float, float]]] = {profile: [] for profile in PROFILES}
            for _ in range(starts):
                for profile in PROFILES:
                    lives[profile].append(await life_ms(entry, profile, until_exit=until_exit))
        for profile in PROFILES:
            begins = [life[0] for life in lives[profile]]
            ends = statistics.median(life[1] for life in lives[profile])
            print(f"{name:22}{profile:10}{statistics.median(begins):10.1f}{min(begins):10.1f}{ends:10.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--starts", type=int, default=30)
    asyncio.run(measure(parser.parse_args(sys.argv[1:]).starts))
