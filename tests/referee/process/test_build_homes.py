"""The home of a bot's builds: kept for its next ones, seen by no other bot, bounded, and never in the way of two."""

import json
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.process.build import BuildError, Yard, build
from referee.process.homes import HOMES, MOST_VARIABLE, Owner, keep_home
from referee.process.paths import identity
from referee.process.sandbox import Profile
from referee.process.sources import EntryError
from referee.process.store import Built

PATIENCE_S = 30.0
PLENTY = 1 << 30
MADE = "mkdir -p build && cp source build/bot && chmod +x build/bot"
COUNT = f'echo x >> "$HOME/marker" && cp "$HOME/marker" seen && {MADE}'
"""The build leaves in `seen` how many have gone before it in this home, itself included."""

Make = Callable[..., Path]


@pytest.fixture(autouse=True)
def usual_bound(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MOST_VARIABLE, raising=False)


@pytest.fixture
def bot(tmp_path: Path) -> Make:
    def made(script: str = COUNT, *, at: str = "a bot", name: str = "b") -> Path:
        folder = tmp_path / at
        folder.mkdir(exist_ok=True)
        lines = [f'name = "{name}"', 'version = "1"', 'games = ["*"]', 'run = ["build/bot"]']
        lines += [f"build = {json.dumps(['sh', '-c', script])}"]
        (folder / "bot.toml").write_text("\n".join(lines) + "\n")
        (folder / "source").write_text("#!/bin/sh\n")
        return folder

    return made


def edit(folder: Path) -> Path:
    with (folder / "source").open("a") as file:
        file.write("# one line\n")
    return folder


def strict(folder: Path, *, again: bool = False) -> Built:
    return build(folder, Yard("strict"), again=again)[0]


def seen(built: Built) -> int:
    return len((built.folder / "seen").read_text().split())


def homes(cache: Path) -> list[Path]:
    return sorted(path for path in (cache / HOMES).glob("*/home") if path.is_dir())


def fill(cache: Path, name: str, *, mib: int, most_mib: int, used_s: float | None = None) -> None:
    """A build of bot `name` that leaves `mib` MiB in its home; `used_s` is when, if not now."""
    owner = Owner(Path("/bots") / name, name, "strict")
    with keep_home(cache, owner, most_bytes=most_mib << 20) as home:
        assert home is not None
        (home.folder / "modules").write_bytes(os.urandom(mib << 20))
    if used_s is not None:
        os.utime(cache / HOMES / owner.key / "kept.json", (used_s, used_s))


def kept(cache: Path) -> set[str]:
    return {json.loads((home.parent / "kept.json").read_text())["name"] for home in homes(cache)}


@pytest.mark.strict_sandbox
def test_the_next_build_of_a_bot_finds_what_the_last_one_left_in_its_home(bot: Make) -> None:
    folder = bot()
    first = strict(folder)
    second = strict(edit(folder))
    assert (seen(first), first.warm) == (1, False)
    assert (seen(second), second.warm) == (2, True)
    assert "# with what earlier builds kept in their home" in second.log.read_text()


@pytest.mark.strict_sandbox
def test_a_build_made_again_begins_in_a_clean_home_which_then_is_the_one_that_is_kept(bot: Make) -> None:
    folder = bot()
    strict(folder)
    again = strict(folder, again=True)
    assert (seen(again), again.warm) == (1, False)
    assert "# from a clean home" in again.log.read_text()
    assert seen(strict(edit(folder))) == 2


@pytest.mark.strict_sandbox
@pytest.mark.parametrize("other", [{"at": "other"}, {"name": "other"}])
def test_another_bot_sees_nothing_of_it_though_its_files_are_the_same(
    bot: Make, cache: Path, other: dict[str, str]
) -> None:
    strict(bot())
    look = f"! test -e '{cache}/{HOMES}' && {COUNT}"
    built = strict(bot(look, **other))
    assert (seen(built), built.warm) == (1, False)
    assert len(homes(cache)) == 2


def test_homes_go_by_folder_name_and_profile() -> None:
    profiles: tuple[Profile, ...] = ("strict", "plain")
    owners = [
        Owner(Path(folder), name, profile) for folder in ("/a", "/b") for name in ("/a", "b") for profile in profiles
    ]
    assert len({owner.key for owner in owners}) == len(owners)


