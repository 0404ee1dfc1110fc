"""Folders as deep as a bot can make them: looked through as far as a path goes, and removed whole."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.process.homes import take_back
from referee.process.trees import remove_tree, walk

LEVELS = 3000
"""More than Python calls itself, and with these names more than a path may have."""


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "deep"
    folder.mkdir()
    before = Path.cwd()
    try:
        os.chdir(folder)
        for number in range(LEVELS):
            Path("d").mkdir()
            os.chdir("d")
            if number % 1000 == 0:
                Path("file").touch()
    finally:
        os.chdir(before)
    yield folder
    if folder.exists():
        remove_tree(folder)  # pytest, which removes old folders in a later run, cannot


@pytest.mark.slow
def test_a_tree_deeper_than_any_path_is_removed(deep: Path) -> None:
    remove_tree(deep)
    assert not deep.exists()


@pytest.mark.slow
def test_what_lies_too_deep_for_a_path_is_an_error(deep: Path) -> None:
    with pytest.raises(OSError, match="File name too long"):
        list(walk(deep))
    assert take_back(deep) is None


@pytest.mark.slow
def test_a_tree_deeper_than_python_calls_itself_is_seen_whole(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    before = Path.cwd()
    try:
        os.chdir(tmp_path)
        for _ in range(1500):
            Path("d").mkdir()
            os.chdir("d")
        Path("file").write_text("x")
    finally:
        os.chdir(before)
    assert sum(1 for _ in walk(folder)) == 1500
    assert take_back(folder) == 1500 * 4096
    remove_tree(folder)
    assert not folder.exists()


def test_nothing_behind_a_link_is_seen_or_removed(tmp_path: Path) -> None:
    other, folder = tmp_path / "other", tmp_path / "folder"
    for each in (other, folder):
        each.mkdir()
        (each / "file").touch()
    (folder / "link").symlink_to(other)
    (tmp_path / "way").symlink_to(other)
    assert sorted(entry.name for entry in walk(folder)) == ["file", "link"]
    remove_tree(folder)
    remove_tree(tmp_path / "way")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "way"]
    assert (other / "file").exists()


def test_folders_that_may_not_be_written_are_removed(tmp_path: Path) -> None:
    inside = tmp_path / "folder" / "a" / "b"
    inside.mkdir(parents=True)
    (inside / "file").touch()
    for path in (inside, inside.parent, inside.parent.parent):
        path.chmod(0o555)
    remove_tree(tmp_path / "folder")
    assert not (tmp_path / "folder").exists()


def test_what_is_taken_back_runs_with_nobodys_rights_and_is_written_by_nobody_else(tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("")
    outside.chmod(0o666)
    folder = tmp_path / "folder"
    inner = folder / "inner"
    inner.mkdir(parents=True)
    program, data = folder / "program", inner / "data"
    for path, mode in ((program, 0o6775), (data, 0o666), (inner, 0o7777)):
        if path is not inner:
            path.write_text("")
        path.chmod(mode)
    (folder / "link").symlink_to(outside)
    assert take_back(folder) is not None
    assert [path.stat().st_mode & 0o7777 for path in (program, data, inner)] == [0o755, 0o644, 0o755]
    assert outside.stat().st_mode & 0o7777 == 0o666
