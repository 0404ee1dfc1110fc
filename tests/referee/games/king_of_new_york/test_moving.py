"""Moving and fleeing with 2 to 4 monsters alive (sheet sections 3.3 and 3.4)."""

from typing import Any


def test_manhattan_with_room_must_be_entered_and_gives_1_vp(scene: Any) -> None:
    turn = scene("q b x").final("hhhhcc").resolve("hc")
    assert turn.place(0) == "m0"
    assert turn.state.vp[0] == 1
    assert not any(payload.KIND == "stayed" for payload in turn.told)


def test_in_manhattan_one_advances_a_zone_and_stays_in_upper(scene: Any) -> None:
    assert scene("m0 b q").final("hhhhcc").resolve("hc").place(0) == "m1"
    assert scene("m1 b q").final("hhhhcc").resolve("hc").place(0) == "m2"
    assert scene("m2 b q").final("hhhhcc").resolve("hc").place(0) == "m2"


def test_outside_one_stays_or_goes_to_any_outer_borough_with_room(scene: Any) -> None:
    turn = scene("q b b m0").final("hhhhcc").until("move")
    assert turn.menu == ["stay()", "move(borough=bronx)", "move(borough=staten_island)"], "Brooklyn holds two"
    turn.do("move(borough=staten_island)")
    assert turn.place(0) == "s"


def test_an_attacked_monster_in_manhattan_may_flee_after_the_damage(scene: Any) -> None:
    turn = scene("q b b m1").final("aahhcc").resolve("a")
    assert turn.state.life[3] == 8
    assert turn.asked == (3, "flee")
    assert turn.state.turn_seat == 0, "an interrupt"
    assert turn.menu == ["stay()", "flee(borough=queens)", "flee(borough=bronx)", "flee(borough=staten_island)"]
    turn.do("flee(borough=queens)")
    assert turn.place(3) == "q", "the attacker's borough had room for one more"
    assert turn.asked == (0, "resolve"), "remaining dice are resolved from the old borough"
    turn.resolve("hc")
    assert turn.place(0) == "m0"


def test_the_attackers_borough_counts_as_occupied_by_it(scene: Any) -> None:
    turn = scene("q q b m1").final("aahhcc").resolve("a")
    assert "flee(borough=queens)" not in turn.menu


def test_who_stays_keeps_the_attacker_out(scene: Any) -> None:
    turn = scene("q b x m1").final("aahhcc").resolve("a").do("stay()").resolve("hc")
    assert turn.asked == (0, "move")
    assert turn.place(3) == "m1"


def test_an_occupant_killed_makes_room_and_the_attacker_must_enter(scene: Any) -> None:
    turn = scene("q b x m1", life=[10, 10, 10, 2]).final("aahhcc").resolve("a")
    assert turn.place(3) == "-"
    assert turn.asked == (0, "resolve")
    turn.resolve("hc")
    assert turn.place(0) == "m0"


def test_if_the_attacker_dies_before_its_move_the_next_to_move_enters(scene: Any) -> None:
    turn = scene("q b x m1", life=[1, 10, 10, 2], units={"queens": "infantry"}).final("aahhoc")
    turn.resolve("ao")
    assert turn.places == "- b x -"
    assert turn.heard("turn_began")[-1].seat == 1
    turn.final("hhhhhh")
    assert turn.place(1) == "m0"
