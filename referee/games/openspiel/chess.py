"""Moves of chess as UCI engines write them; OpenSpiel writes them as PGN files have them."""

import re
from collections.abc import Sequence
from typing import Any

import pyspiel

WHITE = 1
"""OpenSpiel's player with the white pieces, who moves first."""

_SIDE = 8
_EMPTY = re.compile("[1-8]")
_FEN = re.compile(
    r"(?P<board>[KQRBNPkqrbnp1-8/]{1,71}) (?P<side>[wb]) (?P<castling>-|K?Q?k?q?) (?P<passant>-|[a-h][36])"
    r" [0-9]{1,3} [1-9][0-9]{0,3}",
    re.ASCII,
)
_CASTLING = {"K": {60: "K", 63: "R"}, "Q": {60: "K", 56: "R"}, "k": {4: "k", 7: "r"}, "q": {4: "k", 0: "r"}}
_KNIGHT = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
_DIRECTIONS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))


def fault_of_start(fen: str) -> str:
    """Why a match cannot begin in this position; empty if it can.

    The check is complete, because OpenSpiel ends the process for some invalid FENs, and accepts boards without kings.
    """
    found = _FEN.fullmatch(fen)
    if found is None:
        return "a FEN has six fields: board, side to move, castling, en passant, and two counters"
    rows = [_EMPTY.sub(lambda digit: "." * int(digit[0]), row) for row in found["board"].split("/")]
    if len(rows) != _SIDE or any(len(row) != _SIDE for row in rows):
        return "the board does not have eight rows of eight fields"
    squares = "".join(rows)
    if squares.count("K") != 1 or squares.count("k") != 1:
        return "it does not have one king of each colour"
    if any(pawn in rows[0] + rows[-1] for pawn in "Pp"):
        return "a pawn stands on the first or the last row"
    for right, fields in _CASTLING.items():
        if right in found["castling"] and any(squares[field] != piece for field, piece in fields.items()):
            return f"castling {right!r} is allowed, and its king or rook is not at home"
    if found["passant"] != "-" and found["passant"][1] != ("6" if found["side"] == "w" else "3"):
        return f"en passant on {found['passant']!r} is not possible"
    waiting = "k" if found["side"] == "w" else "K"
    if _attacked(squares, squares.index(waiting)):
        return "the side that is not to move is in check"
    return ""


def _attacked(squares: str, field: int) -> bool:
    """Whether the king on this field is attacked. Fields count from a8, row by row."""
    enemy = str.lower if squares[field].isupper() else str.upper
    row, column = divmod(field, _SIDE)
    pawn_row = row - 1 if squares[field].isupper() else row + 1
    if any(_at(squares, pawn_row, column + side) == enemy("p") for side in (-1, 1)):
        return True
    if any(_at(squares, row + down, column + right) == enemy("n") for down, right in _KNIGHT):
        return True
    for down, right in _DIRECTIONS:
        sliders = enemy("q") + enemy("b" if down and right else "r")
        for distance in range(1, _SIDE):
            piece = _at(squares, row + distance * down, column + distance * right)
            if piece in sliders or (distance == 1 and piece == enemy("k")):
                return True
            if piece != ".":
                break
    return False


def _at(squares: str, row: int, column: int) -> str:
    return squares[_SIDE * row + column] if 0 <= row < _SIDE and 0 <= column < _SIDE else "#"


def write_chess(position: Any, seat: int, actions: Sequence[int]) -> list[str]:
    """Such as e2e4, e1g1 for castling, b7a8q for a promotion."""
    board = position.board()
    return [str(pyspiel.chess.action_to_move(action, board).to_lan()) for action in actions]
