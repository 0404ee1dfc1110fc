"""How long to think, and about how many actions."""

import time
from typing import Protocol

from crosstown_bot import Turn

FIRST_GUESS_S = 0.0025
"""Of a play-out."""
FORGETTING = 0.7
"""What is left of the slowest play-out, as a warning, from one decision to the next: a hiccup must not silence for
good."""
DECISIONS_TO_GO = 40
"""Among which what is left of a total is divided."""
PLAY_OUTS_EACH = 8
"""Of a candidate on average: with fewer, too few worlds compare too many candidates."""
FEWEST_CANDIDATES = 2


class Worlds(Protocol):
    """A search, as far as its time goes."""

    @property
    def next_play_outs(self) -> int:
        """In the next world."""

    def play_world(self, progress: float) -> None:
        """`progress` is the share of the time that is used up."""


def time_for(turn: Turn, share: float) -> float:
    """Seconds to spend on an answer: a share of its limit. A bank stays untouched, a total is divided."""
    match = turn.match
    left_s = turn.left_s - turn.bank_left_s
    if match.total_s:
        left_s = min(left_s, turn.total_left_s / DECISIONS_TO_GO + match.increment_s)
    return share * left_s


class Pace:
    """Knows how long a play-out took lately, so that no world is begun that would not be over in time."""

    def __init__(self) -> None:
        self._slowest_s = FIRST_GUESS_S
        self._mean_s = 0.0
        """In the last decision that was searched; 0 before."""

    def candidates(self, most: int, time_s: float) -> int:
        """How many actions can be compared in the time, at most `most`; so many until a decision has been searched."""
        if not self._mean_s:
            return most
        return min(most, max(FEWEST_CANDIDATES, int(time_s / self._mean_s / PLAY_OUTS_EACH)))

    def run(self, search: Worlds, began_s: float, time_s: float) -> None:
        """Play worlds until `time_s` after `began_s` (monotonic). None at all, if there is hardly any time."""
        self._slowest_s *= FORGETTING
        first_s = now_s = time.monotonic()
        play_outs = 0
        while now_s + self._slowest_s * (size := search.next_play_outs) < began_s + time_s:
            search.play_world((now_s - began_s) / time_s)
            before_s, now_s = now_s, time.monotonic()
            self._slowest_s = max(self._slowest_s, (now_s - before_s) / size)
            play_outs += size
        if play_outs:
            self._mean_s = (now_s - first_s) / play_outs
