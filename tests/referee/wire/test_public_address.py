"""Addresses, and certificates that are given or made."""

import socket
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest

from referee.wire.public_address import (
    ListenError,
    check_pair,
    check_public,
    join_address,
    own_certificate,
    parse_address,
)


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("0.0.0.0:7000", "0.0.0.0", 7000),
        ("[::1]:0", "::1", 0),
        ("referee.example:65535", "referee.example", 65535),
    ],
)
def test_an_address_is_read_and_written(text: str, host: str, port: int) -> None:
    assert parse_address(text) == (host, port)
    assert join_address(host, port) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", "7000", ":7000", "host:", "host:x", "host:65536", "host:-1", "::1:7000", "a b:1", "unix:/x:1"),
        *("host:\u0661", pytest.param(f"host:{'9' * 5000}", id="many digits")),
    ],
)
def test_what_is_no_address_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not HOST:PORT, such as|is not a number from 0 to 65535"):
        parse_address(text)


def test_a_certificate_is_made_whose_key_is_private(tmp_path: Path) -> None:
    certificate, key = own_certificate(tmp_path / "tls", "0.0.0.0")
    check_pair(certificate, key)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_a_certificate_is_kept_while_its_names_are_the_same(tmp_path: Path) -> None:
    texts = []
    for public in ("", "", "referee.example.org", "203.0.113.7"):
        certificate, _ = own_certificate(tmp_path, "0.0.0.0", public)
        texts.append(certificate.read_text())
    assert texts[0] == texts[1]
    assert len(set(texts)) == 3


def test_a_certificate_for_another_name_takes_no_other_away(tmp_path: Path) -> None:
    pairs = [own_certificate(tmp_path, "0.0.0.0", public) for public in ("", "a.example", "b.example")]
    for pair in pairs:
        check_pair(*pair)
    assert len({certificate.read_text() for certificate, _ in pairs}) == 3


def test_a_certificate_is_kept_when_this_machine_gets_another_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = []
    for address in ("203.0.113.7", "203.0.113.8"):
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, its=address: [(0, 0, 0, "", (its, 0))])
        certificate, _ = own_certificate(tmp_path, "0.0.0.0")
        texts.append(certificate.read_text())
    assert texts[0] == texts[1]


def test_two_that_make_it_at_the_same_time_get_the_same_one(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as threads:
        pairs = list(threads.map(lambda _: own_certificate(tmp_path, "0.0.0.0"), range(4)))
        texts = {certificate.read_text() for certificate, _ in pairs}
    assert len(texts) == 1
    check_pair(*pairs[0])


@pytest.mark.parametrize(("mode", "taken"), [(0o600, True), (0o640, True), (0o644, False), (0o604, False)])
def test_a_key_that_everybody_can_read_is_refused(tmp_path: Path, mode: int, taken: bool) -> None:
    pair = own_certificate(tmp_path, "0.0.0.0")
    pair[1].chmod(mode)
    with nullcontext() if taken else pytest.raises(ListenError, match="every user of this machine can read"):
        check_pair(*pair)


@pytest.mark.parametrize("text", ["referee.example.org", "x", "203.0.113.7", "::1", "a-b.c_d"])
def test_a_name_or_address_of_a_machine_is_taken(text: str) -> None:
    check_public(text)


@pytest.mark.parametrize("text", ["", "a b", "a:7000", "a..b", "-a", "a,DNS:b", "a/b", "x" * 254, "caf\u00e9"])
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not the name of a machine"):
        check_public(text)


def test_without_openssl_the_way_out_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ListenError, match="no certificate was given, and openssl is not ") as caught:
        own_certificate(tmp_path / "tls", "0.0.0.0")
    assert "give a certificate and its key" in caught.value.next_step


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    one, _ = own_certificate(tmp_path / "one", "0.0.0.0")
    _, other = own_certificate(tmp_path / "other", "0.0.0.0")
    with pytest.raises(ListenError, match="not a certificate and its key"):
        check_pair(one, other)


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(ListenError, match=r"none\.pem: cannot be read"):
        check_pair(tmp_path / "none.pem", tmp_path / "none.pem")
