"""Set-up, claims, the end and leaving; the edge cases E10, E11, E13, E14, E16 and E19 of the README."""

from random import Random
from typing import Any

import pytest

from referee.games.api import Draw, IllegalAction, PlayersError, Roll
from referee.games.ticket_to_ride_new_york import GAME
from referee.games.ticket_to_ride_new_york.actions import Claim
from referee.games.ticket_to_ride_new_york.events import SeatScore
from referee.games.ticket_to_ride_new_york.rules import rank_seats

from . import recorded
from . import situations as sit

# Set-up: hands, then the row, then tickets


@pytest.mark.parametrize("players", [2, 3, 4])
def test_two_cards_five_face_up_and_two_tickets_each(players: int) -> None:
    state = GAME.new_initial_state(players, sit.options())
    sit.settle(state, Random(1))
    assert state.hand_sizes == [2] * players
    assert state.market.row_size == 5
    assert [decision.kind for decision in state.decisions()] == ["starting_tickets"] * players
    assert state.tickets.size() == 18 - 2 * players
    assert state.taxis == [15] * players


@pytest.mark.parametrize(("players", "left"), [(2, 35), (3, 33), (4, 31)])
def test_cards_left_in_the_deck_after_a_setup_without_flush(players: int, left: int) -> None:
    state = GAME.new_initial_state(players, sit.options())
    sit.come(state, *["red", "blue"] * players, "red", "orange", "green", "blue", "black")
    assert state.market.deck_size == left


@pytest.mark.parametrize("players", [1, 5])
def test_other_numbers_of_players_are_refused(players: int) -> None:
    with pytest.raises(PlayersError, match="2 to 4 players"):
        GAME.new_initial_state(players, sit.options())


def test_hands_come_before_the_row_and_the_row_before_the_tickets() -> None:
    state = GAME.new_initial_state(2, sit.options())
    stages = []
    while state.chance_outcomes():
        stages.append(state.stage)
        sit.come(state, state.chance_outcomes()[0][0])
    assert stages == ["hands"] * 4 + ["refill"] * 5 + ["deal_tickets"] * 4


def test_a_starting_row_with_three_taxis_is_flushed_and_dealt_again_until_it_is_good() -> None:
    state = GAME.new_initial_state(2, sit.options())
    sit.come(state, "red", "red", "blue", "blue", "taxi", "taxi", "pink", "taxi")
    seen = sit.come(state, "pink")
    assert sit.kinds(seen) == ["card_turned_up", "row_flushed"]
    seen = sit.come(state, "taxi", "taxi", "taxi", "taxi", "red")
    assert seen[-1].KIND == "row_flushed"
    assert sit.words(seen[-1].cards) == "1 red, 4 taxi"
    sit.come(state, "red", "orange", "green", "blue", "taxi")
    assert state.stage == "deal_tickets"
    assert sit.words(state.market.discards) == "1 red, 2 pink, 7 taxi"


def test_two_taxis_in_the_starting_row_stay() -> None:
    state = GAME.new_initial_state(2, sit.options())
    sit.come(state, "red", "red", "blue", "blue", "taxi", "taxi", "pink", "red", "pink")
    assert state.stage == "deal_tickets"


def test_nothing_is_shuffled_in_advance() -> None:
    state = GAME.new_initial_state(2, sit.options())
    assert state.chance_outcomes() == [
        ("red", 6), ("orange", 6), ("green", 6), ("blue", 6), ("black", 6), ("pink", 6), ("taxi", 8)
    ]  # fmt: skip
    assert state.chance_stream() == Draw("cards", 0)
    sit.come(state, *["red", "blue"] * 2, "red", "orange", "green", "blue", "black")
    assert state.chance_outcomes() == [(f"T{number:02d}", 1) for number in range(1, 19)]
    assert state.chance_stream() == Draw("tickets", 0)


