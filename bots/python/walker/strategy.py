"""What the walker wants: each move the one that saves most moves on the way to its goals; build when stuck."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from crosstown_proto.v1 import shibuya_pb2 as pb
from street import BOARD, FAR, Streets, distance, mask

OFF_GRID = 64
MOVE = pb.LegalActions.KIND_MOVE
PLACE = pb.LegalActions.KIND_PLACE
BUILD = pb.LegalActions.KIND_BUILD


@dataclass(frozen=True)
class Side:
    """One team as it stands."""

    starts: Sequence[int]
    standing: Sequence[int]
    waiting: Sequence[int]
    open_goals: int
    """Board of the fields before goals with room."""
    barred: int
    """Board of the fields this team may not stop on."""


def sides(seen: pb.Observation) -> tuple[Side, Side]:
    """Red and blue."""
    teams = (seen.setting.red, seen.setting.blue)
    goals = (seen.red_goals, seen.blue_goals)
    standing = (seen.red_fields, seen.blue_fields)
    waiting = (seen.red_waiting, seen.blue_waiting)
    barred = [mask(team.start_fronts) | mask(team.goal_fronts) for team in teams]
    red, blue = (
        Side(
            starts=teams[colour].start_fronts,
            standing=standing[colour],
            waiting=waiting[colour],
            open_goals=mask(f for f, held in zip(teams[colour].goal_fronts, goals[colour], strict=True) if not held)
            & ~barred[1 - colour],
            barred=barred[1 - colour],
        )
        for colour in (0, 1)
    )
    return red, blue


def choose(seen: pb.Observation, legal: pb.LegalActions, seat: int, rng: Random, been: Counter[int]) -> int:
    """Index of the action to take. Equal ones are chosen among by `rng`.

    `been` counts, over a match, the arrangements of the own pedestrians that were left by a move: going round in
    circles gets dearer each time.
    """
    pair = sides(seen)
    me, other = pair[seat % 2], pair[1 - seat % 2]
    if PLACE in legal.kinds:
        return _best([(_worth_of_tile(seen, legal, n, me, other), n) for n in range(len(legal.kinds))], rng)
    been[mask(me.standing)] += 1
    return _best(_worths_of_moves(seen, legal, me, other, been), rng)


def _best(scores: list[tuple[float, int]], rng: Random) -> int:
    top = max(score for score, _ in scores)
    return rng.choice([index for score, index in scores if score == top])


def _worths_of_moves(
    seen: pb.Observation, legal: pb.LegalActions, me: Side, other: Side, been: Counter[int]
) -> list[tuple[float, int]]:
    """Moves saved by each action; a goal is worth most, building something when nothing is saved."""
    streets = Streets(seen.looks)
    taken = mask(me.standing) | mask(other.standing)
    layers = streets.moves_to(me.open_goals & ~taken, BOARD & ~me.barred & ~taken, taken)
    scores: list[tuple[float, int]] = []
    for index, kind in enumerate(legal.kinds):
        if kind == BUILD:
            scores.append((0.5, index))
        elif kind != MOVE:
            scores.append((0.0, index))
        else:
            source, target = legal.source_or_slot[index], legal.target_or_turn[index]
            if target >= OFF_GRID:
                # From far away first: a near pedestrian can still go when the streets have changed.
                scores.append((100.0 + _rows_left(source, seen, me), index))
                continue
            start = 1 << (me.starts[source - OFF_GRID] if source >= OFF_GRID else source)
            before = 1 + distance(layers, streets.reach(start, taken & ~start))
            saved = before - 1 - distance(layers, 1 << target)
            gained = _rows_left(source, seen, me) - _rows_left(target, seen, me)
            arrangement = mask(me.standing) & ~(0 if source >= OFF_GRID else start) | 1 << target
            scores.append((saved + gained / 10 - been[arrangement], index))
    return scores


def _rows_left(place: int, seen: pb.Observation, me: Side) -> int:
    """Fields between a place and the nearest goal front with room, as the crow flies in a grid."""
    field = me.starts[place - OFF_GRID] if place >= OFF_GRID else place
    x, y = field % 8, field // 8
    fronts = [goal for goal in range(64) if me.open_goals >> goal & 1]
    near = min((abs(goal % 8 - x) + abs(goal // 8 - y) for goal in fronts), default=0)
    return near + (1 if place >= OFF_GRID else 0)


def _worth_of_tile(seen: pb.Observation, legal: pb.LegalActions, index: int, me: Side, other: Side) -> float:
    """How much nearer, in moves, the tile brings this team to its goals than the other team to theirs."""
    slot, turn = legal.source_or_slot[index], legal.target_or_turn[index]
    looks = bytearray(seen.looks)
    tile = seen.setting.tile_looks[4 * seen.drawn_kind : 4 * seen.drawn_kind + 4]
    left, low = slot % 4 * 2, slot // 4 * 2
    # A tile lists its fields clockwise from the top left; a quarter turn clockwise moves each one place on.
    for position, (dx, dy) in enumerate(((0, 1), (1, 1), (1, 0), (0, 0))):
        looks[left + dx + 8 * (low + dy)] = tile[(position - turn) % 4]
    streets = Streets(looks)
    return _way(streets, other, me) - _way(streets, me, other)


def _way(streets: Streets, team: Side, opponent: Side) -> int:
    """Moves that all pedestrians of `team` are away from their goals, summed."""
    taken = mask(team.standing) | mask(opponent.standing)
    layers = streets.moves_to(team.open_goals & ~taken, BOARD & ~team.barred & ~taken, taken)
    total = 0
    for field in (*team.standing, *(team.starts[number] for number in team.waiting)):
        start = 1 << field
        total += min(FAR, 1 + distance(layers, streets.reach(start, taken & ~start)))
    return total
