"""Golden matches: one line per decision and draw, the full state every ten.

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

from referee.games.api import resolve_options, state_hash
from referee.games.keyed import KeyedChance
from referee.games.shibuya import GAME

FOLDER = Path(__file__).with_name("golden")
MATCHES: dict[str, tuple[int, dict[str, Any]]] = {
    "two_players": (2, {}),
    "two_players_without_building": (2, {"build_phase": False}),
    "four_players": (4, {}),
}
EVERY = 10
MOST_DECISIONS = 80


def lines(name: str) -> Iterator[str]:
    players, given = MATCHES[name]
    luck, rng = KeyedChance(name.encode()), Random(name)
    state = GAME.new_initial_state(players, resolve_options(GAME.id, GAME.options, given))
    decisions = 0
    while not state.is_terminal() and decisions < MOST_DECISIONS:
        if not state.decisions():
            outcome = luck.choose(state.chance_stream(), state.chance_outcomes())
            yield f"draw {outcome}"
            state.apply_chance(outcome)
            continue
        if decisions % EVERY == 0:
            yield "state " + json.dumps({**state.to_dict(), "options": given}, separators=(",", ":"))
        decision = state.decisions()[0]
        legal = state.legal_actions(decision.seat)
        # Into a goal where one can, so that matches are decided and not worn out.
        action = legal[-1] if rng.random() < 0.5 else rng.choice(legal)
        yield f"{decisions} seat {decision.seat} {decision.kind} {len(legal)} {GAME.format_action(action)}"
        state.apply({decision.seat: action})
        decisions += 1
    end = f"ranking {state.ranking()} returns {state.returns()} " if state.is_terminal() else ""
    yield f"{end}hash {state_hash(state)}"


@pytest.mark.parametrize("name", MATCHES)
def test_the_match_is_played_as_it_was_before(name: str) -> None:
    text = "".join(f"{line}\n" for line in lines(name))
    path = FOLDER / f"{name}.txt"
    if os.environ.get("CROSSTOWN_UPDATE_GOLDEN") == "1":
        FOLDER.mkdir(exist_ok=True)
        path.write_text(text, encoding="ascii")
    assert text == path.read_text(encoding="ascii")
