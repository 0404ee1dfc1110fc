"""What a roll is worth, and what it may become. Dice are counts per face, in the order of Face."""

from collections.abc import Sequence
from functools import cache
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import TypeAlias

from king_of_new_york_board import ENERGY_WORTH, MANHATTAN, Board, best_destruction

Dice: TypeAlias = tuple[int, ...]

FACES = 6
ATTACK_WORTH = 0.5
"""Of one damage to one opponent."""
GOAL_CARD_COUNT = 3
"""Celebrity or Ouch dice that win a goal card."""
SUPERSTAR_WORTH = 2.0
STATUE_WORTH = 3.0
DEATH = -30.0


class Roll:
    """Worths of results in one position. Keeps them: the same results come up again and again."""

    def __init__(self, board: Board) -> None:
        seen, seat = board.seen, board.seat
        inside = board.borough == MANHATTAN
        self._board = board
        self._may_heal = not inside
        self._targets_of_attack = sum((seen.seats.borough[other] == MANHATTAN) != inside for other in board.opponents())
        self._destruction = best_destruction(board.targets(board.borough))
        self._units = sum(board.units_in(board.borough))
        self._is_superstar = seen.cards.superstar_seat == seat
        self._has_statue = seen.cards.statue_seat == seat
        self._known: dict[Dice, float] = {}

    def worth(self, dice: Dice) -> float:
        """Of these dice as the final result."""
        if dice not in self._known:
            self._known[dice] = self._worth(*dice)
        return self._known[dice]

    def expected(self, dice: Dice, again: Dice) -> float:
        """On average, once the dice of `again` have been rolled again."""
        kept = [count - rolled for count, rolled in zip(dice, again, strict=True)]
        return sum(chance * self.worth(tuple(map(int.__add__, kept, fresh))) for fresh, chance in outcomes(sum(again)))

    def _worth(self, energy: int, attack: int, destruction: int, heart: int, celebrity: int, ouch: int) -> float:
        worth = ENERGY_WORTH * energy + ATTACK_WORTH * attack * self._targets_of_attack
        worth += self._destruction[destruction]
        hurt = self._units if ouch else 0
        if hurt >= self._board.life:
            return DEATH
        worth -= hurt * self._board.life_worth()
        if self._may_heal:
            worth += self._board.healing(heart)
        if self._is_superstar:
            worth += celebrity
        elif celebrity >= GOAL_CARD_COUNT:
            worth += SUPERSTAR_WORTH + celebrity - GOAL_CARD_COUNT
        if ouch >= GOAL_CARD_COUNT and not self._has_statue:
            worth += STATUE_WORTH
        return worth


@cache
def outcomes(dice: int) -> Sequence[tuple[Dice, float]]:
    """All results of so many dice with their probabilities."""
    found = []
    for faces in combinations_with_replacement(range(FACES), dice):
        counts = tuple(faces.count(face) for face in range(FACES))
        ways = factorial(dice) // prod(map(factorial, counts))
        found.append((counts, ways / FACES**dice))
    return found
