"""Pictures of an observation, for people and language models."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from textwrap import wrap
from typing import Any

from referee.games.ticket_to_ride_new_york import events as ev
from referee.games.ticket_to_ride_new_york.actions import (
    CARDS,
    Answer,
    Claim,
    Draw,
    DrawTickets,
    Keep,
    Pass,
    Take,
    route_id,
    ticket_id,
)
from referee.games.ticket_to_ride_new_york.box import default_data
from referee.games.ticket_to_ride_new_york.observation import Observation
from referee.games.ticket_to_ride_new_york.view_drawing import QUESTIONS, action_places, draw, event_places

__all__ = ["action_places", "describe_action", "describe_event", "draw", "event_places", "text_board"]

_COLUMNS = 4
_WIDTH = 100


def text_board(observation: Observation) -> str:
    """Table, seats, what the viewer holds, and all routes with their owners."""
    box = _box(observation.box)
    lines = [*_table_lines(observation), "", *_seat_lines(observation), ""]
    if observation.viewer is not None:
        lines += [*_own_lines(observation, box), ""]
    lines += _route_lines(observation, box)
    if observation.scores:
        lines += ["", *(line for score in observation.scores for line in wrap(describe_event(score), _WIDTH))]
    return "\n".join(line[:_WIDTH].rstrip() for line in lines)


@lru_cache(maxsize=8)
def _box(text: str) -> Mapping[str, Any]:
    box: dict[str, Any] = json.loads(text) if text else default_data()
    return box


def _table_lines(seen: Observation) -> list[str]:
    viewer = "a spectator" if seen.viewer is None else f"seat {seen.viewer}"
    last = f"; {seen.last_turns} last turns to play" if seen.last_turns else ""
    top = "unseen" if seen.unknown_tickets else "none"
    under = " ".join(ticket_id(number) if number else "?" for number in seen.under)
    return [
        f"Seen by {viewer}. Turn of seat {seen.turn_seat}: {QUESTIONS[seen.stage]}{last}.",
        f"Face up:  {_cards(seen.row)}",
        f"Deck:     {seen.deck_size} cards",
        f"Discards: {_cards(seen.discards)}" + (f"; set aside: {_cards(seen.aside)}" if any(seen.aside) else ""),
        f"Tickets:  {seen.unknown_tickets} {top}" + (f", then returned ones: {under}" if under else ""),
    ]


def _seat_lines(seen: Observation) -> list[str]:
    lines = ["seat  taxis  cards  tickets  cards everybody has seen it get"]
    for seat in range(seen.players):
        mark = "*" if seat in seen.asked else "x" if seat in seen.left else " "
        lines.append(
            f"{mark}{seat:>3}  {seen.taxis[seat]:>5}  {seen.hand_sizes[seat]:>5}  {seen.ticket_counts[seat]:>7}"
            f"  {_cards(seen.known_of(seat))}"
        )
    return lines


def _own_lines(seen: Observation, box: Mapping[str, Any]) -> list[str]:
    lines = [f"Your hand: {_cards(seen.hand)}"]
    names = {place["code"]: place["name"] for place in box["locations"]}
    for title, numbers in (("Your ticket", seen.tickets), ("Offered", seen.offered)):
        for number in numbers:
            ticket = box["tickets"][number - 1]
            ends = f"{names[ticket['from']]} ({ticket['from']}) - {names[ticket['to']]} ({ticket['to']})"
            lines.append(f"{title}: {ticket_id(number)} {ends}, {ticket['points']} points")
    return lines


def _route_lines(seen: Observation, box: Mapping[str, Any]) -> list[str]:
    cells = []
    for place, (route, owner) in enumerate(zip(box["routes"], seen.owner, strict=True)):
        ends = f"{route['from']}-{route['to']}"
        double = "=" if route["double"] else " "
        holder = "." if owner < 0 else str(owner)
        cells.append(f"{route_id(place + 1)}{double}{ends:<7} {route['length']} {route['color']:<6} {holder}")
    height = -(-len(cells) // _COLUMNS)
    lines = ["Routes: id (= half of a double), ends, length, colour, and the seat that claimed it:"]
    lines += ["   ".join(cells[row::height]) for row in range(height)]
    lines += _wrapped([f"{place['code']} {place['name']}" for place in box["locations"]])
    attractions = [place["code"] for place in box["locations"] if place["attraction"]]
    return [*lines, f"Attractions: {' '.join(attractions)}"]


def _wrapped(words: Sequence[str]) -> list[str]:
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(word) + 2 <= _WIDTH:
            lines[-1] += f", {word}"
        else:
            lines.append(word)
    return lines


def _cards(counts: Sequence[int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in zip(CARDS, counts, strict=True) if count) or "none"


def describe_action(action: Answer) -> str:
    if isinstance(action, Claim):
        return f"Claim route {action.route}, its price paid with {_payment(action.card, action.taxis)}."
    if isinstance(action, Take):
        return f"Take a face-up {action.card} card."
    if isinstance(action, Draw):
        return "Draw the top card of the deck, unseen."
    if isinstance(action, DrawTickets):
        return "Draw tickets."
    if isinstance(action, Keep):
        return f"Keep {' and '.join(action.tickets)}."
    if isinstance(action, Pass):
        return "Pass."
    return "Do without the second card."


def _payment(card: str, taxis: int) -> str:
    if card == "taxi":
        return "taxi cards only"
    if not taxis:
        return f"{card} cards"
    return f"{card} cards and {taxis} taxi card{'s' if taxis > 1 else ''}"


def describe_event(payload: ev.Payload) -> str:
    match payload:
        case ev.FirstPlayer(seat):
            return f"Seat {seat} has the first turn."
        case ev.CardDrawn(seat, card):
            return f"Seat {seat} drew {f'a {card} card' if card else 'a card'} unseen."
        case ev.CardTaken(seat, card):
            return f"Seat {seat} took a face-up {card} card."
        case ev.CardTurnedUp(card):
            return f"A {card} card was turned up."
        case ev.RowFlushed(cards):
            return f"The row was flushed: {_cards(cards)}."
        case ev.DeckReshuffled(cards):
            return f"The {sum(cards)} discards became the new deck."
        case ev.TicketDrawn(seat, ticket):
            return f"Seat {seat} drew ticket {ticket}." if ticket else f"Seat {seat} drew a ticket."
        case ev.TicketsKept():
            return _kept(payload)
        case ev.RouteClaimed(seat, route, card, taxis):
            return f"Seat {seat} claimed route {route} with {_payment(card, taxis)}."
        case ev.Stopped(seat):
            return f"Seat {seat} did without a second card."
        case ev.Passed(seat):
            return f"Seat {seat} passed."
        case ev.LastTurns(seat):
            return f"Seat {seat} is down to two taxis or fewer: everybody has one more turn."
        case ev.SeatLeft(seat):
            return f"Seat {seat} left; its routes stay, its cards and tickets are out of play."
        case ev.SeatScore():
            return _score(payload)


def _kept(told: ev.TicketsKept) -> str:
    kept = " and ".join(told.kept) if told.kept else f"{told.kept_count} ticket{'s' if told.kept_count > 1 else ''}"
    if not told.returned_count:
        return f"Seat {told.seat} kept {kept}."
    return f"Seat {told.seat} kept {kept} and returned {' and '.join(told.returned) or '1'}."


def _score(score: ev.SeatScore) -> str:
    done = ", ".join(score.completed) or "none"
    failed = ", ".join(score.failed) or "none"
    return (
        f"Seat {score.seat} scored {score.total}: routes {score.route_points}, tickets {score.ticket_points} "
        f"(completed {done}; failed {failed}), attractions {score.attraction_points}."
    )
