"""How often one address, one account or one name may ask for what: beyond that the answer is 429."""

import math
import time
from dataclasses import dataclass
from typing import Final

from limits import RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from leaderboard.web.hand_ins import HandInRefused, Refusal
from referee.texts import plural


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `most` times within any `seconds`, of each whose name is counted. `what` is in the plural."""

    what: str
    most: int
    seconds: int


SIGN_INS: Final = Rate("sign-ins", 20, 300)
NAME_SIGN_INS: Final = Rate("sign-ins with this name from this address", 20, 900)
"""For one address: so guesses from elsewhere do not lock the owner out."""
STRANGE_SIGN_INS: Final = Rate("sign-ins with this name from addresses that it did not use before", 100, 900)
"""For one name, over all addresses without an earlier sign-in of that name: it bounds guesses from many addresses."""
PASSWORD_CHANGES: Final = Rate("new passwords", 20, 900)
JOINS: Final = Rate("new accounts", 60, 3600)
"""With invitations a class joins from the one address of its school."""
OPEN_JOINS: Final = Rate("new accounts without an invitation", 10, 3600)
CHANGES: Final = Rate("changes", 120, 60)
STARTS: Final = Rate("matches of people", 30, 60)
"""Each is checked, and its bots are built, before it begins or is refused."""
MOVES: Final = Rate("moves of people", 3000, 60)
UPLOADS: Final = Rate("hand-ins", 60, 60)


class Rates:
    """What was counted since the server began. Any method may be called from any thread."""

    def __init__(self) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def take(self, rate: Rate, *names: str) -> None:
        """Count one for each of the names. TOO_MANY if one has none left, which then is counted for no other."""
        item = RateLimitItemPerSecond(rate.most, rate.seconds, rate.what)
        for name in names:
            if not self._limiter.test(item, name):
                left_s = self._limiter.get_window_stats(item, name).reset_time - time.time()
                wait_s = max(1, math.ceil(left_s))
                raise HandInRefused(
                    Refusal.TOO_MANY,
                    f"more than {rate.most} {rate.what} within {_words(rate.seconds)}",
                    f"try again in {_words(wait_s)}",
                    wait_s,
                )
        for name in names:
            self._limiter.hit(item, name)


class KnownAddresses:
    """The addresses from which each name was used to sign in since the server began: of each name the latest ones, so
    that one owner with many addresses lets no others be forgotten. It is for one thread."""

    def __init__(self, most: int = 20) -> None:
        self._most = most
        self._addresses: dict[str, dict[str, None]] = {}

    def add(self, name: str, address: str) -> None:
        """The owner of this name has signed in from there."""
        known = self._addresses.setdefault(name, {})
        known.pop(address, None)
        known[address] = None
        if len(known) > self._most:
            del known[next(iter(known))]

    def __contains__(self, pair: tuple[str, str]) -> bool:
        name, address = pair
        return address in self._addresses.get(name, ())


def _words(seconds: int) -> str:
    if seconds < 120:
        return plural(seconds, "second")
    return f"{math.ceil(seconds / 60)} minutes"
