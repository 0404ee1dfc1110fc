"""Where pedestrians can go: the moving rules, by flood fill on bitboards."""

from typing import Final

from referee.games.shibuya.actions import OFF_GRID, PLACES_OF
from referee.games.shibuya.bitboard import (
    BIT_AT,
    BOARD_BITS,
    FIELD_AT,
    TILE_AT,
    flood,
    neighbours_of,
    tiles_of,
)
from referee.games.shibuya.board import Board
from referee.games.shibuya.state import Area, Position

_MOST_WAYS: Final = 256
"""Entries kept per field of what can be reached around which pedestrians: bounds the memory of long look-ahead."""


def move_targets(position: Position, seat: int) -> dict[int, int]:
    """Per source the mask of its targets (`actions.TARGET_BITS`), never 0; sources descending."""
    board, rules = position.board, position.rules
    team = seat & 1
    mine = position.grid[team]
    occupied = mine | position.grid[1 - team]
    free = position.laid ^ occupied
    room = position.room[team]
    stops = free & ~(board.barred[team] if rules.front_rule_persists else _barred_now(position, 1 - team))
    goals = room & (stops if rules.front_rule_at_goal else free)
    if rules.automatic_entry:
        stops &= ~room
    mine_tiles = tiles_of(mine)
    # Without the tiles of the colour: for whoever comes from elsewhere.
    away = stops & ~mine_tiles
    goals_away = goals & ~mine_tiles if rules.tile_rule_at_goal else goals

    # (source, bit_length of where its way begins, where it may stop, the own tile of those on the grid)
    walkers = []
    waiting = position.waiting[team] & board.own_starts[seat]
    starts = board.start_bits[team]
    while waiting:
        number = waiting.bit_length() - 1
        waiting ^= 1 << number
        bit = starts[number]
        if bit & free:
            walkers.append((OFF_GRID + number, bit.bit_length(), away, 0))
    while mine:
        length = mine.bit_length()
        mine ^= BIT_AT[length]
        tile = TILE_AT[length]
        walkers.append((FIELD_AT[length], length, away | stops & tile, tile))

    found: dict[int, int] = {}
    areas = position.areas
    direct, stop_on_first, null_move = rules.pass_through_goal_front, rules.stop_on_first, rules.null_move
    for source, length, stop, tile in walkers:
        bit = BIT_AT[length]
        if direct:
            reach, shape, ways, shape_ways = areas.get(length) or _area(position, length)
            if blocked := reach & occupied:
                reach = ways.get(blocked) or _way(ways, bit, reach, blocked)
            if blocked := shape & occupied:
                shape = shape_ways.get(blocked) or _way(shape_ways, bit, shape, blocked)
            reach |= shape | bit
        else:
            reach = _reach_around_goals(position, bit, free, room)
        if not stop_on_first and not tile:
            reach ^= bit
        ends = reach & stop
        if reach & room:
            # Whoever stopped before a goal of its own will may still go in.
            may_enter = goals_away | goals & tile | (bit if tile else 0)
            ends |= _goal_targets(board, team, reach & room & may_enter)
        if null_move and tile:
            ends |= bit
        if ends:
            found[source] = ends
    return found


def _area(position: Position, length: int) -> Area:
    laid, black, round_ = position.laid, position.black, position.round
    bit = BIT_AT[length]
    colour = (black if black & bit else laid ^ black) ^ bit
    shape = (round_ if round_ & bit else laid ^ round_) ^ bit
    area = position.areas[length] = (flood(bit, colour) ^ bit, flood(bit, shape) ^ bit, {}, {})
    return area


def _way(ways: dict[int, int], bit: int, area: int, blocked: int) -> int:
    """What can be reached from `bit` within `area` around `blocked`; noted in `ways`."""
    if len(ways) >= _MOST_WAYS:
        ways.clear()
    way = ways[blocked] = flood(bit, area ^ blocked)
    return way


def _reach_around_goals(position: Position, bit: int, free: int, room: int) -> int:
    """What can be reached from `bit` if every way ends where it comes onto a field before a free own goal.

    A pedestrian on the grid that stands before one walks off it; one that comes from its start ends there.
    """
    if bit & room & free:
        return bit
    reach = bit
    for area in (
        position.black if position.black & bit else position.laid ^ position.black,
        position.round if position.round & bit else position.laid ^ position.round,
    ):
        passed = flood(bit, area & free & ~room & ~bit)
        reach |= passed | neighbours_of(passed) & area & free & room
    return reach


def _goal_targets(board: Board, team: int, fronts: int) -> int:
    """The goal fields behind these fields, as target bits."""
    goal_of_bit = board.goal_of_bit[team]
    targets = 0
    while fronts:
        bit = fronts & -fronts
        fronts ^= bit
        targets |= 1 << (BOARD_BITS + goal_of_bit[bit])
    return targets


def _barred_now(position: Position, opponent: int) -> int:
    """The fields before starts where an opponent still waits and before its goals with room."""
    mask = position.room[opponent]
    for number in PLACES_OF[position.waiting[opponent]]:
        mask |= position.board.start_bits[opponent][number]
    return mask
