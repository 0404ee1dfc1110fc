"""What bots for engines of chess and Go share: the engine's lines within a time, and where its command stands."""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from crosstown_bridge.child import SILENCE_SHARE, ChildGone, say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crosstown_bot import Match, Turn

    from crosstown_bridge.child import Child

START_S = 5.0
"""What an engine gets to say that it is ready, of a referee that does not say how long a bot has."""

MOST_LIMITS = 10
"""The referee gives back the time in which a busy machine keeps a bot from running, up to so many limits."""

LATE_S = 2.0
"""After all of these an engine may still end its search for so long, before it is killed."""

OVERHEAD_MS = 30
"""Taken off the time that an engine is told, for the way of its answer through the bridge and the referee."""

NO_INDEX = (1 << 32) - 1
"""-1, as the wire's uint32 has it: an answer that is no legal action."""

LIMITS = "go_"
"""Options of the bot that begin so are the bridge's, the others the engine's."""


class EngineFault(Exception):
    """The engine cannot play on. One sentence for its author; the process ends, which loses the match."""


class Patience:
    """How long an engine may take for an answer, which may be several lines."""

    def __init__(self, limit_s: float) -> None:
        now_s = time.monotonic()
        self.silent_s = now_s + SILENCE_SHARE * limit_s
        """When a message names the answer that is missing; infinite after that."""
        self.deadline_s = now_s + MOST_LIMITS * limit_s + LATE_S


class Engine:
    """An engine and its lines."""

    def __init__(self, child: Child) -> None:
        self._child = child

    def tell(self, line: str) -> None:
        self._child.tell(f"{line}\n")

    async def line(self, until: Patience, waited_for: str) -> str:
        """Its next line. EngineFault if none comes in time, or it has ended."""
        try:
            if until.silent_s < until.deadline_s:
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(until.silent_s):  # the loop's clock is the monotonic one
                        return await self._child.line()
                until.silent_s = math.inf
                say(f"no answer from the engine yet; expected {waited_for}")
            async with asyncio.timeout_at(until.deadline_s):
                return await self._child.line()
        except TimeoutError:
            raise EngineFault(f"the engine did not answer in time; expected {waited_for}") from None
        except ChildGone as problem:
            raise EngineFault(f"{problem} (expected {waited_for})") from None

    def drop_old_lines(self) -> None:
        """Lines that came when nothing was asked."""
        self._child.surplus()


def engine_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the bot's options that are the engine's own."""
    return {name: value for name, value in options.items() if not name.startswith(LIMITS)}


def check_limits(options: Mapping[str, Any], known: Sequence[str]) -> None:
    """EngineFault for an option that begins with `go_` and the bridge does not have, or has a wrong value."""
    for name in options:
        if not name.startswith(LIMITS):
            continue
        if name.removeprefix(LIMITS) not in known:
            names = ", ".join(LIMITS + each for each in known)
            raise EngineFault(f"the bridge has no option {name!r}; it has: {names}; correct it, or leave it out")
        limit(options, name.removeprefix(LIMITS))


def limit(options: Mapping[str, Any], name: str, default: int = 0) -> int:
    """A limit of the bridge, such as go_nodes; `default` if it is not set. EngineFault if it is no whole number."""
    value = options.get(LIMITS + name, default)
    if type(value) is not int or value < 0:
        raise EngineFault(f"option {LIMITS + name} must be a whole number, at least 0, not {value!r}")
    return value


def written(value: Any) -> str:
    """The value of an option as engines read it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def patience_to_start(match: Match) -> Patience:
    """For the engine to get ready."""
    return Patience(match.ready_limit_s or START_S)


def illegal(turn: Turn, move: str, legal: list[str]) -> int:
    """The answer for a move that is not legal: the referee calls it an illegal action; the output says which it was."""
    some = " ".join(legal[:12]) + (" ..." if len(legal) > 12 else "")
    say(f"decision {turn.number} of match {turn.match.id}: the engine answered {move!r}; legal are: {some}")
    return NO_INDEX
