"""Titles for people instead of ids."""

from leaderboard.titles import division_title


def test_a_division_is_called_by_its_game_and_the_name_of_its_own() -> None:
    assert division_title("shibuya", "shibuya", (2, 4)) == "Shibuya, 2 or 4 players"
    assert division_title("beginners", "shibuya", (2,)) == "Shibuya, 2 players (beginners)"
