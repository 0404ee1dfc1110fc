"""The bot's side of the wire: finds the referee, plays until Bye or until the referee is gone."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import random
import ssl
import sys
import threading
import time
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("GRPC_VERBOSITY", "ERROR")  # read when grpc is imported

import grpc
from crosstown_proto.v1 import referee_pb2 as pb

from crosstown_bot.playing import Playing, Stream, StreamBrokenError, hello
from crosstown_bot.traces import print_stacks_when_asked, print_waiting_tasks_too, shorten_tracebacks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crosstown_bot.bot import Bot

if "CROSSTOWN_ADDRESS" in os.environ:  # a referee waits for Hello: what is imported or loaded now may take too long
    print_stacks_when_asked()

PROTOCOL = 1
CONNECT_LIMIT_S = 10.0
"""For a referee on this machine, which listens before it starts a bot; and for each attempt at one elsewhere."""

REMOTE_LIMIT_S = 600.0
"""How long a referee elsewhere is tried for at first: the bot may be started before it."""

LEAST_RETURN_S = 60.0
"""How long at the least, when a connection to it broke."""

STAYING_S = 0.5
"""After run() a thread that still runs is named; the referee ends the process after a second."""

_FIRST_PAUSE_S, _MAX_PAUSE_S = 0.1, 5.0
_METHOD = "/crosstown.v1.Referee/Play"
_OPTIONS = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    # gRPC measures the connection with pings of its own, and ends it when one was not answered within a minute: so it
    # may be for a process that was stopped so long, even if the answer lies there.
    ("grpc.http2.ping_timeout_ms", 2**31 - 1),
]
_REMOTE_OPTIONS = [
    # A connection of its own for each attempt, without the growing pauses of the one before.
    ("grpc.use_local_subchannel_pool", 1),
]
_KEEPALIVE_S = 20
"""Interval of pings on a network. A unix socket reports a closed peer without pings."""
_FINAL = frozenset(
    {
        grpc.StatusCode.ABORTED,  # the session goes on elsewhere
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.UNIMPLEMENTED,
    }
)
"""Refusals that another attempt would meet as well."""


def run(bot_class: Callable[[Mapping[str, Any]], Bot]) -> None:
    """Play with a bot of this class (or of what makes one from options) until the referee says Bye; then return.

    A referee elsewhere is tried again and again, at first and when the connection breaks.

    Ends the process with exit code 1 and a sentence (or the bot's traceback) on stderr when something is wrong.
    """
    try:
        address, token = os.environ["CROSSTOWN_ADDRESS"], os.environ["CROSSTOWN_TOKEN"]
    except KeyError as missing:
        sys.exit(f"{missing.args[0]} is not set: a bot is started by the referee, for instance by `crosstown run FILE`")
    try:
        credentials = _credentials(address, os.environ.get("CROSSTOWN_TLS_CA", ""))
        options = _options(os.environ.get("CROSSTOWN_OPTIONS", ""), Path(sys.argv[0]).parent)
    except ValueError as error:
        sys.exit(str(error))
    shorten_tracebacks()
    bot = bot_class(options)
    stacks = bot.prints_stacks and print_stacks_when_asked()  # of what was imported since, some may use the signals
    problem = asyncio.run(_connect(bot, address, token, credentials, prints_stacks=stacks))
    _name_threads_that_stay()
    if problem:
        sys.exit(problem)


def _name_threads_that_stay() -> None:
    """Some time after the end: a thread of the author's can keep the process alive without a word."""

    def tell() -> None:
        staying = [each for each in threading.enumerate() if not each.daemon and each is not threading.main_thread()]
        if staying:
            names = ", ".join(repr(each.name) for each in staying)
            print(
                f"run() has returned, but the process cannot end before these threads: {names}; end them in end(), or"
                " make them daemons",
                file=sys.stderr,
                flush=True,
            )

    timer = threading.Timer(STAYING_S, tell)
    timer.daemon = True
    timer.start()


def _options(given: str, folder: Path) -> Mapping[str, Any]:
    """As the referee gives them, or, where the bot was started by hand, those of the bot.toml beside the program.

    ValueError for what cannot be read.
    """
    if given:
        try:
            options = json.loads(given)
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f'CROSSTOWN_OPTIONS is not JSON: {error}; write an object such as {{"depth": 3}}'
            ) from None
        if not isinstance(options, dict):
            raise ValueError(f'CROSSTOWN_OPTIONS is {given:.200}; expected a JSON object such as {{"depth": 3}}')
        return options
    path = folder / "bot.toml"
    try:
        options = tomllib.loads(path.read_text(encoding="utf-8-sig")).get("options", {})
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path}: it is not UTF-8 text; save it as UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not TOML: {error}") from None
    if not isinstance(options, dict):
        raise ValueError(f"{path}: 'options' is {options!r:.200}; expected a table, which begins with [options]")
    return options


def _credentials(address: str, authorities: str) -> grpc.ChannelCredentials | None:
    """For TLS with a referee elsewhere; `authorities` is the path of a PEM file. None for a plain connection.

    ValueError if the file cannot be read, or where a plain connection would leave this machine.
    """
    if _is_local(address):
        return None
    if not address.rpartition(":")[2].isdecimal():
        raise ValueError(
            f"CROSSTOWN_ADDRESS is {address!r}, without a port; expected HOST:PORT, as the organiser gave it"
        )
    if authorities:
        return grpc.ssl_channel_credentials(_authorities(authorities))
    if _is_loopback(address.rpartition(":")[0].rpartition("/")[2].strip("[]")):
        return None
    raise ValueError(
        f"the referee at {address} is not on this machine, and CROSSTOWN_TLS_CA is not set: give it the path of a PEM"
        " file with the certificate of the referee or of who signed it"
    )


