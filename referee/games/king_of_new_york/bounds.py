"""An upper bound on the decisions of a match, counted question by question."""

from referee.games.king_of_new_york.box import Box
from referee.games.king_of_new_york.names import BOROUGHS


def most_decisions(box: Box, players: int) -> int:
    """Placements, and for each turn that may begin the most questions it can ask.

    Every name below counts one kind of question within one turn.
    """
    added = 20 if box.options.get("data") else 6
    results = box.max_dice + added
    pushes = len(BOROUGHS) - 1
    # A move that was chosen may be paid for and may push Units out of the borough entered.
    after_move = 1 + pushes
    before = 2 + after_move
    rolls = box.rolls - 1
    jinx_payments = rolls
    give_ups = box.max_dice
    turning = 1 + 1
    # Every die given up may bring one face back.
    resolved = 6 + give_ups
    destroyed = 2 * (results + resolved)
    redirected = resolved
    # A resolution may hurt: everyone may answer twice, two may flee and one more be made to leave.
    after_damage = 2 * players + 3 * (1 + after_move)
    rides = box.subway_moves * (1 + after_move)
    carapace = 1
    move = 1 + after_move
    # A purchase may be paid for, hurt, make everyone discard (Carapace first), and ask for one choice more.
    purchase = 1 + 1 + after_damage + 2 * players + 1
    market = box.market_cap * purchase + 1
    turn = (
        before
        + rolls
        + jinx_payments
        + 2 * give_ups
        + turning
        + resolved * (1 + after_damage)
        + destroyed
        + redirected
        + rides
        + carapace
        + move
        + market
        + after_damage
    )
    return players + box.turn_cap * players * turn
