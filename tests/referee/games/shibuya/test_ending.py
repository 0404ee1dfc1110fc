"""Passing and the turn cap (sheet section 4, R1), winning (section 5)."""

from typing import Any

import pytest

from referee.games.shibuya.actions import Pass
from referee.games.shibuya.events import Finished, Passed

# Every field differs from its neighbours in colour and shape, so nobody on the grid can move. Every tile of the south
# side holds a red, every tile of the west side a blue pedestrian, so nobody can come onto it either.
STUCK = """
ko wq ko wq ko wq ko wq
wqB ko wq ko wq ko wq ko
ko wq ko wq ko wq ko wq
wqB ko wq ko wq ko wq ko
ko wq ko wq ko wq ko wq
wqB ko wq ko wq ko wq ko
koB wq ko wq ko wq ko wq
wq koR wqR ko wqR ko wqR ko
"""
# The same with four players: red on the tiles before its starts in the south and north, blue in the west and east.
STUCK_FOUR = """
ko wq ko wq ko wqR koR wq
wq ko wq ko wq ko wq koB
ko wq ko wq ko wq ko wqB
wq ko wq ko wq ko wq ko
ko wq ko wq ko wq ko wq
wqB ko wq ko wq ko wq ko
koB wq ko wq ko wq ko wq
wq koR wqR ko wq ko wq ko
"""
NO_STOCK: dict[str, Any] = {"doubled": tuple(range(14))}


def stuck(pos: Any, **more: Any) -> Any:
    return pos.position(STUCK, **{**NO_STOCK, **more})


def test_who_can_do_nothing_passes(pos: Any) -> None:
    state = stuck(pos)
    assert list(state.legal_actions(0)) == [Pass()]
    (event,) = state.apply({0: Pass()})
    assert event.public == Passed(0)
    assert (state.turn_seat, state.turns) == (1, 1)


@pytest.mark.parametrize(
    ("red", "blue", "winner", "ranking"),
    [([1], [], 0, (1, 2)), ([1], [1, 2], 1, (2, 1)), ([2], [3], -1, (1, 1)), ([], [], -1, (1, 1))],
)
def test_when_all_pass_in_a_row_more_goals_win_and_equal_is_a_draw(
    pos: Any, red: list[int], blue: list[int], winner: int, ranking: tuple[int, ...]
) -> None:
    state = stuck(pos, red_goals=red, blue_goals=blue)
    state.apply({0: Pass()})
    events = state.apply({1: Pass()})
    assert events[-1].public == Finished(winner, "all_passed")
    assert state.is_terminal()
    assert state.ranking() == ranking
    assert state.returns() == (len(red), len(blue))


def test_all_passing_is_always_a_draw_by_option(pos: Any) -> None:
    state = stuck(pos, red_goals=[1], all_pass_end="draw")
    state.apply({0: Pass()})
    state.apply({1: Pass()})
    assert state.ranking() == (1, 1)


def test_it_takes_as_many_passes_in_a_row_as_there_are_seats(pos: Any) -> None:
    state = pos.position(STUCK_FOUR, players=4, red_goals=[1], **NO_STOCK)
    for seat in range(3):
        assert list(state.legal_actions(seat)) == [Pass()]
        state.apply({seat: Pass()})
        assert not state.is_terminal()
    assert state.apply({3: Pass()})[-1].public == Finished(0, "all_passed")
    assert state.ranking() == (1, 3, 1, 3)


def test_a_move_breaks_the_row_of_passes(pos: Any) -> None:
    way_out = STUCK.replace("wqB ko wq ko wq ko wq ko", "wqB kq wq ko wq ko wq ko", 1)
    state = pos.position(way_out, **NO_STOCK)
    state.apply({0: Pass()})
    pos.go(state, (0, 6), (1, 6))
    assert state.passes == 0
    state.apply({0: Pass()})
    assert not state.is_terminal()


