"""What a run of the kit covered: counts in named groups, and their summary in words."""

from collections import Counter
from collections.abc import Iterator, Mapping
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
        """The counts as JSON, sorted, so that equal tallies print the same."""
        return {group: dict(sorted(counter.items())) for group, counter in self._groups.items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Tally":
        tally = cls()
        for group in GROUPS:
            tally[group].update(data[group])
        return tally


def coverage(tally: Tally) -> Iterator[tuple[str, str]]:
    """What a run covered, as pairs of a heading and a line. Empty groups are left out."""
    matches = tally["matches"]
    yield "matches", listed({f"{players} players": count for players, count in sorted(matches.items())})
    nodes = tally["nodes"]
    yield "nodes", f"{nodes.total():,}, all checks at {nodes['full']:,}"
    yield from lengths(tally["lengths"])
    for heading in ("decisions", "actions", "chance", "events"):
        if tally[heading]:
            yield heading, listed(tally[heading])
    leaving = tally["leaving"]
    yield "leaving", f"{leaving['in matches']:,} in matches, {leaving['tried on copies']:,} tried on copies"
    settings = [name for name in tally["options"] if "=" in name]
    if settings:
        refused = tally["options"]["combinations refused"]
        yield "options", f"{len(settings)} other settings tried, {refused:,} combinations refused"
    yield "hidden", hidden(tally["hidden"])
    yield "checks", listed(tally["checks"])


def listed(counts: Counter[str] | dict[str, int]) -> str:
    """Counts as text, such as 'a 3, b 1'."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def lengths(counts: Counter[str]) -> Iterator[tuple[str, str]]:
    """For each player count, the least, median, 99 % and most decisions in a match."""
    by_players: dict[int, Counter[int]] = {}
    for key, count in counts.items():
        players, decisions = key.split(": ")
        by_players.setdefault(int(players), Counter())[int(decisions)] += count
    for count_of_players, found in sorted(by_players.items()):
        least, half, nearly_all, most = (quantile(found, share) for share in (0.0, 0.5, 0.99, 1.0))
        yield (
            f"length, {count_of_players} players",
            f"{least:,} to {most:,} decisions, median {half:,}, 99 % within {nearly_all:,}",
        )


def quantile(counts: Counter[int], share: float) -> int:
    """The least value that at least `share` of all values do not exceed."""
    wanted = share * counts.total()
    seen = 0
    for value in sorted(counts):
        seen += counts[value]
        if seen >= wanted and seen:
            return value
    return 0


def hidden(counts: Counter[str]) -> str:
    parts = [
        f"{counts['resampled']:,} states resampled, {part(counts, 'resampled', 'resampled, not the identity')} not the "
        f"identity",
        f"{counts['proven hidden']:,} times something was proven hidden, "
        f"{part(counts, 'proven hidden', 'proven hidden, resampled otherwise')} of these resampled otherwise",
        f"{counts['revealed by an event, shown afterwards']:,} times an event revealed something",
    ]
    return "; ".join(parts)


def part(counts: Counter[str], whole: str, share: str) -> str:
    return f"{counts[share] / counts[whole]:.1%}" if counts[whole] else "none"
