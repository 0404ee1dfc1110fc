"""Moves of chess as UCI engines write them; OpenSpiel writes them as PGN files have them."""

from collections.abc import Sequence
from typing import Any

import pyspiel

WHITE = 1
"""OpenSpiel's player with the white pieces, who moves first."""


def fault_of_start(fen: str) -> str:
    """Why a match cannot begin in this position; empty if it can. OpenSpiel takes boards without kings."""
    board, *rest = fen.split(" ")
    if board.count("K") != 1 or board.count("k") != 1:
        return "it does not have one king of each colour"
    if len(rest) != 5:
        return "a FEN has six fields: board, side to move, castling, en passant, and two counters"
    return ""


def write_chess(position: Any, seat: int, actions: Sequence[int]) -> list[str]:
    """Such as e2e4, e1g1 for castling, b7a8q for a promotion."""
    board = position.board()
    return [str(pyspiel.chess.action_to_move(action, board).to_lan()) for action in actions]
