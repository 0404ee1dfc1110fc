"""From the card list of the data to the abilities the engine looks at."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from referee.games.king_of_new_york.cards import combat, plain, special
from referee.games.king_of_new_york.cards.words import HOOK_MOMENTS
from referee.games.king_of_new_york.moments import Abilities, Amounts, Hook, Hooks
from referee.games.king_of_new_york.names import ENERGY, FACE_NUMBER, FACES, HEART, UNITS

Effects: TypeAlias = Sequence[tuple[int, Mapping[str, Any]]]
"""Card number and effect."""

MAKERS: Mapping[str, Callable[[Mapping[str, Any], int, str], Hook]] = {
    "gain": plain.gain,
    "add": plain.add,
    "extra_turn": plain.extra_turn,
    "carapace_tokens": special.carapace_tokens,
    "painbow": special.painbow,
    "take_energy": combat.take_energy,
    "lose_vp": combat.lose_victims_vp,
    "give_token": combat.give_token,
    "strike_other": combat.strike_other,
    "strike_self": combat.strike_self,
    "strike_all": combat.strike_all,
    "units_strike": combat.units_strike,
    "energy_for_all": special.energy_for_all,
    "discard_for_all": special.discard_for_all,
    "photo": special.photo,
    "trade_vp": special.trade_vp,
    "souvenir": special.souvenir,
    "push_units": special.push_units,
    "perish": special.perish,
    "claim_keep_card": special.claim_keep_card,
}


def compile_cards(cards: Sequence[Mapping[str, Any]], exchange_faces: bool) -> Abilities:
    """`cards` have passed the check; `exchange_faces`: Of Another World turns faces, not points."""
    effects = [
        (number, _reading(effect, exchange_faces)) for number, card in enumerate(cards) for effect in card["effects"]
    ]
    names = [card["id"] for card in cards]
    hooks = {
        moment: _hooks([(number, effect) for number, effect in effects if effect["on"] == moment], names)
        for moment in HOOK_MOMENTS
    }
    defence = tuple(
        (1 << number, FACE_NUMBER[effect["face"]], effect["factor"])
        for number, effect in _doing(effects, "defence_die")
    )
    taps = tuple((1 << number, effect["threshold"], effect["amount"]) for number, effect in _doing(effects, "tap"))
    conversions = tuple(_conversions(effects))
    no_reroll = tuple(_mask(effects, "no_reroll", face=face) for face in FACES)
    exchange, carapace = _mask(effects, "exchange"), _mask(effects, "carapace")
    return Abilities(
        **hooks,
        ordered=_per_card(effects, names, "ordered"),
        bought=_per_card(effects, names, "bought"),
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
        after_damage=hooks["attacks"].mask | hooks["attacked"].mask | hooks["dealt"].mask | hooks["damaged"].mask,
        converts=_union(bit for bit, _, _ in conversions),
        conversions=conversions,
        defence=_union(bit for bit, _, _ in defence),
        defence_dice=defence,
        tap=_union(bit for bit, _, _ in taps),
        taps=taps,
        durability=tuple(_amounts(effects, "durability", "value", unit=unit) for unit in UNITS),
        reach=tuple(_mask(effects, "reach", unit=unit) for unit in UNITS),
        no_reroll=no_reroll,
        no_reroll_any=_union(no_reroll),
        move_cost=tuple(
            sum(effect["amount"] for effect in card["effects"] if effect["do"] == "move_cost") for card in cards
        ),
    )


def _reading(effect: Mapping[str, Any], exchange_faces: bool) -> Mapping[str, Any]:
    if exchange_faces and effect["do"] == "exchange":
        return {"on": "owned", "do": "exchange_faces"}
    return effect


def _hooks(effects: Effects, names: Sequence[str]) -> Hooks:
    rows = tuple((1 << number, MAKERS[effect["do"]](effect, number, names[number])) for number, effect in effects)
    return Hooks(_union(bit for bit, _ in rows), rows)


def _per_card(effects: Effects, names: Sequence[str], moment: str) -> tuple[tuple[Hook, ...], ...]:
    return tuple(
        tuple(
            MAKERS[effect["do"]](effect, number, names[number])
            for number, effect in effects
            if number == card and effect["on"] == moment
        )
        for card in range(len(names))
    )


def _doing(effects: Effects, verb: str, **where: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, effect in effects:
        if effect["do"] == verb and all(effect[word] == value for word, value in where.items()):
            yield number, effect


def _mask(effects: Effects, verb: str, **where: str) -> int:
    return _union(1 << number for number, _ in _doing(effects, verb, **where))


def _amounts(effects: Effects, verb: str, word: str = "amount", **where: str) -> Amounts:
    rows = tuple((1 << number, effect[word]) for number, effect in _doing(effects, verb, **where))
    return Amounts(_union(bit for bit, _ in rows), rows)


def _conversions(effects: Effects) -> Iterator[tuple[int, int, int]]:
    for number, effect in effects:
        if effect["do"] == "convert":
            yield 1 << number, FACE_NUMBER[effect["from"]], FACE_NUMBER[effect["to"]]
        elif effect["do"] == "exchange_faces":
            yield 1 << number, HEART, ENERGY
            yield 1 << number, ENERGY, HEART


def _union(bits: Iterator[int] | Sequence[int]) -> int:
    mask = 0
    for bit in bits:
        mask |= bit
    return mask
