"""The Keep cards from Antimatter Pellets to Jinx Aura: each card has the test `test_<id>`; more tests may follow it."""

from typing import Any


def test_antimatter_pellets(scene: Any) -> None:
    hit = scene("q b m0", cards={0: "antimatter_pellets"}).final("aaeehh").resolve("a")
    assert hit.rolls, "the attacked monster rolls one die"
    hit.chance("ouch")
    assert hit.state.life[2] == 6, "doubled"
    missed = scene("q b m0", cards={0: "antimatter_pellets"}).final("aaeehh").resolve("a").chance("attack")
    assert missed.state.life[2] == 8


def test_antimatter_pellets_stack_with_shadow_double_and_roll_for_each_target(scene: Any) -> None:
    turn = scene("m0 b q", cards={0: "antimatter_pellets shadow_double"}).final("aeeehh").resolve("a")
    turn.chance("ouch").chance("heart")
    assert turn.state.life == [10, 6, 8]
    assert [payload.seat for payload in turn.heard("defence_rolled")] == [1, 2]


def test_antimatter_pellets_without_attack_roll_nothing(scene: Any) -> None:
    assert scene("q b x", cards={0: "antimatter_pellets"}).final("aaeehh").resolve("a").heard("defence_rolled") == []


def test_artificial_heart(scene: Any) -> None:
    turn = scene("q b m0", life=[5, 10, 10], cards={0: "artificial_heart"}).final("hhhdoo")
    assert turn.asked == (0, "convert")
    assert turn.menu == [
        "keep()",
        "convert(energy=1,attack=0,heart=2)",
        "convert(energy=2,attack=0,heart=1)",
        "convert(energy=3,attack=0,heart=0)",
    ]
    turn.do("convert(energy=2,attack=0,heart=1)").resolve("eh")
    assert (turn.state.energy[0], turn.state.life[0]) == (2, 6)


def test_artificial_heart_works_in_manhattan(scene: Any) -> None:
    turn = scene("m0 b q", cards={0: "artificial_heart"}).final("hhhooo")
    turn.do("convert(energy=3,attack=0,heart=0)").resolve("e")
    assert turn.state.energy[0] == 3 + 1, "with the income of Lower Manhattan"


def test_broadway_star(scene: Any) -> None:
    assert scene("q b m0", cards={0: "broadway_star"}, superstar=0).state.vp[0] == 1, "at turn start"
    assert scene("q b m0", cards={0: "broadway_star"}).state.vp[0] == 0, "not without Superstar"
    assert scene("q b m0", cards={0: "broadway_star"}).final("ccchhe").resolve("c").state.vp[0] == 1 + 1


def test_bulletproof(scene: Any) -> None:
    turn = scene("q q m0", cards={1: "bulletproof"}, units={"queens": "infantry jet"}).final("ooeehh").resolve("o")
    assert turn.state.life == [8, 9, 10], "an Ouch that another rolled hurts its owner one point less"
    one = scene("q b m0", cards={0: "bulletproof"}, units={"queens": "infantry"}).final("oeehha").resolve("o")
    assert one.state.life[0] == 10, "never below 0"
    assert one.heard("hurt") == []


def test_can_opener(scene: Any) -> None:
    tank = {"units": {"queens": "tank"}}
    turn = scene("q b m0", cards={0: "can_opener"}, **tank).final("dddhhe").resolve("d")
    assert "destroy_unit(borough=queens,unit=tank)" in turn.menu
    turn.do("destroy_unit(borough=queens,unit=tank)")
    assert turn.state.vp[0] == 3
    assert turn.state.force == 0, "3 dice were enough and all were used"
    assert "destroy_unit(borough=queens,unit=tank)" not in scene("q b m0", **tank).final("dddhhe").resolve("d").menu


