"""Finds match records by what a user says: an id, its beginning, a path, a run."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from leaderboard.records import match_files
from referee.cli.runs import find_run, is_tournament_file
from referee.record.format import CLOSED_SUFFIX, LIVE_SUFFIX
from referee.tournament.controls import known_bots
from referee.tournament.errors import UsageError
from referee.tournament.folder import RunFolder
from referee.tournament.journal import read_journal

SHOWN_CANDIDATES = 5


def find_records(run: Path | None, out: Path, *, void: bool) -> list[Path]:
    """All records of a run (or of all runs under `out`), by name; `void`: also those set aside. UsageError if none.

    A run is named as for every command, by its folder, its name or its tournament file; a folder may also be any other
    with records.
    """
    found = _records(run, out, void=void)
    if not found:
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


@cache
def _identities(run: Path) -> Mapping[str, tuple[str, str]] | None:
    text = read_journal(RunFolder(run).journal)
    if text.created is None:
        return None
    return {bot.entry_id: (bot.name, bot.version) for bot in known_bots(text)}


def match_id(path: Path) -> str:
    """The id that a record is named by; one that was set aside has more after a dot."""
    return path.name.removesuffix(CLOSED_SUFFIX).removesuffix(LIVE_SUFFIX)


def _records(run: Path | None, out: Path, *, void: bool) -> list[Path]:
    if run is None:
        folders = sorted(path for path in out.iterdir() if path.is_dir()) if out.is_dir() else []
    elif run.is_dir():
        folders = [run]
    elif (out / run).is_dir():
        folders = [out / run]
    else:
        folders = [find_run(str(run), out).folder.path]
    return [path for folder in folders for path in _in_folder(folder, void=void)]


def _in_folder(folder: Path, *, void: bool) -> list[Path]:
    """Records of a run folder, or of a plain folder of records. A live file beside its closed one is not counted."""
    named = RunFolder(folder)
    places = [named.matches, *([named.void] if void else [])] if named.matches.is_dir() else [folder]
    return sorted(path for place in places for path in match_files(place).values())
