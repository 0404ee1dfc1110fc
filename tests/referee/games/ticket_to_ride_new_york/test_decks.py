"""Transportation cards and tickets: drawing them, the row, and the edge cases E1 to E9, E12, E17 and E18."""

from typing import Any

import pytest

from referee.games.api import Draw, IllegalAction
from referee.games.ticket_to_ride_new_york import GAME

from . import situations as sit

# Transportation cards


FULL_OF_TAXIS = "1 red, 1 blue, 3 taxi"


def test_a_card_is_face_up_or_the_top_of_the_deck() -> None:
    state = sit.situation(row="2 red, 1 blue, 2 taxi")
    assert sit.legal(state)[:4] == ["draw()", "take(card=red)", "take(card=blue)", "take(card=taxi)"]


def test_r1_equal_cards_of_the_row_are_one_choice() -> None:
    state = sit.situation(row="5 red")
    assert sit.legal(state, "take") == ["take(card=red)"]


def test_two_cards_one_after_the_other() -> None:
    state = sit.situation()
    sit.act(state, "take(card=red)")
    sit.come(state, "orange")
    assert (state.turn_seat, state.stage) == (0, "second_card")
    sit.act(state, "take(card=orange)")
    sit.come(state, "red")
    assert sit.words(state.hands[0]) == "1 red, 1 orange"
    assert (state.turn_seat, state.stage) == (1, "turn")


def test_a_taken_card_is_replaced_from_the_deck_before_the_next_choice() -> None:
    state = sit.situation(deck="2 pink")
    sit.act(state, "take(card=red)")
    assert state.stage == "refill"
    seen = sit.come(state, "pink")
    assert sit.kinds(seen) == ["card_turned_up"]
    assert "take(card=pink)" in sit.legal(state)


def test_e18_the_second_card_is_chosen_after_seeing_the_first_and_the_new_row() -> None:
    state = sit.situation(deck="1 pink, 3 orange")
    sit.act(state, "draw()")
    assert state.stage == "unseen"
    sit.come(state, "pink")
    assert state.observation(0).hand == (0, 0, 0, 0, 0, 1, 0)
    assert state.decisions()[0].kind == "second_card"
    state = sit.situation(row="1 red, 1 orange, 1 blue, 2 taxi", deck="1 taxi, 5 pink")
    sit.act(state, "take(card=red)")
    sit.come(state, "taxi", "pink", "pink", "pink", "pink", "pink")
    assert sit.legal(state) == ["draw()", "take(card=pink)"]


def test_a_face_up_taxi_as_first_card_ends_the_action() -> None:
    state = sit.situation(row="4 red, 1 taxi")
    sit.act(state, "take(card=taxi)")
    sit.come(state, "red")
    assert (state.turn_seat, state.stage) == (1, "turn")


def test_the_second_card_may_not_be_a_face_up_taxi() -> None:
    state = sit.situation(row="3 red, 2 taxi")
    sit.act(state, "take(card=red)")
    sit.come(state, "red")
    assert "take(card=taxi)" not in sit.legal(state)
    with pytest.raises(IllegalAction, match="face-up taxi"):
        sit.act(state, "take(card=taxi)")


def test_nor_a_taxi_that_has_just_been_turned_up() -> None:
    state = sit.situation(row="5 red", deck="1 taxi, 3 blue")
    sit.act(state, "take(card=red)")
    sit.come(state, "taxi")
    assert sit.legal(state) == ["draw()", "take(card=red)"]


@pytest.mark.parametrize("first", [True, False])
def test_a_taxi_drawn_unseen_counts_as_an_ordinary_card(first: bool) -> None:
    state = sit.situation(deck="2 taxi, 2 red")
    if first:
        sit.act(state, "draw()")
        sit.come(state, "taxi")
        assert (state.turn_seat, state.stage) == (0, "second_card")
    else:
        sit.act(state, "take(card=red)")
        sit.come(state, "red")
        sit.act(state, "draw()")
        sit.come(state, "taxi")
        assert sit.words(state.hands[0]) == "1 red, 1 taxi"


