"""Bots that joined a run after it began: from what a [[bots]] would say of them to the journal, and back."""

import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from referee.errors import ConfigError, UsageError
from referee.process.entry import Entry, EntryError, ManifestError, load_entry, load_stored, remote_bot_entry
from referee.process.manifest import ANY_GAME, BotNameError, Manifest
from referee.process.paths import is_there
from referee.process.sandbox import why_no_device
from referee.process.store import hold, store_folder
from referee.run.decisions import JoiningBot
from referee.run.journal import BOT_DEFAULTS, JournalText
from referee.run.participants import Participant, participants_of
from referee.schedule.spec import Limits
from referee.tournament.bot_list import read_defaults, with_defaults
from referee.tournament.bot_sections import RemoteBot, RemoteConfig, SandboxConfig, check_grants, read_bot
from referee.tournament.config import BotConfig, Tournament, TournamentConfig, load_config, too_few_copies
from referee.tournament.reading import TomlFile


def load_joining(
    text: JournalText,
    path: Path | None,
    name: str | None,
    more: Mapping[str, Any] | None = None,
    file: Path | None = None,
) -> JoiningBot:
    """The bot in the folder `path`, or, without one, a remote bot, that is to join the run with this journal. `more` is
    what else a [[bots]] of the file may say of it; `file` is that of the run, which may have been moved. UsageError,
    ConfigError, ManifestError, EntryError or BotNameError."""
    given = {name: value for name, value in {"name": name, **(more or {})}.items() if value is not None}
    if path is not None:
        given["path"] = str(path.resolve())
    settings = read_settings(text, given, file)
    if settings.remote is None:
        entry = load_entry(settings.folder, settings.name, settings.options)
    else:
        entry = remote_bot_entry(settings.name or "", settings.remote.version)
    folder = entry.folder if entry.argv else None
    return JoiningBot(entry.id, entry.name, tuple(entry.manifest.games), folder, _settings_fields(entry, settings))


def with_added(tournament: Tournament, text: JournalText, *, elsewhere: bool = False) -> Tournament:
    """The tournament with the bots that were added to its run, which need no build here if they play `elsewhere`.
    UsageError if one of them is not what it was."""
    known = {bot.entry_id: bot for bot in participants_of(text)}
    entries: list[Entry] = []
    settings: list[BotConfig] = []
    for fields in _added(text):
        bot = known[fields["entry_id"]]
        given = _settings_of(fields)
        entries.append(
            departed_entry(bot) if bot.out else _load_added(tournament.config, bot, given, elsewhere=elsewhere)
        )
        settings.append(given)
    return replace(tournament, entries=(*tournament.entries, *entries), added=tuple(settings))


def joining(text: JournalText) -> list[BotConfig]:
    """The settings of the bots that were added to a run, are in it still, and are started here. Their folders are those
    of their copies in the store, where it has them."""
    known = {bot.entry_id: bot for bot in participants_of(text) if not bot.out}
    found = [(known[id_], _settings_of(fields)) for fields in _added(text) if (id_ := fields["entry_id"]) in known]
    return [replace(given, folder=stored_sources(bot) or given.folder) for bot, given in found if given.remote is None]


def stored_sources(bot: Participant | None) -> Path | None:
    """Where the store has the sources of a bot of a run; None where it has not."""
    if bot is None or not bot.content:
        return None
    with suppress(EntryError):
        version = hold(store_folder(), bot.content)
        return version.folder if version else None
    return None


def _load_added(config: TournamentConfig, bot: Participant, given: BotConfig, *, elsewhere: bool) -> Entry:
    who = f"the bot '{bot.name}' that was added"
    if given.remote is not None:
        if config.remote is None:
            step = f"restore [remote] in the file, or: crosstown withdraw RUN {shlex.quote(bot.name)}"
            raise UsageError(f"{who} is a remote bot, and {config.path} has no [remote] any more", step)
        return remote_bot_entry(bot.name, given.remote.version)
    try:
        load = partial(load_stored, bot.content) if bot.content else load_entry
        entry = load(given.folder, bot.name, bot.options, elsewhere=elsewhere)
    except (ManifestError, EntryError, BotNameError) as error:
        raise UsageError(f"{who}: {error.sentence}", _restore(bot.name)) from None
    if entry.id != bot.entry_id:
        raise UsageError(f"the bot '{bot.name}' in {given.folder} was changed since it was added", _restore(bot.name))
    gone = [path for path in given.sandbox.read if not is_there(Path(path))]
    if gone:
        raise UsageError(f"{who} was granted {gone[0]} to read, which does not exist", _restore(bot.name))
    lost = [f"{path}, which {why}" for path in given.sandbox.devices if (why := why_no_device(path))]
    if lost:
        raise UsageError(f"{who} was granted the device {lost[0]}", _restore(bot.name))
    return entry


