"""Builds and tries one hand-in in a process of its own: `python -m referee.ladder.trial`.

Standard input has the job as JSON; standard output gets a line of JSON for each step; standard error is the log for the
bot's author. Whatever happens to this process, the one that started it has lost nothing: it starts another.
"""

import json
import os
import secrets
import shlex
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from referee.compliance import Report, Row, check_bot
from referee.errors import ExpectedError, PlatformError
from referee.event_loop import run_loop
from referee.folders import cache_folder
from referee.games.registry import get_game
from referee.match.result import Fault, MatchResult
from referee.match.table import Table
from referee.process.build import BuildError, NoRoomError, Step, Yard, build, hand_in_limits, needs_build
from referee.process.cgroup import find
from referee.process.entry import Entry, EntryError, ManifestError, NotBuiltError, load_entry
from referee.process.launch import LaunchContext
from referee.process.limits import LEAST_MIB, Share, memory_room
from referee.process.manifest import BotNameError, load_manifest
from referee.process.program import ERRORS_OF_A_NAME
from referee.process.sandbox import Profile, Sandbox, check_programs
from referee.record.reasons import EndReason
from referee.schedule.spec import Faults, Limits, MatchSpec, SeatSpec
from referee.texts import clean, missing_package, one_line, plural, without_store

DRILLS = ("handshake", "bye", "late socket", "referee gone")
GAME_DRILLS = (
    "every decision",
    "nothing unasked",
    "cancelled match",
    "huge questions",
    "unknown fields",
    "matches at once",
)
"""Those of the compliance kit that a hand-in must pass. `matches` has all numbers of seats of a game, which would take
a bot that thinks long a quarter of an hour: the qualification match takes its place. `same answers` is advice."""

MOST_VOIDS = 5
"""Qualification matches without a result, after which it is the organiser's to look."""

MOST_LOG_BYTES = 1 << 20
_LEAST_FREE_BYTES = 64 << 20
_SHOWN_OF_OUTPUT = 12
_LOOK_FOR_PARENT_S = 0.5


@dataclass(frozen=True, slots=True)
class TrialDivision:
    """One division in which the bot is to qualify."""

    name: str
    game: str
    players: int
    options: Mapping[str, Any]
    limits: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Trial:
    """One job. `folder` has the sources, `opponent` the bot to qualify against, `scratch` is for records; `hidden` is
    what neither the bot nor its build may see, `read` what all bots may. `slots`: as many such jobs and matches may go
    on at the same time on this machine."""

    folder: str
    name: str
    opponent: str
    scratch: str
    profile: Profile
    build_s: float
    build_disk_mib: int
    hidden: tuple[str, ...]
    read: tuple[str, ...]
    divisions: tuple[TrialDivision, ...]
    slots: int = 1

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Trial":
        values = json.loads(text)
        divisions = tuple(TrialDivision(**one) for one in values.pop("divisions"))
        return cls(**{**values, "divisions": divisions, **{key: tuple(values[key]) for key in ("hidden", "read")}})


class RejectedError(ExpectedError):
    """The bot does not pass. It says why, and what its author can do."""


class _Log:
    """The log on standard error, as long as there is room in it."""

    def __init__(self) -> None:
        self._left = MOST_LOG_BYTES

    def feed(self, chunk: bytes) -> None:
        if self._left <= 0:
            return
        part = chunk[: self._left]
        self._left -= len(part)
        if self._left <= 0:
            part += b"\n... the log is full, and the rest is left out\n"
        with open(2, "wb", buffering=0, closefd=False) as file:
            file.write(part)

    def line(self, text: str) -> None:
        self.feed(f"{without_store(clean(text))}\n".encode(errors="replace"))


