"""What only this game's drawing has: streets to compete on, and free cells."""

import re
from typing import Any

from referee.games.drawing import Look, draw_board
from referee.games.manhattan_traffiq import GAME

from . import positions as pos


def titles(svg: str) -> dict[str, str]:
    return dict(re.findall(r'<g data-place="([^"]+)"[^>]*><title>([^<]*)</title>', svg))


def drawn(state: Any) -> str:
    seat = state.decisions()[0].seat
    return draw_board(GAME, state.observation(seat), Look(legal=state.legal_actions(seat), styled=False))


def test_a_street_that_can_be_competed_on_is_a_button_from_end_to_end() -> None:
    state = pos.position(pos.grid(4, 4, (1, 1)), {(3, 1): "t1"}, hands=[["tttt"], []])
    pos.act(state, "attach(face=tttt,x=1,y=1)", "place(vehicle=truck,x=2,y=1)")
    svg = drawn(state)
    assert titles(svg)["street:h"] == "street h from (0, 1) to (4, 1)"
    assert 'data-place="street:h" class="can" data-action="1"' in svg


def test_a_street_to_compete_on_ends_at_a_park() -> None:
    rows = ["+--+--+--+--+", "|  |  |  |  |", "+--+--+--+..+", "|  |XX|  |  |", "+--+--+--+--+"]
    state = pos.position("\n".join(rows), {(2, 1): "t1"}, hands=[["tttt"], []])
    pos.act(state, "attach(face=tttt,x=1,y=0)", "place(vehicle=truck,x=1,y=1)")
    assert titles(drawn(state))["street:h"] == "street h from (0, 1) to (3, 1)"


def test_free_cells_that_a_tile_fits_on_are_drawn_for_whoever_may_attach() -> None:
    state = pos.position(pos.grid(2, 2), hands=[["tttt"], []])
    told = titles(drawn(state))
    assert told["cell:2,0"] == "free cell (2, 0)"
    assert "cell:2,0" not in titles(draw_board(GAME, state.observation(1), Look(styled=False)))


def test_a_map_of_any_size_keeps_cells_that_can_be_read() -> None:
    svg = draw_board(GAME, pos.position(pos.grid(20, 1)).observation(None), Look(styled=False))
    box = re.search(r'viewBox="0 0 (\d+) (\d+)"', svg)
    assert box is not None
    assert int(box[1]) >= 20 * 25
