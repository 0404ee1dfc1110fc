"""What a roll is worth, and what it may become. Dice are counts per face, in the order of FACES."""

from collections.abc import Sequence
from functools import cache
from math import comb

from crosstown_greedy.king_of_new_york_board import ENERGY_WORTH, Board, best_destruction
from referee.games.king_of_new_york.constants import FACES, MANHATTAN, OUCH

ATTACK_WORTH = 0.5
"""Of one damage to one opponent."""
GOAL_CARD_COUNT = 3
"""Celebrity or Ouch dice that win a goal card."""
SUPERSTAR_WORTH = 2.0
STATUE_WORTH = 3.0
DEATH = -30.0
MOST_DICE = 12


class Roll:
    """Worths of results in one position.

    A result is worth the sum of what its faces are worth, each by its count alone; so is the average of what dice will
    show when they are rolled again, where each face comes up by the binomial distribution. Only the Ouch that kills
    makes all the rest worthless.
    """

    def __init__(self, board: Board) -> None:
        seen, seat = board.seen, board.seat
        inside = board.borough == MANHATTAN
        boroughs = seen.seats.borough
        attacked = sum([(boroughs[other] == MANHATTAN) != inside for other in board.opponents()])
        destruction = best_destruction(board.targets(board.borough))
        hurt = sum(board.units_in(board.borough))
        is_superstar = seen.cards.superstar_seat == seat
        statue = 0.0 if seen.cards.statue_seat == seat else STATUE_WORTH
        counts = range(MOST_DICE + 1)
        self._kills = hurt >= board.life
        self._worths: Sequence[Sequence[float]] = (
            [ENERGY_WORTH * count for count in counts],
            [ATTACK_WORTH * attacked * count for count in counts],
            destruction,
            [0.0 if inside else board.healing(count) for count in counts],
            [worth_of_celebrity(count, is_superstar) for count in counts],
            [
                (statue if count >= GOAL_CARD_COUNT else 0.0) - (hurt * board.life_worth() if count else 0.0)
                for count in counts
            ],
        )
        self._averages: Sequence[dict[tuple[int, int], float]] = [{} for _ in FACES]
        """Per face, by the dice that stay on it and those rolled again."""

    def worth(self, dice: Sequence[int]) -> float:
        """Of these dice as the final result."""
        if self._kills and dice[OUCH]:
            return DEATH
        return sum([worths[count] for worths, count in zip(self._worths, dice, strict=True)])

    def expected(self, dice: Sequence[int], again: Sequence[int]) -> float:
        """On average, once the dice of `again` have been rolled again."""
        rolled = sum(again)
        sides = len(FACES)
        survival = 1.0
        if self._kills:
            if dice[OUCH] > again[OUCH]:
                return DEATH
            # On condition that no die shows an Ouch, each shows one of the other faces.
            survival = (1 - 1 / sides) ** rolled
            sides -= 1
        total = 0.0
        for face, averages in enumerate(self._averages):
            if self._kills and face == OUCH:
                continue
            key = (dice[face] - again[face], rolled)
            average = averages.get(key)
            if average is None:
                worths = self._worths[face][key[0] :]
                average = sum([chance * worth for chance, worth in zip(binomial(rolled, sides), worths, strict=False)])
                averages[key] = average
            total += average
        return survival * total + (1 - survival) * DEATH


def worth_of_celebrity(count: int, is_superstar: bool) -> float:
    if is_superstar:
        return float(count)
    return SUPERSTAR_WORTH + count - GOAL_CARD_COUNT if count >= GOAL_CARD_COUNT else 0.0


@cache
def binomial(dice: int, sides: int) -> Sequence[float]:
    """Per number of dice the probability that so many of `dice` show a given one of `sides` faces."""
    return [comb(dice, hits) * (sides - 1) ** (dice - hits) / sides**dice for hits in range(dice + 1)]
