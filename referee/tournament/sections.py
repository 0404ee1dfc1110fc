"""The sections of a tournament file: one function for each reads it and says what is wrong in it, as a ConfigError.

A ladder's file has some of them, too.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from referee.errors import why_unread
from referee.games.api import DATA_OPTION, DataError, Game, GameError, OptionError, PlayersError, resolve_options
from referee.games.registry import UnknownGame, game_ids, get_game
from referee.process.manifest import BotNameError, check_name
from referee.record.journal import Choice
from referee.schedule.config import START
from referee.schedule.formats.api import Format, Setting
from referee.schedule.formats.registry import OWN, UnknownFormat, format_names, get_format
from referee.schedule.formats.stages import settings_of
from referee.schedule.spec import (
    CLOCK_KEYS,
    DEFAULTS,
    MOST_MESSAGE_BYTES,
    POLICIES,
    PROVIDER_ERRORS,
    RESOURCE_KEYS,
    Adjudication,
    Faults,
    Limits,
    SpecError,
)
from referee.schedule.stopping import EXAMPLES, StopWhen, parse_stop_when
from referee.tournament.reading import TomlFile, dotted, read_text, show, suggest
from referee.tournament.seeding import read_seeding

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


_OPENINGS_MIB = 1024
"""The largest books of openings that engines are tested with have some hundred MiB."""


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
        positions: tuple[str, ...] = read(path.name, read_text(path, _OPENINGS_MIB))
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
        file.fail(key, f"'{dotted(*key)}': {path} is not {kind}: {why_unread(error)}", "correct that file")
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
    name = file.text_at("format", default=OWN[0], example=f'format = "{OWN[0]}"')
    # Plug-ins are looked for only if none of our formats has the name. A tournament cannot have the format of a ladder.
    if name not in OWN and name not in (known := format_names()):
        file.fail(("format",), f"unknown format {show(name)}", suggest(name, known, "the formats are"))
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
                return read_seeding(file, key, value)
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
    "processes": 2,  # C++ and Rust start with that, Go with 4, Python with 8, Java with 16
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


def read_clock(file: TomlFile, where: Where, limits: Limits | None = None) -> Mapping[str, float]:
    """The limits of time that the table at `where` names, over `limits`. Raises ConfigError."""
    return _limits(file, where, CLOCK_KEYS, limits)


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
    if file.get(key) is None:
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


def _limits(file: TomlFile, where: Where, known: tuple[str, ...], limits: Limits | None = None) -> dict[str, float]:
    given = file.table(*where)
    total = given.get("total_s", 0 if limits is None else limits.total_s)
    file.check_keys(where, given, known)
    for name, value in given.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        example = f"write, for instance, {name} = {_number(getattr(DEFAULTS, name) or 1)}"
        if not is_number:
            file.fail((*where, name), f"'{dotted(*where, name)}' must be a number, not {show(value)}", example)
        if value > MOST.get(name, value):
            what = f"'{dotted(*where, name)}' must be at most {MOST[name]}, not {_number(value)}"
            file.fail((*where, name), what, example)
        least = LEAST.get(name)
        is_kind = not (isinstance(least, int) and isinstance(value, float))
        or_0 = name in RESOURCE_KEYS
        if is_kind and least is not None and value < least and not (or_0 and value == 0):
            bound = f"at least {least:g}{', or 0 for no limit' if or_0 else ''}, not {_number(value)}"
            file.fail((*where, name), f"'{dotted(*where, name)}' must be {bound}: no bot can start with less", example)
        try:
            # Without a total a move's limit cannot be 0.
            no_total = name == "bank_s" or not (total or name in ("total_s", "increment_s"))
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
