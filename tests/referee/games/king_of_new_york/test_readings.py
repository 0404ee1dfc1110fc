"""The readings that the sheet fixes for engines (section 10), by their numbers."""

from typing import Any


def test_k2_inert_tokens_may_be_kept_from_coming_off(scene: Any) -> None:
    turn = scene("q b m0", web={0: 1}, jinx={0: 1}, inert_tokens_removable=False).final("ahhecc")
    assert not any(text.startswith("remove") for text in turn.menu)
    live = scene("q b m0", cards={1: "curse"}, jinx={0: 1}, inert_tokens_removable=False).final("ahhecc")
    assert "remove(face=heart,tokens=1)" in live.menu


def test_k3_subway_moves_are_counted_and_each_entry_gives_1_vp(scene: Any) -> None:
    turn = scene("m0 b q", rides=True, subway_max_moves=3)
    turn.do("ride(borough=bronx)", "ride(borough=manhattan)")
    assert turn.state.vp[0] == 1 + 1, "income and entry"
    turn.do("ride(borough=manhattan)")
    assert turn.place(0) == "m1", "in Manhattan a ride may advance"
    assert turn.rolls, "three moves are used up"


def test_k3_rides_cost_2_under_new_york_marathon(scene: Any) -> None:
    turn = scene("q b m0", rides=True, energy=[3, 0, 0], market=["new_york_marathon"]).do("ride(borough=bronx)")
    assert turn.state.energy[0] == 1
    assert turn.rolls, "1 energy does not pay for another"


def test_k4_a_card_takes_effect_before_its_place_is_filled(scene: Any) -> None:
    shop = {"energy": [5, 0, 0], "market": ["power_substation"]}
    turn = scene("q b m0", **shop).final("hhhhcc").until("buy").do("buy(card=power_substation)")
    assert turn.state.energy[0] == 8
    assert turn.asked is None, "the next card comes now"
    first = scene("q b m0", refill_before_effect=True, **shop).final("hhhhcc").until("buy")
    first.do("buy(card=power_substation)")
    assert first.state.energy[0] == 0
    assert first.draw("stomp").state.energy[0] == 8


def test_k4_the_claim_of_columbia_university_is_registered_first_either_way(scene: Any) -> None:
    shop = {"energy": [6, 0, 0], "market": ["columbia_university"], "refill_before_effect": True}
    turn = scene("q b m0", **shop).final("hhhhcc").until("buy").do("buy(card=columbia_university)").draw("stomp")
    assert turn.cards(0) == ["stomp"]


def test_k5_a_free_card_counts_as_bought(scene: Any) -> None:
    shop = {"energy": [6, 0, 0], "market": ["columbia_university"]}
    turn = scene("q b m0", **shop).final("hhhhcc").until("buy").do("buy(card=columbia_university)").draw("overload")
    assert turn.state.energy[0] == 4
    plain = scene("q b m0", free_card_counts_as_bought=False, **shop).final("hhhhcc").until("buy")
    assert plain.do("buy(card=columbia_university)").draw("overload").state.energy[0] == 0


def test_k5_an_extra_turn_got_in_anothers_turn_follows_it_and_then_the_order_goes_on(scene: Any) -> None:
    turn = scene("q b m0 x", energy=[6, 0, 0, 0], market=["columbia_university"]).final("hhhhcc").until("buy")
    turn.do("buy(card=columbia_university)").draw("coney_island")
    turn.state.energy[1] = 2
    turn.final("hhhhcc").until("buy").do("sweep()").draw("terminal_rage")
    turn.draw("stomp", "drain", "hunter")
    order = [(began.seat, began.extra) for began in turn.heard("turn_began")]
    assert order == [(0, False), (1, False), (0, True)]
    turn.final("hhhhhh").to_next_turn()
    assert turn.heard("turn_began")[-1].seat == 2


def test_k6_climb_looks_at_the_dice_unless_the_option_says_otherwise(scene: Any) -> None:
    cards = {0: "climb_the_empire_state_building stomp"}
    assert scene("m0 b q", cards=cards).final("eahhco").heard("extra_turn") == []
    assert scene("m0 b q", cards=cards, climb_counts_bonus=True).final("eahhco").heard("extra_turn")


def test_f1_conversions_may_be_chained_and_change_dice_only(scene: Any) -> None:
    cards = {0: "artificial_heart universal_soldier towering_titan"}
    turn = scene("q b m0", cards=cards).final("addooc")
    assert turn.menu == [
        "keep()",
        "convert(energy=0,attack=0,heart=1)",
        "convert(energy=1,attack=0,heart=0)",
    ], "one die; the 2 added Attack results stay what they are"
    turn.do("convert(energy=1,attack=0,heart=0)")
    assert turn.state.bonus[1] == 2


def test_f1_conversion_is_asked_once(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "universal_soldier"}).final("aahhcc").do("convert(energy=0,attack=4,heart=0)")
    assert turn.asked == (0, "resolve")


def test_f1_fury_counts_units_right_after_the_last_roll(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "fury"}, units={"queens": "infantry infantry"}).final("dehhcc").resolve("d")
    assert turn.state.bonus == [0] * 6, "the third Unit appears later"


