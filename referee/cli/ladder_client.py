"""A ladder's `/api/v1` as its authors' commands use it: requests that are tried again, and the file of tokens."""

import http.client
import json
import os
import shlex
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from referee.errors import ExpectedError, PlatformError, UsageError
from referee.folders import configuration_folder
from referee.record.files import read_ordinary
from referee.texts import one_line
from referee.wire.public_address import LOOPBACK, check_public

PREFIX = "/api/v1"
TOKEN_VARIABLE = "CROSSTOWN_LADDER_TOKEN"  # noqa: S105 - its name
TIMEOUT_S = 60.0
"""Without a sign of life from the server."""

MOST_TRIES = 6
_BACK_OFF_S = 0.5
_MOST_WAIT_S = 30.0
_AGAIN = (429, 502, 503, 504)
"""Answers after which the same request may succeed."""

_NOT_FOUND = (404, 405)
_FIRST_SERVER_ERROR = 500
"""From here on an answer says that the server failed, such as on a full disk, and not the request."""

_MOST_ANSWER_BYTES = 16 << 20
_MOST_TOKENS_BYTES = 1 << 20


class LadderRefusedError(ExpectedError):
    """The ladder's own refusal of a request. `status` is that of HTTP."""

    def __init__(self, status: int, what: str, next_step: str) -> None:
        super().__init__(what, next_step)
        self.status = status


@dataclass(frozen=True, slots=True)
class Answer:
    """`status` below 400, and the JSON of the body."""

    status: int
    values: Any


