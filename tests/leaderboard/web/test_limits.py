"""Attacks on the web server over real sockets, each beside an honest visitor who is served meanwhile."""

import errno
import logging
import resource
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from leaderboard.web import connections, pages
from leaderboard.web.app import make_app
from leaderboard.web.connections import LimitedServer, limited_protocol
from leaderboard.web.limits import Places, WebLimits
from referee.cli.listening import serve_pages
from referee.process.open_files import MOST_FILES
from referee.wire.public_address import own_certificate

TIGHT = WebLimits(
    connections=8,
    connections_per_address=6,
    streams=4,
    streams_per_address=3,
    request_s=0.4,
    stalled_s=0.4,
    held_bytes=1 << 20,
)
BIG = b"x" * (8 << 20)
WITHIN_S = 15.0


@contextmanager
def serving(
    app: Any, limits: WebLimits, proxies: Sequence[str] = (), tls: ssl.SSLContext | None = None
) -> Iterator[int]:
    """The port of a server with these limits."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        config = uvicorn.Config(
            app,
            http=limited_protocol(limits, proxies),
            log_level="error",
            lifespan="off",
            timeout_graceful_shutdown=1,
            forwarded_allow_ips=list(proxies),
            ssl_context_factory=None if tls is None else (lambda _config, _default: tls),
        )
        server = LimitedServer(config, limits, proxies)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield int(listening.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def port(runs: Path) -> Iterator[int]:
    with serving(make_app(runs, limits=TIGHT), TIGHT) as number:
        yield number


@pytest.fixture
def connect() -> Iterator[Callable[[int], socket.socket]]:
    with ExitStack() as stack:

        def make(number: int) -> socket.socket:
            return stack.enter_context(socket.create_connection(("127.0.0.1", number), timeout=WITHIN_S))

        yield make


def is_served(port: int) -> bool:
    return httpx.get(f"http://127.0.0.1:{port}/static/base.css", timeout=WITHIN_S).status_code == 200


def ends(connection: socket.socket) -> bool:
    """Whether the server ends it; what it still sends is read."""
    try:
        while connection.recv(1 << 16):
            pass
    except TimeoutError:
        return False
    except OSError:
        return True
    return True


def wait_until(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + WITHIN_S
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n",
    ],
    ids=["nothing", "header", "body"],
)
def test_a_request_that_does_not_arrive_in_time_ends_its_connection(
    port: int, connect: Callable[[int], socket.socket], sent: bytes
) -> None:
    slow = connect(port)
    slow.sendall(sent)
    began_s = time.monotonic()
    stopped = threading.Event()

    def drip() -> None:
        while sent and not stopped.wait(0.05):
            try:
                slow.sendall(b"a")
            except OSError:
                return

    dripping = threading.Thread(target=drip)
    dripping.start()
    try:
        assert ends(slow)
        assert time.monotonic() - began_s >= TIGHT.request_s / 2
    finally:
        stopped.set()
        dripping.join()
    assert is_served(port)


def sent_in_parts(connection: socket.socket, parts: int, part: bytes, pause_s: float) -> bytes:
    """A request whose body comes in parts; the beginning of the answer, b"" if the connection is closed."""
    head = f"POST /count HTTP/1.1\r\nHost: localhost\r\nContent-Length: {parts * len(part)}\r\n\r\n"
    try:
        connection.sendall(head.encode())
        for _ in range(parts):
            connection.sendall(part)
            time.sleep(pause_s)
        return connection.recv(100)
    except OSError:
        return b""


async def count(request: Request) -> Response:
    size = 0
    async for part in request.stream():
        size += len(part)
    return PlainTextResponse(str(size))


COUNTING = Starlette(routes=[Route("/count", count, methods=["POST"])])


def test_an_upload_that_keeps_coming_may_take_longer_than_other_requests(
    connect: Callable[[int], socket.socket],
) -> None:
    with serving(COUNTING, TIGHT) as port:
        assert b" 200 " in sent_in_parts(connect(port), 20, bytes(TIGHT.least_bytes), 0.1)


def test_an_upload_that_comes_too_slowly_or_too_long_ends_its_connection(
    connect: Callable[[int], socket.socket],
) -> None:
    with serving(COUNTING, TIGHT) as port:
        assert sent_in_parts(connect(port), 20, bytes(1000), 0.1) == b""
    with serving(COUNTING, replace(TIGHT, upload_s=0.8)) as port:
        assert sent_in_parts(connect(port), 40, bytes(TIGHT.least_bytes), 0.1) == b""


def test_one_address_gets_no_more_connections_than_its_share(
    port: int, connect: Callable[[int], socket.socket]
) -> None:
    held = [connect(port) for _ in range(TIGHT.connections_per_address)]
    one_more = connect(port)
    answer = one_more.recv(1 << 16)
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert ends(one_more)
    assert all(ends(each) for each in held)  # they never asked for anything
    assert wait_until(lambda: is_served(port))


def test_one_address_follows_no_more_pages_than_its_share(port: int, connect: Callable[[int], socket.socket]) -> None:
    def follow() -> tuple[socket.socket, bytes]:
        made = connect(port)
        made.sendall(b"GET /runs/cup/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        first = made.recv(64)
        if b" 200 " not in first:
            made.close()
        return made, first

    open_streams = [follow() for _ in range(TIGHT.streams_per_address)]
    assert [first[:15] for _, first in open_streams] == [b"HTTP/1.1 200 OK"] * TIGHT.streams_per_address
    assert follow()[1].startswith(b"HTTP/1.1 503 ")
    assert is_served(port)
    open_streams[0][0].close()
    assert wait_until(lambda: follow()[1].startswith(b"HTTP/1.1 200 OK"))


def test_all_addresses_together_follow_no_more_pages_than_the_server_has_places_for(
    port: int, connect: Callable[[int], socket.socket]
) -> None:
    """Of this computer, too, which has many addresses."""
    with ExitStack() as stack:

        def follow(address: str) -> tuple[socket.socket, bytes]:
            made = socket.create_connection(("127.0.0.1", port), WITHIN_S, source_address=(address, 0))
            stack.enter_context(made)
            made.sendall(b"GET /runs/cup/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            first = made.recv(64)
            if b" 200 " not in first:
                made.close()
            return made, first

        addresses = [f"127.0.0.{number}" for number in range(2, 2 + TIGHT.streams)]
        streams = [follow(address) for address in addresses]
        assert [first[:15] for _, first in streams] == [b"HTTP/1.1 200 OK"] * TIGHT.streams
        for address in ("127.0.0.99", addresses[0]):
            assert follow(address)[1].startswith(b"HTTP/1.1 503 ")
        assert is_served(port), "pages are served on"
        streams[0][0].close()
        assert wait_until(lambda: follow("127.0.0.99")[1].startswith(b"HTTP/1.1 200 OK"))


def big(_: Any) -> Response:
    return PlainTextResponse(BIG)


def ask(connection: socket.socket) -> None:
    connection.sendall(b"GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n")


def test_a_reader_that_stops_reading_is_cut_off_and_its_answer_forgotten(
    connect: Callable[[int], socket.socket],
) -> None:
    with serving(Starlette(routes=[Route("/big", big)]), TIGHT) as port:
        stuck = connect(port)
        ask(stuck)
        stuck.recv(1000)
        time.sleep(TIGHT.stalled_s * 4)
        taken = 0
        try:
            while part := stuck.recv(1 << 16):
                taken += len(part)
        except OSError:
            pass
        assert taken < len(BIG) - (1 << 20)


def test_a_reader_that_reads_slowly_but_reads_gets_its_answer(connect: Callable[[int], socket.socket]) -> None:
    limits = WebLimits(request_s=0.4, stalled_s=1.0, least_bytes=1 << 10)
    with serving(Starlette(routes=[Route("/big", big)]), limits) as port:
        reader = connect(port)
        reader.sendall(b"GET /big HTTP/1.0\r\nHost: localhost\r\n\r\n")
        taken = 0
        while part := reader.recv(1 << 17):
            taken += len(part)
            time.sleep(0.02)
        assert taken > len(BIG)


def test_answers_that_one_address_does_not_read_are_bounded_together(connect: Callable[[int], socket.socket]) -> None:
    limits = WebLimits(held_bytes=1 << 20, stalled_s=60)
    with serving(Starlette(routes=[Route("/big", big)]), limits) as port:
        first, second = connect(port), connect(port)
        ask(first)
        first.recv(1000)
        ask(second)
        taken = 0
        second.settimeout(WITHIN_S)
        try:
            while part := second.recv(1 << 16):
                taken += len(part)
        except ConnectionError:
            pass
        first.close()
        assert taken < len(BIG)


def test_an_honest_connection_is_kept_for_its_next_request(port: int) -> None:
    with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        for _ in range(3):
            assert client.get("/static/base.css").status_code == 200
            time.sleep(TIGHT.request_s / 4)


def test_places_are_counted_by_address_and_in_all() -> None:
    places = Places(3, 2)
    assert [places.take("a"), places.take("a"), places.take("a")] == [True, True, False]
    assert [places.take("b"), places.take("c")] == [True, False]
    places.give_back("a")
    assert places.take("c")


class SlowPage:
    """In place of a page that takes long to compute: each request waits until `go_on` is set."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.begun = self.now = self.most = 0
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Response:
        with self._lock:
            self.begun += 1
            self.now += 1
            self.most = max(self.most, self.now)
        self.go_on.wait(WITHIN_S)
        with self._lock:
            self.now -= 1
        return PlainTextResponse("at last")


