"""What one monster can want on the board of King of New York, in victory points."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from referee.games.king_of_new_york.constants import MANHATTAN, NO_TILE, STACKS_PER_BOROUGH, UNIT_KINDS
from referee.games.king_of_new_york.observation import Observation

MOST_FORCE = 12
ENERGY_WORTH = 0.45
UNIT_DANGER = 0.25
"""Of each Unit in the borough, for later."""
MANHATTAN_INCOME = 2.0
DAMAGE_IN_MANHATTAN = 1.2
"""By each opponent until the next turn."""


class Target(NamedTuple):
    force: int
    """Destruction results it takes."""
    worth: float


class Board:
    """What a seat sees. What several actions ask for is worked out once."""

    def __init__(self, seen: Observation, seat: int) -> None:
        self.seen = seen
        self.seat = seat
        self.life = seen.seats.life[seat]
        self.borough = seen.seats.borough[seat]
        self.life_worth = 0.4 + 2.0 / max(1, self.life)
        """Of one point of life: the fewer are left, the more."""
        self._missing_life = max(0, seen.setting.max_life - self.life)
        self._targets: dict[int, list[Target]] = {}

    def opponents(self) -> list[int]:
        """Who is alive."""
        return [seat for seat, out in enumerate(self.seen.holdings.out) if not out and seat != self.seat]

    def healing(self, life: int) -> float:
        """Worth of so much life; what is above the maximum is lost."""
        return self.life_worth * min(life, self._missing_life)

    def gain(self, vp: int, energy: int, life: int) -> float:
        return vp + ENERGY_WORTH * energy + self.healing(life)

    def units_in(self, borough: int) -> Sequence[int]:
        return self.seen.board.units[UNIT_KINDS * borough : UNIT_KINDS * (borough + 1)]

    def building(self, stack: int) -> Target | None:
        """The building on top of a stack; it leaves a Unit behind."""
        setting, top = self.seen.setting, self.seen.board.tops[stack]
        if top == NO_TILE:
            return None
        tile = top - 1
        worth = self.gain(setting.tile_vp[tile], setting.tile_energy[tile], setting.tile_life[tile])
        return Target(setting.tile_durability[tile], worth - UNIT_DANGER)

    def unit(self, unit: int) -> Target:
        setting = self.seen.setting
        worth = self.gain(setting.unit_vp[unit], setting.unit_energy[unit], setting.unit_life[unit])
        return Target(setting.unit_durability[unit], worth + UNIT_DANGER)

    def targets(self, borough: int) -> Sequence[Target]:
        """What can be destroyed in a borough."""
        found = self._targets.get(borough)
        if found is None:
            stacks = range(STACKS_PER_BOROUGH * borough, STACKS_PER_BOROUGH * (borough + 1))
            found = self._targets[borough] = [target for target in map(self.building, stacks) if target]
            fresh = self.seen.board.fresh_units[UNIT_KINDS * borough : UNIT_KINDS * (borough + 1)]
            for unit, count in enumerate(self.units_in(borough)):
                if count > fresh[unit]:
                    found += [self.unit(unit)] * (count - fresh[unit])
        return found

    def worth_of_borough(self, borough: int) -> float:
        """Of standing there when the next turn comes."""
        if borough == MANHATTAN:
            return MANHATTAN_INCOME - self.danger_in_manhattan()
        return best_destruction(tuple(self.targets(borough)))[2] / 2 - UNIT_DANGER * sum(self.units_in(borough))

    def danger_in_manhattan(self) -> float:
        damage = DAMAGE_IN_MANHATTAN * len(self.opponents())
        return damage * self.life_worth + (10.0 if self.life <= 2 * damage else 0.0)


@lru_cache(maxsize=4096)
def best_destruction(targets: tuple[Target, ...]) -> tuple[float, ...]:
    """Per number of Destruction results the most that can be got for them."""
    best = [0.0] * (MOST_FORCE + 1)
    for target in targets:
        for force in range(MOST_FORCE, target.force - 1, -1):
            worth = best[force - target.force] + target.worth
            if worth > best[force]:
                best[force] = worth
    return tuple(best)