def test_there_is_no_hand_limit() -> None:
    state = sit.situation(hands=["6 red, 6 orange, 6 green, 6 blue, 5 taxi"], row="5 pink", deck="6 black")
    sit.act(state, "draw()")
    sit.come(state, "black")
    assert state.hand_sizes[0] == 30


def test_cards_that_do_not_lie_there_cannot_be_taken() -> None:
    state = sit.situation(row="5 red")
    for text in ("take(card=blue)", "take(card=gray)", "take(card=taxi)"):
        before = state.to_dict()
        with pytest.raises(IllegalAction, match="lies face up"):
            sit.act(state, text)
        assert state.to_dict() == before


# E1


def test_e1_the_deck_is_rebuilt_only_when_a_card_is_needed() -> None:
    state = sit.situation(deck="1 pink", discards="2 green, 1 blue")
    sit.act(state, "take(card=red)")
    sit.come(state, "pink")
    assert (state.market.deck_size, state.market.discard_size, state.market.epoch) == (0, 3, 0)
    seen = sit.act(state, "draw()")
    assert sit.kinds(seen) == ["deck_reshuffled"]
    assert state.chance_outcomes() == [("green", 2), ("blue", 1)]
    assert state.chance_stream() == Draw("cards", 1)


def test_e1_an_unseen_draw_is_legal_with_an_empty_deck_as_long_as_there_are_discards() -> None:
    assert "draw()" in sit.legal(sit.situation(deck="", discards="1 red"))
    state = sit.situation(deck="", discards="")
    assert "draw()" not in sit.legal(state)
    with pytest.raises(IllegalAction, match="deck and discards are empty"):
        sit.act(state, "draw()")


def test_e1_option_at_once_rebuilds_the_deck_the_moment_it_is_empty() -> None:
    state = sit.situation(deck="1 pink", discards="2 green, 1 blue", reshuffle="at_once", endless_flush="three_flushes")
    sit.act(state, "take(card=red)")
    seen = sit.come(state, "pink")
    assert sit.kinds(seen) == ["card_turned_up", "deck_reshuffled"]
    assert (state.market.deck_size, state.market.discard_size, state.market.epoch) == (3, 0, 1)


def test_e1_option_at_once_rebuilds_from_the_cards_of_a_claim() -> None:
    state = sit.situation(hands=["1 red"], row="5 blue", deck="", reshuffle="at_once", endless_flush="three_flushes")
    seen = sit.act(state, "claim(route=R18,card=red,taxis=0)")
    assert sit.kinds(seen) == ["route_claimed", "deck_reshuffled"]
    assert sit.words(state.market.deck) == "1 red"


def test_e1_a_card_in_the_row_leaves_the_deck_only_by_being_drawn() -> None:
    state = sit.situation(deck="", discards="3 green, 2 pink")
    sit.act(state, "take(card=red)")
    assert state.stage == "refill"
    assert state.market.discard_size == 0
    sit.come(state, "green")
    assert state.chance_outcomes() == ()
    assert sit.words(state.market.deck) == "2 green, 2 pink"


# E2, E3


def test_e2_a_row_with_three_taxis_is_flushed_at_once_after_a_refill() -> None:
    state = sit.situation(row="1 red, 2 blue, 2 taxi", deck="1 taxi, 5 pink")
    sit.act(state, "take(card=red)")
    seen = sit.come(state, "taxi")
    assert sit.kinds(seen) == ["card_turned_up", "row_flushed"]
    assert sit.words(state.market.discards) == "2 blue, 3 taxi"
    assert state.stage == "refill"


@pytest.mark.parametrize("taxis", [3, 4, 5])
def test_e2_more_than_three_taxis_flush_as_well(taxis: int) -> None:
    state = sit.situation(row="4 taxi", deck="1 taxi, 1 red, 4 pink")
    state.market.row = sit.cards(f"{taxis - 1} taxi" + (f", {5 - taxis} blue" if taxis < 5 else ""))
    state.market.row_size = 4
    state.stage, state.after_row = "refill", "second"
    assert sit.come(state, "taxi")[-1].KIND == "row_flushed"


