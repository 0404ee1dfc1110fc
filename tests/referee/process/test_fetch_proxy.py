"""The proxy of fetch phases: listed hosts only, by CONNECT only, and no way to this machine or its network."""

import os
import resource
import socket
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from referee.process import fetch_proxy
from referee.process.build_settings import copy_settings
from referee.process.fetch_proxy import HEAD_BYTES, FetchHosts, FetchHostsError, FetchProxy, find_hosts
from tests.sentences import says

HOST = ("packages.example", 443)
PATIENCE_S = 20.0


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE_S)
        yield listener


def resolves_to(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    def answer(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", answer)


def ask(proxy: FetchProxy, request: str) -> str:
    """The first line of the answer."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(PATIENCE_S)
        client.connect(str(proxy.path))
        client.sendall(request.encode())
        return client.recv(4096).decode().split("\r\n")[0]


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "127.8.8.8",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
        ),
        *("::1", "::", "fe80::1%eth0", "fd00::1", "::ffff:127.0.0.1", "2002:7f00:0001::", "64:ff9b::7f00:1"),
    ],
)
def test_a_listed_host_that_leads_to_a_private_address_leads_nowhere(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    resolves_to(monkeypatch, address)
    with FetchProxy(FetchHosts(frozenset({HOST})), {}) as proxy:
        assert ask(proxy, "CONNECT packages.example:443 HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 403 ")
        assert "leads to a private address" in proxy.refused["packages.example:443"]


@pytest.mark.parametrize(
    "request_line",
    [
        "CONNECT other.example:443 HTTP/1.1",
        "CONNECT packages.example:80 HTTP/1.1",
        "CONNECT packages.example.evil.example:443 HTTP/1.1",
        "CONNECT evil.example/packages.example:443 HTTP/1.1",
        "CONNECT 93.184.215.14:443 HTTP/1.1",
        "CONNECT packages.example HTTP/1.1",
        "CONNECT :443 HTTP/1.1",
        pytest.param(f"CONNECT packages.example:{'9' * 5000} HTTP/1.1", id="many digits"),
        "GET http://packages.example/ HTTP/1.1",
        "POST https://packages.example/ HTTP/1.1",
    ],
)
def test_what_is_not_listed_or_not_a_tunnel_is_refused(request_line: str) -> None:
    with FetchProxy(FetchHosts(frozenset({HOST})), {}) as proxy:
        assert ask(proxy, f"{request_line}\r\n\r\n").startswith("HTTP/1.1 403 ")
        assert len(proxy.refused) == 1


def test_no_more_than_some_of_what_was_refused_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A build may ask for hosts for a quarter of an hour, and the referee would remember each."""
    monkeypatch.setattr(fetch_proxy, "MAX_REFUSED", 5)
    with FetchProxy(FetchHosts(frozenset({HOST})), {}) as proxy:
        for number in range(10):
            assert ask(proxy, f"CONNECT host{number}.example:443 HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 403 ")
        assert list(proxy.refused) == [f"host{number}.example:443" for number in range(5)]


def test_an_address_is_resolved_once_and_the_checked_one_is_used(
    monkeypatch: pytest.MonkeyPatch, server: socket.socket
) -> None:
    """A second answer, as of a name server of the bot's author, would come too late."""
    place = ("localhost", server.getsockname()[1])
    asked = []

    def answer(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        address = "127.0.0.1" if asked.count("localhost") == 1 or host == "127.0.0.1" else "10.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    both = frozenset({place})
    with FetchProxy(FetchHosts(both, both), {}) as proxy, monkeypatch.context() as patched:
        patched.setattr(socket, "getaddrinfo", answer)
        assert ask(proxy, f"CONNECT {place[0]}:{place[1]} HTTP/1.1\r\n\r\n") == "HTTP/1.1 200 Connection established"
        server.accept()[0].close()
    assert asked == ["localhost", "127.0.0.1"]


def test_a_request_without_end_is_given_up() -> None:
    with FetchProxy(FetchHosts(), {}) as proxy:
        assert "502" in ask(proxy, "CONNECT " + "a" * HEAD_BYTES)


@pytest.mark.parametrize("written", ["me:se[c@ret", "me:se%5Bc%40ret"])
@pytest.mark.parametrize("scheme", ["http://", ""])
def test_the_proxy_of_this_machine_is_passed_through_with_its_password(
    server: socket.socket, scheme: str, written: str
) -> None:
    def answer() -> bytes:
        client, _ = server.accept()
        with client:
            client.settimeout(PATIENCE_S)
            request = b""
            while b"\r\n\r\n" not in request:
                request += client.recv(4096)
            client.sendall(b"HTTP/1.1 200 fine\r\n\r\n")
            return request

    ours = {"https_proxy": f"{scheme}{written}@127.0.0.1:{server.getsockname()[1]}"}
    with ThreadPoolExecutor() as pool, FetchProxy(FetchHosts(frozenset({HOST})), ours) as proxy:
        asked = pool.submit(answer)
        assert ask(proxy, "CONNECT packages.example:443 HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 200 ")
        request = asked.result(PATIENCE_S).decode()
    assert request.startswith("CONNECT packages.example:443 HTTP/1.1\r\n")
    assert f"Proxy-Authorization: Basic {b64encode(b'me:se[c@ret').decode()}\r\n" in request


def test_a_proxy_of_this_machine_without_a_readable_address_is_said_to_be_out_of_reach() -> None:
    with FetchProxy(FetchHosts(frozenset({HOST})), {"https_proxy": "http://proxy.example:port"}) as proxy:
        assert ask(proxy, "CONNECT packages.example:443 HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 502 ")


def test_bytes_are_carried_by_a_process_that_has_many_files_open(server: socket.socket) -> None:
    """select takes no file with a number above 1,023."""
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 2048:
        pytest.skip("this process may not open so many files")
    place = ("localhost", server.getsockname()[1])
    both = frozenset({place})
    with FetchProxy(FetchHosts(both, both), {}) as proxy, socket.socket(socket.AF_UNIX) as client, ExitStack() as stack:
        for _ in range(1024):
            stack.callback(os.close, os.dup(server.fileno()))
        client.settimeout(PATIENCE_S)
        client.connect(str(proxy.path))
        client.sendall(f"CONNECT {place[0]}:{place[1]} HTTP/1.1\r\n\r\n".encode())
        assert b" 200 " in client.recv(4096)
        other, _ = server.accept()
        with other:
            other.sendall(b"pong")
            assert client.recv(10) == b"pong"


def test_nothing_stays_of_it_when_it_ends(server: socket.socket) -> None:
    place = ("localhost", server.getsockname()[1])
    both = frozenset({place})
    with FetchProxy(FetchHosts(both, both), {}) as proxy, socket.socket(socket.AF_UNIX) as client:
        client.settimeout(PATIENCE_S)
        client.connect(str(proxy.path))
        client.sendall(f"CONNECT {place[0]}:{place[1]} HTTP/1.1\r\n\r\n".encode())
        assert b" 200 " in client.recv(4096)
        other, _ = server.accept()
        path = proxy.path
        proxy.__exit__(None, None, None)
        assert (client.recv(1), other.recv(1)) == (b"", b"")
        other.close()
        assert not path.parent.exists()


def test_a_bot_gets_the_hosts_of_the_languages_in_its_folder(tmp_path: Path) -> None:
    assert find_hosts(tmp_path, {}).allowed == frozenset()
    (tmp_path / "Cargo.toml").touch()
    (tmp_path / "requirements.txt").touch()
    hosts = {host for host, _ in find_hosts(tmp_path, {}).allowed}
    assert {"static.crates.io", "pypi.org"} <= hosts
    assert "registry.npmjs.org" not in hosts


def test_hosts_that_the_organiser_has_set_for_package_managers_are_allowed(tmp_path: Path) -> None:
    ours = {
        "PIP_INDEX_URL": "https://user:word@mirror.school.example:8443/simple",
        "HTTPS_PROXY": "https://proxy.example",
    }
    found = find_hosts(tmp_path, ours, ["registry=https://npm.school.example/\n"])
    assert found.allowed == {("mirror.school.example", 8443), ("npm.school.example", 443)}
    assert not found.private


def test_hosts_in_other_variables_of_the_organiser_are_not_allowed(tmp_path: Path) -> None:
    """They are not meant for builds, which do not see them either."""
    ours = {"INTRANET": "https://wiki.school.example", "NPM_TOKEN": "https://npm.school.example/secret"}
    assert find_hosts(tmp_path, ours).allowed == frozenset()


def test_a_link_that_a_build_left_where_settings_lie_names_no_hosts(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "c").mkdir(parents=True)
    (home / "c" / "config.toml").write_text('x = "https://evil.example/"\n')
    (home / ".cargo").symlink_to("c")
    laid = copy_settings({"HOME": str(tmp_path / "nobody"), "PATH": ""}, home)
    assert not any("evil.example" in text for text in laid.texts)
    assert not (home / ".cargo").is_symlink()


def test_a_list_of_the_organiser_replaces_the_table_of_a_language(tmp_path: Path) -> None:
    (tmp_path / "go.mod").touch()
    own = tmp_path / "hosts.toml"
    own.write_text('[go]\nfiles = ["go.mod"]\nprivate_hosts = ["Goproxy.School.Example"]\n')
    found = find_hosts(tmp_path, {"CROSSTOWN_FETCH_HOSTS": str(own)})
    assert found.allowed == found.private == {("goproxy.school.example", 443)}


@pytest.mark.parametrize(
    "text", ["[go]\nhosts = 'x'", "go = 1", "[go]\nhost = ['x']", "[go]\nhosts = ['']", "[[", "\xff"]
)
def test_a_list_that_cannot_be_used_is_an_error_that_names_the_file(tmp_path: Path, text: str) -> None:
    own = tmp_path / "hosts.toml"
    own.write_bytes(text.encode("latin-1"))
    with pytest.raises(FetchHostsError, check=says(r"hosts\.toml: .*(correct it|unset CROSSTOWN_FETCH_HOSTS)")):
        find_hosts(tmp_path, {"CROSSTOWN_FETCH_HOSTS": str(own)})
