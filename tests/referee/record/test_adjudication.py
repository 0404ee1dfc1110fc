"""A match that ends by the scores in its bots' notes: when, and that it follows from the record."""

import pytest

from referee.record.adjudication import Scores, score_of
from referee.schedule.spec import Adjudication

RULES = Adjudication(win_score=600, win_moves=2, draw_score=10, draw_moves=2, draw_from=3)


def ending(*notes: str, rules: Adjudication = RULES) -> tuple[int, tuple[int, int]] | None:
    """After how many answers, seat 0 first, and with what ranking."""
    scores = Scores(rules.policy())
    for number, note in enumerate(notes):
        if ranking := scores.add(number % 2, note):
            return number + 1, ranking
    return None


@pytest.mark.parametrize(
    ("note", "score"),
    [("cp 35 depth 3", 35), ("cp -7", -7), ("", None), ("depth 3 cp 7", None), ("cp 1234567890123", None)],
)
def test_a_score_stands_at_the_beginning_of_a_note(note: str, score: int | None) -> None:
    assert score_of(note) == score


def test_both_must_agree_that_one_is_ahead_for_so_many_moves_of_each() -> None:
    assert ending("cp 600", "cp -700", "mate 5", "mate -4") == (4, (1, 2))
    assert ending("cp -900", "cp 900", "mate 0", "cp 600") == (4, (2, 1))
    assert ending("cp 600", "cp -599", "cp 900", "cp -900", "cp 900", "cp -900") == (6, (1, 2))
    assert ending("cp 900", "cp 900", "cp 900", "cp 900") is None
    assert ending("cp 900", "", "cp 900", "", "cp 900", "") is None


def test_a_draw_needs_small_scores_after_the_first_moves() -> None:
    assert ending(*["cp 0", "cp -10"] * 5) == (10, (1, 1))
    assert ending(*["cp 0", "cp 11"] * 8) is None


def test_without_the_section_scores_end_nothing() -> None:
    assert Adjudication().policy() == {}
    assert not Scores({}).decides
    assert ending(*["mate 1", "mate -1"] * 9, rules=Adjudication(draw_moves=2)) is None
