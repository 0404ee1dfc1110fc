"""The event loop of each of our processes."""

import asyncio
import os
import selectors
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

_Result = TypeVar("_Result")


def run_loop(main: Coroutine[Any, Any, _Result]) -> _Result:
    """The result of a program's main coroutine, as from `asyncio.run`."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """A loop that bots cannot keep from watching files.

    The kernel limits how many files all processes of one user watch with epoll. Bots of a referee that is not root are
    the same user, and one of them can use that up; a referee with epoll would then fail at the next file it watches.
    poll has no such limit, and costs no more for the few files of a referee.
    """
    if sys.platform != "linux" or os.getuid() == 0:
        return asyncio.new_event_loop()
    return asyncio.SelectorEventLoop(selectors.PollSelector())
