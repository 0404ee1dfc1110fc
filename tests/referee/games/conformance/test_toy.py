"""A sound game passes, and the run says what it covered."""

import re
from pathlib import Path

import pytest
from toy_game import GAME
from toy_game.actions import ACTION_CLASSES
from toy_game.seen import PAYLOAD_CLASSES

from referee.games.conformance import CHECKS, Report, check_game, match_digest
from referee.games.conformance.coverage import coverage
from referee.games.conformance.match import DEAR_CHECKS
from referee.games.conformance.source import code_hash, package_of, readme


@pytest.fixture(scope="module")
def report() -> Report:
    return check_game(GAME, "toy")


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


def test_every_dear_check_ran_at_every_chosen_node_and_the_replay_of_every_match(report: Report) -> None:
    tally = report.tally
    dear = {name for name, _ in DEAR_CHECKS}
    assert dear <= set(CHECKS)
    assert {tally["checks"][name] for name in dear} == {tally["nodes"]["dear"]}
    assert tally["checks"]["replay"] == report.plan.matches


def test_hidden_cards_are_proven_hidden_and_always_resampled(report: Report) -> None:
    hidden = report.tally["hidden"]
    assert hidden["proven hidden"] >= 50
    assert hidden["proven hidden, resampled otherwise"] == hidden["proven hidden"]
    assert hidden["resampled, not the identity"] >= 0.8 * hidden["resampled"]
    assert hidden["told by an event, shown afterwards"] > 0, "peeking reveals"


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


def test_a_match_digest_names_one_match() -> None:
    digests = {match_digest(GAME, players, seed) for players in (2, 3, 4) for seed in range(3)}
    assert len(digests) == 9
    assert match_digest(GAME, 2, 0) in digests


def test_the_rules_and_code_of_a_game_are_found_from_its_object() -> None:
    assert package_of(GAME) == "toy_game"
    text = readme(GAME)
    assert text == (Path(__file__).parents[3] / "toy_game/toy_game/README.md").read_text()
    assert len(code_hash(package_of(GAME))) == 16


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("rules.py", True),
        ("codec.py", True),
        ("data/box.json", True),
        ("review.py", True),
        ("view.py", False),
        ("view_board.py", False),
        ("data/view_places.json", False),
        ("README.md", False),
    ],
)
def test_the_hash_of_a_game_is_over_what_is_played_and_not_over_what_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, counts: bool
) -> None:
    package = tmp_path / f"hashed_{file.translate(str.maketrans('./', '__'))}"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    (package / file).write_text("1")
    first = code_hash(package.name)
    (package / file).write_text("2")
    assert (code_hash(package.name) != first) == counts
