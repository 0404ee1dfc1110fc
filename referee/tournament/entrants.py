"""The bots of a tournament as they are on disk, checked against it and against each other.

A bot that has left a run is known by its entry id. It need not be on the disk any more, and may have been changed there
since: then what the file names in its place stands for it as it was. Bots of a run that has begun come from the store
if their folders have another version by now, or none. Everything else is taken as it is now.
"""

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import combinations, pairwise, zip_longest
from pathlib import Path
from typing import NoReturn

from referee.errors import ConfigError
from referee.process.entry import Entry, EntryError, ManifestError, load_entry, load_stored, remote_bot_entry
from referee.process.manifest import ANY_GAME, BotNameError, clashes
from referee.process.sandbox import Profile
from referee.run.participants import Participant
from referee.schedule.config import make_field
from referee.schedule.formats.registry import get_format
from referee.tournament.config import BotConfig, Tournament, TournamentConfig, load_config
from referee.tournament.identity import describe
from referee.tournament.joining import departed_entry, stored_sources
from referee.tournament.reading import TomlFile, show, suggest
from referee.tournament.sections import check_grants


def load_tournament(
    path: Path, known: Sequence[Participant] = (), *, to_play: bool = True, elsewhere: bool = False
) -> Tournament:
    """Read the tournament file at `path` and the bots it names. Raises ConfigError; not for a bot that has to be built
    yet if nothing is `to_play`, or all is played `elsewhere`.

    `known` are the bots of a run of it: those that have left it are taken as they were, and so is whatever the store
    has of those that stay, should their folders have another version by now, or none.
    """
    config = load_config(path)
    found = [_try(config, bot, to_play=to_play, elsewhere=elsewhere) for bot in config.bots]
    ids = {bot.entry_id for bot in known if not bot.joined}
    here = {entry.id for entry in found if isinstance(entry, Entry)}
    gone = [bot for bot in known if bot.out and not bot.joined and bot.entry_id not in here]
    entries: list[Entry] = []
    kept: list[Entry] = []
    for bot, entry, begun in zip(config.bots, found, _begun(config, known), strict=True):
        if isinstance(entry, Entry) and entry.id in ids:
            entries.append(entry)
        elif stored := _stored(config, bot, begun, to_play=to_play, elsewhere=elsewhere):
            entries.append(stored)
            kept.append(stored)
        else:
            entries.append(_stand_in(bot, gone, entry))
    for one, other in combinations(range(len(entries)), 2):
        _check_pair(config, entries, one, other)
    out, file = {bot.entry_id for bot in known if bot.out}, TomlFile(path)
    for place, (bot, entry) in enumerate(zip(config.bots, entries, strict=True)):
        if entry.id not in out:
            check_grants(file, ("bots", place), bot.sandbox)
    tournament = Tournament(config, tuple(entries), kept=tuple(kept))
    for outer, inner in pairwise(sorted(started(tournament), key=lambda entry: entry.folder.parts)):
        if inner.folder != outer.folder and inner.folder.is_relative_to(outer.folder):
            _fail_for_what_it_holds(tournament, outer, f"the bot '{inner.name}', {inner.folder}")
    _check_format(tournament)
    return tournament


def check_apart(tournament: Tournament, runs: Path) -> None:
    """ConfigError if a bot's folder, all of which the bot may read, holds `runs`, where records are written."""
    for entry in started(tournament):
        if runs.resolve().is_relative_to(entry.folder):
            _fail_for_what_it_holds(tournament, entry, f"the records of runs, {runs.resolve()}")


def started(tournament: Tournament) -> list[Entry]:
    """The bots that are started here: they do not dial in, and have not left for another version."""
    return [entry for entry in tournament.entries if entry.argv]


def _fail_for_what_it_holds(tournament: Tournament, entry: Entry, what: str) -> NoReturn:
    config = tournament.config
    place = tournament.entries.index(entry)
    line = config.bots[place].line if place < len(config.bots) else None
    step = "give the bot a folder of its own, or keep the other elsewhere (--out for runs)"
    raise ConfigError(config.path, line, f"the folder of the bot '{entry.name}', {entry.folder}, holds {what}", step)


def sources_needed(config: TournamentConfig, known: Sequence[Participant]) -> list[tuple[Path, Profile | None]]:
    """Where the sources lie of each bot that is to be started, and how it is confined: those of a run that has begun
    in the store."""
    begun = {id(bot): stored_sources(one) for bot, one in zip(config.bots, _begun(config, known), strict=True)}
    return [
        (begun[id(bot)] or bot.folder, bot.sandbox.profile or config.sandbox.profile)
        for bot in folders_needed(config, known)
    ]


def _begun(config: TournamentConfig, known: Sequence[Participant]) -> list[Participant | None]:
    """For each bot of the file the one with which the run began, if it is the same folder under the same name, or a
    link lies in the folder's place by now."""
    first = [bot for bot in known if not bot.joined]
    pairs = zip_longest(config.bots, first[: len(config.bots)])
    return [
        one
        if one is not None
        and one.content
        and not one.out
        and Path(one.folder) in (_real(bot.folder), _real(bot.folder.parent) / bot.folder.name)
        and bot.name in (None, one.name)
        else None
        for bot, one in pairs
    ]


