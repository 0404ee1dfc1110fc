"""Each bot that runs has a user of its own where the referee is root, and nobody can take them all away."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
CLAIM = (
    "import sys\n"
    "from referee.process import guardian\n"
    "guardian.USERS_FOLDERS = tuple(sys.argv[2:])\n"
    "try: print(guardian.choose_user(sys.argv[1]), flush=True)\n"
    "except OSError as error: print(error, flush=True)\n"
    "sys.stdin.read()\n"
)


@pytest.fixture
def claim(tmp_path: Path) -> Iterator[Callable[..., tuple[str, Callable[[], None]]]]:
    """claim("FIRST:COUNT", folder...) -> what a guardian of its own says that it got, and how to end it"""
    with ExitStack() as running:

        def start(span: str, *folders: Path) -> tuple[str, Callable[[], None]]:
            words = [sys.executable, "-c", CLAIM, span, *map(str, folders or (tmp_path,))]
            process = running.enter_context(
                subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
            )
            assert process.stdout is not None
            running.callback(process.kill)
            return process.stdout.readline().strip(), lambda: (process.kill(), process.wait())[0]

        yield start


def test_no_two_bots_have_the_same_user_and_it_comes_back(claim: Callable[..., tuple[str, Callable[[], None]]]) -> None:
    first, end_first = claim("61000:2")
    second, _ = claim("61000:2")
    assert {first, second} == {"61000", "61001"}
    assert claim("61000:2")[0] == "[Errno 11] all 2 users for bots are taken"
    end_first()
    assert claim("61000:2")[0] == first


def test_names_that_anybody_can_take_mean_nothing(claim: Callable[..., tuple[str, Callable[[], None]]]) -> None:
    """They once were abstract sockets, which a bot with `network = true` could bind."""
    with ExitStack() as taken:
        for uid in (61000, 61001):
            one = taken.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            try:
                one.bind(f"\0crosstown-bot-user-{uid}")
            except OSError:  # taken already is as good
                continue
        assert claim("61000:2")[0] in ("61000", "61001")


def test_the_list_is_a_file_that_nobody_else_can_open(
    claim: Callable[..., tuple[str, Callable[[], None]]], tmp_path: Path
) -> None:
    claim("61000:2")
    file = tmp_path / "crosstown-users"
    assert (file.stat().st_uid, file.stat().st_mode & 0o777) == (os.getuid(), 0o600)
    file.chmod(0o644)
    said, _ = claim("61000:2")
    assert said == (
        "[Errno 13] no list of the users that bots have; "
        f"somebody else's file is there, or others may open it: {tmp_path}/crosstown-users"
    )


def test_a_link_in_its_place_is_not_followed_and_the_next_place_is_used(
    claim: Callable[..., tuple[str, Callable[[], None]]], tmp_path: Path
) -> None:
    one, other, victim = (tmp_path / name for name in ("one", "other", "victim"))
    one.mkdir()
    other.mkdir()
    victim.write_text("")
    (one / "crosstown-users").symlink_to(victim)
    assert claim("61000:1", one, other)[0] == "61000"
    assert claim("61000:1", one, other)[0] == "[Errno 11] all 1 users for bots are taken"
    assert (other / "crosstown-users").is_file()
