"""What the organiser is told of a guest: a bot that comes and goes without end must not fill the terminal."""

import time
from collections.abc import Callable

MOST_NOTES = 10
SPAN_S = 60.0


class Notes:
    """Passes on at most `MOST_NOTES` in `SPAN_S`, and with the next one says how many it kept back."""

    def __init__(self, tell: Callable[[str], None], now: Callable[[], float] = time.monotonic) -> None:
        self._tell = tell
        self._now = now
        self._since_s = now()
        self._passed = self._kept = 0

    def tell(self, what: str) -> None:
        """In words after the guest's name."""
        now_s = self._now()
        if now_s - self._since_s >= SPAN_S:
            self._since_s, self._passed = now_s, 0
        if self._passed >= MOST_NOTES:
            self._kept += 1
            return
        self._passed += 1
        kept, self._kept = self._kept, 0
        self._tell(f"{what} ({kept} notes of it were left out)" if kept else what)
