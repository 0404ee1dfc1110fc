"""What lies beside the drawn map: cards, tickets and the seats with what the viewer knows of them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from referee.games.drawing.look import Look
from referee.games.drawing.parts import WIDTH, circle, moved, path, rect, text
from referee.games.drawing.spots import Spots
from referee.games.drawing.text import seat_name, width_of
from referee.games.ticket_to_ride_new_york.actions import CARDS, ticket_id
from referee.games.ticket_to_ride_new_york.observation import Observation
from referee.games.ticket_to_ride_new_york.view_chart import chart_of, joined, map_points
from referee.games.ticket_to_ride_new_york.view_map import LETTERS, SEAT_FILLS

CARDS_HEIGHT = 78
_SEAT_LINE, _TICKET_LINE = 39, 21
_TICKETS_ACROSS, _TICKET_WIDTH = 6, 58
_LEFT = 36
"""Where the things of a seat begin."""
_CHIP = 26
_RETURNED_ROWS, _RETURNED_WIDTH = 3, 62
_FILLS = {name: "yellow" if name == "taxi" else name for name in CARDS}


def card_parts(seen: Observation, spots: Spots) -> Iterator[str]:
    """The row, deck, discards and tickets, from (0, 0), `CARDS_HEIGHT` high."""
    yield text(8, 14, "Face up", size=10, css="soft")
    x = 8
    for name, count in zip(CARDS, seen.row, strict=True):
        if count:
            content = "".join(moved(x + 38 * number, 19, _card(name)) for number in range(count))
            halo = rect(x - 2, 17, 38 * count, 34, "halo", radius=5)
            yield spots.spot(f"row:{name}", f"{count} face-up {name}", content, halo)
            x += 38 * count
    yield _pile(206, "deck", "Deck", str(seen.deck_size), f"the deck, {seen.deck_size} cards", spots)
    under = len(seen.under)
    tickets = f"{seen.unknown_tickets + under}"
    known = " ".join(ticket_id(number) if number else "?" for number in seen.under)
    told = f"the tickets: {seen.unknown_tickets} unseen, then {under} returned ones" + (f": {known}" if known else "")
    yield _pile(270, "tickets", "Tickets", tickets, told, spots)
    if known:
        yield text(332, 14, "returned", size=10, css="soft")
        for row, words in enumerate(_rows(known.split(" "))):
            yield text(332, 27 + 11 * row, words, size=10, css="ink", width=_RETURNED_WIDTH)
    yield text(8, 69, f"Discards {sum(seen.discards)}", size=10, css="soft")
    yield chips(76, 58, seen.discards)
    if any(seen.aside):
        yield text(270, 69, "aside", size=10, css="soft")
        yield chips(300, 58, seen.aside)


def _rows(names: Sequence[str]) -> list[str]:
    """Names in rows that hold them; the last row takes what is left."""
    rows: list[str] = []
    for name in names:
        longer = f"{rows[-1]} {name}" if rows else name
        if rows and len(rows) < _RETURNED_ROWS and width_of(longer, 10) > _RETURNED_WIDTH:
            rows.append(name)
        else:
            rows[-1:] = [longer]
    return rows


def _pile(x: float, place: str, title: str, count: str, tooltip: str, spots: Spots) -> str:
    content = rect(x, 19, 56, 30, "panel edge", radius=4) + text(x + 28, 39, count, size=13, css="ink b m")
    label = text(x, 14, title, size=10, css="soft")
    return label + spots.spot(place, tooltip, content, rect(x - 2, 17, 60, 34, "halo", radius=5))


@lru_cache(maxsize=16)
def _card(name: str) -> str:
    """34 x 30."""
    fill = _FILLS[name]
    body = rect(0, 0, 34, 30, f"f-{fill} piece", radius=4)
    if name == "taxi":
        body += path("M3 23h4v3h-4z M11 23h4v3h-4z M19 23h4v3h-4z M27 23h4v3h-4z", "f-black")
        return body + text(17, 18, LETTERS[name], size=15, css=f"on-{fill} b m")
    return body + text(17, 20.5, LETTERS[name], size=15, css=f"on-{fill} b m")


@lru_cache(maxsize=1024)
def chips(x: float, y: float, counts: Sequence[int], unknown: int = 0) -> str:
    """Cards by kind with their number, then those nobody knows."""
    parts = []
    for name, count in zip(CARDS, counts, strict=True):
        if count:
            parts.append(_chip(x, y, f"f-{_FILLS[name]}", f"on-{_FILLS[name]}", f"{LETTERS[name]}{count}"))
            x += _CHIP
    if unknown:
        parts.append(_chip(x, y, "paper", "ink", f"?{unknown}"))
    return "".join(parts)


def _chip(x: float, y: float, fill: str, ink: str, content: str) -> str:
    body = rect(x, y, _CHIP - 3, 14, f"{fill} edge", radius=3)
    return body + text(x + (_CHIP - 3) / 2, y + 10.8, content, size=10.5, css=f"{ink} b m")


def token(x: float, y: float, seat: int, radius: float = 8) -> str:
    fill = SEAT_FILLS[seat]
    return circle(x, y, radius, f"f-{fill} piece") + text(x, y + 4, str(seat), size=11, css=f"on-{fill} b m")


def seat_parts(
    seen: Observation, knowing: Mapping[int, Observation], look: Look, spots: Spots, top: float
) -> tuple[list[str], float]:
    """The seats from `top` downwards, and where they end. `knowing` has the observations of seats the viewer shares."""
    parts = []
    y = top
    for seat in range(seen.players):
        own = knowing.get(seat)
        tickets, offered = _tickets_of(seen, own, seat)
        lines = -(-(len(tickets) + len(offered)) // _TICKETS_ACROSS)
        height = _SEAT_LINE + _TICKET_LINE * lines + 4
        parts.append(_seat(seen, own, seat, look, y, height))
        shown = [*((number, False) for number in tickets), *((number, True) for number in offered)]
        for place, (number, open_) in enumerate(shown):
            x = _LEFT + (_TICKET_WIDTH + 2) * (place % _TICKETS_ACROSS)
            line = y + _SEAT_LINE + _TICKET_LINE * (place // _TICKETS_ACROSS)
            parts.append(_ticket(seen, seat, number, open_, x, line, spots))
        y += height + 3
    return parts, y


def _seat(seen: Observation, own: Observation | None, seat: int, look: Look, y: float, height: float) -> str:
    asked, left = seat in seen.asked, seat in seen.left
    hand = own.hand if own is not None else seen.known_of(seat)
    unknown = seen.hand_sizes[seat] - sum(hand)
    points, detail = _points(seen, seat)
    state = " (left)" if left else " (to play)" if asked else ""
    name = seat_name(look, seat)
    counts = f"{seen.taxis[seat]} taxis, {seen.hand_sizes[seat]} cards, {seen.ticket_counts[seat]} tickets"
    parts = [
        f"<g>{_tooltip(f'seat {seat}: {counts}, {points}; {detail}')}",
        rect(4, y, WIDTH - 8, height, "panel" + (" s-can" if asked else ""), radius=5),
        token(20, y + 13, seat),
        text(_LEFT, y + 17, name + state, size=12, css="ink b", width=150),
        text(194, y + 17, counts, size=10.5, css="ink", width=146),
        text(WIDTH - 10, y + 17, points, size=12, css="ink b e"),
        chips(_LEFT, y + 22, hand, unknown),
        text(WIDTH - 10, y + 32, detail, size=10, css="soft e"),
        "</g>",
    ]
    return "".join(parts)


def _tooltip(content: str) -> str:
    return f"<title>{content}</title>"


def _points(seen: Observation, seat: int) -> tuple[str, str]:
    """The score, or before the end what the map gives, and what it is made of."""
    for score in seen.scores:
        if score.seat == seat:
            made = f"routes {score.route_points}, tickets {score.ticket_points}, sights {score.attraction_points}"
            return f"{score.total} points", made
    routes, sights = map_points(chart_of(seen.box), seen.owner, seat)
    return f"{routes + sights}+ points", f"routes {routes}, sights {sights}"


def _tickets_of(seen: Observation, own: Observation | None, seat: int) -> tuple[list[int], list[int]]:
    """Numbers of the tickets the seat is known to have, and of those it is offered."""
    for score in seen.scores:
        if score.seat == seat:
            return sorted(int(name[1:]) for name in (*score.completed, *score.failed)), []
    return ([], []) if own is None else (list(own.tickets), list(own.offered))


def _ticket(seen: Observation, seat: int, number: int, offered: bool, x: float, y: float, spots: Spots) -> str:
    chart = chart_of(seen.box)
    a, b, points = chart.tickets[number - 1]
    done = joined(chart, seen.owner, seat, number)
    state = "offered" if offered else "done" if done else "open"
    one, other = chart.places[a], chart.places[b]
    content = rect(x, y, _TICKET_WIDTH, 17, "paper edge" + (" dash" if offered else ""), radius=3)
    ticked = done and not offered
    ends = f"{one.code}-{other.code}"
    content += text(x + (12 if ticked else 5), y + 12.3, ends, size=10, css="ink", width=36 if ticked else 43)
    content += text(x + _TICKET_WIDTH - 4, y + 12.3, str(points), size=10.5, css="ink b e")
    if ticked:
        content += path(f"M{x + 3} {y + 9}l3 4l5 -9", "hole s-now", width=2)
    title = f"{ticket_id(number)} {one.name} - {other.name}, {points} points, {state}"
    return spots.spot(f"ticket:{ticket_id(number)}", title, content, rect(x - 1, y - 1, 60, 19, "halo", radius=4))
