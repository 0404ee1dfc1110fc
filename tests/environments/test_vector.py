"""Many matches at once."""

import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from crosstown_env import GAMES, VectorEnv, vector
from crosstown_env.table import Table

Nodes = Callable[..., Iterator[Table]]


def after(env: VectorEnv, steps: int) -> dict[str, bytes]:
    """The arrays after random steps."""
    for _ in range(steps):
        env.step(env.samples)
    names = ("observations", "masks", "seats", "samples", "rewards", "dones", "ranks", "lengths")
    return {name: getattr(env, name).tobytes() for name in names}


@pytest.mark.parametrize("game", GAMES)
def test_rows_show_what_the_seats_see_and_may_do(game: str) -> None:
    with vector(game, 3, seed=4) as env:
        for _ in range(80):
            env.step(env.samples)
            tables = env._work.stepper._tables  # type: ignore[union-attr]
            for row, table in enumerate(tables):
                assert env.seats[row] == table.seat
                assert env.observations[row].tobytes() == table.row(table.seat)
                assert sorted(np.flatnonzero(env.masks[row])) == sorted(table.ids(table.seat))
                assert env.masks[row, env.samples[row]] == 1


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_matches_are_the_same_with_any_number_of_processes(game: str) -> None:
    with vector(game, 5, seed=7) as one, vector(game, 5, seed=7, processes=2) as two:
        assert after(one, 200) == after(two, 200)
        one.reset(8)
        two.reset(8)
        assert after(one, 20) == after(two, 20)


def test_a_match_that_ends_is_paid_and_followed_by_another() -> None:
    with vector("ticket_to_ride_new_york", 4, players=3, seed=1) as env:
        ended = 0
        decisions = np.zeros(4, int)
        for _ in range(400):
            env.step(env.samples)
            decisions += 1
            for row in np.flatnonzero(env.dones):
                ended += 1
                assert env.lengths[row] == decisions[row]
                decisions[row] = 0
                assert sorted(env.ranks[row])[0] == 1
                assert env.rewards[row].sum() == pytest.approx(0)
                assert env.rewards[row, env.ranks[row].argmin()] > 0
            quiet = ~env.dones
            assert not env.rewards[quiet].any()
            assert not env.ranks[quiet].any()
            assert not env.lengths[quiet].any()
        assert ended >= 8


def test_the_arrays_are_the_same_objects_all_the_time() -> None:
    with vector("shibuya", 2) as env:
        kept = env.observations
        before = kept.copy()
        env.step(env.samples)
        assert env.observations is kept
        assert not np.array_equal(before, kept)


def test_a_mask_that_was_changed_from_outside_allows_nothing_more_or_less() -> None:
    with vector("shibuya", 4) as env:
        legal = env.samples.copy()
        env.masks[:] = 0
        env.step(legal)
        env.masks[:] = 1
        with pytest.raises(ValueError, match=r"match 2: .* is not legal for seat 1"):
            env.step(np.where(np.arange(4) == 2, env.masks.shape[1] - 1, env.samples))


def test_an_action_outside_the_action_space_is_refused_before_any_match_is_stepped() -> None:
    for number in (-1, 5827):
        with vector("shibuya", 4) as env:
            tables = env._work.stepper._tables  # type: ignore[union-attr]
            before = [table.state.to_dict() for table in tables]
            with pytest.raises(ValueError, match=f"match 3: action {number} is not legal for seat 0"):
                env.step(np.where(np.arange(4) == 3, number, env.samples))
            assert [table.state.to_dict() for table in tables] == before


@pytest.mark.parametrize("processes", [1, 2])
def test_an_illegal_action_names_its_match(processes: int) -> None:
    with vector("shibuya", 4, processes=processes) as env:
        actions = env.samples.copy()
        actions[3] = 0
        with pytest.raises(ValueError, match="match 3: action 0 is not legal for seat 0"):
            env.step(actions)
        env.reset(0)
        env.step(env.samples)


def test_a_process_that_ends_is_reported_and_leaves_nothing_behind() -> None:
    env = vector("shibuya", 4, processes=2)
    children = list(env._work.children)
    os.kill(children[1].pid, signal.SIGKILL)
    children[1].wait()
    with pytest.raises(ValueError, match="a worker process has ended with code -9; make the environment again"):
        env.step(env.samples)
    env.close()
    assert [child.poll() for child in children] == [0, -9]
    with pytest.raises(ValueError, match="the environment is closed"):
        env.step(env.samples)


@pytest.mark.parametrize(
    "given", [lambda samples: samples[:1], lambda samples: samples[None], lambda samples: samples + 0.5]
)
def test_anything_but_a_whole_number_for_each_match_is_refused(given: Callable[..., Any]) -> None:
    """One action was taken by all matches, and a fraction was cut off."""
    with vector("shibuya", 3, seed=1) as env:
        before = env.observations.copy()
        with pytest.raises(ValueError, match="step takes 3 whole numbers, one for each match, not an array of"):
            env.step(given(env.samples))
        assert (env.observations == before).all()
        env.step(list(env.samples))


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_a_number_that_is_no_legal_action_but_for_its_higher_bits_is_refused(kind: type[np.integer[Any]]) -> None:
    with vector("shibuya", 3, seed=1) as env:
        before = env.observations.copy()
        given = env.samples.astype(kind)
        given[1] += 1 << 32
        with pytest.raises(ValueError, match="one of these has more than 32 bits"):
            env.step(given)
        assert (env.observations == before).all()
        env.step(env.samples.astype(kind))


@pytest.mark.parametrize("number", [0, -1])
def test_an_environment_without_a_match_is_refused(number: int) -> None:
    """It was "1 processes for 0 matches; use 1 to 0"."""
    with pytest.raises(ValueError, match=f"n is {number}; use at least 1 match"):
        vector("shibuya", number)


def test_more_processes_than_matches_are_refused() -> None:
    with pytest.raises(ValueError, match="3 processes for 2 matches; use 1 to 2"):
        vector("shibuya", 2, processes=3)
