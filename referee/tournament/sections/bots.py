"""[[bots]]: who enters, as the file says it; what lies on the disk is looked at later."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.tournament.reading import TomlFile, dotted, show

_KEYS = ("path", "name", "options")


@dataclass(frozen=True, slots=True)
class BotConfig:
    """One [[bots]] of the file. `folder` is as found from the file; `line` is where it begins, for messages."""

    folder: Path
    name: str | None
    options: Mapping[str, str | int | bool]
    line: int | None


def read_bots(file: TomlFile) -> tuple[BotConfig, ...]:
    """Raises ConfigError."""
    listed = file.values.get("bots", [])
    if not isinstance(listed, list) or not all(isinstance(bot, dict) for bot in listed):
        file.fail(("bots",), f"'bots' must be a list of tables, not {show(listed)}", "begin each bot with [[bots]]")
    return tuple(_bot(file, place, bot) for place, bot in enumerate(listed))


def _bot(file: TomlFile, place: int, given: Mapping[str, Any]) -> BotConfig:
    here = ("bots", place)
    file.check_keys(here, given, _KEYS)
    path = file.text_at(*here, "path", required=True, example='path = "../bots/python/random"')
    if "\0" in path:
        file.fail((*here, "path"), f"'{dotted(*here, 'path')}' has a zero byte in it", "take it away")
    name = file.text_at(*here, "name", example='name = "Random"') or None
    return BotConfig(file.path.parent / path, name, file.table(*here, "options"), file.line(*here))
