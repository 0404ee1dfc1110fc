"""A closed record is small: at most 60 bytes a decision, everything included."""

from collections.abc import Callable
from typing import Any

import pytest

from referee.record import verify

BUDGET_BYTES = 60


@pytest.mark.parametrize("players", [2, 4])
def test_a_shibuya_record_is_within_the_budget(start_match: Callable[..., Any], players: int) -> None:
    match = start_match("shibuya", players)
    decisions = match.play()
    path = match.writer.close(match.footer())
    assert verify(path).status == "ok"
    assert path.stat().st_size <= BUDGET_BYTES * decisions
