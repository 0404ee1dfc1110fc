"""A program that does what a referee does with its bots, for tests that kill it.

    stand_in_referee.py MARK [fork] [subreaper] BOT...

Starts one process for each mock bot, prints a line of JSON with their process ids, then obeys lines from stdin:
`sweep` (prints how many orphans were killed), `guardian-kill` (kills all guardians), `wait` (prints all exits).
With `fork`, a forked child keeps copies of all its open files and outlives it.
"""

import asyncio
import json
import os
import sys
import time
from pathlib import Path

from referee.process.bot import BotProcess
from referee.process.child_reaper import become_subreaper, sweep_orphans
from referee.process.entry import load_entry
from referee.process.limits import ProcessLimits

MOCK_BOTS = Path(__file__).resolve().parents[2] / "mock_bots"
FLAGS = {"fork", "subreaper", "scrub"}


async def main(mark: str, words: list[str]) -> None:
    if "subreaper" in words:
        become_subreaper()
    env = {"CROSSTOWN_TEST_MARK": mark}
    bots = []
    for place, name in enumerate(word for word in words if word not in FLAGS):
        options = {"scrub": True} if "scrub" in words else {}
        entry = load_entry(MOCK_BOTS / name, options=options)
        bots.append(
            await BotProcess.start(entry, address="a", token=f"{mark}-{place}", limits=ProcessLimits(), env=env)
        )
    while not all(bot.output().stdout_text() for bot in bots):  # noqa: ASYNC110 - nothing tells
        await asyncio.sleep(0.005)
    copy = 0
    if "fork" in words:
        copy = os.fork()
        if copy == 0:
            os.close(1)
            time.sleep(60)  # noqa: ASYNC251
            os._exit(0)
    said = [bot.output().stdout_text() for bot in bots]
    guardians = [bot.guardian_pid for bot in bots]
    print(
        json.dumps({"guardians": guardians, "bots": [bot.pid for bot in bots], "said": said, "copy": copy}), flush=True
    )
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        if line == "guardian-kill\n":
            for bot in bots:
                os.kill(bot.guardian_pid, 9)
        elif line == "wait\n":
            ends = [await bot.wait() for bot in bots]
            for bot in bots:
                await bot.wait_gone()
            print(json.dumps([[end.code, end.signal, end.guardian_lost] for end in ends]), flush=True)
        elif line == "sweep\n":
            print(sweep_orphans([bot.guardian_pid for bot in bots if bot.exited is None]), flush=True)


asyncio.run(main(sys.argv[1], sys.argv[2:]))
