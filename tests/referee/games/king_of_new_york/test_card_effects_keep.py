"""The Keep cards: each card has the test `test_<id>`; more tests may follow it."""

from .scenes import Scene


def test_antimatter_pellets() -> None:
    hit = Scene("q b m0", cards={0: "antimatter_pellets"}).final("aaeehh").resolve("a")
    assert hit.rolls, "the attacked monster rolls one die"
    hit.chance("ouch")
    assert hit.state.life[2] == 6, "doubled"
    missed = Scene("q b m0", cards={0: "antimatter_pellets"}).final("aaeehh").resolve("a").chance("attack")
    assert missed.state.life[2] == 8


def test_antimatter_pellets_stack_with_shadow_double_and_roll_for_each_target() -> None:
    turn = Scene("m0 b q", cards={0: "antimatter_pellets shadow_double"}).final("aeeehh").resolve("a")
    turn.chance("ouch").chance("heart")
    assert turn.state.life == [10, 6, 8]
    assert [payload.seat for payload in turn.events_of("defence_rolled")] == [1, 2]


def test_antimatter_pellets_without_attack_roll_nothing() -> None:
    assert (
        Scene("q b x", cards={0: "antimatter_pellets"}).final("aaeehh").resolve("a").events_of("defence_rolled") == []
    )


def test_artificial_heart() -> None:
    turn = Scene("q b m0", life=[5, 10, 10], cards={0: "artificial_heart"}).final("hhhdoo")
    assert turn.asked == (0, "convert")
    assert turn.menu == [
        "keep()",
        "convert(energy=1,attack=0,heart=2)",
        "convert(energy=2,attack=0,heart=1)",
        "convert(energy=3,attack=0,heart=0)",
    ]
    turn.do("convert(energy=2,attack=0,heart=1)").resolve("eh")
    assert (turn.state.energy[0], turn.state.life[0]) == (2, 6)


def test_artificial_heart_works_in_manhattan() -> None:
    turn = Scene("m0 b q", cards={0: "artificial_heart"}).final("hhhooo")
    turn.do("convert(energy=3,attack=0,heart=0)").resolve("e")
    assert turn.state.energy[0] == 3 + 1, "with the income of Lower Manhattan"


def test_broadway_star() -> None:
    assert Scene("q b m0", cards={0: "broadway_star"}, superstar=0).state.vp[0] == 1, "at turn start"
    assert Scene("q b m0", cards={0: "broadway_star"}).state.vp[0] == 0, "not without Superstar"
    assert Scene("q b m0", cards={0: "broadway_star"}).final("ccchhe").resolve("c").state.vp[0] == 1 + 1


def test_bulletproof() -> None:
    turn = Scene("q q m0", cards={1: "bulletproof"}, units={"queens": "infantry jet"}).final("ooeehh").resolve("o")
    assert turn.state.life == [8, 9, 10], "an Ouch that another rolled hurts its owner one point less"
    one = Scene("q b m0", cards={0: "bulletproof"}, units={"queens": "infantry"}).final("oeehha").resolve("o")
    assert one.state.life[0] == 10, "never below 0"
    assert one.events_of("hurt") == []


def test_can_opener() -> None:
    tank = {"units": {"queens": "tank"}}
    turn = Scene("q b m0", cards={0: "can_opener"}, **tank).final("dddhhe").resolve("d")
    assert "destroy_unit(borough=queens,unit=tank)" in turn.menu
    turn.do("destroy_unit(borough=queens,unit=tank)")
    assert turn.state.vp[0] == 3
    assert turn.state.force == 0, "3 dice were enough and all were used"
    assert "destroy_unit(borough=queens,unit=tank)" not in Scene("q b m0", **tank).final("dddhhe").resolve("d").menu


def test_carapace() -> None:
    turn = Scene("q b m0", life=[10, 10, 10], cards={0: "carapace"}).final("oohhee")
    assert turn.state.carapace[0] == 2, "a token for each Ouch die"
    turn.resolve("h")
    assert turn.state.life[0] == 12, "the cap is 12 while it is owned"
    turn.do("shed()")
    assert turn.state.life[0] == 10, "the cap returns to 10 and life above it is cut"
    assert turn.cards(0) == []
    assert turn.in_discards("carapace")
    assert turn.state.carapace_left == 15


