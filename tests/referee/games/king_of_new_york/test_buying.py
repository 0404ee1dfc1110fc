"""The Buy step (sheet section 3.5)."""

from typing import Any


def shop(scene: Any, energy: int, market: list[str], **given: Any) -> Any:
    return scene("q b m0", energy=[energy, 0, 0], market=market, **given).final("hhhhhh").until("buy")


def test_any_number_of_cards_each_replaced_at_once(scene: Any) -> None:
    turn = shop(scene, 9, ["stomp", "drain", "hunter"]).do("buy(card=stomp)").draw("regeneration")
    assert turn.market == ["regeneration", "drain", "hunter"]
    turn.do("buy(card=drain)").draw("leveler")
    assert turn.cards(0) == ["drain", "stomp"]
    assert turn.state.energy[0] == 1


def test_only_what_can_be_paid_for_is_offered(scene: Any) -> None:
    assert shop(scene, 4, ["stomp", "hunter", "painbow"]).menu == ["pass()", "buy(card=stomp)", "sweep()"]


def test_a_sweep_costs_2_and_replaces_all_three(scene: Any) -> None:
    turn = shop(scene, 5, ["stomp", "drain", "hunter"]).do("sweep()").draw("leveler", "curse", "diva")
    assert turn.state.energy[0] == 3
    assert turn.market == ["leveler", "curse", "diva"]
    assert all(turn.in_discards(card) for card in ("stomp", "drain", "hunter"))


def test_buying_and_sweeping_in_any_order_any_number_of_times(scene: Any) -> None:
    turn = shop(scene, 12, ["stomp", "drain", "hunter"]).do("sweep()").draw("leveler", "curse", "diva")
    turn.do("buy(card=curse)").draw("painbow").do("sweep()").draw("overload", "stink_attack", "bulletproof")
    turn.do("buy(card=overload)").draw("phoenix_blood")
    assert turn.cards(0) == ["curse", "overload"]


def test_keep_cards_stay_and_discard_cards_go_to_the_discard_pile(scene: Any) -> None:
    turn = shop(scene, 7, ["stomp", "coney_island"]).do("buy(card=stomp)").draw("leveler")
    turn.do("pass()") if turn.asked == (0, "buy") and "buy(card=coney_island)" not in turn.menu else None
    assert not turn.in_discards("stomp")
    bought = scene("b q m0", energy=[3, 0, 0], market=["coney_island"]).final("hhhhhh").until("buy")
    assert bought.do("buy(card=coney_island)").in_discards("coney_island")


def test_an_empty_deck_is_made_of_the_discard_pile(scene: Any) -> None:
    turn = shop(scene, 4, ["stomp"], discards="drain curse")
    turn.state.discards |= turn.state.deck & ~(1 << turn.state.ruleset.card_number["hunter"])
    turn.state.deck = 1 << turn.state.ruleset.card_number["hunter"]
    turn.do("buy(card=stomp)")
    assert turn.state.chance_stream().epoch == 0
    turn.draw("hunter")
    turn.state.energy[1] = 2
    turn.final("hhhhhh").until("buy").do("sweep()")
    assert turn.heard("reshuffled")
    assert turn.state.chance_stream().epoch == 1
    assert "drain" in dict(turn.state.chance_outcomes())


def test_a_market_without_deck_and_discards_stays_empty(scene: Any) -> None:
    turn = shop(scene, 4, ["stomp"])
    turn.state.keep_cards[2] |= turn.state.deck
    turn.state.deck = 0
    turn.do("buy(card=stomp)")
    assert turn.market.count("") == 1


def test_the_buy_step_ends_after_market_cap_purchases_and_sweeps(scene: Any) -> None:
    turn = scene("q b m0", energy=[20, 0, 0], market=["stomp"], market_cap=2).final("hhhhhh").until("buy")
    turn.do("sweep()").draw("leveler", "curse", "diva").do("buy(card=diva)").draw("hunter")
    assert turn.heard("turn_began")[-1].seat == 1


def test_a_monster_that_stands_in_the_borough_pays_1_less(scene: Any) -> None:
    assert "buy(card=the_unisphere)" in shop(scene, 4, ["the_unisphere"]).menu


def test_two_discount_boroughs_never_add_up(scene: Any) -> None:
    turn = scene("b q m0", energy=[11, 0, 0], market=["drink_the_hudson"]).final("hhhhhh").until("buy")
    turn.do("buy(card=drink_the_hudson)")
    assert turn.heard("bought")[-1].cost == 11
