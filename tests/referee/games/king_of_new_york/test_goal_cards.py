"""Superstar and the Statue of Liberty (sheet section 5)."""

from typing import Any

import pytest


@pytest.mark.parametrize(("dice", "vp"), [("ccchhe", 1), ("cccche", 2), ("ccccce", 3), ("cccccc", 4)])
def test_superstar_is_taken_with_three_celebrity_and_gives_1_and_1_more_beyond_the_third(
    scene: Any, dice: str, vp: int
) -> None:
    turn = scene("q b m0").final(dice).resolve("c")
    assert turn.state.superstar_seat == 0
    assert turn.state.vp[0] == vp


@pytest.mark.parametrize(("dice", "vp"), [("chhhee", 1), ("cchhee", 2), ("ccchee", 3)])
def test_the_holder_of_superstar_gets_1_for_each_celebrity(scene: Any, dice: str, vp: int) -> None:
    assert scene("q b m0", superstar=0).final(dice).resolve("c").state.vp[0] == vp


def test_losing_superstar_costs_nothing(scene: Any) -> None:
    turn = scene("q b m0", superstar=1, vp=[0, 5, 0]).final("ccchhe").resolve("c")
    assert turn.state.superstar_seat == 0
    assert turn.state.vp == [1, 5, 0]


def test_two_celebrity_take_nothing(scene: Any) -> None:
    assert scene("q b m0", superstar=1).final("cchhee").resolve("c").state.superstar_seat == 1


def test_the_statue_gives_3_on_taking_and_costs_3_on_losing(scene: Any) -> None:
    turn = scene("q b m0", statue=1, vp=[0, 5, 0]).final("ooohee").resolve("o")
    assert turn.state.statue_seat == 0
    assert turn.state.vp == [3, 2, 0]


def test_losing_the_statue_never_goes_below_0_vp(scene: Any) -> None:
    assert scene("q b m0", statue=1, vp=[0, 2, 0]).final("ooohee").resolve("o").state.vp == [3, 0, 0]


def test_the_holder_of_the_statue_rolling_three_ouch_gets_nothing_new(scene: Any) -> None:
    assert scene("q b m0", statue=0, vp=[3, 0, 0]).final("ooohee").resolve("o").state.vp[0] == 3


def test_goal_cards_of_an_eliminated_holder_return_to_the_table(scene: Any) -> None:
    turn = scene("q b m0", life=[10, 10, 1], superstar=2, statue=2, vp=[0, 0, 9]).final("ahhhee").resolve("a")
    assert turn.state.superstar_seat == turn.state.statue_seat == 7
    assert turn.state.vp[:2] == [0, 0]


def test_goal_cards_are_no_keep_cards(scene: Any) -> None:
    turn = scene("q b m0", energy=[5, 0, 0], superstar=1, statue=0, market=["tesla_cannon"]).final("hhhhhh")
    turn.until("buy").do("buy(card=tesla_cannon)")
    assert (turn.state.superstar_seat, turn.state.statue_seat) == (1, 0)
