"""What an author needs to see of a bot's code: its lines in a traceback, and its stacks when its time was up."""

from __future__ import annotations

import asyncio
import faulthandler
import signal
import sys
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

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


def print_waiting_tasks_too() -> None:
    """From now on the stacks of tasks of this loop that wait in the author's code follow those of the threads, of which
    none shows where a coroutine waits. Call it in the loop's thread, after `print_stacks_when_asked` was True."""
    number = getattr(signal, "SIGRTMAX", 0) - 1
    if number < 0 or sys.__stderr__ is None or threading.current_thread() is not threading.main_thread():
        return
    faulthandler.unregister(number)  # else it would go on without the handler that is set now
    asyncio.get_running_loop().add_signal_handler(number, _print_tasks)
    faulthandler.register(number, file=sys.__stderr__, all_threads=True, chain=True)


def _print_tasks() -> None:
    for task in asyncio.all_tasks():
        frames = list(_frames_of(task.get_coro()))
        if any(not (file.startswith(_LEFT_OUT) or "/grpc/" in file) for file, _, _ in frames):
            lines = [f'  File "{file}", line {line} in {name}' for file, line, name in reversed(frames)]
            print("Stack of a task (most recent call first):", *lines, sep="\n", file=sys.__stderr__, flush=True)


def _frames_of(waiting: Any) -> Iterator[tuple[str, int, str]]:
    """File, line and name of each coroutine that waits for the next one, the outermost first."""
    while (frame := getattr(waiting, "cr_frame", None) or getattr(waiting, "gi_frame", None)) is not None:
        yield frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
        waiting = getattr(waiting, "cr_await", None) or getattr(waiting, "gi_yieldfrom", None)


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
