"""The end: trigger, last turns, passes, scores and ranks (E10, E11, E19, R2, R6, R7)."""

from types import ModuleType
from typing import Any

import pytest

from referee.games.api import IllegalAction
from referee.games.ticket_to_ride_new_york.events import SeatScore
from referee.games.ticket_to_ride_new_york.scoring import rank_seats

EMPTY = {"row": "", "deck": "", "discards": "", "unknown": ""}
"""Nothing to draw."""


# Trigger and last turns


@pytest.mark.parametrize(("before", "triggers"), [(5, True), (4, True), (3, True), (6, False)])
def test_two_taxis_or_fewer_trigger_the_end(sit: ModuleType, before: int, triggers: bool) -> None:
    state = sit.situation(hands=["3 red"], taxis={0: before})
    seen = sit.act(state, "claim(route=R21,card=red,taxis=0)")
    assert ("last_turns" in sit.kinds(seen)) is triggers
    assert state.last_turns == (2 if triggers else 0)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_then_everyone_has_one_more_turn_the_one_who_triggered_it_last(sit: ModuleType, players: int) -> None:
    state = sit.situation(players, hands=["", "3 red"], taxis={1: 4}, turn=1, deck="9 red, 9 pink")
    sit.act(state, "claim(route=R21,card=red,taxis=0)")
    order = []
    while not state.is_terminal():
        order.append(state.turn_seat)
        for _ in range(2):
            sit.act(state, "draw()")
            sit.settle(state)
    assert order == [(1 + step) % players for step in range(1, players + 1)]


def test_r6_a_second_seat_down_to_two_taxis_changes_nothing(sit: ModuleType) -> None:
    state = sit.situation(hands=["3 red", "3 green"], taxis={0: 3, 1: 3})
    sit.act(state, "claim(route=R21,card=red,taxis=0)")
    assert state.last_turns == 2
    seen = sit.act(state, "claim(route=R15,card=green,taxis=0)")
    assert "last_turns" not in sit.kinds(seen)
    assert state.last_turns == 1
    sit.act(state, "draw_tickets()")
    sit.settle(state)
    sit.act(state, sit.legal(state)[0])
    assert state.is_terminal()


def test_r6_the_end_is_triggered_when_the_turn_is_over_the_row_settled(sit: ModuleType) -> None:
    state = sit.situation(hands=["3 red"], taxis={0: 5}, row="1 blue, 1 taxi", deck="")
    seen = sit.act(state, "claim(route=R21,card=red,taxis=0)")
    assert "last_turns" not in sit.kinds(seen)
    seen = sit.come(state, "red", "red", "red")
    assert sit.kinds(seen)[-1] == "last_turns"


def test_r6_a_pass_uses_up_a_last_turn(sit: ModuleType) -> None:
    state = sit.situation(3, **EMPTY, hands=["", "", "1 taxi"])
    state.last_turns = 3
    sit.act(state, "pass()", "pass()")
    assert state.last_turns == 1
    sit.act(state, "claim(route=R18,card=taxi,taxis=1)")
    sit.settle(state)
    assert state.is_terminal()


def test_r2_refill_and_flush_are_carried_out_after_the_very_last_action(sit: ModuleType) -> None:
    state = sit.situation(hands=["1 red"], row="2 blue, 3 taxi", deck="2 taxi")
    state.last_turns = 1
    seen = sit.act(state, "claim(route=R18,card=red,taxis=0)")
    assert sit.kinds(seen) == ["route_claimed", "row_flushed"]
    assert not state.is_terminal()
    sit.come(state, "taxi", "taxi")
    seen = sit.come(state, "red", "blue", "blue")
    assert sit.kinds(seen)[-2:] == ["seat_score", "seat_score"]
    assert state.is_terminal()


def test_when_it_is_over_nobody_is_asked_and_nothing_can_be_done(sit: ModuleType) -> None:
    state = sit.situation(**EMPTY)
    sit.act(state, "pass()", "pass()")
    assert state.is_terminal()
    assert list(state.decisions()) == []
    assert list(state.chance_outcomes()) == []
    for attempt in (lambda: state.apply({0: None}), lambda: state.apply_chance("red"), lambda: state.withdraw(0)):
        with pytest.raises(IllegalAction):
            attempt()


# Passes


def test_e10_a_seat_may_pass_only_if_it_can_do_nothing_else(sit: ModuleType) -> None:
    assert sit.legal(sit.situation(**EMPTY)) == ["pass()"]
    for other in (
        {"hands": ["1 red"]},
        {"row": "1 taxi"},
        {"deck": "1 red"},
        {"discards": "1 red"},
        {"unknown": "T01"},
    ):
        state = sit.situation(**{**EMPTY, **other})
        assert "pass()" not in sit.legal(state)
        with pytest.raises(IllegalAction, match="only if it can do nothing else"):
            sit.act(state, "pass()")


def test_e10_option_always_lets_a_seat_pass_whenever_it_likes(sit: ModuleType) -> None:
    state = sit.situation(passing="always")
    assert sit.legal(state)[0] == "pass()"
    sit.act(state, "pass()")
    assert state.turn_seat == 1


def test_e11_r7_as_many_passes_in_a_row_as_players_end_the_match(sit: ModuleType) -> None:
    state = sit.situation(3, **EMPTY)
    seen = sit.act(state, "pass()", "pass()")
    assert not state.is_terminal()
    seen = sit.act(state, "pass()")
    assert state.is_terminal()
    assert sit.kinds(seen) == ["passed", "seat_score", "seat_score", "seat_score"]


