"""Games are found by entry point; what does not work is told by name and hurts nobody else."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from toy_game import GAME as TOY

from referee.games.registry import BrokenGame, UnknownGame, game_ids, get_game, load_game

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """install('dist', 'id', 'source code', 'object'): as if a distribution with that plug-in were installed."""

    def install(distribution: str, game_id: str, code: str, name: str = "GAME") -> None:
        module = f"plug_{distribution.replace('-', '_')}"
        (tmp_path / f"{module}.py").write_text(code)
        info = tmp_path / f"{distribution.replace('-', '_')}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1\n")
        (info / "entry_points.txt").write_text(f"[crosstown.games]\n{game_id} = {module}:{name}\n")

    monkeypatch.syspath_prepend(str(tmp_path))
    load_game.cache_clear()
    yield install
    load_game.cache_clear()
    for name in [name for name in sys.modules if name.startswith("plug_")]:
        del sys.modules[name]


WORKING = """
from toy_game.game import ToyGame
GAME = ToyGame()
GAME.id = "other"
"""


def test_a_plug_in_is_found_by_its_entry_point(install: Install) -> None:
    install("good", "other", WORKING)
    assert "other" in game_ids()
    assert get_game("other").id == "other"


def test_the_toy_game_is_installed_for_tests() -> None:
    assert "toy" in game_ids()
    assert get_game("toy") is TOY
    assert load_game("toy") is TOY


def test_ids_are_sorted_and_unique() -> None:
    assert game_ids() == sorted(set(game_ids()))


@pytest.mark.parametrize(
    ("code", "name", "told"),
    [
        ("raise ImportError('no library\\nof that name')", "GAME", "ImportError: no library of that name"),
        ("raise SystemExit(3)", "GAME", "SystemExit: 3"),
        ("this is no Python", "GAME", "SyntaxError"),
        ("GAME = 1", "OTHER", "AttributeError"),
        ("GAME = None", "GAME", "it lacks id, title, rules_version"),
        ("from toy_game.game import ToyGame as GAME", "GAME", "it is the class ToyGame, not an instance"),
        ("from toy_game import GAME", "GAME", "its id is 'toy', not 'broken'"),
        (
            "from toy_game.game import ToyGame\nclass G(ToyGame):\n  teams = property()\nGAME = G()",
            "GAME",
            "it lacks teams",
        ),
    ],
)
def test_a_broken_plug_in_is_told_by_name_and_source(install: Install, code: str, name: str, told: str) -> None:
    install("sad-plug", "broken", code, name)
    game = load_game("broken")
    assert isinstance(game, BrokenGame)
    assert told in game.problem
    assert "\n" not in game.problem
    assert game.source == f"plug_sad_plug:{name} of sad-plug"
    with pytest.raises(UnknownGame, match=r"game 'broken' \(plug_sad_plug.* cannot be loaded: "):
        get_game("broken")


def test_a_broken_plug_in_breaks_no_other_game(install: Install) -> None:
    install("sad", "broken", "raise RuntimeError('no')")
    assert {"broken", "toy"} <= set(game_ids())
    assert get_game("toy") is TOY


def test_two_plug_ins_of_one_id_are_both_named_and_neither_is_played(install: Install) -> None:
    install("one", "other", WORKING)
    install("two", "other", WORKING)
    game = load_game("other")
    assert isinstance(game, BrokenGame)
    assert game.source == "plug_one:GAME of one and plug_two:GAME of two"
    assert "more than one plug-in" in game.problem


def test_an_unknown_game_is_answered_with_those_there_are() -> None:
    with pytest.raises(UnknownGame, match="unknown game 'chess'") as caught:
        get_game("chess")
    assert "toy" in caught.value.next_step
