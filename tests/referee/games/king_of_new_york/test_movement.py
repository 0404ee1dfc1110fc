"""Placing, moving, fleeing and leaving; two monsters in Manhattan while five or six are alive."""

from .scenes import Scene

# One in Manhattan


def test_manhattan_with_room_must_be_entered_and_gives_1_vp() -> None:
    turn = Scene("q b x").final("hhhhcc").resolve("hc")
    assert turn.place(0) == "m0"
    assert turn.state.vp[0] == 1
    assert not any(payload.KIND == "stayed" for payload in turn.events)


def test_in_manhattan_one_advances_a_zone_and_stays_in_upper() -> None:
    assert Scene("m0 b q").final("hhhhcc").resolve("hc").place(0) == "m1"
    assert Scene("m1 b q").final("hhhhcc").resolve("hc").place(0) == "m2"
    assert Scene("m2 b q").final("hhhhcc").resolve("hc").place(0) == "m2"


def test_outside_one_stays_or_goes_to_any_outer_borough_with_room() -> None:
    turn = Scene("q b b m0").final("hhhhcc").until("move")
    assert turn.menu == ["stay()", "move(borough=bronx)", "move(borough=staten_island)"], "Brooklyn holds two"
    turn.do("move(borough=staten_island)")
    assert turn.place(0) == "s"


def test_an_attacked_monster_in_manhattan_may_flee_after_the_damage() -> None:
    turn = Scene("q b b m1").final("aahhcc").resolve("a")
    assert turn.state.life[3] == 8
    assert turn.asked == (3, "flee")
    assert turn.state.turn_seat == 0, "an interrupt"
    assert turn.menu == ["stay()", "flee(borough=queens)", "flee(borough=bronx)", "flee(borough=staten_island)"]
    turn.do("flee(borough=queens)")
    assert turn.place(3) == "q", "the attacker's borough had room for one more"
    assert turn.asked == (0, "resolve"), "remaining dice are resolved from the old borough"
    turn.resolve("hc")
    assert turn.place(0) == "m0"


def test_the_attackers_borough_counts_as_occupied_by_it() -> None:
    turn = Scene("q q b m1").final("aahhcc").resolve("a")
    assert "flee(borough=queens)" not in turn.menu


def test_who_stays_keeps_the_attacker_out() -> None:
    turn = Scene("q b x m1").final("aahhcc").resolve("a").do("stay()").resolve("hc")
    assert turn.asked == (0, "move")
    assert turn.place(3) == "m1"


def test_an_occupant_killed_makes_room_and_the_attacker_must_enter() -> None:
    turn = Scene("q b x m1", life=[10, 10, 10, 2]).final("aahhcc").resolve("a")
    assert turn.place(3) == "-"
    assert turn.asked == (0, "resolve")
    turn.resolve("hc")
    assert turn.place(0) == "m0"


def test_if_the_attacker_dies_before_its_move_the_next_to_move_enters() -> None:
    turn = Scene("q b x m1", life=[1, 10, 10, 2], units={"queens": "infantry"}).final("aahhoc")
    turn.resolve("ao")
    assert turn.places == "- b x -"
    assert turn.events_of("turn_began")[-1].seat == 1
    turn.final("hhhhhh")
    assert turn.place(1) == "m0"


# Two in Manhattan


def test_the_second_monster_must_enter_on_the_space_5_6() -> None:
    turn = Scene("q b m1 x s").final("hhhhcc").resolve("hc")
    assert turn.place(0) == "n0"
    assert turn.state.vp[0] == 1
    assert turn.place(2) == "m1"


def test_a_third_one_stays_outside() -> None:
    turn = Scene("q b m1 n0 s").final("hhhhcc").until("move")
    assert turn.place(0) == "q"
    assert "move(borough=manhattan)" not in turn.menu


def test_the_first_one_takes_the_space_2_4() -> None:
    assert Scene("q b x x s").final("hhhhcc").resolve("hc").place(0) == "m0"


def test_each_advances_on_its_own_track() -> None:
    assert Scene("n0 m0 b q s").final("hhhhcc").resolve("hc").places == "n1 m0 b q s"
    assert Scene("m0 n0 b q s").final("hhhhcc").resolve("hc").places == "m1 n0 b q s"


def test_the_space_2_4_decides_about_fleeing_first() -> None:
    turn = Scene("q n1 m0 x s").final("aahhcc").resolve("a")
    assert turn.asked == (2, "flee")
    turn.do("stay()")
    assert turn.asked == (1, "flee"), "each attacked monster has the right"
    turn.do("flee(borough=brooklyn)")
    assert turn.places == "q b m0 x s"


def test_if_the_first_flees_the_second_shifts_to_2_4_of_its_zone() -> None:
    turn = Scene("q n1 m0 x s").final("aahhcc").resolve("a").do("flee(borough=brooklyn)")
    assert turn.asked == (1, "flee")
    turn.do("stay()")
    assert turn.places == "q m1 b x s"


def test_both_may_flee() -> None:
    turn = Scene("q n1 m0 x s").final("aahhcc").resolve("a").do("flee(borough=brooklyn)", "flee(borough=bronx)")
    assert turn.places == "q x b x s"


