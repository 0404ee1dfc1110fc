"""Finds games through the entry-point group `crosstown.games`; a broken plug-in breaks nothing else."""

from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from referee.errors import ExpectedError
from referee.games.api import Game

GROUP = "crosstown.games"


class UnknownGame(ExpectedError, LookupError):
    """No game of this id, or its plug-in is broken."""


@dataclass(frozen=True, slots=True)
class BrokenGame:
    """A plug-in that could not be loaded. `problem` is one line."""

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
        raise UnknownGame(f"unknown game '{game_id}'", f"installed: {', '.join(game_ids()) or 'none'}")
    if len({entry.value for entry in found}) > 1:
        sources = " and ".join(sorted(_source(entry) for entry in found))
        return BrokenGame(game_id, sources, "more than one plug-in has this id; uninstall all but one")
    return _load(found[0])


def get_game(game_id: str) -> Game:
    """The working game of this id. Raises UnknownGame."""
    game = load_game(game_id)
    if isinstance(game, BrokenGame):
        raise UnknownGame(
            f"game '{game.id}' ({game.source}) cannot be loaded: {game.problem}", "see: crosstown games list"
        )
    return game


def _source(entry: EntryPoint) -> str:
    return entry.value if entry.dist is None else f"{entry.value} of {entry.dist.name}"


def _load(entry: EntryPoint) -> Game | BrokenGame:
    try:
        game = entry.load()
        problem = _misfit(game, entry.name)
    except (Exception, SystemExit) as error:  # whatever a foreign module raises at import is its problem, named
        problem = f"{type(error).__name__}: {error}"
    if problem:
        return BrokenGame(entry.name, _source(entry), " ".join(problem.split()))
    checked: Game = game
    return checked


def _misfit(game: object, game_id: str) -> str:
    """What makes this no game of that id, empty if nothing does."""
    if isinstance(game, type):
        return f"it is the class {game.__name__}, not an instance"
    members = [*Game.__annotations__, *(name for name in vars(Game) if not name.startswith("_"))]
    missing = [name for name in dict.fromkeys(members) if not hasattr(game, name)]
    if missing:
        return f"it lacks {', '.join(missing)}"
    found = getattr(game, "id", None)
    return "" if found == game_id else f"its id is {found!r}, not {game_id!r}"
