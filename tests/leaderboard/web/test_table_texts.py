"""Texts in the tables of pages: how a match ended is told in a few words, with names of bots instead of seats."""

from collections.abc import Callable
from pathlib import Path

from leaderboard.records import MatchRow
from leaderboard.web.pages import make_templates
from referee.run.folder import RunFolder


def test_the_end_of_a_match_is_told_in_a_few_words_and_names_the_bot(make_row: Callable[..., MatchRow]) -> None:
    detail = f"seat 1 (BOB): decision 58 ({'keep or reroll dice ' * 5}): no answer after 1.012 s, the limit is 1 s"
    row = make_row(9, {"ann": 1, "bob": 2}, faults=("", "move_timeout"))._replace(reason="move_timeout", detail=detail)
    shown = make_templates().get_template("macros.html").module.match_rows(RunFolder(Path("cup")), [row])
    assert '<td class="name remark">BOB ran out of time (1 s)</td>' in shown
    assert ">Match 10</a>" in shown