def test_f2_final_roll_cards_look_after_conversions_and_additions(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "chameleon painbow hailing_cabs"}).final("chheoo")
    turn.do("keep()", "hail(use=true)")
    assert turn.state.bonus[1] == 1, "2 Destruction were added first"
    swapped = scene("q b m0", cards={0: "chameleon carapace"}).final("chheoo").do("swap(die=energy,to=ouch)")
    assert swapped.state.carapace[0] == 3


def test_f2_celebrity_dice_given_up_before_do_not_count_for_personal_spotlight(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "chameleon personal_spotlight"}).final("chheoo").do("give_up()")
    assert turn.state.vp[0] == 0


def test_f3_giving_up_a_celebrity_die_without_turning_another_is_allowed(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "chameleon natural_selection"}).final("ceehhad").do("give_up()").to_next_turn()
    assert turn.place(0) != "-", "no Celebrity die shows"


def test_f4_units_and_damage_to_oneself_are_not_damage_dealt(scene: Any) -> None:
    turn = scene(
        "q q m0", cards={0: "curse"}, units={"queens": "infantry"}, energy=[0, 0, 0], market=["subterranean_cable"]
    ).final("oohhcc")
    turn.resolve("o").until("buy").do("buy(card=subterranean_cable)")
    assert turn.state.jinx == [0, 0, 0]


def test_f4_general_ellis_and_violent_star_are_damage_dealt(scene: Any) -> None:
    cards = {"cards": {0: "webspinner"}}
    turn = scene("q b m0", energy=[5, 0, 0], market=["general_ellis"], units={"queens": "tank"}, **cards)
    turn.final("ddddhh").resolve("d").do("destroy_unit(borough=queens,unit=tank)").until("buy")
    assert turn.do("buy(card=general_ellis)").state.web == [0, 1, 1]
    star = scene("q b m0", cards={0: "violent_star curse"}, superstar=1).final("ccchhe").resolve("c")
    assert star.state.jinx == [0, 1, 0]


def test_f4_photo_op_counts_the_full_amount(scene: Any) -> None:
    turn = scene("q b m0", energy=[4, 0, 0], life=[9, 9, 1], market=["photo_op"]).final("aaaaah").until("buy")
    turn.do("buy(card=photo_op)", "photo(seat=2)")
    assert turn.state.vp[0] == 1 + 5


def test_f5_what_follows_damage_comes_clockwise_from_the_active_monster_before_eliminations(scene: Any) -> None:
    cards = {0: "trash_thrower webspinner", 2: "drain phoenix_blood"}
    turn = scene(
        "b q x m0", seat=3, energy=[0, 0, 0, 5], life=[9, 1, 9, 9], vp=[2, 2, 2, 2], cards={3: cards[0], 2: cards[2]}
    )
    turn.final("aehhcc").resolve("a")
    kinds = [
        (payload.KIND, payload.seat)
        for payload in turn.told
        if payload.KIND in ("hurt", "tokens_changed", "eliminated")
        or getattr(payload, "cause", "") in ("drain", "trash_thrower", "phoenix_blood")
    ]
    assert kinds == [
        ("hurt", 0),
        ("hurt", 1),
        ("hurt", 2),
        ("gained", 0),
        ("tokens_changed", 0),
        ("gained", 3),
        ("gained", 2),
        ("gained", 2),
        ("tokens_changed", 2),
        ("gained", 2),
        ("eliminated", 1),
    ], "Trash Thrower and a token for seat 0; Drain (two gains), Trash Thrower, a token, Phoenix Blood for seat 2"


def test_f6_a_forced_exit_is_an_entry(scene: Any) -> None:
    turn = scene("m0 n1 q x s", life=[10, 10, 1, 10, 10], cards={1: "tourist"}).final("aahhcc").resolve("a")
    turn.do("leave(borough=queens)")
    assert turn.heard("souvenir_placed")[0].borough == "queens"


def test_f7_overload_lowers_energy_that_is_furys_alone(scene: Any) -> None:
    cards = {0: "overload fury"}
    turn = scene("q b m0", cards=cards, units={"queens": "tank tank tank"}).final("aahhcc").resolve("e")
    assert turn.state.energy[0] == 0


def test_f8_jets_elsewhere_must_be_used_up_with_sharp_shooter(scene: Any) -> None:
    tops = {"queens": "power_plant_3 hospital_3 high_rise_3"}
    turn = scene("q b m0", cards={0: "sharp_shooter long_neck"}, units={"bronx": "jet"}, tops=tops).final("ddhhcc")
    turn.resolve("d")
    assert turn.state.trophies[1] == 1, "the only target was taken by itself"


