"""Backups: a copy of a ladder that is made while it plays, and the ladder that is restored from it.

The ladder writes content, then `ladder.db`, then journals. A backup reads them in the reverse order: first
`season.json`, then the length of each journal, then the database, then the files of versions. So everything that the
copy of a journal names is in the copy of the database, and everything that this names is in the copy of the content.
Later data is left out or not named. A restored ladder continues from the state at which its journals were read, and
plays again what has no result.

The runner may have annulled a match in between: then the database calls that done, and the copy of the journal does not
have it. `restore` adds it to the journal.

BACKUP/backup.json           what is in it: each file with its size and a hash; written last
BACKUP/ladder.toml           the ladder's file, where it has one
BACKUP/ladder.db, content/, divisions/, seasons/, season.json, tls/, hand_ins/logs/   as in the ladder's folder

Builds, tables and caches are not in it: they are made again. It holds secrets, so only its owner can read it.
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

from referee.errors import PlatformError, UsageError, why_unread
from referee.folders import folder_beside
from referee.ladder.config import LadderConfig
from referee.ladder.database import OWNER_ONLY
from referee.ladder.schema import SCHEMA_VERSION
from referee.ladder.season import read_season, season_file
from referee.process.sources import EntryError
from referee.process.store import hold
from referee.process.trees import walk
from referee.record.journal import Control, anchors_of
from referee.record.store import is_live, match_id_of
from referee.run.folder import RunFolder, runs_in
from referee.run.journal import Journal, read_journal
from referee.schedule.schedule import place_of

FORMAT = 1
MANIFEST = "backup.json"
_FILE = "ladder.toml"
_DATABASE = "ladder.db"
_BLOCK_BYTES = 1 << 20


@dataclass(slots=True)
class _Copies:
    """The files of a backup, copied one by one, with the digests that verify them."""

    folder: Path
    report: Callable[[str], None]
    known: dict[str, tuple[int, str]] = field(default_factory=dict)

    def copy(self, source: Path, name: str, *, most_bytes: int | None = None) -> None:
        """OSError. Of a file that grows, the first `most_bytes`."""
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with source.open("rb") as data:
            mode = os.fstat(data.fileno()).st_mode & 0o700
            with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_ONLY), "wb") as made:
                made_of, size = blake2b(digest_size=16), 0
                while block := data.read(min(_BLOCK_BYTES, _BLOCK_BYTES if most_bytes is None else most_bytes - size)):
                    made.write(block)
                    made_of.update(block)
                    size += len(block)
            shutil.copystat(source, target)
        target.chmod(mode | OWNER_ONLY if mode & 0o100 else OWNER_ONLY)
        self.known[name] = size, made_of.hexdigest()
        self.report(name)

    def note(self, name: str) -> None:
        """A file that was made in the backup itself."""
        path = self.folder / name
        path.chmod(OWNER_ONLY)
        self.known[name] = path.stat().st_size, _digest(path)


def _digest(path: Path) -> str:
    made = blake2b(digest_size=16)
    with path.open("rb") as data:
        while block := data.read(_BLOCK_BYTES):
            made.update(block)
    return made.hexdigest()


def back_up(config: LadderConfig, target: Path, report: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Copy the ladder into the new folder `target`, also while it plays; what `backup.json` says. UsageError,
    PlatformError."""
    if not (config.data / _DATABASE).is_file():
        raise UsageError(f"{config.data} has no ladder in it", "start it first: crosstown serve, or give --file FILE")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} is there already", "give a new folder for each backup")
    try:
        with folder_beside(target, mode=0o700) as half:
            copies, season = _Copies(half, report), read_season(config.data).number
            # Before the journals: else it could call blocks over that are open in these.
            with suppress(FileNotFoundError):
                copies.copy(season_file(config.data), season_file(config.data).name)
            divisions = {run.name: _copy_run(run, f"divisions/{run.name}", copies) for run in _runs(config.data)}
            for ended in _folders(config.data / "seasons"):
                for run in _runs(ended):
                    _copy_run(run, f"seasons/{ended.name}/divisions/{run.name}", copies)
            for path in _files(tls := config.data / "tls"):
                with suppress(FileNotFoundError):
                    copies.copy(path, f"tls/{path.relative_to(tls)}")
            contents = _copy_database(config.data / _DATABASE, copies)
            for content in contents:
                _copy_content(config.content / content, f"content/{content}", copies)
            _copy_logs(config.data / "hand_ins" / "logs", copies)
            if config.path.is_file():
                copies.copy(config.path, _FILE)
            if read_season(config.data).number != season:  # its runs went elsewhere while they were copied
                raise PlatformError(f"season {season} ended while it was copied", "make the backup once more")
            made = {
                "format": FORMAT,
                "ladder": config.name,
                "made": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
                "crosstown": version("crosstown-arena"),
                "schema": SCHEMA_VERSION,
                "divisions": divisions,
                "files": copies.known,
            }
            _write_private(half / MANIFEST, json.dumps(made))
            os.sync()  # one for all files, which may be many
            if target.is_dir():
                target.rmdir()
            half.rename(target)
    except OSError as error:
        raise PlatformError(
            f"{error.filename or target}: the backup could not be made ({error.strerror})",
            "free some space, or choose another folder; the ladder itself was only read",
        ) from None
    return made


