"""A text board and plain sentences."""

from collections.abc import Sequence
from textwrap import wrap

from referee.games.api import seat_name
from referee.games.manhattan_traffiq import actions as act
from referee.games.manhattan_traffiq import events as ev
from referee.games.manhattan_traffiq.actions import TraffiqAction
from referee.games.manhattan_traffiq.drawing import action_places, draw, event_places, seat_sign
from referee.games.manhattan_traffiq.events import TraffiqEvent
from referee.games.manhattan_traffiq.observation import Observation

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

COLUMNS = 80
SEAT_COLOURS = ("red", "yellow", "blue", "green")
_CELL = 6
_MARGIN = 5
_NAME = 24
_CELLS_ACROSS = (COLUMNS - _MARGIN - 2) // _CELL
_STREETS_NAMED = {
    "h": "the horizontal street",
    "v": "the vertical street",
    "w": "the street to the west",
    "e": "the street to the east",
    "s": "the street to the south",
    "n": "the street to the north",
}
_ACROSS = {"r": "════", "t": "────", "g": " gg ", "b": " bb "}
_DOWN = {"r": "║", "t": "│", "g": "g", "b": "b"}
_LEGEND = (
    "+ complete vertex   . incomplete   t0 taxi, T0 truck of seat 0",
    "══ red street   ── beige street   gg park   bb water",
    "r t g b between dots: colour of an open side (r red, t beige: half streets;",
    "g park, b water)",
)


def text_board(seen: Observation, names: Sequence[str] = ()) -> str:
    """The map north up, in panels where it is wide, then the seats and what is asked."""
    lines = [*_panels(seen), "", *_LEGEND, ""]
    for seat in range(seen.facts.players):
        lines += _wrapped(_seat_line(seen, seat, names))
    lines += [*_wrapped(_status(seen)), *_unseen(seen), *_question(seen)]
    return "\n".join(line.rstrip() for line in lines)


def _panels(seen: Observation) -> list[str]:
    faces = {(tile.x, tile.y): tile.face for tile in seen.map.tiles}
    vehicles = {
        (piece.x, piece.y): f"{'T' if piece.vehicle == 'truck' else 't'}{piece.seat}" for piece in seen.fleet.standing
    }
    first, last = min(x for x, _ in faces), max(x for x, _ in faces)
    lines: list[str] = []
    for west in range(first, last + 1, _CELLS_ACROSS):
        east = min(west + _CELLS_ACROSS, last + 1)
        if lines:
            lines.append("")
        lines.append(" " * _MARGIN + "".join(f"{x:<{_CELL}}" for x in range(west, east + 1)))
        lines += _panel(faces, vehicles, west, east)
    return lines


def _panel(faces: dict[tuple[int, int], str], vehicles: dict[tuple[int, int], str], west: int, east: int) -> list[str]:
    """Vertices from x = `west` to `east`, and the cells between them."""
    lines = []
    south, north = min(y for _, y in faces), max(y for _, y in faces) + 1
    for y in range(north, south - 1, -1):
        row = f"{y:>{_MARGIN - 1}} "
        under = " " * _MARGIN
        for x in range(west, east + 1):
            row += f"{vehicles.get((x, y)) or _vertex(faces, x, y):<2}"
            row += _side(faces.get((x, y)), faces.get((x, y - 1)), 2, _ACROSS, "{0:^4}") if x < east else ""
            under += f"{_side(faces.get((x, y - 1)), faces.get((x - 1, y - 1)), 3, _DOWN, '{0}'):<2}"
            under += " " * (_CELL - 2)
        lines += [row, under]
    return lines[:-1]


def _vertex(faces: dict[tuple[int, int], str], x: int, y: int) -> str:
    around = sum(cell in faces for cell in ((x, y), (x - 1, y), (x, y - 1), (x - 1, y - 1)))
    return "+" if around == 4 else "." if around else " "


def _side(after: str | None, before: str | None, side: int, full: dict[str, str], half: str) -> str:
    """The border between two cells; `side` is that of `after`, the opposite one that of `before`."""
    if after is not None and before is not None:
        return full[after[side]]
    face = after or before
    if face is None:
        return half.format(" ")
    return half.format(face[side if after else side - 2])


def _seat_line(seen: Observation, seat: int, names: Sequence[str]) -> str:
    name = f"{seat} {names[seat][:_NAME]}" if seat < len(names) else f"seat {seat}"
    who = f"{name} ({SEAT_COLOURS[seat]})"
    if seat in seen.facts.left:
        return f"{who}: left the match"
    turn = "  <- turn" if seat == seen.turn_seat and seen.phase != "over" else ""
    hand = " ".join(seen.hands[seat]) if seen.hands[seat] else _count(seen.hand_sizes[seat], "tile")
    supply = f"{_count(seen.fleet.taxis[seat], 'taxi')}, {_count(seen.fleet.trucks[seat], 'truck')}"
    return f"{who}: {_count(seen.fleet.scores[seat], 'point')}, supply {supply}, hand {hand}{turn}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _status(seen: Observation) -> str:
    final = ", final round" if seen.final_round else ""
    used = f", done this turn {seen.used}" if seen.used else ""
    return f"stock {_count(seen.stock, 'tile')}, {_count(seen.turns, 'turn')} played{used}{final}"