def test_f9_seismic_ray_per_die_is_never_compulsory(scene: Any) -> None:
    tops = {"queens": "power_plant_3 hospital_3 high_rise_3", "bronx": "high_rise_2 high_rise_3 hospital_3"}
    given = {"tops": tops, "cards": {0: "seismic_ray"}, "seismic_ray_cost": "per_die", "below": "hospital_3"}
    turn = scene("q b m0", energy=[2, 0, 0], **given).final("ddhhcc").resolve("d")
    assert turn.menu[0] == "pass()"
    assert "destroy_building(stack=9)" in turn.menu
    turn.do("destroy_building(stack=9)")
    assert turn.state.energy[0] == 0, "1 energy for each of 2 results"
    assert turn.state.vp[0] == 2
    assert not any(
        text.startswith("redirect") for text in scene("q b m0", energy=[2, 0, 0], **given).final("ddhhcc").menu
    )


def test_f10_natural_selection_acts_at_the_end_of_its_owners_own_turn_only(scene: Any) -> None:
    turn = scene("q b m0", cards={1: "natural_selection"}).final("cchhee").to_next_turn()
    assert turn.place(1) == "b"


def test_f10_a_cost_paid_with_life_is_no_damage(scene: Any) -> None:
    cards = {0: "of_another_world phoenix_blood"}
    turn = scene("q b m0", energy=[1, 0, 0], cards=cards, market=["flatiron_building"]).final("ccooaa").until("buy")
    turn.do("buy(card=flatiron_building)", "pay(life=2)")
    assert turn.heard("hurt") == [] or {payload.seat for payload in turn.heard("hurt")} == {2}
    assert turn.state.energy[0] == 0


def test_f11_power_tap_counts_gains_in_anybodys_turn(scene: Any) -> None:
    cards = {1: "power_tap", 2: "drain phoenix_blood"}
    turn = scene("q b m0", energy=[5, 0, 0], cards=cards).final("aahhcc").resolve("a")
    assert turn.state.energy == [3, 1, 2], "2 drained + 1 from Phoenix Blood, 1 of it handed over"


def test_f12_tesla_cannon_is_answered_clockwise_from_the_buyer(scene: Any) -> None:
    cards = {0: "drain hunter", 1: "curse diva", 2: "leveler overload"}
    turn = scene("m0 q b", seat=1, energy=[0, 5, 0], cards=cards, market=["tesla_cannon"]).final("hhhhhh").until("buy")
    turn.do("buy(card=tesla_cannon)")
    asked = []
    while turn.asked and turn.asked[1] == "discard":
        asked.append(turn.asked[0])
        turn.do(turn.menu[0])
    assert asked == [1, 2, 0]


def test_f13_stink_attack_pushes_old_units_before_new_ones(scene: Any) -> None:
    turn = scene("m0 b q", rides=True, cards={0: "stink_attack"}, units={"queens": "infantry"}).do("pass()")
    turn.state.units[6] += 1
    turn.state.fresh_units[6] += 1
    turn.final("hhhhcc").do("ride(borough=queens)", "push(unit=infantry,borough=manhattan)", "pass()")
    assert turn.state.fresh_units[6] == 1, "the new one stayed"
    assert turn.state.fresh_units[0] == 0


def test_f14_souvenirs_stay_and_trophies_leave_the_game(scene: Any) -> None:
    turn = scene("q b m0", life=[9, 9, 1], cards={2: "tourist"})
    turn.state.souvenirs = 1
    turn.state.trophies[6:9] = [2, 1, 0]
    turn.final("aahhcc").resolve("a")
    assert turn.state.souvenirs == 1
    assert turn.state.trophies[6:9] == [0, 0, 0]
    assert turn.state.lost_trophies == [2, 1, 0]


def test_f15_short_tokens_go_clockwise_from_the_active_monster(scene: Any) -> None:
    turn = scene("b q m0", seat=2, cards={2: "curse"}, jinx={1: 12}).final("aehhcc").resolve("a")
    assert turn.state.jinx == [1, 12, 0]


def test_f16_the_last_monster_standing_wins_at_the_end_of_the_turn(scene: Any) -> None:
    turn = scene("q m0", life=[9, 1], energy=[0, 0]).final("aehhcc").resolve("a")
    assert turn.asked == (0, "resolve")
    turn.resolve("ehc")
    turn.to_next_turn()
    assert turn.state.reason == "last_standing"
    assert turn.state.ranking() == (1, 2)


def test_f17_ranks(scene: Any) -> None:
    turn = scene("q b m0 x s", life=[9, 9, 9, 9, 9], vp=[19, 4, 4, 9, 0])
    turn.state.out[4] = 1
    turn.state.living = 4
    turn.state.borough[4] = 5
    turn.final("ccchhe").resolve("che").to_next_turn()
    assert turn.state.winner_seat == 0
    assert turn.state.ranking() == (1, 3, 3, 2, 5)


def test_f18_the_one_left_in_manhattan_stands_on_2_4(scene: Any) -> None:
    turn = scene("m0 n1 q x s", rides=True).do("ride(borough=brooklyn)")
    assert turn.place(1) == "m1"


def test_f19_added_claws_take_off_tokens_too(scene: Any) -> None:
    cards = {0: "towering_titan", 1: "webspinner"}
    turn = scene("q b m0", cards=cards, web={0: 2}).roll("eehhcc")
    assert turn.asked == (0, "resolve")
    turn.do("remove(face=attack,tokens=2)")
    assert turn.state.web[0] == 0
    assert turn.state.life[2] == 10
