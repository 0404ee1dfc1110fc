"""A position as a text board, actions and events as sentences."""

from collections.abc import Sequence
from textwrap import wrap

from referee.games.api import seat_name
from referee.games.shibuya.actions import OFF_GRID, Build, Move, Place, ShibuyaAction
from referee.games.shibuya.bitboard import SIDE, SLOTS_PER_SIDE
from referee.games.shibuya.data import LOOKS, TEAMS
from referee.games.shibuya.drawing import SEAT_NAMES, TEAM_LETTERS, action_places, draw, event_places, seat_sign
from referee.games.shibuya.events import (
    BuildChosen,
    Finished,
    Moved,
    Passed,
    ShibuyaEvent,
    TileDrawn,
    TilePlaced,
    Withdrew,
)
from referee.games.shibuya.observation import Observation

__all__ = [
    "action_places",
    "action_sentence",
    "dealt",
    "draw",
    "event_places",
    "event_sentence",
    "points",
    "questions",
    "seat_sign",
    "text_board",
]

_WIDTH = 80
_SLOT_WIDTH = 11
_MARGIN = 9
_CORNERS = 4
_BRACKETS = ("    ", "(##)", "[##]", "(  )", "[  ]")
_LOOK_NAMES = ("nothing", "black round", "black square", "white round", "white square")
_LEGEND = (
    "(##) black round, [##] black square, (  ) white round, [  ] white square,",
    "R B pedestrians on them; R3 waits at start 3, -- left, {r3} red goal field 3,",
    "{R3} with a pedestrian in it; === above a slot: two tiles, no third.",
)
_REASONS = {
    "goals": "enough pedestrians in goal",
    "lead": "the winning lead",
    "all_passed": "everyone passed in a row",
    "move_cap": "the turn cap",
    "blocked": "a seat without legal action",
    "withdrawn": "a seat left",
}


def text_board(observation: Observation, names: Sequence[str] = ()) -> str:
    """At most 80 columns of ASCII; x runs along the bottom, y up the left side."""
    lines = [*wrap(_headline(observation, names), _WIDTH, break_on_hyphens=False), ""]
    lines += _board(observation)
    lines += ["", *_LEGEND, "", *_counts(observation), *_stock(observation)]
    if observation.drawn >= 0:
        lines += ["", *_drawn(observation)]
    return "\n".join(line.rstrip() for line in lines)


def _headline(observation: Observation, names: Sequence[str]) -> str:
    players = observation.setting.players
    if observation.phase == "over":
        return f"Shibuya, {players} players: {_result(observation.winner, observation.reason, players, names)}"
    who = f"{seat_name(names, observation.seat)} ({SEAT_NAMES[players][observation.seat]})"
    what = {
        "draw_place": f"street building, {who} draws a tile",
        "place": f"street building, {who} places the tile drawn",
        "turn": f"crossing, turn {observation.turns + 1}, {who} moves or builds",
        "draw_build": f"crossing, turn {observation.turns + 1}, {who} builds and draws a tile",
        "build": f"crossing, turn {observation.turns + 1}, {who} places the tile drawn",
    }[observation.phase]
    return f"Shibuya, {players} players: {what}"


def _result(winner: int, reason: str, players: int, names: Sequence[str]) -> str:
    if winner < 0:
        outcome = "a draw"
    elif names:
        team = [seat_name(names, seat) for seat in range(winner, players, 2)]
        outcome = f"{' and '.join(team)} ({TEAMS[winner]}) {'wins' if len(team) == 1 else 'win'}"
    else:
        outcome = f"{TEAMS[winner]} wins"
    return f"over, {outcome}: {_REASONS[reason]}"


