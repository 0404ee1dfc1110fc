"""How much of the disk is free, and what the ladder does not begin any more when little is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.folders import cache_folder
from referee.ladder.config import LadderConfig
from referee.process.disk import free_share


@dataclass(frozen=True, slots=True)
class DiskWatch:
    """The disks that a ladder fills: its data and the cache of builds. `share_of` tells how much of one is free."""

    places: Sequence[Path]
    hand_ins_free: float
    matches_free: float
    share_of: Callable[[Path], float] = free_share

    def free(self) -> float:
        """Of the fuller disk."""
        return min(self.share_of(place) for place in self.places)

    def stops_hand_ins(self) -> str:
        """Why no hand-in is taken, '' if they are."""
        return self._too_little(self.hand_ins_free, "hand-ins are taken again")

    def stops_matches(self) -> str:
        """Why no match and no build begins, '' if they do."""
        return self._too_little(self.matches_free, "matches and builds begin again")

    def _too_little(self, least: float, what: str) -> str:
        free = self.free()
        if free >= least:
            return ""
        return f"{100 * free:.1f} % of the ladder's disk is free; {what} when {100 * least:g} % is"


def watch_of(config: LadderConfig) -> DiskWatch:
    """For the ladder's own disks."""
    return DiskWatch((config.data, cache_folder()), config.storage.hand_ins_free, config.storage.matches_free)
