"""What holds at every node of random matches, and short matches that must go as they have always gone.

After a change of the rules that is meant (and with a new rules_version), write the golden files of all games again with

    CROSSTOWN_UPDATE_GOLDEN=1 python -m pytest tests/referee/games -k golden
"""

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from referee.games.api import IllegalAction, state_hash
from referee.games.keyed import KeyedChance
from referee.games.king_of_new_york import GAME
from referee.games.king_of_new_york.constants import LEAVE, QUESTION_NAMES
from referee.games.king_of_new_york.game import most_per_turn

from . import matches

# Random matches


PLAYERS = (2, 3, 4, 5, 6)


def check_position(state: Any) -> None:
    players = range(state.players)
    for seat in players:
        alive = not state.out[seat]
        assert alive or (state.life[seat], state.keep_cards[seat], state.energy[seat]) == (0, 0, 0)
        assert state.vp[seat] >= 0
        assert state.energy[seat] >= 0
        assert not alive or not state.turn or state.life[seat] >= 1 or any(state.hit)
    for borough in range(1, 5):
        assert state.borough.count(borough) <= 2
    room = 2 if state.living >= 5 else 1
    leaving = any(task[0] == LEAVE for task in state.tasks)
    inside = [seat for seat in players if state.borough[seat] == 0]
    assert len(inside) <= room or (leaving and len(inside) == 2)
    tracks = sorted(state.space[seat] // 3 for seat in inside)
    assert tracks == list(range(len(inside))), "the track 2-4 is filled first"
    assert all(0 <= fresh <= units for fresh, units in zip(state.fresh_units, state.units, strict=True))
    places = [
        state.deck,
        state.discards,
        state.played,
        *state.keep_cards,
        *(1 << card for card in state.market if card < 64),
    ]
    assert sum(places) == state.ruleset.all_cards, "every card is in one place"
    assert state.owned == sum(state.keep_cards)


def rich(**given: Any) -> dict[str, Any]:
    options: dict[str, Any] = matches.options(data=matches.cheap_data(), round_cap=12, **given)
    return options


@pytest.mark.parametrize("players", PLAYERS)
def test_positions_stay_sound_and_things_are_conserved(players: int) -> None:
    for given in (matches.options(), rich()):
        for seed in range(6):
            counts = GAME.conserved(GAME.new_initial_state(players, given))

            def visit(state: Any, counts: dict[str, int] = counts) -> None:
                check_position(state)
                assert GAME.conserved(state) == counts

            matches.wander(players, seed, visit, given)


@pytest.mark.parametrize("players", PLAYERS)
def test_legal_lists_are_unique_and_a_single_answer_is_never_asked(players: int) -> None:
    def visit(state: Any) -> None:
        for decision in state.decisions():
            legal = state.legal_actions(decision.seat)
            assert len(set(legal)) == len(legal) > 1
            assert not state.out[decision.seat]

    for seed in range(3):
        matches.wander(players, seed, visit, rich())


@pytest.mark.parametrize("players", PLAYERS)
def test_no_turn_asks_more_than_its_bound(players: int) -> None:
    given = rich()
    bound = most_per_turn(GAME.new_initial_state(players, given).ruleset, players)
    assert set(bound) == set(QUESTION_NAMES) - {"place"}
    for seed in range(6):
        asked: Counter[tuple[int, str]] = Counter()

        def visit(state: Any, asked: Counter[tuple[int, str]] = asked) -> None:
            for decision in state.decisions():
                asked[(state.turn, decision.kind)] += 1

        matches.wander(players, seed, visit, given)
        for (turn, kind), times in asked.items():
            assert times <= (players if not turn else bound[kind])
        assert sum(asked.values()) <= GAME.max_decisions(players, given)


def test_every_question_is_asked_in_some_random_match() -> None:
    asked: Counter[str] = Counter()
    for seed in range(40):
        matches.wander(5 + seed % 2, seed, lambda state: asked.update(d.kind for d in state.decisions()), rich())
    assert set(asked) == set(QUESTION_NAMES)


@pytest.mark.parametrize("players", PLAYERS)
def test_an_action_that_is_not_listed_changes_nothing(players: int) -> None:
    pool: list[Any] = []

    def visit(state: Any) -> None:
        if not state.decisions() or len(pool) < 50 or state.turn % 3:
            for decision in state.decisions():
                pool.extend(state.legal_actions(decision.seat)[:2])
            return
        decision = state.decisions()[0]
        before = state.to_dict()
        for action in [*pool[-30:], None, 3, "keep()"]:
            if action not in state.legal_actions(decision.seat):
                with pytest.raises(IllegalAction):
                    state.apply({decision.seat: action})
        other = (decision.seat + 1) % players
        for answers in ({}, {other: pool[0]}, {decision.seat: pool[0], other: pool[0]}):
            with pytest.raises(IllegalAction, match="expected one action"):
                state.apply(answers)
        with pytest.raises(IllegalAction):
            state.apply_chance("attack")
        assert state.to_dict() == before

    matches.wander(players, 1, visit, rich())


@pytest.mark.parametrize("players", PLAYERS)
def test_copies_play_on_alike_and_apart(players: int) -> None:
    rng = Random(players)
    state = GAME.new_initial_state(players, rich())
    while not state.is_terminal():
        if rng.random() < 0.02:
            clone = state.clone()
            restored = GAME.state_from_dict(state.to_dict())
            seen = GAME.from_observation(state.observation(0), (), rich(), rng)
            before = state.to_dict()
            assert clone.to_dict() == restored.to_dict() == seen.to_dict() == before
            logs = []
            for copy in (clone, restored, seen):
                luck = Random(7)
                logs.append([event for _ in range(40) if not copy.is_terminal() for event in matches.step(copy, luck)])
            assert logs[0] == logs[1] == logs[2]
            assert state.to_dict() == before
        matches.step(state, rng)


@pytest.mark.slow
@pytest.mark.parametrize("players", PLAYERS)
def test_every_viewer_sees_the_same_and_resampling_changes_nothing(players: int) -> None:
    def visit(state: Any) -> None:
        if state.turn % 4 == 0:
            seen = state.observation(None)
            assert all(state.observation(seat) == seen for seat in range(players))
            assert state.resample(0, Random(1)).to_dict() == state.to_dict()

    matches.wander(players, 2, visit, rich())


def test_matches_under_keyed_chance_repeat() -> None:
    def play() -> str:
        chance = KeyedChance(b"seed")
        rng = Random(3)
        state = GAME.new_initial_state(4, rich())
        while not state.is_terminal():
            if decisions := state.decisions():
                seat = decisions[0].seat
                state.apply({seat: rng.choice(state.legal_actions(seat))})
            else:
                state.apply_chance(chance.choose(state.chance_stream(), state.chance_outcomes()))
        return repr(state.to_dict())

    assert play() == play()


def test_a_die_is_never_rolled_twice_under_one_key() -> None:
    for seed in range(10):
        keys: Counter[Any] = Counter()

        def visit(state: Any, keys: Counter[Any] = keys) -> None:
            if state.chance_outcomes() and not hasattr(state.chance_stream(), "deck"):
                keys[state.chance_stream()] += 1

        matches.wander(5, seed, visit, rich())
        assert set(keys.values()) == {1}


@pytest.mark.long
@pytest.mark.parametrize("players", PLAYERS)
def test_positions_stay_sound_in_a_thousand_matches(players: int) -> None:
    for seed in range(200):
        matches.wander(players, seed, check_position, rich())
        matches.wander(players, seed, check_position)


# Golden files


FOLDER = Path(__file__).parent / "golden"
STATE_EVERY = 10
MOST_DECISIONS = 60


def lines(players: int) -> Iterator[str]:
    chance = KeyedChance(f"golden {players}".encode())
    rng = Random(players)
    options = matches.options()
    state = GAME.new_initial_state(players, options)
    yield f"rules_version {GAME.rules_version}, {players} players"
    decisions = 0
    while not state.is_terminal() and decisions < MOST_DECISIONS:
        if not state.decisions():
            outcome = chance.choose(state.chance_stream(), state.chance_outcomes())
            state.apply_chance(outcome)
            continue
        if decisions % STATE_EVERY == 0:
            table = state.to_dict()
            table.pop("options")
            yield json.dumps(table, sort_keys=True)
        decision = state.decisions()[0]
        legal = state.legal_actions(decision.seat)
        action = rng.choice(legal)
        yield f"{decisions} seat {decision.seat} {decision.kind} {len(legal)} {GAME.format_action(action)}"
        state.apply({decision.seat: action})
        decisions += 1
    yield f"hash {state_hash(state)}"


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_golden_match(players: int) -> None:
    path = FOLDER / f"{players}_players.txt"
    text = "".join(f"{line}\n" for line in lines(players))
    if os.environ.get("CROSSTOWN_UPDATE_GOLDEN") == "1":
        FOLDER.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")
