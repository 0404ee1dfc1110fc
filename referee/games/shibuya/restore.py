"""States from their dictionaries and from observations."""

from collections.abc import Mapping, Sequence
from typing import Any

from referee.games.api import DataError
from referee.games.shibuya.actions import PEDESTRIANS
from referee.games.shibuya.board import FIELD_BITS, FIELDS, SLOTS
from referee.games.shibuya.events import REASONS
from referee.games.shibuya.observation import Observation
from referee.games.shibuya.position import TURNS, Position
from referee.games.shibuya.rules import BUILD_ON, NOBODY, OVER, PHASES, PLACE, ShibuyaState
from referee.games.shibuya.setup import make_setup


def state_from_dict(data: Mapping[str, Any]) -> ShibuyaState:
    """Inverse of `ShibuyaState.to_dict()`. DataError, naming the place, if it describes no position."""
    try:
        return _restored(data)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DataError(f"state: {type(error).__name__} {error}; expected the form of to_dict()") from error


def state_from_observation(observation: Observation, options: Mapping[str, Any]) -> ShibuyaState:
    """The state that is seen: nothing is hidden but what chance nodes will bring."""
    teams = zip(observation.fields, observation.waiting, observation.goals, strict=True)
    return _restored(
        {
            "players": observation.setting.players,
            "options": options,
            "phase": observation.phase,
            "seat": observation.seat,
            "turns": observation.turns,
            "passes": observation.passes,
            "drawn": observation.drawn,
            "stock": observation.stock,
            "tops": observation.tops,
            "covered": observation.covered,
            "teams": [{"fields": fields, "waiting": waiting, "goals": goals} for fields, waiting, goals in teams],
            "winner": observation.winner,
            "reason": observation.reason,
            "withdrawn": observation.withdrawn,
        }
    )


def _restored(data: Mapping[str, Any]) -> ShibuyaState:
    setup = make_setup(data["players"], data["options"])
    state = ShibuyaState(setup)
    state.phase = _known(data["phase"], "phase", PHASES)
    state.seat = _within(data["seat"], "seat", 0, setup.players - 1)
    state.turns = _within(data["turns"], "turns", 0, setup.move_cap)
    state.passes = _within(data["passes"], "passes", 0, setup.players)
    state.drawn = _within(data["drawn"], "drawn", -1, len(setup.patterns) - 1)
    state.winner = _within(data["winner"], "winner", NOBODY, 1)
    state.reason = _known(data["reason"], "reason", ("", *REASONS))
    state.withdrawn = _within(data["withdrawn"], "withdrawn", -1, setup.players - 1)
    if state.phase != OVER and (state.drawn >= 0) != (state.phase in (PLACE, BUILD_ON)):
        raise DataError(f"state: drawn {state.drawn} does not fit phase '{state.phase}'")
    _restore_tiles(state, data)
    for team in (0, 1):
        _restore_team(state.position, team, data["teams"][team])
    if state.position.grid[0] & state.position.grid[1]:
        raise DataError("state: red and blue share a field")
    return state


def _restore_tiles(state: ShibuyaState, data: Mapping[str, Any]) -> None:
    position = state.position
    tops, covered = data["tops"], data["covered"]
    if len(tops) != SLOTS or len(covered) != SLOTS:
        raise DataError(f"state: expected {SLOTS} tops and covered tiles")
    used = [0] * len(position.stock)
    for slot in range(SLOTS):
        for name, tile in (("covered", covered[slot]), ("tops", tops[slot])):
            if tile:
                kind, turn = divmod(_within(tile, f"{name}[{slot}]", 1, TURNS * len(used)) - 1, TURNS)
                position.lay(kind, _within(turn, f"{name}[{slot}], its turn", 0, TURNS - 1), slot)
                used[kind] += 1
            elif name == "tops" and covered[slot]:
                raise DataError(f"state: covered[{slot}] has no tile on top")
    if state.drawn >= 0:
        used[state.drawn] += 1
    counts = position.setup.setting.tile_counts
    stock = tuple(count - out for count, out in zip(counts, used, strict=True))
    if min(stock) < 0 or tuple(data["stock"]) != stock:
        raise DataError(f"state: stock {list(data['stock'])}, but the laid and drawn tiles leave {list(stock)}")
    position.stock = stock
    position.stock_left = sum(stock)


def _restore_team(position: Position, team: int, data: Mapping[str, Any]) -> None:
    at = f"teams[{team}]"
    fields = _ascending(data["fields"], f"{at}.fields", FIELDS)
    waiting = _ascending(data["waiting"], f"{at}.waiting", len(position.setup.start_bits[team]))
    goals = data["goals"]
    if len(goals) != len(position.setup.goal_bits[team]):
        raise DataError(f"state: {at}.goals: expected {len(position.setup.goal_bits[team])} numbers")
    if len(fields) + len(waiting) + sum(goals) != PEDESTRIANS:
        raise DataError(f"state: {at}: expected {PEDESTRIANS} pedestrians on grid, waiting and in goal")
    for field in fields:
        if not FIELD_BITS[field] & position.laid:
            raise DataError(f"state: {at}.fields: no tile on field {field}")
        position.grid[team] |= FIELD_BITS[field]
    position.waiting[team] = sum(1 << place for place in waiting)
    for goal, count in enumerate(goals):
        for _ in range(_within(count, f"{at}.goals[{goal}]", 0, position.setup.capacity)):
            position.arrive(team, goal)


def _ascending(numbers: Sequence[int], at: str, end: int) -> Sequence[int]:
    previous = -1
    for number in numbers:
        previous = _within(number, at, previous + 1, end - 1)
    return numbers


def _within(value: Any, at: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise DataError(f"state: {at}: expected an integer from {low} to {high}, not {value!r}")
    return value


def _known(value: Any, at: str, words: Sequence[str]) -> str:
    if value not in words:
        raise DataError(f"state: {at}: expected one of {', '.join(words)}, not {value!r}")
    return str(value)
