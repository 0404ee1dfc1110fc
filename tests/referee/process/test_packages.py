"""Requirements of Python bots: reading them ends, with a sentence if need be, whatever stands in the file."""

import os
from pathlib import Path

import pytest

from referee.process import packages
from referee.process.build import build, needs_build
from referee.process.manifest import load_manifest
from referee.process.packages import (
    MOST_LIST_BYTES,
    MOST_WORDS,
    have_hashes,
    installed_in,
    python_in,
    read_requirements,
    take_out_ours,
)
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
    with pytest.raises(EntryError, match=r"requirements\.txt: with it, the lists of packages have more than 1 MiB"):
        read_requirements(bot, load_manifest(bot))


def test_a_list_of_very_many_words_is_refused(bot: Path) -> None:
    (bot / "requirements.txt").write_text("".join(f"a{number}\n" for number in range(MOST_WORDS + 1)))
    with pytest.raises(EntryError, match=r"requirements\.txt: with it, the lists .* more than 50,000 different words"):
        read_requirements(bot, load_manifest(bot))


def test_words_that_begin_no_path_in_the_folder_are_not_looked_for(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list with hashes has thousands of words: a look at the disk for each took seconds at every load."""
    looked = []
    monkeypatch.setattr(packages, "is_there", lambda path: not looked.append(path))
    (bot / "requirements.txt").write_text("".join(f"a{number}==1;x # sha256:{number}\n" for number in range(1000)))
    read_requirements(bot, load_manifest(bot))
    assert looked == []


def test_blank_lines_of_a_list_are_read_once(bot: Path) -> None:
    """Each was matched with all that came after it: 1 MiB of them took hours."""
    (bot / "requirements.txt").write_text("\n" * MOST_LIST_BYTES)
    found = read_requirements(bot, load_manifest(bot))
    assert found is not None
    assert found.files == ("requirements.txt",)


def test_packages_of_files_with_other_rights_are_installed_apart(bot: Path) -> None:
    (bot / "mine.whl").touch(0o644)
    (bot / "requirements.txt").write_text("./mine.whl\n")
    first, again = (read_requirements(bot, load_manifest(bot)) for _ in range(2))
    (bot / "mine.whl").chmod(0o755)
    other = read_requirements(bot, load_manifest(bot))
    assert first is not None
    assert other is not None
    assert first == again
    assert first.id != other.id


@pytest.mark.slow
def test_lists_that_together_are_too_long_are_refused_before_they_are_read(bot: Path) -> None:
    (bot / "requirements.txt").write_text("\n".join(f"-r r{number}.txt" for number in range(20)))
    for number in range(20):
        (bot / f"r{number}.txt").write_text("\n".join(f"{'a' * 80}/{word}" for word in range(1000)))
    with pytest.raises(EntryError, match=r"r\d+\.txt: with it, the lists of packages have more than 1 MiB"):
        read_requirements(bot, load_manifest(bot))


@pytest.mark.parametrize(
    "line", ["./my wheels/mine.whl", "./my wheels/mine.whl  # ours", "mine @ file:'my wheels/mine.whl'"]
)
def test_a_path_with_a_space_names_its_file(bot: Path, line: str) -> None:
    (bot / "my wheels").mkdir()
    (bot / "my wheels" / "mine.whl").touch()
    (bot / "requirements.txt").write_text(f"{line}\n")
    found = read_requirements(bot, load_manifest(bot))
    assert found is not None
    assert found.files == ("my wheels/mine.whl", "requirements.txt")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (b"\xef\xbb\xbf./wheels/mine.whl\n", "wheels/mine.whl"),
        ("./wheels/mine.whl\n".encode("utf-16"), "wheels/mine.whl"),
        (b"-rmore/base\n", "more/base more/last.txt"),
        (b"--requirement more/base\r\n", "more/base more/last.txt"),
        (b"-cmore/last.txt\n", "more/last.txt"),
        (b"./wheels/mine.whl[extra]\n", "wheels/mine.whl"),
        (b"./wheels/mine.whl;python_version>'3'\n", "wheels/mine.whl"),
        (b"./wheels/mine.whl[extra];python_version>'3'\n", "wheels/mine.whl"),
        (b"-e./mine[extra]\n", "mine/mine.py"),
        (b"-e mine\n", "mine/mine.py"),
        (b"-e file:./mine#egg=mine\n", "mine/mine.py"),
        (b"--find-links wheels\nmine\n", "wheels/mine.whl"),
        (b"--no-index -f 'wheels'\nmine\n", "wheels/mine.whl"),
        (b"-f .\nmine\n", "mine.whl"),
        (b"mine @ file:./my%20wheels/mine.whl\n", "my wheels/mine.whl"),
        (b"mine\n", ""),
    ],
)
def test_a_list_names_files_in_every_form_that_pip_takes(bot: Path, text: bytes, names: str) -> None:
    for name in ("wheels/mine.whl", "my wheels/mine.whl", "mine.whl", "mine/mine.py", "more/base", "more/last.txt"):
        (bot / name).parent.mkdir(exist_ok=True)
        (bot / name).touch()
    (bot / "more" / "base").write_text("-r last.txt\n")
    (bot / "requirements.txt").write_bytes(text)
    found = read_requirements(bot, load_manifest(bot))
    assert found is not None
    wanted = [names] if names.startswith("my ") else names.split()
    assert [name for name in found.files if name != "requirements.txt"] == wanted


@pytest.mark.parametrize("line", [".", "./", "-e .", "--editable=.[extra]", ". ; python_version > '3'"])
def test_a_list_that_asks_for_the_bots_own_folder_is_refused(bot: Path, line: str) -> None:
    (bot / "requirements.txt").write_text(f"numpy\n{line}\n")
    with pytest.raises(EntryError, match="asks for the bot's own folder as a package, and that is not installed"):
        read_requirements(bot, load_manifest(bot))


@pytest.mark.parametrize("line", ["crosstown-arena[env]", "  Crosstown_Arena [env] >= 0.1", "crosstown-bot[]"])
def test_a_list_that_asks_for_extras_of_our_packages_is_refused(bot: Path, line: str) -> None:
    """pip takes no extras of what is given to it as a file, and calls the wheel one of another Python."""
    (bot / "requirements.txt").write_text(f"numpy\n{line}\n")
    with pytest.raises(EntryError, match="asks for extras of a package of ours, and those are not installed"):
        read_requirements(bot, load_manifest(bot))


def test_lines_that_ask_for_our_packages_are_taken_out_of_lists_with_hashes(bot: Path) -> None:
    """No list can have the hashes of what is made for each build, and an index may have another's by that name."""
    ours = "crosstown-bot\nCrosstown_Arena>=0.1 \\\n    --hash=sha256:00\ncrosstown-bot==1  # ours\n"
    (bot / "requirements.txt").write_text(f"tiny==1 --hash=sha256:00\n{ours}crosstown-bots\n-r more.txt\n")
    (bot / "more.txt").write_text("crosstown-bot\n")
    found = read_requirements(bot, load_manifest(bot))
    assert found is not None
    assert have_hashes(bot, found)
    assert take_out_ours(bot, found) == ["crosstown-arena", "crosstown-bot"]
    left = (bot / "requirements.txt").read_text().split("\n")
    assert [line for line in left if line] == ["tiny==1 --hash=sha256:00", "crosstown-bots", "-r more.txt"]
    assert (bot / "more.txt").read_text() == "\n"


def test_a_comment_makes_no_list_one_with_hashes(bot: Path) -> None:
    (bot / "requirements.txt").write_text("tiny  # made without --hash\n# --require-hashes\n")
    found = read_requirements(bot, load_manifest(bot))
    assert found is not None
    assert not have_hashes(bot, found)


def test_what_a_list_names_is_not_read_where_a_bot_may_not_have_it(bot: Path) -> None:
    (bot / "requirements.txt").write_text("./weights/\n")
    (bot / "weights").mkdir()
    (bot / "weights" / "w.bin").touch()
    os.truncate(bot / "weights" / "w.bin", 200 << 30)
    assert needs_build(bot)
    with pytest.raises(EntryError, match="holds more than 4 GiB"):
        build(bot)


def test_what_a_list_names_where_no_sources_are_is_held_to_the_same_limits(
    bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sparse file in .venv is no source, and was read to its end all the same."""
    (bot / ".venv").mkdir()
    large = bot / ".venv" / "x.whl"
    (bot / "requirements.txt").write_text("./.venv/x.whl\n")
    large.touch()
    found = read_requirements(bot, load_manifest(bot))
    assert found is not None
    assert found.files == (".venv/x.whl", "requirements.txt")
    os.truncate(large, 200 << 30)
    with pytest.raises(EntryError, match=r"holds more than 4 GiB, the file .*x\.whl \(200 GiB, 0 bytes on the disk\)"):
        read_requirements(bot, load_manifest(bot))
    large.unlink()
    (bot / ".venv" / "a" / "b").mkdir(parents=True)
    monkeypatch.setattr("referee.process.sources.MOST_FILES", 60)
    for number in range(30):
        (bot / ".venv" / "a" / "b" / str(number)).touch()
    (bot / "requirements.txt").write_text("./.venv/a\n././.venv/a\n")
    assert read_requirements(bot, load_manifest(bot)) is not None
    (bot / "requirements.txt").write_text("./.venv/a\n./.venv/a/b\n")
    with pytest.raises(EntryError, match="holds more than 60 files and folders"):
        read_requirements(bot, load_manifest(bot))


def test_what_installed_packages_say_of_themselves_is_read_from_files_alone(tmp_path: Path) -> None:
    """A pipe would wait for ever, and a link read anything of the referee's."""
    packages = python_in(tmp_path).parents[1] / "lib" / "python3.11" / "site-packages"
    for name in ("good-1", "pipe-1", "link-1"):
        (packages / f"{name}.dist-info").mkdir(parents=True)
    (packages / "good-1.dist-info" / "RECORD").write_text("good.py,,\n")
    os.mkfifo(packages / "pipe-1.dist-info" / "RECORD")
    (packages / "link-1.dist-info" / "RECORD").symlink_to("/dev/zero")
    assert installed_in(tmp_path)[1] == 1


def test_a_link_that_leads_out_of_what_a_list_names_is_refused(
    bot: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """In .venv no sources are looked for, and code of a package could read there what its author may not."""
    private = tmp_path_factory.mktemp("private") / "key"
    private.write_text("secret")
    (bot / "requirements.txt").write_text("# ./.venv/x\n")
    (bot / ".venv" / "x").mkdir(parents=True)
    (bot / ".venv" / "own").write_text("own")
    (bot / ".venv" / "x" / "link").symlink_to("../own")
    found = read_requirements(bot, load_manifest(bot))
    assert found is not None
    assert found.files == (".venv/x/link", "requirements.txt")
    (bot / ".venv" / "x" / "link").unlink()
    (bot / ".venv" / "x" / "link").symlink_to(private)
    for read in (lambda: read_requirements(bot, load_manifest(bot)), lambda: build(bot)):
        with pytest.raises(EntryError, match=r"link: links to .*key, outside of the bot's folder"):
            read()
