"""Copies, dictionaries and refusals of the state; bounds."""

from random import Random
from typing import Any

import pytest

from referee.games.api import DataError, IllegalAction, OptionError, state_hash
from referee.games.keyed import random_outcome
from referee.games.shibuya import GAME
from referee.games.shibuya.actions import Build, Move, Pass, Place

from . import positions as pos
from .positions import wander

OPTIONS: list[dict[str, Any]] = [
    {},
    {"build_phase": False},
    {"goal_capacity": 2, "goal_entry_automatic": False, "null_move_allowed": True},
]
EVERYWHERE = pytest.mark.parametrize(
    ("players", "options"), [(players, options) for players in (2, 4) for options in OPTIONS]
)


def step(state: Any, rng: Random) -> None:
    if decisions := state.decisions():
        state.apply({decisions[0].seat: rng.choice(state.legal_actions(decisions[0].seat))})
    else:
        state.apply_chance(random_outcome(state.chance_outcomes(), rng))


@EVERYWHERE
def test_dictionaries_and_observations_give_the_state_back(players: int, options: dict[str, Any]) -> None:
    def visit(state: Any) -> None:
        saved = state.to_dict()
        rebuilt = GAME.state_from_dict(saved)
        assert rebuilt.to_dict() == saved
        assert state_hash(rebuilt) == state_hash(state)
        seen = GAME.from_observation(state.observation(state.turn_seat), (), saved["options"], Random(0))
        assert seen.to_dict() == saved
        for other in (rebuilt, seen):
            assert other.decisions() == state.decisions()
            assert list(other.legal_actions(state.turn_seat)) == list(state.legal_actions(state.turn_seat))
            assert other.chance_outcomes() == state.chance_outcomes()

    wander(players, options, 3, visit)


@EVERYWHERE
def test_a_clone_is_independent_in_both_directions(players: int, options: dict[str, Any]) -> None:
    rng = Random(9)

    def visit(state: Any) -> None:
        saved = state.to_dict()
        original = state.clone()
        for played, kept in ((original.clone(), original), (original, original.clone())):
            for _ in range(6):
                if not played.is_terminal():
                    step(played, rng)
            assert kept.to_dict() == saved
            if kept.decisions():
                fresh = GAME.state_from_dict(saved)
                assert list(kept.legal_actions(kept.turn_seat)) == list(fresh.legal_actions(kept.turn_seat))

    wander(players, {**options, "move_cap": 60}, 4, visit)


@EVERYWHERE
def test_tiles_and_pedestrians_never_appear_or_vanish(players: int, options: dict[str, Any]) -> None:
    expected = GAME.conserved(GAME.new_initial_state(players, options))

    def visit(state: Any) -> None:
        assert GAME.conserved(state) == expected

    for seed in range(3):
        wander(players, options, seed, visit)


WRONG: list[Any] = [
    Pass(),
    Build(),
    Place(0, 0),
    Place(16, 0),
    Place(0, 4),
    Place(-1, -1),
    Move(0, 0),
    Move(64, 80),
    Move(71, 63),
    Move("0", 5),  # type: ignore[arg-type]
    None,
    "pass()",
]


@EVERYWHERE
def test_what_is_not_legal_is_refused_and_changes_nothing(players: int, options: dict[str, Any]) -> None:
    def visit(state: Any) -> None:
        saved = state.to_dict()
        seat = state.turn_seat
        legal = list(state.legal_actions(seat))
        for action in WRONG:
            if action not in legal:
                with pytest.raises(IllegalAction):
                    state.apply({seat: action})
        good = legal[0] if legal else Pass()
        answers: list[dict[int, Any]] = [{}, {seat: good, (seat + 1) % players: good}, {(seat + 1) % players: good}]
        for wrong in answers:
            with pytest.raises(IllegalAction):
                state.apply(wrong)
        offered = [outcome for outcome, _ in state.chance_outcomes()]
        for outcome in (-1, 30, "0", True, None, *(set(range(30)) - set(offered))):
            with pytest.raises(IllegalAction):
                state.apply_chance(outcome)
        assert state.to_dict() == saved
        assert list(state.legal_actions(seat)) == legal

    wander(players, {**options, "move_cap": 40}, 6, visit)