def test_seat_0_begins_by_default() -> None:
    state = sit.started(3)
    assert (state.first_seat, state.turn_seat, state.stage) == (0, 0, "turn")


def test_the_first_player_may_be_drawn_by_lot() -> None:
    state = GAME.new_initial_state(3, sit.options(first_player="random"))
    assert state.chance_outcomes() == [(0, 1), (1, 1), (2, 1)]
    assert state.chance_stream() == Roll("first_player", 0, 0)
    (event,) = sit.come(state, 2)
    assert (event.KIND, event.seat) == ("first_player", 2)
    sit.settle(state)
    state.apply({seat: state.legal_actions(seat)[0] for seat in range(3)})
    assert (state.first_seat, state.turn_seat) == (2, 2)
    with pytest.raises(IllegalAction):
        GAME.new_initial_state(3, sit.options(first_player="random")).apply_chance(3)


def dealt(*tickets: str, players: int = 2, **chosen: Any) -> Any:
    """All have been dealt these starting tickets, two each."""
    state = GAME.new_initial_state(players, sit.options(**chosen))
    if chosen.get("first_player") == "random":
        state.apply_chance(1)
    sit.come(state, *["red", "blue"] * players, "red", "orange", "green", "blue", "black", *tickets)
    return state


def keep(*names: str) -> Any:
    return GAME.parse_action(f"keep(tickets=[{','.join(names)}])")


def test_one_or_both_starting_tickets_are_kept() -> None:
    state = dealt("T05", "T01", "T07", "T09")
    assert [GAME.format_action(action) for action in state.legal_actions(0)] == [
        "keep(tickets=[T01,T05])",
        "keep(tickets=[T01])",
        "keep(tickets=[T05])",
    ]
    for wrong in (keep(), keep("T07"), keep("T05", "T01"), keep("T01", "T07"), GAME.parse_action("draw()")):
        before = state.to_dict()
        with pytest.raises(IllegalAction):
            state.apply({0: wrong, 1: keep("T07")})
        assert state.to_dict() == before


def test_all_answer_at_once_or_not_at_all() -> None:
    state = dealt("T01", "T05", "T07", "T09")
    for answers in ({0: keep("T01")}, {0: keep("T01"), 1: keep("T07"), 2: keep("T09")}, {}):
        with pytest.raises(IllegalAction, match="are asked"):
            state.apply(answers)
    state.apply({1: keep("T07"), 0: keep("T01", "T05")})
    assert state.kept == [[1, 5], [7]]


def test_nobody_sees_the_starting_tickets_of_others() -> None:
    state = dealt("T01", "T05", "T07", "T09")
    assert state.observation(0).offered == (1, 5)
    assert state.observation(1).offered == (7, 9)
    assert state.observation(None).offered == ()
    events = state.apply({0: keep("T01"), 1: keep("T07", "T09")})
    assert [(event.public.kept_count, event.public.returned_count) for event in events] == [(1, 1), (2, 0)]
    assert all(not event.public.kept and not event.public.returned for event in events)
    assert events[0].seen_by(0).returned == ("T05",)
    assert events[0].seen_by(1) == events[0].public


def test_e14_returned_starting_tickets_go_under_the_deck_in_seat_order() -> None:
    state = dealt("T01", "T05", "T07", "T09", "T11", "T13", players=3)
    state.apply({2: keep("T11"), 0: keep("T01"), 1: keep("T07")})
    assert [state.tickets.returned[number] for number in state.tickets.under] == [5, 9, 13]


def test_r5_seat_order_whoever_is_the_first_player() -> None:
    state = dealt("T01", "T05", "T07", "T09", "T11", "T13", players=3, first_player="random")
    state.apply({0: keep("T01"), 1: keep("T07"), 2: keep("T11")})
    assert state.first_seat == 1
    assert [state.tickets.returned[number] for number in state.tickets.under] == [5, 9, 13]


