"""A seat leaves the match (README)."""

from random import Random
from typing import Any

import pytest

from referee.games.api import IllegalAction
from referee.games.keyed import random_outcome
from referee.games.manhattan_traffiq import GAME
from referee.games.manhattan_traffiq.events import FinalRound, Finished, TurnEnded, Withdrew

PLACE = "attach(face=tttt,x=1,y=1)"


def public(events: Any) -> list[Any]:
    return [event.public for event in events]


def test_its_vehicles_return_to_its_supply_and_its_hand_is_set_aside_unseen(pos: Any) -> None:
    hands = [["tttt"], ["rrrr", "gggg"], []]
    state = pos.position(pos.grid(4, 4), {(1, 1): "t1", (2, 2): "T1", (3, 3): "t0"}, players=3, hands=hands)
    before = GAME.conserved(state)
    assert public(state.withdraw(1)) == [Withdrew(1)]
    assert pos.on_map(state) == {(3, 3): "t0"}
    seen = state.observation(0)
    assert (seen.fleet.taxis[1], seen.fleet.trucks[1], seen.fleet.scores[1]) == (5, 2, 0)
    assert (seen.hands[1], seen.hand_sizes[1], seen.facts.left) == ((), 2, (1,))
    assert GAME.conserved(state) == before


def test_the_others_play_on_without_it(pos: Any) -> None:
    state = pos.position(pos.grid(2, 2), players=3)
    state.withdraw(1)
    pos.act(state, "end_turn()")
    assert pos.asked(state) == (2, "turn")
    pos.act(state, "end_turn()")
    assert pos.asked(state) == (0, "turn")


def test_vertices_it_held_are_free_again(pos: Any) -> None:
    state = pos.position(pos.grid(4, 2), {(1, 1): "t0", (2, 1): "t1"}, players=3)
    assert pos.legal(state, "taxi") == []
    state.withdraw(1)
    assert len(pos.legal(state, "taxi")) == 2


@pytest.mark.parametrize("kind", ["turn", "second action", "place", "compete", "draw"])
def test_the_active_seat_can_leave_at_any_point_of_its_turn(kind: str, pos: Any) -> None:
    vehicles = {(3, 1): "t1", (3, 3): "T0"}
    state = pos.position(pos.grid(4, 4, (1, 1)), vehicles, players=3, hands=[["tttt", "tttt"], [], []])
    moves = {
        "turn": [],
        "second action": ["attach(face=tttt,x=4,y=0)"],
        "place": [PLACE],
        "compete": [PLACE, "place(vehicle=truck,x=1,y=1)"],
        "draw": ["draw()"],
    }
    pos.act(state, *moves[kind])
    before = GAME.conserved(state)
    assert public(state.withdraw(0)) == [Withdrew(0), TurnEnded(0)]
    assert pos.asked(state) == (1, "turn")
    seen = state.observation(None)
    assert (seen.used, seen.open_vertices, seen.spot, seen.streets, seen.turns) == ("", (), None, (), 1)
    assert GAME.conserved(state) == before


def test_a_competing_decision_that_has_lost_its_object_is_taken_back(pos: Any) -> None:
    state = pos.position(pos.grid(5, 5), {(2, 3): "T0", (4, 2): "t1", (2, 1): "t2"}, players=3)
    pos.act(state, "truck(x=2,y=3,to_x=2,to_y=2)")
    assert state.observation(0).streets == ("h", "v")
    state.withdraw(1)
    assert pos.asked(state) == (0, "compete")
    assert pos.legal(state) == ["decline()", "compete(streets=[v])"]
    state.withdraw(2)
    assert state.is_terminal()
    other = pos.position(pos.grid(5, 5), {(2, 3): "T0", (4, 2): "t1"}, players=3)
    pos.act(other, "truck(x=2,y=3,to_x=2,to_y=2)")
    other.withdraw(1)
    assert pos.asked(other) == (0, "turn")


def test_a_placing_decision_of_another_seat_stays(pos: Any) -> None:
    state = pos.position(pos.grid(3, 3, (1, 1)), players=3, hands=[["tttt"], [], []])
    pos.act(state, PLACE)
    state.withdraw(2)
    assert pos.asked(state) == (0, "place")


def test_while_hands_are_dealt_it_gets_no_more_tiles(options: Any) -> None:
    state = GAME.new_initial_state(3, options(start_player="seat_0"))
    state.apply_chance(state.chance_outcomes()[0][0])
    state.withdraw(0)
    while state.chance_outcomes():
        state.apply_chance(state.chance_outcomes()[0][0])
    assert state.observation(None).hand_sizes == (1, 2, 2)
    assert state.decisions()[0].seat == 1
    assert state.observation(None).facts.start_seat == 1


