"""The edge-case rows of the sheet (section 8), one test or more for each, by number."""

from typing import Any

BY_CLAWS = "aahhcc"


def test_row_01_cards_that_change_attack_damage_need_at_least_one_claw(scene: Any) -> None:
    cards = {0: "shadow_double tesla_antennae antimatter_pellets fireball curse", 2: "drain"}
    turn = scene("q q m0", cards=cards, energy=[3, 0, 0]).final("eehhcc").until("buy")
    assert turn.state.life == [10, 10, 10]
    assert turn.heard("hurt") == turn.heard("tokens_changed") == turn.heard("defence_rolled") == []


def test_row_02_damage_from_bought_cards_is_no_attack(scene: Any) -> None:
    turn = scene(
        "q b m0", energy=[5, 0, 0], market=["general_ellis"], cards={2: "drain"}, units={"queens": "tank"}
    ).final("ddddhh")
    turn.resolve("d").do("destroy_unit(borough=queens,unit=tank)").until("buy").do("buy(card=general_ellis)")
    assert turn.state.life[2] == 9
    assert turn.heard("stayed") == []
    assert turn.state.energy[2] == 0, "Drain did not act"


def test_row_03_damage_of_one_resolution_lands_on_all_at_once_before_eliminations(scene: Any) -> None:
    turn = scene("m0 b q x", life=[10, 2, 2, 5]).final(BY_CLAWS).resolve("a")
    kinds = [payload.KIND for payload in turn.told if payload.KIND in ("hurt", "eliminated")]
    assert kinds == ["hurt", "hurt", "hurt", "eliminated", "eliminated"]
    assert turn.state.out[1] == turn.state.out[2] == 1, "one event: no order among them"


def test_row_04_the_turn_stops_when_the_active_monster_dies(scene: Any) -> None:
    turn = scene("q b x", life=[1, 10, 10], energy=[9, 0, 0], units={"queens": "infantry"}, market=["stomp"])
    turn.final("oeehhd").resolve("o")
    assert turn.place(0) == "-"
    assert turn.heard("resolved")[-1].face == "ouch", "unresolved dice are lost"
    assert turn.heard("moved") == turn.heard("bought") == []
    assert turn.heard("turn_began")[-1].seat == 1


def test_row_05_nobody_wins_when_all_die_in_one_turn(scene: Any) -> None:
    units = {"queens": "infantry infantry", "brooklyn": "jet jet"}
    turn = scene("q b", life=[2, 2], units=units).final("ooohhc").resolve("o")
    assert turn.state.is_terminal()
    assert turn.state.reason == "all_eliminated"
    assert turn.state.ranking() == (1, 1)


def test_row_05_nobody_wins_when_the_last_two_fall_one_after_the_other_in_a_turn(scene: Any) -> None:
    turn = scene("q m0", life=[1, 1], units={"queens": "infantry"}).final("aohhcc").resolve("ao")
    assert turn.state.reason == "all_eliminated"
    assert turn.state.ranking() == (1, 2), "who fell later ranks higher, but nobody has won"
    assert turn.heard("finished")[0].winner == -1


def test_row_06_a_monster_with_0_life_is_eliminated(scene: Any) -> None:
    assert scene("q b m0", life=[10, 10, 2]).final(BY_CLAWS).resolve("a").place(2) == "-"
    assert scene("q b m0", life=[10, 10, 3]).final(BY_CLAWS).resolve("a").place(2) == "m0"


def test_row_07_what_becomes_of_an_eliminated_monsters_things(scene: Any) -> None:
    turn = scene(
        "q b m0",
        life=[10, 10, 1],
        vp=[0, 0, 7],
        energy=[0, 0, 5],
        cards={2: "carapace stomp"},
        carapace=0,
        web={2: 2},
        jinx={2: 3},
        superstar=2,
        statue=2,
    ).final(BY_CLAWS)
    turn.resolve("a")
    state = turn.state
    assert turn.in_discards("carapace")
    assert turn.in_discards("stomp")
    assert (state.energy[2], state.web[2], state.jinx[2]) == (0, 0, 0)
    assert (state.web_left, state.jinx_left) == (13, 13)
    assert state.superstar_seat == state.statue_seat == 7
    turn.to_next_turn().final("hhhhhh").to_next_turn()
    assert turn.heard("turn_began")[-1].seat == 0, "it has no more turns"


def test_row_07_no_later_damage_or_ouch_reaches_it(scene: Any) -> None:
    turn = scene("q - m0", units={"queens": "infantry"}).final("ooaahh").resolve("oa")
    assert {payload.seat for payload in turn.heard("hurt")} == {0, 2}


def test_row_08_vp_gained_in_the_resolution_that_kills_do_not_win(scene: Any) -> None:
    turn = scene("q b m0", life=[1, 10, 10], vp=[19, 0, 0], units={"queens": "infantry"}).final("ccooho")
    turn.resolve("o")
    assert turn.place(0) == "-"
    assert not turn.state.is_terminal()


