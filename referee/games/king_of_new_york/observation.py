"""What a viewer sees: the whole position. No order of cards or covered tiles exists that could be hidden."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from referee.games.king_of_new_york.agenda import FIRST_QUESTION, QUESTION_NAMES

if TYPE_CHECKING:
    from referee.games.king_of_new_york.rules import KingState


@dataclass(frozen=True, slots=True)
class Observation:
    """One position.

    Numbers: faces, boroughs, units, spaces in Manhattan as in `names.py`, cards by their place in the data shipped,
    tile kinds from 1 in the order of the data of the match. Tuples run over the seats unless said otherwise. Sets are
    integers with one bit for each member. Seat 7 is nobody, borough 5 is off the board, space 6 is none, card 64 is
    an empty slot.
    """

    players: int
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
    life: tuple[int, ...]
    vp: tuple[int, ...]
    energy: tuple[int, ...]
    where: tuple[int, ...]
    """Borough."""
    berth: tuple[int, ...]
    """Space in Manhattan."""
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
    defence_rolls: tuple[int, ...]
    """Dice rolled against Antimatter Pellets."""
    trophies: tuple[int, ...]
    """By seat and kind of Unit (3 x players values)."""
    lost: tuple[int, ...]
    """By kind of Unit, trophies of the eliminated."""
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
    souvenirs: int
    """Set of boroughs with a Souvenir token."""
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
    start_attacks: tuple[int, ...]
    """Attack faces in the roll for the first turn."""
    roll: int
    """Rolls of this turn after the first."""
    rerolls: int
    """Rerolls left."""
    dice: tuple[int, ...]
    """By face, dice not yet resolved."""
    bonus: tuple[int, ...]
    """By face, added results not yet resolved."""
    shown: tuple[int, ...]
    """By face, dice resolved."""
    rides: int
    """Subway moves left."""
    dashed: int
    """1: the move before rolling is used."""
    trades: int
    """Purchases and sweeps this turn."""
    razed: int
    """Buildings destroyed this turn."""
    killed: tuple[int, ...]
    """By kind, Units destroyed this turn."""
    exposed: int
    """Set of stacks whose top came to light this turn."""
    gained: tuple[int, ...]
    """Energy gained this turn."""
    dealt: tuple[int, ...]
    """Damage the active seat has dealt this turn."""
    tapped: int
    """Set of seats that have paid for their gains this turn."""
    hit: tuple[int, ...]
    """Damage about to land."""
    absorbed: tuple[int, ...]
    """Points of it paid for with energy."""
    site: int
    """Borough the Destruction step was moved to; 5: none."""
    force: int
    """Destruction results left."""
    units_only: int
    """1: Destruction is good for Units only this turn."""
    deaths: int
    """Number of the last elimination."""
    winner: int
    reason: str
    """Why the match ended; empty before."""
    agenda: tuple[tuple[int, ...], ...]
    """What is still to come, the next last, as in `agenda.py`."""


LISTS = (
    "life",
    "vp",
    "energy",
    "where",
    "berth",
    "out",
    "keep",
    "web",
    "jinx",
    "carapace",
    "turns",
    "defence_rolls",
    "trophies",
    "lost",
    "tops",
    "covered",
    "pool",
    "units",
    "fresh",
    "market",
    "claims",
    "extra",
    "start_attacks",
    "dice",
    "bonus",
    "shown",
    "killed",
    "gained",
    "dealt",
    "hit",
    "absorbed",
)
VALUES = (
    "players",
    "active",
    "order",
    "turn",
    "souvenirs",
    "deck",
    "discards",
    "played",
    "epoch",
    "superstar",
    "statue",
    "web_left",
    "jinx_left",
    "carapace_left",
    "roll",
    "rerolls",
    "rides",
    "dashed",
    "trades",
    "razed",
    "exposed",
    "tapped",
    "site",
    "force",
    "units_only",
    "deaths",
    "winner",
    "reason",
)
"""All of a state but its agenda and what is derived, under the names it has there and in Observation."""


def observe(state: "KingState") -> Observation:
    """The whole position, field by field."""
    question, asked = "", 7
    if state.menu:
        task = state.agenda[-1]
        question, asked = QUESTION_NAMES[task[0] - FIRST_QUESTION], task[1]
    return Observation(
        state.players,
        question,
        asked,
        state.active,
        state.order,
        state.turn,
        tuple(state.life),
        tuple(state.vp),
        tuple(state.energy),
        tuple(state.where),
        tuple(state.berth),
        tuple(state.out),
        tuple(state.keep),
        tuple(state.web),
        tuple(state.jinx),
        tuple(state.carapace),
        tuple(state.turns),
        tuple(state.defence_rolls),
        tuple(state.trophies),
        tuple(state.lost),
        tuple(state.tops),
        tuple(state.covered),
        tuple(state.pool),
        tuple(state.units),
        tuple(state.fresh),
        state.souvenirs,
        tuple(state.market),
        state.deck,
        state.discards,
        state.played,
        state.epoch,
        tuple(state.claims),
        state.superstar,
        state.statue,
        state.web_left,
        state.jinx_left,
        state.carapace_left,
        tuple(state.extra),
        tuple(state.start_attacks),
        state.roll,
        state.rerolls,
        tuple(state.dice),
        tuple(state.bonus),
        tuple(state.shown),
        state.rides,
        state.dashed,
        state.trades,
        state.razed,
        tuple(state.killed),
        state.exposed,
        tuple(state.gained),
        tuple(state.dealt),
        state.tapped,
        tuple(state.hit),
        tuple(state.absorbed),
        state.site,
        state.force,
        state.units_only,
        state.deaths,
        state.winner,
        state.reason,
        tuple(state.agenda),
    )


def to_dict(state: "KingState") -> dict[str, Any]:
    """The whole state as JSON values."""
    data: dict[str, Any] = {"options": dict(state.box.options)}
    for name in VALUES:
        data[name] = getattr(state, name)
    for name in LISTS:
        data[name] = list(getattr(state, name))
    data["agenda"] = [list(task) for task in state.agenda]
    return data
