"""Registries that need a password: the proxy says it, and nothing that a build sees has it."""

import socket
import ssl
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from referee.process.build_settings import copy_settings, environment
from referee.process.fetch_proxy import MAX_REWRITING, FetchHosts, FetchProxy, fetch_environment, find_hosts
from referee.process.registries import find_credentials, place_of, without_credentials
from referee.wire.public_address import own_certificate

PASSWORD = "s3cret/of us"
BASIC = f"Basic {b64encode(f'ann:{PASSWORD}'.encode()).decode()}"
URL = "https://ann:s3cret%2Fof%20us@packages.school.example:8443/simple"
PLACE = ("packages.school.example", 8443)


def test_passwords_in_addresses_and_tokens_of_npm_are_found() -> None:
    npmrc = "//npm.school.example/:_authToken=${NPM_WORD}\n//other.example/npm/:_auth=YTpi\nregistry=https://npm.school.example/\n"
    found = find_credentials([f"index-url = {URL}\n", npmrc], {"NPM_WORD": "abc"})
    assert found == {
        PLACE: BASIC,
        ("npm.school.example", 443): "Bearer abc",
        ("other.example", 443): "Basic YTpi",
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"index-url = {URL}\n", "index-url = http://packages.school.example:8443/simple\n"),
        ("https://Packages.School.Example:8443", "http://packages.school.example:8443"),
        ("https://packages.school.example:84430/x", "https://packages.school.example:84430/x"),
        ("https://packages.school.example/x", "https://packages.school.example/x"),
        ("https://packages.school.example.evil:8443/x", "https://packages.school.example.evil:8443/x"),
        ("https://bob:pw@elsewhere.example/x", "https://elsewhere.example/x"),
        ("https://bob:p@w@elsewhere.example/x", "https://elsewhere.example/x"),
        ("https://bob:@@packages.school.example:8443/x", "http://packages.school.example:8443/x"),
        ("https://registry.example/@scope/name", "https://registry.example/@scope/name"),
    ],
)
def test_what_a_build_sees_has_no_password(text: str, shown: str) -> None:
    assert without_credentials(text, [PLACE]) == shown


def test_a_registry_on_the_usual_port_is_known_with_and_without_it() -> None:
    place = ("packages.example", 443)
    for text in ("https://packages.example/x", "https://packages.example:443/x"):
        assert without_credentials(text, [place]) == "http://packages.example/x"
    assert place_of("http://packages.example/x") == place
    assert place_of("https://packages.example/x") is None
    assert place_of("http://ann@packages.example/x") is None


def test_settings_and_variables_of_a_build_are_without_it(tmp_path: Path) -> None:
    user, home = tmp_path / "user", tmp_path / "home"
    home.mkdir()
    (user / ".config" / "pip").mkdir(parents=True)
    (user / ".config" / "pip" / "pip.conf").write_text(f"[global]\nindex-url = {URL}\n")
    (user / ".npmrc").write_text("registry=https://npm.example/\n//npm.example/:_authToken=abc123\n")
    ours = {"HOME": str(user), "PATH": "", "GOPROXY": "https://go:pw@go.example", "https_proxy": "http://a:pw@proxy:1"}
    settings = copy_settings(ours, home)
    laid = [path.read_text() for path in home.rglob("*") if path.is_file()]
    assert "http://packages.school.example:8443/simple" in "".join(laid)
    assert "registry=http://npm.example/" in "".join(laid)
    seen = environment(ours, confined=True)
    assert seen["GOPROXY"] == "https://go.example"
    fetching = fetch_environment(seen, settings.credentials)
    assert fetching["GOPROXY"] == "http://go.example"
    assert set(fetching["PIP_TRUSTED_HOST"].split()) == {"packages.school.example", "npm.example", "go.example"}
    assert fetching["npm_config_ignore_scripts"] == "true"
    for text in (*laid, *seen.values(), *fetching.values()):
        assert not any(word in text for word in ("s3cret", "abc123", "pw")), text
    (tmp_path / "requirements.txt").touch()
    allowed = find_hosts(tmp_path, ours, settings.texts).allowed
    assert {PLACE, ("npm.example", 443), ("go.example", 443)} <= allowed


