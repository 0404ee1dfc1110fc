"""What happens in a match, as everyone sees it: the game has no secrets.

Seat -1 is nobody. `cause` says where something came from: a card's id, or one of `CAUSES`.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, get_args

CAUSES = (
    "income",
    "entering",
    "reward",
    "cost",
    "superstar",
    "statue_of_liberty",
    "energy",
    "heart",
    "ouch",
    "attack",
    "withdrawn",
)
MOVE_REASONS = ("move", "forced", "dash", "ride", "flee", "leave", "advance", "turn_end")
"""Why a monster is where it is: the Move step (chosen or forced), Super Speed, Subway, fleeing, no room for two in
Manhattan, a zone further, the option enter_at_turn_end."""
END_REASONS = ("victory_points", "last_standing", "painbow", "all_eliminated", "turn_cap", "withdrawals")


@dataclass(frozen=True, slots=True)
class TileShown:
    """A building came to the top of a stack."""

    KIND: ClassVar[str] = "tile_shown"
    stack: int
    tile: str


@dataclass(frozen=True, slots=True)
class CardShown:
    """A card came into the market."""

    KIND: ClassVar[str] = "card_shown"
    slot: int
    card: str


@dataclass(frozen=True, slots=True)
class Reshuffled:
    """The discard pile of so many cards became the deck."""

    KIND: ClassVar[str] = "reshuffled"
    cards: int


@dataclass(frozen=True, slots=True)
class StartRolled:
    """A seat's Attack faces in the roll for the first turn."""

    KIND: ClassVar[str] = "start_rolled"
    seat: int
    attacks: int


@dataclass(frozen=True, slots=True)
class StartPlayer:
    """This seat begins."""

    KIND: ClassVar[str] = "start_player"
    seat: int


@dataclass(frozen=True, slots=True)
class TurnBegan:
    """A turn began; `extra` if a card gave it."""

    KIND: ClassVar[str] = "turn_began"
    seat: int
    extra: bool


@dataclass(frozen=True, slots=True)
class Rerolled:
    """Dice taken up to roll again: how many of each face."""

    KIND: ClassVar[str] = "rerolled"
    seat: int
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rolled:
    """All dice after a roll: how many show each face."""

    KIND: ClassVar[str] = "rolled"
    seat: int
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Converted:
    """All dice after cards turned some: how many show each face."""

    KIND: ClassVar[str] = "converted"
    seat: int
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Added:
    """A card added results to the roll."""

    KIND: ClassVar[str] = "added"
    seat: int
    face: str
    amount: int
    cause: str


@dataclass(frozen=True, slots=True)
class Resolved:
    """All results of a face are resolved, `removed` of them spent to take off tokens."""

    KIND: ClassVar[str] = "resolved"
    seat: int
    face: str
    amount: int
    removed: int


@dataclass(frozen=True, slots=True)
class Gained:
    """`what` is vp, energy or life; `amount` is negative for a loss that is no damage."""

    KIND: ClassVar[str] = "gained"
    seat: int
    what: str
    amount: int
    cause: str


@dataclass(frozen=True, slots=True)
class Hurt:
    """Damage, of which `absorbed` points were paid with energy. `dealer` is the seat whose card or claws did it."""

    KIND: ClassVar[str] = "hurt"
    seat: int
    amount: int
    absorbed: int
    dealer: int
    cause: str


@dataclass(frozen=True, slots=True)
class DefenceRolled:
    """The die of a monster attacked by the owner of Antimatter Pellets."""

    KIND: ClassVar[str] = "defence_rolled"
    seat: int
    face: str


@dataclass(frozen=True, slots=True)
class TokensChanged:
    """`token` is web, jinx or carapace; `amount` is negative when they go."""

    KIND: ClassVar[str] = "tokens_changed"
    seat: int
    token: str
    amount: int


@dataclass(frozen=True, slots=True)
class SouvenirPlaced:
    """A Souvenir token lies in a borough."""

    KIND: ClassVar[str] = "souvenir_placed"
    seat: int
    borough: str


