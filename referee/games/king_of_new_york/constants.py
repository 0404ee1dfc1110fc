"""Names of the components, their numbers in the engine, and the kinds of tasks that a state has pending."""

from typing import Final, TypeAlias

# Components

ENERGY: Final = 0
ATTACK: Final = 1
DESTRUCTION: Final = 2
HEART: Final = 3
CELEBRITY: Final = 4
OUCH: Final = 5
FACES: Final = ("energy", "attack", "destruction", "heart", "celebrity", "ouch")
FACE_NUMBER: Final = {name: number for number, name in enumerate(FACES)}

MANHATTAN: Final = 0
BROOKLYN: Final = 1
QUEENS: Final = 2
BRONX: Final = 3
STATEN_ISLAND: Final = 4
BOROUGHS: Final = ("manhattan", "brooklyn", "queens", "bronx", "staten_island")
BOROUGH_NUMBER: Final = {name: number for number, name in enumerate(BOROUGHS)}
OUTER_BOROUGHS: Final = (BROOKLYN, QUEENS, BRONX, STATEN_ISLAND)
NOWHERE: Final = 5
"""Borough of a monster that is not on the board."""

ZONES: Final = ("lower", "midtown", "upper")
ZONE_COUNT: Final = len(ZONES)
NO_SPACE: Final = 6
"""Space of a monster outside Manhattan. In it, a space is `zone` on the track 2-4 and `zone + 3` on the track 5-6."""

UNITS: Final = ("infantry", "jet", "tank")
UNIT_NUMBER: Final = {name: number for number, name in enumerate(UNITS)}
UNIT_KINDS: Final = len(UNITS)

STACKS_PER_BOROUGH: Final = 3
TILES_PER_STACK: Final = 3
STACKS: Final = STACKS_PER_BOROUGH * len(BOROUGHS)
TILES: Final = STACKS * TILES_PER_STACK
NO_TILE: Final = 0
"""Top of a used-up stack. Kinds of tiles are numbered from 1."""

NO_SEAT: Final = 7
MARKET_SLOTS: Final = 3
NO_CARD: Final = 64
"""Content of an empty slot of the market. Cards are numbered from 0 in the order of `data/cards.json`."""

GOALS: Final = ("superstar", "statue_of_liberty")
MONSTERS: Final = ("Captain Fish", "Drakonis", "Kong", "Mantis", "Rob", "Sheriff")
"""By seat. Monsters differ in name only."""

CLAWS: Final = 0
OUCHES: Final = 1
CARD_DAMAGE_SOURCE: Final = 2
"""Sources of damage. A card's source is CARD_DAMAGE_SOURCE + its number."""

# Tasks

Task: TypeAlias = tuple[int, ...]
"""A kind of task and its arguments, all of them small non-negative integers.

The numbers of the kinds are part of saved states and of the Observation message, so they never change.
"""

PLACE_ALL: Final = 0
START_ROLL: Final = 1
START_RESULT: Final = 2
PLACE_NEXT: Final = 3
TURN: Final = 4
FIRST_ROLL: Final = 5
ROLL_ENDED: Final = 6
FINAL_ROLL: Final = 7
MOVE_STEP: Final = 8
TURN_END: Final = 9
LATE_ENTRY: Final = 10
MATCH_END_CHECK: Final = 11
ENTER: Final = 12
ADVANCE: Final = 13
LAND_DAMAGE: Final = 14
ASK_RESPONSES: Final = 15
ASK_TO_FLEE: Final = 16
TAKE_STATUE: Final = 17
DESTROY_BUILDING: Final = 18
DESTROY_UNIT: Final = 19
CARD_EFFECT: Final = 20
DISCARD_PLAYED: Final = 21
REFILL_MARKET: Final = 22
END_CLAIMS: Final = 23
CARD_DAMAGE: Final = 24
"""Steps, which the engine takes without asking anybody. Their arguments:

START_ROLL, START_RESULT: set of contenders, round
PLACE_NEXT, FIRST_ROLL, ROLL_ENDED, FINAL_ROLL, MOVE_STEP, TURN_END, LATE_ENTRY, MATCH_END_CHECK, TAKE_STATUE: seat
TURN: seat, 1 with Subway rides, 1 for an extra turn
ENTER: seat, borough, reason (index into MOVE_REASONS)
ADVANCE: seat, reason
LAND_DAMAGE, ASK_RESPONSES: source, dealer
CARD_DAMAGE: source, dealer, then the damage to each seat
DESTROY_BUILDING: seat, stack
DESTROY_UNIT: seat, borough, unit
CARD_EFFECT: seat, card
DISCARD_PLAYED: card
PLACE_ALL, ASK_TO_FLEE, REFILL_MARKET, END_CLAIMS: none
"""

FIRST_QUESTION: Final = 25
PLACE: Final = 25
BEFORE_ROLL: Final = 26
DICE: Final = 27
CONVERT: Final = 28
HAIL: Final = 29
RESOLVE: Final = 30
DESTROY: Final = 31
MOVE: Final = 32
BUY: Final = 33
FLEE: Final = 34
LEAVE: Final = 35
RESPOND: Final = 36
PAY: Final = 37
PUSH: Final = 38
DISCARD: Final = 39
PHOTO: Final = 40
TRADE: Final = 41
"""Questions to the seat that is their first argument. Further arguments:

PAY: cost
PUSH: borough the Units leave, first borough they may still go to, how many may still be pushed
TRADE: points
"""
QUESTION_NAMES: Final = (
    *("place", "before_roll", "dice", "convert", "hail", "resolve", "destroy", "move", "buy"),
    *("flee", "leave", "respond", "pay", "push", "discard", "photo", "trade"),
)

FIRST_CHANCE: Final = 42
ROLL_DIE: Final = 42
DEFENCE_DIE: Final = 43
START_DIE: Final = 44
REVEAL_TILE: Final = 45
REVEAL_CARD: Final = 46
DRAW_FIRST_SEAT: Final = 47
"""Chance. The arguments:

ROLL_DIE: seat, die, number of dice
DEFENCE_DIE: seat
START_DIE: seat, die, round
REVEAL_TILE: stack
REVEAL_CARD: slot of the market
DRAW_FIRST_SEAT: none
"""
LAST_DIE: Final = START_DIE
"""Chance tasks up to this one are dice of a seat, their first argument. They lapse when it is eliminated."""
