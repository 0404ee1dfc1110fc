"""How long to think."""

import time
from collections.abc import Callable

from crosstown_bot import Turn

FIRST_GUESS_S = 0.02
FORGETTING = 0.7
"""What is left of the slowest step, as a warning, from one decision to the next: a hiccup must not silence for good."""
DECISIONS_TO_GO = 40
"""Among which what is left of a total is divided."""


def time_for(turn: Turn, share: float) -> float:
    """Seconds to spend on an answer: a share of its limit. A bank stays untouched, a total is divided."""
    match = turn.match
    left_s = turn.left_s - turn.bank_left_s
    if match.total_s:
        left_s = min(left_s, turn.total_left_s / DECISIONS_TO_GO + match.increment_s)
    return share * left_s


class Pace:
    """Knows how long a step took lately, so that none is begun that would not be over in time."""

    def __init__(self) -> None:
        self._slowest_s = FIRST_GUESS_S

    def run(self, step: Callable[[float], None], began_s: float, time_s: float) -> None:
        """Steps until `time_s` after `began_s` (monotonic), each with the share of the time that is used up.

        No step at all, if there is hardly any time.
        """
        self._slowest_s *= FORGETTING
        now_s = time.monotonic()
        while now_s + self._slowest_s < began_s + time_s:
            step((now_s - began_s) / time_s)
            before_s, now_s = now_s, time.monotonic()
            self._slowest_s = max(self._slowest_s, now_s - before_s)
