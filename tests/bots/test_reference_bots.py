"""The bots that newcomers play against: they finish matches, they repeat, and greedy is stronger than chance."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BOTS = Path(__file__).parents[2] / "bots" / "python"
SEEDS = tuple(f"{number:032x}" for number in range(1, 4))
GAMES = {
    "shibuya": (2, 4),
    "ticket_to_ride_new_york": (2, 3, 4),
    "manhattan_traffiq": (2, 3, 4),
    "king_of_new_york": (2, 3, 4, 5, 6),
}
EVERY_COUNT = [(game, players) for game, counts in GAMES.items() for players in counts]
Play = Callable[..., Any]


@pytest.mark.parametrize(("game", "players"), EVERY_COUNT)
def test_greedy_plays_whole_matches_at_every_number_of_players(play: Play, game: str, players: int) -> None:
    played = play(game, ["greedy"] * players, SEEDS[0])
    assert len(played.ranking) == players
    assert all(played.answers)


@pytest.mark.slow
@pytest.mark.parametrize(("game", "players"), EVERY_COUNT)
def test_search_plays_whole_matches_at_every_number_of_players(play: Play, game: str, players: int) -> None:
    played = play(game, ["search"] + ["random"] * (players - 1), SEEDS[0], iterations=2, depth=3)
    assert len(played.ranking) == players
    assert played.answers[0]


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("bot", ["greedy", "search"])
def test_the_same_seeds_give_the_same_match(play: Play, bot: str, game: str) -> None:
    first, second = (play(game, [bot, "random"], SEEDS[1], iterations=2, depth=3) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("game", GAMES)
def test_greedy_beats_random(play: Play, bench: ModuleType, game: str) -> None:
    scores = []
    for seed in SEEDS:
        scores.append(bench.score(play(game, ["greedy", "random"], seed).ranking, (0, 1), 0))
        scores.append(bench.score(play(game, ["random", "greedy"], seed).ranking, (0, 1), 1))
    assert sum(scores) >= len(scores) - 1


def test_greedy_declares_every_game_it_has_a_player_for() -> None:
    manifest = tomllib.loads((BOTS / "greedy" / "bot.toml").read_text("utf-8"))
    assert sorted(manifest["games"]) == sorted(GAMES)


def test_search_uses_no_more_than_its_share_of_the_clock(
    play: Play, bench: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a clock that a world moves on by 60 ms, five are over in 40 % of a second, and a sixth would not be."""
    now_s = 0.0

    def monotonic() -> float:
        nonlocal now_s
        now_s += 0.06
        return now_s

    notes: list[str] = []
    turn = bench.Turn

    class Noted(turn):  # type: ignore[misc, valid-type]
        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(name, value)
            if name == "note" and value:
                notes.append(value)

    monkeypatch.setattr(bench, "Turn", Noted)
    monkeypatch.setattr("time.monotonic", monotonic)
    play("shibuya", ["search", "random"], SEEDS[0], depth=1, width=2)  # so each world takes equally long
    assert {note.split()[0] for note in notes} == {"5"}


@pytest.mark.parametrize(
    ("means", "low", "high"),
    [
        ([0.5, 1.0, 0.5, 1.0, 0.5, 1.0], 0.45, 1.0),
        ([1.0] * 30, 0.9, 1.0),
        ([0.75], 0.0, 1.0),
    ],
)
def test_intervals_of_blocks(bench: ModuleType, means: list[float], low: float, high: float) -> None:
    found = bench.interval(means)
    assert found == pytest.approx((low, high), abs=0.06)


def test_a_tie_counts_one_half_and_team_mates_are_no_opponents(bench: ModuleType) -> None:
    assert bench.score((1, 3, 1, 3), (0, 1, 0, 1), 0) == 1.0
    assert bench.score((2, 1, 2), (0, 1, 2), 0) == 0.25
