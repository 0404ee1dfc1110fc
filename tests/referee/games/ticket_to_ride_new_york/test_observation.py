"""Who knows what (E15)."""

from dataclasses import fields, replace
from itertools import pairwise

from referee.games.ticket_to_ride_new_york.actions import CARDS
from referee.games.ticket_to_ride_new_york.observation import Observation, read_ledger

from . import recorded
from . import situations as sit


def test_e15_public_are_row_discards_claims_sizes_and_taxis() -> None:
    state = sit.situation(hands=["3 blue", "2 red"], discards="1 pink", owner={"R01": 1}, tickets={0: "T01"})
    for viewer in (0, 1, None):
        seen = state.observation(viewer)
        assert sit.words(seen.row) == "1 red, 1 orange, 1 green, 1 blue, 1 black"
        assert sit.words(seen.discards) == "1 pink"
        assert (seen.owner[0], seen.holders()[0]) == (2, 1)
        assert (seen.owner[1], seen.holders()[1]) == (0, -1)
        assert seen.hand_sizes == (3, 2)
        assert seen.ticket_counts == (1, 0)
        assert seen.taxis == (15, 15)
        assert (seen.deck_size, seen.unknown_tickets) == (4, 17)


def test_e15_hands_and_tickets_are_seen_by_their_owner_only() -> None:
    state = sit.situation(hands=["3 blue", "2 red"], tickets={0: "T01", 1: "T02"})
    assert (state.observation(0).hand, state.observation(0).tickets) == (tuple(sit.cards("3 blue")), (1,))
    assert (state.observation(1).hand, state.observation(1).tickets) == (tuple(sit.cards("2 red")), (2,))
    assert (state.observation(None).hand, state.observation(None).tickets) == ((), ())


def test_e15_an_unseen_card_is_told_to_the_one_who_drew_it() -> None:
    state = sit.situation()
    sit.act(state, "draw()")
    (event,) = state.apply_chance("orange")
    assert event.seen_by(0).card == "orange"
    assert event.seen_by(1).card == event.seen_by(None).card == ""


def test_e15_face_up_picks_and_payments_are_seen_by_all() -> None:
    state = sit.situation(hands=["2 blue"])
    sit.act(state, "claim(route=R10,card=blue,taxis=0)")
    sit.act(state, "take(card=red)")
    assert sit.words(state.observation(0).known_of(1)) == "1 red"
    assert sit.words(state.observation(1).known_of(0)) == ""


def test_what_a_seat_is_known_to_hold_ends_where_it_pays_it() -> None:
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


def test_the_ledger_tells_others_no_colour() -> None:
    for match in recorded.play(3, sit.options(), 2, "unseen"):
        state = match.state
        for viewer in (None, 0, 1, 2):
            ledger = read_ledger(state.observation(viewer).ledger)
            for owner, card in zip(ledger.owners, ledger.cards, strict=True):
                assert (card == 0) is (owner != viewer)
            if not state.is_terminal():
                for owner, ticket in zip(state.tickets.owners, ledger.ticket_numbers, strict=True):
                    assert (ticket == 0) is (owner != viewer)


def test_public_knowledge_adds_up() -> None:
    """Every hand is what is known of it and its unseen draws, less what it paid of these."""
    for seed, temper in enumerate(recorded.TEMPERS):
        for match in recorded.play(4, sit.options(), seed, temper):
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


def test_the_table_is_the_observation_without_its_ledger() -> None:
    state = sit.situation(hands=["3 blue", "2 red"], tickets={0: "T01", 1: "T02"})
    for viewer in (0, 1, None):
        assert state.table(viewer) == replace(state.observation(viewer), ledger=b"")
