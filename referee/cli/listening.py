"""The socket that pages are served on, and the server behind it."""

import errno
import logging
import socket
import ssl
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from referee.cli.log import Log, LogHandler
from referee.cli.output import print_text
from referee.errors import PlatformError, UsageError
from referee.process.open_files import raise_file_limit
from referee.wire.public_address import ListenError, check_pair, check_public

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from leaderboard.web.limits import WebLimits


def check_names(names: Sequence[str] | None) -> None:
    """UsageError if one of `--name` cannot be the name of a host."""
    for name in names or ():
        try:
            check_public(name)
        except ValueError as error:
            raise UsageError(f"--name: {error}", "correct it, or leave --name out") from None


def listen_on(host: str, port: int, *, how: str = "--") -> socket.socket:
    """A socket that is bound and does not listen yet. `how` stands before the names of what can be changed. UsageError
    or PlatformError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Without the protocol's number asyncio lets the kernel hold back the second half of each answer, up to 40 ms.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        what = f"cannot listen on {host} port {port}: {error.strerror}"
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            raise UsageError(what, f"choose another {how}host: a name or an address of this machine") from None
        raise PlatformError(what, f"choose another {how}port") from None
    except UnicodeError:
        bound.close()
        raise UsageError(f"{how}host {host} is not a name", "give a name or an address of this machine") from None
    return bound


def address_of(bound: socket.socket, host: str, scheme: str = "http") -> str:
    """Of the pages, for people."""
    shown = f"[{host}]" if bound.family == socket.AF_INET6 else host
    return f"{scheme}://{shown}:{bound.getsockname()[1]}/"


def web_tls(certificate: Path, key: Path) -> ssl.SSLContext:
    """For pages over https. UsageError."""
    try:
        check_pair(certificate, key)
    except ListenError as error:
        raise UsageError(str(error), error.next_step) from None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.load_cert_chain(certificate, key)
    return context


_SWITCH_S = 0.001


def serve_pages(
    pages: "Starlette",
    limits: "WebLimits",
    bound: socket.socket,
    *lines: str,
    proxies: Sequence[str] | None = None,
    tls: ssl.SSLContext | None = None,
    log: Log | None = None,
) -> None:
    """Print the lines, and serve until Ctrl-C. `proxies` are believed for whom they ask; None: those that
    uvicorn believes by its environment variable, which are visitors all the same. `log` gets what libraries log;
    None: it goes to stderr as it is."""
    import uvicorn
    from uvicorn.config import LOGGING_CONFIG

    from leaderboard.web.connections import LimitedServer, limited_protocol

    server = LimitedServer(
        uvicorn.Config(
            pages,
            http=limited_protocol(limits, proxies or ()),
            ws="none",
            log_config=LOGGING_CONFIG if log is None else None,
            log_level="error",  # a warning is what strangers can have written without end: each request that is no HTTP
            proxy_headers=True,
            forwarded_allow_ips=None if proxies is None else list(proxies),
            ssl_context_factory=None if tls is None else (lambda _config, _default: tls),
            timeout_graceful_shutdown=1,
            lifespan="off",
        ),
        limits,
        proxies or (),
    )
    if log is not None:
        logging.getLogger().addHandler(LogHandler(log))
    raise_file_limit()  # for all connections that the limits allow, and the files of the pages
    # Threads that draw would keep the one that answers from going on for five times as long, at each of its steps.
    sys.setswitchinterval(_SWITCH_S)
    bound.listen()  # a client that reads the address may ask at once; the answer waits for the server
    with suppress(KeyboardInterrupt):  # Ctrl-C is how to end it, from the moment that the address is printed
        for line in lines:
            print_text(line)
        server.run(sockets=[bound])
