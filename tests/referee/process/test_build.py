"""Builds: once per source, in a copy, within limits, with a log; and what runs afterwards."""

import errno
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from referee.folders import CACHE_VARIABLE, cache_folder
from referee.process import build as building
from referee.process import sources
from referee.process.build import BuildError, BuildLimits, NoRoomError, Yard, build, hand_in_limits
from referee.process.entry import Entry, EntryError, NotBuiltError, load_entry, load_stored, lost_files
from referee.process.launch import BOT_OOM_SCORE, BUILD_OOM_SCORE
from referee.process.limits import Room
from referee.process.manifest import Manifest, ManifestError
from referee.process.sandbox import Profile
from referee.process.store import Hold
from referee.process.supervised_command import Ended
from tests.sentences import says

pytestmark = pytest.mark.usefixtures("cache")

Make = Callable[..., Path]


@pytest.fixture
def bot(tmp_path: Path) -> Make:
    """A bot folder whose build is a line of shell; the program must come to lie at build/bot."""

    def made(script: str = "", fetch: str = "", toolchain: str = "") -> Path:
        folder = tmp_path / "a bot"
        folder.mkdir(exist_ok=True)
        script = script or "mkdir -p build && cp source build/bot && chmod +x build/bot"
        lines = [
            'name = "built"',
            'version = "1"',
            'games = ["*"]',
            'run = ["build/bot"]',
            f"build = {json.dumps(['sh', '-c', script])}",
        ]
        lines += [f"fetch = {json.dumps(['sh', '-c', fetch])}"] if fetch else []
        lines += [f"toolchain = {json.dumps(['sh', '-c', toolchain])}"] if toolchain else []
        (folder / "bot.toml").write_text("\n".join(lines) + "\n")
        (folder / "source").write_text("#!/bin/sh\n")
        return folder

    return made


@pytest.mark.parametrize(
    ("number", "kind", "why"),
    [
        (errno.EACCES, BuildError, r"the build left 'build/bot', which cannot be read: Permission denied"),
        (errno.ENOSPC, NoRoomError, "No space left on device"),
    ],
)
def test_what_a_build_left_and_nobody_can_read_is_the_bots_affair_and_a_full_disk_is_not(
    bot: Make, monkeypatch: pytest.MonkeyPatch, number: int, kind: type[BuildError], why: str
) -> None:
    """A ladder built such a bot again without end."""
    real = building._hashed

    def hashed(folder: Path) -> Iterator[tuple[str, str]]:
        if (folder / "build" / "bot").exists():
            raise OSError(number, os.strerror(number), str(folder / "build" / "bot"))
        return real(folder)

    monkeypatch.setattr(building, "_hashed", hashed)
    with pytest.raises(BuildError, match=why) as caught:
        build(bot(), Yard("plain"))
    assert type(caught.value) is kind


