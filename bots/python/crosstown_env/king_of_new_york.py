"""King of New York as arrays: everything that a viewer sees but the constant setting of the match."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from crosstown_env.actions import ActionSpace, Block, packed
from crosstown_env.layout import BASE, MOST, Field, Layout, category, flags, large, named, number, seat
from referee.games.api import resolve_options
from referee.games.king_of_new_york import actions as king
from referee.games.king_of_new_york.actions import KingAction
from referee.games.king_of_new_york.constants import (
    BOROUGHS,
    FACES,
    FIRST_QUESTION,
    MARKET_SLOTS,
    NO_CARD,
    NO_SEAT,
    NO_SPACE,
    NOWHERE,
    QUESTION_NAMES,
    STACKS,
    TILES_PER_STACK,
    UNITS,
)
from referee.games.king_of_new_york.data import shipped_card_ids
from referee.games.king_of_new_york.events import END_REASONS
from referee.games.king_of_new_york.observation import Observation, position_values
from referee.games.king_of_new_york.options import OPTIONS
from referee.games.king_of_new_york.rules import KingState
from referee.games.king_of_new_york.ruleset import make_ruleset
from referee.games.king_of_new_york.state import Position

CARDS: Final = 64
MOST_DICE: Final = 8
AMOUNTS: Final = 128
"""Amounts of energy or life, and of tokens, that an action can name: 0 to 127."""
SEATS: Final = 6
TASKS: Final = 6
"""Pending tasks that are shown: the next ones."""
TASK_NUMBERS: Final = 9
QUEUE: Final = 8
"""Claims and extra turns that are shown: the next ones."""
REASONS: Final = ("", *END_REASONS)
_QUESTIONS: Final = {question: place for place, question in enumerate(("", *QUESTION_NAMES))}
_BITS: Final = tuple(bytes(byte >> bit & 1 for bit in range(8)) for byte in range(256))
_REASONS: Final = {reason: place for place, reason in enumerate(REASONS)}
_CAP: Final = bytes(min(byte, MOST) for byte in range(256))


def _rows(parts: int, most: int) -> Iterator[tuple[int, ...]]:
    """All rows of that many numbers which add up to at most `most`, ascending."""
    if not parts:
        yield ()
        return
    for first in range(most + 1):
        for rest in _rows(parts - 1, most - first):
            yield (first, *rest)


def _blocks() -> Iterator[tuple[Block, list[KingAction]]]:
    """The kinds of action, each with all its actions in order."""
    boroughs = ("borough", len(BOROUGHS))
    cards = shipped_card_ids()
    faces, units = ("face", len(FACES)), ("unit", len(UNITS))
    yield Block("pass", "Go on: roll, stop, or buy nothing more."), [king.PASS]
    yield Block("keep", "Leave all dice as they are."), [king.KEEP]
    yield Block("stay", "Do not move, do not flee."), [king.STAY]
    yield Block("sweep", "Pay to discard the market."), [king.SWEEP]
    yield Block("shed", "Discard Carapace."), [king.SHED]
    yield Block("give_up", "Give up a Celebrity die and turn no other."), [king.GIVE_UP]
    yield Block("hail", "Add 2 Destruction for Units: 0 no, 1 yes.", (("use", 2),)), list(king.HAILS)
    yield Block("resolve", "Resolve all results of a face.", (faces,)), list(king.RESOLVES)
    yield Block("place", "Put the monster into its first borough.", (boroughs,)), list(king.PLACES)
    yield Block("move", "Move in the Move step.", (boroughs,)), list(king.MOVES)
    yield Block("dash", "Move before rolling.", (boroughs,)), list(king.DASHES)
    yield Block("ride", "Move in a Subway turn.", (boroughs,)), list(king.RIDES)
    yield Block("flee", "Flee Manhattan.", (boroughs,)), list(king.FLEES)
    yield Block("leave", "Leave Manhattan, which has room for one.", (boroughs,)), list(king.LEAVES)
    yield Block("redirect", "Resolve Destruction in another borough.", (boroughs,)), list(king.REDIRECTS)
    yield (
        Block("push", "Push a Unit out to this borough.", (boroughs, units)),
        [one for row in king.PUSHES for one in row],
    )
    yield (
        Block("destroy_unit", "Destroy a Unit.", (boroughs, units)),
        [one for row in king.UNIT_TARGETS for one in row],
    )
    yield Block("destroy_building", "Destroy the top of a stack.", (("stack", STACKS),)), list(king.BUILDING_TARGETS)
    yield (
        Block("swap", "Give up a Celebrity die and turn a die.", (("die", len(FACES)), ("to", len(FACES)))),
        [one for row in king.SWAPS for one in row],
    )
    yield Block("photo", "Name a monster for Photo Op.", (("seat", SEATS),)), [king.Photo(one) for one in range(SEATS)]
    yield Block("buy", "Buy a card of the market.", (("card", CARDS),)), [king.Buy(card) for card in cards]
    yield (
        Block("scavenge", "Buy a Keep card of the discard pile.", (("card", CARDS),)),
        [king.Scavenge(card) for card in cards],
    )
    yield Block("discard", "Discard an own Keep card.", (("card", CARDS),)), [king.Discard(card) for card in cards]
    amounts = range(AMOUNTS)
    yield (
        Block("remove", "Resolve a face, spending results on tokens.", (faces, ("tokens", AMOUNTS))),
        [king.Remove(face, tokens) for face in FACES for tokens in amounts],
    )
    yield Block("trade", "Points that become energy.", (("energy", AMOUNTS),)), [king.Trade(one) for one in amounts]
    yield Block("absorb", "Damage paid for with energy.", (("energy", AMOUNTS),)), [king.Absorb(one) for one in amounts]
    yield Block("pay", "Life that pays a cost.", (("life", AMOUNTS),)), [king.Pay(one) for one in amounts]
    rows = list(_rows(3, MOST_DICE))
    yield (
        Block(
            "convert",
            "Dice that shall show energy, attack, heart: all rows of at most 8, ascending.",
            (("row", len(rows)),),
        ),
        [king.Convert(*row) for row in rows],
    )
    rows = list(_rows(len(FACES), MOST_DICE))[1:]
    yield (
        Block("reroll", "Dice of each face to roll again: all rows of 1 to 8 dice, ascending.", (("row", len(rows)),)),
        [king.reroll(row) for row in rows],
    )


_KINDS: Final = list(_blocks())
ACTIONS: Final = ActionSpace(tuple(block for block, _ in _KINDS))
_ACTIONS: Final[tuple[KingAction, ...]] = tuple(action for _, found in _KINDS for action in found)
_IDS: Final = {action: place for place, action in enumerate(_ACTIONS, start=1)}
_BY_IDENTITY: Final = {id(action): place for place, action in enumerate(_ACTIONS, start=1)}
"""The same numbers by the identity of the objects that the rules share: quicker, as most actions are such objects."""


class KingArrays:
    """See `crosstown_env.arrays.Arrays`."""

    version = 1
    actions = ACTIONS

    def __init__(self, players: int, options: Mapping[str, Any]) -> None:
        ruleset = self._ruleset = make_ruleset(resolve_options("king_of_new_york", OPTIONS, options))
        self._menus: dict[int, tuple[Sequence[KingAction], bytes]] = {}
        """By identity of a menu that positions share, itself and its numbers."""
        kinds = len(ruleset.tile_ids)
        self.layout = Layout(tuple(_fields(players, kinds, max(ruleset.tile_counts))))

    def row(self, seen: Observation | KingState, viewer: int) -> bytes:
        if isinstance(seen, Observation):
            question, asked_seat = _QUESTIONS[seen.question], seen.asked_seat
            values = position_values(seen)
            position = Position.filled(self._ruleset, len(values["life"]), values)
            return _row(position, question, asked_seat, viewer)
        if seen.menu:
            task = seen.tasks[-1]
            return _row(seen, 1 + task[0] - FIRST_QUESTION, task[1], viewer)
        return _row(seen, 0, NO_SEAT, viewer)

    def numbers(self, state: KingState, seat: int) -> bytes:
        legal = state.legal_actions(seat)
        known = self._menus.get(id(legal))
        if known is not None and known[0] is legal:
            return known[1]
        found = packed(self.ids(state, legal))
        if type(legal) is tuple:  # menus that positions share
            if len(self._menus) > 8192:
                self._menus.clear()
            self._menus[id(legal)] = (legal, found)
        return found

    def ids(self, seen: Observation | KingState, legal: Sequence[KingAction]) -> list[int]:
        known_by = _BY_IDENTITY.get
        return [known_by(id(action)) or _IDS[action] for action in legal]

    def action(self, seen: Observation | KingState, number: int) -> KingAction:
        if not 0 < number <= len(_ACTIONS):
            ACTIONS.factors_of(number)  # says what is wrong
        return _ACTIONS[number - 1]


def _fields(players: int, kinds: int, most_tiles: int) -> Iterator[Field]:
    places, units = len(BOROUGHS), len(UNITS)
    nobody, seats = NO_SEAT, {"size": players, "over": players}

    yield seat("viewer", "The seat that sees this.", players)
    yield named("question", "What is asked; (none): nothing.", ("", *QUESTION_NAMES))
    yield named("reason", "Why the match ended; (none): it goes on.", REASONS)
    yield seat("asked_seat", "Seat that is asked; 7: none.", players, high=nobody)
    yield seat("active_seat", "Whose turn it is.", players)
    yield seat("order_seat", "Whose regular turn it is or was last.", players)
    yield large("turn", "Turns begun by all.")
    yield number("life", "Per seat.", MOST, **seats)
    yield number("vp", "Per seat the victory points.", MOST, **seats)
    yield number("energy", "Per seat.", MOST, **seats)
    yield category("borough", "Per seat its borough; 5: off the board.", 0, NOWHERE, **seats)
    yield category("space", "Per seat its space in Manhattan; 6: outside.", 0, NO_SPACE, **seats)
    yield number("roll", "Rolls after the first.", MOST)
    yield number("rerolls", "Rerolls left.", MOST)
    yield number("dice", "Per face the dice not yet resolved.", MOST_DICE, len(FACES))
    yield number("bonus", "Per face the added results not yet resolved.", MOST, len(FACES))
    yield number("shown", "Per face the dice resolved.", MOST_DICE, len(FACES))
    yield number("force", "Destruction results left while they are being used.", MOST)
    yield number("killed", "Per kind the Units destroyed this turn.", MOST, units)
    yield number("gained", "Per seat the energy gained this turn.", MOST, **seats)
    yield number("dealt", "Per seat the damage that the active seat has dealt to it this turn.", MOST, **seats)
    yield number("hit", "Per seat the damage about to land.", MOST, **seats)
    yield number("absorbed", "Per seat the points of this damage paid for with energy.", MOST, **seats)
    yield number("rides", "Subway moves left.", MOST)
    yield flags("dashed", "Whether the move before rolling is used.")
    yield number("trades", "Purchases and sweeps this turn.", MOST)
    yield number("razed", "Buildings destroyed this turn.", MOST)
    yield category("site", "Borough the Destruction step was moved to; 5: none.", 0, NOWHERE)
    yield flags("units_only", "Whether Destruction is good for Units only.")
    yield number("deaths", "Number of the last elimination.", SEATS)
    yield seat("winner_seat", "Seat that won; 7: none, or not yet.", players, high=nobody)
    yield flags("exposed", "Per stack whether its top was uncovered this turn.", STACKS)
    yield flags("tapped", "Per seat whether it has paid for its gains.", players, players)
    yield flags("left", "Per seat whether it left the match.", players, players)
    yield number(
        "tasks",
        f"The next {TASKS} tasks, the next one first: its kind and up to {TASK_NUMBERS - 1} arguments, -1 for none.",
        MOST,
        TASKS * TASK_NUMBERS,
        low=-1,
    )
    yield number("out", "Per seat the number of the elimination in which it left; 0: alive.", SEATS, **seats)
    yield number("web", "Per seat the Web tokens.", MOST, **seats)
    yield number("jinx", "Per seat the Jinx tokens.", MOST, **seats)
    yield number("carapace", "Per seat the tokens on Carapace.", MOST, **seats)
    yield number("turns", "Per seat the own turns begun.", MOST, **seats)
    yield number("trophies", "Per seat and kind the Units kept.", MOST, units * players, over=players)
    yield number("defence_rolls", "Per seat the dice rolled against Antimatter Pellets.", MOST, **seats)
    yield number("start_attacks", "Per seat the Attack faces in the roll for the first turn.", MOST, **seats)
    yield flags("keep_cards", "Per seat and card whether it owns the card.", CARDS * players, players)
    yield category("tops", "Per stack the kind of its top building; 0: used up.", 0, kinds - 1, STACKS)
    yield number("covered", "Per stack the tiles below.", TILES_PER_STACK, STACKS)
    yield number("unseen", "Per tile kind, 0 for none, the tiles that have not been seen.", most_tiles, kinds)
    yield number("units", "Per borough and kind the Units.", MOST, places * units)
    yield number("fresh_units", "Those of the Units that appeared this turn.", MOST, places * units)
    yield number("lost_trophies", "Per kind the trophies of the eliminated.", MOST, units)
    yield flags("souvenirs", "Per borough whether it has a Souvenir token.", places)
    yield category("market", "Per slot the number of its card; 64: empty.", 0, NO_CARD, MARKET_SLOTS)
    yield flags("deck", "Per card whether it is still in the deck.", CARDS)
    yield flags("discards", "Per card whether it is in the discard pile.", CARDS)
    yield flags("played", "Per card whether it was bought and takes effect now.", CARDS)
    yield number("epoch", "How often the discard pile became the deck.", MOST)
    yield number(
        "claims", "The next seats that get the next Keep cards; -1: no further one.", players - 1, QUEUE, low=-1
    )
    yield seat("superstar_seat", "Holder of Superstar; 7: none.", players, high=nobody)
    yield seat("statue_seat", "Holder of the Statue of Liberty; 7: none.", players, high=nobody)
    yield number("web_left", "Web tokens in the supply.", MOST)
    yield number("jinx_left", "Jinx tokens in the supply.", MOST)
    yield number("carapace_left", "Tokens for Carapace in the supply.", MOST)
    yield number(
        "extra_turns",
        "The next extra turns, 2 * seat, plus 1 with Subway rides; -1: no further one.",
        2 * players - 1,
        QUEUE,
        low=-1,
    )


def _row(p: Position, question: int, asked_seat: int, viewer: int) -> bytes:
    players = len(p.life)
    tasks = p.tasks
    return b"".join(
        (
            bytes((viewer, question, _REASONS[p.reason])),
            capped(
                (
                    *(asked_seat, p.active_seat, p.order_seat, *divmod(p.turn, BASE)),
                    *(*p.life, *p.vp, *p.energy, *p.borough, *p.space),
                    *(p.roll, p.rerolls, *p.dice, *p.bonus, *p.shown, p.force, *p.killed),
                    *(*p.gained, *p.dealt, *p.hit, *p.absorbed),
                    *(p.rides, p.dashed, p.trades, p.razed, p.site, p.units_only, p.deaths, p.winner_seat),
                )
            ),
            bits(p.exposed, STACKS),
            bits(p.tapped, players),
            bits(p.left, players),
            *[_task(task) for task in tasks[: -TASKS - 1 : -1]],
            b"\xff" * (TASK_NUMBERS * (TASKS - len(tasks))),
            capped(
                (
                    *(*p.out, *p.web, *p.jinx, *p.carapace, *p.turns),
                    *(*p.trophies, *p.defence_rolls, *p.start_attacks),
                )
            ),
            *[bits(cards, CARDS) for cards in p.keep_cards],
            capped((*p.tops, *p.covered, *p.unseen, *p.units, *p.fresh_units, *p.lost_trophies)),
            bits(p.souvenirs, len(BOROUGHS)),
            bytes(p.market),
            bits(p.deck, CARDS),
            bits(p.discards, CARDS),
            bits(p.played, CARDS),
            capped((p.epoch,)),
            padded(p.claims, QUEUE),
            capped((p.superstar_seat, p.statue_seat, p.web_left, p.jinx_left, p.carapace_left)),
            padded(p.extra_turns, QUEUE),
        )
    )


def capped(values: Sequence[int]) -> bytes:
    """A byte for each value, none above 127."""
    try:
        return bytes(values).translate(_CAP)
    except ValueError:
        return bytes([min(value, MOST) for value in values])


@lru_cache(maxsize=8192)
def _task(task: tuple[int, ...]) -> bytes:
    return padded(task, TASK_NUMBERS)


def padded(values: Sequence[int], size: int) -> bytes:
    """The first values, then -1."""
    return capped(values[:size]).ljust(size, b"\xff")


@lru_cache(maxsize=65536)
def bits(numbers: int, size: int) -> bytes:
    """Of a set, a byte for each number whether it is a member."""
    return b"".join([_BITS[byte] for byte in numbers.to_bytes((size + 7) // 8, "little")])[:size]
