"""Where a match can stand: the values of `State.stage`."""

# Chance nodes.
LOT = "lot"
"""Who has the first turn."""
HANDS = "hands"
"""A card of a starting hand."""
REFILL = "refill"
"""A card is turned up into the row; `after_row` says what comes then."""
UNSEEN = "unseen"
"""The active seat's unseen draw."""
DEAL_TICKETS = "deal_tickets"
"""A starting ticket."""
DRAW_TICKET = "draw_ticket"
"""A ticket for the active seat."""

# Decisions, by their kinds.
STARTING_TICKETS = "starting_tickets"
"""All seats choose among their starting tickets, at once."""
TURN = "turn"
"""The active seat chooses one of the three actions."""
SECOND_CARD = "second_card"
"""The active seat chooses its second card."""
KEEP_TICKETS = "keep_tickets"
"""The active seat chooses among the tickets it drew."""

OVER = "over"

# Values of `after_row`, what comes when the row is complete.
THEN_TICKETS = "tickets"
"""Starting tickets are dealt."""
THEN_SECOND = "second"
"""The active seat takes its second card, if a legal one exists."""
THEN_END = "end"
"""The turn ends."""

STAGES = (
    LOT,
    HANDS,
    REFILL,
    UNSEEN,
    DEAL_TICKETS,
    DRAW_TICKET,
    STARTING_TICKETS,
    TURN,
    SECOND_CARD,
    KEEP_TICKETS,
    OVER,
)
AFTER_ROW = (THEN_TICKETS, THEN_SECOND, THEN_END)
