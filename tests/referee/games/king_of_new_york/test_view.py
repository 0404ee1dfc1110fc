"""The text board and the sentences."""

import re
from typing import Any

import pytest

from referee.games.king_of_new_york import GAME, actions, events
from referee.games.king_of_new_york.view import ACTION_SENTENCES, EVENT_SENTENCES

from . import matches
from .scenes import Scene

NAMES = ("greedy", "mine", "walker")
PLANT = "greedy destroys the power plant (3) on the third stack of Staten Island"


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
    assert "seat 0 is asked: keep or reroll" in board
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
    named = GAME.view.text_board(turn.state.observation(None), ("greedy", "mine", "walker"))
    assert "greedy, Captain Fish, has won (painbow)" in named


def test_there_is_a_sentence_for_everything() -> None:
    assert {*ACTION_SENTENCES, "destroy_building"} == {cls.KIND for cls in actions.CLASSES}
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
    seen = GAME.new_initial_state(3, matches.options()).observation(0)
    assert GAME.view.action_sentence(GAME.parse_action(text), seen, NAMES) == sentence


def test_a_building_is_named_with_its_place() -> None:
    turn = Scene("q b m1").roll("eaadhc")
    seen = turn.state.observation(0)
    sentence = GAME.view.action_sentence(actions.BUILDING_TARGETS[7], seen, NAMES)
    assert re.fullmatch(r"Destroy the [a-z ]+ \([123]\) on the second stack of Queens", sentence)


@pytest.mark.parametrize(
    ("payload", "sentence"),
    [
        (events.Gained(1, "vp", -3, "statue_of_liberty"), "mine loses 3 VP (Statue of Liberty)"),
        (events.Gained(1, "energy", 3, "drain"), "mine gains 3 energy (Drain)"),
        (events.Hurt(0, 2, 1, 1, "attack"), "greedy takes 2 damage (attack), 1 of it paid with energy"),
        (events.Moved(2, "manhattan", 4, "advance"), "walker advances to Midtown Manhattan"),
        (events.Moved(2, "staten_island", 6, "flee"), "walker flees to Staten Island"),
        (events.GoalMoved("superstar", 1, -1), "mine takes Superstar"),
        (events.GoalMoved("superstar", 1, 0), "mine takes Superstar from greedy"),
        (events.GoalMoved("statue_of_liberty", -1, 1), "the Statue of Liberty goes back to the table"),
        (events.Finished(-1, "all_eliminated"), "the match is over: nobody wins (all eliminated)"),
        (events.Finished(0, "victory_points"), "the match is over: greedy wins (victory points)"),
        (events.TurnBegan(0, True), "greedy begins an extra turn"),
        (events.Rolled(1, (2, 1, 0, 0, 0, 3)), "mine rolls 2 energy, 1 attack, 3 ouch"),
        (events.Rerolled(1, (0, 0, 0, 0, 0, 3)), "mine rerolls 3 ouch"),
        (events.TileShown(4, "high_rise_2"), "a high rise (2) comes up on the second stack of Brooklyn"),
        (events.BuildingDestroyed(0, 14, "power_plant_3"), PLANT),
        (events.Bought(0, "stomp", 3, "market"), "greedy buys Stomp for 3 energy"),
        (events.Bought(0, "stomp", 3, "discards"), "greedy buys Stomp for 3 energy out of the discards"),
        (events.Bought(0, "stomp", 0, "free"), "greedy gets Stomp for free"),
        (events.TokensChanged(0, "web", -1), "greedy loses 1 web token"),
    ],
)
def test_events_read_well(payload: Any, sentence: str) -> None:
    seen = GAME.new_initial_state(3, matches.options()).observation(None)
    assert GAME.view.event_sentence(payload, seen, NAMES) == sentence


def test_without_names_seats_have_their_numbers() -> None:
    seen = GAME.new_initial_state(3, matches.options()).observation(None)
    assert GAME.view.event_sentence(events.Withdrew(2), seen) == "seat 2 leaves the match"
