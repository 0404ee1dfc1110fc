"""The Buy step: what may be bought, what it costs, sweeping, paying, and filling the market."""

from typing import Any

from .scenes import Scene


def shop(energy: int, market: list[str], **given: Any) -> Any:
    return Scene("q b m0", energy=[energy, 0, 0], market=market, **given).final("hhhhhh").until("buy")


def test_any_number_of_cards_each_replaced_at_once() -> None:
    turn = shop(9, ["stomp", "drain", "hunter"]).do("buy(card=stomp)").draw("regeneration")
    assert turn.market == ["regeneration", "drain", "hunter"]
    turn.do("buy(card=drain)").draw("leveler")
    assert turn.cards(0) == ["drain", "stomp"]
    assert turn.state.energy[0] == 1


def test_only_what_can_be_paid_for_is_offered() -> None:
    assert shop(4, ["stomp", "hunter", "painbow"]).menu == ["pass()", "buy(card=stomp)", "sweep()"]


def test_a_sweep_costs_2_and_replaces_all_three() -> None:
    turn = shop(5, ["stomp", "drain", "hunter"]).do("sweep()").draw("leveler", "curse", "diva")
    assert turn.state.energy[0] == 3
    assert turn.market == ["leveler", "curse", "diva"]
    assert all(turn.in_discards(card) for card in ("stomp", "drain", "hunter"))


def test_buying_and_sweeping_in_any_order_any_number_of_times() -> None:
    turn = shop(12, ["stomp", "drain", "hunter"]).do("sweep()").draw("leveler", "curse", "diva")
    turn.do("buy(card=curse)").draw("painbow").do("sweep()").draw("overload", "stink_attack", "bulletproof")
    turn.do("buy(card=overload)").draw("phoenix_blood")
    assert turn.cards(0) == ["curse", "overload"]


def test_keep_cards_stay_and_discard_cards_go_to_the_discard_pile() -> None:
    turn = shop(7, ["stomp", "coney_island"]).do("buy(card=stomp)").draw("leveler")
    turn.do("pass()") if turn.asked == (0, "buy") and "buy(card=coney_island)" not in turn.menu else None
    assert not turn.in_discards("stomp")
    bought = Scene("b q m0", energy=[3, 0, 0], market=["coney_island"]).final("hhhhhh").until("buy")
    assert bought.do("buy(card=coney_island)").in_discards("coney_island")


def test_an_empty_deck_is_made_of_the_discard_pile() -> None:
    turn = shop(4, ["stomp"], discards="drain curse")
    turn.state.discards |= turn.state.deck & ~(1 << turn.state.ruleset.card_number["hunter"])
    turn.state.deck = 1 << turn.state.ruleset.card_number["hunter"]
    turn.do("buy(card=stomp)")
    assert turn.state.chance_stream().epoch == 0
    turn.draw("hunter")
    turn.state.energy[1] = 2
    turn.final("hhhhhh").until("buy").do("sweep()")
    assert turn.events_of("reshuffled")
    assert turn.state.chance_stream().epoch == 1
    assert "drain" in dict(turn.state.chance_outcomes())


def test_a_market_without_deck_and_discards_stays_empty() -> None:
    turn = shop(4, ["stomp"])
    turn.state.keep_cards[2] |= turn.state.deck
    turn.state.deck = 0
    turn.do("buy(card=stomp)")
    assert turn.market.count("") == 1


def test_the_buy_step_ends_after_market_cap_purchases_and_sweeps() -> None:
    turn = Scene("q b m0", energy=[20, 0, 0], market=["stomp"], market_cap=2).final("hhhhhh").until("buy")
    turn.do("sweep()").draw("leveler", "curse", "diva").do("buy(card=diva)").draw("hunter")
    assert turn.events_of("turn_began")[-1].seat == 1


def test_a_monster_that_stands_in_the_borough_pays_1_less() -> None:
    assert "buy(card=the_unisphere)" in shop(4, ["the_unisphere"]).menu


