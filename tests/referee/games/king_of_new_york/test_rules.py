"""Set-up, the course of a turn, the end of the match, and the play example of the rulebook."""

from typing import Any

import pytest

from referee.games.api import OptionError, PlayersError, Roll
from referee.games.king_of_new_york import GAME

from . import matches
from .scenes import Scene

# Set-up


def fresh(players: int = 3, **given: Any) -> Any:
    return GAME.new_initial_state(players, matches.options(**given))


def through_tiles_and_market(state: Any) -> Any:
    for _ in range(18):
        state.apply_chance(state.chance_outcomes()[0][0])
    return state


def roll_start(state: Any, attacks: dict[int, int]) -> None:
    """Each seat that rolls gets so many Attack faces."""
    for seat in sorted(attacks):
        for die in range(8):
            stream = state.chance_stream()
            assert (stream.name, stream.seat, stream.die) == ("start", seat, die)
            state.apply_chance("attack" if die < attacks[seat] else "heart")


def test_each_monster_has_10_life_and_nothing_else() -> None:
    state = fresh()
    assert state.life == [10] * 3
    assert state.vp == state.energy == [0] * 3


def test_fifteen_stacks_of_three_use_all_45_tiles() -> None:
    state = fresh()
    assert sum(state.unseen) == 45
    for _ in range(15):
        assert state.chance_stream().deck == "tiles"
        state.apply_chance(state.chance_outcomes()[0][0])
    assert state.covered == [2] * 15
    assert sum(state.unseen) == 30


def test_covered_tiles_are_a_multiset_and_a_top_is_drawn_by_its_weight() -> None:
    assert dict(fresh().chance_outcomes()) == {
        "high_rise_1": 22,
        "high_rise_2": 8,
        "high_rise_3": 3,
        "power_plant_2": 3,
        "power_plant_3": 3,
        "hospital_2": 3,
        "hospital_3": 3,
    }


def test_three_cards_lie_open_and_both_goal_cards_beside_the_deck() -> None:
    state = through_tiles_and_market(fresh())
    assert [state.ruleset.card_ids[card] for card in state.market] == [
        "air_force_one",
        "antimatter_pellets",
        "artificial_heart",
    ]
    assert state.deck.bit_count() == 61
    assert state.superstar_seat == state.statue_seat == 7


def test_tokens_lie_in_the_supply() -> None:
    state = fresh()
    assert (state.web_left, state.jinx_left, state.carapace_left) == (13, 13, 15)


def test_the_most_attack_faces_on_eight_dice_begin() -> None:
    state = through_tiles_and_market(fresh())
    roll_start(state, {0: 2, 1: 4, 2: 3})
    assert state.decisions()[0].seat == 1


def test_tied_players_roll_again() -> None:
    state = through_tiles_and_market(fresh())
    roll_start(state, {0: 2, 1: 1, 2: 2})
    assert state.chance_stream() == Roll("start", 0, 0, 1, 0)
    roll_start(state, {0: 1, 2: 3})
    assert state.decisions()[0].seat == 2


def test_endless_ties_end() -> None:
    state = through_tiles_and_market(fresh(players=2))
    dice = 0
    while not state.decisions():
        state.apply_chance("heart")
        dice += 1
    assert dice == 20 * 2 * 8
    assert state.decisions()[0].seat == 0


def test_from_the_start_player_clockwise_each_takes_a_borough_but_manhattan() -> None:
    state = through_tiles_and_market(fresh(start_player="seat_1"))
    seats = []
    while state.decisions():
        decision = state.decisions()[0]
        assert decision.kind == "place"
        assert state.turn_seat == decision.seat
        legal = [action.borough for action in state.legal_actions(decision.seat)]
        assert legal == ["brooklyn", "queens", "bronx", "staten_island"]
        seats.append(decision.seat)
        state.apply({decision.seat: state.legal_actions(decision.seat)[len(seats)]})
    assert seats == [1, 2, 0]
    assert state.active_seat == 1, "the start player has the first turn"


def test_never_more_than_two_monsters_in_a_borough_at_the_start() -> None:
    state = through_tiles_and_market(fresh(players=6, start_player="seat_0"))
    for _ in range(2):
        seat = state.decisions()[0].seat
        state.apply({seat: state.legal_actions(seat)[0]})
    legal = [action.borough for action in state.legal_actions(2)]
    assert legal == ["queens", "bronx", "staten_island"]


def test_start_player_by_chance() -> None:
    state = through_tiles_and_market(fresh(start_player="random"))
    assert state.chance_outcomes() == [(0, 1), (1, 1), (2, 1)]
    state.apply_chance(2)
    assert state.decisions()[0].seat == 2


def test_a_start_seat_that_does_not_play_is_refused() -> None:
    with pytest.raises(OptionError, match="seat_4"):
        fresh(players=3, start_player="seat_4")


@pytest.mark.parametrize("players", [1, 7])
def test_other_numbers_of_players_are_refused(players: int) -> None:
    with pytest.raises(PlayersError, match="2 to 6"):
        fresh(players=players)


