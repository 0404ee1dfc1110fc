"""Attacks, Ouch, the Statue of Liberty, and what follows damage; compared with a naive second reckoning."""

from random import Random
from typing import Any

import pytest

from referee.games.keyed import random_outcome
from referee.games.king_of_new_york import GAME
from referee.games.king_of_new_york.constants import DEFENCE_DIE

from . import matches, naive
from .scenes import Scene

# The course of a turn


def test_attack_from_outside_hits_everyone_in_manhattan() -> None:
    turn = Scene("q b m0 n0 x s").final("aahhcc").resolve("a")
    assert turn.state.life == [10, 10, 8, 8, 10, 10]


def test_attack_from_manhattan_hits_everyone_outside_but_not_a_co_occupant() -> None:
    turn = Scene("m0 n1 q b x s").final("aahhcc").resolve("a")
    assert turn.state.life == [10, 10, 8, 8, 8, 8]


def test_attack_on_an_empty_manhattan_does_nothing() -> None:
    turn = Scene("q b x").final("aahhcc").resolve("a")
    assert turn.events_of("hurt") == []


UNITS = {"queens": "infantry tank", "brooklyn": "jet", "bronx": "infantry infantry infantry"}


def test_one_ouch_hurts_the_roller_by_the_units_of_its_borough() -> None:
    assert Scene("q q b m0", units=UNITS).final("ohhecc").resolve("o").state.life == [8, 10, 10, 10]


def test_two_ouch_hurt_everyone_in_the_rollers_borough() -> None:
    assert Scene("q q b m0", units=UNITS).final("oohecc").resolve("o").state.life == [8, 8, 10, 10]


def test_three_ouch_hurt_everyone_where_they_are_and_give_the_statue() -> None:
    turn = Scene("q b x m0", units=UNITS).final("ooohec").resolve("o")
    assert turn.state.life == [8, 9, 7, 10]
    assert turn.state.statue_seat == 0
    assert turn.state.vp[0] == 3


def test_units_in_all_zones_of_manhattan_shoot_there() -> None:
    assert Scene("m2 q b", units={"manhattan": "infantry jet"}).final("ohhecc").resolve("o").state.life[0] == 8


def test_ouch_is_no_attack() -> None:
    turn = Scene("q b m0", units={"manhattan": "infantry"}, cards={2: "drain"}, energy=[5, 0, 0]).final("ooohcc")
    turn.resolve("o")
    assert turn.state.life[2] == 9
    assert turn.asked == (0, "resolve"), "nobody flees"
    assert turn.state.energy == [5, 0, 0], "Drain is silent"


# Goal cards


def test_the_statue_gives_3_on_taking_and_costs_3_on_losing() -> None:
    turn = Scene("q b m0", statue=1, vp=[0, 5, 0]).final("ooohee").resolve("o")
    assert turn.state.statue_seat == 0
    assert turn.state.vp == [3, 2, 0]


def test_losing_the_statue_never_goes_below_0_vp() -> None:
    assert Scene("q b m0", statue=1, vp=[0, 2, 0]).final("ooohee").resolve("o").state.vp == [3, 0, 0]


def test_the_holder_of_the_statue_rolling_three_ouch_gets_nothing_new() -> None:
    assert Scene("q b m0", statue=0, vp=[3, 0, 0]).final("ooohee").resolve("o").state.vp[0] == 3


# Further cases


def test_cards_that_change_attack_damage_need_at_least_one_claw() -> None:
    cards = {0: "shadow_double tesla_antennae antimatter_pellets fireball curse", 2: "drain"}
    turn = Scene("q q m0", cards=cards, energy=[3, 0, 0]).final("eehhcc").until("buy")
    assert turn.state.life == [10, 10, 10]
    assert turn.events_of("hurt") == turn.events_of("tokens_changed") == turn.events_of("defence_rolled") == []


