"""States that fit what a viewer has seen."""

from itertools import permutations
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.ticket_to_ride_new_york import GAME
from referee.games.ticket_to_ride_new_york.observation import read_ledger
from referee.games.ticket_to_ride_new_york.resampling import Unit, place_units

from . import recorded
from . import situations as sit

# Whole states


@pytest.mark.parametrize("temper", ["uniform", "hoarder"])
def test_seats_that_hide_other_things_look_the_same(temper: str) -> None:
    """What a viewer cannot know is exchanged for something else: its observation and legal list stay as they were."""
    rng = Random(7)
    for match in recorded.play(3, sit.options(), 5, temper):
        for viewer in (None, 0, 1, 2):
            other = match.state.resample(viewer, rng)
            assert other.observation(viewer) == match.state.observation(viewer)
            if viewer is not None:
                assert list(other.legal_actions(viewer)) == list(match.state.legal_actions(viewer))
            assert list(other.decisions()) == list(match.state.decisions())
            assert GAME.conserved(other) == GAME.conserved(match.state)


def matches(seeds: range, chosen: dict[str, Any], leaving: float = 0.0) -> Any:
    for seed in seeds:
        for temper in recorded.TEMPERS:
            for players in (2, 3, 4):
                yield recorded.play(players, sit.options(**chosen), seed, temper, leaving)


def check_resampled(match: Any, rng: Random) -> None:
    """A world drawn anew has led to the very same position, and told the viewer the same on the way."""
    for viewer in (None, *range(match.players)):
        world = match.state.resample(viewer, rng)
        again, told = recorded.played_again(match, world, viewer)
        assert again.to_dict() == world.to_dict()
        assert told == match.history.get(viewer, [])


RULES: tuple[dict[str, Any], ...] = (
    {},
    {"flush_test": "after_refill", "passing": "always", "setup_return_order": "turn", "first_player": "random"},
    {"endless_flush": "three_flushes", "reshuffle": "at_once", "short_row_refill": "after_draw"},
    {"endless_flush": "three_flushes", "flushed_cards": "set_aside", "one_card_draw": False},
)


@pytest.mark.slow
@pytest.mark.parametrize("chosen", RULES, ids=str)
def test_a_drawn_world_can_have_led_to_all_that_was_seen(chosen: dict[str, Any]) -> None:
    rng = Random(3)
    for nodes in matches(range(3), chosen, leaving=0.003):
        for match in nodes:
            if rng.random() < 0.04 or match.state.is_terminal():
                check_resampled(match, rng)


@pytest.mark.long
@pytest.mark.parametrize("chosen", RULES, ids=str)
def test_a_drawn_world_can_have_led_there_in_many_matches(chosen: dict[str, Any]) -> None:
    rng = Random(4)
    for nodes in matches(range(100, 160), chosen, leaving=0.003):
        for match in nodes:
            if rng.random() < 0.02 or match.state.is_terminal():
                check_resampled(match, rng)


def test_from_observation_is_as_good() -> None:
    rng = Random(11)
    for nodes in matches(range(1), {}):
        for match in nodes:
            if rng.random() < 0.1:
                for viewer in range(match.players):
                    seen = GAME.codec.decode_observation(GAME.codec.encode_observation(match.state.observation(viewer)))
                    world = GAME.from_observation(seen, match.history.get(viewer, []), match.options, rng)
                    again, told = recorded.played_again(match, world, viewer)
                    assert again.to_dict() == world.to_dict()
                    assert told == match.history.get(viewer, [])


def test_worlds_differ() -> None:
    state = sit.started(3, seed=4)
    rng = Random(0)
    hands = {tuple(state.resample(0, rng).hands[1]) for _ in range(50)}
    tickets = {tuple(state.resample(0, rng).kept[1]) for _ in range(50)}
    assert len(hands) > 10
    assert len(tickets) > 10


def test_all_worlds_that_fit_come_up_about_equally_often() -> None:
    """One unseen card of 3 red and 1 blue: red three times in four."""
    state = sit.situation(deck="3 red, 1 blue")
    sit.act(state, "draw()")
    sit.come(state, "red")
    rng = Random(0)
    red = sum(state.resample(1, rng).hands[0][0] for _ in range(4000))
    assert 2900 < red < 3100


def test_cards_of_an_older_deck_are_not_mixed_with_the_new_one() -> None:
    state = sit.situation(deck="1 red", discards="4 blue")
    sit.act(state, "draw()")
    sit.come(state, "red")
    sit.act(state, "draw()")
    sit.come(state, "blue")
    rng = Random(0)
    for _ in range(50):
        assert sit.words(state.resample(1, rng).hands[0]) == "1 red, 1 blue"


def test_a_ticket_met_again_is_known_to_have_been_returned() -> None:
    state = sit.situation(unknown="T02 T03 T04", players=2)
    sit.act(state, "draw_tickets()")
    sit.come(state, "T02", "T03")
    sit.act(state, "keep(tickets=[T03])", "draw_tickets()")
    sit.come(state, "T04")
    assert state.observation(1).offered == (4, 2)
    rng = Random(0)
    worlds_seen = [state.resample(1, rng) for _ in range(60)]
    assert {world.tickets.returned[0] for world in worlds_seen} == {2}
    kept = {world.kept[0][0] for world in worlds_seen}
    assert len(kept) > 5
    assert not kept & {2, 4}


