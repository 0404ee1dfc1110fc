"""An upper bound on the decisions of a match, counted question by question."""

from referee.games.king_of_new_york.box import Box
from referee.games.king_of_new_york.names import BOROUGHS, FACES


def most_decisions(box: Box, players: int) -> int:
    """One placement per seat, and no turn asks more than `most_per_turn` allows.

    When a seat leaves, a move that has been chosen and is being paid for may be chosen again: one answer more each.
    """
    return 2 * players + box.turn_cap * players * sum(most_per_turn(box, players).values())


def most_per_turn(box: Box, players: int) -> dict[str, int]:
    """Per kind of question how often one turn can ask it at most, all seats together.

    Dice are given up for a Celebrity die one by one, and each die given up may turn one other die to a face that
    is already resolved: so a face is resolved at most once more for each. Carapace tokens come with the final roll,
    so a seat discards the card with tokens on it at most once in a turn. Rides, purchases and sweeps are capped.
    """
    given_up = box.max_dice
    # Answers that only repeat the question: a Subway ride, discarding Carapace.
    repeated = box.subway_moves + 1
    resolutions = 1 + given_up
    results = box.max_dice + box.added_destruction
    trades = box.market_cap
    flights = 2 * resolutions
    destroyed = results + resolutions + repeated
    # Claws, Ouch, cards that strike when Superstar changes hands, and bought cards.
    strikes = resolutions * (2 + box.celebrity_strikes) + trades
    entries = 1 + box.subway_moves + 1 + 1 + flights + 1
    rerolls = box.rolls - 1
    return {
        "before_roll": 2 + repeated,
        # After the last roll it is asked once more by those who may do something at any moment.
        "dice": rerolls + 1 + repeated,
        "convert": 1 + given_up + repeated,
        "hail": 1 + repeated,
        # The faces, those resolved again, the dice given up, and a pass after the last face.
        "resolve": len(FACES) + 2 * given_up + 1 + repeated,
        "destroy": destroyed,
        "move": 1 + repeated,
        "buy": trades + 1 + repeated,
        "flee": flights,
        "leave": 1,
        # To each strike everyone may answer twice: discard Carapace, then pay with energy.
        "respond": strikes * players * 2,
        "pay": 1 + box.subway_moves + rerolls + resolutions + destroyed + 1 + trades + flights,
        "push": entries * len(BOROUGHS),
        "discard": trades * players * 2,
        "photo": trades,
        "trade": trades,
    }
