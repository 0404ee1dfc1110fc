"""Titles for people instead of ids."""

import time

import pytest

from leaderboard.titles import division_title, match_label, match_title, option_words, with_names
from referee.texts import with_seats

NAMES = ("mine", "a (b)")


def test_a_division_is_called_by_its_game_and_the_name_of_its_own() -> None:
    assert division_title("shibuya", "shibuya", (2, 4)) == "Shibuya, 2 or 4 players"
    assert division_title("beginners", "shibuya", (2,)) == "Shibuya, 2 players (beginners)"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("seat 0 (mine): decision 58", "mine: decision 58"),
        ("the bot of seat 1 computed", "the bot of a (b) computed"),
        ("seat 1 (a (b)) left", "a (b) left"),
        ("seat 7 left", "seat 8 left"),
        ("the seats and seat x", "the seats and seat x"),
    ],
)
def test_a_seat_is_called_by_the_name_of_its_bot(said: str, shown: str) -> None:
    assert with_names(said, NAMES) == shown


def test_a_terminal_counts_seats_from_1_beside_the_names() -> None:
    """Two bots of one name are told apart there; the sentence had "seat 0", and the table below it "seat 1"."""
    said = "seat 0 (mine): no answer; the bot of seat 1 computed, and seat 7 left"
    assert with_seats(said, NAMES) == "mine (seat 1): no answer; the bot of a (b) (seat 2) computed, and seat 8 left"


@pytest.mark.parametrize(
    ("value", "words"), [(True, "on"), (False, "off"), ("per_die", "per die"), ("seat_0", "seat 1"), (3, "3")]
)
def test_values_of_options_are_words_and_seats_count_from_1(value: object, words: str) -> None:
    assert option_words(value) == words


def test_a_match_of_a_tournament_is_called_by_its_place_and_a_single_one_by_game_bots_and_time(make_row) -> None:
    row = make_row(11, {"a": 1, "b": 2})
    assert match_title(row) == match_label(row) == "Match 12"
    single = row._replace(tournament="single", game="shibuya", created_at="2026-11-29T20:59:12.345+01:00")
    assert match_title(single) == "Shibuya: A against B, 2026-11-29 19:59:12 UTC"
    assert match_label(single) == "2026-11-29 19:59:12"


@pytest.mark.parametrize(
    ("created_at", "shown"),
    [
        ("2026-11-29T20:59:12", "2026-11-29 20:59:12"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00"),
        ("9999-12-31T23:59:59-12:00", "9999-12-31T23:59:59-12:00"),
        ("yesterday", "yesterday"),
    ],
)
def test_a_time_that_a_program_wrote_is_shown_as_utc_or_as_it_is(
    make_row, monkeypatch: pytest.MonkeyPatch, created_at: str, shown: str
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert match_label(make_row(0, {"a": 1})._replace(tournament="single", created_at=created_at)) == shown
    finally:
        monkeypatch.undo()
        time.tzset()