@EVERYWHERE
def test_legal_lists_are_unique_and_in_canonical_order(players: int, options: dict[str, Any]) -> None:
    def order(action: Any) -> tuple[int, int, int]:
        if isinstance(action, Move):
            return 0, action.source, action.target
        return (1, action.slot, action.turn) if isinstance(action, Place) else (2, 0, 0)

    def visit(state: Any) -> None:
        keys = [order(action) for action in state.legal_actions(state.turn_seat)]
        assert keys == sorted(set(keys))
        others = [seat for seat in range(players) if seat != state.turn_seat]
        assert not any(state.legal_actions(seat) for seat in others)

    wander(players, options, 7, visit)


@EVERYWHERE
def test_no_match_asks_more_than_max_decisions(players: int, options: dict[str, Any]) -> None:
    for cap in (5, 40):
        asked = 0

        def visit(state: Any) -> None:
            nonlocal asked
            asked += len(state.decisions())

        full = {**options, "move_cap": cap}
        wander(players, full, 8, visit)
        assert asked <= GAME.max_decisions(players, full)


def test_the_bound_is_tight_when_everyone_builds() -> None:
    options = {"build_phase": False, "move_cap": 50}
    state = GAME.new_initial_state(2, options)
    asked = 0
    while not state.is_terminal():
        if not state.decisions():
            state.apply_chance(state.chance_outcomes()[0][0])
            continue
        legal = state.legal_actions(state.turn_seat)
        state.apply({state.turn_seat: Build() if Build() in legal else legal[0]})
        asked += 1
    assert asked == GAME.max_decisions(2, options) == 80


@pytest.mark.parametrize(
    ("options", "bound"),
    [({}, 16 + 200 + 14), ({"move_cap": 5}, 16 + 5 + 5), ({"build_phase": False}, 200 + 30)],
)
def test_max_decisions_is_placements_turns_and_builds(options: dict[str, Any], bound: int) -> None:
    assert GAME.max_decisions(2, options) == bound
    assert GAME.max_decisions(4, options) == bound


def test_everyone_sees_the_same() -> None:
    def visit(state: Any) -> None:
        seen = [state.observation(viewer) for viewer in (None, 0, 1, 2, 3)]
        assert all(one == seen[0] for one in seen)
        assert state.resample(0, Random(1)).to_dict() == state.to_dict()

    wander(4, {"move_cap": 20}, 9, visit)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"phase": "tea"}, "phase: expected one of"),
        ({"seat": 2}, "seat: expected an integer from 0 to 1"),
        ({"drawn": 1}, "drawn 1 does not fit"),
        ({"stock": [1] * 30}, "stock"),
        ({"tops": [0] * 15}, "expected 16 tops"),
        ({"teams": []}, "IndexError"),
        ({"winner": None}, "winner"),
        ({"options": {"tile_set": "M", "surprise": 1}}, "surprise"),
    ],
)
def test_a_dictionary_that_describes_no_position_is_refused(change: dict[str, Any], message: str) -> None:
    saved = pos.position(pos.WHITE).to_dict()
    with pytest.raises((DataError, OptionError), match=message):
        GAME.state_from_dict({**saved, **change})


def test_a_dictionary_with_a_piece_too_many_or_two_on_a_field_is_refused() -> None:
    saved = pos.position(pos.WHITE).to_dict()
    saved["teams"][0]["fields"] = [9]
    with pytest.raises(DataError, match="8 pedestrians"):
        GAME.state_from_dict(saved)
    for team in (0, 1):
        saved["teams"][team].update(fields=[9], waiting=list(range(7)))
    with pytest.raises(DataError, match="share a field"):
        GAME.state_from_dict(saved)
    del saved["turns"]
    with pytest.raises(DataError, match="turns"):
        GAME.state_from_dict(saved)
