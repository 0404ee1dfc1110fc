"""The bots of a tournament as they are on disk, checked against it and against each other.

A bot that has left a run is known by its entry id. It need not be on the disk any more, and may have been changed there
since: then what the file names in its place stands for it as it was. Bots of a run that has begun come from the store
if their folders have another version by now, or none. Everything else is taken as it is now.
"""

import os
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import NoReturn, TypeAlias

from referee.errors import ConfigError, ExpectedError, PlatformError
from referee.process.entry import (
    Entry,
    EntryError,
    ManifestError,
    copy_entry,
    load_entry,
    load_stored,
    remote_bot_entry,
)
from referee.process.manifest import BotNameError, clashes, plays
from referee.process.paths import is_there
from referee.process.sandbox import Profile
from referee.run.folder import RunFolder, check_configuration, is_renamed, run_folders, several_renamed
from referee.run.journal import read_brief, read_journal
from referee.run.participants import Participant, newest_participants, participants_of
from referee.schedule.config import make_field
from referee.schedule.formats.registry import by_game_formats, get_format
from referee.tournament.bot_list import LeftOut, check_granted, places_of
from referee.tournament.config import (
    BotConfig,
    Tournament,
    TournamentConfig,
    check_number,
    load_config,
    tournament_name,
)
from referee.tournament.identity import describe
from referee.tournament.joining import departed_entry, stored_sources
from referee.tournament.reading import TomlFile, dotted, show, suggest


def load_tournament(
    path: Path, known: Sequence[Participant] = (), *, to_play: bool = True, elsewhere: bool = False
) -> Tournament:
    """Read the tournament file at `path` and the bots it names. Raises ConfigError; not for a bot that has to be built
    yet if nothing is `to_play`, or all is played `elsewhere`.

    `known` are the bots of a run of it: those that have left it are taken as they were, and so is whatever the store
    has of those that stay, should their folders have another version by now, or none.
    """
    config, left_out = of_run(load_config(path, known), known)
    config, found = _loaded(config, known, to_play=to_play, elsewhere=elsewhere)
    if config.skip_bad and all(bot.joined for bot in known):
        config, found, left_out = _without_bad(config, found)
        check_number(config, left_out)
    ids = {bot.entry_id for bot in known if not bot.joined}
    here = {entry.id for entry in found if isinstance(entry, Entry)}
    gone = [bot for bot in known if bot.out and not bot.joined and bot.entry_id not in here]
    entries: list[Entry] = []
    kept: list[Entry] = []
    begun_with = zip(_in_places(config, known), _begun(config, known), strict=True)
    for bot, entry, (there, begun) in zip(config.bots, found, begun_with, strict=True):
        same = entry if isinstance(entry, Entry) and entry.id in ids else None
        stored = None
        if same is None or _differs(same, begun):
            stored = _stored(config, bot, begun, to_play=to_play, elsewhere=elsewhere)
        if stored is not None:
            kept.append(stored)
        entries.append(stored or same or _stand_in(bot, gone, entry, there))
    for one, other in combinations(range(len(entries)), 2):
        if error := _pair_problem(config, config.bots[other], entries[one], entries[other]):
            raise error
    out, file = {bot.entry_id for bot in known if bot.out}, TomlFile(path)
    for bot, entry in zip(config.bots, entries, strict=True):
        if entry.id not in out:
            check_granted(file, bot)
    tournament = Tournament(config, tuple(entries), kept=tuple(kept), left_out=(*config.left_out, *left_out))
    for outer, inner in pairwise(sorted(started(tournament), key=lambda entry: entry.folder.parts)):
        if inner.folder != outer.folder and inner.folder.is_relative_to(outer.folder):
            _fail_for_what_it_holds(tournament, outer, f"the bot '{inner.name}', {inner.folder}")
    _check_format(tournament)
    return tournament


