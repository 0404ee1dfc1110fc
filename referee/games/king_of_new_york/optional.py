"""Which actions a seat may always decline: what the rules and cards let a monster do, and never make it do."""

from typing import TYPE_CHECKING

from referee.games.king_of_new_york.actions import (
    Absorb,
    Buy,
    Convert,
    Dash,
    DestroyBuilding,
    DestroyUnit,
    Flee,
    GiveUp,
    Hail,
    KingAction,
    Move,
    Push,
    Redirect,
    Remove,
    Reroll,
    Ride,
    Scavenge,
    Shed,
    Swap,
    Sweep,
)
from referee.games.king_of_new_york.destruction import price
from referee.games.king_of_new_york.dice import reroll_forced

if TYPE_CHECKING:
    from referee.games.king_of_new_york.rules import KingState

_ALWAYS = (
    Buy,
    Convert,
    Dash,
    Flee,
    GiveUp,
    Move,
    Push,
    Redirect,
    Remove,
    Ride,
    Scavenge,
    Shed,
    Swap,
    Sweep,
)


def is_optional(state: "KingState", seat: int, action: KingAction) -> bool:
    """Whether the seat that is asked may decline this action."""
    if isinstance(action, _ALWAYS):
        return True
    if type(action) is Hail:
        return action.use
    if type(action) is Absorb:
        return action.energy > 0
    if type(action) is Reroll:
        return not reroll_forced(state, seat)
    if type(action) is DestroyBuilding or type(action) is DestroyUnit:
        return not state.box.destruction_forced or price(state, seat, action) > 0
    return False
