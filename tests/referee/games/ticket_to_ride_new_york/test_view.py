"""Boards and sentences for people."""

from dataclasses import fields

import pytest

from referee.games.ticket_to_ride_new_york import GAME
from referee.games.ticket_to_ride_new_york import events as ev

from . import recorded
from . import situations as sit

VIEW = GAME.view


def test_the_board_shows_table_seats_own_things_and_routes() -> None:
    state = sit.situation(
        3,
        hands=["2 blue, 1 taxi", "3 red"],
        discards="1 pink",
        owner={"R03": 1, "R23": 0},
        tickets={0: "T01", 1: "T02"},
        under="T10",
    )
    board = VIEW.text_board(state.observation(0))
    lines = board.splitlines()
    assert lines[0] == "Seen by seat 0. Turn of seat 0: choose an action."
    assert "Face up:  1 red, 1 orange, 1 green, 1 blue, 1 black" in lines
    assert "Deck:     4 cards" in lines
    assert "Discards: 1 pink" in lines
    assert "Tickets:  15 unseen, then returned ones: T10" in lines
    assert "*  0       8     15      3        1  2 blue, 1 taxi" in lines
    assert "Your hand: 2 blue, 1 taxi" in lines
    assert "Your ticket: T01 Lincoln Center (LC) - Empire State Building (ES), 3 points" in lines
    assert "T02" not in board
    assert "R03=LC-TS   2 green  1" in board
    assert "R23 CH-SO   4 pink   0" in board
    assert "R41=WS-BK   3 black  ." in board
    assert "Attractions: CP TS UN ES CH GV CT WS BK" in lines


def test_the_other_half_of_a_double_is_closed_with_two_and_open_with_three() -> None:
    for players, holder in ((2, "x"), (3, ".")):
        board = VIEW.text_board(sit.situation(players, owner={"R03": 1}).observation(None))
        assert f"R04=LC-TS   2 blue   {holder}" in board


def test_a_completed_ticket_is_marked() -> None:
    state = sit.situation(owner={"R03": 0, "R12": 0}, tickets={0: "T01 T06"})
    lines = VIEW.text_board(state.observation(0)).splitlines()
    assert "Your ticket: T01 Lincoln Center (LC) - Empire State Building (ES), 3 points," in lines
    assert "             done" in lines
    assert "Your ticket: T06 Central Park (CP) - Chinatown (CT), 8 points" in lines


def test_a_spectator_sees_no_hand() -> None:
    board = VIEW.text_board(sit.situation(hands=["2 blue"], under="T10").observation(None))
    assert "Your" not in board
    assert "returned ones: ?" in board


def test_boards_fit_a_terminal_at_every_node() -> None:
    for seed, temper in enumerate(recorded.TEMPERS):
        for match in recorded.play(4, sit.options(), seed, temper, leaving=0.005):
            for viewer in (None, 0, 3):
                for line in VIEW.text_board(match.state.observation(viewer)).splitlines():
                    assert len(line) <= 80
                    assert line.isascii()
                    assert line == line.rstrip()


def test_at_the_end_the_board_shows_the_scores() -> None:
    state = sit.situation(2, row="", deck="", unknown="", owner={"R03": 0, "R12": 0}, tickets={0: "T01 T06"})
    sit.act(state, "pass()", "pass()")
    board = VIEW.text_board(state.observation(None))
    assert "Seat 0 scored 0: routes 3, tickets -5 (completed T01; failed T06), attractions" in board


def test_a_replaced_box_is_shown_as_it_is() -> None:
    box = GAME.default_data()
    box["locations"][0]["name"] = "Harlem"
    box["locations"][0]["code"] = "HA"
    for entry in (*box["routes"], *box["tickets"]):
        for end in ("from", "to"):
            if entry[end] == "LC":
                entry[end] = "HA"
    board = VIEW.text_board(GAME.new_initial_state(2, sit.options(data=box)).observation(0))
    assert "HA Harlem" in board
    assert "Lincoln" not in board


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("pass()", "Pass."),
        ("stop()", "Do without the second card."),
        ("draw()", "Draw the top card of the deck, unseen."),
        ("take(card=red)", "Take a face-up red card."),
        ("draw_tickets()", "Draw tickets."),
        ("claim(route=R40,card=blue,taxis=0)", "Claim route R40, its price paid with blue cards."),
        ("claim(route=R40,card=blue,taxis=1)", "Claim route R40, its price paid with blue cards and 1 taxi card."),
        ("claim(route=R40,card=blue,taxis=2)", "Claim route R40, its price paid with blue cards and 2 taxi cards."),
        ("claim(route=R40,card=taxi,taxis=3)", "Claim route R40, its price paid with taxi cards only."),
        ("keep(tickets=[T01,T05])", "Keep T01 and T05."),
    ],
)
def test_actions_in_a_sentence(text: str, sentence: str) -> None:
    assert VIEW.describe_action(GAME.parse_action(text)) == sentence


@pytest.mark.parametrize(
    ("payload", "sentence"),
    [
        (ev.FirstPlayer(2), "Seat 2 has the first turn."),
        (ev.CardDrawn(1, ""), "Seat 1 drew a card unseen."),
        (ev.CardDrawn(1, "taxi"), "Seat 1 drew a taxi card unseen."),
        (ev.CardTaken(0, "red"), "Seat 0 took a face-up red card."),
        (ev.CardTurnedUp("pink"), "A pink card was turned up."),
        (ev.RowFlushed((1, 0, 0, 1, 0, 0, 3)), "The row was flushed: 1 red, 1 blue, 3 taxi."),
        (ev.DeckReshuffled((1, 2, 0, 0, 0, 0, 0)), "The 3 discards became the new deck."),
        (ev.TicketDrawn(0, ""), "Seat 0 drew a ticket."),
        (ev.TicketDrawn(0, "T07"), "Seat 0 drew ticket T07."),
        (ev.TicketsKept(0, 1, 1, (), ()), "Seat 0 kept 1 ticket and returned 1."),
        (ev.TicketsKept(0, 2, 0, (), ()), "Seat 0 kept 2 tickets."),
        (ev.TicketsKept(0, 1, 1, ("T01",), ("T02",)), "Seat 0 kept T01 and returned T02."),
        (ev.RouteClaimed(3, "R41", "black", 0), "Seat 3 claimed route R41 with black cards."),
        (ev.Stopped(1), "Seat 1 did without a second card."),
        (ev.Passed(1), "Seat 1 passed."),
        (ev.LastTurns(1), "Seat 1 is down to two taxis or fewer: everybody has one more turn."),
        (ev.SeatLeft(1), "Seat 1 left; its routes stay, its cards and tickets are out of play."),
        (
            ev.SeatScore(1, 20, -12, 9, (), ("T02",)),
            "Seat 1 scored 17: routes 20, tickets -12 (completed none; failed T02), attractions 9.",
        ),
    ],
)
def test_events_in_a_sentence(payload: ev.Payload, sentence: str) -> None:
    assert VIEW.describe_event(payload) == sentence


def test_no_field_of_an_event_has_a_default() -> None:
    """So that nobody leaves out by mistake whom an account is for."""
    for cls in ev.Payload.__args__:
        assert all(field.default is not None for field in fields(cls))
