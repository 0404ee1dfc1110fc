"""What menus list, for any dice: every distinct result once, and nothing that is barred."""

from itertools import product
from math import prod

from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.king_of_new_york.actions import KEEP
from referee.games.king_of_new_york.dice import conversions, reroll_menu

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


@settings(deadline=None)  # eight dice with three ends each are 6561 results
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
