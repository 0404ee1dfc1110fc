"""Plays what a run folder lacks: hands matches to an executor in schedule order and judges what comes back.

What counts is decided by the records alone. A match that does not count is set aside and played again, up to
`MAX_REPLAYS` times in one run of the command; then it is reported and the others go on.
"""

import asyncio
import heapq
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from referee.games.registry import get_game
from referee.match.reasons import EndReason
from referee.match.result import MatchResult
from referee.match.spec import MatchSpec
from referee.tournament.config import Tournament, TournamentConfig
from referee.tournament.errors import PlatformError
from referee.tournament.executor import Executor, MatchLost
from referee.tournament.folder import RunFolder
from referee.tournament.journal import Journal
from referee.tournament.records import COUNTS, clear_leftovers, close_if_live, live_or_closed, set_aside, why_not
from referee.tournament.schedule import count, schedule

MAX_REPLAYS = 3
BREAKER_FAILURES = 6
"""Starts of one entry that failed in a row, with no match of it in between, after which it is not tried any more."""

STOP_GRACE_S = 5.0
"""What matches in progress get to finish when the run is stopped."""

_CAP_SLACK_S = 60.0
_PROBE_BYTES = 64 << 10


class Observer(Protocol):
    """Who is told of progress. Calls must return at once."""

    def begun(self, total: int, done: int) -> None: ...

    def rated(self, record: Path) -> None:
        """A match counts; its record is durable."""

    def given_up(self, missing: int) -> None:
        """So many more matches will not be played in this run of the command."""

    def note(self, sentence: str) -> None:
        """Something the user should know."""


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A match that stayed void. `detail` tells of the last attempt."""

    match_id: str
    place: int
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Summary:
    """How a run of the command went. `found` were there before, `played` came to count now; `void` attempts did not.

    `given_up` and `skipped` (the breaker's) are missing still, as is the rest if `stopped`.
    """

    total: int
    found: int
    played: int
    void: int
    given_up: tuple[GivenUp, ...]
    skipped: int
    stopped: bool

    @property
    def complete(self) -> bool:
        return self.found + self.played == self.total


@dataclass(slots=True)
class _Tally:
    played: int = 0
    void: int = 0
    skipped: int = 0
    given_up: list[GivenUp] = field(default_factory=list)
    attempts: Counter[str] = field(default_factory=Counter)
    failed_starts: Counter[str] = field(default_factory=Counter)
    broken: set[str] = field(default_factory=set)


class Runner:
    """One run of the command over one run folder."""

    def __init__(
        self,
        tournament: Tournament,
        folder: RunFolder,
        executor: Executor,
        journal: Journal,
        observer: Observer,
        done: set[int],
    ) -> None:
        """`done`: places of the schedule that have a record which counts."""
        self._config = tournament.config
        self._folder = folder
        self._executor = executor
        self._journal = journal
        self._observer = observer
        self._found = len(done)
        self._total = count(tournament)
        self._waiting = (spec for spec in schedule(tournament) if spec.place not in done)
        self._again: list[tuple[int, MatchSpec]] = []
        self._tally = _Tally()
        self._cap_s = _cap_s(tournament.config)
        self._stop = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> Summary:
        """Until all is played or `stop` is set. PlatformError when the machine does not let it go on."""
        self._stop = stop
        self._observer.begun(self._total, self._found)
        playing: dict[asyncio.Task[MatchResult], MatchSpec] = {}
        stopping = asyncio.create_task(stop.wait())
        specs = self._next()
        try:
            while True:
                while not stop.is_set() and len(playing) < self._executor.slots and (spec := next(specs, None)):
                    playing[asyncio.create_task(self._executor.play(spec, self._cap_s))] = spec
                if not playing or stop.is_set():
                    break
                await asyncio.wait([stopping, *playing], return_when=asyncio.FIRST_COMPLETED)
                self._judge_finished(playing)
            await self._finish(playing)
        finally:
            await _cancel([stopping, *playing])
        return self._end(stopped=stop.is_set())

    def _next(self) -> Iterator[MatchSpec | None]:
        """What to play next, in schedule order; None when nothing is there now. Replays may come at any time."""
        while True:
            spec = heapq.heappop(self._again)[1] if self._again else next(self._waiting, None)
            if spec is not None and any(seat.entry_id in self._tally.broken for seat in spec.seats):
                self._tally.skipped += 1
                self._observer.given_up(1)
                continue
            yield spec

    async def _finish(self, playing: dict[asyncio.Task[MatchResult], MatchSpec]) -> None:
        """Give what is in progress a moment; what still goes on is abandoned, and starts afresh on resume."""
        if playing:
            await asyncio.wait(playing, timeout=STOP_GRACE_S)
            self._judge_finished(playing)

    def _judge_finished(self, playing: dict[asyncio.Task[MatchResult], MatchSpec]) -> None:
        # In schedule order, so that what is journaled depends as little as can be on who was first by a hair.
        finished = sorted((task for task in playing if task.done()), key=lambda task: playing[task].place)
        for task in finished:
            self._judge(playing.pop(task), task)

    def _judge(self, spec: MatchSpec, task: asyncio.Task[MatchResult]) -> None:
        result: MatchResult | None = None
        try:
            result = task.result()
            reason, detail = result.reason, result.detail
        except MatchLost as error:
            reason, detail = EndReason.PLATFORM_FAULT, str(error)
            clear_leftovers(self._folder, spec.match_id)
        record = live_or_closed(self._folder, spec.match_id)
        why = "lost" if record is None else why_not(record, spec)
        if record is not None and why == COUNTS:
            self._tally.played += 1
            for seat in spec.seats:
                self._tally.failed_starts[seat.entry_id] = 0
            self._observer.rated(close_if_live(record))
            return
        if self._stop.is_set() and (result is None or result.status == "cancelled"):
            return  # abandoned by us: on resume it starts afresh
        if result is not None and result.status == "rated":
            reason, detail = EndReason.PLATFORM_FAULT, f"the record of the match is {why}"
        if record is not None:
            set_aside(self._folder, record, "lost" if result is None else why)
        if reason is EndReason.PLATFORM_FAULT:
            _check_disk(self._folder)
        self._void(spec, reason, detail, result)

    def _void(self, spec: MatchSpec, reason: EndReason, detail: str, result: MatchResult | None) -> None:
        tally = self._tally
        tally.void += 1
        tally.attempts[spec.match_id] += 1
        attempt = tally.attempts[spec.match_id]
        event = {"match": spec.match_id, "place": spec.place, "reason": reason.value, "detail": detail}
        self._journal.append("void", **event, attempt=attempt)
        self._count_failed_starts(spec, result)
        if attempt <= MAX_REPLAYS:
            heapq.heappush(self._again, (spec.place, spec))
            return
        tally.given_up.append(GivenUp(spec.match_id, spec.place, reason.value, detail))
        self._journal.append("given_up", **event)
        self._observer.given_up(1)
        self._observer.note(f"match {spec.match_id} did not count in {attempt} attempts: {reason}: {detail}")

    def _count_failed_starts(self, spec: MatchSpec, result: MatchResult | None) -> None:
        for fault in result.faults if result is not None else ():
            if fault is None or fault.reason is not EndReason.START_FAILED:
                continue
            seat = spec.seats[fault.seat]
            self._tally.failed_starts[seat.entry_id] += 1
            failures = self._tally.failed_starts[seat.entry_id]
            if failures >= BREAKER_FAILURES and seat.entry_id not in self._tally.broken:
                self._tally.broken.add(seat.entry_id)
                self._journal.append("breaker", entry=seat.entry_id, name=seat.name, detail=fault.detail)
                self._observer.note(
                    f"'{seat.name}' did not start {failures} times in a row; its matches are left out: {fault.detail}"
                )

    def _end(self, *, stopped: bool) -> Summary:
        tally = self._tally
        summary = Summary(
            self._total, self._found, tally.played, tally.void, tuple(tally.given_up), tally.skipped, stopped
        )
        missing = self._total - self._found - tally.played
        if stopped and missing:
            self._journal.append("stopped", rated=self._found + tally.played, missing=missing)
        else:
            self._journal.append("finished", rated=self._found + tally.played, missing=missing)
        return summary


def _cap_s(config: TournamentConfig) -> float:
    """Longer than any match can take by its own limits: what is not back then is stuck."""
    limits = config.limits
    decisions = get_game(config.game).max_decisions(config.players, config.options)
    per_move_s = max(limits.move_s, limits.first_move_s) + limits.margin_s
    return config.players * (limits.startup_s + limits.ready_s) + decisions * per_move_s + _CAP_SLACK_S


def _check_disk(folder: RunFolder) -> None:
    """PlatformError if nothing can be written: then it was the disk, and no further match could be kept."""
    probe = folder.path / f".probe.{os.getpid()}"
    try:
        try:
            fd = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.write(fd, bytes(_PROBE_BYTES))
                os.fsync(fd)
            finally:
                os.close(fd)
        finally:
            probe.unlink(missing_ok=True)
    except OSError as error:
        raise PlatformError(
            f"cannot write in {folder.path}: {error.strerror}",
            "free some space or check the folder, then run the same command again: every match that counts is kept",
        ) from error


async def _cancel(tasks: list[asyncio.Task[bool] | asyncio.Task[MatchResult]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
