"""What an organiser decides about a run: who leaves, who joins, which match does not count.

Each is one event of the journal, at a place in the schedule behind everything that has a record, so that what was
played stays what it was. It holds from the next run of the command on; while a runner is at work its lock refuses it.
"""

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from referee.errors import BusyError, ConfigError, UsageError
from referee.process.entry import Entry, EntryError, ManifestError, load_entry, load_stored, remote_bot_entry
from referee.process.manifest import BotNameError, Manifest, clashes
from referee.process.sandbox import why_no_device
from referee.process.store import hold, store_folder
from referee.record.journal import LEAVING, Choice, Control, ControlKind, control_fields, in_force
from referee.run.folder import RunFolder, run_folders
from referee.run.journal import Journal, JournalText, read_journal
from referee.run.lock import RunLock
from referee.run.records import (
    clear_leftovers,
    entries_at_fault,
    live_or_closed,
    place_of,
    record_files,
    set_aside,
)
from referee.schedule.formats import comparison, knockout
from referee.schedule.formats.registry import get_format
from referee.schedule.spec import Limits
from referee.tournament.config import BotConfig, Tournament, TournamentConfig, load_config
from referee.tournament.reading import TomlFile
from referee.tournament.sections.bots import read_bot
from referee.tournament.sections.remote import RemoteBot, RemoteConfig
from referee.tournament.sections.sandbox import SandboxConfig, check_grants

_APART = "give each bot a folder of its own, apart from where runs are"


@dataclass(frozen=True, slots=True)
class KnownBot:
    """A bot as the journal has it. `folder` is where it lay, '' if it dials in or that is not known; `content` its name
    in the store, '' where an older version of Crosstown began the run; `joined` marks those that the file does not
    have."""

    entry_id: str
    name: str
    version: str
    options: Mapping[str, str | int | bool]
    out: bool = False
    folder: str = ""
    joined: bool = False
    content: str = ""


def known_bots(text: JournalText) -> tuple[KnownBot, ...]:
    """All bots of a run, those that were added last; `out` for those that have left. None before it has begun."""
    if text.created is None:
        return ()
    gone = {control.entry_id for control in in_force(text.controls) if control.kind in LEAVING}
    bots = text.created.fields["configuration"]["bots"]
    folders = text.created.fields.get("folders") or [""] * len(bots)
    contents = text.created.fields.get("contents") or [""] * len(bots)
    added = [line.fields for line in _added(text)]
    listed = [(bot, folder, content, False) for bot, folder, content in zip(bots, folders, contents, strict=True)]
    listed += [(bot, bot["folder"], bot.get("content", ""), True) for bot in added]
    return tuple(
        KnownBot(
            bot["entry_id"],
            bot["name"],
            bot["version"],
            bot["options"],
            bot["entry_id"] in gone,
            _folder(there),
            joined,
            content,
        )
        for bot, there, content, joined in listed
    )


def _folder(there: str) -> str:
    """'' for the "." that older journals have for a bot that dials in: it is not a folder."""
    return there if Path(there).is_absolute() else ""


def newest_bots(out: Path, name: str) -> tuple[KnownBot, ...]:
    """The bots of the newest run of a tournament: those of them that have left need not be on the disk any more."""
    for folder in reversed(run_folders(out, name)):
        text = read_journal(folder.journal)
        if text.created is not None:
            return known_bots(text)
    return ()


def with_added(tournament: Tournament, text: JournalText) -> Tournament:
    """The tournament with the bots that were added to its run. UsageError if one of them is not what it was."""
    known = {bot.entry_id: bot for bot in known_bots(text)}
    entries: list[Entry] = []
    settings: list[BotConfig] = []
    for line in _added(text):
        bot = known[line.fields["entry_id"]]
        given = _settings_of(line.fields)
        entries.append(ghost(bot) if bot.out else _load_added(tournament.config, bot, given))
        settings.append(given)
    return replace(tournament, entries=(*tournament.entries, *entries), added=tuple(settings))


