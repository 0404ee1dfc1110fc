"""The tournament file: TOML in, a checked TournamentConfig out.

name = "first"               # names the run folder; default: the file's name
game = "shibuya"
format = "round-robin"       # the default
players = 2                  # seats of a match; default: the least the game takes
seed = 1
blocks = 60                  # per group of bots; a block is a balanced set of seat orders on one seed
data = "my_box.json"         # instead of the game's own tiles, map or cards

[options]                    # of the game
[clock]                      # startup_s, ready_s, first_move_s, move_s, margin_s
[limits]                     # max_message_bytes, max_note_bytes, max_output_bytes

[[bots]]
path = "../bots/python/random"   # from this file
name = "Random"                  # default: what the bot calls itself
options = { ... }                # of the bot
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from referee.games.api import DATA_OPTION, DataError, Game, GameError, OptionError, PlayersError, resolve_options
from referee.games.registry import UnknownGame, game_ids, get_game
from referee.match.spec import Limits, SpecError
from referee.process.entry import Entry
from referee.process.names import BotNameError, check_name
from referee.tournament.reading import TomlFile, dotted, show, suggest

FORMATS = ("round-robin",)
MAX_BLOCKS = 10_000_000
MAX_NAME_BYTES = 100
CLOCK_KEYS = tuple(item.name for item in fields(Limits) if item.name.endswith("_s"))
LIMIT_KEYS = tuple(item.name for item in fields(Limits) if item.name.endswith("_bytes"))
MAX_MESSAGE_BYTES = 16 << 20
"""What the wire itself lets through."""

_KEYS = ("name", "game", "format", "players", "seed", "blocks", "data", "options", "clock", "limits", "bots")
_BOT_KEYS = ("path", "name", "options")
_SEED_BOUND = 1 << 63


@dataclass(frozen=True, slots=True)
class BotConfig:
    """One [[bots]] of the file. `folder` is as found from the file; `line` is where it begins, for messages."""

    folder: Path
    name: str | None
    options: Mapping[str, str | int | bool]
    line: int | None


@dataclass(frozen=True, slots=True)
class TournamentConfig:
    """A checked tournament. `options` are full and resolved, replacement data embedded; `blocks` is per group."""

    path: Path
    name: str
    game: str
    rules_version: int
    options: Mapping[str, Any]
    players: int
    format: str
    seed: int
    blocks: int
    limits: Limits
    bots: tuple[BotConfig, ...]


@dataclass(frozen=True, slots=True)
class Tournament:
    """A configuration with its bots as they are on this disk now: what a run is made of."""

    config: TournamentConfig
    entries: tuple[Entry, ...]


def load_config(path: Path) -> TournamentConfig:
    """Read and check a tournament file, but not yet its bots' folders. Raises ConfigError."""
    file = TomlFile(path)
    file.check_keys((), file.values, _KEYS)
    game = _game(file)
    data = _data(file, game)
    options = _options(file, game, data)
    players = _players(file, game, options)
    style = file.text_at("format", default=FORMATS[0], example=f'format = "{FORMATS[0]}"')
    if style not in FORMATS:
        file.fail(("format",), f"unknown format {show(style)}", suggest(style, FORMATS, "the formats are"))
    seed = file.integer("seed", minimum=-_SEED_BOUND, maximum=_SEED_BOUND - 1, example="seed = 1")
    blocks = file.integer("blocks", minimum=1, maximum=MAX_BLOCKS, example="blocks = 10")
    bots = _bots(file)
    if len(bots) < players:
        file.fail(
            ("bots",),
            f"a match of {game.id} needs {players} bots, the file has {len(bots)}",
            "add a [[bots]] table with a path for each",
        )
    return TournamentConfig(
        path=path,
        name=_name(file),
        game=game.id,
        rules_version=game.rules_version,
        options=options,
        players=players,
        format=style,
        seed=seed,
        blocks=blocks,
        limits=_limits(file),
        bots=bots,
    )


def tournament_name(path: Path) -> str:
    """The name alone, which names the run folder. Raises ConfigError."""
    return _name(TomlFile(path))


def _name(file: TomlFile) -> str:
    name = file.text_at("name", default=file.path.stem, example='name = "first"')
    where = ("name",)
    try:
        name = check_name(name)
    except BotNameError as error:
        what = str(error).replace("the bot's name", "the name").replace("a bot's name", "a name")
        file.fail(where, f"'name': {what}", 'write, for instance, name = "first"')
    if name[0] in ".-" or "/" in name or len(name.encode()) > MAX_NAME_BYTES:
        file.fail(
            where,
            f"'name' must be fit for a folder: no '/', no '.' or '-' in front, at most {MAX_NAME_BYTES} bytes,"
            f" not {show(name)}",
            'write, for instance, name = "first"',
        )
    return name


