"""The environments of PettingZoo."""

from collections.abc import Iterator
from importlib import import_module
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from crosstown_env import GAMES, WAIT, aec, parallel
from pettingzoo.test import api_test, parallel_api_test, seed_test

from referee.games.registry import get_game

TABLES = [(game, players) for game in GAMES for players in get_game(game).player_counts]
each_table = pytest.mark.parametrize(("game", "players"), TABLES)

# PettingZoo warns of every observation that is a dictionary, unless the environment is one of its own.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Observation space for each agent probably should be", "ignore:Observation is not a NumPy array"
)


def legal(seen: dict[str, Any]) -> list[int]:
    return list(np.flatnonzero(seen["action_mask"]))


def play(env: Any, seed: int, most: int = 100_000) -> Iterator[tuple[str, float]]:
    """A random match; yields agent and reward whenever an agent is asked and when it has ended."""
    rng = Random(seed)
    env.reset(seed=seed)
    for _, agent in zip(range(most), env.agent_iter(), strict=False):
        seen, reward, ended, cut, _ = env.last()
        yield agent, reward
        env.step(None if ended or cut else rng.choice(legal(seen)))


@pytest.mark.slow
@each_table
def test_pettingzoo_accepts_the_environment(game: str, players: int) -> None:
    api_test(aec(game, players=players), num_cycles=300)
    parallel_api_test(parallel(game, players=players), num_cycles=100)


@each_table
def test_pettingzoo_finds_that_a_seed_decides_everything(game: str, players: int) -> None:
    seed_test(lambda: aec(game, players=players, reward="points"), num_cycles=100)


@pytest.mark.parametrize("game", GAMES)
def test_pettingzoo_can_measure_the_environment(
    game: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = iter(range(60))
    module = import_module("pettingzoo.test.performance_benchmark")
    monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: next(seconds) / 8))
    module.performance_benchmark(aec(game))
    assert "turns per second" in capsys.readouterr().out


@each_table
def test_ranks_become_rewards_from_minus_one_to_one_that_add_up_to_nothing(game: str, players: int) -> None:
    env = aec(game, players=players)
    for seed in range(2):
        earned = dict.fromkeys(env.possible_agents, 0.0)
        for agent, reward in play(env, seed):
            earned[agent] += reward
        ranks = env.table.state.ranking()
        assert sum(earned.values()) == pytest.approx(0)
        assert max(np.abs(list(earned.values()))) <= 1
        best = [earned[agent] for agent, rank in zip(env.possible_agents, ranks, strict=True) if rank == 1]
        assert best == [max(earned.values())] * len(best)


@each_table
def test_points_as_rewards_add_up_to_the_result(game: str, players: int) -> None:
    env = aec(game, players=players, reward="points")
    earned = dict.fromkeys(env.possible_agents, 0.0)
    for agent, reward in play(env, 5):
        earned[agent] += reward
    assert tuple(earned.values()) == env.table.state.returns()


def test_the_difference_of_points_is_that_to_the_mean_of_the_opponents() -> None:
    env = aec("ticket_to_ride_new_york", players=3, reward="difference")
    earned = dict.fromkeys(env.possible_agents, 0.0)
    for agent, reward in play(env, 1):
        earned[agent] += reward
    first, second, third = env.table.state.returns()
    assert earned["seat_0"] == pytest.approx(first - (second + third) / 2)


def test_partners_earn_the_same() -> None:
    env = aec("shibuya", players=4)
    for seed in range(3):
        earned = dict.fromkeys(env.possible_agents, 0.0)
        for agent, reward in play(env, seed):
            earned[agent] += reward
        assert earned["seat_0"] == earned["seat_2"] == -earned["seat_1"] == -earned["seat_3"]


def test_an_illegal_action_is_refused_and_changes_nothing() -> None:
    env = aec("shibuya")
    env.reset(seed=1)
    before = env.table.state.to_dict()
    with pytest.raises(
        ValueError, match=r"action 2 is not legal for seat 0; 64 are: 3, 4, .* Choose one that the mask"
    ):
        env.step(2)
    for number in (3.7, "3"):
        with pytest.raises(ValueError, match=f"an action is a whole number, not {number!r}"):
            env.step(number)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="there is no agent 'seat_9'; the agents are seat_0, seat_1"):
        env.withdraw("seat_9")
    with pytest.raises(ValueError, match="seat_0 is asked and cannot answer None"):
        env.step(None)
    assert env.table.state.to_dict() == before
    assert env.agent_selection == "seat_0"


def test_a_seat_that_leaves_is_not_asked_again_and_is_paid_at_the_end() -> None:
    env = aec("ticket_to_ride_new_york", players=3)
    env.reset(seed=2)
    rng = Random(2)
    for _ in range(20):
        env.step(rng.choice(legal(env.observe(env.agent_selection))))
    env.withdraw("seat_1")
    asked = set()
    while not all(env.terminations.values()):
        asked.add(env.agent_selection)
        env.step(rng.choice(legal(env.observe(env.agent_selection))))
    assert asked == {"seat_0", "seat_2"}
    assert env.rewards["seat_1"] == -1
    with pytest.raises(ValueError, match="the match is over"):
        env.withdraw("seat_1")


