"""The damage arithmetic of the engine against a naive second one, at every resolution of random matches."""

from random import Random
from types import ModuleType
from typing import Any

import pytest

from referee.games.keyed import random_outcome
from referee.games.king_of_new_york import GAME
from referee.games.king_of_new_york.constants import DEFENCE_DIE


def resolved(state: Any, seat: int, action: Any, rng: Random) -> list[Any]:
    """The payloads of one resolution, with random dice of the attacked and random answers to the damage."""
    told = [event.public for event in state.apply({seat: action})]
    while True:
        if state.tasks and state.tasks[-1][0] == DEFENCE_DIE:
            events = state.apply_chance(random_outcome(state.chance_outcomes(), rng))
        elif (asked := state.decisions()) and asked[0].kind == "respond":
            events = state.apply({asked[0].seat: rng.choice(state.legal_actions(asked[0].seat))})
        else:
            break
        told += [event.public for event in events]
    for place, payload in enumerate(told):
        if place and payload.KIND in ("resolved", "turn_began", "bought"):
            return told[:place]
    return told


def compare(naive: ModuleType, state: Any, rng: Random) -> int:
    """Compare every attack and Ouch that can be resolved now; how many there were."""
    asked = state.decisions()
    if not asked or asked[0].kind != "resolve":
        return 0
    seat = asked[0].seat
    table = state.to_dict()
    names = state.ruleset.card_ids
    compared = 0
    for action in state.legal_actions(seat):
        face = getattr(action, "face", "")
        if face == "attack":
            expected = naive.claw_hits(table, names, seat, getattr(action, "tokens", 0))
        elif face == "ouch":
            expected = naive.ouch_hits(table, names, seat)
        else:
            continue
        told = resolved(state.clone(), seat, action, rng)
        naive.check(table, names, seat, expected, told, claws=face == "attack")
        compared += 1
    return compared


def play(naive: ModuleType, matches: ModuleType, players: int, seed: int, given: dict[str, Any]) -> int:
    rng = Random(seed)
    state = GAME.new_initial_state(players, given)
    compared = 0
    while not state.is_terminal():
        compared += compare(naive, state, rng)
        matches.step(state, rng)
    return compared


OPTIONS: list[dict[str, Any]] = [
    {},
    {"bulletproof_any_ouch": False, "added_claws_attack_alone": False},
    {"fireball_when_manhattan_empty": True},
]


def sweep(naive: ModuleType, matches: ModuleType, rounds: int, first_seed: int) -> int:
    cheap = matches.cheap_data()
    compared = 0
    for seed in range(first_seed, first_seed + rounds):
        for players in range(2, 7):
            given = OPTIONS[seed % len(OPTIONS)]
            compared += play(naive, matches, players, seed, matches.options(**given))
            compared += play(naive, matches, players, seed, matches.options(data=cheap, round_cap=15, **given))
    return compared


def test_damage_in_fifty_random_matches(naive: ModuleType, matches: ModuleType) -> None:
    assert sweep(naive, matches, rounds=5, first_seed=0) > 3000


@pytest.mark.long
def test_damage_in_thousands_of_random_matches(naive: ModuleType, matches: ModuleType) -> None:
    assert sweep(naive, matches, rounds=300, first_seed=1000) > 100_000
