"""Names of the components, their numbers in the engine, and the kinds of tasks that a state has pending."""

from typing import TypeAlias

# Components

ENERGY, ATTACK, DESTRUCTION, HEART, CELEBRITY, OUCH = range(6)
FACES = ("energy", "attack", "destruction", "heart", "celebrity", "ouch")
FACE_NUMBER = {name: number for number, name in enumerate(FACES)}

MANHATTAN, BROOKLYN, QUEENS, BRONX, STATEN_ISLAND = range(5)
BOROUGHS = ("manhattan", "brooklyn", "queens", "bronx", "staten_island")
BOROUGH_NUMBER = {name: number for number, name in enumerate(BOROUGHS)}
OUTER_BOROUGHS = (BROOKLYN, QUEENS, BRONX, STATEN_ISLAND)
NOWHERE = 5
"""Borough of a monster that is not on the board."""

ZONES = ("lower", "midtown", "upper")
ZONE_COUNT = len(ZONES)
NO_SPACE = 6
"""Space of a monster outside Manhattan. In it, a space is `zone` on the track 2-4 and `zone + 3` on the track 5-6."""

UNITS = ("infantry", "jet", "tank")
UNIT_NUMBER = {name: number for number, name in enumerate(UNITS)}
UNIT_KINDS = len(UNITS)

STACKS_PER_BOROUGH = 3
TILES_PER_STACK = 3
STACKS = STACKS_PER_BOROUGH * len(BOROUGHS)
TILES = STACKS * TILES_PER_STACK
NO_TILE = 0
"""Top of a used-up stack. Kinds of tiles are numbered from 1."""

NO_SEAT = 7
MARKET_SLOTS = 3
NO_CARD = 64
"""Content of an empty slot of the market. Cards are numbered from 0 in the order of `data/cards.json`."""

GOALS = ("superstar", "statue_of_liberty")
MONSTERS = ("Captain Fish", "Drakonis", "Kong", "Mantis", "Rob", "Sheriff")
"""By seat. Monsters differ in name only."""

CLAWS, OUCHES, CARD_DAMAGE_SOURCE = range(3)
"""Sources of damage. A card's source is CARD_DAMAGE_SOURCE + its number."""

# Tasks

Task: TypeAlias = tuple[int, ...]
"""A kind of task and its arguments, all of them small non-negative integers.

The numbers of the kinds are part of saved states and of the Observation message, so they never change.
"""

(
    PLACE_ALL,
    START_ROLL,
    START_RESULT,
    PLACE_NEXT,
    TURN,
    FIRST_ROLL,
    ROLL_ENDED,
    FINAL_ROLL,
    MOVE_STEP,
    TURN_END,
    LATE_ENTRY,
    MATCH_END_CHECK,
    ENTER,
    ADVANCE,
    LAND_DAMAGE,
    ASK_RESPONSES,
    ASK_TO_FLEE,
    TAKE_STATUE,
    DESTROY_BUILDING,
    DESTROY_UNIT,
    CARD_EFFECT,
    DISCARD_PLAYED,
    REFILL_MARKET,
    END_CLAIMS,
    CARD_DAMAGE,
) = range(25)
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

FIRST_QUESTION = 25
(
    PLACE,
    BEFORE_ROLL,
    DICE,
    CONVERT,
    HAIL,
    RESOLVE,
    DESTROY,
    MOVE,
    BUY,
    FLEE,
    LEAVE,
    RESPOND,
    PAY,
    PUSH,
    DISCARD,
    PHOTO,
    TRADE,
) = range(FIRST_QUESTION, 42)
"""Questions to the seat that is their first argument. Further arguments:

PAY: cost
PUSH: borough the Units leave, first borough they may still go to, how many may still be pushed
TRADE: points
"""
QUESTION_NAMES = (
    *("place", "before_roll", "dice", "convert", "hail", "resolve", "destroy", "move", "buy"),
    *("flee", "leave", "respond", "pay", "push", "discard", "photo", "trade"),
)

FIRST_CHANCE = 42
ROLL_DIE, DEFENCE_DIE, START_DIE, REVEAL_TILE, REVEAL_CARD, DRAW_FIRST_SEAT = range(FIRST_CHANCE, 48)
"""Chance. The arguments:

ROLL_DIE: seat, die, number of dice
DEFENCE_DIE: seat
START_DIE: seat, die, round
REVEAL_TILE: stack
REVEAL_CARD: slot of the market
DRAW_FIRST_SEAT: none
"""
LAST_DIE = START_DIE
"""Chance tasks up to this one are dice of a seat, their first argument. They lapse when it is eliminated."""
