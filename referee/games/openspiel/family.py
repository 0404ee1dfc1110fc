"""Which of OpenSpiel's games can be played, and why others cannot."""

from functools import cache
from typing import Any

import pyspiel

from referee.games.openspiel.chess import write_chess
from referee.games.openspiel.drawing import DRAWN, DrawnView
from referee.games.openspiel.facts import NOT_PLAYABLE
from referee.games.openspiel.game import OpenSpielGame
from referee.games.openspiel.options import reason
from referee.games.openspiel.state import write_actions
from referee.games.openspiel.text import plain

_WRITERS = {"chess": write_chess}


@cache
def _kinds() -> dict[str, Any]:
    """The `pyspiel.GameType` of each name."""
    return {kind.short_name: kind for kind in pyspiel.registered_games()}


def names() -> list[str]:
    """OpenSpiel's names of the games that can be played, sorted."""
    return [name for name in sorted(_kinds()) if not refusal(name)]


def all_names() -> list[str]:
    """OpenSpiel's names of all its games, sorted."""
    return sorted(_kinds())


@cache
def refusal(name: str) -> str:
    """Why a game of OpenSpiel cannot be played; empty if it can. LookupError if it has no game of this name."""
    kind = _kinds()[name]
    if not kind.default_loadable:
        return "it needs another game or a file, so that its name alone loads no game"
    if kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        return "it is a mean-field game: its players are a crowd, not seats"
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        return "OpenSpiel draws its chance inside the game (sampled stochastic), so no record of it can be replayed"
    if name in NOT_PLAYABLE:
        return NOT_PLAYABLE[name]
    try:
        pyspiel.load_game(name)
    except pyspiel.SpielError as error:
        return f"OpenSpiel cannot load it: {reason(error)}"
    return ""


def find(name: str) -> OpenSpielGame:
    """The game of this name, which can be played."""
    kind = _kinds()[name]
    view = DrawnView(plain(kind.long_name), *DRAWN[name]) if name in DRAWN else None
    return OpenSpielGame(name, kind, view, _WRITERS.get(name, write_actions))
