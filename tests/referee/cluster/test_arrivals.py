"""Connections to a scheduler that do not begin to speak, over real sockets with TLS."""

import asyncio
import ssl
from contextlib import AsyncExitStack

import dask
import pytest
from distributed import Scheduler
from distributed.comm import connect as comm_to
from distributed.comm import parse_host_port

from referee.cluster.arrivals import limit_arrivals
from referee.cluster.certificates import make_certificates
from referee.cluster.peers import Peer
from referee.cluster.serving import VersionsPlugin, check_versions
from referee.cluster.settings import CONFIG, security_of

WAIT_S = 30.0


@pytest.fixture
def certificates(tmp_path):
    return make_certificates(tmp_path / "pki", "ada")


@pytest.fixture
async def scheduler_of(certificates):
    """scheduler_of(limit_s=10, most=64): one with these limits; its peer."""
    async with AsyncExitStack() as stack:
        stack.enter_context(dask.config.set(CONFIG))

        async def make(**limits):
            made = Scheduler(
                host="127.0.0.1",
                port=0,
                protocol="tls",
                security=security_of(certificates),
                dashboard_address="127.0.0.1:0",
                plugins=[VersionsPlugin()],
            )
            await stack.enter_async_context(made)
            limit_arrivals(made, **limits)
            return Peer(made.address, certificates)

        yield make


async def connect(peer, *, context=None, source="127.0.0.1"):
    host, port = parse_host_port(peer.address.removeprefix("tls://"))
    return await asyncio.open_connection(host, port, ssl=context, local_addr=(source, 0))


async def is_closed(reader, wait_s=WAIT_S):
    """Whether the other side closes the connection in time, whatever it sends before."""
    try:
        async with asyncio.timeout(wait_s):
            while await reader.read(65536):
                pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


@pytest.mark.parametrize("encrypted", [False, True])
async def test_a_connection_that_says_nothing_is_closed(scheduler_of, certificates, encrypted):
    """Also one that has a certificate, and does not go on after TLS."""
    peer = await scheduler_of(limit_s=0.5)
    context = None
    if encrypted:
        context = ssl.create_default_context(cafile=str(certificates.ca))
        context.check_hostname = False
        context.load_cert_chain(certificates.cert, certificates.key)
    reader, writer = await connect(peer, context=context)
    assert await is_closed(reader)
    writer.close()


async def test_of_too_many_silent_connections_of_one_address_the_oldest_is_closed(scheduler_of):
    peer = await scheduler_of(limit_s=3600, most=3)
    async with AsyncExitStack() as stack:
        made = []
        for source in ("127.0.0.2", "127.0.0.3", "127.0.0.2", "127.0.0.2", "127.0.0.2"):
            made.append(await connect(peer, source=source))
            stack.callback(made[-1][1].close)
        assert await is_closed(made[0][0])
        assert not any([await is_closed(reader, 0.2) for reader, _ in made[1:]])
        await check_versions(peer)


async def test_of_many_connections_that_come_at_the_same_moment_all_but_the_last_ones_are_closed(scheduler_of):
    """Of those that came in one turn of the event loop only the first was closed, so a burst filled the scheduler's
    file descriptors."""
    peer = await scheduler_of(limit_s=3600, most=3)
    async with AsyncExitStack() as stack:
        made = await asyncio.gather(*(connect(peer) for _ in range(40)))
        for _, writer in made:
            stack.callback(writer.close)
        ends = [asyncio.create_task(is_closed(reader, 3600)) for reader, _ in made]
        for end in ends:
            stack.callback(end.cancel)
        async with asyncio.timeout(WAIT_S):
            for _, end in zip(range(37), asyncio.as_completed(ends), strict=False):
                await end
        await check_versions(peer)


async def test_of_too_many_silent_connections_of_all_addresses_the_oldest_of_the_busiest_is_closed(scheduler_of):
    peer = await scheduler_of(limit_s=3600, in_all=3)
    async with AsyncExitStack() as stack:
        made = []
        for source in ("127.0.0.2", "127.0.0.3", "127.0.0.3", "127.0.0.4"):
            made.append(await connect(peer, source=source))
            stack.callback(made[-1][1].close)
        assert await is_closed(made[1][0])
        assert not any([await is_closed(reader, 0.2) for reader, _ in (made[0], *made[2:])])
        await check_versions(peer)


async def test_who_ends_the_handshakes_is_not_closed(scheduler_of):
    peer = await scheduler_of(limit_s=0.5, most=1)
    await check_versions(peer)
    connection = security_of(peer.certificates).get_connection_args("client")
    comm = await comm_to(peer.address, **connection)
    await asyncio.sleep(1.5)
    await comm.write({"op": "identity", "reply": True})
    async with asyncio.timeout(WAIT_S):
        assert (await comm.read())["type"] == "Scheduler"
    await comm.close()
