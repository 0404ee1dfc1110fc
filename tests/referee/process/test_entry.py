"""The id of an entry: changes with what the bot is, and with nothing else."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.process.entry import EntryError, ManifestError, load_entry
from referee.process.manifest import BotNameError
from tests.sentences import says

WriteBot = Callable[..., Path]
OPTIONS = (
    'name = "Bot"\nversion = "1"\ngames = ["*"]\nrun = ["{python}", "bot.py"]\n[options]\ndepth = 1\nfast = true\n'
)


@pytest.fixture
def folder(write_bot: WriteBot) -> Path:
    return write_bot({"bot.py": "print(1)\n", "lib/search.py": "x = 1\n"}, toml=OPTIONS)


def test_the_id_is_known_beforehand(folder: Path) -> None:
    """Sixteen hex digits that are the same on every machine."""
    assert load_entry(folder).id == "91b9c4c1887a5931"


def test_the_same_content_elsewhere_has_the_same_id(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "some where" / "else"
    shutil.copytree(folder, elsewhere)
    (tmp_path / "link").symlink_to(folder)
    assert load_entry(elsewhere).id == load_entry(folder).id == load_entry(tmp_path / "link").id


def test_the_working_directory_does_not_matter(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = load_entry(folder)
    monkeypatch.chdir(folder.parent)
    assert load_entry(Path(folder.name)) == expected
    assert load_entry(Path(folder.name)).folder.is_absolute()


def test_times_rights_and_what_other_tools_keep_do_not_matter(folder: Path) -> None:
    before = load_entry(folder).id
    os.utime(folder / "bot.py", (1, 1))
    (folder / "bot.py").chmod(0o755)
    for name in (
        "__pycache__/bot.cpython-311.pyc",
        "lib/__pycache__/x.pyc",
        ".git/HEAD",
        ".venv/x",
        ".DS_Store",
        ".bot.py.swp",
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("whatever")
    (folder / "empty").mkdir()
    os.mkfifo(folder / "pipe")
    assert load_entry(folder).id == before


def add_hidden(folder: Path) -> None:
    (folder / ".settings").write_text("x")


def change_content(folder: Path) -> None:
    (folder / "lib/search.py").write_text("x = 2\n")


def change_name(folder: Path) -> None:
    (folder / "lib/search.py").rename(folder / "lib/other.py")


def add_empty_file(folder: Path) -> None:
    (folder / "lib/__init__.py").touch()


def move_bytes_between_files(folder: Path) -> None:
    (folder / "bot.py").write_text("print(1)\nx = 1\n")
    (folder / "lib/search.py").write_text("")


def change_option_default(folder: Path) -> None:
    (folder / "bot.toml").write_text(OPTIONS.replace("depth = 1", "depth = 2"))


def change_argv(folder: Path) -> None:
    (folder / "bot.toml").write_text(OPTIONS.replace('"bot.py"', '"bot.py", "-v"'))


@pytest.mark.parametrize(
    "change",
    [
        add_hidden,
        change_content,
        change_name,
        add_empty_file,
        move_bytes_between_files,
        change_option_default,
        change_argv,
    ],
)
def test_whatever_makes_the_bot_another_bot_changes_the_id(folder: Path, change: Callable[[Path], None]) -> None:
    before = load_entry(folder).id
    change(folder)
    assert load_entry(folder).id != before


def test_options_of_the_tournament_change_the_id_and_are_typed(folder: Path) -> None:
    plain = load_entry(folder)
    deep = load_entry(folder, options={"depth": 5})
    assert plain.options == {"depth": 1, "fast": True}
    assert deep.options == {"depth": 5, "fast": True}
    assert len({plain.id, deep.id, load_entry(folder, options={"fast": False}).id}) == 3
    assert load_entry(folder, options={"depth": 1}).id == plain.id


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dept": 1}, "has no option 'dept'; did you mean 'depth'?"),
        ({"zzz": 1}, "has no option 'zzz'; name it under [options] in its bot.toml, which has: depth, fast"),
        ({"depth": "1"}, "option 'depth' is an integer, such as 1, not '1'; correct the value"),
        ({"depth": True}, "option 'depth' is an integer, such as 1, not true; correct"),
        ({"fast": 1}, "option 'fast' is true or false, such as true, not 1; correct"),
    ],
)
def test_an_option_the_bot_does_not_have_is_refused(folder: Path, options: dict[str, int], message: str) -> None:
    with pytest.raises(EntryError) as error:
        load_entry(folder, options=options)
    assert message in error.value.sentence


def test_a_name_of_the_tournament_is_checked_and_no_part_of_the_id(folder: Path) -> None:
    entry = load_entry(folder, name="Other")
    assert (entry.name, entry.manifest.name) == ("Other", "Bot")
    assert entry.id == load_entry(folder).id
    with pytest.raises(BotNameError):
        load_entry(folder, name=" ")


def test_build_output_counts_only_where_nothing_is_built(write_bot: WriteBot) -> None:
    built = OPTIONS.replace("[options]", 'build = ["make"]\n[options]').replace('"{python}", "bot.py"', '"./bot"')
    for toml, same in ((built, True), (OPTIONS, False)):
        folder = write_bot({"bot": "#!/bin/sh\n", "main.c": "", "bot.py": ""}, toml=toml)
        (folder / "bot").chmod(0o755)
        before = load_entry(folder, built_in=folder).id
        (folder / "target").mkdir()
        (folder / "target" / "x.o").write_text("object code")
        (folder / "bot").write_text("#!/bin/sh\n# built again\n")
        assert (load_entry(folder, built_in=folder).id == before) is same


def test_a_link_inside_the_folder_counts_as_what_it_leads_to(folder: Path) -> None:
    (folder / "alias.py").symlink_to("bot.py")
    linked = load_entry(folder).id
    (folder / "alias.py").unlink()
    shutil.copy(folder / "bot.py", folder / "alias.py")
    assert load_entry(folder).id == linked


def test_a_link_to_a_folder_inside_is_not_walked(folder: Path) -> None:
    before = load_entry(folder).id
    (folder / "lib" / "round").symlink_to("..")
    assert load_entry(folder).id != before


def test_a_link_out_of_the_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "shared.py").write_text("")
    (folder / "shared.py").symlink_to(tmp_path / "shared.py")
    with pytest.raises(EntryError, check=says(r"shared\.py: links to .*, outside of the bot's folder; copy it in")):
        load_entry(folder)


def test_a_link_that_leads_to_itself_is_refused(folder: Path) -> None:
    (folder / "round.py").symlink_to("round.py")
    with pytest.raises(EntryError, check=says(r"round\.py: links to itself; remove the link")):
        load_entry(folder)


def test_a_folder_that_is_a_link_to_itself_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(ManifestError, match=r"round: does not exist"):
        load_entry(tmp_path / "round")


@pytest.mark.parametrize("inside", [[], ["sub/"], ["__pycache__/"], ["note"], ["sub/", "sub/note"]])
def test_a_link_to_a_folder_without_a_file_is_refused_by_its_own_path(folder: Path, inside: list[str]) -> None:
    """A bot is its files: a copy of it would not have the folder."""
    (folder / "empty").mkdir()
    for name in inside:
        (folder / "empty" / name).mkdir() if name.endswith("/") else (folder / "empty" / name).write_text("")
    (folder / "le").symlink_to("empty")
    if "note" in "".join(inside):
        assert load_entry(folder).id
        return
    said = r"^{}: links to empty, a folder without a file; put a file".format(re.escape(str(folder / "le")))
    with pytest.raises(EntryError, check=says(said)):
        load_entry(folder)


def test_a_broken_link_is_refused(folder: Path) -> None:
    (folder / "gone.py").symlink_to("nowhere.py")
    with pytest.raises(EntryError, match=r"gone\.py: links to .*, which does not exist"):
        load_entry(folder)


def test_a_file_that_cannot_be_read_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may read everything, so the refusal is made by hand."""
    real = os.open

    def refuse(path: Any, *rest: Any, **named: Any) -> int:
        if str(path).endswith("search.py"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *rest, **named)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(
        EntryError, check=says(r"lib/search\.py: cannot be read \(Permission denied\).*check its rights")
    ):
        load_entry(folder)


