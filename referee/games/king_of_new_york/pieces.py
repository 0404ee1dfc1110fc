"""The cards, tiles and Units of the box with their pictures, for the page of the rules."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from referee.games.drawing.pieces import Piece, PieceGroup, piece_picture
from referee.games.king_of_new_york.data import default_data
from referee.games.king_of_new_york.drawing import drawn_tile, drawn_unit, given, title


def pieces() -> tuple[PieceGroup, ...]:
    """See `pieces_of`."""
    box = default_data()
    cards = sorted(box["cards"], key=lambda card: str(card["name"]))
    return (
        PieceGroup(
            "Power cards",
            f"All {len(cards)} cards of the market. A Keep card stays with its owner; a Discard card acts at once.",
            tuple(_card(card) for card in cards),
        ),
        PieceGroup("Buildings", "The tiles on the map. Each is destroyed for its reward.", tuple(_tiles(box["tiles"]))),
        PieceGroup("Units", "A destroyed building becomes its Unit.", tuple(_units(box["units"]))),
    )


def _card(card: Mapping[str, Any]) -> Piece:
    facts = f"{card['cost']} energy, {str(card['type']).title()} card"
    boroughs = " and ".join(title(borough) for borough in card.get("discount_in", ()))
    return Piece(
        name=card["name"],
        facts=facts + (f", cheaper in {boroughs}" if boroughs else ""),
        text=card["text"],
        note=_ruling(card["ruling"]),
    )


def _tiles(tiles: Sequence[Mapping[str, Any]]) -> Iterator[Piece]:
    for tile in tiles:
        name, reward = title(tile["building"]), _reward(tile)
        yield Piece(
            name=name,
            facts=f"{tile['count']} tiles",
            text=f"{tile['durability']} destruction, {given(reward)}, becomes {title(tile['unit'])}.",
            picture=piece_picture(48, 50, name, drawn_tile(tile["building"], tile["durability"], reward)),
        )


def _units(units: Mapping[str, Any]) -> Iterator[Piece]:
    for name, unit in units.items():
        yield Piece(
            name=title(name),
            text=f"{unit['durability']} destruction, {given(_reward(unit))}.",
            picture=piece_picture(24, 24, title(name), drawn_unit(name)),
        )


def _reward(piece: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    return tuple((what, int(piece["reward"][what])) for what in ("vp", "energy", "life") if piece["reward"].get(what))


def _ruling(text: str) -> str:
    """A ruling for people who play, without the mark of those that no source states."""
    shown = re.sub(r" \(INFERRED\)| - INFERRED\b|\bINFERRED[:;] ", "", text)
    return shown.replace(">=", "at least ").replace("switch provided", "an option changes it")