def _unseen(seen: Observation) -> list[str]:
    """The tiles that lie in the stock or in hidden hands."""
    left = [
        name + (f"*{number}" if number > 1 else "")
        for name, number in zip(seen.facts.tile_names, seen.unseen, strict=True)
        if number
    ]
    return _wrapped(f"unseen tiles: {' '.join(left) or 'none'}")


def _wrapped(line: str) -> list[str]:
    return wrap(line, COLUMNS, subsequent_indent="  ", break_on_hyphens=False)


def _question(seen: Observation) -> list[str]:
    if seen.phase == "place":
        places = " ".join(f"({x}, {y})" for x, y in seen.open_vertices)
        return _wrapped(f"a vehicle may be placed on {places}")
    if seen.phase == "compete" and seen.spot is not None:
        streets = " and ".join(_STREETS_NAMED[street] for street in seen.streets)
        return _wrapped(f"competing at ({seen.spot[0]}, {seen.spot[1]}) is possible on {streets}")
    return ["the match is over"] if seen.phase == "over" else []


def action_sentence(action: TraffiqAction, observation: Observation, names: Sequence[str] = ()) -> str:
    """The action as an order."""
    match action:
        case act.EndTurn():
            return "End the turn"
        case act.DrawTile():
            return "Draw a city tile"
        case act.Attach(face, x, y):
            return f"Attach a tile to ({x}, {y}): {_sides(face)}"
        case act.Taxi(x, y, to_x, to_y):
            return f"Drive the taxi at ({x}, {y}) to ({to_x}, {to_y})"
        case act.Truck(x, y, to_x, to_y):
            return f"Drive the truck at ({x}, {y}) to ({to_x}, {to_y})"
        case act.Place(vehicle, x, y):
            return f"Place a {vehicle} on ({x}, {y})"
        case act.Compete(streets):
            return f"Compete on {' and '.join(_STREETS_NAMED[street] for street in streets)}"
        case act.Decline():
            return "Decline"


def event_sentence(payload: TraffiqEvent, observation: Observation, names: Sequence[str] = ()) -> str:
    """The event as a sentence."""
    if isinstance(payload, ev.Finished):
        return f"the match is over: {_END_SAID[payload.reason]}"
    if isinstance(payload, ev.FinalRound):
        return f"the final round begins with {seat_name(names, payload.first)}: {_FINAL_SAID[payload.reason]}"
    who = seat_name(names, payload.seat)
    match payload:
        case ev.StartPlayer():
            return f"{who} has the first turn"
        case ev.TileDrawn(tile=tile):
            return f"{who} draws {f'the tile {_tile(tile)}' if tile else 'a tile'}"
        case ev.Attached(face=face, x=x, y=y):
            return f"{who} attaches a tile to ({x}, {y}): {_sides(face)}"
        case ev.Placed(vehicle=vehicle, x=x, y=y):
            return f"{who} places a {vehicle} on ({x}, {y})"
        case ev.Drove(vehicle=vehicle, x=x, y=y, to_x=to_x, to_y=to_y):
            return f"{who} drives a {vehicle} from ({x}, {y}) to ({to_x}, {to_y})"
        case ev.Competed(x=x, y=y, streets=streets):
            named = " and ".join(_STREETS_NAMED[street] for street in streets)
            return f"{who} competes at ({x}, {y}) on {named}"
        case ev.Returned(vehicle=vehicle, x=x, y=y):
            return f"{who} takes its {vehicle} at ({x}, {y}) back"
        case ev.Declined(what=what):
            return f"{who} {'places no further vehicle' if what == 'place' else 'does not compete'}"
        case ev.TurnEnded():
            return f"{who} ends its turn"
        case ev.Withdrew():
            return f"{who} leaves the match; its vehicles leave the map"


def points(observation: Observation) -> tuple[int, ...]:
    """Per seat the points of its vehicles on the map."""
    return observation.fleet.scores


dealt = {"tile_drawn": "tile"}
"""What chance deals in numbers, by the KIND of the event."""

questions = {"turn": "choose an action", "place": "place a vehicle?", "compete": "compete?"}
"""What a decision asks, by its kind."""

_FINAL_SAID = {
    "stock": "the last tile has been drawn",
    "no_progress": "nobody attached or drew for too long",
    "turn_limit": "the turn limit is reached",
}
_END_SAID = {
    "all_placed": "a seat has all its vehicles on the map",
    "final_round": "the final round has been played",
    "last_seat": "one seat is left",
}


_COLOURS = {"r": "red", "t": "beige", "g": "park", "b": "water"}


def _sides(face: str) -> str:
    named = zip(("north", "east", "south", "west"), face, strict=True)
    return ", ".join(f"{name} {_COLOURS[side]}" for name, side in named)


def _tile(name: str) -> str:
    """A tile by its sides, clockwise: tiles are known by nothing else."""
    return "-".join(_COLOURS[side] for side in name)