def test_e14_option_turn_order_begins_with_the_first_player() -> None:
    state = dealt(
        "T01", "T05", "T07", "T09", "T11", "T13",
        players=3, first_player="random", setup_return_order="turn",
    )  # fmt: skip
    state.apply({0: keep("T01"), 1: keep("T07"), 2: keep("T11")})
    assert [state.tickets.returned[number] for number in state.tickets.under] == [9, 13, 5]


# Claims: payments (E13), double routes, the last turns (E16)


def payments(state: object, route: str) -> list[str]:
    return [text for text in sit.legal(state, "claim") if f"route={route}," in text]


def test_e13_the_leaflets_example_a_blue_route_of_three_with_three_blue_and_three_taxis() -> None:
    state = sit.situation(hands=["3 blue, 3 taxi"])
    assert payments(state, "R40") == [
        "claim(route=R40,card=blue,taxis=0)",
        "claim(route=R40,card=blue,taxis=1)",
        "claim(route=R40,card=blue,taxis=2)",
        "claim(route=R40,card=taxi,taxis=3)",
    ]


def test_e13_a_gray_route_takes_any_one_colour_and_taxis_alone_count_once() -> None:
    state = sit.situation(hands=["2 red, 1 pink, 2 taxi"])
    assert payments(state, "R11") == [
        "claim(route=R11,card=red,taxis=0)",
        "claim(route=R11,card=red,taxis=1)",
        "claim(route=R11,card=pink,taxis=1)",
        "claim(route=R11,card=taxi,taxis=2)",
    ]


def test_colours_cannot_be_mixed() -> None:
    state = sit.situation(hands=["1 red, 1 pink"])
    assert payments(state, "R11") == []
    assert payments(state, "R08") == ["claim(route=R08,card=red,taxis=0)", "claim(route=R08,card=pink,taxis=0)"]


def test_a_coloured_route_takes_its_colour_only() -> None:
    state = sit.situation(hands=["3 red"])
    assert payments(state, "R40") == []
    assert payments(state, "R21") == ["claim(route=R21,card=red,taxis=0)"]


def test_a_claim_puts_taxis_on_the_spaces_and_cards_on_the_discards() -> None:
    state = sit.situation(hands=["3 blue, 1 taxi"], discards="1 pink")
    sit.act(state, "claim(route=R40,card=blue,taxis=1)")
    assert state.owner[39] == 0
    assert state.taxis == [12, 15]
    assert sit.words(state.hands[0]) == "1 blue"
    assert sit.words(state.market.discards) == "2 blue, 1 pink, 1 taxi"
    assert state.turn_seat == 1


def test_one_claim_ends_the_turn() -> None:
    state = sit.situation(hands=["6 blue"])
    sit.act(state, "claim(route=R40,card=blue,taxis=0)")
    assert state.turn_seat == 1


def test_a_route_need_not_touch_the_own_network() -> None:
    state = sit.situation(hands=["3 blue"], owner={"R01": 0})
    assert payments(state, "R40") == ["claim(route=R40,card=blue,taxis=0)"]


def test_a_claimed_route_is_closed_to_all() -> None:
    for seat in (0, 1):
        state = sit.situation(hands=["6 pink", "6 pink"], owner={"R07": 0}, turn=seat)
        assert payments(state, "R07") == []
        with pytest.raises(IllegalAction, match=f"R07 is closed to seat {seat}"):
            sit.act(state, "claim(route=R07,card=pink,taxis=0)")


