"""The lines of a record, format 1.

Every line is one compact JSON array `[kind, ..., chain]`. `chain` is 8 hex digits over the chain of the line before and
this line's text up to the last comma, so that a changed, lost or inserted line is found where it happened.

    ["header", {...}, chain]                                      first line
    ["c", outcome, chain]                                         a chance outcome
    ["a", seat, action text, wall_us, cpu_us, lag_us, chain]      an answer; a note follows if the bot wrote one
    ["f", seat, reason, detail, withdrawn, chain]                 a seat's fault; `withdrawn`: the state let the seat go
                                                                  (then true if it is `later` than the one before)
    ["s", seat, reason, detail, effect, chain]                    a fault after which the seat stays; by `effect`
                                                                  "none" it lost nothing; "choice":
                                                                  its answer to the node at hand is the referee's;
                                                                  "taken": so are all answers from here on
    ["x", seat, what, message, chain]                             a message that was dropped
    ["footer", {...}, chain]                                      last line

The answers of a node with several decisions stand together in seat order, after the faults of that node. Actions are
in the game's canonical text; times are integers in microseconds, -1 where the system could not tell. `lag_us` is the
part of `wall_us` that was not the bot's doing: what was charged to it is the difference.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from hashlib import blake2b
from typing import Any, Final, TypeAlias

from referee.errors import ExpectedError

FORMAT = 1
CHAIN_DIGITS = 8
CHAIN_START = ""

HEADER = "header"
CHANCE = "c"
ANSWER = "a"
FAULT = "f"
STRIKE = "s"
EFFECT_NONE, EFFECT_CHOICE, EFFECT_TAKEN = EFFECTS = ("none", "choice", "taken")
DROPPED = "x"
FOOTER = "footer"

PERSON: Final = "person"
"""The version of a seat that a person plays. Only single matches have such seats: elsewhere it is a bot's own word."""


class RecordError(ExpectedError):
    """A record that cannot be written, opened or understood. The sentence names the path."""

    def __init__(self, what: str, next_step: str = "check the path, or see: crosstown matches list") -> None:
        super().__init__(what, next_step)


class RecordExistsError(RecordError):
    """The match has a record already. Its id was used before."""


@dataclass(frozen=True, slots=True)
class SeatHeader:
    """Who sits where: the entry's id (hash of source and options), and its name and version for people.

    `clock` has the limits of this seat that differ from the match's; `sandbox` is how the bot was confined and what it
    was granted, for people, such as "strict, network". `build` is what was made of the entry's sources, and with what:
    a hash over the files that its build made, and the version of the toolchain; empty for a bot that needs no build.
    `held` says of each limit on what the bot used of its machine what held it there: "group", "sandbox", "process" or
    "none"; empty for a bot that was not started here. `outside` is what plays with the bot and lies outside of its
    folder, by resolved path, each with a hash of its content; `runtime` is the referee's own Python and a hash over its
    packages, for bots that run in it.
    """

    entry_id: str
    name: str
    version: str
    clock: Mapping[str, float] = field(default_factory=dict)
    sandbox: str = ""
    build: str = ""
    held: Mapping[str, str] = field(default_factory=dict)
    outside: Mapping[str, str] = field(default_factory=dict)
    runtime: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    """All that was fixed before the match. `limits` are those in force, by name, with units in the names."""

    match_id: str
    tournament: str
    place: int
    block: int
    game: str
    rules_version: int
    options: Mapping[str, Any]
    players: int
    seats: tuple[SeatHeader, ...]
    limits: Mapping[str, float]
    seed_commitment: str
    created_at: str
    crosstown: str
    policy: Mapping[str, str | int | bool] = field(default_factory=dict)
    """What differs from the default of: policy ("forfeit"), strikes (0), ponder (true)."""
    machine: Mapping[str, str] = field(default_factory=dict)
    """Where it was played, of a match of a cluster: the machine's `name` and `class`; and `rules`, "compiled" if the
    referee played with compiled rules. Empty for the runner's own machine and plain rules."""
    round: int = 0
    """As its format counts them, from 1; 0 of a format without rounds, and in records of older versions."""
    table: int = 0
    """Its table in the round, from 1; 0 likewise."""
    stage: str = ""
    """The stage of the tournament, where that has several."""
    format: int = FORMAT

    @property
    def names(self) -> tuple[str, ...]:
        """Per seat what to call it."""
        return told_apart([seat.name for seat in self.seats])


def told_apart(names: Sequence[str]) -> tuple[str, ...]:
    """The names of seats; a name that is there twice with the number of its seat, which people count from 1."""
    return tuple(f"{name} (seat {seat + 1})" if names.count(name) > 1 else name for seat, name in enumerate(names))


