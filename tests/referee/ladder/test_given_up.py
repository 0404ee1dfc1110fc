"""Which bots are alone with having their matches given up."""

from collections.abc import Collection

import pytest

from referee.ladder.given_up import GivenUpMatches


@pytest.fixture
def matches() -> GivenUpMatches:
    return GivenUpMatches(in_a_row=3)


def alone(matches: GivenUpMatches, entries: list[str], named: Collection[str] = ()) -> list[str]:
    return [entry_id for entry_id, _ in matches.given_up(entries, named, 7)]


def test_a_bot_is_alone_once_its_opponents_have_played_on(matches: GivenUpMatches) -> None:
    assert alone(matches, ["x", "a"]) == []
    assert alone(matches, ["x", "b"]) == []
    matches.counted(["a", "b"], 0)
    assert alone(matches, ["x", "a"]) == ["x"]


def test_what_all_share_is_no_bots_own(matches: GivenUpMatches) -> None:
    matches.counted(["x", "a"], 0)
    matches.counted(["b", "c"], 0)
    for pair in (["x", "a"], ["x", "b"], ["b", "c"], ["x", "c"], ["a", "b"], ["x", "a"]):
        assert alone(matches, pair) == []
    assert matches.since_last == 6
    matches.counted(["a", "b"], 0)
    assert matches.since_last == 0


def test_a_match_that_counts_begins_the_row_again(matches: GivenUpMatches) -> None:
    for _ in range(5):
        for pair in (["x", "a"], ["x", "b"]):
            assert alone(matches, pair) == []
        matches.counted(["a", "b"], 0)
        matches.counted(["x", "b"], 0)


def test_two_such_bots_do_not_hide_each_other(matches: GivenUpMatches) -> None:
    assert alone(matches, ["x", "y"]) == []
    for opponent in ("a", "b"):
        assert alone(matches, ["x", opponent]) == []
        assert alone(matches, ["y", opponent]) == []
    matches.counted(["a", "b"], 0)
    assert alone(matches, ["x", "y"]) == []
    assert alone(matches, ["x", "a"]) == ["x"]
    assert alone(matches, ["y", "b"]) == ["y"]


def test_only_those_are_alone_for_which_matches_were_given_up(matches: GivenUpMatches) -> None:
    for _ in range(3):
        assert alone(matches, ["x", "a"], ["a"]) == []
    matches.counted(["x", "b"], 0)
    assert alone(matches, ["x", "a"], ["a"]) == ["a"]


def test_a_bot_that_is_back_begins_again(matches: GivenUpMatches) -> None:
    for _ in range(2):
        alone(matches, ["x", "a"])
    matches.counted(["a", "b"], 0)
    matches.forget("x")
    assert alone(matches, ["x", "a"]) == []


def test_it_is_out_from_the_first_of_these_matches_on_but_what_counted_stays(matches: GivenUpMatches) -> None:
    matches.counted(["x", "a"], 4)
    matches.given_up(["x", "a"], (), 9)
    matches.given_up(["x", "b"], (), 6)
    matches.counted(["a", "b"], 11)
    assert matches.given_up(["x", "a"], (), 8) == [("x", 6)]
    matches.forget("x")
    matches.counted(["x", "a"], 12)
    for place in (10, 14):
        matches.given_up(["x", "a"], (), place)
    matches.counted(["a", "b"], 16)
    assert matches.given_up(["x", "a"], (), 18) == [("x", 13)]
