"""Each broken game is rejected by the check that names its fault."""

import pytest
from toy_game import mutants
from toy_game.game import ToyGame
from toy_game.mutants import MUTANTS, Mutant

from referee.games.conformance import CHECKS, Failure, Job, Plan, Tally, check_match, run_plan

MATCHES_AT_MOST = 60
FULL_SHARE = 0.25


def first_failure(game: ToyGame) -> Failure | None:
    for number in range(MATCHES_AT_MOST):
        failure = check_match(game, Job(2 + number % 3, number // 3, FULL_SHARE), Tally())
        if failure is not None:
            return failure
    return None


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.fault)
def test_a_broken_game_is_rejected_by_name(mutant: Mutant) -> None:
    failure = first_failure(mutant.game)
    assert failure is not None, f"nothing found that {mutant.fault}"
    assert failure.check == mutant.check, failure.message


@pytest.mark.slow
@pytest.mark.parametrize(
    "mutant",
    [mutants.RESAMPLES_ITSELF, mutants.RESAMPLES_NOTHING, mutants.RESAMPLES_TOO_LITTLE],
    ids=lambda mutant: mutant.fault,
)
def test_a_resample_that_hides_leaks_is_rejected_over_all_matches(mutant: Mutant) -> None:
    report = run_plan(mutant.game, Plan("mutant", (2, 3, 4), 0, 12, 0, FULL_SHARE, False), other_processes=False)
    assert not report.passed
    assert {failure.check for failure in report.failures} == {mutant.check}


def test_every_check_has_a_mutant_that_only_it_catches() -> None:
    caught = {mutant.check for mutant in MUTANTS}
    caught |= {mutants.RESAMPLES_ITSELF.check, "hash_seed", "golden", "attributes", "data"}
    assert caught == set(CHECKS)