def test_carapace_heals_one_for_each_token() -> None:
    turn = Scene("q b m0", life=[4, 10, 10], cards={0: "carapace"}, carapace=3).final("eaahhd").do("shed()")
    assert turn.state.life[0] == 7
    full = Scene("q b m0", life=[8, 10, 10], cards={0: "carapace"}, carapace=5).final("eaahhd").do("shed()")
    assert full.state.life[0] == 10, "up to the cap without the card"


def test_carapace_can_be_used_before_damage_that_would_kill() -> None:
    turn = Scene("q b m0", life=[10, 10, 2], cards={2: "carapace"}, carapace=3).final("aaahhe").resolve("a")
    assert turn.asked == (2, "respond")
    assert turn.menu == ["absorb(energy=0)", "shed()"]
    assert turn.do("shed()").state.life[2] == 2
    dead = Scene("q b m0", life=[10, 10, 2], cards={2: "carapace"}, carapace=3).final("aaahhe").resolve("a")
    assert dead.do("absorb(energy=0)").place(2) == "-"


def test_carapace_is_not_asked_about_when_the_damage_does_not_kill() -> None:
    turn = Scene("q b m0", life=[10, 10, 4], cards={2: "carapace"}, carapace=3).final("aaahhe").resolve("a")
    assert turn.asked == (2, "flee")


def test_buying_carapace_does_not_heal() -> None:
    turn = Scene("q b m0", life=[7, 10, 10], energy=[3, 0, 0], market=["carapace"]).final("eaddcc")
    assert turn.buy("carapace").state.life[0] == 7


def test_chameleon() -> None:
    turn = Scene("q b m0", cards={0: "chameleon"}).final("ccdhho")
    assert turn.asked == (0, "convert")
    turn.do("swap(die=ouch,to=destruction)")
    assert turn.dice == "ddhhc"
    turn.do("give_up()")
    assert turn.dice == "ddhh"
    assert turn.asked == (0, "resolve"), "no Celebrity die is left to give up"


def test_chameleon_may_turn_a_die_to_a_face_already_resolved() -> None:
    turn = Scene("q b m0", cards={0: "chameleon"}).final("ceehho").do("keep()").do("resolve(face=energy)")
    assert turn.state.energy[0] == 2
    turn.do("swap(die=ouch,to=energy)").resolve("e")
    assert turn.state.energy[0] == 3


def test_chameleon_dice_given_up_do_not_count_for_superstar() -> None:
    turn = (
        Scene("q b m0", cards={0: "chameleon"}).final("ccceeh").do("swap(die=heart,to=attack)", "keep()").resolve("c")
    )
    assert turn.state.superstar_seat == 7


def test_chinatown_regular() -> None:
    turn = Scene("q b x", life=[5, 10, 10], cards={0: "chinatown_regular"}).final("eeeaah").resolve("ea")
    assert turn.places == "m0 b x"
    assert turn.state.life[0] == 5 + 1 + 2, "a heart before, 2 on entering"
    inside = Scene("m0 b x", life=[5, 10, 10], cards={0: "chinatown_regular"}).final("eeeoco").resolve("eoc")
    assert (inside.place(0), inside.state.life[0]) == ("m1", 5), "not on advancing a zone"


def test_climb_the_empire_state_building() -> None:
    turn = Scene("m0 b q", cards={0: "climb_the_empire_state_building"}).final("eadhco")
    assert turn.state.vp[0] == 1 + 2
    assert turn.events_of("extra_turn")[0].seat == 0
    turn.resolve("ea")
    assert turn.state.energy[0] == 1 + 1, "the dice are resolved as well"
    turn.to_next_turn()
    assert (turn.events_of("turn_began")[-1].seat, turn.events_of("turn_began")[-1].extra) == (0, True)


def test_climb_the_empire_state_building_needs_manhattan_and_all_faces() -> None:
    assert Scene("q b m0", cards={0: "climb_the_empire_state_building"}).final("eadhco").events_of("extra_turn") == []
    assert Scene("m0 b q", cards={0: "climb_the_empire_state_building"}).final("eadhcc").events_of("extra_turn") == []


def test_curse() -> None:
    turn = Scene("m0 b q", cards={0: "curse"}).final("aeehhc").resolve("a")
    assert turn.state.jinx == [0, 1, 1], "a Jinx token for each monster hurt"
    assert turn.state.jinx_left == 11


