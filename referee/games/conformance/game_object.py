"""Checks of the game object without a match; how a game is found, and a hash of its code."""

import copy
import importlib
import json
import re
import sys
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from random import Random
from typing import Any

from referee.games.api import DATA_OPTION, DataError, Game, PlayersError, State, resolve_options, text_board
from referee.games.conformance.checks import CheckFailed
from referee.games.conformance.states import check_json, clear_containers
from referee.games.registry import UnknownGame, get_game


def resolve(ref: str) -> Game:
    """The game of this id, or the one found at `module:ATTRIBUTE` for games that are not installed.

    The module is looked for in the working folder first, as `python -m` does. UnknownGame says what is wrong.
    """
    module_name, colon, attribute = ref.partition(":")
    if not colon:
        return get_game(ref)
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        game: Any = importlib.import_module(module_name)
        for name in attribute.split("."):
            game = getattr(game, name)
    except (ImportError, AttributeError, ValueError) as error:
        what = f"no game at '{ref}': {type(error).__name__}: {error}"
        if isinstance(error, ModuleNotFoundError) and error.name and f"{module_name}.".startswith(f"{error.name}."):
            step = "enter the command in the folder that has the module, or set PYTHONPATH to that folder"
            raise UnknownGame(what, step) from error
        raise UnknownGame(what, "write it as MODULE:NAME, or see: crosstown games list") from error
    found: Game = game
    return found


README = "README.md"
NOT_PLAYED = ("view*", "*.md")


def package_of(game: Game) -> str:
    """The import name of the package of the game's class, or of its module if there is no package."""
    module = type(game).__module__
    return sys.modules[module].__package__ or module


def not_offered(game: Game) -> Mapping[str, str]:
    """What a game says that it cannot do, with the reasons: an attribute `not_offered` that a game may have.

    Only 'resample' (the state then returns a copy) and 'from_observation' (which then raises GameError) may be missing.
    Checks that need them are left out, and the report says so.
    """
    named: Mapping[str, str] = getattr(game, "not_offered", {})
    return named


def readme(game: Game) -> str | None:
    """The rules as implemented, as Markdown, from the game's folder."""
    try:
        return (files(package_of(game)) / README).read_text(encoding="utf-8")
    except (OSError, TypeError, ModuleNotFoundError):
        return None


def code_hash(package: str) -> str:
    """16 hex digits over the files of a package, to keep results of different code apart.

    Views (files named view*, code or data) and Markdown are left out: they neither decide a match nor go over the
    wire, and a new colour must not discard hours of finished matches. The short run checks them.
    """
    digest = blake2b(digest_size=8)
    for name, file in walk(files(package), ""):
        if any(fnmatchcase(file.name, pattern) for pattern in NOT_PLAYED):
            continue
        digest.update(f"{name}\0".encode())
        digest.update(blake2b(file.read_bytes()).digest())
    return digest.hexdigest()


def walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    """Files below `folder` with their paths, sorted, without caches and hidden ones."""
    for entry in sorted(folder.iterdir(), key=lambda each: each.name):
        if entry.name.startswith(".") or entry.name == "__pycache__":
            continue
        if entry.is_dir():
            yield from walk(entry, f"{prefix}{entry.name}/")
        else:
            yield prefix + entry.name, entry


NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
GAME_ID = re.compile(r"([a-z][a-z0-9_]*/)?[a-z0-9][a-z0-9_]*", re.ASCII)
MAY_LACK = ("resample", "from_observation")
DAMAGED_DATA = 40


def check_attributes(game: Game) -> None:
    """CheckFailed `attributes` for the first malformed attribute of the game."""
    require(GAME_ID.fullmatch(game.id) is not None, f"id {game.id!r} is not like 'a_name' or 'family/a_name'")
    for name, why in not_offered(game).items():
        require(name in MAY_LACK, f"not_offered names {name!r}; a game may lack {' and '.join(MAY_LACK)} only")
        require(type(why) is str and bool(why.strip()), f"not_offered gives no reason for {name!r}")
    require(bool(game.title) and game.title.isprintable(), f"title is {game.title!r}")
    version = game.rules_version
    require(type(version) is int and version >= 1, f"rules_version is {version!r}, not 1 or more")
    counts = game.player_counts
    whole = type(counts) is tuple and bool(counts) and all(type(count) is int and count >= 1 for count in counts)
    require(whole and list(counts) == sorted(set(counts)), f"player_counts {counts!r} is no ascending tuple")
    require(type(game.draws_possible) is bool, "draws_possible is neither True nor False")
    kinds = game.decision_kinds
    named = type(kinds) is tuple and bool(kinds) and all(type(kind) is str and bool(kind) for kind in kinds)
    require(named and len(set(kinds)) == len(kinds), f"decision_kinds {kinds!r} is no tuple of different names")
    require(all(type(text) is str and bool(text) for text in game.notes), "notes are not all texts")
    check_options(game)
    options = resolve_options(game.id, game.options, {})
    for players in counts:
        bound = game.max_decisions(players, options)
        require(type(bound) is int and bound > 0, f"max_decisions({players}) is {bound!r}")
        teams = game.teams(players, options)
        whole = type(teams) is tuple and len(teams) == players and set(teams) == set(range(len(set(teams))))
        require(whole, f"teams({players}) is {teams!r}, not {players} team numbers from 0")
    for players in {0, -1, counts[0] - 1, counts[-1] + 1, 1000} - set(counts):
        try:
            game.new_initial_state(players, options)
        except PlayersError:
            continue
        raise CheckFailed("attributes", f"{players} players are accepted; player_counts is {counts}")


