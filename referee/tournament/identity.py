"""What makes two runs the same tournament, as JSON values: compared on resume, kept in the journal."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Any

from referee.process.entry import Entry
from referee.schedule.formats.comparison import NAME as COMPARISON
from referee.schedule.spec import RESOURCE_KEYS, SeatSpec
from referee.tournament.config import Tournament
from referee.tournament.sections.remote import RemoteConfig
from referee.tournament.sections.sandbox import SandboxConfig


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
        "games": [
            {**asdict(game), "players": list(game.players), "options": dict(game.options)} for game in config.games
        ],
        "format": config.format,
        "settings": dict(config.settings),
        "seed": config.seed,
        "blocks": config.blocks,
        "limits": config.limits.in_force(),
        "faults": asdict(config.faults),
        "ponder": config.ponder,
        **({"fresh": True} if config.fresh else {}),
        "breaker": asdict(config.breaker),
        **_remote(config.remote),
        **_sandbox(config.sandbox, here),
        "bots": [
            {
                **asdict(seat),
                "options": dict(sorted(entry.options.items())),
                **_sandbox(bot.sandbox, here),
                **({} if bot.fresh is None else {"fresh": bot.fresh}),
            }
            for seat, entry, bot in zip(seats_of(tournament), tournament.entries, config.bots, strict=False)
        ],
    }


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


def digest(description: Mapping[str, Any]) -> str:
    """32 hex digits of a description. Those of a comparison do not depend on how long it may go on: every match of a
    shorter one is the same match of a longer one."""
    same = description if description["format"] != COMPARISON else {**description, "blocks": 0}
    text = json.dumps(same, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode("ascii"), digest_size=16, person=b"crosstown-plan").hexdigest()


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    """A line for each difference, such as "seed: 1 -> 2". Bots are told apart by place."""
    before, after = dict(_flat(old)), dict(_flat(new))
    keys = [*before, *(key for key in after if key not in before)]
    lines: list[str] = []
    for key in keys:
        one, other = before.get(key), after.get(key)
        if key in before and key in after and one == other:
            continue
        lines.append(f"{_name(key, old, new)}: {_short(before, key)} -> {_short(after, key)}")
    return tuple(lines)


def _flat(value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, item in value.items():
        if key in ("bots", "games"):
            for place, bot in enumerate(item, start=1):
                yield from _flat_item(f"{key}[{place}]", bot)
        elif isinstance(item, Mapping):
            yield from ((f"{key}.{name}", inner) for name, inner in item.items())
        else:
            yield key, item


def _flat_item(where: str, item: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, inner in item.items():
        if isinstance(inner, Mapping):
            yield from ((f"{where}.{name}.{key}", value) for key, value in inner.items())
        else:
            yield f"{where}.{name}", inner


def _name(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """The key as the file has it, and for a changed source whose it is."""
    if ".clock." in key and key.rpartition(".")[2] in RESOURCE_KEYS:
        return key.replace(".clock.", ".limits.")
    if not key.startswith("bots[") or not key.endswith(".entry_id"):
        return key
    place = int(key[len("bots[") : key.index("]")]) - 1
    names = [plan["bots"][place]["name"] for plan in (old, new) if place < len(plan["bots"])]
    return f"{key} (source and options of '{names[-1]}')"


def _short(values: Mapping[str, Any], key: str) -> str:
    if key not in values:
        return "nothing"
    text = json.dumps(values[key], sort_keys=True)
    return text if len(text) <= 60 else text[:57] + "..."
