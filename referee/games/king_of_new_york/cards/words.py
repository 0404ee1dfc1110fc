"""The vocabulary of card effects: which verb may stand at which moment, with what beside it."""

from collections.abc import Mapping
from dataclasses import dataclass

HOOK_MOMENTS = (
    "turn_start",
    "roll_done",
    "final_roll",
    "attacks",
    "attacked",
    "dealt",
    "damaged",
    "superstar_taken",
    "superstar_lost",
    "building_destroyed",
    "unit_destroyed",
    "entered",
    "turn_end",
)
"""Moments at which Keep cards act."""
CARD_MOMENTS = ("ordered", "bought")
"""Moments in the purchase of the card itself."""

_WHEN = {
    "in": "borough",
    "holding": "goal",
    "showing": "face",
    "all_faces": "flag",
    "unit": "unit",
    "first": "flag",
    "units_here": "count",
}
"""Conditions: all that are given must hold."""


@dataclass(frozen=True, slots=True)
class Verb:
    """What a verb needs and what it may have, each with the kind of its value."""

    moments: tuple[str, ...]
    needs: Mapping[str, str]
    takes: Mapping[str, str]


def _verb(moments: str, needs: Mapping[str, str] | None = None, takes: Mapping[str, str] | None = None) -> Verb:
    return Verb(tuple(moments.split()), needs or {}, takes or {})


_COUNT = {"amount": "count"}

VERBS: Mapping[str, Verb] = {
    # Hooks
    "gain": Verb((*HOOK_MOMENTS, "bought"), {}, {"vp": "count", "energy": "count", "life": "count", **_WHEN}),
    "add": _verb(
        "roll_done",
        takes={"energy": "count", "attack": "count", "destruction": "count", "heart": "count", **_WHEN},
    ),
    "extra_turn": Verb(("bought", "final_roll"), {}, {"rides": "flag", **_WHEN}),
    "carapace_tokens": _verb("final_roll", {"face": "face"}),
    "painbow": _verb("final_roll", {"one": "count", "two": "count", "win": "count"}),
    "take_energy": _verb("attacked", _COUNT),
    "lose_vp": _verb("attacks", _COUNT),
    "give_token": _verb("dealt", {"token": "token"}),
    "strike_other": _verb("superstar_taken superstar_lost", _COUNT),
    "strike_self": _verb("bought", _COUNT),
    "strike_all": _verb("bought", _COUNT),
    "units_strike": _verb("bought"),
    "energy_for_all": _verb("bought", _COUNT),
    "discard_for_all": _verb("bought"),
    "photo": _verb("bought"),
    "trade_vp": _verb("bought"),
    "souvenir": _verb("bought entered", {"vp": "count", "energy": "count"}),
    "push_units": _verb("entered", {"limit": "count"}),
    "perish": _verb("turn_end", {"face": "face"}),
    "claim_keep_card": _verb("ordered"),
    # While owned
    "dice": _verb("owned", _COUNT),
    "max_life": _verb("owned", _COUNT),
    "hail": _verb("owned", _COUNT),
    "redirect": _verb("owned", {"cost": "count"}),
    "superstar_guard": _verb("owned", _COUNT),
    "scavenge": _verb("owned", {"discount": "count"}),
    "energy_loss": _verb("owned", _COUNT),
    "ouch_armour": _verb("owned", _COUNT),
    "attack_bonus": _verb("owned", _COUNT),
    "attack_factor": _verb("owned", {"factor": "count"}),
    "swap_dice": _verb("owned"),
    "early_move": _verb("owned"),
    "hit_neighbours": _verb("owned"),
    "exchange": _verb("owned"),
    "carapace": _verb("owned"),
    "others_reroll": _verb("owned"),
    "jinx_tax": _verb("owned"),
    "web_tax": _verb("owned"),
    "convert": _verb("owned", {"from": "convertible", "to": "convertible"}),
    "defence_die": _verb("owned", {"face": "face", "factor": "count"}),
    "tap": _verb("owned", {"threshold": "count", "amount": "count"}),
    "durability": _verb("owned", {"unit": "unit", "value": "count"}),
    "reach": _verb("owned", {"unit": "unit"}),
    "no_reroll": _verb("owned", {"face": "face"}),
    # While in the market
    "move_cost": _verb("market", _COUNT),
}
