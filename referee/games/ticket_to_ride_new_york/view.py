"""Pictures of an observation, for people and language models."""

from collections.abc import Sequence
from textwrap import wrap

from referee.games.api import seat_name
from referee.games.ticket_to_ride_new_york import events as ev
from referee.games.ticket_to_ride_new_york.actions import (
    CARDS,
    ROUTE_NUMBERS,
    TAXI,
    TICKET_NUMBERS,
    Answer,
    Claim,
    Draw,
    DrawTickets,
    Keep,
    Pass,
    Take,
    ticket_id,
)
from referee.games.ticket_to_ride_new_york.board import NO_TWIN, Board, board_of
from referee.games.ticket_to_ride_new_york.drawing import (
    QUESTIONS,
    action_places,
    draw,
    event_places,
    seat_sign,
    setting_up,
)
from referee.games.ticket_to_ride_new_york.observation import Observation

__all__ = [
    "action_places",
    "action_sentence",
    "dealt",
    "draw",
    "event_places",
    "event_sentence",
    "points",
    "questions",
    "seat_sign",
    "text_board",
]

_COLUMNS = 3
_WIDTH = 80
_NAME = 12
"""Columns of a player's name in the table of seats."""
_TICKETS_TOLD = 2
"""So many tickets of each kind in the sentence about a score; the board lists all."""


def text_board(observation: Observation, names: Sequence[str] = ()) -> str:
    """Table, seats, what the viewer holds, and all routes with their owners."""
    board = board_of(observation.box)
    lines = [*_table_lines(observation, board, names), "", *_seat_lines(observation, names), ""]
    if observation.viewer is not None:
        lines += [*_own_lines(observation, board), ""]
    lines += _route_lines(observation, board)
    if observation.scores:
        told = [_score(score, board, names, len(board.tickets)) for score in observation.scores]
        lines += ["", *(line for score in told for line in wrap(score, _WIDTH, break_on_hyphens=False))]
    return "\n".join(line.rstrip() for line in lines)


def _table_lines(seen: Observation, board: Board, names: Sequence[str]) -> list[str]:
    viewer = "a spectator" if seen.viewer is None else seat_name(names, seen.viewer)
    last = f"; {seen.last_turns} last turns to play" if seen.last_turns else ""
    turn = "Set-up" if setting_up(seen) else f"Turn of {seat_name(names, seen.turn_seat)}"
    top = "unseen" if seen.unknown_tickets else "none"
    under = ", ".join(_ticket(board, ticket_id(number)) if number else "?" for number in seen.under)
    aside = f"; set aside: {_cards(seen.aside)}" if any(seen.aside) else ""
    return [
        *_hung("", f"Seen by {viewer}. {turn}: {QUESTIONS[seen.stage]}{last}."),
        *_hung("Face up:  ", _cards(seen.row)),
        f"Deck:     {seen.deck_size} cards",
        *_hung("Discards: ", _cards(seen.discards) + aside),
        *_hung("Tickets:  ", f"{seen.unknown_tickets} {top}" + (f", then returned ones: {under}" if under else "")),
    ]


def _hung(head: str, body: str) -> list[str]:
    """Lines of at most 80 columns, those after the first indented like the body."""
    return wrap(head + body, _WIDTH, subsequent_indent=" " * len(head), break_on_hyphens=False)


def _seat_lines(seen: Observation, names: Sequence[str]) -> list[str]:
    label = f"{'name':<{_NAME}}  " if names else ""
    lines = [f"seat  {label}points  taxis  cards  tickets  known cards"]
    for seat in range(seen.players):
        mark = "*" if seat in seen.asked else "x" if seat in seen.left else " "
        points = sum(board_of(seen.box).map_points(seen.holders(), seat))
        name = f"{seat_name(names, seat)[:_NAME]:<{_NAME}}  " if names else ""
        head = (
            f"{mark}{seat:>3}  {name}{points:>6}  {seen.taxis[seat]:>5}  {seen.hand_sizes[seat]:>5}"
            f"  {seen.ticket_counts[seat]:>7}  "
        )
        lines += _hung(head, _cards(seen.known_of(seat)))
    lines.append("(points so far: routes and attractions; known: everybody saw it get them;")
    lines.append("* is asked, x has left)")
    return lines


def _own_lines(seen: Observation, board: Board) -> list[str]:
    lines = [f"Your hand: {_cards(seen.hand)}"]
    for title, numbers in (("Your ticket: ", seen.tickets), ("Offered: ", seen.offered)):
        for number in numbers:
            ticket = board.tickets[number - 1]
            one, other = board.locations[ticket.a], board.locations[ticket.b]
            done = seen.viewer is not None and board.completed(seen.holders(), seen.viewer, number)
            lines += _hung(
                title,
                f"{one.name} ({one.code}) - {other.name} ({other.code}), {ticket.points} points"
                + (", done" if done else ""),
            )
    return lines


