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
from referee.games.ticket_to_ride_new_york.tables import PLAYER_COUNTS
from referee.games.ticket_to_ride_new_york.view_chart import chart_of, joined, map_points
from referee.games.ticket_to_ride_new_york.view_drawing import QUESTIONS, action_places, draw, event_places

__all__ = ["action_places", "describe_action", "describe_event", "draw", "event_places", "text_board"]

_COLUMNS = 3
_WIDTH = 80


def text_board(observation: Observation) -> str:
    """Table, seats, what the viewer holds, and all routes with their owners."""
    box = _box(observation.box)
    lines = [*_table_lines(observation), "", *_seat_lines(observation), ""]
    if observation.viewer is not None:
        lines += [*_own_lines(observation, box), ""]
    lines += _route_lines(observation, box)
    if observation.scores:
        lines += ["", *(line for score in observation.scores for line in wrap(describe_event(score), _WIDTH))]
    return "\n".join(line.rstrip() for line in lines)


@lru_cache(maxsize=8)
def _box(text: str) -> Mapping[str, Any]:
    box: dict[str, Any] = json.loads(text) if text else default_data()
    return box


def _table_lines(seen: Observation) -> list[str]:
    viewer = "a spectator" if seen.viewer is None else f"seat {seen.viewer}"
    last = f"; {seen.last_turns} last turns to play" if seen.last_turns else ""
    top = "unseen" if seen.unknown_tickets else "none"
    under = " ".join(ticket_id(number) if number else "?" for number in seen.under)
    aside = f"; set aside: {_cards(seen.aside)}" if any(seen.aside) else ""
    return [
        *_hung("", f"Seen by {viewer}. Turn of seat {seen.turn_seat}: {QUESTIONS[seen.stage]}{last}."),
        *_hung("Face up:  ", _cards(seen.row)),
        f"Deck:     {seen.deck_size} cards",
        *_hung("Discards: ", _cards(seen.discards) + aside),
        *_hung("Tickets:  ", f"{seen.unknown_tickets} {top}" + (f", then returned ones: {under}" if under else "")),
    ]


def _hung(head: str, body: str) -> list[str]:
    """Lines of at most 80 columns, those after the first indented like the body."""
    return wrap(head + body, _WIDTH, subsequent_indent=" " * len(head), break_on_hyphens=False)


def _seat_lines(seen: Observation) -> list[str]:
    lines = ["seat  points  taxis  cards  tickets  cards everybody has seen it get"]
    for seat in range(seen.players):
        mark = "*" if seat in seen.asked else "x" if seat in seen.left else " "
        head = (
            f"{mark}{seat:>3}  {_points(seen, seat):>6}  {seen.taxis[seat]:>5}  {seen.hand_sizes[seat]:>5}"
            f"  {seen.ticket_counts[seat]:>7}  "
        )
        lines += _hung(head, _cards(seen.known_of(seat)))
    lines.append("(points so far: routes and attractions; * is asked, x has left)")
    return lines


def _points(seen: Observation, seat: int) -> int:
    return sum(map_points(chart_of(seen.box), seen.owner, seat))


def _own_lines(seen: Observation, box: Mapping[str, Any]) -> list[str]:
    lines = [f"Your hand: {_cards(seen.hand)}"]
    names = {place["code"]: place["name"] for place in box["locations"]}
    chart = chart_of(seen.box)
    for title, numbers in (("Your ticket: ", seen.tickets), ("Offered: ", seen.offered)):
        for number in numbers:
            ticket = box["tickets"][number - 1]
            done = seen.viewer is not None and joined(chart, seen.owner, seen.viewer, number)
            lines += _hung(
                title,
                f"{ticket_id(number)} {names[ticket['from']]} ({ticket['from']}) - {names[ticket['to']]} "
                f"({ticket['to']}), {ticket['points']} points" + (", done" if done else ""),
            )
    return lines


def _route_lines(seen: Observation, box: Mapping[str, Any]) -> list[str]:
    cells = []
    for place, (route, track) in enumerate(zip(box["routes"], chart_of(seen.box).tracks, strict=True)):
        ends = f"{route['from']}-{route['to']}"
        double = "=" if route["double"] else " "
        owner = seen.owner[place]
        closed = seen.players == PLAYER_COUNTS[0] and track.twin >= 0 and seen.owner[track.twin] >= 0
        holder = str(owner) if owner >= 0 else "x" if closed else "."
        cells.append(f"{route_id(place + 1)}{double}{ends:<7} {route['length']} {route['color']:<6} {holder}")
    height = -(-len(cells) // _COLUMNS)
    lines = ["Routes: id (= half of a double), ends, length, colour, the seat that claimed it"]
    lines += ["   ".join(cells[row::height]) for row in range(height)]
    lines += ["(. free" + (", x closed by the other half)" if seen.players == PLAYER_COUNTS[0] else ")")]
    lines += _wrapped([f"{place['code']} {place['name']}" for place in box["locations"]])
    attractions = [place["code"] for place in box["locations"] if place["attraction"]]
    return [*lines, *_hung("Attractions: ", " ".join(attractions))]


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
