"""Random matches at every node against the naive second implementation."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from referee.games.ticket_to_ride_new_york import GAME
from referee.games.ticket_to_ride_new_york.actions import CARDS

BOX = GAME.default_data()


def check_scores(naive: ModuleType, state: Any) -> None:
    for seat, score in enumerate(state.scores()):
        tickets = [] if seat in state.left else state.kept[seat]
        expected = naive.score(BOX, state.owner, seat, tickets)
        assert score.route_points == expected["routes"]
        assert score.completed == expected["completed"]
        assert score.failed == expected["failed"]
        assert score.ticket_points == expected["tickets"]
        assert score.attraction_points == expected["attractions"]


def check_legal(naive: ModuleType, other_half: dict[str, str], sit: ModuleType, state: Any) -> None:
    if state.stage != "turn":
        return
    seat, market = state.turn_seat, state.market
    hand = dict(zip(CARDS, state.hands[seat], strict=True))
    free = naive.open_to(BOX, other_half, state.owner, state.tables.players, seat)
    expected = naive.claims(BOX, free, hand, state.taxis[seat])
    if sum(market.deck) + sum(market.discards):
        expected.add("draw()")
    expected |= {f"take(card={name})" for name, count in zip(CARDS, market.row, strict=True) if count}
    if len(state.tickets.unknown) + len(state.tickets.under):
        expected.add("draw_tickets()")
    legal = sit.legal(state)
    assert len(legal) == len(set(legal))
    assert set(legal) == (expected or {"pass()"})


def check_row(state: Any) -> None:
    """A row with three taxis lies there only if it is short or a flush could not help."""
    market = state.market
    if state.decisions() and market.row[6] >= 3 and sum(market.row) == 5:
        outside = [sum(pile) for pile in zip(market.row, market.deck, market.discards, strict=True)]
        assert sum(outside[:6]) < 3 or sum(outside) == 5
    if state.decisions() and sum(market.row) < 5:
        assert sum(market.deck) + sum(market.discards) == 0


def check_doubles(state: Any) -> None:
    for place, route in enumerate(state.tables.routes):
        if route.twin > place and state.owner[place] >= 0 and state.owner[route.twin] >= 0:
            assert state.tables.players > 2
            assert state.owner[place] != state.owner[route.twin]


def check_match(naive: ModuleType, sit: ModuleType, nodes: Iterator[Any]) -> None:
    decisions = 0
    other_half = naive.halves(BOX)
    claimed: list[int] | None = None
    tickets: list[list[int]] | None = None
    for match in nodes:
        state = match.state
        decisions += len(state.decisions())
        if state.owner != claimed or state.kept != tickets:
            claimed, tickets = state.owner[:], [kept[:] for kept in state.kept]
            check_scores(naive, state)
            check_doubles(state)
        check_legal(naive, other_half, sit, state)
        check_row(state)
        assert all(count >= 0 for hand in state.hands for count in hand)
    totals = [(score.total, len(score.completed)) for score in state.scores()]
    assert state.ranking() == naive.ranks(totals, state.left)
    assert state.returns() == tuple(total for total, _ in totals)
    assert decisions <= GAME.max_decisions(match.players, match.options)


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("part", range(4))
def test_hundreds_of_matches_agree_with_the_naive_implementation(
    naive: ModuleType, sit: ModuleType, taped: ModuleType, players: int, part: int
) -> None:
    for seed in range(part * 6, part * 6 + 6):
        for temper in taped.TEMPERS:
            check_match(naive, sit, taped.play(players, sit.options(), seed, temper, leaving=0.001))


@pytest.mark.long
@pytest.mark.parametrize("players", [2, 3, 4])
def test_thousands_of_matches_agree(naive: ModuleType, sit: ModuleType, taped: ModuleType, players: int) -> None:
    for seed in range(1000, 1400):
        for temper in taped.TEMPERS:
            check_match(naive, sit, taped.play(players, sit.options(), seed, temper, leaving=0.001))


def test_the_naive_ranks_are_right_about_ties_and_leavers(naive: ModuleType) -> None:
    assert naive.ranks([(9, 1), (9, 2), (9, 1)], []) == (2, 1, 2)
    assert naive.ranks([(9, 1), (3, 0), (50, 4), (5, 0)], [2, 0]) == (3, 2, 4, 1)


def test_a_copy_leads_a_life_of_its_own(sit: ModuleType, taped: ModuleType) -> None:
    for match in taped.play(3, sit.options(), 8, "by_kind"):
        before = match.state.to_dict()
        copy = match.state.clone()
        assert copy.to_dict() == before
        while not copy.is_terminal():
            sit.settle(copy)
            copy.apply({one.seat: copy.legal_actions(one.seat)[-1] for one in copy.decisions()})
            sit.settle(copy)
        assert match.state.to_dict() == before
        restored = GAME.state_from_dict(before)
        assert restored.to_dict() == before
        for decision in match.state.decisions():
            assert list(restored.legal_actions(decision.seat)) == list(match.state.legal_actions(decision.seat))
