"""Texts in the tables of pages: reasons are whole, and name bots instead of seats."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from leaderboard.records import MatchRow
from leaderboard.web.pages import make_templates
from referee.run.folder import RunFolder


def test_the_reason_of_an_end_is_whole_and_names_the_bot(make_row: Callable[..., MatchRow]) -> None:
    detail = f"seat 1 (BOB): decision 58 ({'keep or reroll dice ' * 5}): no answer after 1.012 s, the limit is 1 s"
    row = replace(make_row(9, {"ann": 1, "bob": 2}, faults=("", "move_timeout")), reason="move_timeout", detail=detail)
    shown = make_templates().get_template("macros.html").module.match_rows(RunFolder(Path("cup")), [row])
    assert f'<td class="name remark">move timeout: {detail.replace("seat 1 (BOB)", "BOB")}</td>' in shown
    assert ">Match 10</a>" in shown
