"""Files that are replaced through links: which links are followed."""

import fcntl
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import pytest

from referee import folders
from referee.errors import UsageError
from referee.folders import (
    cache_folder,
    configuration_folder,
    file_to_write,
    folder_beside,
    home_folder,
    place_to_write,
)
from referee.run.head import write_durably

Strange = Callable[[Path], None]


@pytest.fixture
def strange(monkeypatch: pytest.MonkeyPatch) -> Strange:
    """strange(link) makes it the link of another user."""

    def change(link: Path) -> None:
        if os.geteuid() == 0:
            os.lchown(link, 65533, 65533)
        else:
            uid = os.geteuid() + 1
            monkeypatch.setattr(folders.os, "geteuid", lambda: uid)

    return change


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder that others may write to, beside a file of ours."""
    (tmp_path / "precious").write_text("ours\n")
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


@pytest.mark.parametrize("inside", ["", "site/rows.csv"])
def test_a_link_of_another_user_in_a_shared_folder_is_not_followed(shared: Path, strange: Strange, inside: str) -> None:
    link = shared / "out"
    link.symlink_to("../precious" if not inside else "..")
    assert place_to_write(link / inside, "name another file") == Path(os.path.realpath(link / inside))
    strange(link)
    with pytest.raises(UsageError, match=r"out is a link of another user, in a folder that others may write to"):
        place_to_write(link / inside, "name another file")
    shared.chmod(0o755)
    assert place_to_write(link / inside, "name another file") == Path(os.path.realpath(link / inside))


def test_a_link_that_leads_to_a_link_of_another_user_is_not_followed(
    shared: Path, strange: Strange, tmp_path: Path
) -> None:
    (tmp_path / "own").symlink_to("shared/out")
    (shared / "out").symlink_to(tmp_path / "precious")
    assert file_to_write(tmp_path / "own", "name another file") == tmp_path / "precious"
    strange(shared / "out")
    with pytest.raises(UsageError, match="is a link of another user"):
        file_to_write(tmp_path / "own", "name another file")


def test_paths_lead_where_the_system_leads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "up").symlink_to("a/b")
    (tmp_path / "gone").symlink_to("a/new")
    (tmp_path / "ring").symlink_to("ring")
    monkeypatch.chdir(tmp_path)
    for text in ("up/../file", "gone", "gone/x", "a/./b/../c", str(tmp_path / "up" / "x"), "up"):
        assert str(place_to_write(Path(text), "")) == os.path.realpath(text)
    with pytest.raises(UsageError, match="leads to itself"):
        place_to_write(Path("ring"), "name another file")


def test_a_relative_home_or_base_folder_is_as_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Caches and keys would lie in whatever folder a command is entered."""
    monkeypatch.setattr(folders.pwd, "getpwuid", lambda _: SimpleNamespace(pw_dir=str(tmp_path)))
    monkeypatch.delenv(folders.CACHE_VARIABLE, raising=False)
    for variable in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(variable, "here")
    assert home_folder() == tmp_path
    assert cache_folder() == tmp_path / ".cache" / "crosstown"
    assert configuration_folder() == tmp_path / ".config" / "crosstown"


def test_the_temporary_file_of_a_durable_one_follows_no_link(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders.secrets, "token_hex", lambda _: "00000000")  # somebody has guessed it
    (shared / f".head.{os.getpid()}.00000000.tmp").symlink_to(tmp_path / "precious")
    write_durably(shared / "head", "text\n")
    assert (shared / "head").read_text() == "text\n"
    assert (tmp_path / "precious").read_text() == "ours\n"


