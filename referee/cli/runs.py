"""Finds the run a command is about, and what its folder says."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.tournament.controls import known_bots
from referee.tournament.errors import UsageError
from referee.tournament.field import extent_of
from referee.tournament.folder import RunFolder, check_no_records, run_folders
from referee.tournament.formats.api import Extent
from referee.tournament.journal import JournalText, read_journal

SINGLE = "single"
"""The run folder, and the tournament in the records, of matches that belong to none."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run folder with its journal."""

    folder: RunFolder
    journal: JournalText

    @property
    def configuration(self) -> Mapping[str, Any]:
        """As `referee.tournament.identity.describe` made it."""
        return self.journal.configuration

    @property
    def total(self) -> int:
        """Matches that count once all is played; at most, where that depends on results or on who leaves."""
        last = self.journal.events[-1]
        if last.kind == "finished":
            return int(last.fields["rated"]) + int(last.fields["missing"])
        return self._extent().most

    @property
    def at_most(self) -> bool:
        """Whether results alone may make it fewer than `total`."""
        extent = self._extent()
        return self.journal.events[-1].kind != "finished" and extent.least != extent.most

    def _extent(self) -> Extent:
        return extent_of(self.configuration, [bot.name for bot in known_bots(self.journal)])


def find_run(wanted: str | None, out: Path) -> Run:
    """The run that `wanted` names, or the most recent one under `out`. UsageError if there is none, JournalError if
    only its records are there."""
    candidates = _candidates(wanted, out)
    folders = [folder for folder in candidates if folder.journal.is_file()]
    for folder in sorted(folders, key=lambda folder: folder.journal.stat().st_mtime_ns, reverse=True):
        text = read_journal(folder.journal)
        if text.created is not None:
            return Run(folder, text)
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
        if place == path and any((place / name).exists() for name in ("tournament.jsonl", "matches")):
            return [RunFolder(place)]
        if place != path and (place / "tournament.jsonl").exists():
            return [RunFolder(place)]
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