def test_curse_makes_rerolls_of_ouch_dice_cost_the_tokens_held() -> None:
    turn = Scene("q b m0", energy=[3, 0, 0], cards={1: "curse"}, jinx={0: 2}).roll("ooeehh")
    turn.do("reroll(counts=[0,0,0,0,0,2])")
    assert turn.state.energy[0] == 1, "2 for the reroll, however many Ouch dice"
    turn.roll("oo")
    assert "reroll(counts=[0,0,0,0,0,1])" not in turn.menu, "1 energy does not pay 2"
    turn.do("reroll(counts=[1,0,0,0,0,0])")
    assert turn.state.energy[0] == 1, "dice that show no Ouch are free"


def test_curse_lets_hearts_take_off_tokens_even_in_manhattan() -> None:
    turn = Scene("m0 b q", life=[5, 9, 9], cards={1: "curse"}, jinx={0: 2}).final("hhheec")
    turn.do("remove(face=heart,tokens=2)")
    assert turn.state.jinx[0] == 0
    assert turn.state.life[0] == 5
    outside = Scene("q b m0", life=[5, 9, 9], cards={1: "curse"}, jinx={0: 2}).final("hhheec")
    outside.do("remove(face=heart,tokens=2)")
    assert outside.state.life[0] == 6, "the third heart heals"


def test_diva() -> None:
    guarded = {"cards": {1: "diva"}, "superstar": 1}
    assert Scene("q b m0", **guarded).final("cccehh").resolve("c").state.superstar_seat == 1
    taken = Scene("q b m0", **guarded).final("cccche").resolve("c")
    assert taken.state.superstar_seat == 0
    assert taken.state.vp[0] == 2, "1 + 1 for the fourth"
    assert Scene("q b m0", cards={1: "diva"}).final("cccehh").resolve("c").state.superstar_seat == 0, (
        "not from the table"
    )


def test_drain() -> None:
    turn = Scene("q b m0", energy=[3, 0, 0], cards={2: "drain"}).final("aahhcd").resolve("a")
    assert turn.state.energy == [1, 0, 2]
    poor = Scene("q b m0", energy=[1, 0, 0], cards={2: "drain"}).final("aahhcd").resolve("a")
    assert poor.state.energy == [0, 0, 1]


def test_drain_takes_nothing_when_the_attack_kills() -> None:
    turn = Scene("q b m0", energy=[3, 0, 0], life=[10, 10, 2], cards={2: "drain"}).final("aahhcd").resolve("a")
    assert turn.state.energy[0] == 3


def test_ego_trip() -> None:
    assert Scene("q b m0", cards={0: "ego_trip"}, superstar=0).state.energy[0] == 1, "at turn start"
    assert Scene("q b m0", cards={0: "ego_trip"}).state.energy[0] == 0
    assert Scene("q b m0", cards={0: "ego_trip"}).final("ccchha").resolve("c").state.energy[0] == 1


def test_extra_head() -> None:
    assert sum(Scene("q b m0", cards={0: "extra_head"}).roll("eeeeeee").state.dice) == 7
    assert sum(Scene("q b m0", cards={0: "extra_head natural_selection"}).roll("eeeeeeee").state.dice) == 8


def test_fireball() -> None:
    turn = Scene("q q m0 b", cards={0: "fireball"}).final("aaeehh").resolve("a")
    assert turn.state.life == [10, 8, 8, 10]
    assert turn.asked == (2, "flee"), "only who is in Manhattan may flee"


def test_fireball_in_manhattan_hits_the_co_occupant_who_may_flee() -> None:
    turn = Scene("m0 n0 b q x", cards={0: "fireball"}).final("aaeehh").resolve("a")
    assert turn.state.life == [10, 8, 8, 8, 8]
    assert turn.asked == (1, "flee")


def test_fury() -> None:
    three = {"units": {"queens": "infantry infantry jet"}}
    turn = Scene("q b m0", cards={0: "fury"}, **three).final("eadhco")
    assert turn.state.bonus == [1, 0, 1, 0, 0, 0]
    assert turn.resolve("e").state.energy[0] == 2
    two = Scene("q b m0", cards={0: "fury"}, units={"queens": "infantry jet"}).final("eadhco")
    assert two.state.bonus == [0] * 6
    manhattan = Scene("m2 b q", cards={0: "fury"}, units={"manhattan": "infantry infantry jet"}).final("eadhco")
    assert manhattan.state.bonus == [1, 0, 1, 0, 0, 0], "all three zones together"


