"""States made again from dictionaries and observations."""

from collections.abc import Mapping
from typing import Any

from referee.games.king_of_new_york.agenda import FIRST_CHANCE, FIRST_QUESTION
from referee.games.king_of_new_york.box import Box, make_box
from referee.games.king_of_new_york.market import count_move_cost
from referee.games.king_of_new_york.observation import PART_FIELDS, VALUES, Observation, Remembered, setting_of
from referee.games.king_of_new_york.rules import QUESTIONS, KingState


def state_from_dict(data: Mapping[str, Any]) -> KingState:
    """Inverse of `KingState.to_dict()`."""
    return _restored(make_box(data["options"]), data["players"], data)


def state_from_observation(observation: Observation, options: Mapping[str, Any]) -> KingState:
    """The position that was seen; nothing of it is hidden."""
    seen: dict[str, Any] = {name: getattr(observation, name) for name in (*VALUES, "agenda")}
    for part, names in PART_FIELDS.items():
        seen.update((name, getattr(getattr(observation, part), name)) for name in names)
    return _restored(make_box(options), observation.setting.players, seen)


def _restored(box: Box, players: int, values: Mapping[str, Any]) -> KingState:
    state = KingState.__new__(KingState)
    state.box = box
    state.players = players
    state.setting = setting_of(box, players)
    for name in VALUES:
        setattr(state, name, values[name])
    for names in PART_FIELDS.values():
        for name in names:
            value = values[name]
            setattr(state, name, list(value) if isinstance(value, (list, tuple)) else value)
    state.agenda = [tuple(task) for task in values["agenda"]]
    state.living = state.out.count(0)
    state.owned = 0
    for keep in state.keep:
        state.owned |= keep
    count_move_cost(state)
    state.log = []
    state.remembered = Remembered()
    state.menu = ()
    state.index = None
    if state.agenda and FIRST_QUESTION <= state.agenda[-1][0] < FIRST_CHANCE:
        task = state.agenda[-1]
        state.menu = QUESTIONS[task[0]][0](state, task)
    return state