@dataclass(frozen=True, slots=True)
class Chance:
    """One outcome of a chance node."""

    outcome: int | str


@dataclass(frozen=True, slots=True)
class Answer:
    """One seat's answer to one decision."""

    seat: int
    action: str
    wall_us: int
    cpu_us: int = -1
    lag_us: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class FaultLine:
    """A seat did something that ends its match. The evidence stands in the footer.

    Seats that leave with nothing played in between left together, and tie, but for a line that is `later`: that seat,
    and those of the lines after it, left after those before.
    """

    seat: int
    reason: str
    detail: str
    withdrawn: bool
    later: bool = False


@dataclass(frozen=True, slots=True)
class Strike:
    """A seat's fault after which it stays in the match: it lost a choice, or the referee plays for it from here on."""

    seat: int
    reason: str
    detail: str
    effect: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """A message that answered nothing asked: `what` says why, `message` is its beginning (base64)."""

    seat: int
    what: str
    message: str


Line: TypeAlias = Chance | Answer | FaultLine | Strike | Dropped


@dataclass(frozen=True, slots=True)
class SeatStats:
    """What one seat did in the match, microseconds. `dropped` counts all messages that answered nothing asked.

    `total_us` and `worst_us` are wall time, of all decisions and of the longest. `lag_us` of the total was not charged,
    and `worst_charged_us` is the most that one decision was charged: None in older records. `cpu_us` is processor time
    of its decisions, `off_turn_cpu_us` what the bot used besides, from MatchStart to MatchEnd, and `idle_cpu_us` what
    it used between its last match and this one.
    """

    decisions: int = 0
    total_us: int = 0
    worst_us: int = 0
    cpu_us: int = 0
    dropped: int = 0
    off_turn_cpu_us: int = 0
    idle_cpu_us: int = 0
    lag_us: int | None = None
    worst_charged_us: int | None = None


MOST_USED = 10**13
"""Of each count of `Usage` in one match, so that the sums over 900,000 matches fit 64 bits."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of a service such as the provider of a language model, as a bot reports it. It decides nothing.

    `provider_errors` are requests without a usable reply, `unreadable` replies of another form than the bot asked for,
    `wait_us` is the time between requests and replies, `cost_nanos` are billionths of a dollar.
    """

    requests: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    provider_errors: int = 0
    unreadable: int = 0
    wait_us: int = 0
    cost_nanos: int = 0

    def plus(self, other: "Usage") -> "Usage":
        """Both together; no count above `MOST_USED`."""
        return Usage(*[min(mine + its, MOST_USED) for mine, its in zip(astuple(self), astuple(other), strict=True)])


@dataclass(frozen=True, slots=True)
class Footer:
    """How it ended. `ranking`, `returns` and `state_hash` are empty where the match does not count.

    `faults` is per seat None or the evidence by name; `trouble` is the referee's own traceback after a platform fault.
    """

    status: str
    reason: str
    detail: str
    seed: str
    ranking: tuple[int, ...] = ()
    returns: tuple[int, ...] = ()
    state_hash: str = ""
    seat_stats: tuple[SeatStats, ...] = ()
    faults: tuple[Mapping[str, Any] | None, ...] = ()
    decisions: int = 0
    wall_us: int = 0
    trouble: str = ""
    startup_us: tuple[int, ...] = ()
    """Per seat, how long the process that was started for this match took until its Hello; 0 for one that had played
    before and for a remote bot. Empty if none was started, and in records of older versions."""
    usage: tuple[Usage | None, ...] = ()
    """Per seat the usage that the bot reported; None if it reported none. Empty if no bot reported any, and in records
    of older versions."""
    versions: tuple[str, ...] = ()
    """Per seat the version that a remote bot declared when it connected, '' for other bots. Empty if none declared one,
    and in records of older versions."""


_OPTIONAL_OF_SEAT = ("clock", "sandbox", "build", "held", "outside", "runtime")
_OPTIONAL = ("policy", "machine", "round", "table", "stage")
_ALWAYS = ("status", "reason", "seed")


def seed_commitment(seed: str) -> str:
    """What the header says of a seed (hex digits) before the footer reveals it."""
    return blake2b(bytes.fromhex(seed), digest_size=16, person=b"crosstown-seed").hexdigest()


def dumps(value: object) -> str:
    """Compact ASCII JSON: no control character of a bot's reaches the file raw."""
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), check_circular=False)