def main() -> None:
    """Exit code 0 if the job was done, whatever came of it."""
    threading.Thread(target=_end_with, args=[os.getppid()], daemon=True).start()
    out = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no event
    job = Trial.from_json(sys.stdin.read())

    def say(event: str, **fields: Any) -> None:
        os.write(out, json.dumps({"event": event, **fields}).encode() + b"\n")

    log, step = _Log(), "built"
    try:
        say("begin", step=step)
        folder = Path(job.folder)
        check_programs(load_manifest(folder), folder, Sandbox(job.profile, read=job.read))
        say("end", step=step, detail=_build(job, log, say))
        if not job.divisions:  # what was built before is gone, and is made again
            say("done")
            return
        step = "qualified"
        say("begin", step=step)
        run_loop(_try(job, load_entry(Path(job.folder), job.name), log, say))
        say("done")
    except RejectedError as error:
        log.line(f"rejected: {error}")
        say("rejected", step=step, reason=str(error), next_step=error.next_step)
    except NotBuiltError:  # it was built: to make room, its build was removed
        say("platform", step=step, reason="its build was removed before it was tried")
    except (EntryError, ManifestError, BotNameError) as error:
        what = _of_author(job, str(error))
        log.line(f"rejected: {what}")
        say("rejected", step=step, reason=what, next_step=_of_author(job, error.next_step))
    except OSError as error:
        if error.errno in ERRORS_OF_A_NAME:  # no machine has a place for such a name
            say("rejected", step=step, reason=f"a name in the bot's folder: {error.strerror}", next_step="correct it")
        else:
            say("platform", step=step, reason=one_line(error))
    except PlatformError as error:
        say("platform", step=step, reason=one_line(error))
    except Exception as error:
        log.line("an error in Crosstown itself, which the organiser sees; it is tried again")
        say("bug", step=step, reason=f"{type(error).__name__}: {one_line(error)}")


def _end_with(parent: int) -> None:
    """End when the process that started this one is gone: another does the same job from then on. Builds and bots end
    with this process, as their guardians see it."""
    while os.getppid() == parent:
        time.sleep(_LOOK_FOR_PARENT_S)
    os._exit(1)


def _of_author(job: Trial, sentence: str) -> str:
    """The sentence with paths as they are in the bot's folder."""
    return without_store(sentence.replace(f"{job.folder}/", "").replace(job.folder, "the bot's folder"))


def _build(job: Trial, log: _Log, say: Any) -> str:
    """What was done, for the step."""
    folder = Path(job.folder)
    if not needs_build(folder):
        return "nothing to build"
    limits = hand_in_limits(job.build_s, job.build_disk_mib, job.slots)

    def told(phase: Step) -> None:
        doing = {"wait": "waiting for another that builds the same", "fetch": "fetching", "build": "compiling"}
        if phase in doing:
            say("note", step="built", detail=doing[phase])

    try:
        built, fresh = build(folder, Yard(job.profile, limits, find(), told=told, hidden=job.hidden, heard=log.feed))
    except NoRoomError as error:
        raise PlatformError(str(error), error.next_step) from None
    except BuildError as error:
        if _disk_is_full():
            raise PlatformError(f"the disk is full: {error}", "free some space") from None
        raise RejectedError(_of_author(job, str(error)), "read the end of the log, and correct the build") from None
    took = f"in {built.fetch_s + built.build_s:.1f} s" if fresh else "before"
    return one_line(f"built {took}{f' with {built.toolchain}' if built.toolchain else ''}")


def _disk_is_full() -> bool:
    found = os.statvfs(cache_folder())
    return found.f_bavail * found.f_frsize < _LEAST_FREE_BYTES


async def _try(job: Trial, entry: Entry, log: _Log, say: Any) -> None:
    """The drills, and a match in each division. RejectedError if it fails in all."""
    sandbox = Sandbox(job.profile, read=job.read, hidden=job.hidden)
    context = LaunchContext(sandbox, find())
    say("note", step="qualified", detail="drills of the protocol")
    startup_s = job.divisions[0].limits.get("startup_s", Limits().startup_s)
    await _drill(entry, (), DRILLS, context, startup_s, log)
    drilled: dict[str, RejectedError | None] = {}
    first: RejectedError | None = None
    passed = 0
    for division in job.divisions:
        try:
            if division.game not in drilled:
                say("note", step="qualified", detail=f"drills with {division.game}")
                drilled[division.game] = None
                try:
                    await _drill(entry, (division.game,), GAME_DRILLS, context, startup_s, log)
                except RejectedError as error:
                    drilled[division.game] = error
            if (failed := drilled[division.game]) is not None:
                raise failed
            say("note", step="qualified", detail=f"a match in {division.name}")
            detail = await _qualify(job, entry, division, sandbox, log)
        except RejectedError as error:
            first = first or error
            log.line(f"{division.name}: not qualified: {error}")
            say("division", name=division.name, passed=False, detail=str(error), next_step=error.next_step)
        else:
            passed += 1
            log.line(f"{division.name}: qualified: {detail}")
            say("division", name=division.name, passed=True, detail=detail, next_step="")
    if first is not None and not passed:
        raise first