def test_the_temporary_files_of_killed_processes_are_removed_by_the_next_that_writes_there(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    left = [f"{gone.pid}.tmp", f"{gone.pid}.0123abcd.tmp", f"{gone.pid}.0123abcd.tmp-wal"]
    others = ["draft.tmp", f"{os.getppid()}.0123abcd.tmp", f"{gone.pid}.{os.getppid()}.0123abcd.tmp"]
    fresh = tmp_path / f".head.0{gone.pid}.tmp"
    for path in (fresh, *(tmp_path / f".head.{name}" for name in (*left, *others))):
        path.touch()
        if path != fresh:
            os.utime(path, (0, 0))
    write_durably(tmp_path / "head", "text\n")
    assert {path.name for path in tmp_path.iterdir()} == {"head", fresh.name, *(f".head.{name}" for name in others)}


def test_a_folder_that_a_killed_process_was_making_is_removed_by_the_next_that_makes_it(tmp_path: Path) -> None:
    left, others = tmp_path / ".site-0123abcd", (tmp_path / ".site-drafts", tmp_path / ".site-2-0123abcd")
    for folder in (left, *others):
        (folder / "pages").mkdir(parents=True)
        (folder / "pages" / "1.html").touch()
    with folder_beside(tmp_path / "site") as first:
        (first / "index.html").touch()
        with folder_beside(tmp_path / "site") as second:
            assert {first, second, *others} == set(tmp_path.iterdir())  # one that is being made stays
            (second / "index.html").touch()
            second.rename(tmp_path / "site")
    assert {tmp_path / "site", *others} == set(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["100%", "what?", "number#1", "two words", "line\nbreak", "b\udcf6tt", "bött"])
def test_sockets_lie_where_their_path_is_that_of_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Else no bot would find its own, and all would have failed to start."""
    (tmp_path / name).mkdir()
    monkeypatch.setattr(folders.tempfile, "gettempdir", lambda: str(tmp_path / name))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    made = folders.make_socket_folder()
    made.rmdir()
    assert made.parent == Path("/tmp")


def test_an_ordinary_folder_for_temporary_files_has_the_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    with TemporaryDirectory(prefix="a-b_c.d+e=f,g@h:i~", dir="/tmp") as short:
        monkeypatch.setattr(folders.tempfile, "gettempdir", lambda: short)
        assert folders.make_socket_folder().parent == Path(short)


@pytest.mark.parametrize(
    ("path", "there", "why", "step"),
    [
        ("/nowhere", False, "git is not installed in a folder of PATH", "install it"),
        ("/nowhere", True, "git is not found, as PATH does not have {}, where it is", "add {} to PATH"),
        ("", True, "git is not found, as PATH is empty", "set PATH, for instance to /usr/local/bin:/usr/bin:/bin"),
        ("", False, "git is not found, as PATH is empty", "set PATH, for instance to /usr/local/bin:/usr/bin:/bin;"
         " if git is missing, install it"),
    ],
)  # fmt: skip
def test_a_program_that_is_not_found_is_missing_or_the_path_is_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, there: bool, why: str, step: str
) -> None:
    if there:
        (tmp_path / "git").touch(0o755)
    monkeypatch.setenv("PATH", path)
    monkeypatch.setattr(folders, "USUAL_PATH", str(tmp_path))
    assert folders.why_no_program("git", "install it") == (why.format(tmp_path), step.format(tmp_path))


def test_a_folder_that_another_process_looks_at_just_now_is_locked_after_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a lock a third process takes it for one that was left."""
    flock, looking, ends = fcntl.flock, [], []

    def flock_later(file: int, how: int) -> None:
        if not looking:  # between the making of the folder and its lock
            looking.append(os.open(f"/proc/self/fd/{file}", os.O_RDONLY))
            flock(looking[0], fcntl.LOCK_EX)
            ends.append(threading.Timer(0.05, os.close, looking))
            ends[0].start()
        flock(file, how)

    monkeypatch.setattr(folders.fcntl, "flock", flock_later)
    with folder_beside(tmp_path / "site") as made:
        (made / "index.html").touch()
        ends[0].join()
        with folder_beside(tmp_path / "site"):
            assert (made / "index.html").exists()
