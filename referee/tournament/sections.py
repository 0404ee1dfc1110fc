"""The sections of a tournament file: one function for each reads it and says what is wrong in it, as a ConfigError.

A ladder's file has some of them, too.
"""

import csv
import io
import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from referee.folders import FolderError, expanded
from referee.games.api import DATA_OPTION, DataError, Game, GameError, OptionError, PlayersError, resolve_options
from referee.games.registry import UnknownGame, game_ids, get_game
from referee.process.manifest import MAX_VERSION, BotNameError, check_name
from referee.process.sandbox import PROFILES, Profile, Sandbox, why_no_device
from referee.record.journal import Choice
from referee.schedule.config import START
from referee.schedule.formats.api import Format, Setting
from referee.schedule.formats.registry import OWN, UnknownFormat, format_names, get_format
from referee.schedule.formats.stages import settings_of
from referee.schedule.spec import (
    CLOCK_KEYS,
    DEFAULTS,
    IDLE_PROCESSES,
    MOST_MESSAGE_BYTES,
    POLICIES,
    PROVIDER_ERRORS,
    RECONNECT_S,
    REMOTE_CLOCK,
    REMOTE_WAIT_S,
    RESOURCE_KEYS,
    Adjudication,
    Faults,
    Limits,
    SpecError,
)
from referee.schedule.stopping import EXAMPLES, StopWhen, parse_stop_when
from referee.tournament.reading import TomlFile, cell_separator, dotted, read_text, show, suggest
from referee.wire.public_address import Listen, check_public, parse_address

# `name`: what the tournament and its run folder are called

MAX_NAME_BYTES = 100


def read_name(file: TomlFile, *table: str | int, default: str = "") -> str:
    """The name in a table of the file, or at its top. Default: the file's name. Raises ConfigError."""
    where = (*table, "name")
    name = file.text_at(*where, default=default or file.path.stem, example='name = "first"')
    try:
        name = check_name(name)
    except BotNameError as error:
        what = str(error).replace("the bot's name", "the name").replace("a bot's name", "a name")
        file.fail(where, f"'{dotted(*where)}': {what}", 'write, for instance, name = "first"')
    if name[0] in ".-" or "/" in name or len(name.encode()) > MAX_NAME_BYTES:
        file.fail(
            where,
            f"'{dotted(*where)}' must be fit for a folder: no '/', no '.' or '-' in front,"
            f" at most {MAX_NAME_BYTES} bytes, not {show(name)}",
            'write, for instance, name = "first"',
        )
    return name


# What is played: `game`, `players`, `data`, [options]; or several times the same inside [[games]]

GAME_KEYS = ("game", "players", "data", "openings", "options")
Where = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class GameConfig:
    """One game of a tournament. `options` are full and resolved, replacement data embedded; `players` ascending."""

    game: str
    rules_version: int
    options: Mapping[str, Any]
    players: tuple[int, ...]
    openings: tuple[str, ...] = ()
    """Positions to begin with, one for each seed group in turn."""

    def fields(self) -> dict[str, Any]:
        """As JSON values, for the configuration of a run."""
        openings = {"openings": list(self.openings)} if self.openings else {}
        return {
            "game": self.game,
            "rules_version": self.rules_version,
            "options": dict(self.options),
            "players": list(self.players),
            **openings,
        }


def read_games(file: TomlFile) -> tuple[GameConfig, ...]:
    """Raises ConfigError."""
    if "games" not in file.values:
        return (read_game(file, ()),)
    listed = file.values["games"]
    if not isinstance(listed, list) or not listed or not all(isinstance(one, dict) for one in listed):
        file.fail(("games",), f"'games' must be a list of tables, not {show(listed)}", "begin each game with [[games]]")
    if both := [key for key in GAME_KEYS if key in file.values]:
        what = f"'{both[0]}' is beside [[games]]"
        file.fail((both[0],), what, "move it into one of the [[games]], or take [[games]] away")
    for place, given in enumerate(listed):
        file.check_keys(("games", place), given, GAME_KEYS)
    found = tuple(read_game(file, ("games", place)) for place in range(len(listed)))
    for place, one in enumerate(found):
        if one in found[:place]:
            file.fail(("games", place), f"{one.game} is there twice, with the same options", "take one of them away")
    return found


def read_game(file: TomlFile, where: Where) -> GameConfig:
    """The one in the table at `where`. Raises ConfigError."""
    game = _game(file, where)
    options = _options(file, where, game, _data(file, where, game))
    openings = _openings(file, where, game)
    return GameConfig(game.id, game.rules_version, options, _players(file, where, game, options), openings)


def _game(file: TomlFile, where: Where) -> Game:
    game_id = file.text_at(*where, "game", required=True, example='game = "shibuya"')
    try:
        return get_game(game_id)
    except UnknownGame as error:
        next_step = error.next_step if "/" in game_id else suggest(game_id, game_ids(), "the games installed are")
        file.fail((*where, "game"), str(error), next_step)


