"""The text board and the sentences."""

import re
from random import Random
from typing import Any

import pytest

from referee.games.king_of_new_york import GAME, actions, events
from referee.games.king_of_new_york.view import ACTION_SENTENCES, EVENT_SENTENCES

from . import matches
from .scenes import Scene


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_boards_stay_within_80_columns_and_plain_characters(players: int) -> None:
    def visit(state: Any) -> None:
        if state.turn % 5 == 0:
            board = GAME.view.text_board(state.observation(None))
            for line in board.splitlines():
                assert len(line) <= 80, line
                assert line == line.rstrip()
                assert line.isascii()

    matches.wander(players, 4, visit, matches.options(data=matches.cheap_data()))


def test_a_board_shows_what_a_player_looks_for() -> None:
    turn = Scene(
        "q b m1 -",
        life=[7, 9, 9, 0],
        vp=[3, 0, 0, 0],
        energy=[5, 0, 0, 0],
        cards={0: "stomp"},
        units={"queens": "jet"},
        market=["drain", "hunter", "curse"],
        superstar=1,
        statue=0,
    ).roll("eaadhc")
    board = GAME.view.text_board(turn.state.observation(0))
    assert "seat 0 is asked: dice" in board
    assert ">0   Captain Fish    7  3      5   Queens               Statue of Liberty" in board
    assert "keeps Stomp" in board
    assert "Midtown Manhattan, 2-4" in board
    assert "out (event 1)" in board
    assert "market Drain (4), Hunter (5), Curse (4)" in board
    assert "dice: 1 energy, 2 attack, 1 destruction, 1 heart, 1 celebrity\nrerolls left 2" in board
    assert re.search(r"^Queens .*\n +Units 1 jet$", board, re.MULTILINE)


def test_the_board_of_a_finished_match_names_the_winner() -> None:
    turn = Scene("q b m0", cards={0: "painbow"}).final("dddddd")
    assert "seat 0, Captain Fish, has won (painbow)" in GAME.view.text_board(turn.state.observation(None))


def test_there_is_a_sentence_for_everything() -> None:
    assert set(ACTION_SENTENCES) == {cls.KIND for cls in actions.CLASSES}
    assert set(EVENT_SENTENCES) == {cls.KIND for cls in events.CLASSES}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("reroll(counts=[1,0,2,0,0,0])", "Roll again: 1 energy, 2 destruction"),
        ("flee(borough=staten_island)", "Flee to Staten Island"),
        ("buy(card=drink_the_hudson)", "Buy Drink the Hudson"),
        ("hail(use=true)", "Add the Destruction of Hailing Cabs, for Units only"),
        ("absorb(energy=0)", "Take all the damage"),
    ],
)
def test_actions_read_well(text: str, sentence: str) -> None:
    assert GAME.view.describe_action(GAME.parse_action(text)) == sentence


@pytest.mark.parametrize(
    ("payload", "sentence"),
    [
        (events.Gained(1, "vp", -3, "statue_of_liberty"), "Seat 1 loses 3 VP (statue of liberty)"),
        (events.Moved(2, "manhattan", 4, "advance"), "Seat 2 is in Midtown Manhattan now (advance)"),
        (events.GoalMoved("superstar", 1, -1), "Seat 1 takes Superstar"),
        (events.GoalMoved("statue_of_liberty", -1, 1), "The Statue of Liberty goes back to the table"),
        (events.Finished(-1, "all_eliminated"), "The match is over, nobody wins (all eliminated)"),
        (events.TurnBegan(0, True), "Seat 0 begins an extra turn"),
    ],
)
def test_events_read_well(payload: Any, sentence: str) -> None:
    assert GAME.view.describe_event(payload) == sentence


def test_every_sentence_of_random_matches_is_one_plain_line() -> None:
    rng = Random(1)
    state = GAME.new_initial_state(6, matches.options(data=matches.cheap_data()))
    while not state.is_terminal():
        for decision in state.decisions():
            for action in state.legal_actions(decision.seat):
                assert "\n" not in GAME.view.describe_action(action)
        for event in matches.step(state, rng):
            sentence = GAME.view.describe_event(event.public)
            assert sentence
            assert sentence.isascii()
            assert "{" not in sentence
