"""Power cards as data: the vocabulary of their effects, and the abilities compiled from a list of cards.

A card is an entry of `data/cards.json`. Each of its effects names a trigger (`on`), a verb (`do`), and the values of
the verb. `card_effects.py` carries out the verbs that act at a trigger; the verbs that hold while a card is owned, or
lies in the market, become the numbers and masks of `Abilities`, which the rules look at. No rule names a card.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

from referee.games.king_of_new_york.constants import ENERGY, FACE_NUMBER, FACES, HEART, UNITS

TRIGGERS: Final = (
    *("turn_start", "roll_done", "final_roll", "attacks", "attacked", "dealt", "damaged", "superstar_taken"),
    *("superstar_lost", "building_destroyed", "unit_destroyed", "entered", "turn_end"),
)
"""When the Keep cards in front of a seat act. `Abilities` says what each trigger is about."""
PURCHASE_TRIGGERS: Final = ("ordered", "bought")
"""When a card acts that is being bought: after paying; when it takes effect."""

CONDITIONS: Final[Mapping[str, str]] = {
    "in": "borough",
    "holding": "goal",
    "showing": "face",
    "all_faces": "flag",
    "unit": "unit",
    "first": "flag",
    "units_here": "count",
}
"""Conditions of an effect, each with the kind of its value. All that are given must hold."""


@dataclass(frozen=True, slots=True)
class Verb:
    """The triggers a verb goes with, and the values it needs and may have, each with its kind."""

    triggers: tuple[str, ...]
    needs: Mapping[str, str]
    takes: Mapping[str, str]


def _verb(triggers: str, needs: str = "", takes: Mapping[str, str] | None = None) -> Verb:
    """`needs` names values; those that are no face, unit or token are counts."""
    kinds = {"face": "face", "unit": "unit", "token": "token", "from": "convertible", "to": "convertible"}
    return Verb(tuple(triggers.split()), {name: kinds.get(name, "count") for name in needs.split()}, takes or {})


VERBS: Final[Mapping[str, Verb]] = {
    # At a trigger
    "gain": Verb((*TRIGGERS, "bought"), {}, {"vp": "count", "energy": "count", "life": "count", **CONDITIONS}),
    "add": _verb(
        "roll_done",
        takes={"energy": "count", "attack": "count", "destruction": "count", "heart": "count", **CONDITIONS},
    ),
    "extra_turn": _verb("bought final_roll", takes={"rides": "flag", **CONDITIONS}),
    "carapace_tokens": _verb("final_roll", "face"),
    "painbow": _verb("final_roll", "one two win"),
    "take_energy": _verb("attacked", "amount"),
    "lose_vp": _verb("attacks", "amount"),
    "give_token": _verb("dealt", "token"),
    "strike_other": _verb("superstar_taken superstar_lost", "amount"),
    "strike_self": _verb("bought", "amount"),
    "strike_all": _verb("bought", "amount"),
    "units_strike": _verb("bought"),
    "energy_for_all": _verb("bought", "amount"),
    "discard_for_all": _verb("bought"),
    "photo": _verb("bought"),
    "trade_vp": _verb("bought"),
    "souvenir": _verb("bought entered", "vp energy"),
    "push_units": _verb("entered", "limit"),
    "perish": _verb("turn_end", "face"),
    "claim_keep_card": _verb("ordered"),
    # While owned
    "dice": _verb("owned", "amount"),
    "max_life": _verb("owned", "amount"),
    "hail": _verb("owned", "amount"),
    "redirect": _verb("owned", "cost"),
    "superstar_guard": _verb("owned", "amount"),
    "scavenge": _verb("owned", "discount"),
    "energy_loss": _verb("owned", "amount"),
    "ouch_armour": _verb("owned", "amount"),
    "attack_bonus": _verb("owned", "amount"),
    "attack_factor": _verb("owned", "factor"),
    "swap_dice": _verb("owned"),
    "early_move": _verb("owned"),
    "hit_neighbours": _verb("owned"),
    "exchange": _verb("owned"),
    "carapace": _verb("owned"),
    "others_reroll": _verb("owned"),
    "jinx_tax": _verb("owned"),
    "web_tax": _verb("owned"),
    "convert": _verb("owned", "from to"),
    "defence_die": _verb("owned", "face factor"),
    "tap": _verb("owned", "threshold amount"),
    "durability": _verb("owned", "unit value"),
    "reach": _verb("owned", "unit"),
    "no_reroll": _verb("owned", "face"),
    # While in the market
    "move_cost": _verb("market", "amount"),
}


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect of the card with this number and id."""

    card: int
    card_id: str
    verb: str
    values: Mapping[str, Any]
    conditions: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Triggered:
    """The effects of all cards at one trigger: the set of the cards, and each effect with the bit of its card."""

    mask: int
    effects: tuple[tuple[int, Effect], ...]