def _openings(file: TomlFile, where: Where, game: Game) -> tuple[str, ...]:
    """The positions in the file that the table names. Raises ConfigError."""
    named = file.text_at(*where, "openings", example='openings = "openings.epd"')
    if not named:
        return ()
    key = (*where, "openings")
    read = getattr(game, "read_openings", None)
    if read is None:
        file.fail(
            key, f"'{dotted(*key)}' is {named!r}, and {game.id} has no opening positions", f"leave '{dotted(*key)}' out"
        )
    if START in file.table(*where, "options"):
        what = f"'{dotted(*key)}' and the option '{START}' both say where a match begins"
        file.fail(key, what, "leave one of the two out")
    path = file.path.parent / named
    try:
        positions: tuple[str, ...] = read(path.name, read_text(path))
    except OSError as error:
        file.fail(key, f"'{dotted(*key)}': {path} cannot be read ({error.strerror})", "give its path from this file")
    except UnicodeDecodeError:
        file.fail(key, f"'{dotted(*key)}': {path} is not UTF-8 text", "name an EPD, FEN or PGN file")
    except DataError as error:
        file.fail(key, f"'{dotted(*key)}': {path}: {error}", "correct that file")
    return positions


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
        text = read_text(path)
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


# `format`, and the table of its own settings, such as [swiss]


def read_format(file: TomlFile) -> Format:
    """Raises ConfigError."""
    name = file.text_at("format", default=OWN[0].name, example=f'format = "{OWN[0].name}"')
    known = format_names()
    if name not in known:  # as is the name of a ladder's division, which is no tournament
        file.fail(("format",), f"unknown format '{name}'", suggest(name, known, "the formats are"))
    try:
        return get_format(name)
    except UnknownFormat as error:
        file.fail(("format",), str(error), error.next_step)


def read_settings(file: TomlFile, style: Format) -> Mapping[str, Any]:
    """All settings of the format; whether bots of the names in them exist is seen later. Raises ConfigError."""
    if style.repeated:
        return _read_stages(file, style)
    given = file.table(style.name)
    file.check_keys((style.name,), given, [setting.name for setting in style.settings])
    return _settings(file, (style.name,), style.settings, given)


def _settings(file: TomlFile, where: Where, settings: Sequence[Setting], given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        setting.name: _setting(file, where, setting, given.get(setting.name))
        for setting in settings
        if setting.name in given or not setting.later
    }


def _read_stages(file: TomlFile, style: Format) -> Mapping[str, Any]:
    """The tables of [[stages]], each complete, with the settings of its own format. Raises ConfigError."""
    listed = file.values.get(style.name)
    if not isinstance(listed, list) or not listed or not all(isinstance(one, dict) for one in listed):
        what = (
            f"'{style.name}' must be a list of tables, not {show(listed)}"
            if listed is not None
            else (f'format = "{style.name}" needs at least one [[{style.name}]]')
        )
        file.fail((style.name,), what, f"begin each stage with [[{style.name}]]")
    stages: list[dict[str, Any]] = []
    seeding: dict[str, Any] = {}
    for place, given in enumerate(listed):
        where = (style.name, place)
        word = next(setting for setting in style.settings if setting.name == "format")
        inner = get_format(_setting(file, where, word, given.get("format")))
        own = [setting for setting in style.settings if not (setting.name == "seeding" and place)]
        more = settings_of(inner)
        file.check_keys(where, given, [setting.name for setting in (*own, *more)])
        values = _settings(file, where, own, given)
        seeding |= {"seeding": values.pop("seeding")} if "seeding" in values else {}
        values["name"] = values["name"] or inner.name
        values["blocks"] = values["blocks"] or file.get("blocks")
        if any(values["name"] == other["name"] for other in stages):
            what = f"two stages are named {show(values['name'])}"
            file.fail(where, what, 'give one of them another: name = "..."')
        stages.append({**values, "settings": _settings(file, where, more, given)})
    return {"stages": stages, **seeding}


def read_stop_when(file: TomlFile, style: Format) -> StopWhen | None:
    """None where all is to be played. Raises ConfigError."""
    text = file.text_at("stop_when", example=f'stop_when = "{EXAMPLES[0]}"')
    if not text:
        return None
    try:
        found = parse_stop_when(text)
    except ValueError as error:
        step = f'write, for instance, stop_when = "{EXAMPLES[0]}"'
        file.fail(("stop_when",), f"'stop_when': {error}, not {show(text)}", step)
    if style.has_table:
        what = f"'stop_when': a {style.name} has a table of its own, which is complete only at its end"
        file.fail(("stop_when",), what, "take stop_when away, or choose round-robin, gauntlet or league")
    return found


