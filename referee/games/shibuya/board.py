"""What can be worked out before a match, from its options and box data: masks and tables."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from referee.games.api import DATA_OPTION, DataError, PlayersError, resolve_options
from referee.games.shibuya.actions import TURNS
from referee.games.shibuya.bitboard import CORNER_BITS, FIELD_BITS, SIDE
from referee.games.shibuya.data import LOOKS, TEAMS, check_data, default_data, front_of
from referee.games.shibuya.observation import Setting, TeamSetting
from referee.games.shibuya.options import OPTIONS, Rules, rules_of

GAME_ID = "shibuya"
PLAYER_COUNTS = (2, 4)


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """Read only. Pairs are (red, blue); a mask of places has a bit per waiting pedestrian or goal field."""

    players: int
    options: Mapping[str, Any]
    rules: Rules
    setting: Setting
    periods: tuple[int, ...]
    """Per tile kind in how many ways it can be laid on one slot: the turns 0 to period-1."""
    patterns: tuple[tuple[tuple[int, int, bytes], ...], ...]
    """[kind][turn]: black fields and round fields as corner bits, and the four looks."""
    start_bits: tuple[tuple[int, ...], tuple[int, ...]]
    """Per waiting pedestrian the bit of the field straight ahead."""
    own_starts: tuple[int, ...]
    """Per seat the mask of the waiting pedestrians it may move."""
    goal_bits: tuple[tuple[int, ...], tuple[int, ...]]
    """Per goal field the bit of the field before it."""
    goal_of_bit: tuple[Mapping[int, int], Mapping[int, int]]
    """Bit of a field before an own goal to the number of the goal."""
    goal_fronts: tuple[int, int]
    """All fields before own goals."""
    barred: tuple[int, int]
    """All fields before the other team's starts and goals."""


def board_of(players: int, options: Mapping[str, Any]) -> Board:
    """The board of a match, made once for equal options. Raises PlayersError, OptionError or DataError."""
    if players not in PLAYER_COUNTS:
        raise PlayersError(f"{GAME_ID} is for 2 or 4 players, not {players!r}")
    resolved = resolve_options(GAME_ID, OPTIONS, options)
    data = resolved.get(DATA_OPTION)
    if data is not None:
        check_data(data)
    return _board(players, json.dumps(resolved))


@lru_cache(maxsize=64)
def _board(players: int, options_json: str) -> Board:
    options: dict[str, Any] = json.loads(options_json)
    data = options.get(DATA_OPTION) or default_data()
    tiles = _pick(data, "tile_sets", options["tile_set"], "tile_set")["tiles"]
    layout = "2p" if players == 2 else "4p" + options["layout_4p"]
    teams = _team_settings(_pick(data, "layouts", layout, "layout_4p")["strips"])
    looks = [bytes(1 + LOOKS.index(look) for look in tile["fields"]) for tile in tiles]
    rules = rules_of(options)
    setting = Setting(
        players=players,
        teams=teams,
        tile_looks=tuple(look for tile in looks for look in tile),
        tile_counts=tuple(tile["count"] for tile in tiles),
        goals_to_win=rules.goals_to_win,
        lead_to_win=rules.lead_to_win,
    )
    start_bits = (_bits(teams[0].start_fronts), _bits(teams[1].start_fronts))
    goal_bits = (_bits(teams[0].goal_fronts), _bits(teams[1].goal_fronts))
    return Board(
        players=players,
        options=options,
        rules=rules,
        setting=setting,
        periods=tuple(_period(tile) if rules.tiles_may_turn else 1 for tile in looks),
        patterns=tuple(tuple(_pattern(tile, turn) for turn in range(TURNS)) for tile in looks),
        start_bits=start_bits,
        own_starts=tuple(
            sum(1 << i for i, owner in enumerate(teams[seat % 2].start_seats) if owner == seat)
            for seat in range(players)
        ),
        goal_bits=goal_bits,
        goal_of_bit=(
            {bit: goal for goal, bit in enumerate(goal_bits[0])},
            {bit: goal for goal, bit in enumerate(goal_bits[1])},
        ),
        goal_fronts=(sum(goal_bits[0]), sum(goal_bits[1])),
        barred=(_union(start_bits[1] + goal_bits[1]), _union(start_bits[0] + goal_bits[0])),
    )


def _pick(data: Mapping[str, Any], part: str, name: str, option: str) -> Any:
    if name not in data[part]:
        raise DataError(f"{part}: option '{option}' asks for {name!r}, but the data holds {', '.join(data[part])}")
    return data[part][name]


def _team_settings(strips: list[dict[str, Any]]) -> tuple[TeamSetting, TeamSetting]:
    starts: tuple[list[tuple[int, str, int]], ...] = ([], [])
    goals: tuple[list[tuple[int, str]], ...] = ([], [])
    for strip in strips:
        side = strip["side"]
        for place in range(strip["first"], strip["last"] + 1):
            x, y = front_of(side, place)
            if strip["holds"] == "start":
                starts[strip["seat"] % 2].append((x + SIDE * y, side, strip["seat"]))
            else:
                goals[TEAMS.index(strip["team"])].append((x + SIDE * y, side))
    red, blue = (
        TeamSetting(
            start_fronts=tuple(front for front, _, _ in own_starts),
            start_sides=tuple(side for _, side, _ in own_starts),
            start_seats=tuple(seat for _, _, seat in own_starts),
            goal_fronts=tuple(front for front, _ in own_goals),
            goal_sides=tuple(side for _, side in own_goals),
        )
        for own_starts, own_goals in zip(starts, goals, strict=True)
    )
    return red, blue


def _bits(fields: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(FIELD_BITS[i] for i in fields)


def _union(bits: tuple[int, ...]) -> int:
    mask = 0
    for bit in bits:
        mask |= bit
    return mask


def _turned(looks: bytes, turn: int) -> bytes:
    """The looks after `turn` quarter turns clockwise."""
    return looks[-turn:] + looks[:-turn] if turn else looks


def _period(looks: bytes) -> int:
    return next(turn for turn in (1, 2, TURNS) if _turned(looks, turn) == looks)


def _pattern(looks: bytes, turn: int) -> tuple[int, int, bytes]:
    turned = _turned(looks, turn)
    corners = tuple(zip(CORNER_BITS, turned, strict=True))
    black = sum(bit for bit, look in corners if LOOKS[look - 1][0] == "k")
    round_ = sum(bit for bit, look in corners if LOOKS[look - 1][1] == "o")
    return black, round_, turned
