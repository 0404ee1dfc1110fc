"""Whether a data file can replace the box data: errors name the place and what was expected there."""

from collections.abc import Mapping, Sequence
from typing import Any

from referee.games.api import DataError
from referee.games.king_of_new_york.cards.words import VERBS
from referee.games.king_of_new_york.names import BOROUGHS, FACES, GOALS, MARKET_SLOTS, TILES, UNITS, ZONE_COUNT

_TABLE = (
    "start_life",
    "max_life",
    "win_vp",
    "dice",
    "max_dice",
    "rolls",
    "sweep_cost",
    "borough_discount",
    "enter_vp",
)
_MINIMUM = {"start_life": 1, "max_life": 1, "win_vp": 1, "dice": 1, "max_dice": 1, "rolls": 1, "sweep_cost": 1}
_MOST_DICE = 8
_MOST_ROLLS = 5
_BIGGEST = 99
_REWARDS = ("vp", "energy", "life")
_CARD_WORDS = ("id", "name", "cost", "type", "discount_in", "requires", "effects", "text", "ruling", "confidence")
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "borough": BOROUGHS,
    "goal": GOALS,
    "face": FACES,
    "unit": UNITS,
    "token": ("web", "jinx"),
    "convertible": ("energy", "attack", "heart"),
}


def check_data(data: Any, box_cards: Sequence[str]) -> None:
    """Raises DataError if `data` is not box data. Cards must be among those of the box, which have numbers."""
    box = _table(data, "data")
    _words(box, "data", ("table", "tiles", "units", "cards"))
    _check_table(box["table"])
    units = _table(box["units"], "units")
    _words(units, "units", UNITS)
    for name in UNITS:
        unit = _table(units[name], f"units.{name}")
        _words(unit, f"units.{name}", ("durability", "reward"))
        _count(unit["durability"], f"units.{name}.durability", 1)
        _check_reward(unit["reward"], f"units.{name}.reward")
    _check_tiles(box["tiles"])
    _check_cards(box["cards"], box_cards)


def _check_table(value: Any) -> None:
    table = _table(value, "table")
    _words(table, "table", (*_TABLE, "income", "tokens", "superstar", "statue_of_liberty"))
    for name in _TABLE:
        _count(table[name], f"table.{name}", _MINIMUM.get(name, 0))
    if table["max_life"] < table["start_life"]:
        raise DataError("table.max_life: expected at least table.start_life")
    if not table["dice"] <= table["max_dice"] <= _MOST_DICE:
        raise DataError(f"table.max_dice: expected table.dice to {_MOST_DICE}, not {table['max_dice']}")
    if table["rolls"] > _MOST_ROLLS:
        raise DataError(f"table.rolls: expected at most {_MOST_ROLLS}, not {table['rolls']}")
    income = _list(table["income"], "table.income")
    if len(income) != ZONE_COUNT:
        raise DataError(f"table.income: expected {ZONE_COUNT} zones, not {len(income)}")
    for place, zone in enumerate(income):
        at = f"table.income[{place}]"
        _words(_table(zone, at), at, ("vp", "energy"))
        _count(zone["vp"], f"{at}.vp", 0)
        _count(zone["energy"], f"{at}.energy", 0)
    for name, words in (
        ("tokens", ("web", "jinx", "carapace")),
        ("superstar", ("needs",)),
        ("statue_of_liberty", ("needs", "vp")),
    ):
        part = _table(table[name], f"table.{name}")
        _words(part, f"table.{name}", words)
        for word in words:
            _count(part[word], f"table.{name}.{word}", 1 if word == "needs" else 0)


def _check_tiles(value: Any) -> None:
    total = 0
    seen: set[str] = set()
    for place, entry in enumerate(_list(value, "tiles")):
        at = f"tiles[{place}]"
        tile = _table(entry, at)
        _words(tile, at, ("id", "building", "durability", "reward", "unit", "count"))
        _name(tile["id"], f"{at}.id", seen)
        _text(tile["building"], f"{at}.building")
        _count(tile["durability"], f"{at}.durability", 1)
        _check_reward(tile["reward"], f"{at}.reward")
        _value(tile["unit"], f"{at}.unit", "unit")
        total += _count(tile["count"], f"{at}.count", 1)
    if total != TILES:
        raise DataError(f"tiles: the counts add up to {total}, expected {TILES}")


def _check_reward(value: Any, at: str) -> None:
    for name, amount in _table(value, at).items():
        if name not in _REWARDS:
            raise DataError(f"{at}: unknown '{name}', expected {', '.join(_REWARDS)}")
        _count(amount, f"{at}.{name}", 0)


