"""The street tiles of the box with their pictures, for the page of the rules."""

from collections.abc import Iterator, Mapping
from typing import Any

from referee.games.drawing.pieces import Piece, PieceGroup, piece_picture
from referee.games.shibuya.data import LOOKS, default_data
from referee.games.shibuya.drawing import LOOK_WORDS, drawn_tile

_SIDE = 56


def pieces() -> tuple[PieceGroup, ...]:
    """See `pieces_of`."""
    sets = default_data()["tile_sets"]
    return tuple(
        PieceGroup(f"Street tiles, set {name}", f"{found['title']}.", tuple(_tiles(found)))
        for name, found in sets.items()
    )


def _tiles(found: Mapping[str, Any]) -> Iterator[Piece]:
    for tile in found["tiles"]:
        looks = tuple(LOOKS.index(field) + 1 for field in tile["fields"])
        words = ", ".join(LOOK_WORDS[look] for look in looks)
        picture = piece_picture(_SIDE, _SIDE, words, drawn_tile(looks, _SIDE))
        yield Piece(
            name=f"{tile['count']} of this tile" if tile["count"] > 1 else "1 tile", text=words, picture=picture
        )
