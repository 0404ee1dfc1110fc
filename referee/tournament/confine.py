"""How the bots of a tournament are confined on this machine, from what its file says and what works here."""

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from referee.errors import PlatformError
from referee.process.checkup import Probe, SandboxError, choose_profile
from referee.process.entry import Entry
from referee.process.needs import opens
from referee.process.outside import not_shown
from referee.process.paths import SYSTEM, is_folder, is_there
from referee.process.sandbox import Sandbox, given_to
from referee.process.sources import copied
from referee.record.journal import JOURNAL
from referee.record.store import RecordStore

if TYPE_CHECKING:  # a worker reads no tournament file
    from referee.tournament.config import Tournament

_OURS = Path(__file__).parents[2]
"""Where this program lies."""
_TOOLCHAIN = ("bin", "lib", "pyvenv.cfg")
"""What one has, or a virtual environment."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """`sandboxes` by entry id. `warning` is set if bots play without a sandbox though nobody asked for that; `grants`
    are the bots that are less confined than the rest, by name; `opened` has the program of each, by name, whose `run`
    opens a place that nobody has granted."""

    sandboxes: Mapping[str, Sandbox]
    warning: str
    grants: Mapping[str, Sandbox]
    opened: Mapping[str, str] = field(default_factory=dict)
    unseen: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    """By the bot's name, what its `run` names and its sandbox does not show."""


def confine_all(
    tournament: "Tournament",
    found: Probe,
    hidden: Iterable[Path] = (),
    *,
    begun: bool = False,
    accept_weaker: bool = False,
) -> Confinement:
    """No bot sees the tournament's file, its list of entries, or what is `hidden` besides.

    PlatformError if the file asks for strict and it does not work here. A run that has `begun` can go on under plain
    all the same with `accept_weaker`, as its file must stay what it is."""
    from referee.tournament.bot_sections import SandboxConfig

    common = tournament.config.sandbox
    sandboxes: dict[str, Sandbox] = {}
    grants: dict[str, Sandbox] = {}
    opened: dict[str, str] = {}
    not_seen: dict[str, tuple[Path, ...]] = {}
    unasked = False
    unseen = unseen_files(tournament, hidden)
    for settings, entry in zip(tournament.bots, tournament.entries, strict=True):
        if not entry.argv:  # it dials in, or has left the run
            continue
        bot = settings.sandbox
        wanted = bot.profile or common.profile
        try:
            profile = choose_profile(wanted, found)
        except SandboxError as error:
            if not begun:
                step = f'{error.next_step}; or play without: profile = "plain" in [sandbox]'
                raise PlatformError(str(error), step) from None
            if not accept_weaker:
                step = f"{error.next_step}; or continue this run without it: --accept-weaker-sandbox"
                raise PlatformError(str(error), step) from None
            profile = "plain"
        unasked = unasked or (wanted != "plain" and profile == "plain")
        sandbox = Sandbox(profile, bot.network, bot.env, (*common.read, *bot.read), unseen, bot.devices)
        sandboxes[entry.id] = sandbox
        if bot != SandboxConfig():
            grants[entry.name] = sandbox
        if profile == "strict" and opens(entry.argv[0], entry.home, partial(given_to, sandbox, entry.home)):
            opened[entry.name] = entry.argv[0]
        if missing := not_shown(entry, sandbox):
            not_seen[entry.name] = tuple(missing)
    return Confinement(sandboxes, found.warning if unasked else "", grants, opened, not_seen)


def unseen_files(tournament: "Tournament", hidden: Iterable[Path] = ()) -> tuple[str, ...]:
    """What no bot sees, by real paths: the tournament's file, its list of entries, and what is `hidden` besides."""
    lists = dict.fromkeys(bot.entry_list for bot in tournament.bots if bot.entry_list is not None)
    return tuple(os.path.realpath(path) for path in (tournament.config.path, *lists, *hidden))


def hide(sandboxes: Mapping[str, Sandbox], entries: Iterable[Entry], records: Path) -> dict[str, Sandbox]:
    """The same sandboxes, by entry id, in which no bot sees another, the run whose matches lie in `records`, or those
    beside it, wherever all these lie. What they hide is hidden in a bot's build, too, which is a copy of its folder."""
    run = records.resolve().parent
    started = [entry for entry in entries if entry.argv]
    needed = [path for entry in started for path in (entry.folder, entry.home, Path(entry.argv[0]))]
    granted = {Path(path) for sandbox in sandboxes.values() for path in sandbox.read}
    places = private_places((run, *(entry.folder for entry in started)), run.parent, needed, granted)
    hidden = {entry_id: {*sandbox.hidden, *places} for entry_id, sandbox in sandboxes.items()}
    for entry in started:
        if entry.id in hidden:
            hidden[entry.id].update(map(str, copied(sandboxes[entry.id].hidden, entry.folder, entry.home)))
    return {id_: replace(sandbox, hidden=tuple(sorted(hidden[id_]))) for id_, sandbox in sandboxes.items()}


def private_places(
    folders: Iterable[Path], out: Path, needed: Iterable[Path] = (), granted: Iterable[Path] = ()
) -> tuple[str, ...]:
    """What no bot and no build may see: these folders and the runs in `out`, by their real paths.

    That is all of `out`, for there may be thousands of runs, and more to come; but its runs one by one where it is
    `granted` itself, or where something else than runs is in it that somebody may need: what is `needed` or part of a
    system folder, a toolchain or a grant.
    """
    out = Path(os.path.realpath(out))
    grants = [Path(os.path.realpath(path)) for path in granted]
    runs, others = look_for_runs(out)
    may_need = out in grants
    if others:
        tools = [*map(Path, os.get_exec_path()), *map(Path, sys.path), Path(sys.prefix), Path(sys.base_prefix), _OURS]
        wanted = [Path(os.path.realpath(path)) for path in (*needed, *tools)]
        may_need |= any(path.is_relative_to(out) and not _is_in(path, runs) for path in wanted)
        may_need |= any(is_there(path / name) for path in others for name in _TOOLCHAIN)
        may_need |= _is_system(out) or _is_in(out, grants)
    covered = runs if may_need or not runs else [out, *(run for run in runs if not run.is_relative_to(out))]
    return tuple(sorted({os.path.realpath(path) for path in (*folders, *covered)}))


def look_for_runs(out: Path) -> tuple[list[Path], list[Path]]:
    """The folders of runs in `out`, those of single matches too, by their real paths; and the other folders in it."""
    runs: list[Path] = []
    others: list[Path] = []
    with suppress(OSError):
        for path in filter(is_folder, out.iterdir()):
            is_run = is_there(path / JOURNAL) or is_folder(RecordStore.of_run(path).folder)
            (runs if is_run else others).append(Path(os.path.realpath(path)))
    return runs, others


def _is_in(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _is_system(folder: Path) -> bool:
    """Such as /usr, /usr/share, /usr/local or /usr/local/share."""
    places = [Path(os.path.realpath(name)) for name in (*SYSTEM, "/usr/local")]
    return any(place.is_relative_to(folder) or folder.parent == place for place in places)
