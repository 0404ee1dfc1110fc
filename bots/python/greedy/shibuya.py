"""Shibuya: move where most ground is gained; build where it brings the own team nearer than the other one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from crosstown_proto.v1 import shibuya_pb2 as pb
from picking import best

SIDE = 8
OFF_GRID = SIDE * SIDE
GOAL_WORTH = 20.0
BUILD_WORTH = 0.5
"""Less than a step forward, more than a step sideways."""
MOVE = pb.LegalActions.KIND_MOVE
PLACE = pb.LegalActions.KIND_PLACE
BUILD = pb.LegalActions.KIND_BUILD
BLACK, ROUND = (1, 2), (1, 3)


@dataclass(frozen=True)
class Team:
    """One team as it stands. All values are fields of the grid."""

    starts: Sequence[int]
    walkers: Sequence[int]
    """Its pedestrians; those who wait stand in front of their start."""
    goals: Sequence[int]
    """In front of goals with room."""

    def ground_left(self, field: int) -> int:
        """Steps to the nearest goal, as the crow flies in a grid."""
        x, y = field % SIDE, field // SIDE
        return min((abs(goal % SIDE - x) + abs(goal // SIDE - y) for goal in self.goals), default=0)


def choose(seen: pb.Observation, legal: pb.LegalActions, seat: int, rng: Random) -> int:
    """Index of the action to take."""
    teams = (
        read_team(seen.setting.red, seen.red_fields, seen.red_waiting, seen.red_goals),
        read_team(seen.setting.blue, seen.blue_fields, seen.blue_waiting, seen.blue_goals),
    )
    me, other = teams[seat % 2], teams[1 - seat % 2]
    worths = []
    for kind, first, second in zip(legal.kinds, legal.source_or_slot, legal.target_or_turn, strict=True):
        if kind == MOVE:
            worths.append(worth_of_move(me, first, second))
        elif kind == PLACE:
            looks = with_tile(seen, first, second)
            taken = {*seen.red_fields, *seen.blue_fields}
            worths.append(ground_after_a_move(other, looks, taken) - ground_after_a_move(me, looks, taken))
        else:
            worths.append(BUILD_WORTH if kind == BUILD else 0.0)
    return best(worths, rng)


def read_team(team: pb.Team, fields: Sequence[int], waiting: Sequence[int], goals: Sequence[int]) -> Team:
    fronts = [field for field, held in zip(team.goal_fronts, goals, strict=True) if not held]
    return Team(team.start_fronts, [*fields, *(team.start_fronts[number] for number in waiting)], fronts)


def worth_of_move(me: Team, source: int, target: int) -> float:
    """Ground gained; who waits has one step more to go."""
    left = me.ground_left(source) if source < OFF_GRID else 1 + me.ground_left(me.starts[source - OFF_GRID])
    # From far away first: whoever is near can still go when the streets have changed.
    return GOAL_WORTH + left if target >= OFF_GRID else left - me.ground_left(target)


def with_tile(seen: pb.Observation, slot: int, turn: int) -> bytearray:
    """The looks of all fields once the drawn tile lies on `slot`."""
    looks = bytearray(seen.looks)
    tile = seen.setting.tile_looks[4 * seen.drawn_kind : 4 * seen.drawn_kind + 4]
    corner = slot % 4 * 2 + slot // 4 * 2 * SIDE
    # A tile lists its fields clockwise from the top left; a quarter turn clockwise moves each one place on.
    for position, step in enumerate((SIDE, SIDE + 1, 1, 0)):
        looks[corner + step] = tile[(position - turn) % 4]
    return looks


def ground_after_a_move(team: Team, looks: bytearray, taken: set[int]) -> int:
    """What all pedestrians of a team have still to go if each of them could move once."""
    return sum(min(map(team.ground_left, reachable(field, looks, taken))) for field in team.walkers)


def reachable(start: int, looks: bytearray, taken: set[int]) -> set[int]:
    """Fields that can be walked to: a way keeps to one colour or to one shape."""
    found = {start}
    if not looks[start]:
        return found
    for alike in (BLACK, ROUND):
        sort = looks[start] in alike
        way, ends = {start}, [start]
        while ends:
            for field in neighbours(ends.pop()):
                if field not in way and field not in taken and looks[field] and (looks[field] in alike) == sort:
                    way.add(field)
                    ends.append(field)
        found |= way
    return found


def neighbours(field: int) -> Iterator[int]:
    if field % SIDE:
        yield field - 1
    if field % SIDE < SIDE - 1:
        yield field + 1
    if field >= SIDE:
        yield field - SIDE
    if field < OFF_GRID - SIDE:
        yield field + SIDE
