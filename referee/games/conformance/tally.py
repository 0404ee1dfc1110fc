"""What a run covered: counts in named groups, so that adding up and storing are one line."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

GROUPS = (
    "matches",
    "nodes",
    "decisions",
    "actions",
    "events",
    "chance",
    "rolls",
    "lengths",
    "leaving",
    "options",
    "hidden",
    "checks",
)


class Tally:
    """Counters by group: `tally.add("decisions", "turn")`."""

    def __init__(self) -> None:
        self._groups: dict[str, Counter[str]] = {group: Counter() for group in GROUPS}

    def __getitem__(self, group: str) -> Counter[str]:
        return self._groups[group]

    def add(self, group: str, key: str, count: int = 1) -> None:
        self._groups[group][key] += count

    def merge(self, other: "Tally") -> None:
        """Add `other`'s counts to these."""
        for group in GROUPS:
            self._groups[group].update(other[group])

    def to_json(self) -> dict[str, dict[str, int]]:
        """Sorted, so that equal tallies print alike."""
        return {group: dict(sorted(counter.items())) for group, counter in self._groups.items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Tally":
        tally = cls()
        for group in GROUPS:
            tally[group].update(data[group])
        return tally
