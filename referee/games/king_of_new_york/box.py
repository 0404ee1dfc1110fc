"""What stays the same during a match: the box data and the options, compiled for quick use."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from referee.games.api import DATA_OPTION
from referee.games.king_of_new_york.actions import Buy, Discard, Scavenge
from referee.games.king_of_new_york.cards import compile_cards
from referee.games.king_of_new_york.checking import check_data
from referee.games.king_of_new_york.moments import Abilities
from referee.games.king_of_new_york.names import BOROUGHS, NO_TILE, UNIT_NUMBER, UNITS


@dataclass(frozen=True, slots=True)
class Reward:
    """What destroying something gives."""

    vp: int
    energy: int
    life: int


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """Lists by tile kind begin with an entry for NO_TILE; cards are numbered as in the data shipped."""

    options: Mapping[str, Any]
    start_life: int
    max_life: int
    win_vp: int
    dice: int
    max_dice: int
    rolls: int
    sweep_cost: int
    enter_vp: int
    income: tuple[tuple[int, int], ...]
    """Per zone VP and energy."""
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
    """Per card its bit, and it as an outcome of a draw."""
    all_cards: int
    """Bits of the cards that take part."""
    prices: tuple[tuple[int, ...], ...]
    """Per card and borough, NOWHERE included."""
    requires: tuple[int, ...]
    """Per card the kind of Unit its buyer must have destroyed this turn; -1: none."""
    added_destruction: int
    """Destruction results that all cards together can add to a roll."""
    celebrity_strikes: int
    """Strikes that all cards together can make when Superstar changes hands."""
    keep_cards: int
    """Bits of the Keep cards."""
    buys: tuple[Buy, ...]
    scavenges: tuple[Scavenge, ...]
    discards: tuple[Discard, ...]
    abilities: Abilities
    fresh_protected: bool
    destruction_forced: bool
    exposed_allowed: bool
    statue_first: bool
    any_ouch: bool
    redirect_per_die: bool
    jinx_per_die: bool
    tap_cumulative: bool
    added_claws_alone: bool
    inert_removable: bool
    fireball_alone: bool
    claim_persists: bool
    refill_first: bool
    free_counts: bool
    late_entry: bool
    painbow_modified: bool
    painbow_exact: bool
    climb_bonus: bool
    marathon_vp: bool
    winner_only: bool
    subway_moves: int
    turn_cap: int
    """Turns per player."""
    market_cap: int
    start_player: str


_NO_SUCH_CARD: Mapping[str, Any] = {"cost": 0, "type": "discard", "effects": []}
"""In place of a card of the box that the data leave out."""


def default_data() -> dict[str, Any]:
    """The data shipped with the game, a fresh copy."""
    tiles = json.loads(_shipped("tiles.json"))
    return {
        "table": json.loads(_shipped("table.json")),
        "tiles": tiles["tiles"],
        "units": tiles["units"],
        "cards": json.loads(_shipped("cards.json")),
    }


@cache
def _shipped(name: str) -> str:
    return (files(__package__) / "data" / name).read_text("utf-8")


@cache
def shipped_card_ids() -> tuple[str, ...]:
    """The ids of the cards of the box; a card's place is its number on the wire."""
    return tuple(card["id"] for card in json.loads(_shipped("cards.json")))


def make_box(options: Mapping[str, Any]) -> Box:
    """`options` are full and resolved. Raises DataError."""
    return _box(json.dumps(options, sort_keys=True))


