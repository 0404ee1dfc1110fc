"""The conformance kit on games of every kind; on all of them in the long mode."""

import pytest

from referee.games.conformance import Plan, make_plan, run_plan
from referee.games.registry import get_game, openspiel_ids

KINDS = {
    "connect_four": "perfect information",
    "pig": "chance, more seats",
    "matrix_pd": "one shot, together",
    "goofspiel": "together, with chance",
    "kuhn_poker": "hidden cards",
    "leduc_poker": "resampled by OpenSpiel",
    "phantom_ttt": "hidden actions",
    "tiny_bridge_4p": "partners",
    "catch": "one seat",
}


def findings(plan: Plan, game_id: str) -> list[str]:
    report = run_plan(get_game(game_id), plan, other_processes=False)
    return [f"{failure.check}: {failure.message} [{failure.command()}]" for failure in report.failures]


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_game_of_this_kind_conforms(name: str) -> None:
    game_id = f"openspiel/{name}"
    plan = Plan(game_id, get_game(game_id).player_counts[:2], 0, 4, 0, 0.1, True)
    assert findings(plan, game_id) == []


@pytest.mark.long
@pytest.mark.parametrize("game_id", openspiel_ids())
def test_every_game_conforms(game_id: str) -> None:
    assert findings(make_plan(get_game(game_id), game_id), game_id) == []