def test_before_the_start_player_is_known_it_cannot_become_it(options: Any) -> None:
    state = GAME.new_initial_state(3, options())
    state.withdraw(1)
    assert list(state.chance_outcomes()) == [(0, 1), (2, 1)]
    with pytest.raises(IllegalAction):
        state.apply_chance(1)


def test_a_seat_with_a_full_hand_leaving_ends_the_deal_if_it_was_the_last(options: Any) -> None:
    state = GAME.new_initial_state(3, options(start_player="seat_0"))
    for _ in range(5):
        state.apply_chance(state.chance_outcomes()[0][0])
    state.withdraw(2)
    assert state.decisions()[0].seat == 0


def test_the_count_of_idle_rounds_is_over_the_seats_in_play(pos: Any) -> None:
    state = pos.position(pos.grid(2, 2), players=3)
    pos.act(state, "end_turn()")
    state.withdraw(2)
    pos.act(state, "end_turn()", "end_turn()")
    assert pos.act(state, "end_turn()")[-1] == FinalRound(0, "no_progress")


def test_in_the_final_round_it_is_owed_nothing_any_more(pos: Any) -> None:
    state = pos.position(pos.grid(2, 2), players=3, stock={}, final=True, owed=[0, 1, 2])
    state.withdraw(1)
    assert state.observation(None).owed == (0, 2)
    pos.act(state, "end_turn()")
    assert pos.asked(state) == (2, "turn")
    assert pos.act(state, "end_turn()")[-1] == Finished("final_round")


def test_the_last_seat_owed_a_turn_leaves_and_the_match_is_over(pos: Any) -> None:
    state = pos.position(pos.grid(2, 2), players=3, stock={}, final=True, owed=[2], seat=2)
    assert public(state.withdraw(2)) == [Withdrew(2), TurnEnded(2), Finished("final_round")]


def test_the_drawer_of_the_last_tile_may_leave_before_its_draw_is_done(pos: Any) -> None:
    state = pos.position(pos.grid(2, 2), players=3, stock={"tttt": 1})
    pos.act(state, "draw()")
    state.withdraw(0)
    assert state.observation(None).stock == 1
    assert not state.observation(None).final_round


def test_when_one_seat_is_left_the_match_is_over_and_that_seat_has_won(pos: Any) -> None:
    state = pos.position(pos.grid(3, 3), {(1, 1): "T0", (2, 2): "t2"}, players=3)
    state.withdraw(0)
    assert public(state.withdraw(1)) == [Withdrew(1), Finished("last_seat")]
    assert state.ranking() == (3, 2, 1)
    assert state.returns() == (0, 0, 1)


def test_seats_that_left_rank_last_in_order_of_leaving(pos: Any) -> None:
    state = pos.position(pos.grid(3, 3), {(1, 1): "T0", (2, 2): "t2"}, players=4, stock={}, final=True, owed=[1])
    state.withdraw(2)
    state.withdraw(0)
    pos.act(state, "end_turn()") if state.seat == 1 else None
    while not state.is_terminal():
        pos.act(state, "end_turn()")
    assert state.ranking() == (3, 1, 4, 1)


@pytest.mark.parametrize("seat", [3, -1, "0", True])
def test_only_a_seat_of_the_match_can_leave(seat: Any, pos: Any) -> None:
    state = pos.position(pos.grid(2, 2), players=3)
    with pytest.raises(IllegalAction, match="is not in the match"):
        state.withdraw(seat)


def test_nobody_leaves_twice_or_after_the_end(pos: Any) -> None:
    state = pos.position(pos.grid(2, 2), players=3)
    state.withdraw(1)
    with pytest.raises(IllegalAction, match="seat 1 is not in the match"):
        state.withdraw(1)
    state.withdraw(0)
    with pytest.raises(IllegalAction, match="the match is over"):
        state.withdraw(2)


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("seed", range(6))
def test_matches_end_in_order_whoever_leaves_at_whatever_node(players: int, seed: int, options: Any) -> None:
    rng = Random(seed)
    state = GAME.new_initial_state(players, options())
    things = GAME.conserved(state)
    left: list[int] = []
    while not state.is_terminal():
        playing = [seat for seat in range(players) if seat not in left]
        if rng.random() < 0.02:
            left.append(rng.choice(playing))
            state.withdraw(left[-1])
        elif state.decisions():
            assert state.seat not in left
            state.apply({state.seat: rng.choice(state.legal_actions(state.seat))})
        else:
            state.apply_chance(random_outcome(state.chance_outcomes(), rng))
        assert GAME.conserved(state) == things
    ranks = state.ranking()
    assert [ranks[seat] for seat in left] == list(range(players, players - len(left), -1))
