"""The end of the match, ranks and points (sheet section 3.6)."""

from typing import Any


def test_20_vp_win_at_the_end_of_the_turn(scene: Any) -> None:
    turn = scene("q b m0", vp=[19, 0, 0]).final("ccchhe").resolve("c")
    assert turn.state.vp[0] == 20
    assert not turn.state.is_terminal()
    turn.resolve("he").to_next_turn()
    assert turn.state.is_terminal()
    assert (turn.state.winner_seat, turn.state.reason) == (0, "victory_points")
    assert turn.state.returns() == (20, 0, 0)


def test_reaching_20_and_dying_before_the_turn_ends_does_not_win(scene: Any) -> None:
    turn = scene("q b m0", life=[4, 9, 9], vp=[19, 0, 0], market=["subterranean_cable"]).final("cccooa")
    turn.resolve("c").until("buy")
    assert turn.state.vp[0] == 20
    turn.do("buy(card=subterranean_cable)").draw("stomp")
    assert not turn.state.is_terminal()
    assert turn.place(0) == "-"


def test_vp_lost_before_the_end_of_the_turn_are_lost(scene: Any) -> None:
    turn = scene("q b m0", vp=[0, 21, 0], statue=1).final("ooohhe").resolve("o").until("move")
    turn.do("stay()")
    assert not turn.state.is_terminal(), "the Statue of Liberty took seat 1 below 20"


def test_a_monster_with_20_vp_wins_in_anothers_turn_too(scene: Any) -> None:
    turn = scene("q b m0", vp=[0, 20, 0]).final("hhhhee").resolve("he").to_next_turn()
    assert turn.state.winner_seat == 1


def test_the_active_monster_wins_before_one_with_more_vp(scene: Any) -> None:
    turn = scene("q b m0", vp=[20, 25, 0]).final("hhhhee").resolve("he").to_next_turn()
    assert turn.state.winner_seat == 0


def test_among_others_more_vp_wins_then_turn_order(scene: Any) -> None:
    more = scene("q b m0 x", vp=[0, 21, 22, 0]).final("hhhhee").resolve("he").to_next_turn()
    assert more.state.winner_seat == 2
    equal = scene("b q x m0", seat=2, vp=[21, 21, 0, 21]).final("hhhhee").resolve("he").to_next_turn()
    assert equal.state.winner_seat == 3, "clockwise from the active seat 2"


def test_painbow_wins_at_once(scene: Any) -> None:
    turn = scene("q b m0", cards={0: "painbow"}, vp=[0, 5, 7]).final("dddddd")
    assert turn.state.reason == "painbow"
    assert turn.state.ranking() == (1, 3, 2)
    assert turn.state.decisions() == ()
    assert turn.state.chance_outcomes() == ()


def test_the_eliminated_rank_by_reverse_order_and_one_event_is_a_tie(scene: Any) -> None:
    turn = scene("q b m0 x s", life=[9, 1, 1, 9, 1]).final("aahhcc").resolve("a")
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


def test_the_eliminated_have_no_points(scene: Any) -> None:
    turn = scene("q b m0", life=[9, 9, 1], vp=[0, 0, 12]).final("ahhhee").resolve("a")
    assert turn.state.returns()[2] == 0
