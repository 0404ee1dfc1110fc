"""A record as frames: what pages show of its steps."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from leaderboard.frames import board_at, extent_of, frames_of, viewers
from referee.record import Answer


@pytest.mark.parametrize("name", ["shibuya", "king_of_new_york"])
def test_a_board_alone_is_that_of_its_frame(old_record: Callable[..., Any], name: str) -> None:
    record = old_record(name)
    extent = extent_of(record)
    for viewer in viewers(record):
        for number in (0, 1, extent.last // 2, extent.last):
            (frame,) = frames_of(record, viewer, number, number)
            assert board_at(record, extent, viewer, number) == frame.board != ""


def test_a_record_that_cannot_be_followed_has_boards_until_then_and_none_after(old_record: Callable[..., Any]) -> None:
    whole = old_record("shibuya")
    bad = next(number for number, line in enumerate(whole.lines) if number > 20 and isinstance(line, Answer))
    lines = (*whole.lines[:bad], replace(whole.lines[bad], action="nothing"), *whole.lines[bad + 1 :])
    record = replace(whole, lines=lines)
    extent = extent_of(record)
    boards = [frame.board for frame in frames_of(record)]
    assert (extent.wrong != "", extent.step, len(boards)) == (True, None, extent.last + 2)
    assert [board_at(record, extent, None, number) for number in range(len(boards))] == boards
    assert boards[-1] == ""