def test_fury_alone_gives_energy_without_energy_dice() -> None:
    turn = Scene("q b m0", cards={0: "fury"}, units={"queens": "tank tank tank"}).final("aahhcc").resolve("e")
    assert turn.state.energy[0] == 1


def test_hailing_cabs() -> None:
    turn = Scene("q b m0", cards={0: "hailing_cabs"}, units={"queens": "jet"}).final("deehha")
    assert turn.asked == (0, "hail")
    assert turn.menu == ["hail(use=false)", "hail(use=true)"]
    turn.do("hail(use=true)").resolve("d")
    assert turn.state.trophies[:3] == [0, 1, 0], "3 results destroyed the Jet, the only target that is no building"
    declined = Scene("q b m0", cards={0: "hailing_cabs"}, units={"queens": "jet"}).final("deehha")
    declined.do("hail(use=false)").resolve("d")
    assert {text.split("(")[0] for text in declined.menu} == {"destroy_building"}


def test_hailing_cabs_use_up_all_destruction_on_units() -> None:
    turn = Scene("q b m0", cards={0: "hailing_cabs"}, units={"queens": "infantry"}).final("ddeehh").do("hail(use=true)")
    turn.resolve("d")
    assert turn.state.trophies[:3] == [1, 0, 0]
    assert turn.events_of("building_destroyed") == [], "2 results are left, but good for Units only"


def test_hunter() -> None:
    turn = Scene("q b m0", life=[5, 9, 9], cards={0: "hunter"}, units={"queens": "infantry jet"}).final("dddeca")
    turn.resolve("d").do("destroy_unit(borough=queens,unit=infantry)")
    assert turn.state.life[0] == 5 + 1 + 1, "the tile's own reward and the card's"
    jet = Scene("q b m0", life=[5, 9, 9], cards={0: "hunter"}, units={"queens": "jet"}).final("dddeca").resolve("d")
    assert jet.do("destroy_unit(borough=queens,unit=jet)").state.life[0] == 5


def test_jinx_aura() -> None:
    turn = Scene("q b m0", cards={1: "jinx_aura"}).roll("eeeeee")
    assert "keep()" not in turn.menu
    turn.do("reroll(counts=[1,0,0,0,0,0])").roll("e")
    assert "keep()" not in turn.menu, "all rerolls must be used"
    own = Scene("q b m0", cards={0: "jinx_aura"}).roll("eeeeee")
    assert own.menu[0] == "keep()"


def test_jinx_aura_skips_a_reroll_for_which_every_die_is_barred() -> None:
    turn = Scene("q b m0", cards={0: "terminal_rage", 1: "jinx_aura"}).roll("aaaaaa")
    assert turn.asked == (2, "flee"), "nothing could be rolled again; the six claws were resolved"


def test_king_of_queens() -> None:
    turn = Scene("q b m0", life=[5, 9, 9], cards={0: "king_of_queens"})
    assert (turn.state.energy[0], turn.state.life[0]) == (1, 6)
    elsewhere = Scene("b q m0", life=[5, 9, 9], cards={0: "king_of_queens"})
    assert (elsewhere.state.energy[0], elsewhere.state.life[0]) == (0, 5)


def test_leveler() -> None:
    turn = Scene("q b m0", cards={0: "leveler"}).final("ddeehh").resolve("d")
    turn.do("destroy_building(stack=6)", "destroy_building(stack=7)")
    assert turn.state.vp[0] == 1 + 1 + 1, "two high-rises and once the card"


def test_long_neck() -> None:
    turn = Scene("q b m0", cards={0: "long_neck"}, units={"queens": "jet"}).final("ddeehh").resolve("d")
    assert "destroy_unit(borough=queens,unit=jet)" in turn.menu
    without = Scene("q b m0", units={"queens": "jet"}).final("ddeehh").resolve("d")
    assert "destroy_unit(borough=queens,unit=jet)" not in without.menu


def test_natural_selection() -> None:
    turn = Scene("q b m0", life=[5, 9, 9], energy=[2, 0, 0], market=["natural_selection"]).final("aeeddd")
    turn.resolve("ae").until("destroy").until("buy").buy("natural_selection", "stomp")
    assert (turn.state.energy[0], turn.state.life[0]) == (2 + 2 - 2 + 4, 9)
    turn.to_next_turn()
    assert turn.place(0) == "q", "no Celebrity die showed"