@dataclass(frozen=True, slots=True)
class Amounts:
    """The cards that carry one number: the set of the cards, and each number with the bit of its card."""

    mask: int
    rows: tuple[tuple[int, int], ...]

    def total(self, cards: int) -> int:
        """The sum over a set of cards."""
        return sum([amount for bit, amount in self.rows if cards & bit])

    def product(self, cards: int) -> int:
        """The product over a set of cards."""
        return prod([amount for bit, amount in self.rows if cards & bit])

    def least(self, cards: int) -> int:
        """The least number in a set of cards, which must have one."""
        return min([amount for bit, amount in self.rows if cards & bit])


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the cards of a match can do.

    Sets of cards are integers with one bit for each card. A trigger is about something, a number that its effects get
    beside the owner's seat; where nothing is said below it is 0.
    """

    turn_start: Triggered
    roll_done: Triggered
    final_roll: Triggered
    attacks: Triggered
    """The owner's claws hurt a seat."""
    attacked: Triggered
    """The owner was hurt by the claws of a seat."""
    dealt: Triggered
    """The owner dealt damage to a seat."""
    damaged: Triggered
    """The owner took damage from a source."""
    superstar_taken: Triggered
    """The owner took Superstar from a seat, or from the table (NO_SEAT)."""
    superstar_lost: Triggered
    """A seat took Superstar from the owner."""
    building_destroyed: Triggered
    """The owner destroyed the building on a stack."""
    unit_destroyed: Triggered
    """The owner destroyed a Unit of a kind."""
    entered: Triggered
    """The owner entered a borough."""
    turn_end: Triggered
    ordered: tuple[tuple[Effect, ...], ...]
    """By card: it was paid for. The market is not filled yet, and the card has not taken effect."""
    bought: tuple[tuple[Effect, ...], ...]
    """By card: it takes effect."""
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
    """Cards whose owner may respond to damage."""
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
    """By kind of Unit."""
    reach: tuple[int, ...]
    """By kind of Unit."""
    no_reroll: tuple[int, ...]
    """By face."""
    no_reroll_any: int
    move_cost: tuple[int, ...]
    """By card, what it makes optional moves cost while it lies in the market."""


