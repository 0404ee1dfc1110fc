"""Whole matches as they were when the rules were last changed on purpose.

To write those of all games anew:

    CROSSTOWN_UPDATE_GOLDEN=1 python -m pytest tests/referee/games -k golden
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from referee.games.api import state_hash
from referee.games.keyed import KeyedChance
from referee.games.ticket_to_ride_new_york import GAME

FOLDER = Path(__file__).parent / "golden"
STATE_EVERY = 10


def lines(players: int, options: dict[str, Any], seed: int) -> Iterator[str]:
    """One line for each decision, with the luck before it; the full state every ten decisions; the result."""
    chance = KeyedChance(f"golden {seed}".encode())
    state = GAME.new_initial_state(players, options)
    decisions = 0
    luck: list[str] = []
    while not state.is_terminal():
        if outcomes := state.chance_outcomes():
            outcome = chance.choose(state.chance_stream(), outcomes)
            luck.append(str(outcome))
            state.apply_chance(outcome)
            continue
        answers = {}
        for decision in state.decisions():
            legal = state.legal_actions(decision.seat)
            action = legal[(7 * decisions + 3 * decision.seat + seed) % len(legal)]
            answers[decision.seat] = action
            text = GAME.format_action(action)
            yield f"{decisions} {' '.join(luck)} | seat {decision.seat} {decision.kind} {text} of {len(legal)}"
            luck = []
            decisions += 1
            if decisions % STATE_EVERY == 0:
                yield json.dumps(state.to_dict(), sort_keys=True, separators=(",", ":"))
        state.apply(answers)
    yield f"end {' '.join(luck)} | returns {state.returns()} ranking {state.ranking()} hash {state_hash(state)}"


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_match_goes_as_it_went(sit: ModuleType, players: int) -> None:
    path = FOLDER / f"{players}_players.txt"
    now = "".join(f"{line}\n" for line in lines(players, sit.options(), players))
    if os.environ.get("CROSSTOWN_UPDATE_GOLDEN") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(now, encoding="ascii")
    assert now == path.read_text(encoding="ascii"), (
        "the match went another way: if that is meant, raise rules_version and write the golden files anew "
        "(see the top of this file)"
    )
