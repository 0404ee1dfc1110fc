"""The listener: which connections it takes, which it turns away, and that each socket is closed."""

import asyncio
import gc
import socket
import warnings
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from referee.wire import listener as module
from referee.wire.listener import Bounds, Listener, bind_tcp, bind_unix


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


async def test_who_connects_very_often_does_not_keep_other_addresses_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ACCEPTS_AT_ONCE", 20)
    monkeypatch.setattr(module, "ACCEPTS_A_SECOND", 0)
    monkeypatch.setattr(module, "ACCEPTS_OF_ONE", 2)
    loop = asyncio.get_running_loop()
    (listening,) = bind_tcp("127.0.0.1", 0)
    address = listening.getsockname()
    listener = Listener([listening], lambda _: asyncio.sleep(0), Bounds(100))
    listener.start()
    with ExitStack() as stack:

        def connect(source: str) -> socket.socket:
            client = stack.enter_context(socket.create_connection(address, source_address=(source, 0)))
            client.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0)))
            client.setblocking(False)
            return client

        often = [connect("127.0.0.2") for _ in range(30)]  # all wait when the listener looks
        other = connect("127.0.0.3")
        async with asyncio.timeout(30):
            assert await loop.sock_recv(other, 100)
            assert await loop.sock_recv(often[0], 100), "the first ones are served"
            with suppress(ConnectionResetError):
                assert not await loop.sock_recv(often[-1], 100), "the last ones are closed"
    await listener.stop()


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
