"""The end, points and ranks (sheet section 6)."""

from typing import Any

import pytest

from referee.games.manhattan_traffiq.events import FinalRound, Finished, Placed, TurnEnded

ALL_BUT_ONE = {2: "t0t0t0t0t0t0t0T0T0T0", 3: "t0t0t0t0T0T0", 4: "t0t0t0T0T0"}


def spread(pieces: str, y: int) -> dict[tuple[int, int], str]:
    return {(x, y): pieces[2 * x - 2 : 2 * x] for x in range(1, len(pieces) // 2 + 1)}


def nearly_done(pos: Any, players: int, **options: Any) -> Any:
    """Seat 0 needs one more taxi; it can place it on (3, 3), where row 3 has taxis of others."""
    vehicles = spread(ALL_BUT_ONE[players], 1) | {(6, 3): "t1", (7, 3): "t1"}
    hole = pos.grid(12, 4, (3, 3))
    return pos.position(hole, vehicles, players=players, hands=[["tttt"], *[[]] * (players - 1)], options=options)


LAY = "attach(face=tttt,x=3,y=3)"


@pytest.mark.parametrize("players", [2, 3, 4])
def test_who_places_the_last_vehicle_wins_at_once(players: int, pos: Any) -> None:
    state = nearly_done(pos, players)
    events = pos.act(state, LAY, "place(vehicle=taxi,x=3,y=3)")
    assert events[-2:] == [Placed(0, "taxi", 3, 3), Finished("all_placed")]
    assert state.is_terminal()
    assert state.decisions() == ()
    assert state.returns() == ({2: 14, 3: 9, 4: 8}[players], 2, *[0] * (players - 2))
    assert state.ranking() == {2: (1, 2), 3: (1, 2, 3), 4: (1, 2, 3, 3)}[players]


def test_vehicles_thrown_back_must_be_placed_again_for_the_instant_win(pos: Any) -> None:
    """Seat 1 has placed all but one before; one was thrown out, so two are missing."""
    state = nearly_done(pos, 4)
    assert state.fleet.taxis[0] == 1
    vehicles = {at: piece for at, piece in pos.on_map(state).items() if at != (1, 1)}
    again = pos.position(pos.grid(12, 4, (3, 3)), vehicles, players=4, hands=[["tttt"], [], [], []])
    pos.act(again, LAY, "place(vehicle=taxi,x=3,y=3)")
    assert not again.is_terminal()


def test_the_instant_win_can_come_on_any_of_several_placements(pos: Any) -> None:
    vehicles = spread(ALL_BUT_ONE[4], 1)
    state = pos.position(pos.grid(8, 6, (4, 3)), vehicles, players=4, hands=[["tttt"], [], [], []])
    pos.act(state, "attach(face=tttt,x=4,y=3)", "place(vehicle=taxi,x=5,y=4)")
    assert state.is_terminal()
    assert state.observation(0).open_vertices == ()


def test_the_last_tile_drawn_starts_the_final_round_and_its_drawer_plays_last(pos: Any) -> None:
    state = pos.position(pos.grid(2, 2), players=3, stock={"tttt": 1}, seat=1)
    pos.act(state, "draw()")
    events = [event.public for event in state.apply_chance("tttt")]
    assert events[1:] == [TurnEnded(1), FinalRound(2, "stock")]
    seen = state.observation(None)
    assert seen.final_round
    assert seen.owed == (0, 1, 2)
    turns = []
    while not state.is_terminal():
        turns.append(state.turn_seat)
        assert "draw()" not in pos.legal(state)
        pos.act(state, "end_turn()")
    assert turns == [2, 0, 1]


def test_in_the_final_round_hand_tiles_and_rides_may_be_used(pos: Any) -> None:
    state = pos.position(
        pos.grid(4, 3), {(1, 1): "t0"}, hands=[["tttt"], []], stock={}, final=True, owed=[0, 1], seat=0
    )
    assert {action.KIND for action in state.legal_actions(0)} == {"end_turn", "attach", "taxi"}
    pos.act(state, "attach(face=tttt,x=4,y=0)", "taxi(x=1,y=1,to_x=2,to_y=2)")
    assert pos.asked(state) == (1, "turn")


def test_the_instant_win_still_applies_in_the_final_round(pos: Any) -> None:
    vehicles = spread(ALL_BUT_ONE[4], 1)
    drawing = pos.grid(8, 6, (4, 3))
    state = pos.position(drawing, vehicles, players=4, hands=[["tttt"], [], [], []], stock={}, final=True, owed=[0, 1])
    events = pos.act(state, "attach(face=tttt,x=4,y=3)", "place(vehicle=taxi,x=5,y=4)")
    assert events[-1] == Finished("all_placed")


def test_after_the_final_round_most_points_win_and_hand_tiles_are_worthless(pos: Any) -> None:
    vehicles = {(1, 1): "T1", (2, 1): "t1", (1, 2): "t0", (2, 2): "T2"}
    state = pos.position(
        pos.grid(3, 3), vehicles, players=3, hands=[["tttt"] * 9, [], []], stock={}, final=True, owed=[2], seat=2
    )
    assert pos.act(state, "end_turn()") == [TurnEnded(2), Finished("final_round")]
    assert state.returns() == (1, 3, 2)
    assert state.ranking() == (3, 1, 2)


@pytest.mark.parametrize(
    ("vehicles", "ranking"),
    [
        ({}, (1, 1, 1)),
        ({(1, 1): "T0", (2, 1): "T1"}, (1, 1, 3)),
        ({(1, 1): "T0", (2, 1): "t1", (1, 2): "t2"}, (1, 2, 2)),
        ({(1, 1): "T0", (2, 1): "t1", (1, 2): "t1"}, (1, 1, 3)),
    ],
)
def test_equal_points_share_the_rank(vehicles: Any, ranking: tuple[int, ...], pos: Any) -> None:
    state = pos.position(pos.grid(3, 3), vehicles, players=3, stock={}, final=True, owed=[0])
    pos.act(state, "end_turn()")
    assert state.ranking() == ranking


def test_nothing_is_legal_after_the_end(pos: Any) -> None:
    state = pos.position(pos.grid(3, 3), stock={}, final=True, owed=[0])
    pos.act(state, "end_turn()")
    assert state.is_terminal()
    assert state.decisions() == ()
    assert state.legal_actions(0) == state.legal_actions(1) == ()
    assert list(state.chance_outcomes()) == []


@pytest.mark.parametrize("players", [2, 3, 4])
def test_matches_stay_within_the_proven_number_of_decisions(players: int, wander: Any, options: Any) -> None:
    from referee.games.manhattan_traffiq import GAME

    for given in ({}, {"no_progress_rounds": 0, "turn_limit": 40}, {"no_progress_rounds": 1}):
        asked = []
        wander(players, options(**given), 3, visit=lambda state, asked=asked: asked.extend(state.decisions()))
        assert len(asked) <= GAME.max_decisions(players, options(**given))