def compile_cards(cards: Sequence[Mapping[str, Any]], exchange_faces: bool) -> Abilities:
    """The abilities of a list of cards that has passed `check_data`.

    `exchange_faces`: the verb `exchange` turns Heart and Energy dice into each other, and not life and energy.
    """
    effects = [
        Effect(
            number,
            card["id"],
            effect["do"],
            effect,
            tuple((word, effect[word]) for word in CONDITIONS if effect.get(word)),
        )
        for number, card in enumerate(cards)
        for effect in card["effects"]
    ]
    triggers = {trigger: _triggered(effects, trigger) for trigger in TRIGGERS}
    exchange, carapace = _mask(effects, "exchange"), _mask(effects, "carapace")
    conversions = [
        (1 << effect.card, FACE_NUMBER[effect.values["from"]], FACE_NUMBER[effect.values["to"]])
        for effect in _with_verb(effects, "convert")
    ]
    if exchange_faces:
        for effect in _with_verb(effects, "exchange"):
            conversions += [(1 << effect.card, HEART, ENERGY), (1 << effect.card, ENERGY, HEART)]
        exchange = 0
    no_reroll = tuple(_mask(effects, "no_reroll", face=face) for face in FACES)
    return Abilities(
        **triggers,
        ordered=_by_card(effects, "ordered", len(cards)),
        bought=_by_card(effects, "bought", len(cards)),
        dice=_amounts(effects, "dice"),
        max_life=_amounts(effects, "max_life"),
        hail=_amounts(effects, "hail"),
        redirect=_amounts(effects, "redirect", "cost"),
        superstar_guard=_amounts(effects, "superstar_guard"),
        scavenge=_amounts(effects, "scavenge", "discount"),
        energy_loss=_amounts(effects, "energy_loss"),
        ouch_armour=_amounts(effects, "ouch_armour"),
        attack_bonus=_amounts(effects, "attack_bonus"),
        attack_factor=_amounts(effects, "attack_factor", "factor"),
        swap_dice=_mask(effects, "swap_dice"),
        early_move=_mask(effects, "early_move"),
        hit_neighbours=_mask(effects, "hit_neighbours"),
        exchange=exchange,
        carapace=carapace,
        others_reroll=_mask(effects, "others_reroll"),
        jinx_tax=_mask(effects, "jinx_tax"),
        web_tax=_mask(effects, "web_tax"),
        responds=exchange | carapace,
        after_damage=_union(triggers[trigger].mask for trigger in ("attacks", "attacked", "dealt", "damaged")),
        converts=_union(bit for bit, _, _ in conversions),
        conversions=tuple(conversions),
        defence=_mask(effects, "defence_die"),
        defence_dice=tuple(
            (1 << effect.card, FACE_NUMBER[effect.values["face"]], effect.values["factor"])
            for effect in _with_verb(effects, "defence_die")
        ),
        tap=_mask(effects, "tap"),
        taps=tuple(
            (1 << effect.card, effect.values["threshold"], effect.values["amount"])
            for effect in _with_verb(effects, "tap")
        ),
        durability=tuple(_amounts(effects, "durability", "value", unit=unit) for unit in UNITS),
        reach=tuple(_mask(effects, "reach", unit=unit) for unit in UNITS),
        no_reroll=no_reroll,
        no_reroll_any=_union(no_reroll),
        move_cost=tuple(
            sum(effect["amount"] for effect in card["effects"] if effect["do"] == "move_cost") for card in cards
        ),
    )


def _with_verb(effects: Sequence[Effect], verb: str, **where: str) -> list[Effect]:
    return [
        effect
        for effect in effects
        if effect.verb == verb and all(effect.values[word] == value for word, value in where.items())
    ]


def _triggered(effects: Sequence[Effect], trigger: str) -> Triggered:
    rows = tuple((1 << effect.card, effect) for effect in effects if effect.values["on"] == trigger)
    return Triggered(_union(bit for bit, _ in rows), rows)


def _by_card(effects: Sequence[Effect], trigger: str, cards: int) -> tuple[tuple[Effect, ...], ...]:
    return tuple(
        tuple(effect for effect in effects if effect.card == card and effect.values["on"] == trigger)
        for card in range(cards)
    )


def _mask(effects: Sequence[Effect], verb: str, **where: str) -> int:
    return _union(1 << effect.card for effect in _with_verb(effects, verb, **where))


def _amounts(effects: Sequence[Effect], verb: str, value: str = "amount", **where: str) -> Amounts:
    rows = tuple((1 << effect.card, effect.values[value]) for effect in _with_verb(effects, verb, **where))
    return Amounts(_union(bit for bit, _ in rows), rows)


def _union(sets: Iterable[int]) -> int:
    union = 0
    for cards in sets:
        union |= cards
    return union
