"""What an author needs to see of a bot's code: its lines in a traceback, and its stacks when its time was up."""

from __future__ import annotations

import asyncio
import faulthandler
import signal
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

_LEFT_OUT = tuple(f"{Path(file).parent}/" for file in (__file__, asyncio.__file__))


def shorten_tracebacks() -> None:
    """From now on, unless the author has a hook already."""
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _show


def print_stacks_when_asked() -> bool:
    """From now on a signal makes this process print the stacks of its threads to stderr and go on, whatever it
    computes: SIGRTMAX - 1, and SIGUSR1 for referees that know no other. A handler of the author's for either of them
    stays what it is; one for SIGUSR1 may come later, too.

    The result is False where there are no such signals or no stderr, and where the author uses both.
    """
    if not hasattr(faulthandler, "register") or sys.__stderr__ is None:
        return False
    last = getattr(signal, "SIGRTMAX", None)
    numbers = [signal.SIGUSR1] if last is None else [signal.SIGUSR1, last - 1]
    free = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in free:
            faulthandler.register(number, file=sys.__stderr__, all_threads=True)
    except (OSError, ValueError):  # closed, or no file
        return False
    return numbers[-1] in free


def _show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    told = traceback.TracebackException(kind, error, trace)
    for one in _with_its_causes(told):
        frames = list(one.stack)
        kept = [frame for frame in frames[:-1] if not frame.filename.startswith(_LEFT_OUT)] + frames[-1:]
        one.stack = traceback.StackSummary.from_list(kept)
    print("".join(told.format()), end="", file=sys.stderr, flush=True)


def _with_its_causes(told: traceback.TracebackException) -> Iterator[traceback.TracebackException]:
    yield told
    for other in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if other is not None:
            yield from _with_its_causes(other)
