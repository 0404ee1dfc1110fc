"""Whether a run is complete and sound: every record verified, and one for every match that was played."""

import json
import math
import multiprocessing
import os
import resource
import shlex
import signal
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from itertools import islice
from multiprocessing.connection import Connection
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from leaderboard.index import BATCH_FILES, TableIndex, read_table, table_of_read
from leaderboard.match_table import Columns, columns_of
from leaderboard.records import MatchRow, match_of, read_match
from leaderboard.run_table import RunTable, run_table
from referee.games.registry import OPENSPIEL
from referee.record.format import RecordError
from referee.record.reader import read_header
from referee.record.store import FileStamp, counts_in, match_id_of, run_of
from referee.record.verify import Verdict, verify_file
from referee.run.checks import RunCheck
from referee.run.folder import RunFolder
from referee.run.run import Run
from referee.schedule.formats.registry import UnknownFormat
from referee.schedule.progress import Result
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


class Outcome(NamedTuple):
    """What a record says that was read already: as much of it as the schedule needs, and what tells that the file is
    still the same."""

    match_id: str
    place: int
    ranking: tuple[int, ...]
    faults: tuple[str, ...]
    stamp: FileStamp


def _outcome(row: MatchRow) -> Outcome:
    return Outcome(row.match_id, row.place, row.ranking, row.faults, row.stamp)


def _outcomes(
    run: Run, known: Mapping[str, Outcome] | None, index: TableIndex | None
) -> tuple[Sequence[Result], list[Path]]:
    """What the records of a run say, by place, and those that do not count. `known` saves reading them."""
    if known is None:
        index = index or read_table(run.folder)
        return list(index.rows.outcomes), [item.path for item in index.unusable]
    found: list[Outcome] = []
    unusable: list[Path] = []
    for match_id, stamp in run.records.stamps().items():
        outcome = known.get(match_id)
        if outcome is not None and outcome.stamp == stamp:
            found.append(outcome)
        elif (row := read_match(run.records.at(stamp), run.anchors.digests.get(match_id, "")).row) is not None:
            found.append(_outcome(row))
        else:
            unusable.append(run.records.at(stamp))
    return sorted(found, key=lambda outcome: (outcome.place, outcome.match_id)), unusable


def _taken_outcomes(then: Run, taken: Collection[Any]) -> Iterable[Outcome]:
    """How the matches ended that a run has lost since, by their records that were set aside: who met whom later
    followed from that."""
    found: dict[str, Outcome] = {}
    for path in then.records.aside_paths().values():
        match_id = match_id_of(path)
        if match_id in taken and (row := read_match(path, then.anchors.digests.get(match_id, "")).row) is not None:
            found[match_id] = _outcome(row)
    return found.values()


def gaps_of(run: Run, known: Mapping[str, Outcome] | None = None, index: TableIndex | None = None) -> Gaps:
    """Nothing is missing of a run that is not finished, or whose format is not installed here. `known` is what records
    say that were read already, by match id.

    What was decided since the run finished is not looked at: it changes what is still to be played, and may change who
    should have met whom, but not what was played.
    """
    text = run.journal
    path = run.folder.path
    finish = text.finish
    if finish is None:
        return Gaps(path)
    finished, since = text.events[finish], text.events[finish + 1 :]
    rows, unusable = _outcomes(run, known, index)
    then = Run(run.folder, text.until(finish))
    there = {row.match_id for row in rows}
    taken = {line.fields.get("match_id") or line.fields.get("match") for line in since} - there
    try:
        progress = then.progress(sorted([*rows, *_taken_outcomes(then, taken)], key=attrgetter("place")))
    except UnknownFormat:
        return Gaps(path)
    left = taken | {line.fields["match"] for line in text.events if line.kind == "given_up"}
    bad = {match_id for path_ in unusable if place_of(match_id := match_id_of(path_)) is not None} - left
    scheduled: set[str] = set()
    missing: list[str] = []
    damaged: list[str] = []
    for spec, state in progress:
        scheduled.add(spec.match_id)
        if state == "open" and spec.match_id not in left:
            (damaged if spec.match_id in bad else missing).append(spec.match_id)
    if not progress.schedule.ended:
        wanted = int(finished.fields["rated"]) - len(taken - {None})
        unknown = max(0, wanted - len(there) - len(missing) - len(bad))
        return Gaps(path, missing, (), unknown, sorted(bad))
    return Gaps(path, missing, [row.match_id for row in rows if row.match_id not in scheduled], 0, damaged)


