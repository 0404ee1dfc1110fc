"""What power cards are worth to their buyer, in victory points before their cost."""

from crosstown_proto.v1 import king_of_new_york_pb2 as pb
from king_of_new_york_board import Board

COST_WORTH = 0.3
"""Of one energy that could buy something else."""
WINNING = 20.0
KEEP_CARD = 1.2
"""Of a card that is not named below."""

POINTS = {
    pb.CARD_AIR_FORCE_ONE: 4,
    pb.CARD_BROOKLYN_BRIDGE: 4,
    pb.CARD_CENTRAL_PARK: 2,
    pb.CARD_COLUMBIA_UNIVERSITY: 2,
    pb.CARD_CONEY_ISLAND: 3,
    pb.CARD_DRINK_THE_HUDSON: 1,
    pb.CARD_FLATIRON_BUILDING: 2,
    pb.CARD_GENERAL_ELLIS: 3,
    pb.CARD_HOLLAND_TUNNEL: 6,
    pb.CARD_NEW_YORK_MARATHON: 2,
    pb.CARD_POWER_SUBSTATION: 1,
    pb.CARD_TESLA_CANNON: 2,
    pb.CARD_THE_UNISPHERE: 4,
    pb.CARD_YANKEE_STADIUM: 5,
}
"""Victory points for the purchase."""
ENERGY = {
    pb.CARD_DRINK_THE_HUDSON: 13,
    pb.CARD_NEW_YORK_MARATHON: 2,
    pb.CARD_OVERLOAD: 4,
    pb.CARD_POWER_SUBSTATION: 8,
    pb.CARD_SUBTERRANEAN_CABLE: 4,
}
LIFE = {
    pb.CARD_CENTRAL_PARK: 2,
    pb.CARD_DRINK_THE_HUDSON: 2,
    pb.CARD_NEW_YORK_MARATHON: 2,
    pb.CARD_SUBWAY: 2,
    pb.CARD_YANKEE_STADIUM: 5,
}
DAMAGE = {pb.CARD_GENERAL_ELLIS: 1, pb.CARD_POWER_SUBSTATION: 3, pb.CARD_SUBTERRANEAN_CABLE: 4}
"""To the buyer."""
LASTING = {
    pb.CARD_COLUMBIA_UNIVERSITY: 1.5,
    pb.CARD_EXTRA_HEAD: 4.5,
    pb.CARD_LEVELER: 3.0,
    pb.CARD_NATURAL_SELECTION: -9.0,
    pb.CARD_NEXT_STAGE: -9.0,
    pb.CARD_OVERLOAD: -1.0,
    pb.CARD_PERSONAL_SPOTLIGHT: 3.0,
    pb.CARD_PHOTO_OP: 0.0,
    pb.CARD_REGENERATION: 3.5,
    pb.CARD_SHADOW_DOUBLE: 5.0,
    pb.CARD_STOMP: 2.5,
    pb.CARD_SUBWAY: 2.5,
    pb.CARD_TERMINAL_RAGE: 2.0,
    pb.CARD_TOURIST: 3.0,
    pb.CARD_TOWERING_TITAN: 5.0,
}
"""What is left of its effect; those without points, energy and life that are not named are worth KEEP_CARD."""


def worth_of_card(board: Board, card: int) -> float:
    """Before its cost."""
    kind = pb.Card.ValueType(card)
    vp, energy, life = POINTS.get(kind, 0), ENERGY.get(kind, 0), LIFE.get(kind, 0)
    damage = DAMAGE.get(kind, 0)
    if damage >= board.life:
        return -WINNING
    worth = board.gain(vp, energy, life) - damage * board.life_worth()
    if board.seen.seats.vp[board.seat] + vp >= board.seen.setting.win_vp:
        worth += WINNING
    return worth + LASTING.get(kind, 0.0 if vp or energy or life else KEEP_CARD)


def worth_of_purchase(board: Board, card: int) -> float:
    return worth_of_card(board, card) - COST_WORTH * board.seen.setting.card_costs[card]
