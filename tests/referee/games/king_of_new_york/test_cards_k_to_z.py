"""The Keep cards from King of Queens to Webspinner: each card has the test `test_<id>`; more tests may follow it."""

from typing import Any


def test_king_of_queens(scene: Any) -> None:
    turn = scene("q b m0", life=[5, 9, 9], cards={0: "king_of_queens"})
    assert (turn.state.energy[0], turn.state.life[0]) == (1, 6)
    elsewhere = scene("b q m0", life=[5, 9, 9], cards={0: "king_of_queens"})
    assert (elsewhere.state.energy[0], elsewhere.state.life[0]) == (0, 5)


def test_leveler(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "leveler"}).final("ddeehh").resolve("d")
    turn.do("destroy_building(stack=6)", "destroy_building(stack=7)")
    assert turn.state.vp[0] == 1 + 1 + 1, "two high-rises and once the card"


def test_long_neck(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "long_neck"}, units={"queens": "jet"}).final("ddeehh").resolve("d")
    assert "destroy_unit(borough=queens,unit=jet)" in turn.menu
    without = scene("q b m0", units={"queens": "jet"}).final("ddeehh").resolve("d")
    assert "destroy_unit(borough=queens,unit=jet)" not in without.menu


def test_natural_selection(scene: Any) -> None:
    turn = scene("q b m0", life=[5, 9, 9], energy=[2, 0, 0], market=["natural_selection"]).final("aeeddd")
    turn.resolve("ae").until("destroy").until("buy").buy("natural_selection", "stomp")
    assert (turn.state.energy[0], turn.state.life[0]) == (2 + 2 - 2 + 4, 9)
    turn.to_next_turn()
    assert turn.place(0) == "q", "no Celebrity die showed"


def test_natural_selection_rolls_one_more_die(scene: Any) -> None:
    assert sum(scene("q b m0", cards={0: "natural_selection"}).roll("eeeeeee").state.dice) == 7


def test_natural_selection_kills_after_a_turn_that_shows_celebrity(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "natural_selection"}).final("ceeehha").to_next_turn()
    assert turn.place(0) == "-"
    assert turn.in_discards("natural_selection")
    assert turn.heard("eliminated")[0].cause == "natural_selection"


def test_natural_selection_also_looks_at_the_turn_of_its_purchase(scene: Any) -> None:
    turn = scene("q b m0", energy=[2, 0, 0], market=["natural_selection"]).final("ceeehh").until("buy")
    turn.buy("natural_selection", "stomp").to_next_turn()
    assert turn.place(0) == "-"


def test_of_another_world(scene: Any) -> None:
    turn = scene("q b m0", life=[5, 9, 9], energy=[2, 0, 0], cards={0: "of_another_world"}, market=["stomp"])
    turn.final("ccooaa").until("buy")
    assert (turn.state.energy[0], turn.state.life[0]) == (2, 5)
    turn.do("buy(card=stomp)")
    assert turn.asked == (0, "pay")
    assert turn.menu == ["pay(life=2)", "pay(life=3)", "pay(life=4)"], "life may not fall to 0"
    turn.do("pay(life=3)")
    assert (turn.state.energy[0], turn.state.life[0]) == (1, 2)


def test_of_another_world_pays_for_damage_with_energy(scene: Any) -> None:
    turn = scene("q b m0", energy=[0, 0, 2], cards={2: "of_another_world phoenix_blood"}).final("aaahhe").resolve("a")
    assert turn.asked == (2, "respond")
    assert turn.menu == ["absorb(energy=0)", "absorb(energy=1)", "absorb(energy=2)"]
    turn.do("absorb(energy=2)")
    assert turn.state.life[2] == 9
    assert turn.state.energy[2] == 1, "it still counts as damage: Phoenix Blood"
    assert turn.asked == (2, "flee")


def test_overload(scene: Any) -> None:
    bought = scene("q b m0", market=["overload"]).final("aahhcd").until("buy").buy("overload", "stomp")
    assert bought.state.energy[0] == 4
    turn = scene("q b m0", cards={0: "overload"}).final("eeehha").resolve("e")
    assert turn.state.energy[0] == 2
    assert scene("q b m0", cards={0: "overload"}).final("eaahhc").resolve("e").state.energy[0] == 0


