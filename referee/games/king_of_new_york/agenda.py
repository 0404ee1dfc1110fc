"""What may lie on the agenda of a state: the steps still to come, the next one last.

A task is a tuple of small non-negative integers, its kind first. Steps run by themselves; questions wait for the
seat that comes second in the tuple; chance tasks wait for the referee.
"""

from typing import TypeAlias

Task: TypeAlias = tuple[int, ...]

(
    SEATING,
    START_ROLL,
    START_JUDGE,
    SEAT,
    TURN,
    ROLL,
    STOP,
    FINAL,
    MOVE_STEP,
    END,
    LATE_ENTRY,
    CHECK,
    ENTER,
    ADVANCE,
    STRIKE,
    REACT,
    FLEES,
    STATUE,
    BUILDING,
    UNIT,
    EFFECT,
    BIN,
    REFILL,
    LAPSE,
    STRUCK,
) = range(25)
"""Steps.

SEATING; START_ROLL contenders, round; START_JUDGE contenders, round; SEAT seat; TURN seat, rides, extra;
ROLL, STOP, FINAL, MOVE_STEP, END, LATE_ENTRY, CHECK seat; ENTER seat, borough, reason; ADVANCE seat, reason;
REACT source, dealer (asks those who may react to the hits, then STRIKE source, dealer); FLEES; STATUE seat;
STRUCK source, dealer, then the damage of each seat; BUILDING seat, stack; UNIT seat, borough, unit;
EFFECT seat, card; BIN card; REFILL; LAPSE.
"""

FIRST_QUESTION = 25
(
    PLACE,
    BEFORE,
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
"""Questions to a seat.

PLACE, BEFORE, DICE, CONVERT, HAIL, RESOLVE, DESTROY, MOVE, BUY, FLEE, LEAVE, RESPOND, DISCARD, PHOTO seat;
PAY seat, cost; PUSH seat, from borough, first borough allowed, how many more; TRADE seat, points.
"""
QUESTION_NAMES = (
    "place",
    "before_roll",
    "dice",
    "convert",
    "hail",
    "resolve",
    "destroy",
    "move",
    "buy",
    "flee",
    "leave",
    "respond",
    "pay",
    "push",
    "discard",
    "photo",
    "trade",
)

FIRST_CHANCE = 42
DIE, DEFENCE, START_DIE, TILE, CARD, FIRST_SEAT = range(FIRST_CHANCE, 48)
"""Chance: DIE seat, die, dice; DEFENCE seat; START_DIE seat, die, round; TILE stack; CARD slot; FIRST_SEAT."""
LAST_SEATED_CHANCE = START_DIE
"""Chance tasks up to this one are about the seat that comes second; they lapse when it is out."""
