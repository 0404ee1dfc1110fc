"""The benchmark of boards runs, and prints one row per game."""

import pytest

from benchmarks.boards import measure
from referee.games.registry import game_ids, get_game


@pytest.mark.slow
@pytest.mark.parametrize("name", game_ids())
def test_a_row_tells_how_many_boards_were_drawn_and_how_large_they_are(name: str) -> None:
    cells = [cell.strip() for cell in measure(get_game(name), 1).strip("|").split("|")]
    assert cells[0] == name
    boards, median_ms, rare_ms, worst_ms, text_ms, size_kb, packed_kb = map(float, cells[1:])
    assert boards > 20
    assert 0 < median_ms <= rare_ms <= worst_ms
    assert text_ms >= 0
    assert size_kb > packed_kb > 0