@dataclass(frozen=True, slots=True)
class BuildingDestroyed:
    """The tile on top of a stack became a Unit of its borough."""

    KIND: ClassVar[str] = "building_destroyed"
    seat: int
    stack: int
    tile: str


@dataclass(frozen=True, slots=True)
class UnitDestroyed:
    """A Unit left the board and lies in front of the seat."""

    KIND: ClassVar[str] = "unit_destroyed"
    seat: int
    borough: str
    unit: str


@dataclass(frozen=True, slots=True)
class UnitPushed:
    """A Unit was pushed into another borough."""

    KIND: ClassVar[str] = "unit_pushed"
    seat: int
    unit: str
    left: str
    borough: str


@dataclass(frozen=True, slots=True)
class Placed:
    """A monster took its first borough."""

    KIND: ClassVar[str] = "placed"
    seat: int
    borough: str


@dataclass(frozen=True, slots=True)
class Moved:
    """A monster is now there; `space` is its zone in Manhattan, with 3 added on the track 5-6, else 6."""

    KIND: ClassVar[str] = "moved"
    seat: int
    borough: str
    space: int
    reason: str


@dataclass(frozen=True, slots=True)
class Shifted:
    """The monster on the track 5-6 went over to the space 2-4 of its zone."""

    KIND: ClassVar[str] = "shifted"
    seat: int
    space: int


@dataclass(frozen=True, slots=True)
class Stayed:
    """A monster did not flee."""

    KIND: ClassVar[str] = "stayed"
    seat: int


@dataclass(frozen=True, slots=True)
class Bought:
    """`origin` is market, discards, or free (Columbia University)."""

    KIND: ClassVar[str] = "bought"
    seat: int
    card: str
    cost: int
    origin: str


@dataclass(frozen=True, slots=True)
class Swept:
    """A seat paid to have the market replaced."""

    KIND: ClassVar[str] = "swept"
    seat: int


@dataclass(frozen=True, slots=True)
class CardLost:
    """A Keep card went to the discard pile."""

    KIND: ClassVar[str] = "card_lost"
    seat: int
    card: str


@dataclass(frozen=True, slots=True)
class ExtraTurn:
    """A card gave the seat another turn."""

    KIND: ClassVar[str] = "extra_turn"
    seat: int
    cause: str


@dataclass(frozen=True, slots=True)
class GoalMoved:
    """A goal card changed hands; seat -1: back to the table, previous -1: from there."""

    KIND: ClassVar[str] = "goal_moved"
    goal: str
    seat: int
    previous: int


@dataclass(frozen=True, slots=True)
class Eliminated:
    """A monster is out; `cause` as in Hurt, a card's id, or 'withdrawn'."""

    KIND: ClassVar[str] = "eliminated"
    seat: int
    cause: str


@dataclass(frozen=True, slots=True)
class Withdrew:
    """A seat left the match; if its monster was alive it is eliminated next."""

    KIND: ClassVar[str] = "withdrew"
    seat: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The match is over; `winner` -1: nobody. `reason` is one of END_REASONS."""

    KIND: ClassVar[str] = "finished"
    winner: int
    reason: str


KingEvent: TypeAlias = (
    TileShown
    | CardShown
    | Reshuffled
    | StartRolled
    | StartPlayer
    | TurnBegan
    | Rerolled
    | Rolled
    | Converted
    | Added
    | Resolved
    | Gained
    | Hurt
    | DefenceRolled
    | TokensChanged
    | SouvenirPlaced
    | BuildingDestroyed
    | UnitDestroyed
    | UnitPushed
    | Placed
    | Moved
    | Shifted
    | Stayed
    | Bought
    | Swept
    | CardLost
    | ExtraTurn
    | GoalMoved
    | Eliminated
    | Withdrew
    | Finished
)

CLASSES: tuple[type[Any], ...] = get_args(KingEvent)
"""In the order of their fields in the Event message."""
