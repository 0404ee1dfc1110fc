"""Plays a case and checks all that came of it."""

from typing import Any

from arena import Arena, own_limits, word_of_limit
from deeds import DIES, NORMAL, VOID, Case

from referee.match import EndReason, MatchResult
from referee.record import Answer, Record

ATTEMPTS = 3
"""A time-out on a machine that kept the bot from running is void, and played again as in a run, so often in all."""


async def judge(arena: Arena, case: Case, *, seat: int, salt: int = 0) -> Record:
    """Play the case on `seat` among good bots: the reason, the fault, its evidence, the rank; and nobody else's fault.

    A bot that is kept from being ready is no good one, but what it does is no fault either.
    """
    chaos = arena.chaos(case, salt)
    others = [arena.good(number) for number in range(case.terms.players - 1)]
    entries = [arena.unready()] if case.needs_the_others_unready else others
    entries.insert(seat, chaos)
    first = chaos if case.speaks_before_the_others_come else None
    for _ in range(ATTEMPTS):
        result, record = await arena.play(
            *entries, clocks={seat: own_limits(case)}, terms=case.terms, speaks_first=first
        )
        if result.reason is not EndReason.SUSPECT_TIMEOUT:
            break
        assert result.status == "void"
    assert {seat.sandbox for seat in record.header.seats} == {arena.profile}
    _check_result(case, result, seat)
    if (word := word_of_limit(case, arena.profile)) and case.verdict == NORMAL:
        notes = {line.note for line in record.lines if isinstance(line, Answer) and line.seat == seat}
        assert word in " ".join(notes), f"{case}: {notes}"
    return record


def _check_result(case: Case, result: MatchResult, seat: int) -> None:
    verdict, fault = case.verdict, result.faults[seat]
    found: tuple[Any, ...] = (result.reason, fault.reason if fault else None)
    assert found == (verdict.reason, verdict.fault), f"{case}: {result.detail or fault}"
    assert [other for number, other in enumerate(result.faults) if number != seat and other] == []
    assert result.status == ("void" if verdict == VOID else "rated")
    assert bool(result.ranking) == (verdict != VOID)
    if verdict.rank is not None:
        assert result.ranking[seat] == verdict.rank
    if fault is not None:
        assert ("strikes" in fault.evidence) == verdict.struck, f"{case}: {fault}"
        if fault.reason is EndReason.CRASHED and case.deed in DIES:
            how = {name: value for name, value in fault.evidence.items() if name in ("exit_code", "exit_signal")}
            assert how == DIES[case.deed], f"{case}: {fault.detail}"
