"""How the greedy bot plays the games that ship with Crosstown, for all bots that want to know.

A package of its own because bots run with their own folder and what is installed, nothing else: the bots in
`greedy` and `search` both import it from there.
"""

from collections.abc import Mapping

from crosstown_greedy import king_of_new_york, manhattan_traffiq, shibuya, ticket_to_ride_new_york
from crosstown_greedy.picking import best
from crosstown_greedy.policy import Policy

POLICIES: Mapping[str, Policy] = {
    "shibuya": Policy(shibuya.worths, shibuya.outlook, shortcut=shibuya.best_move),
    "ticket_to_ride_new_york": Policy(
        ticket_to_ride_new_york.worths, horizon=200, observe=ticket_to_ride_new_york.observe
    ),
    "manhattan_traffiq": Policy(manhattan_traffiq.worths, horizon=12),
    "king_of_new_york": Policy(king_of_new_york.worths, king_of_new_york.outlook, horizon=40),
}
"""By id of the game."""

__all__ = ["POLICIES", "Policy", "best"]