def test_two_discount_boroughs_never_add_up() -> None:
    turn = Scene("b q m0", energy=[11, 0, 0], market=["drink_the_hudson"]).final("hhhhhh").until("buy")
    turn.do("buy(card=drink_the_hudson)")
    assert turn.events_of("bought")[-1].cost == 11


def test_the_borough_at_the_purchase_counts() -> None:
    turn = Scene("q b x", energy=[2, 0, 0], market=["flatiron_building"]).final("hhhhcc").resolve("hc")
    assert turn.place(0) == "m0", "entering first makes Manhattan cards cheaper"
    assert "buy(card=flatiron_building)" in turn.menu


def test_prerequisites_are_about_units_the_buyer_destroyed_this_turn() -> None:
    given = {"units": {"queens": "jet"}, "market": ["air_force_one"]}
    turn = Scene("q b m0", energy=[9, 0, 0], **given).final("dddhhc").resolve("d")
    turn.do("destroy_unit(borough=queens,unit=jet)").until("buy")
    assert "buy(card=air_force_one)" in turn.menu
    turn.do("pass()")
    turn.state.energy[1] = 9
    turn.final("hhhhhh").until("buy")
    assert turn.asked == (1, "buy")
    assert "buy(card=air_force_one)" not in turn.menu, "not another's Jet of an earlier turn"


def test_a_card_takes_effect_before_its_place_is_filled() -> None:
    shop = {"energy": [5, 0, 0], "market": ["power_substation"]}
    turn = Scene("q b m0", **shop).final("hhhhcc").until("buy").do("buy(card=power_substation)")
    assert turn.state.energy[0] == 8
    assert turn.asked is None, "the next card comes now"
    first = Scene("q b m0", refill_before_effect=True, **shop).final("hhhhcc").until("buy")
    first.do("buy(card=power_substation)")
    assert first.state.energy[0] == 0
    assert first.draw("stomp").state.energy[0] == 8


def test_the_claim_of_columbia_university_is_registered_first_either_way() -> None:
    shop = {"energy": [6, 0, 0], "market": ["columbia_university"], "refill_before_effect": True}
    turn = Scene("q b m0", **shop).final("hhhhcc").until("buy").do("buy(card=columbia_university)").draw("stomp")
    assert turn.cards(0) == ["stomp"]


def test_a_free_card_counts_as_bought() -> None:
    shop = {"energy": [6, 0, 0], "market": ["columbia_university"]}
    turn = Scene("q b m0", **shop).final("hhhhcc").until("buy").do("buy(card=columbia_university)").draw("overload")
    assert turn.state.energy[0] == 4
    plain = Scene("q b m0", free_card_counts_as_bought=False, **shop).final("hhhhcc").until("buy")
    assert plain.do("buy(card=columbia_university)").draw("overload").state.energy[0] == 0


def test_an_extra_turn_got_in_anothers_turn_follows_it_and_then_the_order_goes_on() -> None:
    turn = Scene("q b m0 x", energy=[6, 0, 0, 0], market=["columbia_university"]).final("hhhhcc").until("buy")
    turn.do("buy(card=columbia_university)").draw("coney_island")
    turn.state.energy[1] = 2
    turn.final("hhhhcc").until("buy").do("sweep()").draw("terminal_rage")
    turn.draw("stomp", "drain", "hunter")
    order = [(began.seat, began.extra) for began in turn.events_of("turn_began")]
    assert order == [(0, False), (1, False), (0, True)]
    turn.final("hhhhhh").to_next_turn()
    assert turn.events_of("turn_began")[-1].seat == 2


def test_a_cost_paid_with_life_is_no_damage() -> None:
    cards = {0: "of_another_world phoenix_blood"}
    turn = Scene("q b m0", energy=[1, 0, 0], cards=cards, market=["flatiron_building"]).final("ccooaa").until("buy")
    turn.do("buy(card=flatiron_building)", "pay(life=2)")
    assert turn.events_of("hurt") == [] or {payload.seat for payload in turn.events_of("hurt")} == {2}
    assert turn.state.energy[0] == 0
