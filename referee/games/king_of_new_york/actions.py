"""The typed actions, their canonical text, and one shared instance of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Final, TypeAlias, get_args

from referee.games.api import ActionText
from referee.games.king_of_new_york.constants import BOROUGHS, FACES, STACKS, UNITS


@dataclass(frozen=True, slots=True)
class Pass:
    """Go on: roll the dice, stop destroying or pushing, move after the last face, buy nothing more."""

    KIND: ClassVar[str] = "pass"


@dataclass(frozen=True, slots=True)
class Keep:
    """Leave all dice as they are."""

    KIND: ClassVar[str] = "keep"


@dataclass(frozen=True, slots=True)
class Stay:
    """Do not move, do not flee."""

    KIND: ClassVar[str] = "stay"


@dataclass(frozen=True, slots=True)
class Place:
    """Put the monster into its first borough."""

    KIND: ClassVar[str] = "place"
    borough: str


@dataclass(frozen=True, slots=True)
class Reroll:
    """Roll dice again: how many of those showing energy, attack, destruction, heart, celebrity, ouch."""

    KIND: ClassVar[str] = "reroll"
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Convert:
    """Turn dice by cards: how many shall show energy, attack, heart."""

    KIND: ClassVar[str] = "convert"
    energy: int
    attack: int
    heart: int


@dataclass(frozen=True, slots=True)
class Swap:
    """Give up a Celebrity die (Chameleon) and turn one unresolved die from `die` to `to`."""

    KIND: ClassVar[str] = "swap"
    die: str
    to: str


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Give up a Celebrity die (Chameleon) and turn no other."""

    KIND: ClassVar[str] = "give_up"


@dataclass(frozen=True, slots=True)
class Hail:
    """Add 2 Destruction that are good for Units only (Hailing Cabs), or do not."""

    KIND: ClassVar[str] = "hail"
    use: bool


@dataclass(frozen=True, slots=True)
class Resolve:
    """Resolve all results of one face."""

    KIND: ClassVar[str] = "resolve"
    face: str


@dataclass(frozen=True, slots=True)
class Remove:
    """Resolve heart or attack, spending `tokens` of the results to take off Jinx or Web tokens."""

    KIND: ClassVar[str] = "remove"
    face: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Redirect:
    """Resolve Destruction in another borough, for energy (Seismic Ray)."""

    KIND: ClassVar[str] = "redirect"
    borough: str


@dataclass(frozen=True, slots=True)
class DestroyBuilding:
    """Destroy the top building of a stack; stacks 3b to 3b+2 lie in borough number b."""

    KIND: ClassVar[str] = "destroy_building"
    stack: int


@dataclass(frozen=True, slots=True)
class DestroyUnit:
    """Destroy a Unit."""

    KIND: ClassVar[str] = "destroy_unit"
    borough: str
    unit: str


@dataclass(frozen=True, slots=True)
class Move:
    """Move to another borough in the Move step."""

    KIND: ClassVar[str] = "move"
    borough: str


@dataclass(frozen=True, slots=True)
class Dash:
    """Move before rolling (Super Speed); `manhattan` enters it or advances a zone."""

    KIND: ClassVar[str] = "dash"
    borough: str


@dataclass(frozen=True, slots=True)
class Ride:
    """Move at any moment of a Subway turn; `manhattan` enters it or advances a zone."""

    KIND: ClassVar[str] = "ride"
    borough: str


@dataclass(frozen=True, slots=True)
class Flee:
    """Flee Manhattan."""

    KIND: ClassVar[str] = "flee"
    borough: str


@dataclass(frozen=True, slots=True)
class Leave:
    """Leave Manhattan because it has room for one only."""

    KIND: ClassVar[str] = "leave"
    borough: str


@dataclass(frozen=True, slots=True)
class Push:
    """Push one Unit out of the borough just entered (Stink Attack)."""

    KIND: ClassVar[str] = "push"
    unit: str
    borough: str


@dataclass(frozen=True, slots=True)
class Buy:
    """Buy a card of the market."""

    KIND: ClassVar[str] = "buy"
    card: str


@dataclass(frozen=True, slots=True)
class Scavenge:
    """Buy a Keep card of the discard pile (Scavenger)."""

    KIND: ClassVar[str] = "scavenge"
    card: str


@dataclass(frozen=True, slots=True)
class Sweep:
    """Pay to discard the market and reveal new cards."""

    KIND: ClassVar[str] = "sweep"


