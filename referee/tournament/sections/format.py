"""`format` and the table of its own settings, such as [swiss]."""

from collections.abc import Mapping
from typing import Any

from referee.schedule.formats.api import Format, Setting
from referee.schedule.formats.registry import OWN, UnknownFormat, format_names, get_format
from referee.tournament.reading import TomlFile, dotted, show, suggest


def read_format(file: TomlFile) -> Format:
    """Raises ConfigError."""
    name = file.text_at("format", default=OWN[0].name, example=f'format = "{OWN[0].name}"')
    known = format_names()
    if name not in known:  # as is the name of a ladder's division, which is no tournament
        file.fail(("format",), f"unknown format '{name}'", suggest(name, known, "the formats are"))
    try:
        return get_format(name)
    except UnknownFormat as error:
        file.fail(("format",), str(error), error.next_step)


def read_settings(file: TomlFile, style: Format) -> Mapping[str, Any]:
    """All settings of the format; whether bots of the names in them exist is seen later. Raises ConfigError."""
    given = file.table(style.name)
    file.check_keys((style.name,), given, [setting.name for setting in style.settings])
    return {setting.name: _value(file, style, setting, given.get(setting.name)) for setting in style.settings}


def _value(file: TomlFile, style: Format, setting: Setting, value: Any) -> Any:
    if value is None:
        return setting.default
    key = (style.name, setting.name)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    low, high = setting.minimum, setting.maximum
    match setting.kind:
        case "whole":
            fits, expected = isinstance(value, int) and number and low <= value <= high, f"a whole number {low}-{high}"
        case "number":
            fits, expected = number and low <= value <= high, f"a number from {low} to {high}"
        case "flag":
            fits, expected = isinstance(value, bool), "true or false"
        case "bots":
            fits = isinstance(value, list) and bool(value) and all(isinstance(name, str) for name in value)
            fits = fits and len(set(value)) == len(value)
            expected = "a list of names of bots, each once"
    if not fits:
        what = f"'{dotted(*key)}' must be {expected}, not {show(value)}"
        file.fail(key, what, f"write, for instance, {setting.name} = {_example(setting)} ({setting.about})")
    return value


def _example(setting: Setting) -> str:
    """A value that fits, as TOML has it."""
    match setting.kind:
        case "bots":
            return '["NAME"]'
        case "flag":
            return "true"
        case "whole":
            return str(setting.minimum if setting.default is None else setting.default)
        case "number":
            return str((setting.minimum + setting.maximum) / 2 if setting.default is None else setting.default)
