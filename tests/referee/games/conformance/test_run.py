"""Runs are repeatable, spread over processes, resumed, and say how to see a failure again."""

import json
from pathlib import Path
from typing import Any

import pytest
from toy_game import GAME
from toy_game.mutants import DYING, LEAKING

from referee.games.api import PlayersError
from referee.games.conformance import Failure, Plan, ProgressError, Report, make_plan, run_plan
from referee.games.conformance.run import FULL_MATCHES, LONG_FULL_SHARE
from tests.sentences import says

REF = "toy_game:GAME"


def few(matches: int = 12, seed: int = 0) -> Plan:
    """Matches with all checks at few nodes only, in several chunks."""
    return Plan(REF, (2, 3, 4), seed, matches, 0, 0.01, False)


def run(plan: Plan, **how: Any) -> Report:
    return run_plan(GAME, plan, other_processes=False, **how)


def test_player_counts_take_turns_and_seeds_go_up() -> None:
    jobs = [few(7, seed=5).job(number) for number in range(7)]
    assert [(job.players, job.seed) for job in jobs] == [(2, 5), (3, 5), (4, 5), (2, 6), (3, 6), (4, 6), (2, 7)]


def test_a_long_run_has_all_checks_in_the_first_thousand_and_at_some_nodes_after() -> None:
    plan = make_plan(GAME, REF, matches=100_000)
    assert (plan.job(FULL_MATCHES - 1).full_share, plan.job(FULL_MATCHES - 1).replay) == (1.0, True)
    assert (plan.job(FULL_MATCHES).full_share, plan.job(FULL_MATCHES).replay) == (LONG_FULL_SHARE, False)


@pytest.mark.parametrize("matches", [1, 19, 20, 41, 1000, 1001])
def test_chunks_hold_every_match_once(matches: int) -> None:
    assert [number for chunk in few(matches).chunks() for number in chunk] == list(range(matches))


def test_one_player_count_can_be_chosen_and_others_are_refused() -> None:
    assert make_plan(GAME, REF, players=3, matches=5).player_counts == (3,)
    with pytest.raises(PlayersError, match="toy is for 2, 3, 4 players, not 5"):
        make_plan(GAME, REF, players=5)


def test_a_short_run_does_not_depend_on_the_clock() -> None:
    assert make_plan(GAME, REF) == make_plan(GAME, REF)


def test_several_processes_cover_what_one_covers() -> None:
    plan = few(30)
    assert run(plan, workers=2).tally.to_json() == run(plan).tally.to_json()


def test_a_failure_names_its_place_and_the_line_that_shows_it_again() -> None:
    report = run_plan(LEAKING, make_plan(LEAKING, "toy_game.mutants:LEAKING"), other_processes=False)
    failure = report.failures[0]
    assert failure.check == "non_interference"
    assert failure.players in (2, 3, 4)
    assert failure.node is not None
    assert failure.decision is not None
    assert set(json.loads(failure.options)) <= {"rounds", "peeking"}
    assert failure.command() == (
        f"crosstown games check toy_game.mutants:LEAKING --players {failure.players} --seed {failure.seed} --matches 1"
    )
    again = make_plan(LEAKING, "toy_game.mutants:LEAKING", players=failure.players, seed=failure.seed or 0, matches=1)
    found = run_plan(LEAKING, again, other_processes=False).failures
    assert [each.check for each in found] == [failure.check]


def test_a_failure_comes_back_from_its_json() -> None:
    failure = Failure("clone", "toy", "shared", 2, 7, 5, 3, "{}", "")
    assert Failure.from_json(json.loads(json.dumps(failure.to_json()))) == failure


def test_a_run_stops_after_a_few_failures() -> None:
    report = run_plan(LEAKING, Plan(REF, (2,), 0, 500, 500, 1.0, False), other_processes=False)
    assert 5 <= len(report.failures) <= 8
    assert not report.passed


def test_a_process_that_dies_is_a_failure_that_names_its_matches() -> None:
    plan = Plan("toy_game.mutants:DYING", (2,), 0, 4, 4, 1.0, False)
    report = run_plan(DYING, plan, workers=2, other_processes=False)
    assert report.failures
    assert {failure.check for failure in report.failures} == {"crash"}
    assert "a process died (exit code 3) playing the matches from 2 players, seed" in report.failures[0].message
    assert "--players 2 --seed" in report.failures[0].command()