def test_painbow(scene: Any) -> None:
    assert scene("q b m0", cards={0: "painbow"}).final("ddehho").state.bonus[1] == 1
    assert scene("q b m0", cards={0: "painbow"}).final("dddehh").state.bonus[1] == 1
    assert scene("q b m0", cards={0: "painbow"}).final("ddddhe").state.bonus[1] == 2
    assert scene("q b m0", cards={0: "painbow"}).final("dehhoo").state.bonus[1] == 0
    won = scene("q b m0", cards={0: "painbow"}).final("dddddd")
    assert won.state.is_terminal()
    assert won.state.ranking() == (1, 2, 2)


def test_painbow_counts_added_destruction_and_attacks_without_claws_on_the_dice(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "painbow stomp"}).final("deehhc").resolve("a")
    assert turn.state.life[2] == 9


def test_personal_spotlight(scene: Any) -> None:
    assert scene("q b m0", cards={0: "personal_spotlight"}).final("cceehh").state.vp[0] == 1, "once, not per die"
    assert scene("q b m0", cards={0: "personal_spotlight"}).final("aaeehh").state.vp[0] == 0


def test_phoenix_blood(scene: Any) -> None:
    turn = scene("q b m0", cards={2: "phoenix_blood"}).final("aaahhd").resolve("a")
    assert turn.state.energy[2] == 1, "once per event, not per point"
    ouch = scene("q b m0", cards={0: "phoenix_blood"}, units={"queens": "infantry"}).final("oahhcd").resolve("o")
    assert ouch.state.energy[0] == 1


def test_power_tap(scene: Any) -> None:
    turn = scene("q b m0", cards={1: "power_tap"}).final("eeehha").resolve("e")
    assert turn.state.energy == [2, 1, 0]
    less = scene("q b m0", cards={1: "power_tap"}).final("eehhaa").resolve("e")
    assert less.state.energy == [2, 0, 0]
    own = scene("q b m0", cards={0: "power_tap"}).final("eeehha").resolve("e")
    assert own.state.energy == [3, 0, 0], "not from its owner"


def test_power_tap_adds_up_within_a_turn_and_takes_once(scene: Any) -> None:
    turn = scene("m1 b q", cards={1: "power_tap"})
    assert turn.state.energy == [1, 0, 0], "income of Midtown"
    turn.final("eeddho").resolve("e")
    assert turn.state.energy == [2, 1, 0], "1 + 2 reached 3"
    turn.resolve("d")
    assert turn.state.energy[1] == 1


def test_regeneration(scene: Any) -> None:
    assert scene("q b m0", life=[5, 9, 9], cards={0: "regeneration"}).state.life[0] == 6
    assert scene("m0 b q", life=[5, 9, 9], cards={0: "regeneration"}).state.life[0] == 6, "in Manhattan too"
    assert scene("q b m0", cards={0: "regeneration"}).state.life[0] == 10, "never above the cap"


def test_scavenger(scene: Any) -> None:
    turn = scene("q b m0", energy=[3, 0, 0], cards={0: "scavenger"}, discards="stomp coney_island").final("aahhcd")
    turn.until("buy")
    assert "scavenge(card=stomp)" in turn.menu, "4 - 1"
    assert "scavenge(card=coney_island)" not in turn.menu, "Keep cards only"
    turn.do("scavenge(card=stomp)")
    assert turn.cards(0) == ["scavenger", "stomp"]
    assert turn.state.energy[0] == 0
    assert not turn.in_discards("stomp")


def test_seismic_ray(scene: Any) -> None:
    turn = scene("q b m0", energy=[1, 0, 0], cards={0: "seismic_ray"}).final("ddahhc")
    assert "redirect(borough=bronx)" in turn.menu
    assert "redirect(borough=queens)" not in turn.menu, "its own borough needs no ray"
    turn.do("redirect(borough=bronx)")
    assert turn.state.energy[0] == 0
    assert turn.menu == ["destroy_building(stack=9)", "destroy_building(stack=10)", "destroy_building(stack=11)"]
    turn.do("destroy_building(stack=9)", "destroy_building(stack=9)")
    assert turn.units("bronx") == {"infantry": 2}
    assert turn.state.site == 5, "the step is over"


def test_seismic_ray_needs_energy(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "seismic_ray"}).final("ddahhc")
    assert not any(text.startswith("redirect") for text in turn.menu)