def joining(text: JournalText) -> list[BotConfig]:
    """The settings of the bots that were added to a run, are in it still, and are started here. Their folders are those
    of their copies in the store, where it has them."""
    known = {bot.entry_id: bot for bot in known_bots(text) if not bot.out}
    found = [
        (known[id_], _settings_of(line.fields)) for line in _added(text) if (id_ := line.fields["entry_id"]) in known
    ]
    return [replace(given, folder=stored_sources(bot) or given.folder) for bot, given in found if given.remote is None]


def stored_sources(bot: KnownBot | None) -> Path | None:
    """Where the store has the sources of a bot of a run; None where it has not."""
    if bot is None or not bot.content:
        return None
    with suppress(EntryError):
        version = hold(store_folder(), bot.content)
        return version.folder if version else None
    return None


def _load_added(config: TournamentConfig, bot: KnownBot, given: BotConfig) -> Entry:
    who = f"the bot '{bot.name}' that was added"
    if given.remote is not None:
        if config.remote is None:
            step = f"restore [remote] in the file, or: crosstown withdraw RUN {shlex.quote(bot.name)}"
            raise UsageError(f"{who} is a remote bot, and {config.path} has no [remote] any more", step)
        return remote_bot_entry(bot.name, given.remote.version)
    try:
        load = partial(load_stored, bot.content) if bot.content else load_entry
        entry = load(given.folder, bot.name, bot.options)
    except (ManifestError, EntryError, BotNameError) as error:
        raise UsageError(f"{who}: {error}", _restore(bot.name)) from None
    if entry.id != bot.entry_id:
        raise UsageError(f"the bot '{bot.name}' in {given.folder} was changed since it was added", _restore(bot.name))
    gone = [path for path in given.sandbox.read if not Path(path).exists()]
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
    )


def _settings_fields(entry: Entry, given: BotConfig) -> dict[str, Any]:
    """What a journal line keeps of a bot that joins, so that it plays as it was added."""
    fields: dict[str, Any] = {
        "folder": str(entry.folder) if given.remote is None else "",
        "content": entry.content,
        "version": entry.manifest.version,
        "options": dict(entry.options),
    }
    if given.clock:
        fields["clock"] = dict(given.clock)
    if given.fresh is not None:
        fields["fresh"] = given.fresh
    if given.copies:
        fields["copies"] = given.copies
    if given.sandbox != SandboxConfig():
        fields["sandbox"] = asdict(given.sandbox)
    if given.remote is not None:
        file = given.remote.token_file
        fields["remote"] = {**asdict(given.remote), "token_file": None if file is None else str(file)}
    return fields


def leave(folder: RunFolder, kind: ControlKind, wanted: str, choice: Choice | None, *, by: str, reason: str) -> Control:
    """A bot, by name or entry id, plays no more. Not the last one. Without `choice` its played matches are kept; with
    one, what becomes of the matches of a bot that is out already is changed. UsageError, BusyError or PlatformError."""

    def make(text: JournalText) -> Control:
        bots = known_bots(text)
        bot = find_bot(bots, wanted)
        if bot.out:
            left = _departure(text, bot)
            if choice in (None, left.choice):
                back = shlex.join(["crosstown", "reinstate", str(folder.path), bot.entry_id])
                raise UsageError(
                    f"'{bot.name}' is out already, with --choice {left.choice}",
                    f"to change what becomes of its matches, give another --choice; to let it play on: {back}",
                )
            # What a rule has decided stays a rule's, with all that follows from that.
            return replace(
                left,
                kind="breaker" if left.kind == "breaker" else kind,
                choice=choice or "keep",
                by=by,
                reason=reason or left.reason,
            )
        if all(other.out for other in bots if other is not bot):
            raise UsageError(
                f"'{bot.name}' is the last bot of this run: without it there is nothing to play",
                "leave the run as it is, or let another bot join first: crosstown add",
            )
        return Control(
            kind,
            next_place(folder),
            entry_id=bot.entry_id,
            choice=choice or "keep",
            name=bot.name,
            by=by,
            reason=reason,
        )

    return _append(folder, make)


def _departure(text: JournalText, bot: KnownBot) -> Control:
    """By what a bot is out."""
    return next(
        control for control in in_force(text.controls) if control.kind in LEAVING and control.entry_id == bot.entry_id
    )