def next_chain(chain: str, body: str) -> str:
    """The chain after a line. `body` is the line's text up to, not including, the comma before its own chain."""
    return blake2b((chain + body).encode("ascii"), digest_size=CHAIN_DIGITS // 2).hexdigest()


def seal(chain: str, body: str) -> tuple[str, str]:
    """The whole line for `body` (an array without its closing bracket), and the chain after it."""
    after = next_chain(chain, body)
    return f'{body},"{after}"]\n', after


def open_line(text: str) -> tuple[str, str]:
    """Body and chain of a line without its newline. ValueError if it does not end in a chain."""
    tail = CHAIN_DIGITS + 4
    body, end = text[:-tail], text[-tail:]
    if len(text) <= tail or end[:2] != ',"' or end[-2:] != '"]':
        raise ValueError("the line does not end in a chained hash")
    return body, end[2:-2]


def header_body(header: Header) -> str:
    fields = asdict(header)
    optional = [(seat, name) for seat in fields["seats"] for name in _OPTIONAL_OF_SEAT]
    for holder, name in (*((fields, name) for name in _OPTIONAL), *optional):
        if not holder[name]:
            del holder[name]
    return dumps([HEADER, fields])[:-1]


def footer_body(footer: Footer) -> str:
    fields = {name: value for name, value in asdict(footer).items() if name in _ALWAYS or value not in ("", (), 0)}
    if not any(footer.faults):
        fields.pop("faults", None)
    if footer.usage:
        fields["usage"] = [None if used is None else _counted(used) for used in footer.usage]
    if footer.seat_stats:
        fields["seat_stats"] = [[value for value in astuple(stats) if value is not None] for stats in footer.seat_stats]
    return dumps([FOOTER, fields])[:-1]


def _counted(used: Usage) -> dict[str, int]:
    return {name: value for name, value in asdict(used).items() if value}


def chance_body(outcome: int | str) -> str:
    return f'["c",{outcome}' if type(outcome) is int else f'["c",{dumps(outcome)}'


def answer_body(answer: Answer) -> str:
    # Action text is ASCII without quotes or backslashes (kind(a=..)), but a plug-in's may be anything.
    action = answer.action
    plain = action.isascii() and action.isprintable() and '"' not in action and "\\" not in action
    quoted = f'"{action}"' if plain else dumps(action)
    body = f'["a",{answer.seat},{quoted},{answer.wall_us},{answer.cpu_us},{answer.lag_us}'
    return f"{body},{dumps(answer.note)}" if answer.note else body


def fault_body(fault: FaultLine) -> str:
    later = [True] if fault.later else []
    return dumps([FAULT, fault.seat, fault.reason, fault.detail, fault.withdrawn, *later])[:-1]


def strike_body(strike: Strike) -> str:
    return dumps([STRIKE, strike.seat, strike.reason, strike.detail, strike.effect])[:-1]


def dropped_body(dropped: Dropped) -> str:
    return dumps([DROPPED, dropped.seat, dropped.what, dropped.message])[:-1]


_KINDS = (HEADER, CHANCE, ANSWER, FAULT, STRIKE, DROPPED, FOOTER)


def parse_line(text: str) -> Header | Footer | Line:
    """The dataclass of one line. ValueError says what is wrong with it; RecordError if its format is too new."""
    try:
        values = json.loads(text)
    except RecursionError:
        raise ValueError("the line is nested too deep") from None
    except ValueError:
        raise ValueError("the line is not JSON") from None
    if not isinstance(values, list) or len(values) < 3 or not isinstance(values[0], str):
        raise ValueError("the line is not an array [kind, ..., chain]")
    kind, *fields, _chain = values
    try:
        match kind, fields:
            case "c", [int() | str() as outcome] if not isinstance(outcome, bool):
                return Chance(outcome)
            case "a", [seat, action, wall_us, cpu_us, lag_us, *note] if len(note) < 2:
                return Answer(
                    _int(seat), _str(action), _int(wall_us), _int(cpu_us), _int(lag_us), _str(*(note or [""]))
                )
            case "f", [seat, reason, detail, bool() as withdrawn, *later] if later in ([], [True]):
                return FaultLine(_int(seat), _str(reason), _str(detail), withdrawn, bool(later))
            case "s", [seat, reason, detail, str() as effect] if effect in EFFECTS:
                return Strike(_int(seat), _str(reason), _str(detail), effect)
            case "x", [seat, what, message]:
                return Dropped(_int(seat), _str(what), _str(message))
            case "header", [dict() as header]:
                return parse_header(header)
            case "footer", [dict() as footer]:
                return parse_footer(footer)
    except (TypeError, KeyError) as error:
        raise ValueError(f"a '{kind}' line with a field of the wrong type or a missing one: {error}") from None
    if kind in _KINDS:
        raise ValueError(f"a '{kind}' line with {len(fields)} fields, or of wrong types")
    raise ValueError(f"unknown kind of line {kind[:20]!r}: expected one of {', '.join(_KINDS)}")


def parse_header(fields: dict[str, Any]) -> Header:
    version = _int(fields["format"])
    if version != FORMAT:
        raise RecordError(
            f"this record has format {version}, this version of Crosstown reads format {FORMAT}",
            "use a newer Crosstown" if version > FORMAT else "it is damaged: restore the file from a copy",
        )
    seats = tuple(
        SeatHeader(
            _str(seat["entry_id"]),
            _str(seat["name"]),
            _str(seat["version"]),
            _numbers(seat.get("clock", {})),
            _str(seat.get("sandbox", "")),
            _str(seat.get("build", "")),
            {name: _str(holder) for name, holder in _dict(seat.get("held", {})).items()},
            {name: _str(content) for name, content in _dict(seat.get("outside", {})).items()},
            _str(seat.get("runtime", "")),
        )
        for seat in map(_dict, _list(fields["seats"]))
    )
    if len(seats) != _int(fields["players"]):
        raise ValueError(f"the header names {len(seats)} seats for {fields['players']} players")
    return Header(
        match_id=_str(fields["match_id"]),
        tournament=_str(fields["tournament"]),
        place=_int(fields["place"]),
        block=_int(fields["block"]),
        game=_str(fields["game"]),
        rules_version=_int(fields["rules_version"]),
        options=_dict(fields["options"]),
        players=len(seats),
        seats=seats,
        limits=_numbers(fields["limits"]),
        seed_commitment=_str(fields["seed_commitment"]),
        created_at=_str(fields["created_at"]),
        crosstown=_str(fields["crosstown"]),
        policy=_policy(fields.get("policy", {})),
        machine={name: _str(value) for name, value in _dict(fields.get("machine", {})).items()},
        round=_int(fields.get("round", 0)),
        table=_int(fields.get("table", 0)),
        stage=_str(fields.get("stage", "")),
    )


def parse_footer(fields: dict[str, Any]) -> Footer:
    return Footer(
        status=_str(fields["status"]),
        reason=_str(fields["reason"]),
        detail=_str(fields.get("detail", "")),
        seed=_str(fields["seed"]),
        ranking=tuple(_int(rank) for rank in _list(fields.get("ranking", []))),
        returns=tuple(_int(points) for points in _list(fields.get("returns", []))),
        state_hash=_str(fields.get("state_hash", "")),
        seat_stats=tuple(SeatStats(*[_int(value) for value in row]) for row in _list(fields.get("seat_stats", []))),
        faults=tuple(None if fault is None else _dict(fault) for fault in _list(fields.get("faults", []))),
        decisions=_int(fields.get("decisions", 0)),
        wall_us=_int(fields.get("wall_us", 0)),
        trouble=_str(fields.get("trouble", "")),
        startup_us=tuple(_int(value) for value in _list(fields.get("startup_us", []))),
        usage=tuple(None if used is None else parse_usage(used) for used in _list(fields.get("usage", []))),
        versions=tuple(_str(value) for value in _list(fields.get("versions", []))),
    )


def parse_usage(value: Any) -> Usage:
    """Counts by name; names that this version does not know are left out. TypeError for a value that is not a count."""
    counts = {name: _int(count) for name, count in _dict(value).items() if name in Usage.__dataclass_fields__}
    if wrong := [name for name, count in counts.items() if not 0 <= count <= MOST_USED]:
        raise TypeError(f"expected a count from 0 to {MOST_USED} for {wrong[0]}")
    return Usage(**counts)


def _numbers(value: Any) -> dict[str, float]:
    return {_str(name): _number(item) for name, item in _dict(value).items()}


def _policy(value: Any) -> dict[str, str | int | bool]:
    for name, item in _dict(value).items():
        if not isinstance(item, str | int):
            raise TypeError(f"expected a text, a whole number or a truth value for {name[:40]!r}")
    return _dict(value)


def _int(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"expected an integer, not {str(value)[:40]!r}")
    return value


def _number(value: Any) -> float:
    if type(value) not in (int, float):
        raise TypeError(f"expected a number, not {str(value)[:40]!r}")
    return float(value) if type(value) is float else int(value)


def _str(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, not {str(value)[:40]!r}")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"expected a list, not {str(value)[:40]!r}")
    return value


def _dict(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"expected an object, not {str(value)[:40]!r}")
    return value
