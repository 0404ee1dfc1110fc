"""Set-up (sheet section 3)."""

from typing import Any

import pytest

from referee.games.api import Draw, IllegalAction, PlayersError, Roll
from referee.games.manhattan_traffiq import GAME
from referee.games.manhattan_traffiq.events import StartPlayer, TileDrawn


@pytest.mark.parametrize("players", [1, 5, 0])
def test_it_is_a_game_for_two_to_four(players: int, options: Any) -> None:
    with pytest.raises(PlayersError, match=f"for 2 to 4 players, not {players}"):
        GAME.new_initial_state(players, options())


def test_a_random_seat_begins_then_everyone_is_dealt_two_tiles(options: Any) -> None:
    state = GAME.new_initial_state(3, options())
    assert state.chance_stream() == Roll("start_player", 0, 0)
    assert list(state.chance_outcomes()) == [(0, 1), (1, 1), (2, 1)]
    assert [event.public for event in state.apply_chance(1)] == [StartPlayer(1)]
    for seat in (0, 0, 1, 1, 2, 2):
        assert state.chance_stream() == Draw("tiles", 0)
        (event,) = state.apply_chance(state.chance_outcomes()[0][0])
        assert event.public == TileDrawn(seat, "")
    assert state.decisions()[0].seat == 1
    assert state.decisions()[0].kind == "turn"
    assert state.observation(None).hand_sizes == (2, 2, 2)
    assert state.observation(None).stock == 44 - 6


def test_seat_0_can_be_made_to_begin(options: Any) -> None:
    state = GAME.new_initial_state(2, options(start_player="seat_0"))
    assert state.chance_stream() == Draw("tiles", 0)
    assert state.turn_seat == 0


def test_the_weights_of_a_draw_are_the_tiles_left(options: Any) -> None:
    state = GAME.new_initial_state(2, options(start_player="seat_0"))
    before = dict(state.chance_outcomes())
    assert sum(before.values()) == 44
    assert before["rrtt"] == 4
    state.apply_chance("rrtt")
    assert dict(state.chance_outcomes()) == {**before, "rrtt": 3}


@pytest.mark.parametrize("outcome", ["rrrx", "zzzz", 3, None])
def test_only_what_is_left_can_be_drawn(outcome: Any, options: Any) -> None:
    state = GAME.new_initial_state(2, options(start_player="seat_0"))
    before = state.to_dict()
    with pytest.raises(IllegalAction, match="not in the stock"):
        state.apply_chance(outcome)
    assert state.to_dict() == before


@pytest.mark.parametrize("outcome", [3, -1, "0", True])
def test_only_a_seat_can_begin(outcome: Any, options: Any) -> None:
    with pytest.raises(IllegalAction, match="not a seat that can begin"):
        GAME.new_initial_state(3, options()).apply_chance(outcome)


@pytest.mark.parametrize(
    ("given", "tiles"),
    [
        ({}, {(0, 0): "rrtt", (1, 0): "ttrr", (1, 1): "rrtt", (2, 1): "ttrr"}),
        ({"times_square_layout": "T"}, {(0, 0): "rrtt", (1, 0): "ttrr", (2, 0): "rttt", (1, 1): "trtr"}),
        ({"times_square_layout": "L"}, {(0, 0): "rrtt", (1, 0): "ttrr", (2, 0): "rrtt", (2, 1): "ttrr"}),
    ],
)
def test_times_square_lies_out_in_the_chosen_shape(given: dict[str, Any], tiles: Any, options: Any) -> None:
    seen = GAME.new_initial_state(2, options(**given)).observation(None)
    assert {(tile.x, tile.y): tile.face for tile in seen.map.tiles} == tiles


@pytest.mark.parametrize(("shape", "vertices"), [("Z", 2), ("T", 2), ("L", 2)])
def test_a_lucky_start_player_can_complete_two_vertices_in_the_first_turn(
    shape: str, vertices: int, options: Any
) -> None:
    """What spieletest.at reports, and the reason for these shapes: some two cells complete two vertices."""
    cells = {(tile["x"], tile["y"]) for tile in GAME.default_data()["layouts"]["times_square"][shape]}
    near = [(x, y) for x in range(-1, 4) for y in range(-1, 4) if (x, y) not in cells]

    def complete(laid: set[tuple[int, int]]) -> int:
        corners = {(x + dx, y + dy) for x, y in laid for dx in (0, 1) for dy in (0, 1)}
        return sum(all((x - dx, y - dy) in laid for dx in (0, 1) for dy in (0, 1)) for x, y in corners)

    assert complete(cells) == 0
    assert max(complete(cells | {one, two}) for one in near for two in near) == vertices


def test_nobody_can_place_a_vehicle_inside_central_park(options: Any) -> None:
    state = GAME.new_initial_state(2, options(scenario="central_park"))
    inside = {(x, 1) for x in range(1, 5)}
    assert {state.tables.xy[vertex] for vertex in state.city.links} == inside
    assert not any(state.city.neighbours(vertex) for vertex in state.city.links)


@pytest.mark.parametrize("scenario", ["times_square", "central_park"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_matches_of_both_scenarios_are_played_to_the_end(
    scenario: str, players: int, wander: Any, options: Any
) -> None:
    final = wander(players, options(scenario=scenario), 7)
    assert final.is_terminal()
    assert min(final.ranking()) == 1
