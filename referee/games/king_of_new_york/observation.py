"""What a viewer sees: the whole position. No order of cards or covered tiles exists that could be hidden.

Faces, boroughs, Units and spaces in Manhattan have the numbers of `constants.py`, cards those of `data/cards.json`.
Kinds of tiles are numbered from 1 in the order of the data of the match. Tuples run over the seats unless said
otherwise. Sets are integers with one bit for each member. Seat 7 is nobody, borough 5 is off the board, space 6 is
outside Manhattan, card 64 is an empty slot. Fields have the names of the Observation message and of `state.Position`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from referee.games.api import draft_of
from referee.games.king_of_new_york.constants import FIRST_QUESTION, NO_SEAT, NOWHERE, QUESTION_NAMES
from referee.games.king_of_new_york.ruleset import Ruleset
from referee.games.king_of_new_york.state import Position


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
def setting_of(ruleset: Ruleset, players: int) -> Setting:
    """The part of a ruleset that a player wants to see."""
    tiles, units = ruleset.tile_rewards[1:], ruleset.unit_rewards
    return Setting(
        players=players,
        win_vp=ruleset.win_vp,
        max_life=ruleset.max_life,
        tile_names=ruleset.tile_ids[1:],
        tile_durability=ruleset.tile_durability[1:],
        tile_vp=tuple(reward.vp for reward in tiles),
        tile_energy=tuple(reward.energy for reward in tiles),
        tile_life=tuple(reward.life for reward in tiles),
        tile_units=ruleset.tile_units[1:],
        unit_durability=ruleset.unit_durability,
        unit_vp=tuple(reward.vp for reward in units),
        unit_energy=tuple(reward.energy for reward in units),
        unit_life=tuple(reward.life for reward in units),
        card_costs=tuple(prices[NOWHERE] for prices in ruleset.prices),
    )


@dataclass(frozen=True, slots=True)
class Seats:
    """What often changes about the seats."""

    life: tuple[int, ...]
    vp: tuple[int, ...]
    energy: tuple[int, ...]
    borough: tuple[int, ...]
    """Borough."""
    space: tuple[int, ...]
    """Space in Manhattan."""


@dataclass(frozen=True)
class Holdings:
    """What seldom changes about the seats."""

    out: tuple[int, ...]
    """Number of the elimination in which the seat left; 0: alive."""
    keep_cards: tuple[int, ...]
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
    unseen: tuple[int, ...]
    """By tile kind (from 0: none) how many have not been seen."""
    units: tuple[int, ...]
    """By borough and kind of Unit (15 values)."""
    fresh_units: tuple[int, ...]
    """Those of the Units that appeared this turn."""
    lost_trophies: tuple[int, ...]
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
    superstar_seat: int
    statue_seat: int
    """Holders of the goal cards."""
    web_left: int
    jinx_left: int
    carapace_left: int
    """Tokens in the supply."""
    extra_turns: tuple[int, ...]
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
    asked_seat: int
    """Who is asked; 7: nobody."""
    active_seat: int
    """Whose turn it is."""
    order_seat: int
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
    winner_seat: int
    """7: nobody, or not yet."""
    reason: str
    """Why the match ended; empty before."""
    tasks: tuple[tuple[int, ...], ...]
    """Tasks still to come, the next one last. `constants.py` lists their kinds and arguments."""


PARTS: Mapping[str, type[Any]] = {
    "seats": Seats,
    "holdings": Holdings,
    "board": Board,
    "cards": Cards,
    "turn_state": TurnState,
}
"""The parts of an observation, by the names of its fields."""
VALUES = ("active_seat", "order_seat", "turn", "deaths", "left", "winner_seat", "reason")
"""The fields of an observation that are fields of a position too. Those of the parts and `tasks` are as well."""

_SEATS_DRAFT = draft_of(Seats)
_TURN_DRAFT = draft_of(TurnState)
_OBSERVATION_DRAFT = draft_of(Observation)


def observe(p: Position) -> Observation:
    """What everyone sees of a position. Parts that have not changed are the same objects as the last time."""
    question, asked_seat = "", NO_SEAT
    if p.menu:
        task = p.tasks[-1]
        question, asked_seat = QUESTION_NAMES[task[0] - FIRST_QUESTION], task[1]
    if not p.remembered:
        p.remembered = [(None, None), (None, None), (None, None), (None, setting_of(p.ruleset, p.players))]
    known_holdings, known_board, known_cards, (_, setting) = p.remembered
    now: tuple[Any, ...] = (
        *(p.out, p.keep_cards, p.web, p.jinx, p.carapace, p.turns, p.trophies, p.defence_rolls, p.start_attacks),
    )
    if known_holdings[0] != now:
        known_holdings = p.remembered[0] = _part(Holdings, now)
    now = (p.tops, p.covered, p.unseen, p.units, p.fresh_units, p.lost_trophies, p.souvenirs)
    if known_board[0] != now:
        known_board = p.remembered[1] = _part(Board, now)
    now = (
        *(p.market, p.deck, p.discards, p.played, p.epoch, p.claims, p.superstar_seat, p.statue_seat),
        *(p.web_left, p.jinx_left, p.carapace_left, p.extra_turns),
    )
    if known_cards[0] != now:
        known_cards = p.remembered[2] = _part(Cards, now)
    seats = _SEATS_DRAFT(tuple(p.life), tuple(p.vp), tuple(p.energy), tuple(p.borough), tuple(p.space))
    seats.__class__ = Seats
    turn_state = _TURN_DRAFT(
        p.roll,
        p.rerolls,
        tuple(p.dice),
        tuple(p.bonus),
        tuple(p.shown),
        p.force,
        tuple(p.killed),
        tuple(p.gained),
        tuple(p.dealt),
        tuple(p.hit),
        tuple(p.absorbed),
        p.rides,
        p.dashed,
        p.trades,
        p.razed,
        p.exposed,
        p.tapped,
        p.site,
        p.units_only,
    )
    turn_state.__class__ = TurnState
    observation = _OBSERVATION_DRAFT(
        setting,
        question,
        asked_seat,
        p.active_seat,
        p.order_seat,
        p.turn,
        seats,
        known_holdings[1],
        known_board[1],
        known_cards[1],
        turn_state,
        p.deaths,
        p.left,
        p.winner_seat,
        p.reason,
        tuple(p.tasks),
    )
    observation.__class__ = Observation
    return observation  # type: ignore[no-any-return]


def _part(cls: type[Any], values: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
    """The values of a part, independent of the position; and the part."""
    kept = tuple([value[:] if type(value) is list else value for value in values])
    return kept, cls(*[tuple(value) if type(value) is list else value for value in values])


def position_values(observation: Observation) -> dict[str, Any]:
    """The fields of the position that was seen, for `Position.from_values`."""
    values = {name: getattr(observation, name) for name in (*VALUES, "tasks")}
    for name in PARTS:
        part = getattr(observation, name)
        values.update((field.name, getattr(part, field.name)) for field in fields(part))
    return values
