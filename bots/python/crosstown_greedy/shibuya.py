"""Shibuya: move where most ground is gained; build where it brings the own team nearer than the other one."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Any

from referee.games.api import State
from referee.games.shibuya.actions import MAX_GOALS, MOVES, Build, Move, Place, ShibuyaAction
from referee.games.shibuya.bitboard import (
    BOARD_BITS,
    FIELD_BITS,
    FIELDS,
    SIDE,
    SLOT_FIELDS,
    SLOT_MASKS,
    STRIDE,
    flood,
    mask_of,
    neighbours_of,
)
from referee.games.shibuya.observation import Observation, TeamSetting
from referee.games.shibuya.state import TURN

GOAL_WORTH = 20.0
BUILD_WORTH = 0.5
"""Less than a step forward, more than a step sideways."""
NONE, BLACK_ROUND, BLACK_SQUARE, WHITE_ROUND, WHITE_SQUARE = range(5)
"""The looks of a field."""


@dataclass(slots=True)
class Streets:
    """Fields as bits: those with a tile, those that are black, those that are round, those taken by pedestrians."""

    laid: int
    black: int
    round: int
    taken: int
    parts: dict[int, list[int]] = field(default_factory=dict)
    """By colour or shape, as the free fields that have it: the connected parts of it that are known."""

    def reachable(self, start: int) -> tuple[int, int]:
        """From one field, itself included, by its colour and by its shape: a way keeps to one of them."""
        laid = self.laid
        if not start & laid:
            return start, start
        free = laid & ~self.taken
        colour = free & self.black if start & self.black else free & ~self.black
        shape = free & self.round if start & self.round else free & ~self.round
        return self._joined(start, colour), self._joined(start, shape)

    def _joined(self, start: int, region: int) -> int:
        """The field and all that is connected with it through the region. Pedestrians share the parts of a region."""
        known = self.parts.get(region)
        if known is None:
            known = self.parts[region] = []
        reached = start
        edge = neighbours_of(start) & region
        for part in known:
            if part & edge:
                reached |= part
                edge &= ~part
        while edge:
            part = flood(edge & -edge, region)
            known.append(part)
            reached |= part
            edge &= ~part
        return reached


@dataclass(frozen=True)
class Ground:
    """How far it is to the nearest goal with room, as the crow flies in a grid."""

    left: Sequence[int]
    """Steps from each field, then from each waiting place: one more than from the field ahead of it."""
    within: Sequence[int]
    """Per number of steps the fields, as bits, from which it is no farther."""
    ahead: Sequence[float]
    """Per target of a move what arriving there is worth."""


@dataclass(slots=True)
class Walker:
    """A pedestrian, what it can reach in a move by colour and by shape, and the steps to go after its best move."""

    start: int
    colour: int
    shape: int
    left: int


def worths(seen: Observation, legal: Sequence[ShibuyaAction], seat: int) -> list[float]:
    """Steps gained by each action, about."""
    team = seat % 2
    if isinstance(legal[0], Place):
        return worths_of_places(seen, legal, team)
    ground = ground_of(seen, team)
    left, ahead = ground.left, ground.ahead
    return [
        left[action.source] + ahead[action.target]
        if type(action) is Move
        else (BUILD_WORTH if isinstance(action, Build) else 0.0)
        for action in legal
    ]


def best_move(state: Any, seat: int, rng: Random) -> ShibuyaAction | None:
    """The move that is best by `worths`, one of equal ones by chance, found without a list of all. None if there is
    none, or if it is better to build."""
    if state.phase != TURN:
        return None
    team = seat % 2
    ground = ground_to_goals(state.board.setting.teams[team], state.goals[team])
    top = BUILD_WORTH
    found: list[tuple[int, int]] = []
    count = 0
    for source, ends in state.targets().items():  # from the last source to the first
        best_ends = ends >> BOARD_BITS << BOARD_BITS  # into goal
        if best_ends:
            worth = ground.left[source] + GOAL_WORTH
        else:
            steps = 0
            while not (best_ends := ends & ground.within[steps]):
                steps += 1
            worth = ground.left[source] - steps
        if worth > top:
            top, found, count = worth, [], 0
        if worth == top:
            found.append((source, best_ends))
            count += best_ends.bit_count()
    if not found:
        return None
    number = rng.choice(range(count))
    for source, ends in reversed(found):
        if number < ends.bit_count():
            for _ in range(number):
                ends &= ends - 1
            return MOVES[source][(ends & -ends).bit_length()]
        number -= ends.bit_count()
    raise AssertionError("a number beyond the count")


def worths_of_places(seen: Observation, legal: Sequence[ShibuyaAction], team: int) -> list[float]:
    """What the others have still to go after a move of each, less what the own team has."""
    streets = streets_of(seen)
    looks = seen.setting.tile_looks[4 * seen.drawn : 4 * seen.drawn + 4]
    standing = 0
    borders = []
    for sign, side in ((-1, team), (1, 1 - team)):
        ground = ground_of(seen, side)
        for walker in walkers_of(seen, side, streets):
            standing += sign * walker.left
            borders.append(Border(sign, ground, walker, streets))
    found = []
    slot, mask, touched = -1, 0, list[Border]()
    for action in legal:
        assert isinstance(action, Place)
        if action.slot != slot:
            slot, mask = action.slot, SLOT_MASKS[action.slot]
            touched = [border for border in borders if border.near & mask]
        worth = standing
        if touched:
            after = with_tile(streets, looks, slot, action.turn)
            if streets.laid & mask:
                for border in touched:
                    worth += border.sign * (border.left_anew(after) - border.left)
            else:
                tile = Tile(after, mask)
                for border in touched:
                    worth += border.sign * (border.left_beside(tile) - border.left)
        found.append(float(worth))
    return found


class Tile:
    """A tile on ground where none lay: its fields, and all free ones, by colour and by shape. 0: white, square."""

    __slots__ = ("after", "colour", "free_colour", "free_shape", "mask", "shape")

    def __init__(self, after: Streets, mask: int) -> None:
        free = after.laid & ~after.taken
        self.after = after
        self.mask = mask
        self.free_colour = (free & ~after.black, free & after.black)
        self.free_shape = (free & ~after.round, free & after.round)
        self.colour = (self.free_colour[0] & mask, self.free_colour[1] & mask)
        self.shape = (self.free_shape[0] & mask, self.free_shape[1] & mask)


class Border:
    """A pedestrian of the team whose steps count with `sign`, and where a tile makes a difference to it."""

    __slots__ = (
        *("black", "colour", "colour_edge", "ground", "left", "near"),
        *("on_tile", "round", "shape", "shape_edge", "sign", "start"),
    )

    def __init__(self, sign: int, ground: Ground, walker: Walker, streets: Streets) -> None:
        self.sign = sign
        self.ground = ground
        self.start = start = walker.start
        self.left = walker.left
        self.on_tile = bool(start & streets.laid)
        self.black = bool(start & streets.black)
        self.round = bool(start & streets.round)
        self.colour = walker.colour
        self.shape = walker.shape
        self.colour_edge = neighbours_of(walker.colour)
        self.shape_edge = neighbours_of(walker.shape)
        self.near = walker.colour | walker.shape | self.colour_edge | self.shape_edge

    def left_anew(self, after: Streets) -> int:
        """The steps still to go after the best move on these streets."""
        colour, shape = after.reachable(self.start)
        return steps_left(self.ground, colour | shape)

    def left_beside(self, tile: Tile) -> int:
        """The same. What can be reached only grows, from where the tile touches it."""
        if not self.on_tile:
            return self.left_anew(tile.after) if self.start & tile.mask else self.left
        colour_gain = self.colour_edge & tile.colour[self.black]
        shape_gain = self.shape_edge & tile.shape[self.round]
        if not colour_gain and not shape_gain:
            return self.left
        reached = self.colour | self.shape
        if colour_gain:
            reached |= grown(colour_gain, tile.free_colour[self.black] & ~self.colour)
        if shape_gain:
            reached |= grown(shape_gain, tile.free_shape[self.round] & ~self.shape)
        return steps_left(self.ground, reached)


def grown(edge: int, region: int) -> int:
    """These fields of the region, and what is connected with them through it."""
    reached = 0
    while edge:
        reached |= edge
        region ^= edge
        edge = (edge << 1 | edge >> 1 | edge << STRIDE | edge >> STRIDE) & region
    return reached


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
    return ground_to_goals(seen.setting.teams[team], seen.goals[team])


def ground_to_goals(setting: TeamSetting, held: Sequence[int]) -> Ground:
    """To those goals of a team that hold no pedestrian."""
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
    # Into goal from far away first: a near pedestrian can still go when the streets have changed.
    ahead = [*[-steps for steps in left], *[GOAL_WORTH] * MAX_GOALS]
    return Ground([*left, *[1 + left[start] for start in starts]], within, ahead)


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
    for place in (*seen.fields[team], *[starts[waiting] for waiting in seen.waiting[team]]):
        start = FIELD_BITS[place]
        colour, shape = streets.reachable(start)
        walkers.append(Walker(start, colour, shape, steps_left(ground, colour | shape)))
    return walkers


def streets_of(seen: Observation) -> Streets:
    return Streets(*fields_by_look(seen.looks), mask_of([*seen.fields[0], *seen.fields[1]]))


@lru_cache(maxsize=1024)
def fields_by_look(looks: bytes) -> tuple[int, int, int]:
    """The fields with a tile, those that are black, and those that are round."""
    sorts = [0] * 5
    for bit, look in zip(FIELD_BITS, looks, strict=True):
        sorts[look] |= bit
    return (
        sum(sorts[BLACK_ROUND:]),
        sorts[BLACK_ROUND] | sorts[BLACK_SQUARE],
        sorts[BLACK_ROUND] | sorts[WHITE_ROUND],
    )


def with_tile(streets: Streets, looks: tuple[int, ...], slot: int, turn: int) -> Streets:
    """Once a tile of these looks lies on the slot."""
    mask = SLOT_MASKS[slot]
    black, round_ = bits_of_tile(looks, slot, turn)
    return Streets(streets.laid | mask, streets.black & ~mask | black, streets.round & ~mask | round_, streets.taken)


@lru_cache(maxsize=4096)
def bits_of_tile(looks: tuple[int, ...], slot: int, turn: int) -> tuple[int, int]:
    """The black and the round fields of a tile of these looks."""
    black = round_ = 0
    # A tile lists its fields clockwise; a quarter turn clockwise moves each one place on.
    for position, place in enumerate(SLOT_FIELDS[slot]):
        look = looks[(position - turn) % 4]
        if look in (BLACK_ROUND, BLACK_SQUARE):
            black |= FIELD_BITS[place]
        if look in (BLACK_ROUND, WHITE_ROUND):
            round_ |= FIELD_BITS[place]
    return black, round_
