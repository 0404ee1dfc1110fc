"""`crosstown bots check` of many bots: side by side, with one table by game and one exit code."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from referee.cli.bot_check import games_of
from referee.cli.building import load_or_build
from referee.cli.confining import Confinement, tell, tell_unseen
from referee.cli.output import console, print_json, print_table, print_text, table
from referee.compliance import Report, check_bot
from referee.errors import ExpectedError
from referee.event_loop import run_loop
from referee.games.api import Game
from referee.process.cgroup import find
from referee.process.entry import Entry, load_entry
from referee.process.launch import LaunchContext
from referee.process.manifest import OptionValue
from referee.schedule.spec import DEFAULTS, Limits
from referee.texts import one_line, plural
from referee.tournament.bot_list import read_bots
from referee.tournament.bot_sections import SandboxConfig
from referee.tournament.config import BotConfig, load_config
from referee.tournament.reading import TomlFile


@dataclass(frozen=True, slots=True)
class Target:
    """A bot to check: its folder, and what a tournament file or a list of entries says of it. `games` are those of the
    file; none: those that the bot declares. `granted` is what the file grants it, and `startup_s` how long it may take
    to start there; 0 where the file does not say. `problem`: why it cannot be checked."""

    shown: str
    folder: Path = Path()
    name: str | None = None
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    games: tuple[str, ...] = ()
    granted: SandboxConfig = field(default_factory=SandboxConfig)
    startup_s: float = 0.0
    problem: str = ""

    def confined(self, asked: Confinement) -> Confinement:
        """As the options of the command say, with what the file grants."""
        box, more = asked.sandbox, self.granted
        made = replace(
            box,
            profile=more.profile or box.profile,
            network=box.network or more.network,
            env=tuple(dict.fromkeys((*box.env, *more.env))),
            read=tuple(dict.fromkeys((*box.read, *more.read))),
            devices=tuple(dict.fromkeys((*box.devices, *more.devices))),
        )
        return replace(asked, sandbox=made)


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of a target: the report of its drills with these games, or why there is none."""

    target: Target
    games: tuple[str, ...] = ()
    entry: Entry | None = None
    report: Report | None = None
    problem: str = ""

    @property
    def name(self) -> str:
        return self.target.shown if self.entry is None else self.entry.name

    @property
    def passed(self) -> bool:
        return self.report is not None and self.report.passed

    def row(self, game: str) -> "GameRow":
        """How it went with one game, the drills that are about no game included."""
        rows = [row for row in self.report.rows if row.game in ("", game)] if self.report else []
        wrong = next((row for row in rows if row.outcome == "failed"), None)
        first = self.problem if wrong is None else f"{wrong.drill}: {wrong.detail}"
        return GameRow(game, self.name, not first, sum(row.outcome != "failed" for row in rows), len(rows), first)


@dataclass(frozen=True, slots=True)
class GameRow:
    """One line of the table. `first` is what to correct first."""

    game: str
    bot: str
    passed: bool
    drills_passed: int
    drills: int
    first: str


def targets_of(paths: Sequence[Path], *, profile: str | None = None) -> list[Target]:
    """The bots behind what the command line names: folders, tournament files and lists of entries (CSV). `profile` is
    the sandbox that it asks for, whatever the files say."""
    found: list[Target] = []
    for path in paths:
        if path.is_dir() or path.suffix.lower() not in (".toml", ".csv"):
            found.append(Target(str(path), path))
            continue
        limits, common = Limits(), SandboxConfig()
        if path.suffix.lower() == ".toml":
            config = load_config(path)
            bots, left_out, games = config.bots, config.left_out, tuple(game.game for game in config.games)
            limits, common = config.limits, config.sandbox
        else:
            values = {"entries": path.name, "on_bad_entry": "skip"}
            listed = read_bots(TomlFile(path.parent / "entries", values), limits, None)
            bots, left_out, games = listed.bots, listed.left_out, ()
        for bot in bots:
            if not bot.copy_of:
                own = bot.sandbox
                wanted = None if profile is not None else own.profile or common.profile
                granted = replace(own, profile="plain" if wanted == "plain" else None, read=(*common.read, *own.read))
                startup_s = limits.with_clock(bot.clock).startup_s
                found.append(_target(bot, tuple(dict.fromkeys(games)), granted, startup_s))
        found += [Target(one.entry, problem=f"{one.why}; {one.next_step}") for one in left_out]
    return found


