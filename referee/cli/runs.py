"""Finds the run a command is about."""

from pathlib import Path

from referee.errors import UsageError
from referee.record.store import RecordStore
from referee.run.folder import RunFolder, check_no_records, run_folders
from referee.run.run import Run


def find_run(wanted: str | None, out: Path) -> Run:
    """The run that `wanted` names, or the most recent one under `out`. UsageError if there is none, JournalError if
    only its records are there."""
    candidates = _candidates(wanted, out)
    folders = [folder for folder in candidates if folder.journal.is_file()]
    for folder in sorted(folders, key=lambda folder: folder.journal.stat().st_mtime_ns, reverse=True):
        run = Run(folder)
        if run.begun:
            return run
    for folder in candidates:
        check_no_records(folder)
    what = f"no run of {wanted}" if wanted else "no run"
    raise UsageError(f"{what} under {out}", "start one: crosstown run FILE, or say where runs are: --out DIR")


def _candidates(wanted: str | None, out: Path) -> list[RunFolder]:
    if wanted is None:
        inside = sorted(out.iterdir()) if out.is_dir() else []
        return [RunFolder(path) for path in inside if path.is_dir()]
    path = Path(wanted)
    if is_tournament_file(path):
        from referee.tournament.config import tournament_name

        return run_folders(out, tournament_name(path))
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
