"""The games as environments for agents that learn.

`aec` and `parallel` are environments of PettingZoo, `single` is one of Gymnasium with fixed opponents, `vector` steps
many matches at once. All show the same arrays, `arrays_of`, which a bot makes from what the referee sends it.
PettingZoo and Gymnasium come with `pip install "crosstown-arena[env]"`; arrays and `vector` need numpy alone.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from crosstown_env.actions import WAIT, ActionSpace, Block
from crosstown_env.arrays import GAMES, Arrays, arrays_of
from crosstown_env.layout import Features, Field, Layout
from crosstown_env.table import REWARDS, Setup
from crosstown_env.vector import VectorEnv, vector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crosstown_env.multi_agent import CrosstownAEC, CrosstownParallel
    from crosstown_env.opponents import Opponents
    from crosstown_env.single_agent import CrosstownSingle


def _module(name: str) -> Any:
    """One of our modules that need the extra. ModuleNotFoundError, saying what to install, if it is not there."""
    try:
        return import_module(f"crosstown_env.{name}")
    except ModuleNotFoundError as error:
        if error.name not in ("gymnasium", "pettingzoo"):
            raise
        raise ModuleNotFoundError(
            f"{error.name} is not installed; install it with: pip install 'crosstown-arena[env]'", name=error.name
        ) from None


def aec(
    game: str,
    *,
    players: int | None = None,
    options: Mapping[str, Any] | None = None,
    reward: str = "rank",
    render_mode: str | None = None,
) -> CrosstownAEC:
    """The game as an environment of PettingZoo in which one agent acts after another.

    `players` is the smallest number that the game allows if it is not given, `options` are those of the game, `reward`
    is one of `REWARDS`. Raises UnknownGame, PlayersError, OptionError, DataError or ValueError.
    """
    made: CrosstownAEC = _module("multi_agent").CrosstownAEC(Setup(game, players, options, reward), render_mode)
    return made


def parallel(
    game: str,
    *,
    players: int | None = None,
    options: Mapping[str, Any] | None = None,
    reward: str = "rank",
    render_mode: str | None = None,
) -> CrosstownParallel:
    """The game as an environment of PettingZoo in which all agents that are asked act at once. Others wait.

    The arguments are those of `aec`.
    """
    made: CrosstownParallel = _module("multi_agent").CrosstownParallel(
        Setup(game, players, options, reward), render_mode
    )
    return made


def single(
    game: str,
    *,
    players: int | None = None,
    options: Mapping[str, Any] | None = None,
    reward: str = "rank",
    seat: int | None = None,
    opponents: Opponents = "greedy",
    illegal: str = "raise",
    render_mode: str | None = None,
) -> CrosstownSingle:
    """The game as an environment of Gymnasium: an agent against opponents that play in this process.

    The agent has this seat, or another one by chance in each match. `opponents` are 'random', 'greedy', a function, a
    list of these, or weights by these; one is drawn for each seat and match. An illegal action is an error, or the
    agent's seat leaves the match (illegal="leave"). The other arguments are those of `aec`.
    """
    made: CrosstownSingle = _module("single_agent").CrosstownSingle(
        Setup(game, players, options, reward), seat, opponents, illegal, render_mode
    )
    return made


__all__ = [
    "GAMES",
    "REWARDS",
    "WAIT",
    "ActionSpace",
    "Arrays",
    "Block",
    "Features",
    "Field",
    "Layout",
    "VectorEnv",
    "aec",
    "arrays_of",
    "parallel",
    "single",
    "vector",
]
