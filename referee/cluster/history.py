"""What a runner remembers of a machine by its name, and when it stops using the machine for that."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

LEAST_MATCHES = 20
"""Matches of a machine, and of all others, that a comparison needs."""

VOID_RATE, TIMES_OTHERS, LAG_SHARE = 0.2, 4.0, 0.05


@dataclass(slots=True)
class History:
    """Of a machine by its name, over all its connections. `faults` are matches in a row that it could not play. `voids`
    are void matches for which no bot is named; `voids_of` counts the others by the bot, and `bots` are all that played
    there."""

    matches: int = 0
    voids: int = 0
    voids_of: Counter[str] = field(default_factory=Counter)
    bots: set[str] = field(default_factory=set)
    lag_us: int = 0
    wall_us: int = 0
    faults: list[str] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)
    """Matches with which its connection was lost since it last played one."""
    drained: str = ""
    unable: dict[str, str] = field(default_factory=dict)
    """For each bot, by content: why it cannot be built or does not start here."""

    @property
    def counted_voids(self) -> int:
        """Those that may be the machine's. No bot has more than its share of them: a bot can see where it plays, and
        have its matches void on one machine alone."""
        share = math.ceil(self.voids_of.total() / max(1, len(self.bots)))
        return self.voids + sum(min(number, share) for number in self.voids_of.values())


def stands_out(history: History, others: Iterable[History]) -> str:
    """Why a machine is to get no more matches: it voids or lags far more than all others together; '' if not so."""
    rest = list(others)
    matches, voids = sum(one.matches for one in rest), sum(one.counted_voids for one in rest)
    total = history.matches + history.counted_voids
    if total < LEAST_MATCHES or matches + voids < LEAST_MATCHES:
        return ""
    rate, usual = history.counted_voids / total, voids / (matches + voids)
    if rate > VOID_RATE and rate > TIMES_OTHERS * usual:
        return f"{rate:.0%} of its matches were void, {usual:.0%} of those of the other machines"
    if min(history.matches, matches) < LEAST_MATCHES:
        return ""
    lag = history.lag_us / max(1, history.wall_us)
    usual = sum(one.lag_us for one in rest) / max(1, sum(one.wall_us for one in rest))
    if lag > LAG_SHARE and lag > TIMES_OTHERS * usual:
        return f"{lag:.0%} of the thinking time there was the machine's lag, {usual:.0%} on the other machines"
    return ""
