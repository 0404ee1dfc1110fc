"""Attaching city tiles (sheet section 4 A)."""

from typing import Any

import pytest

from referee.games.api import IllegalAction
from referee.games.manhattan_traffiq.actions import Attach
from referee.games.manhattan_traffiq.events import Attached

# One tile: red in the north, park in the east, water in the south, beige in the west.
LONE = """
+==+
|  :
+~~+
"""
HOLE = """
+--+--+--+
|  #  :  |
+--+==+--+
~  #XX~  ~
+--+..+--+
|  :  #  |
+--+--+--+
"""


@pytest.mark.parametrize(("face", "x", "y"), [("ttrt", 0, 1), ("tttg", 1, 0), ("bttt", 0, -1), ("tttt", -1, 0)])
def test_the_touching_side_must_have_the_same_colour(face: str, x: int, y: int, pos: Any) -> None:
    name = min(face[i:] + face[:i] for i in range(4))
    state = pos.position(LONE, hands=[[name], []])
    assert Attach(face, x, y) in state.legal_actions(0)
    assert pos.act(state, f"attach(face={face},x={x},y={y})") == [Attached(0, face, x, y)]
    assert state.observation(0).hands[0] == ()
    assert {(tile.x, tile.y): tile.face for tile in state.city.tiles} == {(0, 0): "rgbt", (x, y): face}


def test_red_does_not_match_beige_although_both_are_streets(pos: Any) -> None:
    state = pos.position(LONE, hands=[["tttt"], []])
    assert pos.legal(state, "attach") == ["attach(face=tttt,x=-1,y=0)"]
    with pytest.raises(IllegalAction, match=r"does not match the neighbours of cell \(0, 1\)"):
        state.apply({0: Attach("tttt", 0, 1)})


def test_a_tile_may_be_turned_but_not_flipped(pos: Any) -> None:
    """The four ways in which bgrt fits one of the four sides; its mirror image btrg would fit as btrg and rgbt."""
    state = pos.position(LONE, hands=[["bgrt"], []])
    assert pos.legal(state, "attach") == [
        "attach(face=bgrt,x=0,y=-1)",
        "attach(face=rtbg,x=-1,y=0)",
        "attach(face=rtbg,x=1,y=0)",
        "attach(face=bgrt,x=0,y=1)",
    ]


def test_every_side_of_a_hole_must_match(pos: Any) -> None:
    """The hole of this map has red in the north, water in the east, park in the south, red in the west."""
    state = pos.position(HOLE, hands=[["brgr", "rrrr", "bgrr"], []])
    in_hole = [text for text in pos.legal(state, "attach") if text.endswith("x=1,y=1)")]
    assert in_hole == ["attach(face=rbgr,x=1,y=1)"]


def test_holes_may_be_filled(pos: Any) -> None:
    state = pos.position(HOLE, hands=[["bgrr"], []])
    pos.act(state, "attach(face=rbgr,x=1,y=1)")
    assert len(state.city.tiles) == 9


def test_touching_a_corner_only_is_not_attaching(pos: Any) -> None:
    state = pos.position(pos.grid(1, 1), hands=[["tttt"], []])
    assert pos.legal(state, "attach") == [
        f"attach(face=tttt,x={x},y={y})" for x, y in ((0, -1), (-1, 0), (1, 0), (0, 1))
    ]
    with pytest.raises(IllegalAction, match=r"\(1, 1\) is not a free cell beside the map"):
        state.apply({0: Attach("tttt", 1, 1)})


def test_rotations_are_distinct_actions_where_they_look_different(pos: Any) -> None:
    state = pos.position(LONE, hands=[["rttt"], []])
    west = [text for text in pos.legal(state, "attach") if text.endswith("x=-1,y=0)")]
    assert west == [f"attach(face={face},x=-1,y=0)" for face in ("rttt", "ttrt", "tttr")]


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (Attach("rttr", -1, 0), "no tile in hand lies as 'rttr'"),
        (Attach("bbbb", -1, 0), "no tile in hand lies as 'bbbb'"),
        (Attach("zzzz", -1, 0), "no tile in hand lies as 'zzzz'"),
        (Attach("", -1, 0), "no tile in hand lies as ''"),
        (Attach("tttt", 0, 0), "not a free cell beside the map"),
        (Attach("tttt", 5, 5), "not a free cell beside the map"),
        (Attach("tttt", 10**6, 0), "not a free cell beside the map"),
        (Attach("tttt", True, 0), "not a free cell beside the map"),
        (Attach("tttt", -1.0, 0), "not a free cell beside the map"),  # type: ignore[arg-type]
        (Attach(["tttt"], -1, 0), "no tile in hand"),  # type: ignore[arg-type]
    ],
)
def test_an_attachment_that_is_not_possible_is_refused_and_changes_nothing(action: Any, said: str, pos: Any) -> None:
    state = pos.position(LONE, hands=[["tttt"], ["rrtt"]])
    before = state.to_dict()
    with pytest.raises(IllegalAction, match=said):
        state.apply({0: action})
    assert state.to_dict() == before


def test_one_of_two_equal_tiles_is_used_up(pos: Any) -> None:
    state = pos.position(LONE, hands=[["rttt", "rttt", "tttt"], []])
    pos.act(state, "attach(face=tttr,x=-1,y=0)")
    assert state.observation(0).hands[0] == ("rttt", "tttt")


def test_actions_are_ordered_by_name_then_from_south_then_west_then_by_face(pos: Any) -> None:
    state = pos.position(LONE.replace("==", "--").replace("~~", "--").replace(":", "|"), hands=[["tttt", "rrtt"], []])
    assert pos.legal(state, "attach") == [
        *(f"attach(face={face},x=0,y=-1)" for face in ("trrt", "ttrr")),
        *(f"attach(face={face},x=-1,y=0)" for face in ("rttr", "ttrr")),
        *(f"attach(face={face},x=1,y=0)" for face in ("rrtt", "trrt")),
        *(f"attach(face={face},x=0,y=1)" for face in ("rrtt", "rttr")),
        *(f"attach(face=tttt,x={x},y={y})" for x, y in ((0, -1), (-1, 0), (1, 0), (0, 1))),
    ]
