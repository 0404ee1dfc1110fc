"""Who may speak to a cluster: off the loopback address, only who has a certificate."""

import resource
import shlex
from pathlib import Path

import pytest

from referee.cli.app import run_command
from referee.cluster.certificates import make_certificates
from referee.cluster.peers import Certificates, Peer, check_listen, check_peer
from referee.errors import PlatformError, UsageError
from tests.sentences import says


@pytest.fixture
def made(tmp_path) -> Certificates:
    return make_certificates(tmp_path / "pki", "ada")


@pytest.mark.parametrize(
    ("address", "peer"),
    [
        ("tcp://127.0.0.1:8786", "tcp://127.0.0.1:8786"),
        ("127.0.0.1", "tcp://127.0.0.1:8786"),
        ("localhost:99", "tcp://localhost:99"),
        ("tcp://[::1]:99", "tcp://[::1]:99"),
    ],
)
def test_this_machine_needs_no_certificates(address, peer):
    assert check_peer(address, None, None, None) == Peer(peer)


@pytest.mark.parametrize("address", ["tcp://10.0.0.2:8786", "tls://10.0.0.2:8786", "host.example", "tls://127.0.0.1"])
def test_another_machine_is_refused_without_certificates(address):
    with pytest.raises(UsageError) as error:
        check_peer(address, None, None, None)
    assert "certificates" in str(error.value)
    assert "--ca" in error.value.next_step


@pytest.mark.parametrize("address", ["tls://10.0.0.2:8786", "10.0.0.2", "tls://[fd00::1]:8786"])
def test_another_machine_is_spoken_to_with_tls(address, made):
    peer = check_peer(address, made.ca, made.cert, made.key)
    assert peer.address.startswith("tls://")
    assert peer.is_encrypted


@pytest.mark.parametrize("address", ["", "http://host", "tls://", "tcp://host:port", "tls://host/path", "::"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(UsageError, match="is not the address of a scheduler"):
        check_peer(address, None, None, None)


@pytest.mark.parametrize("host", ["0.0.0.0", "10.0.0.2", "::", "host.example"])
def test_nobody_listens_for_other_machines_without_certificates(host, made):
    with pytest.raises(UsageError, match="could run any program here"):
        check_listen(host, None, None, None)
    assert check_listen(host, made.ca, made.cert, made.key) == made


def test_certificates_belong_together(made):
    with pytest.raises(UsageError, match="belong together"):
        check_peer("tls://host", made.ca, made.cert, None)


def test_a_key_that_others_can_read_is_refused(made):
    made.key.chmod(0o644)
    with pytest.raises(UsageError, match="can be read by others"):
        check_peer("tls://host", made.ca, made.cert, made.key)


def test_a_missing_file_is_named(made):
    with pytest.raises(UsageError, match=r"none\.pem is not a file"):
        check_peer("tls://host", made.ca.with_name("none.pem"), made.cert, made.key)


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("ca", "", r"ca\.pem has no certificate of an authority in PEM \(.*name the ca\.pem"),
        ("ca", "nothing", r"ca\.pem has no certificate of an authority in PEM \(.*name the ca\.pem"),
        ("cert", "", r"ada\.pem and .*ada-key\.pem are not a certificate and its key in PEM"),
        ("key", "nothing", r"ada\.pem and .*ada-key\.pem are not a certificate and its key in PEM"),
    ],
)
def test_a_file_that_is_no_certificate_or_key_is_named_before_anything_is_connected(made, file, content, said):
    """It was an unexpected SSLError, a port that could not be listened on, or a worker that tried again without end."""
    getattr(made, file).write_text(content)
    with pytest.raises(UsageError, check=says(said)):
        check_peer("tls://host", made.ca, made.cert, made.key)
    with pytest.raises(UsageError, check=says(said)):
        check_listen("0.0.0.0", made.ca, made.cert, made.key)


def test_the_key_of_another_certificate_is_refused(tmp_path, made):
    other = make_certificates(tmp_path / "pki", "bob")
    with pytest.raises(UsageError, check=says("are not a certificate and its key in PEM")):
        check_peer("tls://host", made.ca, made.cert, other.key)


def test_one_authority_signs_all_certificates_and_overwrites_none(tmp_path, made):
    before = made.ca.read_bytes()
    other = make_certificates(tmp_path / "pki", "bob")
    assert other.ca.read_bytes() == before
    with pytest.raises(UsageError, match="is there already"):
        make_certificates(tmp_path / "pki", "bob")
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "pki").iterdir())


@pytest.mark.parametrize("has_authority", [False, True])
def test_no_half_of_a_pair_is_left_where_the_disk_is_full(tmp_path, has_authority):
    """A key without its certificate was left, and from then on no certificate could be made in the folder."""
    folder = tmp_path / "pki"
    if has_authority:
        make_certificates(folder, "ada")
    before = sorted(folder.glob("*"))
    usual, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, most))  # a key is shorter, a certificate longer
    try:
        with pytest.raises(PlatformError, match="no certificate could be made"):
            make_certificates(folder, "bob")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (usual, most))
    assert sorted(folder.glob("*")) == before
    assert make_certificates(folder, "bob").cert.exists()


def test_a_name_that_no_certificate_takes_is_refused_before_anything_is_written(tmp_path):
    """The authority was said to be unreadable, and the key that was left behind refused the next try."""
    for name in ("n" * 65, "ö" * 33):
        with pytest.raises(UsageError, match="and the name in a certificate has at most 64"):
            make_certificates(tmp_path / "pki", name)
    assert not (tmp_path / "pki").exists()
    assert make_certificates(tmp_path / "pki", "n" * 64).cert.is_file()


def test_the_options_for_a_certificate_can_be_copied_whatever_its_folder_is_called(tmp_path, capsys):
    assert run_command(["cluster", "certificates", str(tmp_path / "my pki"), "--name", "it's"]) == 0
    words = shlex.split(capsys.readouterr().out.partition("use them with: ")[2])
    assert words[::2] == ["--ca", "--cert", "--key"]
    assert all(Path(word).is_file() for word in words[1::2])
    assert run_command(["cluster", "kubernetes", "arena:1", "--pki", str(tmp_path / "my pki"), "--name", "it's"]) == 0
    comment = capsys.readouterr().out.partition("kubectl create secret")[2].partition("#\n#")[0]
    named = [word.rpartition("=")[2] for word in shlex.split(comment.replace("\\\n#", "")) if "--from-file" in word]
    assert [Path(path).is_file() for path in named] == [True] * 3
