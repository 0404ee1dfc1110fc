"""Boards of six games as SVG: chess, Go, Hex, Connect Four, Othello and Backgammon.

Each is drawn from OpenSpiel's text of the position, which all viewers see: information is perfect in these games.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from referee.games.drawing.look import Look
from referee.games.drawing.parts import WIDTH, circle, line, moved, picture, polygon, rect, text
from referee.games.drawing.spots import Spots, spots_of
from referee.games.drawing.text import cleaned
from referee.games.openspiel.actions import Play
from referee.games.openspiel.events import Acted
from referee.games.openspiel.observation import Observation
from referee.games.openspiel.view import TextView, headline

Board: TypeAlias = Callable[[str, Spots], tuple[float, list[str]]]
"""From a position's text: the height of the board below its top, and its elements, from y = 0 on."""

_HEAD = 30
_EDGE = 20
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_GO_LETTERS = "abcdefghjklmnopqrst"
_SIDE = 8


class DrawnView(TextView):
    """A view that draws its board. See `referee.games.drawing.Drawing`."""

    def __init__(self, title: str, board: Board, fields: re.Pattern[str], kind: str = "field") -> None:
        """`fields` finds the places in the text of an action, all of the kind `kind`."""
        super().__init__(title)
        self._board = board
        self._fields = fields
        self._kind = kind

    def draw(self, observation: Observation, look: Look, revealed: Sequence[Any] = ()) -> str:
        spots = spots_of((self.action_places(observation, action) for action in look.legal), look)
        height, content = self._board(observation.text, spots)
        said = headline(observation, [cleaned(name) for name in look.names])
        return picture(
            WIDTH,
            _HEAD + height,
            title=f"{self._title}: {said}",
            description=observation.text,
            look=look,
            spots=spots,
            content=[
                text(12, 19, said, size=11.5, css="ink b", width=WIDTH - 24),
                moved(0, _HEAD, "".join(content)),
            ],
        )

    def action_places(self, observation: Observation, action: Play) -> tuple[str, ...]:
        return self._places(action.text)

    def event_places(self, payload: Any) -> tuple[str, ...]:
        return self._places(payload.text) if isinstance(payload, Acted) else ()

    def _places(self, said: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(f"{self._kind}:{name}" for name in self._fields.findall(said)))


def _halo(x: float, y: float, width: float, height: float) -> str:
    return rect(x + 1.5, y + 1.5, width - 3, height - 3, "halo", radius=2)


def _letters(columns: int, cell: float, y: float, letters: str) -> Iterator[str]:
    for column in range(columns):
        yield text(_EDGE + cell * (column + 0.5), y, letters[column], size=10, css="soft m")


def _stone(x: float, y: float, radius: float, colour: str) -> str:
    return circle(x, y, radius, f"f-{colour} piece")


# Chess


def chess_board(fen: str, spots: Spots) -> tuple[float, list[str]]:
    """White below. A piece is a disc with its letter."""
    cell = (WIDTH - 2 * _EDGE) / _SIDE
    parts = [*_letters(_SIDE, cell, 12, _LETTERS), *_letters(_SIDE, cell, _EDGE + cell * _SIDE + 14, _LETTERS)]
    rows = [re.sub("[1-8]", lambda digit: "." * int(digit[0]), row) for row in fen.split(" ")[0].split("/")]
    for row, pieces in enumerate(rows):
        y = _EDGE + cell * row
        parts.append(text(8, y + cell / 2 + 4, str(_SIDE - row), size=10, css="soft m"))
        for column, piece in enumerate(pieces):
            x = _EDGE + cell * column
            content = rect(x, y, cell, cell, "f-beige" if (row + column) % 2 == 0 else "f-gray")
            if piece != ".":
                colour = "white" if piece.isupper() else "black"
                content += _stone(x + cell / 2, y + cell / 2, cell * 0.38, colour)
                content += text(x + cell / 2, y + cell / 2 + 6, piece.upper(), size=17, css=f"on-{colour} b m")
            name = f"{_LETTERS[column]}{_SIDE - row}"
            title = f"{name}: {_PIECES[piece.lower()]}" if piece != "." else name
            parts.append(spots.spot(f"field:{name}", title, content, _halo(x, y, cell, cell)))
    return 2 * _EDGE + cell * _SIDE, parts