def _setting(file: TomlFile, where: Where, setting: Setting, value: Any) -> Any:
    if value is None:
        return setting.default
    key = (*where, setting.name)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    low, high = setting.minimum, setting.maximum
    match setting.kind:
        case "whole":
            fits, expected = isinstance(value, int) and number and low <= value <= high, f"a whole number {low}-{high}"
        case "number":
            fits, expected = number and low <= value <= high, f"a number from {low} to {high}"
        case "flag":
            fits, expected = isinstance(value, bool), "true or false"
        case "bots":
            fits, expected = _each_once(value), "a list of names of bots, each once"
        case "text":
            fits, expected = isinstance(value, str) and value.isprintable() and bool(value), "a text"
        case "seeding":
            if isinstance(value, str):
                return _seeding_from(file, key, value)
            fits, expected = _each_once(value), "a list of names of bots, each once, or a file with their ratings"
        case "word":
            fits, expected = (
                isinstance(value, str) and value in setting.choices,
                f"one of {', '.join(map(repr, setting.choices))}",
            )
        case "words":
            fits = _each_once(value) and set(value) <= set(setting.choices)
            expected = f"a list of some of {', '.join(map(repr, setting.choices))}, each once"
        case "groups":
            fits = isinstance(value, list) and bool(value)
            fits = fits and all(_each_once(group) and len(group) > 1 for group in value)
            expected = "a list of lists of at least two names of bots"
        case "rounds":
            fits = isinstance(value, list) and bool(value) and all(map(_of_a_round, value))
            expected = "a list of tables with round and bots"
    if not fits:
        what = f"'{dotted(*key)}' must be {expected}, not {show(value)}"
        file.fail(key, what, f"write, for instance, {setting.name} = {_setting_example(setting)} ({setting.about})")
    return value


def _seeding_from(file: TomlFile, key: Where, named: str) -> tuple[str, ...]:
    """Names in the order of their ratings, the best first, from the file of this path: CSV with a header, as `crosstown
    standings --csv` prints it, or with `name` and `rating`. Equal ratings stay in their order. Raises ConfigError."""
    path = file.path.parent / named
    what = f"'{dotted(*key)}' must be a list of names of bots, or a CSV file with their ratings: {path}"
    step = 'write a file with the columns name and rating, or: crosstown standings RUN --csv > "seeds.csv"'
    try:
        text = read_text(path)
        mark = cell_separator(text)
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=mark, skipinitialspace=True)
        reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]
        rows = list(reader)
    except OSError as error:
        file.fail(key, f"{what} cannot be read ({error.strerror})", step)
    except (ValueError, csv.Error):
        file.fail(key, f"{what} is not CSV in UTF-8", step)
    column = next((name for name in ("rating", "conservative") if rows and name in rows[0]), None)
    if column is None or "name" not in rows[0]:
        file.fail(key, f"{what} has no columns 'name' and 'rating'", step)
    rated: list[tuple[float, str]] = []
    for row in rows:
        try:
            # Where semicolons stand between the cells, commas stand in the numbers.
            value = -float(row[column].replace(",", ".") if mark == ";" else row[column])
        except (TypeError, AttributeError, ValueError):
            value = math.nan
        rated.append((math.inf if math.isnan(value) else value, (row["name"] or "").strip()))  # not rated: last
    return tuple(dict.fromkeys(name for _, name in sorted(rated, key=lambda one: one[0]) if name))


def _each_once(value: Any) -> bool:
    """Whether it is a list of different texts, at least one."""
    texts = isinstance(value, list) and bool(value) and all(isinstance(name, str) for name in value)
    return texts and len(set(value)) == len(value)


def _of_a_round(value: Any) -> bool:
    """Whether it is a table such as { round = 2, bots = ["a"] }."""
    if not isinstance(value, dict) or set(value) != {"round", "bots"} or not _each_once(value["bots"]):
        return False
    return type(value["round"]) is int and 1 <= value["round"] <= 10_000


def _setting_example(setting: Setting) -> str:
    """A value that fits, as TOML has it."""
    match setting.kind:
        case "bots" | "seeding":
            return '["NAME"]'
        case "text":
            return '"NAME"'
        case "word":
            return f'"{setting.choices[0]}"'
        case "words":
            return f'["{setting.choices[0]}"]'
        case "groups":
            return '[["NAME", "NAME"]]'
        case "rounds":
            return '[{ round = 1, bots = ["NAME", "NAME"] }]'
        case "flag":
            return "true"
        case "whole":
            return str(setting.minimum if setting.default is None else setting.default)
        case "number":
            return str((setting.minimum + setting.maximum) / 2 if setting.default is None else setting.default)


# [clock], [limits], [faults] and `ponder`: what a match may take, and what a fault costs; `clock` of a bot

LIMIT_KEYS = ("max_message_bytes", "max_note_bytes", "max_output_bytes", "match_s", *RESOURCE_KEYS)
FAULT_KEYS = ("policy", "strikes", "provider_errors")
ADJUDICATION_KEYS = ("win_score", "win_moves", "draw_score", "draw_moves", "draw_from")