@dataclass(frozen=True, slots=True)
class Discard:
    """Discard one of one's Keep cards (Tesla Cannon)."""

    KIND: ClassVar[str] = "discard"
    card: str


@dataclass(frozen=True, slots=True)
class Photo:
    """Name a monster for Photo Op."""

    KIND: ClassVar[str] = "photo"
    seat: int


@dataclass(frozen=True, slots=True)
class Trade:
    """Of the points lost to Next Stage, how many become energy; the others heal."""

    KIND: ClassVar[str] = "trade"
    energy: int


@dataclass(frozen=True, slots=True)
class Absorb:
    """Pay for so many points of the damage with energy (Of Another World); 0: take it all."""

    KIND: ClassVar[str] = "absorb"
    energy: int


@dataclass(frozen=True, slots=True)
class Pay:
    """Pay so much of a cost with life (Of Another World), the rest with energy."""

    KIND: ClassVar[str] = "pay"
    life: int


@dataclass(frozen=True, slots=True)
class Shed:
    """Discard Carapace and heal 1 for each token on it."""

    KIND: ClassVar[str] = "shed"


KingAction: TypeAlias = (
    Pass
    | Keep
    | Stay
    | Place
    | Reroll
    | Convert
    | Swap
    | GiveUp
    | Hail
    | Resolve
    | Remove
    | Redirect
    | DestroyBuilding
    | DestroyUnit
    | Move
    | Dash
    | Ride
    | Flee
    | Leave
    | Push
    | Buy
    | Scavenge
    | Sweep
    | Discard
    | Photo
    | Trade
    | Absorb
    | Pay
    | Shed
)
Menu: TypeAlias = Sequence[KingAction]

CLASSES: Final[tuple[type[Any], ...]] = get_args(KingAction)
"""In the order of their numbers on the wire, from 1."""

TEXT: Final = ActionText(CLASSES)

PASS, KEEP, STAY, SWEEP, SHED, GIVE_UP = Pass(), Keep(), Stay(), Sweep(), Shed(), GiveUp()
HAILS: Final = (Hail(False), Hail(True))
PLACES: Final = tuple(Place(borough) for borough in BOROUGHS)
MOVES: Final = tuple(Move(borough) for borough in BOROUGHS)
DASHES: Final = tuple(Dash(borough) for borough in BOROUGHS)
RIDES: Final = tuple(Ride(borough) for borough in BOROUGHS)
FLEES: Final = tuple(Flee(borough) for borough in BOROUGHS)
LEAVES: Final = tuple(Leave(borough) for borough in BOROUGHS)
REDIRECTS: Final = tuple(Redirect(borough) for borough in BOROUGHS)
"""These by borough number."""
PUSHES: Final = tuple(tuple(Push(unit, borough) for unit in UNITS) for borough in BOROUGHS)
UNIT_TARGETS: Final = tuple(tuple(DestroyUnit(borough, unit) for unit in UNITS) for borough in BOROUGHS)
"""These by borough and unit number."""
BUILDING_TARGETS: Final = tuple(DestroyBuilding(stack) for stack in range(STACKS))
SWAPS: Final = tuple(tuple(Swap(die, to) for to in FACES) for die in FACES)
RESOLVES: Final = tuple(Resolve(face) for face in FACES)


def _menus(choices: Sequence[KingAction], first: tuple[KingAction, ...] = ()) -> tuple[tuple[KingAction, ...], ...]:
    """Per set of numbers `first` and the choices with these numbers."""
    return tuple(
        first + tuple(choice for number, choice in enumerate(choices) if numbers >> number & 1)
        for numbers in range(1 << len(choices))
    )


RESOLVE_MENUS: Final = _menus(RESOLVES)
"""By the set of faces left."""
PLACE_MENUS: Final = _menus(PLACES)
MOVE_MENUS: Final = _menus(MOVES, (STAY,))
FLEE_MENUS: Final = _menus(FLEES, (STAY,))
LEAVE_MENUS: Final = _menus(LEAVES)
"""By the set of boroughs to go to."""


@lru_cache(maxsize=4096)
def reroll(counts: tuple[int, ...]) -> Reroll:
    """The shared instance."""
    return Reroll(counts)


@lru_cache(maxsize=256)
def remove(face: str, tokens: int) -> Remove:
    """The shared instance."""
    return Remove(face, tokens)
