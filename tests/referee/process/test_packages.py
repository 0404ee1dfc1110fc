"""Requirements of Python bots: reading them ends, with a sentence if need be, whatever stands in the file."""

import os
from pathlib import Path

import pytest

from referee.process.build import build, needs_build
from referee.process.manifest import load_manifest
from referee.process.packages import MOST_LIST_BYTES, installed_in, python_in, read_requirements
from referee.process.sources import EntryError


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    (tmp_path / "bot.toml").write_text('name = "a"\nversion = "1"\ngames = ["*"]\nrun = ["{python}", "bot.py"]\n')
    (tmp_path / "bot.py").touch()
    return tmp_path


@pytest.mark.parametrize(
    "text",
    [
        f"tiny @ https://host.example/{'a' * 300}.whl",
        "./" + "b/" * 3000,
        "-r loop/x\n./loop",
        "./loop/",
        "--hash=sha256:" + "0" * 5000,
        "-r /etc/passwd\n./../x/",
    ],
)
def test_words_that_can_be_no_path_name_no_file(bot: Path, text: str) -> None:
    (bot / "loop").symlink_to(bot / "loop")
    (bot / "requirements.txt").write_text(text)
    found = read_requirements(bot, load_manifest(bot))
    assert found is not None
    assert found.files == ("requirements.txt",)


def test_a_list_that_is_too_long_is_refused_before_it_is_read(bot: Path) -> None:
    (bot / "requirements.txt").touch()
    os.truncate(bot / "requirements.txt", MOST_LIST_BYTES + 1)
    with pytest.raises(EntryError, match=r"requirements\.txt: has more than 1 MiB, "):
        read_requirements(bot, load_manifest(bot))


def test_what_a_list_names_is_not_read_where_a_bot_may_not_have_it(bot: Path) -> None:
    (bot / "requirements.txt").write_text("./weights/\n")
    (bot / "weights").mkdir()
    (bot / "weights" / "w.bin").touch()
    os.truncate(bot / "weights" / "w.bin", 200 << 30)
    assert needs_build(bot)
    with pytest.raises(EntryError, match="holds more than 4 GiB"):
        build(bot)


def test_what_installed_packages_say_of_themselves_is_read_from_files_alone(tmp_path: Path) -> None:
    """A pipe would wait for ever, and a link read anything of the referee's."""
    packages = python_in(tmp_path).parents[1] / "lib" / "python3.11" / "site-packages"
    for name in ("good-1", "pipe-1", "link-1"):
        (packages / f"{name}.dist-info").mkdir(parents=True)
    (packages / "good-1.dist-info" / "RECORD").write_text("good.py,,\n")
    os.mkfifo(packages / "pipe-1.dist-info" / "RECORD")
    (packages / "link-1.dist-info" / "RECORD").symlink_to("/dev/zero")
    assert installed_in(tmp_path)[1] == 1
