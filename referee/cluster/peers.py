"""Addresses and certificates of a cluster. Dask executes the code that its clients send, so all connections off the
loopback address use mutual TLS."""

import ipaddress
import shlex
import ssl
import stat
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from referee.errors import UsageError
from referee.wire.public_address import ListenError, check_pair, check_public

PORT = 8786
"""Default port of a scheduler."""

_MOST_NAME = 100


@dataclass(frozen=True, slots=True)
class Certificates:
    """PEM files: the authority that signs all certificates of a cluster, and one certificate with its key."""

    ca: Path
    cert: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Peer:
    """A scheduler's address, with the certificates to connect to it."""

    address: str
    certificates: Certificates | None = None

    @property
    def is_encrypted(self) -> bool:
        return self.certificates is not None


def check_peer(address: str, ca: Path | None, cert: Path | None, key: Path | None) -> Peer:
    """A scheduler to connect to. UsageError for an invalid address, or one that needs TLS without certificates."""
    scheme, host, port = parse_scheduler(address)
    given = _certificates(ca, cert, key)
    if given is None and scheme == "tls":
        raise UsageError(
            f"{address} needs certificates", "give --ca, --cert and --key, or write tcp:// on this machine"
        )
    if given is None and not is_loopback(host):
        what = f"the scheduler {address} is on another machine, and nothing is encrypted without certificates"
        raise UsageError(what, "give --ca, --cert and --key; crosstown cluster certificates FOLDER makes them")
    scheme = "tcp" if given is None else "tls"
    return Peer(f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}", given)


def check_listen(host: str, ca: Path | None, cert: Path | None, key: Path | None) -> Certificates | None:
    """The certificates for a scheduler on `host`. UsageError if it would be open to other machines without TLS."""
    check_host(host)
    given = _certificates(ca, cert, key)
    if given is None and not is_loopback(host):
        what = f"{host} can be reached from other machines, and anyone who connects could run any program here"
        raise UsageError(what, "give --ca, --cert and --key; crosstown cluster certificates FOLDER makes them")
    return given


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def parse_scheduler(address: str) -> tuple[str, str, int]:
    """Scheme, host and port. UsageError for what is no address."""
    text = address if "://" in address else f"tls://{address}"
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port or PORT
        check_public(host)
        known = parts.scheme in ("tls", "tcp") and parts.path in ("", "/")
    except ValueError:
        known = False
    if not known:
        what = f"{address!r} is not the address of a scheduler"
        raise UsageError(what, f"write, for instance, tls://scheduler.example.org:{PORT}")
    given = parts.scheme if "://" in address else ("tcp" if is_loopback(host) else "tls")
    return given, host, port


def check_host(host: str) -> None:
    """UsageError for what is neither an address nor the name of a machine."""
    try:
        check_public(host)
    except ValueError as error:
        raise UsageError(str(error), "write, for instance, 0.0.0.0") from None


def check_name(option: str, name: str) -> None:
    """UsageError for a name that a machine, class or certificate cannot have: names are shown and used for files."""
    if not 1 <= len(name) <= _MOST_NAME or not name.isprintable() or name[0] in ".-" or "/" in name:
        what = f"{option} is one line of at most {_MOST_NAME} characters, without '/' and no '.' or '-' in front"
        raise UsageError(f"{what}, not {name!r}", "choose another one")


def _certificates(ca: Path | None, cert: Path | None, key: Path | None) -> Certificates | None:
    if ca is None and cert is None and key is None:
        return None
    if ca is None or cert is None or key is None:
        raise UsageError("--ca, --cert and --key belong together", "give all three, or none of them")
    for path in (ca, cert, key):
        if not path.is_file():
            raise UsageError(f"{path} is not a file", "check the path")
    if stat.S_IMODE(key.stat().st_mode) & 0o077:
        raise UsageError(
            f"the key {key} can be read by others", f"make it readable by you alone: chmod 600 {shlex.quote(str(key))}"
        )
    try:
        check_pair(cert, key)
        ssl.create_default_context(cafile=ca)
    except ListenError as error:
        raise UsageError(str(error), error.next_step) from None
    except OSError as error:  # an SSLError is one
        what = f"{ca} has no certificate of an authority in PEM ({error.strerror or error})"
        raise UsageError(what, "name the ca.pem that crosstown cluster certificates made") from None
    return Certificates(ca.resolve(), cert.resolve(), key.resolve())
