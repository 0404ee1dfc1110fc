"""Set-up (sheet section 1): tiles, market, who begins, where everyone starts."""

from typing import Any

import pytest

from referee.games.api import OptionError, PlayersError, Roll
from referee.games.king_of_new_york import GAME


def fresh(matches: Any, players: int = 3, **given: Any) -> Any:
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


def test_each_monster_has_10_life_and_nothing_else(matches: Any) -> None:
    state = fresh(matches)
    assert state.life == [10] * 3
    assert state.vp == state.energy == [0] * 3


def test_fifteen_stacks_of_three_use_all_45_tiles(matches: Any) -> None:
    state = fresh(matches)
    assert sum(state.unseen) == 45
    for _ in range(15):
        assert state.chance_stream().deck == "tiles"
        state.apply_chance(state.chance_outcomes()[0][0])
    assert state.covered == [2] * 15
    assert sum(state.unseen) == 30


def test_covered_tiles_are_a_multiset_and_a_top_is_drawn_by_its_weight(matches: Any) -> None:
    assert dict(fresh(matches).chance_outcomes()) == {
        "high_rise_1": 22,
        "high_rise_2": 8,
        "high_rise_3": 3,
        "power_plant_2": 3,
        "power_plant_3": 3,
        "hospital_2": 3,
        "hospital_3": 3,
    }


def test_three_cards_lie_open_and_both_goal_cards_beside_the_deck(matches: Any) -> None:
    state = through_tiles_and_market(fresh(matches))
    assert [state.ruleset.card_ids[card] for card in state.market] == [
        "air_force_one",
        "antimatter_pellets",
        "artificial_heart",
    ]
    assert state.deck.bit_count() == 61
    assert state.superstar_seat == state.statue_seat == 7


def test_tokens_lie_in_the_supply(matches: Any) -> None:
    state = fresh(matches)
    assert (state.web_left, state.jinx_left, state.carapace_left) == (13, 13, 15)


def test_the_most_attack_faces_on_eight_dice_begin(matches: Any) -> None:
    state = through_tiles_and_market(fresh(matches))
    roll_start(state, {0: 2, 1: 4, 2: 3})
    assert state.decisions()[0].seat == 1


def test_tied_players_roll_again(matches: Any) -> None:
    state = through_tiles_and_market(fresh(matches))
    roll_start(state, {0: 2, 1: 1, 2: 2})
    assert state.chance_stream() == Roll("start", 0, 0, 1, 0)
    roll_start(state, {0: 1, 2: 3})
    assert state.decisions()[0].seat == 2


def test_endless_ties_end(matches: Any) -> None:
    state = through_tiles_and_market(fresh(matches, players=2))
    dice = 0
    while not state.decisions():
        state.apply_chance("heart")
        dice += 1
    assert dice == 20 * 2 * 8
    assert state.decisions()[0].seat == 0


def test_from_the_start_player_clockwise_each_takes_a_borough_but_manhattan(matches: Any) -> None:
    state = through_tiles_and_market(fresh(matches, start_player="seat_1"))
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


def test_never_more_than_two_monsters_in_a_borough_at_the_start(matches: Any) -> None:
    state = through_tiles_and_market(fresh(matches, players=6, start_player="seat_0"))
    for _ in range(2):
        seat = state.decisions()[0].seat
        state.apply({seat: state.legal_actions(seat)[0]})
    legal = [action.borough for action in state.legal_actions(2)]
    assert legal == ["queens", "bronx", "staten_island"]


def test_start_player_by_chance(matches: Any) -> None:
    state = through_tiles_and_market(fresh(matches, start_player="random"))
    assert state.chance_outcomes() == [(0, 1), (1, 1), (2, 1)]
    state.apply_chance(2)
    assert state.decisions()[0].seat == 2


def test_a_start_seat_that_does_not_play_is_refused(matches: Any) -> None:
    with pytest.raises(OptionError, match="seat_4"):
        fresh(matches, players=3, start_player="seat_4")


@pytest.mark.parametrize("players", [1, 7])
def test_other_numbers_of_players_are_refused(matches: Any, players: int) -> None:
    with pytest.raises(PlayersError, match="2 to 6"):
        fresh(matches, players=players)
