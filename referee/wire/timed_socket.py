"""A socket that measures how long the kernel works for a call on it."""

import socket
import time
from collections.abc import Callable
from typing import Any

from referee.wire.budget import SLOW_CALL_NS


class TimedSocket(socket.socket):
    """A connection to a bot. Sending and receiving wake whatever waits at the other end, in this thread: a bot can have
    hundreds of thousands of epolls watch its end, and a call then takes a tenth of a second."""

    slow_ns = 0
    """Processor time of the calls that took longer than `SLOW_CALL_NS`."""

    def send(self, *args: Any) -> int:
        return self._timed(super().send, args)

    def sendmsg(self, *args: Any) -> int:
        return self._timed(super().sendmsg, args)

    def recv_into(self, *args: Any) -> int:
        return self._timed(super().recv_into, args)

    def _timed(self, call: Callable[..., int], args: tuple[Any, ...]) -> int:
        began_ns = time.thread_time_ns()
        try:
            return call(*args)
        finally:
            spent_ns = time.thread_time_ns() - began_ns
            if spent_ns > SLOW_CALL_NS:
                self.slow_ns += spent_ns
