"""[clock] and [limits]: what a match may take."""

from dataclasses import fields

from referee.match.spec import Limits, SpecError
from referee.tournament.reading import TomlFile

CLOCK_KEYS = tuple(item.name for item in fields(Limits) if item.name.endswith("_s"))
LIMIT_KEYS = tuple(item.name for item in fields(Limits) if item.name.endswith("_bytes"))
MAX_MESSAGE_BYTES = 16 << 20
"""What the wire itself lets through."""


def read_limits(file: TomlFile) -> Limits:
    """Raises ConfigError."""
    values: dict[str, float] = {}
    for table, known in (("clock", CLOCK_KEYS), ("limits", LIMIT_KEYS)):
        given = file.table(table)
        file.check_keys((table,), given, known)
        for name, value in given.items():
            try:
                Limits(**{name: value})
            except SpecError as error:
                default = getattr(Limits(), name)
                what = str(error).replace(f"limit {name}", f"'{table}.{name}'")
                file.fail((table, name), what, f"write, for instance, {name} = {default:g}")
            values[name] = value
    if values.get("max_message_bytes", 0) > MAX_MESSAGE_BYTES:
        what = f"'limits.max_message_bytes' must be at most {MAX_MESSAGE_BYTES}, not {values['max_message_bytes']}"
        file.fail(("limits", "max_message_bytes"), what, f"write, for instance, max_message_bytes = {1 << 20}")
    return Limits(**values)  # type: ignore[arg-type]  # whole where Limits wants it: each was checked above