def test_e11_anything_else_in_between_starts_the_count_again(sit: ModuleType) -> None:
    state = sit.situation(3, **EMPTY, hands=["", "", "1 red"])
    sit.act(state, "pass()", "pass()", "claim(route=R18,card=red,taxis=0)")
    sit.settle(state)
    assert state.observation(0).passed == ()
    assert not state.is_terminal()
    sit.act(state, "take(card=red)", "pass()", "pass()")
    assert not state.is_terminal()
    sit.act(state, sit.legal(state)[0])
    assert not state.is_terminal()


def test_e11_holds_with_passing_always_too(sit: ModuleType) -> None:
    state = sit.situation(2, passing="always")
    sit.act(state, "pass()", "pass()")
    assert state.is_terminal()


# Scores


def final(sit: ModuleType, players: int = 2, **position: Any) -> Any:
    state = sit.situation(players, **EMPTY, **position)
    sit.act(state, *["pass()"] * players)
    assert state.is_terminal()
    return state


@pytest.mark.parametrize(("route", "points"), [("R08", 1), ("R02", 2), ("R34", 4), ("R23", 7)])
def test_routes_score_by_length(sit: ModuleType, route: str, points: int) -> None:
    assert final(sit, owner={route: 0}).scores()[0].route_points == points


def test_a_completed_ticket_adds_its_value_an_uncompleted_one_takes_it_off(sit: ModuleType) -> None:
    state = final(sit, owner={"R03": 0, "R12": 0}, tickets={0: "T01", 1: "T02 T06"})
    assert state.scores()[0].completed == ("T01",)
    assert state.scores()[0].ticket_points == 3
    assert state.scores()[1].failed == ("T02", "T06")
    assert state.scores()[1].ticket_points == -14
    assert state.returns()[1] == -14


def test_a_ticket_is_completed_by_any_chain_of_own_routes(sit: ModuleType) -> None:
    way_round = {"R02": 0, "R10": 0, "R16": 0}
    assert final(sit, owner=way_round, tickets={0: "T01"}).scores()[0].completed == ("T01",)
    broken = {"R02": 0, "R10": 1, "R16": 0}
    assert final(sit, owner=broken, tickets={0: "T01"}).scores()[0].failed == ("T01",)


def test_each_attraction_with_an_own_route_counts_one_point_however_many_routes(sit: ModuleType) -> None:
    state = final(sit, owner={"R03": 0, "R12": 0, "R26": 0, "R40": 1, "R36": 1, "R08": 1})
    assert state.scores()[0].attraction_points == 2
    assert state.scores()[1].attraction_points == 4


def test_several_seats_score_the_same_attraction(sit: ModuleType) -> None:
    state = final(sit, 3, owner={"R03": 0, "R04": 1})
    assert [score.attraction_points for score in state.scores()] == [1, 1, 0]


def test_an_attraction_off_the_network_counts(sit: ModuleType) -> None:
    state = final(sit, owner={"R01": 0, "R40": 0})
    assert state.scores()[0].attraction_points == 3


def test_the_total_is_routes_tickets_and_attractions(sit: ModuleType) -> None:
    state = final(sit, owner={"R03": 0, "R12": 0, "R23": 0}, tickets={0: "T01 T18"})
    (score, _) = state.scores()
    assert (score.route_points, score.ticket_points, score.attraction_points) == (2 + 1 + 7, 3 - 2, 3)
    assert state.returns() == (14, 0)


def test_tickets_are_turned_up_at_the_end(sit: ModuleType) -> None:
    state = sit.situation(2, **EMPTY, tickets={0: "T01 T18", 1: "T02"})
    assert state.observation(None).scores == ()
    sit.act(state, "pass()", "pass()")
    assert [score.failed for score in state.observation(None).scores] == [("T01", "T18"), ("T02",)]


# Ranks


def test_most_points_win(sit: ModuleType) -> None:
    state = final(sit, 3, owner={"R08": 0, "R23": 1, "R34": 2})
    assert state.returns() == (2, 8, 5)
    assert state.ranking() == (3, 1, 2)


def test_a_tie_goes_to_the_seat_with_more_completed_tickets(sit: ModuleType) -> None:
    state = final(sit, owner={"R01": 1, "R02": 1, "R34": 0, "R35": 0}, tickets={1: "T03"})
    assert state.returns() == (8, 8)
    assert state.ranking() == (2, 1)


def test_completed_tickets_count_by_number_not_by_value() -> None:
    few = SeatScore(0, 10, 8, 2, ("T06",), ())
    many = SeatScore(1, 12, 5, 3, ("T18", "T01"), ())
    assert few.total == many.total
    assert rank_seats([few, many], []) == (2, 1)


def test_e19_still_tied_seats_share_the_win() -> None:
    def seat(number: int, points: int, completed: int) -> SeatScore:
        return SeatScore(number, points, 0, 0, ("T01",) * completed, ())

    assert rank_seats([seat(0, 9, 1), seat(1, 9, 1), seat(2, 9, 1)], []) == (1, 1, 1)
    assert rank_seats([seat(0, 9, 1), seat(1, 9, 2), seat(2, 9, 1), seat(3, 9, 2)], []) == (3, 1, 3, 1)
    assert rank_seats([seat(0, 9, 0), seat(1, 8, 2), seat(2, 9, 0), seat(3, 3, 2)], []) == (1, 3, 1, 4)


def test_there_is_no_bonus_for_the_longest_path(sit: ModuleType) -> None:
    long = {"R01": 0, "R05": 0, "R12": 0, "R18": 0, "R24": 0}
    assert final(sit, owner=long).scores()[0].total == 2 + 2 + 1 + 1 + 2 + 4
