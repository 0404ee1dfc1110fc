"""Rolls, rerolls, dice turned by cards, and resolving the faces of a final roll."""

from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.api import Roll
from referee.games.king_of_new_york.actions import KEEP
from referee.games.king_of_new_york.dice import conversions, reroll_menu

from .scenes import Scene

# Menus of dice


DICE = st.lists(st.integers(0, 5), max_size=8).map(lambda faces: tuple(faces.count(face) for face in range(6)))
SOME_DICE = st.lists(st.integers(0, 2), max_size=8).map(lambda faces: tuple(faces.count(face) for face in range(3)))
FACES = (0, 1, 3)
WAYS = st.lists(st.sampled_from([(a, b) for a in FACES for b in FACES if a != b]), max_size=4).map(tuple)


@given(dice=DICE, barred=st.integers(0, 63), ouches=st.integers(0, 8), forced=st.booleans())
def test_rerolls_are_all_distinct_sets_of_dice_that_may_be_taken(
    dice: tuple[int, ...], barred: int, ouches: int, forced: bool
) -> None:
    menu, index = reroll_menu(dice, barred, ouches, forced)
    most = [0 if barred >> face & 1 else count for face, count in enumerate(dice)]
    most[5] = min(most[5], ouches)
    rerolls = [action for action in menu if action is not KEEP]
    assert len(rerolls) == prod(count + 1 for count in most) - 1
    assert all(0 <= taken <= limit for action in rerolls for taken, limit in zip(action.counts, most, strict=True))
    assert (KEEP in menu) == (not forced or not rerolls)
    assert list(index) == list(menu)


@given(dice=SOME_DICE, ways=WAYS)
def test_conversions_are_what_turning_die_by_die_can_reach(
    dice: tuple[int, int, int], ways: tuple[tuple[int, int], ...]
) -> None:
    ends = {}
    for face in FACES:
        reached = {face}
        while more := {b for a, b in ways if a in reached} - reached:
            reached |= more
        ends[face] = sorted(reached)
    faces = [face for face, count in zip(FACES, dice, strict=True) for _ in range(count)]
    results = {tuple(turned.count(face) for face in FACES) for turned in product(*(ends[face] for face in faces))}
    listed = [(action.energy, action.attack, action.heart) for action in conversions(dice, ways)]
    assert listed == sorted(results - {dice})


# Rolling and resolving


def test_six_dice_fall_one_by_one_each_under_its_own_key() -> None:
    turn = Scene("q b m0")
    for die in range(6):
        assert turn.state.chance_stream() == Roll("dice", 0, 1, 0, die)
        turn.roll("e")
    turn.do("reroll(counts=[2,0,0,0,0,0])")
    assert turn.state.chance_stream() == Roll("dice", 0, 1, 1, 0)


def test_every_face_has_the_same_weight() -> None:
    assert Scene("q b m0").state.chance_outcomes() == tuple(
        (face, 1) for face in ("energy", "attack", "destruction", "heart", "celebrity", "ouch")
    )


def test_two_optional_rerolls_of_any_subset() -> None:
    turn = Scene("q b m0").roll("eeaahh")
    assert turn.menu[0] == "keep()"
    assert len(turn.menu) == 3 * 3 * 3, "keeping, and each distinct set of dice once"
    turn.do("reroll(counts=[1,2,0,0,0,0])").roll("ccc")
    assert turn.asked == (0, "dice")
    turn.do("reroll(counts=[0,0,0,0,3,0])").roll("ooo")
    assert turn.asked == (0, "resolve"), "no third reroll"


def test_faces_are_resolved_in_the_order_the_player_chooses() -> None:
    turn = Scene("q b m0").final("eadhco")
    order = []
    for letter in "ochad":
        turn.resolve(letter)
        order.append(turn.events_of("resolved")[-1].face)
        while turn.asked != (0, "resolve") and turn.asked and turn.asked[1] in ("destroy", "flee"):
            turn.do(turn.menu[0])
    assert order[:4] == ["ouch", "celebrity", "heart", "attack"]
    assert [payload.face for payload in turn.events_of("resolved")][-1] == "energy", "all faces are resolved"


def test_all_dice_of_a_face_are_finished_before_the_next_face() -> None:
    turn = Scene("q b m0").final("ddeeoo").resolve("d")
    assert turn.asked == (0, "destroy")
    turn.do("destroy_building(stack=6)")
    assert turn.asked == (0, "destroy")


def test_energy_gives_one_for_each_die() -> None:
    assert Scene("q b m0").final("eeehha").resolve("e").state.energy[0] == 3


def test_heart_heals_up_to_10_outside_manhattan() -> None:
    assert Scene("q b m0", life=[5, 9, 9]).final("hhhcco").resolve("h").state.life[0] == 8
    assert Scene("q b m0", life=[9, 9, 9]).final("hhhcco").resolve("h").state.life[0] == 10


def test_heart_heals_nothing_in_manhattan() -> None:
    assert Scene("m0 b q", life=[5, 9, 9]).final("hhhcco").resolve("h").state.life[0] == 5


def test_celebrity_below_three_without_superstar_gives_nothing() -> None:
    turn = Scene("q b m0").final("cchhoo").resolve("c")
    assert turn.state.vp[0] == 0
    assert turn.state.superstar_seat == 7


# Superstar


@pytest.mark.parametrize(("dice", "vp"), [("ccchhe", 1), ("cccche", 2), ("ccccce", 3), ("cccccc", 4)])
def test_superstar_is_taken_with_three_celebrity_and_gives_1_and_1_more_beyond_the_third(dice: str, vp: int) -> None:
    turn = Scene("q b m0").final(dice).resolve("c")
    assert turn.state.superstar_seat == 0
    assert turn.state.vp[0] == vp