@settings(deadline=None)  # on a disk that others use
@given(names=st.permutations(["a", "b", "c/d", "c/e", "c.f", "c-g"]))
def test_the_order_in_which_files_come_does_not_matter(
    names: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("bot")
    (folder / "bot.toml").write_text(OPTIONS.replace('"{python}", "bot.py"', '"sh", "-c", "exit"'))
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(name)
    assert load_entry(folder).id == "19cda92bc5cb4779"


def test_a_sparse_file_is_refused_before_it_is_read(folder: Path) -> None:
    with (folder / "huge").open("wb") as file:
        file.truncate(200 << 30)
    with pytest.raises(EntryError) as caught:
        load_entry(folder)
    said = caught.value.sentence
    assert f"{folder}: holds more than 4 GiB, the file {folder / 'huge'} (200 GiB, 0 bytes on the disk)" in said
    assert "grant it with `read`, or set CROSSTOWN_BOT_MIB" in said


def test_how_large_a_bot_may_be_is_a_setting(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = load_entry(folder).id
    for name in ("one", "two"):
        (folder / name).write_bytes(bytes(600_000))
    assert load_entry(folder).id != before
    monkeypatch.setenv("CROSSTOWN_BOT_MIB", "1")
    with pytest.raises(EntryError, match="holds more than 1 MiB"):
        load_entry(folder)
    monkeypatch.setenv("CROSSTOWN_BOT_MIB", "much")
    with pytest.raises(
        EntryError, check=says("CROSSTOWN_BOT_MIB is a number of MiB, such as 4096, not 'much'; correct it")
    ):
        load_entry(folder)


def test_too_many_files_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.process.sources.MOST_FILES", 5)
    load_entry(folder)
    for number in range(3):
        (folder / f"empty-{number}").mkdir()
    with pytest.raises(EntryError, match=r"holds more than 5 files and folders, .* among them"):
        load_entry(folder)


def test_folders_too_deep_are_refused(folder: Path) -> None:
    deep = folder.joinpath(*["d"] * 60)
    deep.mkdir(parents=True)
    with pytest.raises(EntryError, check=says(r"is more than 40 folders deep in the bot's folder; remove it")):
        load_entry(folder)


def test_a_file_that_grows_while_it_is_read_ends_the_reading(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot's author may write on and on: the size counts that was there when the file was opened."""
    (folder / "grows").write_bytes(bytes(10))
    real = os.fstat

    def early(number: int) -> os.stat_result:
        found = real(number)
        return os.stat_result((*found[:6], found.st_size - 1, *found[7:10])) if found.st_size == 10 else found

    monkeypatch.setattr(os, "fstat", early)
    with pytest.raises(EntryError, check=says(r"grows: was changed while it was read; try again")):
        load_entry(folder)


def test_a_link_to_what_is_left_out_is_refused(folder: Path) -> None:
    (folder / ".venv").mkdir()
    (folder / ".venv" / "tool.py").touch()
    (folder / "tool.py").symlink_to(".venv/tool.py")
    with pytest.raises(EntryError, match=r"tool\.py: links to \.venv, which cannot be part of a bot"):
        load_entry(folder)
