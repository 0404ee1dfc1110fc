"""Destroying buildings and Units."""

import pytest

from .scenes import Scene

# The course of a turn


def test_tile_rewards_heal_in_manhattan() -> None:
    turn = Scene("m0 b q", life=[5, 9, 9], tops={"manhattan": "hospital_2 high_rise_3 high_rise_3"}, below="hospital_3")
    turn.final("ddhhco").resolve("d")
    assert turn.state.life[0] == 7


def test_targets_are_top_buildings_and_units_of_the_own_borough() -> None:
    turn = Scene("q b m0", units={"queens": "infantry", "bronx": "infantry"}).final("ddehhc").resolve("d")
    assert turn.menu == [
        "destroy_building(stack=6)",
        "destroy_building(stack=7)",
        "destroy_building(stack=8)",
        "destroy_unit(borough=queens,unit=infantry)",
    ]


def test_in_manhattan_all_three_zones_are_in_reach() -> None:
    turn = Scene("m2 b q").final("dehhcc").resolve("d")
    assert turn.menu == ["destroy_building(stack=0)", "destroy_building(stack=1)", "destroy_building(stack=2)"]


@pytest.mark.parametrize(
    ("building", "dice", "gain"),
    [
        ("high_rise_1", 1, (1, 0, 0)),
        ("high_rise_2", 2, (2, 0, 0)),
        ("high_rise_3", 3, (3, 0, 0)),
        ("power_plant_2", 2, (0, 2, 0)),
        ("power_plant_3", 3, (0, 3, 0)),
        ("hospital_2", 2, (0, 0, 2)),
        ("hospital_3", 3, (0, 0, 3)),
    ],
)
def test_each_building_takes_its_durability_and_gives_its_reward(
    building: str, dice: int, gain: tuple[int, int, int]
) -> None:
    unit = {1: "infantry", 2: "jet", 3: "tank"}[dice]
    others = "high_rise_3" if building != "high_rise_3" else "power_plant_3"
    turn = Scene("q b m0", life=[5, 9, 9], tops={"queens": f"{building} {others} {others}"}, below=others)
    turn.final("d" * dice + "c" * 2 + "o" * (4 - dice)).resolve("d")
    if turn.asked == (0, "destroy"):
        turn.do("destroy_building(stack=6)")
    state = turn.state
    assert (state.vp[0], state.energy[0], state.life[0] - 5) == gain
    assert turn.units("queens") == {unit: 1}, "it became its Unit, in the same borough"


@pytest.mark.parametrize(
    ("unit", "dice", "reward"), [("infantry", 2, ("life", 1)), ("jet", 3, ("energy", 2)), ("tank", 4, ("vp", 3))]
)
def test_each_unit_takes_its_durability_and_gives_its_reward(unit: str, dice: int, reward: tuple[str, int]) -> None:
    turn = Scene("q b m0", life=[5, 9, 9], units={"queens": unit}).final("d" * dice + "c" * (6 - dice)).resolve("d")
    turn.do(f"destroy_unit(borough=queens,unit={unit})")
    assert [(gain.what, gain.amount) for gain in turn.events_of("gained") if gain.cause == "reward"] == [reward]
    assert turn.units("queens") == {}
    assert turn.state.trophies[["infantry", "jet", "tank"].index(unit)] == 1, "it lies before its destroyer"


def test_one_die_short_is_too_little_and_partial_damage_does_not_stay() -> None:
    tops = {"queens": "high_rise_3 high_rise_3 high_rise_3"}
    turn = Scene("q b m0", tops=tops).final("ddehhc").resolve("d")
    assert turn.events_of("building_destroyed") == []
    assert turn.state.force == 0, "the dice are lost"
    turn.to_next_turn()
    turn.final("hhhhhh").to_next_turn().final("hhhhhh").to_next_turn()
    assert turn.final("dehhcc").resolve("d").events_of("building_destroyed") == []


def test_the_building_below_becomes_visible_and_may_be_destroyed_with_dice_left_over() -> None:
    turn = Scene("q b m0", below="high_rise_2").final("dddhhc").resolve("d").do("destroy_building(stack=6)")
    assert turn.events_of("tile_shown")[-1].tile == "high_rise_2"
    assert "destroy_building(stack=6)" in turn.menu
    assert turn.do("destroy_building(stack=6)").state.vp[0] == 1 + 2


def test_a_unit_that_appeared_this_turn_cannot_be_destroyed() -> None:
    turn = Scene("q b m0").final("dddhhc").resolve("d").do("destroy_building(stack=6)")
    assert turn.units("queens") == {"infantry": 1}
    assert not any("destroy_unit" in text for text in turn.menu)


def test_an_old_unit_of_the_same_kind_can_be_destroyed() -> None:
    turn = Scene("q b m0", units={"queens": "infantry"}).final("dddhhc").resolve("d").do("destroy_building(stack=6)")
    turn.do("destroy_unit(borough=queens,unit=infantry)")
    assert turn.units("queens") == {"infantry": 1}
    assert turn.state.fresh_units[2 * 3] == 1, "the new one stays"


def test_dice_must_be_used_while_a_target_is_affordable() -> None:
    turn = Scene("q b m0").final("ddhhcc").resolve("d")
    assert "pass()" not in turn.menu


def test_a_unit_revealed_this_turn_shoots_in_an_ouch_resolved_later() -> None:
    turn = Scene("q b m0").final("dohhcc").resolve("d").do("destroy_building(stack=6)").resolve("o")
    assert turn.state.life[0] == 9


def test_a_stack_is_used_up_after_three_buildings() -> None:
    turn = Scene("q b m0").final("ddddoo").resolve("d")
    turn.do("destroy_building(stack=6)", "destroy_building(stack=6)", "destroy_building(stack=6)")
    assert turn.state.tops[6] == 0
    assert "destroy_building(stack=6)" not in turn.menu


def test_jets_elsewhere_must_be_used_up_with_sharp_shooter() -> None:
    tops = {"queens": "power_plant_3 hospital_3 high_rise_3"}
    turn = Scene("q b m0", cards={0: "sharp_shooter long_neck"}, units={"bronx": "jet"}, tops=tops).final("ddhhcc")
    turn.resolve("d")
    assert turn.state.trophies[1] == 1, "the only target was taken by itself"


def test_seismic_ray_per_die_is_never_compulsory() -> None:
    tops = {"queens": "power_plant_3 hospital_3 high_rise_3", "bronx": "high_rise_2 high_rise_3 hospital_3"}
    given = {"tops": tops, "cards": {0: "seismic_ray"}, "seismic_ray_cost": "per_die", "below": "hospital_3"}
    turn = Scene("q b m0", energy=[2, 0, 0], **given).final("ddhhcc").resolve("d")
    assert turn.menu[0] == "pass()"
    assert "destroy_building(stack=9)" in turn.menu
    turn.do("destroy_building(stack=9)")
    assert turn.state.energy[0] == 0, "1 energy for each of 2 results"
    assert turn.state.vp[0] == 2
    assert not any(
        text.startswith("redirect") for text in Scene("q b m0", energy=[2, 0, 0], **given).final("ddhhcc").menu
    )
