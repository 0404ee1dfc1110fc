"""Setting up: hands, then the row, then tickets; all choose their starting tickets at once."""

from random import Random
from types import ModuleType
from typing import Any

import pytest

from referee.games.api import Draw, IllegalAction, PlayersError, Roll
from referee.games.ticket_to_ride_new_york import GAME


@pytest.mark.parametrize("players", [2, 3, 4])
def test_two_cards_five_face_up_and_two_tickets_each(sit: ModuleType, players: int) -> None:
    state = GAME.new_initial_state(players, sit.options())
    sit.settle(state, Random(1))
    assert state.hand_sizes == [2] * players
    assert state.market.row_size == 5
    assert [decision.kind for decision in state.decisions()] == ["starting_tickets"] * players
    assert state.tickets.size() == 18 - 2 * players
    assert state.taxis == [15] * players


@pytest.mark.parametrize(("players", "left"), [(2, 35), (3, 33), (4, 31)])
def test_cards_left_in_the_deck_after_a_setup_without_flush(sit: ModuleType, players: int, left: int) -> None:
    state = GAME.new_initial_state(players, sit.options())
    sit.come(state, *["red", "blue"] * players, "red", "orange", "green", "blue", "black")
    assert state.market.deck_size == left


@pytest.mark.parametrize("players", [1, 5])
def test_other_numbers_of_players_are_refused(sit: ModuleType, players: int) -> None:
    with pytest.raises(PlayersError, match="2 to 4 players"):
        GAME.new_initial_state(players, sit.options())


def test_hands_come_before_the_row_and_the_row_before_the_tickets(sit: ModuleType) -> None:
    state = GAME.new_initial_state(2, sit.options())
    stages = []
    while state.chance_outcomes():
        stages.append(state.stage)
        sit.come(state, state.chance_outcomes()[0][0])
    assert stages == ["hands"] * 4 + ["refill"] * 5 + ["deal_tickets"] * 4


def test_a_starting_row_with_three_taxis_is_flushed_and_dealt_again_until_it_is_good(sit: ModuleType) -> None:
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


def test_two_taxis_in_the_starting_row_stay(sit: ModuleType) -> None:
    state = GAME.new_initial_state(2, sit.options())
    sit.come(state, "red", "red", "blue", "blue", "taxi", "taxi", "pink", "red", "pink")
    assert state.stage == "deal_tickets"


def test_nothing_is_shuffled_in_advance(sit: ModuleType) -> None:
    state = GAME.new_initial_state(2, sit.options())
    assert state.chance_outcomes() == [
        ("red", 6), ("orange", 6), ("green", 6), ("blue", 6), ("black", 6), ("pink", 6), ("taxi", 8)
    ]  # fmt: skip
    assert state.chance_stream() == Draw("cards", 0)
    sit.come(state, *["red", "blue"] * 2, "red", "orange", "green", "blue", "black")
    assert state.chance_outcomes() == [(f"T{number:02d}", 1) for number in range(1, 19)]
    assert state.chance_stream() == Draw("tickets", 0)


def test_seat_0_begins_by_default(sit: ModuleType) -> None:
    state = sit.started(3)
    assert (state.first_seat, state.turn_seat, state.stage) == (0, 0, "turn")


def test_the_first_player_may_be_drawn_by_lot(sit: ModuleType) -> None:
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


def dealt(sit: ModuleType, *tickets: str, players: int = 2, **chosen: Any) -> Any:
    """All have been dealt these starting tickets, two each."""
    state = GAME.new_initial_state(players, sit.options(**chosen))
    if chosen.get("first_player") == "random":
        state.apply_chance(1)
    sit.come(state, *["red", "blue"] * players, "red", "orange", "green", "blue", "black", *tickets)
    return state


def keep(*names: str) -> Any:
    return GAME.parse_action(f"keep(tickets=[{','.join(names)}])")


def test_one_or_both_starting_tickets_are_kept(sit: ModuleType) -> None:
    state = dealt(sit, "T05", "T01", "T07", "T09")
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


def test_all_answer_at_once_or_not_at_all(sit: ModuleType) -> None:
    state = dealt(sit, "T01", "T05", "T07", "T09")
    for answers in ({0: keep("T01")}, {0: keep("T01"), 1: keep("T07"), 2: keep("T09")}, {}):
        with pytest.raises(IllegalAction, match="are asked"):
            state.apply(answers)
    state.apply({1: keep("T07"), 0: keep("T01", "T05")})
    assert state.kept == [[1, 5], [7]]


def test_nobody_sees_the_starting_tickets_of_others(sit: ModuleType) -> None:
    state = dealt(sit, "T01", "T05", "T07", "T09")
    assert state.observation(0).offered == (1, 5)
    assert state.observation(1).offered == (7, 9)
    assert state.observation(None).offered == ()
    events = state.apply({0: keep("T01"), 1: keep("T07", "T09")})
    assert [(event.public.kept_count, event.public.returned_count) for event in events] == [(1, 1), (2, 0)]
    assert all(not event.public.kept and not event.public.returned for event in events)
    assert events[0].seen_by(0).returned == ("T05",)
    assert events[0].seen_by(1) == events[0].public


def test_e14_returned_starting_tickets_go_under_the_deck_in_seat_order(sit: ModuleType) -> None:
    state = dealt(sit, "T01", "T05", "T07", "T09", "T11", "T13", players=3)
    state.apply({2: keep("T11"), 0: keep("T01"), 1: keep("T07")})
    assert [state.tickets.returned[number] for number in state.tickets.under] == [5, 9, 13]


def test_r5_seat_order_whoever_is_the_first_player(sit: ModuleType) -> None:
    state = dealt(sit, "T01", "T05", "T07", "T09", "T11", "T13", players=3, first_player="random")
    state.apply({0: keep("T01"), 1: keep("T07"), 2: keep("T11")})
    assert state.first_seat == 1
    assert [state.tickets.returned[number] for number in state.tickets.under] == [5, 9, 13]


def test_e14_option_turn_order_begins_with_the_first_player(sit: ModuleType) -> None:
    state = dealt(
        sit, "T01", "T05", "T07", "T09", "T11", "T13",
        players=3, first_player="random", setup_return_order="turn",
    )  # fmt: skip
    state.apply({0: keep("T01"), 1: keep("T07"), 2: keep("T11")})
    assert [state.tickets.returned[number] for number in state.tickets.under] == [9, 13, 5]
