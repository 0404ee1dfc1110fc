"""The text board and the sentences."""

from dataclasses import fields
from typing import Any, get_args

import pytest

from referee.games.manhattan_traffiq import GAME
from referee.games.manhattan_traffiq import events as ev
from referee.games.manhattan_traffiq.actions import TEXT
from referee.games.manhattan_traffiq.events import TraffiqEvent

from . import positions as pos
from .positions import options, wander

BOARD = """\
     0     1     2     3
   2 .  t  .  r  .  t  .
     t     ║     g     b
   1 . ────t0 gg T1────.
     t     │     b     t
   0 .  t  .  b  .  t  .

+ complete vertex   . incomplete   t0 taxi, T0 truck of seat 0
══ red street   ── beige street   gg park   bb water
r t g b between dots: colour of an open side (r red, t beige: half streets;
g park, b water)

seat 0 (red): 1 point, supply 7 taxis, 3 trucks, hand rrrr tttt  <- turn
seat 1 (yellow): 2 points, supply 8 taxis, 2 trucks, hand 1 tile
stock 9 tiles, 0 turns played
unseen tiles: bbbb tttt*9
"""
DRAWING = """
+--+==+--+
|  #  :  ~
+--+..+--+
|  |  ~  |
+--+~~+--+
"""


def test_the_board_shows_streets_vertices_vehicles_and_seats() -> None:
    state = pos.position(DRAWING, {(1, 1): "t0", (2, 1): "T1"}, hands=[["tttt", "rrrr"], ["bbbb"]])
    assert GAME.view.text_board(state.observation(0)) + "\n" == BOARD


def test_a_free_complete_vertex_is_a_plus() -> None:
    assert "   1 . ────+  gg + ────." in GAME.view.text_board(pos.position(DRAWING).observation(None))


def test_a_hidden_hand_is_a_number() -> None:
    state = pos.position(pos.grid(2, 2), hands=[["tttt", "rrrr"], ["bbbb"]])
    board = GAME.view.text_board(state.observation(1))
    assert "hand 2 tiles  <- turn" in board
    assert "hand bbbb" in board


def test_a_missing_tile_leaves_a_gap_with_the_colours_of_the_sides_around_it() -> None:
    lines = GAME.view.text_board(pos.position(pos.grid(3, 3, (1, 1))).observation(None)).splitlines()
    assert lines[3:6] == [
        "   2 . ────.  t  . ────.",
        "     t     t     t     t",
        "   1 . ────.  t  . ────.",
    ]


def test_a_wide_map_is_drawn_in_panels() -> None:
    board = GAME.view.text_board(pos.position(pos.grid(20, 1)).observation(None))
    lines = board.splitlines()
    assert lines[0].split()[0] == "0"
    assert lines[5].split()[-1] == "20"
    assert max(map(len, lines)) <= 80


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("scenario", ["times_square", "central_park"])
def test_every_board_fits_80_columns_without_trailing_blanks(players: int, scenario: str) -> None:
    def visit(state: Any) -> None:
        for viewer in (0, None):
            for line in GAME.view.text_board(state.observation(viewer)).split("\n"):
                assert len(line) <= 80
                assert line == line.rstrip()

    wander(players, options(scenario=scenario), 4, visit)
    wander(players, options(scenario=scenario, hands="open"), 4, visit)


def test_the_board_says_what_is_asked() -> None:
    state = pos.position(pos.grid(4, 4, (1, 1)), {(3, 1): "t1"}, hands=[["tttt"], []])
    pos.act(state, "attach(face=tttt,x=1,y=1)")
    board = GAME.view.text_board(state.observation(1))
    assert board.endswith(
        "done this turn A\nunseen tiles: tttt*9\na vehicle may be placed on (1, 1) (2, 1) (1, 2) (2, 2)"
    )
    pos.act(state, "place(vehicle=truck,x=2,y=1)")
    board = GAME.view.text_board(state.observation(1))
    assert board.endswith("competing at (2, 1) is possible on the horizontal street")


def test_the_board_says_who_left_and_that_the_match_is_over() -> None:
    state = pos.position(pos.grid(2, 2))
    state.withdraw(1)
    board = GAME.view.text_board(state.observation(0))
    assert "seat 1 (yellow): left the match" in board
    assert board.endswith("the match is over")
    assert "1 mine (yellow): left the match" in GAME.view.text_board(state.observation(0), ("greedy", "mine"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("end_turn()", "End the turn"),
        ("draw()", "Draw a city tile"),
        ("attach(face=rgtb,x=1,y=-2)", "Attach a tile to (1, -2): north red, east park, south beige, west water"),
        ("taxi(x=1,y=1,to_x=2,to_y=3)", "Drive the taxi at (1, 1) to (2, 3)"),
        ("truck(x=1,y=1,to_x=2,to_y=1)", "Drive the truck at (1, 1) to (2, 1)"),
        ("place(vehicle=truck,x=1,y=1)", "Place a truck on (1, 1)"),
        ("decline()", "Decline"),
        ("compete(streets=[h,v])", "Compete on the horizontal street and the vertical street"),
        ("compete(streets=[w])", "Compete on the street to the west"),
    ],
)
def test_actions_in_plain_sentences(text: str, sentence: str) -> None:
    seen = pos.position(pos.grid(2, 2)).observation(None)
    assert GAME.view.action_sentence(TEXT.parse(text), seen) == sentence


SENTENCES = {
    ev.StartPlayer(1): "mine has the first turn",
    ev.TileDrawn(1, "rrtg"): "mine draws the tile red-red-beige-park",
    ev.TileDrawn(1, ""): "mine draws a tile",
    ev.Attached(0, "rgtb", 1, -2): "greedy attaches a tile to (1, -2): north red, east park, south beige, west water",
    ev.Placed(0, "taxi", 1, 1): "greedy places a taxi on (1, 1)",
    ev.Drove(0, "truck", 1, 1, 2, 1): "greedy drives a truck from (1, 1) to (2, 1)",
    ev.Competed(0, 1, 1, ("h",)): "greedy competes at (1, 1) on the horizontal street",
    ev.Returned(2, "taxi", 1, 1): "seat 2 takes its taxi at (1, 1) back",
    ev.Declined(0, "place"): "greedy places no further vehicle",
    ev.Declined(0, "compete"): "greedy does not compete",
    ev.TurnEnded(0): "greedy ends its turn",
    ev.FinalRound(1, "stock"): "the final round begins with mine: the last tile has been drawn",
    ev.FinalRound(1, "no_progress"): "the final round begins with mine: nobody attached or drew for too long",
    ev.FinalRound(1, "turn_limit"): "the final round begins with mine: the turn limit is reached",
    ev.Withdrew(1): "mine leaves the match; its vehicles leave the map",
    ev.Finished("all_placed"): "the match is over: a seat has all its vehicles on the map",
    ev.Finished("final_round"): "the match is over: the final round has been played",
    ev.Finished("last_seat"): "the match is over: one seat is left",
}


@pytest.mark.parametrize("event", SENTENCES)
def test_events_in_plain_sentences(event: Any) -> None:
    seen = pos.position(pos.grid(2, 2)).observation(None)
    assert GAME.view.event_sentence(event, seen, ("greedy", "mine")) == SENTENCES[event]


def test_every_kind_of_event_has_a_sentence_here() -> None:
    assert {type(event) for event in SENTENCES} == set(get_args(TraffiqEvent))
    assert all(fields(kind) for kind in get_args(TraffiqEvent))