def check_options(game: Game) -> None:
    """CheckFailed `attributes` unless options are named, documented and accept their own defaults."""
    names = [option.name for option in game.options]
    require(len(set(names)) == len(names), f"an option is there twice: {names}")
    for option in game.options:
        require(NAME.fullmatch(option.name) is not None, f"option name {option.name!r} is not like 'a_name'")
        require(option.name != DATA_OPTION, f"'{DATA_OPTION}' is a reserved option name")
        require(option.accepts(option.default), f"option '{option.name}' does not accept its default")
        require(all(option.accepts(choice) for choice in option.choices), f"option '{option.name}': mixed choices")
        require(bool(option.doc.strip()), f"option '{option.name}' has no doc")
        require(bool(option.confidence.strip()), f"option '{option.name}' has no confidence mark")


def require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise CheckFailed("attributes", otherwise)


def check_data(game: Game) -> None:
    """CheckFailed `data` unless the box data is JSON, valid, and a copy, and check_data() refuses junk."""
    data = game.default_data()
    try:
        check_plain(data)
        game.check_data(data)
    except (CheckFailed, DataError) as error:
        raise CheckFailed("data", f"default_data() does not pass: {error}") from error
    text = json.dumps(data, sort_keys=True)
    for players in game.player_counts:
        plain = resolve_options(game.id, game.options, {})
        replaced = resolve_options(game.id, game.options, {DATA_OPTION: json.loads(text)})
        first = appearance(game, game.new_initial_state(players, plain), players)
        if appearance(game, game.new_initial_state(players, replaced), players) != first:
            raise CheckFailed("data", f"with default_data() given, {players} players start from another position")
        if json.dumps(replaced[DATA_OPTION], sort_keys=True) != text:
            raise CheckFailed("data", "new_initial_state() changed the data it was given")
    clear_containers(data)
    if json.dumps(game.default_data(), sort_keys=True) != text:
        raise CheckFailed("data", "default_data() hands out its own lists: changing them changed the next answer")
    for what, junk in damaged_data(json.loads(text)):
        try:
            game.check_data(junk)
        except DataError:
            continue
        except Exception as error:
            raise CheckFailed("data", f"check_data of {what} raised {type(error).__name__}({error})") from error


def appearance(game: Game, state: State, players: int) -> tuple[object, ...]:
    """What is visible of a position. It leaves out where the data come from, which a state may show."""
    return (
        [text_board(game, state.observation(viewer)) for viewer in (None, *range(players))],
        list(state.decisions()),
        [list(state.legal_actions(decision.seat)) for decision in state.decisions()],
        list(state.chance_outcomes()),
        game.conserved(state),
    )


def check_plain(data: Any) -> None:
    if not isinstance(data, dict):
        raise CheckFailed("data", "default_data() is not a dictionary")
    check_json(data, "data")


def damaged_data(data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Values that are not box data, and box data with one value replaced or removed (some may stay valid)."""
    yield from ((repr(junk), junk) for junk in (None, 0, "box", [], {}, [data], {"no_such_key": 1}))
    rng = Random(0)
    for _ in range(DAMAGED_DATA):
        broken = copy.deepcopy(data)
        place = "data"
        holder: Any = broken
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not keys:
                break
            key = rng.choice(keys)
            place += f"[{key!r}]"
            if isinstance(holder[key], dict | list) and rng.random() < 0.8:
                holder = holder[key]
                continue
            if rng.random() < 0.3:
                del holder[key]
                place += " taken away"
            else:
                holder[key] = rng.choice((None, -1, 10**9, "", "x", [], {}, True, 1.5))
                place += f" = {holder[key]!r}"
            break
        yield place, broken
