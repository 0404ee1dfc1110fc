"""Move times as histograms: small enough to be kept for every seat, and they add up.

Buckets are equal on a logarithmic scale, eight to a doubling, so that a percentile is right to within 4.5 %.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping

PER_DOUBLING = 8
PERCENTILES = (50, 90, 99)


def histogram(times_us: Iterable[int]) -> str:
    """As text: "bucket:count bucket:count", ascending; '' without times. Unknown times (below 0) are left out."""
    counts = Counter(_bucket(time) for time in times_us if time >= 0)
    return " ".join(f"{bucket}:{count}" for bucket, count in sorted(counts.items()))


def add(total: Counter[int], text: str, number: int = 1) -> None:
    """Add what `histogram` made, so many times."""
    for part in text.split():
        bucket, count = part.split(":")
        total[int(bucket)] += number * int(count)


def percentile_ms(total: Mapping[int, int], percent: float) -> float | None:
    """The time, in milliseconds, within which that share of the moves was made; None without moves."""
    number = sum(total.values())
    if not number:
        return None
    needed = max(1, math.ceil(number * percent / 100))
    for bucket in sorted(total):
        needed -= total[bucket]
        if needed <= 0:
            break
    return _middle_us(bucket) / 1000


def _bucket(time_us: int) -> int:
    return 0 if time_us < 1 else 1 + int(PER_DOUBLING * math.log2(time_us))


def _middle_us(bucket: int) -> float:
    return 0.5 if bucket == 0 else float(2 ** ((bucket - 0.5) / PER_DOUBLING))
