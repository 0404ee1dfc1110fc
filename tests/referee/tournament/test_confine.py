"""What a tournament file says of sandboxes, grants and limits of bots, and what comes of it on a machine."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.errors import ConfigError, PlatformError
from referee.process.checkup import Probe
from referee.process.entry import remote_bot_entry
from referee.process.sandbox import Sandbox
from referee.run.folder import RunFolder
from referee.schedule.schedule import known_matches
from referee.tournament import confine, messages
from referee.tournament.config import load_config
from referee.tournament.confine import confine_all, hide, private_places
from referee.tournament.entrants import check_apart, load_tournament
from referee.tournament.identity import config_of

WORKS = Probe(True)
DOES_NOT = Probe(False, "bwrap is not installed", "apt install bubblewrap")
HEAD = 'game = "toy"\nseed = 1\nblocks = 2\n'

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path, write_bot: Any) -> Write:
    """write(top, lines of ann) -> a tournament file with the bots ann and bob"""
    write_bot("ann")
    write_bot("bob")

    def make(top: str = "", ann: str = "") -> Path:
        path = tmp_path / "cup.toml"
        path.write_text(f'{HEAD}{top}\n[[bots]]\npath = "bots/ann"\n{ann}\n[[bots]]\npath = "bots/bob"\n')
        return path

    return make


def sandboxes(path: Path, found: Probe) -> list[Sandbox]:
    """Without what all of them hide."""
    tournament = load_tournament(path)
    confined = confine_all(tournament, found)
    given = [confined.sandboxes[entry.id] for entry in tournament.entries]
    assert {sandbox.hidden for sandbox in given} == {(str(path),)}
    return [replace(sandbox, hidden=()) for sandbox in given]


@pytest.mark.parametrize(
    ("top", "ann", "found", "profiles"),
    [
        ("", "", WORKS, ["strict", "strict"]),
        ("", "", DOES_NOT, ["plain", "plain"]),
        ('sandbox.profile = "plain"', "", WORKS, ["plain", "plain"]),
        ('sandbox.profile = "strict"', "", WORKS, ["strict", "strict"]),
        ("", 'sandbox = "plain"', WORKS, ["plain", "strict"]),
        ('sandbox.profile = "plain"', 'sandbox = "strict"', WORKS, ["strict", "plain"]),
    ],
)
def test_the_profile_of_each_bot(write: Write, top: str, ann: str, found: Probe, profiles: list[str]) -> None:
    assert [sandbox.profile for sandbox in sandboxes(write(top, ann), found)] == profiles


def test_without_a_sandbox_nobody_asked_to_do_without_there_is_a_loud_word(write: Write) -> None:
    tournament = load_tournament(write())
    warning = confine_all(tournament, DOES_NOT).warning
    assert "WITHOUT A SANDBOX" in warning
    assert DOES_NOT.why in warning
    assert DOES_NOT.fix in warning
    assert confine_all(tournament, WORKS).warning == ""
    assert confine_all(load_tournament(write('sandbox.profile = "plain"')), DOES_NOT).warning == ""


@pytest.mark.parametrize(("top", "ann"), [('sandbox.profile = "strict"', ""), ("", 'sandbox = "strict"')])
def test_strict_that_does_not_work_is_refused(write: Write, top: str, ann: str) -> None:
    with pytest.raises(PlatformError, match="does not work here: bwrap is not installed") as caught:
        confine_all(load_tournament(write(top, ann)), DOES_NOT)
    assert "apt install bubblewrap" in caught.value.next_step


@pytest.mark.parametrize(("top", "ann"), [('sandbox.profile = "strict"', ""), ("", 'sandbox = "strict"')])
def test_a_run_whose_file_says_strict_can_go_on_where_that_does_not_work_if_it_is_accepted(
    write: Write, top: str, ann: str
) -> None:
    """Its file cannot be changed any more: that would be another tournament."""
    tournament = load_tournament(write(top, ann))
    with pytest.raises(PlatformError, match="does not work here") as caught:
        confine_all(tournament, DOES_NOT, begun=True)
    assert caught.value.next_step == (
        "apt install bubblewrap; or continue this run without it: --accept-weaker-sandbox"
    )
    confined = confine_all(tournament, DOES_NOT, begun=True, accept_weaker=True)
    assert {sandbox.profile for sandbox in confined.sandboxes.values()} == {"plain"}
    assert "WITHOUT A SANDBOX" in confined.warning
    with pytest.raises(PlatformError, match="does not work here"):
        confine_all(tournament, DOES_NOT, accept_weaker=True)


def test_grants_are_one_bots_own_but_for_what_all_may_read(write: Write, tmp_path: Path) -> None:
    for name in ("models", "weights"):
        (tmp_path / name).mkdir()
    path = write(
        'sandbox.read = ["models"]', 'network = true\nenv = ["API_KEY"]\nread = ["weights"]\ndevices = ["/dev/zero"]'
    )
    ann, bob = sandboxes(path, WORKS)
    may_read = (str(tmp_path / "models"), str(tmp_path / "weights"))
    assert ann == Sandbox("strict", True, ("API_KEY",), may_read, devices=("/dev/zero",))
    assert str(ann).endswith(", device /dev/zero")
    assert bob == Sandbox("strict", read=(str(tmp_path / "models"),))
    assert list(confine_all(load_tournament(path), WORKS).grants) == ["ann"]


def test_a_program_that_a_bot_names_by_its_path_is_told_unless_it_is_granted(write: Write, tmp_path: Path) -> None:
    program = tmp_path / "app" / "bin" / "tool"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    path = write("", "")
    manifest = tmp_path / "bots" / "ann" / "bot.toml"
    manifest.write_text(re.sub(r"run = .*", f'run = ["{program}"]', manifest.read_text()))
    assert confine_all(load_tournament(path), WORKS).opened == {"ann": str(program)}
    assert confine_all(load_tournament(path), DOES_NOT).opened == {}
    path = write('sandbox.read = ["app"]', "")
    assert confine_all(load_tournament(path), WORKS).opened == {}


def test_of_every_bot_the_others_its_run_and_the_runs_beside_it_are_hidden(write: Write, tmp_path: Path) -> None:
    tournament = load_tournament(write())
    for name in ("cup", "cup-2", "no run"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    (tmp_path / "runs" / "cup" / "tournament.jsonl").touch()
    (tmp_path / "link").symlink_to(tmp_path / "runs" / "cup-2")
    given = confine_all(tournament, WORKS).sandboxes
    guest = remote_bot_entry("Guest")
    hidden = hide(given, [*tournament.entries, guest], tmp_path / "link" / "matches")
    names = ("bots/ann", "bots/bob", "cup.toml", "runs", "runs/cup-2")
    assert {sandbox.hidden for sandbox in hidden.values()} == {tuple(str(tmp_path / name) for name in names)}
    assert {entry_id: replace(sandbox, hidden=()) for entry_id, sandbox in hidden.items()} == {
        entry_id: replace(sandbox, hidden=()) for entry_id, sandbox in given.items()
    }


def test_the_tournament_file_is_hidden_in_a_bots_folder_and_in_the_build_of_it(write_bot: Any, tmp_path: Path) -> None:
    folder, build = write_bot("ann"), tmp_path / "cache" / "bot"
    write_bot("bob")
    (tmp_path / "link.toml").symlink_to(folder / "cup.toml")
    (folder / "cup.toml").write_text(f'{HEAD}[[bots]]\npath = "."\n[[bots]]\npath = "../bob"\n')
    tournament = load_tournament(folder / "cup.toml")
    ann, bob = tournament.entries
    entries = [replace(ann, home=build), bob]
    linked = replace(tournament, config=replace(tournament.config, path=tmp_path / "link.toml"))
    hidden = hide(confine_all(linked, WORKS).sandboxes, entries, tmp_path / "runs" / "cup" / "matches")
    seeds = [{path for path in hidden[entry.id].hidden if "cup.toml" in path} for entry in entries]
    assert seeds == [{str(folder / "cup.toml"), str(build / "cup.toml")}, {str(folder / "cup.toml")}]


@pytest.mark.parametrize(
    ("beside", "needed", "granted", "whole"),
    [
        ([], [], [], True),
        (["single/matches", "notes"], [], [], True),
        (["notes"], ["cup/matches"], [], True),
        (["notes/bot"], ["notes/bot"], [], False),
        (["venv/bin"], [], [], False),
        (["notes"], [], [".."], False),
        ([], [], [".."], True),
        ([], [], ["."], False),
    ],
)
def test_a_folder_of_runs_is_hidden_as_a_whole_unless_somebody_may_need_what_else_is_in_it(
    tmp_path: Path, beside: list[str], needed: list[str], granted: list[str], whole: bool
) -> None:
    """However many they are."""
    out = tmp_path / "app" / "runs"
    for name in ("cup", "old", *beside, "cup/matches"):
        (out / name).mkdir(parents=True, exist_ok=True)
    RunFolder(out / "old").journal.write_text("")
    (out / "a file").write_text("")
    (tmp_path / "elsewhere" / "matches").mkdir(parents=True)
    (out / "link").symlink_to(tmp_path / "elsewhere")
    found = private_places([out / "new"], out, [out / name for name in needed], [out / name for name in granted])
    expected = [out / "new", tmp_path / "elsewhere", *([out] if whole else [out / "cup", out / "old"])]
    assert found == tuple(sorted(map(str, expected)))


@pytest.mark.parametrize("place", ["/usr", "/usr/local", "/usr/local/share", "/usr/share", "/"])
def test_a_folder_of_the_system_is_never_hidden_as_a_whole(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """Whoever has runs made there."""
    run, other = Path(place) / "cup", Path(place) / "data"
    monkeypatch.setattr(confine, "look_for_runs", lambda out: ([run], [other]))
    assert private_places([], Path(place)) == (str(run),)


def test_workers_are_told(write: Write) -> None:
    tournament = load_tournament(write("", 'network = true\nenv = ["A"]'))
    confined = confine_all(tournament, WORKS).sandboxes
    line = messages.setup_line(tournament.entries, Path("/r"), Path("/s"), None, confined)
    kind, setup = messages.read_line(line)
    assert kind == "setup"
    assert {bot.entry_id: bot.sandbox for bot in setup.bots} == confined


def test_limits_of_all_bots_and_of_one(write: Write) -> None:
    path = write("limits.memory_mib = 512\nlimits.cores = 1.5", "limits = { memory_mib = 4096, disk_mib = 0 }")
    config = load_config(path)
    assert (config.limits.memory_mib, config.limits.cores, config.limits.processes) == (512, 1.5, 512)
    spec = next(known_matches(config_of(load_tournament(path))))
    of_seat = {seat.name: spec.limits_of(number) for number, seat in enumerate(spec.seats)}
    memory = sorted(limits.memory_mib for limits in of_seat.values())
    assert memory == [512, 4096]
    assert sorted(limits.disk_mib for limits in of_seat.values()) == [0, 64]


@pytest.mark.parametrize(
    ("top", "ann", "message"),
    [
        ('sandbox.profile = "loose"', "", "'sandbox.profile' must be strict or plain, not 'loose'"),
        ("sandbox.profil = 1", "", "unknown key"),
        ('sandbox.read = ["nowhere"]', "", "does not exist"),
        ('sandbox.read = "x"', "", "must be a list of texts"),
        ('sandbox.read = [""]', "", "must be a list of texts that are not empty"),
        ("", 'network = "yes"', "must be true or false"),
        ("", 'env = ["A=B"]', "cannot be the name of a variable"),
        ("", 'env = ["CROSSTOWN_TOKEN"]', "cannot be the name of a variable"),
        ("", "env = [1]", "must be a list of texts"),
        ("", 'devices = ["/dev/no-such-gpu"]', "/dev/no-such-gpu is not there"),
        ("", 'devices = ["/etc/hostname"]', "is not a character device"),
        ("", 'devices = ["gpu"]', "is not an absolute path"),
        ("", "devices = true", "must be a list of texts"),
        ("", "copies = 0", "'bots[1].copies' must be"),
        ("", "fresh = 1", "'bots[1].fresh' must be true or false, not 1"),
        ("fresh = 1", "", "'fresh' must be true or false, not 1"),
        ("idle = -1", "", "'idle' must be"),
        ("[round-robin]\nmirrors = true", "copies = 1", "with mirrors a bot takes 2 seats of a match"),
        ("limits.memory_mib = 1.5", "", "must be whole"),
        ("limits.processes = -1", "", "limits.processes"),
        ("", "limits = { max_note_bytes = 1 }", "max_note_bytes"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(write: Write, top: str, ann: str, message: str) -> None:
    path = write(top, ann)
    with pytest.raises(ConfigError) as caught:
        load_tournament(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert caught.value.next_step


def test_a_bot_whose_folder_holds_another_is_refused(write: Write, write_bot: Any, tmp_path: Path) -> None:
    path = write()
    path.write_text(path.read_text() + '[[bots]]\npath = "bots/ann/old"\n')
    write_bot("ann/old", "old")
    with pytest.raises(ConfigError) as caught:
        load_tournament(path)
    folder = tmp_path / "bots" / "ann"
    assert f"cup.toml:5: the folder of the bot 'ann', {folder}, holds the bot 'old', {folder / 'old'}" in str(
        caught.value
    )
    assert "a folder of its own" in caught.value.next_step


def test_one_bot_may_enter_twice_with_other_options(write: Write, write_bot: Any) -> None:
    path = write()
    write_bot("ann", options="[options]\ndepth = 1\n")
    path.write_text(path.read_text() + '[[bots]]\npath = "bots/ann"\nname = "deep"\noptions = { depth = 2 }\n')
    assert len(load_tournament(path).entries) == 3


@pytest.mark.parametrize(("runs", "holds"), [("bots/ann", True), ("bots/ann/runs", True), ("bots", False)])
def test_a_bot_whose_folder_holds_the_records_of_runs_is_refused(
    write: Write, tmp_path: Path, runs: str, holds: bool
) -> None:
    tournament = load_tournament(write())
    (tmp_path / "link").symlink_to(tmp_path)
    if not holds:
        check_apart(tournament, tmp_path / "link" / runs)
        return
    with pytest.raises(ConfigError, match=r"cup.toml:5: .*holds the records of runs, ") as caught:
        check_apart(tournament, tmp_path / "link" / runs)
    assert "--out" in caught.value.next_step


def test_a_bot_whose_folder_holds_the_cache_of_builds_is_refused(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROSSTOWN_CACHE", str(tmp_path / "bots" / "ann" / "cache"))
    with pytest.raises(ConfigError, match=r"the cache of builds, .*, is in it") as caught:
        load_tournament(write())
    assert "CROSSTOWN_CACHE" in caught.value.next_step


def test_a_script_that_strict_does_not_show_is_known_before_the_first_match(write: Write, tmp_path: Path) -> None:
    script = tmp_path / "elsewhere" / "main.py"
    script.parent.mkdir()
    script.write_text("")
    path = write()
    toml = tmp_path / "bots" / "ann" / "bot.toml"
    lines = [line for line in toml.read_text().splitlines() if not line.startswith("run")]
    run = f'run = ["{{python}}", "{script}"]'
    at = next((number for number, line in enumerate(lines) if line.startswith("[")), len(lines))
    toml.write_text("\n".join([*lines[:at], run, *lines[at:]]) + "\n")
    assert confine_all(load_tournament(path), WORKS).unseen == {"ann": (script,)}
    assert confine_all(load_tournament(path), DOES_NOT).unseen == {}
    granted = write("", f'read = ["{script}"]')
    assert confine_all(load_tournament(granted), WORKS).unseen == {}