def _authorities(path: str) -> bytes:
    """ValueError for what is no PEM file: gRPC would try to connect without end."""
    try:
        pem = Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"CROSSTOWN_TLS_CA is {path!r}, which cannot be read: {error.strerror}") from None
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=pem.decode("ascii", errors="ignore"))
    except (ssl.SSLError, ValueError):
        raise ValueError(f"CROSSTOWN_TLS_CA is {path!r}, which has no certificate in PEM form") from None
    return pem


def _is_loopback(host: str) -> bool:
    """An address that never leaves this machine, or its own name; a name that looks like one is none."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_local(address: str) -> bool:
    return address.startswith(("unix:", "unix-abstract:"))


async def _connect(
    bot: Bot,
    address: str,
    token: str,
    credentials: grpc.ChannelCredentials | None = None,
    *,
    prints_stacks: bool = False,
) -> str:
    """Why the session ended; empty after Bye."""
    if prints_stacks:
        print_waiting_tasks_too()
    playing = Playing(bot, prints_stacks=prints_stacks)
    remote = not _is_local(address)
    until = time.monotonic() + (REMOTE_LIMIT_S if remote else 0)
    pause_s, told = _FIRST_PAUSE_S, ""
    while True:
        before, began_s = (playing.streams, playing.progress), time.monotonic()
        problem, code = await _stream(playing, address, token, credentials)
        if not problem:
            return ""
        if code is grpc.StatusCode.NOT_FOUND and playing.session:
            playing.forget()
            continue
        lasted = time.monotonic() - began_s > _MAX_PAUSE_S
        if playing.streams > before[0] and (lasted or playing.progress > before[1]):  # else it breaks again and again
            until = time.monotonic() + (max(LEAST_RETURN_S, playing.reconnect_s) if playing.session else 0)
            pause_s, told = _FIRST_PAUSE_S, ""
        if code in _FINAL or time.monotonic() + pause_s > until:
            return problem
        if problem != told:
            print(f"{problem}; trying again", file=sys.stderr, flush=True)
            told = problem
        await asyncio.sleep(pause_s * random.uniform(0.5, 1))  # many bots do not come back in the same instant
        pause_s = min(2 * pause_s, _MAX_PAUSE_S)


async def _stream(
    playing: Playing, address: str, token: str, credentials: grpc.ChannelCredentials | None
) -> tuple[str, grpc.StatusCode | None]:
    """Plays over one stream. Why it ended, '' after Bye; and the status, where the referee gave one."""
    remote = not _is_local(address)
    options = [*_OPTIONS, *_keepalive(_KEEPALIVE_S if remote else 0), *(_REMOTE_OPTIONS if remote else ())]
    async with _channel(address, credentials, options) as channel:
        # Elsewhere it matters why there is no connection: a certificate may be wrong.
        call: Any = channel.stream_stream(_METHOD)(wait_for_ready=not remote)
        stream = Stream(call)
        try:
            try:
                async with asyncio.timeout(CONNECT_LIMIT_S):  # the write waits for the connection
                    await stream.write(hello(playing, token, PROTOCOL))
                    welcome = await stream.read()
            except TimeoutError:
                used = "" if remote else "; it takes one process for each token, and no further connection after that"
                return f"no answer from the referee at {address} within {CONNECT_LIMIT_S:g} s{used}", None
            if welcome is not grpc.aio.EOF:
                playing.welcome(pb.RefereeMessage.FromString(welcome))
                if await playing.serve(stream):
                    with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):  # the referee was quicker
                        await call.done_writing()
                    return "", None
        except StreamBrokenError as error:
            where = "" if playing.streams else f" at {address}"
            why = f": {error}" if str(error) else ""
            status = f" ({error.code.name})" if error.code else ""
            unanswered = error.code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNKNOWN)
            hint = _hint(str(error), credentials) if remote and unanswered and not playing.streams else ""
            return f"the stream to the referee{where} broke{why}{status}{hint}", error.code
        code, details = await call.code(), await call.details()
        return f"the referee ended the stream: {f'{details} ({code.name})' if details else code.name}", code


def _hint(why: str, credentials: grpc.ChannelCredentials | None) -> str:
    """What the words of gRPC leave to guess."""
    if credentials is None:
        return "" if "refused" in why.lower() else "; if the referee speaks TLS, set CROSSTOWN_TLS_CA"
    if any(word in why.lower() for word in ("certificate", "handshake", "hostname", "peer name")):
        return (
            "; CROSSTOWN_TLS_CA must be who signed the referee's certificate, and the host in the address must be in it"
        )
    return ""


def _keepalive(otherwise_s: int) -> list[tuple[str, int]]:
    """The options for pings, so often as CROSSTOWN_KEEPALIVE_S says; 0 is never."""
    given = os.environ.get("CROSSTOWN_KEEPALIVE_S", "")
    every_s = int(given) if given.isascii() and given.isdecimal() and len(given) < 7 else otherwise_s
    if not every_s:
        return []
    return [
        ("grpc.keepalive_time_ms", 1000 * every_s),
        ("grpc.keepalive_timeout_ms", 20_000),
        ("grpc.http2.max_pings_without_data", 0),
    ]


def _channel(
    address: str, credentials: grpc.ChannelCredentials | None, options: list[tuple[str, int]]
) -> grpc.aio.Channel:
    if credentials is None:
        return grpc.aio.insecure_channel(address, options=options)
    return grpc.aio.secure_channel(address, credentials, options=options)
