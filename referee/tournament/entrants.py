"""The bots of a tournament as they are on disk, checked against it and against each other."""

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

from referee.match.spec import SeatSpec
from referee.process.entry import Entry, EntryError, ManifestError, load_entry
from referee.process.names import BotNameError, clashes
from referee.tournament.config import BotConfig, Tournament, TournamentConfig, load_config
from referee.tournament.errors import ConfigError

ANY_GAME = "*"


def load_tournament(path: Path) -> Tournament:
    """Read the tournament file at `path` and the bots it names. Raises ConfigError."""
    config = load_config(path)
    entries = tuple(_entry(config, bot) for bot in config.bots)
    for one, other in combinations(range(len(entries)), 2):
        _check_pair(config, entries, one, other)
    return Tournament(config, entries)


def seat_of(entry: Entry, clock: Mapping[str, float] | None = None) -> SeatSpec:
    """How an entry is named in specifications and records, with what is its own of the clock."""
    return SeatSpec(entry.id, entry.name, entry.manifest.version, clock or {})


def seats_of(tournament: Tournament) -> list[SeatSpec]:
    """All entries. Those that were added to the run have no clock of their own."""
    clocks = [bot.clock for bot in tournament.config.bots]
    return [
        seat_of(entry, clocks[place] if place < len(clocks) else None) for place, entry in enumerate(tournament.entries)
    ]


def _entry(config: TournamentConfig, bot: BotConfig) -> Entry:
    try:
        entry = load_entry(bot.folder, bot.name, bot.options)
    except (ManifestError, EntryError) as error:
        # These sentences end in what to do, after the last semicolon.
        what, _, step = str(error).rpartition("; ")
        step = step if what else "correct the bot's folder or its path here"
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
