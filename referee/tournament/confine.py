"""How the bots of a tournament are confined on this machine, from what its file says and what works here."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from referee.process.entry import Entry
from referee.process.look import is_folder, is_there
from referee.process.needs import opens
from referee.process.probe import Probe, SandboxError, choose_profile
from referee.process.sandbox import Sandbox
from referee.process.sources import copied
from referee.process.toolchains import find_toolchains
from referee.tournament.config import Tournament
from referee.tournament.errors import PlatformError
from referee.tournament.folder import RunFolder
from referee.tournament.sections.sandbox import SandboxConfig


@dataclass(frozen=True, slots=True)
class Confinement:
    """`sandboxes` by entry id. `warning` is set if bots play without a sandbox though nobody asked for that; `grants`
    are the bots that are less confined than the rest, by name; `opened` has the program of each, by name, whose `run`
    opens a place that nobody has granted."""

    sandboxes: Mapping[str, Sandbox]
    warning: str
    grants: Mapping[str, Sandbox]
    opened: Mapping[str, str] = field(default_factory=dict)


def confine_all(tournament: Tournament, found: Probe) -> Confinement:
    """PlatformError if the file asks for strict and it does not work here."""
    common = tournament.config.sandbox
    own = [bot.sandbox for bot in tournament.config.bots]
    elsewhere = [bot.remote is not None for bot in tournament.config.bots]
    sandboxes: dict[str, Sandbox] = {}
    grants: dict[str, Sandbox] = {}
    opened: dict[str, str] = {}
    unasked = False
    for place, entry in enumerate(tournament.entries):
        if place < len(elsewhere) and elsewhere[place]:
            continue
        bot = own[place] if place < len(own) else SandboxConfig()
        wanted = bot.profile or common.profile
        try:
            profile = choose_profile(wanted, found)
        except SandboxError as error:
            raise PlatformError(str(error), f'{error.fix}; or play without: profile = "plain" in [sandbox]') from None
        unasked = unasked or (wanted is None and profile == "plain")
        seed = os.path.realpath(tournament.config.path)
        sandbox = Sandbox(profile, bot.network, bot.env, (*common.read, *bot.read), (seed,))
        sandboxes[entry.id] = sandbox
        if bot != SandboxConfig():
            grants[entry.name] = sandbox
        given = partial(_given, sandbox, entry)
        if profile == "strict" and opens(entry.argv[0], entry.home, given):
            opened[entry.name] = entry.argv[0]
    return Confinement(sandboxes, found.warning if unasked else "", grants, opened)


def _given(sandbox: Sandbox, entry: Entry) -> tuple[Path, ...]:
    return (*map(Path, sandbox.read), *find_toolchains(os.environ, entry.home))


def hide(sandboxes: Mapping[str, Sandbox], entries: Iterable[Entry], records: Path) -> dict[str, Sandbox]:
    """The same sandboxes, by entry id, in which no bot sees another, the run whose matches lie in `records`, or those
    beside it, wherever all these lie. What they hide is hidden in a bot's build, too, which is a copy of its folder."""
    run = records.resolve().parent
    started = [entry for entry in entries if entry.argv]
    places = private_places((run, *(entry.folder for entry in started)), run.parent)
    hidden = {entry_id: {*sandbox.hidden, *places} for entry_id, sandbox in sandboxes.items()}
    for entry in started:
        if entry.id in hidden:
            hidden[entry.id].update(map(str, copied(sandboxes[entry.id].hidden, entry.folder, entry.home)))
    return {id_: replace(sandbox, hidden=tuple(sorted(hidden[id_]))) for id_, sandbox in sandboxes.items()}


def private_places(folders: Iterable[Path], out: Path) -> tuple[str, ...]:
    """What no bot and no build may see: these folders and the runs in `out`, by their real paths.

    That is all of `out` where no other folders are in it: there may be thousands of runs, and more to come.
    """
    runs: list[Path] = []
    with suppress(OSError):
        inside = [path for path in out.iterdir() if is_folder(path)]
        runs = [path for path in inside if is_there(RunFolder(path).journal)]
        if runs and len(runs) == len(inside):
            runs = [out]
    return tuple(sorted({os.path.realpath(path) for path in (*folders, *runs)}))
