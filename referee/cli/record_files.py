"""Finds match records by what a user says: an id, its beginning, a path, a run."""

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from leaderboard.records import match_files
from referee.cli.run_tables import failed_starts_of
from referee.cli.runs import find_run, is_tournament_file, places_of
from referee.errors import JournalError, UsageError
from referee.record.format import CLOSED_SUFFIX, LIVE_SUFFIX
from referee.record.journal import FailedStart, anchors_of
from referee.record.verify import Seeds
from referee.run.decisions import known_bots
from referee.run.folder import RunFolder
from referee.run.journal import read_journal
from referee.run.luck import luck_of

SHOWN_CANDIDATES = 5


def find_records(run: Path | None, out: Path, *, void: bool, may_be_none: bool = False) -> list[Path]:
    """All records of a run (or of all runs under `out`), by name; `void`: also those set aside. UsageError if none;
    with `may_be_none` only if none was set aside either.

    A run is named as for every command, by its folder, its name or its tournament file; a folder may also be any other
    with records.
    """
    found = _records(run, out, void=void)
    if not found:
        if aside := len(_records(run, out, void=True)):
            if may_be_none:
                return []
            what = f"no match counts in {run or out}: {aside} records were set aside"
            raise UsageError(what, "to include them: --void")
        where = run or out
        raise UsageError(f"no match records in {where}", "start a run: crosstown run FILE, or say where: --run FOLDER")
    return found


def names_run(word: str, out: Path) -> bool:
    """Whether a word that may name a match or a run names a run."""
    return Path(word).is_dir() or (out / word).is_dir() or is_tournament_file(Path(word))


def find_record(wanted: str, run: Path | None, out: Path) -> Path:
    """The one record that `wanted` names. UsageError if there is none, or more than one."""
    path = Path(wanted)
    if wanted.endswith((CLOSED_SUFFIX, LIVE_SUFFIX)):
        return path  # whoever reads it says what is wrong with it
    records = _records(run, out, void=True)
    exact = [record for record in records if match_id(record) == wanted]
    found = exact or [record for record in records if match_id(record).startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"no match {wanted!r} in {run or out}", "see: crosstown matches list")
    names = ", ".join(str(record) for record in found[:SHOWN_CANDIDATES])
    more = f" and {len(found) - SHOWN_CANDIDATES} more" if len(found) > SHOWN_CANDIDATES else ""
    raise UsageError(f"{wanted!r} may be {names}{more}", "give the whole id and --run FOLDER, or the path")


def identities(path: Path) -> Mapping[str, tuple[str, str]] | None:
    """Name and version of the bots of the run that a record lies in, by entry id; None if it lies in none."""
    folder = path.parent.parent if path.parent.name == "void" else path.parent
    return _identities(folder.parent) if folder.name == "matches" else None


def seeds(path: Path) -> Seeds | None:
    """Which seeds matches of the run may have that a record lies in; None if it lies in none."""
    folder = path.parent.parent if path.parent.name == "void" else path.parent
    if folder.name != "matches":
        return None
    journal = RunFolder(folder.parent.resolve()).journal
    return _seeds(journal, journal.stat().st_size if journal.exists() else 0)


def anchor(path: Path) -> str:
    """The digest that the journal of the run has of a record that counts there; '' if there is none."""
    if path.parent.name != "matches":
        return ""
    journal = RunFolder(path.parent.parent.resolve()).journal
    return _digests(journal, journal.stat().st_size if journal.exists() else 0).get(match_id(path), "")


@cache
def _digests(journal: Path, size_bytes: int) -> Mapping[str, str]:
    return anchors_of(read_journal(journal).events).digests


@cache
def _seeds(journal: Path, size_bytes: int) -> Seeds | None:
    """`size_bytes` tells one state of the journal from the next."""
    text = read_journal(journal)
    if text.created is None:
        return None
    luck, complete = luck_of(text)
    return (lambda header: luck.seeds_of(header.game, header.block)) if complete else None


@cache
def _identities(run: Path) -> Mapping[str, tuple[str, str]] | None:
    text = read_journal(RunFolder(run).journal)
    if text.created is None:
        return None
    return {bot.entry_id: (bot.name, bot.version) for bot in known_bots(text)}


def named_match(path: Path) -> str:
    """The match that the name of a record in a run says it is of; '' for a record that lies elsewhere."""
    folder = path.parent.parent if path.parent.name == "void" else path.parent
    if folder.name != "matches" or not RunFolder(folder.parent).journal.exists():
        return ""
    return match_id(path).partition(".")[0]


def match_id(path: Path) -> str:
    """The id that a record is named by; one that was set aside has more after a dot."""
    return path.name.removesuffix(CLOSED_SUFFIX).removesuffix(LIVE_SUFFIX)


def failed_starts_in(run: Path | None, out: Path) -> list[tuple[RunFolder, FailedStart]]:
    """The bots that did not start, in a run or in all runs under `out`. Journals that cannot be read are passed over:
    they have commands of their own."""
    found: list[tuple[RunFolder, FailedStart]] = []
    for folder in map(RunFolder, _folders(run, out)):
        with suppress(JournalError):
            found += [(folder, start) for start in failed_starts_of(read_journal(folder.journal)).values()]
    return found


def _folders(run: Path | None, out: Path) -> list[Path]:
    if run is None:
        return sorted(path for path in out.iterdir() if path.is_dir()) if out.is_dir() else []
    if found := [place for place in places_of(run, out) if place.is_dir()]:
        return found[:1]
    return [find_run(str(run), out).folder.path]


def _records(run: Path | None, out: Path, *, void: bool) -> list[Path]:
    return [path for folder in _folders(run, out) for path in _in_folder(folder, void=void)]


def _in_folder(folder: Path, *, void: bool) -> list[Path]:
    """Records of a run folder, or of a plain folder of records. A live file beside its closed one is not counted."""
    named = RunFolder(folder)
    places = [named.matches, *([named.void] if void else [])] if named.matches.is_dir() else [folder]
    return sorted(path for place in places for path in match_files(place).values())
