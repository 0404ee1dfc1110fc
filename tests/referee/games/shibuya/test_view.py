"""The text board and the sentences."""

from typing import Any

import pytest

from referee.games.shibuya import GAME
from referee.games.shibuya.actions import Build, Move, Pass, Place
from referee.games.shibuya.events import (
    BuildChosen,
    Finished,
    Moved,
    Passed,
    TileDrawn,
    TilePlaced,
    Withdrew,
)

from . import positions as pos
from .positions import wander

VIEW = GAME.view
BOARD = """
ko kq wo wq ko kq wo wq
wq wo kq ko wq wo kq ko
ko ko wq wqB kq kq wo wo
wo wo kq kqR ko ko wq wq
ko kq .. .. ko wq ko wq
wq wo .. .. wq ko wq ko
wqR wq ko ko kq wo kq wo
wq wqB ko koR wo kq wo kq
"""
DRAWN = """\
Shibuya, 2 players: crossing, turn 32, seat 1 (blue) places the tile drawn

           {r0} {r1}   {R2} {r3}   {r4} {R5}   {r6} {r7}
         +-----------+-----------+-----------+-----------+
   B7 7  | (##) [##] | (  ) [  ] | (##) [##] | (  ) [  ] |  {b7}
   B6 6  | [  ] (  ) | [##] (##) | [  ] (  ) | [##] (##) |  {b6}
         +-----------+-----------+-----------+===========+
   B5 5  | (##) (##) | [  ] [B ] | [##] [##] | (  ) (  ) |  {b5}
   -- 4  | (  ) (  ) | [##] [R#] | (##) (##) | [  ] [  ] |  {b4}
         +-----------+-----------+-----------+-----------+
   -- 3  | (##) [##] |           | (##) [  ] | (##) [  ] |  {B3}
   B2 2  | [  ] (  ) |           | [  ] (##) | [  ] (##) |  {b2}
         +===========+-----------+-----------+-----------+
   -- 1  | [R ] [  ] | (##) (##) | [##] (  ) | [##] (  ) |  {b1}
   B0 0  | [  ] [B ] | (##) (R#) | (  ) [##] | (  ) [##] |  {b0}
         +-----------+-----------+-----------+-----------+
            0    1      2    3      4    5      6    7
            --   R1     --   --     R4   --     R6   --

(##) black round, [##] black square, (  ) white round, [  ] white square,
R B pedestrians on them; R3 waits at start 3, -- left, {r3} red goal field 3,
{R3} with a pedestrian in it; === above a slot: two tiles, no third.

red   in goal 2, on the grid 3, waiting 3
blue  in goal 1, on the grid 2, waiting 5
4 in goal win, a lead of 3 too. Passes in a row: 0.
12 tiles in stock, clockwise from the top left (k black, w white, o round, q
  square): ko-ko-ko-ko*11, ko-wo-wq-kq

        turn 0       turn 1
tile    (##) [##]    [##] (##)
        [##] (##)    (##) [##]
"""


@pytest.fixture
def state() -> Any:
    return pos.position(
        BOARD,
        build_phase=False,
        seat=1,
        doubled=(0, 11),
        red_goals=[2, 5],
        blue_goals=[3],
        red_waits=[1, 4, 6],
        blue_waits=[0, 2, 5, 6, 7],
        turns=31,
        stock=("ko wo wq kq", "ko kq ko kq"),
    )


def test_a_board_shows_tiles_pedestrians_starts_goals_and_stock(state: Any) -> None:
    state.apply({1: Build()})
    state.apply_chance(10)
    assert VIEW.text_board(state.observation(None)) + "\n" == DRAWN


@pytest.mark.parametrize("players", [2, 4])
def test_boards_are_ascii_of_at_most_80_columns_without_trailing_blanks(players: int) -> None:
    def visit(state: Any) -> None:
        board = VIEW.text_board(state.observation(None))
        assert board.isascii()
        for line in board.split("\n"):
            assert len(line) <= 80
            assert line == line.rstrip()

    wander(players, {"move_cap": 50, "goal_capacity": 2}, 1, visit)
    wander(players, {"move_cap": 50, "build_phase": False, "tile_set": "X"}, 1, visit)


def test_the_first_line_says_what_is_going_on(state: Any) -> None:
    def headline(of: Any) -> str:
        return VIEW.text_board(of.observation(None)).split("\n")[0]

    four = GAME.new_initial_state(4, {})
    assert headline(four) == "Shibuya, 4 players: street building, seat 0 (red S) draws a tile"
    four.apply_chance(3)
    assert headline(four) == "Shibuya, 4 players: street building, seat 0 (red S) places the tile drawn"
    four.withdraw(2)
    assert headline(four) == "Shibuya, 4 players: over, blue wins: a seat left"
    assert headline(state) == "Shibuya, 2 players: crossing, turn 32, seat 1 (blue) moves or builds"
    state.apply({1: Build()})
    assert headline(state) == "Shibuya, 2 players: crossing, turn 32, seat 1 (blue) builds and draws a tile"
    named = VIEW.text_board(four.observation(None), ("a", "b", "c", "d")).split("\n")[0]
    assert named == "Shibuya, 4 players: over, b and d (blue) win: a seat left"


def test_shared_goal_fields_are_counted() -> None:
    state = pos.position(pos.WHITE, red_goals=[2, 2, 5], goal_capacity=2, lead_to_win=0)
    board = VIEW.text_board(state.observation(None))
    assert "red   in goal 3, on the grid 0, waiting 5 (2 in goal field 2)" in board
    assert "6 in goal win. Passes in a row: 0." in board


SEEN = GAME.new_initial_state(4, {}).observation(None)


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        (Move(66, 18), "Move pedestrian 2 from its start to (2, 2)"),
        (Move(18, 67), "Move from (2, 2) into goal field 3"),
        (Place(6, 0), "Lay the tile on slot (2, 1)"),
        (Place(6, 3), "Lay the tile on slot (2, 1), turned 270 degrees clockwise"),
        (Build(), "Draw a tile and build"),
        (Pass(), "Pass"),
    ],
)
def test_actions_in_a_sentence(action: Any, sentence: str) -> None:
    assert VIEW.action_sentence(action, SEEN) == sentence


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        (BuildChosen(0), "greedy builds"),
        (TileDrawn(1, 4), "mine draws the tile black round, black square, white round, black square"),
        (TilePlaced(2, 4, 5, 1, False), "walker lays the tile on slot (1, 1), turned 90 degrees clockwise"),
        (TilePlaced(2, 4, 5, 0, True), "walker lays the tile on slot (1, 1), covering another"),
        (Moved(0, 66, 18), "greedy moves pedestrian 2 from its start to (2, 2)"),
        (Passed(3), "search passes"),
        (Withdrew(1), "mine leaves the match"),
        (Finished(0, "lead"), "the match is over, greedy and walker (red) win: the winning lead"),
        (Finished(-1, "move_cap"), "the match is over, a draw: the turn cap"),
    ],
)
def test_events_in_a_sentence(event: Any, sentence: str) -> None:
    assert VIEW.event_sentence(event, SEEN, ("greedy", "mine", "walker", "search")) == sentence