ASK = b"GET /runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def test_an_address_that_asks_for_much_at_once_keeps_only_itself_waiting(
    runs: Path, monkeypatch: pytest.MonkeyPatch, connect: Callable[[int], socket.socket]
) -> None:
    """All threads of the server would else be drawing for it, and its requests that it gave up would be computed."""
    slow, limits = SlowPage(), WebLimits()
    monkeypatch.setattr(pages, "runs", lambda request: slow(request))
    with serving(make_app(runs, limits=limits), limits) as port:
        asked = [connect(port) for _ in range(60)]
        try:
            for one in asked:
                one.sendall(ASK)
            assert wait_until(lambda: slow.now == limits.answers_per_address)
            for one in asked[10:]:
                one.close()
            other = socket.create_connection(("127.0.0.1", port), WITHIN_S, source_address=("127.0.0.2", 0))
            with other:
                other.sendall(ASK.replace(b"/runs", b"/games"))
                assert other.recv(64).startswith(b"HTTP/1.1 200 OK")
        finally:
            slow.go_on.set()
        for one in asked[:10]:
            assert one.recv(64).startswith(b"HTTP/1.1 200 OK")
        assert is_served(port)
    assert (slow.begun, slow.most) == (10, limits.answers_per_address)


async def who(request: Request) -> Response:
    """Says who asks, and how."""
    assert request.client is not None
    return PlainTextResponse(f"{request.client.host} {request.url.scheme}")


