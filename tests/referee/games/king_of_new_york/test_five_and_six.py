"""Two monsters in Manhattan (sheet section 7)."""

from typing import Any


def test_the_second_monster_must_enter_on_the_space_5_6(scene: Any) -> None:
    turn = scene("q b m1 x s").final("hhhhcc").resolve("hc")
    assert turn.place(0) == "n0"
    assert turn.state.vp[0] == 1
    assert turn.place(2) == "m1"


def test_a_third_one_stays_outside(scene: Any) -> None:
    turn = scene("q b m1 n0 s").final("hhhhcc").until("move")
    assert turn.place(0) == "q"
    assert "move(borough=manhattan)" not in turn.menu


def test_the_first_one_takes_the_space_2_4(scene: Any) -> None:
    assert scene("q b x x s").final("hhhhcc").resolve("hc").place(0) == "m0"


def test_each_advances_on_its_own_track(scene: Any) -> None:
    assert scene("n0 m0 b q s").final("hhhhcc").resolve("hc").places == "n1 m0 b q s"
    assert scene("m0 n0 b q s").final("hhhhcc").resolve("hc").places == "m1 n0 b q s"


def test_the_space_2_4_decides_about_fleeing_first(scene: Any) -> None:
    turn = scene("q n1 m0 x s").final("aahhcc").resolve("a")
    assert turn.asked == (2, "flee")
    turn.do("stay()")
    assert turn.asked == (1, "flee"), "each attacked monster has the right"
    turn.do("flee(borough=brooklyn)")
    assert turn.places == "q b m0 x s"


def test_if_the_first_flees_the_second_shifts_to_2_4_of_its_zone(scene: Any) -> None:
    turn = scene("q n1 m0 x s").final("aahhcc").resolve("a").do("flee(borough=brooklyn)")
    assert turn.asked == (1, "flee")
    turn.do("stay()")
    assert turn.places == "q m1 b x s"


def test_both_may_flee(scene: Any) -> None:
    turn = scene("q n1 m0 x s").final("aahhcc").resolve("a").do("flee(borough=brooklyn)", "flee(borough=bronx)")
    assert turn.places == "q x b x s"


def test_if_the_2_4_monster_falls_the_other_shifts_and_the_attacker_enters_while_five_live(scene: Any) -> None:
    turn = scene("q n1 m0 x s b", life=[10, 10, 1, 10, 10, 10]).final("aahhcc").resolve("a")
    assert turn.place(1) == "m1"
    assert turn.asked == (1, "flee")
    turn.do("stay()").resolve("hc")
    assert turn.place(0) == "n0"


def test_five_to_four_with_one_left_inside_makes_nobody_leave_and_nobody_enter(scene: Any) -> None:
    turn = scene("q n1 m0 x s", life=[10, 10, 1, 10, 10]).final("aahhcc").resolve("a")
    assert turn.places == "q m1 - x s"
    turn.do("stay()").resolve("hc")
    assert turn.asked == (0, "move"), "no room any more"


def test_when_the_fifth_dies_outside_the_5_6_monster_leaves_at_once(scene: Any) -> None:
    turn = scene("m0 n1 q x s", life=[10, 10, 1, 10, 10]).final("aahhcc").resolve("a")
    assert turn.asked == (1, "leave")
    assert turn.menu == [f"leave(borough={name})" for name in ("brooklyn", "queens", "bronx", "staten_island")]
    turn.do("leave(borough=queens)")
    assert turn.places == "m0 q - x s"


def test_leaving_because_of_room_is_free_even_under_new_york_marathon(scene: Any) -> None:
    turn = scene("m0 n1 q x s", life=[10, 10, 1, 10, 10], energy=[0, 2, 0, 0, 0], market=["new_york_marathon"])
    turn.final("aahhcc").resolve("a").do("leave(borough=queens)")
    assert turn.state.energy[1] == 2


def test_an_active_monster_on_5_6_can_be_the_one_to_leave(scene: Any) -> None:
    turn = scene("n1 m0 q x s", life=[10, 10, 1, 10, 10]).final("aahhcc").resolve("a")
    assert turn.asked == (0, "leave")
    turn.do("leave(borough=bronx)")
    assert turn.asked == (0, "resolve"), "its turn goes on"


def test_two_deaths_from_six_close_manhattan_for_the_second(scene: Any) -> None:
    turn = scene("m0 n1 q x s b", life=[10, 10, 1, 1, 10, 10]).final("aahhcc").resolve("a")
    assert turn.asked == (1, "leave")


def test_the_first_monster_of_a_match_cannot_hit_anybody(scene: Any) -> None:
    assert scene("q b x x s").final("aahhcc").resolve("a").heard("hurt") == []


def test_a_single_occupant_is_hit_and_the_attacker_enters_as_second(scene: Any) -> None:
    turn = scene("q m0 x x s").final("aahhcc").resolve("a").do("stay()").resolve("hc")
    assert turn.state.life[1] == 8
    assert turn.places == "n0 m0 x x s"
