"""Checks of the game object, and how its files are found and hashed."""

from pathlib import Path

import pytest
from toy_game import GAME, mutants
from toy_game.game import ToyGame

from referee.games.conformance import CheckFailed
from referee.games.conformance.game_object import check_attributes, check_data, code_hash, package_of, readme


def test_the_rules_and_code_of_a_game_are_found_from_its_object() -> None:
    assert package_of(GAME) == "toy_game"
    text = readme(GAME)
    assert text == (Path(__file__).parents[3] / "toy_game/toy_game/README.md").read_text()
    assert len(code_hash(package_of(GAME))) == 16


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("rules.py", True),
        ("codec.py", True),
        ("data/box.json", True),
        ("review.py", True),
        ("view.py", False),
        ("view_board.py", False),
        ("data/view_places.json", False),
        ("README.md", False),
    ],
)
def test_the_hash_of_a_game_is_over_what_is_played_and_not_over_what_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, counts: bool
) -> None:
    package = tmp_path / f"hashed_{file.translate(str.maketrans('./', '__'))}"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    (package / file).write_text("1")
    first = code_hash(package.name)
    (package / file).write_text("2")
    assert (code_hash(package.name) != first) == counts


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
