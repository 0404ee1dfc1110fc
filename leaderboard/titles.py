"""Names for people instead of ids: of games, of tables, and of the reasons why matches end."""

from collections.abc import Sequence

from referee.games.registry import BrokenGame, UnknownGame, load_game


def game_title(game_id: str) -> str:
    """The title of a game, such as "Ticket to Ride: New York". A game that is not installed has its id in words."""
    try:
        game = load_game(game_id)
    except UnknownGame:
        return in_words(game_id)
    return in_words(game_id) if isinstance(game, BrokenGame) else game.title


def pool_title(game_id: str, players: int) -> str:
    """The title of a table: "Ticket to Ride: New York, 2 players"."""
    return f"{game_title(game_id)}, {players} players" if players else game_title(game_id)


def division_title(name: str, game_id: str, players: Sequence[int]) -> str:
    """The title of a division of a ladder: "Shibuya, 2 or 4 players", and its own name behind that where it has one."""
    own = "" if name == game_id else f" ({name})"
    return f"{game_title(game_id)}, {' or '.join(map(str, players))} players{own}"


def in_words(name: str) -> str:
    """An id as words, such as "illegal action"."""
    return name.replace("_", " ")


def option_words(value: object) -> str:
    """The value of an option for people: on and off, and ids as words."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return in_words(str(value))
