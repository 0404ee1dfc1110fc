"""The board as SVG: a headline, the map, the seats with their supplies and hands, the unseen tiles."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from referee.games.api import Action
from referee.games.drawing.look import Look
from referee.games.drawing.parts import WIDTH, moved, picture, rect, text
from referee.games.drawing.spots import Spots, spots_of
from referee.games.drawing.text import seat_name
from referee.games.manhattan_traffiq import events as ev
from referee.games.manhattan_traffiq.actions import VEHICLES, Attach, Compete, DrawTile, Place, Taxi, Truck
from referee.games.manhattan_traffiq.observation import Observation
from referee.games.manhattan_traffiq.view_city import city_parts, frame_of
from referee.games.manhattan_traffiq.view_tiles import SIDE_WORDS, in_words, tile, vehicle

_HEAD, _LEGEND, _SEAT, _HAND, _GAP = 28, 24, 28, 34, 3
_LEFT = 36
_HAND_TILE, _HAND_ACROSS = 28, 9
_UNSEEN_TILE, _UNSEEN_ACROSS, _UNSEEN_LINE = 18, 12, 23
_QUESTIONS = {
    "start": "the first player is drawn by lot",
    "deal": "starting hands are dealt",
    "turn": "choose an action",
    "place": "place a vehicle?",
    "compete": "compete?",
    "draw": "a tile is drawn",
    "over": "the match is over",
}
_DONE = {"A": "attach", "T": "taxi", "L": "truck", "D": "draw"}


def draw(observation: Observation, look: Look, revealed: Sequence[Any] = ()) -> str:
    """See `Drawing.draw`."""
    seen = observation
    hands = list(seen.hands)
    for other in revealed:
        hands = [one or more for one, more in zip(hands, other.hands, strict=True)]
    targets = [(action.x, action.y) for action in look.legal if isinstance(action, Attach)]
    spots = spots_of((action_places(seen, action) for action in look.legal), look)
    frame = frame_of(seen, targets)
    headline = _headline(seen, look)
    y = _HEAD + frame.height
    parts = [moved(0, y, "".join(_legend()))]
    y += _LEGEND
    for seat in range(seen.facts.players):
        seat_parts, height = _seat(seen, seat, hands[seat], look, spots)
        parts.append(moved(0, y, seat_parts))
        y += height + _GAP
    unseen, height = _unseen(seen, hands, spots)
    parts.append(moved(0, y, unseen))
    return picture(
        round(frame.width),
        round(y + height),
        title=f"Manhattan TraffIQ. {headline}",
        description=_description(seen, look),
        look=look,
        spots=spots,
        content=[
            moved(18, 14, vehicle("taxi", seen.turn_seat)) if seen.turn_seat >= 0 else "",
            text(_LEFT, 18, headline, size=11.5, css="ink b", width=WIDTH - _LEFT - 6),
            moved(0, _HEAD, "".join(city_parts(seen, frame, targets, spots))),
            *parts,
        ],
    )


def _headline(seen: Observation, look: Look) -> str:
    if seen.phase == "over":
        left = seen.facts.left
        best = max((points for seat, points in enumerate(seen.fleet.scores) if seat not in left), default=None)
        if best is None:
            return "The match is over"
        return f"The match is over; most points{' of those who stayed' if left else ''}: {best}"
    who = f"{seat_name(look, seen.turn_seat)}: " if seen.turn_seat >= 0 else ""
    final = "; final round" if seen.final_round else ""
    used = f"; done {', '.join(_DONE[letter] for letter in seen.used)}" if seen.used else ""
    return f"{who}{_QUESTIONS[seen.phase]}{used}{final}"


def _legend() -> Iterator[str]:
    for place, (side, words) in enumerate(SIDE_WORDS.items()):
        x = (8, 88, 178, 226)[place]
        yield moved(x, 4, tile(side * 4, 16)) + text(x + 20, 16, words, size=10, css="soft")
    yield moved(288, 12, vehicle("taxi", 0)) + text(300, 16, "taxi 1", size=10, css="soft")
    yield moved(346, 12, vehicle("truck", 0)) + text(360, 16, "truck 2", size=10, css="soft")


def _seat(seen: Observation, seat: int, hand: Sequence[str], look: Look, spots: Spots) -> tuple[str, int]:
    """What belongs to a seat, and how high it is."""
    counts = sorted(Counter(hand).items())
    lines = -(-len(counts) // _HAND_ACROSS)
    height = _SEAT + _HAND * lines
    turn = seat == seen.turn_seat and seen.phase != "over"
    left = " (left)" if seat in seen.facts.left else ""
    tiles = f"{seen.hand_sizes[seat]} tile{'' if seen.hand_sizes[seat] == 1 else 's'}"
    points = seen.fleet.scores[seat]
    parts = [
        rect(4, 0, WIDTH - 8, height, f"panel {'s-can' if turn else ''}".rstrip(), radius=5),
        moved(20, 14, vehicle("taxi", seat)),
        text(_LEFT, 18, seat_name(look, seat) + left, size=12, css="ink b", width=124),
    ]
    for kind, x in zip(VEHICLES, (172, 222), strict=True):
        number = (seen.fleet.taxis if kind == "taxi" else seen.fleet.trucks)[seat]
        content = moved(x, 14, vehicle(kind, seat)) + text(x + 15, 18, f"\u00d7{number}", size=11, css="ink")
        halo = rect(x - 13, 2, 46, 24, "halo", radius=4)
        parts.append(spots.spot(f"supply:{seat}-{kind}", f"supply of seat {seat}: {number} {kind}", content, halo))
    parts.append(text(262, 18, tiles, size=11, css="ink"))
    parts.append(text(WIDTH - 10, 18, f"{points} point{'' if points == 1 else 's'}", size=12, css="ink b e"))
    for place, (name, count) in enumerate(counts):
        x, y = _LEFT + 40 * (place % _HAND_ACROSS), _SEAT + _HAND * (place // _HAND_ACROSS)
        content = moved(x, y, tile(name, _HAND_TILE))
        if count > 1:
            content += text(x + _HAND_TILE + 1, y + 18, f"\u00d7{count}", size=10, css="ink")
        halo = rect(x - 2, y - 2, _HAND_TILE + 4, _HAND_TILE + 4, "halo", radius=4)
        named = f"tile:{name}" if seat == seen.turn_seat else f"hand:{seat}-{name}"
        parts.append(spots.spot(named, f"{name}: {in_words(name)}", content, halo))
    return "".join(parts), height


def _unseen(seen: Observation, hands: Sequence[Sequence[str]], spots: Spots) -> tuple[str, int]:
    """The stock, and which tiles may be in it."""
    known = Counter(name for seat, hand in enumerate(hands) if not seen.hands[seat] for name in hand)
    left = {
        name: number - known[name]
        for name, number in zip(seen.facts.tile_names, seen.unseen, strict=True)
        if number > known[name]
    }
    total = sum(left.values())
    where = "" if total == seen.stock else f" (and {total - seen.stock} in hidden hands)"
    parts = [text(8, 14, f"Stock: {seen.stock} tiles{where}", size=10.5, css="soft")]
    for place, (name, count) in enumerate(left.items()):
        x = 8 + 32.5 * (place % _UNSEEN_ACROSS)
        y = 21 + _UNSEEN_LINE * (place // _UNSEEN_ACROSS)
        parts.append(moved(x, y, tile(name, _UNSEEN_TILE)))
        if count > 1:
            parts.append(text(x + _UNSEEN_TILE + 1, y + 13, f"\u00d7{count}", size=10, css="soft"))
    lines = -(-len(seen.facts.tile_names) // _UNSEEN_ACROSS)
    height = 24 + _UNSEEN_LINE * lines
    halo = rect(2, 1, WIDTH - 4, height - 3, "halo", radius=6)
    return spots.spot("stock", f"the stock, {seen.stock} tiles", "".join(parts), halo), height


def _description(seen: Observation, look: Look) -> str:
    lines = []
    for seat in range(seen.facts.players):
        standing = [f"{piece.vehicle} at ({piece.x}, {piece.y})" for piece in seen.fleet.standing if piece.seat == seat]
        lines.append(
            f"Seat {seat}, {seat_name(look, seat)}: {seen.fleet.scores[seat]} points, supply "
            f"{seen.fleet.taxis[seat]} taxis, {seen.fleet.trucks[seat]} trucks, {seen.hand_sizes[seat]} tiles; "
            f"on the map: {', '.join(standing) or 'nothing'}."
        )
    return " ".join(lines)


def action_places(observation: Observation, action: Action) -> tuple[str, ...]:
    """See `Drawing.action_places`."""
    match action:
        case DrawTile():
            return ("stock",)
        case Attach(face, x, y):
            return (f"tile:{min(face[turn:] + face[:turn] for turn in range(4))}", f"cell:{x},{y}")
        case Taxi(x, y, to_x, to_y) | Truck(x, y, to_x, to_y):
            return (f"vertex:{x},{y}", f"vertex:{to_x},{to_y}")
        case Place(kind, x, y):
            return (f"supply:{observation.turn_seat}-{kind}", f"vertex:{x},{y}")
        case Compete(streets):
            return tuple(f"street:{street}" for street in streets)
    return ()


def event_places(payload: Any) -> tuple[str, ...]:
    """See `Drawing.event_places`."""
    match payload:
        case ev.Attached(_, _, x, y):
            return (f"cell:{x},{y}",)
        case ev.Drove(_, _, x, y, to_x, to_y):
            return (f"vertex:{x},{y}", f"vertex:{to_x},{to_y}")
        case ev.Placed(_, _, x, y) | ev.Competed(_, x, y) | ev.Returned(_, _, x, y):
            return (f"vertex:{x},{y}",)
        case ev.TileDrawn(_, name):
            return ("stock", f"tile:{name}") if name else ("stock",)
    return ()