LEAST = {
    "startup_s": 0.05,  # the sandbox and the smallest program take longer
    "memory_mib": 4,  # Python without a module takes 3.7 MiB
    "open_files": 64,  # what sandbox and interpreter need to begin
    "cores": 0.01,  # the kernel takes no smaller share
    "max_message_bytes": 256,  # what Hello takes
}
"""Limits with less than which no bot can start."""

MOST = {
    "max_message_bytes": MOST_MESSAGE_BYTES,
    "processes": 4_194_304,  # the kernel refuses more
    "cores": 100_000,  # as here, far below what it refuses
}
"""Limits above which no bot can start, or one message takes more memory than a match has."""


def read_limits(file: TomlFile) -> Limits:
    """Raises ConfigError."""
    values = {**read_clock(file, ("clock",)), **_limits(file, ("limits",), LIMIT_KEYS)}
    if values.get("total_s"):  # a total stands alone unless the file says otherwise
        values = {"first_move_s": 0, "move_s": 0, **values}
    return _together(file, ("clock",), DEFAULTS, values)


def read_clock(file: TomlFile, where: Where) -> Mapping[str, float]:
    """The limits of time that the table at `where` names. Raises ConfigError."""
    return _limits(file, where, CLOCK_KEYS)


def read_resources(file: TomlFile, where: Where) -> Mapping[str, float]:
    """What a bot may use of its machine, as far as the table at `where` names it. Raises ConfigError."""
    return _limits(file, where, RESOURCE_KEYS)


def check_clock(file: TomlFile, where: Where, limits: Limits, clock: Mapping[str, float]) -> None:
    """ConfigError if a bot's own clock does not go together with the limits of the tournament."""
    _together(file, where, limits, clock)


def read_faults(file: TomlFile) -> Faults:
    """Raises ConfigError."""
    file.check_keys(("faults",), file.table("faults"), FAULT_KEYS)
    word = file.text_at("faults", "policy", default=POLICIES[0], example='policy = "forfeit"')
    policy = next((known for known in POLICIES if known == word), None)
    if policy is None:
        what = f"'faults.policy' must be {', '.join(POLICIES)}, not {show(word)}"
        file.fail(("faults", "policy"), what, 'write, for instance, policy = "forfeit"')
    strikes = file.integer("faults", "strikes", minimum=0, maximum=1_000_000, default=0, example="strikes = 3")
    word = file.text_at("faults", "provider_errors", default=PROVIDER_ERRORS[0], example='provider_errors = "void"')
    provider_errors = next((known for known in PROVIDER_ERRORS if known == word), None)
    if provider_errors is None:
        what = f"'faults.provider_errors' must be {' or '.join(PROVIDER_ERRORS)}, not {show(word)}"
        file.fail(("faults", "provider_errors"), what, 'write, for instance, provider_errors = "void"')
    return Faults(policy, strikes, provider_errors)


def read_adjudication(file: TomlFile, games: Sequence[GameConfig]) -> Adjudication:
    """Raises ConfigError."""
    key = "adjudication"
    given = file.table(key)
    file.check_keys((key,), given, ADJUDICATION_KEYS)
    if not given:
        return Adjudication()
    if any(players != 2 for game in games for players in game.players):
        file.fail((key,), "'adjudication' is for matches of two seats", "leave it out, or set players = 2")
    usual = {"win_score": 600, "draw_score": 10}
    values = {
        name: file.integer(
            key, name, minimum=0, maximum=1_000_000_000, default=usual.get(name, 0), example=f"{name} = 8"
        )
        for name in ADJUDICATION_KEYS
    }
    if not values["win_moves"] and not values["draw_moves"]:
        file.fail((key,), "'adjudication' has neither win_moves nor draw_moves", "write, for instance, win_moves = 4")
    return Adjudication(**values)


def read_ponder(file: TomlFile) -> bool:
    """Whether bots may think while they are not asked. Raises ConfigError."""
    ponder = file.get("ponder")
    if ponder is not None and not isinstance(ponder, bool):
        file.fail(
            ("ponder",), f"'ponder' must be true or false, not {show(ponder)}", "write ponder = false, or nothing"
        )
    return ponder is not False


def _limits(file: TomlFile, where: Where, known: tuple[str, ...]) -> dict[str, float]:
    given = file.table(*where)
    file.check_keys(where, given, known)
    for name, value in given.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        example = f"write, for instance, {name} = {_number(getattr(DEFAULTS, name) or 1)}"
        if is_number and value > MOST.get(name, value):
            what = f"'{dotted(*where, name)}' must be at most {MOST[name]}, not {_number(value)}"
            file.fail((*where, name), what, example)
        least = LEAST.get(name)
        is_kind = is_number and not (isinstance(least, int) and isinstance(value, float))
        if is_kind and least is not None and value < least:
            what = (
                f"'{dotted(*where, name)}' must be at least {least:g}, not {_number(value)}: no bot can start with less"
            )
            file.fail((*where, name), what, example)
        try:
            # Without a total a move's limit cannot be 0; a bot's clock may stand over one that has a total.
            no_total = name == "bank_s" or (where == ("clock",) and "total_s" not in given and name != "increment_s")
            Limits(**{"total_s": 0 if no_total else 1, name: value})
        except SpecError as error:
            default = getattr(DEFAULTS, name) or 10
            what = str(error).replace(f"limit {name}", f"'{dotted(*where, name)}'")
            file.fail((*where, name), what, f"write, for instance, {name} = {_number(default)}")
    return dict(given)