def test_shadow_double(scene: Any) -> None:
    assert scene("q b m0", cards={0: "shadow_double"}).final("aaeehh").resolve("a").state.life[2] == 6


def test_sharp_shooter(scene: Any) -> None:
    jets = {"units": {"bronx": "jet", "brooklyn": "infantry"}}
    turn = scene("q b m0", cards={0: "sharp_shooter"}, **jets).final("dddhha").resolve("d")
    assert "destroy_unit(borough=bronx,unit=jet)" in turn.menu
    assert "destroy_unit(borough=brooklyn,unit=infantry)" not in turn.menu, "Jets only"
    turn.do("destroy_unit(borough=bronx,unit=jet)")
    assert turn.state.vp[0] == 1
    assert turn.state.energy[0] == 2, "the tile's reward"


def test_stink_attack(scene: Any) -> None:
    units = {"units": {"brooklyn": "infantry infantry infantry jet tank"}}
    turn = scene("q s m0", cards={0: "stink_attack"}, **units).final("eaahhc").resolve("ea").until("move")
    turn.do("move(borough=brooklyn)")
    assert turn.asked == (0, "push")
    turn.do("push(unit=tank,borough=manhattan)", "push(unit=infantry,borough=queens)")
    assert "push(unit=jet,borough=queens)" not in turn.menu, "each to a different borough"
    turn.do("push(unit=infantry,borough=bronx)", "push(unit=jet,borough=staten_island)")
    assert turn.units("brooklyn") == {"infantry": 1}
    assert (turn.units("manhattan"), turn.units("staten_island")) == ({"tank": 1}, {"jet": 1})
    assert turn.asked is None or turn.asked[1] != "push"


def test_stink_attack_acts_on_fleeing_too(scene: Any) -> None:
    turn = scene("q s m0", cards={2: "stink_attack"}, units={"bronx": "jet"}).final("aahhcc").resolve("a")
    turn.do("flee(borough=bronx)")
    assert turn.asked == (2, "push")
    turn.do("pass()")
    assert turn.units("bronx") == {"jet": 1}


def test_stomp(scene: Any) -> None:
    assert scene("q b m0", cards={0: "stomp"}).final("aaeehh").state.bonus == [0, 0, 1, 0, 0, 0]


def test_super_speed(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "super_speed"})
    assert turn.asked == (0, "before_roll")
    assert turn.menu == ["pass()", "dash(borough=brooklyn)", "dash(borough=bronx)", "dash(borough=staten_island)"]
    turn.do("dash(borough=bronx)")
    assert turn.place(0) == "x"
    assert turn.rolls, "one extra move only"


def test_super_speed_must_go_to_manhattan_while_it_has_room_and_advances_in_it(scene: Any) -> None:
    turn = scene("q b x", cards={0: "super_speed"})
    assert turn.menu == ["pass()", "dash(borough=manhattan)"]
    turn.do("dash(borough=manhattan)")
    assert (turn.place(0), turn.state.vp[0]) == ("m0", 1)
    turn.final("eeehhh").resolve("eh")
    assert turn.place(0) == "m1", "the Move step advances it a zone"
    inside = scene("m1 b x", cards={0: "super_speed"}).do("dash(borough=manhattan)")
    assert inside.place(0) == "m2"
    assert scene("m2 b x", cards={0: "super_speed"}).rolls, "nowhere to go from Upper Manhattan"


def test_terminal_rage(scene: Any) -> None:
    turn = scene("q b m0", energy=[4, 0, 0], market=["terminal_rage"]).final("hhhhoo").until("buy")
    turn.buy("terminal_rage", "stomp")
    assert (turn.heard("turn_began")[-1].seat, turn.heard("turn_began")[-1].extra) == (0, True)
    turn.roll("aaeehh")
    assert not any("counts=[0,1" in text or "counts=[1,1" in text for text in turn.menu), "Attack dice stay"


def test_tesla_antennae(scene: Any) -> None:
    turn = scene("m0 b q", life=[5, 6, 5], cards={0: "tesla_antennae"}).final("aaehhc").resolve("a")
    assert turn.state.life == [5, 3, 3], "one more for who has more life"