def check_address(text: str, *, plain_http: bool = False) -> str:
    """The address of a ladder, without a slash at its end. UsageError, also for one to which a token would go
    unencrypted over a network."""
    address = text if "://" in text else f"https://{text}"
    example = "write it as in the browser, such as https://games.example"
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"{text!r} is not an address ({error})", example) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise UsageError(f"{text!r} is not the address of a ladder", example)
    try:
        check_public(parts.hostname)
    except ValueError:
        raise UsageError(f"{text!r} is not an address: {parts.hostname!r} is not a host", example) from None
    if not parts.path.isascii() or not parts.path.isprintable() or " " in parts.path:
        raise UsageError(f"{text!r} is not the address of a ladder", example)
    if parts.scheme == "http" and parts.hostname not in LOOPBACK and not plain_http:
        raise UsageError(
            f"{address} is not encrypted: others on the network could read your token",
            "use https://, or --plain-http in a network that you trust",
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{'' if port is None else f':{port}'}{parts.path.rstrip('/')}"


class LadderClient:
    """One ladder. Redirects are not followed: a token goes to this address and no other."""

    def __init__(
        self,
        address: str,
        token: str = "",
        *,
        note: Callable[[str], None] = lambda _: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`note` is called with a sentence for each failed try."""
        self.address = address
        self.token = token
        self._note = note
        self._sleep = sleep

    def get(self, path: str) -> Any:
        """What the ladder answers. LadderRefusedError; PlatformError if it cannot be reached."""
        return self._request("GET", path, b"", {}).values

    def post(self, path: str, values: Mapping[str, Any], *, repeatable: bool = False) -> Any:
        """Not tried again once it may have been carried out, unless it is `repeatable`."""
        body = json.dumps(values).encode()
        return self._request("POST", path, body, {"Content-Type": "application/json"}, repeatable=repeatable).values

    def send(self, path: str, body: bytes, kind: str, key: str) -> Answer:
        """Sends a body under an idempotency key, again and again until there is an answer."""
        return self._request("POST", path, body, {"Content-Type": kind, "Idempotency-Key": key})

    def _request(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str], *, repeatable: bool = True
    ) -> Answer:
        last = ""
        for number in range(MOST_TRIES):
            if number:
                wait_s = min(_MOST_WAIT_S, _BACK_OFF_S * 2 ** (number - 1))
                self._note(f"{last}; once more in {wait_s:g} s")
                self._sleep(wait_s)
            try:
                status, answer = self._once(method, path, body, headers)
            except (OSError, http.client.HTTPException) as error:
                if isinstance(error, ssl.SSLCertVerificationError):
                    step = "check the address; for a certificate of your own set SSL_CERT_FILE to its file"
                    raise PlatformError(
                        f"{self.address}: its certificate is not accepted ({error.verify_message})", step
                    ) from None
                last = f"{self.address} cannot be reached ({one_line(error) or type(error).__name__})"
                if isinstance(error, socket.gaierror) and error.errno == socket.EAI_NONAME:
                    break
                if not repeatable and not isinstance(error, ConnectionRefusedError):
                    break
                continue
            if status not in _AGAIN or not repeatable:
                return _checked(status, answer, signed=bool(self.token))
            last = f"{self.address} answers: {_problem(status, answer, signed=False)[0]}"
        raise PlatformError(last, "check the address and your network, and try again; nothing is handed in twice")

    def _once(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, bytes]:
        parts = urlsplit(self.address)
        assert parts.hostname is not None
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname, parts.port, timeout=TIMEOUT_S)
        try:
            given = {"Accept": "application/json", **headers}
            if self.token:
                given["Authorization"] = f"Bearer {self.token}"
            broken: OSError | None = None
            try:
                connection.request(method, f"{parts.path}{PREFIX}{path}", body or None, given)
            except (BrokenPipeError, ConnectionResetError) as error:
                broken = error  # the server may have refused it before it had all: its answer says why
            try:
                found = connection.getresponse()
            except (OSError, http.client.HTTPException):
                raise broken or ConnectionError("the connection broke") from None
            return found.status, found.read(_MOST_ANSWER_BYTES)
        finally:
            connection.close()


def _checked(status: int, answer: bytes, *, signed: bool) -> Answer:
    """`signed`: whether a token was sent."""
    if status >= 400:
        what, step = _problem(status, answer, signed=signed)
        if status in _NOT_FOUND and not step:
            raise _no_ladder()
        step = step or "see the ladder's pages"
        raise PlatformError(what, step) if status >= _FIRST_SERVER_ERROR else LadderRefusedError(status, what, step)
    try:
        values = json.loads(answer, object_hook=_Values)
    except (ValueError, RecursionError):
        raise _no_ladder() from None
    if not isinstance(values, _Values):
        raise _no_ladder()
    return Answer(status, values)


class _Values(dict[str, Any]):
    """An object of an answer. Who asks for what is not in it has asked another program than a ladder."""

    def __missing__(self, key: str) -> Any:
        raise _no_ladder()


def _no_ladder() -> UsageError:
    step = (
        "use the address of the ladder's front page; if it is that, the ladder may have an older version of Crosstown"
    )
    return UsageError("the address answers, but not as a ladder does", step)


def _problem(status: int, answer: bytes, *, signed: bool) -> tuple[str, str]:
    """What is wrong and what to do, '' if it does not say."""
    what, step = f"HTTP status {status}", ""
    with suppress(ValueError, RecursionError, AttributeError, TypeError, KeyError):
        values = json.loads(answer)
        what, step = one_line(values["error"]), one_line(values.get("next_step", ""))
    if status == 401 and signed:
        step = "sign in again: crosstown login URL"
    return what, step


def bot_page(name: str) -> str:
    """The path of a bot's page."""
    return f"/bots/{quote(name, safe='')}"


def bot_path(name: str, number: int | None = None) -> str:
    """Of a bot's versions, or of one of them."""
    path = f"{bot_page(name)}/versions"
    return path if number is None else f"{path}/{number}"


# The file of tokens

_ONE_MORE_BYTES = 4096
"""What another address and its token take there, with room to spare."""


def tokens_file() -> Path:
    """Where `crosstown login` keeps tokens, for this user alone."""
    return configuration_folder() / "ladders.json"


def check_place() -> None:
    """PlatformError or UsageError where no token can be kept. An invitation that was used is gone, so this comes
    first."""
    path = tokens_file()
    size = len(json.dumps(_kept(path), indent=2)) + _ONE_MORE_BYTES
    try:
        with os.fdopen(_open_half(path), "wb") as file:
            file.write(bytes(size))  # on a full disk there is still room for an empty file
        _half_of(path).unlink()
    except OSError as error:
        with suppress(OSError):
            _half_of(path).unlink()
        raise _not_written(path, error) from None


def keep_token(address: str, token: str) -> Path:
    """Keep it, and use this ladder where none is named. PlatformError."""
    path = tokens_file()
    kept = {**_kept(path), address: token}
    kept = {address: kept.pop(address), **kept}  # the last one is the first
    try:
        with os.fdopen(_open_half(path), "w", encoding="utf-8") as file:
            json.dump({"tokens": kept}, file, indent=2)
        _half_of(path).rename(path)
    except OSError as error:
        raise _not_written(path, error) from None
    return path


def _half_of(path: Path) -> Path:
    """Takes the place of the file when it is complete."""
    return path.with_name(f"{path.name}.half")


def _open_half(path: Path) -> int:
    """A new file to write, for this user alone. PlatformError."""
    half = _half_of(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        half.unlink(missing_ok=True)
        return os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise _not_written(path, error) from None


def _not_written(path: Path, error: OSError) -> PlatformError:
    step = f"name a folder that you can write with XDG_CONFIG_HOME, or set {TOKEN_VARIABLE} instead of signing in"
    return PlatformError(f"{path}: cannot be written ({error.strerror})", step)


def find_token(address: str | None) -> tuple[str, str]:
    """Address and token: of the ladder that is named, or of the one that was signed in to last. UsageError."""
    path = tokens_file()
    kept = _kept(path)
    given = os.environ.get(TOKEN_VARIABLE, "").strip()
    if given and not is_token(given):
        raise UsageError(f"{TOKEN_VARIABLE} is not a token", "copy it whole from the page where it was shown")
    if address is None:
        if not kept:
            named = "name the address of the ladder, or " if given else ""
            raise UsageError("there is no ladder that you have signed in to", f"{named}sign in: crosstown login URL")
        address = next(iter(kept))
    token = given or kept.get(address, "")
    if not token:
        raise UsageError(f"you have not signed in to {address}", f"crosstown login {shlex.quote(address)}")
    return address, token


def is_token(text: str) -> bool:
    """Whether it could be one: a header takes nothing else, and the error would show it."""
    return text.isascii() and text.isprintable() and bool(text)


def _kept(path: Path) -> dict[str, str]:
    try:
        found = path.stat()
        if found.st_mode & 0o077:
            raise UsageError(
                f"{path}: others can read your tokens", f"make it yours alone: chmod 600 {shlex.quote(str(path))}"
            )
        values = json.loads(read_ordinary(path, _MOST_TOKENS_BYTES))["tokens"]
        return {str(address): str(token) for address, token in values.items()}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise PlatformError(f"{path}: cannot be read ({error.strerror})", "check its rights") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UsageError(f"{path} is damaged", "remove it, and sign in again: crosstown login URL") from None