def _number(value: float) -> str:
    """As people write it in a file: no power of ten for a count of bytes."""
    return str(value) if isinstance(value, int) else f"{value:g}"


def _together(file: TomlFile, where: Where, limits: Limits, values: Mapping[str, float]) -> Limits:
    try:
        return limits.with_clock(values)
    except SpecError as error:
        file.fail(where, f"'{dotted(*where)}': {error}", "correct these limits together")


# [breaker]: when a bot that faults again and again is set aside

BREAKER_KEYS = ("enabled", "in_a_row", "choice")


@dataclass(frozen=True, slots=True)
class BreakerConfig:
    """`in_a_row` faults set an entry aside; `choice` says what becomes of the matches it has played."""

    enabled: bool = True
    in_a_row: int = 3
    choice: Choice = "keep"


def read_breaker(file: TomlFile) -> BreakerConfig:
    """Raises ConfigError."""
    file.check_keys(("breaker",), file.table("breaker"), BREAKER_KEYS)
    enabled = file.get("breaker", "enabled")
    if enabled is not None and not isinstance(enabled, bool):
        file.fail(("breaker", "enabled"), f"'breaker.enabled' must be true or false, not {show(enabled)}", "correct it")
    word = file.text_at("breaker", "choice", default="keep", example='choice = "keep"')
    choice = next((known for known in get_args(Choice) if known == word), None)
    if choice is None:
        what = f"'breaker.choice' must be {', '.join(get_args(Choice))}, not {show(word)}"
        file.fail(("breaker", "choice"), what, 'write, for instance, choice = "keep"')
    in_a_row = file.integer(
        "breaker", "in_a_row", minimum=1, maximum=1000, default=BreakerConfig().in_a_row, example="in_a_row = 3"
    )
    return BreakerConfig(enabled is not False, in_a_row, choice)


# [ratings]: how tables are computed, which decides no match

RATING_KEYS = ("anchor",)
MOST_RATING = 100_000


def read_rating_anchors(file: TomlFile) -> Mapping[str, float]:
    """The ratings that are fixed, in Elo points by the bot's name. Raises ConfigError."""
    file.check_keys(("ratings",), file.table("ratings"), RATING_KEYS)
    anchors = file.table("ratings", "anchor")
    for name, value in anchors.items():
        check_rating(file, ("ratings", "anchor", name), value)
    return {name: float(value) for name, value in anchors.items()}


def check_rating(file: TomlFile, key: Where, value: object) -> None:
    """ConfigError for what is no rating."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MOST_RATING:
        what = f"'{dotted(*key)}' must be a number from {-MOST_RATING} to {MOST_RATING}, not {show(value)}"
        file.fail(key, what, "write a rating in Elo points, such as anchor = { random = 1000 }")


# `idle`, `fresh` and `copies`: which processes are kept, and how many there may be

PROCESS_KEYS = ("fresh", "copies")
MOST_PROCESSES = 4096


def read_idle(file: TomlFile) -> int:
    """Raises ConfigError."""
    return file.integer("idle", minimum=0, maximum=MOST_PROCESSES, default=IDLE_PROCESSES, example="idle = 4")


def read_fresh(file: TomlFile, *where: str | int) -> bool | None:
    """Of the tournament or of a bot; None where nothing is said. Raises ConfigError."""
    fresh = file.get(*where, "fresh")
    if fresh is not None and not isinstance(fresh, bool):
        what = f"'{dotted(*where, 'fresh')}' must be true or false, not {show(fresh)}"
        file.fail((*where, "fresh"), what, "write fresh = true for a new process in each match, or nothing")
    return None if fresh is None else fresh is True


def read_copies(file: TomlFile, here: Where) -> int:
    """Of a bot; 0 for any number. Raises ConfigError."""
    return file.integer(*here, "copies", minimum=1, maximum=MOST_PROCESSES, default=0, example="copies = 1")


# [executor]: where matches are played

EXECUTOR_KEYS = ("kind", "scheduler", "ca", "cert", "key", "same_machine", "build")
EXECUTORS = ("local", "dask")
BUILDERS = ("worker", "organiser")


@dataclass(frozen=True, slots=True)
class ExecutorConfig:
    """Where matches are played: on this machine ("local"), or on those of a Dask cluster ("dask") through its scheduler
    at `scheduler`, with PEM files. `same_machine` keeps a block on one machine. `build`: who builds the bots, each
    machine for itself ("worker") or the organiser's for all of its platform ("organiser")."""

    kind: str = "local"
    scheduler: str = ""
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    same_machine: bool = False
    build: str = "worker"


