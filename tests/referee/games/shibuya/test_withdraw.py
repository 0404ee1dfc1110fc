"""A seat leaves: the other side has won, and everything stays where it is."""

from typing import Any

import pytest

from referee.games.api import IllegalAction
from referee.games.shibuya import GAME
from referee.games.shibuya.actions import Build
from referee.games.shibuya.events import Finished, Withdrew


def nodes() -> dict[str, Any]:
    draw_place = GAME.new_initial_state(2, {})
    place = draw_place.clone()
    place.apply_chance(0)
    turn = GAME.new_initial_state(2, {"build_phase": False})
    draw_build = turn.clone()
    draw_build.apply({0: Build()})
    build = draw_build.clone()
    build.apply_chance(0)
    return {"draw_place": draw_place, "place": place, "turn": turn, "draw_build": draw_build, "build": build}


@pytest.mark.parametrize("phase", ["draw_place", "place", "turn", "draw_build", "build"])
@pytest.mark.parametrize("seat", [0, 1])
def test_at_any_node_the_other_player_wins(phase: str, seat: int) -> None:
    state = nodes()[phase]
    assert state.to_dict()["phase"] == phase
    before = GAME.conserved(state)
    events = [event.public for event in state.withdraw(seat)]
    assert events == [Withdrew(seat), Finished(1 - seat, "withdrawn")]
    assert state.is_terminal()
    assert state.decisions() == ()
    assert list(state.chance_outcomes()) == []
    assert state.ranking() == ((2, 1) if seat == 0 else (1, 2))
    assert GAME.conserved(state) == before
    assert GAME.state_from_dict(state.to_dict()).to_dict() == state.to_dict()


def test_who_leaves_loses_even_when_ahead(pos: Any) -> None:
    state = pos.position(pos.WHITE, red_goals=[1, 2])
    state.withdraw(0)
    assert state.returns() == (2, 0)
    assert state.ranking() == (2, 1)


def test_pedestrians_stay_where_they_are(pos: Any) -> None:
    state = pos.position(pos.WHITE.replace("wq wq", "wq wqR", 1))
    teams = state.to_dict()["teams"]
    state.withdraw(0)
    assert state.to_dict()["teams"] == teams


@pytest.mark.parametrize("seat", [-1, 2, 7])
def test_a_seat_that_does_not_exist_cannot_leave(seat: int) -> None:
    state = GAME.new_initial_state(2, {})
    with pytest.raises(IllegalAction, match="no seat"):
        state.withdraw(seat)
    assert not state.is_terminal()


@pytest.mark.parametrize("seat", [0, 1])
def test_nobody_leaves_a_finished_match(seat: int) -> None:
    state = GAME.new_initial_state(2, {})
    state.withdraw(0)
    with pytest.raises(IllegalAction, match="over"):
        state.withdraw(seat)
