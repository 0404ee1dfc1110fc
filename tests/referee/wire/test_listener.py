"""The listener: which connections it takes, which it turns away, and that each socket is closed."""

import asyncio
import gc
import socket
import warnings
from pathlib import Path

import pytest

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


def test_a_descriptor_cannot_be_sent_to_the_referee(tmp_path: Path) -> None:
    """The referee would close it in the thread that plays: with SO_LINGER that takes as long as the sender likes."""
    outcomes = {}
    for name, listening in (("referee", bind_unix(tmp_path / "s")), ("control", socket.socket(socket.AF_UNIX))):
        with listening, socket.socket(socket.AF_UNIX) as client:
            if name == "control":
                listening.bind(str(tmp_path / name))
            listening.listen()
            client.connect(listening.getsockname())
            accepted, _ = listening.accept()
            with accepted:
                try:
                    socket.send_fds(client, [b"x"], [client.fileno()])
                    outcomes[name] = "sent"
                except PermissionError:
                    outcomes[name] = "refused"
                client.send(b"y")  # all else arrives
                assert accepted.recv(10)[-1:] in (b"x", b"y")
    if not knows_option(socket.SOL_SOCKET, 83):
        pytest.skip("SO_PASSRIGHTS came with Linux 6.16; the filter of system calls has SO_LINGER do nothing")
    assert outcomes == {"referee": "refused", "control": "sent"}


def knows_option(level: int, option: int) -> bool:
    with socket.socket(socket.AF_UNIX) as line:
        try:
            line.getsockopt(level, option)
        except OSError:
            return False
        return True
