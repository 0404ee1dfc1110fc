"""What holds at every node of random matches, with the box as it is and with cards that everyone can afford."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from referee.games.api import IllegalAction
from referee.games.keyed import KeyedChance
from referee.games.king_of_new_york import GAME
from referee.games.king_of_new_york.constants import LEAVE, QUESTION_NAMES
from referee.games.king_of_new_york.game import most_per_turn

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


def rich(matches: Any, **given: Any) -> dict[str, Any]:
    options: dict[str, Any] = matches.options(data=matches.cheap_data(), round_cap=12, **given)
    return options


@pytest.mark.parametrize("players", PLAYERS)
def test_positions_stay_sound_and_things_are_conserved(matches: Any, players: int) -> None:
    for given in (matches.options(), rich(matches)):
        for seed in range(6):
            counts = GAME.conserved(GAME.new_initial_state(players, given))

            def visit(state: Any, counts: dict[str, int] = counts) -> None:
                check_position(state)
                assert GAME.conserved(state) == counts

            matches.wander(players, seed, visit, given)


@pytest.mark.parametrize("players", PLAYERS)
def test_legal_lists_are_unique_and_a_single_answer_is_never_asked(matches: Any, players: int) -> None:
    def visit(state: Any) -> None:
        for decision in state.decisions():
            legal = state.legal_actions(decision.seat)
            assert len(set(legal)) == len(legal) > 1
            assert not state.out[decision.seat]

    for seed in range(3):
        matches.wander(players, seed, visit, rich(matches))


@pytest.mark.parametrize("players", PLAYERS)
def test_no_turn_asks_more_than_its_bound(matches: Any, players: int) -> None:
    given = rich(matches)
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


def test_every_question_is_asked_in_some_random_match(matches: Any) -> None:
    asked: Counter[str] = Counter()
    for seed in range(40):
        matches.wander(5 + seed % 2, seed, lambda state: asked.update(d.kind for d in state.decisions()), rich(matches))
    assert set(asked) == set(QUESTION_NAMES)


@pytest.mark.parametrize("players", PLAYERS)
def test_an_action_that_is_not_listed_changes_nothing(matches: Any, players: int) -> None:
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

    matches.wander(players, 1, visit, rich(matches))


@pytest.mark.parametrize("players", PLAYERS)
def test_copies_play_on_alike_and_apart(matches: Any, players: int) -> None:
    rng = Random(players)
    state = GAME.new_initial_state(players, rich(matches))
    while not state.is_terminal():
        if rng.random() < 0.02:
            clone = state.clone()
            restored = GAME.state_from_dict(state.to_dict())
            seen = GAME.from_observation(state.observation(0), (), rich(matches), rng)
            before = state.to_dict()
            assert clone.to_dict() == restored.to_dict() == seen.to_dict() == before
            logs = []
            for copy in (clone, restored, seen):
                luck = Random(7)
                logs.append([event for _ in range(40) if not copy.is_terminal() for event in matches.step(copy, luck)])
            assert logs[0] == logs[1] == logs[2]
            assert state.to_dict() == before
        matches.step(state, rng)


@pytest.mark.parametrize("players", PLAYERS)
def test_every_viewer_sees_the_same_and_resampling_changes_nothing(matches: Any, players: int) -> None:
    def visit(state: Any) -> None:
        if state.turn % 4 == 0:
            seen = state.observation(None)
            assert all(state.observation(seat) == seen for seat in range(players))
            assert state.resample(0, Random(1)).to_dict() == state.to_dict()

    matches.wander(players, 2, visit, rich(matches))


def test_matches_under_keyed_chance_repeat(matches: Any) -> None:
    def play() -> str:
        chance = KeyedChance(b"seed")
        rng = Random(3)
        state = GAME.new_initial_state(4, rich(matches))
        while not state.is_terminal():
            if decisions := state.decisions():
                seat = decisions[0].seat
                state.apply({seat: rng.choice(state.legal_actions(seat))})
            else:
                state.apply_chance(chance.choose(state.chance_stream(), state.chance_outcomes()))
        return repr(state.to_dict())

    assert play() == play()


def test_a_die_is_never_rolled_twice_under_one_key(matches: Any) -> None:
    for seed in range(10):
        keys: Counter[Any] = Counter()

        def visit(state: Any, keys: Counter[Any] = keys) -> None:
            if state.chance_outcomes() and not hasattr(state.chance_stream(), "deck"):
                keys[state.chance_stream()] += 1

        matches.wander(5, seed, visit, rich(matches))
        assert set(keys.values()) == {1}


@pytest.mark.long
@pytest.mark.parametrize("players", PLAYERS)
def test_positions_stay_sound_in_a_thousand_matches(matches: Any, players: int) -> None:
    for seed in range(200):
        matches.wander(players, seed, check_position, rich(matches))
        matches.wander(players, seed, check_position)