_PIECES = {"k": "king", "q": "queen", "r": "rook", "b": "bishop", "n": "knight", "p": "pawn"}


# Go


def go_board(shown: str, spots: Spots) -> tuple[float, list[str]]:
    """Row 1 below, as the text has it."""
    rows = [found[1] for row in shown.split("\n") if (found := re.match(r"\s*\d+ ([XO+]+)\s*$", row))]
    size = len(rows)
    cell = (WIDTH - 2 * _EDGE) / size
    first, last = _EDGE + cell / 2, _EDGE + cell * (size - 0.5)
    parts = [rect(_EDGE, _EDGE, cell * size, cell * size, "f-beige")]
    for number in range(size):
        at = first + cell * number
        parts += [line(first, at, last, at, "s-black"), line(at, first, at, last, "s-black")]
        parts.append(text(10, at + 3.5, str(size - number), size=10, css="soft m"))
    parts += [*_letters(size, cell, 12, _GO_LETTERS), *_letters(size, cell, _EDGE + cell * size + 14, _GO_LETTERS)]
    for row, stones in enumerate(rows):
        for column, stone in enumerate(stones):
            x, y = _EDGE + cell * column, _EDGE + cell * row
            name = f"{_GO_LETTERS[column]}{size - row}"
            colour = {"X": "black", "O": "white"}.get(stone, "")
            content = _stone(x + cell / 2, y + cell / 2, cell * 0.44, colour) if colour else ""
            title = f"{name}: {colour}" if colour else name
            parts.append(spots.spot(f"field:{name}", title, content, _halo(x, y, cell, cell)))
    return 2 * _EDGE + cell * size, parts


# Hex


def hex_board(shown: str, spots: Spots) -> tuple[float, list[str]]:
    """A rhombus; x joins top and bottom, o joins left and right."""
    rows = [row.split() for row in shown.split("\n") if row.strip()]
    across = max(len(row) for row in rows)
    cell = (WIDTH - 2 * _EDGE) / (across + (len(rows) - 1) / 2)
    high = cell * 0.87
    parts = [*_letters(across, cell, 12, _LETTERS)]
    for row, stones in enumerate(rows):
        y = _EDGE + high * row + cell * 0.58
        parts.append(text(_EDGE + cell / 2 * row - 4, y + 3.5, str(row + 1), size=10, css="soft e"))
        for column, stone in enumerate(stones):
            x = _EDGE + cell * (column + 0.5 + row / 2)
            corners = [(x + cell * right, y + cell * down) for right, down in _HEXAGON]
            colour = {"x": "black", "o": "white"}.get(stone.lower(), "")
            content = polygon(corners, "f-beige rim")
            content += _stone(x, y, cell * 0.36, colour) if colour else ""
            name = f"{_LETTERS[column]}{row + 1}"
            title = f"{name}: {stone}" if colour else name
            parts.append(spots.spot(f"field:{name}", title, content, polygon(corners, "halo")))
    return 2 * _EDGE + high * len(rows) + cell * 0.3, parts


_HEXAGON = ((0, -0.58), (0.5, -0.29), (0.5, 0.29), (0, 0.58), (-0.5, 0.29), (-0.5, -0.29))


# Connect Four


def connect_four_board(shown: str, spots: Spots) -> tuple[float, list[str]]:
    """A column is one place: a person points at the column."""
    rows = [row for row in shown.split("\n") if row]
    across = len(rows[0])
    cell = (WIDTH - 2 * _EDGE) / across
    parts = []
    for column in range(across):
        x = _EDGE + cell * column
        content = rect(x, _EDGE, cell, cell * len(rows), "f-blue")
        for row, stones in enumerate(rows):
            colour = {"x": "yellow", "o": "red"}.get(stones[column], "white")
            content += circle(x + cell / 2, _EDGE + cell * (row + 0.5), cell * 0.4, f"f-{colour} rim")
        halo = _halo(x, _EDGE, cell, cell * len(rows))
        parts.append(spots.spot(f"column:{column}", f"column {column}", content, halo))
        parts.append(text(x + cell / 2, 14, str(column), size=11, css="soft m"))
    return 2 * _EDGE + cell * len(rows), parts


# Othello