def test_damage_from_bought_cards_is_no_attack() -> None:
    turn = Scene(
        "q b m0", energy=[5, 0, 0], market=["general_ellis"], cards={2: "drain"}, units={"queens": "tank"}
    ).final("ddddhh")
    turn.resolve("d").do("destroy_unit(borough=queens,unit=tank)").until("buy").do("buy(card=general_ellis)")
    assert turn.state.life[2] == 9
    assert turn.events_of("stayed") == []
    assert turn.state.energy[2] == 0, "Drain did not act"


def test_damage_of_one_resolution_lands_on_all_at_once_before_eliminations() -> None:
    turn = Scene("m0 b q x", life=[10, 2, 2, 5]).final("aahhcc").resolve("a")
    kinds = [payload.KIND for payload in turn.events if payload.KIND in ("hurt", "eliminated")]
    assert kinds == ["hurt", "hurt", "hurt", "eliminated", "eliminated"]
    assert turn.state.out[1] == turn.state.out[2] == 1, "one event: no order among them"


def test_a_monster_with_0_life_is_eliminated() -> None:
    assert Scene("q b m0", life=[10, 10, 2]).final("aahhcc").resolve("a").place(2) == "-"
    assert Scene("q b m0", life=[10, 10, 3]).final("aahhcc").resolve("a").place(2) == "m0"


def test_no_later_damage_or_ouch_reaches_an_eliminated_monster() -> None:
    turn = Scene("q - m0", units={"queens": "infantry"}).final("ooaahh").resolve("oa")
    assert {payload.seat for payload in turn.events_of("hurt")} == {0, 2}


def test_nobody_flees_from_an_attack_out_of_manhattan() -> None:
    turn = Scene("m1 b q").final("aahhcc").resolve("a")
    assert turn.asked == (0, "resolve")
    assert turn.places == "m1 b q"


def test_who_flees_into_the_attackers_borough_is_hit_by_two_ouch_resolved_later() -> None:
    turn = Scene("q b m0", units={"queens": "infantry"}).final("aaoocc").resolve("a").do("flee(borough=queens)")
    turn.resolve("o")
    assert turn.state.life == [9, 10, 7]


def test_more_than_three_ouch_are_like_three() -> None:
    turn = Scene("q b m0", units={"queens": "infantry"}).final("oooohc").resolve("o")
    assert turn.state.life == [9, 10, 10]
    assert turn.state.vp[0] == 3


def test_three_ouch_without_units_still_give_the_statue() -> None:
    turn = Scene("q b m0").final("ooohhc").resolve("o")
    assert turn.events_of("hurt") == []
    assert turn.state.statue_seat == 0


def test_two_ouch_alone_in_the_borough_hit_the_roller_only() -> None:
    turn = Scene("q b m0", units={"queens": "infantry", "brooklyn": "jet"}).final("oohhcc").resolve("o")
    assert turn.state.life == [9, 10, 10]


def test_the_statue_of_a_holder_killed_by_the_ouch_goes_over_the_table() -> None:
    turn = Scene("q b m0", life=[10, 1, 10], vp=[0, 5, 0], statue=1, units={"brooklyn": "jet"}).final("ooohhc")
    turn.resolve("o")
    assert [(goal.seat, goal.previous) for goal in turn.events_of("goal_moved")] == [(-1, 1), (0, -1)]
    assert turn.state.vp == [3, 0, 0]


def test_units_and_damage_to_oneself_are_not_damage_dealt() -> None:
    turn = Scene(
        "q q m0", cards={0: "curse"}, units={"queens": "infantry"}, energy=[0, 0, 0], market=["subterranean_cable"]
    ).final("oohhcc")
    turn.resolve("o").until("buy").do("buy(card=subterranean_cable)")
    assert turn.state.jinx == [0, 0, 0]


def test_general_ellis_and_violent_star_are_damage_dealt() -> None:
    cards = {"cards": {0: "webspinner"}}
    turn = Scene("q b m0", energy=[5, 0, 0], market=["general_ellis"], units={"queens": "tank"}, **cards)
    turn.final("ddddhh").resolve("d").do("destroy_unit(borough=queens,unit=tank)").until("buy")
    assert turn.do("buy(card=general_ellis)").state.web == [0, 1, 1]
    star = Scene("q b m0", cards={0: "violent_star curse"}, superstar=1).final("ccchhe").resolve("c")
    assert star.state.jinx == [0, 1, 0]


