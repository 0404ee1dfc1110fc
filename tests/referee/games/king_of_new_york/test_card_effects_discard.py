"""The Discard cards: each card has the test `test_<id>`; more tests may follow it."""

from typing import Any

import pytest

from .scenes import Scene

# Goal cards


def test_goal_cards_are_no_keep_cards() -> None:
    turn = Scene("q b m0", energy=[5, 0, 0], superstar=1, statue=0, market=["tesla_cannon"]).final("hhhhhh")
    turn.until("buy").do("buy(card=tesla_cannon)")
    assert (turn.state.superstar_seat, turn.state.statue_seat) == (1, 0)


def buyer(places: str, card: str, energy: int, **given: Any) -> Any:
    """Seat 0 about to buy with this much energy; its dice did nothing but hearts in full health or in Manhattan."""
    given.setdefault("life", [10] * len(places.split()))
    turn = Scene(places, energy=[energy, *[0] * (len(places.split()) - 1)], market=[card], **given)
    return turn.final("hhhhhh").until("buy")


@pytest.mark.parametrize(
    ("card", "cost", "vp", "places", "discount"),
    [
        ("brooklyn_bridge", 6, 4, "b q m0", True),
        ("brooklyn_bridge", 6, 4, "q b m0", False),
        ("coney_island", 4, 3, "b q m0", True),
        ("flatiron_building", 3, 2, "m1 q b", True),
        ("flatiron_building", 3, 2, "q b m0", False),
        ("the_unisphere", 5, 4, "q b m0", True),
        ("the_unisphere", 5, 4, "b q m0", False),
        ("holland_tunnel", 9, 6, "m0 q b", True),
        ("yankee_stadium", 9, 5, "x q m0", True),
        ("central_park", 5, 2, "m0 q b", True),
        ("columbia_university", 6, 2, "m0 q b", True),
        ("drink_the_hudson", 12, 1, "m0 q b", True),
        ("drink_the_hudson", 12, 1, "b q m0", True),
        ("drink_the_hudson", 12, 1, "s q m0", True),
        ("drink_the_hudson", 12, 1, "x q m0", False),
    ],
)
def test_vp_and_discount(card: str, cost: int, vp: int, places: str, discount: bool) -> None:
    paid = cost - discount
    turn = buyer(places, card, paid)
    before = (turn.state.vp[0], turn.state.energy[0])
    in_manhattan = places.startswith("m")
    short = turn.state.energy[0] - paid
    turn.do(f"buy(card={card})")
    assert turn.events_of("bought")[-1].cost == paid
    assert turn.state.vp[0] - before[0] == vp
    assert short == (before[1] - paid)
    assert in_manhattan == turn.place(0).startswith("m")


@pytest.mark.parametrize("card", ["brooklyn_bridge", "the_unisphere", "coney_island", "flatiron_building"])
def test_one_energy_short_is_too_little(card: str) -> None:
    costs = {"brooklyn_bridge": 6, "the_unisphere": 5, "coney_island": 4, "flatiron_building": 3}
    turn = Scene("x q m0", energy=[costs[card] - 1, 0, 0], market=[card]).final("hhhhhh").until("move").do("stay()")
    assert turn.events_of("bought") == []
    assert turn.asked is None or f"buy(card={card})" not in turn.menu


def test_air_force_one() -> None:
    units = {"units": {"queens": "jet infantry", "bronx": "tank tank"}}
    turn = Scene("q x m0 b", energy=[6, 0, 0, 0], market=["air_force_one"], **units)
    turn.final("dddhhh").resolve("d").do("destroy_unit(borough=queens,unit=jet)").until("buy")
    turn.do("buy(card=air_force_one)")
    assert turn.state.vp[0] == 4
    assert turn.state.life == [9, 8, 10, 10], "every Unit hurts every monster of its borough"
    assert turn.state.statue_seat == 7
    assert turn.asked is None or turn.asked[1] != "flee"


def test_air_force_one_needs_a_jet_destroyed_this_turn_and_ignores_bulletproof() -> None:
    turn = Scene("q x m0", energy=[9, 0, 0], market=["air_force_one"]).final("hhhhhh").until("buy")
    assert "buy(card=air_force_one)" not in turn.menu
    units = {"units": {"queens": "jet", "bronx": "tank"}}
    armed = Scene("q x m0", energy=[6, 0, 0], market=["air_force_one"], cards={1: "bulletproof"}, **units)
    armed.final("dddhhh").resolve("d").do("destroy_unit(borough=queens,unit=jet)").until("buy")
    assert armed.do("buy(card=air_force_one)").state.life[1] == 9


def test_brooklyn_bridge() -> None:
    turn = buyer("b q m0", "brooklyn_bridge", 5).do("buy(card=brooklyn_bridge)")
    assert (turn.state.vp[0], turn.state.energy[0]) == (4, 0)
    assert turn.in_discards("brooklyn_bridge")


