"""What cards can do, by the moment at which they do it. The engine knows these moments and no card by name."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from referee.games.king_of_new_york.rules import KingState

Hook: TypeAlias = "Callable[[KingState, int, int], None]"
"""Called with the state, the owner's seat and what the moment is about (see `Abilities`)."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """The cards that act at one moment: their bits together, and each with its hook, in the order of the data."""

    mask: int
    rows: tuple[tuple[int, Hook], ...]


@dataclass(frozen=True, slots=True)
class Amounts:
    """The cards that carry one number: their bits together, and each with its number."""

    mask: int
    rows: tuple[tuple[int, int], ...]

    def total(self, keep: int) -> int:
        """The sum over the cards of `keep`."""
        return sum([amount for bit, amount in self.rows if keep & bit])

    def product(self, keep: int) -> int:
        """The product over the cards of `keep`."""
        return prod([amount for bit, amount in self.rows if keep & bit])

    def least(self, keep: int) -> int:
        """The least number among the cards of `keep`, which must hold one."""
        return min([amount for bit, amount in self.rows if keep & bit])


@dataclass(frozen=True, slots=True)
class Abilities:
    """All abilities of the cards of a match. A mask has the bits of the cards concerned."""

    turn_start: Hooks
    roll_done: Hooks
    final_roll: Hooks
    attacks: Hooks
    """The owner's claws hurt a seat."""
    attacked: Hooks
    """The owner was hurt by the claws of a seat."""
    dealt: Hooks
    """The owner dealt damage to a seat."""
    damaged: Hooks
    """The owner took damage; of what source does not matter."""
    superstar_taken: Hooks
    """The owner took Superstar from a seat, or from the table (NOBODY)."""
    superstar_lost: Hooks
    """A seat took Superstar from the owner."""
    building_destroyed: Hooks
    unit_destroyed: Hooks
    """The owner destroyed a Unit of a kind."""
    entered: Hooks
    """The owner entered a borough."""
    turn_end: Hooks
    ordered: tuple[tuple[Hook, ...], ...]
    """Per card: it was paid for, before the market is filled and before it takes effect."""
    bought: tuple[tuple[Hook, ...], ...]
    """Per card: it takes effect."""
    dice: Amounts
    max_life: Amounts
    hail: Amounts
    redirect: Amounts
    superstar_guard: Amounts
    scavenge: Amounts
    energy_loss: Amounts
    ouch_armour: Amounts
    attack_bonus: Amounts
    attack_factor: Amounts
    swap_dice: int
    early_move: int
    hit_neighbours: int
    exchange: int
    carapace: int
    others_reroll: int
    jinx_tax: int
    web_tax: int
    responds: int
    """Cards whose owner may answer damage."""
    after_damage: int
    """Cards that act when damage has landed."""
    converts: int
    conversions: tuple[tuple[int, int, int], ...]
    """Bit, from face, to face."""
    defence: int
    defence_dice: tuple[tuple[int, int, int], ...]
    """Bit, face, factor."""
    tap: int
    taps: tuple[tuple[int, int, int], ...]
    """Bit, threshold, amount."""
    durability: tuple[Amounts, ...]
    """Per kind of Unit."""
    reach: tuple[int, ...]
    """Per kind of Unit."""
    no_reroll: tuple[int, ...]
    """Per face."""
    no_reroll_any: int
    move_cost: tuple[int, ...]
    """Per card, what it makes optional moves cost while it lies in the market."""


def fire(hooks: Hooks, state: "KingState", seat: int, about: int) -> None:
    """Let the cards of a seat act, until one of them ends the match."""
    owned = state.keep[seat] & hooks.mask
    if owned:
        for bit, hook in hooks.rows:
            if owned & bit and not state.reason:
                hook(state, seat, about)
