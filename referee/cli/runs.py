"""Finds the run a command is about, and what its folder says."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leaderboard.records import match_files
from referee.errors import UsageError
from referee.record.journal import controls_of
from referee.run.folder import RunFolder, check_no_records, run_folders
from referee.run.journal import JournalText, read_journal
from referee.schedule.formats.api import Extent
from referee.tournament.schedule import planned

SINGLE = "single"
"""The run folder, and the tournament in the records, of matches that belong to none."""


STATES = ("created", "resumed", "stopped", "finished")
"""Journal lines that say how far a run is."""


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
        """Matches that count once all is played; at most, where that depends on results or on who leaves. Cancelled
        matches never count."""
        return self.extent.most

    @property
    def at_most(self) -> bool:
        """Whether fewer than `total` may come to be played."""
        return self.extent.least != self.extent.most

    @property
    def extent(self) -> Extent:
        """How many matches count once all is played; as `planned` has it while the run goes on."""
        finish = self._finish()
        if finish is None:
            return planned(self.journal, match_files(self.folder.matches))
        line, since = self.journal.events[finish], self.journal.events[finish + 1 :]
        before = {control.match_id for control in controls_of(Path(), self.journal.events[:finish]) if control.match_id}
        decided = {control.match_id: control for control in controls_of(Path(), since) if control.match_id}
        taken = sum(control.kind == "annulled" and match not in before for match, control in decided.items())
        number = int(line.fields["rated"]) + int(line.fields["missing"]) - taken
        return Extent(number, number)

    def _finish(self) -> int | None:
        """The event that says how many matches there are; None if the schedule goes on, or has grown since."""
        finish = finish_of(self.journal)
        grown = finish is not None and any(
            line.kind in ("added", "reinstated") for line in self.journal.events[finish + 1 :]
        )
        return None if grown else finish


def finish_of(text: JournalText) -> int | None:
    """Which event of the journal finished the run; None of one that is not finished, or was resumed since."""
    state = [place for place, line in enumerate(text.events) if line.kind in STATES]
    return state[-1] if state and text.events[state[-1]].kind == "finished" else None


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
