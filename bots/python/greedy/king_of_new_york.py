"""King of New York: the dice that promise most, the best targets, out of Manhattan in time, cards that pay."""

from collections.abc import Sequence
from random import Random

from crosstown_proto.v1 import king_of_new_york_pb2 as pb
from king_of_new_york_board import Board, Target, best_destruction
from king_of_new_york_cards import worth_of_card, worth_of_purchase
from king_of_new_york_dice import FACES, Roll
from picking import best

Legal = pb.LegalActions
RESOLVE_ORDER = (pb.FACE_OUCH, pb.FACE_HEART, pb.FACE_ENERGY, pb.FACE_CELEBRITY, pb.FACE_DESTRUCTION, pb.FACE_ATTACK)
"""Damage of Units before their number grows, then what heals."""
MOVES = (Legal.KIND_PLACE, Legal.KIND_MOVE, Legal.KIND_DASH, Legal.KIND_RIDE, Legal.KIND_FLEE, Legal.KIND_LEAVE)
STAYING_WORTH = 0.1
"""Of where one is, to break ties."""


def choose(seen: pb.Observation, legal: Legal, seat: int, rng: Random) -> int:
    """Index of the action to take."""
    board = Board(seen, seat)
    if seen.question in (pb.QUESTION_DICE, pb.QUESTION_CONVERT):
        worths = worths_of_dice(board, legal)
    else:
        worths = [worth_of(board, kind, value) for kind, value in zip(legal.kinds, legal.values, strict=True)]
    return best(worths, rng)


def worths_of_dice(board: Board, legal: Legal) -> list[float]:
    """What the roll is worth, or will be on average, after each action."""
    roll = Roll(board)
    dice = tuple(board.seen.turn_state.dice)
    worths = []
    for kind, value in zip(legal.kinds, legal.values, strict=True):
        if kind == Legal.KIND_REROLL:
            worths.append(roll.expected(dice, tuple(value >> 4 * face & 15 for face in range(FACES))))
        elif kind == Legal.KIND_CONVERT:
            energy, attack, heart = (value >> shift & 15 for shift in (0, 4, 8))
            worths.append(roll.worth((energy, attack, dice[2], heart, *dice[4:])))
        else:
            worths.append(roll.worth(dice))
    return worths


def worth_of(board: Board, kind: int, value: int) -> float:
    """Of all other actions. What is not named, passing for one, is worth nothing."""
    seen = board.seen
    if kind in MOVES:
        return board.worth_of_borough(value)
    if kind == Legal.KIND_STAY:
        return board.worth_of_borough(board.borough) + STAYING_WORTH
    if kind == Legal.KIND_RESOLVE:
        return worth_of_resolving(board, value)
    if kind == Legal.KIND_DESTROY_BUILDING:
        return worth_of_target(board, board.building(value))
    if kind == Legal.KIND_DESTROY_UNIT:
        return worth_of_target(board, board.unit(value >> 4))
    if kind in (Legal.KIND_BUY, Legal.KIND_SCAVENGE):
        return worth_of_purchase(board, value)
    if kind == Legal.KIND_DISCARD:
        return -worth_of_card(board, value)
    if kind == Legal.KIND_PHOTO:
        return float(seen.turn_state.dealt[value])
    if kind == Legal.KIND_ABSORB:
        return float(value)
    if kind == Legal.KIND_SHED:
        return board.healing(seen.holdings.carapace[board.seat]) - 2.0
    return -1.0 if kind in NOT_WANTED else 0.0


NOT_WANTED: Sequence[int] = (
    Legal.KIND_REMOVE,
    Legal.KIND_SWAP,
    Legal.KIND_GIVE_UP,
    Legal.KIND_REDIRECT,
    Legal.KIND_SWEEP,
    Legal.KIND_PAY,
)
"""What may help, but not as far as a greedy player sees."""


def worth_of_resolving(board: Board, face: int) -> float:
    if face == pb.FACE_HEART and sum(board.units_in(board.borough)) >= board.life:
        return float(FACES)
    return float(FACES - 1 - RESOLVE_ORDER.index(pb.Face.ValueType(face)))


def worth_of_target(board: Board, target: Target | None) -> float:
    """Of a target and what can be destroyed with the results left after it."""
    if target is None:
        return 0.0
    others = board.targets(board.borough)
    if target in others:
        others.remove(target)
    return target.worth + best_destruction(others)[max(0, board.seen.turn_state.force - target.force)]