def test_tesla_antennae_come_before_shadow_double(scene: Any) -> None:
    turn = scene("m0 b q", life=[5, 9, 5], cards={0: "tesla_antennae shadow_double"}).final("aehhco").resolve("a")
    assert turn.state.life == [5, 5, 3], "(1 + 1) x 2"


def test_tourist(scene: Any) -> None:
    turn = scene("q b m0", energy=[6, 0, 0], market=["tourist"]).final("ehhhoo").until("buy").buy("tourist", "stomp")
    assert (turn.state.vp[0], turn.state.energy[0]) == (1, 1 + 1), "a Souvenir token where it stands"
    moving = scene("q b m0", cards={0: "tourist"}).final("aahhco").resolve("a").until("move").do("move(borough=bronx)")
    assert (moving.state.vp[0], moving.state.energy[0]) == (1, 1)
    assert moving.state.souvenirs == 1 << 3


def test_tourist_places_one_token_in_a_borough_only(scene: Any) -> None:
    turn = scene("q b x", cards={0: "tourist"}).final("aahhco").resolve("ahc")
    assert turn.place(0) == "m0"
    assert turn.state.vp[0] == 1 + 1, "entering and the token"
    turn.to_next_turn()
    assert turn.state.souvenirs == 1


def test_towering_titan(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "towering_titan"}).final("eehhcc")
    assert turn.state.bonus[1] == 2
    assert turn.resolve("a").state.life[2] == 8, "without a claw on the dice"


def test_trash_thrower(scene: Any) -> None:
    turn = scene("m0 b q", vp=[0, 3, 0], cards={0: "trash_thrower"}).final("aaehhc").resolve("a")
    assert turn.state.vp == [1, 2, 0], "one each per attack, never below 0; 1 is the income"


def test_trophy_hunter(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "trophy_hunter"}, units={"queens": "infantry"}).final("ddeeha").resolve("d")
    assert turn.do("destroy_unit(borough=queens,unit=infantry)").state.vp[0] == 1


def test_universal_soldier(scene: Any) -> None:
    turn = scene("q b m0", life=[5, 9, 9], cards={0: "universal_soldier"}).final("ahheec")
    assert turn.menu == [
        "keep()",
        "convert(energy=2,attack=0,heart=3)",
        "convert(energy=2,attack=2,heart=1)",
        "convert(energy=2,attack=3,heart=0)",
    ]
    turn.do("convert(energy=2,attack=3,heart=0)").resolve("a")
    assert turn.state.life[2] == 6


def test_violent_star(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "violent_star"}, superstar=1).final("cccehh").resolve("c")
    assert turn.state.life == [10, 8, 10], "2 to whom it was taken from"
    assert turn.asked == (0, "resolve"), "no attack: nobody flees"
    lost = scene("q b m0", cards={1: "violent_star"}, superstar=1).final("cccehh").resolve("c")
    assert lost.state.life == [9, 10, 10], "1 to whom takes it"
    table = scene("q b m0", cards={0: "violent_star"}).final("cccehh").resolve("c")
    assert table.state.life == [10, 10, 10]


def test_webspinner(scene: Any) -> None:
    turn = scene("m0 b q", cards={0: "webspinner"}).final("aeehhc").resolve("a")
    assert turn.state.web == [0, 1, 1]
    assert turn.state.web_left == 11


def test_webspinner_takes_rerolls_but_never_the_first_roll(scene: Any) -> None:
    one = scene("q b m0", cards={1: "webspinner"}, web={0: 1}).roll("eeaahh")
    assert one.state.rerolls == 1
    many = scene("q b m0", cards={1: "webspinner"}, web={0: 3}).roll("eeaahh")
    assert many.asked == (0, "resolve")


def test_webspinner_lets_claws_take_off_tokens_in_place_of_attacking(scene: Any) -> None:
    turn = scene("q b m0", cards={1: "webspinner"}, web={0: 2}).roll("aaaeeh")
    turn.do("remove(face=attack,tokens=2)")
    assert turn.state.web[0] == 0
    assert turn.state.life[2] == 9, "the third claw attacks"
    all_spent = scene("q b m0", cards={1: "webspinner"}, web={0: 2}).roll("aaeehh").do("remove(face=attack,tokens=2)")
    assert all_spent.state.life[2] == 10
    assert all_spent.asked == (0, "resolve")
