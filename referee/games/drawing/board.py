"""Drawing the board of any game, also of one whose view cannot draw."""

from collections.abc import Sequence
from typing import Any

from referee.games.api import Action, Game, text_board
from referee.games.drawing.look import Drawing, Look
from referee.games.drawing.parts import picture, text
from referee.games.drawing.spots import Spots
from referee.games.drawing.text import cleaned

_COLUMN, _LINE, _SIZE, _MARGIN = 6.7, 14, 11, 8


def can_draw(game: Game) -> bool:
    """Whether the game draws its own board; otherwise `draw_board` shows its text board."""
    return callable(getattr(game.view, "draw", None))


def draw_board(game: Game, observation: Any, look: Look | None = None, revealed: Sequence[Any] = ()) -> str:
    """One `<svg>` element with the position that `observation` shows. `revealed`: see `Drawing.draw`."""
    look = look or Look()
    drawing = _drawing(game)
    if drawing is None:
        return _text_picture(game, [observation, *revealed], look)
    return drawing.draw(observation, look, revealed)


def action_places(game: Game, observation: Any, action: Action) -> tuple[str, ...]:
    """The places of the board that a person would point at to choose `action`; () if there are none."""
    drawing = _drawing(game)
    return () if drawing is None else drawing.action_places(observation, action)


def event_places(game: Game, payload: Any) -> tuple[str, ...]:
    """The places of the board where `payload` can be seen; () if there are none."""
    drawing = _drawing(game)
    return () if drawing is None else drawing.event_places(payload)


def seat_picture(game: Game, seat: int, players: int) -> str:
    """One small `<svg>` element with the piece that stands for a seat on the board, in the classes of `stylesheet()`;
    '' for a game whose view has no `seat_sign`."""
    sign: Any = getattr(game.view, "seat_sign", None)
    if not callable(sign):
        return ""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" class="ct-board seat" width="20" height="20" viewBox="-14 -14 28 28"'
        f' aria-hidden="true">{sign(seat, players)}</svg>'
    )


def _drawing(game: Game) -> Drawing | None:
    view: Any = game.view
    return view if can_draw(game) else None


def _text_picture(game: Game, observations: Sequence[Any], look: Look) -> str:
    """The text boards one below the other."""
    names = [cleaned(name) for name in look.names]
    lines = "\n\n".join(text_board(game, observation, names) for observation in observations).split("\n")
    width = 2 * _MARGIN + _COLUMN * max(len(line) for line in lines)
    shown = [
        text(_MARGIN, _MARGIN + _LINE * (row + 0.8), line, size=_SIZE, css="ink mono")
        for row, line in enumerate(lines)
        if line
    ]
    return picture(
        round(width),
        2 * _MARGIN + _LINE * len(lines),
        title=game.title,
        description="\n".join(lines),
        look=look,
        spots=Spots({}, look),
        content=shown,
    )
