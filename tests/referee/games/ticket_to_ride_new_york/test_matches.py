"""Random matches at every node against the naive second implementation, and golden matches.

To write the golden matches of all games anew:

    CROSSTOWN_UPDATE_GOLDEN=1 python -m pytest tests/referee/games -k golden
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee.games.api import state_hash
from referee.games.keyed import KeyedChance
from referee.games.ticket_to_ride_new_york import GAME
from referee.games.ticket_to_ride_new_york.actions import CARDS
from referee.games.ticket_to_ride_new_york.state import OVER, STAGES

from . import naive, recorded
from . import situations as sit

# Scores, legal actions and ranks


BOX = GAME.default_data()


def check_scores(state: Any) -> None:
    for seat, score in enumerate(state.scores()):
        tickets = [] if seat in state.left else state.kept[seat]
        expected = naive.score(BOX, state.owner, seat, tickets)
        assert score.route_points == expected["routes"]
        assert score.completed == expected["completed"]
        assert score.failed == expected["failed"]
        assert score.ticket_points == expected["tickets"]
        assert score.attraction_points == expected["attractions"]


def check_legal(other_half: dict[str, str], state: Any) -> None:
    if state.stage != "turn":
        return
    seat, market = state.turn_seat, state.market
    hand = dict(zip(CARDS, state.hands[seat], strict=True))
    free = naive.open_to(BOX, other_half, state.owner, state.players, seat)
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
    for place, route in enumerate(state.board.routes):
        if route.twin > place and state.owner[place] >= 0 and state.owner[route.twin] >= 0:
            assert state.players > 2
            assert state.owner[place] != state.owner[route.twin]


def check_match(nodes: Iterator[Any]) -> None:
    decisions = 0
    other_half = naive.halves(BOX)
    claimed: list[int] | None = None
    tickets: list[list[int]] | None = None
    for match in nodes:
        state = match.state
        decisions += len(state.decisions())
        if state.owner != claimed or state.kept != tickets:
            claimed, tickets = state.owner[:], [kept[:] for kept in state.kept]
            check_scores(state)
            check_doubles(state)
        check_legal(other_half, state)
        check_row(state)
        assert all(count >= 0 for hand in state.hands for count in hand)
    totals = [(score.total, len(score.completed)) for score in state.scores()]
    assert state.ranking() == naive.ranks(totals, state.left)
    assert state.returns() == tuple(total for total, _ in totals)
    assert decisions <= GAME.max_decisions(match.players, match.options)


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("part", range(4))
def test_hundreds_of_matches_agree_with_the_naive_implementation(players: int, part: int) -> None:
    for seed in range(part * 6, part * 6 + 6):
        for temper in recorded.TEMPERS:
            check_match(recorded.play(players, sit.options(), seed, temper, leaving=0.001))


@pytest.mark.long
@pytest.mark.parametrize("players", [2, 3, 4])
def test_thousands_of_matches_agree(players: int) -> None:
    for seed in range(1000, 1400):
        for temper in recorded.TEMPERS:
            check_match(recorded.play(players, sit.options(), seed, temper, leaving=0.001))


def test_the_naive_ranks_are_right_about_ties_and_leavers() -> None:
    assert naive.ranks([(9, 1), (9, 2), (9, 1)], []) == (2, 1, 2)
    assert naive.ranks([(9, 1), (3, 0), (50, 4), (5, 0)], [2, 0]) == (3, 2, 4, 1)


def test_a_copy_leads_a_life_of_its_own() -> None:
    for match in recorded.play(3, sit.options(), 8, "by_kind"):
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


# Leaving, at every kind of node


VARIANTS: list[dict[str, Any]] = [
    {},
    {"first_player": "random", "passing": "always"},
    {"second_card_required": False, "last_turn_claims": False, "last_turn_tickets": False},
]


def leave(state: Any, seat: int) -> Any:
    after = state.clone()
    told = [event.public.KIND for event in after.withdraw(seat)]
    assert told[0] == "seat_left"
    assert after.to_dict() == naive.after_leaving(state.to_dict(), seat), (seat, state.stage)
    assert seat not in [decision.seat for decision in after.decisions()]
    return after


def compare(options: dict[str, Any], players: int, seed: int) -> set[str]:
    """Every seat leaves, and then every other one; the stages in which that was compared."""
    stages = set()
    temper = recorded.TEMPERS[seed % len(recorded.TEMPERS)]
    for number, match in enumerate(recorded.play(players, options, seed, temper, leaving=0.004)):
        state = match.state
        if state.is_terminal() or (state.stage in ("turn", "refill") and number % 5):
            continue
        stages.add(state.stage)
        for seat in [seat for seat in range(players) if seat not in state.left]:
            after = leave(state, seat)
            for other in [other for other in range(players) if other not in after.left]:
                if not after.is_terminal():
                    leave(after, other)
    return stages


@pytest.mark.slow
@pytest.mark.parametrize("given", VARIANTS, ids=["defaults", "passing", "short_turns"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_whoever_leaves_at_whatever_node_both_implementations_agree(players: int, given: dict[str, Any]) -> None:
    stages = set()
    for seed in range(8):
        stages |= compare(sit.options(**given), players, seed)
    assert stages == set(STAGES) - {OVER} - (set() if "first_player" in given else {"lot"})


@pytest.mark.long
@pytest.mark.parametrize("given", VARIANTS, ids=["defaults", "passing", "short_turns"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_whoever_leaves_in_many_matches_both_implementations_agree(players: int, given: dict[str, Any]) -> None:
    for seed in range(100, 300):
        compare(sit.options(**given), players, seed)


# Golden matches


FOLDER = Path(__file__).parent / "golden"
STATE_EVERY = 10


def lines(players: int, options: dict[str, Any], seed: int) -> Iterator[str]:
    """One line for each decision, with the luck before it; the full state every ten decisions; the result."""
    chance = KeyedChance(f"golden {seed}".encode())
    state = GAME.new_initial_state(players, options)
    decisions = 0
    luck: list[str] = []
    while not state.is_terminal():
        if outcomes := state.chance_outcomes():
            outcome = chance.choose(state.chance_stream(), outcomes)
            luck.append(str(outcome))
            state.apply_chance(outcome)
            continue
        answers = {}
        for decision in state.decisions():
            legal = state.legal_actions(decision.seat)
            action = legal[(7 * decisions + 3 * decision.seat + seed) % len(legal)]
            answers[decision.seat] = action
            text = GAME.format_action(action)
            yield f"{decisions} {' '.join(luck)} | seat {decision.seat} {decision.kind} {text} of {len(legal)}"
            luck = []
            decisions += 1
            if decisions % STATE_EVERY == 0:
                yield json.dumps(state.to_dict(), sort_keys=True, separators=(",", ":"))
        state.apply(answers)
    yield f"end {' '.join(luck)} | returns {state.returns()} ranking {state.ranking()} hash {state_hash(state)}"


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_match_goes_as_it_went(players: int) -> None:
    path = FOLDER / f"{players}_players.txt"
    now = "".join(f"{line}\n" for line in lines(players, sit.options(), players))
    if os.environ.get("CROSSTOWN_UPDATE_GOLDEN") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(now, encoding="ascii")
    assert now == path.read_text(encoding="ascii"), (
        "the match went another way: if that is meant, raise rules_version and write the golden files anew "
        "(see the top of this file)"
    )
