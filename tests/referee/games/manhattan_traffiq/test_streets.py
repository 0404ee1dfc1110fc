"""The street model: segments, vertices, maximal straight runs (sheet section 2)."""

from typing import Any

import pytest

PLAIN = """
+--+--+--+--+
|  |  |  |  |
+--+--+--+--+
|  |  |  |  |
+--+--+--+--+
|  |  |  |  |
+--+--+--+--+
"""
# Around vertex (2, 2): what stands north, east, south and west of it is filled in.
ONE = """
+--+--+--+--+
|  |  N  |  |
+--+--+--+--+
|  |  N  |  |
+--+WW+EE+--+
|  |  S  |  |
+--+--+--+--+
|  |  |  |  |
+--+--+--+--+
"""


def around(north: str, east: str, south: str, west: str) -> str:
    return ONE.replace("N", north).replace("EE", east).replace("S", south).replace("WW", west)


def test_a_crossing_lies_on_one_horizontal_and_one_vertical_street(pos: Any) -> None:
    state = pos.position(PLAIN)
    assert pos.streets(state, (2, 1)) == {"h": pos.row(1, 0, 4), "v": pos.column(2, 0, 3)}


def test_sides_without_a_neighbour_are_no_segments(pos: Any) -> None:
    """The rim of the map: half streets may not be used."""
    state = pos.position(PLAIN)
    assert pos.streets(state, (2, 0)) == {"v": pos.column(2, 0, 3)}
    assert pos.streets(state, (0, 0)) == {}


def test_a_vertex_is_complete_when_all_four_cells_hold_tiles(pos: Any) -> None:
    state = pos.position(PLAIN)
    inner = {(x, y) for x in (1, 2, 3) for y in (1, 2)}
    assert {state.tables.xy[vertex] for vertex in state.city.links} == inner


@pytest.mark.parametrize("colour", ["..", "~~"])
def test_park_and_water_carry_no_street(colour: str, pos: Any) -> None:
    state = pos.position(around("|", colour, "|", "--"))
    assert pos.streets(state, (2, 2))["h"] == pos.row(2, 0, 2)
    assert pos.streets(state, (3, 2))["h"] == pos.row(2, 3, 4)


def test_a_street_beyond_a_park_is_a_different_one(pos: Any) -> None:
    state = pos.position(
        """
        +--+--+--+--+--+
        |  |  |  |  |  |
        +--+--+..+--+--+
        |  |  |  |  |  |
        +--+--+--+--+--+
        """
    )
    assert pos.streets(state, (1, 1))["h"] == pos.row(1, 0, 2)
    assert pos.streets(state, (4, 1))["h"] == pos.row(1, 3, 5)


def test_a_street_ends_at_a_t_end(pos: Any) -> None:
    """No way on to the north: the vertical street ends at the vertex, the horizontal one goes through."""
    state = pos.position(around(":", "--", "|", "--"))
    assert pos.streets(state, (2, 2)) == {"h": pos.row(2, 0, 4), "v": pos.column(2, 0, 2)}


def test_a_bend_ends_two_streets_and_belongs_to_both(pos: Any) -> None:
    state = pos.position(around(":", "..", "|", "--"))
    assert pos.streets(state, (2, 2)) == {"h": pos.row(2, 0, 2), "v": pos.column(2, 0, 2)}


@pytest.mark.parametrize(
    ("sides", "streets"),
    [
        (("|", "--", "|", "--"), {"h", "v"}),
        (("|", "--", "|", ".."), {"h", "v"}),
        (("|", "--", ":", ".."), {"h", "v"}),
        (("|", "..", "|", ".."), {"v"}),
        ((":", "--", ":", "--"), {"h"}),
        ((":", "--", ":", ".."), {"h"}),
        ((":", "..", "~", "~~"), set()),
    ],
    ids=["crossing", "T", "bend", "straight down", "straight across", "dead end", "no street"],
)
def test_kinds_of_vertices_and_how_many_streets_they_lie_on(sides: Any, streets: set[str], pos: Any) -> None:
    assert set(pos.streets(pos.position(around(*sides)), (2, 2))) == streets


def test_a_change_from_red_to_beige_does_not_end_a_street(pos: Any) -> None:
    state = pos.position(around("#", "==", "|", "--"))
    assert pos.streets(state, (2, 2)) == {"h": pos.row(2, 0, 4), "v": pos.column(2, 0, 4)}


def test_streets_grow_together_when_a_tile_is_laid(pos: Any) -> None:
    state = pos.position(pos.grid(4, 2, (2, 0)), hands=[["tttt"], []])
    assert pos.streets(state, (1, 1))["h"] == pos.row(1, 0, 2)
    assert pos.streets(state, (3, 1))["h"] == pos.row(1, 3, 4)
    pos.act(state, "attach(face=tttt,x=2,y=0)")
    assert pos.streets(state, (1, 1))["h"] == pos.row(1, 0, 4)


def test_segments_join_their_two_vertices_only_when_both_are_complete(pos: Any) -> None:
    state = pos.position(PLAIN)
    links = {state.tables.xy[v]: {state.tables.xy[w] for w in beside} for v, beside in state.city.links.items()}
    assert links[1, 1] == {(2, 1), (1, 2)}
    assert links[2, 1] == {(1, 1), (3, 1), (2, 2)}