def _target(bot: BotConfig, games: tuple[str, ...], granted: SandboxConfig, startup_s: float) -> Target:
    if bot.remote is not None:
        return Target(str(bot.name), problem="it connects from another machine, so it cannot be started here")
    return Target(str(bot.folder), bot.folder, bot.name, bot.options, games, granted, startup_s)


def check_many(
    targets: Sequence[Target],
    only: Sequence[str] | None,
    startup_s: float | None,
    confinement: Confinement,
    jobs: int,
    *,
    fail_fast: bool,
    as_json: bool,
) -> bool:
    """Whether every bot passed every drill. Bots that are not built yet are built first, one after the other; then
    `jobs` of them are checked at once. `startup_s`: instead of what the files say."""
    tell(confinement, quiet=as_json)
    loaded = [_load(target, only, confinement) for target in targets]
    for target, entry, _ in loaded:
        if isinstance(entry, Entry):
            tell_unseen(target.confined(confinement), [entry])
    checked = run_loop(_check_all(loaded, startup_s, confinement, jobs, fail_fast=fail_fast, quiet=as_json))
    failed = [one for one in checked if not one.passed]
    if as_json:
        good = len(checked) - len(failed)
        print_json({"passed": good, "failed": len(failed), "bots": [_values(one, confinement) for one in checked]})
    else:
        _print(checked)
        words = f"{len(checked) - len(failed)} of {plural(len(checked), 'bot')} passed"
        print_text(f"{words}; all drills of one bot: crosstown bots check FOLDER" if failed else words)
    return not failed


Loaded = tuple[Target, Entry | str, list[Game]]
"""A target, its entry or why there is none, and the games to check it with."""


def _load(target: Target, only: Sequence[str] | None, confinement: Confinement) -> Loaded:
    if target.problem:
        return target, target.problem, []
    try:
        load_or_build(target.folder, target.confined(confinement).sandbox.profile)
        entry = load_entry(target.folder, target.name, target.options)
        return target, entry, games_of(entry, only or target.games)
    except ExpectedError as error:
        return target, error.sentence, []


async def _check_all(
    loaded: Sequence[Loaded],
    startup_s: float | None,
    confinement: Confinement,
    jobs: int,
    *,
    fail_fast: bool,
    quiet: bool,
) -> list[Checked]:
    free, notes = asyncio.Semaphore(jobs), console(stderr=True)

    async def check(target: Target, entry: Entry | str, games: list[Game]) -> Checked:
        names = tuple(game.id for game in games)
        if isinstance(entry, str):
            return Checked(target, problem=entry)
        async with free:
            context = LaunchContext(target.confined(confinement).sandbox, find())
            limit_s = startup_s or target.startup_s or DEFAULTS.startup_s
            report = await check_bot(entry, games, context=context, startup_s=limit_s, fail_fast=fail_fast)
        if not quiet:
            notes.print(one_line(f"{'ok  ' if report.passed else 'FAIL'} {entry.name}"), markup=False)
        return Checked(target, names, entry, report)

    return list(await asyncio.gather(*(check(*one) for one in loaded)))


def _print(checked: Sequence[Checked]) -> None:
    from rich.text import Text

    out = console()
    made = table(
        [("game", "left"), ("bot", "left"), ("result", "left"), ("drills", "right"), ("correct first", "left")],
        plain=not out.is_terminal,
    )
    games = sorted({game for one in checked for game in one.games})
    rows = [one.row(game) for game in games for one in checked if game in one.games]
    rows += [one.row("") for one in checked if not one.games]
    for row in rows:
        drills = f"{row.drills_passed}/{row.drills}" if row.drills else "-"
        cells = (row.game or "-", row.bot, "passed" if row.passed else "FAILED", drills, row.first)
        made.add_row(*(Text(one_line(cell)) for cell in cells))
    print_table(out, made)


def _values(one: Checked, confinement: Confinement) -> dict[str, Any]:
    """For programs."""
    values: dict[str, Any] = {
        "folder": one.target.shown,
        "bot": one.name,
        "entry": one.entry.id if one.entry else None,
        "passed": one.passed,
        "problem": one.problem,
        "games": [
            {"game": row.game, "passed": row.passed, "drills": row.drills, "correct_first": row.first}
            for row in map(one.row, one.games)
        ],
    }
    sandbox = str(one.target.confined(confinement).sandbox)
    return values | ({"report": one.report.to_dict(), "sandbox": sandbox} if one.report else {})