def _settings_of(fields: Mapping[str, Any]) -> BotConfig:
    """Of a bot that was added; inverse of `_settings_fields`. Older lines have no more than a folder."""
    granted = dict(fields.get("sandbox", {}))
    granted |= {name: tuple(granted[name]) for name in ("env", "read", "devices") if name in granted}
    dials = fields.get("remote")
    remote = None
    if dials is not None:
        file = dials.get("token_file")
        remote = RemoteBot(dials.get("token_env", ""), Path(file) if file else None, dials.get("version", ""))
    return BotConfig(
        Path(fields["folder"]),
        fields["name"],
        fields["options"],
        None,
        fields.get("clock", {}),
        SandboxConfig(**granted),
        remote,
        fields.get("fresh"),
        fields.get("copies", 0),
        club=fields.get("club", ""),
    )


def _settings_fields(entry: Entry, given: BotConfig) -> dict[str, Any]:
    """What a journal line keeps of a bot that joins, so that it plays as it was added."""
    fields: dict[str, Any] = {
        "folder": str(entry.folder) if given.remote is None else "",
        "content": entry.content,
        "version": entry.manifest.version,
        "options": dict(entry.options),
    }
    if entry.manifest.games and ANY_GAME not in entry.manifest.games:
        fields["games"] = list(entry.manifest.games)
    if given.clock:
        fields["clock"] = dict(given.clock)
    if given.fresh is not None:
        fields["fresh"] = given.fresh
    if given.copies:
        fields["copies"] = given.copies
    if given.club:
        fields["club"] = given.club
    if given.sandbox != SandboxConfig():
        fields["sandbox"] = asdict(given.sandbox)
    if given.remote is not None:
        file = given.remote.token_file
        fields["remote"] = {**asdict(given.remote), "token_file": None if file is None else str(file)}
    return fields


def read_settings(text: JournalText, given: Mapping[str, Any], file: Path | None = None) -> BotConfig:
    """What `given`, in the form of a [[bots]] of the tournament file, says of a bot that is to join the run, and
    [bot_defaults] where `given` says nothing. UsageError, or ConfigError for a file of the run that
    cannot be used."""
    assert text.created is not None
    file = file or _file_of(text)
    limits, remote = Limits.from_in_force(text.configuration["limits"]), None
    if given.get("remote"):
        remote = _remote_of(text, file or Path("the tournament file"))
    given = with_defaults(given, _defaults_of(text, file, limits))
    sections = {"bots": [given]} if remote is None else {"bots": [given], "remote": {}}
    try:
        read = TomlFile(Path("add"), sections)
        found = read_bot(read, limits, remote, 0, given)
        check_grants(read, ("bots", 0), found.sandbox)
    except ConfigError as error:
        what = str(error).removeprefix("add: ").replace("bots[1].", "").replace("'bots[1]'", "the bot")
        raise UsageError(what, error.next_step) from None
    players = max(number for game in text.configuration["games"] for number in game["players"])
    if problem := too_few_copies(found, text.configuration["settings"], players):
        key = "copies" if found.remote is None else "remote"
        raise UsageError(f"'{key}' {problem[0]}", f"add it with --copies {players}" if key == "copies" else _LOCAL)
    return found


_LOCAL = "add a bot that the referee starts"


def _file_of(text: JournalText) -> Path | None:
    """The tournament file that the run began with; None where the journal does not say."""
    assert text.created is not None
    named = text.created.fields.get("file")
    return None if named is None else Path(named)


def _defaults_of(text: JournalText, file: Path | None, limits: Limits) -> Mapping[str, Any]:
    """What the run's [bot_defaults] say. Older versions did not write them down: then the file decides as it is now."""
    assert text.created is not None
    kept: Mapping[str, Any] | None = text.created.fields.get(BOT_DEFAULTS)
    if kept is not None:
        return kept
    return read_defaults(TomlFile(file), limits) if file is not None and file.is_file() else {}


def _remote_of(text: JournalText, path: Path) -> RemoteConfig:
    """Where bots dial in, which the file of the run says."""
    if not text.configuration["ponder"]:
        raise UsageError("a remote bot cannot be stopped, and this run has ponder = false", _LOCAL)
    config = load_config(path, participants_of(text))
    if config.remote is None:
        step = f'add [remote] to {path}, with a line such as listen = "0.0.0.0:7000"'
        raise UsageError(f"{path} does not say where remote bots connect", step)
    return config.remote


def departed_entry(bot: Participant) -> Entry:
    """For a bot that has left and need not be on the disk any more: nothing of it can be started."""
    manifest = Manifest(bot.name, bot.version, bot.games or (ANY_GAME,), ())
    return Entry(bot.entry_id, bot.name, Path(), manifest, bot.options, (), Path())


def _restore(name: str) -> str:
    return f"restore it and run the same command again, or: crosstown withdraw RUN {shlex.quote(name)}"


def _added(text: JournalText) -> list[Mapping[str, Any]]:
    return [line.fields for _, line in text.steps if line.kind == "added"]
