"""A verdict is judged again from its record: what stands, what falls, and what an organiser may add."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from referee.match import EndReason
from referee.match.rejudge import rejudge
from referee.match.result import Outcome
from referee.record import Record, RecordError, read_record
from referee.schedule.spec import Limits

Sit = Callable[..., Any]
R = EndReason


async def faulted(table: Any, fault: Callable[[Any], Any]) -> Record:
    """A record of a match in which a mover did this."""
    await table.start()
    mover = await table.play_to("turn")
    fault(mover)
    await table.clock.turn(1.5)
    outcome: Outcome = await table.outcome()
    await table.match.collect_output()
    return read_record(table.finish(outcome))


def changed(record: Record, **evidence: Any) -> Record:
    """With other evidence for the one fault."""
    assert record.footer is not None
    faults = tuple(None if fault is None else {**fault, **evidence} for fault in record.footer.faults)
    return replace(record, footer=replace(record.footer, faults=faults))


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (lambda mover: None, "charged with 1.012 s, more than the 1.010 s allowed"),
        (lambda mover: mover.move(99), "index 99 of"),
        (lambda mover: mover.move(action=b'{"kind":"yield"}'), "yield() is not among the legal actions"),
        (lambda mover: mover.move(action=b"\xff"), "cannot be decoded"),
        (lambda mover: mover.say_raw(b"\xff\xff"), "no message"),
        (lambda mover: mover.move(None), "chooses nothing"),
        (lambda mover: mover.die(), "can only say"),
        (lambda mover: mover.resign(), "can only say"),
    ],
)
async def test_a_fault_that_follows_from_its_evidence_stands(sit: Sit, fault: Any, why: str) -> None:
    record = await faulted(sit(), fault)
    judgement = rejudge(record)
    assert judgement.stands
    assert record.footer is not None
    assert (judgement.status, judgement.ranking) == ("rated", record.footer.ranking)
    assert why in judgement.findings[0].why


async def test_a_time_above_the_limit_is_never_printed_as_the_limit(sit: Sit) -> None:
    record = await faulted(sit(), lambda mover: None)
    (finding,) = rejudge(changed(record, wall_us=1_010_400, lag_us=0)).findings
    assert (finding.stands, finding.why) == (True, "charged with 1.010400 s, more than the 1.010000 s allowed")


async def test_a_time_out_falls_with_more_time(sit: Sit) -> None:
    record = await faulted(sit(), lambda mover: None)
    judgement = rejudge(record, extra_us=2_000)
    assert (judgement.stands, judgement.status, judgement.reason, judgement.ranking) == (
        False,
        "void",
        R.SUSPECT_TIMEOUT,
        (),
    )


async def test_a_time_out_whose_charge_was_within_the_limit_falls(sit: Sit) -> None:
    record = await faulted(sit(), lambda mover: None)
    assert not rejudge(changed(record, lag_us=3_000)).stands


def by_header(record: Record, limits: Limits, **clock: float) -> Record:
    """With these limits in the header, and the clock as that of each seat."""
    seats = tuple(replace(seat, clock=clock) for seat in record.header.seats)
    return replace(record, header=replace(record.header, limits=limits.in_force(), seats=seats))


CLOCKS = [
    (Limits(), {}, {}, True),
    (Limits(), {}, {"limit_us": 5_010_000, "wall_us": 6_000_000}, True),
    (Limits(), {}, {"limit_us": 1}, False),
    (Limits(move_s=2), {}, {}, False),
    (Limits(move_s=2), {"move_s": 1}, {}, True),
    (Limits(bank_s=1), {}, {"limit_us": 1_260_000, "bank_us": 250_000, "wall_us": 1_300_000}, True),
    (Limits(bank_s=1), {}, {"limit_us": 1_005_000, "bank_us": -5_000, "wall_us": 1_006_000}, True),
    (Limits(bank_s=1), {}, {"limit_us": 1_010_000, "bank_us": -5_000, "wall_us": 1_011_000}, False),
    (Limits(bank_s=1), {}, {"limit_us": 1_010_000, "bank_us": 250_000}, False),
    (Limits(bank_s=1), {}, {"limit_us": 4_010_000, "bank_us": 3_000_000, "wall_us": 4_100_000}, False),
    (Limits(first_move_s=0, move_s=0, total_s=9), {}, {"limit_us": 510_000, "total_us": 500_000}, True),
    (Limits(first_move_s=0, move_s=0, total_s=9), {}, {"limit_us": 1}, False),
]


@pytest.mark.parametrize(("limits", "clock", "evidence", "stands"), CLOCKS)
async def test_a_limit_that_the_clock_in_the_header_does_not_give_charges_nobody(
    sit: Sit, limits: Limits, clock: dict[str, float], evidence: dict[str, int], stands: bool
) -> None:
    record = await faulted(sit(), lambda mover: None)
    judgement = rejudge(by_header(changed(record, **evidence), limits, **clock))
    assert judgement.stands is stands
    assert ("the clock in the header" in judgement.findings[0].why) is not stands


@pytest.mark.parametrize("size", [3_000_000, 10**400, None])
@pytest.mark.parametrize("limit", [1 << 20, 1 << 22])
async def test_a_message_is_oversized_by_the_limit_in_the_header(sit: Sit, size: Any, limit: int) -> None:
    record = await faulted(sit(), lambda mover: mover.say_raw(b"x" * ((1 << 20) + 1)))
    judgement = rejudge(by_header(changed(record, message_bytes=size), Limits(max_message_bytes=limit)))
    assert judgement.stands is (size != 3_000_000 or size > limit)


@pytest.mark.parametrize("name", ["wall_us", "lag_us", "limit_us"])
@pytest.mark.parametrize("value", [10**400, 1 << 63, -1, -(10**9), True, 1.5, "1", None])
async def test_a_time_that_can_be_none_is_no_evidence(sit: Sit, name: str, value: Any) -> None:
    record = await faulted(sit(), lambda mover: None)
    judgement = rejudge(changed(record, **{name: value}))
    assert (judgement.stands, judgement.findings[0].why) == (False, "no times were kept")


async def test_a_refusal_of_a_legal_answer_is_ours(sit: Sit) -> None:
    record = await faulted(sit(), lambda mover: mover.move(99))
    judgement = rejudge(changed(record, legal_count=100))
    assert (judgement.stands, judgement.reason) == (False, R.PLATFORM_FAULT)


@pytest.mark.parametrize(
    ("evidence", "why"),
    [
        ({"message": "A"}, "cannot be read"),
        ({"message_bytes": "many"}, "index 99 of"),
        ({"message_bytes": 10**400}, "index 99 of"),
        ({"legal_count": -(10**400)}, "chooses nothing"),
        ({"legal_count": [], "legal": []}, "chooses nothing"),
    ],
)
async def test_evidence_that_is_damaged_is_no_error(sit: Sit, evidence: dict[str, Any], why: str) -> None:
    record = await faulted(sit(), lambda mover: mover.move(99))
    judgement = rejudge(changed(record, **evidence))
    assert judgement.stands
    assert why in judgement.findings[0].why


async def test_what_does_not_verify_is_not_judged(sit: Sit) -> None:
    record = await faulted(sit(), lambda mover: mover.move(99))
    assert record.footer is not None
    wrong = replace(record, footer=replace(record.footer, ranking=record.footer.ranking[::-1]))
    with pytest.raises(RecordError, match="only a complete record"):
        rejudge(wrong)
