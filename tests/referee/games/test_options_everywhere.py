"""Every option of every shipped game can be set in a tournament file, is part of the state, and is documented."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from referee.errors import ConfigError
from referee.games.api import Option, resolve_options
from referee.games.registry import get_game
from referee.tournament.config import load_config

GAMES = ("king_of_new_york", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york")
OPTIONS = [
    pytest.param(name, option, id=f"{name}-{option.name}") for name in GAMES for option in get_game(name).options
]
NAMES_OF_DATA = {
    "tile_set": "A",
    "times_square_layout": "L",
    "central_park_layout": "block",  # the only one
}
"""Options whose values are names in the box data, so that they have no closed list of choices."""
NEEDED = {"reshuffle": {"endless_flush": "three_flushes"}, "flushed_cards": {"endless_flush": "three_flushes"}}
"""What else has to be set."""


def another_value(option: Option) -> Any:
    if isinstance(option.default, bool):
        return not option.default
    if option.choices:
        return next(choice for choice in option.choices if choice != option.default)
    if isinstance(option.default, int):
        return option.default - 1 if option.default == option.maximum else option.default + 1
    return NAMES_OF_DATA[option.name]


def tournament(folder: Path, game: str, option: str, value: Any) -> Path:
    """A file with this option."""
    path = folder / "cup.toml"
    bots = "".join(f'[[bots]]\npath = "bots/{name}"\n' for name in ("ann", "bob", "cyd", "dan"))
    options = "".join(
        f"{name} = {json.dumps(each)}\n" for name, each in {option: value, **NEEDED.get(option, {})}.items()
    )
    path.write_text(f'game = "{game}"\nseed = 1\nblocks = 1\n{bots}[options]\n{options}')
    return path


@pytest.mark.slow
@pytest.mark.parametrize(("game", "option"), OPTIONS)
def test_an_option_is_set_in_a_tournament_file_and_is_part_of_the_state(
    tmp_path: Path, game: str, option: Option
) -> None:
    value = another_value(option)
    config = load_config(tournament(tmp_path, game, option.name, value))
    options = config.games[0].options
    given = {option.name: value, **NEEDED.get(option.name, {})}
    assert dict(options) == resolve_options(game, get_game(game).options, given)
    assert options[option.name] == value != option.default or option.name == "central_park_layout"
    players = get_game(game).player_counts[-1]
    assert get_game(game).new_initial_state(players, options).to_dict()["options"][option.name] == value


@pytest.mark.parametrize(("game", "option"), OPTIONS)
def test_a_value_of_another_kind_is_refused_by_name(tmp_path: Path, game: str, option: Option) -> None:
    wrong = 1 if isinstance(option.default, bool | str) else "many"
    with pytest.raises(ConfigError, match=option.name):
        load_config(tournament(tmp_path, game, option.name, wrong))


@pytest.mark.parametrize(("game", "option"), OPTIONS)
def test_the_readme_has_a_row_with_default_and_confidence(game: str, option: Option) -> None:
    text = (files(f"referee.games.{game}") / "README.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|") and f"`{option.name}`" in line]
    default = json.dumps(option.default).strip('"')
    assert any(default in row and option.confidence in row for row in rows), rows