# The course of a turn


@pytest.mark.parametrize(
    ("place", "vp", "energy"),
    [("m0", 1, 1), ("m1", 2, 1), ("m2", 2, 2), ("n0", 1, 1), ("n1", 2, 1), ("n2", 2, 2), ("q", 0, 0)],
)
def test_income_in_manhattan_by_zone_on_both_tracks(place: str, vp: int, energy: int) -> None:
    other = "m0" if place.startswith("n") else "b"
    turn = Scene(f"{place} {other} b x s")
    assert (turn.state.vp[0], turn.state.energy[0]) == (vp, energy)


def test_the_next_player_is_the_next_living_monster_clockwise() -> None:
    turn = Scene("q - m0 b", seat=0).final("hhhhhh").to_next_turn()
    assert turn.events_of("turn_began")[-1].seat == 2


# The end


def test_20_vp_win_at_the_end_of_the_turn() -> None:
    turn = Scene("q b m0", vp=[19, 0, 0]).final("ccchhe").resolve("c")
    assert turn.state.vp[0] == 20
    assert not turn.state.is_terminal()
    turn.resolve("he").to_next_turn()
    assert turn.state.is_terminal()
    assert (turn.state.winner_seat, turn.state.reason) == (0, "victory_points")
    assert turn.state.returns() == (20, 0, 0)


def test_reaching_20_and_dying_before_the_turn_ends_does_not_win() -> None:
    turn = Scene("q b m0", life=[4, 9, 9], vp=[19, 0, 0], market=["subterranean_cable"]).final("cccooa")
    turn.resolve("c").until("buy")
    assert turn.state.vp[0] == 20
    turn.do("buy(card=subterranean_cable)").draw("stomp")
    assert not turn.state.is_terminal()
    assert turn.place(0) == "-"


def test_vp_lost_before_the_end_of_the_turn_are_lost() -> None:
    turn = Scene("q b m0", vp=[0, 21, 0], statue=1).final("ooohhe").resolve("o").until("move")
    turn.do("stay()")
    assert not turn.state.is_terminal(), "the Statue of Liberty took seat 1 below 20"


def test_a_monster_with_20_vp_wins_in_anothers_turn_too() -> None:
    turn = Scene("q b m0", vp=[0, 20, 0]).final("hhhhee").resolve("he").to_next_turn()
    assert turn.state.winner_seat == 1


def test_the_active_monster_wins_before_one_with_more_vp() -> None:
    turn = Scene("q b m0", vp=[20, 25, 0]).final("hhhhee").resolve("he").to_next_turn()
    assert turn.state.winner_seat == 0


def test_among_others_more_vp_wins_then_turn_order() -> None:
    more = Scene("q b m0 x", vp=[0, 21, 22, 0]).final("hhhhee").resolve("he").to_next_turn()
    assert more.state.winner_seat == 2
    equal = Scene("b q x m0", seat=2, vp=[21, 21, 0, 21]).final("hhhhee").resolve("he").to_next_turn()
    assert equal.state.winner_seat == 3, "clockwise from the active seat 2"


def test_painbow_wins_at_once() -> None:
    turn = Scene("q b m0", cards={0: "painbow"}, vp=[0, 5, 7]).final("dddddd")
    assert turn.state.reason == "painbow"
    assert turn.state.ranking() == (1, 3, 2)
    assert turn.state.decisions() == ()
    assert turn.state.chance_outcomes() == ()


def test_the_eliminated_rank_by_reverse_order_and_one_event_is_a_tie() -> None:
    turn = Scene("q b m0 x s", life=[9, 1, 1, 9, 1]).final("aahhcc").resolve("a")
    assert turn.place(2) == "-"
    turn.resolve("hc").to_next_turn()
    state = turn.state
    state.out[1] = state.out[4] = 2
    state.living = 2
    state.vp = [20, 0, 0, 3, 0]
    state.borough[1] = state.borough[4] = 5
    state.deaths = 2
    turn.to_next_turn()
    assert state.is_terminal()
    assert state.ranking() == (1, 3, 5, 2, 3)


def test_the_eliminated_have_no_points() -> None:
    turn = Scene("q b m0", life=[9, 9, 1], vp=[0, 0, 12]).final("ahhhee").resolve("a")
    assert turn.state.returns()[2] == 0


# The play example of the rulebook


def captain_fish(places: str) -> Any:
    """Kong is seat 2. Captain Fish's Queens hold one Infantry and show a high-rise of durability 1."""
    return Scene(
        places,
        units={"queens": "infantry"},
        tops={"queens": "high_rise_1 high_rise_3 power_plant_3"},
        below="hospital_3",
    )