def _route_lines(seen: Observation, board: Board) -> list[str]:
    cells = []
    for place, route in enumerate(board.routes):
        ends = f"{board.locations[route.a].code}-{board.locations[route.b].code}"
        double = " " if route.twin == NO_TWIN else "="
        owner = seen.owner[place]
        closed = seen.players == 2 and route.twin != NO_TWIN and seen.owner[route.twin] > 0
        holder = str(owner - 1) if owner else "x" if closed else "."
        cells.append(f"{double}{ends:<7} {route.length} {route.color_name:<6} {holder}")
    height = -(-len(cells) // _COLUMNS)
    lines = ["Routes: ends (= half of a double), length, colour, the seat that claimed it"]
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


def action_sentence(action: Answer, observation: Observation, names: Sequence[str] = ()) -> str:
    """The action as an order."""
    board = board_of(observation.box)
    match action:
        case Claim():
            return f"Claim {_claim(board, action.route, action.card, action.taxis)}"
        case Take(card):
            return f"Take a face-up {card} card"
        case Draw():
            return "Draw a card from the deck"
        case DrawTickets():
            return "Draw tickets"
        case Keep(tickets):
            return f"Keep {' and '.join(_ticket(board, name) for name in tickets)}"
        case Pass():
            return "Pass"
    return "Do without a second card"


def event_sentence(payload: ev.Payload, observation: Observation, names: Sequence[str] = ()) -> str:
    """The event as a sentence."""
    board = board_of(observation.box)
    if isinstance(payload, ev.CardTurnedUp):
        return f"{_a_card(payload.card)} is turned up"
    if isinstance(payload, ev.RowFlushed):
        return f"the face-up cards are replaced: {_cards(payload.cards)}"
    if isinstance(payload, ev.DeckReshuffled):
        return f"the {sum(payload.cards)} discards become the new deck"
    who = seat_name(names, payload.seat)
    match payload:
        case ev.FirstPlayer():
            return f"{who} has the first turn"
        case ev.CardDrawn(card=card):
            return f"{who} draws {_a_card(card)} from the deck"
        case ev.CardTaken(card=card):
            return f"{who} takes a face-up {card} card"
        case ev.TicketDrawn(ticket=ticket):
            return f"{who} draws {f'ticket {_ticket(board, ticket)}' if ticket else 'a ticket'}"
        case ev.TicketsKept():
            return f"{who} {_kept(board, payload)}"
        case ev.RouteClaimed(route=route, card=card, taxis=taxis):
            return f"{who} claims {_claim(board, route, card, taxis)}"
        case ev.Stopped():
            return f"{who} does without a second card"
        case ev.Passed():
            return f"{who} passes"
        case ev.LastTurns():
            return f"{who} has two taxis or fewer left: everybody has one more turn"
        case ev.SeatLeft():
            return f"{who} leaves; its routes stay, its cards and tickets are out of play"
        case ev.SeatScore():
            return _score(payload, board, names)


def points(observation: Observation) -> tuple[int, ...]:
    """Per seat what its routes and attractions count so far; tickets are secret."""
    board = board_of(observation.box)
    return tuple(sum(board.map_points(observation.holders(), seat)) for seat in range(observation.players))


dealt = {"card_drawn": "card", "card_turned_up": "face-up card", "ticket_drawn": "ticket"}
"""What chance deals in numbers, by the KIND of the event."""

questions = {
    "starting_tickets": "which of your tickets to keep",
    "turn": "choose an action",
    "second_card": "choose the second card",
    "keep_tickets": "which of the tickets drawn to keep",
}
"""What a decision asks, by its kind."""


def _claim(board: Board, route_name: str, card: str, taxis: int) -> str:
    """The route by its ends, of a double one which half where the payment does not tell, and the payment."""
    place = ROUTE_NUMBERS[route_name] - 1
    route = board.routes[place]
    ends = f"{board.locations[route.a].name} to {board.locations[route.b].name}"
    if route.twin != NO_TWIN and board.routes[route.twin].color == route.color:
        ends += f" ({'first' if place < route.twin else 'second'} half)"
    elif route.twin != NO_TWIN and card == CARDS[TAXI]:
        ends += f" ({route.color_name})"
    wild = f"{taxis} taxi{'' if taxis == 1 else 's'}"
    paid = "" if card == CARDS[TAXI] else f"{route.length - taxis} {card}"
    return f"{ends} with {' and '.join(part for part in (paid, wild if taxis else '') if part)}"


def _a_card(card: str) -> str:
    return f"{'an' if card.startswith(('a', 'e', 'i', 'o', 'u')) else 'a'} {card} card" if card else "a card"


def _ticket(board: Board, name: str) -> str:
    ticket = board.tickets[TICKET_NUMBERS[name] - 1]
    return f"{board.locations[ticket.a].name} to {board.locations[ticket.b].name} ({ticket.points})"


def _tickets(board: Board, names: Sequence[str], most: int = len(TICKET_NUMBERS)) -> str:
    """So many tickets at most, and how many more there are."""
    shown = [_ticket(board, name) for name in names[:most]]
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    return ", ".join(shown) or "none"


def _kept(board: Board, told: ev.TicketsKept) -> str:
    count = f"{told.kept_count} ticket{'s' if told.kept_count > 1 else ''}"
    kept = " and ".join(_ticket(board, name) for name in told.kept) or count
    returned = " and ".join(_ticket(board, name) for name in told.returned) or str(told.returned_count)
    return f"keeps {kept}" + (f"; returns {returned}" if told.returned_count else "")


def _score(score: ev.SeatScore, board: Board, names: Sequence[str], most: int = _TICKETS_TOLD) -> str:
    return (
        f"{seat_name(names, score.seat)} scores {score.total}: routes {score.route_points}, "
        f"tickets {score.ticket_points} (completed {_tickets(board, score.completed, most)}; "
        f"failed {_tickets(board, score.failed, most)}), attractions {score.attraction_points}"
    )
