"""The only way out of a fetch phase: a proxy that connects to listed hosts by CONNECT, and never to this machine.

It runs in the process that builds, on a unix socket that the sandbox of the fetch phase shows. A host is listed for the
bot's language (`data/fetch_hosts.toml`), by the organiser's own list, or because the organiser's settings of package
managers name it, as far as a build may see them. Names are resolved here, once, and every address is checked before it
is used, so a name that leads to loopback or to a private network leads nowhere.
"""

import errno
import ipaddress
import re
import shutil
import socket
import ssl
import threading
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from referee.errors import ExpectedError, why_unread
from referee.folders import make_socket_folder, refuse_descriptors
from referee.process.build_settings import environment
from referee.process.fetch_relay import pump
from referee.process.registries import HTTPS, Place, basic, carry, place_of, without_credentials

HOSTS_VARIABLE = "CROSSTOWN_FETCH_HOSTS"
"""Names a file of the form of `data/fetch_hosts.toml`."""

RELAY_PORT = 3128
"""On the loopback of the sandbox, which nothing else uses."""

MAX_CONNECTIONS = 64
MAX_REWRITING = 2
"""Texts of registries with a password, of up to 64 MiB, that are rewritten at the same time."""
MAX_REFUSED = 100
"""Hosts that are remembered because they were refused: a build may ask for any number."""

HEAD_BYTES = 8192
HEAD_S = 10.0
CONNECT_S = 30.0
IDLE_S = 120.0

_KEYS = {"files", "hosts", "private_hosts"}
_PORT = re.compile(r"[0-9]{1,5}")
_URL = re.compile(r"https://[^\s\"'<>,|]+", re.IGNORECASE)
_CLOSED_NETWORKS = tuple(
    map(
        ipaddress.ip_network,
        (
            *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
            *("192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4"),
            *("::/128", "::1/128", "fc00::/7", "fe80::/10", "ff00::/8"),
        ),
    )
)
"""Unspecified, private, shared (carrier) and link-local addresses, loopback, benchmarks, multicast, reserved."""

_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")


class FetchHostsError(ExpectedError):
    """A list of hosts that cannot be used. The sentence names the file."""


@dataclass(frozen=True, slots=True)
class FetchHosts:
    """(host, port) pairs, hosts in lower case. Those in `private` may resolve to private addresses and loopback."""

    allowed: frozenset[tuple[str, int]] = frozenset()
    private: frozenset[tuple[str, int]] = frozenset()


def find_hosts(folder: Path, ours: Mapping[str, str], settings: Iterable[str] = ()) -> FetchHosts:
    """The hosts for the bot in `folder`.

    `ours` is the organiser's environment, `settings` the texts of the organiser's settings of package managers: hosts
    of https addresses in these texts, and in the variables that a build sees, are allowed, too. Raises FetchHostsError.
    """
    tables = _read(Path(__file__).with_name("data") / "fetch_hosts.toml")
    if own := ours.get(HOSTS_VARIABLE):
        tables |= _read(Path(own))
    chosen = [table for table in tables.values() if any((folder / name).exists() for name in table.get("files", ()))]
    private = {_place(host) for table in tables.values() for host in table.get("private_hosts", ())}
    named = {_place(host) for table in chosen for key in ("hosts", "private_hosts") for host in table.get(key, ())}
    seen = environment(ours, confined=True)
    texts = [value for name, value in seen.items() if not name.lower().endswith("_proxy")]
    return FetchHosts(frozenset({*named, *_hosts_in([*texts, *settings])}), frozenset(private))


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        if not path.is_file() and path.exists():  # such as a pipe, which would be waited for without end
            raise OSError(errno.EINVAL, "it is not an ordinary file")
        tables: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except RecursionError:
        raise FetchHostsError(f"{path}: nested too deeply", "write it flat") from None
    except (OSError, ValueError) as error:
        raise FetchHostsError(
            f"{path}: cannot be read ({why_unread(error)})", f"correct the file or unset {HOSTS_VARIABLE}"
        ) from None
    for name, table in tables.items():
        if not isinstance(table, dict) or not set(table) <= _KEYS or not all(map(_is_list_of_text, table.values())):
            keys = ", ".join(sorted(_KEYS))
            raise FetchHostsError(f"{path}: [{name}] must be a table with lists of text named {keys}", "correct it")
    return tables


