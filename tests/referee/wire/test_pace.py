"""Connections without a token have a share of the event loop's time, and those with one are read at once."""

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.wire import pace as module
from referee.wire.listener import Bounds, Listener, bind_tcp
from referee.wire.pace import AT_A_TIME, BURST_NS, Pace
from referee.wire.public_address import own_certificate
from referee.wire.tls import server_tls

PING = b"\x00\x00\x08\x06\x00\x00\x00\x00\x00" + bytes(8)
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
MANY, PINGS = 20, 200


class Stranger:
    def __init__(self) -> None:
        self.waits = False

    def pause_reading(self) -> None:
        self.waits = True

    def resume_reading(self) -> None:
        self.waits = False


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.005)


async def test_strangers_wait_once_they_have_taken_their_share_and_go_on_in_order() -> None:
    pace = Pace()
    strangers = [Stranger() for _ in range(3 * AT_A_TIME)]
    for one in strangers:
        pace.add(one)
    pace.spend(strangers[0], BURST_NS // 2)
    assert not any(one.waits for one in strangers)
    pace.spend(strangers[0], BURST_NS)
    assert all(one.waits for one in strangers)
    assert pace.is_over
    waited: list[Stranger] = []
    async with asyncio.timeout(20):
        while len(waited) < len(strangers):
            waited += [one for one in strangers if not one.waits and one not in waited]
            await asyncio.sleep(0.001)
    assert waited == strangers
    await until(lambda: not pace.is_over)
    pace.stop()


async def test_who_shows_a_token_waits_no_more_and_is_not_counted() -> None:
    pace = Pace()
    known, other = Stranger(), Stranger()
    pace.add(known)
    pace.add(other)
    pace.spend(other, 100 * BURST_NS)
    assert known.waits
    pace.discard(known)
    assert not known.waits
    pace.spend(known, 100 * BURST_NS)
    assert (known.waits, other.waits) == (False, True)
    pace.discard(other)
    pace.stop()


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "TLS"])
@pytest.mark.parametrize("one", [False, True], ids=["strangers", "one bot"])
async def test_what_many_send_at_the_same_moment_is_not_read_in_one_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one: bool, tls: bool
) -> None:
    """Of a process that the referee has started all is read at once: it pays for what it sends."""
    monkeypatch.setattr(module, "BURST_NS", 0)
    pair = own_certificate(tmp_path / "tls", "127.0.0.1") if tls else None
    sockets = bind_tcp("127.0.0.1", 0)
    port = sockets[0].getsockname()[1]
    secure = None if pair is None else server_tls(*pair)
    listener = Listener(sockets, lambda _: asyncio.sleep(0), Bounds(2 * MANY), tls=secure, one=one)
    listener.start()
    trusted = None if pair is None else ssl.create_default_context(cafile=str(pair[0]))
    writers = [(await asyncio.open_connection("127.0.0.1", port, ssl=trusted))[1] for _ in range(MANY)]
    for writer in writers:
        writer.write(PREFACE)
    here = listener._connections
    await until(lambda: len(here) == MANY and all(found._greeted for found in here))
    await until(lambda: listener._pace is None or not listener._pace.is_over)

    def frames() -> int:
        return listener.traffic.frames if one else sum(found.traffic.frames for found in here)

    before = frames()
    for writer in writers:
        writer.write(PING * PINGS)  # to the system at once: its buffers are empty
    for _ in range(3):
        await asyncio.sleep(0)
    read = (frames() - before) // PINGS
    assert read == MANY if one else 1 <= read <= 2 * AT_A_TIME
    await until(lambda: frames() - before >= MANY * PINGS)
    for writer in writers:
        writer.transport.abort()
    await listener.stop()
