"""The city tiles and vehicles of the box with their pictures, for the page of the rules."""

from collections.abc import Mapping
from typing import Any

from referee.games.drawing.parts import moved
from referee.games.drawing.pieces import Piece, PieceGroup, piece_picture
from referee.games.manhattan_traffiq.data import default_data
from referee.games.manhattan_traffiq.drawing import in_words, tile, vehicle

_SIDE = 56
_VEHICLE_WORDS = {"taxi": "Taxi", "truck": "Truck"}


def pieces() -> tuple[PieceGroup, ...]:
    """See `pieces_of`."""
    box = default_data()
    vehicles = PieceGroup(
        "Vehicles",
        "What each player has.",
        tuple(_vehicle(kind, box["vehicles"]) for kind in _VEHICLE_WORDS),
    )
    tiles = (
        PieceGroup(f"City tiles, set {name}", f"Sides of the tiles: {found['title']}.", _tiles(found["tiles"]))
        for name, found in box["tile_sets"].items()
    )
    return (vehicles, *tiles)


def _vehicle(kind: str, supplies: Mapping[str, Mapping[str, int]]) -> Piece:
    counts = "; ".join(f"{supply[kind]} with {players} players" for players, supply in supplies.items())
    picture = piece_picture(32, 28, _VEHICLE_WORDS[kind], moved(16, 14, vehicle(kind, 0)))
    return Piece(name=_VEHICLE_WORDS[kind], text=f"{counts}.", picture=picture)


def _tiles(faces: Mapping[str, Any]) -> tuple[Piece, ...]:
    return tuple(
        Piece(
            name="1 tile" if count == 1 else f"{count} tiles",
            text=in_words(face),
            picture=piece_picture(_SIDE, _SIDE, in_words(face), tile(face, _SIDE)),
        )
        for face, count in faces.items()
    )
