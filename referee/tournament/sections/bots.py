"""[[bots]]: who enters, as the file says it; what lies on the disk is looked at later."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from referee.schedule.spec import Limits
from referee.tournament.reading import TomlFile, dotted, show
from referee.tournament.sections.limits import check_clock, read_clock, read_resources
from referee.tournament.sections.processes import BOT_KEYS as PROCESS_KEYS
from referee.tournament.sections.processes import read_copies, read_fresh
from referee.tournament.sections.remote import BOT_KEYS as REMOTE_KEYS
from referee.tournament.sections.remote import RemoteBot, RemoteConfig, read_remote_bot
from referee.tournament.sections.sandbox import BOT_KEYS, SandboxConfig, read_bot_sandbox

_KEYS = ("path", "name", "options", "clock", "limits", *BOT_KEYS, *PROCESS_KEYS, *REMOTE_KEYS)


@dataclass(frozen=True, slots=True)
class BotConfig:
    """One [[bots]] of the file. `folder` is as found from the file; `line` is where it begins, for messages.

    `clock` has the limits of this bot that differ from the tournament's. A bot that is `remote` has no folder.
    """

    folder: Path
    name: str | None
    options: Mapping[str, str | int | bool]
    line: int | None
    clock: Mapping[str, float] = field(default_factory=dict)
    sandbox: SandboxConfig = field(default_factory=SandboxConfig)
    remote: RemoteBot | None = None
    fresh: bool | None = None
    """Whether it has a new process for each match; None: as the tournament has it."""
    copies: int = 0
    """Processes of it that may be there at once; 0 for any number."""


def read_bots(file: TomlFile, limits: Limits, remote: RemoteConfig | None) -> tuple[BotConfig, ...]:
    """Raises ConfigError."""
    listed = file.values.get("bots", [])
    if not isinstance(listed, list) or not all(isinstance(bot, dict) for bot in listed):
        file.fail(("bots",), f"'bots' must be a list of tables, not {show(listed)}", "begin each bot with [[bots]]")
    return tuple(read_bot(file, limits, remote, place, bot) for place, bot in enumerate(listed))


def read_bot(
    file: TomlFile, limits: Limits, remote: RemoteConfig | None, place: int, given: Mapping[str, Any]
) -> BotConfig:
    """One of them. Raises ConfigError."""
    here = ("bots", place)
    file.check_keys(here, given, _KEYS)
    dials = read_remote_bot(file, here, given)
    if remote is not None and dials is not None:
        wide = {"margin_s": remote.margin_s, **read_clock(file, (*here, "clock"))}
        check_clock(file, (*here, "clock"), limits, wide)
        return BotConfig(Path(), str(given["name"]), {}, file.line(*here), wide, remote=dials)
    path = file.text_at(*here, "path", required=True, example='path = "../bots/python/random"')
    if "\0" in path:
        file.fail((*here, "path"), f"'{dotted(*here, 'path')}' has a zero byte in it", "remove it")
    name = file.text_at(*here, "name", example='name = "Random"') or None
    clock = read_clock(file, (*here, "clock"))
    check_clock(file, (*here, "clock"), limits, clock)
    own = {**clock, **read_resources(file, (*here, "limits"))}
    sandbox = read_bot_sandbox(file, here)
    return BotConfig(
        file.path.parent / path,
        name,
        file.table(*here, "options"),
        file.line(*here),
        own,
        sandbox,
        fresh=read_fresh(file, *here),
        copies=read_copies(file, here),
    )