def fitting_run(path: Path, out: Path) -> RunFolder | None:
    """The run in `out` that the tournament file at `path` continues, of several of its name: the newest of its bots as
    they are on disk, else the newest that it fits with bots from the store. The name alone does not tell: other files
    may have the same, and the file may be edited and edited back. None if it fits none of them. UsageError if it fits
    several whose folders were renamed, which have no order."""
    name = tournament_name(path)
    folders = run_folders(out, name)
    renamed = any(is_renamed(folder, name) for folder in folders)
    on_disk: list[RunFolder] = []
    from_store: list[RunFolder] = []
    bots: tuple[Participant, ...] | None = None
    for folder in reversed(folders):
        with suppress(ExpectedError):
            text = read_brief(folder.journal)
            if text.created is not None:
                if bots != (known := participants_of(text)):  # most runs of a file have the same bots
                    tournament, bots = load_tournament(path, known, to_play=False), known
                if check_configuration(folder, text, describe(tournament)) is None:
                    if not (renamed or tournament.kept):
                        return folder
                    (from_store if tournament.kept else on_disk).append(folder)
    found = on_disk or from_store
    if renamed and len(found) > 1:
        raise several_renamed(out, name, found)
    return found[0] if found else None


def known_participants(path: Path, out: Path) -> tuple[Participant, ...]:
    """The bots of the run in `out` that the tournament file at `path` continues; of none that it fits, those of the
    newest of its name, but not of one whose folder was renamed: beside that another run begins."""
    name = tournament_name(path)
    folders = run_folders(out, name)
    renamed = any(is_renamed(folder, name) for folder in folders)
    if (renamed or len(folders) > 1) and (folder := fitting_run(path, out)) is not None:
        return participants_of(read_journal(folder.journal))
    return () if renamed else newest_participants(out, name)


def of_run(config: TournamentConfig, known: Sequence[Participant]) -> tuple[TournamentConfig, list[LeftOut]]:
    """The configuration with the bots of the run whose bots are `known`, as far as it depends on the disk who they are:
    a folder that a pattern finds only now, or a bot that could not play when the run began, is left out."""
    first = [bot for bot in known if not bot.joined]
    if not first or not (config.skip_bad or any(bot.pattern for bot in config.bots)):
        return config, []
    waiting = dict(enumerate(first))
    places: list[tuple[int, BotConfig]] = []
    left_out: list[LeftOut] = []
    changed = False
    for bot in config.bots:
        place = next((place for place, one in waiting.items() if _is_of(bot, one)), None)
        if place is not None:
            del waiting[place]
            places.append((place, bot))
        elif not (config.skip_bad or bot.pattern):
            changed = True
            places.append((len(places), bot))
        elif not any(bot.remote is None and one.folder == str(_real(bot.folder)) for one in known):
            left_out.append(LeftOut(_place_of(bot), *_not_in_run(bot)))
    if not changed:
        places.sort(key=lambda placed: placed[0])
    return replace(config, bots=tuple(bot for _, bot in places), left_out=()), left_out


def _is_of(bot: BotConfig, one: Participant) -> bool:
    """Whether a bot of the file is the one that the run knows, by where it lies and by its name and options."""
    if bot.copy_of:
        return bot.name == one.name
    if bot.remote is not None or not one.folder:
        return bot.remote is not None and not one.folder and bot.name == one.name
    return (
        Path(one.folder) in places_of(bot.folder)
        and bot.name in (None, one.name)
        and all(one.options.get(name) == value for name, value in bot.options.items())
    )


def _not_in_run(bot: BotConfig) -> tuple[str, str]:
    """Why a bot that came later is not in the run, and what to do."""
    words = ["crosstown", "add", "RUN", str(bot.folder)]
    return "the run began without it", f"to let it join: {shlex.join(words)}"


def _differs(entry: Entry, begun: Participant | None) -> bool:
    """Whether a bot of the same id has other files than the run began with: its id does not tell which of its files may
    be executed."""
    if begun is None or begun.entry_id != entry.id or not entry.content:
        return False
    return entry.content != begun.content


def _place_of(bot: BotConfig) -> str:
    """What a bot of the file is called before its files are read."""
    return str(bot.name) if bot.remote is not None or bot.copy_of else str(bot.folder)


Found: TypeAlias = list[Entry | ConfigError]


