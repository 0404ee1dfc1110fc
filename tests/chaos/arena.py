"""A table in a folder of its own for everything temporary, and what is left behind in it."""

import asyncio
import os
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from deeds import USUAL, Case, Terms

from referee.games.api import resolve_options
from referee.games.registry import get_game
from referee.match import Limits, MatchResult, MatchSpec, SeatSpec, Table
from referee.process.cgroup import Cgroups, Group, GroupLimits, find
from referee.process.entry import Entry, load_entry
from referee.process.sandbox import Profile, Sandbox
from referee.record import Record, read_record, verify
from referee.schedule.seeds import match_seed
from referee.schedule.spec import Faults

ROOT = Path(__file__).resolve().parents[2]
CHAOS = ROOT / "tests" / "mock_bots" / "chaos"
RANDOM = ROOT / "bots" / "python" / "random"
PATIENT = Limits(startup_s=60, ready_s=60, first_move_s=60, move_s=60)
"""The machine may be busy with other things; a sound bot has all the time there is."""

STRICT = pytest.param("strict", marks=pytest.mark.strict_sandbox)
BOTH = ["plain", STRICT]
LONG = [STRICT if os.environ.get("CROSSTOWN_CHAOS_PROFILE", "strict") == "strict" else "plain"]
"""The profile of the long modes."""

MATCH_S = 300
"""A match that lasts longer hangs."""

SECRET = bytes.fromhex("3f1d0c5be2a94876b1e0d7f25a9c6e84")
"""Of the luck: a bot guesses a number that people type."""

SHORT = {"first_move_s": 0.5, "move_s": 0.5}
SMALL: dict[str, dict[str, float]] = {
    "forks_many": {"processes": 64},
    "connects": {"open_files": 256},
    "fills_disk": {"disk_mib": 8, "file_size_mib": 16},
    "gorges": {"memory_mib": 192},
}
"""Limits that are soon reached."""


def own_limits(case: Case) -> dict[str, float]:
    """Small where the deed is to reach one; a short clock where it is to let time pass, so that the test need not."""
    if case.deed in SMALL:
        return SMALL[case.deed]
    if case.deed not in ("hangs", "spins", "freezes", "deaf", "over", "under", "closes", "closes_and_spins"):
        return {}
    match case.phase:
        case "start" | "hello":
            return {"startup_s": 1.5}
        case "welcome" | "match_start":
            return {"ready_s": 0.5}
        case "end" | "bye":
            return {}
    return {} if case.deed == "closes" else SHORT


def word_of_limit(case: Case, profile: Profile) -> str | None:
    """What the notes of a bot say that has reached a limit, or has found no luck; None if there was nothing to reach or
    to find, or no note after it."""
    if case.phase in ("end", "bye"):
        return None
    match case.deed:
        case "forks_many":
            return "EAGAIN" if profile == "strict" or "pids" in find().controllers else "no limit"
        case "connects":
            return "EMFILE"
        case "fills_disk":
            return "ENOSPC" if profile == "strict" else "EFBIG"
        case "guesses":
            return "found nothing"
    return None


class Groups(Cgroups):
    """The control groups that the host lets us make, and where those lay that were made."""

    __slots__ = ("made",)

    def __init__(self) -> None:
        super().__init__(find().hierarchies)
        object.__setattr__(self, "made", [])

    def make(self, limits: GroupLimits) -> Group:
        group = super().make(limits)
        self.made.extend(group.folders)
        return group