class Verification:
    """Verifies records one by one, and then the runs as a whole that they lie in. Each record is read once."""

    def __init__(self) -> None:
        self._runs: dict[Path, Run] = {}
        self._sizes: dict[Path, int] = {}
        self._known: dict[Path, dict[str, Outcome]] = {}
        self._checked: dict[Path, set[str]] = {}
        self._columns: dict[Path, list[Columns]] = {}
        self._rows: dict[Path, list[MatchRow]] = {}
        """Of the records that counted, those that are in `_columns` left out."""
        self._missing: dict[Path, Sequence[str]] = {}
        self._resolved: dict[Path, Path] = {}

    def verify(self, path: Path) -> Verdict:
        """Check one record, against its run if it lies in one. JournalError."""
        verdict, row = self._check_apart(path) if _may_end_processes(path) else self._check(path)
        self._keep(path, row)
        return verdict

    def verify_all(self, paths: Sequence[Path], workers: int | None = None) -> Iterator[Verdict]:
        """The same for many, in their order, by one process for each core that this one may use. JournalError."""
        workers = workers or len(os.sched_getaffinity(0))
        rest = iter(paths)
        if workers > 1 and len(paths) >= WORTH_PROCESSES:
            for folder in _runs_of(paths):
                self._run(folder.resolve()).get_ready_to_verify()  # once, and not in each process
            yield from self._verify_beside(rest, workers)
        yield from map(self.verify, rest)

    def _verify_beside(self, paths: Iterator[Path], workers: int) -> Iterator[Verdict]:
        """Takes from `paths` what other processes verify: all, unless one of them dies or cannot be started."""
        chunks: deque[list[Path]] = deque()
        futures: deque[Future[list[_Checked]]] = deque()
        with ExitStack() as stack:
            try:
                fork = multiprocessing.get_context("fork")
                pool = ProcessPoolExecutor(workers, fork, _begin_beside, (self,))
                stack.callback(pool.shutdown, cancel_futures=True)
                while True:
                    while len(chunks) < 2 * workers and (chunk := list(islice(paths, _CHUNK))):
                        chunks.append(chunk)
                        futures.append(pool.submit(_check_beside, chunk))
                    if not chunks:
                        return
                    checked = futures[0].result()
                    futures.popleft()
                    for path, (verdict, row) in zip(chunks.popleft(), checked, strict=True):
                        self._keep(path, row)
                        yield verdict
            except (BrokenProcessPool, OSError):  # the kernel took one, say: this process does what they have left
                for chunk in chunks:
                    yield from map(self.verify, chunk)

    def _check_apart(self, path: Path) -> "_Checked":
        """Check a record in a process of its own, whose end is what is wrong with the record. JournalError."""
        if (folder := run_of(path)) is not None:
            self._run(self._resolve(folder)).get_ready_to_verify()
        fork = multiprocessing.get_context("fork")
        receiver, sender = fork.Pipe(duplex=False)
        process = fork.Process(target=_check_into, args=(self, path, sender), daemon=True)
        try:
            process.start()
        except OSError:  # where no process can be started, this one has to do
            return self._check(path)
        finally:
            sender.close()
        checked: _Checked | None = None
        with receiver, suppress(EOFError):
            checked = receiver.recv()
        process.join()
        code = process.exitcode or 0
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        what = f"playing it again ended the process ({how}): its options, or its moves, are none of a match"
        return checked or (Verdict(path, "wrong", 0, what, match_id_of(path)), None)

    def _check(self, path: Path) -> "_Checked":
        folder = run_of(path)
        if folder is None:
            return verify_file(path)[0], None
        run = self._run(self._resolve(folder))
        stamp: FileStamp | None = None
        with suppress(OSError):  # reading it will tell
            stamp = FileStamp.of(path)
        verdict, record = run.verify(path)
        if record is None or stamp is None or not counts_in(path):
            return verdict, None
        return verdict, match_of(record, stamp, run.anchors.digests.get(match_id_of(path), "")).row

    def _resolve(self, folder: Path) -> Path:
        if folder not in self._resolved:
            self._resolved[folder] = folder.resolve()
        return self._resolved[folder]

    def _keep(self, path: Path, row: MatchRow | None) -> None:
        if (found := run_of(path)) is None or not counts_in(path):
            return
        folder = self._resolve(found)
        self._checked.setdefault(folder, set()).add(match_id_of(path))
        if row is not None:
            self._known.setdefault(folder, {})[match_id_of(path)] = _outcome(row)
            rows = self._rows.setdefault(folder, [])
            rows.append(row)
            if len(rows) >= BATCH_FILES:
                self._to_columns(folder)

    def _to_columns(self, folder: Path) -> list[Columns]:
        """Those of all records that counted."""
        made = self._columns.setdefault(folder, [])
        if rows := self._rows.pop(folder, None):
            made.append(columns_of(rows))
        return made

    def gaps(self, paths: Iterable[Path]) -> Iterator[Gaps]:
        """The gaps of all runs in which these records lie without being set aside, once the records are verified; runs
        without one are left out. JournalError."""
        for folder in _runs_of(paths):
            found = gaps_of(Run(folder), self._known.get(folder.resolve()))
            self._missing[folder] = found.missing
            if found.number:
                yield found

    def checks(self, paths: Iterable[Path], key: str = "") -> Iterator[RunCheck]:
        """A check of each of these runs that has begun, without the matches that `gaps` has named. `key`: they have to
        be signed by it. JournalError."""
        for folder in _runs_of(paths):
            run = Run(folder)
            if run.begun:
                found = run.check(key, self._missing.get(folder, ()))
                yield replace(found, wrong=(*found.wrong, *self._wrong_tables(run, folder.resolve())))

    def _wrong_tables(self, run: Run, folder: Path) -> Iterator[str]:
        """A sentence if all records of the run were verified, and its database gives another table than they do. Its
        rows were made of records that lay there then: somebody may have put others in their place since, or before."""
        stamps = run.records.stamps()
        if not run.folder.database.exists() or not stamps.keys() <= self._checked.get(folder, set()):
            return
        made = run_table(run, read=table_of_read(run.folder, self._to_columns(folder)))
        if not _alike(_values_of(run_table(run)), _values_of(made)) and run.records.stamps() == stamps:
            command = shlex.join(["crosstown", "rebuild", str(run.folder.path)])
            yield f"the tables in {run.folder.database} are not those of the records; make them again: {command}"

    def _run(self, folder: Path) -> Run:
        """Read again when its journal has grown."""
        journal = RunFolder(folder).journal
        size = journal.stat().st_size if journal.exists() else 0
        if folder not in self._runs or self._sizes[folder] != size:
            self._runs[folder], self._sizes[folder] = Run(folder), size
        return self._runs[folder]


