"""The listener: which connections it takes, which it turns away, and that each socket is closed."""

import asyncio
import gc
import socket
import warnings
from pathlib import Path

from referee.wire.listener import Bounds, Listener, bind_unix


async def test_a_connection_that_is_turned_away_before_its_first_step_is_closed(tmp_path: Path) -> None:
    listener = Listener([bind_unix(tmp_path / "s")], lambda _: asyncio.sleep(0), Bounds(1))
    listener.start()
    clients = [socket.socket(socket.AF_UNIX) for _ in range(5)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for client in clients:  # all wait when the listener looks: four of five go before they were greeted
            client.connect(str(tmp_path / "s"))
        await asyncio.sleep(0.05)
        await listener.stop()
        gc.collect()
    assert [warning for warning in caught if warning.category is ResourceWarning] == []
    for client in clients:
        client.settimeout(5)
        while client.recv(1000):
            pass
        client.close()
