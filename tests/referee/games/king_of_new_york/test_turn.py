"""The course of a turn and the faces (sheet sections 2 and 3.1)."""

from typing import Any

import pytest

from referee.games.api import Roll


@pytest.mark.parametrize(
    ("place", "vp", "energy"),
    [("m0", 1, 1), ("m1", 2, 1), ("m2", 2, 2), ("n0", 1, 1), ("n1", 2, 1), ("n2", 2, 2), ("q", 0, 0)],
)
def test_income_in_manhattan_by_zone_on_both_tracks(scene: Any, place: str, vp: int, energy: int) -> None:
    other = "m0" if place.startswith("n") else "b"
    turn = scene(f"{place} {other} b x s")
    assert (turn.state.vp[0], turn.state.energy[0]) == (vp, energy)


def test_six_dice_fall_one_by_one_each_under_its_own_key(scene: Any) -> None:
    turn = scene("q b m0")
    for die in range(6):
        assert turn.state.chance_stream() == Roll("dice", 0, 1, 0, die)
        turn.roll("e")
    turn.do("reroll(counts=[2,0,0,0,0,0])")
    assert turn.state.chance_stream() == Roll("dice", 0, 1, 1, 0)


def test_every_face_has_the_same_weight(scene: Any) -> None:
    assert scene("q b m0").state.chance_outcomes() == tuple(
        (face, 1) for face in ("energy", "attack", "destruction", "heart", "celebrity", "ouch")
    )


def test_two_optional_rerolls_of_any_subset(scene: Any) -> None:
    turn = scene("q b m0").roll("eeaahh")
    assert turn.menu[0] == "keep()"
    assert len(turn.menu) == 3 * 3 * 3, "keeping, and each distinct set of dice once"
    turn.do("reroll(counts=[1,2,0,0,0,0])").roll("ccc")
    assert turn.asked == (0, "dice")
    turn.do("reroll(counts=[0,0,0,0,3,0])").roll("ooo")
    assert turn.asked == (0, "resolve"), "no third reroll"


def test_faces_are_resolved_in_the_order_the_player_chooses(scene: Any) -> None:
    turn = scene("q b m0").final("eadhco")
    order = []
    for letter in "ochad":
        turn.resolve(letter)
        order.append(turn.heard("resolved")[-1].face)
        while turn.asked != (0, "resolve") and turn.asked and turn.asked[1] in ("destroy", "flee"):
            turn.do(turn.menu[0])
    assert order[:4] == ["ouch", "celebrity", "heart", "attack"]
    assert [payload.face for payload in turn.heard("resolved")][-1] == "energy", "all faces are resolved"


def test_all_dice_of_a_face_are_finished_before_the_next_face(scene: Any) -> None:
    turn = scene("q b m0").final("ddeeoo").resolve("d")
    assert turn.asked == (0, "destroy")
    turn.do("destroy_building(stack=6)")
    assert turn.asked == (0, "destroy")


def test_energy_gives_one_for_each_die(scene: Any) -> None:
    assert scene("q b m0").final("eeehha").resolve("e").state.energy[0] == 3


def test_attack_from_outside_hits_everyone_in_manhattan(scene: Any) -> None:
    turn = scene("q b m0 n0 x s").final("aahhcc").resolve("a")
    assert turn.state.life == [10, 10, 8, 8, 10, 10]


def test_attack_from_manhattan_hits_everyone_outside_but_not_a_co_occupant(scene: Any) -> None:
    turn = scene("m0 n1 q b x s").final("aahhcc").resolve("a")
    assert turn.state.life == [10, 10, 8, 8, 8, 8]


def test_attack_on_an_empty_manhattan_does_nothing(scene: Any) -> None:
    turn = scene("q b x").final("aahhcc").resolve("a")
    assert turn.heard("hurt") == []


def test_heart_heals_up_to_10_outside_manhattan(scene: Any) -> None:
    assert scene("q b m0", life=[5, 9, 9]).final("hhhcco").resolve("h").state.life[0] == 8
    assert scene("q b m0", life=[9, 9, 9]).final("hhhcco").resolve("h").state.life[0] == 10


def test_heart_heals_nothing_in_manhattan(scene: Any) -> None:
    assert scene("m0 b q", life=[5, 9, 9]).final("hhhcco").resolve("h").state.life[0] == 5


def test_tile_rewards_heal_in_manhattan(scene: Any) -> None:
    turn = scene("m0 b q", life=[5, 9, 9], tops={"manhattan": "hospital_2 high_rise_3 high_rise_3"}, below="hospital_3")
    turn.final("ddhhco").resolve("d")
    assert turn.state.life[0] == 7


def test_celebrity_below_three_without_superstar_gives_nothing(scene: Any) -> None:
    turn = scene("q b m0").final("cchhoo").resolve("c")
    assert turn.state.vp[0] == 0
    assert turn.state.superstar_seat == 7


UNITS = {"queens": "infantry tank", "brooklyn": "jet", "bronx": "infantry infantry infantry"}


def test_one_ouch_hurts_the_roller_by_the_units_of_its_borough(scene: Any) -> None:
    assert scene("q q b m0", units=UNITS).final("ohhecc").resolve("o").state.life == [8, 10, 10, 10]


def test_two_ouch_hurt_everyone_in_the_rollers_borough(scene: Any) -> None:
    assert scene("q q b m0", units=UNITS).final("oohecc").resolve("o").state.life == [8, 8, 10, 10]


def test_three_ouch_hurt_everyone_where_they_are_and_give_the_statue(scene: Any) -> None:
    turn = scene("q b x m0", units=UNITS).final("ooohec").resolve("o")
    assert turn.state.life == [8, 9, 7, 10]
    assert turn.state.statue_seat == 0
    assert turn.state.vp[0] == 3


def test_units_in_all_zones_of_manhattan_shoot_there(scene: Any) -> None:
    assert scene("m2 q b", units={"manhattan": "infantry jet"}).final("ohhecc").resolve("o").state.life[0] == 8


def test_ouch_is_no_attack(scene: Any) -> None:
    turn = scene("q b m0", units={"manhattan": "infantry"}, cards={2: "drain"}, energy=[5, 0, 0]).final("ooohcc")
    turn.resolve("o")
    assert turn.state.life[2] == 9
    assert turn.asked == (0, "resolve"), "nobody flees"
    assert turn.state.energy == [5, 0, 0], "Drain is silent"


def test_the_next_player_is_the_next_living_monster_clockwise(scene: Any) -> None:
    turn = scene("q - m0 b", seat=0).final("hhhhhh").to_next_turn()
    assert turn.heard("turn_began")[-1].seat == 2
