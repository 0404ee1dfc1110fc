"""What stays the same during a match: the box data and the options, compiled for quick use."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from referee.games.api import DATA_OPTION
from referee.games.king_of_new_york.actions import Buy, Discard, Scavenge
from referee.games.king_of_new_york.cards import Abilities, compile_cards
from referee.games.king_of_new_york.constants import BOROUGHS, NO_TILE, UNIT_NUMBER, UNITS
from referee.games.king_of_new_york.data import TABLE_NUMBERS, check_data, default_data, shipped_card_ids
from referee.games.king_of_new_york.options import OPTIONS


@dataclass(frozen=True, slots=True)
class Reward:
    """What destroying something gives."""

    vp: int = 0
    energy: int = 0
    life: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Ruleset:
    """Box data and options of a match.

    Tuples by kind of tile begin with an entry for NO_TILE. Cards have the numbers of `data/cards.json`. Sets of cards
    are integers with one bit for each card.
    """

    start_life: int
    max_life: int
    win_vp: int
    dice: int
    max_dice: int
    rolls: int
    sweep_cost: int
    borough_discount: int
    enter_vp: int
    income: tuple[tuple[int, int], ...]
    """By zone VP and energy."""
    tokens: Mapping[str, int]
    superstar_needs: int
    statue_needs: int
    statue_vp: int
    tile_ids: tuple[str, ...]
    tile_number: Mapping[str, int]
    tile_counts: tuple[int, ...]
    tile_durability: tuple[int, ...]
    tile_rewards: tuple[Reward, ...]
    tile_units: tuple[int, ...]
    unit_durability: tuple[int, ...]
    unit_rewards: tuple[Reward, ...]
    card_ids: tuple[str, ...]
    card_number: Mapping[str, int]
    card_outcomes: tuple[tuple[int, tuple[str, int]], ...]
    """By card its bit, and the outcome of drawing it."""
    all_cards: int
    """Set of the cards that take part."""
    keep_cards: int
    """Set of the Keep cards."""
    prices: tuple[tuple[int, ...], ...]
    """By card and borough, NOWHERE included."""
    requires: tuple[int, ...]
    """By card the kind of Unit that its buyer must have destroyed this turn, or -1."""
    most_added_destruction: int
    """Destruction results that all cards together can add to a roll."""
    most_superstar_strikes: int
    """How often all cards together can deal damage when Superstar changes hands."""
    buys: tuple[Buy, ...]
    scavenges: tuple[Scavenge, ...]
    discards: tuple[Discard, ...]
    abilities: Abilities
    options: Mapping[str, Any]
    """As given. The values follow under their own names, see `options.py`."""
    start_player: str
    new_unit_destroyable_same_turn: bool
    destruction_forced_if_possible: bool
    exposed_building_same_turn: bool
    statue_before_damage: bool
    bulletproof_any_ouch: bool
    seismic_ray_cost: str
    painbow_counts_modified: bool
    painbow_mode: str
    curse_cost_per: str
    power_tap_cumulative: bool
    of_another_world: str
    fireball_when_manhattan_empty: bool
    columbia_claim_persists: bool
    enter_at_turn_end: bool
    added_claws_attack_alone: bool
    inert_tokens_removable: bool
    subway_max_moves: int
    refill_before_effect: bool
    free_card_counts_as_bought: bool
    climb_counts_bonus: bool
    marathon_currency: str
    winner_only: bool
    round_cap: int
    market_cap: int


_MISSING_CARD: Final[Mapping[str, Any]] = {"cost": 0, "type": "discard", "effects": []}
"""In place of a card of the box that the data leave out."""


def make_ruleset(options: Mapping[str, Any]) -> Ruleset:
    """`options` are full and resolved; options that an older record does not have get their defaults. DataError."""
    return _compiled(json.dumps(options, sort_keys=True))


@lru_cache(maxsize=64)
def _compiled(text: str) -> Ruleset:
    options = json.loads(text)
    if DATA_OPTION in options:
        data = options[DATA_OPTION]
        check_data(data)
    else:
        data = default_data()
    table = data["table"]
    tiles = data["tiles"]
    units = [data["units"][unit] for unit in UNITS]
    ids = shipped_card_ids()
    given = {card["id"]: card for card in data["cards"]}
    cards = [given.get(card, {"id": card, **_MISSING_CARD}) for card in ids]
    return Ruleset(
        **{name: table[name] for name in TABLE_NUMBERS},
        income=tuple((zone["vp"], zone["energy"]) for zone in table["income"]),
        tokens=table["tokens"],
        superstar_needs=table["superstar"]["needs"],
        statue_needs=table["statue_of_liberty"]["needs"],
        statue_vp=table["statue_of_liberty"]["vp"],
        tile_ids=("", *(tile["id"] for tile in tiles)),
        tile_number={tile["id"]: NO_TILE + 1 + place for place, tile in enumerate(tiles)},
        tile_counts=(0, *(tile["count"] for tile in tiles)),
        tile_durability=(0, *(tile["durability"] for tile in tiles)),
        tile_rewards=(Reward(), *(Reward(**tile["reward"]) for tile in tiles)),
        tile_units=(0, *(UNIT_NUMBER[tile["unit"]] for tile in tiles)),
        unit_durability=tuple(unit["durability"] for unit in units),
        unit_rewards=tuple(Reward(**unit["reward"]) for unit in units),
        card_ids=ids,
        card_number={card: number for number, card in enumerate(ids)},
        card_outcomes=tuple((1 << number, (card, 1)) for number, card in enumerate(ids)),
        all_cards=sum(1 << number for number, card in enumerate(ids) if card in given),
        keep_cards=sum(1 << number for number, card in enumerate(cards) if card["type"] == "keep"),
        prices=tuple(_prices(card, table["borough_discount"]) for card in cards),
        requires=tuple(UNIT_NUMBER[card["requires"]] if "requires" in card else -1 for card in cards),
        most_added_destruction=sum(_amounts(cards, "add", "destruction")) + sum(_amounts(cards, "hail", "amount")),
        most_superstar_strikes=len(_amounts(cards, "strike_other", "amount")),
        buys=tuple(Buy(card) for card in ids),
        scavenges=tuple(Scavenge(card) for card in ids),
        discards=tuple(Discard(card) for card in ids),
        abilities=compile_cards(cards, exchange_faces=options["of_another_world"] == "die_faces"),
        options=options,
        **{option.name: options.get(option.name, option.default) for option in OPTIONS},
    )


def _prices(card: Mapping[str, Any], discount: int) -> tuple[int, ...]:
    cost = card["cost"]
    cheap = card.get("discount_in", ())
    return (*(max(0, cost - discount) if borough in cheap else cost for borough in BOROUGHS), cost)


def _amounts(cards: Sequence[Mapping[str, Any]], verb: str, value: str) -> list[int]:
    return [effect.get(value, 0) for card in cards for effect in card["effects"] if effect["do"] == verb]