def _game(file: TomlFile) -> Game:
    game_id = file.text_at("game", required=True, example='game = "shibuya"')
    try:
        return get_game(game_id)
    except UnknownGame as error:
        file.fail(("game",), str(error), suggest(game_id, game_ids(), "the games installed are"))


def _data(file: TomlFile, game: Game) -> Any:
    if DATA_OPTION in file.table("options"):
        file.fail(
            ("options", DATA_OPTION),
            "'options.data' is not set here",
            'write data = "FILE" at the top of the file, before any [table]',
        )
    if "data" not in file.values:
        return None
    named = file.text_at("data", example='data = "my_box.json"')
    path = file.path.parent / named
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
        game.check_data(data)
    except OSError as error:
        file.fail(("data",), f"'data': {path} cannot be read ({error.strerror})", "give its path from this file")
    except (ValueError, RecursionError) as error:
        kind = "TOML" if path.suffix == ".toml" else "JSON"
        file.fail(("data",), f"'data': {path} is not {kind}: {error}", "correct that file")
    except DataError as error:
        file.fail(("data",), f"'data': {path} does not fit {game.id}: {error}", "correct that file")
    return data


def _options(file: TomlFile, game: Game, data: Any) -> Mapping[str, Any]:
    given = dict(file.table("options"))
    known = {option.name: option for option in game.options}
    for name, value in given.items():
        key = ("options", name)
        if name not in known:
            what = f"{game.id} has no option '{name}'"
            file.fail(key, what, suggest(name, tuple(known), "its options are"))
        if not known[name].accepts(value):
            what = f"'options.{name}' must be {known[name].expected()}, not {show(value)}"
            file.fail(key, what, f"correct it, or leave it out for {show(known[name].default)}")
    try:
        return resolve_options(game.id, game.options, given | ({} if data is None else {DATA_OPTION: data}))
    except OptionError as error:
        file.fail(("options",), str(error), f"see: crosstown games show {game.id}")


def _players(file: TomlFile, game: Game, options: Mapping[str, Any]) -> int:
    counts = game.player_counts
    players = file.integer("players", minimum=1, maximum=64, default=counts[0], example=f"players = {counts[0]}")
    if players not in counts:
        allowed = ", ".join(map(str, counts))
        what = f"{game.id} is not played by {players}"
        file.fail(("players",), what, f"the numbers of players it has: {allowed}")
    try:
        game.new_initial_state(players, options)
    except PlayersError as error:
        file.fail(("players",), str(error), f"see: crosstown games show {game.id}")
    except GameError as error:
        file.fail(("options",), str(error), f"see: crosstown games show {game.id}")
    return players


def _limits(file: TomlFile) -> Limits:
    values: dict[str, float] = {}
    for table, known in (("clock", CLOCK_KEYS), ("limits", LIMIT_KEYS)):
        given = file.table(table)
        file.check_keys((table,), given, known)
        for name, value in given.items():
            try:
                Limits(**{name: value})
            except SpecError as error:
                default = getattr(Limits(), name)
                what = str(error).replace(f"limit {name}", f"'{table}.{name}'")
                file.fail((table, name), what, f"write, for instance, {name} = {default:g}")
            values[name] = value
    if values.get("max_message_bytes", 0) > MAX_MESSAGE_BYTES:
        what = f"'limits.max_message_bytes' must be at most {MAX_MESSAGE_BYTES}, not {values['max_message_bytes']}"
        file.fail(("limits", "max_message_bytes"), what, f"write, for instance, max_message_bytes = {1 << 20}")
    return Limits(**values)  # type: ignore[arg-type]  # whole where Limits wants it: each was checked above


def _bots(file: TomlFile) -> tuple[BotConfig, ...]:
    listed = file.values.get("bots", [])
    if not isinstance(listed, list) or not all(isinstance(bot, dict) for bot in listed):
        file.fail(("bots",), f"'bots' must be a list of tables, not {show(listed)}", "begin each bot with [[bots]]")
    return tuple(_bot(file, place, bot) for place, bot in enumerate(listed))


def _bot(file: TomlFile, place: int, given: Mapping[str, Any]) -> BotConfig:
    here = ("bots", place)
    file.check_keys(here, given, _BOT_KEYS)
    path = file.text_at(*here, "path", required=True, example='path = "../bots/python/random"')
    if "\0" in path:
        file.fail((*here, "path"), f"'{dotted(*here, 'path')}' has a zero byte in it", "take it away")
    name = file.text_at(*here, "name", example='name = "Random"') or None
    return BotConfig(file.path.parent / path, name, file.table(*here, "options"), file.line(*here))