@lru_cache(maxsize=64)
def _box(text: str) -> Box:
    options = json.loads(text)
    if DATA_OPTION in options:
        data = options[DATA_OPTION]
        check_data(data, shipped_card_ids())
    else:
        data = default_data()
    table = data["table"]
    tiles = data["tiles"]
    given = {card["id"]: card for card in data["cards"]}
    ids = shipped_card_ids()
    cards = [given.get(card, {"id": card, **_NO_SUCH_CARD}) for card in ids]
    units = [data["units"][unit] for unit in UNITS]
    nothing = Reward(0, 0, 0)
    return Box(
        options=options,
        start_life=table["start_life"],
        max_life=table["max_life"],
        win_vp=table["win_vp"],
        dice=table["dice"],
        max_dice=table["max_dice"],
        rolls=table["rolls"],
        sweep_cost=table["sweep_cost"],
        enter_vp=table["enter_vp"],
        income=tuple((zone["vp"], zone["energy"]) for zone in table["income"]),
        tokens=table["tokens"],
        superstar_needs=table["superstar"]["needs"],
        statue_needs=table["statue_of_liberty"]["needs"],
        statue_vp=table["statue_of_liberty"]["vp"],
        tile_ids=("", *(tile["id"] for tile in tiles)),
        tile_number={tile["id"]: NO_TILE + 1 + place for place, tile in enumerate(tiles)},
        tile_counts=(0, *(tile["count"] for tile in tiles)),
        tile_durability=(0, *(tile["durability"] for tile in tiles)),
        tile_rewards=(nothing, *(_reward(tile["reward"]) for tile in tiles)),
        tile_units=(0, *(UNIT_NUMBER[tile["unit"]] for tile in tiles)),
        unit_durability=tuple(unit["durability"] for unit in units),
        unit_rewards=tuple(_reward(unit["reward"]) for unit in units),
        card_ids=ids,
        card_number={card: number for number, card in enumerate(ids)},
        card_outcomes=tuple((1 << number, (card, 1)) for number, card in enumerate(ids)),
        all_cards=sum(1 << number for number, card in enumerate(ids) if card in given),
        prices=tuple(_prices(card, table["borough_discount"]) for card in cards),
        requires=tuple(UNIT_NUMBER[card["requires"]] if "requires" in card else -1 for card in cards),
        added_destruction=sum(_amounts(cards, "add", "destruction")) + sum(_amounts(cards, "hail", "amount")),
        celebrity_strikes=len(_amounts(cards, "strike_other", "amount")),
        keep_cards=sum(1 << number for number, card in enumerate(cards) if card["type"] == "keep"),
        buys=tuple(Buy(card) for card in ids),
        scavenges=tuple(Scavenge(card) for card in ids),
        discards=tuple(Discard(card) for card in ids),
        abilities=compile_cards(cards, exchange_faces=options["of_another_world"] == "die_faces"),
        fresh_protected=not options["new_unit_destroyable_same_turn"],
        destruction_forced=options["destruction_forced_if_possible"],
        exposed_allowed=options["exposed_building_same_turn"],
        statue_first=options["statue_before_damage"],
        any_ouch=options["bulletproof_any_ouch"],
        redirect_per_die=options["seismic_ray_cost"] == "per_die",
        jinx_per_die=options["curse_cost_per"] == "die",
        tap_cumulative=options["power_tap_cumulative"],
        added_claws_alone=options["added_claws_attack_alone"],
        inert_removable=options["inert_tokens_removable"],
        fireball_alone=options["fireball_when_manhattan_empty"],
        claim_persists=options["columbia_claim_persists"],
        refill_first=options["refill_before_effect"],
        free_counts=options["free_card_counts_as_bought"],
        late_entry=options["enter_at_turn_end"],
        painbow_modified=options["painbow_counts_modified"],
        painbow_exact=options["painbow_mode"] == "exact",
        climb_bonus=options["climb_counts_bonus"],
        marathon_vp=options.get("marathon_currency") == "vp",  # older records do not have it
        winner_only=options["winner_only"],
        subway_moves=options["subway_max_moves"],
        turn_cap=options["round_cap"],
        market_cap=options["market_cap"],
        start_player=options["start_player"],
    )


def _reward(reward: Mapping[str, int]) -> Reward:
    return Reward(reward.get("vp", 0), reward.get("energy", 0), reward.get("life", 0))


def _prices(card: Mapping[str, Any], discount: int) -> tuple[int, ...]:
    cost = card["cost"]
    cheap = card.get("discount_in", ())
    return (*(max(0, cost - discount) if borough in cheap else cost for borough in BOROUGHS), cost)


def _amounts(cards: Sequence[Mapping[str, Any]], verb: str, word: str) -> list[int]:
    return [effect.get(word, 0) for card in cards for effect in card["effects"] if effect["do"] == verb]
