"""What a roll is worth, and what it may become. Dice are counts per face, in the order of FACES."""

from collections.abc import Sequence
from functools import cache, lru_cache
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
COUNTS = range(MOST_DICE + 1)
ENERGY_WORTHS = tuple([ENERGY_WORTH * count for count in COUNTS])


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
        destruction = best_destruction(tuple(board.targets(board.borough)))
        hurt = sum(board.units_in(board.borough))
        is_superstar = seen.cards.superstar_seat == seat
        statue = 0.0 if seen.cards.statue_seat == seat else STATUE_WORTH
        self._kills = hurt >= board.life
        self._worths: Sequence[tuple[float, ...]] = (
            ENERGY_WORTHS,
            attack_worths(attacked),
            destruction,
            tuple([0.0 if inside else board.healing(count) for count in COUNTS]),
            CELEBRITY_WORTHS[is_superstar],
            tuple(
                [
                    (statue if count >= GOAL_CARD_COUNT else 0.0) - (hurt * board.life_worth if count else 0.0)
                    for count in COUNTS
                ]
            ),
        )
        # On condition that no die shows an Ouch, each shows one of the other faces.
        self._tables = [table_of(worths, len(FACES) - self._kills) for worths in self._worths]
        self._averages: dict[int, Sequence[Sequence[float]]] = {}
        """By the dice rolled again: per face, by the dice that stay on it, what it will be worth on average."""

    def worth(self, dice: Sequence[int]) -> float:
        """Of these dice as the final result."""
        if self._kills and dice[OUCH]:
            return DEATH
        return sum([worths[count] for worths, count in zip(self._worths, dice, strict=True)])

    def expected(self, dice: Sequence[int], again: Sequence[int]) -> float:
        """On average, once the dice of `again` have been rolled again."""
        energy, attack, destruction, heart, celebrity, ouch = again
        rolled = energy + attack + destruction + heart + celebrity + ouch
        rows = self._averages.get(rolled)
        if rows is None:
            rows = self._averages[rolled] = [table.row(rolled) for table in self._tables]
        of_energy, of_attack, of_destruction, of_heart, of_celebrity, of_ouch = rows
        total = (
            of_energy[dice[0] - energy]
            + of_attack[dice[1] - attack]
            + of_destruction[dice[2] - destruction]
            + of_heart[dice[3] - heart]
            + of_celebrity[dice[4] - celebrity]
        )
        if not self._kills:
            return total + of_ouch[dice[5] - ouch]
        if dice[OUCH] > ouch:
            return DEATH
        survival: float = (1 - 1 / len(FACES)) ** rolled
        return survival * total + (1 - survival) * DEATH


class Table:
    """What a face will be worth on average once dice have been rolled again."""

    def __init__(self, worths: Sequence[float], sides: int) -> None:
        """`worths` are by the dice that show the face in the end."""
        self._worths = worths
        self._sides = sides
        self._rows: dict[int, Sequence[float]] = {}

    def row(self, rolled: int) -> Sequence[float]:
        """By the dice that stay on the face, while so many others are rolled."""
        row = self._rows.get(rolled)
        if row is None:
            chances = binomial(rolled, self._sides)
            row = self._rows[rolled] = [
                sum([chance * worth for chance, worth in zip(chances, self._worths[stay:], strict=False)])
                for stay in COUNTS
            ]
        return row


@lru_cache(maxsize=4096)
def table_of(worths: tuple[float, ...], sides: int) -> Table:
    return Table(worths, sides)


@cache
def attack_worths(attacked: int) -> tuple[float, ...]:
    """By the dice, where so many opponents would be hit."""
    return tuple([ATTACK_WORTH * attacked * count for count in COUNTS])


def worth_of_celebrity(count: int, is_superstar: bool) -> float:
    if is_superstar:
        return float(count)
    return SUPERSTAR_WORTH + count - GOAL_CARD_COUNT if count >= GOAL_CARD_COUNT else 0.0


@cache
def binomial(dice: int, sides: int) -> Sequence[float]:
    """Per number of dice the probability that so many of `dice` show a given one of `sides` faces."""
    return [comb(dice, hits) * (sides - 1) ** (dice - hits) / sides**dice for hits in range(dice + 1)]


CELEBRITY_WORTHS = tuple(
    tuple([worth_of_celebrity(count, is_superstar) for count in COUNTS]) for is_superstar in (False, True)
)