def test_a_shut_in_side_loses_by_option(pos: Any) -> None:
    way_out = STUCK.replace("wqB ko wq ko wq ko wq ko", "wqB kq wq ko wq ko wq ko", 1)
    state = pos.position(way_out, seat=1, no_legal_action="lose", red_goals=[1], **NO_STOCK)
    events = pos.go(state, (0, 6), (1, 6))
    assert events[-1] == Finished(1, "blocked")
    assert state.ranking() == (2, 1)


@pytest.mark.parametrize(
    ("red", "blue", "ranking"), [([1], [], (1, 2)), ([], [1, 2], (2, 1)), ([1, 2], [1, 2], (1, 1))]
)
def test_at_the_turn_cap_more_goals_win_and_equal_is_a_draw(
    pos: Any, red: list[int], blue: list[int], ranking: tuple[int, ...]
) -> None:
    state = pos.position(pos.WHITE, turns=9, move_cap=10, red_goals=red, blue_goals=blue)
    events = pos.go(state, ("start", 7), (3, 3))
    assert events[-1].KIND == "finished"
    assert events[-1].reason == "move_cap"
    assert state.ranking() == ranking


def test_the_cap_counts_moves_builds_and_passes_of_all_seats_in_the_crossing_only(wander: Any) -> None:
    turns: list[int] = []

    def visit(state: Any) -> None:
        turns.append(state.turns)
        if state.phase in ("draw_place", "place"):
            assert state.turns == 0

    final = wander(2, {"move_cap": 12}, 5, visit)
    assert final.reason == "move_cap"
    assert final.turns == 12
    assert sorted(set(turns)) == list(range(13))


def test_the_default_cap_is_200_turns(wander: Any) -> None:
    ends = [wander(2, {}, seed) for seed in range(6)]
    assert {state.turns for state in ends if state.reason == "move_cap"} == {200}


@pytest.mark.parametrize(
    ("red", "blue", "reason"),
    [
        ([1, 2, 3, 4, 5], [1, 2, 3, 4], "goals"),
        ([1, 2], [], "lead"),
        ([1, 2, 3], [5], "lead"),
        ([1, 2, 3, 4], [1, 2], "lead"),
    ],
)
def test_the_sixth_pedestrian_in_goal_or_a_lead_of_three_wins_at_once(
    pos: Any, red: list[int], blue: list[int], reason: str
) -> None:
    state = pos.position(pos.WHITE, red_goals=red, blue_goals=blue)
    events = pos.go(state, ("start", 7), ("goal", 6))
    assert events[-1] == Finished(0, reason)
    assert state.is_terminal()
    assert state.decisions() == ()
    assert state.legal_actions(0) == state.legal_actions(1) == ()
    assert state.ranking() == (1, 2)


@pytest.mark.parametrize(("red", "blue"), [([1], []), ([1, 2], [1]), ([1, 2, 3, 4], [1, 2, 3])])
def test_fewer_do_not_win_yet(pos: Any, red: list[int], blue: list[int]) -> None:
    state = pos.position(pos.WHITE, red_goals=red, blue_goals=blue)
    pos.go(state, ("start", 7), ("goal", 6))
    assert not state.is_terminal()


def test_blue_wins_alike(pos: Any) -> None:
    state = pos.position(pos.WHITE, seat=1, red_goals=[1], blue_goals=[1, 2, 3])
    assert pos.go(state, ("start", 7), ("goal", 6))[-1] == Finished(1, "lead")
    assert state.ranking() == (2, 1)


def test_the_numbers_that_win_are_options(pos: Any) -> None:
    no_lead = pos.position(pos.WHITE, red_goals=[1, 2], lead_to_win=0)
    pos.go(no_lead, ("start", 7), ("goal", 6))
    assert not no_lead.is_terminal()
    two = pos.position(pos.WHITE, red_goals=[1], blue_goals=[1], goals_to_win=2)
    assert pos.go(two, ("start", 7), ("goal", 6))[-1] == Finished(0, "goals")


def test_a_win_on_the_last_turn_is_a_win_and_not_the_cap(pos: Any) -> None:
    state = pos.position(pos.WHITE, turns=9, move_cap=10, red_goals=[1, 2])
    assert pos.go(state, ("start", 7), ("goal", 6))[-1] == Finished(0, "lead")
