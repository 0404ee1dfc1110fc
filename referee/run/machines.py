"""The machines of a cluster that plays a run, in a file of its folder while it is played."""

import json
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from referee.record.files import read_ordinary
from referee.run.status import FRESH_S
from referee.texts import plural


@dataclass(frozen=True, slots=True)
class MachineState:
    """One connected machine. `used` slots play matches, of this run and of others. `drained` says why it gets no more
    matches, '' if it does."""

    name: str
    kind: str
    slots: int
    used: int
    drained: str = ""


@dataclass(frozen=True, slots=True)
class ClusterState:
    """The machines by name, the number of matches that wait for one, and the address of the dashboard on the host of
    the scheduler, '' where nobody is to see it."""

    machines: tuple[MachineState, ...]
    waiting: int = 0
    dashboard: str = ""

    @property
    def slots(self) -> int:
        return sum(one.slots for one in self.machines)

    @property
    def used(self) -> int:
        return sum(one.used for one in self.machines)

    def __str__(self) -> str:
        """For people: '3 machines, 24 of 30 slots in use, 2 matches wait'."""
        number = plural(len(self.machines), "machine")
        waits = f", {plural(self.waiting, 'match')} {'waits' if self.waiting == 1 else 'wait'}" if self.waiting else ""
        return f"{number}, {self.used} of {plural(self.slots, 'slot')} in use{waits}"

    def to_values(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> "ClusterState":
        """Inverse of `to_values`. KeyError or TypeError for anything else."""
        return cls(tuple(MachineState(**one) for one in values["machines"]), values["waiting"], values["dashboard"])


def write_state(path: Path, state: ClusterState) -> None:
    """For the pages. What stands in the way of this does not stop a run."""
    half = path.with_name(f".{path.name}.half")
    with suppress(OSError):
        half.write_text(json.dumps(state.to_values()), encoding="ascii")
        half.replace(path)


def read_state(path: Path) -> ClusterState | None:
    """None if the run is not played on a cluster now. An older file was left by a command that was killed."""
    try:
        if time.time() - path.stat().st_mtime > FRESH_S:
            return None
        return ClusterState.from_values(json.loads(read_ordinary(path)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