async def _drill(
    entry: Entry, games: Sequence[str], drills: Sequence[str], context: LaunchContext, startup_s: float, log: _Log
) -> None:
    def show(row: Row) -> None:
        mark = {"passed": "ok  ", "failed": "FAIL", "note": "note"}[row.outcome]
        log.line(f"{mark} {row.drill}{f' {row.game}' if row.game else ''}: {one_line(row.detail)}")

    report: Report = await check_bot(
        entry,
        [get_game(name) for name in games],
        context=context,
        startup_s=startup_s,
        fail_fast=True,
        on_row=show,
        drills=drills,
    )
    if (row := report.first_failure) is None:
        return
    for name, text in (("stdout", report.stdout), ("stderr", report.stderr)):
        if text.strip():
            log.line(f"what it printed to {name} (the end):")
            for line in text.strip().splitlines()[-_SHOWN_OF_OUTPUT:]:
                log.line(f"    {line}")
    where = f" with {row.game}" if row.game else ""
    advice = missing_package(report.stderr)
    command = "crosstown bots check FOLDER" + (f" --game {row.game}" if row.game else "")
    raise RejectedError(
        one_line(without_store(f"the drill '{row.drill}'{where} failed: {row.detail}")),
        one_line(advice) if advice else f"try it at home: {command}",
    )


async def _qualify(job: Trial, entry: Entry, division: TrialDivision, sandbox: Sandbox, log: _Log) -> str:
    """How the match ended; RejectedError if the bot had a fault. One without a result is played again."""
    opponent = load_entry(Path(job.opponent), "random")
    entries = {entry.id: entry, opponent.id: opponent}
    records = Path(tempfile.mkdtemp(prefix="qualify-", dir=job.scratch))
    share = Share(memory_room(), job.slots - 1, job.slots * division.players)
    seats = (
        SeatSpec(entry.id, entry.name, entry.manifest.version),
        *[SeatSpec(opponent.id, opponent.name, opponent.manifest.version)] * (division.players - 1),
    )
    result: MatchResult | None = None
    try:
        for number in range(MOST_VOIDS):
            spec = MatchSpec(
                match_id=f"qualify-{number}-{secrets.token_hex(4)}",
                game=division.game,
                options=division.options,
                seats=seats,
                seed=secrets.token_hex(16),
                limits=Limits.from_in_force(division.limits),
                tournament="qualification",
                faults=Faults(),
            )
            async with Table(
                entries,
                sandboxes=dict.fromkeys(entries, sandbox),
                cgroups=find(),
                most_memory_mib=max(LEAST_MIB, share.mib),
            ) as table:
                result = await table.play(spec, records)
            fault = result.faults[0]
            if fault is not None:
                raise _rejected(division, fault, log)
            if result.status == "rated":
                return f"{plural(result.decisions, 'decision')}, {result.reason}"
            log.line(f"{division.name}: a match without a result ({result.reason}: {result.detail}); once more")
    finally:
        shutil.rmtree(records, ignore_errors=True)
    assert result is not None
    raise RejectedError(
        one_line(f"{MOST_VOIDS} matches in {division.name} had no result, the last one: {result.reason}"),
        "hand it in again; should that happen once more, tell the organiser",
    )


def _rejected(division: TrialDivision, fault: Fault, log: _Log) -> RejectedError:
    for name in ("stdout", "stderr"):
        lines = str(fault.evidence.get(name, "")).rstrip().splitlines()
        if lines:
            log.line(f"what it printed to {name} (the end):")
            for line in lines[-_SHOWN_OF_OUTPUT:]:
                log.line(f"    {line}")
    advice = missing_package(str(fault.evidence.get("stderr", "")))
    if fault.reason is EndReason.START_FAILED:
        what = f"it did not start for a match in {division.name}: {fault.detail}"
    else:
        what = f"a fault in the match against random in {division.name}: {fault.reason}: {fault.detail}"
    command = f"crosstown match {shlex.quote(division.game)} --seat FOLDER --seat FOLDER"
    return RejectedError(one_line(without_store(what)), one_line(advice) or f"try it at home: {command}")


if __name__ == "__main__":
    main()