def _loaded(
    config: TournamentConfig, known: Sequence[Participant], *, to_play: bool, elsewhere: bool
) -> tuple[TournamentConfig, Found]:
    """The entry of each bot, or what is wrong with it; and the configuration in which copies have the settings of
    their originals."""
    bots: list[BotConfig] = []
    found: Found = []
    places: dict[str, int] = {}
    for bot, begun in zip(config.bots, _begun(config, known), strict=True):
        if bot.copy_of:
            bot, entry = _copied(config, bot, places, bots, found)
        else:
            entry = _tried(config, bot, begun, to_play=to_play, elsewhere=elsewhere)
        name = entry.name if isinstance(entry, Entry) else bot.name or (begun.name if begun else "")
        places.setdefault(name, len(bots))
        bots.append(bot)
        found.append(entry)
    return replace(config, bots=tuple(bots)), found


def _copied(
    config: TournamentConfig, bot: BotConfig, places: Mapping[str, int], bots: Sequence[BotConfig], found: Found
) -> tuple[BotConfig, Entry | ConfigError]:
    """A copy with the settings of its original, which is among the `bots` before it, and the entry of the copy."""
    place = places.get(bot.copy_of)
    if place is None:
        what = f"'{bot.name}' is a copy of {show(bot.copy_of)}, and no bot before it is called so"
        return bot, _bot_error(config, bot, what, suggest(bot.copy_of, list(places), "the bots before it are"))
    original, entry = bots[place], found[place]
    if original.remote is not None or original.copy_of:
        kind = "a remote bot, which connects only once" if original.remote is not None else "a copy itself"
        return bot, _bot_error(config, bot, f"'{bot.name}' is a copy of '{bot.copy_of}', {kind}", "name another bot")
    made = replace(
        original,
        name=bot.name,
        line=bot.line,
        place=bot.place,
        entry_list=bot.entry_list,
        copy_of=bot.copy_of,
        pattern=(),
    )
    if isinstance(entry, ConfigError):
        return made, entry
    try:
        return made, copy_entry(entry, bot.name or "")
    except BotNameError as error:
        return made, _bot_error(config, bot, f"bot: {error}", error.next_step)


def _without_bad(config: TournamentConfig, found: Found) -> tuple[TournamentConfig, Found, list[LeftOut]]:
    """The configuration without the bots that cannot play, the entries of the others, and the reasons."""
    file = TomlFile(config.path)
    left_out: list[LeftOut] = []
    good: list[tuple[BotConfig, Entry]] = []
    for bot, entry in zip(config.bots, found, strict=True):
        try:
            if isinstance(entry, ConfigError):
                raise entry
            check_granted(file, bot)
            for _, other in good:
                if error := _pair_problem(config, bot, other, entry):
                    raise error
        except ConfigError as error:
            left_out.append(LeftOut(_place_of(bot), error.what.removeprefix("bot: "), error.next_step))
        else:
            good.append((bot, entry))
    return replace(config, bots=tuple(bot for bot, _ in good)), [entry for _, entry in good], left_out


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
    step = "give the bot a folder of its own, or keep the other elsewhere (--out for runs)"
    sentence = f"the folder of the bot '{entry.name}', {entry.folder}, holds {what}"
    if place >= len(config.bots):
        raise ConfigError(config.path, None, sentence, step)
    bot = config.bots[place]
    raise ConfigError(bot.entry_list or config.path, bot.line, sentence, step)


def sources_needed(config: TournamentConfig, known: Sequence[Participant]) -> list[tuple[Path, Profile | None]]:
    """Where the sources lie of each bot that is to be started, and how it is confined: those of a run that has begun
    in the store."""
    config, _ = of_run(config, known)
    begun = {id(bot): stored_sources(one) for bot, one in zip(config.bots, _begun(config, known), strict=True)}
    return [
        (begun[id(bot)] or bot.folder, bot.sandbox.profile or config.sandbox.profile)
        for bot in folders_needed(config, known)
    ]


def _begun(config: TournamentConfig, known: Sequence[Participant]) -> list[Participant | None]:
    """For each bot of the file the one with which the run began, if it is the same folder under the same name, or a
    link lies in the folder's place by now, or the file names a link, which may lead elsewhere by now."""
    return [
        one
        if one is not None
        and one.content
        and not one.out
        and (Path(one.folder) in places_of(bot.folder) or bot.folder.is_symlink())
        and bot.name in (None, one.name)
        else None
        for bot, one in zip(config.bots, _in_places(config, known), strict=True)
    ]


