"""Bots whose matches are given up one after another, while those of all others count.

No fault is proven against such a bot: its matches end by faults of the platform, or by time-outs that may be the
machine's. But nobody else has that trouble, and the matches cost the others their tables.
"""

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

_REMEMBERED = 1000


@dataclass(slots=True)
class _Row:
    """Matches of a bot that were given up one after another: the first place, and by match when it was and the others
    in it."""

    place: int
    matches: deque[tuple[int, frozenset[str]]] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))


@dataclass(slots=True)
class GivenUpMatches:
    """What has become of the matches of one division since its runner began. `in_a_row`: as many are enough."""

    in_a_row: int
    since_last: int = 0
    """Matches that were given up since the last one that counted."""
    _moment: int = 0
    _counted_at: dict[str, int] = field(default_factory=dict)
    """By entry id, when its last match counted."""
    _behind: dict[str, int] = field(default_factory=dict)
    """By entry id, the first place behind all of its matches that count."""
    _rows: dict[str, _Row] = field(default_factory=dict)

    def counted(self, entries: Collection[str], place: int) -> None:
        """A match of these entries counts."""
        self._moment += 1
        self.since_last = 0
        for entry_id in entries:
            self._rows.pop(entry_id, None)
            self._counted_at[entry_id] = self._moment
            self._behind[entry_id] = max(place + 1, self._behind.get(entry_id, 0))

    def given_up(self, entries: Collection[str], named: Collection[str], place: int) -> list[tuple[str, int]]:
        """A match of these entries was given up; `named` are those that it was given up for, if that is known. Returns
        the entries that are now alone with that, and from which place on: `in_a_row` of their matches were given up,
        none has counted since the first of these, and one of each of the others in them has."""
        self._moment += 1
        self.since_last += 1
        for entry_id in named or entries:
            row = self._rows.setdefault(entry_id, _Row(place))
            row.place = min(row.place, place)
            row.matches.append((self._moment, frozenset(entries) - {entry_id}))
        alone = (entry_id for entry_id in named or entries if self._is_alone(entry_id))
        return [(entry_id, max(self._rows[entry_id].place, self._behind.get(entry_id, 0))) for entry_id in alone]

    def forget(self, entry_id: str) -> None:
        """It begins again."""
        self._rows.pop(entry_id, None)

    def _is_alone(self, entry_id: str) -> bool:
        matches = self._rows[entry_id].matches
        first = matches[0][0]
        others_count = [
            bool(others) and all(self._counted_at.get(other, 0) > first for other in others) for _, others in matches
        ]
        return sum(others_count) >= self.in_a_row