def _place(host: str) -> tuple[str, int]:
    """Of `host` or `host:port`."""
    name, _, port = host.lower().rpartition(":")
    return (name, int(port)) if name and _PORT.fullmatch(port) else (host.lower(), HTTPS)


def _is_list_of_text(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item for item in value)


def _hosts_in(texts: Iterable[str]) -> Iterable[tuple[str, int]]:
    for text in texts:
        for url in _URL.findall(text):
            with suppress(ValueError):
                parts = urlsplit(url)
                if parts.hostname:
                    yield parts.hostname.lower(), parts.port or HTTPS


class FetchProxy:
    """Listens on `path` while it is entered. `refused` holds a sentence for each host that was asked for in vain, of
    the first `MAX_REFUSED`."""

    def __init__(
        self, hosts: FetchHosts, ours: Mapping[str, str], credentials: Mapping[Place, str] | None = None
    ) -> None:
        """`ours`: the organiser's environment, of which a proxy on the way to the internet is used, and the certificate
        authorities for registries with `credentials`."""
        self._hosts = hosts
        self._credentials = credentials or {}
        self._authorities = ours.get("SSL_CERT_FILE") or None
        self._upstream = ours.get("https_proxy") or ours.get("HTTPS_PROXY") or ""
        self._folder = make_socket_folder()
        self.path = self._folder / "proxy.sock"
        self.refused: dict[str, str] = {}
        self._listener = socket.socket(socket.AF_UNIX)
        self._places = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._rewriting = threading.BoundedSemaphore(MAX_REWRITING)
        self._open: set[socket.socket] = set()
        self._ended = False

    def __enter__(self) -> Self:
        """Raises OSError."""
        try:
            refuse_descriptors(self._listener)
            self._listener.bind(str(self.path))
            self.path.chmod(0o600)
            self._listener.listen(MAX_CONNECTIONS)
        except OSError:
            self.__exit__(None, None, None)
            raise
        threading.Thread(target=self._accept, name="fetch proxy", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended = True
        for end in (self._listener, *self._open):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _accept(self) -> None:
        while not self._ended:
            self._places.acquire()
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), name="fetch connection", daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        self._open.add(client)
        server: socket.socket | None = None
        try:
            client.settimeout(HEAD_S)
            head = _read_head(client)
            first = head.split("\r\n", 1)[0]
            if (place := self._registry(first)) is not None:
                server = self._reach(*place)
                self._open.add(server)
                client.settimeout(IDLE_S)
                context = ssl.create_default_context(cafile=self._authorities)
                credentials = self._credentials
                carry(client, server, head, place, credentials[place], credentials, context, IDLE_S, self._rewriting)
                return
            server = self._connect(first)
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            self._open.add(server)
            for end in (client, server):
                end.settimeout(IDLE_S)
            pump(client, server, IDLE_S)
        except _Refused as refusal:
            if len(self.refused) < MAX_REFUSED:
                self.refused[refusal.what] = str(refusal)
            with suppress(OSError):
                client.sendall(f"HTTP/1.1 403 {refusal}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        except OSError:
            with suppress(OSError):
                client.sendall(b"HTTP/1.1 502 Host cannot be reached\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        finally:
            for end in filter(None, (client, server)):
                end.close()
                self._open.discard(end)
            self._places.release()

    def _connect(self, head: str) -> socket.socket:
        method, _, rest = head.partition(" ")
        target = rest.split(" ")[0]
        if method != "CONNECT":
            raise _Refused(target, f"only https through CONNECT is carried, not {method}: use an https address")
        host, _, port = target.rpartition(":")
        host = host.strip("[]").rstrip(".").lower()
        if not _PORT.fullmatch(port):
            raise _Refused(target, f"{target} is not a host with a port")
        return self._reach(host, int(port))

    def _registry(self, first: str) -> Place | None:
        """The registry with credentials that a request is for; None for any other request."""
        method, _, rest = first.partition(" ")
        if method not in ("GET", "HEAD"):
            return None
        place = place_of(rest.split(" ")[0])
        return place if place in self._credentials else None

    def _reach(self, host: str, port: int) -> socket.socket:
        target = f"{host}:{port}"
        if (host, port) not in self._hosts.allowed:
            raise _Refused(
                target, f"{target} is not a host that this build may reach; an organiser can list it ({HOSTS_VARIABLE})"
            )
        if self._upstream:
            return self._through_upstream(host, port)
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = [str(info[4][0]) for info in found]
        if (host, port) not in self._hosts.private and any(map(_is_closed, addresses)):
            raise _Refused(target, f"{target} leads to a private address; list it in private_hosts ({HOSTS_VARIABLE})")
        trouble = OSError(f"{host} has no address")
        for address in addresses:
            try:
                return socket.create_connection((address, port), CONNECT_S)
            except OSError as error:
                trouble = error
        raise trouble

    def _through_upstream(self, host: str, port: int) -> socket.socket:
        """Through the proxy that this machine uses itself, which then resolves the name."""
        user, _, address = (self._upstream.partition("//")[2] or self._upstream).rpartition("@")
        try:
            parts = urlsplit(f"//{address}")
            place = parts.hostname or "", parts.port or 80
        except ValueError as error:
            raise OSError(f"the address of this machine's proxy cannot be read: {error}") from None
        server = socket.create_connection(place, CONNECT_S)
        try:
            lines = [f"CONNECT {host}:{port} HTTP/1.1", f"Host: {host}:{port}"]
            if user:
                lines.append(f"Proxy-Authorization: {basic(user)}")
            server.sendall("\r\n".join([*lines, "", ""]).encode())
            answer = _read_head(server).split("\r\n", 1)[0].split(" ")
            if len(answer) < 2 or answer[1] != "200":
                raise OSError(f"the proxy of this machine answered {' '.join(answer)}")
        except BaseException:
            server.close()
            raise
        return server


class _Refused(Exception):
    """A request that is not carried: `what` was asked for, and a sentence of why."""

    def __init__(self, what: str, why: str) -> None:
        what = re.sub(r"[^!-~]", "?", what[:200])
        super().__init__(re.sub(r"[^ -~]", "?", why[:400]))
        self.what = what


def _read_head(client: socket.socket) -> str:
    """A request or answer, read to the end of its head."""
    head = b""
    while b"\r\n\r\n" not in head:
        chunk = client.recv(1)  # not a byte of what follows
        if not chunk or len(head) >= HEAD_BYTES:
            raise OSError("no whole request")
        head += chunk
    return head.removesuffix(b"\r\n\r\n").decode("ascii", "replace")


def _is_closed(address: str) -> bool:
    found = ipaddress.ip_address(address.split("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        found = found.ipv4_mapped or found.sixtofour or _translated(found) or found
    return any(found in network for network in _CLOSED_NETWORKS if network.version == found.version)


def _translated(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that a NAT64 gateway makes of it (RFC 6052)."""
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in _TRANSLATED else None


def fetch_environment(seen: Mapping[str, str], places: Iterable[Place]) -> dict[str, str]:
    """The environment of a fetch phase, of what a build sees: with the proxy, without passwords, and without scripts of
    npm's packages, which a build can run later, without a network. `places` are the registries with credentials."""
    places = list(places)
    shown = {name: without_credentials(value, places) for name, value in seen.items()}
    hosts = [host for host, _ in places]
    trusted = {"PIP_TRUSTED_HOST": " ".join([*shown.get("PIP_TRUSTED_HOST", "").split(), *hosts])} if hosts else {}
    return {"npm_config_ignore_scripts": "true", **shown, **trusted, **proxy_environment(shown)}


def proxy_environment(ours: Mapping[str, str]) -> dict[str, str]:
    """What tells package managers of the proxy, inside the sandbox. Java's know no variables but their options."""
    url = f"http://127.0.0.1:{RELAY_PORT}"
    names = ("https_proxy", "http_proxy", "all_proxy")
    java = " ".join(f"-D{kind}.proxyHost=127.0.0.1 -D{kind}.proxyPort={RELAY_PORT}" for kind in ("http", "https"))
    return {
        **dict.fromkeys((*names, *map(str.upper, names)), url),
        **{name: f"{ours.get(name, '')} {java}".strip() for name in ("MAVEN_OPTS", "GRADLE_OPTS")},
        "no_proxy": "",
        "NO_PROXY": "",
    }