def reinstate(folder: RunFolder, wanted: str, *, by: str, reason: str) -> Control:
    """A bot that is out, by name or entry id, plays on as if it had not left. Of one that the breaker has set aside
    the faults so far are not counted any more. UsageError, BusyError or PlatformError."""

    def make(text: JournalText) -> Control:
        bots = known_bots(text)
        bot = _find_out(bots, wanted)
        for other in bots:
            if not other.out:
                if clashes(other.name, bot.name):
                    step = shlex.join(["crosstown", "withdraw", str(folder.path), other.entry_id])
                    raise UsageError(f"another bot plays as '{other.name}' now", f"take it out first: {step}")
                if bot.folder:
                    _check_folders(bot.name, Path(os.path.realpath(bot.folder)), other)
        left = _departure(text, bot)
        forgiven = _faulty_matches(folder, bot, left.place) if left.kind == "breaker" else ()
        return Control(
            "reinstated", left.place, entry_id=bot.entry_id, name=bot.name, by=by, reason=reason, forgiven=forgiven
        )

    return _append(folder, make)


def _find_out(bots: Sequence[KnownBot], wanted: str) -> KnownBot:
    """As `find_bot`, but of several that had a name one after the other the last that is out. UsageError."""
    if out := [bot for bot in bots if bot.out and wanted in (bot.name, bot.entry_id)]:
        return out[-1]
    bot = find_bot(bots, wanted)
    raise UsageError(f"'{bot.name}' is in the run", "nothing to do")


def _faulty_matches(folder: RunFolder, bot: KnownBot, place: int) -> tuple[str, ...]:
    """The matches before `place` that have a record by which this bot was at fault."""
    found = []
    for match_id, path in record_files(folder).items():
        if (at := place_of(match_id)) is not None and at < place and bot.entry_id in entries_at_fault(path):
            found.append(match_id)
    return tuple(sorted(found))


def add(
    folder: RunFolder,
    path: Path | None,
    name: str | None,
    more: Mapping[str, Any] | None = None,
    *,
    by: str,
    reason: str,
) -> Control:
    """The bot in the folder `path` joins, or, without one, a bot that dials in. `more` is what else a [[bots]] of the
    file may say of it. UsageError, ConfigError, ManifestError, EntryError or BotNameError."""
    given = {name: value for name, value in {"name": name, **(more or {})}.items() if value is not None}
    if path is not None:
        given["path"] = str(path.resolve())
    settings = read_settings(read_journal(folder.journal), given)
    if settings.remote is None:
        entry = load_entry(settings.folder, settings.name, settings.options)
    else:
        entry = remote_bot_entry(settings.name or "", settings.remote.version)

    def make(text: JournalText) -> Control:
        for bot in known_bots(text):
            _check_apart(entry, bot, folder.path.resolve())
            if bot.entry_id == entry.id:
                _fail_for_same(bot, folder.path)
            if not bot.out and clashes(bot.name, entry.name):
                raise UsageError(f"there is a bot '{bot.name}' already", "give this one another name: --name NAME")
        assert text.created is not None
        games = {game["game"] for game in text.created.fields["configuration"]["games"]}
        foreign = sorted(games - set(entry.manifest.games))
        if entry.manifest.games and foreign and "*" not in entry.manifest.games:
            raise UsageError(f"bot '{entry.name}' does not play {foreign[0]}", "add a bot that plays it")
        place = next_place(folder)
        if why := _closed_to_others(text, place):
            raise UsageError(f"'{entry.name}' would play nothing: {why}", "start another run with it: --new")
        return Control("added", place, entry_id=entry.id, name=entry.name, by=by, reason=reason)

    return _append(folder, make, _settings_fields(entry, settings))


def read_settings(text: JournalText, given: Mapping[str, Any]) -> BotConfig:
    """What `given`, in the form of a [[bots]] of the tournament file, says of a bot that is to join the run.
    UsageError, or ConfigError for a file of the run that cannot be used."""
    assert text.created is not None
    configuration, remote = text.configuration, None
    if given.get("remote"):
        remote = _remote_of(text)
    sections = {"bots": [given]} if remote is None else {"bots": [given], "remote": {}}
    try:
        read = TomlFile(Path("add"), sections)
        found = read_bot(read, Limits(**configuration["limits"]), remote, 0, given)
        check_grants(read, ("bots", 0), found.sandbox)
        return found
    except ConfigError as error:
        what = str(error).removeprefix("add: ").replace("bots[1].", "").replace("'bots[1]'", "the bot")
        raise UsageError(what, error.next_step) from None


