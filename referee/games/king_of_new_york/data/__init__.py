"""The box data: the shipped files, and the check of data that replace them."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from referee.games.api import DataError
from referee.games.api.checks import check_integer, check_keys, check_list, check_table, check_word, shown
from referee.games.king_of_new_york.cards import VERBS
from referee.games.king_of_new_york.constants import BOROUGHS, FACES, GOALS, MARKET_SLOTS, TILES, UNITS, ZONE_COUNT

TABLE_NUMBERS = (
    *("start_life", "max_life", "win_vp", "dice", "max_dice", "rolls", "sweep_cost", "borough_discount", "enter_vp"),
)
"""The single numbers of `table.json`."""
_MOST_DICE = 8
_MOST_ROLLS = 5
_LARGEST_COUNT = 99
_CARD_KEYS = ("id", "name", "cost", "type", "discount_in", "requires", "effects", "text", "ruling", "confidence")
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "borough": BOROUGHS,
    "goal": GOALS,
    "face": FACES,
    "unit": UNITS,
    "token": ("web", "jinx"),
    "convertible": ("energy", "attack", "heart"),
}


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
    return (files(__package__) / name).read_text("utf-8")


@cache
def shipped_card_ids() -> tuple[str, ...]:
    """The ids of the cards of the box, by number."""
    return tuple(card["id"] for card in json.loads(_shipped("cards.json")))


def check_data(data: Any) -> None:
    """Raises DataError, naming the place and what was expected there, if `data` cannot replace `default_data()`.

    Its cards must be among the 64 of the box, because these have numbers on the wire.
    """
    box = check_table(data, "data", ("table", "tiles", "units", "cards"))
    _check_numbers(box["table"])
    units = check_table(box["units"], "units", UNITS)
    for name in UNITS:
        unit = check_table(units[name], f"units.{name}", ("durability", "reward"))
        _check_count(unit["durability"], f"units.{name}.durability", 1)
        _check_reward(unit["reward"], f"units.{name}.reward")
    _check_tiles(box["tiles"])
    _check_cards(box["cards"])


def _check_numbers(value: Any) -> None:
    table = check_table(value, "table", (*TABLE_NUMBERS, "income", "tokens", "superstar", "statue_of_liberty"))
    for name in TABLE_NUMBERS:
        _check_count(table[name], f"table.{name}", 0 if name in ("borough_discount", "enter_vp") else 1)
    if table["max_life"] < table["start_life"]:
        raise DataError("table.max_life: expected at least table.start_life")
    if not table["dice"] <= table["max_dice"] <= _MOST_DICE:
        raise DataError(f"table.max_dice: expected table.dice to {_MOST_DICE}, not {table['max_dice']}")
    if table["rolls"] > _MOST_ROLLS:
        raise DataError(f"table.rolls: expected at most {_MOST_ROLLS}, not {table['rolls']}")
    income = check_list(table["income"], "table.income")
    if len(income) != ZONE_COUNT:
        raise DataError(f"table.income: expected {ZONE_COUNT} zones, not {len(income)}")
    for place, zone in enumerate(income):
        _check_counts(zone, f"table.income[{place}]", ("vp", "energy"), 0)
    _check_counts(table["tokens"], "table.tokens", ("web", "jinx", "carapace"), 0)
    _check_counts(table["superstar"], "table.superstar", ("needs",), 1)
    _check_counts(table["statue_of_liberty"], "table.statue_of_liberty", ("needs", "vp"), 0)
    _check_count(table["statue_of_liberty"]["needs"], "table.statue_of_liberty.needs", 1)


def _check_tiles(value: Any) -> None:
    total = 0
    ids: set[str] = set()
    for place, entry in enumerate(check_list(value, "tiles")):
        at = f"tiles[{place}]"
        tile = check_table(entry, at, ("id", "building", "durability", "reward", "unit", "count"))
        _check_id(tile["id"], f"{at}.id", ids)
        _check_text(tile["building"], f"{at}.building")
        _check_count(tile["durability"], f"{at}.durability", 1)
        _check_reward(tile["reward"], f"{at}.reward")
        check_word(tile["unit"], f"{at}.unit", UNITS)
        total += _check_count(tile["count"], f"{at}.count", 1)
    if total != TILES:
        raise DataError(f"tiles: the counts add up to {total}, expected {TILES}")


def _check_reward(value: Any, at: str) -> None:
    reward = check_table(value, at)
    check_keys(reward, at, ("vp", "energy", "life"))
    for name, amount in reward.items():
        _check_count(amount, f"{at}.{name}", 0)


def _check_cards(value: Any) -> None:
    cards = check_list(value, "cards")
    if len(cards) <= MARKET_SLOTS:
        raise DataError(f"cards: expected more than {MARKET_SLOTS}, not {len(cards)}")
    ids: set[str] = set()
    for place, entry in enumerate(cards):
        at = f"cards[{place}]"
        card = check_table(entry, at)
        check_keys(card, at, _CARD_KEYS)
        for key in ("id", "cost", "type", "effects"):
            if key not in card:
                raise DataError(f"{at}: {key!r} is missing")
        at = f"{at} ({_check_id(card['id'], f'{at}.id', ids)})"
        if card["id"] not in shipped_card_ids():
            raise DataError(f"{at}: no card of the box; its cards are {', '.join(shipped_card_ids())}")
        _check_count(card["cost"], f"{at}.cost", 0)
        check_word(card["type"], f"{at}.type", ("keep", "discard"))
        for borough in check_list(card.get("discount_in", []), f"{at}.discount_in"):
            check_word(borough, f"{at}.discount_in", BOROUGHS)
        if "requires" in card:
            check_word(card["requires"], f"{at}.requires", UNITS)
        _check_effects(check_list(card["effects"], f"{at}.effects"), at, card["type"])


def _check_effects(effects: Sequence[Any], at: str, card_type: str) -> None:
    seen = set()
    for number, effect in enumerate(effects):
        here = f"{at}.effects[{number}]"
        _check_effect(check_table(effect, here), here, card_type)
        # Only these make sense twice, with other conditions, faces or Units.
        if effect["do"] not in ("gain", "add", "convert", "durability", "reach", "no_reroll"):
            if (effect["on"], effect["do"]) in seen:
                raise DataError(f"{here}: {effect['do']} stands twice at the trigger '{effect['on']}'")
            seen.add((effect["on"], effect["do"]))


def _check_effect(effect: Mapping[str, Any], at: str, card_type: str) -> None:
    name, trigger = effect.get("do"), effect.get("on")
    verb = VERBS.get(name) if isinstance(name, str) else None
    if verb is None:
        raise DataError(f"{at}.do: unknown {shown(name)}, expected one of {', '.join(VERBS)}")
    if trigger not in verb.triggers:
        raise DataError(f"{at}.on: {name} goes with {', '.join(verb.triggers)}, not {shown(trigger)}")
    if card_type == "discard" and trigger not in ("ordered", "bought", "market"):
        raise DataError(f"{at}.on: a Discard card acts when it is bought only, not at {trigger!r}")
    for word in verb.needs:
        if word not in effect:
            raise DataError(f"{at}: {name} needs '{word}'")
    for word, value in effect.items():
        if word in ("on", "do"):
            continue
        kind = verb.needs.get(word) or verb.takes.get(word)
        if kind is None:
            allowed = ", ".join((*verb.needs, *verb.takes)) or "nothing"
            raise DataError(f"{at}: {name} takes {allowed}, not '{word}'")
        if kind == "count":
            _check_count(value, f"{at}.{word}", 0)
        elif kind == "flag":
            if value is not True and value is not False:
                raise DataError(f"{at}.{word}: expected true or false, not {shown(value)}")
        else:
            check_word(value, f"{at}.{word}", _CHOICES[kind])


def _check_text(value: Any, at: str) -> str:
    if not isinstance(value, str) or not value:
        raise DataError(f"{at}: expected a text, not {shown(value)}")
    return value


def _check_id(value: Any, at: str, ids: set[str]) -> str:
    name = _check_text(value, at)
    if name in ids:
        raise DataError(f"{at}: {name!r} appears twice")
    ids.add(name)
    return name


def _check_count(value: Any, at: str, least: int) -> int:
    return check_integer(value, at, least, _LARGEST_COUNT)


def _check_counts(value: Any, at: str, keys: Sequence[str], least: int) -> None:
    table = check_table(value, at, keys)
    for key in keys:
        _check_count(table[key], f"{at}.{key}", least)
