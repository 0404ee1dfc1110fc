"""Positions from drawings, and random matches.

A drawing shows whole cells, north up: `+` at vertices, two signs for a side between them, a sign for a side below them.

    +--+==+      -- | beige    == # red    .. : park    ~~ ~ water
    |  #  :      XX inside a cell: no tile there
    +~~+..+

Cell (0, 0) is the one in the south-west corner, vertex (0, 0) its south-west corner.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any

from referee.games.api import resolve_options
from referee.games.keyed import random_outcome
from referee.games.manhattan_traffiq import GAME
from referee.games.manhattan_traffiq.actions import TEXT
from referee.games.manhattan_traffiq.city import streets_through

ACROSS = {"--": "t", "==": "r", "..": "g", "~~": "b"}
DOWN = {"|": "t", "#": "r", ":": "g", "~": "b"}


def layout(drawing: str) -> list[dict[str, Any]]:
    """The tiles of a drawing as a start layout."""
    lines = [line.strip() for line in drawing.strip().splitlines()]
    rows = len(lines) // 2
    columns = (len(lines[0]) - 1) // 3
    tiles = []
    for y in range(rows):
        above, inside, below = lines[2 * (rows - 1 - y) : 2 * (rows - 1 - y) + 3]
        inside = inside.ljust(len(above))
        for x in range(columns):
            if inside[3 * x + 1 : 3 * x + 3] == "XX":
                continue
            side = slice(3 * x + 1, 3 * x + 3)
            face = ACROSS[above[side]] + DOWN[inside[3 * x + 3]] + ACROSS[below[side]] + DOWN[inside[3 * x]]
            tiles.append({"x": x, "y": y, "face": face})
    return tiles


def name_of(face: str) -> str:
    return min(face[i:] + face[:i] for i in range(4))


def grid(columns: int, rows: int, *holes: tuple[int, int]) -> str:
    """A drawing of beige blocks all over, without tiles on the cells `holes`."""
    lines = ["+--" * columns + "+"]
    for y in reversed(range(rows)):
        lines.append("".join("|XX" if (x, y) in holes else "|  " for x in range(columns)) + "|")
        lines.append("+--" * columns + "+")
    return "\n".join(lines)


def position(
    drawing: str,
    vehicles: Mapping[tuple[int, int], str] | None = None,
    *,
    players: int = 2,
    hands: Iterable[Iterable[str]] = (),
    stock: Mapping[str, int] | None = None,
    seat: int = 0,
    options: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Any:
    """A state in phase 'turn'. A vehicle is written `t1`, a taxi of seat 1, or `T0`, a truck of seat 0."""
    turned = (options or {}).get("tiles_may_rotate", True)
    held = [[name_of(tile) if turned else tile for tile in hand] for hand in hands] or [[] for _ in range(players)]
    left = {"tttt": 9} if stock is None else dict(stock)
    counts = Counter(left)
    for hand in held:
        counts.update(hand)
    counts["bbbb"] += 9  # so that the set is large enough for set-up; put away below
    data = GAME.default_data()
    data["layouts"]["times_square"]["drawn"] = layout(drawing)
    data["tile_sets"]["drawn"] = {"title": "for a test", "confidence": "R", "tiles": dict(counts)}
    given = {"start_player": "seat_0", "tile_set": "drawn", "times_square_layout": "drawn", "data": data}
    full = resolve_options(GAME.id, GAME.options, {**given, **(options or {})})
    start = GAME.new_initial_state(players, full).to_dict()
    standing = sorted((y, x, piece) for (x, y), piece in (vehicles or {}).items())
    start |= {
        "phase": "turn",
        "seat": seat,
        "hands": [sorted(hand) for hand in held],
        "stock": {name: count for name, count in sorted(left.items()) if count},
        "vehicles": [[x, y, int(piece[1]), "truck" if piece[0] == "T" else "taxi"] for y, x, piece in standing],
        **fields,
    }
    return GAME.state_from_dict(start)


def legal(state: Any, kind: str = "") -> list[str]:
    """The legal actions as text, those of one kind."""
    texts = [TEXT.format(action) for action in state.legal_actions(state.decisions()[0].seat)]
    return [text for text in texts if text.startswith(kind)]


def act(state: Any, *texts: str) -> list[Any]:
    """Answer with these actions, one after the other; the public payloads of all events."""
    events: list[Any] = []
    for text in texts:
        events += state.apply({state.decisions()[0].seat: TEXT.parse(text)})
    return [event.public for event in events]


def on_map(state: Any) -> dict[tuple[int, int], str]:
    """The vehicles as in `position`."""
    return {(it.x, it.y): f"{'T' if it.vehicle == 'truck' else 't'}{it.seat}" for it in state.fleet.standing}


def asked(state: Any) -> tuple[int, str] | None:
    """Seat and kind of the open decision."""
    decisions = state.decisions()
    return (decisions[0].seat, decisions[0].kind) if decisions else None


def streets(state: Any, vertex: tuple[int, int]) -> dict[str, set[tuple[int, int]]]:
    """By name the complete and incomplete vertices of the streets through `vertex`."""
    index = state.board.index(*vertex)
    found = streets_through(state.city, index, state.rules.colour_ends)
    return {street.name: {state.board.xy[at] for at in street.vertices} for street in found}


def row(y: int, first: int, last: int) -> set[tuple[int, int]]:
    return {(x, y) for x in range(first, last + 1)}


def column(x: int, first: int, last: int) -> set[tuple[int, int]]:
    return {(x, y) for y in range(first, last + 1)}


def options(**given: Any) -> dict[str, Any]:
    """Full options, the given ones over the defaults."""
    return resolve_options(GAME.id, GAME.options, given)


def choose(state: Any, rng: Random) -> Any:
    """Builds tight maps and full streets more often than an even choice, so that every rule comes up."""
    legal = state.legal_actions(state.seat)
    attaching = [action for action in legal if action.KIND == "attach"]
    if attaching and rng.random() < 0.5:
        beside = {(tile.x, tile.y) for tile in state.city.tiles}

        def contacts(action: Any) -> int:
            around = [(action.x + dx, action.y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
            return sum(cell in beside for cell in around)

        most = max(contacts(action) for action in attaching)
        return rng.choice([action for action in attaching if contacts(action) == most])
    return legal[-1] if rng.random() < 0.2 else rng.choice(legal)


def wander(
    players: int,
    options: dict[str, Any],
    seed: int,
    visit: Callable[[Any], None] = lambda state: None,
    step: Callable[[Any, Any, Callable[[], Any]], None] = lambda state, move, then: then(),
    pick: Callable[[Any, Random], Any] = choose,
) -> Any:
    """Play a random match, calling `visit(state)` at every node and `step(state, move, then)` at every move.

    A move is an action, or the outcome of a chance node. Returns the final state.
    """
    rng = Random(seed)
    state = GAME.new_initial_state(players, options)
    while not state.is_terminal():
        visit(state)
        if state.decisions():
            action = pick(state, rng)
            step(state, action, lambda action=action: state.apply({state.seat: action}))
        else:
            outcome = random_outcome(state.chance_outcomes(), rng)
            step(state, outcome, lambda outcome=outcome: state.apply_chance(outcome))
    visit(state)
    return state