def _remote_of(text: JournalText) -> RemoteConfig:
    """Where bots dial in, which the file of the run says."""
    assert text.created is not None
    path = Path(text.created.fields.get("file", "the tournament file"))
    if not text.configuration["ponder"]:
        step = "add one that the referee starts"
        raise UsageError("a remote bot cannot be stopped, and this run has ponder = false", step)
    config = load_config(path)
    if config.remote is None:
        step = f'add [remote] to {path}, with a line such as listen = "0.0.0.0:7000"'
        raise UsageError(f"{path} does not say where remote bots connect", step)
    return config.remote


def _fail_for_same(bot: KnownBot, run: Path) -> NoReturn:
    if not bot.out:
        raise UsageError(f"'{bot.name}' is the same entry: same source, same options", "add another bot")
    raise UsageError(
        f"'{bot.name}' is the same entry: same source, same options; it has left this run",
        f"to let it play on as if it had not: {shlex.join(['crosstown', 'reinstate', str(run), bot.entry_id])}",
    )


def _check_apart(entry: Entry, bot: KnownBot, run: Path) -> None:
    """UsageError if the new bot's folder, all of which it may read, holds another or the run, or lies in another's."""
    if not entry.argv:
        return
    if run.is_relative_to(entry.folder):
        raise UsageError(f"the folder of the bot '{entry.name}', {entry.folder}, holds the run, {run}", _APART)
    if not bot.out:
        _check_folders(entry.name, entry.folder, bot)


def _check_folders(name: str, folder: Path, bot: KnownBot) -> None:
    there = Path(os.path.realpath(bot.folder))
    if not bot.folder or there == folder:
        return
    if there.is_relative_to(folder) or folder.is_relative_to(there):
        raise UsageError(
            f"of the folders of the bots '{name}' and '{bot.name}', {folder} and {there}, one holds the other", _APART
        )


def _closed_to_others(text: JournalText, place: int) -> str:
    """Why a bot that joins at this place would never play; '' if it would."""
    assert text.created is not None
    style = text.created.fields["configuration"]["format"]
    last = next(line for line in reversed(text.events) if line.kind in ("created", "resumed", "stopped", "finished"))
    if style == comparison.NAME:
        return "this run compares two bots"
    if style == knockout.FORMAT.name and place > 0:
        return "a knockout takes others only before its first round"
    if last.kind == "finished" and not last.fields["missing"] and get_format(style).uses_results:
        return "the schedule of this run has ended"
    return ""


def annul(folder: RunFolder, match_id: str, *, replay: bool, by: str, reason: str) -> Control:
    """A match does not count: never, or not this time, and is played again. Its record is kept aside.

    A match that stayed void can be given up so: nobody waits for it any more. One that was annulled can be played
    again.
    UsageError, BusyError or PlatformError.
    """
    with _alone(folder):
        text = read_journal(folder.journal)
        place = _place_in(folder, match_id)
        clear_leftovers(folder, match_id)
        record = live_or_closed(folder, match_id)
        if record is None:
            _check_without_record(folder, text, match_id, replay=replay)
        with Journal(folder.journal, text) as journal:
            if replay and record is not None:
                # First of all, for what lies there when the run goes on counts. If nothing more is written, it is
                # played again all the same.
                set_aside(folder, record, "annulled")
            control = Control("reopened" if replay else "annulled", place, match_id=match_id, by=by, reason=reason)
            journal.control(control)
        if not replay and record is not None:
            set_aside(folder, record, "annulled")
    return control


_PLAYED_AGAIN = (
    "continue with: crosstown run FILE; if a bot of the match was disqualified or withdrawn, first: crosstown reinstate"
    " RUN BOT"
)


