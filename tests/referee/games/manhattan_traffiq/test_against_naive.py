"""The rules against the naive second implementation: legal lists and successors, on every node of random matches."""

import dataclasses
from collections.abc import Callable
from typing import Any, get_args

import pytest

from referee.games.manhattan_traffiq import GAME
from referee.games.manhattan_traffiq.actions import TraffiqAction

DATA = GAME.default_data()
FIELDS = {cls: [field.name for field in dataclasses.fields(cls)] for cls in get_args(TraffiqAction)}
VARIANTS: list[dict[str, Any]] = [
    {},
    {"scenario": "central_park"},
    {"tile_set": "A", "times_square_layout": "T"},
    {"tile_set": "B", "times_square_layout": "L"},
    {"tiles_may_rotate": False, "tile_set": "A"},
    {"hands": "open"},
    {"forfeit_actions_any_time": False},
    {"placing_vehicle_optional": False},
    {"competing_optional": False},
    {"compete_choice_granularity": "all_or_none", "placing_vehicle_optional": False},
    {"half_streets_connect": True, "tile_set": "A"},
    {"colour_change_ends_street": True, "tile_set": "A"},
    {"half_streets_connect": True, "colour_change_ends_street": True, "compete_choice_granularity": "all_or_none"},
    {"place_on_vertex_without_street": True, "scenario": "central_park"},
    {"place_on_dead_end": False},
    {"last_vehicle_competes": True, "placing_vehicle_optional": False},
    {"no_progress_rounds": 1, "start_player": "seat_0"},
    {"no_progress_rounds": 0, "turn_limit": 20},
]
NAMED = pytest.mark.parametrize("given", VARIANTS, ids=lambda given: ",".join(f"{k}={v}" for k, v in given.items()))


def plain(action: Any) -> tuple[Any, ...]:
    return (action.KIND, *(getattr(action, name) for name in FIELDS[type(action)]))


@pytest.fixture(scope="session")
def agree(naive: Any, wander: Any, options: Any) -> Callable[[int, dict[str, Any], int], None]:
    """Play one match and compare at every node."""

    def step(state: Any, move: Any, then: Callable[[], Any]) -> None:
        other = naive.Naive(state.to_dict(), DATA)
        if state.decisions():
            legal = [plain(action) for action in state.legal_actions(state.seat)]
            assert len(set(legal)) == len(legal)
            assert set(legal) == other.legal()
            move = plain(move)
        expected = other.after(move)
        then()
        assert state.to_dict() == expected

    def play(players: int, given: dict[str, Any], seed: int) -> None:
        final = wander(players, options(**given), seed, step=step)
        assert final.returns() == naive.Naive(final.to_dict(), DATA).scores()

    return play


@pytest.mark.parametrize("players", [2, 3, 4])
@NAMED
def test_both_implementations_agree(players: int, given: dict[str, Any], agree: Any) -> None:
    for seed in range(3):
        agree(players, given, seed)


@pytest.mark.long
@pytest.mark.parametrize("players", [2, 3, 4])
@NAMED
def test_both_implementations_agree_in_many_matches(players: int, given: dict[str, Any], agree: Any) -> None:
    for seed in range(100, 160):
        agree(players, given, seed)


@pytest.fixture(scope="session")
def leave_everywhere(naive: Any, wander: Any, options: Any) -> Callable[[int, dict[str, Any], int], set[str]]:
    """Let every seat leave, and then every other one, at the nodes of a match; the phases in which it was compared."""

    def play(players: int, given: dict[str, Any], seed: int) -> set[str]:
        phases: set[str] = set()
        nodes = 0

        def leave(state: Any, seat: int) -> Any:
            after = state.clone()
            after.withdraw(seat)
            assert after.to_dict() == naive.Naive(state.to_dict(), DATA).leave(seat)
            if after.decisions():
                legal = {plain(action) for action in after.legal_actions(after.seat)}
                assert legal == naive.Naive(after.to_dict(), DATA).legal()
            return after

        def visit(state: Any) -> None:
            nonlocal nodes
            nodes += 1
            if state.is_terminal() or (state.phase in ("turn", "deal") and nodes % 9):
                return
            phases.add(state.phase)
            for seat in range(players):
                after = leave(state, seat)
                for other in range(players):
                    if other != seat and not after.is_terminal():
                        leave(after, other)

        wander(players, options(**given), seed, visit)
        return phases

    return play


LEAVING = [VARIANTS[0], VARIANTS[1], VARIANTS[6], VARIANTS[9], VARIANTS[12], VARIANTS[16]]


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("given", LEAVING, ids=lambda given: ",".join(f"{k}={v}" for k, v in given.items()))
def test_whoever_leaves_at_whatever_node_both_implementations_agree(
    players: int, given: dict[str, Any], leave_everywhere: Any
) -> None:
    phases = set()
    for seed in range(3):
        phases |= leave_everywhere(players, given, seed)
    assert phases >= {"turn", "draw", "place"}


@pytest.mark.long
@pytest.mark.parametrize("players", [2, 3, 4])
@NAMED
def test_whoever_leaves_in_many_matches_both_implementations_agree(
    players: int, given: dict[str, Any], leave_everywhere: Any
) -> None:
    for seed in range(100, 120):
        leave_everywhere(players, given, seed)
