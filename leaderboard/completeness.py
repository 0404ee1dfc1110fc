"""Whether a run is complete and sound: every record verified, and one for every match that was played."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from leaderboard.index import load_index
from leaderboard.records import MatchRow, match_of
from referee.record.store import FileStamp, counts_in, match_id_of, run_of
from referee.record.verify import Verdict, verify_file
from referee.run.checks import RunCheck
from referee.run.folder import RunFolder
from referee.run.run import Run
from referee.schedule.formats.registry import UnknownFormat
from referee.schedule.schedule import place_of
from referee.texts import plural


@dataclass(frozen=True, slots=True)
class Gaps:
    """What is wrong with the records of one finished run as a whole: `missing` are matches of its schedule without one,
    `foreign` those that no match of it belongs to. `unknown` counts further ones that are missing, of rounds which are
    not known without those before them. `damaged` have a record that does not count: reading it says why."""

    run: Path
    missing: Sequence[str] = ()
    foreign: Sequence[str] = ()
    unknown: int = 0
    damaged: Sequence[str] = ()

    @property
    def lost(self) -> int:
        """Matches that were played and have no good record."""
        return len(self.missing) + self.unknown + len(self.damaged)

    @property
    def number(self) -> int:
        return len(self.missing) + len(self.foreign) + self.unknown

    def lines(self) -> list[str]:
        """For people."""
        lines = [f"missing: match {match_id} of {self.run} was played, and has no record" for match_id in self.missing]
        if self.unknown:
            lines.append(f"missing: {self.unknown} more of {self.run}, of rounds that were paired after these")
        return lines + [f"foreign: {match_id} in {self.run} is no match of its schedule" for match_id in self.foreign]


def lost_words(run: Path, lost: int) -> str:
    """What every table over the run in this folder has to say."""
    verb, state = ("was", "has") if lost == 1 else ("were", "have")
    command = shlex.join(["crosstown", "matches", "verify", str(run)])
    return f"{plural(lost, 'match')} {verb} played and {state} no good record: {command}"


def gaps_of(run: Run, known: Mapping[str, MatchRow] | None = None) -> Gaps:
    """Nothing is missing of a run that is not finished, or whose format is not installed here. `known` are rows of
    records that were read already, by match id."""
    text = run.journal
    path = run.folder.path
    finish = text.finish
    if finish is None:
        return Gaps(path)
    finished, since = text.events[finish], text.events[finish + 1 :]
    index = load_index(run.folder, known)
    rows = index.rows
    try:
        progress = run.progress(rows)
    except UnknownFormat:
        return Gaps(path)
    # What was decided since has to be played yet.
    there = {row.match_id for row in rows}
    taken = {line.fields.get("match_id") or line.fields.get("match") for line in since} - there
    left = taken | {line.fields["match"] for line in text.events if line.kind == "given_up"}
    end = text.opened
    bad = {match_id for item in index.unusable if place_of(match_id := match_id_of(item.path)) is not None} - left
    scheduled: set[str] = set()
    missing: list[str] = []
    damaged: list[str] = []
    reached = False
    for spec, state in progress:
        if reached := end is not None and spec.place >= end:
            break  # the rest may be long
        scheduled.add(spec.match_id)
        if state == "open" and spec.match_id not in left:
            (damaged if spec.match_id in bad else missing).append(spec.match_id)
    if not reached and not progress.schedule.ended:
        wanted = int(finished.fields["rated"]) - len(taken - {None})
        unknown = max(0, wanted - len(there) - len(missing) - len(bad))
        return Gaps(path, missing, (), unknown, sorted(bad))
    before = [row.match_id for row in rows if end is None or row.place < end]
    return Gaps(path, missing, [match_id for match_id in before if match_id not in scheduled], 0, damaged)


class Verification:
    """Verifies records one by one, and then the runs as a whole that they lie in. Each record is read once."""

    def __init__(self) -> None:
        self._runs: dict[Path, Run] = {}
        self._sizes: dict[Path, int] = {}
        self._rows: dict[Path, dict[str, MatchRow]] = {}
        self._missing: dict[Path, Sequence[str]] = {}

    def verify(self, path: Path) -> Verdict:
        """Check one record, against its run if it lies in one. JournalError."""
        folder = run_of(path)
        if folder is None:
            return verify_file(path)[0]
        run = self._run(folder.resolve())
        stamp: FileStamp | None = None
        with suppress(OSError):  # reading it will tell
            stamp = FileStamp.of(path)
        verdict, record = run.verify(path)
        if record is not None and stamp is not None and counts_in(path):
            match_id = match_id_of(path)
            row = match_of(record, stamp, run.anchors.digests.get(match_id, "")).row
            if row is not None:
                self._rows.setdefault(run.folder.path, {})[match_id] = row
        return verdict

    def gaps(self, paths: Iterable[Path]) -> Iterator[Gaps]:
        """The gaps of all runs in which these records lie without being set aside, once the records are verified; runs
        without one are left out. JournalError."""
        for folder in _runs_of(paths):
            found = gaps_of(Run(folder), self._rows.get(folder.resolve()))
            self._missing[folder] = found.missing
            if found.number:
                yield found

    def checks(self, paths: Iterable[Path], key: str = "") -> Iterator[RunCheck]:
        """A check of each of these runs that has begun, without the matches that `gaps` has named. `key`: they have to
        be signed by it. JournalError."""
        for folder in _runs_of(paths):
            run = Run(folder)
            if run.begun:
                yield run.check(key, self._missing.get(folder, ()))

    def _run(self, folder: Path) -> Run:
        """Read again when its journal has grown."""
        journal = RunFolder(folder).journal
        size = journal.stat().st_size if journal.exists() else 0
        if folder not in self._runs or self._sizes[folder] != size:
            self._runs[folder], self._sizes[folder] = Run(folder), size
        return self._runs[folder]


def are_of_runs(paths: Iterable[Path]) -> bool:
    """Whether one of these records counts in a run that has begun. JournalError."""
    return any(Run(folder).begun for folder in _runs_of(paths))


def _runs_of(paths: Iterable[Path]) -> list[Path]:
    """The folders of the runs in which records lie that were not set aside."""
    return sorted({folder for path in paths if (folder := counts_in(path)) is not None})
