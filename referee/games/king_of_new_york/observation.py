"""What a viewer sees: the whole position. No order of cards or covered tiles exists that could be hidden.

Numbers: faces, boroughs, units, spaces in Manhattan as in `names.py`; cards by their place in the data shipped; tile
kinds from 1 in the order of the data of the match. Tuples run over the seats unless said otherwise. Sets are integers
with one bit for each member. Seat 7 is nobody, borough 5 is off the board, space 6 is none, card 64 is an empty slot.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, fields
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from referee.games.api import DATA_OPTION, draft_of
from referee.games.king_of_new_york.agenda import FIRST_QUESTION, QUESTION_NAMES
from referee.games.king_of_new_york.names import NOBODY, NOWHERE

if TYPE_CHECKING:
    from referee.games.king_of_new_york.box import Box
    from referee.games.king_of_new_york.rules import KingState


@dataclass(frozen=True)
class Setting:
    """What stays the same during a match. Tuples run over the tile kinds (from 1), Units or cards."""

    players: int
    win_vp: int
    max_life: int
    tile_names: tuple[str, ...]
    tile_durability: tuple[int, ...]
    tile_vp: tuple[int, ...]
    tile_energy: tuple[int, ...]
    tile_life: tuple[int, ...]
    tile_units: tuple[int, ...]
    unit_durability: tuple[int, ...]
    unit_vp: tuple[int, ...]
    unit_energy: tuple[int, ...]
    unit_life: tuple[int, ...]
    card_costs: tuple[int, ...]


@lru_cache(maxsize=64)
def setting_of(box: "Box", players: int) -> Setting:
    """The part of the box data that a player wants to see."""
    tiles, units = box.tile_rewards[1:], box.unit_rewards
    return Setting(
        players=players,
        win_vp=box.win_vp,
        max_life=box.max_life,
        tile_names=box.tile_ids[1:],
        tile_durability=box.tile_durability[1:],
        tile_vp=tuple(reward.vp for reward in tiles),
        tile_energy=tuple(reward.energy for reward in tiles),
        tile_life=tuple(reward.life for reward in tiles),
        tile_units=box.tile_units[1:],
        unit_durability=box.unit_durability,
        unit_vp=tuple(reward.vp for reward in units),
        unit_energy=tuple(reward.energy for reward in units),
        unit_life=tuple(reward.life for reward in units),
        card_costs=tuple(prices[NOWHERE] for prices in box.prices),
    )


@dataclass(frozen=True, slots=True)
class Seats:
    """What changes often about the seats."""

    life: tuple[int, ...]
    vp: tuple[int, ...]
    energy: tuple[int, ...]
    where: tuple[int, ...]
    """Borough."""
    berth: tuple[int, ...]
    """Space in Manhattan."""


@dataclass(frozen=True)
class Holdings:
    """What changes seldom about the seats."""

    out: tuple[int, ...]
    """Number of the elimination in which the seat left; 0: alive."""
    keep: tuple[int, ...]
    """Set of Keep cards."""
    web: tuple[int, ...]
    jinx: tuple[int, ...]
    carapace: tuple[int, ...]
    """Tokens held."""
    turns: tuple[int, ...]
    """Own turns begun."""
    trophies: tuple[int, ...]
    """By seat and kind of Unit (3 x players values)."""
    defence_rolls: tuple[int, ...]
    """Dice rolled against Antimatter Pellets."""
    start_attacks: tuple[int, ...]
    """Attack faces in the roll for the first turn."""


@dataclass(frozen=True)
class Board:
    """Tiles and Units."""

    tops: tuple[int, ...]
    """By stack the kind of its top building; 0: used up. Stacks 3b to 3b+2 lie in borough b."""
    covered: tuple[int, ...]
    """By stack how many tiles lie below."""
    pool: tuple[int, ...]
    """By tile kind (from 0: none) how many have not been seen."""
    units: tuple[int, ...]
    """By borough and kind of Unit (15 values)."""
    fresh: tuple[int, ...]
    """Those of the Units that appeared this turn."""
    lost: tuple[int, ...]
    """By kind of Unit, trophies of the eliminated."""
    souvenirs: int
    """Set of boroughs with a Souvenir token."""


@dataclass(frozen=True)
class Cards:
    """Power cards, goal cards and tokens on the table."""

    market: tuple[int, ...]
    deck: int
    """Set of cards not yet revealed."""
    discards: int
    """Set of cards in the discard pile."""
    played: int
    """Set of cards bought and taking effect now."""
    epoch: int
    """How often the discard pile became the deck."""
    claims: tuple[int, ...]
    """Seats that get the next Keep cards, in order."""
    superstar: int
    statue: int
    """Holders of the goal cards."""
    web_left: int
    jinx_left: int
    carapace_left: int
    """Tokens in the supply."""
    extra: tuple[int, ...]
    """Extra turns to come: 2 x seat, plus 1 with Subway rides."""


@dataclass(frozen=True, slots=True)
class TurnState:
    """The roll, and what has happened in the running turn."""

    roll: int
    """Rolls after the first."""
    rerolls: int
    """Rerolls left."""
    dice: tuple[int, ...]
    """By face, dice not yet resolved."""
    bonus: tuple[int, ...]
    """By face, added results not yet resolved."""
    shown: tuple[int, ...]
    """By face, dice resolved."""
    force: int
    """Destruction results left while they are being used."""
    killed: tuple[int, ...]
    """By kind, Units destroyed."""
    gained: tuple[int, ...]
    """Energy gained."""
    dealt: tuple[int, ...]
    """Damage the active seat has dealt."""
    hit: tuple[int, ...]
    """Damage about to land."""
    absorbed: tuple[int, ...]
    """Points of it paid for with energy."""
    rides: int
    """Subway moves left."""
    dashed: int
    """1: the move before rolling is used."""
    trades: int
    """Purchases and sweeps."""
    razed: int
    """Buildings destroyed."""
    exposed: int
    """Set of stacks whose top came to light."""
    tapped: int
    """Set of seats that have paid for their gains."""
    site: int
    """Borough the Destruction step was moved to; 5: none."""
    units_only: int
    """1: Destruction is good for Units only."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One position."""

    setting: Setting
    question: str
    """What is asked; empty at a chance node and at the end."""
    asked: int
    """Who is asked; 7: nobody."""
    active: int
    """Whose turn it is."""
    order: int
    """Whose regular turn it is or was last."""
    turn: int
    """Turns begun by all."""
    seats: Seats
    holdings: Holdings
    board: Board
    cards: Cards
    turn_state: TurnState
    deaths: int
    """Number of the last elimination."""
    left: int
    """Set of seats that have left the match."""
    winner: int
    """7: nobody, or not yet."""
    reason: str
    """Why the match ended; empty before."""
    agenda: tuple[tuple[int, ...], ...]
    """What is still to come, the next last, as in `agenda.py`."""


