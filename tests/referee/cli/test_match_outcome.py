"""Who won a single match, in one sentence."""

import pytest

from referee.cli.one_match import result_sentence
from referee.match.result import Fault, MatchResult
from referee.record.reasons import EndReason
from referee.schedule.spec import MatchSpec, SeatSpec


@pytest.mark.parametrize(
    ("ranking", "faults", "sentence"),
    [
        ((2, 1), (None, None), "bob (seat 2) won"),
        ((1, 1), (None, None), "draw: ann (seat 1) and bob (seat 2)"),
        (
            (1, 2),
            (None, Fault(1, EndReason.MOVE_TIMEOUT, "no answer")),
            "ann (seat 1) won; bob (seat 2): move_timeout",
        ),
        ((), (None, None), "no result: the match does not count"),
    ],
)
def test_one_sentence_says_who_won_or_that_it_is_a_draw(
    ranking: tuple[int, ...], faults: tuple[Fault | None, ...], sentence: str
) -> None:
    spec = MatchSpec("m", "toy", {}, (SeatSpec("a", "ann", "1"), SeatSpec("b", "bob", "1")), "00")
    result = MatchResult("m", "rated" if ranking else "void", EndReason.NORMAL, "", ranking, (), faults, (), 0, 0.0, "")
    assert result_sentence(spec, result) == sentence