def test_too_few_taxis_for_the_whole_route() -> None:
    state = sit.situation(hands=["6 pink"], taxis={0: 3})
    assert payments(state, "R23") == []
    assert payments(state, "R07") == ["claim(route=R07,card=pink,taxis=0)"]
    with pytest.raises(IllegalAction, match="takes 4 taxis, seat 0 has 3"):
        sit.act(state, "claim(route=R23,card=pink,taxis=0)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("claim(route=R40,card=blue,taxis=0)", "has not the cards"),
        ("claim(route=R40,card=taxi,taxis=3)", "has not the cards"),
        ("claim(route=R40,card=red,taxis=0)", "does not name a route"),
        ("claim(route=R40,card=blue,taxis=3)", "does not name a route"),
        ("claim(route=R40,card=taxi,taxis=2)", "does not name a route"),
        ("claim(route=R40,card=blue,taxis=-1)", "does not name a route"),
        ("claim(route=R42,card=blue,taxis=0)", "does not name a route"),
        ("claim(route=R11,card=gray,taxis=0)", "does not name a route"),
    ],
)
def test_claims_that_cannot_be_paid_so_are_refused(text: str, message: str) -> None:
    state = sit.situation(hands=["2 blue, 3 red"])
    before = state.to_dict()
    with pytest.raises(IllegalAction, match=message):
        sit.act(state, text)
    assert state.to_dict() == before


def test_what_is_no_action_at_all_is_refused() -> None:
    state = sit.situation(hands=["2 blue"])
    for junk in (None, "draw()", 3, Claim(["R40"], "blue", 0)):  # type: ignore[arg-type]
        with pytest.raises(IllegalAction):
            state.apply({0: junk})
    with pytest.raises(IllegalAction, match="seat 0 is asked"):
        state.apply({1: GAME.parse_action("draw()")})


# Double routes


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize(
    ("mine", "other", "card"), [("R03", "R04", "blue"), ("R04", "R03", "green"), ("R16", "R17", "red")]
)
def test_nobody_holds_both_halves_of_a_double(players: int, mine: str, other: str, card: str) -> None:
    state = sit.situation(players, hands=[f"2 {card}"], owner={mine: 0})
    assert payments(state, other) == []
    with pytest.raises(IllegalAction, match="closed"):
        sit.act(state, f"claim(route={other},card={card},taxis=0)")


def test_with_two_players_the_other_half_is_closed_to_everyone() -> None:
    state = sit.situation(2, hands=["", "2 blue"], owner={"R03": 0}, turn=1)
    assert payments(state, "R04") == []


@pytest.mark.parametrize("players", [3, 4])
def test_with_three_or_four_it_stays_open_to_the_others(players: int) -> None:
    state = sit.situation(players, hands=["", "2 blue"], owner={"R03": 0}, turn=1)
    sit.act(state, "claim(route=R04,card=blue,taxis=0)")
    assert state.owner[2:4] == [0, 1]


def test_doubles_close_when_a_half_is_claimed_in_play() -> None:
    state = sit.situation(3, hands=["2 green, 2 blue", "2 blue"])
    sit.act(state, "claim(route=R03,card=green,taxis=0)")
    assert payments(state, "R04") == ["claim(route=R04,card=blue,taxis=0)"]
    assert 3 not in state.available[0]
    two = sit.situation(2, hands=["2 green, 2 blue", "2 blue"])
    sit.act(two, "claim(route=R03,card=green,taxis=0)")
    assert payments(two, "R04") == []


# E16


def test_e16_routes_may_be_claimed_in_the_last_turns_if_the_taxis_suffice() -> None:
    state = sit.situation(hands=["6 red"], taxis={0: 2})
    state.last_turns = 2
    assert payments(state, "R18") == ["claim(route=R18,card=red,taxis=0)"]
    assert payments(state, "R02") == ["claim(route=R02,card=red,taxis=0)"]
    assert payments(state, "R21") == []


def test_e16_without_taxis_there_are_cards_and_tickets() -> None:
    state = sit.situation(hands=["6 red"], taxis={0: 0})
    state.last_turns = 2
    assert {text.split("(")[0] for text in sit.legal(state)} == {"draw", "take", "draw_tickets"}


