"""Where bots from other machines find the referee: an address, and the certificate that proves it is the referee."""

import errno
import fcntl
import ipaddress
import re
import shlex
import shutil
import socket
import ssl
import stat
import subprocess
import time
from collections.abc import Set
from dataclasses import dataclass
from pathlib import Path

from referee.errors import ExpectedError
from referee.folders import why_no_program

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""What this machine alone calls itself."""

_OPENSSL_LIMIT_S = 30.0
_DAYS = 60
_FRESH_S = 20 * 86400
"""A run may take weeks: a certificate that is taken again is good for twice as long still."""

# Not the certificate of an authority, though it signs itself: Rust's TLS takes none of those for a server's.
_REQUEST = """\
[req]
distinguished_name = name
x509_extensions = extensions
prompt = no
[name]
commonName = crosstown
[extensions]
basicConstraints = critical, CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = {names}
"""
_HOST = re.compile(r"(?=.{1,253}\Z)[A-Za-z0-9_]([A-Za-z0-9_-]{0,62})(\.[A-Za-z0-9_-]{1,63})*")
_MAX_PORT = 65535
_MOST_SHOWN = 60


KEEPALIVE_S = 75.0


class ListenError(ExpectedError):
    """Nothing can be listened on."""


@dataclass(frozen=True, slots=True)
class Listen:
    """`host` is a name or an address of this machine, 0.0.0.0 or :: for all of them; `port` 0 takes a free one.

    `certificate` and `key` are PEM files, the certificate first in its file, then who signed it. A `plain` connection
    needs none: anyone on the way can read tokens and play in a bot's name. A connection whose other end gives no sign
    of life is found to be broken within `keepalive_s`.
    """

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None
    plain: bool = False
    keepalive_s: float = KEEPALIVE_S


def parse_address(text: str) -> tuple[str, int]:
    """HOST:PORT, an IPv6 address in brackets. ValueError with a sentence."""
    host, colon, port = text.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not colon or not bare or (":" in bare and bare == host) or any(mark in bare for mark in " /%,"):
        raise ValueError(f"{_shown(text)} is not HOST:PORT, such as 0.0.0.0:7000 or [::1]:7000")
    if not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > _MAX_PORT:
        raise ValueError(f"the port of {_shown(text)} is not a number from 0 to {_MAX_PORT}")
    return bare, int(port)


def join_address(host: str, port: int) -> str:
    """Inverse of `parse_address`."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def check_pair(certificate: Path, key: Path) -> None:
    """ListenError if these are no certificate and the key that belongs to it."""
    for path in (certificate, key):
        try:
            if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for without end
                raise OSError(errno.EINVAL, "it is not an ordinary file")
            path.open("rb").close()
        except OSError as error:
            raise ListenError(f"{path}: cannot be read ({error.strerror})", "check the path and its rights") from None
    if stat.S_IMODE(key.stat().st_mode) & 0o007:  # a group may be there for those who need it
        raise ListenError(f"{key}: every user of this machine can read this key", f"chmod o= {shlex.quote(str(key))}")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=_no_password)
    except (ssl.SSLError, ValueError) as error:
        what = f"{certificate} and {key} are not a certificate and its key in PEM, without a password ({error})"
        raise ListenError(what, "name the two files of one certificate") from None


def own_certificate(folder: Path, listen_on: str, public: str = "") -> tuple[Path, Path]:
    """A certificate that signs itself and its key, in `folder`, for trials: the one that lies there while it is fresh
    and good for these names, else a new one. `public` is by what name or address bots reach this machine; it has a
    certificate of its own, in a folder of that name.

    Bots are given the certificate as their CROSSTOWN_TLS_CA. ListenError where it cannot be made.
    """
    names = _names(listen_on, public)
    folder = folder / public
    pair = folder / "certificate.pem", folder / "key.pem"
    noted = folder / "names"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:  # two commands may want it at the same time
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not _is_fresh(pair[1], noted, names):
                noted.unlink(missing_ok=True)
                _make_certificate(*pair, _REQUEST.format(names=",".join(sorted(names | _addresses()))))
                noted.write_text("\n".join(sorted(names)))
    except OSError as error:
        what = f"no certificate could be made: {error.filename}: {error.strerror}"
        raise ListenError(what, "give a certificate and its key") from None
    return pair


def _is_fresh(key: Path, noted: Path, names: Set[str]) -> bool:
    try:
        return time.time() - key.stat().st_mtime < _FRESH_S and set(noted.read_text().split("\n")) == names
    except (OSError, ValueError):
        return False


def _make_certificate(certificate: Path, key: Path, request: str) -> None:
    program = shutil.which("openssl")
    if program is None:
        why, step = why_no_program("openssl", "install openssl")
        raise ListenError(f"no certificate was given, and {why}", f"{step}, or give a certificate and its key")
    new = [path.with_suffix(".new") for path in (certificate, key)]
    command = [
        *(program, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
        *("-keyout", str(new[1]), "-out", str(new[0]), "-days", str(_DAYS)),
        *("-config", "/dev/stdin"),
    ]
    try:
        new[1].unlink(missing_ok=True)
        new[1].touch(mode=0o600)
        done = subprocess.run(
            command, input=request, capture_output=True, text=True, timeout=_OPENSSL_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        what = f"openssl made no certificate in {_OPENSSL_LIMIT_S:g} s"
        raise ListenError(what, "give a certificate and its key") from None
    if done.returncode != 0:
        words = (done.stderr.strip().splitlines() or ["no word of why"])[-1]
        raise ListenError(f"openssl made no certificate: {words}", "give a certificate and its key") from None
    for path, made in zip((key, certificate), reversed(new), strict=True):
        made.replace(path)


def check_public(text: str) -> None:
    """ValueError for what is no name of a machine, nor an address of one."""
    if not _is_address(text) and _HOST.fullmatch(text) is None:
        raise ValueError(f"{_shown(text)} is not the name of a machine, such as referee.example.org, nor an address")


def _names(host: str, public: str) -> set[str]:
    """What the referee may be called by who connects to it, whatever addresses this machine has today."""
    found = {*LOOPBACK, _this_machine()}
    if not _is_any(host):
        found.add(host)
    if public:
        found.add(public)
    return _alternative(found)


def _addresses() -> set[str]:
    """Those that this machine has now. They change, so a certificate without one of them is kept all the same."""
    try:
        return _alternative({str(item[4][0]) for item in socket.getaddrinfo(_this_machine(), None)})
    except OSError:  # this machine does not know itself by name
        return set()


def _alternative(names: Set[str]) -> set[str]:
    return {f"{'IP' if _is_address(item) else 'DNS'}:{item}" for item in names if "%" not in item}


def reached_at(host: str, port: int, public: str = "") -> str:
    """The address that others use to reach a listener on `host`: by the name that was given for it, if any."""
    return join_address(public or (_this_machine() if _is_any(host) else host), port)


def _this_machine() -> str:
    """By what name others are most likely to reach it."""
    return socket.gethostname()


def _is_any(host: str) -> bool:
    """Whether `host` stands for all addresses of this machine."""
    return _is_address(host) and ipaddress.ip_address(host).is_unspecified


def _shown(text: str) -> str:
    return repr(text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}...")


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _no_password() -> str:
    return ""