def test_natural_selection_rolls_one_more_die() -> None:
    assert sum(Scene("q b m0", cards={0: "natural_selection"}).roll("eeeeeee").state.dice) == 7


def test_natural_selection_kills_after_a_turn_that_shows_celebrity() -> None:
    turn = Scene("q b m0", cards={0: "natural_selection"}).final("ceeehha").to_next_turn()
    assert turn.place(0) == "-"
    assert turn.in_discards("natural_selection")
    assert turn.events_of("eliminated")[0].cause == "natural_selection"


def test_natural_selection_also_looks_at_the_turn_of_its_purchase() -> None:
    turn = Scene("q b m0", energy=[2, 0, 0], market=["natural_selection"]).final("ceeehh").until("buy")
    turn.buy("natural_selection", "stomp").to_next_turn()
    assert turn.place(0) == "-"


def test_of_another_world() -> None:
    turn = Scene("q b m0", life=[5, 9, 9], energy=[2, 0, 0], cards={0: "of_another_world"}, market=["stomp"])
    turn.final("ccooaa").until("buy")
    assert (turn.state.energy[0], turn.state.life[0]) == (2, 5)
    turn.do("buy(card=stomp)")
    assert turn.asked == (0, "pay")
    assert turn.menu == ["pay(life=2)", "pay(life=3)", "pay(life=4)"], "life may not fall to 0"
    turn.do("pay(life=3)")
    assert (turn.state.energy[0], turn.state.life[0]) == (1, 2)


def test_of_another_world_pays_for_damage_with_energy() -> None:
    turn = Scene("q b m0", energy=[0, 0, 2], cards={2: "of_another_world phoenix_blood"}).final("aaahhe").resolve("a")
    assert turn.asked == (2, "respond")
    assert turn.menu == ["absorb(energy=0)", "absorb(energy=1)", "absorb(energy=2)"]
    turn.do("absorb(energy=2)")
    assert turn.state.life[2] == 9
    assert turn.state.energy[2] == 1, "it still counts as damage: Phoenix Blood"
    assert turn.asked == (2, "flee")


def test_overload() -> None:
    bought = Scene("q b m0", market=["overload"]).final("aahhcd").until("buy").buy("overload", "stomp")
    assert bought.state.energy[0] == 4
    turn = Scene("q b m0", cards={0: "overload"}).final("eeehha").resolve("e")
    assert turn.state.energy[0] == 2
    assert Scene("q b m0", cards={0: "overload"}).final("eaahhc").resolve("e").state.energy[0] == 0


def test_painbow() -> None:
    assert Scene("q b m0", cards={0: "painbow"}).final("ddehho").state.bonus[1] == 1
    assert Scene("q b m0", cards={0: "painbow"}).final("dddehh").state.bonus[1] == 1
    assert Scene("q b m0", cards={0: "painbow"}).final("ddddhe").state.bonus[1] == 2
    assert Scene("q b m0", cards={0: "painbow"}).final("dehhoo").state.bonus[1] == 0
    won = Scene("q b m0", cards={0: "painbow"}).final("dddddd")
    assert won.state.is_terminal()
    assert won.state.ranking() == (1, 2, 2)


def test_painbow_counts_added_destruction_and_attacks_without_claws_on_the_dice() -> None:
    turn = Scene("q b m0", cards={0: "painbow stomp"}).final("deehhc").resolve("a")
    assert turn.state.life[2] == 9


def test_personal_spotlight() -> None:
    assert Scene("q b m0", cards={0: "personal_spotlight"}).final("cceehh").state.vp[0] == 1, "once, not per die"
    assert Scene("q b m0", cards={0: "personal_spotlight"}).final("aaeehh").state.vp[0] == 0


def test_phoenix_blood() -> None:
    turn = Scene("q b m0", cards={2: "phoenix_blood"}).final("aaahhd").resolve("a")
    assert turn.state.energy[2] == 1, "once per event, not per point"
    ouch = Scene("q b m0", cards={0: "phoenix_blood"}, units={"queens": "infantry"}).final("oahhcd").resolve("o")
    assert ouch.state.energy[0] == 1