def _in_places(config: TournamentConfig, known: Sequence[Participant]) -> list[Participant | None]:
    """The bots with which the run began, in the places of those of the file."""
    first: list[Participant | None] = [bot for bot in known if not bot.joined]
    return (first + [None] * len(config.bots))[: len(config.bots)]


def _stored(
    config: TournamentConfig, bot: BotConfig, begun: Participant | None, *, to_play: bool, elsewhere: bool
) -> Entry | None:
    """The bot as the run began with it; None if the file has other options for it by now, or the store lost it."""
    if begun is None:
        return None
    with suppress(ManifestError, EntryError, BotNameError):
        folder = Path(begun.folder)
        entry = load_stored(begun.content, folder, begun.name, bot.options, to_play=to_play, elsewhere=elsewhere)
        entry = copy_entry(entry, begun.name) if bot.copy_of else entry
        if entry.id == begun.entry_id:
            _check_games(config, bot, entry)
            return entry
    return None


def _real(folder: Path) -> Path:
    """Its path without links; of a link that leads to itself, for which `Path.resolve` raises, its own."""
    return Path(os.path.realpath(folder))


def folders_needed(config: TournamentConfig, known: Sequence[Participant]) -> list[BotConfig]:
    """The bots of the file but those whose folder is only there for bots that have left."""
    copies = {bot.name for bot in config.bots if bot.copy_of}
    gone = [bot for bot in known if bot.out and not bot.joined and bot.folder and bot.name not in copies]
    left = Counter(_real(Path(bot.folder)) for bot in gone)
    started = [bot for bot in config.bots if bot.remote is None and not bot.copy_of]
    named = Counter(_real(bot.folder) for bot in started)
    return [bot for bot in started if named[_real(bot.folder)] > left[_real(bot.folder)]]


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


def lacks_bots(tournament: Tournament, participants: Sequence[Participant]) -> bool:
    """Whether one of these bots of its run plays, and was read as one that has left, or not at all."""
    there = zip(tournament.bots, tournament.entries, strict=False)
    ready = {entry.id for bot, entry in there if entry.argv or bot.remote is not None}
    return any(not one.out and one.entry_id not in ready for one in participants)


def _tried(
    config: TournamentConfig, bot: BotConfig, begun: Participant | None, *, to_play: bool, elsewhere: bool
) -> Entry | ConfigError:
    """PlatformError if this machine has no place for the bot, unless the store has what the run began with."""
    entry = _try(config, bot, to_play=to_play, elsewhere=elsewhere)
    if isinstance(entry, PlatformError):
        if _stored(config, bot, begun, to_play=to_play, elsewhere=elsewhere) is None:
            raise entry
        return _bot_error(config, bot, f"bot: {entry}", entry.next_step)
    return entry


def _try(
    config: TournamentConfig, bot: BotConfig, *, to_play: bool = True, elsewhere: bool = False
) -> Entry | ConfigError | PlatformError:
    try:
        return _entry(config, bot, to_play=to_play, elsewhere=elsewhere)
    except (ConfigError, PlatformError) as error:
        return error


def _stand_in(
    bot: BotConfig, gone: list[Participant], found: Entry | ConfigError, in_place: Participant | None
) -> Entry:
    """For a bot of the file that the run does not know as it is now, or that cannot be read: whoever left from its
    folder, by its name and options; of a link, who began `in_place` of it. Nobody stands for two."""
    lost = isinstance(found, ConfigError)  # then a folder of that name elsewhere will do: all may have been moved
    for one in () if bot.remote is not None else gone:
        there = Path(one.folder)
        if (
            one.folder
            and (
                _real(there) == _real(bot.folder)
                or (lost and there.name == bot.folder.name)
                or (one is in_place and bot.folder.is_symlink())
            )
            and bot.name in (None, one.name)
            and all(one.options.get(name) == value for name, value in bot.options.items())
        ):
            gone.remove(one)
            return departed_entry(one)
    if isinstance(found, ConfigError):
        raise found
    return found


