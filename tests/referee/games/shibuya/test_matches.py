"""Random matches against the naive second implementation, and golden matches.

After a wanted change of rules (and of `rules_version`) write the golden matches of all games anew, in their own commit:

    CROSSTOWN_UPDATE_GOLDEN=1 python -m pytest tests/referee/games -k golden
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from referee.games.api import resolve_options, state_hash
from referee.games.keyed import KeyedChance
from referee.games.shibuya import GAME
from referee.games.shibuya.actions import Build, Move, Pass, Place

from . import naive
from .positions import wander

# At every node of many matches


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


def compare(state: Any) -> None:
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


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 4])
@NAMED
def test_both_implementations_agree(players: int, options: dict[str, Any]) -> None:
    for seed in range(2):
        wander(players, {"move_cap": 120, **options}, seed, lambda state: compare(state))


@pytest.mark.long
@pytest.mark.parametrize("players", [2, 4])
@NAMED
def test_both_implementations_agree_in_many_matches(players: int, options: dict[str, Any]) -> None:
    for seed in range(100, 150):
        wander(players, options, seed, lambda state: compare(state))


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("build_phase", [True, False])
def test_whoever_leaves_at_whatever_node_both_implementations_agree(players: int, build_phase: bool) -> None:
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


# Golden matches


FOLDER = Path(__file__).with_name("golden")
MATCHES: dict[str, tuple[int, dict[str, Any]]] = {
    "two_players": (2, {}),
    "two_players_without_building": (2, {"build_phase": False}),
    "four_players": (4, {}),
}
EVERY = 10
MOST_DECISIONS = 80


def lines(name: str) -> Iterator[str]:
    players, given = MATCHES[name]
    luck, rng = KeyedChance(name.encode()), Random(name)
    state = GAME.new_initial_state(players, resolve_options(GAME.id, GAME.options, given))
    decisions = 0
    while not state.is_terminal() and decisions < MOST_DECISIONS:
        if not state.decisions():
            outcome = luck.choose(state.chance_stream(), state.chance_outcomes())
            yield f"draw {outcome}"
            state.apply_chance(outcome)
            continue
        if decisions % EVERY == 0:
            yield "state " + json.dumps({**state.to_dict(), "options": given}, separators=(",", ":"))
        decision = state.decisions()[0]
        legal = state.legal_actions(decision.seat)
        # Into a goal where one can, so that matches are decided and not worn out.
        action = legal[-1] if rng.random() < 0.5 else rng.choice(legal)
        yield f"{decisions} seat {decision.seat} {decision.kind} {len(legal)} {GAME.format_action(action)}"
        state.apply({decision.seat: action})
        decisions += 1
    end = f"ranking {state.ranking()} returns {state.returns()} " if state.is_terminal() else ""
    yield f"{end}hash {state_hash(state)}"


@pytest.mark.parametrize("name", MATCHES)
def test_the_match_is_played_as_it_was_before(name: str) -> None:
    text = "".join(f"{line}\n" for line in lines(name))
    path = FOLDER / f"{name}.txt"
    if os.environ.get("CROSSTOWN_UPDATE_GOLDEN") == "1":
        FOLDER.mkdir(exist_ok=True)
        path.write_text(text, encoding="ascii")
    assert text == path.read_text(encoding="ascii")
