"""The bots of a tournament as they are on disk, checked against it and against each other."""

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

from referee.process.entry import Entry, EntryError, ManifestError, load_entry
from referee.process.manifest import ANY_GAME
from referee.process.names import BotNameError, clashes
from referee.tournament.config import BotConfig, Tournament, TournamentConfig, load_config
from referee.tournament.errors import ConfigError
from referee.tournament.field import make_field
from referee.tournament.formats.registry import get_format
from referee.tournament.identity import describe
from referee.tournament.reading import TomlFile, show, suggest


def load_tournament(path: Path, gone: Mapping[int, Entry] | None = None) -> Tournament:
    """Read the tournament file at `path` and the bots it names. Raises ConfigError.

    `gone` has, by index, the entries that have left the run: they are taken as they were.
    """
    config = load_config(path)
    known = gone or {}
    entries = tuple(known.get(number) or _entry(config, bot) for number, bot in enumerate(config.bots))
    for one, other in combinations(range(len(entries)), 2):
        _check_pair(config, entries, one, other)
    tournament = Tournament(config, entries)
    _check_format(tournament)
    return tournament


def _check_format(tournament: Tournament) -> None:
    """ConfigError if the format cannot be played by these bots, or names others."""
    config = tournament.config
    names = [entry.name for entry in tournament.entries]
    style = get_format(config.format)
    for setting in style.settings:
        wanted = config.settings[setting.name] if setting.kind == "bots" else None
        for name in wanted or ():
            if name not in names:
                what = f"'{config.format}.{setting.name}': no bot is called {show(name)}"
                TomlFile(config.path).fail((config.format, setting.name), what, suggest(name, names, "the bots are"))
    if problem := style.check(make_field(describe(tournament))):
        TomlFile(config.path).fail(("format",), problem, "add bots, or change the format or its settings")


def _entry(config: TournamentConfig, bot: BotConfig) -> Entry:
    try:
        entry = load_entry(bot.folder, bot.name, bot.options)
    except (ManifestError, EntryError) as error:
        # These sentences end in what to do, after the last semicolon.
        what, _, step = str(error).rpartition("; ")
        step = step if what else "correct the bot's folder or its path here"
        if not bot.folder.exists():
            step += "; if it is gone from a run that has begun: crosstown withdraw RUN BOT"
        raise ConfigError(config.path, bot.line, f"bot: {what or error}", step) from None
    except BotNameError as error:
        what, _, step = str(error).rpartition("; ")
        raise ConfigError(config.path, bot.line, f"bot: {what or error}", step if what else "give it another") from None
    known = entry.manifest.games
    foreign = [game.game for game in config.games if game.game not in known]
    if known and foreign and ANY_GAME not in known:
        plays = ", ".join(known)
        raise ConfigError(
            config.path,
            bot.line,
            f"bot '{entry.name}' plays {plays}, not {foreign[0]}",
            f"choose another bot, or name the game in {bot.folder / 'bot.toml'}",
        )
    return entry


def _check_pair(config: TournamentConfig, entries: tuple[Entry, ...], one: int, other: int) -> None:
    first, second = entries[one], entries[other]
    line = config.bots[other].line
    if first.name == second.name:
        raise ConfigError(
            config.path, line, f"two bots are named '{first.name}'", 'give one of them another: name = "..."'
        )
    if clashes(first.name, second.name):
        raise ConfigError(
            config.path,
            line,
            f"the bots' names {first.name!a} and {second.name!a} would be taken for each other",
            'give one of them another: name = "..."',
        )
    if first.id == second.id:
        raise ConfigError(
            config.path,
            line,
            f"the bots '{first.name}' and '{second.name}' are the same entry: same source, same options",
            "take one of them out, or give it other options",
        )