@pytest.mark.parametrize(("dice", "vp"), [("chhhee", 1), ("cchhee", 2), ("ccchee", 3)])
def test_the_holder_of_superstar_gets_1_for_each_celebrity(dice: str, vp: int) -> None:
    assert Scene("q b m0", superstar=0).final(dice).resolve("c").state.vp[0] == vp


def test_losing_superstar_costs_nothing() -> None:
    turn = Scene("q b m0", superstar=1, vp=[0, 5, 0]).final("ccchhe").resolve("c")
    assert turn.state.superstar_seat == 0
    assert turn.state.vp == [1, 5, 0]


def test_two_celebrity_take_nothing() -> None:
    assert Scene("q b m0", superstar=1).final("cchhee").resolve("c").state.superstar_seat == 1


# Further cases


def test_tokens_stay_inert_when_the_card_is_lost_until_taken_off() -> None:
    turn = Scene("q b m0", web={0: 2}, jinx={0: 2}).roll("oahhee")
    assert turn.state.rerolls == 2, "no reroll is taken"
    turn.do("reroll(counts=[0,0,0,0,0,1])").roll("o")
    assert turn.state.energy[0] == 0, "nor paid for"
    turn.do("keep()")
    assert "remove(face=heart,tokens=2)" in turn.menu
    assert "remove(face=attack,tokens=1)" in turn.menu


def test_as_many_web_tokens_as_rerolls_leave_the_first_roll_only() -> None:
    assert Scene("q b m0", cards={1: "webspinner"}, web={0: 2}).roll("eeaahh").asked == (0, "resolve")


def test_a_forced_reroll_takes_any_allowed_die_and_is_skipped_without_one() -> None:
    cards = {0: "terminal_rage", 1: "jinx_aura curse"}
    turn = Scene("q b m0", cards=cards, jinx={0: 1}).roll("aaaoee")
    assert turn.menu == ["reroll(counts=[1,0,0,0,0,0])", "reroll(counts=[2,0,0,0,0,0])"]
    barred = Scene("q b m0", cards=cards, jinx={0: 1}).roll("aaaooo")
    assert barred.asked == (0, "resolve")


def test_a_reroll_is_any_number_of_dice() -> None:
    turn = Scene("q b m0").roll("eeeeee").do("reroll(counts=[6,0,0,0,0,0])").roll("aaaaaa")
    assert turn.state.rerolls == 1


def test_inert_tokens_may_be_kept_from_coming_off() -> None:
    turn = Scene("q b m0", web={0: 1}, jinx={0: 1}, inert_tokens_removable=False).final("ahhecc")
    assert not any(text.startswith("remove") for text in turn.menu)
    live = Scene("q b m0", cards={1: "curse"}, jinx={0: 1}, inert_tokens_removable=False).final("ahhecc")
    assert "remove(face=heart,tokens=1)" in live.menu


def test_conversions_may_be_chained_and_change_dice_only() -> None:
    cards = {0: "artificial_heart universal_soldier towering_titan"}
    turn = Scene("q b m0", cards=cards).final("addooc")
    assert turn.menu == [
        "keep()",
        "convert(energy=0,attack=0,heart=1)",
        "convert(energy=1,attack=0,heart=0)",
    ], "one die; the 2 added Attack results stay what they are"
    turn.do("convert(energy=1,attack=0,heart=0)")
    assert turn.state.bonus[1] == 2


def test_conversion_is_asked_once() -> None:
    turn = Scene("q b m0", cards={0: "universal_soldier"}).final("aahhcc").do("convert(energy=0,attack=4,heart=0)")
    assert turn.asked == (0, "resolve")


def test_fury_counts_units_right_after_the_last_roll() -> None:
    turn = Scene("q b m0", cards={0: "fury"}, units={"queens": "infantry infantry"}).final("dehhcc").resolve("d")
    assert turn.state.bonus == [0] * 6, "the third Unit appears later"


def test_final_roll_cards_look_after_conversions_and_additions() -> None:
    turn = Scene("q b m0", cards={0: "chameleon painbow hailing_cabs"}).final("chheoo")
    turn.do("keep()", "hail(use=true)")
    assert turn.state.bonus[1] == 1, "2 Destruction were added first"
    swapped = Scene("q b m0", cards={0: "chameleon carapace"}).final("chheoo").do("swap(die=energy,to=ouch)")
    assert swapped.state.carapace[0] == 3


def test_celebrity_dice_given_up_before_do_not_count_for_personal_spotlight() -> None:
    turn = Scene("q b m0", cards={0: "chameleon personal_spotlight"}).final("chheoo").do("give_up()")
    assert turn.state.vp[0] == 0


def test_giving_up_a_celebrity_die_without_turning_another_is_allowed() -> None:
    turn = Scene("q b m0", cards={0: "chameleon natural_selection"}).final("ceehhad").do("give_up()").to_next_turn()
    assert turn.place(0) != "-", "no Celebrity die shows"


def test_added_claws_take_off_tokens_too() -> None:
    cards = {0: "towering_titan", 1: "webspinner"}
    turn = Scene("q b m0", cards=cards, web={0: 2}).roll("eehhcc")
    assert turn.asked == (0, "resolve")
    turn.do("remove(face=attack,tokens=2)")
    assert turn.state.web[0] == 0
    assert turn.state.life[2] == 10
