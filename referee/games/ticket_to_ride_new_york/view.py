"""Pictures of an observation, for people and language models."""

from collections.abc import Sequence
from textwrap import wrap

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
from referee.games.ticket_to_ride_new_york.board import NO_TWIN, Board, board_of
from referee.games.ticket_to_ride_new_york.drawing import QUESTIONS, action_places, draw, event_places
from referee.games.ticket_to_ride_new_york.observation import Observation

__all__ = ["action_places", "describe_action", "describe_event", "draw", "event_places", "text_board"]

_COLUMNS = 3
_WIDTH = 80


def text_board(observation: Observation) -> str:
    """Table, seats, what the viewer holds, and all routes with their owners."""
    board = board_of(observation.box)
    lines = [*_table_lines(observation), "", *_seat_lines(observation), ""]
    if observation.viewer is not None:
        lines += [*_own_lines(observation, board), ""]
    lines += _route_lines(observation, board)
    if observation.scores:
        lines += ["", *(line for score in observation.scores for line in wrap(describe_event(score), _WIDTH))]
    return "\n".join(line.rstrip() for line in lines)


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
        points = sum(board_of(seen.box).map_points(seen.owner, seat))
        head = (
            f"{mark}{seat:>3}  {points:>6}  {seen.taxis[seat]:>5}  {seen.hand_sizes[seat]:>5}"
            f"  {seen.ticket_counts[seat]:>7}  "
        )
        lines += _hung(head, _cards(seen.known_of(seat)))
    lines.append("(points so far: routes and attractions; * is asked, x has left)")
    return lines


def _own_lines(seen: Observation, board: Board) -> list[str]:
    lines = [f"Your hand: {_cards(seen.hand)}"]
    for title, numbers in (("Your ticket: ", seen.tickets), ("Offered: ", seen.offered)):
        for number in numbers:
            ticket = board.tickets[number - 1]
            one, other = board.locations[ticket.a], board.locations[ticket.b]
            done = seen.viewer is not None and board.completed(seen.owner, seen.viewer, number)
            lines += _hung(
                title,
                f"{ticket_id(number)} {one.name} ({one.code}) - {other.name} ({other.code}), {ticket.points} points"
                + (", done" if done else ""),
            )
    return lines


def _route_lines(seen: Observation, board: Board) -> list[str]:
    cells = []
    for place, route in enumerate(board.routes):
        ends = f"{board.locations[route.a].code}-{board.locations[route.b].code}"
        double = " " if route.twin == NO_TWIN else "="
        owner = seen.owner[place]
        closed = seen.players == 2 and route.twin != NO_TWIN and seen.owner[route.twin] >= 0
        holder = str(owner) if owner >= 0 else "x" if closed else "."
        cells.append(f"{route_id(place + 1)}{double}{ends:<7} {route.length} {route.color_name:<6} {holder}")
    height = -(-len(cells) // _COLUMNS)
    lines = ["Routes: id (= half of a double), ends, length, colour, the seat that claimed it"]
    lines += ["   ".join(cells[row::height]) for row in range(height)]
    lines += ["(. free" + (", x closed by the other half)" if seen.players == 2 else ")")]
    lines += _wrapped([f"{place.code} {place.name}" for place in board.locations])
    attractions = [place.code for place in board.locations if place.attraction]
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
