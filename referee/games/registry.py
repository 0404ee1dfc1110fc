"""Finds games through the entry-point group `crosstown.games`; a broken plug-in breaks nothing else."""

from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from referee.games.api import Game

GROUP = "crosstown.games"


class UnknownGame(LookupError):
    """No game of this id, or its plug-in is broken. The message says which and what there is."""


@dataclass(frozen=True, slots=True)
class BrokenGame:
    """A plug-in that could not be loaded."""

    id: str
    source: str
    problem: str


def game_ids() -> list[str]:
    """Ids of all installed games, working or not, sorted."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


@cache
def load_game(game_id: str) -> Game | BrokenGame:
    """The game of this id, or why its plug-in does not work. UnknownGame if none is installed."""
    found = [entry for entry in entry_points(group=GROUP) if entry.name == game_id]
    if not found:
        raise UnknownGame(f"unknown game '{game_id}'; installed: {', '.join(game_ids()) or 'none'}")
    return _load(found[0])


def get_game(game_id: str) -> Game:
    """The working game of this id. Raises UnknownGame."""
    game = load_game(game_id)
    if isinstance(game, BrokenGame):
        raise UnknownGame(f"game '{game.id}' ({game.source}) cannot be loaded: {game.problem}")
    return game


def _load(entry: EntryPoint) -> Game | BrokenGame:
    source = entry.value if entry.dist is None else f"{entry.value} of {entry.dist.name}"
    try:
        game = entry.load()
    except Exception as error:  # whatever a foreign module raises at import is its problem, named
        return BrokenGame(entry.name, source, f"{type(error).__name__}: {error}")
    if getattr(game, "id", None) != entry.name:
        return BrokenGame(entry.name, source, f"its id is {getattr(game, 'id', None)!r}, not {entry.name!r}")
    checked: Game = game
    return checked