def test_e16_option_last_turn_claims_off() -> None:
    state = sit.situation(hands=["6 red"], taxis={0: 2}, last_turn_claims=False)
    assert sit.legal(state, "claim")
    state = sit.situation(hands=["6 red"], taxis={0: 2}, last_turn_claims=False)
    state.last_turns = 2
    assert not sit.legal(state, "claim")
    with pytest.raises(IllegalAction, match="last_turn_claims"):
        sit.act(state, "claim(route=R18,card=red,taxis=0)")


# The end: trigger, last turns, passes, scores and ranks


EMPTY = {"row": "", "deck": "", "discards": "", "unknown": ""}
"""Nothing to draw."""


# Trigger and last turns


@pytest.mark.parametrize(("before", "triggers"), [(5, True), (4, True), (3, True), (6, False)])
def test_two_taxis_or_fewer_trigger_the_end(before: int, triggers: bool) -> None:
    state = sit.situation(hands=["3 red"], taxis={0: before})
    seen = sit.act(state, "claim(route=R21,card=red,taxis=0)")
    assert ("last_turns" in sit.kinds(seen)) is triggers
    assert state.last_turns == (2 if triggers else 0)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_then_everyone_has_one_more_turn_the_one_who_triggered_it_last(players: int) -> None:
    state = sit.situation(players, hands=["", "3 red"], taxis={1: 4}, turn=1, deck="9 red, 9 pink")
    sit.act(state, "claim(route=R21,card=red,taxis=0)")
    order = []
    while not state.is_terminal():
        order.append(state.turn_seat)
        for _ in range(2):
            sit.act(state, "draw()")
            sit.settle(state)
    assert order == [(1 + step) % players for step in range(1, players + 1)]


def test_r6_a_second_seat_down_to_two_taxis_changes_nothing() -> None:
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


def test_r6_the_end_is_triggered_when_the_turn_is_over_the_row_settled() -> None:
    state = sit.situation(hands=["3 red"], taxis={0: 5}, row="1 blue, 1 taxi", deck="")
    seen = sit.act(state, "claim(route=R21,card=red,taxis=0)")
    assert "last_turns" not in sit.kinds(seen)
    seen = sit.come(state, "red", "red", "red")
    assert sit.kinds(seen)[-1] == "last_turns"


def test_r6_a_pass_uses_up_a_last_turn() -> None:
    state = sit.situation(3, **EMPTY, hands=["", "", "1 taxi"])
    state.last_turns = 3
    sit.act(state, "pass()", "pass()")
    assert state.last_turns == 1
    sit.act(state, "claim(route=R18,card=taxi,taxis=1)")
    sit.settle(state)
    assert state.is_terminal()


def test_r2_refill_and_flush_are_carried_out_after_the_very_last_action() -> None:
    state = sit.situation(hands=["1 red"], row="2 blue, 3 taxi", deck="2 taxi")
    state.last_turns = 1
    seen = sit.act(state, "claim(route=R18,card=red,taxis=0)")
    assert sit.kinds(seen) == ["route_claimed", "row_flushed"]
    assert not state.is_terminal()
    sit.come(state, "taxi", "taxi")
    seen = sit.come(state, "red", "blue", "blue")
    assert sit.kinds(seen)[-2:] == ["seat_score", "seat_score"]
    assert state.is_terminal()


def test_when_it_is_over_nobody_is_asked_and_nothing_can_be_done() -> None:
    state = sit.situation(**EMPTY)
    sit.act(state, "pass()", "pass()")
    assert state.is_terminal()
    assert list(state.decisions()) == []
    assert list(state.chance_outcomes()) == []
    for attempt in (lambda: state.apply({0: None}), lambda: state.apply_chance("red"), lambda: state.withdraw(0)):
        with pytest.raises(IllegalAction):
            attempt()


# Passes


def test_e10_a_seat_may_pass_only_if_it_can_do_nothing_else() -> None:
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


def test_e10_option_always_lets_a_seat_pass_whenever_it_likes() -> None:
    state = sit.situation(passing="always")
    assert sit.legal(state)[0] == "pass()"
    sit.act(state, "pass()")
    assert state.turn_seat == 1