def test_photo_op_counts_the_full_amount() -> None:
    turn = Scene("q b m0", energy=[4, 0, 0], life=[9, 9, 1], market=["photo_op"]).final("aaaaah").until("buy")
    turn.do("buy(card=photo_op)", "photo(seat=2)")
    assert turn.state.vp[0] == 1 + 5


def test_what_follows_damage_comes_clockwise_from_the_active_monster_before_eliminations() -> None:
    cards = {0: "trash_thrower webspinner", 2: "drain phoenix_blood"}
    turn = Scene(
        "b q x m0", seat=3, energy=[0, 0, 0, 5], life=[9, 1, 9, 9], vp=[2, 2, 2, 2], cards={3: cards[0], 2: cards[2]}
    )
    turn.final("aehhcc").resolve("a")
    kinds = [
        (payload.KIND, payload.seat)
        for payload in turn.events
        if payload.KIND in ("hurt", "tokens_changed", "eliminated")
        or getattr(payload, "cause", "") in ("drain", "trash_thrower", "phoenix_blood")
    ]
    assert kinds == [
        ("hurt", 0),
        ("hurt", 1),
        ("hurt", 2),
        ("gained", 0),
        ("tokens_changed", 0),
        ("gained", 3),
        ("gained", 2),
        ("gained", 2),
        ("tokens_changed", 2),
        ("gained", 2),
        ("eliminated", 1),
    ], "Trash Thrower and a token for seat 0; Drain (two gains), Trash Thrower, a token, Phoenix Blood for seat 2"


# Compared with a naive second reckoning


def resolved(state: Any, seat: int, action: Any, rng: Random) -> list[Any]:
    """The payloads of one resolution, with random dice of the attacked and random answers to the damage."""
    payloads = [event.public for event in state.apply({seat: action})]
    while True:
        if state.tasks and state.tasks[-1][0] == DEFENCE_DIE:
            events = state.apply_chance(random_outcome(state.chance_outcomes(), rng))
        elif (asked := state.decisions()) and asked[0].kind == "respond":
            events = state.apply({asked[0].seat: rng.choice(state.legal_actions(asked[0].seat))})
        else:
            break
        payloads += [event.public for event in events]
    for place, payload in enumerate(payloads):
        if place and payload.KIND in ("resolved", "turn_began", "bought"):
            return payloads[:place]
    return payloads


def compare(state: Any, rng: Random) -> int:
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
        payloads = resolved(state.clone(), seat, action, rng)
        naive.check(table, names, seat, expected, payloads, claws=face == "attack")
        compared += 1
    return compared


def play(players: int, seed: int, given: dict[str, Any]) -> int:
    rng = Random(seed)
    state = GAME.new_initial_state(players, given)
    compared = 0
    while not state.is_terminal():
        compared += compare(state, rng)
        matches.step(state, rng)
    return compared


OPTIONS: list[dict[str, Any]] = [
    {},
    {"bulletproof_any_ouch": False, "added_claws_attack_alone": False},
    {"fireball_when_manhattan_empty": True},
]


def sweep(rounds: int, first_seed: int) -> int:
    cheap = matches.cheap_data()
    compared = 0
    for seed in range(first_seed, first_seed + rounds):
        for players in range(2, 7):
            given = OPTIONS[seed % len(OPTIONS)]
            compared += play(players, seed, matches.options(**given))
            compared += play(players, seed, matches.options(data=cheap, round_cap=15, **given))
    return compared


@pytest.mark.slow
def test_damage_in_fifty_random_matches() -> None:
    assert sweep(rounds=5, first_seed=0) > 3000


@pytest.mark.long
def test_damage_in_thousands_of_random_matches() -> None:
    assert sweep(rounds=300, first_seed=1000) > 100_000
