"""The keyed choice: valid, fair, and the same luck for whoever sits where."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.api import Draw, Outcome, Roll
from referee.games.keyed import KeyedChance, random_outcome

DECK = {"ace": 4, "king": 2, "joker": 1}
DIE = [(face, 1) for face in range(1, 7)]
RECORDED_DRAWS: list[Outcome] = ["ace", "joker", "ace", "ace", "king", "king", "ace"]
RECORDED_ROLLS: list[Outcome] = [4, 4, 5, 5, 2, 3, 2, 6]


def draw_all(chance: KeyedChance, stream: Draw, deck: dict[str, int]) -> list[Outcome]:
    """All cards of `deck` in the order in which they come."""
    left = dict(deck)
    came = []
    while any(left.values()):
        card = chance.choose(stream, [(kind, count) for kind, count in left.items() if count])
        came.append(card)
        left[str(card)] -= 1
    return came


def deviation(seen: Counter[Outcome], expected: dict[Outcome, float]) -> float:
    """Chi-squared per degree of freedom."""
    assert set(seen) <= set(expected)
    total = sum((seen[kind] - count) ** 2 / count for kind, count in expected.items())
    return total / (len(expected) - 1)


@given(st.binary(min_size=1, max_size=64), st.dictionaries(st.text("abc", min_size=1), st.integers(1, 5), min_size=1))
def test_a_deck_gives_every_card_once(seed: bytes, deck: dict[str, int]) -> None:
    came = draw_all(KeyedChance(seed), Draw("deck"), deck)
    assert Counter(came) == Counter(deck)


def test_the_same_seed_gives_the_same_cards_and_another_seed_others() -> None:
    first, again, other = (draw_all(KeyedChance(seed), Draw("deck"), DECK) for seed in (b"one", b"one", b"two"))
    assert first == again != other


def test_the_cards_do_not_depend_on_other_decks_and_dice_in_between() -> None:
    quiet = draw_all(KeyedChance(b"seed"), Draw("deck"), DECK)
    chance = KeyedChance(b"seed")
    left = dict(DECK)
    came = []
    for turn in range(sum(DECK.values())):
        chance.choose(Roll("die", 0, turn), DIE)
        chance.choose(Draw("other", turn), [("x", 1), ("y", 1)])
        card = chance.choose(Draw("deck"), [(kind, count) for kind, count in left.items() if count])
        came.append(card)
        left[str(card)] -= 1
    assert came == quiet


def test_decks_and_epochs_are_shuffled_apart() -> None:
    chance = KeyedChance(b"seed")
    deck = {str(card): 1 for card in range(20)}
    orders = [draw_all(chance, stream, deck) for stream in (Draw("a"), Draw("b"), Draw("a", 1))]
    assert len({tuple(order) for order in orders}) == 3


def test_the_order_of_the_list_does_not_matter_to_a_draw() -> None:
    outcomes = list(DECK.items())
    for number in range(50):
        seed = number.to_bytes(2)
        assert KeyedChance(seed).choose(Draw("d"), outcomes) == KeyedChance(seed).choose(Draw("d"), outcomes[::-1])


def test_the_first_card_is_as_likely_as_its_share_of_the_deck() -> None:
    matches = 7000
    outcomes = list(DECK.items())
    seen = Counter(KeyedChance(n.to_bytes(4)).choose(Draw("deck"), outcomes) for n in range(matches))
    assert deviation(seen, {kind: matches * count / 7 for kind, count in DECK.items()}) < 5


def test_the_last_card_is_as_likely_as_its_share_of_the_deck() -> None:
    matches = 3500
    seen = Counter(draw_all(KeyedChance(n.to_bytes(4)), Draw("deck"), DECK)[-1] for n in range(matches))
    assert deviation(seen, {kind: matches * count / 7 for kind, count in DECK.items()}) < 5


def test_all_orders_of_a_small_deck_are_equally_likely() -> None:
    matches = 6000
    deck = {"a": 1, "b": 1, "c": 1}
    seen = Counter("".join(map(str, draw_all(KeyedChance(n.to_bytes(4)), Draw("d"), deck))) for n in range(matches))
    expected: dict[Outcome, float] = dict.fromkeys(("abc", "acb", "bac", "bca", "cab", "cba"), matches / 6)
    assert deviation(Counter(seen), expected) < 5


@pytest.mark.parametrize(
    "weights",
    [{1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1}, {"common": 3, "rare": 1}, {1: 10**6, 2: 10**6 + 7}],
)
def test_a_die_falls_by_weight(weights: dict[Outcome, int]) -> None:
    rolls = 6000
    chance = KeyedChance(b"die")
    seen = Counter(chance.choose(Roll("die", 0, turn), list(weights.items())) for turn in range(rolls))
    total = sum(weights.values())
    assert deviation(seen, {kind: rolls * weight / total for kind, weight in weights.items()}) < 5


@pytest.mark.parametrize(
    "other",
    [
        Roll("die", 1, 2, 3, 4),
        Roll("die", 0, 3, 3, 4),
        Roll("die", 0, 2, 2, 4),
        Roll("die", 0, 2, 3, 5),
        Roll("x", 0, 2, 3, 4),
    ],
)
def test_each_part_of_its_name_makes_it_another_die(other: Roll) -> None:
    faces = [(face, 1) for face in range(10**9, 10**9 + 1000)]
    chance = KeyedChance(b"seed")
    assert chance.choose(Roll("die", 0, 2, 3, 4), faces) != chance.choose(other, faces)


def test_a_roll_is_the_same_whatever_was_rolled_before() -> None:
    chance = KeyedChance(b"seed")
    for turn in range(10):
        chance.choose(Roll("die", 1, turn), DIE)
    assert chance.choose(Roll("die", 0, 5), DIE) == KeyedChance(b"seed").choose(Roll("die", 0, 5), DIE)


def test_totals_that_do_not_divide_the_word_are_drawn_again_and_not_folded() -> None:
    """With three quarters of the range as total, folding the rest back would give the low third a half."""
    quarter = 1 << 62
    chance = KeyedChance(b"seed")
    outcomes = [("low", quarter), ("high", 2 * quarter)]
    seen = Counter(chance.choose(Roll("die", 0, turn), outcomes) for turn in range(3000))
    assert deviation(seen, {"low": 1000, "high": 2000}) < 5


@pytest.mark.parametrize(
    ("outcomes", "told"),
    [
        ([("ace", 4)], "4 of 'ace', had 3"),
        ([("ace", 0)], "0 of 'ace'"),
        ([("ten", 1)], "1 of 'ten', had 0"),
        ([], "has no outcome"),
    ],
)
def test_a_deck_that_grew_is_refused(outcomes: list[tuple[Outcome, int]], told: str) -> None:
    chance = KeyedChance(b"seed")
    chance.choose(Draw("deck"), [("ace", 3)])
    with pytest.raises(ValueError, match=told):
        chance.choose(Draw("deck"), outcomes)


@pytest.mark.parametrize("outcomes", [[], [("a", 0)], [("a", (1 << 64) + 1)]])
def test_a_die_without_a_drawable_total_is_refused(outcomes: list[tuple[Outcome, int]]) -> None:
    with pytest.raises(ValueError, match="total weight"):
        KeyedChance(b"seed").choose(Roll("die", 0, 0), outcomes)


@pytest.mark.parametrize("seed", [b"", b"x" * 65])
def test_a_seed_has_1_to_64_bytes(seed: bytes) -> None:
    with pytest.raises(ValueError, match="1 to 64 bytes"):
        KeyedChance(seed)


def test_recorded_matches_depend_on_these_very_choices() -> None:
    """The choices are part of every record: they may never change."""
    chance = KeyedChance(bytes.fromhex("00112233445566778899aabbccddeeff"))
    assert draw_all(chance, Draw("deck"), DECK) == RECORDED_DRAWS
    assert [chance.choose(Roll("die", 1, turn), DIE) for turn in range(8)] == RECORDED_ROLLS


def test_random_outcome_follows_the_weights() -> None:
    rng = Random(1)
    seen = Counter(random_outcome([("a", 1), ("b", 3)], rng) for _ in range(4000))
    assert deviation(seen, {"a": 1000, "b": 3000}) < 5


def test_random_outcome_of_one_takes_no_luck() -> None:
    rng = Random(1)
    before = rng.getstate()
    assert random_outcome([("only", 5)], rng) == "only"
    assert rng.getstate() == before


@given(st.binary(min_size=1, max_size=64), st.lists(st.sampled_from(["ace", "king", "joker"]), max_size=5))
def test_instances_that_share_what_they_know_choose_as_each_would_alone(seed: bytes, kinds: list[str]) -> None:
    known: dict[object, object] = {}
    dice = [Roll("attack", seat, 1, roll, 0) for seat in range(2) for roll in range(3)]
    for deck in (DECK, DECK, {**DECK, **Counter(kinds)}):
        shared, alone = KeyedChance(seed, known), KeyedChance(seed)
        assert draw_all(shared, Draw("deck"), deck) == draw_all(alone, Draw("deck"), deck)
        assert [shared.choose(die, DIE) for die in dice] == [alone.choose(die, DIE) for die in dice]