@pytest.mark.parametrize(
    ("name", "value", "seen"),
    [
        # pip, curl and our own proxy take these forms of a proxy's address
        ("https_proxy", "ann:PASSWORD@proxy.example:3128", None),
        ("ALL_PROXY", "socks5h://ann:PASSWORD@proxy.example:1080", None),
        ("PIP_PROXY", "ann:PASSWORD@proxy.example:3128", None),
        ("npm_config_https_proxy", "http://ann:PASSWORD@proxy.example", None),
        ("PIP_INDEX_URL", "https://ann:PASS,'WORD@packages.example/simple", "https://packages.example/simple"),
        ("GOPROXY", "https://a:PASSWORD@one.example,https://b:PASS@WORD@two.example,direct",
         "https://one.example,https://two.example,direct"),
        ("MAVEN_GPG_KEY", "-----BEGIN PGP PRIVATE KEY BLOCK-----", None),
        ("NPM_PASS", "PASSWORD", None),
        ("npm_config_key", "-----BEGIN PRIVATE KEY-----", None),
        ("MAVEN_OPTS", "-Xmx1g -Dhttps.proxyPassword=PASSWORD -Da=b", "-Xmx1g  -Da=b"),
        ("JAVA_TOOL_OPTIONS", '-Djavax.net.ssl.keyStorePassword="PASS WORD"', ""),
        ("JAVA_TOOL_OPTIONS", '-Dc=d "-Djavax.net.ssl.keyStorePassword=PASS WORD"', "-Dc=d"),
        ("JAVA_TOOL_OPTIONS", "'-Da.password=PASS \"WORD' -Dc=d", "-Dc=d"),
        ("JAVA_TOOL_OPTIONS", "-Da.password=PASS' 'WORD -Dc=d", "-Dc=d"),
        ("JAVA_TOOL_OPTIONS", "-Dproxy.pw=PASS -Dpw=PASS -Dc=d", "-Dc=d"),
        ("MAVEN_OPTS", '-DargLine="-Xmx1g -Dhttps.proxyPassword=PASSWORD" -Dc=d', "-Dc=d"),
        ("MAVEN_OPTS", "-DargLine=-Dhttps.proxyPassword=PASSWORD -Dc=d", "-Dc=d"),
        ("MAVEN_OPTS", "-Dc=O'Neil -Dx.password=PASS'WORD", ""),
    ],
)  # fmt: skip
def test_no_secret_in_a_variable_is_seen_by_a_build(name: str, value: str, seen: str | None) -> None:
    assert environment({name: value, "PATH": ""}, confined=True).get(name) == seen


@pytest.mark.parametrize("password", ["one,'two", "one[two", "one#two", "one?two", "one:two", "one@two"])
def test_a_password_is_found_and_not_shown_as_people_write_it(tmp_path: Path, password: str) -> None:
    """Not all of these characters may stand there, and a build ended with a traceback."""
    user, home = tmp_path / "user", tmp_path / "home"
    home.mkdir()
    (user / ".config" / "pip").mkdir(parents=True)
    url = f"https://ann:{password}@packages.school.example:8443/simple"
    (user / ".config" / "pip" / "pip.conf").write_text(f"[global]\nindex-url = {url}\n")
    settings = copy_settings({"HOME": str(user), "PATH": ""}, home)
    assert settings.credentials == {PLACE: "Basic " + b64encode(f"ann:{password}".encode()).decode()}
    assert "two" not in "".join(path.read_text() for path in home.rglob("*") if path.is_file())
    (tmp_path / "requirements.txt").touch()
    assert PLACE in find_hosts(tmp_path, {}, settings.texts).allowed


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Callable[[], Any]]:
    """A registry over TLS on this machine; `asked` has the heads of its requests."""
    certificate, key = own_certificate(tmp_path, "127.0.0.1", "localhost")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.command} {self.path}\n{self.headers}")
            port = self.server.server_port  # type: ignore[attr-defined]
            if self.headers.get("Authorization") != BASIC:
                body, kind = b"who are you?", "text/plain"
                self.send_response(401)
            elif self.path.startswith("/simple"):
                body, kind = f'<a href="https://localhost:{port}/files/x.whl">x</a>'.encode(), "text/html"
                body *= 200_000 if self.path.endswith("/all") else 1
                self.send_response(200)
            elif self.path == "/moved":
                body, kind = b"", "text/plain"
                self.send_response(302)
                self.send_header("Location", f"https://localhost:{port}/files/x.whl")
            else:
                body, kind = bytes(range(256)) * 4096, "application/octet-stream"
                self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_HEAD = do_POST = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    asked: list[str] = []
    server = HTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    place = ("localhost", server.server_port)
    made = FetchProxy(
        FetchHosts(frozenset({place}), frozenset({place})), {"SSL_CERT_FILE": str(certificate)}, {place: BASIC}
    )
    with made as proxy:
        yield lambda: (proxy, f"http://localhost:{server.server_port}", asked)
    server.shutdown()
    thread.join()
    server.server_close()