PARTS: Mapping[str, type[Any]] = {
    "seats": Seats,
    "holdings": Holdings,
    "board": Board,
    "cards": Cards,
    "turn_state": TurnState,
}
VALUES = ("active", "order", "turn", "deaths", "left", "winner", "reason")
PART_FIELDS = {name: tuple(part.name for part in fields(cls)) for name, cls in PARTS.items()}
"""A state has `VALUES` and the fields of all parts under the same names, tuples as lists, and its agenda."""
_SAVED = (*VALUES, *(name for names in PART_FIELDS.values() for name in names))
_SAVED_OF = attrgetter(*_SAVED)


class Remembered:
    """The parts of the last observation that change seldom, each with the values it was made from."""

    __slots__ = ("board", "cards", "holdings")

    def __init__(self) -> None:
        nothing: tuple[Any, Any] = ((), None)
        self.board: tuple[Any, Board] = nothing
        self.cards: tuple[Any, Cards] = nothing
        self.holdings: tuple[Any, Holdings] = nothing

    def copy(self) -> "Remembered":
        """An independent one with the same parts."""
        other = Remembered.__new__(Remembered)
        other.board = self.board
        other.cards = self.cards
        other.holdings = self.holdings
        return other


def observe(s: "KingState") -> Observation:
    """The whole position, field by field; parts that have not changed are the same objects as the last time."""
    question, asked = "", NOBODY
    if s.menu:
        task = s.agenda[-1]
        question, asked = QUESTION_NAMES[task[0] - FIRST_QUESTION], task[1]
    known = s.remembered
    now: tuple[Any, ...] = (
        *(s.out, s.keep, s.web, s.jinx, s.carapace, s.turns, s.trophies, s.defence_rolls, s.start_attacks),
    )
    if known.holdings[0] != now:
        known.holdings = (_copied(now), Holdings(*_frozen(now)))
    now = (s.tops, s.covered, s.pool, s.units, s.fresh, s.lost, s.souvenirs)
    if known.board[0] != now:
        known.board = (_copied(now), Board(*_frozen(now)))
    now = (
        *(s.market, s.deck, s.discards, s.played, s.epoch, s.claims, s.superstar, s.statue),
        *(s.web_left, s.jinx_left, s.carapace_left, s.extra),
    )
    if known.cards[0] != now:
        known.cards = (_copied(now), Cards(*_frozen(now)))
    seats = _SEATS_DRAFT(tuple(s.life), tuple(s.vp), tuple(s.energy), tuple(s.where), tuple(s.berth))
    seats.__class__ = Seats
    turn_state = _TURN_DRAFT(
        s.roll,
        s.rerolls,
        tuple(s.dice),
        tuple(s.bonus),
        tuple(s.shown),
        s.force,
        tuple(s.killed),
        tuple(s.gained),
        tuple(s.dealt),
        tuple(s.hit),
        tuple(s.absorbed),
        s.rides,
        s.dashed,
        s.trades,
        s.razed,
        s.exposed,
        s.tapped,
        s.site,
        s.units_only,
    )
    turn_state.__class__ = TurnState
    whole = _OBSERVATION_DRAFT(
        s.setting,
        question,
        asked,
        s.active,
        s.order,
        s.turn,
        seats,
        known.holdings[1],
        known.board[1],
        known.cards[1],
        turn_state,
        s.deaths,
        s.left,
        s.winner,
        s.reason,
        tuple(s.agenda),
    )
    whole.__class__ = Observation
    return whole  # type: ignore[no-any-return]


_SEATS_DRAFT = draft_of(Seats)
_TURN_DRAFT = draft_of(TurnState)
_OBSERVATION_DRAFT = draft_of(Observation)


def _copied(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(value[:] if isinstance(value, list) else value for value in values)


def _frozen(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(tuple(value) if isinstance(value, list) else value for value in values)


def to_dict(state: "KingState") -> dict[str, Any]:
    """The whole state as JSON values."""
    options = dict(state.box.options)
    if DATA_OPTION in options:
        options[DATA_OPTION] = deepcopy(options[DATA_OPTION])
    data: dict[str, Any] = {"players": state.players, "options": options}
    for name, value in zip(_SAVED, _SAVED_OF(state), strict=True):
        data[name] = value[:] if type(value) is list else value
    data["agenda"] = [list(task) for task in state.agenda]
    return data
