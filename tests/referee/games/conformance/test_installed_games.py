"""The kit on every installed game: a few matches always, the short run and many matches behind --long."""

import pytest

from referee.games.conformance import Plan, Report, make_plan, run_plan
from referee.games.registry import game_ids, get_game

MANY_MATCHES = 2000
MATCHES_PER_COUNT = 2
FULL_SHARE = 0.02


def findings(report: Report) -> list[str]:
    return [f"{failure.check}: {failure.message} [{failure.command()}]" for failure in report.failures]


@pytest.mark.slow
@pytest.mark.parametrize("game_id", game_ids())
def test_a_few_matches(game_id: str) -> None:
    game = get_game(game_id)
    counts = game.player_counts
    plan = Plan(game_id, counts, 0, MATCHES_PER_COUNT * len(counts), 0, FULL_SHARE, True)
    assert findings(run_plan(game, plan)) == []


@pytest.mark.long
@pytest.mark.parametrize("game_id", game_ids())
def test_the_short_run_of_the_command(game_id: str) -> None:
    game = get_game(game_id)
    assert findings(run_plan(game, make_plan(game, game_id))) == []


@pytest.mark.long
@pytest.mark.parametrize("game_id", game_ids())
def test_many_matches(game_id: str) -> None:
    game = get_game(game_id)
    plan = Plan(game_id, game.player_counts, 1000, MANY_MATCHES, 0, FULL_SHARE, True)
    assert findings(run_plan(game, plan, workers=2)) == []
