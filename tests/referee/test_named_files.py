"""Files that a person names to a command: what is no ordinary file is refused, and not waited for."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from referee.cli.ladder_client import find_token, tokens_file
from referee.cli.submit import login
from referee.cluster.certificates import make_certificates
from referee.errors import ExpectedError
from referee.games.conformance.run import Plan, ProgressFile
from referee.games.registry import get_game
from referee.process.fetch_proxy import HOSTS_VARIABLE, find_hosts
from referee.run.folder import RunFolder
from referee.run.luck import read_secrets
from referee.run.signing import key_file, sign
from referee.wire.public_address import check_pair
from tests.sentences import says

SECRET = b"0123456789abcdef0123456789abcdef\n"


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Callable[[Path, bytes], Path]]:
    """pipe(path, content) makes a pipe, from which whoever opens it reads this content."""
    made: list[tuple[Path, threading.Thread]] = []

    def feed(path: Path, content: bytes) -> None:
        with suppress(BrokenPipeError):
            path.write_bytes(content)

    def make(path: Path, content: bytes) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        os.mkfifo(path, 0o600)
        made.append((path, threading.Thread(target=feed, args=(path, content))))
        made[-1][1].start()
        return path

    yield make
    for path, thread in made:
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # where nobody has opened it, the thread waits for one
        thread.join()
        os.close(reader)


def the_secret_of_a_run(folder: Path, pipe: Callable[[Path, bytes], Path]) -> None:
    read_secrets(pipe(folder / "secret", SECRET))


def the_certificate_of_a_server(folder: Path, pipe: Callable[[Path, bytes], Path]) -> None:
    made = make_certificates(folder, "ada")
    check_pair(pipe(folder / "pipe", made.cert.read_bytes()), made.key)


def the_key_of_a_server(folder: Path, pipe: Callable[[Path, bytes], Path]) -> None:
    made = make_certificates(folder, "ada")
    check_pair(made.cert, pipe(folder / "pipe", made.key.read_bytes()))


def the_certificate_of_an_authority(folder: Path, pipe: Callable[[Path, bytes], Path]) -> None:
    ca = make_certificates(folder, "ada").ca
    pipe(ca, ca.read_bytes())
    make_certificates(folder, "boole")


def the_tokens_of_ladders(folder: Path, pipe: Callable[[Path, bytes], Path]) -> None:
    pipe(tokens_file(), b'{"tokens": {"https://a.example": "crosstown_x"}}')
    find_token(None)


def the_key_of_an_organiser(folder: Path, pipe: Callable[[Path, bytes], Path]) -> None:
    pipe(key_file(), b"no key")
    sign(RunFolder(folder))


def the_hosts_of_builds(folder: Path, pipe: Callable[[Path, bytes], Path]) -> None:
    find_hosts(folder, {HOSTS_VARIABLE: str(pipe(folder / "hosts.toml", b""))})


def the_progress_of_a_check(folder: Path, pipe: Callable[[Path, bytes], Path]) -> None:
    plan = Plan("toy", (2,), seed=1, matches=1, full_matches=1, full_share=1.0, replay_all=True)
    ProgressFile(pipe(folder / "progress", b""), plan, get_game("toy"))


def the_token_of_a_login(folder: Path, pipe: Callable[[Path, bytes], Path]) -> None:
    login("http://127.0.0.1:9", token_file=pipe(folder / "token", b"\xff"))


READERS = (
    the_secret_of_a_run,
    the_certificate_of_a_server,
    the_key_of_a_server,
    the_certificate_of_an_authority,
    the_tokens_of_ladders,
    the_key_of_an_organiser,
    the_hosts_of_builds,
    the_progress_of_a_check,
    the_token_of_a_login,
)


@pytest.mark.parametrize("read", READERS)
def test_a_pipe_is_refused_by_its_name(
    read: Callable[..., None],
    pipe: Callable[[Path, bytes], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    with pytest.raises(ExpectedError, check=says(r"(/| )[\w-]+(\.\w+)?:? .*it is not an? (ordinary )?file")):
        read(tmp_path, pipe)


def test_a_list_of_hosts_that_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    (tmp_path / "hosts.toml").write_text(f"hosts = {'[' * 10_000}")
    with pytest.raises(ExpectedError, check=says(r"hosts\.toml: nested too deeply; write it flat")):
        find_hosts(tmp_path, {HOSTS_VARIABLE: str(tmp_path / "hosts.toml")})