def test_e2_the_new_row_is_tested_again() -> None:
    state = sit.situation(row="1 red, 2 blue, 2 taxi", deck="4 taxi, 7 pink")
    sit.act(state, "take(card=red)")
    sit.come(state, "taxi", "taxi", "taxi", "taxi", "pink")
    seen = sit.come(state, "pink")
    assert sit.kinds(seen) == ["card_turned_up", "row_flushed"]


STUCK = {"hands": ["1 red"], "row": "2 blue, 3 taxi", "deck": "2 taxi"}
"""Two cards outside hands are no taxis: a flush is of no use, until the red card is paid."""


def test_e2_a_claim_can_make_a_flush_possible_that_was_of_no_use_before() -> None:
    state = sit.situation(**STUCK)
    seen = sit.act(state, "claim(route=R18,card=red,taxis=0)")
    assert sit.kinds(seen) == ["route_claimed", "row_flushed"]


def test_e2_option_after_refill_does_not_test_after_a_claim() -> None:
    state = sit.situation(**STUCK, flush_test="after_refill")
    seen = sit.act(state, "claim(route=R18,card=red,taxis=0)")
    assert sit.kinds(seen) == ["route_claimed"]
    assert state.turn_seat == 1


def test_e2_option_after_refill_tests_a_row_that_a_claim_completed() -> None:
    state = sit.situation(hands=["6 red"], row="1 blue, 3 taxi", deck="", flush_test="after_refill", taxis={0: 9})
    sit.act(state, "claim(route=R21,card=red,taxis=0)")
    assert state.stage == "refill"
    seen = sit.come(state, "red")
    assert sit.kinds(seen) == ["card_turned_up", "row_flushed"]


def test_e3_the_cards_just_flushed_are_among_those_that_are_reshuffled() -> None:
    state = sit.situation(row="1 red, 2 blue, 2 taxi", deck="1 taxi, 2 pink", discards="1 green")
    sit.act(state, "take(card=red)")
    sit.come(state, "taxi", "pink")
    seen = sit.come(state, "pink")
    assert sit.kinds(seen) == ["card_turned_up", "deck_reshuffled"]
    assert state.chance_outcomes() == [("green", 1), ("blue", 2), ("taxi", 3)]


def test_e3_option_set_aside_keeps_them_out_until_nothing_else_is_left() -> None:
    chosen = {"flushed_cards": "set_aside", "endless_flush": "three_flushes"}
    state = sit.situation(row="1 red, 2 blue, 2 taxi", deck="1 taxi, 2 pink", discards="1 green", **chosen)
    sit.act(state, "take(card=red)")
    sit.come(state, "taxi", "pink", "pink")
    assert state.chance_outcomes() == [("green", 1)]
    seen = sit.come(state, "green")
    assert seen[-1].KIND == "deck_reshuffled"
    assert state.chance_outcomes() == [("blue", 2), ("taxi", 3)]


def test_e3_option_set_aside_discards_them_when_the_new_row_is_full() -> None:
    chosen = {"flushed_cards": "set_aside", "endless_flush": "three_flushes"}
    state = sit.situation(row="1 red, 2 blue, 2 taxi", deck="1 taxi, 6 pink", **chosen)
    sit.act(state, "take(card=red)")
    sit.come(state, "taxi", "pink", "pink", "pink", "pink")
    assert (sit.words(state.market.aside), state.market.discard_size) == ("2 blue, 3 taxi", 0)
    sit.come(state, "pink")
    assert (sit.words(state.market.aside), sit.words(state.market.discards)) == ("", "2 blue, 3 taxi")


# E4, E5


def test_e4_a_short_row_is_not_flushed() -> None:
    state = sit.situation(row="1 red, 4 taxi", deck="", discards="")
    seen = sit.act(state, "take(card=red)")
    assert sit.kinds(seen) == ["card_taken"]
    assert sit.words(state.market.row) == "4 taxi"