def _check_format(tournament: Tournament) -> None:
    """ConfigError if the format cannot be played by these bots, or if it or the anchors of the ratings name others."""
    config = tournament.config
    names = [entry.name for entry in tournament.entries]
    style = get_format(config.format)
    first = (config.format, 0) if style.repeated else (config.format,)
    wanted: list[tuple[tuple[str | int, ...], str]] = [
        ((*first, setting.name), name)
        for setting in style.settings
        for name in setting.names(config.settings.get(setting.name))
    ]
    for place, stage in enumerate(config.settings.get("stages") or ()) if style.repeated else ():
        wanted += [
            ((config.format, place, setting.name), name)
            for setting in get_format(stage["format"]).settings
            for name in setting.names(stage["settings"].get(setting.name))
        ]
    for key, name in wanted:
        if name not in names:
            what = f"'{dotted(*key)}': no bot is called {show(name)}"
            TomlFile(config.path).fail(key, what, suggest(name, names, "the bots are"))
    seeds = config.settings.get("seeding")
    if isinstance(seeds, tuple) and not set(seeds) & set(names):  # from a file, which may name others, too
        what = f"'{dotted(*first, 'seeding')}': the file names no bot of this tournament, but {show(list(seeds))}"
        TomlFile(config.path).fail((*first, "seeding"), what, suggest(seeds[0], names, "the bots are"))
    for name in config.rating_anchors:
        if name not in names:
            what = f"'ratings.anchor.{name}': no bot is called {show(name)}"
            TomlFile(config.path).fail(("ratings", "anchor", name), what, suggest(name, names, "the bots are"))
    if problem := style.check(make_field(describe(tournament))):
        TomlFile(config.path).fail(("format",), problem, "add bots, or change the format or its settings")


def _entry(config: TournamentConfig, bot: BotConfig, *, to_play: bool, elsewhere: bool) -> Entry:
    try:
        if bot.remote is not None:
            return remote_bot_entry(bot.name or "", bot.remote.version)
        entry = load_entry(bot.folder, bot.name, bot.options, to_play=to_play, elsewhere=elsewhere)
    except (ManifestError, EntryError, BotNameError) as error:
        step = error.next_step
        if not isinstance(error, BotNameError) and not is_there(bot.folder) and not config.skip_bad:
            step += "; if it is gone from a run that has begun: crosstown withdraw RUN BOT"
        raise _bot_error(config, bot, f"bot: {error}", step) from None
    _check_games(config, bot, entry)
    return entry


def _bot_error(config: TournamentConfig, bot: BotConfig, what: str, next_step: str) -> ConfigError:
    """About a bot, where it is named; one of many can be left out."""
    if (bot.pattern or bot.entry_list) and not config.skip_bad:
        next_step += '; or leave out what cannot play: on_bad_entry = "skip"'
    return ConfigError(bot.entry_list or config.path, bot.line, what, next_step)


def _check_games(config: TournamentConfig, bot: BotConfig, entry: Entry) -> None:
    known = entry.manifest.games
    foreign = [game.game for game in config.games if not plays(known, game.game)]
    if foreign:
        plays_some = len(foreign) < len(config.games)
        if plays_some and get_format(config.format).by_game:
            return
        what = f"bot '{entry.name}' plays {', '.join(known)}, not {foreign[0]}"
        step = f"choose another bot, or name the game in {bot.folder / 'bot.toml'}"
        if plays_some:
            what += f", and in the format {config.format} every bot plays every game"
            step += f"; formats in which it need not: {', '.join(by_game_formats())}"
        raise _bot_error(config, bot, what, step)


def _pair_problem(config: TournamentConfig, bot: BotConfig, first: Entry, second: Entry) -> ConfigError | None:
    """Why the second of two entries, which is this bot's, cannot take part beside the first; None if it can."""
    another = 'give one of them another: name = "..."'
    if first.name == second.name:
        return _bot_error(config, bot, f"two bots are named '{first.name}'", another)
    if clashes(first.name, second.name):
        return _bot_error(config, bot, f"the bots' names {first.name!a} and {second.name!a} look alike", another)
    if first.id == second.id:
        what = f"the bots '{first.name}' and '{second.name}' are the same entry: same source, same options"
        return _bot_error(config, bot, what, "take one out, give it other options, or enter it as a copy: copy_of")
    return None
