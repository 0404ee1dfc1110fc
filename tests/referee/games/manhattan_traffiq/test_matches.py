"""Random matches against the naive second implementation, and golden matches.

After a wanted change of rules (and of `rules_version`) write the golden matches of all games anew, in their own commit:

    CROSSTOWN_UPDATE_GOLDEN=1 python -m pytest tests/referee/games -k golden
"""

import dataclasses
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest

from referee.games.api import state_hash
from referee.games.keyed import KeyedChance
from referee.games.manhattan_traffiq import GAME
from referee.games.manhattan_traffiq.actions import TraffiqAction

from . import naive
from .positions import options, wander

# Legal lists and successors, at every node


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


def compare(state: Any, move: Any, then: Callable[[], Any]) -> None:
    """One move by both implementations."""
    other = naive.Naive(state.to_dict(), DATA)
    if state.decisions():
        legal = [plain(action) for action in state.legal_actions(state.seat)]
        assert len(set(legal)) == len(legal)
        assert set(legal) == other.legal()
        move = plain(move)
    expected = other.after(move)
    then()
    assert state.to_dict() == expected


def agree(players: int, given: dict[str, Any], seed: int) -> None:
    """Play one match and compare at every node."""
    final = wander(players, options(**given), seed, step=compare)
    assert final.returns() == naive.Naive(final.to_dict(), DATA).scores()


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4])
@NAMED
def test_both_implementations_agree(players: int, given: dict[str, Any]) -> None:
    for seed in range(3):
        agree(players, given, seed)


@pytest.mark.long
@pytest.mark.parametrize("players", [2, 3, 4])
@NAMED
def test_both_implementations_agree_in_many_matches(players: int, given: dict[str, Any]) -> None:
    for seed in range(100, 160):
        agree(players, given, seed)


def leave(state: Any, seat: int) -> Any:
    """The state after the seat has left, by both implementations."""
    after = state.clone()
    after.withdraw(seat)
    assert after.to_dict() == naive.Naive(state.to_dict(), DATA).leave(seat)
    if after.decisions():
        legal = {plain(action) for action in after.legal_actions(after.seat)}
        assert legal == naive.Naive(after.to_dict(), DATA).legal()
    return after


def leave_everywhere(players: int, given: dict[str, Any], seed: int) -> set[str]:
    """Let every seat leave, and then every other one, at the nodes of a match; the phases in which it was compared."""
    phases: set[str] = set()
    nodes = 0

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


LEAVING = [VARIANTS[0], VARIANTS[1], VARIANTS[6], VARIANTS[9], VARIANTS[12], VARIANTS[16]]


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("given", LEAVING, ids=lambda given: ",".join(f"{k}={v}" for k, v in given.items()))
def test_whoever_leaves_at_whatever_node_both_implementations_agree(players: int, given: dict[str, Any]) -> None:
    phases = set()
    for seed in range(3):
        phases |= leave_everywhere(players, given, seed)
    assert phases >= {"turn", "draw", "place"}


@pytest.mark.long
@pytest.mark.parametrize("players", [2, 3, 4])
@NAMED
def test_whoever_leaves_in_many_matches_both_implementations_agree(players: int, given: dict[str, Any]) -> None:
    for seed in range(100, 120):
        leave_everywhere(players, given, seed)


# Golden matches


FOLDER = Path(__file__).with_name("golden")
MATCHES: dict[str, tuple[int, dict[str, Any]]] = {
    "two_players": (2, {"turn_limit": 24}),
    "three_players": (3, {"turn_limit": 24, "scenario": "central_park", "tile_set": "A"}),
    "four_players": (4, {"turn_limit": 28, "tile_set": "B", "times_square_layout": "T"}),
}
EVERY = 10


def pick(state: Any, rng: Random) -> Any:
    """Tight maps and few early ends, so that vehicles come to stand and compete."""
    legal = state.legal_actions(state.seat)
    if state.phase != "turn":
        return legal[-1]
    laid = {(tile.x, tile.y) for tile in state.city.tiles}

    def contacts(action: Any) -> int:
        around = [(action.x + dx, action.y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
        return sum(cell in laid for cell in around)

    attaching = [action for action in legal if action.KIND == "attach"]
    if attaching and rng.random() < 0.7:
        return max(attaching, key=contacts)
    others = legal[1:] or legal
    return others[int(rng.random() * len(others))]


def lines(name: str) -> Iterator[str]:
    players, given = MATCHES[name]
    luck, rng = KeyedChance(name.encode()), Random(len(name))
    state = GAME.new_initial_state(players, options(**given))
    count = 0
    while not state.is_terminal():
        if count % EVERY == 0:
            yield "state " + json.dumps({**state.to_dict(), "options": given}, separators=(",", ":"))
        count += 1
        if state.decisions():
            action = pick(state, rng)
            yield f"seat {state.seat} {state.decisions()[0].kind} {GAME.format_action(action)}"
            events = state.apply({state.seat: action})
        else:
            outcome = luck.choose(state.chance_stream(), state.chance_outcomes())
            yield f"chance {outcome}"
            events = state.apply_chance(outcome)
        for event in events:
            yield f"  {GAME.view.event_sentence(event.public, state.observation(None))}"
    yield f"ranking {state.ranking()} returns {state.returns()} hash {state_hash(state)}"


@pytest.mark.parametrize("name", MATCHES)
def test_the_match_is_played_as_it_was_before(name: str) -> None:
    text = "\n".join(lines(name)) + "\n"
    path = FOLDER / f"{name}.txt"
    if os.environ.get("CROSSTOWN_UPDATE_GOLDEN") == "1":
        path.write_text(text, encoding="utf-8")
    assert path.read_text("utf-8") == text