def _values_of(table: RunTable) -> Any:
    """What the table says, of lists, dicts, texts and numbers."""
    rows = [row.to_dict() for row in table.rows]
    return json.loads(json.dumps([rows, table.matches, table.annulled, asdict(table.format_table)]))


def _alike(one: Any, other: Any) -> bool:
    """Whether they say the same. Another version of numpy may compute other last digits."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    return bool(one == other)


_Checked: TypeAlias = tuple[Verdict, MatchRow | None]

WORTH_PROCESSES = 200
"""Fewer records are verified by one process."""

_CHUNK = 50

_MOST_BYTES = 4 << 30
"""Memory of a process that verifies: some options of OpenSpiel's games take all there is."""

_beside: Verification | None = None
"""In a process that verifies beside another one: the runs as that has read them."""


def _begin_beside(verification: Verification) -> None:
    global _beside
    _beside = verification
    _follow()


def _follow() -> None:
    """Settings of a process that verifies for another one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the process that waits for this one
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # OpenSpiel prints why it ends a process
    own_bytes = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    wanted = own_bytes + _MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))


def _check_beside(paths: list[Path]) -> list[_Checked]:
    assert _beside is not None
    return [_beside._check(path) for path in paths]


def _may_end_processes(path: Path) -> bool:
    """Whether a record is of a game of which OpenSpiel ends the process for some options, instead of refusing them."""
    with suppress(RecordError):
        return read_header(path).game.startswith(f"{OPENSPIEL}/")
    return False


def _check_into(verification: Verification, path: Path, sender: Connection) -> None:
    _follow()
    sender.send(verification._check(path))


def are_of_runs(paths: Iterable[Path]) -> bool:
    """Whether one of these records counts in a run that has begun. JournalError."""
    return any(Run(folder).begun for folder in _runs_of(paths))


def _runs_of(paths: Iterable[Path]) -> list[Path]:
    """The folders of the runs in which records lie that were not set aside."""
    return sorted({folder for path in paths if (folder := counts_in(path)) is not None})
