"""Every misdeed at every phase of a session, and in play on all terms: reason, seat, and a sound match after it."""

from pathlib import Path

import pytest
from arena import BOTH, LONG, Arena
from deeds import AFTER, BEFORE, DEEDS, OTHER_TERMS, USUAL, WITHIN, Case, Terms, cases
from verdicts import judge

from referee.match import EndReason
from referee.process.sandbox import Profile

R = EndReason
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"


@pytest.mark.long
@pytest.mark.parametrize("profile", LONG)
@pytest.mark.parametrize("deed", DEEDS)
async def test_a_misdeed(arena: Arena, profile: Profile, deed: str) -> None:
    """PRC-12, CRA-1, CRA-4, CRA-15, OUT-1: the blast radius is one match. All wrong verdicts are told together."""
    wrong = []
    for number, case in enumerate(case for case in cases(profile) if case.deed == deed):
        try:
            await judge(arena, case, seat=number % case.terms.players)
        except (AssertionError, TimeoutError) as error:
            wrong.append(f"{case}: {type(error).__name__} {error}")
        after, _ = await arena.play(arena.good(0), arena.good(1))
        if (after.reason, after.faults) != (R.NORMAL, (None, None)):
            wrong.append(f"after {case}: {after.reason}: {after.detail}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("profile", ["plain", "strict"])
def test_each_deed_meets_each_phase_and_all_terms(profile: Profile) -> None:
    found = cases(profile)
    assert len(set(map(str, found))) == len(found)
    assert {case.deed for case in found} == set(DEEDS)
    assert {case.phase for case in found} == {*BEFORE, *WITHIN, *AFTER}
    assert {case.terms for case in found} == {USUAL, *OTHER_TERMS}
    for deed in ("under", "over", "twice"):
        assert {"first", "later"} <= {case.phase for case in found if case.deed == deed}
    for terms in OTHER_TERMS:
        assert {case.phase for case in found if case.terms == terms} == set(WITHIN)


def test_the_document_tells_how_many_cases_there_are() -> None:
    text = " ".join(DOCUMENT.read_text().split())
    assert f"combines {len(DEEDS)} misdeeds" in text
    assert f"That makes {len(cases('strict'))} cases" in text


@pytest.mark.parametrize("profile", BOTH)
async def test_no_strike_pays_for_a_bot_that_errs_and_exits_while_another_thinks(
    arena: Arena, profile: Profile
) -> None:
    """Nor is the other waited for, which thinks for ever."""
    errs, thinks = arena.chaos(Case("junk_and_exits", "off_turn")), arena.chaos(Case("hangs", "later"))
    result, _ = await arena.play(errs, thinks, terms=Terms(strikes=1))
    assert (result.reason, result.ranking) == (R.MALFORMED_MESSAGE, (2, 1)), result.detail
    assert [fault and fault.reason for fault in result.faults] == [R.MALFORMED_MESSAGE, None]


@pytest.mark.parametrize("profile", BOTH)
@pytest.mark.parametrize(("good", "reason", "ranking"), [(1, R.CRASHED, (3, 2, 1)), (2, R.NORMAL, (4, 3))])
async def test_seats_that_leave_one_after_another_rank_in_that_order(
    arena: Arena, profile: Profile, good: int, reason: EndReason, ranking: tuple[int, ...]
) -> None:
    """CRA-12: the earlier the worse, whether the match ends with the second or goes on."""
    leaving = [arena.chaos(Case("exits", phase)) for phase in ("first", "later")]
    result, _ = await arena.play(*leaving, *map(arena.good, range(good)), terms=Terms(players=2 + good))
    assert (result.reason, result.ranking[: len(ranking)]) == (reason, ranking), result.detail
    assert [fault and fault.reason for fault in result.faults] == [R.CRASHED, R.CRASHED, *[None] * good]


@pytest.mark.parametrize("profile", BOTH)
async def test_stdout_at_full_speed_is_kept_head_and_tail_while_play_goes_on(arena: Arena, profile: Profile) -> None:
    """OUT-3: in a match, as elsewhere."""
    floods = arena.chaos(Case("floods_stdout", "later"))
    result, _ = await arena.play(floods, arena.good(0))
    assert (result.reason, result.faults) == (R.NORMAL, (None, None))
    output = next(bot for bot in arena.table.waiting() if bot.entry.id == floods.id).output()
    assert output.stdout_text().startswith("begins")
    assert output.stdout_text().rstrip().endswith("ends")
    assert output.stdout_dropped > 40 << 20
