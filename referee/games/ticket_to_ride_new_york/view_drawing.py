"""The board as SVG: a headline, the map, the cards, the seats."""

from collections.abc import Mapping, Sequence
from typing import Any

from referee.games.api import Action
from referee.games.drawing.look import Look
from referee.games.drawing.parts import WIDTH, moved, picture, text
from referee.games.drawing.spots import spots_of
from referee.games.drawing.text import seat_name
from referee.games.ticket_to_ride_new_york import events as ev
from referee.games.ticket_to_ride_new_york.actions import Claim, Draw, DrawTickets, Keep, Take, route_id
from referee.games.ticket_to_ride_new_york.observation import Observation
from referee.games.ticket_to_ride_new_york.view_chart import chart_of
from referee.games.ticket_to_ride_new_york.view_map import map_parts
from referee.games.ticket_to_ride_new_york.view_table import CARDS_HEIGHT, card_parts, seat_parts, token

_HEAD = 24
QUESTIONS = {
    "lot": "the first player is drawn by lot",
    "hands": "starting hands are dealt",
    "refill": "the row is refilled",
    "unseen": "a card is drawn unseen",
    "deal_tickets": "starting tickets are dealt",
    "draw_ticket": "tickets are drawn",
    "starting_tickets": "starting tickets are chosen",
    "turn": "choose an action",
    "second_card": "choose the second card",
    "keep_tickets": "choose among the tickets drawn",
    "over": "the match is over",
}


def draw(observation: Observation, look: Look, revealed: Sequence[Any] = ()) -> str:
    """See `Drawing.draw`."""
    seen = observation
    spots = spots_of((action_places(seen, action) for action in look.legal), look)
    knowing: Mapping[int, Observation] = {
        other.viewer: other for other in (*revealed, seen) if other.viewer is not None
    }
    top = _HEAD + chart_of(seen.box).height
    seats, bottom = seat_parts(seen, knowing, look, spots, top + CARDS_HEIGHT)
    headline = _headline(seen, look)
    return picture(
        WIDTH,
        bottom + 2,
        title=f"Ticket to Ride: New York. {headline}",
        description=_description(seen, look),
        look=look,
        spots=spots,
        content=[
            token(16, 12, seen.turn_seat, 7.5) if seen.stage != "over" else "",
            text(30, 16, headline, size=11.5, css="ink b", width=WIDTH - 36),
            moved(0, _HEAD, "".join(map_parts(seen.box, seen.owner, seen.players, spots))),
            moved(0, top, "".join(card_parts(seen, spots))),
            *seats,
        ],
    )


def _headline(seen: Observation, look: Look) -> str:
    if seen.stage == "over":
        best = max((score.total for score in seen.scores if score.seat not in seen.left), default=None)
        if best is None:
            return "The match is over"
        return f"The match is over; most points{' of those who stayed' if seen.left else ''}: {best}"
    left = seen.last_turns
    last = f"; {left} last turn{'s' if left > 1 else ''} to play" if left else ""
    return f"{seat_name(look, seen.turn_seat)}: {QUESTIONS[seen.stage]}{last}"


def _description(seen: Observation, look: Look) -> str:
    """The public position in sentences."""
    lines = []
    for seat in range(seen.players):
        routes = [route_id(place + 1) for place, owner in enumerate(seen.owner) if owner == seat]
        lines.append(
            f"Seat {seat}, {seat_name(look, seat)}: {seen.taxis[seat]} taxis, {seen.hand_sizes[seat]} cards, "
            f"{seen.ticket_counts[seat]} tickets, routes {' '.join(routes) or 'none'}."
        )
    return " ".join(lines)


def action_places(observation: Observation, action: Action) -> tuple[str, ...]:
    """See `Drawing.action_places`."""
    match action:
        case Claim(route):
            return (f"route:{route}",)
        case Take(card):
            return (f"row:{card}",)
        case Draw():
            return ("deck",)
        case DrawTickets():
            return ("tickets",)
        case Keep(tickets):
            return tuple(f"ticket:{ticket}" for ticket in tickets)
    return ()


def event_places(payload: Any) -> tuple[str, ...]:
    """See `Drawing.event_places`."""
    match payload:
        case ev.RouteClaimed(_, route):
            return (f"route:{route}",)
        case ev.CardTurnedUp(card):
            return (f"row:{card}",)
        case ev.CardDrawn() | ev.DeckReshuffled():
            return ("deck",)
        case ev.TicketDrawn(_, ticket):
            return ("tickets", f"ticket:{ticket}") if ticket else ("tickets",)
        case ev.TicketsKept():
            return tuple(f"ticket:{ticket}" for ticket in payload.kept)
    return ()