def test_e5_no_flush_if_fewer_than_three_cards_outside_hands_are_no_taxis() -> None:
    state = sit.situation(row="1 red, 2 blue, 2 taxi", deck="1 taxi, 2 taxi")
    sit.act(state, "take(card=red)")
    seen = sit.come(state, "taxi")
    assert sit.kinds(seen) == ["card_turned_up"]
    assert sit.words(state.market.row) == "2 blue, 3 taxi"


@pytest.mark.parametrize("where", ["deck", "discards"])
def test_e5_three_of_them_anywhere_outside_hands_are_enough(where: str) -> None:
    piles = {"deck": "3 taxi", "discards": ""}
    piles[where] = f"{piles[where]}, 1 pink".lstrip(", ")
    state = sit.situation(row="1 red, 2 blue, 2 taxi", **piles)
    sit.act(state, "take(card=red)")
    assert sit.come(state, "taxi")[-1].KIND == "row_flushed"


def test_e5_no_flush_if_deck_and_discards_are_empty() -> None:
    state = sit.situation(row="3 red, 2 taxi", deck="1 taxi")
    sit.act(state, "take(card=red)")
    seen = sit.come(state, "taxi")
    assert sit.kinds(seen) == ["card_turned_up"]


def test_e5_taxis_of_such_a_row_may_be_taken_as_first_card() -> None:
    state = sit.situation(row="2 blue, 3 taxi", deck="2 taxi")
    assert "take(card=taxi)" in sit.legal(state)
    sit.act(state, "take(card=taxi)")
    sit.come(state, "taxi")
    assert state.turn_seat == 1


def flushes(state: Any) -> int:
    """How often the row is flushed when three taxis come each time."""
    count = 0
    while state.stage == "refill":
        outcomes = dict(state.chance_outcomes())
        taxis_wanted = state.market.row[6] < 3 and "taxi" in outcomes
        count += sum(
            payload.KIND == "row_flushed"
            for payload in sit.come(state, "taxi" if taxis_wanted else next(iter(outcomes)))
        )
    return count


def test_e5_option_three_flushes_leaves_the_row_after_three() -> None:
    state = sit.situation(row="3 red, 2 taxi", deck="30 taxi, 30 pink", endless_flush="three_flushes")
    sit.act(state, "take(card=red)")
    assert flushes(state) == 3
    assert state.market.row[6] == 3


def test_r3_the_three_flushes_are_counted_from_the_refill() -> None:
    state = sit.situation(row="3 red, 2 taxi", deck="30 taxi, 30 pink", endless_flush="three_flushes")
    sit.act(state, "take(card=red)")
    flushes(state)
    sit.act(state, "take(card=pink)")
    assert flushes(state) == 3


def test_r3_a_claim_alone_does_not_start_a_new_count() -> None:
    state = sit.situation(
        hands=["", "1 red"], row="3 red, 2 taxi", deck="30 taxi, 30 pink", endless_flush="three_flushes"
    )
    sit.act(state, "take(card=red)")
    flushes(state)
    sit.act(state, "draw()")
    sit.settle(state)
    assert state.market.row[6] == 3
    seen = sit.act(state, "claim(route=R18,card=red,taxis=0)")
    assert sit.kinds(seen) == ["route_claimed"]


def test_r3_a_claim_that_fills_up_a_short_row_starts_a_new_count() -> None:
    state = sit.situation(hands=["4 red"], row="1 red, 3 taxi", deck="", endless_flush="three_flushes")
    state.market.flushes = 3
    sit.act(state, "claim(route=R18,card=red,taxis=0)")
    assert state.market.flushes == 0


def test_r3_it_does_not_count_what_is_no_taxi() -> None:
    state = sit.situation(row="1 red, 2 blue, 2 taxi", deck="3 taxi", endless_flush="three_flushes")
    sit.act(state, "take(card=red)")
    assert sit.come(state, "taxi")[-1].KIND == "row_flushed"


