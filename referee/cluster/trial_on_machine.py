"""The trial of a hand-in on a machine: its build, the drills and the matches by which it qualifies.

It is the process `referee.ladder.trial`, the same as on the ladder's machine. Its events go to the runner line by line,
and its log as it is written.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from referee.cluster.archive import unpack
from referee.cluster.orders import TrialOrder
from referee.folders import cache_folder
from referee.process.entry import source_id
from referee.process.manifest import load_manifest
from referee.process.packages import read_requirements
from referee.process.sandbox import Profile
from referee.process.sources import read_sources
from referee.process.store import discard_builds, read_built, store_folder
from referee.tournament.messages import MAX_WORKER_LINE_BYTES
from referee.tournament.worker_process import KILL_LIMIT_S

COMMAND = (sys.executable, "-P", "-m", "referee.ladder.trial")

LOG_S = 1.0
"""The new part of a log is sent at most this often, if it is not long."""

_CHUNK_BYTES = 64 << 10
_DONE = b'{"event": "done"}'


async def try_out(
    order: TrialOrder,
    work: Path,
    profile: Profile,
    hidden: tuple[str, ...],
    slots: int,
    tell: Callable[[str, bytes], None],
) -> str:
    """How the process ended. `tell` is called with "event" and a line, and with "log" and bytes. `hidden` are
    paths that neither the bot nor its build sees. `slots` of them share the memory of this machine. A cancelled call
    ends the process and its bots. The build and the environment that a trial made stay only if the trial was done.
    EntryError, ManifestError, OSError."""
    bot = await asyncio.to_thread(unpack, store_folder(), order.content, order.sources)
    opponent = await asyncio.to_thread(unpack, store_folder(), order.opponent, order.opponent_sources)
    places_of_builds = await asyncio.to_thread(_places_of_builds, bot.folder)
    fresh, is_done = [place for place in places_of_builds if read_built(place) is None], False

    def pass_on(kind: str, said: bytes) -> None:
        nonlocal is_done
        is_done = is_done or (kind == "event" and said.strip() == _DONE)
        tell(kind, said)

    scratch = work / "trials" / order.key
    scratch.mkdir(parents=True)
    places = {"folder": str(bot.folder), "opponent": str(opponent.folder), "scratch": str(scratch)}
    job = order.job_with(**places, profile=profile, hidden=hidden, slots=slots)
    try:
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"GRPC_VERBOSITY": "ERROR", **os.environ},
            limit=MAX_WORKER_LINE_BYTES,
            start_new_session=True,
        )
        try:
            return await _follow(process, job, pass_on)
        finally:
            await _end(process)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        for place in () if is_done else fresh:
            discard_builds(place)


def _places_of_builds(folder: Path) -> tuple[Path, ...]:
    """Where the bot's build lies, if it has one, and the environment with its packages."""
    manifest = load_manifest(folder)
    ids = [source_id(folder, manifest, read_sources(folder, manifest))]
    if (requirements := read_requirements(folder, manifest)) is not None:
        ids.append(requirements.id)
    return tuple(cache_folder() / one for one in ids)


async def _follow(process: asyncio.subprocess.Process, job: str, tell: Callable[[str, bytes], None]) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    events, log = process.stdout, process.stderr
    gathered = bytearray()

    def tell_log() -> None:
        if gathered:
            tell("log", bytes(gathered))
            gathered.clear()

    async def follow_log() -> None:
        while chunk := await log.read(_CHUNK_BYTES):
            gathered.extend(chunk)
            if len(gathered) >= _CHUNK_BYTES:
                tell_log()

    async def tell_at_intervals() -> None:
        """A build may write byte by byte, and each message costs the runner some time."""
        while True:
            await asyncio.sleep(LOG_S)
            tell_log()

    following, telling = asyncio.create_task(follow_log()), asyncio.create_task(tell_at_intervals())
    try:
        with suppress(ConnectionError):
            process.stdin.write(job.encode())
            await process.stdin.drain()
            process.stdin.close()
        while line := await events.readline():
            await asyncio.sleep(0)  # `follow_log` has by then what was written before the event
            tell_log()  # nobody may wait for more after the event
            tell("event", line)
        await following
        tell_log()
        return f"exit code {await process.wait()}"
    finally:
        following.cancel()
        telling.cancel()
        await asyncio.gather(following, telling, return_exceptions=True)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill the process, if it is still there. Its bots end with it: their guardians watch it."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    with suppress(TimeoutError):
        async with asyncio.timeout(KILL_LIMIT_S):
            await process.wait()
