"""Package registries that need a password: the proxy of fetch phases has it, and the build never does.

The organiser's settings name such a registry with a password in its address, or with npm's token for it. In what a
build sees, `https://` of that host becomes `http://`, without the password. So a package manager asks the proxy for the
file itself, in place of a tunnel; the proxy asks the registry over TLS, with the password, and hands the answer on.
"""

import http.client
import re
import socket
import ssl
import threading
from base64 import b64encode
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

from referee.process.fetch_relay import CHUNK_BYTES

Place: TypeAlias = tuple[str, int]
"""Host in lower case, and port."""

HTTPS = 443
MAX_REWRITTEN_BYTES = 64 << 20

_WITH_PASSWORD = re.compile(r"https://(?P<user>[^\s/:][^\s/]*)@(?P<host>[^\s\"'<>,|/]+)", re.IGNORECASE)
_PASSWORD = re.compile(r"(https?://)[^\s/]*@", re.IGNORECASE)
"""A password may have an @ or a comma in it, as it is: all up to the last @ before the path counts."""
_NPM = re.compile(r"^\s*//(?P<host>[^\s/=]+)/[^\s=]*:(?P<kind>_authToken|_auth)\s*=\s*(?P<value>\S+)\s*$", re.MULTILINE)
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_ASKED_FOR = ("accept", "accept-language", "user-agent", "if-none-match", "if-modified-since", "range")
_HANDED_ON = (
    "content-type",
    "etag",
    "last-modified",
    "location",
    "cache-control",
    "x-pypi-last-serial",
    "content-range",
)
_TEXTS = ("text/", "application/json", "application/vnd.")


def find_credentials(texts: Iterable[str], ours: Mapping[str, str]) -> dict[Place, str]:
    """By registry, what the header Authorization must be: from passwords in addresses, and from npm's tokens, which may
    name variables of `ours`."""
    found: dict[Place, str] = {}
    for text in texts:
        for match in _NPM.finditer(text):
            value = _VARIABLE.sub(lambda name: ours.get(name[1], ""), match["value"].strip("\"'"))
            place = _place(f"//{match['host']}")
            if place is not None and value:
                found[place] = f"{'Bearer' if match['kind'] == '_authToken' else 'Basic'} {value}"
        for match in _WITH_PASSWORD.finditer(text):
            if (place := _place(f"//{match['host']}")) is not None:
                found[place] = basic(match["user"])
    return found


def basic(user: str) -> str:
    """The header for a name and password as they stand in an address: `ann:p%40ss`. `urlsplit` does not take all that
    people write there, such as a `[`."""
    name, _, password = user.partition(":")
    words = f"{unquote(name)}:{unquote(password)}".encode("utf-8", "surrogateescape")
    return f"Basic {b64encode(words).decode()}"


def _place(url: str) -> Place | None:
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.hostname:
            return parts.hostname.lower(), parts.port or HTTPS
    return None


def without_passwords(text: str) -> str:
    """A text of the organiser's, settings or the value of a variable, with no password in an address."""
    return _PASSWORD.sub(r"\1", text)


def without_credentials(text: str, places: Iterable[Place]) -> str:
    """The text as a build may see it: with no password in an address, and `http://` for the registries in `places`."""
    # A password may have an @ in it, as it is.
    text = re.sub(r"(https?://)(?:[^\s\"'<>,|/@]*@)+", r"\1", text, flags=re.IGNORECASE)
    for host, port in places:
        ending = rf"(?::{port})?(?![\w.:-])" if port == HTTPS else rf":{port}(?!\d)"
        shown = host if port == HTTPS else f"{host}:{port}"
        text = re.sub(rf"https://{re.escape(host)}{ending}", f"http://{shown}", text, flags=re.IGNORECASE)
    return text


def place_of(target: str) -> Place | None:
    """The registry that an address with `http://` stands for."""
    with suppress(ValueError):
        parts = urlsplit(target)
        if parts.scheme == "http" and parts.hostname and not parts.username:
            return parts.hostname.lower(), parts.port or HTTPS
    return None


def carry(
    client: socket.socket,
    server: socket.socket,
    head: str,
    place: Place,
    authorization: str,
    places: Iterable[Place],
    context: ssl.SSLContext,
    idle_s: float,
    rewriting: threading.Semaphore,
) -> None:
    """Ask the registry at the other end of `server` for what `head` asks for, and hand the answer on. `rewriting` is
    held while an answer is changed. OSError."""
    if not head.isascii() or any(not (" " <= char <= "~") for char in head.replace("\r\n", "")):
        raise OSError("a request with control characters")
    first, *lines = head.split("\r\n")
    method, target, *_ = first.split(" ")
    parts = urlsplit(target)
    path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    host, port = place
    asked = [f"{method} {path} HTTP/1.1", f"Host: {host if port == HTTPS else f'{host}:{port}'}"]
    asked += [line for line in lines if line.partition(":")[0].strip().lower() in _ASKED_FOR]
    asked += [f"Authorization: {authorization}", "Accept-Encoding: identity", "Connection: close", "", ""]
    with context.wrap_socket(server, server_hostname=host) as secured:
        secured.settimeout(idle_s)
        secured.sendall("\r\n".join(asked).encode("latin-1"))
        answer = http.client.HTTPResponse(secured, method=method)
        try:
            answer.begin()
            _hand_on(client, answer, list(places), method, rewriting)
        except http.client.HTTPException as error:
            raise OSError(f"the registry's answer cannot be read: {error}") from None


def _hand_on(
    client: socket.socket,
    answer: http.client.HTTPResponse,
    places: list[Place],
    method: str,
    rewriting: threading.Semaphore,
) -> None:
    kind = answer.headers.get("content-type", "").lower()
    if method != "HEAD" and kind.startswith(_TEXTS):
        with rewriting:  # each text is in memory several times, and a build may ask for many at once
            body = answer.read(MAX_REWRITTEN_BYTES + 1)
            if len(body) > MAX_REWRITTEN_BYTES:
                raise OSError("the registry's list is too long")
            body = without_credentials(body.decode("latin-1"), places).encode("latin-1")
            client.sendall(_head_of(answer, places, len(body)))
            client.sendall(body)
        return
    client.sendall(_head_of(answer, places, answer.headers.get("content-length")))
    while method != "HEAD" and (chunk := answer.read(CHUNK_BYTES)):
        client.sendall(chunk)


def _head_of(answer: http.client.HTTPResponse, places: list[Place], length: int | str | None) -> bytes:
    head = [f"HTTP/1.1 {answer.status} {answer.reason}"]
    for name in _HANDED_ON:
        if (value := answer.headers.get(name)) is not None:
            head.append(f"{name}: {without_credentials(value, places)}")
    if length is not None:
        head.append(f"content-length: {length}")
    return "\r\n".join([*head, "connection: close", "", ""]).encode("latin-1")
