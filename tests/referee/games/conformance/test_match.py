"""A correct game passes, and the run reports what it covered."""

import re

import pytest
from toy_game import GAME
from toy_game.actions import ACTION_CLASSES
from toy_game.seen import PAYLOAD_CLASSES

from referee.games.conformance import CHECKS, Report, check_game
from referee.games.conformance.match import NODE_CHECKS
from referee.games.conformance.tally import coverage


@pytest.fixture(scope="module")
def report() -> Report:
    return check_game(GAME, "toy")


@pytest.mark.slow
def test_the_toy_game_passes(report: Report) -> None:
    assert report.failures == ()
    assert report.passed
    assert report.done == report.plan.matches


def test_a_short_run_meets_everything_the_game_has(report: Report) -> None:
    tally = report.tally
    assert set(tally["matches"]) == {"2", "3", "4"}
    assert set(tally["decisions"]) == {"stash", "turn", "guard"}
    assert set(tally["actions"]) == {cls.KIND for cls in ACTION_CLASSES}
    assert set(tally["events"]) == {cls.KIND for cls in PAYLOAD_CLASSES}
    assert set(tally["chance"]) == {"draw cards", "draw weather", "roll die"}
    assert tally["leaving"]["in matches"] > 0
    assert tally["leaving"]["tried on copies"] > 0
    assert {"peeking=False"} <= set(tally["options"])


def test_every_node_check_ran_at_every_chosen_node_and_the_replay_of_every_match(report: Report) -> None:
    tally = report.tally
    full = {name for name, _ in NODE_CHECKS}
    assert full <= set(CHECKS)
    assert {tally["checks"][name] for name in full} == {tally["nodes"]["full"]}
    assert tally["checks"]["replay"] == report.plan.matches


def test_hidden_cards_are_proven_hidden_and_always_resampled(report: Report) -> None:
    hidden = report.tally["hidden"]
    assert hidden["proven hidden"] >= 50
    assert hidden["proven hidden, resampled otherwise"] == hidden["proven hidden"]
    assert hidden["resampled, not the identity"] >= 0.8 * hidden["resampled"]
    assert hidden["revealed by an event, shown afterwards"] > 0, "peeking reveals"


def test_the_coverage_reads_as_lines(report: Report) -> None:
    lines = dict(coverage(report.tally))
    assert lines["matches"] == "2 players 35, 3 players 35, 4 players 34"
    assert re.fullmatch(r"\d+ to \d+ decisions, median \d+, 99 % within \d+", lines["length, 4 players"])
    assert "100.0% of these resampled otherwise" in lines["hidden"]
    assert "replay 104" in lines["checks"]


def test_the_same_run_covers_the_same_again() -> None:
    first, again = (check_game(GAME, matches=2, seed=3).tally.to_json() for _ in range(2))
    assert first == again


def test_without_a_name_for_other_processes_the_kit_still_runs() -> None:
    assert check_game(GAME, matches=1).passed
