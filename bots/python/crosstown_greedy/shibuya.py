"""Shibuya: move where most ground is gained; build where it brings the own team nearer than the other one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from referee.games.api import State
from referee.games.shibuya.actions import OFF_GRID, Build, Move, Place, ShibuyaAction
from referee.games.shibuya.bitboard import (
    FIELD_BITS,
    FIELDS,
    SIDE,
    SLOT_FIELDS,
    SLOT_MASKS,
    flood,
    mask_of,
    neighbours_of,
)
from referee.games.shibuya.observation import Observation

GOAL_WORTH = 20.0
BUILD_WORTH = 0.5
"""Less than a step forward, more than a step sideways."""
NONE, BLACK_ROUND, BLACK_SQUARE, WHITE_ROUND, WHITE_SQUARE = range(5)
"""The looks of a field."""


@dataclass(frozen=True)
class Streets:
    """Fields as bits: those with a tile, those that are black, those that are round, those taken by pedestrians."""

    laid: int
    black: int
    round: int
    taken: int

    def reachable(self, start: int) -> int:
        """From one field, itself included: a way keeps to one colour or to one shape."""
        if not start & self.laid:
            return start
        colour = self.black if start & self.black else self.laid & ~self.black
        shape = self.round if start & self.round else self.laid & ~self.round
        free = ~(self.taken | start)
        return flood(start, colour & free) | flood(start, shape & free)


@dataclass(frozen=True)
class Ground:
    """How far it is to the nearest goal with room, as the crow flies in a grid."""

    left: Sequence[int]
    """Steps from each field, then from each waiting place: one more than from the field ahead of it."""
    within: Sequence[int]
    """Per number of steps the fields, as bits, from which it is no farther."""


@dataclass(frozen=True)
class Walker:
    """A pedestrian, what it can reach in a move, and the steps it has still to go after its best move."""

    start: int
    reached: int
    left: int


def worths(seen: Observation, legal: Sequence[ShibuyaAction], seat: int) -> list[float]:
    """Steps gained by each action, about."""
    team = seat % 2
    if isinstance(legal[0], Place):
        return worths_of_places(seen, legal, team)
    left = ground_of(seen, team).left
    found = []
    for action in legal:
        if isinstance(action, Move):
            # Into goal from far away first: a near pedestrian can still go when the streets have changed.
            ahead = GOAL_WORTH if action.target >= OFF_GRID else -left[action.target]
            found.append(left[action.source] + ahead)
        else:
            found.append(BUILD_WORTH if isinstance(action, Build) else 0.0)
    return found


def worths_of_places(seen: Observation, legal: Sequence[ShibuyaAction], team: int) -> list[float]:
    """What the others have still to go after a move of each, less what the own team has."""
    streets = streets_of(seen)
    sides = [(-1, ground_of(seen, team), walkers_of(seen, team, streets))]
    sides.append((1, ground_of(seen, 1 - team), walkers_of(seen, 1 - team, streets)))
    found = []
    for action in legal:
        assert isinstance(action, Place)
        after = with_tile(streets, seen, action)
        slot = SLOT_MASKS[action.slot]
        worth = 0
        for sign, ground, walkers in sides:
            for walker in walkers:
                touched = (walker.reached | neighbours_of(walker.reached)) & slot
                worth += sign * (steps_left(ground, after.reachable(walker.start)) if touched else walker.left)
        found.append(float(worth))
    return found


def outlook(state: State) -> list[float]:
    """Per seat the steps its team has made, about: those in goal, and how near the others come with a move of each."""
    seen: Observation = state.observation(None)
    streets = streets_of(seen)
    made = []
    for team in (0, 1):
        left = sum([walker.left for walker in walkers_of(seen, team, streets)])
        made.append(GOAL_WORTH * sum(seen.goals[team]) - left)
    return [made[seat % 2] for seat in range(seen.setting.players)]


def ground_of(seen: Observation, team: int) -> Ground:
    setting = seen.setting.teams[team]
    held = seen.goals[team]
    goals = tuple([front for front, count in zip(setting.goal_fronts, held, strict=True) if not count])
    return ground_to(goals, setting.start_fronts)


@lru_cache(maxsize=256)
def ground_to(goals: tuple[int, ...], starts: tuple[int, ...]) -> Ground:
    """To the fields ahead of goals. 0 from everywhere if there is none."""
    left = [
        min((abs(goal % SIDE - field % SIDE) + abs(goal // SIDE - field // SIDE) for goal in goals), default=0)
        for field in range(FIELDS)
    ]
    within = [mask_of([field for field in range(FIELDS) if left[field] <= steps]) for steps in range(max(left) + 1)]
    return Ground([*left, *[1 + left[start] for start in starts]], within)


def steps_left(ground: Ground, reached: int) -> int:
    """From the best of these fields."""
    for steps, fields in enumerate(ground.within):
        if fields & reached:
            return steps
    return 0


def walkers_of(seen: Observation, team: int, streets: Streets) -> list[Walker]:
    """Those on the grid, and those waiting as if on the field ahead of them."""
    ground, starts = ground_of(seen, team), seen.setting.teams[team].start_fronts
    walkers = []
    for field in (*seen.fields[team], *[starts[place] for place in seen.waiting[team]]):
        start = FIELD_BITS[field]
        reached = streets.reachable(start)
        walkers.append(Walker(start, reached, steps_left(ground, reached)))
    return walkers


def streets_of(seen: Observation) -> Streets:
    sorts = [0] * 5
    for bit, look in zip(FIELD_BITS, seen.looks, strict=True):
        sorts[look] |= bit
    return Streets(
        laid=sum(sorts[BLACK_ROUND:]),
        black=sorts[BLACK_ROUND] | sorts[BLACK_SQUARE],
        round=sorts[BLACK_ROUND] | sorts[WHITE_ROUND],
        taken=mask_of([*seen.fields[0], *seen.fields[1]]),
    )


def with_tile(streets: Streets, seen: Observation, place: Place) -> Streets:
    """Once the drawn tile lies there."""
    tile = seen.setting.tile_looks[4 * seen.drawn : 4 * seen.drawn + 4]
    slot = SLOT_MASKS[place.slot]
    black, round_ = streets.black & ~slot, streets.round & ~slot
    # A tile lists its fields clockwise; a quarter turn clockwise moves each one place on.
    for position, field in enumerate(SLOT_FIELDS[place.slot]):
        look = tile[(position - place.turn) % 4]
        if look in (BLACK_ROUND, BLACK_SQUARE):
            black |= FIELD_BITS[field]
        if look in (BLACK_ROUND, WHITE_ROUND):
            round_ |= FIELD_BITS[field]
    return replace(streets, laid=streets.laid | slot, black=black, round=round_)
