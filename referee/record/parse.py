"""From a line of a record to its dataclass. Everything is checked: a record may come from anywhere."""

import json
from typing import Any

from referee.record.format import (
    ANSWER,
    CHANCE,
    DROPPED,
    EFFECTS,
    FAULT,
    FOOTER,
    FORMAT,
    HEADER,
    STRIKE,
    Answer,
    Chance,
    Dropped,
    FaultLine,
    Footer,
    Header,
    Line,
    RecordError,
    SeatHeader,
    SeatStats,
    Strike,
)

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
            f"this record has format {version}, this version of Crosstown reads format {FORMAT}: "
            + ("use a newer Crosstown" if version > FORMAT else "it is damaged")
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
    )


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
