"""Golden matches: one line per decision and chance outcome, the full state every ten.

After a wanted change of rules (and of `rules_version`) write those of all games anew, in a commit of its own:

    CROSSTOWN_UPDATE_GOLDEN=1 python -m pytest tests/referee/games -k golden
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from referee.games.api import state_hash
from referee.games.keyed import KeyedChance
from referee.games.manhattan_traffiq import GAME

FOLDER = Path(__file__).with_name("golden")
MATCHES: dict[str, tuple[int, dict[str, Any]]] = {
    "two_players": (2, {"turn_limit": 24}),
    "three_players": (3, {"turn_limit": 24, "scenario": "central_park", "tile_set": "A"}),
    "four_players": (4, {"turn_limit": 28, "tile_set": "B", "times_square_layout": "T"}),
}
EVERY = 10


def pick(state: Any, rng: Random) -> Any:
    """Tight maps and few early ends, so that vehicles come to stand and compete."""
    legal = state.legal_actions(state.seat)
    if state.phase != "turn":
        return legal[-1]
    laid = {(tile.x, tile.y) for tile in state.city.tiles}

    def contacts(action: Any) -> int:
        around = [(action.x + dx, action.y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
        return sum(cell in laid for cell in around)

    attaching = [action for action in legal if action.KIND == "attach"]
    if attaching and rng.random() < 0.7:
        return max(attaching, key=contacts)
    others = legal[1:] or legal
    return others[int(rng.random() * len(others))]


def lines(name: str, options: Any) -> Iterator[str]:
    players, given = MATCHES[name]
    luck, rng = KeyedChance(name.encode()), Random(len(name))
    state = GAME.new_initial_state(players, options(**given))
    count = 0
    while not state.is_terminal():
        if count % EVERY == 0:
            yield "state " + json.dumps({**state.to_dict(), "options": given}, separators=(",", ":"))
        count += 1
        if state.decisions():
            action = pick(state, rng)
            yield f"seat {state.seat} {state.decisions()[0].kind} {GAME.format_action(action)}"
            events = state.apply({state.seat: action})
        else:
            outcome = luck.choose(state.chance_stream(), state.chance_outcomes())
            yield f"chance {outcome}"
            events = state.apply_chance(outcome)
        for event in events:
            yield f"  {GAME.view.describe_event(event.public)}"
    yield f"ranking {state.ranking()} returns {state.returns()} hash {state_hash(state)}"


@pytest.mark.parametrize("name", MATCHES)
def test_the_match_is_played_as_it_was_before(name: str, options: Any) -> None:
    text = "\n".join(lines(name, options)) + "\n"
    path = FOLDER / f"{name}.txt"
    if os.environ.get("CROSSTOWN_UPDATE_GOLDEN") == "1":
        path.write_text(text, encoding="utf-8")
    assert path.read_text("utf-8") == text
