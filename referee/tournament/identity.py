"""What makes two runs the same tournament, as JSON values: compared on resume, kept in the journal."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from referee.process.entry import Entry
from referee.process.manifest import ANY_GAME, plays
from referee.schedule.config import ScheduleConfig, schedule_config
from referee.schedule.spec import Adjudication, SeatSpec
from referee.tournament.bot_sections import RemoteConfig, SandboxConfig
from referee.tournament.config import Tournament
from referee.tournament.sections import GameConfig


def seat_of(entry: Entry, clock: Mapping[str, float] | None = None) -> SeatSpec:
    """How an entry is named in specifications and records, with what is its own of the clock."""
    return SeatSpec(entry.id, entry.name, entry.manifest.version, clock or {})


def seats_of(tournament: Tournament) -> list[SeatSpec]:
    """All entries, those that were added to the run too."""
    clocks = [bot.clock for bot in tournament.bots]
    return [
        seat_of(entry, clocks[place] if place < len(clocks) else None) for place, entry in enumerate(tournament.entries)
    ]


def describe(tournament: Tournament) -> dict[str, Any]:
    """Everything a result depends on; not where things lie on this disk, nor what was added to the run since.

    How bots are confined and whether their processes are kept is left out where the file says nothing of it; how many
    processes there may be decides no match.
    """
    config = tournament.config
    here = config.path.resolve().parent
    return {
        "name": config.name,
        "game": config.game,
        "games": [game.fields() for game in config.games],
        "format": config.format,
        "settings": dict(config.settings),
        "seed": config.seed,
        "blocks": config.blocks,
        "limits": config.limits.in_force(),
        "faults": config.faults.fields(),
        **({} if config.adjudication == Adjudication() else {"adjudication": asdict(config.adjudication)}),
        "ponder": config.ponder,
        **({"fresh": True} if config.fresh else {}),
        "breaker": asdict(config.breaker),
        **_remote(config.remote),
        **_sandbox(config.sandbox, here),
        "bots": [
            {
                **asdict(seat),
                "options": dict(sorted(entry.options.items())),
                **_games(entry, config.games),
                **_sandbox(bot.sandbox, here),
                **({} if bot.fresh is None else {"fresh": bot.fresh}),
                **({"copy_of": bot.copy_of} if bot.copy_of else {}),
                **({"club": bot.club} if bot.club else {}),
            }
            for seat, entry, bot in zip(seats_of(tournament), tournament.entries, config.bots, strict=False)
        ],
    }


def loose_settings(tournament: Tournament) -> dict[str, Any]:
    """What of the file is no part of the description, as no result follows from it, but changes how matches are
    played: which processes are kept, how long remote bots may take to come, and where matches are played."""
    config = tournament.config
    remote = {} if config.remote is None else {name: getattr(config.remote, name) for name in _REMOTE_WAITS}
    executor = {name: getattr(config.executor, name) for name in _EXECUTOR_PLACES}
    copies = {entry.name: bot.copies for entry, bot in zip(tournament.entries, config.bots, strict=False) if bot.copies}
    return {
        "idle": config.idle,
        **{f"copies of '{name}'": number for name, number in copies.items()},
        **{f"remote.{name}": value for name, value in remote.items()},
        **{f"executor.{name}": value for name, value in executor.items()},
    }


_REMOTE_WAITS = ("wait_s", "keepalive_s")
_EXECUTOR_PLACES = ("kind", "same_machine", "build")


def _games(entry: Entry, played: Sequence[GameConfig]) -> dict[str, Any]:
    """Which games the bot plays; left out where it plays all."""
    here = dict.fromkeys(game.game for game in played if plays(entry.manifest.games, game.game))
    return {} if all(game.game in here for game in played) else {"games": list(here)}


def _remote(remote: RemoteConfig | None) -> dict[str, Any]:
    """For how long a bot may be away, which decides matches; left out where it is the usual time, as ever."""
    usual = RemoteConfig.__dataclass_fields__["reconnect_s"].default
    return {} if remote is None or remote.reconnect_s == usual else {"remote": {"reconnect_s": remote.reconnect_s}}


def _sandbox(granted: SandboxConfig, here: Path) -> dict[str, Any]:
    """The profile and the grants that a file names; paths below the file's folder as seen from there."""
    paths = [Path(path) for path in granted.read]
    values = {
        "profile": granted.profile,
        "network": granted.network,
        "env": sorted(granted.env),
        "read": [str(path.relative_to(here) if path.is_relative_to(here) else path) for path in paths],
        "devices": list(granted.devices),
    }
    named = {name: value for name, value in values.items() if value}
    return {"sandbox": named} if named else {}


def config_of(tournament: Tournament) -> ScheduleConfig:
    """What the schedule of the tournament depends on, as its journal will have it."""
    first = len(tournament.config.bots)
    games = {
        entry.id: entry.manifest.games for entry in tournament.entries[first:] if ANY_GAME not in entry.manifest.games
    }
    joined = zip(tournament.entries[first:], tournament.added, strict=True)
    clubs = {entry.id: bot.club for entry, bot in joined if bot.club}
    return schedule_config(describe(tournament), seats_of(tournament)[first:], games=games, clubs=clubs)
