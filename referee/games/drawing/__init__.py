"""Boards as SVG: what a caller draws a position with, and the parts the drawings of the games are made of.

Callers use `draw_board`, `action_places`, `event_places`, `pieces_of` and `stylesheet`; a game's view offers what
`Drawing` says, or nothing, and then its text board is shown.
"""

from referee.games.drawing.board import action_places, can_draw, draw_board, event_places, seat_picture
from referee.games.drawing.look import Drawing, Look
from referee.games.drawing.pieces import Piece, PieceGroup, pieces_of
from referee.games.drawing.style import THEMES, stylesheet

__all__ = [
    "THEMES",
    "Drawing",
    "Look",
    "Piece",
    "PieceGroup",
    "action_places",
    "can_draw",
    "draw_board",
    "event_places",
    "pieces_of",
    "seat_picture",
    "stylesheet",
]
