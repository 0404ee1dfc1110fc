"""King of New York: the dice that promise most, the best targets, out of Manhattan in time, cards that pay."""

from collections.abc import Sequence

from crosstown_greedy.king_of_new_york_board import ENERGY_WORTH, Board, Target, best_destruction
from crosstown_greedy.king_of_new_york_cards import KEEP_CARD, worth_of_card, worth_of_purchase
from crosstown_greedy.king_of_new_york_dice import STATUE_WORTH, SUPERSTAR_WORTH, Roll
from referee.games.api import State
from referee.games.king_of_new_york import actions as do
from referee.games.king_of_new_york.constants import BOROUGH_NUMBER, FACES, UNIT_NUMBER
from referee.games.king_of_new_york.observation import Observation

RESOLVE_ORDER = ("ouch", "heart", "energy", "celebrity", "destruction", "attack")
"""Damage of Units before their number grows, then what heals."""
LIFE_WORTH = 1.0
"""Of one point of life in the long run."""
STAYING_WORTH = 0.1
"""Of where one is, to break ties."""


def worths(seen: Observation, legal: Sequence[do.KingAction], seat: int) -> list[float]:
    """Victory points, about, that each action is good for."""
    board = Board(seen, seat)
    if seen.question in ("dice", "convert"):
        return worths_of_dice(board, legal)
    return [worth_of(board, action) for action in legal]


def outlook(state: State) -> list[float]:
    """Per seat its victory points, and what else it has in such points; 0 once it is out."""
    seen: Observation = state.observation(None)
    found = []
    for seat, (vp, energy, life, keep) in enumerate(
        zip(seen.seats.vp, seen.seats.energy, seen.seats.life, seen.holdings.keep_cards, strict=True)
    ):
        worth = vp + ENERGY_WORTH * energy + LIFE_WORTH * life + KEEP_CARD * keep.bit_count()
        worth += SUPERSTAR_WORTH * (seen.cards.superstar_seat == seat) + STATUE_WORTH * (seen.cards.statue_seat == seat)
        found.append(0.0 if seen.holdings.out[seat] else worth)
    return found


def worths_of_dice(board: Board, legal: Sequence[do.KingAction]) -> list[float]:
    """What the roll is worth, or will be on average, after each action."""
    roll = Roll(board)
    dice = board.seen.turn_state.dice
    found = []
    for action in legal:
        if isinstance(action, do.Reroll):
            found.append(roll.expected(dice, action.counts))
        elif isinstance(action, do.Ride | do.Shed):
            found.append(roll.worth(dice) + worth_of(board, action))
        elif isinstance(action, do.Convert):
            found.append(roll.worth((action.energy, action.attack, dice[2], action.heart, *dice[4:])))
        else:
            found.append(roll.worth(dice))
    return found


def worth_of(board: Board, action: do.KingAction) -> float:
    """Of all other actions. What is not named, passing for one, is worth nothing."""
    match action:
        case do.Resolve():
            return worth_of_resolving(board, action.face)
        case do.Buy() | do.Scavenge():
            return worth_of_purchase(board, action.card)
        case do.DestroyBuilding():
            return worth_of_target(board, board.building(action.stack))
        case do.DestroyUnit():
            return worth_of_target(board, board.unit(UNIT_NUMBER[action.unit]))
        case do.Stay():
            return board.worth_of_borough(board.borough) + STAYING_WORTH
        case do.Dash() | do.Ride():
            # Beside them one may pass, which is worth nothing.
            there = board.worth_of_borough(BOROUGH_NUMBER[action.borough])
            return there - board.worth_of_borough(board.borough) - STAYING_WORTH
        case do.Place() | do.Move() | do.Flee() | do.Leave():
            return board.worth_of_borough(BOROUGH_NUMBER[action.borough])
        case do.Discard():
            return -worth_of_card(board, action.card)
        case do.Photo():
            return float(board.seen.turn_state.dealt[action.seat])
        case do.Absorb():
            return float(action.energy)
        case do.Shed():
            return board.healing(board.seen.holdings.carapace[board.seat]) - 2.0
        case do.Remove() | do.Swap() | do.GiveUp() | do.Redirect() | do.Sweep() | do.Pay():
            # What may help, but not as far as a greedy player sees.
            return -1.0
    return 0.0


def worth_of_resolving(board: Board, face: str) -> float:
    if face == "heart" and sum(board.units_in(board.borough)) >= board.life:
        return float(len(FACES))
    return float(len(FACES) - 1 - RESOLVE_ORDER.index(face))


def worth_of_target(board: Board, target: Target | None) -> float:
    """Of a target and what can be destroyed with the results left after it."""
    if target is None:
        return 0.0
    others = list(board.targets(board.borough))
    if target in others:
        others.remove(target)
    return target.worth + best_destruction(tuple(others))[max(0, board.seen.turn_state.force - target.force)]
