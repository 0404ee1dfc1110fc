"""What a game's box holds, for the page of its rules: cards, tiles and tokens with their pictures and texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from referee.games.api import Game
from referee.games.drawing.parts import number
from referee.games.drawing.text import escaped


@dataclass(frozen=True, slots=True)
class Piece:
    """One kind of piece. `facts` are few words such as "3 energy, Keep card"; `text` says what it does and `note` how
    doubts about it were settled. `picture` is an `<svg>` element of `piece_picture`, '' where the text says all."""

    name: str
    facts: str = ""
    text: str = ""
    note: str = ""
    picture: str = ""


@dataclass(frozen=True, slots=True)
class PieceGroup:
    """Pieces of one sort, below a title and a sentence on them."""

    title: str
    text: str
    pieces: Sequence[Piece]


def pieces_of(game: Game) -> Sequence[PieceGroup]:
    """What the method `pieces` of the game returns; none for a game without it."""
    offer: Any = getattr(game, "pieces", None)
    found: Sequence[PieceGroup] = offer() if callable(offer) else ()
    return found


def piece_picture(width: float, height: float, title: str, content: str) -> str:
    """One `<svg>` element, in the classes of `stylesheet()`, which the page has once."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ct-board" width="{number(width)}" height="{number(height)}"'
        f' viewBox="0 0 {number(width)} {number(height)}" role="img" aria-label="{escaped(title)}">{content}</svg>'
    )
