"""One agent against fixed opponents."""

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from crosstown_env import GAMES, single
from gymnasium.utils.env_checker import check_env

from referee.games.registry import get_game

TABLES = [(game, players) for game in GAMES for players in get_game(game).player_counts]


def play(env: Any, seed: int) -> tuple[float, dict[str, Any]]:
    """A random match: its rewards added up, and the last info."""
    rng = Random(seed)
    seen, info = env.reset(seed=seed)
    total, ended = 0.0, False
    while not ended:
        assert env.observation_space.contains(seen)
        action = rng.choice(np.flatnonzero(info["action_mask"]).tolist())
        seen, reward, ended, cut, info = env.step(action)
        assert not cut
        total += reward
    return total, info


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.filterwarnings("ignore:.*not within the observation space.*:UserWarning")
def test_gymnasium_accepts_the_environment(game: str) -> None:
    check_env(single(game, opponents="random", illegal="leave"), skip_render_check=True)


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_the_agent_earns_what_its_rank_is_worth(game: str, players: int) -> None:
    env = single(game, players=players, opponents="random")
    total, info = play(env, 3)
    ranks, mine = info["ranking"], info["ranking"][info["seat"]]
    teams = get_game(game).teams(players, {})
    others = [rank for rank, team in zip(ranks, teams, strict=True) if team != teams[info["seat"]]]
    assert total == pytest.approx(sum((mine < rank) - (mine > rank) for rank in others) / len(others))


def test_points_of_the_agent_add_up_over_the_turns_of_its_opponents() -> None:
    env = single("king_of_new_york", players=3, reward="points", seat=1, opponents="random")
    total, _ = play(env, 4)
    assert total == env.table.state.returns()[1]


def test_a_seed_decides_everything() -> None:
    env = single("manhattan_traffiq", opponents=["random", "greedy"])
    (earned, info), (again, same) = play(env, 5), play(env, 5)
    assert (earned, info["seat"], info["ranking"]) == (again, same["seat"], same["ranking"])
    assert len({tuple(env.reset(seed=seed)[0]) for seed in range(4)}) > 1


def test_the_seat_changes_unless_it_is_fixed() -> None:
    env = single("shibuya", opponents="random")
    assert {env.reset(seed=seed)[1]["seat"] for seed in range(12)} == {0, 1}
    env = single("shibuya", seat=1, opponents="random")
    assert {env.reset(seed=seed)[1]["seat"] for seed in range(4)} == {1}
    with pytest.raises(ValueError, match="there is no seat 2; seats are 0 to 1"):
        single("shibuya", seat=2)


def test_a_mixture_draws_opponents_by_weight() -> None:
    drawn: Counter[str] = Counter()

    def named(name: str) -> Any:
        def choose(seen: Any, legal: Sequence[Any], seat: int, rng: Random) -> int:
            drawn[name] += 1
            return 0

        return choose

    env = single("shibuya", seat=1, opponents={named("often"): 9, named("seldom"): 1})
    for seed in range(60):
        env.reset(seed=seed)  # the opponent has the first turn
    assert drawn["often"] + drawn["seldom"] == 60
    assert 0 < drawn["seldom"] < 20


def test_greedy_beats_random_play() -> None:
    env = single("shibuya", opponents="greedy", seat=0)
    assert sum(play(env, seed)[0] for seed in range(4)) <= -3


def test_an_illegal_action_is_an_error_or_the_end() -> None:
    env = single("shibuya", seat=0, opponents="random")
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"an action is a whole number, not 3\.7"):
        env.step(3.7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="action 0 is not legal for seat 0"):
        env.step(np.int64(0))
    env = single("shibuya", seat=0, opponents="random", illegal="leave")
    env.reset(seed=1)
    _, reward, ended, _, info = env.step(np.int64(0))
    assert (reward, ended, info["ranking"]) == (-1, True, (2, 1))


def test_masks_are_given_as_masking_algorithms_ask_for_them() -> None:
    env = single("shibuya", opponents="random")
    _, info = env.reset(seed=0)
    assert env.action_masks().dtype == bool
    assert np.array_equal(env.action_masks(), info["action_mask"].astype(bool))


def test_unknown_opponents_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown opponent 'strong'; use 'random', 'greedy' or a function"):
        single("shibuya", opponents="strong")
    with pytest.raises(ValueError, match="name at least one, each with a weight above 0"):
        single("shibuya", opponents={"greedy": 0})
    with pytest.raises(ValueError, match="illegal='lose' is unknown; use raise or leave"):
        single("shibuya", illegal="lose")