def test_carapace(scene: Any) -> None:
    turn = scene("q b m0", life=[10, 10, 10], cards={0: "carapace"}).final("oohhee")
    assert turn.state.carapace[0] == 2, "a token for each Ouch die"
    turn.resolve("h")
    assert turn.state.life[0] == 12, "the cap is 12 while it is owned"
    turn.do("shed()")
    assert turn.state.life[0] == 10, "the cap returns to 10 and life above it is cut"
    assert turn.cards(0) == []
    assert turn.in_discards("carapace")
    assert turn.state.carapace_left == 15


def test_carapace_heals_one_for_each_token(scene: Any) -> None:
    turn = scene("q b m0", life=[4, 10, 10], cards={0: "carapace"}, carapace=3).final("eaahhd").do("shed()")
    assert turn.state.life[0] == 7
    full = scene("q b m0", life=[8, 10, 10], cards={0: "carapace"}, carapace=5).final("eaahhd").do("shed()")
    assert full.state.life[0] == 10, "up to the cap without the card"


def test_carapace_can_be_used_before_damage_that_would_kill(scene: Any) -> None:
    turn = scene("q b m0", life=[10, 10, 2], cards={2: "carapace"}, carapace=3).final("aaahhe").resolve("a")
    assert turn.asked == (2, "respond")
    assert turn.menu == ["absorb(energy=0)", "shed()"]
    assert turn.do("shed()").state.life[2] == 2
    dead = scene("q b m0", life=[10, 10, 2], cards={2: "carapace"}, carapace=3).final("aaahhe").resolve("a")
    assert dead.do("absorb(energy=0)").place(2) == "-"


def test_carapace_is_not_asked_about_when_the_damage_does_not_kill(scene: Any) -> None:
    turn = scene("q b m0", life=[10, 10, 4], cards={2: "carapace"}, carapace=3).final("aaahhe").resolve("a")
    assert turn.asked == (2, "flee")


def test_buying_carapace_does_not_heal(scene: Any) -> None:
    turn = scene("q b m0", life=[7, 10, 10], energy=[3, 0, 0], market=["carapace"]).final("eaddcc")
    assert turn.buy("carapace").state.life[0] == 7


def test_chameleon(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "chameleon"}).final("ccdhho")
    assert turn.asked == (0, "convert")
    turn.do("swap(die=ouch,to=destruction)")
    assert turn.dice == "ddhhc"
    turn.do("give_up()")
    assert turn.dice == "ddhh"
    assert turn.asked == (0, "resolve"), "no Celebrity die is left to give up"


def test_chameleon_may_turn_a_die_to_a_face_already_resolved(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "chameleon"}).final("ceehho").do("keep()").do("resolve(face=energy)")
    assert turn.state.energy[0] == 2
    turn.do("swap(die=ouch,to=energy)").resolve("e")
    assert turn.state.energy[0] == 3


def test_chameleon_dice_given_up_do_not_count_for_superstar(scene: Any) -> None:
    turn = (
        scene("q b m0", cards={0: "chameleon"}).final("ccceeh").do("swap(die=heart,to=attack)", "keep()").resolve("c")
    )
    assert turn.state.superstar_seat == 7


def test_chinatown_regular(scene: Any) -> None:
    turn = scene("q b x", life=[5, 10, 10], cards={0: "chinatown_regular"}).final("eeeaah").resolve("ea")
    assert turn.places == "m0 b x"
    assert turn.state.life[0] == 5 + 1 + 2, "a heart before, 2 on entering"
    inside = scene("m0 b x", life=[5, 10, 10], cards={0: "chinatown_regular"}).final("eeeoco").resolve("eoc")
    assert (inside.place(0), inside.state.life[0]) == ("m1", 5), "not on advancing a zone"


def test_climb_the_empire_state_building(scene: Any) -> None:
    turn = scene("m0 b q", cards={0: "climb_the_empire_state_building"}).final("eadhco")
    assert turn.state.vp[0] == 1 + 2
    assert turn.heard("extra_turn")[0].seat == 0
    turn.resolve("ea")
    assert turn.state.energy[0] == 1 + 1, "the dice are resolved as well"
    turn.to_next_turn()
    assert (turn.heard("turn_began")[-1].seat, turn.heard("turn_began")[-1].extra) == (0, True)


