"""The part of Crosstown in Dask's scheduler: it passes orders on to machines, and answers to the runner that asked.

Both go over the connections that Dask keeps anyway, where it sends what is ready in one write. A match is a message and
not a task of Dask's: a task costs the scheduler, the runner and the machine several times as much processor time. Dask
reports lost machines and runners; with a runner its matches end.
"""

import time
from contextlib import suppress
from typing import Any

from distributed import Scheduler, SchedulerPlugin
from distributed.comm.core import CommClosedError

from referee.cluster.orders import TOPIC

ORDER = "crosstown-order"
"""Runner to machine: play this."""

END = "crosstown-end"
"""Runner to machine: end this match, or without a key all matches of the runner."""

NEWS = "crosstown-news"
"""Machine to runner: a match has begun, has gone on, or is over."""


class RelayPlugin(SchedulerPlugin):
    """Passes messages on to machines and runners that are connected. One that is not has been reported as lost."""

    name = "crosstown-relay"

    async def start(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        scheduler.stream_handlers[ORDER] = self._order
        scheduler.stream_handlers[END] = self._end
        scheduler.stream_handlers[NEWS] = self._tell

    def remove_client(self, scheduler: Scheduler, client: str) -> None:
        """End the matches of a runner that is gone."""
        for worker in list(scheduler.stream_comms):
            self._send(scheduler.stream_comms, worker, {"op": END, "client": client, "key": ""})

    def _order(self, client: str, worker: str, key: str, data: bytes) -> None:
        self._send(self._scheduler.stream_comms, worker, {"op": ORDER, "client": client, "key": key, "data": data})

    def _end(self, client: str, worker: str, key: str) -> None:
        self._send(self._scheduler.stream_comms, worker, {"op": END, "client": client, "key": key})

    def _tell(self, worker: str, client: str, message: dict[str, Any]) -> None:
        event = time.time(), {**message, "worker": worker}
        self._send(self._scheduler.client_comms, client, {"op": "event", "topic": TOPIC, "event": event})

    def _send(self, streams: Any, address: str, message: dict[str, Any]) -> None:
        with suppress(KeyError, CommClosedError):
            streams[address].send(message)
