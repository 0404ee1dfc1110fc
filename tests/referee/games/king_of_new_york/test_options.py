"""Each option does what it says; the defaults are those of the README."""

import json
from pathlib import Path
from typing import Any

import pytest

from referee.games.api import OptionError, resolve_options
from referee.games.king_of_new_york import GAME

from . import matches
from .scenes import Scene

DEFAULTS = {
    "start_player": "roll",
    "new_unit_destroyable_same_turn": False,
    "destruction_forced_if_possible": True,
    "exposed_building_same_turn": True,
    "statue_before_damage": False,
    "bulletproof_any_ouch": True,
    "seismic_ray_cost": "per_step",
    "painbow_counts_modified": True,
    "painbow_mode": "threshold_highest",
    "curse_cost_per": "reroll",
    "power_tap_cumulative": True,
    "of_another_world": "life_points_and_cubes",
    "fireball_when_manhattan_empty": False,
    "columbia_claim_persists": True,
    "enter_at_turn_end": False,
    "added_claws_attack_alone": True,
    "inert_tokens_removable": True,
    "subway_max_moves": 10,
    "refill_before_effect": False,
    "free_card_counts_as_bought": True,
    "climb_counts_bonus": False,
    "marathon_currency": "energy",
    "winner_only": False,
}


def test_the_defaults_are_those_of_the_readme() -> None:
    assert {name: matches.options()[name] for name in DEFAULTS} == DEFAULTS
    assert set(matches.options()) - set(DEFAULTS) == {"round_cap", "market_cap"}


def test_every_option_has_a_sentence_and_a_confidence() -> None:
    for option in GAME.options:
        assert option.doc.endswith("."), option.name
        assert option.confidence, option.name


def test_unknown_options_and_values_are_refused() -> None:
    with pytest.raises(OptionError, match="painbow_mode"):
        resolve_options(GAME.id, GAME.options, {"painbow_mode": "sometimes"})
    with pytest.raises(OptionError, match="has no option 'painbow'"):
        resolve_options(GAME.id, GAME.options, {"painbow": "exact"})


def test_every_option_is_in_the_readme() -> None:
    readme = (Path(__file__).parents[4] / "referee" / "games" / "king_of_new_york" / "README.md").read_text("utf-8")
    for option in GAME.options:
        default = json.dumps(option.default).strip('"')
        row = next((line for line in readme.splitlines() if line.startswith(f"| `{option.name}` |")), None)
        assert row is not None, option.name
        assert default in row, option.name
        assert option.confidence in row, option.name


def test_new_unit_destroyable_same_turn() -> None:
    turn = Scene("q b m0", new_unit_destroyable_same_turn=True).final("dddhhc").resolve("d")
    turn.do("destroy_building(stack=6)")
    assert "destroy_unit(borough=queens,unit=infantry)" in turn.menu


def test_destruction_forced_if_possible() -> None:
    turn = Scene("q b m0", destruction_forced_if_possible=False).final("ddhhcc").resolve("d")
    assert turn.menu[0] == "pass()"
    assert turn.do("pass()").events_of("building_destroyed") == []


def test_exposed_building_same_turn() -> None:
    turn = Scene("q b m0", exposed_building_same_turn=False).final("ddhhcc").resolve("d")
    turn.do("destroy_building(stack=6)")
    assert turn.menu == ["destroy_building(stack=7)", "destroy_building(stack=8)"]


def test_statue_before_damage() -> None:
    given = {"life": [1, 9, 9], "units": {"queens": "infantry"}}
    assert Scene("q b m0", **given).final("ooohhc").resolve("o").events_of("goal_moved") == []
    turn = Scene("q b m0", statue_before_damage=True, **given).final("ooohhc").resolve("o")
    assert [(goal.seat, goal.previous) for goal in turn.events_of("goal_moved")] == [(0, -1), (-1, 0)]


def test_bulletproof_any_ouch() -> None:
    given = {"cards": {1: "bulletproof"}, "units": {"queens": "infantry jet"}, "bulletproof_any_ouch": False}
    assert Scene("q q m0", **given).final("ooeehh").resolve("o").state.life == [8, 8, 10]
    assert Scene("q q m0", seat=1, **given).final("oeehha").resolve("o").state.life == [10, 9, 10]


def test_painbow_counts_modified() -> None:
    assert (
        Scene("q b m0", cards={0: "painbow stomp"}, painbow_counts_modified=False).final("dehhoo").state.bonus[1] == 0
    )


@pytest.mark.parametrize(("dice", "added"), [("ddehho", 1), ("dddhho", 0), ("ddddho", 2), ("dddddo", 0)])
def test_painbow_mode_exact(dice: str, added: int) -> None:
    assert Scene("q b m0", cards={0: "painbow"}, painbow_mode="exact").final(dice).state.bonus[1] == added


def test_painbow_mode_exact_wins_at_six_only() -> None:
    assert Scene("q b m0", cards={0: "painbow"}, painbow_mode="exact").final("dddddd").state.winner_seat == 0
    seven = Scene("q b m0", cards={0: "painbow stomp"}, painbow_mode="exact").final("dddddd")
    assert not seven.state.is_terminal()


