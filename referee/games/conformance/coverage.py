"""What a run covered, in words."""

from collections import Counter
from collections.abc import Iterator

from referee.games.conformance.tally import Tally


def coverage(tally: Tally) -> Iterator[tuple[str, str]]:
    """Pairs of a heading and a line, in reading order; empty groups are left out."""
    matches = tally["matches"]
    yield "matches", listed({f"{players} players": count for players, count in sorted(matches.items())})
    nodes = tally["nodes"]
    yield "nodes", f"{nodes.total():,}, all checks at {nodes['dear']:,}"
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
    """'a 3, b 1': as many of each."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def lengths(counts: Counter[str]) -> Iterator[tuple[str, str]]:
    """Decisions a match: least, median, 99 %, most, for each player count."""
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
    """The least value that at least `share` of all do not exceed."""
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
        f"{counts['told by an event, shown afterwards']:,} times an event revealed something",
    ]
    return "; ".join(parts)


def part(counts: Counter[str], whole: str, share: str) -> str:
    return f"{counts[share] / counts[whole]:.1%}" if counts[whole] else "none"