@pytest.mark.strict_sandbox
def test_a_folder_is_the_same_bot_by_whatever_path_it_is_named(bot: Make, tmp_path: Path) -> None:
    strict(bot())
    (tmp_path / "alias").symlink_to(tmp_path / "a bot")
    assert seen(strict(edit(tmp_path / "alias"))) == 2


@pytest.mark.strict_sandbox
def test_a_second_build_at_the_same_time_does_not_wait_for_the_home_and_gets_a_fresh_one(
    bot: Make, cache: Path
) -> None:
    """The bot is edited while it is built. What the second leaves goes with it, the first one's is kept."""
    folder = bot(f"if ! grep -q one.line source; then while ! test -e go; do sleep 0.02; done; fi; {COUNT}")
    first: list[Built] = []
    thread = threading.Thread(target=lambda: first.append(strict(folder)))
    thread.start()
    try:
        until(lambda: list(cache.glob("*/1/log.txt")))
        second = strict(edit(folder))
        assert (seen(second), second.warm) == (1, False)
        assert not first
        assert not (second.folder.parent / "home").exists()
    finally:
        for copy in cache.glob("*/1/bot"):
            (copy / "go").touch()
        thread.join(PATIENCE_S)
    assert seen(first[0]) == 1
    assert seen(strict(edit(folder))) == 2


def test_who_waits_for_another_that_makes_the_same_is_told_so(bot: Make, cache: Path) -> None:
    folder = bot(f"while ! test -e go; do sleep 0.02; done; {MADE}")
    first = threading.Thread(target=lambda: build(folder))
    first.start()
    until(lambda: list(cache.glob("*/1/log.txt")))
    steps: list[str] = []

    def told(step: str) -> None:
        steps.append(step)
        (next(cache.glob("*/1/bot")) / "go").touch()

    _, fresh = build(folder, Yard(told=told))
    first.join(PATIENCE_S)
    assert (steps, fresh) == (["wait"], False)