def test_a_flush_that_did_not_come_tells_that_the_deck_is_all_taxis() -> None:
    state = sit.situation(hands=["", ""], row="1 red, 2 blue, 2 taxi", deck="2 taxi, 2 taxi, 30 green")
    state.hands[1] = sit.cards("30 green")
    state.hand_sizes[1] = 30
    state.market.deck = sit.cards("4 taxi")
    state.market.deck_size = 4
    state.market.draws = bytearray([30])
    state.market.owners = bytearray([1] * 30)
    state.market.cards = bytearray([3] * 30)
    sit.act(state, "take(card=red)")
    sit.come(state, "taxi")
    assert state.stage == "second_card"
    evidence = read_ledger(state.observation(0).ledger).evidence
    assert list(evidence) == [0, 30, 0, 0]
    rng = Random(0)
    for _ in range(20):
        assert sit.words(state.resample(0, rng).market.deck) == "3 taxi"


def test_a_forced_pass_tells_that_the_seat_cannot_pay() -> None:
    others = {f"R{number:02d}": 1 for number in range(1, 42) if number != 2}
    state = sit.situation(3, hands=["1 red, 1 blue", "", "2 red, 2 blue"], row="", deck="", unknown="", owner=others)
    market = state.market
    market.pools = bytearray(sit.cards("3 red, 3 blue"))
    market.draws, market.owners, market.cards = (
        bytearray([6]),
        bytearray([0, 0, 2, 2, 2, 2]),
        bytearray([1, 4, 1, 1, 4, 4]),
    )
    state.known = [0] * 21
    sit.act(state, "pass()")
    assert list(read_ledger(state.observation(None).ledger).refusals) == [0, 6, 1, 2, 2, 2, 2, 2]
    rng = Random(0)
    assert {sit.words(state.resample(1, rng).hands[0]) for _ in range(60)} == {"1 red, 1 blue", "2 blue"}


def test_states_drawn_fit_what_flush_tests_told() -> None:
    """Most first guesses contradict it: they have to be mended."""
    rng = Random(5)
    compared = 0
    for seed in range(20):
        for match in recorded.play(4, sit.options(), seed, "by_kind"):
            if match.state.market.evidence and rng.random() < 0.3:
                check_resampled(match, rng)
                compared += 1
    assert compared > 50


# Places for paid cards among unseen draws, against trying them all


@st.composite
def played(draw: st.DrawFn) -> tuple[list[Unit], bytes, list[int], list[list[int]]]:
    """Draws from small layers by two seats, and payments out of them as they could have been made."""
    owners: list[int] = []
    starts = [0]
    pools: list[list[int]] = []
    units: list[Unit] = []
    hands: dict[int, list[int]] = {0: [], 1: []}
    for _ in range(draw(st.integers(1, 3))):
        pool = [0] * 7
        for _ in range(draw(st.integers(0, 4))):
            seat, card = draw(st.integers(0, 1)), draw(st.integers(1, 3))
            owners.append(seat)
            hands[seat].append(card)
            pool[card - 1] += 1
            for payer in (0, 1):
                while hands[payer] and draw(st.booleans()):
                    paid = hands[payer].pop(draw(st.integers(0, len(hands[payer]) - 1)))
                    units.append((payer, paid, len(owners)))
        starts.append(len(owners))
        pools.append(pool)
    return units, bytes(owners), starts, pools


@given(played(), st.integers(0, 5))
@settings(max_examples=300, deadline=None)
def test_there_are_places_for_what_was_really_paid(
    match: tuple[list[Unit], bytes, list[int], list[list[int]]], seed: int
) -> None:
    units, owners, starts, pools = match
    placed = place_units(units, owners, starts, pools, set(range(len(owners))), Random(seed))
    assert placed is not None
    check(placed, units, owners, starts, pools)


def check(
    placed: list[tuple[int, Unit]], units: list[Unit], owners: bytes, starts: list[int], pools: list[list[int]]
) -> None:
    assert sorted(unit for _, unit in placed) == sorted(units)
    assert len({at for at, _ in placed}) == len(placed)
    left = [pool[:] for pool in pools]
    for at, (seat, card, end) in placed:
        layer = max(number for number, start in enumerate(starts[:-1]) if start <= at and at < starts[number + 1])
        assert owners[at] == seat
        assert at < end
        left[layer][card - 1] -= 1
        assert left[layer][card - 1] >= 0


def tight() -> tuple[list[Unit], bytes, list[int], list[list[int]]]:
    """Seat 0 has paid all it drew, and only one way fits: red of the first and third deck, blue of the second."""
    pools = [[2, 0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0, 1], [1, 0, 0, 0, 0, 0, 0]]
    return [(0, 1, 5), (0, 4, 5), (0, 1, 5)], bytes([0, 1, 1, 0, 0]), [0, 3, 4, 5], pools


@pytest.mark.parametrize("seed", range(20))
def test_the_only_way_is_found(seed: int) -> None:
    units, owners, starts, pools = tight()
    placed = place_units(units, owners, starts, pools, set(range(5)), Random(seed))
    assert placed is not None
    check(placed, units, owners, starts, pools)


def test_what_cannot_be_placed_is_told() -> None:
    units, owners, starts, pools = tight()
    assert place_units([*units, (1, 2, 5)], owners, starts, pools, set(range(5)), Random(0)) is None
    assert place_units([(0, 1, 0)], owners, starts, pools, set(range(5)), Random(0)) is None


def test_all_ways_that_fit_come_up() -> None:
    owners, starts, pools = bytes([0, 0, 0]), [0, 2, 3], [[1, 1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0]]
    units: list[Unit] = [(0, 1, 3), (0, 2, 3)]
    found = set()
    for seed in range(200):
        placed = place_units(units, owners, starts, pools, {0, 1, 2}, Random(seed))
        assert placed is not None
        found.add(tuple(sorted((at, unit[1]) for at, unit in placed)))
    layers = (0, 0, 1)
    fitting = {
        tuple(sorted(zip(places, (1, 2), strict=True)))
        for places in permutations(range(3), 2)
        if pools[layers[places[0]]][0] and pools[layers[places[1]]][1]
    }
    assert found == fitting