def read_executor(file: TomlFile) -> ExecutorConfig:
    """Raises ConfigError."""
    file.check_keys(("executor",), file.table("executor"), EXECUTOR_KEYS)
    kind = file.text_at("executor", "kind", default="local", example='kind = "dask"')
    if kind not in EXECUTORS:
        what = f"'executor.kind' must be {' or '.join(EXECUTORS)}, not {show(kind)}"
        file.fail(("executor", "kind"), what, suggest(kind, EXECUTORS, "there are"))
    scheduler = file.text_at("executor", "scheduler", example='scheduler = "tls://host:8786"')
    if kind == "local" and (other := next((key for key in EXECUTOR_KEYS[1:] if key in file.table("executor")), "")):
        file.fail(("executor", other), f"'executor.{other}' is for a cluster", 'write kind = "dask", or remove it')
    ca, cert, key = (_path(file, ("executor", name)) for name in ("ca", "cert", "key"))
    build = file.text_at("executor", "build", default="worker", example='build = "organiser"')
    if build not in BUILDERS:
        what = f"'executor.build' must be {' or '.join(BUILDERS)}, not {show(build)}"
        file.fail(("executor", "build"), what, suggest(build, BUILDERS, "there are"))
    return ExecutorConfig(kind, scheduler, ca, cert, key, _truth(file, ("executor", "same_machine")), build)


# [remote], and `remote`, `token_env`, `token_file` and `version` of a bot

REMOTE_BOT_KEYS = ("remote", "token_env", "token_file", "version")
REMOTE_KEYS = ("listen", "public", "certificate", "key", "plain", "wait_s", "reconnect_s", "keepalive_s", "margin_s")
_LOCAL_KEYS = ("path", "options", "limits", "sandbox", "network", "env", "read", "devices", "fresh", "copies")
_LONGEST_S = 86400
LEAST_KEEPALIVE_S = 1.0
"""Below it a connection is taken for broken that only lost a packet."""


@dataclass(frozen=True, slots=True)
class RemoteConfig:
    """What the file says of all remote bots. A certificate that it does not name is made when the run begins. `public`
    is by what name or address bots reach this machine, '' for its own."""

    listen: Listen
    wait_s: float = REMOTE_WAIT_S
    reconnect_s: float = RECONNECT_S
    margin_s: float = REMOTE_CLOCK["margin_s"]
    keepalive_s: float = 0.0
    """Within what time a connection that has gone silent is found; 0 chooses by the clocks."""
    public: str = ""


@dataclass(frozen=True, slots=True)
class RemoteBot:
    """Where its token is: an environment variable of the referee, or a file; one of them is set. `version` is what it
    must say in Hello, '' for any."""

    token_env: str = ""
    token_file: Path | None = None
    version: str = ""


def read_remote(file: TomlFile) -> RemoteConfig | None:
    """None without the section. Raises ConfigError."""
    given = file.table("remote")
    file.check_keys(("remote",), given, REMOTE_KEYS)
    if "remote" not in file.values:
        return None
    text = file.text_at("remote", "listen", required=True, example='listen = "0.0.0.0:7000"')
    try:
        host, port = parse_address(text)
    except ValueError as error:
        file.fail(("remote", "listen"), f"'remote.listen': {error}", 'write, for instance, listen = "0.0.0.0:7000"')
    public = file.text_at("remote", "public", example='public = "referee.example.org"')
    try:
        if public:
            check_public(public)
    except ValueError as error:
        file.fail(("remote", "public"), f"'remote.public': {error}", "write it without a port")
    certificate, key = _path(file, ("remote", "certificate")), _path(file, ("remote", "key"))
    if (certificate is None) != (key is None):
        file.fail(("remote",), "'remote.certificate' and 'remote.key' belong together", "name both files, or neither")
    plain = _truth(file, ("remote", "plain"))
    if plain and certificate is not None:
        file.fail(("remote", "plain"), "'remote.plain' is without TLS, and there is a certificate", "take one away")
    names = ("wait_s", "reconnect_s", "keepalive_s", "margin_s")
    times = {name: _seconds(file, name, given[name]) for name in names if name in given}
    if "keepalive_s" in times and times["keepalive_s"] < LEAST_KEEPALIVE_S:
        what = f"'remote.keepalive_s' must be at least {LEAST_KEEPALIVE_S:g}, not {times['keepalive_s']:g}"
        file.fail(("remote", "keepalive_s"), what, "write, for instance, keepalive_s = 20")
    return RemoteConfig(Listen(host, port, certificate, key, plain), **times, public=public)