FORWARDED = {"X-Forwarded-For": "198.51.100.7, 203.0.113.5", "X-Forwarded-Proto": "https"}


@pytest.mark.parametrize(
    ("proxies", "said"),
    [(["127.0.0.0/8"], "203.0.113.5 https"), (["192.0.2.1"], "127.0.0.1 http"), ([], "127.0.0.1 http")],
)
def test_only_a_proxy_of_ours_is_believed_for_whom_it_asks(proxies: list[str], said: str) -> None:
    """What a visitor wrote into the header stands before what the proxy adds, and counts for nothing."""
    with serving(Starlette(routes=[Route("/", who)]), TIGHT, proxies) as number:
        assert httpx.get(f"http://127.0.0.1:{number}/", headers=FORWARDED, timeout=WITHIN_S).text == said


@pytest.mark.parametrize(("proxies", "served"), [(["127.0.0.1"], True), ([], False)])
def test_connections_of_a_proxy_count_in_all_and_not_by_address(
    connect: Callable[[int], socket.socket], proxies: list[str], served: bool
) -> None:
    limits = replace(TIGHT, connections=20, request_s=60.0)
    with serving(Starlette(routes=[Route("/static/base.css", who)]), limits, proxies) as number:
        held = [connect(number) for _ in range(limits.connections_per_address)]
        assert wait_until(lambda: is_served(number) == served)
        held += [connect(number) for _ in range(limits.connections - len(held))]
        assert wait_until(lambda: not is_served(number)), "in all, they count"