def _check_cards(value: Any, box_cards: Sequence[str]) -> None:
    cards = _list(value, "cards")
    if len(cards) <= MARKET_SLOTS:
        raise DataError(f"cards: expected more than {MARKET_SLOTS}, not {len(cards)}")
    seen: set[str] = set()
    for place, entry in enumerate(cards):
        at = f"cards[{place}]"
        card = _table(entry, at)
        for word in card:
            if word not in _CARD_WORDS:
                raise DataError(f"{at}: unknown '{word}', expected {', '.join(_CARD_WORDS)}")
        for word in ("id", "cost", "type", "effects"):
            if word not in card:
                raise DataError(f"{at}: '{word}' is missing")
        at = f"cards[{place}] ({_name(card['id'], f'{at}.id', seen)})"
        if card["id"] not in box_cards:
            raise DataError(f"{at}: no card of the box; its cards are {', '.join(box_cards)}")
        _count(card["cost"], f"{at}.cost", 0)
        if card["type"] not in ("keep", "discard"):
            raise DataError(f"{at}.type: expected keep or discard, not {card['type']!r}")
        for borough in _list(card.get("discount_in", []), f"{at}.discount_in"):
            _value(borough, f"{at}.discount_in", "borough")
        if "requires" in card:
            _value(card["requires"], f"{at}.requires", "unit")
        _check_effects(_list(card["effects"], f"{at}.effects"), at, card["type"])


def _check_effects(effects: Sequence[Any], at: str, card_type: str) -> None:
    seen = set()
    for number, effect in enumerate(effects):
        here = f"{at}.effects[{number}]"
        _check_effect(_table(effect, here), here, card_type)
        # Only these make sense twice, with other conditions, faces or Units.
        if effect["do"] not in ("gain", "add", "convert", "durability", "reach", "no_reroll"):
            if (effect["on"], effect["do"]) in seen:
                raise DataError(f"{here}: {effect['do']} stands twice at the moment '{effect['on']}'")
            seen.add((effect["on"], effect["do"]))


def _check_effect(effect: Mapping[str, Any], at: str, card_type: str) -> None:
    word = effect.get("do")
    verb = VERBS.get(word) if isinstance(word, str) else None
    if verb is None:
        raise DataError(f"{at}.do: unknown {effect.get('do')!r}, expected one of {', '.join(VERBS)}")
    if effect.get("on") not in verb.moments:
        raise DataError(f"{at}.on: {effect['do']} goes with {', '.join(verb.moments)}, not {effect.get('on')!r}")
    if card_type == "discard" and effect["on"] not in ("ordered", "bought", "market"):
        raise DataError(f"{at}.on: a Discard card acts when it is bought only, not at {effect['on']!r}")
    for word in verb.needs:
        if word not in effect:
            raise DataError(f"{at}: {effect['do']} needs '{word}'")
    for word, value in effect.items():
        if word in ("on", "do"):
            continue
        kind = verb.needs.get(word) or verb.takes.get(word)
        if kind is None:
            allowed = ", ".join((*verb.needs, *verb.takes)) or "nothing"
            raise DataError(f"{at}: {effect['do']} takes {allowed}, not '{word}'")
        _value(value, f"{at}.{word}", kind)


def _value(value: Any, at: str, kind: str) -> None:
    if kind == "count":
        _count(value, at, 0)
    elif kind == "flag":
        if value is not True and value is not False:
            raise DataError(f"{at}: expected true or false, not {value!r}")
    elif value not in _CHOICES[kind]:
        raise DataError(f"{at}: expected one of {', '.join(_CHOICES[kind])}, not {value!r}")


def _table(value: Any, at: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise DataError(f"{at}: expected a table, not {type(value).__name__}")
    return value


def _list(value: Any, at: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise DataError(f"{at}: expected a list, not {type(value).__name__}")
    return value


def _words(table: Mapping[str, Any], at: str, words: Sequence[str]) -> None:
    for word in words:
        if word not in table:
            raise DataError(f"{at}: '{word}' is missing")
    for word in table:
        if word not in words:
            raise DataError(f"{at}: unknown '{word}', expected {', '.join(words)}")


def _text(value: Any, at: str) -> str:
    if not isinstance(value, str) or not value:
        raise DataError(f"{at}: expected a text, not {value!r}")
    return value


def _name(value: Any, at: str, seen: set[str]) -> str:
    name = _text(value, at)
    if name in seen:
        raise DataError(f"{at}: {name!r} appears twice")
    seen.add(name)
    return name


def _count(value: Any, at: str, least: int) -> int:
    if type(value) is not int or not least <= value <= _BIGGEST:
        raise DataError(f"{at}: expected an integer from {least} to {_BIGGEST}, not {value!r}")
    return value
