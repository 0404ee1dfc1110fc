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
    assert "Tickets:  15 unseen, then returned ones: Times Square to Brooklyn (8)" in lines
    assert "*  0       8     15      3        1  2 blue, 1 taxi" in lines
    assert "Your hand: 2 blue, 1 taxi" in lines
    assert "Your ticket: Lincoln Center (LC) - Empire State Building (ES), 3 points" in lines
    assert "6 points" not in board
    assert "=LC-TS   2 green  1" in board
    assert " CH-SO   4 pink   0" in board
    assert "=WS-BK   3 black  ." in board
    assert "Attractions: CP TS UN ES CH GV CT WS BK" in lines


def test_the_other_half_of_a_double_is_closed_with_two_and_open_with_three() -> None:
    for players, holder in ((2, "x"), (3, ".")):
        board = VIEW.text_board(sit.situation(players, owner={"R03": 1}).observation(None))
        assert f"=LC-TS   2 blue   {holder}" in board


def test_a_completed_ticket_is_marked() -> None:
    state = sit.situation(owner={"R03": 0, "R12": 0}, tickets={0: "T01 T06"})
    lines = VIEW.text_board(state.observation(0)).splitlines()
    assert "Your ticket: Lincoln Center (LC) - Empire State Building (ES), 3 points, done" in lines
    assert "Your ticket: Central Park (CP) - Chinatown (CT), 8 points" in lines


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
    assert (
        "seat 0 scores 0: routes 3, tickets -5 (completed Lincoln Center to Empire State\n"
        "Building (3); failed Central Park to Chinatown (8)), attractions 2"
    ) in board


def test_a_board_has_the_names_of_the_players() -> None:
    state = sit.situation(2, tickets={0: "T01"})
    lines = VIEW.text_board(state.observation(0), ("greedy", "a name that is long")).splitlines()
    assert lines[0] == "Seen by greedy. Turn of greedy: choose an action."
    assert any(line.startswith("*  0  greedy  ") for line in lines)
    assert any(line.startswith("   1  a name that   ") for line in lines)


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


SEEN = sit.situation(4).observation(None)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("pass()", "Pass"),
        ("stop()", "Do without a second card"),
        ("draw()", "Draw a card from the deck"),
        ("take(card=red)", "Take a face-up red card"),
        ("draw_tickets()", "Draw tickets"),
        ("claim(route=R08,card=taxi,taxis=1)", "Claim Midtown West to Times Square with 1 taxi"),
        ("claim(route=R40,card=blue,taxis=0)", "Claim Wall Street to Brooklyn with 3 blue"),
        ("claim(route=R40,card=blue,taxis=1)", "Claim Wall Street to Brooklyn with 2 blue and 1 taxi"),
        ("claim(route=R40,card=blue,taxis=2)", "Claim Wall Street to Brooklyn with 1 blue and 2 taxis"),
        ("claim(route=R40,card=taxi,taxis=3)", "Claim Wall Street to Brooklyn (blue) with 3 taxis"),
        ("claim(route=R16,card=red,taxis=0)", "Claim Empire State Building to Chelsea (first half) with 2 red"),
        ("claim(route=R17,card=red,taxis=0)", "Claim Empire State Building to Chelsea (second half) with 2 red"),
        ("keep(tickets=[T05])", "Keep Central Park to Gramercy Park (4)"),
        (
            "keep(tickets=[T01,T05])",
            "Keep Lincoln Center to Empire State Building (3) and Central Park to Gramercy Park (4)",
        ),
    ],
)
def test_actions_in_a_sentence(text: str, sentence: str) -> None:
    assert VIEW.action_sentence(GAME.parse_action(text), SEEN) == sentence


NAMES = ("greedy", "mine", "walker", "search")


@pytest.mark.parametrize(
    ("payload", "sentence"),
    [
        (ev.FirstPlayer(2), "walker has the first turn"),
        (ev.CardDrawn(1, ""), "mine draws a card from the deck"),
        (ev.CardDrawn(1, "taxi"), "mine draws a taxi card from the deck"),
        (ev.CardTaken(0, "red"), "greedy takes a face-up red card"),
        (ev.CardTurnedUp("orange"), "an orange card is turned up"),
        (ev.RowFlushed((1, 0, 0, 1, 0, 0, 3)), "the face-up cards are replaced: 1 red, 1 blue, 3 taxi"),
        (ev.DeckReshuffled((1, 2, 0, 0, 0, 0, 0)), "the 3 discards become the new deck"),
        (ev.TicketDrawn(0, ""), "greedy draws a ticket"),
        (ev.TicketDrawn(0, "T05"), "greedy draws ticket Central Park to Gramercy Park (4)"),
        (ev.TicketsKept(0, 1, 1, (), ()), "greedy keeps 1 ticket; returns 1"),
        (ev.TicketsKept(0, 2, 0, (), ()), "greedy keeps 2 tickets"),
        (
            ev.TicketsKept(0, 1, 1, ("T05",), ("T18",)),
            "greedy keeps Central Park to Gramercy Park (4); returns Lower East Side to Wall Street (2)",
        ),
        (ev.RouteClaimed(3, "R41", "black", 0), "search claims Wall Street to Brooklyn with 3 black"),
        (ev.Stopped(1), "mine does without a second card"),
        (ev.Passed(1), "mine passes"),
        (ev.LastTurns(1), "mine has two taxis or fewer left: everybody has one more turn"),
        (ev.SeatLeft(1), "mine leaves; its routes stay, its cards and tickets are out of play"),
        (
            ev.SeatScore(1, 20, -12, 9, (), ("T18", "T05", "T06")),
            "mine scores 17: routes 20, tickets -12 (completed none; failed Lower East Side to Wall Street (2),"
            " Central Park to Gramercy Park (4), 1 more), attractions 9",
        ),
    ],
)
def test_events_in_a_sentence(payload: ev.Payload, sentence: str) -> None:
    assert VIEW.event_sentence(payload, SEEN, NAMES) == sentence


def test_no_field_of_an_event_has_a_default() -> None:
    """So that nobody leaves out by mistake whom an account is for."""
    for cls in ev.Payload.__args__:
        assert all(field.default is not None for field in fields(cls))