def test_a_phase_for_which_the_machine_is_short_of_something_is_no_fault_of_the_bot(
    bot: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = f"not started: {os.strerror(errno.EAGAIN)} (step 'fork')"
    monkeypatch.setattr(building, "run_supervised", lambda *_: Ended(None, why, machine_short=True))
    with pytest.raises(NoRoomError, match="not started"):
        build(bot(), Yard("plain"))


def test_what_was_built_runs_from_the_cache_and_the_bots_folder_stays_as_it_is(bot: Make, cache: Path) -> None:
    folder = bot()
    before = sorted(folder.rglob("*"))
    built, fresh = build(folder)
    assert fresh
    assert built.folder == cache / built.source_id / "1" / "bot"
    assert sorted(folder.rglob("*")) == before
    entry = load_entry(folder)
    assert entry.home == built.folder
    assert entry.argv == (str(built.folder / "build" / "bot"),)


def test_a_build_goes_before_bots_when_the_machine_has_no_memory_left(bot: Make) -> None:
    built, _ = build(
        bot("mkdir build && cp source build/bot && chmod +x build/bot && cat /proc/self/oom_score_adj > score")
    )
    assert (built.folder / "score").read_text().strip() == str(BUILD_OOM_SCORE)
    assert BUILD_OOM_SCORE > BOT_OOM_SCORE > 0


@pytest.mark.parametrize("slots", [1, 2, 3, 16, 64])
@pytest.mark.parametrize("room_mib", [2000, 8000, 64000])
def test_builds_of_hand_ins_share_the_memory_of_a_machine(
    slots: int, room_mib: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "memory_room", lambda: Room(room_mib, "this machine"))
    limits = hand_in_limits(7.0, 99, slots)
    assert (limits.fetch_s, limits.build_s, limits.disk_mib, limits.processes) == (7.0, 7.0, 99, 1024)
    assert 512 <= limits.memory_mib <= 8192
    assert limits.memory_mib == 512 or limits.memory_mib * max(2, slots) <= room_mib


def test_what_a_toolchain_says_cannot_command_a_terminal(bot: Make) -> None:
    built, _ = build(bot(toolchain=r"printf 'cc \033]0;owned\007\033[2J1.0\n'"))
    assert built.toolchain == r"cc \x1b]0;owned\x07\x1b[2J1.0"
    raw = replace(built, toolchain="cc \x1b[2J")
    assert str(raw) == rf"{built.artefacts} by cc \x1b[2J"


def test_to_hold_a_build_that_is_gone_fails_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unraisable: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    with pytest.raises(FileNotFoundError):
        Hold(tmp_path / "gone")
    gc.collect()
    assert not unraisable


def test_the_same_sources_are_built_once_and_others_again(bot: Make) -> None:
    folder = bot()
    first, _ = build(folder)
    again, fresh = build(folder)
    assert (again, fresh) == (first, False)
    _, fresh = build(folder, again=True)
    assert fresh
    (folder / "source").write_text("#!/bin/sh\nexit 1\n")
    other, fresh = build(folder)
    assert fresh
    assert other.source_id != first.source_id
    assert other.artefacts != first.artefacts


def test_the_same_files_with_other_rights_or_links_are_another_build(bot: Make) -> None:
    """Somebody else may hand in the files of a bot: their rights, and what they lead to, are not taken from there."""
    folder = bot()
    tool, twin = folder / "tool", folder / "twin"
    for path in (tool, twin):
        path.write_text("#!/bin/sh\n")
    tool.chmod(0o644)
    first, _ = build(folder)
    tool.chmod(0o755)
    second, fresh = build(folder)
    assert fresh
    assert [os.access(built.folder / "tool", os.X_OK) for built in (first, second)] == [False, True]
    twin.unlink()
    twin.symlink_to("tool")
    third, fresh = build(folder)
    assert fresh
    assert (third.folder / "twin").readlink() == Path("tool")
    assert len({first.source_id, second.source_id, third.source_id}) == 3


def test_who_else_may_read_the_files_of_a_bot_does_not_matter_for_its_build(bot: Make) -> None:
    folder = bot()
    first, _ = build(folder)
    (folder / "source").chmod(0o600)
    assert build(folder) == (first, False)


def test_sources_that_a_build_changes_are_a_part_of_what_it_made(bot: Make, tmp_path: Path) -> None:
    """The same script and another outcome is another program, in whatever file."""
    script = "mkdir -p build && cp source build/bot && chmod +x build/bot && cat {} >> helper"
    made = []
    for word in ("one", "two", "two"):
        given = tmp_path / "word"
        given.write_text(word)
        folder = bot(script.format(f"'{given}'"))
        (folder / "helper").write_text("a source\n")
        made.append(build(folder, again=True)[0].artefacts)
    assert made[0] != made[1] == made[2]


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_is_called_as_the_folder_of_proto_files_is_told(bot: Make, kind: str) -> None:
    folder = bot()
    if kind == "file":
        (folder / "proto").write_text("")
    else:
        (folder / "there").mkdir()
        (folder / "there" / "file").write_text("")
        (folder / "proto").symlink_to("there")
    with pytest.raises(EntryError, check=says(r"proto: is not a folder with files.*rename it")):
        build(folder)


@pytest.mark.parametrize(
    ("before", "now", "fresh"), [("plain", "strict", True), ("strict", "strict", False), ("strict", "plain", False)]
)
def test_a_build_without_the_sandbox_does_not_count_where_it_is_wanted(
    bot: Make, before: Profile, now: Profile, *, fresh: bool
) -> None:
    folder = bot()
    build(folder, Yard(before))
    built, made = build(folder, Yard(now))
    assert (made, built.sandbox) == (fresh, "strict")


def change_the_program(home: Path) -> None:
    (home / "build" / "bot").write_text("#!/bin/sh\n# learned\n")


@pytest.mark.parametrize(
    "change",
    [
        change_the_program,
        lambda home: (home / "source").write_text("#!/bin/sh\n# learned\n"),
        lambda home: (home / "weights").write_text("learned\n"),
        lambda home: (home / "source").unlink(),
        lambda home: os.utime(home / "build" / "bot", (1, 1)),
    ],
    ids=["program", "source", "new file", "removed file", "older file"],
)
def test_a_build_that_was_changed_in_the_cache_does_not_play_as_what_was_built(
    bot: Make, change: Callable[[Path], object]
) -> None:
    """A bot that plays without a sandbox can write there."""
    folder = bot()
    built, _ = build(folder)
    entry = load_entry(folder)
    assert entry.built == built
    assert lost_files(entry) == ""
    change(built.folder)
    adds = (built.folder / "weights").exists()  # a bot may write beside its program while its run is played
    assert ("has changed since it was made" in lost_files(entry)) != adds
    with pytest.raises(NotBuiltError):
        load_entry(folder)
    again, fresh = build(folder)
    assert fresh
    assert again.artefacts == built.artefacts
    assert load_entry(folder).home == again.folder != built.folder


def test_a_file_that_a_bot_lays_into_its_build_keeps_no_other_process_of_the_run_from_it(bot: Make) -> None:
    """It plays without a sandbox, and writes a log, say. The next run begins with a clean build."""
    folder = bot()
    built, _ = build(folder)
    entry = load_entry(folder)
    (built.folder / "my.log").write_text("a match\n")
    assert load_stored(entry.content, folder, in_play=True).built == built
    assert lost_files(entry) == ""
    with pytest.raises(NotBuiltError):
        load_stored(entry.content, folder)
    (built.folder / "helper.py").write_text("another = 1\n")
    assert "has changed since it was made" in lost_files(entry)
    with pytest.raises(NotBuiltError):
        load_stored(entry.content, folder, in_play=True)


def test_what_python_compiles_beside_a_program_is_no_change_of_a_build(bot: Make) -> None:
    folder = bot()
    built, _ = build(folder)
    (built.folder / "__pycache__").mkdir()
    (built.folder / "__pycache__" / "bot.pyc").write_bytes(b"compiled")
    assert load_entry(folder).built == built


def test_a_build_of_an_older_version_counts(bot: Make) -> None:
    """Such a one does not say what its files were."""
    folder = bot()
    built, _ = build(folder)
    (built.folder.parent / "files").unlink()
    (built.folder / "more").touch()
    assert load_entry(folder).built == built


def test_options_of_a_bot_share_a_build(bot: Make) -> None:
    folder = bot()
    with (folder / "bot.toml").open("a") as file:
        file.write("[options]\ndepth = 1\n")
    built, _ = build(folder)
    one, two = load_entry(folder), load_entry(folder, options={"depth": 2})
    assert one.id != two.id
    assert one.home == two.home == built.folder


def test_a_bot_that_was_not_built_is_refused_with_the_command(bot: Make) -> None:
    with pytest.raises(ManifestError, check=says(r"build the bot first: crosstown bots build '.*a bot'")):
        load_entry(bot())


def test_a_program_built_in_place_does_not_play_as_what_it_was_not_built_from(bot: Make) -> None:
    folder = bot()
    subprocess.run(["sh", "-c", "mkdir build && cp source build/bot && chmod +x build/bot"], cwd=folder, check=True)
    (folder / "source").write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(
        NotBuiltError, check=says(r"not built, or was changed since; .* crosstown bots build '.*a bot'")
    ):
        load_entry(folder)
    build(folder)
    entry = load_entry(folder)
    assert entry.home != folder
    assert (entry.home / "build" / "bot").read_text() == "#!/bin/sh\nexit 1\n"


def test_a_caller_may_answer_for_a_build_of_its_own(bot: Make) -> None:
    folder = bot()
    subprocess.run(["sh", "-c", "mkdir build && cp source build/bot && chmod +x build/bot"], cwd=folder, check=True)
    assert load_entry(folder, built_in=folder).argv == (str(folder / "build" / "bot"),)


def test_fetch_comes_first_and_both_stand_in_the_log_with_the_toolchain(bot: Make) -> None:
    folder = bot(
        "echo compiling; test -f fetched && mkdir -p build && cp source build/bot && chmod +x build/bot",
        fetch="echo fetching; touch fetched",
        toolchain="echo maker 1.2; echo more",
    )
    built, _ = build(folder)
    log = built.log.read_text()
    assert log.index("fetching") < log.index("compiling")
    assert built.toolchain == "maker 1.2"


@pytest.mark.parametrize(
    ("script", "sentence", "tail"),
    [
        ("echo no such thing >&2; exit 7", "build: 'sh' ended with exit code 7", "no such thing"),
        ("kill -9 $$", "build: 'sh' ended with SIGKILL", ""),
        ("true", "the build ended well but left nothing to run", ""),
        ("sleep 60", "build: not ready after 0.3 s", ""),
    ],
)
def test_a_build_that_fails_says_how_and_shows_the_end_of_its_log(
    bot: Make, script: str, sentence: str, tail: str
) -> None:
    folder = bot(script)
    with pytest.raises(BuildError) as caught:
        build(folder, Yard(limits=BuildLimits(build_s=0.3 if "sleep" in script else 60)))
    assert sentence in caught.value.sentence
    assert caught.value.log is not None
    assert tail in caught.value.log.read_text()
    with pytest.raises(ManifestError, check=says("build the bot first")):
        load_entry(folder)


def test_nothing_of_a_build_outlives_it(bot: Make, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    folder = bot(f"sleep 600 & echo $! > '{pid_file}'; mkdir build; cp source build/bot; chmod +x build/bot")
    build(folder)
    pid = int(pid_file.read_text())
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("a process of the build lives on")


def test_a_log_of_any_length_is_kept_short(bot: Make) -> None:
    folder = bot("echo first; head -c 30000000 /dev/zero | tr '\\0' x; echo last; exit 1")
    with pytest.raises(BuildError) as caught:
        build(folder, Yard(limits=BuildLimits(log_bytes=10_000)))
    assert caught.value.log is not None
    log = caught.value.log.read_text()
    assert len(log) < 11_000
    assert "first" in log
    assert "last" in log
    assert "bytes dropped" in log


@pytest.mark.parametrize("script", ["head -c 5000000 /dev/zero > big", "python3 -c 'b = bytearray(400 << 20)'"])
def test_a_build_that_takes_too_much_fails(bot: Make, script: str) -> None:
    script = script.replace("python3", f"'{sys.executable}'")
    with pytest.raises(BuildError, match="ended with"):
        build(bot(f"{script} && exit 0"), Yard(limits=BuildLimits(memory_mib=100, file_mib=1)))


def test_secrets_of_the_environment_do_not_reach_a_build(bot: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET", "42")
    monkeypatch.setenv("GOFLAGS", "-mod=readonly")
    folder = bot("env; exit 1")
    with pytest.raises(BuildError) as caught:
        build(folder)
    assert caught.value.log is not None
    log = caught.value.log.read_text()
    assert "MY_SECRET" not in log
    assert "GOFLAGS=-mod=readonly" in log


def test_two_builds_at_once_are_one(bot: Make, tmp_path: Path) -> None:
    folder = bot(f"echo x >> '{tmp_path}/count'; sleep 0.2; mkdir build; cp source build/bot; chmod +x build/bot")
    fresh = []
    threads = [threading.Thread(target=lambda: fresh.append(build(folder)[1])) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(fresh) == [False, False, True]
    assert (tmp_path / "count").read_text() == "x\n"


def test_our_proto_files_lie_beside_the_sources_of_a_bot_that_has_none(bot: Make) -> None:
    folder = bot()
    built, _ = build(folder)
    assert (built.folder / "proto" / "crosstown" / "v1" / "referee.proto").is_file()
    (folder / "proto").mkdir()
    (folder / "proto" / "file").write_text("own")
    built, _ = build(folder)
    assert [path.name for path in (built.folder / "proto").iterdir()] == ["file"]


def test_a_change_of_our_proto_files_is_a_new_build_and_the_same_entry(
    bot: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = bot()
    first, _ = build(folder)
    entry = load_entry(folder)
    changed = tmp_path / "referee.proto"
    changed.write_text("message More {}")
    monkeypatch.setattr(sources, "proto_files", lambda: [changed])
    with pytest.raises(NotBuiltError):
        load_entry(folder)
    second, fresh = build(folder)
    assert fresh
    assert second.source_id != first.source_id
    assert load_entry(folder).id == entry.id


def test_a_bots_own_proto_files_are_all_that_its_build_depends_on(
    bot: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = bot()
    (folder / "proto").mkdir()
    (folder / "proto" / "file").write_text("own")
    build(folder)
    monkeypatch.setattr(sources, "proto_files", list)
    assert not build(folder)[1]


def test_files_whose_names_begin_with_a_dot_are_copied_but_for_what_other_tools_keep(bot: Make) -> None:
    folder = bot(
        "test -f .config/settings && test ! -e .git && mkdir build && cp source build/bot && chmod +x build/bot"
    )
    for name in (".config/settings", ".git/HEAD"):
        (folder / name).parent.mkdir()
        (folder / name).write_text("whatever")
    first, _ = build(folder)
    (folder / ".git" / "HEAD").write_text("other")
    assert not build(folder)[1]
    (folder / ".config" / "settings").write_text("other")
    assert build(folder)[0].source_id != first.source_id


def test_a_link_within_the_bot_is_one_in_the_copy(bot: Make) -> None:
    folder = bot("test -L there/alias && mkdir build && cp there/alias build/bot && chmod +x build/bot")
    (folder / "there").mkdir()
    (folder / "there" / "alias").symlink_to(folder / "source")
    built, _ = build(folder)
    assert (built.folder / "there" / "alias").readlink() == Path("../source")


def test_a_build_that_somebody_plays_from_stays_when_it_is_made_anew(bot: Make) -> None:
    folder = bot()
    playing = load_entry_of(folder)
    assert build(folder, again=True)[1]
    assert Path(playing.argv[0]).is_file()
    newer = load_entry(folder)
    assert newer.home != playing.home
    assert newer == load_entry(folder)
    old_home = playing.home
    del playing
    build(folder, again=True)
    assert not old_home.exists()
    assert newer.home.exists()


def load_entry_of(folder: Path) -> Entry:
    build(folder)
    return load_entry(folder)


def test_a_build_that_fails_leaves_the_one_before_in_place(bot: Make, tmp_path: Path) -> None:
    flag = tmp_path / "broken"
    folder = bot(f"test ! -e '{flag}' && mkdir build && cp source build/bot && chmod +x build/bot")
    before, _ = build(folder)
    flag.touch()
    with pytest.raises(BuildError):
        build(folder, again=True)
    assert load_entry(folder).built == before


def test_the_sources_of_a_bot_are_hashed_once(bot: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = bot()
    build(folder)
    hashed: list[Path] = []
    real = sources.hash_within
    monkeypatch.setattr(sources, "hash_within", lambda where, name: hashed.append(where / name) or real(where, name))
    entry = load_entry(folder)
    assert hashed.count(folder / "source") == 1
    assert len([path for path in hashed if path.name == "source"]) == 2, "and the copy"
    hashed.clear()
    load_stored(entry.content, folder)
    assert folder / "source" not in hashed


def test_a_bot_that_changes_while_it_is_copied_is_not_built(bot: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = bot()
    real = building.copy_sources

    def late(source: Path, manifest: Manifest, target: Path) -> None:
        (folder / "source").write_text("changed")
        real(source, manifest, target)

    monkeypatch.setattr(building, "copy_sources", late)
    with pytest.raises(EntryError, match="was changed while it was copied"):
        build(folder)


def test_a_build_cut_short_counts_for_nothing(bot: Make) -> None:
    folder = bot()
    built, _ = build(folder)
    (built.folder.parents[1] / "built.json").write_text("{")
    with pytest.raises(ManifestError):
        load_entry(folder)
    assert build(folder)[1]


def test_a_bot_without_a_build_is_told_so(bot: Make) -> None:
    folder = bot()
    text = (folder / "bot.toml").read_text()
    (folder / "bot.toml").write_text("\n".join(line for line in text.splitlines() if not line.startswith("build")))
    with pytest.raises(BuildError, match="nothing is to be built"):
        build(folder)


def test_the_cache_is_in_the_users_own_unless_it_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "crosstown"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "crosstown"
