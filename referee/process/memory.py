"""How much memory the bots of a run may have together, and each of them: never more than this machine has for us.

A bot whose limit is above what is left could fill the machine, or the control group around the referee, whenever it is
about to lose: the kernel then ends some process, and the match is void. So the limits of all bots that play at once fit
into what there is, less a reserve for the referee.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from referee.process.cgroup import memory_limit

RESERVE_MIB = 128
"""For the runner, and as much for each worker."""

LEAST_MIB = 64
"""With less, no bot starts."""


@dataclass(frozen=True, slots=True)
class Room:
    """What all processes of ours may use together, and what says so."""

    mib: int
    source: str


@dataclass(frozen=True, slots=True)
class Share:
    """What each of `bots` processes may have that play at once, at tables of `workers`."""

    room: Room
    workers: int
    bots: int

    @property
    def mib(self) -> int:
        return max(0, self.room.mib - RESERVE_MIB * (self.workers + 1)) // max(1, self.bots)

    @property
    def is_enough(self) -> bool:
        return self.mib >= LEAST_MIB

    def words(self) -> str:
        """For a sentence."""
        reserve = RESERVE_MIB * (self.workers + 1)
        return f"{self.room.source} has {self.room.mib} MiB, the referee keeps {reserve}, {self.bots} bots play at once"


def memory_room(root: Path = Path("/")) -> Room:
    """The memory of this machine, or the limit of a control group that we are in, whichever is smaller."""
    machine = Room((os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) >> 20, "this machine")
    limit = memory_limit(root)
    if limit is None or limit[0] >> 20 >= machine.mib:
        return machine
    return Room(limit[0] >> 20, f"the control group of the referee ({limit[1]})")