def test_power_tap() -> None:
    turn = Scene("q b m0", cards={1: "power_tap"}).final("eeehha").resolve("e")
    assert turn.state.energy == [2, 1, 0]
    less = Scene("q b m0", cards={1: "power_tap"}).final("eehhaa").resolve("e")
    assert less.state.energy == [2, 0, 0]
    own = Scene("q b m0", cards={0: "power_tap"}).final("eeehha").resolve("e")
    assert own.state.energy == [3, 0, 0], "not from its owner"


def test_power_tap_adds_up_within_a_turn_and_takes_once() -> None:
    turn = Scene("m1 b q", cards={1: "power_tap"})
    assert turn.state.energy == [1, 0, 0], "income of Midtown"
    turn.final("eeddho").resolve("e")
    assert turn.state.energy == [2, 1, 0], "1 + 2 reached 3"
    turn.resolve("d")
    assert turn.state.energy[1] == 1


def test_regeneration() -> None:
    assert Scene("q b m0", life=[5, 9, 9], cards={0: "regeneration"}).state.life[0] == 6
    assert Scene("m0 b q", life=[5, 9, 9], cards={0: "regeneration"}).state.life[0] == 6, "in Manhattan too"
    assert Scene("q b m0", cards={0: "regeneration"}).state.life[0] == 10, "never above the cap"


def test_scavenger() -> None:
    turn = Scene("q b m0", energy=[3, 0, 0], cards={0: "scavenger"}, discards="stomp coney_island").final("aahhcd")
    turn.until("buy")
    assert "scavenge(card=stomp)" in turn.menu, "4 - 1"
    assert "scavenge(card=coney_island)" not in turn.menu, "Keep cards only"
    turn.do("scavenge(card=stomp)")
    assert turn.cards(0) == ["scavenger", "stomp"]
    assert turn.state.energy[0] == 0
    assert not turn.in_discards("stomp")


def test_seismic_ray() -> None:
    turn = Scene("q b m0", energy=[1, 0, 0], cards={0: "seismic_ray"}).final("ddahhc")
    assert "redirect(borough=bronx)" in turn.menu
    assert "redirect(borough=queens)" not in turn.menu, "its own borough needs no ray"
    turn.do("redirect(borough=bronx)")
    assert turn.state.energy[0] == 0
    assert turn.menu == ["destroy_building(stack=9)", "destroy_building(stack=10)", "destroy_building(stack=11)"]
    turn.do("destroy_building(stack=9)", "destroy_building(stack=9)")
    assert turn.units("bronx") == {"infantry": 2}
    assert turn.state.site == 5, "the step is over"


def test_seismic_ray_needs_energy() -> None:
    turn = Scene("q b m0", cards={0: "seismic_ray"}).final("ddahhc")
    assert not any(text.startswith("redirect") for text in turn.menu)


def test_shadow_double() -> None:
    assert Scene("q b m0", cards={0: "shadow_double"}).final("aaeehh").resolve("a").state.life[2] == 6


def test_sharp_shooter() -> None:
    jets = {"units": {"bronx": "jet", "brooklyn": "infantry"}}
    turn = Scene("q b m0", cards={0: "sharp_shooter"}, **jets).final("dddhha").resolve("d")
    assert "destroy_unit(borough=bronx,unit=jet)" in turn.menu
    assert "destroy_unit(borough=brooklyn,unit=infantry)" not in turn.menu, "Jets only"
    turn.do("destroy_unit(borough=bronx,unit=jet)")
    assert turn.state.vp[0] == 1
    assert turn.state.energy[0] == 2, "the tile's reward"


def test_stink_attack() -> None:
    units = {"units": {"brooklyn": "infantry infantry infantry jet tank"}}
    turn = Scene("q s m0", cards={0: "stink_attack"}, **units).final("eaahhc").resolve("ea").until("move")
    turn.do("move(borough=brooklyn)")
    assert turn.asked == (0, "push")
    turn.do("push(unit=tank,borough=manhattan)", "push(unit=infantry,borough=queens)")
    assert "push(unit=jet,borough=queens)" not in turn.menu, "each to a different borough"
    turn.do("push(unit=infantry,borough=bronx)", "push(unit=jet,borough=staten_island)")
    assert turn.units("brooklyn") == {"infantry": 1}
    assert (turn.units("manhattan"), turn.units("staten_island")) == ({"tank": 1}, {"jet": 1})
    assert turn.asked is None or turn.asked[1] != "push"


