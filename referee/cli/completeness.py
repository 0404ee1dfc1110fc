"""Whether a finished run has the record of every match that it says it has played."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from leaderboard.index import load_index
from leaderboard.records import match_id_of
from referee.cli.output import plural
from referee.cli.run_account import Course
from referee.cli.runs import finish_of
from referee.run.folder import RunFolder
from referee.run.journal import read_journal
from referee.run.records import place_of
from referee.schedule.formats.registry import UnknownFormat


@dataclass(frozen=True, slots=True)
class Gaps:
    """What is wrong with the records of one finished run as a whole: `missing` are matches of its schedule without one,
    `foreign` those that no match of it belongs to. `unknown` counts further ones that are missing, of rounds which are
    not known without those before them. `damaged` have a record that does not count: whoever reads it says why."""

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


def gaps_in(records: Iterable[Path]) -> list[Gaps]:
    """The gaps of all runs that these records lie in, runs without one left out. JournalError."""
    folders = {path.parent.parent for path in records if path.parent.name == "matches"}
    found = [gaps_of(RunFolder(folder)) for folder in sorted(folders)]
    return [gaps for gaps in found if gaps.number]


def lost_words(folder: RunFolder, lost: int) -> str:
    """What every table over such a run has to say."""
    verb, state = ("was", "has") if lost == 1 else ("were", "have")
    command = shlex.join(["crosstown", "matches", "verify", str(folder.path)])
    return f"{plural(lost, 'match')} {verb} played and {state} no good record: {command}"


def gaps_of(folder: RunFolder) -> Gaps:
    """Nothing is missing of a run that is not finished, or whose format is a plug-in that is gone."""
    text = read_journal(folder.journal)
    finish = finish_of(text)
    if finish is None:
        return Gaps(folder.path)
    finished, since = text.events[finish], text.events[finish + 1 :]
    index = load_index(folder.matches, folder.database)
    rows = index.rows
    try:
        course = Course(text, rows)
    except UnknownFormat:
        return Gaps(folder.path)
    # What was decided since has to be played yet.
    there = {row.match_id for row in rows}
    taken = {line.fields.get("match_id") or line.fields.get("match") for line in since} - there
    left = taken | {line.fields["match"] for line in text.events if line.kind == "given_up"}
    end = min((line.fields["place"] for line in since if line.kind == "added"), default=None)
    bad = {match_id for item in index.unusable if place_of(match_id := match_id_of(item.path.name)) is not None} - left
    known: set[str] = set()
    missing: list[str] = []
    damaged: list[str] = []
    for spec, status in course:
        known.add(spec.match_id)
        if status == "open" and spec.match_id not in left and (end is None or spec.place < end):
            (damaged if spec.match_id in bad else missing).append(spec.match_id)
    if not course.walk.ended:
        wanted = int(finished.fields["rated"]) - len(taken - {None})
        unknown = max(0, wanted - len(there) - len(missing) - len(bad))
        return Gaps(folder.path, missing, (), unknown, sorted(bad))
    return Gaps(folder.path, missing, [row.match_id for row in rows if row.match_id not in known], 0, damaged)
