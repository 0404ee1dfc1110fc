"""Where pedestrians can go: the moving rules, by flood fill on bitboards."""

from referee.games.shibuya.actions import OFF_GRID
from referee.games.shibuya.board import (
    BOARD_BITS,
    FIELD_OF_BIT,
    TILE_OF_BIT,
    flood,
    neighbours_of,
    places_of,
    tiles_of,
)
from referee.games.shibuya.position import Position
from referee.games.shibuya.setup import Setup


def move_targets(position: Position, seat: int) -> dict[int, int]:
    """Per source the mask of its targets (`actions.TARGET_BITS`), never 0; sources ascending."""
    setup = position.setup
    team = seat & 1
    mine = position.grid[team]
    occupied = mine | position.grid[1 - team]
    free = position.laid ^ occupied
    room = position.room[team]
    stops = free & ~(setup.barred[team] if setup.front_rule_persists else _barred_now(position, 1 - team))
    goals = room & (stops if setup.front_rule_at_goal else free)
    if setup.automatic_entry:
        stops &= ~room
    mine_tiles = tiles_of(mine)
    # Without the tiles of the colour: for whoever comes from elsewhere.
    away = stops & ~mine_tiles
    goals_away = goals & ~mine_tiles if setup.tile_rule_at_goal else goals

    # (source, where its way begins, where it may stop, before which goals it may stop)
    walkers = []
    while mine:
        bit = mine & -mine
        mine ^= bit
        tile = TILE_OF_BIT[bit]
        # Whoever stopped before a goal of its own will may still go in.
        goal = goals_away | goals & tile | bit & room
        walkers.append((FIELD_OF_BIT[bit], bit, away | stops & tile, goal))
    waiting = position.waiting[team] & setup.own_starts[seat]
    starts = setup.start_bits[team]
    while waiting:
        place = waiting & -waiting
        waiting ^= place
        number = place.bit_length() - 1
        bit = starts[number]
        if bit & free:
            if setup.stop_on_first:
                walkers.append((OFF_GRID + number, bit, away, goals_away))
            else:
                walkers.append((OFF_GRID + number, bit, away & ~bit, goals_away & ~bit))

    found: dict[int, int] = {}
    for source, bit, stop, goal in walkers:
        if setup.pass_through_goal_front:
            reach = _reach(position, bit, occupied & ~bit)
        else:
            reach = _reach_around_goals(position, bit, free, room)
        ends = reach & stop
        if setup.null_move and bit & occupied:
            ends |= bit
        if enter := reach & goal:
            ends |= _goal_targets(setup, team, enter)
        if ends:
            found[source] = ends
    return found


def _reach(position: Position, bit: int, others: int) -> int:
    """All fields connected with `bit` by its colour, and all by its shape, `bit` included; `others` are in the way."""
    areas = position.colour_areas
    area = areas.get(bit)
    if area is None:
        black = position.black
        area = areas[bit] = flood(bit, black if black & bit else position.laid ^ black)
    blocked = area & others
    reach = flood(bit, area ^ blocked) if blocked else area
    areas = position.shape_areas
    area = areas.get(bit)
    if area is None:
        round_ = position.round
        area = areas[bit] = flood(bit, round_ if round_ & bit else position.laid ^ round_)
    blocked = area & others
    return reach | (flood(bit, area ^ blocked) if blocked else area)


def _reach_around_goals(position: Position, bit: int, free: int, room: int) -> int:
    """`_reach` if every way ends where it comes onto a field before a free own goal.

    A pedestrian on the grid that stands before one walks off it; one that comes from its start ends there.
    """
    if bit & room & free:
        return bit
    reach = bit
    for area in (
        position.black if position.black & bit else position.laid ^ position.black,
        position.round if position.round & bit else position.laid ^ position.round,
    ):
        passed = flood(bit, area & free & ~room)
        reach |= passed | neighbours_of(passed) & area & free & room
    return reach


def _goal_targets(setup: Setup, team: int, fronts: int) -> int:
    """The goal fields behind these fields, as target bits."""
    goal_of_bit = setup.goal_of_bit[team]
    targets = 0
    while fronts:
        bit = fronts & -fronts
        fronts ^= bit
        targets |= 1 << (BOARD_BITS + goal_of_bit[bit])
    return targets


def _barred_now(position: Position, opponent: int) -> int:
    """The fields before starts where an opponent still waits and before its goals with room."""
    mask = position.room[opponent]
    for number in places_of(position.waiting[opponent]):
        mask |= position.setup.start_bits[opponent][number]
    return mask