def ask(proxy: FetchProxy, request: str) -> bytes:
    answer = b""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(str(proxy.path))
        client.sendall(request.encode())
        while chunk := client.recv(1 << 16):
            answer += chunk
    return answer


def test_the_proxy_says_the_password_and_leads_back_to_itself(registry) -> None:
    proxy, address, asked = registry()
    answer = ask(proxy, f"GET {address}/simple/x/ HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nCookie: a=b\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")
    assert f'href="{address}/files/x.whl"'.encode() in answer
    assert BASIC in asked[0]
    assert "Accept: text/html" in asked[0]
    assert "Cookie" not in asked[0]
    assert b"s3cret" not in answer
    assert BASIC.encode() not in answer


def test_files_come_as_they_are_and_so_do_places_elsewhere(registry) -> None:
    proxy, address, _ = registry()
    answer = ask(proxy, f"GET {address}/files/x.whl HTTP/1.1\r\n\r\n")
    assert answer.partition(b"\r\n\r\n")[2] == bytes(range(256)) * 4096
    answer = ask(proxy, f"GET {address}/moved HTTP/1.1\r\n\r\n")
    assert f"location: {address}/files/x.whl".encode() in answer
    assert ask(proxy, f"HEAD {address}/files/x.whl HTTP/1.1\r\n\r\n").endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    "request_",
    [
        "POST {address}/upload HTTP/1.1\r\n\r\n",
        "GET http://elsewhere.example/ HTTP/1.1\r\n\r\n",
        "GET http://[elsewhere.example/ HTTP/1.1\r\n\r\n",
        "GET {address}/x HTTP/1.1\r\nAccept: a\nAuthorization: b\r\n\r\n",
        "GET {address}/x\x01 HTTP/1.1\r\n\r\n",
    ],
)
def test_nothing_else_is_carried(registry, request_: str) -> None:
    proxy, address, asked = registry()
    answer = ask(proxy, request_.format(address=address))
    assert answer.startswith((b"HTTP/1.1 403", b"HTTP/1.1 502")), answer
    assert asked == []


def test_a_build_that_asks_for_many_long_lists_has_few_of_them_in_memory(registry) -> None:
    """Each of 64 connections could hold one of 64 MiB several times, outside of all limits of the build."""
    proxy, address, _ = registry()
    with ExitStack() as stack:
        clients = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(MAX_REWRITING + 1)]
        for client in clients:
            client.settimeout(20)
            client.connect(str(proxy.path))
            client.sendall(f"GET {address}/simple/all HTTP/1.1\r\n\r\n".encode())
            if client is not clients[-1]:
                assert client.recv(15) == b"HTTP/1.1 200 OK"  # and reads no more
        clients[-1].settimeout(0.5)
        with pytest.raises(TimeoutError):
            clients[-1].recv(15)
        clients[0].close()
        clients[-1].settimeout(20)
        assert clients[-1].recv(15) == b"HTTP/1.1 200 OK"


def test_without_the_password_the_registry_refuses(registry) -> None:
    proxy, address, _ = registry()
    proxy._credentials = dict.fromkeys(proxy._credentials, "Basic x")
    assert ask(proxy, f"GET {address}/simple/ HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 401")
