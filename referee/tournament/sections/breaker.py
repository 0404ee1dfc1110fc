"""[breaker]: when an entry that faults again and again is set aside."""

from dataclasses import dataclass
from typing import get_args

from referee.record.journal import Choice
from referee.tournament.reading import TomlFile, show

KEYS = ("enabled", "in_a_row", "choice")


@dataclass(frozen=True, slots=True)
class BreakerConfig:
    """`in_a_row` faults set an entry aside; `choice` says what becomes of the matches it has played."""

    enabled: bool = True
    in_a_row: int = 3
    choice: Choice = "keep"


def read_breaker(file: TomlFile) -> BreakerConfig:
    """Raises ConfigError."""
    file.check_keys(("breaker",), file.table("breaker"), KEYS)
    enabled = file.get("breaker", "enabled")
    if enabled is not None and not isinstance(enabled, bool):
        file.fail(("breaker", "enabled"), f"'breaker.enabled' must be true or false, not {show(enabled)}", "correct it")
    word = file.text_at("breaker", "choice", default="keep", example='choice = "keep"')
    choice = next((known for known in get_args(Choice) if known == word), None)
    if choice is None:
        what = f"'breaker.choice' must be {', '.join(get_args(Choice))}, not {show(word)}"
        file.fail(("breaker", "choice"), what, 'write, for instance, choice = "keep"')
    in_a_row = file.integer("breaker", "in_a_row", minimum=1, maximum=1000, default=3, example="in_a_row = 3")
    return BreakerConfig(enabled is not False, in_a_row, choice)
