"""Finds games through the entry-point group `crosstown.games`; a broken plug-in breaks nothing else.

Games of another library have ids like `openspiel/chess`. They are found when they are asked for, and the library is
imported then.
"""

import sys
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec

from referee.errors import ExpectedError
from referee.games.api import Game

GROUP = "crosstown.games"
OPENSPIEL = "openspiel"
"""The family of games whose ids begin with `openspiel/`."""
_SHOWN = 60
"""Characters of an unknown id in a sentence."""
_LIST_ALL = f"see: crosstown games list {OPENSPIEL}"


class UnknownGame(ExpectedError, LookupError):
    """No game of this id, or its plug-in is broken."""


@dataclass(frozen=True, slots=True)
class BrokenGame:
    """A plug-in that could not be loaded. `problem` is one line."""

    id: str
    source: str
    problem: str
    next_step: str = "see: crosstown games list"


def game_ids() -> list[str]:
    """Ids of all installed games, working or not, sorted. Without those of OpenSpiel: see `openspiel_ids`."""
    return sorted({entry.name for entry in entry_points(group=GROUP)})


def has_openspiel() -> bool:
    """Whether the package open_spiel is installed."""
    return find_spec("pyspiel") is not None


def all_openspiel_ids() -> list[str]:
    """Ids of OpenSpiel's games, playable or not, sorted. UnknownGame if open_spiel is not installed."""
    if not has_openspiel():
        raise UnknownGame(*_NOT_INSTALLED)
    from referee.games.openspiel import family as openspiel

    return [f"{OPENSPIEL}/{name}" for name in openspiel.all_names()]


def openspiel_ids() -> list[str]:
    """Those that can be played."""
    if not has_openspiel():
        raise UnknownGame(*_NOT_INSTALLED)
    from referee.games.openspiel import family as openspiel

    return [f"{OPENSPIEL}/{name}" for name in openspiel.names()]


_NOT_INSTALLED = ("the package open_spiel is not installed", "run: pip install 'crosstown-arena[openspiel]'")


def is_game_id(game_id: str) -> bool:
    """Whether there is a game of this id, working or not."""
    try:
        load_game(game_id)
    except UnknownGame:
        return False
    return True


@cache
def load_game(game_id: str) -> Game | BrokenGame:
    """The game of this id, or why its plug-in does not work. UnknownGame if none is installed."""
    library, slash, name = game_id.partition("/")
    if slash and library == OPENSPIEL:
        return _load_openspiel(game_id, name)
    found = [entry for entry in entry_points(group=GROUP) if entry.name == game_id]
    if not found:
        raise UnknownGame(f"unknown game '{game_id[:_SHOWN]}'", f"installed: {', '.join(game_ids()) or 'none'}")
    if len({entry.value for entry in found}) > 1:
        sources = " and ".join(sorted(_source(entry) for entry in found))
        return BrokenGame(game_id, sources, "more than one plug-in has this id; uninstall all but one")
    return _load(found[0])


def get_game(game_id: str) -> Game:
    """The working game of this id. Raises UnknownGame."""
    game = load_game(game_id)
    if isinstance(game, BrokenGame):
        raise UnknownGame(f"game '{game.id}' ({game.source}) cannot be loaded: {game.problem}", game.next_step)
    return game


def is_compiled(game: Game) -> bool:
    """Whether the rules of this game are compiled, which changes nothing but their speed."""
    rules = sys.modules.get(f"{type(game).__module__.rpartition('.')[0]}.rules")
    return rules is not None and not str(rules.__file__).endswith(".py")


def _load_openspiel(game_id: str, name: str) -> Game | BrokenGame:
    if not has_openspiel():
        problem, next_step = _NOT_INSTALLED
        return BrokenGame(game_id, "OpenSpiel", problem, next_step)
    from referee.games.openspiel import family as openspiel

    try:
        problem = openspiel.refusal(name)
    except LookupError:
        near = get_close_matches(name, openspiel.names(), n=1)
        hint = f"did you mean '{OPENSPIEL}/{near[0]}'?" if near else _LIST_ALL
        raise UnknownGame(f"OpenSpiel has no game '{name}'", hint) from None
    if problem:
        return BrokenGame(game_id, "OpenSpiel", problem, _LIST_ALL)
    game: Game = openspiel.find(name)
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
