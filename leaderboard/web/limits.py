"""What one visitor, and all together, may take of the web server. `connections` and `live` keep to it."""

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WebLimits:
    """Of the whole server, and of one address (an IPv6 network of 64 bits counts as one).

    `request_s`: until a request has arrived, with its body, or `least_bytes` more of it; `upload_s`: until all of it
    has. `stalled_s`: within this time a reader must take `least_bytes` of what waits for it. `held_bytes`: answers that
    wait to be read by one address, beyond one answer. `answers_per_address`: requests of one address whose answers are
    computed at the same time.
    """

    connections: int = 500
    connections_per_address: int = 100
    streams: int = 250
    streams_per_address: int = 50
    answers_per_address: int = 4
    request_s: float = 15.0
    upload_s: float = 900.0
    stalled_s: float = 20.0
    least_bytes: int = 16 << 10
    held_bytes: int = 16 << 20


class Places:
    """A number of places, of which one address may have some."""

    def __init__(self, most: int, most_per_address: int) -> None:
        self._most, self._most_per_address = most, most_per_address
        self._taken: Counter[str] = Counter()

    def take(self, address: str) -> bool:
        """Whether a place was left and is taken now; `give_back` frees it."""
        if self._taken.total() >= self._most or self._taken[address] >= self._most_per_address:
            return False
        self._taken[address] += 1
        return True

    @property
    def taken(self) -> int:
        """How many are taken."""
        return self._taken.total()

    def give_back(self, address: str) -> None:
        self._taken[address] -= 1
        if not self._taken[address]:
            del self._taken[address]