def _stored(
    config: TournamentConfig, bot: BotConfig, begun: Participant | None, *, to_play: bool, elsewhere: bool
) -> Entry | None:
    """The bot as the run began with it; None if the file has other options for it by now, or the store lost it."""
    if begun is None:
        return None
    with suppress(ManifestError, EntryError, BotNameError):
        folder = Path(begun.folder)
        entry = load_stored(begun.content, folder, begun.name, bot.options, to_play=to_play, elsewhere=elsewhere)
        if entry.id == begun.entry_id:
            _check_games(config, bot, entry)
            return entry
    return None


def _real(folder: Path) -> Path:
    return Path(os.path.realpath(folder))


def folders_needed(config: TournamentConfig, known: Sequence[Participant]) -> list[BotConfig]:
    """The bots of the file but those whose folder is only there for bots that have left."""
    left = Counter(Path(bot.folder).resolve() for bot in known if bot.out and not bot.joined and bot.folder)
    named = Counter(bot.folder.resolve() for bot in config.bots)
    started = [bot for bot in config.bots if bot.remote is None]
    return [bot for bot in started if named[bot.folder.resolve()] > left[bot.folder.resolve()]]


def changed_since(tournament: Tournament, known: Sequence[Participant] = ()) -> list[tuple[str, Path]]:
    """Name and folder of each bot that has left, and in whose place another version lies by now that is not among the
    `known` bots of the run."""
    ids = {bot.entry_id for bot in known}
    return [
        (entry.name, bot.folder)
        for bot, entry in stand_ins(tournament)
        if isinstance(there := _try(tournament.config, bot), Entry) and there.id not in {entry.id, *ids}
    ]


def stand_ins(tournament: Tournament) -> list[tuple[BotConfig, Entry]]:
    """The bots of the file that were not taken as they are now: nothing is there to be executed."""
    named = zip(tournament.config.bots, tournament.entries, strict=False)
    return [(bot, entry) for bot, entry in named if bot.remote is None and not entry.argv]


def _try(
    config: TournamentConfig, bot: BotConfig, *, to_play: bool = True, elsewhere: bool = False
) -> Entry | ConfigError:
    try:
        return _entry(config, bot, to_play=to_play, elsewhere=elsewhere)
    except ConfigError as error:
        return error


def _stand_in(bot: BotConfig, gone: list[Participant], found: Entry | ConfigError) -> Entry:
    """For a bot of the file that the run does not know as it is now, or that cannot be read: whoever left from its
    folder, by its name and options. Nobody stands for two."""
    lost = isinstance(found, ConfigError)  # then a folder of that name elsewhere will do: all may have been moved
    for one in () if bot.remote is not None else gone:
        there = Path(one.folder)
        if (
            one.folder
            and (there.resolve() == bot.folder.resolve() or (lost and there.name == bot.folder.name))
            and bot.name in (None, one.name)
            and all(one.options.get(name) == value for name, value in bot.options.items())
        ):
            gone.remove(one)
            return departed_entry(one)
    if isinstance(found, ConfigError):
        raise found
    return found


def _check_format(tournament: Tournament) -> None:
    """ConfigError if the format cannot be played by these bots, or names others."""
    config = tournament.config
    names = [entry.name for entry in tournament.entries]
    style = get_format(config.format)
    for setting in style.settings:
        for name in setting.names(config.settings.get(setting.name)):
            if name not in names:
                what = f"'{config.format}.{setting.name}': no bot is called {show(name)}"
                TomlFile(config.path).fail((config.format, setting.name), what, suggest(name, names, "the bots are"))
    if problem := style.check(make_field(describe(tournament))):
        TomlFile(config.path).fail(("format",), problem, "add bots, or change the format or its settings")


def _entry(config: TournamentConfig, bot: BotConfig, *, to_play: bool, elsewhere: bool) -> Entry:
    try:
        if bot.remote is not None:
            return remote_bot_entry(bot.name or "", bot.remote.version)
        entry = load_entry(bot.folder, bot.name, bot.options, to_play=to_play, elsewhere=elsewhere)
    except (ManifestError, EntryError) as error:
        step = error.next_step
        if not bot.folder.exists():
            step += "; if it is gone from a run that has begun: crosstown withdraw RUN BOT"
        raise ConfigError(config.path, bot.line, f"bot: {error}", step) from None
    except BotNameError as error:
        raise ConfigError(config.path, bot.line, f"bot: {error}", error.next_step) from None
    _check_games(config, bot, entry)
    return entry


def _check_games(config: TournamentConfig, bot: BotConfig, entry: Entry) -> None:
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


def _check_pair(config: TournamentConfig, entries: Sequence[Entry], one: int, other: int) -> None:
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
            f"the bots' names {first.name!a} and {second.name!a} look alike",
            'give one of them another: name = "..."',
        )
    if first.id == second.id:
        raise ConfigError(
            config.path,
            line,
            f"the bots '{first.name}' and '{second.name}' are the same entry: same source, same options",
            "take one of them out, or give it other options",
        )
