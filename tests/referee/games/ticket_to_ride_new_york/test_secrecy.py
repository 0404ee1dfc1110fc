"""E15, who knows what; worlds that fit what a viewer has seen."""

from dataclasses import fields
from itertools import pairwise
from random import Random
from types import ModuleType
from typing import Any

import pytest

from referee.games.ticket_to_ride_new_york import GAME, worlds
from referee.games.ticket_to_ride_new_york.actions import CARDS
from referee.games.ticket_to_ride_new_york.ledger import read_ledger
from referee.games.ticket_to_ride_new_york.observation import Observation


def test_e15_public_are_row_discards_claims_sizes_and_taxis(sit: ModuleType) -> None:
    state = sit.situation(hands=["3 blue", "2 red"], discards="1 pink", owner={"R01": 1}, tickets={0: "T01"})
    for viewer in (0, 1, None):
        seen = state.observation(viewer)
        assert sit.words(seen.row) == "1 red, 1 orange, 1 green, 1 blue, 1 black"
        assert sit.words(seen.discards) == "1 pink"
        assert seen.owner[0] == 1
        assert seen.hand_sizes == (3, 2)
        assert seen.ticket_counts == (1, 0)
        assert seen.taxis == (15, 15)
        assert (seen.deck_size, seen.unknown_tickets) == (4, 17)


def test_e15_hands_and_tickets_are_seen_by_their_owner_only(sit: ModuleType) -> None:
    state = sit.situation(hands=["3 blue", "2 red"], tickets={0: "T01", 1: "T02"})
    assert (state.observation(0).hand, state.observation(0).tickets) == (tuple(sit.cards("3 blue")), (1,))
    assert (state.observation(1).hand, state.observation(1).tickets) == (tuple(sit.cards("2 red")), (2,))
    assert (state.observation(None).hand, state.observation(None).tickets) == ((), ())


def test_e15_an_unseen_card_is_told_to_the_one_who_drew_it(sit: ModuleType) -> None:
    state = sit.situation()
    sit.act(state, "draw()")
    (event,) = state.apply_chance("orange")
    assert event.seen_by(0).card == "orange"
    assert event.seen_by(1).card == event.seen_by(None).card == ""


def test_e15_face_up_picks_and_payments_are_seen_by_all(sit: ModuleType) -> None:
    state = sit.situation(hands=["2 blue"])
    sit.act(state, "claim(route=R10,card=blue,taxis=0)")
    sit.act(state, "take(card=red)")
    assert sit.words(state.observation(0).known_of(1)) == "1 red"
    assert sit.words(state.observation(1).known_of(0)) == ""


def test_what_a_seat_is_known_to_hold_ends_where_it_pays_it(sit: ModuleType) -> None:
    state = sit.situation(deck="2 red, 1 pink")
    sit.act(state, "draw()")
    sit.come(state, "red")
    sit.act(state, "take(card=red)")
    sit.come(state, "red")
    assert sit.words(state.observation(1).known_of(0)) == "1 red"
    state.turn_seat = 0
    sit.act(state, "claim(route=R02,card=red,taxis=0)")
    assert sit.words(state.observation(1).known_of(0)) == ""
    assert list(state.debts) == [0, 1, 1, 1]


def test_an_observation_holds_nothing_but_what_is_listed() -> None:
    assert {field.name for field in fields(Observation)} == {
        "viewer", "players", "stage", "asked", "turn_seat", "first_seat", "last_turns", "left", "passed", "row",
        "deck_size", "discards", "aside", "epoch", "owner", "taxis", "hand_sizes", "ticket_counts", "known",
        "unknown_tickets", "scores", "hand", "tickets", "offered", "under", "ledger", "box",
    }  # fmt: skip


@pytest.mark.parametrize("temper", ["uniform", "hoarder"])
def test_seats_that_hide_other_things_look_the_same(sit: ModuleType, taped: ModuleType, temper: str) -> None:
    """What a viewer cannot know is exchanged for something else: its observation and legal list stay as they were."""
    rng = Random(7)
    for match in taped.play(3, sit.options(), 5, temper):
        for viewer in (None, 0, 1, 2):
            other = match.state.resample(viewer, rng)
            assert other.observation(viewer) == match.state.observation(viewer)
            if viewer is not None:
                assert list(other.legal_actions(viewer)) == list(match.state.legal_actions(viewer))
            assert list(other.decisions()) == list(match.state.decisions())
            assert GAME.conserved(other) == GAME.conserved(match.state)


def matches(sit: ModuleType, taped: ModuleType, seeds: range, chosen: dict[str, Any], leaving: float = 0.0) -> Any:
    for seed in seeds:
        for temper in taped.TEMPERS:
            for players in (2, 3, 4):
                yield taped.play(players, sit.options(**chosen), seed, temper, leaving)


def check_worlds(taped: ModuleType, match: Any, rng: Random) -> None:
    """A world drawn anew has led to the very same position, and told the viewer the same on the way."""
    for viewer in (None, *range(match.players)):
        world = match.state.resample(viewer, rng)
        again, told = taped.played_again(match, world, viewer)
        assert again.to_dict() == world.to_dict()
        assert told == match.history.get(viewer, [])


RULES: tuple[dict[str, Any], ...] = (
    {},
    {"flush_test": "after_refill", "passing": "always", "setup_return_order": "turn", "first_player": "random"},
    {"endless_flush": "three_flushes", "reshuffle": "at_once", "short_row_refill": "after_draw"},
    {"endless_flush": "three_flushes", "flushed_cards": "set_aside", "one_card_draw": False},
)


