"""Which of OpenSpiel's games are there, how they are found, and what is said of the others."""

import subprocess
import sys

import pyspiel
import pytest

from referee.games.api import resolve_options
from referee.games.conformance.game_object import readme
from referee.games.openspiel.game import OpenSpielGame
from referee.games.registry import UnknownGame, all_openspiel_ids, game_ids, get_game, is_game_id, openspiel_ids


def test_a_hundred_games_can_be_played_most_of_them_by_two_seats_or_more() -> None:
    games = [get_game(game_id) for game_id in openspiel_ids()]
    assert len(games) >= 100
    assert sum(max(game.player_counts) >= 2 for game in games) >= 96


def test_a_game_has_the_id_of_its_family_and_openspiels_name() -> None:
    chess = get_game("openspiel/chess")
    assert (chess.id, chess.title, chess.player_counts) == ("openspiel/chess", "Chess", (2,))
    assert readme(chess)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("negotiation", "sampled stochastic"),
        ("stones_and_gems", "sampled stochastic"),
        ("mfg_crowd_modelling", "mean-field game"),
        ("misere", "needs another game"),
        ("efg_game", "needs another game or a file"),
        ("crossword", "files of puzzles"),
    ],
)
def test_a_game_that_cannot_be_played_is_refused_with_the_reason(name: str, reason: str) -> None:
    assert f"openspiel/{name}" in all_openspiel_ids()
    assert f"openspiel/{name}" not in openspiel_ids()
    with pytest.raises(UnknownGame, match=reason) as refused:
        get_game(f"openspiel/{name}")
    assert refused.value.next_step == "see: crosstown games list openspiel"


def test_a_misspelt_name_gets_the_nearest_one() -> None:
    with pytest.raises(UnknownGame, match="OpenSpiel has no game 'ches'") as refused:
        get_game("openspiel/ches")
    assert refused.value.next_step == "did you mean 'openspiel/chess'?"
    assert not is_game_id("openspiel/ches")


def test_without_the_package_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.games.registry.has_openspiel", lambda: False)
    with pytest.raises(UnknownGame, match="the package open_spiel is not installed") as refused:
        get_game("openspiel/tic_tac_toe")
    assert refused.value.next_step == "run: pip install 'crosstown-arena[openspiel]'"
    with pytest.raises(UnknownGame, match="not installed"):
        all_openspiel_ids()


@pytest.fixture(autouse=True)
def fresh_registry() -> None:
    from referee.games.registry import load_game

    load_game.cache_clear()


def test_the_library_is_imported_for_its_own_games_only() -> None:
    program = (
        "import sys; from referee.games.registry import game_ids, get_game; "
        "[get_game(name) for name in game_ids()]; sys.exit('pyspiel' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
    assert not any("/" in game_id for game_id in game_ids())


@pytest.mark.parametrize("name", ["chinese_checkers", "snake", "tiny_hanabi"])
def test_finding_out_for_how_many_seats_a_game_is_prints_nothing(capfd: pytest.CaptureFixture[str], name: str) -> None:
    game = OpenSpielGame(name, pyspiel.load_game(name).get_type())
    options = resolve_options(game.id, game.options, {})
    for players in game.player_counts:
        assert not game.new_initial_state(players, options).is_terminal()
    assert capfd.readouterr().err == ""