def _write_private(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY), "w", encoding="utf-8") as file:
        file.write(text)


def _folders(place: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(path for path in place.iterdir() if path.is_dir())
    return []


def _runs(data: Path) -> list[RunFolder]:
    return sorted(runs_in(data / "divisions"), key=lambda run: run.name)


def _copy_run(run: RunFolder, name: str, copies: _Copies) -> dict[str, int]:
    """Its journal as far as it is now; then the records that count by it, the secrets, and what was set aside."""
    journal = read_journal(run.journal)
    copies.copy(run.journal, f"{name}/{run.journal.name}", most_bytes=journal.size_bytes)
    counted = anchors_of(journal.events).digests
    with suppress(FileNotFoundError):  # after the journal: each secret is written before the epoch is begun
        copies.copy(run.secrets, f"{name}/{run.secrets.name}")
    for match_id in counted:
        found = run.records.find(match_id)
        # Set aside since, or packed: the next loop has it.
        with suppress(FileNotFoundError):
            if found is not None and found.is_file() and not is_live(found):
                copies.copy(found, f"{name}/{found.relative_to(run.path)}")
    for path in _files(run.matches):
        place = f"{name}/{path.relative_to(run.path)}"
        is_other = path.parent != run.matches or not match_id_of(path)
        if is_other and place not in copies.known and not path.name.startswith("."):
            with suppress(FileNotFoundError):
                copies.copy(path, place)
    return {"journal_bytes": journal.size_bytes, "matches": len(counted)}


def _files(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        for entry in walk(folder):
            if entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def _copy_database(path: Path, copies: _Copies) -> list[str]:
    """By SQLite's own backup, which does not wait for writers; the contents that it speaks of."""
    target = copies.folder / _DATABASE
    try:
        with (
            closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(target)) as made,
        ):
            source.backup(made)
            made.execute("PRAGMA journal_mode = DELETE")  # one file, without what WAL keeps beside it
            found = made.execute(
                "SELECT DISTINCT v.content FROM versions v JOIN bots b ON b.id = v.bot_id WHERE b.remote = 0"
            ).fetchall()
    except sqlite3.Error as error:
        raise PlatformError(f"{path} cannot be copied ({error})", "try again") from None
    copies.note(_DATABASE)
    return sorted(row[0] for row in found)


def _copy_content(folder: Path, name: str, copies: _Copies) -> None:
    """Nothing where the files were removed, since the version is retired."""
    for path in _files(folder):
        with suppress(FileNotFoundError):
            copies.copy(path, f"{name}/{path.relative_to(folder)}")


def _copy_logs(folder: Path, copies: _Copies) -> None:
    for path in _files(folder):
        with suppress(FileNotFoundError):
            copies.copy(path, f"hand_ins/logs/{path.name}")


def restore(backup: Path, config: LadderConfig, report: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Make the ladder of `config`, whose folder must be empty or missing, from a backup; what `backup.json` says. A
    backup that is not whole is refused, and nothing is made. UsageError, PlatformError."""
    made = _read_manifest(backup)
    data = config.data
    if data.exists() and (not data.is_dir() or any(data.iterdir())):
        raise UsageError(
            f"{data} is there already, and a restored ladder takes no other's place",
            'move it away, or choose another folder: data = "..." in the ladder\'s file',
        )
    try:
        with folder_beside(data, mode=0o700) as half:
            copies = _Copies(half, report)
            for name, (size, digest) in made["files"].items():
                if name == _FILE:
                    continue
                source = _within(backup, name)
                copies.copy(source, name)
                if copies.known[name] != (size, digest):
                    raise UsageError(f"{source} is not the file that was backed up", "use another backup")
            annulled = _follow_journals(half / _DATABASE)
            for run in _runs(half):
                _check_run(run, [act for act in annulled if act.division == run.name])
            _check_content(half / "content")
            os.sync()
            half.chmod(0o755)
            if data.is_dir():
                data.rmdir()
            half.rename(data)
    except FileNotFoundError as error:
        raise UsageError(f"{error.filename} is missing in the backup", "use another backup") from None
    except OSError as error:
        raise PlatformError(
            f"{error.filename or data}: cannot be written ({error.strerror})",
            "free some space, or choose another folder",
        ) from None
    return made


def _read_manifest(backup: Path) -> dict[str, Any]:
    path = backup / MANIFEST
    try:
        found = json.loads(path.read_bytes())
        if found["format"] != FORMAT or found["schema"] > SCHEMA_VERSION:
            raise UsageError(
                f"{backup} was made by a newer Crosstown ({found['crosstown']})", "use that one, or a newer one"
            )
        found["files"] = {str(name): (int(size), str(digest)) for name, (size, digest) in found["files"].items()}
    except FileNotFoundError:
        raise UsageError(
            f"{backup} is no backup: it has no {MANIFEST}", "give a folder that the command backup made"
        ) from None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read ({why_unread(error)})", "use another backup") from None
    return dict(found)


def _within(backup: Path, name: str) -> Path:
    path = Path(name)
    if path.is_absolute() or ".." in path.parts:
        raise UsageError(f"{backup / MANIFEST} names {name}, which lies elsewhere", "use another backup")
    return backup / path


@dataclass(frozen=True, slots=True)
class _Annulled:
    """A match that was annulled, by the database."""

    at: str
    division: str
    match_id: str
    by: str
    reason: str


def _check_run(run: RunFolder, acts: Sequence[_Annulled]) -> None:
    """Add to the journal the matches that were annulled between its copy and that of the database. JournalError if it
    is damaged."""
    text = read_journal(run.journal)
    counted = anchors_of(text.events).digests
    known = {control.match_id for control in text.controls if control.kind == "annulled"}
    # An earlier season may have had a match of the same id.
    begun = (
        datetime.fromisoformat(text.created.at).replace(microsecond=0)
        if text.created
        else datetime.max.replace(tzinfo=UTC)
    )
    missing = [
        act
        for act in acts
        if act.match_id in counted and act.match_id not in known and datetime.fromisoformat(act.at) >= begun
    ]
    if not missing:
        return
    with Journal(run.journal, text) as journal:
        for act in missing:
            place = place_of(act.match_id)
            assert place is not None  # it counted
            journal.control(Control("annulled", place, match_id=act.match_id, by=act.by, reason=act.reason))


def _follow_journals(database: Path) -> list[_Annulled]:
    """Forget which bots the breaker paused: this follows from the journals, and the runner notes it again. Returns the
    annulled matches. PlatformError."""
    try:
        with closing(sqlite3.connect(database)) as made, made:
            tables = {row[0] for row in made.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if "breaks" in tables:
                made.execute("DELETE FROM breaks")
            if "acts" not in tables:  # a backup of an older version
                return []
            acts = made.execute(
                "SELECT at, detail, who, reason FROM acts WHERE what = 'annul' AND done = 'yes'"
            ).fetchall()
            found = ((at, json.loads(detail), who, reason) for at, detail, who, reason in acts)
            return [_Annulled(at, what["division"], what["match_id"], who, reason) for at, what, who, reason in found]
    except (sqlite3.Error, ValueError, KeyError, TypeError) as error:
        raise PlatformError(f"{database.name} of the backup cannot be used ({error})", "use another backup") from None


def _check_content(content: Path) -> None:
    """The modes of what is played from, as the store keeps them; UsageError for files that are not what they were."""
    for folder in _folders(content):
        for entry in walk(folder / "bot"):
            path = Path(entry.path)
            if entry.is_file(follow_symlinks=False):
                path.chmod(0o555 if path.stat().st_mode & 0o100 else 0o444)
        for entry in sorted(walk(folder / "bot"), key=lambda one: one.path, reverse=True):
            if entry.is_dir(follow_symlinks=False):
                Path(entry.path).chmod(0o555)
        (folder / "bot").chmod(0o555)
        folder.chmod(0o755)
        try:
            hold(content, folder.name)
        except EntryError as error:
            raise UsageError(str(error), "use another backup") from None
    if content.is_dir():
        content.chmod(0o755)