def test_climb_the_empire_state_building_needs_manhattan_and_all_faces(scene: Any) -> None:
    assert scene("q b m0", cards={0: "climb_the_empire_state_building"}).final("eadhco").heard("extra_turn") == []
    assert scene("m0 b q", cards={0: "climb_the_empire_state_building"}).final("eadhcc").heard("extra_turn") == []


def test_curse(scene: Any) -> None:
    turn = scene("m0 b q", cards={0: "curse"}).final("aeehhc").resolve("a")
    assert turn.state.jinx == [0, 1, 1], "a Jinx token for each monster hurt"
    assert turn.state.jinx_left == 11


def test_curse_makes_rerolls_of_ouch_dice_cost_the_tokens_held(scene: Any) -> None:
    turn = scene("q b m0", energy=[3, 0, 0], cards={1: "curse"}, jinx={0: 2}).roll("ooeehh")
    turn.do("reroll(counts=[0,0,0,0,0,2])")
    assert turn.state.energy[0] == 1, "2 for the reroll, however many Ouch dice"
    turn.roll("oo")
    assert "reroll(counts=[0,0,0,0,0,1])" not in turn.menu, "1 energy does not pay 2"
    turn.do("reroll(counts=[1,0,0,0,0,0])")
    assert turn.state.energy[0] == 1, "dice that show no Ouch are free"


def test_curse_lets_hearts_take_off_tokens_even_in_manhattan(scene: Any) -> None:
    turn = scene("m0 b q", life=[5, 9, 9], cards={1: "curse"}, jinx={0: 2}).final("hhheec")
    turn.do("remove(face=heart,tokens=2)")
    assert turn.state.jinx[0] == 0
    assert turn.state.life[0] == 5
    outside = scene("q b m0", life=[5, 9, 9], cards={1: "curse"}, jinx={0: 2}).final("hhheec")
    outside.do("remove(face=heart,tokens=2)")
    assert outside.state.life[0] == 6, "the third heart heals"


def test_diva(scene: Any) -> None:
    guarded = {"cards": {1: "diva"}, "superstar": 1}
    assert scene("q b m0", **guarded).final("cccehh").resolve("c").state.superstar_seat == 1
    taken = scene("q b m0", **guarded).final("cccche").resolve("c")
    assert taken.state.superstar_seat == 0
    assert taken.state.vp[0] == 2, "1 + 1 for the fourth"
    assert scene("q b m0", cards={1: "diva"}).final("cccehh").resolve("c").state.superstar_seat == 0, (
        "not from the table"
    )


def test_drain(scene: Any) -> None:
    turn = scene("q b m0", energy=[3, 0, 0], cards={2: "drain"}).final("aahhcd").resolve("a")
    assert turn.state.energy == [1, 0, 2]
    poor = scene("q b m0", energy=[1, 0, 0], cards={2: "drain"}).final("aahhcd").resolve("a")
    assert poor.state.energy == [0, 0, 1]


def test_drain_takes_nothing_when_the_attack_kills(scene: Any) -> None:
    turn = scene("q b m0", energy=[3, 0, 0], life=[10, 10, 2], cards={2: "drain"}).final("aahhcd").resolve("a")
    assert turn.state.energy[0] == 3


def test_ego_trip(scene: Any) -> None:
    assert scene("q b m0", cards={0: "ego_trip"}, superstar=0).state.energy[0] == 1, "at turn start"
    assert scene("q b m0", cards={0: "ego_trip"}).state.energy[0] == 0
    assert scene("q b m0", cards={0: "ego_trip"}).final("ccchha").resolve("c").state.energy[0] == 1


def test_extra_head(scene: Any) -> None:
    assert sum(scene("q b m0", cards={0: "extra_head"}).roll("eeeeeee").state.dice) == 7
    assert sum(scene("q b m0", cards={0: "extra_head natural_selection"}).roll("eeeeeeee").state.dice) == 8


