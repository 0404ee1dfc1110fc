"""Matches come out the same again: golden matches, digests, other hash seeds."""

import json
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from toy_game import GAME
from toy_game.game import ToyGame
from toy_game.mutants import KINDER_DIE, UNORDERED_LIST

from referee.games.conformance import (
    CheckFailed,
    Job,
    Plan,
    Tally,
    check_golden,
    check_match,
    match_digest,
    run_plan,
    write_golden,
)
from referee.games.conformance.determinism import check_hash_seed
from referee.games.conformance.game_object import package_of
from referee.games.registry import game_ids, get_game

FOLDER = Path(__file__).with_name("golden")
SHIPPED = [name for name in game_ids() if name == "toy" or package_of(get_game(name)).startswith("referee.games.")]


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "toy.jsonl"
    write_golden(GAME, path)
    return path


@pytest.mark.parametrize("game_id", SHIPPED)
def test_the_golden_matches_of_a_shipped_game_replay_to_the_same_result(game_id: str) -> None:
    """When rules change on purpose: raise rules_version, then write those of all games anew with

    CROSSTOWN_UPDATE_GOLDEN=1 python -m pytest tests/referee/games -k golden
    """
    game, path = get_game(game_id), FOLDER / f"{game_id}.jsonl"
    if os.environ.get("CROSSTOWN_UPDATE_GOLDEN") == "1":
        write_golden(game, path)
    check_golden(game, path)


def test_two_matches_of_each_player_count_are_recorded_and_pass(recorded: Path) -> None:
    lines = [json.loads(line) for line in recorded.read_text().splitlines()]
    assert [(line["players"], line["seed"]) for line in lines] == [(2, 0), (2, 1), (3, 0), (3, 1), (4, 0), (4, 1)]
    check_golden(GAME, recorded)


def test_recorded_matches_that_cannot_be_replaced_are_kept(recorded: Path) -> None:
    """A full disk left an empty file."""
    before, (usual, most) = recorded.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, most))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_golden(GAME, recorded)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (usual, most))
    assert (recorded.read_bytes(), [*recorded.parent.iterdir()]) == (before, [recorded])


def test_the_same_matches_are_recorded_again(recorded: Path, tmp_path: Path) -> None:
    write_golden(GAME, tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == recorded.read_bytes()


def test_a_changed_rule_under_the_same_version_is_found(recorded: Path) -> None:
    with pytest.raises(
        CheckFailed, match=r"step \d+ \(come\) leads to another state; if the rules have changed"
    ) as failed:
        check_golden(KINDER_DIE, recorded)
    assert failed.value.check == "golden"


def test_a_new_rules_version_wants_new_matches(recorded: Path) -> None:
    newer = ToyGame()
    newer.rules_version = 2
    with pytest.raises(
        CheckFailed, match="recorded with toy, rules version 1; this is toy, rules version 2: write the file again"
    ):
        check_golden(newer, recorded)


def changed(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda match: match.update({key: value})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (changed("game", "chess"), "recorded with chess"),
        (changed("ranking", [9, 9]), "ends differently"),
        (lambda match: match["hashes"].__setitem__(0, "0"), "starts differently"),
        (lambda match: match["steps"].__setitem__(0, '{"0": "pass()"}'), "step 0 .* is refused"),
        (lambda match: match["hashes"].pop(), "cannot be read"),
        (lambda match: match.pop("steps"), "cannot be read: KeyError"),
    ],
)
def test_damage_is_told(recorded: Path, change: Callable[[dict[str, Any]], None], told: str) -> None:
    match = json.loads(recorded.read_text().splitlines()[0])
    change(match)
    recorded.write_text(json.dumps(match) + "\n")
    with pytest.raises(CheckFailed, match=told):
        check_golden(GAME, recorded)


@pytest.mark.parametrize("text", [None, "", "{"])
def test_a_file_without_matches_is_told(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "toy.jsonl"
    if text is not None:
        path.write_text(text)
    with pytest.raises(CheckFailed, match=r"toy\.jsonl"):
        check_golden(GAME, path)


def test_a_run_reports_it_like_any_other_check(recorded: Path) -> None:
    plan = Plan("toy_game.mutants:KINDER_DIE", (2,), 0, 1, 0, 0.0, False)
    report = run_plan(KINDER_DIE, plan, golden=recorded, other_processes=False)
    assert [failure.check for failure in report.failures] == ["golden"]


def test_a_match_digest_names_one_match() -> None:
    digests = {match_digest(GAME, players, seed) for players in (2, 3, 4) for seed in range(3)}
    assert len(digests) == 9
    assert match_digest(GAME, 2, 0) in digests


def test_a_list_that_depends_on_the_hash_seed_is_rejected() -> None:
    with pytest.raises(CheckFailed, match="PYTHONHASHSEED") as failed:
        check_hash_seed("toy_game.mutants:UNORDERED_LIST", 0)
    assert failed.value.check == "hash_seed"


def test_the_same_list_passes_within_one_process_which_is_why_two_are_needed() -> None:
    assert check_match(UNORDERED_LIST, Job(players=2, seed=0), Tally()) is None
