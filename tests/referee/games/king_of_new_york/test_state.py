"""Life, tokens, cards and what becomes of an eliminated monster."""

from .scenes import Scene

# Goal cards


def test_goal_cards_of_an_eliminated_holder_return_to_the_table() -> None:
    turn = Scene("q b m0", life=[10, 10, 1], superstar=2, statue=2, vp=[0, 0, 9]).final("ahhhee").resolve("a")
    assert turn.state.superstar_seat == turn.state.statue_seat == 7
    assert turn.state.vp[:2] == [0, 0]


# Further cases


def test_what_becomes_of_an_eliminated_monsters_things() -> None:
    turn = Scene(
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
    ).final("aahhcc")
    turn.resolve("a")
    state = turn.state
    assert turn.in_discards("carapace")
    assert turn.in_discards("stomp")
    assert (state.energy[2], state.web[2], state.jinx[2]) == (0, 0, 0)
    assert (state.web_left, state.jinx_left) == (13, 13)
    assert state.superstar_seat == state.statue_seat == 7
    turn.to_next_turn().final("hhhhhh").to_next_turn()
    assert turn.events_of("turn_began")[-1].seat == 0, "it has no more turns"


def test_vp_and_energy_never_fall_below_0() -> None:
    turn = Scene("q b m0", energy=[1, 0, 0], cards={0: "trash_thrower", 2: "drain"}).final("aahhcc").resolve("a")
    assert turn.state.energy[0] == 0
    assert turn.state.vp[2] == 0


def test_hearts_beyond_the_cap_are_lost() -> None:
    turn = Scene("q b m0", life=[9, 10, 10]).final("hhhhcc").resolve("h")
    assert turn.state.life[0] == 10
    assert [gain.amount for gain in turn.events_of("gained") if gain.what == "life"] == [1]


def test_an_exhausted_supply_places_no_more_tokens() -> None:
    turn = Scene("m0 b q", cards={0: "webspinner"}, web={1: 6, 2: 6}).final("aehhcc").resolve("a")
    assert turn.state.web == [0, 7, 6], "the last token, clockwise from the active monster"
    assert turn.state.web_left == 0
    full = Scene("q b m0", cards={0: "carapace"}, carapace=14).final("ooohhe")
    assert full.state.carapace[0] == 15


def test_every_way_a_keep_card_is_lost_leads_to_the_discard_pile() -> None:
    swept = Scene("q b m0", energy=[2, 0, 0], market=["stomp"]).final("hhhhcc").until("buy").do("sweep()")
    assert swept.in_discards("stomp")
    shed = Scene("q b m0", cards={0: "carapace"}, carapace=1).final("hhhhcc").do("shed()")
    assert shed.in_discards("carapace")
    fallen = Scene("q b m0", life=[9, 9, 1], cards={2: "drain"}).final("aahhcc").resolve("a")
    assert fallen.in_discards("drain")


def test_the_maximum_life_is_10_and_only_carapace_raises_it() -> None:
    everything = "regeneration king_of_queens chinatown_regular hunter"
    assert Scene("q b m0", cards={0: everything}).final("hhhhcc").resolve("h").state.life[0] == 10
    assert Scene("q b m0", cards={0: everything + " carapace"}).final("hhhhcc").resolve("h").state.life[0] == 12


def test_souvenirs_stay_and_trophies_leave_the_game() -> None:
    turn = Scene("q b m0", life=[9, 9, 1], cards={2: "tourist"})
    turn.state.souvenirs = 1
    turn.state.trophies[6:9] = [2, 1, 0]
    turn.final("aahhcc").resolve("a")
    assert turn.state.souvenirs == 1
    assert turn.state.trophies[6:9] == [0, 0, 0]
    assert turn.state.lost_trophies == [2, 1, 0]


def test_short_tokens_go_clockwise_from_the_active_monster() -> None:
    turn = Scene("b q m0", seat=2, cards={2: "curse"}, jinx={1: 12}).final("aehhcc").resolve("a")
    assert turn.state.jinx == [1, 12, 0]
