"""The store of bot versions: what is copied, what is noticed, what goes."""

import errno
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.errors import PlatformError
from referee.process import sources
from referee.process import store as module
from referee.process.entry import EntryError, load_entry, load_stored, lost_files
from referee.process.manifest import BUILD_OUTPUT, ManifestError, load_manifest
from referee.process.sources import read_sources
from referee.process.store import DamagedError, Version, evict, hold, put
from tests.living import open_files
from tests.sentences import says

WriteBot = Callable[..., Path]


@pytest.fixture(autouse=True)
def _own_cache(cache: Path) -> None:
    """Not the user's."""


@pytest.fixture
def folder(write_bot: WriteBot) -> Path:
    folder = write_bot({"bot.py": "print(1)\n", "lib/rules.py": "x = 1\n", "tool.sh": "#!/bin/sh\n"})
    (folder / "tool.sh").chmod(0o755)
    (folder / "alias.py").symlink_to("lib/rules.py")
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def stored(store: Path, folder: Path) -> Version:
    manifest = load_manifest(folder)
    return put(store, folder, manifest, read_sources(folder, manifest))


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def test_a_version_has_the_bots_files_and_nobody_may_write_them(store: Path, folder: Path) -> None:
    version = stored(store, folder)
    assert files(version.folder) == files(folder)
    assert (version.folder / "alias.py").readlink() == Path("lib/rules.py")
    assert {path.stat().st_mode & 0o777 for path in version.folder.rglob("*.py")} == {0o444}
    assert (version.folder / "tool.sh").stat().st_mode & 0o777 == 0o555
    assert (version.folder / "lib").stat().st_mode & 0o777 == 0o555


def test_a_bot_with_a_link_is_kept_where_a_link_leads_to_the_store(store: Path, folder: Path) -> None:
    (store.parent / "elsewhere").mkdir()
    store.symlink_to("elsewhere")
    version = stored(store, folder)
    assert files(version.folder) == files(folder)
    again = hold(store, version.content)
    assert again is not None
    assert read_sources(again.folder, load_manifest(again.folder)) == read_sources(folder, load_manifest(folder))