def read_remote_bot(file: TomlFile, here: Where, given: Mapping[str, Any]) -> RemoteBot | None:
    """None for a bot that the referee starts. Raises ConfigError."""
    if not _truth(file, (*here, "remote")):
        for key in ("token_env", "token_file", "version"):
            if key in given:
                what = f"'{dotted(*here, key)}' is for remote bots"
                file.fail((*here, key), what, "write remote = true beside it, or remove it")
        return None
    for key in _LOCAL_KEYS:
        if key in given:
            what = f"'{dotted(*here, key)}' is for bots that the referee starts, and this one connects itself"
            file.fail((*here, key), what, "take it, or remote = true, away")
    if "remote" not in file.values:
        what = "a bot has remote = true, and the file does not say where remote bots connect"
        file.fail((*here, "remote"), what, 'add [remote] with a line such as listen = "0.0.0.0:7000"')
    file.text_at(*here, "name", required=True, example='name = "Ada"')
    env = file.text_at(*here, "token_env", example='token_env = "ADA_TOKEN"')
    token_file = _path(file, (*here, "token_file"))
    if bool(env) == (token_file is not None):
        what = f"'{dotted(*here)}' needs its token from one place"
        file.fail(here, what, 'add token_env = "ADA_TOKEN", or token_file = "ada.token", and not both')
    version = file.text_at(*here, "version", example='version = "1"')
    if not version.isprintable() or len(version) > MAX_VERSION:
        what = f"'{dotted(*here, 'version')}' must be at most {MAX_VERSION} printable characters"
        file.fail((*here, "version"), what, 'write, for instance, version = "1"')
    return RemoteBot(env, token_file, version)


def _path(file: TomlFile, key: Where) -> Path | None:
    text = file.text_at(*key, example=f'{key[-1]} = "a_file"')
    if "\0" in text:
        file.fail(key, f"'{dotted(*key)}' has a zero byte in it", "remove it")
    return (file.path.parent / _expanded(file, key, text)).resolve() if text else None


def _truth(file: TomlFile, key: Where) -> bool:
    value = file.get(*key)
    if value is not None and not isinstance(value, bool):
        file.fail(key, f"'{dotted(*key)}' must be true or false, not {show(value)}", f"write {key[-1]} = true")
    return value is True


def _seconds(file: TomlFile, name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LONGEST_S:
        what = f"'remote.{name}' must be a number from 0 to {_LONGEST_S}, not {show(value)}"
        file.fail(("remote", name), what, f"write, for instance, {name} = 60")
    return float(value)


def _expanded(file: TomlFile, key: Where, text: str) -> Path:
    try:
        return expanded(text)
    except FolderError as error:
        file.fail(key, f"'{dotted(*key)}': {error}", error.next_step)


# [sandbox], and what a bot says of its own: how bots are confined, and what they are granted

SANDBOX_BOT_KEYS = ("sandbox", "network", "env", "read", "devices")
SANDBOX_KEYS = ("profile", "read")
_EXAMPLES = {"env": 'env = ["API_KEY"]', "read": 'read = ["/opt/models"]', "devices": 'devices = ["/dev/nvidia0"]'}


@dataclass(frozen=True, slots=True)
class SandboxConfig:
    """What the file says, of all bots or of one. No profile: strict where it works. `read` are absolute paths."""

    profile: Profile | None = None
    network: bool = False
    env: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()


def read_sandbox(file: TomlFile) -> SandboxConfig:
    """Of the tournament: profile, and what every bot may read. Raises ConfigError."""
    file.check_keys(("sandbox",), file.table("sandbox"), SANDBOX_KEYS)
    found = SandboxConfig(_profile(file, ("sandbox", "profile")), read=_paths(file, ("sandbox",)))
    check_grants(file, ("sandbox",), found)
    return found


def check_grants(file: TomlFile, where: Where, granted: SandboxConfig) -> None:
    """ConfigError for a path or a device, named in the table at `where`, that is not there. Of bots that have left a
    run it need not be there any more."""
    for path in granted.read:
        if not Path(path).exists():
            what = f"'{dotted(*where, 'read')}': {path} does not exist"
            file.fail((*where, "read"), what, "name files or folders that are there")
    for path in granted.devices:
        if why := why_no_device(path):
            what = f"'{dotted(*where, 'devices')}': {path} {why}"
            file.fail((*where, "devices"), what, f"name devices of this machine, such as {_EXAMPLES['devices']}")


def read_bot_sandbox(file: TomlFile, here: Where) -> SandboxConfig:
    """Of one bot; what it is granted need not be there: see `check_grants`. Raises ConfigError."""
    network = file.get(*here, "network")
    if network is not None and not isinstance(network, bool):
        what = f"'{dotted(*here, 'network')}' must be true or false, not {show(network)}"
        file.fail((*here, "network"), what, "write network = true, or nothing")
    env = tuple(_texts(file, here, "env"))
    try:
        Sandbox(env=env)
    except ValueError as error:
        file.fail((*here, "env"), f"'{dotted(*here, 'env')}': {error}", f"write, for instance, {_EXAMPLES['env']}")
    devices = tuple(_texts(file, here, "devices"))
    return SandboxConfig(_profile(file, (*here, "sandbox")), network is True, env, _paths(file, here), devices)


def _profile(file: TomlFile, key: Where) -> Profile | None:
    word = file.text_at(*key, example=f'{key[-1]} = "strict"')
    if not word:
        return None
    profile = next((known for known in PROFILES if known == word), None)
    if profile is None:
        what = f"'{dotted(*key)}' must be {' or '.join(PROFILES)}, not {show(word)}"
        file.fail(key, what, f'write {key[-1]} = "strict", or nothing for strict where it works')
    return profile


def _paths(file: TomlFile, where: Where) -> tuple[str, ...]:
    texts = _texts(file, where, "read")
    return tuple(str((file.path.parent / _expanded(file, (*where, "read"), text)).resolve()) for text in texts)


def _texts(file: TomlFile, where: Where, name: str) -> list[str]:
    value: Any = file.get(*where, name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str) and item and "\0" not in item for item in value):
        empty = isinstance(value, list) and "" in value
        wanted = "a list of texts that are not empty" if empty else "a list of texts"
        what = f"'{dotted(*where, name)}' must be {wanted}, not {show(value)}"
        file.fail((*where, name), what, f"write, for instance, {_EXAMPLES[name]}")
    return value