def test_if_the_2_4_monster_falls_the_other_shifts_and_the_attacker_enters_while_five_live() -> None:
    turn = Scene("q n1 m0 x s b", life=[10, 10, 1, 10, 10, 10]).final("aahhcc").resolve("a")
    assert turn.place(1) == "m1"
    assert turn.asked == (1, "flee")
    turn.do("stay()").resolve("hc")
    assert turn.place(0) == "n0"


def test_five_to_four_with_one_left_inside_makes_nobody_leave_and_nobody_enter() -> None:
    turn = Scene("q n1 m0 x s", life=[10, 10, 1, 10, 10]).final("aahhcc").resolve("a")
    assert turn.places == "q m1 - x s"
    turn.do("stay()").resolve("hc")
    assert turn.asked == (0, "move"), "no room any more"


def test_when_the_fifth_dies_outside_the_5_6_monster_leaves_at_once() -> None:
    turn = Scene("m0 n1 q x s", life=[10, 10, 1, 10, 10]).final("aahhcc").resolve("a")
    assert turn.asked == (1, "leave")
    assert turn.menu == [f"leave(borough={name})" for name in ("brooklyn", "queens", "bronx", "staten_island")]
    turn.do("leave(borough=queens)")
    assert turn.places == "m0 q - x s"


def test_leaving_because_of_room_is_free_even_under_new_york_marathon() -> None:
    turn = Scene("m0 n1 q x s", life=[10, 10, 1, 10, 10], energy=[0, 2, 0, 0, 0], market=["new_york_marathon"])
    turn.final("aahhcc").resolve("a").do("leave(borough=queens)")
    assert turn.state.energy[1] == 2


def test_an_active_monster_on_5_6_can_be_the_one_to_leave() -> None:
    turn = Scene("n1 m0 q x s", life=[10, 10, 1, 10, 10]).final("aahhcc").resolve("a")
    assert turn.asked == (0, "leave")
    turn.do("leave(borough=bronx)")
    assert turn.asked == (0, "resolve"), "its turn goes on"


def test_two_deaths_from_six_close_manhattan_for_the_second() -> None:
    turn = Scene("m0 n1 q x s b", life=[10, 10, 1, 1, 10, 10]).final("aahhcc").resolve("a")
    assert turn.asked == (1, "leave")


def test_the_first_monster_of_a_match_cannot_hit_anybody() -> None:
    assert Scene("q b x x s").final("aahhcc").resolve("a").events_of("hurt") == []


def test_a_single_occupant_is_hit_and_the_attacker_enters_as_second() -> None:
    turn = Scene("q m0 x x s").final("aahhcc").resolve("a").do("stay()").resolve("hc")
    assert turn.state.life[1] == 8
    assert turn.places == "n0 m0 x x s"


# Further cases


def test_the_attacker_moves_freely_if_the_occupant_stays() -> None:
    turn = Scene("q b m0").final("aahhcc").resolve("a").do("stay()").resolve("hc")
    assert turn.menu == ["stay()", *(f"move(borough={name})" for name in ("brooklyn", "bronx", "staten_island"))]


def test_new_york_marathon_charges_optional_moves_only() -> None:
    dear = {"market": ["new_york_marathon"]}
    forced = Scene("q b x", **dear).final("hhhhcc").resolve("hc")
    assert forced.place(0) == "m0", "forced entry is free"
    assert Scene("m0 b q", **dear).final("hhhhcc").resolve("hc").place(0) == "m1", "so is advancing"
    optional = Scene("q b m0", energy=[2, 0, 0], **dear).final("hhhhcc").resolve("hc").do("move(borough=bronx)")
    assert optional.state.energy[0] == 0


def test_entering_cards_act_on_forced_entry_and_fleeing_too() -> None:
    forced = Scene("q b x", cards={0: "tourist"}).final("hhhhcc").resolve("hc")
    assert forced.events_of("souvenir_placed")[0].borough == "manhattan"
    fled = Scene("q b m0", cards={2: "tourist"}).final("aahhcc").resolve("a").do("flee(borough=bronx)")
    assert fled.events_of("souvenir_placed")[0].borough == "bronx"


def test_subway_moves_are_counted_and_each_entry_gives_1_vp() -> None:
    turn = Scene("m0 b q", rides=True, subway_max_moves=3)
    turn.do("ride(borough=bronx)", "ride(borough=manhattan)")
    assert turn.state.vp[0] == 1 + 1, "income and entry"
    turn.do("ride(borough=manhattan)")
    assert turn.place(0) == "m1", "in Manhattan a ride may advance"
    assert turn.rolls, "three moves are used up"


def test_rides_cost_2_under_new_york_marathon() -> None:
    turn = Scene("q b m0", rides=True, energy=[3, 0, 0], market=["new_york_marathon"]).do("ride(borough=bronx)")
    assert turn.state.energy[0] == 1
    assert turn.rolls, "1 energy does not pay for another"


def test_a_forced_exit_is_an_entry() -> None:
    turn = Scene("m0 n1 q x s", life=[10, 10, 1, 10, 10], cards={1: "tourist"}).final("aahhcc").resolve("a")
    turn.do("leave(borough=queens)")
    assert turn.events_of("souvenir_placed")[0].borough == "queens"


def test_the_one_left_in_manhattan_stands_on_2_4() -> None:
    turn = Scene("m0 n1 q x s", rides=True).do("ride(borough=brooklyn)")
    assert turn.place(1) == "m1"