def _board(observation: Observation) -> list[str]:
    borders = _borders(observation)
    lines = [_along(borders["N"])]
    for y in reversed(range(SIDE)):
        if y % 2:
            lines.append(" " * _MARGIN + _rule(observation, y // 2))
        row = f"{borders['W'][y]:>5} {y}  |"
        for x in range(0, SIDE, 2):
            row += f" {_field(observation, x, y)} {_field(observation, x + 1, y)} |"
        lines.append(f"{row}  {borders['E'][y]}")
    lines.append(" " * _MARGIN + _rule(observation, None)[: 1 + (_SLOT_WIDTH + 1) * SLOTS_PER_SIDE])
    lines.append(_along([f" {x}" for x in range(SIDE)]))
    lines.append(_along(borders["S"]))
    return lines


def _rule(observation: Observation, slot_row: int | None) -> str:
    line = "+"
    for column in range(SLOTS_PER_SIDE):
        doubled = slot_row is not None and observation.covered[column + SLOTS_PER_SIDE * slot_row]
        line += ("=" if doubled else "-") * _SLOT_WIDTH + "+"
    return line


def _along(labels: list[str]) -> str:
    line = ""
    for x, label in enumerate(labels):
        line = line.ljust(_MARGIN + 2 + (_SLOT_WIDTH + 1) * (x // 2) + 5 * (x % 2)) + label
    return line


def _field(observation: Observation, x: int, y: int) -> str:
    field = x + SIDE * y
    look = _BRACKETS[observation.looks[field]]
    for team, fields in enumerate(observation.fields):
        if field in fields:
            return look[0] + TEAM_LETTERS[team] + look[2:]
    return look


def _borders(observation: Observation) -> dict[str, list[str]]:
    """Per side the labels of its places 0 to 7, at most 5 wide."""
    borders = {side: [""] * SIDE for side in "SWNE"}
    for team, setting in enumerate(observation.setting.teams):
        letter = TEAM_LETTERS[team]
        for start, (front, side) in enumerate(zip(setting.start_fronts, setting.start_sides, strict=True)):
            waits = start in observation.waiting[team]
            borders[side][_place(front, side)] = f" {letter}{start}" if waits else " --"
        for goal, (front, side) in enumerate(zip(setting.goal_fronts, setting.goal_sides, strict=True)):
            shown = letter if observation.goals[team][goal] else letter.lower()
            borders[side][_place(front, side)] = f"{{{shown}{goal}}}"
    return borders


def _place(front: int, side: str) -> int:
    return front % SIDE if side in "SN" else front // SIDE


def _counts(observation: Observation) -> list[str]:
    setting = observation.setting
    lines = []
    for team, name in enumerate(TEAMS):
        goals = observation.goals[team]
        shared = ", ".join(f"{count} in goal field {goal}" for goal, count in enumerate(goals) if count > 1)
        lines.append(
            f"{name:<4}  in goal {sum(goals)}, on the grid {len(observation.fields[team])}, "
            f"waiting {len(observation.waiting[team])}" + (f" ({shared})" if shared else "")
        )
    lead = f", a lead of {setting.lead_to_win} too" if setting.lead_to_win else ""
    lines.append(f"{setting.goals_to_win} in goal win{lead}. Passes in a row: {observation.passes}.")
    return lines


def _drawn(observation: Observation) -> list[str]:
    looks = _tile_looks(observation, observation.drawn)
    above, below = "tile    ", " " * 8
    titles = " " * 8
    for turn in range(_CORNERS):
        turned = looks[-turn:] + looks[:-turn] if turn else looks
        if turn and turned == looks:
            break
        titles += f"turn {turn:<8}"
        above += f"{_BRACKETS[turned[0]]} {_BRACKETS[turned[1]]}    "
        below += f"{_BRACKETS[turned[3]]} {_BRACKETS[turned[2]]}    "
    return [titles, above, below]


def _stock(observation: Observation) -> list[str]:
    tiles = [
        "-".join(LOOKS[look - 1] for look in _tile_looks(observation, kind)) + (f"*{left}" if left > 1 else "")
        for kind, left in enumerate(observation.stock)
        if left
    ]
    left = sum(observation.stock)
    text = f"{left} tiles in stock" + (
        ", clockwise from the top left (k black, w white, o round, q square): " + ", ".join(tiles) if left else ""
    )
    return wrap(text, _WIDTH, break_on_hyphens=False, subsequent_indent="  ")


def _tile_looks(observation: Observation, kind: int) -> tuple[int, ...]:
    return observation.setting.tile_looks[_CORNERS * kind : _CORNERS * (kind + 1)]


def action_sentence(action: ShibuyaAction, observation: Observation, names: Sequence[str] = ()) -> str:
    """The action as an order."""
    if isinstance(action, Move):
        return f"Move {_walk(action.source, action.target)}"
    if isinstance(action, Place):
        return f"Lay the tile {_laid(action.slot, action.turn)}"
    if isinstance(action, Build):
        return "Draw a tile and build"
    return "Pass"


def event_sentence(payload: ShibuyaEvent, observation: Observation, names: Sequence[str] = ()) -> str:
    """The event as a sentence."""
    if isinstance(payload, Finished):
        return f"the match is {_result(payload.team, payload.reason, observation.setting.players, names)}"
    who = seat_name(names, payload.seat)
    match payload:
        case BuildChosen():
            return f"{who} builds"
        case TileDrawn():
            return f"{who} draws the tile {_tile(observation, payload.tile)}"
        case TilePlaced():
            above = ", covering another" if payload.covered else ""
            return f"{who} lays the tile {_laid(payload.slot, payload.turn)}{above}"
        case Moved():
            return f"{who} moves {_walk(payload.source, payload.target)}"
        case Passed():
            return f"{who} passes"
        case Withdrew():
            return f"{who} leaves the match"


def points(observation: Observation) -> tuple[int, ...]:
    """Per seat the pedestrians of its team in goal."""
    return tuple(sum(observation.goals[seat % 2]) for seat in range(observation.setting.players))


dealt = {"tile_drawn": "tile"}
"""What chance deals in numbers, by the KIND of the event."""

questions = {"place": "place the tile drawn", "turn": "move a pedestrian or build", "build": "build, or leave it"}
"""What a decision asks, by its kind."""


def _tile(observation: Observation, kind: int) -> str:
    """A tile by its corners, clockwise from the top left: tiles are known by nothing else."""
    return ", ".join(_LOOK_NAMES[look] for look in _tile_looks(observation, kind))


def _walk(source: int, target: int) -> str:
    begin = f"pedestrian {source - OFF_GRID} from its start" if source >= OFF_GRID else f"from {_xy(source)}"
    end = f"into goal field {target - OFF_GRID}" if target >= OFF_GRID else f"to {_xy(target)}"
    return f"{begin} {end}"


def _xy(field: int) -> str:
    return f"({field % SIDE}, {field // SIDE})"


def _laid(slot: int, turn: int) -> str:
    place = f"on slot ({slot % SLOTS_PER_SIDE}, {slot // SLOTS_PER_SIDE})"
    return f"{place}, turned {90 * turn} degrees clockwise" if turn else place
