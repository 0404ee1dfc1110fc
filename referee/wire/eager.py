"""Starts a coroutine at once, instead of in the next turn of the event loop."""

from collections.abc import Callable, Coroutine
from typing import Any


class EagerRun:
    """Runs a coroutine to its end, its first part before the constructor returns. Then calls `done`, with its error.

    A task begins only when the loop comes round again, which costs a tenth of a whole round trip (Python 3.12 has eager
    tasks). This is for coroutines that only await futures and do not ask which task they run in. Dropping the object
    closes the coroutine where it stands.
    """

    __slots__ = ("_coroutine", "_done")

    def __init__(self, coroutine: Coroutine[Any, Any, object], done: Callable[[BaseException | None], None]) -> None:
        self._coroutine = coroutine
        self._done = done
        self._step(None)

    def _step(self, _finished: object) -> None:
        try:
            future = self._coroutine.send(None)
        except StopIteration:
            self._done(None)
            return
        except Exception as error:
            self._done(error)
            return
        # What asyncio's own task does with a future that a coroutine awaits: it takes note and comes back.
        future._asyncio_future_blocking = False
        future.add_done_callback(self._step)