def test_central_park() -> None:
    turn = buyer("m0 q b", "central_park", 4, life=[5, 10, 10])
    assert turn.do("buy(card=central_park)").state.life[0] == 7
    assert turn.state.vp[0] == 1 + 2


def test_columbia_university() -> None:
    turn = buyer("q b m0", "columbia_university", 6).do("buy(card=columbia_university)")
    assert turn.state.vp[0] == 2
    turn.draw("stomp")
    assert turn.cards(0) == ["stomp"], "the refill of its own purchase is the first candidate"
    turn.draw("coney_island")
    assert "coney_island" in turn.market, "the slot is filled with the next card"


def test_columbia_university_claim_waits_for_the_next_keep_card_even_in_other_turns() -> None:
    turn = buyer("q b m0", "columbia_university", 6).do("buy(card=columbia_university)").draw("coney_island")
    assert turn.state.claims == [0]
    assert turn.events_of("turn_began")[-1].seat == 1
    turn.state.energy[1] = 2
    turn.final("hhhhhh").until("buy").do("sweep()").draw("central_park", "regeneration")
    assert turn.cards(0) == ["regeneration"]
    assert turn.state.claims == []


def test_coney_island() -> None:
    assert buyer("b q m0", "coney_island", 3).do("buy(card=coney_island)").state.vp[0] == 3


def test_drink_the_hudson() -> None:
    turn = buyer("s q m0", "drink_the_hudson", 11, life=[5, 10, 10])
    life = turn.state.life[0]
    turn.do("buy(card=drink_the_hudson)")
    assert (turn.state.vp[0], turn.state.energy[0]) == (1, 13)
    assert turn.state.life[0] == min(10, life + 2)


def test_flatiron_building() -> None:
    assert buyer("q b m0", "flatiron_building", 3).do("buy(card=flatiron_building)").state.vp[0] == 2


def test_general_ellis() -> None:
    tank = {"units": {"queens": "tank"}}
    turn = Scene("q x m0", energy=[5, 0, 0], market=["general_ellis"], **tank)
    turn.final("ddddhh").resolve("d").do("destroy_unit(borough=queens,unit=tank)").until("buy")
    turn.do("buy(card=general_ellis)")
    assert turn.state.vp[0] == 3 + 3
    assert turn.state.life == [9, 9, 9], "every monster, the buyer included"
    assert turn.asked is None or turn.asked[1] != "flee", "no attack"
    idle = Scene("q x m0", energy=[9, 0, 0], market=["general_ellis"], **tank).final("hhhhhh").until("buy")
    assert "buy(card=general_ellis)" not in idle.menu


def test_holland_tunnel() -> None:
    turn = buyer("m0 q b", "holland_tunnel", 8).do("buy(card=holland_tunnel)")
    assert turn.state.vp[0] == 1 + 6
    assert turn.state.energy == [1 + 3, 3, 3], "every monster; 1 is the income"


def test_new_york_marathon() -> None:
    turn = buyer("q b m0", "new_york_marathon", 6, life=[5, 10, 10])
    life = turn.state.life[0]
    turn.do("buy(card=new_york_marathon)")
    assert (turn.state.vp[0], turn.state.energy[0]) == (2, 2)
    assert turn.state.life[0] == min(10, life + 2)


def test_new_york_marathon_in_the_market_makes_optional_moves_cost_2() -> None:
    turn = Scene("q b m0", energy=[3, 0, 2], market=["new_york_marathon"]).final("aahhcc").resolve("a")
    turn.do("flee(borough=bronx)")
    assert turn.state.energy[2] == 0
    assert turn.place(2) == "x"
    turn.resolve("hc")
    assert turn.place(0) == "m0", "forced entry"
    assert turn.state.energy[0] == 3, "is free"
    poor = Scene("q b m0", energy=[1, 0, 1], market=["new_york_marathon"]).final("aahhcc").resolve("ahc")
    assert poor.place(2) == "m0", "who cannot pay cannot flee and was not asked"
    assert poor.events_of("turn_began")[-1].seat == 1, "nor could the active monster move"
    paying = Scene("q b m0", energy=[3, 0, 1], market=["new_york_marathon"]).final("hhhhhh").until("move")
    assert paying.do("move(borough=bronx)").state.energy[0] == 1


def test_next_stage() -> None:
    turn = buyer("q b m0", "next_stage", 4, vp=[3, 0, 0])
    turn.state.life[0] = 5
    turn.do("buy(card=next_stage)")
    assert turn.state.vp[0] == 0
    assert turn.menu == ["trade(energy=3)", "trade(energy=2)", "trade(energy=1)", "trade(energy=0)"]
    turn.do("trade(energy=1)")
    assert (turn.state.energy[0], turn.state.life[0]) == (1, 7)


