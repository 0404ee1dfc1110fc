"""The whole state as JSON values."""

from typing import TYPE_CHECKING, Any

from referee.games.manhattan_traffiq.tables import own_options

if TYPE_CHECKING:
    from referee.games.manhattan_traffiq.rules import TraffiqState


def to_dict(state: "TraffiqState") -> dict[str, Any]:
    """Canonical: equal positions give equal values. The supply follows from what stands on the map."""
    names, xy = state.tables.kinds, state.tables.xy
    return {
        "players": state.players,
        "options": own_options(state.options),
        "phase": state.phase,
        "start": state.start,
        "seat": state.seat,
        "used": state.used,
        "turns": state.turns,
        "idle": state.idle,
        "final": state.final,
        "owed": list(state.owed),
        "left": list(state.left),
        "tiles": [[tile.x, tile.y, tile.face] for tile in state.city.tiles],
        "vehicles": [[it.x, it.y, it.seat, it.vehicle] for it in state.fleet.standing],
        "hands": [[names[kind] for kind in hand] for hand in state.hands],
        "stock": {name: count for name, count in zip(names, state.stock, strict=True) if count},
        "open_vertices": [list(xy[vertex]) for vertex in state.open_vertices],
        "spot": list(xy[state.spot]) if state.spot >= 0 else None,
    }
