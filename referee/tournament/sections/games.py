"""What is played: `game`, `players`, `data`, [options]; or several times the same inside [[games]]."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from referee.games.api import DATA_OPTION, DataError, Game, GameError, OptionError, PlayersError, resolve_options
from referee.games.registry import UnknownGame, game_ids, get_game
from referee.tournament.reading import TomlFile, dotted, show, suggest

KEYS = ("game", "players", "data", "options")
Where = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class GameConfig:
    """One game of a tournament. `options` are full and resolved, replacement data embedded; `players` ascending."""

    game: str
    rules_version: int
    options: Mapping[str, Any]
    players: tuple[int, ...]


def read_games(file: TomlFile) -> tuple[GameConfig, ...]:
    """Raises ConfigError."""
    if "games" not in file.values:
        return (read_game(file, ()),)
    listed = file.values["games"]
    if not isinstance(listed, list) or not listed or not all(isinstance(one, dict) for one in listed):
        file.fail(("games",), f"'games' must be a list of tables, not {show(listed)}", "begin each game with [[games]]")
    if both := [key for key in KEYS if key in file.values]:
        what = f"'{both[0]}' is beside [[games]]"
        file.fail((both[0],), what, "move it into one of the [[games]], or take [[games]] away")
    for place, given in enumerate(listed):
        file.check_keys(("games", place), given, KEYS)
    found = tuple(read_game(file, ("games", place)) for place in range(len(listed)))
    for place, one in enumerate(found):
        if one in found[:place]:
            file.fail(("games", place), f"{one.game} is there twice, with the same options", "take one of them away")
    return found


def read_game(file: TomlFile, where: Where) -> GameConfig:
    """The one in the table at `where`. Raises ConfigError."""
    game = _game(file, where)
    options = _options(file, where, game, _data(file, where, game))
    return GameConfig(game.id, game.rules_version, options, _players(file, where, game, options))


def _game(file: TomlFile, where: Where) -> Game:
    game_id = file.text_at(*where, "game", required=True, example='game = "shibuya"')
    try:
        return get_game(game_id)
    except UnknownGame as error:
        file.fail((*where, "game"), str(error), suggest(game_id, game_ids(), "the games installed are"))


def _data(file: TomlFile, where: Where, game: Game) -> Any:
    if DATA_OPTION in file.table(*where, "options"):
        file.fail(
            (*where, "options", DATA_OPTION),
            f"'{dotted(*where, 'options', DATA_OPTION)}' is not set here",
            'write data = "FILE" beside the game, before any [table]',
        )
    named = file.text_at(*where, "data", example='data = "my_box.json"')
    if not named:
        return None
    key = (*where, "data")
    path = file.path.parent / named
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
        game.check_data(data)
    except OSError as error:
        file.fail(key, f"'{dotted(*key)}': {path} cannot be read ({error.strerror})", "give its path from this file")
    except (ValueError, RecursionError) as error:
        kind = "TOML" if path.suffix == ".toml" else "JSON"
        file.fail(key, f"'{dotted(*key)}': {path} is not {kind}: {error}", "correct that file")
    except DataError as error:
        file.fail(key, f"'{dotted(*key)}': {path} does not fit {game.id}: {error}", "correct that file")
    return data


def _options(file: TomlFile, where: Where, game: Game, data: Any) -> Mapping[str, Any]:
    given = dict(file.table(*where, "options"))
    known = {option.name: option for option in game.options}
    for name, value in given.items():
        key = (*where, "options", name)
        if name not in known:
            what = f"{game.id} has no option '{name}'"
            file.fail(key, what, suggest(name, tuple(known), "its options are"))
        if not known[name].accepts(value):
            what = f"'{dotted(*key)}' must be {known[name].expected()}, not {show(value)}"
            file.fail(key, what, f"correct it, or leave it out for {show(known[name].default)}")
    try:
        return resolve_options(game.id, game.options, given | ({} if data is None else {DATA_OPTION: data}))
    except OptionError as error:
        file.fail((*where, "options"), str(error), f"see: crosstown games show {game.id}")


def _players(file: TomlFile, where: Where, game: Game, options: Mapping[str, Any]) -> tuple[int, ...]:
    counts = game.player_counts
    key = (*where, "players")
    example = f"players = {counts[0]}"
    wanted = file.get(*key)
    if isinstance(wanted, list):
        players = tuple(
            file.integer(*key, place, minimum=1, maximum=64, example=f"players = [{counts[0]}]")
            for place in range(len(wanted))
        )
        if not players or len(set(players)) < len(players):
            file.fail(key, f"'{dotted(*key)}' must name each number of seats once", f"write, for instance, {example}")
    else:
        players = (file.integer(*key, minimum=1, maximum=64, default=counts[0], example=example),)
    for number in players:
        if number not in counts:
            allowed = ", ".join(map(str, counts))
            file.fail(key, f"{game.id} is not played by {number}", f"the numbers of players it has: {allowed}")
        try:
            game.new_initial_state(number, options)
        except PlayersError as error:
            file.fail(key, str(error), f"see: crosstown games show {game.id}")
        except GameError as error:
            file.fail((*where, "options"), str(error), f"see: crosstown games show {game.id}")
    return tuple(sorted(players))