def test_a_team_loses_when_one_of_it_leaves() -> None:
    env = aec("shibuya", players=4)
    env.reset(seed=2)
    env.withdraw("seat_1")
    assert all(env.terminations.values())
    assert list(env.rewards.values()) == [1, -1, 1, -1]


def starting_choices(players: int) -> Any:
    env = aec("ticket_to_ride_new_york", players=players)
    env.reset(seed=3)
    assert env.table.asked == tuple(range(players))
    return env


def test_seats_asked_at_once_do_not_see_what_others_have_answered() -> None:
    env = starting_choices(4)
    seen = {agent: env.table.row(seat) for seat, agent in enumerate(env.agents)}
    for agent in env.possible_agents:
        assert env.agent_selection == agent
        now = env.observe(agent)
        assert now["observation"].tobytes() == seen[agent]
        env.step(legal(now)[0])
    assert env.table.state.to_dict()["stage"] == "turn"


def test_a_seat_that_leaves_while_others_choose_takes_no_answer_with_it() -> None:
    env = starting_choices(4)
    env.step(legal(env.observe("seat_0"))[0])
    env.withdraw("seat_1")
    order = []
    while len(env.table.asked) > 1:
        order.append(env.agent_selection)
        env.step(legal(env.observe(env.agent_selection))[0])
    assert order == ["seat_2", "seat_3"]
    assert len(env.table.state.to_dict()["kept"][0]) == 1


def test_the_last_of_several_that_leaves_lets_the_answers_count() -> None:
    env = starting_choices(3)
    env.step(legal(env.observe("seat_0"))[0])
    env.step(legal(env.observe("seat_1"))[0])
    env.withdraw("seat_2")
    assert env.table.state.to_dict()["stage"] == "turn"
    assert not env.terminations["seat_0"]


def test_all_that_are_asked_at_once_act_in_one_parallel_step() -> None:
    env = parallel("ticket_to_ride_new_york", players=3)
    seen, infos = env.reset(seed=3)
    assert [info["kind"] for info in infos.values()] == ["starting_tickets"] * 3
    seen, _, _, _, infos = env.step({agent: legal(one)[0] for agent, one in seen.items()})
    assert [info["kind"] for info in infos.values()] == ["turn", "", ""]
    assert [legal(one) == [WAIT] for one in seen.values()] == [False, True, True]


def test_a_parallel_step_is_refused_whole() -> None:
    env = parallel("ticket_to_ride_new_york", players=2)
    seen, _ = env.reset(seed=3)
    before = env.table.state.to_dict()
    with pytest.raises(ValueError, match="seat_1 is asked and has no action"):
        env.step({"seat_0": legal(seen["seat_0"])[0]})
    with pytest.raises(ValueError, match="action 0 is not legal for seat 1"):
        env.step({"seat_0": legal(seen["seat_0"])[0], "seat_1": WAIT})
    assert env.table.state.to_dict() == before
    assert env.table.seat == 0


@each_table
def test_parallel_and_one_after_another_are_the_same_match(game: str, players: int) -> None:
    one, many = aec(game, players=players, reward="points"), parallel(game, players=players, reward="points")
    one.reset(seed=9)
    seen, _ = many.reset(seed=9)
    rng = Random(9)
    for _ in range(60):
        asked = [agent for agent, shown in seen.items() if legal(shown) != [WAIT]]
        chosen = {agent: rng.choice(legal(seen[agent])) for agent in asked}
        seen, rewards, ended, _, infos = many.step(chosen)
        for agent in asked:
            assert one.agent_selection == agent
            one.step(chosen[agent])
        assert one.rewards == rewards
        assert one.infos == infos
        if any(ended.values()):
            break
        assert np.array_equal(one.observe(one.agent_selection)["observation"], seen[one.agent_selection]["observation"])


def test_what_a_seat_earned_before_it_left_comes_with_the_next_parallel_step() -> None:
    env = parallel("shibuya", players=2)
    env.reset(seed=1)
    env.withdraw("seat_0")
    _, rewards, ended, _, _ = env.step({})
    assert rewards == {"seat_0": -1, "seat_1": 1}
    assert all(ended.values())
    assert env.agents == []


def test_the_board_is_rendered_as_text() -> None:
    env = aec("shibuya", render_mode="ansi")
    env.reset(seed=0)
    board = env.render()
    assert board is not None
    assert board.startswith("Shibuya, 2 players: street building")
    assert aec("shibuya").render() is None


def test_an_unknown_reward_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown reward 'win'; rewards: rank, difference, points"):
        aec("shibuya", reward="win")
