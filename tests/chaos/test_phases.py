"""Every misdeed at every phase of a session: the reason, the seat, and a sound match right after it."""

from typing import Any

import pytest
from arena import Arena, own_clock
from deeds import CASES, Case

from referee.match import EndReason

ATTEMPTS = 3
"""A time-out on a machine that kept the bot from running is void, and played again as in a run, so often in all."""


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_misdeed(arena: Arena, case: Case) -> None:
    """PRC-12, CRA-1, CRA-4, CRA-15, OUT-1: the blast radius is one match."""
    await judge(arena, case, seat=CASES.index(case) % 2)
    after, _ = await arena.play(arena.good(0), arena.good(1))
    assert (after.reason, after.faults) == (EndReason.NORMAL, (None, None))


async def judge(arena: Arena, case: Case, *, seat: int, salt: int = 0) -> Any:
    """Play the case on `seat` and check what came of it."""
    chaos, good = arena.chaos(case, salt), arena.good(0)
    entries = (chaos, good) if seat == 0 else (good, chaos)
    for _ in range(ATTEMPTS):
        result, record = await arena.play(*entries, clocks={seat: own_clock(case)})
        if result.reason is not EndReason.SUSPECT_TIMEOUT:
            break
        assert result.status == "void"
    assert result.reason in case.reasons, f"{case}: {result.reason}: {result.detail}"
    assert result.faults[1 - seat] is None, f"{case}: {result.faults[1 - seat]}"
    if result.reason is EndReason.NORMAL:
        assert result.faults[seat] is None
        return record
    assert result.faults[seat] is not None
    assert result.faults[seat].reason is result.reason
    if result.status == "rated":
        assert result.ranking[seat] == 2
    else:
        assert (result.reason, result.ranking) == (EndReason.START_FAILED, ())
    return record
