"""Action B, claiming a route; payments (E13), double routes, claims in the last turns (E16)."""

from types import ModuleType

import pytest

from referee.games.api import IllegalAction
from referee.games.ticket_to_ride_new_york import GAME
from referee.games.ticket_to_ride_new_york.actions import Claim


def payments(sit: ModuleType, state: object, route: str) -> list[str]:
    return [text for text in sit.legal(state, "claim") if f"route={route}," in text]


def test_e13_the_leaflets_example_a_blue_route_of_three_with_three_blue_and_three_taxis(sit: ModuleType) -> None:
    state = sit.situation(hands=["3 blue, 3 taxi"])
    assert payments(sit, state, "R40") == [
        "claim(route=R40,card=blue,taxis=0)",
        "claim(route=R40,card=blue,taxis=1)",
        "claim(route=R40,card=blue,taxis=2)",
        "claim(route=R40,card=taxi,taxis=3)",
    ]


def test_e13_a_gray_route_takes_any_one_colour_and_taxis_alone_count_once(sit: ModuleType) -> None:
    state = sit.situation(hands=["2 red, 1 pink, 2 taxi"])
    assert payments(sit, state, "R11") == [
        "claim(route=R11,card=red,taxis=0)",
        "claim(route=R11,card=red,taxis=1)",
        "claim(route=R11,card=pink,taxis=1)",
        "claim(route=R11,card=taxi,taxis=2)",
    ]


def test_colours_cannot_be_mixed(sit: ModuleType) -> None:
    state = sit.situation(hands=["1 red, 1 pink"])
    assert payments(sit, state, "R11") == []
    assert payments(sit, state, "R08") == ["claim(route=R08,card=red,taxis=0)", "claim(route=R08,card=pink,taxis=0)"]


def test_a_coloured_route_takes_its_colour_only(sit: ModuleType) -> None:
    state = sit.situation(hands=["3 red"])
    assert payments(sit, state, "R40") == []
    assert payments(sit, state, "R21") == ["claim(route=R21,card=red,taxis=0)"]


def test_a_claim_puts_taxis_on_the_spaces_and_cards_on_the_discards(sit: ModuleType) -> None:
    state = sit.situation(hands=["3 blue, 1 taxi"], discards="1 pink")
    sit.act(state, "claim(route=R40,card=blue,taxis=1)")
    assert state.owner[39] == 0
    assert state.taxis == [12, 15]
    assert sit.words(state.hands[0]) == "1 blue"
    assert sit.words(state.market.discards) == "2 blue, 1 pink, 1 taxi"
    assert state.turn_seat == 1


def test_one_claim_ends_the_turn(sit: ModuleType) -> None:
    state = sit.situation(hands=["6 blue"])
    sit.act(state, "claim(route=R40,card=blue,taxis=0)")
    assert state.turn_seat == 1


def test_a_route_need_not_touch_the_own_network(sit: ModuleType) -> None:
    state = sit.situation(hands=["3 blue"], owner={"R01": 0})
    assert payments(sit, state, "R40") == ["claim(route=R40,card=blue,taxis=0)"]


def test_a_claimed_route_is_closed_to_all(sit: ModuleType) -> None:
    for seat in (0, 1):
        state = sit.situation(hands=["6 pink", "6 pink"], owner={"R07": 0}, turn=seat)
        assert payments(sit, state, "R07") == []
        with pytest.raises(IllegalAction, match=f"R07 is closed to seat {seat}"):
            sit.act(state, "claim(route=R07,card=pink,taxis=0)")


def test_too_few_taxis_for_the_whole_route(sit: ModuleType) -> None:
    state = sit.situation(hands=["6 pink"], taxis={0: 3})
    assert payments(sit, state, "R23") == []
    assert payments(sit, state, "R07") == ["claim(route=R07,card=pink,taxis=0)"]
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
def test_claims_that_cannot_be_paid_so_are_refused(sit: ModuleType, text: str, message: str) -> None:
    state = sit.situation(hands=["2 blue, 3 red"])
    before = state.to_dict()
    with pytest.raises(IllegalAction, match=message):
        sit.act(state, text)
    assert state.to_dict() == before


def test_what_is_no_action_at_all_is_refused(sit: ModuleType) -> None:
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
def test_nobody_holds_both_halves_of_a_double(sit: ModuleType, players: int, mine: str, other: str, card: str) -> None:
    state = sit.situation(players, hands=[f"2 {card}"], owner={mine: 0})
    assert payments(sit, state, other) == []
    with pytest.raises(IllegalAction, match="closed"):
        sit.act(state, f"claim(route={other},card={card},taxis=0)")


def test_with_two_players_the_other_half_is_closed_to_everyone(sit: ModuleType) -> None:
    state = sit.situation(2, hands=["", "2 blue"], owner={"R03": 0}, turn=1)
    assert payments(sit, state, "R04") == []


@pytest.mark.parametrize("players", [3, 4])
def test_with_three_or_four_it_stays_open_to_the_others(sit: ModuleType, players: int) -> None:
    state = sit.situation(players, hands=["", "2 blue"], owner={"R03": 0}, turn=1)
    sit.act(state, "claim(route=R04,card=blue,taxis=0)")
    assert state.owner[2:4] == [0, 1]


def test_doubles_close_when_a_half_is_claimed_in_play(sit: ModuleType) -> None:
    state = sit.situation(3, hands=["2 green, 2 blue", "2 blue"])
    sit.act(state, "claim(route=R03,card=green,taxis=0)")
    assert payments(sit, state, "R04") == ["claim(route=R04,card=blue,taxis=0)"]
    assert 3 not in state.available[0]
    two = sit.situation(2, hands=["2 green, 2 blue", "2 blue"])
    sit.act(two, "claim(route=R03,card=green,taxis=0)")
    assert payments(sit, two, "R04") == []


# E16


def test_e16_routes_may_be_claimed_in_the_last_turns_if_the_taxis_suffice(sit: ModuleType) -> None:
    state = sit.situation(hands=["6 red"], taxis={0: 2})
    state.last_turns = 2
    assert payments(sit, state, "R18") == ["claim(route=R18,card=red,taxis=0)"]
    assert payments(sit, state, "R02") == ["claim(route=R02,card=red,taxis=0)"]
    assert payments(sit, state, "R21") == []


def test_e16_without_taxis_there_are_cards_and_tickets(sit: ModuleType) -> None:
    state = sit.situation(hands=["6 red"], taxis={0: 0})
    state.last_turns = 2
    assert {text.split("(")[0] for text in sit.legal(state)} == {"draw", "take", "draw_tickets"}


def test_e16_option_last_turn_claims_off(sit: ModuleType) -> None:
    state = sit.situation(hands=["6 red"], taxis={0: 2}, last_turn_claims=False)
    assert sit.legal(state, "claim")
    state.last_turns = 2
    state._legal = None
    assert not sit.legal(state, "claim")
    with pytest.raises(IllegalAction, match="last_turn_claims"):
        sit.act(state, "claim(route=R18,card=red,taxis=0)")
