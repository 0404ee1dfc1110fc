"""Positions written in words, and small steps on them."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from referee.games.api import resolve_options
from referee.games.keyed import random_outcome
from referee.games.ticket_to_ride_new_york import GAME
from referee.games.ticket_to_ride_new_york.actions import CARDS
from referee.games.ticket_to_ride_new_york.rules import State
from referee.games.ticket_to_ride_new_york.state import TURN

CARD_KINDS = len(CARDS)


def options(**given: Any) -> dict[str, Any]:
    return resolve_options(GAME.id, GAME.options, given)


def cards(text: str) -> list[int]:
    """Seven counts from words: "3 blue, 1 taxi"."""
    counts = [0] * CARD_KINDS
    for part in filter(None, text.split(", ")):
        count, name = part.split()
        counts[CARDS.index(name)] += int(count)
    return counts


def words(counts: Sequence[int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in zip(CARDS, counts, strict=True) if count)


def situation(
    players: int = 2,
    *,
    hands: Sequence[str] = (),
    row: str = "1 red, 1 orange, 1 green, 1 blue, 1 black",
    deck: str = "2 red, 2 orange",
    discards: str = "",
    owner: Mapping[str, int] | None = None,
    taxis: Mapping[int, int] | None = None,
    tickets: Mapping[int, str] | None = None,
    unknown: str | None = None,
    under: str = "",
    turn: int = 0,
    **chosen: Any,
) -> State:
    """The turn of seat `turn`. Everything that lies there was seen by all, but for the tickets.

    `owner` maps route ids to seats, `tickets` seats to ticket ids. `under` are tickets returned by seat 0.
    """
    state = GAME.new_initial_state(players, options(**chosen))
    state.stage = TURN
    state.turn_seat = turn
    for seat, hand in enumerate(hands):
        state.hands[seat] = cards(hand)
        state.hand_sizes[seat] = sum(state.hands[seat])
        state.known[CARD_KINDS * seat : CARD_KINDS * (seat + 1)] = state.hands[seat]
    market = state.market
    market.row, market.deck, market.discards = cards(row), cards(deck), cards(discards)
    market.row_size, market.deck_size = sum(market.row), sum(market.deck)
    market.discard_size = sum(market.discards)
    market.pools = bytearray(market.deck)
    for name, seat in (owner or {}).items():
        state.assign_route(seat, int(name[1:]) - 1)
    for seat, supply in (taxis or {}).items():
        state.taxis[seat] = supply
    _lay_tickets(state, tickets or {}, unknown, under)
    return state


def _lay_tickets(state: State, tickets: Mapping[int, str], unknown: str | None, under: str) -> None:
    deck = state.tickets
    for seat, names in tickets.items():
        for name in names.split():
            number = deck.open_offer(seat)
            deck.draw_unknown(int(name[1:]))
            deck.close_offer(number, 0)
            state.kept[seat].append(int(name[1:]))
    for name in under.split():
        number = deck.open_offer(0)
        deck.draw_unknown(int(name[1:]))
        deck.close_offer(number, int(name[1:]))
    if unknown is not None:
        deck.unknown = [int(name[1:]) for name in unknown.split()]


def act(state: State, *texts: str) -> list[Any]:
    """Answers of whoever is asked, one after another; what all could see of it."""
    seen = []
    for text in texts:
        (decision,) = state.decisions()
        seen += [event.public for event in state.apply({decision.seat: GAME.parse_action(text)})]
    return seen


def come(state: State, *outcomes: Any) -> list[Any]:
    """Outcomes of chance nodes, one after another; what all could see of it."""
    seen = []
    for outcome in outcomes:
        seen += [event.public for event in state.apply_chance(outcome)]
    return seen


def legal(state: State, kind: str = "") -> list[str]:
    """The legal answers of the seat that is asked, as text; only those of a kind, if given."""
    (decision,) = state.decisions()
    found = [GAME.format_action(action) for action in state.legal_actions(decision.seat)]
    return [text for text in found if text.startswith(f"{kind}(")] if kind else found


def settle(state: State, rng: Random | None = None) -> None:
    """Let luck run until somebody is asked, or the match is over."""
    rng = rng or Random(0)
    while outcomes := state.chance_outcomes():
        state.apply_chance(random_outcome(outcomes, rng))


def started(players: int = 2, seed: int = 0, **chosen: Any) -> State:
    """After the set-up; everybody kept both tickets."""
    state = GAME.new_initial_state(players, options(**chosen))
    settle(state, Random(seed))
    state.apply({decision.seat: state.legal_actions(decision.seat)[0] for decision in state.decisions()})
    return state


def kinds(payloads: Sequence[Any]) -> list[str]:
    return [payload.KIND for payload in payloads]
