"""The bitboard rules against the naive second implementation, on every node of many random matches."""

from typing import Any

import pytest

from referee.games.shibuya import GAME
from referee.games.shibuya.actions import Build, Move, Pass, Place

DATA = GAME.default_data()
FLIPS: list[dict[str, Any]] = [
    {},
    {"tile_set": "X"},
    {"tile_set": "F"},
    {"tile_set": "D", "tile_rotation": False},
    {"layout_4p": "A"},
    {"layout_4p": "A", "first_move_may_stop_on_front_field": False},
    {"layout_4p": "A", "pass_through_own_goal_front": False},
    {"build_phase": False},
    {"build_phase": False, "goal_entry_automatic": False, "pass_through_own_goal_front": False},
    {"goal_capacity": 3, "goals_to_win": 8, "lead_to_win": 0},
    {"goal_entry_automatic": False},
    {"goal_entry_automatic": False, "null_move_allowed": True},
    {"pass_through_own_goal_front": False},
    {"first_move_may_stop_on_front_field": False},
    {"null_move_allowed": True},
    {"same_colour_tile_rule_applies_to_goal_entry": False},
    {"opponent_front_rule_applies_at_corners_even_for_goal_entry": False},
    {"front_rule_persists_after_start_or_goal_used": False},
    {"no_legal_action": "lose", "tile_set": "D"},
    {
        "same_colour_tile_rule_applies_to_goal_entry": False,
        "opponent_front_rule_applies_at_corners_even_for_goal_entry": False,
        "front_rule_persists_after_start_or_goal_used": False,
        "goal_entry_automatic": False,
        "lead_to_win": 0,
    },
]


NAMED = pytest.mark.parametrize("options", FLIPS, ids=lambda options: ",".join(f"{k}={v}" for k, v in options.items()))


def compare(state: Any, naive: Any) -> None:
    crossing = naive.Crossing(state.to_dict(), DATA)
    legal = state.legal_actions(state.seat)
    if state.phase == "turn":
        moves = {(action.source, action.target) for action in legal if isinstance(action, Move)}
        builds = any(isinstance(action, Build) for action in legal)
        assert moves == crossing.moves()
        assert builds == crossing.may_build()
        assert any(isinstance(action, Pass) for action in legal) == (not moves and not builds)
    elif state.phase in ("place", "build"):
        assert all(isinstance(action, Place) for action in legal)
        tile = 1 + 4 * state.drawn
        places = [(action.slot, tuple(crossing.as_laid(tile + action.turn))) for action in legal]
        assert set(places) == crossing.places()
        assert len(set(places)) == len(places)
    else:
        assert not legal


@pytest.mark.parametrize("players", [2, 4])
@NAMED
def test_both_implementations_agree(players: int, options: dict[str, Any], naive: Any, wander: Any) -> None:
    for seed in range(2):
        wander(players, {"move_cap": 120, **options}, seed, lambda state: compare(state, naive))


@pytest.mark.long
@pytest.mark.parametrize("players", [2, 4])
@NAMED
def test_both_implementations_agree_in_many_matches(
    players: int, options: dict[str, Any], naive: Any, wander: Any
) -> None:
    for seed in range(100, 150):
        wander(players, options, seed, lambda state: compare(state, naive))


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("build_phase", [True, False])
def test_whoever_leaves_at_whatever_node_both_implementations_agree(
    players: int, build_phase: bool, naive: Any, wander: Any
) -> None:
    phases = set()

    def leave(state: Any) -> None:
        phases.add(state.phase)
        for seat in range(players):
            if not state.is_terminal():
                after = state.clone()
                after.withdraw(seat)
                assert after.to_dict() == naive.after_leaving(state.to_dict(), seat)
                assert not after.decisions()
                won = [other % 2 != seat % 2 for other in range(players)]
                assert [rank == 1 for rank in after.ranking()] == won

    for seed in range(3):
        wander(players, {"build_phase": build_phase, "move_cap": 60}, seed, leave)
    assert phases >= {"turn", "draw_build", "build", "over"} | ({"draw_place", "place"} if build_phase else set())
