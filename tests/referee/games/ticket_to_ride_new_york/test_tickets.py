"""Action C, tickets; the order of the deck (R4) and tickets in the last turns (E17)."""

from types import ModuleType

import pytest

from referee.games.api import Draw, IllegalAction
from referee.games.ticket_to_ride_new_york import GAME


def test_two_are_drawn_and_one_or_both_kept(sit: ModuleType) -> None:
    state = sit.situation(tickets={0: "T01"})
    sit.act(state, "draw_tickets()")
    assert state.chance_stream() == Draw("tickets", 0)
    assert ("T01", 1) not in state.chance_outcomes()
    sit.come(state, "T09", "T04")
    assert sit.legal(state) == ["keep(tickets=[T04,T09])", "keep(tickets=[T04])", "keep(tickets=[T09])"]
    sit.act(state, "keep(tickets=[T04,T09])")
    assert state.kept[0] == [1, 4, 9]
    assert state.turn_seat == 1


def test_a_returned_ticket_goes_under_the_deck(sit: ModuleType) -> None:
    state = sit.situation(unknown="T02 T03 T04", under="T10")
    sit.act(state, "draw_tickets()")
    sit.come(state, "T02", "T03")
    sit.act(state, "keep(tickets=[T03])")
    assert state.tickets.unknown == [4]
    assert [state.tickets.returned[number] for number in state.tickets.under] == [10, 2]


def test_r4_when_the_unknown_part_is_used_up_drawing_is_no_luck(sit: ModuleType) -> None:
    state = sit.situation(unknown="T04", under="T10 T11")
    sit.act(state, "draw_tickets()")
    assert state.chance_outcomes() == [("T04", 1)]
    seen = sit.come(state, "T04")
    assert sit.kinds(seen) == ["ticket_drawn", "ticket_drawn"]
    assert state.observation(0).offered == (4, 10)


def test_r4_those_returned_first_are_drawn_first(sit: ModuleType) -> None:
    state = sit.situation(unknown="", under="T10 T11 T12")
    seen = sit.act(state, "draw_tickets()")
    assert sit.kinds(seen) == ["ticket_drawn", "ticket_drawn"]
    assert state.observation(0).offered == (10, 11)
    sit.act(state, "keep(tickets=[T11])")
    assert [state.tickets.returned[number] for number in state.tickets.under] == [12, 10]


def test_the_last_ticket_may_be_drawn_and_must_be_kept(sit: ModuleType) -> None:
    state = sit.situation(unknown="T04")
    sit.act(state, "draw_tickets()")
    sit.come(state, "T04")
    assert sit.legal(state) == ["keep(tickets=[T04])"]
    sit.act(state, "keep(tickets=[T04])")
    assert state.tickets.size() == 0


def test_with_none_left_the_action_is_not_available(sit: ModuleType) -> None:
    state = sit.situation(unknown="")
    assert sit.legal(state, "draw_tickets") == []
    with pytest.raises(IllegalAction, match="no tickets can be drawn"):
        sit.act(state, "draw_tickets()")


def test_only_offered_tickets_can_be_kept(sit: ModuleType) -> None:
    state = sit.situation(tickets={0: "T01"})
    sit.act(state, "draw_tickets()")
    sit.come(state, "T09", "T04")
    for text in ("keep(tickets=[])", "keep(tickets=[T01])", "keep(tickets=[T09,T04])", "pass()", "draw()"):
        before = state.to_dict()
        with pytest.raises(IllegalAction):
            sit.act(state, text)
        assert state.to_dict() == before


def test_a_kept_ticket_is_never_given_back(sit: ModuleType) -> None:
    state = sit.situation(tickets={0: "T01 T02 T03"})
    assert not [text for text in sit.legal(state) if "keep" in text]
    sit.act(state, "draw_tickets()")
    sit.come(state, "T09", "T04")
    assert not [text for text in sit.legal(state) if "T01" in text]


def test_what_was_drawn_is_told_to_the_one_who_drew(sit: ModuleType) -> None:
    state = sit.situation(3)
    sit.act(state, "draw_tickets()")
    (event,) = state.apply_chance("T09")
    assert event.seen_by(0).ticket == "T09"
    assert event.seen_by(1).ticket == event.seen_by(None).ticket == ""


def test_returned_tickets_are_known_to_the_one_who_returned_them(sit: ModuleType) -> None:
    state = sit.situation(unknown="T02 T03 T04", under="T10")
    sit.act(state, "draw_tickets()")
    sit.come(state, "T02", "T03")
    sit.act(state, "keep(tickets=[T03])")
    assert state.observation(0).under == (10, 2)
    assert state.observation(1).under == (0, 0)
    assert state.observation(None).under == (0, 0)


def test_e17_tickets_may_be_drawn_in_the_last_turns(sit: ModuleType) -> None:
    state = sit.situation()
    state.last_turns = 2
    assert sit.legal(state, "draw_tickets") == ["draw_tickets()"]


def test_e17_option_last_turn_tickets_off(sit: ModuleType) -> None:
    state = sit.situation(last_turn_tickets=False)
    assert sit.legal(state, "draw_tickets") == ["draw_tickets()"]
    state.last_turns = 2
    state._legal = None
    assert sit.legal(state, "draw_tickets") == []
    with pytest.raises(IllegalAction, match="none in the last turns"):
        sit.act(state, "draw_tickets()")


def test_tickets_come_from_the_deck_only(sit: ModuleType) -> None:
    state = sit.situation(tickets={1: "T05"})
    sit.act(state, "draw_tickets()")
    for outcome in ("T05", "T19", "red", 5, ["T01"], None):
        with pytest.raises(IllegalAction, match="not in the deck of tickets"):
            state.apply_chance(outcome)


def test_a_match_can_be_cut_short_at_any_point_of_the_action_and_restored(sit: ModuleType) -> None:
    state = sit.situation(unknown="T02 T03 T04", under="T10")
    sit.act(state, "draw_tickets()")
    for outcome in ("T02", "T03"):
        state = GAME.state_from_dict(state.to_dict())
        sit.come(state, outcome)
    assert sit.legal(state)[0] == "keep(tickets=[T02,T03])"
