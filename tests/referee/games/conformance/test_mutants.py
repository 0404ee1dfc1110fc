"""The kit proves itself: each broken game is rejected by the check that tells how it is broken."""

import pytest
from toy_game import mutants
from toy_game.game import ToyGame
from toy_game.mutants import MUTANTS, Mutant

from referee.games.conformance import CHECKS, CheckFailed, Failure, Job, Plan, Tally, check_match, run_plan
from referee.games.conformance.digest import check_hash_seed
from referee.games.conformance.statics import check_attributes, check_data

MATCHES_AT_MOST = 60
DEAR_SHARE = 0.25


def first_failure(game: ToyGame) -> Failure | None:
    for number in range(MATCHES_AT_MOST):
        failure = check_match(game, Job(2 + number % 3, number // 3, DEAR_SHARE), Tally())
        if failure is not None:
            return failure
    return None


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.fault)
def test_a_broken_game_is_rejected_by_name(mutant: Mutant) -> None:
    failure = first_failure(mutant.game)
    assert failure is not None, f"nothing found that {mutant.fault}"
    assert failure.check == mutant.check, failure.message


@pytest.mark.parametrize(
    "mutant",
    [mutants.RESAMPLES_ITSELF, mutants.RESAMPLES_NOTHING, mutants.RESAMPLES_TOO_LITTLE],
    ids=lambda mutant: mutant.fault,
)
def test_a_resample_that_hides_leaks_is_rejected_over_all_matches(mutant: Mutant) -> None:
    report = run_plan(mutant.game, Plan("mutant", (2, 3, 4), 0, 12, 0, DEAR_SHARE, False), other_processes=False)
    assert not report.passed
    assert {failure.check for failure in report.failures} == {mutant.check}


def test_a_list_that_depends_on_the_hash_seed_is_rejected() -> None:
    with pytest.raises(CheckFailed, match="PYTHONHASHSEED") as failed:
        check_hash_seed("toy_game.mutants:UNORDERED_LIST", 0)
    assert failed.value.check == "hash_seed"


def test_the_same_list_passes_within_one_process_which_is_why_two_are_needed() -> None:
    assert check_match(mutants.UNORDERED_LIST, Job(players=2, seed=0), Tally()) is None


@pytest.mark.parametrize(
    ("game", "told"),
    [
        (mutants.REFUSED_DEFAULT, "option 'stakes' does not accept its default"),
        (mutants.ANY_PLAYERS, "0 players are accepted"),
    ],
)
def test_a_game_object_that_is_not_well_formed_is_rejected(game: ToyGame, told: str) -> None:
    with pytest.raises(CheckFailed, match=told) as failed:
        check_attributes(game)
    assert failed.value.check == "attributes"


@pytest.mark.parametrize(
    ("game", "told"),
    [
        (mutants.SHARED_DATA, "hands out its own lists"),
        (mutants.FRAGILE_DATA, "raised TypeError"),
    ],
)
def test_box_data_that_is_shared_or_fragile_is_rejected(game: ToyGame, told: str) -> None:
    with pytest.raises(CheckFailed, match=told) as failed:
        check_data(game)
    assert failed.value.check == "data"


def test_every_check_has_a_mutant_that_only_it_catches() -> None:
    caught = {mutant.check for mutant in MUTANTS}
    caught |= {mutants.RESAMPLES_ITSELF.check, "hash_seed", "golden", "attributes", "data"}
    assert caught == set(CHECKS)