def test_fireball(scene: Any) -> None:
    turn = scene("q q m0 b", cards={0: "fireball"}).final("aaeehh").resolve("a")
    assert turn.state.life == [10, 8, 8, 10]
    assert turn.asked == (2, "flee"), "only who is in Manhattan may flee"


def test_fireball_in_manhattan_hits_the_co_occupant_who_may_flee(scene: Any) -> None:
    turn = scene("m0 n0 b q x", cards={0: "fireball"}).final("aaeehh").resolve("a")
    assert turn.state.life == [10, 8, 8, 8, 8]
    assert turn.asked == (1, "flee")


def test_fury(scene: Any) -> None:
    three = {"units": {"queens": "infantry infantry jet"}}
    turn = scene("q b m0", cards={0: "fury"}, **three).final("eadhco")
    assert turn.state.bonus == [1, 0, 1, 0, 0, 0]
    assert turn.resolve("e").state.energy[0] == 2
    two = scene("q b m0", cards={0: "fury"}, units={"queens": "infantry jet"}).final("eadhco")
    assert two.state.bonus == [0] * 6
    manhattan = scene("m2 b q", cards={0: "fury"}, units={"manhattan": "infantry infantry jet"}).final("eadhco")
    assert manhattan.state.bonus == [1, 0, 1, 0, 0, 0], "all three zones together"


def test_fury_alone_gives_energy_without_energy_dice(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "fury"}, units={"queens": "tank tank tank"}).final("aahhcc").resolve("e")
    assert turn.state.energy[0] == 1


def test_hailing_cabs(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "hailing_cabs"}, units={"queens": "jet"}).final("deehha")
    assert turn.asked == (0, "hail")
    assert turn.menu == ["hail(use=false)", "hail(use=true)"]
    turn.do("hail(use=true)").resolve("d")
    assert turn.state.trophies[:3] == [0, 1, 0], "3 results destroyed the Jet, the only target that is no building"
    declined = scene("q b m0", cards={0: "hailing_cabs"}, units={"queens": "jet"}).final("deehha")
    declined.do("hail(use=false)").resolve("d")
    assert {text.split("(")[0] for text in declined.menu} == {"destroy_building"}


def test_hailing_cabs_use_up_all_destruction_on_units(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "hailing_cabs"}, units={"queens": "infantry"}).final("ddeehh").do("hail(use=true)")
    turn.resolve("d")
    assert turn.state.trophies[:3] == [1, 0, 0]
    assert turn.heard("building_destroyed") == [], "2 results are left, but good for Units only"


def test_hunter(scene: Any) -> None:
    turn = scene("q b m0", life=[5, 9, 9], cards={0: "hunter"}, units={"queens": "infantry jet"}).final("dddeca")
    turn.resolve("d").do("destroy_unit(borough=queens,unit=infantry)")
    assert turn.state.life[0] == 5 + 1 + 1, "the tile's own reward and the card's"
    jet = scene("q b m0", life=[5, 9, 9], cards={0: "hunter"}, units={"queens": "jet"}).final("dddeca").resolve("d")
    assert jet.do("destroy_unit(borough=queens,unit=jet)").state.life[0] == 5


def test_jinx_aura(scene: Any) -> None:
    turn = scene("q b m0", cards={1: "jinx_aura"}).roll("eeeeee")
    assert "keep()" not in turn.menu
    turn.do("reroll(counts=[1,0,0,0,0,0])").roll("e")
    assert "keep()" not in turn.menu, "all rerolls must be used"
    own = scene("q b m0", cards={0: "jinx_aura"}).roll("eeeeee")
    assert own.menu[0] == "keep()"


def test_jinx_aura_skips_a_reroll_for_which_every_die_is_barred(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "terminal_rage", 1: "jinx_aura"}).roll("aaaaaa")
    assert turn.asked == (2, "flee"), "nothing could be rolled again; the six claws were resolved"
