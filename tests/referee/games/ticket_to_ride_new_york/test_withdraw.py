"""A seat leaves: its claims stay and block, its cards and tickets are out of play, the others play on."""

from random import Random
from types import ModuleType
from typing import Any

import pytest

from referee.games.api import IllegalAction
from referee.games.ticket_to_ride_new_york import GAME


def test_claims_stay_and_block(sit: ModuleType) -> None:
    state = sit.situation(3, hands=["2 green", "2 blue"], owner={"R03": 2}, turn=1)
    state.withdraw(2)
    assert state.owner[2] == 2
    assert "claim(route=R04,card=blue,taxis=0)" in sit.legal(state)
    assert state.taxis[2] == 15


def test_hand_and_tickets_are_out_of_play_but_not_lost(sit: ModuleType) -> None:
    state = sit.started(3)
    before = GAME.conserved(state)
    hand = state.hands[2][:]
    state.withdraw(2)
    assert state.hands[2] == hand
    assert state.market.discard_size == 0
    assert GAME.conserved(state) == before
    assert state.scores()[2].failed == ()


def test_the_next_seat_follows(sit: ModuleType) -> None:
    state = sit.situation(3, turn=1)
    (event,) = state.withdraw(1)
    assert event.public.KIND == "seat_left"
    assert (state.turn_seat, state.stage) == (2, "turn")
    assert [decision.seat for decision in state.decisions()] == [2]


def test_turns_skip_it(sit: ModuleType) -> None:
    state = sit.situation(3, passing="always")
    state.withdraw(1)
    sit.act(state, "pass()")
    assert state.turn_seat == 2


def test_the_last_one_ends_the_match(sit: ModuleType) -> None:
    state = sit.situation(3)
    state.withdraw(0)
    assert not state.is_terminal()
    state.withdraw(2)
    assert state.is_terminal()
    assert state.ranking() == (3, 1, 2)


def test_seats_that_left_rank_last_the_first_to_leave_lowest(sit: ModuleType) -> None:
    state = sit.situation(4, owner={"R23": 3, "R08": 1})
    state.withdraw(3)
    state.withdraw(0)
    state.withdraw(2)
    assert state.ranking() == (3, 1, 2, 4)


def test_its_routes_and_attractions_still_score_its_tickets_do_not(sit: ModuleType) -> None:
    state = sit.situation(2, owner={"R03": 0, "R12": 0}, tickets={0: "T01 T06"})
    state.withdraw(0)
    assert state.returns() == (5, 0)


@pytest.mark.parametrize("seat", [-1, 3, 1])
def test_nobody_leaves_twice_or_who_is_not_there(sit: ModuleType, seat: int) -> None:
    state = sit.situation(3)
    state.withdraw(1)
    before = state.to_dict()
    with pytest.raises(IllegalAction, match="not in play"):
        state.withdraw(seat)
    assert state.to_dict() == before


def test_during_an_unseen_draw_the_card_stays_in_the_deck(sit: ModuleType) -> None:
    state = sit.situation(3)
    sit.act(state, "draw()")
    state.withdraw(0)
    assert (state.turn_seat, state.stage, state.market.deck_size) == (1, "turn", 4)


def test_while_the_row_is_refilled_the_refill_goes_on_and_the_turn_ends(sit: ModuleType) -> None:
    state = sit.situation(3)
    sit.act(state, "take(card=red)")
    state.withdraw(0)
    assert state.stage == "refill"
    sit.come(state, "red")
    assert (state.turn_seat, state.stage) == (1, "turn")


def test_between_two_cards(sit: ModuleType) -> None:
    state = sit.situation(3)
    sit.act(state, "draw()")
    sit.come(state, "red")
    state.withdraw(0)
    assert (state.turn_seat, state.stage) == (1, "turn")


def test_tickets_it_was_choosing_from_are_out_of_play(sit: ModuleType) -> None:
    state = sit.situation(3)
    sit.act(state, "draw_tickets()")
    sit.come(state, "T09")
    state.withdraw(0)
    assert (state.turn_seat, state.stage) == (1, "turn")
    assert state.kept[0] == [9]
    assert state.tickets.size() == 17


def test_while_starting_tickets_are_chosen_the_others_still_choose(sit: ModuleType) -> None:
    state = GAME.new_initial_state(3, sit.options())
    sit.settle(state)
    state.withdraw(0)
    assert [decision.seat for decision in state.decisions()] == [1, 2]
    state.apply({seat: state.legal_actions(seat)[1] for seat in (1, 2)})
    assert (state.first_seat, state.turn_seat) == (1, 1)
    assert len(state.tickets.under) == 2


def test_during_the_deal_it_gets_nothing_more(sit: ModuleType) -> None:
    state = GAME.new_initial_state(3, sit.options())
    sit.come(state, "red", "red", "red")
    state.withdraw(1)
    sit.settle(state)
    assert state.hand_sizes == [2, 1, 2]
    assert state.tickets.sizes == bytearray([2, 2])


def test_before_the_lot_it_cannot_be_drawn(sit: ModuleType) -> None:
    state = GAME.new_initial_state(3, sit.options(first_player="random"))
    state.withdraw(0)
    assert state.chance_outcomes() == [(1, 1), (2, 1)]


@pytest.mark.parametrize(
    ("turn", "leaver", "order"),
    [(0, 0, [1, 2, 3]), (0, 2, [0, 1, 3]), (1, 0, [1, 2, 3]), (2, 3, [2]), (3, 3, [])],
)
def test_a_last_turn_still_to_come_is_taken_off(sit: ModuleType, turn: int, leaver: int, order: list[int]) -> None:
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


def test_a_seat_that_leaves_after_its_claim_triggers_nothing(sit: ModuleType) -> None:
    state = sit.situation(3, hands=["3 red"], taxis={0: 3}, row="1 blue", deck="")
    sit.act(state, "claim(route=R21,card=red,taxis=0)")
    state.withdraw(0)
    sit.settle(state)
    assert state.last_turns == 0


def test_passes_of_those_still_in_play_count_for_the_end(sit: ModuleType) -> None:
    state = sit.situation(3, passing="always")
    sit.act(state, "pass()", "pass()")
    state.withdraw(2)
    assert state.is_terminal()
    state = sit.situation(3, passing="always")
    sit.act(state, "pass()")
    state.withdraw(0)
    sit.act(state, "pass()")
    assert not state.is_terminal()


@pytest.mark.parametrize("seed", range(16))
def test_at_any_node_and_the_match_goes_on_to_its_end(sit: ModuleType, taped: ModuleType, seed: int) -> None:
    players = 3 + seed % 2
    nodes = list(range(0, 120, 7))
    state: Any = None
    for number, match in enumerate(taped.play(players, sit.options(), seed)):
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