def test_the_printed_turn() -> None:
    turn = captain_fish("q b m1")
    turn.roll("cceaho")
    turn.do("reroll(counts=[1,1,0,1,0,1])").roll("ddah")
    # A Celebrity die kept the first time is rolled again now.
    turn.do("reroll(counts=[0,1,0,1,1,0])").roll("dao")
    assert turn.dice == "adddco"
    turn.do("resolve(face=destruction)", "destroy_building(stack=6)")
    assert turn.state.vp[0] == 1
    assert turn.asked == (0, "resolve"), "two dice on the Infantry, the only target that two dice pay for"
    assert turn.state.life[0] == 10, "+1 life, but never above 10"
    assert turn.state.trophies[0] == 1
    assert turn.units("queens") == {"infantry": 1}, "the high-rise became an Infantry"
    turn.do("resolve(face=ouch)")
    assert turn.state.life == [9, 10, 10]
    turn.do("resolve(face=attack)")
    assert turn.asked == (2, "flee")
    assert turn.state.life == [9, 10, 9]
    turn.do("stay()")
    assert turn.state.vp[0] == 1, "one Celebrity without Superstar gives nothing"
    assert turn.asked == (0, "move")
    assert turn.menu[0] == "stay()"
    assert turn.places == "q b m1"
    turn.do("stay()")
    assert turn.events_of("turn_began")[-1].seat == 1, "nothing to buy: the turn ended"
    assert turn.state.energy == [0, 0, 0]


def test_the_same_dice_in_manhattan_hit_everyone_outside() -> None:
    turn = captain_fish("m0 b q").final("dddaco").resolve("a")
    assert turn.state.life == [10, 9, 9]
    assert turn.asked == (0, "resolve"), "nobody outside may flee"


# Further cases


def test_the_turn_stops_when_the_active_monster_dies() -> None:
    turn = Scene("q b x", life=[1, 10, 10], energy=[9, 0, 0], units={"queens": "infantry"}, market=["stomp"])
    turn.final("oeehhd").resolve("o")
    assert turn.place(0) == "-"
    assert turn.events_of("resolved")[-1].face == "ouch", "unresolved dice are lost"
    assert turn.events_of("moved") == turn.events_of("bought") == []
    assert turn.events_of("turn_began")[-1].seat == 1


def test_nobody_wins_when_all_die_in_one_turn() -> None:
    units = {"queens": "infantry infantry", "brooklyn": "jet jet"}
    turn = Scene("q b", life=[2, 2], units=units).final("ooohhc").resolve("o")
    assert turn.state.is_terminal()
    assert turn.state.reason == "all_eliminated"
    assert turn.state.ranking() == (1, 1)


def test_nobody_wins_when_the_last_two_fall_one_after_the_other_in_a_turn() -> None:
    turn = Scene("q m0", life=[1, 1], units={"queens": "infantry"}).final("aohhcc").resolve("ao")
    assert turn.state.reason == "all_eliminated"
    assert turn.state.ranking() == (1, 2), "who fell later ranks higher, but nobody has won"
    assert turn.events_of("finished")[0].winner == -1


def test_vp_gained_in_the_resolution_that_kills_do_not_win() -> None:
    turn = Scene("q b m0", life=[1, 10, 10], vp=[19, 0, 0], units={"queens": "infantry"}).final("ccooho")
    turn.resolve("o")
    assert turn.place(0) == "-"
    assert not turn.state.is_terminal()


def test_the_count_at_the_end_of_the_turn_decides() -> None:
    turn = Scene("q b m0", vp=[17, 20, 0], statue=1).final("ooohhc").resolve("ohc").to_next_turn()
    assert turn.state.vp == [20, 17, 0]
    assert turn.state.winner_seat == 0


def test_an_extra_turn_is_a_whole_turn_after_the_check_of_the_first() -> None:
    turn = Scene("m0 b q", energy=[3, 0, 0], market=["terminal_rage"]).final("hhhhcc").resolve("hc")
    turn.do("buy(card=terminal_rage)").draw("stomp")
    began = turn.events_of("turn_began")[-1]
    assert (began.seat, began.extra) == (0, True)
    assert turn.state.energy[0] == 1, "the income of Midtown: 3 + 1 - 4 + 1"
    won = Scene("m0 b q", vp=[19, 0, 0], energy=[3, 0, 0], market=["terminal_rage"]).final("hhhhcc").resolve("hc")
    won.do("buy(card=terminal_rage)").draw("stomp")
    assert won.state.winner_seat == 0
    assert len(won.events_of("turn_began")) == 1


def test_the_last_monster_standing_wins_at_the_end_of_the_turn() -> None:
    turn = Scene("q m0", life=[9, 1], energy=[0, 0]).final("aehhcc").resolve("a")
    assert turn.asked == (0, "resolve")
    turn.resolve("ehc")
    turn.to_next_turn()
    assert turn.state.reason == "last_standing"
    assert turn.state.ranking() == (1, 2)


def test_the_living_rank_by_vp_after_the_winner_and_before_the_eliminated() -> None:
    turn = Scene("q b m0 x s", life=[9, 9, 9, 9, 9], vp=[19, 4, 4, 9, 0])
    turn.state.out[4] = 1
    turn.state.living = 4
    turn.state.borough[4] = 5
    turn.final("ccchhe").resolve("che").to_next_turn()
    assert turn.state.winner_seat == 0
    assert turn.state.ranking() == (1, 3, 3, 2, 5)
