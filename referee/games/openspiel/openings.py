"""Opening positions of chess, from EPD, FEN and PGN files."""

import re

import pyspiel

from referee.games.api import DataError
from referee.games.openspiel.chess import fault_of_start

MOST = 100_000
"""Positions of one file."""
_FEN_FIELDS = 4
"""Of an EPD line: board, side to move, castling, en passant."""
_COUNTERS = "0 1"
_OPERATIONS = re.compile(";.*")
"""Of an EPD line, from the end of the first on."""
_TAG = re.compile(r'^\[(\w+)\s+"(.*)"\]\s*$')
_COMMENT = re.compile(r"\{[^}]*\}|;[^\n]*|\$\d+|\d+\.+")
_RESULTS = frozenset({"1-0", "0-1", "1/2-1/2", "*"})
_SHOWN = 80


def read_openings(file_name: str, text: str) -> tuple[str, ...]:
    """The positions of a file as FEN: of each line of an EPD or FEN file, and at the end of each game of a PGN file.

    Raises DataError, with the line or game, for an invalid position. A repeated position is kept.
    """
    found = _of_pgn(text) if file_name.lower().endswith(".pgn") else _of_epd(text)
    if not found:
        raise DataError("it holds no position")
    if len(found) > MOST:
        raise DataError(f"it holds {len(found)} positions, more than {MOST}")
    return tuple(found)


def _of_epd(text: str) -> list[str]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words = _OPERATIONS.sub("", line).split()
        if not words or line.startswith("#"):
            continue
        if len(words) < _FEN_FIELDS:
            raise DataError(f"line {number}: {line[:_SHOWN]!r} has {len(words)} fields; expected an EPD or FEN line")
        counters = words[4:6]
        whole = len(counters) == 2 and all(word.isdigit() for word in counters)
        fen = " ".join([*words[:_FEN_FIELDS], " ".join(counters) if whole else _COUNTERS])
        found.append(checked(fen, f"line {number}"))
    return found


def checked(fen: str, where: str) -> str:
    """The FEN, in which the side to move must have a move. Raises DataError."""
    fault = fault_of_start(fen)
    if not fault:
        try:
            position = pyspiel.load_game("chess").new_initial_state(fen)
            fault = "the game is over there" if position.is_terminal() else ""
        except pyspiel.SpielError:
            fault = "it is not a FEN"
    if fault:
        raise DataError(f"{where}: {fen[:_SHOWN]!r} is no position to begin with: {fault}")
    return fen


def _of_pgn(text: str) -> list[str]:
    """Variations are left out."""
    found = []
    games: list[tuple[dict[str, str], list[str]]] = []
    for line in text.splitlines():
        if tag := _TAG.match(line.strip()):
            if not games or games[-1][1]:
                games.append(({}, []))
            games[-1][0][tag[1]] = tag[2]
        elif line.strip():
            if not games:
                games.append(({}, []))
            games[-1][1].append(line)
    for number, (tags, lines) in enumerate(games, 1):
        found.append(_end_of_game(tags.get("FEN", ""), _moves("\n".join(lines)), f"game {number}"))
    return found


def _moves(text: str) -> list[str]:
    text = _COMMENT.sub(" ", text)
    while (inner := re.sub(r"\([^()]*\)", " ", text)) != text:
        text = inner
    return [word.rstrip("!?") for word in text.split() if word not in _RESULTS]


def _end_of_game(fen: str, moves: list[str], where: str) -> str:
    game = pyspiel.load_game("chess")
    position = game.new_initial_state(checked(fen, where)) if fen else game.new_initial_state()
    for number, move in enumerate(moves, 1):
        action = position.parse_move_to_action(move.replace("0-0-0", "O-O-O").replace("0-0", "O-O"))
        if action not in position.legal_actions():
            raise DataError(f"{where}: move {number}, {move[:_SHOWN]!r}, is not legal in {str(position)!r}")
        position.apply_action(action)
    return checked(str(position), where)