def test_r3_nor_does_it_flush_with_empty_deck_and_discards() -> None:
    state = sit.situation(row="3 red, 2 taxi", deck="1 taxi", endless_flush="three_flushes")
    sit.act(state, "take(card=red)")
    assert sit.kinds(sit.come(state, "taxi")) == ["card_turned_up"]


# E6, E7, E8, E9


def test_e6_the_second_card_is_compulsory() -> None:
    state = sit.situation()
    sit.act(state, "draw()")
    sit.settle(state)
    assert sit.legal(state, "stop") == []
    with pytest.raises(IllegalAction):
        sit.act(state, "stop()")


def test_e6_option_second_card_required_off_lets_a_seat_stop() -> None:
    state = sit.situation(second_card_required=False)
    assert sit.legal(state, "stop") == []
    sit.act(state, "draw()")
    sit.settle(state)
    assert sit.legal(state)[0] == "stop()"
    seen = sit.act(state, "stop()")
    assert sit.kinds(seen) == ["stopped"]
    assert (state.turn_seat, state.hand_sizes[0]) == (1, 1)


@pytest.mark.parametrize("row", ["1 red", "1 red, 4 taxi"])
def test_e7_without_a_legal_second_card_the_action_ends_with_one(row: str) -> None:
    state = sit.situation(row=row, deck="", discards="")
    sit.act(state, "take(card=red)")
    assert (state.turn_seat, state.stage, state.hand_sizes[0]) == (1, "turn", 1)


def test_e7_one_face_up_card_that_is_no_taxi_is_a_legal_second() -> None:
    state = sit.situation(row="2 red, 3 taxi", deck="", discards="")
    sit.act(state, "take(card=red)")
    assert sit.legal(state) == ["take(card=red)"]


@pytest.mark.parametrize(
    ("row", "deck", "discards", "answer"),
    [
        ("1 red", "", "", "take(card=red)"),
        ("1 taxi", "", "", "take(card=taxi)"),
        ("", "1 red", "", "draw()"),
        ("", "", "1 red", "draw()"),
    ],
)
def test_e8_a_single_card_may_be_drawn(row: str, deck: str, discards: str, answer: str) -> None:
    state = sit.situation(row=row, deck=deck, discards=discards)
    assert sit.legal(state)[0] == answer
    sit.act(state, answer)
    sit.settle(state)
    assert (state.turn_seat, state.hand_sizes[0]) == (1, 1)


def test_e8_option_one_card_draw_off_forbids_that() -> None:
    state = sit.situation(row="1 red", deck="", discards="", one_card_draw=False, unknown="")
    assert sit.legal(state) == ["pass()"]
    with pytest.raises(IllegalAction, match="one_card_draw"):
        sit.act(state, "take(card=red)")
    two = sit.situation(row="1 red, 1 taxi", deck="", discards="", one_card_draw=False)
    assert "take(card=red)" in sit.legal(two)


def test_e9_with_nothing_to_draw_there_are_only_claims_and_tickets() -> None:
    state = sit.situation(hands=["1 red"], row="", deck="", discards="")
    assert sit.legal(state) == [
        "draw_tickets()",
        "claim(route=R08,card=red,taxis=0)",
        "claim(route=R18,card=red,taxis=0)",
    ]
    for text in ("draw()", "take(card=red)", "pass()"):
        with pytest.raises(IllegalAction):
            sit.act(state, text)


# E12


def test_e12_a_short_row_is_refilled_at_once_from_the_cards_of_a_claim_and_tested() -> None:
    state = sit.situation(hands=["3 red"], row="3 taxi, 1 blue", deck="", taxis={0: 9})
    seen = sit.act(state, "claim(route=R21,card=red,taxis=0)")
    assert sit.kinds(seen) == ["route_claimed", "deck_reshuffled"]
    seen = sit.come(state, "red")
    assert sit.kinds(seen) == ["card_turned_up", "row_flushed"]
    sit.come(state, "red", "red", "blue", "taxi", "taxi")
    assert state.turn_seat == 1