def test_e11_r7_as_many_passes_in_a_row_as_players_end_the_match() -> None:
    state = sit.situation(3, **EMPTY)
    seen = sit.act(state, "pass()", "pass()")
    assert not state.is_terminal()
    seen = sit.act(state, "pass()")
    assert state.is_terminal()
    assert sit.kinds(seen) == ["passed", "seat_score", "seat_score", "seat_score"]


def test_e11_anything_else_in_between_starts_the_count_again() -> None:
    state = sit.situation(3, **EMPTY, hands=["", "", "1 red"])
    sit.act(state, "pass()", "pass()", "claim(route=R18,card=red,taxis=0)")
    sit.settle(state)
    assert state.observation(0).passed == ()
    assert not state.is_terminal()
    sit.act(state, "take(card=red)", "pass()", "pass()")
    assert not state.is_terminal()
    sit.act(state, sit.legal(state)[0])
    assert not state.is_terminal()


def test_e11_holds_with_passing_always_too() -> None:
    state = sit.situation(2, passing="always")
    sit.act(state, "pass()", "pass()")
    assert state.is_terminal()


# Scores


def final(players: int = 2, **position: Any) -> Any:
    state = sit.situation(players, **EMPTY, **position)
    sit.act(state, *["pass()"] * players)
    assert state.is_terminal()
    return state


@pytest.mark.parametrize(("route", "points"), [("R08", 1), ("R02", 2), ("R34", 4), ("R23", 7)])
def test_routes_score_by_length(route: str, points: int) -> None:
    assert final(owner={route: 0}).scores()[0].route_points == points


def test_a_completed_ticket_adds_its_value_an_uncompleted_one_takes_it_off() -> None:
    state = final(owner={"R03": 0, "R12": 0}, tickets={0: "T01", 1: "T02 T06"})
    assert state.scores()[0].completed == ("T01",)
    assert state.scores()[0].ticket_points == 3
    assert state.scores()[1].failed == ("T02", "T06")
    assert state.scores()[1].ticket_points == -14
    assert state.returns()[1] == -14


def test_a_ticket_is_completed_by_any_chain_of_own_routes() -> None:
    way_round = {"R02": 0, "R10": 0, "R16": 0}
    assert final(owner=way_round, tickets={0: "T01"}).scores()[0].completed == ("T01",)
    broken = {"R02": 0, "R10": 1, "R16": 0}
    assert final(owner=broken, tickets={0: "T01"}).scores()[0].failed == ("T01",)


def test_each_attraction_with_an_own_route_counts_one_point_however_many_routes() -> None:
    state = final(owner={"R03": 0, "R12": 0, "R26": 0, "R40": 1, "R36": 1, "R08": 1})
    assert state.scores()[0].attraction_points == 2
    assert state.scores()[1].attraction_points == 4


def test_several_seats_score_the_same_attraction() -> None:
    state = final(3, owner={"R03": 0, "R04": 1})
    assert [score.attraction_points for score in state.scores()] == [1, 1, 0]


def test_an_attraction_off_the_network_counts() -> None:
    state = final(owner={"R01": 0, "R40": 0})
    assert state.scores()[0].attraction_points == 3


def test_the_total_is_routes_tickets_and_attractions() -> None:
    state = final(owner={"R03": 0, "R12": 0, "R23": 0}, tickets={0: "T01 T18"})
    (score, _) = state.scores()
    assert (score.route_points, score.ticket_points, score.attraction_points) == (2 + 1 + 7, 3 - 2, 3)
    assert state.returns() == (14, 0)


def test_tickets_are_turned_up_at_the_end() -> None:
    state = sit.situation(2, **EMPTY, tickets={0: "T01 T18", 1: "T02"})
    assert state.observation(None).scores == ()
    sit.act(state, "pass()", "pass()")
    assert [score.failed for score in state.observation(None).scores] == [("T01", "T18"), ("T02",)]


