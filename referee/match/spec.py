"""What a match is before it is played: everything needed to play it, the same on every machine."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

_MATCH_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}", re.ASCII)
_SEED = re.compile(r"(?:[0-9a-f]{2}){1,64}", re.ASCII)


class SpecError(ValueError):
    """A specification no match can be played from. Names the field and what was expected."""


@dataclass(frozen=True, slots=True)
class SeatSpec:
    """Which entry sits on a seat. `name` and `version` are for people; the id finds the bot."""

    entry_id: str
    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds and bytes. `margin_s` is added to every move limit for what is not the bot's doing."""

    startup_s: float = 10.0
    ready_s: float = 10.0
    first_move_s: float = 5.0
    move_s: float = 1.0
    margin_s: float = 0.01
    max_message_bytes: int = 1 << 20
    max_note_bytes: int = 4096
    max_output_bytes: int = 65536

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not isinstance(value, int | float) or isinstance(value, bool):
                raise SpecError(f"limit {item.name} must be a number, not {value!r}")
            if item.name.endswith("_bytes") and not isinstance(value, int):
                raise SpecError(f"limit {item.name} must be whole, not {value!r}")
            lowest = 0 if item.name in ("margin_s", "max_note_bytes", "max_output_bytes") else 1e-3
            if not lowest <= value < 2**31:
                raise SpecError(f"limit {item.name} must be at least {lowest:g}, not {value!r}")


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """One match. `seed` is hex digits; `options` are full and resolved; `place` is its index in the schedule."""

    match_id: str
    game: str
    options: Mapping[str, Any]
    seats: tuple[SeatSpec, ...]
    seed: str
    limits: Limits = field(default_factory=Limits)
    tournament: str = ""
    place: int = 0
    block: int = 0

    def __post_init__(self) -> None:
        if _MATCH_ID.fullmatch(self.match_id) is None:
            raise SpecError(
                f"match_id {self.match_id[:200]!r}: expected 1 to 120 letters, digits and ._- (it names a file)"
            )
        if _SEED.fullmatch(self.seed) is None:
            raise SpecError(
                f"seed {self.seed[:200]!r}: expected 2 to 128 lower-case hexadecimal digits, an even number"
            )
        if not self.seats:
            raise SpecError("seats: expected at least one")

    def to_json(self) -> str:
        """One line of JSON, the same for equal specifications."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "MatchSpec":
        """Inverse of `to_json`. Raises SpecError."""
        try:
            values = json.loads(text)
            return cls(
                **{
                    **values,
                    "seats": tuple(SeatSpec(**seat) for seat in values["seats"]),
                    "limits": Limits(**values["limits"]),
                }
            )
        except SpecError:
            raise
        except (ValueError, TypeError, KeyError) as error:
            raise SpecError(f"not a match specification: {type(error).__name__}: {error}") from None
