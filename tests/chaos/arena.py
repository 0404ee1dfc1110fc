"""A table in a folder of its own for everything temporary, and what is left behind in it."""

import asyncio
import os
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from deeds import Case

from referee.games.api import resolve_options
from referee.games.registry import get_game
from referee.match import Limits, MatchResult, MatchSpec, SeatSpec
from referee.process.cgroup import Cgroups, Group, GroupLimits, find
from referee.process.entry import Entry, load_entry
from referee.record import Record, read_record, verify

ROOT = Path(__file__).resolve().parents[2]
CHAOS = ROOT / "tests" / "mock_bots" / "chaos"
RANDOM = ROOT / "bots" / "python" / "random"
PATIENT = Limits(startup_s=60, ready_s=60, first_move_s=60, move_s=60)
"""The machine may be busy with other things; a sound bot has all the time there is."""

SHORT = {"first_move_s": 0.5, "move_s": 0.5}


def own_clock(case: Case) -> dict[str, float]:
    """Short where the deed is to let time pass, so that the test does not have to."""
    if case.deed == "over":
        return SHORT
    if case.deed not in ("hangs", "spins", "freezes", "deaf") or case.phase in ("end", "bye"):
        return {}
    match case.phase:
        case "start" | "hello":
            return {"startup_s": 1.5}
        case "welcome" | "match_start":
            return {"ready_s": 0.5}
    return SHORT


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
    groups: Groups = field(default_factory=Groups)
    entries: dict[str, Entry] = field(default_factory=dict)
    table: Any = None
    number: int = 0

    def good(self, number: int = 0) -> Entry:
        return self._known(load_entry(RANDOM, f"good {number}", {}))

    def chaos(self, case: Case, salt: int = 0) -> Entry:
        return self._known(load_entry(CHAOS, options={"deed": case.deed, "phase": case.phase, "salt": salt}))

    def _known(self, entry: Entry) -> Entry:
        self.entries[entry.id] = entry
        return entry

    async def play(
        self,
        *entries: Entry,
        seed: int | None = None,
        clocks: dict[int, dict[str, float]] | None = None,
        memory_mib: int = PATIENT.memory_mib,
    ) -> tuple[MatchResult, Record]:
        """A match of the toy game, on a block of its own. Its record must verify."""
        self.number += 1
        spec = MatchSpec(
            match_id=f"m-{self.number:05}",
            game="toy",
            options=resolve_options("toy", get_game("toy").options, {}),
            seats=tuple(
                SeatSpec(entry.id, entry.name, "1", (clocks or {}).get(seat, {})) for seat, entry in enumerate(entries)
            ),
            seed=f"{self.number if seed is None else seed:032x}",
            limits=replace(PATIENT, memory_mib=memory_mib),
            place=self.number,
            block=self.number,
        )
        result = await self.table.play(spec, self.records)
        path = self.records / f"{spec.match_id}.jsonl.gz"
        assert (verdict := verify(path)).status == "ok", verdict
        return result, read_record(path)

    def processes(self) -> list[int]:
        """Whatever runs with a home of ours, however far it forked."""
        mark = b"TMPDIR=" + os.fsencode(self.folder)
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                state = (path / "stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z" and any(item.startswith(mark) for item in (path / "environ").read_bytes().split(b"\0")):
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