def test_e12_one_card_of_a_claim_refills_one_place() -> None:
    state = sit.situation(hands=["1 red"], row="1 blue", deck="")
    sit.act(state, "claim(route=R18,card=red,taxis=0)")
    sit.come(state, "red")
    assert (sit.words(state.market.row), state.turn_seat) == ("1 red, 1 blue", 1)


def test_e12_option_after_draw_leaves_the_row_short_until_a_card_is_drawn() -> None:
    state = sit.situation(hands=["3 red"], row="1 blue", deck="", taxis={0: 9}, short_row_refill="after_draw")
    seen = sit.act(state, "claim(route=R21,card=red,taxis=0)")
    assert sit.kinds(seen) == ["route_claimed"]
    assert (sit.words(state.market.row), state.turn_seat) == ("1 blue", 1)
    sit.act(state, "draw()")
    sit.come(state, "red")
    assert state.stage == "refill"
    sit.come(state, "red", "red")
    assert (sit.words(state.market.row), state.stage) == ("2 red, 1 blue", "second_card")


def test_e12_option_after_draw_still_tests_a_full_row_after_a_claim() -> None:
    state = sit.situation(**STUCK, short_row_refill="after_draw")
    assert sit.act(state, "claim(route=R18,card=red,taxis=0)")[-1].KIND == "row_flushed"


def test_luck_outside_its_deck_is_refused() -> None:
    state = sit.situation(deck="2 red")
    sit.act(state, "draw()")
    for outcome in ("blue", "gray", 3, ["red"], None):
        before = state.to_dict()
        with pytest.raises(IllegalAction):
            state.apply_chance(outcome)
        assert state.to_dict() == before
    with pytest.raises(IllegalAction):
        sit.situation().apply_chance("red")
    with pytest.raises(IllegalAction):
        sit.situation().chance_stream()


def test_nobody_is_asked_while_luck_decides() -> None:
    state = sit.situation()
    sit.act(state, "draw()")
    assert state.decisions() == []
    assert list(state.legal_actions(0)) == []
    with pytest.raises(IllegalAction, match="nobody is asked"):
        state.apply({0: GAME.parse_action("draw()")})


# Tickets: the order of the deck (R4), and the last turns (E17)


def test_two_are_drawn_and_one_or_both_kept() -> None:
    state = sit.situation(tickets={0: "T01"})
    sit.act(state, "draw_tickets()")
    assert state.chance_stream() == Draw("tickets", 0)
    assert ("T01", 1) not in state.chance_outcomes()
    sit.come(state, "T09", "T04")
    assert sit.legal(state) == ["keep(tickets=[T04,T09])", "keep(tickets=[T04])", "keep(tickets=[T09])"]
    sit.act(state, "keep(tickets=[T04,T09])")
    assert state.kept[0] == [1, 4, 9]
    assert state.turn_seat == 1


def test_a_returned_ticket_goes_under_the_deck() -> None:
    state = sit.situation(unknown="T02 T03 T04", under="T10")
    sit.act(state, "draw_tickets()")
    sit.come(state, "T02", "T03")
    sit.act(state, "keep(tickets=[T03])")
    assert state.tickets.unknown == [4]
    assert [state.tickets.returned[number] for number in state.tickets.under] == [10, 2]


def test_r4_when_the_unknown_part_is_used_up_drawing_is_no_luck() -> None:
    state = sit.situation(unknown="T04", under="T10 T11")
    sit.act(state, "draw_tickets()")
    assert state.chance_outcomes() == [("T04", 1)]
    seen = sit.come(state, "T04")
    assert sit.kinds(seen) == ["ticket_drawn", "ticket_drawn"]
    assert state.observation(0).offered == (4, 10)