def test_stink_attack_acts_on_fleeing_too() -> None:
    turn = Scene("q s m0", cards={2: "stink_attack"}, units={"bronx": "jet"}).final("aahhcc").resolve("a")
    turn.do("flee(borough=bronx)")
    assert turn.asked == (2, "push")
    turn.do("pass()")
    assert turn.units("bronx") == {"jet": 1}


def test_stomp() -> None:
    assert Scene("q b m0", cards={0: "stomp"}).final("aaeehh").state.bonus == [0, 0, 1, 0, 0, 0]


def test_super_speed() -> None:
    turn = Scene("q b m0", cards={0: "super_speed"})
    assert turn.asked == (0, "before_roll")
    assert turn.menu == ["pass()", "dash(borough=brooklyn)", "dash(borough=bronx)", "dash(borough=staten_island)"]
    turn.do("dash(borough=bronx)")
    assert turn.place(0) == "x"
    assert turn.rolls, "one extra move only"


def test_super_speed_must_go_to_manhattan_while_it_has_room_and_advances_in_it() -> None:
    turn = Scene("q b x", cards={0: "super_speed"})
    assert turn.menu == ["pass()", "dash(borough=manhattan)"]
    turn.do("dash(borough=manhattan)")
    assert (turn.place(0), turn.state.vp[0]) == ("m0", 1)
    turn.final("eeehhh").resolve("eh")
    assert turn.place(0) == "m1", "the Move step advances it a zone"
    inside = Scene("m1 b x", cards={0: "super_speed"}).do("dash(borough=manhattan)")
    assert inside.place(0) == "m2"
    assert Scene("m2 b x", cards={0: "super_speed"}).rolls, "nowhere to go from Upper Manhattan"


def test_terminal_rage() -> None:
    turn = Scene("q b m0", energy=[4, 0, 0], market=["terminal_rage"]).final("hhhhoo").until("buy")
    turn.buy("terminal_rage", "stomp")
    assert (turn.events_of("turn_began")[-1].seat, turn.events_of("turn_began")[-1].extra) == (0, True)
    turn.roll("aaeehh")
    assert not any("counts=[0,1" in text or "counts=[1,1" in text for text in turn.menu), "Attack dice stay"


def test_tesla_antennae() -> None:
    turn = Scene("m0 b q", life=[5, 6, 5], cards={0: "tesla_antennae"}).final("aaehhc").resolve("a")
    assert turn.state.life == [5, 3, 3], "one more for who has more life"


def test_tesla_antennae_come_before_shadow_double() -> None:
    turn = Scene("m0 b q", life=[5, 9, 5], cards={0: "tesla_antennae shadow_double"}).final("aehhco").resolve("a")
    assert turn.state.life == [5, 5, 3], "(1 + 1) x 2"


def test_tourist() -> None:
    turn = Scene("q b m0", energy=[6, 0, 0], market=["tourist"]).final("ehhhoo").until("buy").buy("tourist", "stomp")
    assert (turn.state.vp[0], turn.state.energy[0]) == (1, 1 + 1), "a Souvenir token where it stands"
    moving = Scene("q b m0", cards={0: "tourist"}).final("aahhco").resolve("a").until("move").do("move(borough=bronx)")
    assert (moving.state.vp[0], moving.state.energy[0]) == (1, 1)
    assert moving.state.souvenirs == 1 << 3


def test_tourist_places_one_token_in_a_borough_only() -> None:
    turn = Scene("q b x", cards={0: "tourist"}).final("aahhco").resolve("ahc")
    assert turn.place(0) == "m0"
    assert turn.state.vp[0] == 1 + 1, "entering and the token"
    turn.to_next_turn()
    assert turn.state.souvenirs == 1


def test_towering_titan() -> None:
    turn = Scene("q b m0", cards={0: "towering_titan"}).final("eehhcc")
    assert turn.state.bonus[1] == 2
    assert turn.resolve("a").state.life[2] == 8, "without a claw on the dice"


def test_trash_thrower() -> None:
    turn = Scene("m0 b q", vp=[0, 3, 0], cards={0: "trash_thrower"}).final("aaehhc").resolve("a")
    assert turn.state.vp == [1, 2, 0], "one each per attack, never below 0; 1 is the income"


