"""Specifications and results as values: checked, and the same after a trip through JSON."""

from typing import Any

import pytest

from referee.match import EndReason, Fault, Limits, MatchResult, MatchSpec, SeatSpec, SeatStats, SpecError

SEATS = (SeatSpec("00ff00ff00ff00ff", "a", "1"), SeatSpec("11ff00ff00ff00ff", "b\u2603", "2"))


def spec(**changes: Any) -> MatchSpec:
    fields: dict[str, Any] = {
        "match_id": "first-0001",
        "game": "toy",
        "options": {"rounds": 4, "data": {"cards": [1, 2]}},
        "seats": SEATS,
        "seed": "00" * 16,
        "limits": Limits(move_s=0.5),
        "tournament": "first",
        "place": 7,
        "block": 3,
    }
    return MatchSpec(**{**fields, **changes})


def test_a_specification_survives_json() -> None:
    assert MatchSpec.from_json(spec().to_json()) == spec()
    assert "\n" not in spec().to_json()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"match_id": "../etc"}, "match_id"),
        ({"match_id": ""}, "match_id"),
        ({"match_id": "x" * 121}, "match_id"),
        ({"match_id": ".hidden"}, "match_id"),
        ({"seed": "xyz"}, "seed"),
        ({"seed": "0"}, "seed"),
        ({"seed": "00" * 65}, "seed"),
        ({"seats": ()}, "seats"),
    ],
)
def test_a_specification_is_checked(change: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        spec(**change)


@pytest.mark.parametrize(
    "change",
    [{"move_s": 0}, {"move_s": -1}, {"margin_s": -0.1}, {"ready_s": "1"}, {"max_note_bytes": 1.5}, {"move_s": True}],
)
def test_limits_are_checked(change: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match=next(iter(change))):
        Limits(**change)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", '{"seats":[],"limits":{}}', '{"seats":[{"x":1}],"limits":{}}']
)
def test_what_is_no_specification_is_refused(text: str) -> None:
    with pytest.raises(SpecError):
        MatchSpec.from_json(text)


def test_a_result_survives_json_without_its_evidence() -> None:
    fault = Fault(1, EndReason.CRASHED, "exit code 3", {"stderr": "boom"})
    result = MatchResult(
        match_id="m",
        status="rated",
        reason=EndReason.CRASHED,
        detail="seat 1 (b): exit code 3",
        ranking=(1, 2),
        returns=(5, 0),
        faults=(None, fault),
        seat_stats=(SeatStats(1, 2, 3, 4, 5), SeatStats()),
        decisions=1,
        wall_s=0.25,
        state_hash="00",
    )
    back = MatchResult.from_json(result.to_json())
    assert back.faults == (None, Fault(1, EndReason.CRASHED, "exit code 3"))
    assert back.seat_stats == result.seat_stats
    assert (back.ranking, back.returns, back.reason) == (result.ranking, result.returns, EndReason.CRASHED)