# [[bots]]: who enters, as the file says it; what lies on the disk is looked at later

BOT_KEYS = ("path", "copy_of", "name", "options", "clock", "limits", *SANDBOX_BOT_KEYS, *PROCESS_KEYS, *REMOTE_BOT_KEYS)


@dataclass(frozen=True, slots=True)
class BotConfig:
    """One [[bots]] of the file. `folder` is as found from the file; `line` is where it begins, for messages.

    `clock` has the limits of this bot that differ from the tournament's. A bot that is `remote` has no folder.
    """

    folder: Path
    name: str | None
    options: Mapping[str, str | int | bool]
    line: int | None
    clock: Mapping[str, float] = field(default_factory=dict)
    sandbox: SandboxConfig = field(default_factory=SandboxConfig)
    remote: RemoteBot | None = None
    fresh: bool | None = None
    """Whether it has a new process for each match; None: as the tournament has it."""
    copies: int = 0
    """Processes of it that may be there at once; 0 for any number."""
    place: int = 0
    """Of its [[bots]] in the file, or of its row in a list of entries."""
    pattern: tuple[str, ...] = ()
    """The last parts of the path in the file, from the first wildcard on, if that found its folder."""
    entry_list: Path | None = None
    """The list of entries (CSV) that has it, instead of the tournament file; `line` is there then."""
    copy_of: str = ""
    """The name of the bot of which it is a copy. All but name and place is that bot's."""


def read_bot(
    file: TomlFile, limits: Limits, remote: RemoteConfig | None, place: int, given: Mapping[str, Any]
) -> BotConfig:
    """One of them. Raises ConfigError."""
    here = ("bots", place)
    file.check_keys(here, given, BOT_KEYS)
    if original := file.text_at(*here, "copy_of", example='copy_of = "Ada"'):
        for key in given:
            if key not in ("copy_of", "name"):
                what = (
                    f"'{dotted(*here, 'copy_of')}' is beside '{key}', and a copy has all but its name from the original"
                )
                file.fail((*here, "copy_of"), what, f"take {key}, or copy_of, away")
        called = file.text_at(*here, "name", required=True, example='name = "Ada again"')
        return BotConfig(Path(), called, {}, file.line(*here), place=place, copy_of=original)
    dials = read_remote_bot(file, here, given)
    if remote is not None and dials is not None:
        wide = {"margin_s": remote.margin_s, **read_clock(file, (*here, "clock"))}
        check_clock(file, (*here, "clock"), limits, wide)
        return BotConfig(Path(), str(given["name"]), {}, file.line(*here), wide, remote=dials, place=place)
    path = file.text_at(*here, "path", required=True, example='path = "../bots/python/random"')
    if "\0" in path:
        file.fail((*here, "path"), f"'{dotted(*here, 'path')}' has a zero byte in it", "remove it")
    name = file.text_at(*here, "name", example='name = "Random"') or None
    clock = read_clock(file, (*here, "clock"))
    check_clock(file, (*here, "clock"), limits, clock)
    own = {**clock, **read_resources(file, (*here, "limits"))}
    sandbox = read_bot_sandbox(file, here)
    return BotConfig(
        file.path.parent / path,
        name,
        file.table(*here, "options"),
        file.line(*here),
        own,
        sandbox,
        fresh=read_fresh(file, *here),
        copies=read_copies(file, here),
        place=place,
    )
