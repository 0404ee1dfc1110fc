"""Finds the run or the records that a user names."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from referee.cli.arguments import run_place
from referee.errors import JournalError, UsageError
from referee.record.journal import FailedStart, failed_starts
from referee.record.store import RecordStore, names_record, record_name
from referee.run.folder import SINGLE, RunFolder, check_no_records, folders_in, run_folders
from referee.run.journal import read_brief
from referee.run.participants import participants_of
from referee.texts import plural

if TYPE_CHECKING:
    from referee.run.run import Run


def find_run(wanted: str | None, out: Path, *, brief: bool = False) -> "Run":
    """The run that `wanted` names, or the most recent one under `out`; `brief` as for `Run`. UsageError if there is
    none, JournalError if only its records are there."""
    from referee.run.run import Run

    candidates = _candidates(wanted, out)
    folders = [folder for folder in candidates if folder.journal.is_file()]
    for folder in sorted(folders, key=lambda folder: folder.journal.stat().st_mtime_ns, reverse=True):
        run = Run(folder, brief=brief)
        if run.begun:
            return run
    for folder in candidates:
        if folder.name != SINGLE:
            check_no_records(folder)
    what = f"no run of {wanted}" if wanted else "no run"
    raise UsageError(f"{what} under {out}", "start one: crosstown run FILE, or say where runs are: --out DIR")


def _candidates(wanted: str | None, out: Path) -> list[RunFolder]:
    if wanted is None:
        return [RunFolder(path) for path in folders_in(out)] if out.is_dir() else []
    path = run_place(wanted)
    if is_tournament_file(path):
        from referee.tournament.config import tournament_name

        found = run_folders(out, tournament_name(path))
        if len(found) > 1:
            from referee.tournament.entrants import fitting_run

            return [own] if (own := fitting_run(path, out)) else found
        return found
    for place in places_of(path, out):
        folder = RunFolder(place)
        if folder.journal.exists() or (place == path and RecordStore.of_run(place).folder.exists()):
            return [folder]
        if place != path and (found := run_folders(out, wanted)):
            return found
    return []


def places_of(wanted: Path, out: Path) -> tuple[Path, ...]:
    """Where a folder that a command names may lie, the first choice first: a name alone is a run's in `out`, whatever
    else is called so in the working directory; a path is a path."""
    return (out / wanted, wanted) if wanted.name == str(wanted) else (wanted, out / wanted)


def is_tournament_file(path: Path) -> bool:
    """Whether a tournament file is meant, there or not."""
    return path.suffix == ".toml" and (path.is_file() or not path.exists())


SHOWN_CANDIDATES = 5


def find_records(run: Path | None, out: Path, *, void: bool, may_be_none: bool = False) -> list[Path]:
    """All records of a run (or of all runs under `out`), by name; `void`: also those set aside. UsageError if none;
    with `may_be_none` only if there is no run.

    A run is named as for every command, by its folder, its name or its tournament file; a folder may also be any other
    with records.
    """
    found = _records(run, out, void=void)
    if not found:
        if aside := len(_records(run, out, void=True)):
            if may_be_none:
                return []
            were = "was" if aside == 1 else "were"
            what = f"no match counts in {run or out}: {plural(aside, 'record')} {were} set aside"
            raise UsageError(what, "to include them: --void")
        where = run or out
        if any(RunFolder(folder).journal.is_file() for folder in find_folders(run, out)):
            if may_be_none:
                return []
            raise UsageError(f"no match of {where} has a record yet", "play it: crosstown run FILE")
        raise UsageError(f"no match records in {where}", "start a run: crosstown run FILE, or say where: --run FOLDER")
    return found


def find_last_records(run: Path | None, out: Path, most: int) -> tuple[list[Path], int] | None:
    """The last records of a run, sorted by name, and how many it has: without looking at all of them. None for several
    runs, or if there is none."""
    folders = find_folders(run, out)
    if len(folders) != 1:
        return None
    found, total = RecordStore.found_in(folders[0]).last(most)
    return (found, total) if total else None


def has_records(run: Path | None, out: Path) -> bool:
    """Whether a run, or one of all under `out`, has a record that was not set aside."""
    return any(RecordStore.found_in(folder).last(1)[1] for folder in find_folders(run, out))


def names_run(word: str, out: Path) -> bool:
    """Whether a word that may name a match or a run names a run, also one whose folder was renamed."""
    path = run_place(word)
    if path.is_dir() or (out / word).is_dir() or is_tournament_file(path):
        return True
    return path.name == word and not names_record(word) and bool(run_folders(out, word))


def find_record(wanted: str, run: Path | None, out: Path) -> Path:
    """The one record that `wanted` names. UsageError if there is none, or more than one."""
    path = Path(wanted)
    if names_record(wanted):
        return path  # whoever reads it says what is wrong with it
    records = _records(run, out, void=True)
    exact = [record for record in records if record_name(record) == wanted]
    found = exact or [record for record in records if record_name(record).startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"no match {wanted!r} in {run or out}", "see: crosstown matches list")
    names = ", ".join(str(record) for record in found[:SHOWN_CANDIDATES])
    more = f" and {len(found) - SHOWN_CANDIDATES} more" if len(found) > SHOWN_CANDIDATES else ""
    raise UsageError(f"{wanted!r} may be {names}{more}", "give the whole id and --run FOLDER, or the path")


def failed_starts_in(run: Path | None, out: Path) -> list[tuple[RunFolder, FailedStart]]:
    """The bots that did not start, in a run or in all runs under `out`. Journals that cannot be read are passed over:
    they have commands of their own."""
    found: list[tuple[RunFolder, FailedStart]] = []
    for folder in map(RunFolder, find_folders(run, out)):
        with suppress(JournalError):
            journal = read_brief(folder.journal)
            names = {bot.entry_id: bot.name for bot in participants_of(journal)}
            starts = failed_starts((line for _, line in journal.steps), names)
            found += [(folder, start) for start in starts.values()]
    return found


def find_folders(run: Path | None, out: Path) -> list[Path]:
    """The folders whose records are meant: that of a run, or all under `out` that this user may read. UsageError if
    there is no such run."""
    if run is None:
        return folders_in(out) if out.is_dir() else []
    first, last = places_of(run, out)
    if first.is_dir():
        return [first]
    try:
        return [find_run(str(run), out, brief=True).folder.path]  # a name may be that of a run whose folder was renamed
    except (UsageError, JournalError):
        if last.is_dir():
            return [last]
        raise


def _records(run: Path | None, out: Path, *, void: bool) -> list[Path]:
    return [path for folder in find_folders(run, out) for path in _in_folder(folder, void=void)]


def _in_folder(folder: Path, *, void: bool) -> list[Path]:
    """Records of a run folder, or of a plain folder of records. A live file beside its closed one is not counted."""
    store = RecordStore.found_in(folder)
    found = list(store.paths().values())
    if void and store.folder != folder:
        found += store.aside_paths().values()
    return sorted(found)