def test_next_stage_without_vp_asks_nothing() -> None:
    turn = buyer("q b m0", "next_stage", 4).do("buy(card=next_stage)")
    assert turn.asked is None
    assert turn.in_discards("next_stage")


def test_photo_op() -> None:
    turn = Scene("q b m0", energy=[4, 0, 0], market=["photo_op"]).final("aaahhh").resolve("a").do("stay()")
    turn.until("buy").do("buy(card=photo_op)")
    assert turn.menu == ["photo(seat=1)", "photo(seat=2)"]
    assert turn.do("photo(seat=2)").state.vp[0] == 3


def test_photo_op_may_name_an_eliminated_monster() -> None:
    turn = Scene("q b m0", energy=[4, 0, 0], life=[10, 10, 1], market=["photo_op"]).final("aaahhh").resolve("a")
    assert turn.place(2) == "-"
    turn.until("buy").do("buy(card=photo_op)", "photo(seat=2)")
    assert turn.state.vp[0] == 1 + 3, "entering Manhattan, and the full amount"


def test_power_substation() -> None:
    turn = buyer("q b m0", "power_substation", 5).do("buy(card=power_substation)")
    assert (turn.state.vp[0], turn.state.energy[0], turn.state.life[0]) == (1, 8, 7)


def test_subterranean_cable() -> None:
    turn = buyer("q b m0", "subterranean_cable", 0).do("buy(card=subterranean_cable)")
    assert (turn.state.energy[0], turn.state.life[0]) == (4, 6)


def test_subterranean_cable_can_kill_its_buyer() -> None:
    turn = Scene("m0 b q", life=[4, 10, 10], market=["subterranean_cable"]).final("hhhhhh").until("buy")
    turn.do("buy(card=subterranean_cable)")
    assert turn.place(0) == "-"
    turn.draw("stomp")
    assert "stomp" in turn.market, "the market is filled nevertheless"
    assert turn.in_discards("subterranean_cable")
    assert turn.events_of("turn_began")[-1].seat == 1


def test_subway() -> None:
    turn = buyer("q b m0", "subway", 10).do("buy(card=subway)").draw("stomp")
    assert (turn.events_of("turn_began")[-1].seat, turn.events_of("turn_began")[-1].extra) == (0, True)
    assert turn.asked == (0, "before_roll")
    turn.do("ride(borough=bronx)", "ride(borough=brooklyn)", "pass()")
    assert turn.place(0) == "b"
    turn.roll("eeaahh")
    assert "ride(borough=queens)" in turn.menu, "at any moment"


def test_subway_is_a_way_out_of_manhattan_and_the_next_to_move_must_enter() -> None:
    turn = Scene("m0 b q", rides=True).do("ride(borough=bronx)")
    assert turn.place(0) == "x"
    assert turn.menu == ["pass()", "ride(borough=manhattan)"], "outside, while there is room, only to Manhattan"
    turn.do("pass()").final("hhhhhh")
    turn.do("resolve(face=heart)", "pass()")
    assert turn.place(0) == "m0", "its own Move step comes next: it must enter"


def test_tesla_cannon() -> None:
    turn = buyer("q b m0", "tesla_cannon", 5, cards={0: "regeneration", 1: "drain hunter"})
    turn.do("buy(card=tesla_cannon)")
    assert turn.state.vp[0] == 2
    assert turn.cards(0) == [], "the buyer too"
    assert turn.asked == (1, "discard"), "each owner chooses"
    assert turn.menu == ["discard(card=drain)", "discard(card=hunter)"]
    turn.do("discard(card=hunter)")
    assert turn.cards(1) == ["drain"]
    assert turn.in_discards("hunter")


def test_the_unisphere() -> None:
    assert buyer("q b m0", "the_unisphere", 4).do("buy(card=the_unisphere)").state.vp[0] == 4


def test_yankee_stadium() -> None:
    turn = Scene("x b m0", life=[2, 10, 10], energy=[8, 0, 0], market=["yankee_stadium"]).final("cccaoo").until("buy")
    vp = turn.state.vp[0]
    turn.do("buy(card=yankee_stadium)")
    assert (turn.state.vp[0] - vp, turn.state.life[0]) == (5, 7)


def test_tesla_cannon_is_answered_clockwise_from_the_buyer() -> None:
    cards = {0: "drain hunter", 1: "curse diva", 2: "leveler overload"}
    turn = Scene("m0 q b", seat=1, energy=[0, 5, 0], cards=cards, market=["tesla_cannon"]).final("hhhhhh").until("buy")
    turn.do("buy(card=tesla_cannon)")
    asked = []
    while turn.asked and turn.asked[1] == "discard":
        asked.append(turn.asked[0])
        turn.do(turn.menu[0])
    assert asked == [1, 2, 0]