def othello_board(shown: str, spots: Spots) -> tuple[float, list[str]]:
    """Row 1 above, as the text has it."""
    rows = [found[1].split() for row in shown.split("\n") if (found := re.match(r"\d ([-xo ]+) \d$", row))]
    cell = (WIDTH - 2 * _EDGE) / _SIDE
    parts = [*_letters(_SIDE, cell, 14, _LETTERS)]
    for row, stones in enumerate(rows):
        y = _EDGE + cell * row
        parts.append(text(10, y + cell / 2 + 4, str(row + 1), size=10, css="soft m"))
        for column, stone in enumerate(stones):
            x = _EDGE + cell * column
            colour = {"x": "black", "o": "white"}.get(stone, "")
            content = rect(x, y, cell, cell, "f-green rim")
            content += _stone(x + cell / 2, y + cell / 2, cell * 0.4, colour) if colour else ""
            name = f"{_LETTERS[column]}{row + 1}"
            title = f"{name}: {colour}" if colour else name
            parts.append(spots.spot(f"field:{name}", title, content, _halo(x, y, cell, cell)))
    return 2 * _EDGE + cell * _SIDE, parts


# Backgammon

_POINTS = 12
_ROWS_SHOWN = 5


def backgammon_board(shown: str, spots: Spots) -> tuple[float, list[str]]:
    """Points as the text has them: 12 above, 12 below, x and o, and a number where more than five men stand."""
    lines = shown.split("\n")
    rows = [row.strip("|").replace("|", "") for row in lines if row.startswith("|")]
    upper, lower = rows[:_ROWS_SHOWN], rows[-_ROWS_SHOWN:]
    cell = (WIDTH - 2 * _EDGE - 16) / _POINTS
    high = cell * 5.6
    parts = [rect(_EDGE - 6, 2, WIDTH - 2 * _EDGE + 12, 2 * high + 24, "f-beige rim")]
    parts.append(rect(WIDTH / 2 - 5, 2, 10, 2 * high + 24, "f-gray"))
    for half, men in enumerate((upper, lower[::-1])):
        for column in range(_POINTS):
            x = _EDGE + cell * column + (16 if column >= _POINTS // 2 else 0)
            base, tip = (4, high) if half == 0 else (2 * high + 24, high + 26)
            css = "f-road" if (column + half) % 2 else "f-white rim"
            corners = [(x, base), (x + cell, base), (x + cell / 2, tip)]
            content = polygon(corners, css)
            content += "".join(_men([row[column] for row in men], x + cell / 2, base, cell, down=half == 0))
            number = 13 + column if half == 0 else 12 - column
            parts.append(spots.spot(f"point:{number}", f"point {number}", content, polygon(corners, "halo")))
    y = 2 * high + 42
    for said in lines[len(rows) + 2 :]:
        if said.startswith(("Turn", "Dice", "Bar", "Scores")):
            parts.append(text(_EDGE, y, said, size=11, css="ink"))
            y += 15
    return y + 4, parts


def _men(column: Sequence[str], x: float, base: float, cell: float, *, down: bool) -> Iterator[str]:
    """The men of a point, from its base. A digit instead of one says how many there are."""
    colour = next(({"x": "white", "o": "black"}[man] for man in column if man in "xo"), "")
    for number, man in enumerate(column):
        if man == "." or man == " " or not colour:
            continue
        y = base + (number + 0.5) * cell * (1 if down else -1)
        yield _stone(x, y, cell * 0.44, colour)
        if man.isdigit():
            yield text(x, y + 4, man, size=11, css=f"on-{colour} b m")


_FIELD = re.compile(r"(?<![a-z0-9])[a-z]\d{1,2}(?![a-z0-9])")
_NOTHING = re.compile(r"(?!)")
DRAWN: Mapping[str, tuple[Board, re.Pattern[str], str]] = {
    "backgammon": (backgammon_board, _NOTHING, "point"),
    "chess": (chess_board, re.compile(r"[a-h][1-8]"), "field"),
    "connect_four": (connect_four_board, re.compile(r"(?<=^[xo])\d+$"), "column"),
    "go": (go_board, _FIELD, "field"),
    "hex": (hex_board, _FIELD, "field"),
    "othello": (othello_board, _FIELD, "field"),
}
"""By OpenSpiel's name of the game: its board, and where the text of an action names places."""