def test_row_09_vp_and_energy_never_fall_below_0(scene: Any) -> None:
    turn = scene("q b m0", energy=[1, 0, 0], cards={0: "trash_thrower", 2: "drain"}).final(BY_CLAWS).resolve("a")
    assert turn.state.energy[0] == 0
    assert turn.state.vp[2] == 0


def test_row_10_nobody_flees_from_an_attack_out_of_manhattan(scene: Any) -> None:
    turn = scene("m1 b q").final(BY_CLAWS).resolve("a")
    assert turn.asked == (0, "resolve")
    assert turn.places == "m1 b q"


def test_row_11_the_attacker_moves_freely_if_the_occupant_stays(scene: Any) -> None:
    turn = scene("q b m0").final(BY_CLAWS).resolve("a").do("stay()").resolve("hc")
    assert turn.menu == ["stay()", *(f"move(borough={name})" for name in ("brooklyn", "bronx", "staten_island"))]


def test_row_12_who_flees_into_the_attackers_borough_is_hit_by_two_ouch_resolved_later(scene: Any) -> None:
    turn = scene("q b m0", units={"queens": "infantry"}).final("aaoocc").resolve("a").do("flee(borough=queens)")
    turn.resolve("o")
    assert turn.state.life == [9, 10, 7]


def test_row_13_more_than_three_ouch_are_like_three(scene: Any) -> None:
    turn = scene("q b m0", units={"queens": "infantry"}).final("oooohc").resolve("o")
    assert turn.state.life == [9, 10, 10]
    assert turn.state.vp[0] == 3


def test_row_14_three_ouch_without_units_still_give_the_statue(scene: Any) -> None:
    turn = scene("q b m0").final("ooohhc").resolve("o")
    assert turn.heard("hurt") == []
    assert turn.state.statue_seat == 0


def test_row_15_two_ouch_alone_in_the_borough_hit_the_roller_only(scene: Any) -> None:
    turn = scene("q b m0", units={"queens": "infantry", "brooklyn": "jet"}).final("oohhcc").resolve("o")
    assert turn.state.life == [9, 10, 10]


def test_row_16_the_statue_of_a_holder_killed_by_the_ouch_goes_over_the_table(scene: Any) -> None:
    turn = scene("q b m0", life=[10, 1, 10], vp=[0, 5, 0], statue=1, units={"brooklyn": "jet"}).final("ooohhc")
    turn.resolve("o")
    assert [(goal.seat, goal.previous) for goal in turn.heard("goal_moved")] == [(-1, 1), (0, -1)]
    assert turn.state.vp == [3, 0, 0]


def test_row_17_the_count_at_the_end_of_the_turn_decides(scene: Any) -> None:
    turn = scene("q b m0", vp=[17, 20, 0], statue=1).final("ooohhc").resolve("ohc").to_next_turn()
    assert turn.state.vp == [20, 17, 0]
    assert turn.state.winner_seat == 0


def test_row_18_hearts_beyond_the_cap_are_lost(scene: Any) -> None:
    turn = scene("q b m0", life=[9, 10, 10]).final("hhhhcc").resolve("h")
    assert turn.state.life[0] == 10
    assert [gain.amount for gain in turn.heard("gained") if gain.what == "life"] == [1]


def test_row_19_the_borough_at_the_purchase_counts(scene: Any) -> None:
    turn = scene("q b x", energy=[2, 0, 0], market=["flatiron_building"]).final("hhhhcc").resolve("hc")
    assert turn.place(0) == "m0", "entering first makes Manhattan cards cheaper"
    assert "buy(card=flatiron_building)" in turn.menu


def test_row_20_an_exhausted_supply_places_no_more_tokens(scene: Any) -> None:
    turn = scene("m0 b q", cards={0: "webspinner"}, web={1: 6, 2: 6}).final("aehhcc").resolve("a")
    assert turn.state.web == [0, 7, 6], "the last token, clockwise from the active monster"
    assert turn.state.web_left == 0
    full = scene("q b m0", cards={0: "carapace"}, carapace=14).final("ooohhe")
    assert full.state.carapace[0] == 15


def test_row_21_tokens_stay_inert_when_the_card_is_lost_until_taken_off(scene: Any) -> None:
    turn = scene("q b m0", web={0: 2}, jinx={0: 2}).roll("oahhee")
    assert turn.state.rerolls == 2, "no reroll is taken"
    turn.do("reroll(counts=[0,0,0,0,0,1])").roll("o")
    assert turn.state.energy[0] == 0, "nor paid for"
    turn.do("keep()")
    assert "remove(face=heart,tokens=2)" in turn.menu
    assert "remove(face=attack,tokens=1)" in turn.menu


