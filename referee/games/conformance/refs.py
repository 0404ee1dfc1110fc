"""How a game is named on the command line and to other processes: its id, or `module:ATTRIBUTE`."""

import importlib
from typing import Any

from referee.games.api import Game
from referee.games.registry import UnknownGame, get_game


def resolve(ref: str) -> Game:
    """The game of this id, or the one found at `module:ATTRIBUTE` for games that are not installed.

    UnknownGame says what is wrong.
    """
    module_name, colon, attribute = ref.partition(":")
    if not colon:
        return get_game(ref)
    try:
        game: Any = importlib.import_module(module_name)
        for name in attribute.split("."):
            game = getattr(game, name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnknownGame(f"no game at '{ref}': {type(error).__name__}: {error}") from error
    found: Game = game
    return found
