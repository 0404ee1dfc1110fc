"""What a match is before it is played: everything needed to play it, the same on every machine."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, TypeAlias, get_args

from referee.errors import ExpectedError

_MATCH_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}", re.ASCII)
_SEED = re.compile(r"(?:[0-9a-f]{2}){0,64}", re.ASCII)


class SpecError(ExpectedError, ValueError):
    """A specification no match can be played from. Names the field and what was expected."""

    def __init__(self, what: str, next_step: str = "correct it, or leave it out") -> None:
        super().__init__(what, next_step)


Policy: TypeAlias = Literal["forfeit", "default", "random"]
POLICIES: tuple[Policy, ...] = get_args(Policy)
ProviderErrors: TypeAlias = Literal["loss", "void"]
PROVIDER_ERRORS: tuple[ProviderErrors, ...] = get_args(ProviderErrors)
CLOCK_KEYS = (
    "startup_s",
    "ready_s",
    "first_move_s",
    "move_s",
    "bank_s",
    "total_s",
    "increment_s",
    "margin_s",
)
"""The names of `Limits` that are about time, of a match or of one seat."""

RESOURCE_KEYS = ("memory_mib", "processes", "open_files", "disk_mib", "file_size_mib", "cores")
"""The names of `Limits` that are about what a bot uses of its machine."""

SEAT_KEYS = (*CLOCK_KEYS, *RESOURCE_KEYS)
"""The names of `Limits` that a seat may have of its own."""

_ABSENT_AT_0 = ("bank_s", "total_s", "increment_s", "match_s", *RESOURCE_KEYS)
_WHOLE = tuple(name for name in RESOURCE_KEYS if name != "cores")
_FROM_0 = ("margin_s", "max_note_bytes", "max_output_bytes", "increment_s")
_MAY_BE_0 = (*_ABSENT_AT_0, *_FROM_0)
_HIGHEST = 2**31 - 1


def out_of_bounds(value: float, lowest: float, highest: float, *, may_be_0: bool = False) -> str:
    """What is wrong with a number, such as "must be at most 10, not 11"; '' if it is within the bounds."""
    if math.isnan(value):
        return "must be a number, not nan"
    if value > highest:
        return f"must be at most {highest:.12g}, not {value!r}"
    if value < lowest and not (may_be_0 and value == 0):
        unlimited = ", or 0 for no limit" if may_be_0 and lowest > 0 else ""
        return f"must be at least {lowest:.12g}{unlimited}, not {value!r}"
    return ""


@dataclass(frozen=True, slots=True)
class SeatSpec:
    """Which entry sits on a seat. `name` and `version` are for people; the id finds the bot.

    `clock` has the limits of this seat that differ from the match's, by name (`SEAT_KEYS`).
    """

    entry_id: str
    name: str
    version: str
    clock: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.clock:
            if name not in SEAT_KEYS:
                raise SpecError(f"clock of seat {self.name!r}: unknown limit {name!r}, expected {', '.join(SEAT_KEYS)}")


@dataclass(frozen=True, slots=True)
class Faults:
    """What a fault means for the seat. Each seat has `strikes`: so many faults that it can go on after (an illegal or
    malformed answer, a time-out) cost it only its choice, which the referee makes. The fault after them

    - `forfeit`: the seat leaves the match and ranks last, in order of leaving; its team with it;
    - `default`, `random`: the referee plays the seat to the end, with the game's default action or any legal one.

    A choice that the referee makes is the default action, but for `random`. Who resigns always leaves.

    `provider_errors`: whether a bot that got no answer from its provider has made a fault (`loss`), or the match is
    `void` and played again, as far as `Match` and the runner allow it.
    """

    policy: Policy = "forfeit"
    strikes: int = 0
    provider_errors: ProviderErrors = "loss"

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise SpecError(f"fault policy must be one of {', '.join(POLICIES)}, not {self.policy!r}")
        if type(self.strikes) is not int or not 0 <= self.strikes < 2**31:
            raise SpecError(f"strikes must be a whole number, at least 0, not {self.strikes!r}")
        if self.provider_errors not in PROVIDER_ERRORS:
            raise SpecError(
                f"provider_errors must be one of {', '.join(PROVIDER_ERRORS)}, not {self.provider_errors!r}"
            )

    def fields(self) -> dict[str, str | int]:
        """By name; `provider_errors` only where it differs from the default, as in files of older versions."""
        values: dict[str, str | int] = {"policy": self.policy, "strikes": self.strikes}
        return values if self.provider_errors == "loss" else {**values, "provider_errors": self.provider_errors}


@dataclass(frozen=True, slots=True)
class Adjudication:
    """When the scores that both bots write into their notes end a match for two; all zero: never.

    A seat wins when for `win_moves` moves of each both say that it is ahead by `win_score` or more. It is a draw when
    for `draw_moves` moves of each, after the first `draw_from`, both scores are within `draw_score` of 0.
    """

    win_score: int = 0
    win_moves: int = 0
    draw_score: int = 0
    draw_moves: int = 0
    draw_from: int = 0

    def policy(self) -> dict[str, int]:
        """As a record's header has it; empty for never."""
        return {} if self == Adjudication() else {f"adjudicate_{name}": value for name, value in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds and bytes.

    The clock is one of three: a limit for every decision (`first_move_s`, then `move_s`); the same with `bank_s` for
    the match, which pays for what a decision takes above its limit; or `total_s` for the match, to which each answer
    adds `increment_s`, and within which `first_move_s` and `move_s` still act unless they are 0. `margin_s` delays
    every verdict, for the way of the messages. It is no time to think: bank and total pay for what an answer takes of
    it. `match_s` caps the whole match, 0 does not.

    Of the machine a bot gets `memory_mib`, `processes` (threads count) and `cores` for all its processes together,
    `open_files` and `file_size_mib` for each of them, and `disk_mib` as its private /tmp; 0 does not limit. What holds
    where is in docs/sandbox.md.
    """

    startup_s: float = 10.0
    ready_s: float = 10.0
    first_move_s: float = 5.0
    move_s: float = 1.0
    margin_s: float = 0.01
    max_message_bytes: int = 1 << 20
    max_note_bytes: int = 4096
    max_output_bytes: int = 65536
    bank_s: float = 0.0
    total_s: float = 0.0
    increment_s: float = 0.0
    match_s: float = 0.0
    memory_mib: int = 2048
    processes: int = 512
    open_files: int = 1024
    disk_mib: int = 64
    file_size_mib: int = 256
    cores: float = 0.0

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not isinstance(value, int | float) or isinstance(value, bool):
                raise SpecError(f"limit {item.name} must be a number, not {value!r}")
            whole = item.name.endswith("_bytes") or item.name in _WHOLE
            if whole and not isinstance(value, int) and math.isfinite(value):
                raise SpecError(f"limit {item.name} must be whole, not {value!r}")
            may_be_0 = item.name in _MAY_BE_0 or (item.name in ("first_move_s", "move_s") and bool(self.total_s))
            lowest = 0 if item.name in _FROM_0 else 1 if whole else 1e-3
            if problem := out_of_bounds(value, lowest, _HIGHEST, may_be_0=may_be_0):
                raise SpecError(f"limit {item.name} {problem}")
        if self.bank_s and self.total_s:
            raise SpecError("limit bank_s goes with move_s, not with total_s: leave one of the two out")
        if self.increment_s and not self.total_s:
            raise SpecError("limit increment_s adds to total_s: give total_s too")

    def in_force(self) -> dict[str, float]:
        """By name, without what does not limit."""
        return {name: value for name, value in asdict(self).items() if value or name not in _ABSENT_AT_0}

    @classmethod
    def from_in_force(cls, values: Mapping[str, float]) -> "Limits":
        """Inverse of `in_force`; names that this version does not know are left out."""
        zeros = {name: 0 if name in _WHOLE else 0.0 for name in _ABSENT_AT_0}
        known = {item.name: values[item.name] for item in fields(cls) if item.name in values}
        return cls(**{**zeros, **known})  # type: ignore[arg-type]  # which the class checks itself

    def with_clock(self, clock: Mapping[str, float]) -> "Limits":
        """These limits with a seat's own over them. Raises SpecError if they do not go together."""
        return replace(self, **clock) if clock else self  # type: ignore[arg-type]  # names and numbers were checked


DEFAULTS = Limits()
"""What holds where nothing else is said. All defaults of limits stand here: no other file repeats a number."""

HUMAN_CLOCK = {"first_move_s": 86400.0, "move_s": 86400.0}
"""Of a person: a day for each move. The clock is for bots."""

REMOTE_CLOCK = {"margin_s": 0.25}
"""Of a seat whose bot is on another machine, unless it has one of its own: a way there and back over the Internet,
above the limits. All other time of the network is the bot's."""

REMOTE_WAIT_S = 60.0
"""How long the first match of a tournament waits for its remote bots."""

REMOTE_WAIT_OF_ONE_MATCH_S = 300.0
"""How long `crosstown match` waits for them: somebody has to read the address first, and to pass it on."""

RECONNECT_S = 60.0
"""Within what time a remote bot may come back after its connection broke."""

IDLE_PROCESSES = 16
"""Processes of bots that wait for their next match, for each worker."""

MOST_MESSAGE_BYTES = 16 << 20
"""The most that `max_message_bytes` may allow."""


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """One match. `seed` is hex digits, or '' where it is not known: then nobody can play it.
    `options` are full and resolved; `place` is its index in the schedule. `round`, `table` in it (both from 1; 0 of a
    format without rounds) and `stage` are for people.

    `ponder` false: no bot runs while it is not asked anything. `charged_for_memory`: seats whose bots lose if the
    kernel takes them because the machine has no memory left; `forfeits`: seats that lose at once, each with a sentence
    why, since the bot ended an earlier attempt at this match; `charged_for_provider`: seats that have made a fault if
    they get no answer from their provider, whatever `faults` say. The runner sets them; they are no part of the
    schedule.
    """

    match_id: str
    game: str
    options: Mapping[str, Any]
    seats: tuple[SeatSpec, ...]
    seed: str
    limits: Limits = field(default_factory=Limits)
    tournament: str = ""
    place: int = 0
    block: int = 0
    faults: Faults = field(default_factory=Faults)
    ponder: bool = True
    adjudication: Adjudication = field(default_factory=Adjudication)
    round: int = 0
    table: int = 0
    stage: str = ""
    charged_for_memory: tuple[int, ...] = ()
    forfeits: tuple[tuple[int, str], ...] = ()
    charged_for_provider: tuple[int, ...] = ()

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
        for seat in self.seats:
            self.limits.with_clock(seat.clock)

    def limits_of(self, seat: int) -> Limits:
        """The limits of one seat."""
        return self.limits.with_clock(self.seats[seat].clock)

    def within_memory(self, most_mib: int) -> "MatchSpec":
        """The same match, no bot of which may have more memory; 0 for any."""
        if not most_mib:
            return self

        def lowered(limits: Mapping[str, float]) -> dict[str, float]:
            known = "memory_mib" in limits and not 0 < limits["memory_mib"] <= most_mib
            return {**limits, "memory_mib": most_mib} if known else dict(limits)

        seats = tuple(replace(seat, clock=lowered(seat.clock)) for seat in self.seats)
        limits = self.limits.with_clock(lowered({"memory_mib": self.limits.memory_mib}))
        return replace(self, limits=limits, seats=seats)

    def to_json(self) -> str:
        """One line of JSON, the same for equal specifications."""
        values = asdict(self)
        values["faults"] = self.faults.fields()
        if self.adjudication == Adjudication():
            del values["adjudication"]
        for name in ("round", "table", "stage", "charged_for_provider"):
            if not values[name]:
                del values[name]
        return json.dumps(values, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "MatchSpec":
        """Inverse of `to_json`. Raises SpecError."""
        try:
            values = json.loads(text)
            if not values["seed"]:
                raise SpecError("seed: the match has none, so it cannot be played")
            return cls(
                **{
                    **values,
                    "seats": tuple(SeatSpec(**seat) for seat in values["seats"]),
                    "limits": Limits(**values["limits"]),
                    "charged_for_memory": tuple(values.get("charged_for_memory", ())),
                    "charged_for_provider": tuple(values.get("charged_for_provider", ())),
                    "forfeits": tuple((seat, why) for seat, why in values.get("forfeits", ())),
                    "faults": Faults(**values.get("faults", {})),
                    "adjudication": Adjudication(**values.get("adjudication", {})),
                }
            )
        except SpecError:
            raise
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise SpecError(f"not a match specification: {type(error).__name__}: {error}") from None
