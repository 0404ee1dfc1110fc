"""Short matches as they have always gone: one line per decision, the whole state every ten decisions.

After a change of the rules that is meant (and with a new rules_version), write those of all games anew with

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
from referee.games.king_of_new_york import GAME

FOLDER = Path(__file__).parent / "golden"
STATE_EVERY = 10
MOST_DECISIONS = 60


def lines(matches: Any, players: int) -> Iterator[str]:
    chance = KeyedChance(f"golden {players}".encode())
    rng = Random(players)
    options = matches.options()
    state = GAME.new_initial_state(players, options)
    yield f"rules_version {GAME.rules_version}, {players} players"
    decisions = 0
    while not state.is_terminal() and decisions < MOST_DECISIONS:
        if not state.decisions():
            outcome = chance.choose(state.chance_stream(), state.chance_outcomes())
            state.apply_chance(outcome)
            continue
        if decisions % STATE_EVERY == 0:
            table = state.to_dict()
            table.pop("options")
            yield json.dumps(table, sort_keys=True)
        decision = state.decisions()[0]
        legal = state.legal_actions(decision.seat)
        action = rng.choice(legal)
        yield f"{decisions} seat {decision.seat} {decision.kind} {len(legal)} {GAME.format_action(action)}"
        state.apply({decision.seat: action})
        decisions += 1
    yield f"hash {state_hash(state)}"


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
def test_golden_match(matches: Any, players: int) -> None:
    path = FOLDER / f"{players}_players.txt"
    text = "".join(f"{line}\n" for line in lines(matches, players))
    if os.environ.get("CROSSTOWN_UPDATE_GOLDEN") == "1":
        FOLDER.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")