def until(true: Callable[[], object]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < end_s, "it did not come true in time"
        time.sleep(0.02)


def test_a_home_that_is_in_use_is_nobody_elses(tmp_path: Path) -> None:
    owner = Owner(Path("/bots/a"), "a", "strict")
    with keep_home(tmp_path, owner, most_bytes=PLENTY) as one, keep_home(tmp_path, owner, most_bytes=PLENTY) as two:
        assert one is not None
        assert two is None
    with keep_home(tmp_path, owner, most_bytes=PLENTY) as one:
        assert one is not None


def test_the_homes_used_longest_ago_go_when_all_of_them_take_too_much(tmp_path: Path) -> None:
    now_s = time.time()
    for number, name in enumerate("abc"):
        fill(tmp_path, name, mib=2, most_mib=100, used_s=now_s - 100 + number)
    fill(tmp_path, "a", mib=2, most_mib=100, used_s=now_s - 50)
    fill(tmp_path, "d", mib=2, most_mib=7)
    assert kept(tmp_path) == {"a", "c", "d"}


def test_a_home_that_is_too_big_by_itself_is_not_kept(tmp_path: Path) -> None:
    fill(tmp_path, "a", mib=3, most_mib=2)
    assert kept(tmp_path) == set()


def test_a_home_that_is_in_use_is_never_removed(tmp_path: Path) -> None:
    fill(tmp_path, "a", mib=3, most_mib=100, used_s=time.time() - 100)
    with keep_home(tmp_path, Owner(Path("/bots/a"), "a", "strict"), most_bytes=PLENTY) as home:
        fill(tmp_path, "b", mib=3, most_mib=4)
        assert home is not None
        assert (home.folder / "modules").is_file()


def test_a_home_whose_only_build_was_killed_before_it_was_measured_is_removed_by_the_next(tmp_path: Path) -> None:
    fill(tmp_path, "a", mib=1, most_mib=100)
    (home,) = homes(tmp_path)
    (home.parent / "kept.json").unlink()
    fill(tmp_path, "b", mib=1, most_mib=100)
    assert kept(tmp_path) == {"b"}


def test_homes_of_users_are_no_homes_of_builds(tmp_path: Path) -> None:
    """The folder of the cache was one that has them: those that nobody had counted were emptied."""
    thesis = tmp_path / "homes" / "ann" / "home" / "thesis"
    thesis.parent.mkdir(parents=True)
    thesis.touch()
    fill(tmp_path, "a", mib=1, most_mib=100)
    assert thesis.exists()


def test_empty_files_count_too(tmp_path: Path) -> None:
    with keep_home(tmp_path, Owner(Path("/bots/a"), "a", "strict"), most_bytes=1 << 20) as home:
        assert home is not None
        for number in range(300):
            (home.folder / str(number)).touch()
    assert not homes(tmp_path)


def test_a_clock_that_was_set_back_makes_a_clean_home(tmp_path: Path) -> None:
    """What was compiled before would be younger than the sources of the next build."""
    fill(tmp_path, "a", mib=1, most_mib=100, used_s=time.time() + 1000)
    with keep_home(tmp_path, Owner(Path("/bots/a"), "a", "strict"), most_bytes=PLENTY) as home:
        assert home is not None
        assert not home.warm
        assert not list(home.folder.iterdir())


@pytest.mark.parametrize("text", ["-1", "much", "1.5", "\u0663"])
def test_a_bound_that_is_no_number_is_refused(bot: Make, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(MOST_VARIABLE, text)
    with pytest.raises(EntryError, match=f"{MOST_VARIABLE} is a number of MiB, such as 10240, or 0 to keep nothing"):
        build(bot(MADE))


@pytest.mark.strict_sandbox
def test_nothing_is_kept_where_the_bound_is_nothing(bot: Make, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MOST_VARIABLE, "0")
    folder = bot()
    strict(folder)
    assert not homes(cache)
    assert seen(strict(edit(folder))) == 1


@pytest.mark.strict_sandbox
def test_what_is_kept_is_ours_and_nobody_else_can_get_there(bot: Make, cache: Path) -> None:
    """The user that a build has, where we are root, is another bot's at another time."""
    strict(bot('mkdir -p "$HOME/modules/x" && chmod 555 "$HOME/modules" && ln -s /etc "$HOME/link" && ' + COUNT))
    (home,) = homes(cache)
    assert {path.lstat().st_uid for path in (home, *home.rglob("*"))} == {os.getuid()}
    assert home.parent.stat().st_mode & 0o077 == 0
    assert Path("/etc").stat().st_uid == 0


@pytest.mark.strict_sandbox
def test_links_that_a_build_left_in_its_home_lead_nobody_astray(bot: Make, users_home: Path, tmp_path: Path) -> None:
    """Settings are laid there, as root where we are root."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("ours")
    (users_home / ".config" / "go").mkdir(parents=True)
    (users_home / ".config" / "go" / "env").write_text("GOPROXY=https://proxy.test\n")
    (users_home / ".npmrc").write_text("registry=https://npm.test\n")
    plant = (
        'cd "$HOME" && cat .npmrc .config/go/env && rm -rf .npmrc .config '
        f"&& ln -s '{outside}/file' .npmrc && ln -s '{outside}' .config"
    )
    folder = bot(f"({plant}) && {COUNT}")
    strict(folder)
    second = strict(edit(folder))
    assert seen(second) == 2
    assert "https://npm.test" in second.log.read_text()
    assert "https://proxy.test" in second.log.read_text()
    assert [path.name for path in outside.iterdir()] == ["file"]
    assert (outside / "file").read_text() == "ours"


@pytest.mark.strict_sandbox
def test_settings_that_the_user_has_no_more_are_gone_from_the_home(bot: Make, users_home: Path, cache: Path) -> None:
    (users_home / ".npmrc").write_text("registry=https://npm.test\n")
    folder = bot()
    strict(folder)
    (home,) = homes(cache)
    assert "npm.test" in (home / ".npmrc").read_text()
    (users_home / ".npmrc").unlink()
    assert strict(edit(folder)).warm
    assert not (home / ".npmrc").exists() or "npm.test" not in (home / ".npmrc").read_text()  # the machine's may be


@pytest.mark.strict_sandbox
def test_a_build_that_fails_keeps_its_home_and_says_that_it_was_not_clean(bot: Make) -> None:
    """A slip of the pen costs no minute afterwards."""
    folder = bot(f"{COUNT} && ! grep -q oops source")
    strict(folder)
    (folder / "source").write_text("oops\n")
    with pytest.raises(BuildError) as caught:
        strict(folder)
    assert caught.value.warm
    (folder / "source").write_text("better\n")
    assert seen(strict(folder)) == 3


def test_the_steps_of_a_build_are_told_in_their_order(bot: Make) -> None:
    folder = bot(MADE)
    with (folder / "bot.toml").open("a") as file:
        file.write('fetch = ["true"]\ntoolchain = ["echo", "maker 1"]\n')
    steps: list[str] = []
    built, _ = build(folder, Yard(told=steps.append))
    assert steps == ["fetch", "build", "toolchain"]
    assert "# in the user's own home" in built.log.read_text()


def test_sources_are_as_young_as_the_build_whatever_their_own_time_says(bot: Make) -> None:
    """Cargo goes by time: a file that was put back, older than the last build, would pass for compiled."""
    folder = bot(MADE)
    first, _ = build(folder)
    edit(folder)
    os.utime(folder / "source", (1e9, 1e9))
    second, _ = build(folder)
    younger, older = ((built.folder / "source").stat().st_mtime_ns for built in (second, first))
    assert younger > older


CARGO = 'printf %s "$CARGO_BUILD_BUILD_DIR" > where && '


@pytest.mark.strict_sandbox
def test_cargo_is_told_to_keep_what_it_compiled_in_the_home(bot: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARGO_BUILD_BUILD_DIR", "/elsewhere")
    built = strict(bot(CARGO + MADE))
    assert (built.folder / "where").read_text() == "/tmp/cargo-build"


def test_of_plain_builds_too_unless_the_user_says_where(
    bot: Make, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CARGO_BUILD_BUILD_DIR", raising=False)
    folder = bot(CARGO + MADE)
    built, _ = build(folder)
    assert Path((built.folder / "where").read_text()) == homes(cache)[0] / "cargo-build"
    monkeypatch.setenv("CARGO_BUILD_BUILD_DIR", "/elsewhere")
    built, _ = build(folder, again=True)
    assert (built.folder / "where").read_text() == "/elsewhere"


@pytest.mark.parametrize("profile", ["plain", pytest.param("strict", marks=pytest.mark.strict_sandbox)])
def test_a_build_is_told_of_a_folder_that_the_next_one_finds_as_it_was_left(bot: Make, profile: Profile) -> None:
    script = f'mkdir -p "$CROSSTOWN_KEPT" && echo x >> "$CROSSTOWN_KEPT/a" && cp "$CROSSTOWN_KEPT/a" seen && {MADE}'
    folder = bot(script)
    assert [seen(build(edit(folder), Yard(profile))[0]) for _ in range(3)] == [1, 2, 3]


@pytest.mark.strict_sandbox
def test_cmake_compiles_through_ccache_where_that_is_installed(
    bot: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sources lie elsewhere in each build, so paths below them are to be taken as relative."""
    tools = tmp_path / "tools" / "bin"
    tools.mkdir(parents=True)
    (tools / "ccache").write_text("#!/bin/sh\n")
    (tools / "ccache").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    built = strict(bot(f'printf "%s " "$CMAKE_CXX_COMPILER_LAUNCHER" "$CCACHE_BASEDIR" > where && {MADE}'))
    words = (built.folder / "where").read_text().split()
    assert words == ["ccache", *str(built.folder).split()]


def test_a_new_folder_at_the_same_place_finds_nothing_of_the_one_before(bot: Make) -> None:
    """Another author's, who chose the same name."""
    assert seen(strict(bot())) == 1
    shutil.rmtree(bot())
    assert seen(strict(edit(bot()))) == 1
    assert seen(strict(edit(edit(bot())))) == 2


def test_a_folder_keeps_its_identity_whatever_becomes_of_what_is_in_it(tmp_path: Path) -> None:
    first = identity(tmp_path)
    (tmp_path / "file").write_text("more")
    tmp_path.chmod(0o755)
    os.utime(tmp_path, (1, 1))
    assert identity(tmp_path) == first
    assert identity(tmp_path / "file") != first
    assert identity(tmp_path / "gone") == (0, 0, 0, 0)