def test_trophy_hunter() -> None:
    turn = Scene("q b m0", cards={0: "trophy_hunter"}, units={"queens": "infantry"}).final("ddeeha").resolve("d")
    assert turn.do("destroy_unit(borough=queens,unit=infantry)").state.vp[0] == 1


def test_universal_soldier() -> None:
    turn = Scene("q b m0", life=[5, 9, 9], cards={0: "universal_soldier"}).final("ahheec")
    assert turn.menu == [
        "keep()",
        "convert(energy=2,attack=0,heart=3)",
        "convert(energy=2,attack=2,heart=1)",
        "convert(energy=2,attack=3,heart=0)",
    ]
    turn.do("convert(energy=2,attack=3,heart=0)").resolve("a")
    assert turn.state.life[2] == 6


def test_violent_star() -> None:
    turn = Scene("q b m0", cards={0: "violent_star"}, superstar=1).final("cccehh").resolve("c")
    assert turn.state.life == [10, 8, 10], "2 to whom it was taken from"
    assert turn.asked == (0, "resolve"), "no attack: nobody flees"
    lost = Scene("q b m0", cards={1: "violent_star"}, superstar=1).final("cccehh").resolve("c")
    assert lost.state.life == [9, 10, 10], "1 to whom takes it"
    table = Scene("q b m0", cards={0: "violent_star"}).final("cccehh").resolve("c")
    assert table.state.life == [10, 10, 10]


def test_webspinner() -> None:
    turn = Scene("m0 b q", cards={0: "webspinner"}).final("aeehhc").resolve("a")
    assert turn.state.web == [0, 1, 1]
    assert turn.state.web_left == 11


def test_webspinner_takes_rerolls_but_never_the_first_roll() -> None:
    one = Scene("q b m0", cards={1: "webspinner"}, web={0: 1}).roll("eeaahh")
    assert one.state.rerolls == 1
    many = Scene("q b m0", cards={1: "webspinner"}, web={0: 3}).roll("eeaahh")
    assert many.asked == (0, "resolve")


def test_webspinner_lets_claws_take_off_tokens_in_place_of_attacking() -> None:
    turn = Scene("q b m0", cards={1: "webspinner"}, web={0: 2}).roll("aaaeeh")
    turn.do("remove(face=attack,tokens=2)")
    assert turn.state.web[0] == 0
    assert turn.state.life[2] == 9, "the third claw attacks"
    all_spent = Scene("q b m0", cards={1: "webspinner"}, web={0: 2}).roll("aaeehh").do("remove(face=attack,tokens=2)")
    assert all_spent.state.life[2] == 10
    assert all_spent.asked == (0, "resolve")


def test_climb_looks_at_the_dice_unless_the_option_says_otherwise() -> None:
    cards = {0: "climb_the_empire_state_building stomp"}
    assert Scene("m0 b q", cards=cards).final("eahhco").events_of("extra_turn") == []
    assert Scene("m0 b q", cards=cards, climb_counts_bonus=True).final("eahhco").events_of("extra_turn")


def test_overload_lowers_energy_that_is_furys_alone() -> None:
    cards = {0: "overload fury"}
    turn = Scene("q b m0", cards=cards, units={"queens": "tank tank tank"}).final("aahhcc").resolve("e")
    assert turn.state.energy[0] == 0


def test_natural_selection_acts_at_the_end_of_its_owners_own_turn_only() -> None:
    turn = Scene("q b m0", cards={1: "natural_selection"}).final("cchhee").to_next_turn()
    assert turn.place(1) == "b"


def test_power_tap_counts_gains_in_anybodys_turn() -> None:
    cards = {1: "power_tap", 2: "drain phoenix_blood"}
    turn = Scene("q b m0", energy=[5, 0, 0], cards=cards).final("aahhcc").resolve("a")
    assert turn.state.energy == [3, 1, 2], "2 drained + 1 from Phoenix Blood, 1 of it handed over"


def test_stink_attack_pushes_old_units_before_new_ones() -> None:
    turn = Scene("m0 b q", rides=True, cards={0: "stink_attack"}, units={"queens": "infantry"}).do("pass()")
    turn.state.units[6] += 1
    turn.state.fresh_units[6] += 1
    turn.final("hhhhcc").do("ride(borough=queens)", "push(unit=infantry,borough=manhattan)", "pass()")
    assert turn.state.fresh_units[6] == 1, "the new one stayed"
    assert turn.state.fresh_units[0] == 0
