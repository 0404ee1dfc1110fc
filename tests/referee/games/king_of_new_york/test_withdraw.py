"""A seat that leaves is eliminated at once (README, withdraw)."""

from random import Random
from typing import Any

import pytest

from referee.games.api import IllegalAction
from referee.games.king_of_new_york import GAME


def test_leaving_is_an_elimination(scene: Any) -> None:
    turn = scene("q b m0", cards={2: "drain"}, energy=[0, 0, 3], superstar=2)
    events = [event.public.KIND for event in turn.state.withdraw(2)]
    assert events == ["withdrew", "goal_moved", "eliminated"]
    assert turn.place(2) == "-"
    assert turn.in_discards("drain")
    assert turn.state.superstar == 7


def test_the_turn_of_a_seat_that_leaves_stops(scene: Any) -> None:
    turn = scene("q b m0").roll("eea")
    turn.state.withdraw(0)
    assert turn.state.active == 1
    assert turn.rolls


def test_a_seat_that_leaves_while_asked_is_asked_no_more(scene: Any) -> None:
    turn = scene("q b m0").final("aahhcc").resolve("a")
    assert turn.asked == (2, "flee")
    turn.state.withdraw(2)
    assert turn.asked == (0, "resolve")
    turn.resolve("hc")
    assert turn.place(0) == "m0"


def test_a_seat_that_is_out_may_leave_once_without_effect(scene: Any) -> None:
    turn = scene("q b - m0")
    before = turn.state.to_dict()
    assert [event.public.KIND for event in turn.state.withdraw(2)] == ["withdrew"]
    after = turn.state.to_dict()
    assert after.pop("left") == 4
    before.pop("left")
    assert after == before
    with pytest.raises(IllegalAction, match="has left already"):
        turn.state.withdraw(2)


def test_the_last_monster_wins_at_once_when_the_others_have_left(scene: Any) -> None:
    turn = scene("q b m0")
    turn.state.withdraw(0)
    turn.state.withdraw(2)
    assert turn.state.is_terminal()
    assert turn.state.reason == "withdrawals"
    assert turn.state.ranking() == (3, 1, 2)


def test_leaving_closes_manhattan_for_the_second_monster(scene: Any) -> None:
    turn = scene("q m0 n1 x s").roll("ee")
    turn.state.withdraw(4)
    assert turn.asked == (2, "leave"), "asked in the middle of another's roll"
    turn.do("leave(borough=staten_island)")
    assert turn.rolls, "the roll goes on"


def test_a_move_that_has_lost_its_room_before_it_is_paid_for_costs_nothing_and_is_asked_again(scene: Any) -> None:
    turn = scene(
        "q b m0 n1 x x",
        cards={0: "of_another_world"},
        energy=[2, 0, 0, 0, 0, 0],
        market=["new_york_marathon"],
    ).final("hhhhcc")
    turn.until("move").do("move(borough=brooklyn)")
    assert turn.asked == (0, "pay")
    turn.state.withdraw(5)
    assert turn.asked == (0, "pay")
    turn.state.withdraw(4)
    assert turn.asked == (3, "leave")
    turn.do("leave(borough=brooklyn)")
    assert turn.asked == (0, "move"), "Brooklyn is full now"
    assert turn.menu == ["stay()", "move(borough=bronx)", "move(borough=staten_island)"]
    assert turn.state.energy[0] == 2


def test_seats_may_leave_during_the_set_up(matches: Any) -> None:
    state = GAME.new_initial_state(3, matches.options(start_player="seat_0"))
    while not state.decisions():
        state.apply_chance(state.chance_outcomes()[0][0])
    state.withdraw(0)
    assert state.decisions()[0].seat == 1
    state.apply({1: state.legal_actions(1)[0]})
    state.apply({2: state.legal_actions(2)[0]})
    assert state.active == 1


@pytest.mark.parametrize("seat", [-1, 3, True, "0"])
def test_no_such_seat(scene: Any, seat: Any) -> None:
    with pytest.raises(IllegalAction, match="no such seat"):
        scene("q b m0").state.withdraw(seat)


def test_nobody_leaves_a_match_that_is_over(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "painbow"}).final("dddddd")
    with pytest.raises(IllegalAction, match="over"):
        turn.state.withdraw(1)


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_matches_end_and_conserve_everything_whoever_leaves_when(matches: Any, players: int) -> None:
    for seed in range(15):
        rng = Random(seed)
        state = GAME.new_initial_state(players, matches.options())
        counts = GAME.conserved(state)
        while not state.is_terminal():
            if rng.random() < 0.01:
                staying = [seat for seat in range(players) if not state.left >> seat & 1]
                leaver = rng.choice(staying)
                state.withdraw(leaver)
                assert all(decision.seat != leaver for decision in state.decisions())
            else:
                matches.step(state, rng)
            assert GAME.conserved(state) == counts
        assert len(state.ranking()) == players