def _check_without_record(folder: RunFolder, text: JournalText, match_id: str, *, replay: bool) -> None:
    annulled = any(c.kind == "annulled" and c.match_id == match_id for c in in_force(text.controls))
    waits = any(line.kind in ("void", "reopened") and match_id in line.fields.values() for line in text.events)
    if annulled and not replay:
        raise UsageError(f"match {match_id} is annulled already", "to play it again: --replay")
    if not annulled and waits and replay:
        raise UsageError(f"match {match_id} is to be played again already", _PLAYED_AGAIN)
    if not annulled and not waits:
        raise _no_match(folder, match_id)


def _place_in(folder: RunFolder, match_id: str) -> int:
    place = place_of(match_id)
    if place is None or not match_id.replace("-", "").isalnum():
        raise _no_match(folder, match_id)
    return place


def _no_match(folder: RunFolder, match_id: str) -> UsageError:
    return UsageError(f"no match {match_id!r} counts in {folder.path}", "see: crosstown matches list")


def judge_again(folder: RunFolder, match_id: str, ranking: Sequence[int], *, by: str, reason: str) -> Control:
    """A match counts with another ranking (per seat, 1 the best) than its own; its record stays as it is."""

    def make(text: JournalText) -> Control:
        place = _place_in(folder, match_id)
        if min(ranking, default=0) != 1:
            raise UsageError(f"in the ranking {'-'.join(map(str, ranking))} no seat is first", "begin with rank 1")
        if live_or_closed(folder, match_id) is None:
            raise _no_match(folder, match_id)
        return Control("rejudged", place, match_id=match_id, by=by, reason=reason, ranking=tuple(ranking))

    return _append(folder, make)


def too_few(text: JournalText) -> str:
    """What can be played no more because too many bots have left, '' if nothing."""
    assert text.created is not None
    staying = sum(not bot.out for bot in known_bots(text))
    games = text.created.fields["configuration"]["games"]
    variants = [(game["game"], players) for game in games for players in game["players"]]
    lost = [f"{game} with {players} seats" for game, players in variants if players > staying]
    if not lost:
        return ""
    what = "nothing more is" if len(lost) == len(variants) else f"{', '.join(lost)} is no more"
    return f"too few bots are left ({staying}): {what} played"


def find_bot(bots: Sequence[KnownBot], wanted: str) -> KnownBot:
    """By its name or its entry id; of several that had a name one after the other the one that has it now, else the
    last. UsageError if there is none."""
    if found := [bot for bot in bots if wanted in (bot.name, bot.entry_id)]:
        return next((bot for bot in found if not bot.out), found[-1])
    names = ", ".join(f"'{bot.name}'" for bot in bots)
    raise UsageError(f"no bot '{wanted}' in this run", f"its bots are: {names}")


def next_place(folder: RunFolder) -> int:
    """The first place behind everything that has a record."""
    return max((place for name in record_files(folder) if (place := place_of(name)) is not None), default=-1) + 1


def _append(
    folder: RunFolder, make: Callable[[JournalText], Control], more: Mapping[str, Any] | None = None
) -> Control:
    with _alone(folder):
        text = read_journal(folder.journal)
        control = make(text)
        with Journal(folder.journal, text) as journal:
            journal.append(control.kind, **control_fields(control), **(more or {}))
    return control


@contextmanager
def _alone(folder: RunFolder) -> Iterator[None]:
    """Holds the lock of the run. BusyError that says how to get there, if a runner is at work."""
    try:
        lock = RunLock(folder.lock)
    except BusyError as error:
        step = (
            "stop it with Ctrl-C there (what was played stays played), enter this command again, and run the tournament"
            " again: it continues"
        )
        raise BusyError(str(error), step) from None
    with lock:
        yield


def _added(text: JournalText) -> list[Any]:
    return [line for line in text.events if line.kind == "added"]


def ghost(bot: KnownBot) -> Entry:
    """An entry that plays no more: what tables need of it."""
    manifest = Manifest(bot.name, bot.version, ("*",), ())
    return Entry(bot.entry_id, bot.name, Path(), manifest, bot.options, (), Path())


def _restore(name: str) -> str:
    return f"restore it and run the same command again, or: crosstown withdraw RUN {shlex.quote(name)}"