def test_what_is_left_out_of_the_hash_is_left_out_of_the_copy(store: Path, folder: Path) -> None:
    before = stored(store, folder).content
    for name in (".cache/x", ".venv/bin/python", "__pycache__/bot.pyc", "lib/__pycache__/rules.pyc", ".git/HEAD"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("made by a tool")
    version = stored(store.with_name("another"), folder)
    assert version.content == before
    assert not [path for path in version.folder.rglob("*") if path.name in (".cache", ".venv", "__pycache__", ".git")]


@pytest.mark.parametrize("built", [True, False], ids=["it is built", "nothing is built"])
def test_build_outputs_are_left_out_of_the_copy_of_a_bot_that_is_built(
    store: Path, write_bot: WriteBot, built: bool
) -> None:
    """Of one that is not they are its files, as everything else is."""
    build = 'build = ["make"]\n' if built else ""
    toml = f'name = "Bot"\nversion = "1"\ngames = ["*"]\nrun = ["./bot"]\n{build}'
    folder = write_bot({"main.c": "int main;\n", "lib/rules.c": "int x;\n"}, toml=toml)
    outputs = {f"{name}/made.o" for name in BUILD_OUTPUT} | {"lib/target/made.o", "bot"}
    before = stored(store, folder).content
    for name in outputs:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("object code")
    version = stored(store.with_name("another"), folder)
    own = {"bot.toml", "main.c", "lib/rules.c"}
    assert set(files(version.folder)) == (own if built else own | outputs)
    assert (version.content == before) is built


def test_the_same_content_is_one_version_and_a_right_to_execute_makes_another(
    store: Path, folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path / "elsewhere", symlinks=True)
    assert stored(store, folder) == stored(store, tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "tool.sh").chmod(0o644)
    assert stored(store, folder).content != stored(store, tmp_path / "elsewhere").content


def test_any_number_of_users_of_a_version_take_one_file_descriptor(folder: Path) -> None:
    first = load_entry(folder)
    before = open_files()
    others = [load_entry(folder) for _ in range(20)]
    assert open_files() <= before
    del others, first
    assert open_files() < before


def test_what_the_author_does_later_does_not_reach_the_copy(folder: Path) -> None:
    entry = load_entry(folder)
    (folder / "bot.py").write_text("print('cheat')\n")
    assert (entry.home / "bot.py").read_text() == "print(1)\n"
    shutil.rmtree(folder)
    again = load_stored(entry.content, folder)
    assert (again.id, again.home, again.argv) == (entry.id, entry.home, entry.argv)


@pytest.mark.parametrize(
    "damage",
    [
        lambda home: (home / "bot.py").write_text("print(2)\n"),
        lambda home: (home / "more.py").write_text("x = 2\n"),
        lambda home: (home / "__pycache__").mkdir() or (home / "__pycache__" / "rules.pyc").write_text("x"),
        lambda home: (home / "lib" / "rules.py").unlink(),
        lambda home: (home / "bot.py").chmod(0o555),
        lambda home: (home / "alias.py").unlink(),
    ],
)
def test_a_damaged_copy_is_noticed_and_replaced(folder: Path, damage: Callable[[Path], None]) -> None:
    entry = load_entry(folder)
    store = entry.home.parent.parent
    for path in (entry.home, *entry.home.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | 0o200)
    damage(entry.home)
    with pytest.raises(DamagedError, match="the stored copy of a bot"):
        hold(store, entry.content)
    assert load_entry(folder) == entry
    assert files(entry.home) == files(folder)


def test_a_copy_to_which_a_bot_has_added_files_is_made_again_without_them(folder: Path) -> None:
    entry = load_entry(folder)
    before = files(entry.home)
    entry.home.chmod(0o755)
    (entry.home / "my.log").write_text("a match")
    shutil.rmtree(folder)
    again = load_stored(entry.content, folder)
    assert (again.id, again.home) == (entry.id, entry.home)
    assert files(again.home) == before
    assert (again.home / "alias.py").is_symlink()


def test_a_copy_is_not_lost_for_a_file_that_a_bot_has_laid_there(folder: Path) -> None:
    entry = load_entry(folder)
    entry.home.chmod(0o755)
    (entry.home / "my.log").write_text("a match")
    assert lost_files(entry) == ""
    (entry.home / "helper.py").write_text("another = 1\n")
    assert "has changed since the bot was loaded" in lost_files(entry)


def test_a_copy_that_is_damaged_and_has_no_folder_behind_it_is_refused(folder: Path) -> None:
    entry = load_entry(folder)
    (entry.home / "bot.py").chmod(0o644)
    (entry.home / "bot.py").write_text("print(2)\n")
    (folder / "bot.py").write_text("print(3)\n")
    with pytest.raises(
        EntryError, check=says(r"the stored copy of a bot was changed, and .* has changed; restore the")
    ):
        load_stored(entry.content, folder)


def test_a_lost_copy_is_made_again_from_a_folder_that_is_as_it_was(folder: Path) -> None:
    entry = load_entry(folder)
    shutil.rmtree(entry.home.parent)
    assert load_stored(entry.content, folder) == entry


def test_a_folder_that_changes_while_it_is_copied_leaves_no_version(store: Path, folder: Path) -> None:
    manifest = load_manifest(folder)
    sources = read_sources(folder, manifest)
    (folder / "bot.py").write_text("print(2)\n")
    with pytest.raises(EntryError, check=says("was changed while it was copied; try again")):
        put(store, folder, manifest, sources)
    assert list(store.iterdir()) == []


def test_many_at_once_get_the_same_version(store: Path, folder: Path) -> None:
    found: list[Version] = []
    threads = [threading.Thread(target=lambda: found.append(stored(store, folder))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(map(str, found))) == 1
    assert [path.name for path in store.iterdir()] == [found[0].content]


def beside(deed: Callable[[], object]) -> threading.Thread:
    """What another process does at the same time: as much of it as it can."""
    thread = threading.Thread(target=deed)
    thread.start()
    thread.join(0.3)
    return thread


def test_a_copy_that_has_just_been_begun_is_not_taken_for_one_of_a_killed_process(
    store: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others: list[threading.Thread] = []

    def begin(**wanted: str) -> str:
        made = mkdtemp(**wanted)  # and before it is held:
        others.append(beside(lambda: evict(store, most_bytes=1 << 30, most_versions=9)))
        return made

    mkdtemp = tempfile.mkdtemp
    monkeypatch.setattr(tempfile, "mkdtemp", begin)
    assert files(stored(store, folder).folder) == files(folder)
    others[0].join()


def test_a_version_that_another_process_has_just_put_there_is_not_taken_for_a_damaged_one(
    store: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Version] = []
    others: list[threading.Thread] = []
    looks: list[str] = []

    def look(store: Path, content: str) -> Version | None:
        looks.append(content)
        there = hold(store, content)
        if len(looks) == 2:  # whether it is damaged; it is not there yet, and then:
            others.append(beside(lambda: found.append(stored(store, folder))))
        return there

    monkeypatch.setattr("referee.process.store.hold", look)
    found.append(stored(store, folder))
    others[0].join()
    assert [path.name for path in store.iterdir()] == [found[0].content]
    assert len(found) == 2
    assert found[0] == found[1]


def test_a_process_that_is_killed_while_it_copies_leaves_nothing_that_counts(store: Path, folder: Path) -> None:
    script = (
        "import os, sys\nfrom pathlib import Path\nfrom referee.process import store\n"
        "from referee.process.manifest import load_manifest\nfrom referee.process.sources import read_sources\n"
        "store._close = lambda folder: os._exit(9)\n"
        "folder = Path(sys.argv[2]); manifest = load_manifest(folder)\n"
        "store.put(Path(sys.argv[1]), folder, manifest, read_sources(folder, manifest))\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(store), str(folder)], check=False)
    assert ended.returncode == 9
    assert [path.name[:6] for path in store.iterdir()] == [".half-"]
    version = stored(store, folder)
    assert [path.name for path in store.iterdir()] == [version.content]


def test_the_oldest_versions_go_and_none_that_somebody_holds(store: Path, write_bot: WriteBot) -> None:
    versions = [stored(store, write_bot({"bot.py": f"print({number})\n"})) for number in range(4)]
    contents = [version.content for version in versions]
    for number, content in enumerate(contents):
        os.utime(store / content / "size", (number, number))
    del versions[3], versions[1]
    evict(store, most_bytes=1 << 30, most_versions=3)
    assert {path.name for path in store.iterdir()} == {contents[0], contents[2], contents[3]}
    evict(store, most_bytes=0, most_versions=3)
    assert {path.name for path in store.iterdir()} == {contents[0], contents[2]}
    assert (versions[0].folder / "bot.py").read_text() == "print(0)\n"


@pytest.mark.parametrize("name", [".git", "mine", "0123456789abcdef"])
def test_what_is_not_of_the_store_is_left_alone(store: Path, folder: Path, name: str) -> None:
    """The folder of the cache was a user's own, with a folder `bots`: its .git was removed."""
    (store / name).mkdir(parents=True)
    (store / name / "work").write_text("of a week")
    version = stored(store, folder)
    content = version.content
    del version
    evict(store, most_bytes=0, most_versions=0)
    assert not (store / content).exists()
    assert (store / name / "work").read_text() == "of a week"


@pytest.mark.parametrize("above", ["file", "/proc/self"], ids=["below a file", "where no folder can be made"])
def test_a_store_that_cannot_be_written_is_no_fault_of_the_bot(folder: Path, tmp_path: Path, above: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(
        PlatformError, check=says(r"a bot cannot be copied to play from there \(.*\); .*set CROSSTOWN_CACHE to")
    ):
        stored(tmp_path / above / "cache" / "store", folder)


def test_a_source_that_goes_while_it_is_copied_is_the_bots_affair(
    store: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(source: Path, *_: object) -> None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(source / "bot.py"))

    monkeypatch.setattr(module, "copy_sources", gone)
    with pytest.raises(EntryError, check=says(r"bot.py: the bot cannot be copied \(No such file or directory\)")):
        stored(store, folder)


def test_words_of_run_that_name_the_folder_or_lead_out_of_it_lead_where_they_led(
    write_bot: WriteBot, tmp_path: Path
) -> None:
    shared = tmp_path / "shared.py"
    shared.write_text("print(1)\n")
    folder = write_bot({"bot.py": ""}, run=["{python}", "../shared.py", "bot.py", "../nowhere", "--x"])
    assert load_entry(folder).argv[1:] == (str(folder.parent / "shared.py"), "bot.py", "../nowhere", "--x")
    toml = (folder / "bot.toml").read_text()
    (folder / "bot.toml").write_text(toml.replace('"../shared.py"', f'"{folder}/bot.py"'))
    entry = load_entry(folder)
    assert entry.argv[1] == str(entry.home / "bot.py")


def test_a_program_in_what_is_left_out_is_refused_with_a_way_out(write_bot: WriteBot) -> None:
    folder = write_bot({".venv/bin/python": "#!/bin/sh\n"}, run=[".venv/bin/python", "bot.py"])
    (folder / ".venv/bin/python").chmod(0o755)
    with pytest.raises(
        ManifestError,
        check=says(r"'\.venv/bin/python', which is there but left out of what a bot is, .*; let its build"),
    ):
        load_entry(folder)
    (folder / ".venv/pyvenv.cfg").write_text("home = /usr/bin\n")
    with pytest.raises(ManifestError, check=says(r"left out .*; list its packages in requirements\.txt, and write")):
        load_entry(folder)


@pytest.fixture
def private(tmp_path: Path) -> Path:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "rules.py").write_text("secret")
    return tmp_path / "private"


class Author:
    """Stands in for `os` in `sources`: whenever all folders of the bot were looked through, what they hold is replaced
    by a link that leads out, and it is put back before they are looked through again."""

    def __init__(self, place: Path, goal: Path, folders: int) -> None:
        self._place, self._goal, self._own = place, goal, place.with_name("own")
        self._folders = folders
        self.looks = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def scandir(self, where: Any) -> Any:
        if self.looks % self._folders == 0 and self._own.exists():
            self._place.unlink()
            self._own.rename(self._place)
        self.looks += 1
        found = list(os.scandir(where))
        return Listed(found, self._replace if self.looks % self._folders == 0 else lambda: None)

    def _replace(self) -> None:
        if self._place.parent.exists():
            self._place.rename(self._own)
            self._place.symlink_to(self._goal)


class Listed:
    def __init__(self, found: list[Any], then: Callable[[], None]) -> None:
        self._found, self._then = found, then

    def __enter__(self) -> list[Any]:
        return self._found

    def __exit__(self, *_: object) -> None:
        self._then()


@pytest.mark.parametrize("what", ["lib", "lib/rules.py"])
def test_what_becomes_a_link_after_it_was_looked_at_is_not_read(
    store: Path, folder: Path, private: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """The author writes in the folder while somebody looks at it who may read more than the author."""
    author = Author(folder / what, private if what == "lib" else private / "rules.py", folders=2)
    monkeypatch.setattr(sources, "os", author)
    with pytest.raises(EntryError, match="cannot be read"):
        stored(store, folder)
    assert author.looks == 2


@pytest.mark.parametrize("what", ["alias.py", "gone/nothing"])
def test_a_link_has_the_content_that_it_led_to_when_it_was_looked_at(
    store: Path, folder: Path, private: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """The second author changes nothing."""
    author = Author(folder / what, private / "rules.py", folders=2)
    monkeypatch.setattr(sources, "os", author)
    version = stored(store, folder)
    assert author.looks > 4
    assert files(version.folder)["alias.py"] == "x = 1\n"