# Ranks


def test_most_points_win() -> None:
    state = final(3, owner={"R08": 0, "R23": 1, "R34": 2})
    assert state.returns() == (2, 8, 5)
    assert state.ranking() == (3, 1, 2)


def test_a_tie_goes_to_the_seat_with_more_completed_tickets() -> None:
    state = final(owner={"R01": 1, "R02": 1, "R34": 0, "R35": 0}, tickets={1: "T03"})
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


def test_there_is_no_bonus_for_the_longest_path() -> None:
    long = {"R01": 0, "R05": 0, "R12": 0, "R18": 0, "R24": 0}
    assert final(owner=long).scores()[0].total == 2 + 2 + 1 + 1 + 2 + 4


# Leaving: claims stay and block, cards and tickets are out of play, the others play on


def test_claims_stay_and_block() -> None:
    state = sit.situation(3, hands=["2 green", "2 blue"], owner={"R03": 2}, turn=1)
    state.withdraw(2)
    assert state.owner[2] == 2
    assert "claim(route=R04,card=blue,taxis=0)" in sit.legal(state)
    assert state.taxis[2] == 15


def test_hand_and_tickets_are_out_of_play_but_not_lost() -> None:
    state = sit.started(3)
    before = GAME.conserved(state)
    hand = state.hands[2][:]
    state.withdraw(2)
    assert state.hands[2] == hand
    assert state.market.discard_size == 0
    assert GAME.conserved(state) == before
    assert state.scores()[2].failed == ()


def test_the_next_seat_follows() -> None:
    state = sit.situation(3, turn=1)
    (event,) = state.withdraw(1)
    assert event.public.KIND == "seat_left"
    assert (state.turn_seat, state.stage) == (2, "turn")
    assert [decision.seat for decision in state.decisions()] == [2]


def test_turns_skip_it() -> None:
    state = sit.situation(3, passing="always")
    state.withdraw(1)
    sit.act(state, "pass()")
    assert state.turn_seat == 2


def test_the_last_one_ends_the_match() -> None:
    state = sit.situation(3)
    state.withdraw(0)
    assert not state.is_terminal()
    state.withdraw(2)
    assert state.is_terminal()
    assert state.ranking() == (3, 1, 2)


def test_seats_that_left_rank_last_the_first_to_leave_lowest() -> None:
    state = sit.situation(4, owner={"R23": 3, "R08": 1})
    state.withdraw(3)
    state.withdraw(0)
    state.withdraw(2)
    assert state.ranking() == (3, 1, 2, 4)


def test_its_routes_and_attractions_still_score_its_tickets_do_not() -> None:
    state = sit.situation(2, owner={"R03": 0, "R12": 0}, tickets={0: "T01 T06"})
    state.withdraw(0)
    assert state.returns() == (5, 0)


@pytest.mark.parametrize("seat", [-1, 3, 1])
def test_nobody_leaves_twice_or_who_is_not_there(seat: int) -> None:
    state = sit.situation(3)
    state.withdraw(1)
    before = state.to_dict()
    with pytest.raises(IllegalAction, match="not in play"):
        state.withdraw(seat)
    assert state.to_dict() == before


def test_during_an_unseen_draw_the_card_stays_in_the_deck() -> None:
    state = sit.situation(3)
    sit.act(state, "draw()")
    state.withdraw(0)
    assert (state.turn_seat, state.stage, state.market.deck_size) == (1, "turn", 4)


def test_while_the_row_is_refilled_the_refill_goes_on_and_the_turn_ends() -> None:
    state = sit.situation(3)
    sit.act(state, "take(card=red)")
    state.withdraw(0)
    assert state.stage == "refill"
    sit.come(state, "red")
    assert (state.turn_seat, state.stage) == (1, "turn")


def test_between_two_cards() -> None:
    state = sit.situation(3)
    sit.act(state, "draw()")
    sit.come(state, "red")
    state.withdraw(0)
    assert (state.turn_seat, state.stage) == (1, "turn")