@pytest.mark.parametrize("chosen", RULES, ids=str)
def test_a_drawn_world_can_have_led_to_all_that_was_seen(
    sit: ModuleType, taped: ModuleType, chosen: dict[str, Any]
) -> None:
    rng = Random(3)
    for nodes in matches(sit, taped, range(3), chosen, leaving=0.003):
        for match in nodes:
            if rng.random() < 0.04 or match.state.is_terminal():
                check_worlds(taped, match, rng)


@pytest.mark.long
@pytest.mark.parametrize("chosen", RULES, ids=str)
def test_a_drawn_world_can_have_led_there_in_many_matches(
    sit: ModuleType, taped: ModuleType, chosen: dict[str, Any]
) -> None:
    rng = Random(4)
    for nodes in matches(sit, taped, range(100, 160), chosen, leaving=0.003):
        for match in nodes:
            if rng.random() < 0.02 or match.state.is_terminal():
                check_worlds(taped, match, rng)


def test_from_observation_is_as_good(sit: ModuleType, taped: ModuleType) -> None:
    rng = Random(11)
    for nodes in matches(sit, taped, range(1), {}):
        for match in nodes:
            if rng.random() < 0.1:
                for viewer in range(match.players):
                    seen = GAME.codec.decode_observation(GAME.codec.encode_observation(match.state.observation(viewer)))
                    world = GAME.from_observation(seen, match.history.get(viewer, []), match.options, rng)
                    again, told = taped.played_again(match, world, viewer)
                    assert again.to_dict() == world.to_dict()
                    assert told == match.history.get(viewer, [])


def test_worlds_differ(sit: ModuleType) -> None:
    state = sit.started(3, seed=4)
    rng = Random(0)
    hands = {tuple(state.resample(0, rng).hands[1]) for _ in range(50)}
    tickets = {tuple(state.resample(0, rng).kept[1]) for _ in range(50)}
    assert len(hands) > 10
    assert len(tickets) > 10


def test_all_worlds_that_fit_come_up_about_equally_often(sit: ModuleType) -> None:
    """One unseen card of 3 red and 1 blue: red three times in four."""
    state = sit.situation(deck="3 red, 1 blue")
    sit.act(state, "draw()")
    sit.come(state, "red")
    rng = Random(0)
    red = sum(state.resample(1, rng).hands[0][0] for _ in range(4000))
    assert 2900 < red < 3100


def test_cards_of_an_older_deck_are_not_mixed_with_the_new_one(sit: ModuleType) -> None:
    state = sit.situation(deck="1 red", discards="4 blue")
    sit.act(state, "draw()")
    sit.come(state, "red")
    sit.act(state, "draw()")
    sit.come(state, "blue")
    rng = Random(0)
    for _ in range(50):
        assert sit.words(state.resample(1, rng).hands[0]) == "1 red, 1 blue"


def test_a_ticket_met_again_is_known_to_have_been_returned(sit: ModuleType) -> None:
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


def test_a_flush_that_did_not_come_tells_that_the_deck_is_all_taxis(sit: ModuleType) -> None:
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


def test_a_forced_pass_tells_that_the_seat_cannot_pay(sit: ModuleType) -> None:
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


def test_a_first_guess_that_contradicts_what_was_told_is_mended(
    sit: ModuleType, taped: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = []
    repair = worlds._repair

    def watched(*given: Any) -> int:
        left: int = repair(*given)
        wrong.append(left)
        return left

    monkeypatch.setattr(worlds, "_repair", watched)
    rng = Random(5)
    for seed in range(20):
        for match in taped.play(4, sit.options(), seed, "by_kind"):
            if match.state.market.evidence and rng.random() < 0.3:
                check_worlds(taped, match, rng)
    assert wrong
    assert not any(wrong)


def test_the_ledger_tells_others_no_colour(sit: ModuleType, taped: ModuleType) -> None:
    for match in taped.play(3, sit.options(), 2, "unseen"):
        state = match.state
        for viewer in (None, 0, 1, 2):
            ledger = read_ledger(state.observation(viewer).ledger)
            for owner, card in zip(ledger.owners, ledger.cards, strict=True):
                assert (card == 0) is (owner != viewer)
            if not state.is_terminal():
                for owner, ticket in zip(state.tickets.owners, ledger.ticket_numbers, strict=True):
                    assert (ticket == 0) is (owner != viewer)


def test_public_knowledge_adds_up(sit: ModuleType, taped: ModuleType) -> None:
    """Every hand is what is known of it and its unseen draws, less what it paid of these."""
    for seed, temper in enumerate(taped.TEMPERS):
        for match in taped.play(4, sit.options(), seed, temper):
            state = match.state
            for seat, hand in enumerate(state.hands):
                count = list(state.observation(None).known_of(seat))
                for owner, card in zip(state.market.owners, state.market.cards, strict=True):
                    count[card - 1] += owner == seat
                for start in range(0, len(state.debts), 4):
                    debtor, card, paid, _ = state.debts[start : start + 4]
                    count[card - 1] -= paid * (debtor == seat)
                assert count == hand
                assert sum(hand) == state.hand_sizes[seat]
            pools = state.market.pools
            starts = [sum(state.market.draws[:layer]) for layer in range(len(state.market.draws) + 1)]
            for layer, (one, two) in enumerate(pairwise(starts)):
                last = layer == len(state.market.draws) - 1
                held = [state.market.cards[one:two].count(kind + 1) for kind in range(len(CARDS))]
                deck = state.market.deck if last else [0] * len(CARDS)
                assert [a + b for a, b in zip(held, deck, strict=True)] == list(pools[7 * layer : 7 * layer + 7])
