"""A game's observations and actions as arrays."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from crosstown_env.actions import ActionSpace
from crosstown_env.king_of_new_york import KingArrays
from crosstown_env.layout import Layout
from crosstown_env.manhattan_traffiq import TraffiqArrays
from crosstown_env.shibuya import ShibuyaArrays
from crosstown_env.ticket_to_ride_new_york import TicketToRideArrays
from referee.games.api import resolve_options
from referee.games.registry import UnknownGame, get_game


class Arrays(Protocol):
    """How a game with these players and options becomes arrays.

    `seen` is what a seat sees: `State.observation`, or what a bot decodes from the wire. In its place the position is
    taken as well, which is quicker: of that, the methods read what the observation shows and nothing else.
    """

    version: int
    """Goes up whenever a number in an array, or the number of an action, gets another meaning."""
    layout: Layout
    actions: ActionSpace

    def row(self, seen: Any, viewer: int) -> bytes:
        """The observation, a signed byte for each number of the layout."""

    def ids(self, seen: Any, legal: Sequence[Any]) -> list[int]:
        """The numbers of the legal actions of the seat that is asked, in their order."""

    def numbers(self, state: Any, seat: int) -> bytes:
        """The same list for a position, as `actions.packed` has it, without making the actions if that is slower."""

    def action(self, seen: Any, number: int) -> Any:
        """The action with this number, legal or not. ValueError if the number means nothing here."""


_MADE: Mapping[str, Callable[[int, Mapping[str, Any]], Arrays]] = {
    "king_of_new_york": KingArrays,
    "manhattan_traffiq": TraffiqArrays,
    "shibuya": ShibuyaArrays,
    "ticket_to_ride_new_york": TicketToRideArrays,
}
GAMES = tuple(_MADE)
"""The games that have arrays."""


def arrays_of(game: str, players: int, options: Mapping[str, Any] | None = None) -> Arrays:
    """The arrays of a game. UnknownGame, PlayersError, OptionError or DataError if there are none."""
    found = get_game(game)
    if game not in _MADE:
        raise UnknownGame(f"'{game}' has no arrays", f"games with arrays: {', '.join(GAMES)}")
    resolved = resolve_options(game, found.options, options or {})
    found.new_initial_state(players, resolved)  # says what is wrong with players and options
    return _MADE[game](players, resolved)
