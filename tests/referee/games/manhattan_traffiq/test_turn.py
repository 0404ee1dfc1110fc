"""The turn: which actions, how many, in which order (sheet section 4)."""

from typing import Any

import pytest

from referee.games.api import IllegalAction
from referee.games.manhattan_traffiq.actions import Attach, Decline, DrawTile, EndTurn, Taxi, Truck
from referee.games.manhattan_traffiq.events import TileDrawn, TurnEnded
from referee.games.manhattan_traffiq.rules import FOLLOWING

SEQUENCES = {"", "A", "T", "L", "D", "AA", "AT", "AL", "AD", "TL", "LT", "TD", "LD", "DD"}
LETTERS = {"attach": "A", "taxi": "T", "truck": "L", "draw": "D"}


@pytest.fixture
def rich(pos: Any) -> Any:
    """Seat 0 can do anything: it has tiles, a taxi and a truck with room, and there is stock."""
    return pos.position(pos.grid(4, 4), {(1, 1): "t0", (3, 3): "T0"}, hands=[["tttt"] * 4, []])


def played(state: Any, done: str = "") -> set[str]:
    """All turns of seat 0 from here, by the letters of their actions."""
    if state.decisions()[0].seat != 0:
        return {done}
    found = set()
    if state.phase != "turn":
        state.apply({0: Decline()})
        return played(state, done)
    kinds = {action.KIND: action for action in state.legal_actions(0)}
    for kind, action in kinds.items():
        after = state.clone()
        after.apply({0: action})
        if after.chance_outcomes():
            after.apply_chance("tttt")
        found |= played(after, done + LETTERS.get(kind, ""))
    return found


def test_the_legal_turns_are_the_fourteen_of_the_sheet(rich: Any) -> None:
    assert played(rich) == SEQUENCES


def test_the_table_of_what_follows_what_is_the_fourteen_turns() -> None:
    spelled = {""} | set(FOLLOWING[""]) | {a + b for a in FOLLOWING[""] for b in FOLLOWING[a]}
    assert spelled == SEQUENCES


def test_ending_the_turn_comes_first_in_the_list_then_draw_rides_and_attaching(rich: Any) -> None:
    kinds = [action.KIND for action in rich.legal_actions(0)]
    assert kinds[:2] == ["end_turn", "draw"]
    assert list(dict.fromkeys(kinds)) == ["end_turn", "draw", "taxi", "truck", "attach"]


def test_a_turn_ends_by_itself_after_the_second_action(rich: Any, pos: Any) -> None:
    events = pos.act(rich, "taxi(x=1,y=1,to_x=1,to_y=2)", "truck(x=3,y=3,to_x=3,to_y=2)")
    assert events[-1] == TurnEnded(0)
    assert pos.asked(rich) == (1, "turn")


@pytest.mark.parametrize(
    ("done", "refused", "said"),
    [
        (["draw()"], Attach("tttt", 4, 0), "attached before rides and draws"),
        (["draw()"], Taxi(1, 1, 1, 2), "no taxi can drive now"),
        (["draw()"], Truck(3, 3, 3, 2), "no truck can drive now"),
        (["taxi(x=1,y=1,to_x=1,to_y=2)"], Attach("tttt", 4, 0), "attached before rides and draws"),
        (["taxi(x=1,y=1,to_x=1,to_y=2)"], Taxi(1, 2, 1, 1), "one ride of each kind"),
        (["truck(x=3,y=3,to_x=3,to_y=2)"], Truck(3, 2, 3, 3), "one ride of each kind"),
    ],
)
def test_attach_comes_before_rides_and_rides_before_drawing(
    done: list[str], refused: Any, said: str, rich: Any, pos: Any
) -> None:
    pos.act(rich, *done)
    if rich.chance_outcomes():
        rich.apply_chance("tttt")
    before = rich.to_dict()
    assert refused not in rich.legal_actions(0)
    with pytest.raises(IllegalAction, match=said):
        rich.apply({0: refused})
    assert rich.to_dict() == before


def test_a_tile_drawn_this_turn_cannot_be_attached_in_it(pos: Any) -> None:
    state = pos.position(pos.grid(2, 2))
    pos.act(state, "draw()")
    state.apply_chance("tttt")
    assert pos.legal(state) == ["end_turn()", "draw()"]
    pos.act(state, "end_turn()", "end_turn()")
    assert "attach(face=tttt,x=0,y=-1)" in pos.legal(state)


def test_a_draw_is_seen_by_its_drawer_only(pos: Any) -> None:
    state = pos.position(pos.grid(2, 2), stock={"tttt": 3, "rrrr": 2})
    assert pos.act(state, "draw()") == []
    assert list(state.chance_outcomes()) == [("rrrr", 2), ("tttt", 3)]
    (event,) = state.apply_chance("rrrr")
    assert event.seen_by(0) == TileDrawn(0, "rrrr")
    assert event.seen_by(1) == event.seen_by(None) == TileDrawn(0, "")


def test_the_hand_has_no_limit(pos: Any) -> None:
    state = pos.position(pos.grid(2, 2), hands=[["tttt"] * 30, []], stock={"tttt": 5})
    pos.act(state, "draw()")
    state.apply_chance("tttt")
    assert state.observation(0).hand_sizes == (31, 0)


@pytest.mark.parametrize("actions", [{}, {1: EndTurn()}, {0: EndTurn(), 1: EndTurn()}])
def test_only_the_seat_that_is_asked_answers(actions: Any, rich: Any) -> None:
    before = rich.to_dict()
    with pytest.raises(IllegalAction, match="seat 0 is asked"):
        rich.apply(actions)
    assert rich.to_dict() == before


@pytest.mark.parametrize("action", [Decline(), None, "end_turn()", 0])
def test_what_is_no_answer_to_the_question_is_refused(action: Any, rich: Any) -> None:
    with pytest.raises(IllegalAction, match="does not answer the question 'turn'"):
        rich.apply({0: action})


def test_nobody_answers_while_a_tile_is_drawn(rich: Any) -> None:
    rich.apply({0: DrawTile()})
    assert rich.decisions() == ()
    assert rich.legal_actions(0) == ()
    with pytest.raises(IllegalAction, match="nobody is asked in phase 'draw'"):
        rich.apply({0: EndTurn()})


def test_nothing_is_drawn_while_somebody_is_asked(rich: Any) -> None:
    assert list(rich.chance_outcomes()) == []
    with pytest.raises(IllegalAction, match="nothing is left to chance"):
        rich.apply_chance("tttt")
    with pytest.raises(IllegalAction, match="nothing is left to chance"):
        rich.chance_stream()