@dataclass
class Arena:
    """One table, its bots by name, and the folder in which all that is temporary lies."""

    folder: Path
    records: Path
    profile: Profile = "plain"
    groups: Groups = field(default_factory=Groups)
    entries: dict[str, Entry] = field(default_factory=dict)
    sandboxes: dict[str, Sandbox] = field(default_factory=dict)
    table: Any = None
    number: int = 0

    def __post_init__(self) -> None:
        self.sandboxes[""] = Sandbox(self.profile)  # of nobody; a table forgets what is empty when it is made

    def new_table(self, **options: Any) -> Table:
        return Table(self.entries, cgroups=self.groups, sandboxes=self.sandboxes, **options)

    def good(self, number: int = 0) -> Entry:
        return self._known(load_entry(RANDOM, f"good {number}", {}))

    def chaos(self, case: Case, salt: int = 0) -> Entry:
        return self._known(load_entry(CHAOS, options={"deed": case.deed, "phase": case.phase, "salt": salt}))

    def unready(self) -> Entry:
        """A bot that never says Ready, so that no match begins."""
        return self.chaos(Case("unready", "match_start"))

    def own(self, folder: Path, name: str) -> Entry:
        """A bot of a test's own."""
        return self._known(load_entry(folder, name, {}))

    def _known(self, entry: Entry) -> Entry:
        self.entries[entry.id] = entry
        self.sandboxes[entry.id] = Sandbox(self.profile)
        return entry

    def spec(
        self,
        *entries: Entry,
        seed: int | None = None,
        clocks: dict[int, dict[str, float]] | None = None,
        memory_mib: int = PATIENT.memory_mib,
        terms: Terms = USUAL,
    ) -> MatchSpec:
        """A match of the toy game, on a block of its own."""
        self.number += 1
        return MatchSpec(
            match_id=f"m-{self.number:05}",
            game="toy",
            options=resolve_options("toy", get_game("toy").options, {}),
            seats=tuple(
                SeatSpec(entry.id, entry.name, "1", (clocks or {}).get(seat, {})) for seat, entry in enumerate(entries)
            ),
            seed=match_seed(SECRET, str(self.number)) if seed is None else f"{seed:032x}",
            limits=replace(PATIENT, memory_mib=memory_mib),
            place=self.number,
            block=self.number,
            faults=Faults(terms.policy, terms.strikes),
            ponder=terms.ponder,
        )

    async def play(
        self, *entries: Entry, speaks_first: Entry | None = None, **options: Any
    ) -> tuple[MatchResult, Record]:
        """Play a match (`options` are those of `spec`). Its record must verify.

        The others do not come before `speaks_first` has, and has sent something.
        """
        spec = self.spec(*entries, **options)
        async with asyncio.timeout(MATCH_S):
            if speaks_first is None:
                result = await self.table.play(spec, self.records)
            else:
                result = await self._play_after(speaks_first, spec)
        return result, self.record(spec)

    def record(self, spec: MatchSpec) -> Record:
        """Of a match that was played. It must verify."""
        path = self.records / f"{spec.match_id}.jsonl.gz"
        assert (verdict := verify(path)).status == "ok", verdict
        return read_record(path)

    async def _play_after(self, first: Entry, spec: MatchSpec) -> MatchResult:
        pool = self.table._pool
        acquire, spoke = pool.acquire, asyncio.Event()

        async def one_by_one(entry_id: str, limits: Limits, game: str, block: Any, **words: Any) -> Any:
            if block[2] != spec.block:
                return await acquire(entry_id, limits, game, block, **words)
            if entry_id != first.id:
                await spoke.wait()
                return await acquire(entry_id, limits, game, block, **words)
            try:
                bot = await acquire(entry_id, limits, game, block, **words)
                while not bot.session._idle_messages and not bot.ending:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
                return bot
            finally:
                spoke.set()

        pool.acquire = one_by_one
        result: MatchResult = await self.table.play(spec, self.records)
        return result

    def processes(self) -> list[int]:
        """Whatever runs with a folder of ours in its environment, however far it forked, and our guardians."""
        marks = tuple(name + os.fsencode(self.folder) for name in (b"TMPDIR=", b"CROSSTOWN_ADDRESS=unix:"))
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                state, parent = (path / "stat").read_text().rpartition(")")[2].split()[:2]
                ours = any(item.startswith(marks) for item in (path / "environ").read_bytes().split(b"\0"))
                guards = int(parent) == os.getpid() and b"start_guardian.py" in (path / "cmdline").read_bytes()
                if state != "Z" and (ours or guards):
                    found.append(int(path.name))
            except OSError:
                continue
        return found

    def groups_left(self) -> list[Path]:
        return [folder for folder in self.groups.made if folder.exists()]

    def left(self) -> list[int | Path]:
        return [*self.processes(), *self.groups_left()]

    async def nothing_is_left(self) -> None:
        """After the table is closed: no process or control group within five seconds, and no file, socket or folder."""
        end_s = time.monotonic() + 5
        while (left := self.left()) and time.monotonic() < end_s:  # noqa: ASYNC110 - they are not ours to wait for
            await asyncio.sleep(0.05)
        assert left == []
        assert list(self.folder.iterdir()) == []


def memory_kb() -> int:
    """Resident memory of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