def test_row_22_as_many_web_tokens_as_rerolls_leave_the_first_roll_only(scene: Any) -> None:
    assert scene("q b m0", cards={1: "webspinner"}, web={0: 2}).roll("eeaahh").asked == (0, "resolve")


def test_row_23_a_forced_reroll_takes_any_allowed_die_and_is_skipped_without_one(scene: Any) -> None:
    cards = {0: "terminal_rage", 1: "jinx_aura curse"}
    turn = scene("q b m0", cards=cards, jinx={0: 1}).roll("aaaoee")
    assert turn.menu == ["reroll(counts=[1,0,0,0,0,0])", "reroll(counts=[2,0,0,0,0,0])"]
    barred = scene("q b m0", cards=cards, jinx={0: 1}).roll("aaaooo")
    assert barred.asked == (0, "resolve")


def test_row_24_new_york_marathon_charges_optional_moves_only(scene: Any) -> None:
    dear = {"market": ["new_york_marathon"]}
    forced = scene("q b x", **dear).final("hhhhcc").resolve("hc")
    assert forced.place(0) == "m0", "forced entry is free"
    assert scene("m0 b q", **dear).final("hhhhcc").resolve("hc").place(0) == "m1", "so is advancing"
    optional = scene("q b m0", energy=[2, 0, 0], **dear).final("hhhhcc").resolve("hc").do("move(borough=bronx)")
    assert optional.state.energy[0] == 0


def test_row_25_an_extra_turn_is_a_whole_turn_after_the_check_of_the_first(scene: Any) -> None:
    turn = scene("m0 b q", energy=[3, 0, 0], market=["terminal_rage"]).final("hhhhcc").resolve("hc")
    turn.do("buy(card=terminal_rage)").draw("stomp")
    began = turn.heard("turn_began")[-1]
    assert (began.seat, began.extra) == (0, True)
    assert turn.state.energy[0] == 1, "the income of Midtown: 3 + 1 - 4 + 1"
    won = scene("m0 b q", vp=[19, 0, 0], energy=[3, 0, 0], market=["terminal_rage"]).final("hhhhcc").resolve("hc")
    won.do("buy(card=terminal_rage)").draw("stomp")
    assert won.state.winner_seat == 0
    assert len(won.heard("turn_began")) == 1


def test_row_26_prerequisites_are_about_units_the_buyer_destroyed_this_turn(scene: Any) -> None:
    given = {"units": {"queens": "jet"}, "market": ["air_force_one"]}
    turn = scene("q b m0", energy=[9, 0, 0], **given).final("dddhhc").resolve("d")
    turn.do("destroy_unit(borough=queens,unit=jet)").until("buy")
    assert "buy(card=air_force_one)" in turn.menu
    turn.do("pass()")
    turn.state.energy[1] = 9
    turn.final("hhhhhh").until("buy")
    assert turn.asked == (1, "buy")
    assert "buy(card=air_force_one)" not in turn.menu, "not another's Jet of an earlier turn"


def test_row_27_every_way_a_keep_card_is_lost_leads_to_the_discard_pile(scene: Any) -> None:
    swept = scene("q b m0", energy=[2, 0, 0], market=["stomp"]).final("hhhhcc").until("buy").do("sweep()")
    assert swept.in_discards("stomp")
    shed = scene("q b m0", cards={0: "carapace"}, carapace=1).final("hhhhcc").do("shed()")
    assert shed.in_discards("carapace")
    fallen = scene("q b m0", life=[9, 9, 1], cards={2: "drain"}).final(BY_CLAWS).resolve("a")
    assert fallen.in_discards("drain")


def test_row_28_entering_cards_act_on_forced_entry_and_fleeing_too(scene: Any) -> None:
    forced = scene("q b x", cards={0: "tourist"}).final("hhhhcc").resolve("hc")
    assert forced.heard("souvenir_placed")[0].borough == "manhattan"
    fled = scene("q b m0", cards={2: "tourist"}).final(BY_CLAWS).resolve("a").do("flee(borough=bronx)")
    assert fled.heard("souvenir_placed")[0].borough == "bronx"


def test_row_29_a_reroll_is_any_number_of_dice(scene: Any) -> None:
    turn = scene("q b m0").roll("eeeeee").do("reroll(counts=[6,0,0,0,0,0])").roll("aaaaaa")
    assert turn.state.rerolls == 1


def test_row_30_the_maximum_life_is_10_and_only_carapace_raises_it(scene: Any) -> None:
    everything = "regeneration king_of_queens chinatown_regular hunter"
    assert scene("q b m0", cards={0: everything}).final("hhhhcc").resolve("h").state.life[0] == 10
    assert scene("q b m0", cards={0: everything + " carapace"}).final("hhhhcc").resolve("h").state.life[0] == 12