def test_r4_those_returned_first_are_drawn_first() -> None:
    state = sit.situation(unknown="", under="T10 T11 T12")
    seen = sit.act(state, "draw_tickets()")
    assert sit.kinds(seen) == ["ticket_drawn", "ticket_drawn"]
    assert state.observation(0).offered == (10, 11)
    sit.act(state, "keep(tickets=[T11])")
    assert [state.tickets.returned[number] for number in state.tickets.under] == [12, 10]


def test_the_last_ticket_may_be_drawn_and_must_be_kept() -> None:
    state = sit.situation(unknown="T04")
    sit.act(state, "draw_tickets()")
    sit.come(state, "T04")
    assert sit.legal(state) == ["keep(tickets=[T04])"]
    sit.act(state, "keep(tickets=[T04])")
    assert state.tickets.size() == 0


def test_with_none_left_the_action_is_not_available() -> None:
    state = sit.situation(unknown="")
    assert sit.legal(state, "draw_tickets") == []
    with pytest.raises(IllegalAction, match="no tickets can be drawn"):
        sit.act(state, "draw_tickets()")


def test_only_offered_tickets_can_be_kept() -> None:
    state = sit.situation(tickets={0: "T01"})
    sit.act(state, "draw_tickets()")
    sit.come(state, "T09", "T04")
    for text in ("keep(tickets=[])", "keep(tickets=[T01])", "keep(tickets=[T09,T04])", "pass()", "draw()"):
        before = state.to_dict()
        with pytest.raises(IllegalAction):
            sit.act(state, text)
        assert state.to_dict() == before


def test_a_kept_ticket_is_never_given_back() -> None:
    state = sit.situation(tickets={0: "T01 T02 T03"})
    assert not [text for text in sit.legal(state) if "keep" in text]
    sit.act(state, "draw_tickets()")
    sit.come(state, "T09", "T04")
    assert not [text for text in sit.legal(state) if "T01" in text]


def test_what_was_drawn_is_told_to_the_one_who_drew() -> None:
    state = sit.situation(3)
    sit.act(state, "draw_tickets()")
    (event,) = state.apply_chance("T09")
    assert event.seen_by(0).ticket == "T09"
    assert event.seen_by(1).ticket == event.seen_by(None).ticket == ""


def test_returned_tickets_are_known_to_the_one_who_returned_them() -> None:
    state = sit.situation(unknown="T02 T03 T04", under="T10")
    sit.act(state, "draw_tickets()")
    sit.come(state, "T02", "T03")
    sit.act(state, "keep(tickets=[T03])")
    assert state.observation(0).under == (10, 2)
    assert state.observation(1).under == (0, 0)
    assert state.observation(None).under == (0, 0)


def test_e17_tickets_may_be_drawn_in_the_last_turns() -> None:
    state = sit.situation()
    state.last_turns = 2
    assert sit.legal(state, "draw_tickets") == ["draw_tickets()"]


def test_e17_option_last_turn_tickets_off() -> None:
    state = sit.situation(last_turn_tickets=False)
    assert sit.legal(state, "draw_tickets") == ["draw_tickets()"]
    state = sit.situation(last_turn_tickets=False)
    state.last_turns = 2
    assert sit.legal(state, "draw_tickets") == []
    with pytest.raises(IllegalAction, match="none in the last turns"):
        sit.act(state, "draw_tickets()")


def test_tickets_come_from_the_deck_only() -> None:
    state = sit.situation(tickets={1: "T05"})
    sit.act(state, "draw_tickets()")
    for outcome in ("T05", "T19", "red", 5, ["T01"], None):
        with pytest.raises(IllegalAction, match="not in the deck of tickets"):
            state.apply_chance(outcome)


def test_a_match_can_be_cut_short_at_any_point_of_the_action_and_restored() -> None:
    state = sit.situation(unknown="T02 T03 T04", under="T10")
    sit.act(state, "draw_tickets()")
    for outcome in ("T02", "T03"):
        state = GAME.state_from_dict(state.to_dict())
        sit.come(state, outcome)
    assert sit.legal(state)[0] == "keep(tickets=[T02,T03])"