def test_a_server_may_have_as_many_files_open_as_the_system_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual limit of 1,024 is below the 1,200 connections of a ladder, and then it could not open its files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    found: list[int] = []

    def run(self: LimitedServer, sockets: list[socket.socket]) -> None:
        found.append(resource.getrlimit(resource.RLIMIT_NOFILE)[0])

    monkeypatch.setattr(LimitedServer, "run", run)
    monkeypatch.setattr(sys, "setswitchinterval", lambda _: None)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        with socket.socket() as bound:
            bound.bind(("127.0.0.1", 0))
            serve_pages(Starlette(), WebLimits(), bound)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert found == [MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)]


def test_without_a_free_file_descriptor_connections_wait_and_nothing_is_logged(
    port: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Strangers who opened many connections had 70 MB of tracebacks written in two minutes."""
    accept, failures = socket.socket.accept, iter(range(3))

    def fail_first(self: socket.socket) -> Any:
        if next(failures, None) is not None:
            raise OSError(errno.EMFILE, "no file descriptor is free")
        return accept(self)

    monkeypatch.setattr(connections, "_REST_S", 0.01)
    monkeypatch.setattr(socket.socket, "accept", fail_first)
    assert is_served(port)
    assert next(failures, None) is None
    assert not caplog.records


def test_what_is_no_http_after_an_answer_ends_its_connection_and_nothing_is_logged(
    port: int, connect: Callable[[int], socket.socket], caplog: pytest.LogCaptureFixture
) -> None:
    line = connect(port)
    line.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert line.recv(1 << 16).startswith(b"HTTP/1.1 405 ")
    line.sendall(b"no size\r\n")
    assert ends(line)
    assert is_served(port)
    assert not caplog.records


def test_strangers_have_no_lines_written_into_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """uvicorn writes one for each request that is no HTTP."""
    monkeypatch.setattr(LimitedServer, "run", lambda self, sockets: None)
    monkeypatch.setattr(sys, "setswitchinterval", lambda _: None)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        serve_pages(Starlette(), WebLimits(), bound)
    assert not logging.getLogger("uvicorn.error").isEnabledFor(logging.WARNING)


@pytest.fixture
def secured(tmp_path: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """TLS of a server, and of a client that trusts it."""
    certificate, key = own_certificate(tmp_path, "127.0.0.1")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    return tls, ssl.create_default_context(cafile=str(certificate))


def test_a_handshake_that_does_not_end_ends_its_connection(
    connect: Callable[[int], socket.socket], secured: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    tls, trusting = secured
    with serving(Starlette(routes=[Route("/", who)]), TIGHT, tls=tls) as number:
        silent = connect(number)
        began_s = time.monotonic()
        assert ends(silent)
        assert time.monotonic() - began_s >= TIGHT.request_s / 2
        answer = httpx.get(f"https://127.0.0.1:{number}/", timeout=WITHIN_S, verify=trusting)
        assert answer.text == "127.0.0.1 https"


def test_of_too_many_handshakes_of_one_address_the_oldest_ends(
    connect: Callable[[int], socket.socket], secured: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    """Connections that never sent a byte took all file descriptors of a ladder with https."""
    tls, trusting = secured
    limits = replace(TIGHT, request_s=3600.0)
    with serving(Starlette(routes=[Route("/", who)]), limits, tls=tls) as number:
        silent = [connect(number) for _ in range(limits.connections_per_address)]
        share = limits.connections_per_address // 2
        assert all(ends(one) for one in silent[:share])
        answer = httpx.get(f"https://127.0.0.1:{number}/", timeout=WITHIN_S, verify=trusting)
        assert answer.text == "127.0.0.1 https"
        assert ends(silent[share])
        for one in silent[share + 1 :]:
            one.settimeout(0.05)
            assert not ends(one)


@pytest.mark.parametrize("limits", [replace(TIGHT, connections=1), replace(TIGHT, connections_per_address=1)], ids=str)
def test_a_server_for_one_connection_at_a_time_makes_handshakes(
    secured: tuple[ssl.SSLContext, ssl.SSLContext], limits: WebLimits
) -> None:
    """Half of one connection was none, and each one was refused with a traceback."""
    tls, trusting = secured
    with serving(Starlette(routes=[Route("/", who)]), limits, tls=tls) as number:
        answer = httpx.get(f"https://127.0.0.1:{number}/", timeout=WITHIN_S, verify=trusting)
        assert answer.text == "127.0.0.1 https"


def test_as_many_connections_wait_for_a_busy_server_with_tls_as_without(
    connect: Callable[[int], socket.socket], secured: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    """The kernel kept 128 at most, and dropped the others."""
    if int(Path("/proc/sys/net/core/somaxconn").read_text()) < 512:
        pytest.skip("the kernel of this machine keeps few")
    begun, go_on = threading.Event(), threading.Event()

    async def busy(request: Request) -> Response:
        begun.set()
        go_on.wait(60)
        return PlainTextResponse("")

    tls, trusting = secured
    with serving(Starlette(routes=[Route("/", busy)]), WebLimits(), tls=tls) as number, ThreadPoolExecutor() as pool:
        asked = pool.submit(httpx.get, f"https://127.0.0.1:{number}/", timeout=60, verify=trusting)
        try:
            assert begun.wait(WITHIN_S)
            for _ in range(200):
                connect(number)
        finally:
            go_on.set()
        assert asked.result().status_code == 200


def test_of_too_many_handshakes_in_all_the_oldest_of_the_busiest_address_ends(
    secured: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    tls, trusting = secured
    limits = replace(TIGHT, request_s=3600.0, connections=6, connections_per_address=100)
    with serving(Starlette(routes=[Route("/", who)]), limits, tls=tls) as number, ExitStack() as stack:

        def connect(source: str) -> socket.socket:
            to, own = ("127.0.0.1", number), (source, 0)
            return stack.enter_context(socket.create_connection(to, timeout=WITHIN_S, source_address=own))

        lone, first, second = (connect(source) for source in ("127.0.0.2", "127.0.0.3", "127.0.0.3"))
        answer = httpx.get(f"https://127.0.0.1:{number}/", timeout=WITHIN_S, verify=trusting)
        assert answer.text == "127.0.0.1 https"
        assert ends(first)
        for one in (lone, second):
            one.settimeout(0.05)
            assert not ends(one)


def test_a_refused_client_with_tls_that_does_not_end_its_connection_is_cut_off(
    connect: Callable[[int], socket.socket],
    secured: tuple[ssl.SSLContext, ssl.SSLContext],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """asyncio waits 30 s for the client's end of TLS, and these connections are not counted."""
    monkeypatch.setattr(connections, "_REFUSED_S", 0.1)
    tls, trusting = secured
    limits = replace(TIGHT, request_s=3600.0)
    with serving(Starlette(routes=[Route("/", who)]), limits, tls=tls) as number, ExitStack() as stack:

        def greeted() -> ssl.SSLSocket:
            return stack.enter_context(trusting.wrap_socket(connect(number), server_hostname="127.0.0.1"))

        held = [greeted() for _ in range(limits.connections_per_address)]
        refused = greeted()
        assert refused.recv(1 << 16).startswith(b"HTTP/1.1 503 ")
        raw = socket.socket(fileno=refused.detach())  # says nothing more, not even that TLS is over
        raw.settimeout(WITHIN_S)
        assert ends(raw)
        raw.close()
        assert held