def test_tickets_it_was_choosing_from_are_out_of_play() -> None:
    state = sit.situation(3)
    sit.act(state, "draw_tickets()")
    sit.come(state, "T09")
    state.withdraw(0)
    assert (state.turn_seat, state.stage) == (1, "turn")
    assert state.kept[0] == [9]
    assert state.tickets.size() == 17


def test_while_starting_tickets_are_chosen_the_others_still_choose() -> None:
    state = GAME.new_initial_state(3, sit.options())
    sit.settle(state)
    state.withdraw(0)
    assert [decision.seat for decision in state.decisions()] == [1, 2]
    state.apply({seat: state.legal_actions(seat)[1] for seat in (1, 2)})
    assert (state.first_seat, state.turn_seat) == (1, 1)
    assert len(state.tickets.under) == 2


def test_during_the_deal_it_gets_nothing_more() -> None:
    state = GAME.new_initial_state(3, sit.options())
    sit.come(state, "red", "red", "red")
    state.withdraw(1)
    sit.settle(state)
    assert state.hand_sizes == [2, 1, 2]
    assert state.tickets.sizes == bytearray([2, 2])


def test_before_the_lot_it_cannot_be_drawn() -> None:
    state = GAME.new_initial_state(3, sit.options(first_player="random"))
    state.withdraw(0)
    assert state.chance_outcomes() == [(1, 1), (2, 1)]


@pytest.mark.parametrize(
    ("turn", "leaver", "order"),
    [(0, 0, [1, 2, 3]), (0, 2, [0, 1, 3]), (1, 0, [1, 2, 3]), (2, 3, [2]), (3, 3, [])],
)
def test_a_last_turn_still_to_come_is_taken_off(turn: int, leaver: int, order: list[int]) -> None:
    """Seat 3 has triggered the end, so seats 0 to 3 move in this order."""
    state = sit.situation(4, turn=turn, deck="9 red, 9 pink")
    state.last_turns = 4 - turn
    state.withdraw(leaver)
    moved = []
    while not state.is_terminal():
        moved.append(state.turn_seat)
        for _ in range(2):
            sit.act(state, "draw()")
            sit.settle(state)
    assert moved == order


def test_a_seat_that_leaves_after_its_claim_triggers_nothing() -> None:
    state = sit.situation(3, hands=["3 red"], taxis={0: 3}, row="1 blue", deck="")
    sit.act(state, "claim(route=R21,card=red,taxis=0)")
    state.withdraw(0)
    sit.settle(state)
    assert state.last_turns == 0


def test_passes_of_those_still_in_play_count_for_the_end() -> None:
    state = sit.situation(3, passing="always")
    sit.act(state, "pass()", "pass()")
    state.withdraw(2)
    assert state.is_terminal()
    state = sit.situation(3, passing="always")
    sit.act(state, "pass()")
    state.withdraw(0)
    sit.act(state, "pass()")
    assert not state.is_terminal()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
def test_at_any_node_and_the_match_goes_on_to_its_end(seed: int) -> None:
    players = 3 + seed % 2
    nodes = list(range(0, 120, 7))
    state: Any = None
    for number, match in enumerate(recorded.play(players, sit.options(), seed)):
        if number not in nodes or match.state.is_terminal():
            continue
        for seat in range(players):
            state = match.state.clone()
            state.withdraw(seat)
            rng = Random(number)
            for _ in range(500):
                if state.is_terminal():
                    break
                assert seat not in [decision.seat for decision in state.decisions()]
                assert list(state.legal_actions(seat)) == []
                sit.settle(state, rng)
                state.apply({one.seat: rng.choice(state.legal_actions(one.seat)) for one in state.decisions()})
                sit.settle(state, rng)
            assert state.is_terminal()
            assert state.ranking()[seat] == players
            assert GAME.conserved(state) == GAME.conserved(match.state)
