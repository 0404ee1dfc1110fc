"""Whether a record counts in its run, and with which ranking: what a list of records must say of each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from leaderboard.controls import annulled_entries
from leaderboard.index import load_index
from referee.cli.record_files import match_id
from referee.cli.run_account import account_of
from referee.errors import JournalError
from referee.record.journal import in_force
from referee.run.folder import RunFolder
from referee.run.journal import read_journal
from referee.run.lock import is_run
from referee.schedule.formats.registry import UnknownFormat, get_format


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What organisers decided about matches, asked once per run."""

    _runs: dict[Path, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)
    _rounds: dict[Path, Mapping[str, int]] = field(default_factory=dict)
    _annulled: dict[Path, frozenset[str]] = field(default_factory=dict)

    def round(self, record: Path) -> int | None:
        """The round of a match, from 1; None where its format does not pair round by round, or that is not known."""
        run = record.parent.parent if record.parent.name == "matches" else record.parent.parent.parent
        if run not in self._rounds:
            self._rounds[run] = _rounds_of(RunFolder(run))
        return self._rounds[run].get(match_id(record).partition(".")[0])

    def ranking(self, record: Path) -> tuple[int, ...]:
        """The ranking that a match counts with instead of its own; () for its own."""
        if record.parent.name != "matches":
            return ()
        run = record.parent.parent
        if run not in self._runs:
            self._runs[run] = _rankings(run)
        return self._runs[run].get(match_id(record), ())

    def is_annulled(self, record: Path, entries: Iterable[str]) -> bool:
        """Whether one of these entries has left the run, and all its matches are annulled. Their records stay."""
        run = record.parent.parent
        if record.parent.name == "matches" and run not in self._annulled:
            self._annulled[run] = _annulled(run)
        return record.parent.name == "matches" and not self._annulled[run].isdisjoint(entries)


def set_aside_as(record: Path) -> str:
    """Why a record lies among those that do not count, as its file's name has it; '' for one that lies elsewhere."""
    if record.parent.name != "void":
        return ""
    return match_id(record).partition(".")[2].partition("-")[2] or "void"  # <match id>.<number>-<why>


def _rounds_of(folder: RunFolder) -> Mapping[str, int]:
    try:
        text = read_journal(folder.journal)
        if text.created is None or not get_format(text.configuration["format"]).has_table:
            return {}
        return account_of(text, load_index(folder.matches, folder.database).rows).rounds
    except (JournalError, UnknownFormat):
        return {}


def _annulled(run: Path) -> frozenset[str]:
    try:
        return annulled_entries(read_journal(RunFolder(run).journal).controls)
    except JournalError:
        return frozenset()


def _rankings(run: Path) -> Mapping[str, tuple[int, ...]]:
    try:
        controls = read_journal(RunFolder(run).journal).controls
    except JournalError:  # the records say what they say
        return {}
    return {control.match_id: control.ranking for control in in_force(controls) if control.match_id}


def progress_of(record: Path) -> str:
    """Of a match without a result: "going on", or "cut off" when its run was stopped; '' where no run says that."""
    folder = RunFolder(record.parent.parent)
    if record.parent != folder.matches or not folder.journal.exists():
        return ""
    return "going on" if is_run(folder.lock) else "cut off"
