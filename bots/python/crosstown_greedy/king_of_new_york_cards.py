"""What power cards are worth to their buyer, in victory points before their cost."""

from collections.abc import Mapping
from functools import cache

from crosstown_greedy.king_of_new_york_board import Board
from referee.games.king_of_new_york.data import shipped_card_ids

COST_WORTH = 0.3
"""Of one energy that could buy something else."""
WINNING = 20.0
KEEP_CARD = 1.2
"""Of a card that is not named below."""

POINTS = {
    "air_force_one": 4,
    "brooklyn_bridge": 4,
    "central_park": 2,
    "columbia_university": 2,
    "coney_island": 3,
    "drink_the_hudson": 1,
    "flatiron_building": 2,
    "general_ellis": 3,
    "holland_tunnel": 6,
    "new_york_marathon": 2,
    "power_substation": 1,
    "tesla_cannon": 2,
    "the_unisphere": 4,
    "yankee_stadium": 5,
}
"""Victory points for the purchase."""
ENERGY = {
    "drink_the_hudson": 13,
    "new_york_marathon": 2,
    "overload": 4,
    "power_substation": 8,
    "subterranean_cable": 4,
}
LIFE = {
    "central_park": 2,
    "drink_the_hudson": 2,
    "new_york_marathon": 2,
    "subway": 2,
    "yankee_stadium": 5,
}
DAMAGE = {"general_ellis": 1, "power_substation": 3, "subterranean_cable": 4}
"""To the buyer."""
LASTING = {
    "columbia_university": 1.5,
    "extra_head": 4.5,
    "leveler": 3.0,
    "natural_selection": -9.0,
    "next_stage": -9.0,
    "overload": -1.0,
    "personal_spotlight": 3.0,
    "photo_op": 0.0,
    "regeneration": 3.5,
    "shadow_double": 5.0,
    "stomp": 2.5,
    "subway": 2.5,
    "terminal_rage": 2.0,
    "tourist": 3.0,
    "towering_titan": 5.0,
}
"""What is left of its effect; those without points, energy and life that are not named are worth KEEP_CARD."""


def worth_of_card(board: Board, card: str) -> float:
    """Before its cost."""
    vp, energy, life = POINTS.get(card, 0), ENERGY.get(card, 0), LIFE.get(card, 0)
    damage = DAMAGE.get(card, 0)
    if damage >= board.life:
        return -WINNING
    worth = board.gain(vp, energy, life) - damage * board.life_worth
    if board.seen.seats.vp[board.seat] + vp >= board.seen.setting.win_vp:
        worth += WINNING
    return worth + LASTING.get(card, 0.0 if vp or energy or life else KEEP_CARD)


def worth_of_purchase(board: Board, card: str) -> float:
    return worth_of_card(board, card) - COST_WORTH * board.seen.setting.card_costs[card_numbers()[card]]


@cache
def card_numbers() -> Mapping[str, int]:
    """Per id of a card its place in the box, by which costs are listed."""
    return {card: number for number, card in enumerate(shipped_card_ids())}
