"""The socket that pages are served on, and the server behind it."""

import errno
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from referee.cli.output import print_text
from referee.errors import PlatformError, UsageError
from referee.wire.public_address import check_public

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
    bound = socket.socket(family, socket.SOCK_STREAM)
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


def address_of(bound: socket.socket, host: str) -> str:
    """Of the pages, for people."""
    shown = f"[{host}]" if bound.family == socket.AF_INET6 else host
    return f"http://{shown}:{bound.getsockname()[1]}/"


def serve_pages(pages: "Starlette", limits: "WebLimits", bound: socket.socket, *lines: str) -> None:
    """Print the lines, and serve until Ctrl-C."""
    import uvicorn

    from leaderboard.web.connections import limited_protocol

    server = uvicorn.Server(
        uvicorn.Config(
            pages,
            http=limited_protocol(limits),
            ws="none",
            log_level="warning",
            timeout_graceful_shutdown=1,
            lifespan="off",
        )
    )
    bound.listen()  # a client that reads the address may ask at once; the answer waits for the server
    with suppress(KeyboardInterrupt):  # Ctrl-C is how to end it, from the moment that the address is printed
        for line in lines:
            print_text(line)
        server.run(sockets=[bound])