class Stop(Exception):
    """Stands for Ctrl-C or a power cut."""


def stop_after(matches: int) -> Any:
    def on_done(done: int) -> None:
        if done >= matches:
            raise Stop

    return on_done


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_goes_on_where_it_was_stopped(tmp_path: Path, workers: int) -> None:
    plan, path = few(40), tmp_path / "progress.jsonl"
    with pytest.raises(Stop):
        run(plan, progress=path, on_done=stop_after(20))
    report = run(plan, progress=path, workers=workers)
    assert 0 < report.kept < 40
    assert report.done == 40
    assert report.tally.to_json() == run(plan).tally.to_json()


def test_a_finished_run_plays_nothing_again(tmp_path: Path) -> None:
    plan, path = few(), tmp_path / "progress.jsonl"
    first = run(plan, progress=path)
    size = path.stat().st_size
    second = run(plan, progress=path)
    assert (second.kept, second.done) == (12, 12)
    assert second.tally.to_json() == first.tally.to_json()
    assert path.stat().st_size == size


@pytest.mark.parametrize("cut", range(1, 400, 57))
def test_a_progress_file_cut_anywhere_is_taken_up_to_its_last_whole_line(tmp_path: Path, cut: int) -> None:
    plan, path = few(), tmp_path / "progress.jsonl"
    first = run(plan, progress=path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    report = run(plan, progress=path)
    assert report.tally.to_json() == first.tally.to_json()
    assert sorted(path.read_bytes().splitlines()) == sorted(whole.splitlines())


def test_portions_with_failures_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "progress.jsonl"
    plan = Plan("toy_game.mutants:LEAKING", (2,), 0, 2, 2, 1.0, False)
    assert not run_plan(LEAKING, plan, progress=path, other_processes=False).passed
    assert len(path.read_bytes().splitlines()) == 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda lines: lines[0].replace('"seed":0', '"seed":9'), "it is of a run with other numbers"),
        (lambda lines: lines[0].replace('"rules_version":1', '"rules_version":2'), "its rules_version is 2"),
        (lambda lines: lines[0].replace('"code":"', '"code":"0'), "the game's files have changed since"),
        (lambda lines: lines[0].replace('"kit":"', '"kit":"0'), "the conformance kit has changed since"),
        (lambda lines: "{}", "its format is None"),
        (lambda lines: "not JSON", "not a progress file that can be used"),
        (lambda lines: "[]", "not a progress file that can be used"),
        (lambda lines: "[" * 100_000, "not a progress file that can be used: maximum recursion depth exceeded"),
    ],
)
def test_a_progress_file_of_another_run_is_refused(tmp_path: Path, change: Any, told: str) -> None:
    plan, path = few(), tmp_path / "progress.jsonl"
    run(plan, progress=path)
    lines = path.read_text().splitlines()
    spoiled = "\n".join([change(lines), *lines[1:]]) + "\n"
    path.write_text(spoiled)
    with pytest.raises(ProgressError, match=told):
        run(plan, progress=path)
    assert path.read_text() == spoiled, "a refused file is left as it was"


@pytest.mark.parametrize("content", [b"my thesis", b'{"format":', bytes(range(10))])
def test_a_file_without_a_line_end_is_not_taken_for_a_progress_file_that_was_cut(
    tmp_path: Path, content: bytes
) -> None:
    """All of it was removed without a word."""
    path = tmp_path / "thesis"
    path.write_bytes(content)
    if content.startswith(b"{"):  # as a kill can leave one
        assert run(few(), progress=path).passed
        return
    with pytest.raises(ProgressError, match="not a progress file that can be used"):
        run(few(), progress=path)
    assert path.read_bytes() == content


def test_a_progress_file_that_cannot_be_written_is_told_as_that(tmp_path: Path) -> None:
    with pytest.raises(ProgressError, check=says("cannot be written .No such file or directory.; name another file")):
        run(few(), progress=tmp_path / "none" / "progress.jsonl")