def test_curse_cost_per_die() -> None:
    turn = Scene("q b m0", energy=[3, 0, 0], cards={1: "curse"}, jinx={0: 2}, curse_cost_per="die").roll("ooeehh")
    assert "reroll(counts=[0,0,0,0,0,1])" in turn.menu
    assert "reroll(counts=[0,0,0,0,0,2])" not in turn.menu, "4 energy would be due"
    assert turn.do("reroll(counts=[0,0,0,0,0,1])").state.energy[0] == 1


def test_power_tap_cumulative() -> None:
    given = {"cards": {1: "power_tap"}, "power_tap_cumulative": False}
    assert Scene("m1 b q", **given).final("eeddho").resolve("e").state.energy[1] == 0, "1 and 2 are not a gain of 3"
    assert Scene("q b m0", **given).final("eeeddh").resolve("e").state.energy[1] == 1


def test_of_another_world_with_die_faces() -> None:
    given = {"cards": {0: "of_another_world"}, "of_another_world": "die_faces"}
    turn = Scene("q b m0", **given).final("ehhaoo")
    assert "convert(energy=3,attack=1,heart=0)" in turn.menu
    assert "convert(energy=0,attack=1,heart=3)" in turn.menu
    shop = Scene("q b m0", energy=[1, 0, 0], market=["flatiron_building"], **given).final("ccooaa").until("move")
    assert shop.do("stay()").events_of("bought") == [], "life is no money"


def test_fireball_when_manhattan_empty() -> None:
    given = {"cards": {0: "fireball"}}
    assert Scene("q q b", **given).final("aaeehh").resolve("a").state.life == [10, 10, 10]
    turn = Scene("q q b", fireball_when_manhattan_empty=True, **given).final("aaeehh").resolve("a")
    assert turn.state.life == [10, 8, 10]


def test_marathon_currency_vp() -> None:
    dear = {"market": ["new_york_marathon"], "marathon_currency": "vp"}
    turn = Scene("q b m0", vp=[3, 0, 0], energy=[0, 0, 0], **dear).final("hhhhcc").resolve("hc")
    turn.do("move(borough=bronx)")
    assert (turn.state.vp[0], turn.state.energy[0]) == (1, 0)
    poor = Scene("q b m0", vp=[1, 0, 0], energy=[9, 0, 0], **dear).final("hhhhcc").resolve("hc")
    assert not any(action.KIND == "move" for action in poor.state.legal_actions(0)), "energy does not help"
    forced = Scene("q b x", vp=[0, 0, 0], **dear).final("hhhhcc").resolve("hc")
    assert forced.place(0) == "m0", "forced entry is free"


def test_columbia_claim_persists() -> None:
    shop = {"energy": [6, 0, 0], "market": ["columbia_university"], "columbia_claim_persists": False}
    turn = Scene("q b m0", **shop).final("hhhhcc").until("buy").do("buy(card=columbia_university)").draw("coney_island")
    assert turn.state.claims == []
    hit = Scene("q b m0", **shop).final("hhhhcc").until("buy").do("buy(card=columbia_university)").draw("stomp")
    assert hit.cards(0) == ["stomp"]


def test_enter_at_turn_end() -> None:
    shop = {"energy": [5, 0, 0], "life": [9, 9, 1], "market": ["general_ellis"], "units": {"queens": "tank"}}

    def kill_the_occupant(**option: bool) -> Any:
        turn = Scene("q b m0", **shop, **option).final("ddddhh").resolve("d")
        turn.do("destroy_unit(borough=queens,unit=tank)").until("buy").do("buy(card=general_ellis)")
        return turn.draw("stomp")

    assert kill_the_occupant().place(0) == "q"
    entered = kill_the_occupant(enter_at_turn_end=True)
    assert entered.place(0) == "m0"
    assert [move.reason for move in entered.events_of("moved")] == ["turn_end"]


def test_added_claws_attack_alone() -> None:
    given = {"cards": {0: "towering_titan"}, "added_claws_attack_alone": False}
    assert Scene("q b m0", **given).final("eehhcc").resolve("a").state.life[2] == 10
    assert Scene("q b m0", **given).final("aehhcc").resolve("a").state.life[2] == 7


def test_subway_max_moves() -> None:
    turn = Scene("q b m0", rides=True, subway_max_moves=1).do("ride(borough=bronx)")
    assert turn.rolls


def test_winner_only() -> None:
    turn = Scene("q b m0", vp=[20, 5, 3], winner_only=True).final("hhhhcc").to_next_turn()
    assert turn.state.ranking() == (1, 2, 2)


def test_round_cap() -> None:
    turn = Scene("q b m0", vp=[3, 5, 5], round_cap=1)
    turn.state.turn = 3
    turn.final("hhhhee").resolve("he").to_next_turn()
    assert turn.state.reason == "turn_cap"
    assert turn.state.winner_seat == 7
    assert turn.state.ranking() == (3, 1, 1)
