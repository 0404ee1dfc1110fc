"""Plays what a run folder lacks: hands matches to an executor in schedule order and judges what comes back.

What counts is decided by the records alone. A match that does not count is set aside and played again, the third
time alone, with nothing else in play; then it is left to the organiser, and the others go on.
"""

import asyncio
import heapq
import os
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Protocol, TypeAlias

from referee.errors import PlatformError
from referee.folders import temporary_beside
from referee.games.registry import get_game
from referee.match.result import Fault, MatchResult
from referee.match.seat import FREE_MEMORY_VOIDS
from referee.match.time_control import MOST_STARTS
from referee.record.format import RecordError
from referee.record.journal import slow_start
from referee.record.reader import Record
from referee.record.reasons import EndReason
from referee.record.store import closed_path, live_path
from referee.record.writer import keep_record
from referee.run.decisions import Desk
from referee.run.folder import RunFolder
from referee.run.journal import LOST, Journal
from referee.run.judging import COUNTS, Judged, close_if_live, judge
from referee.run.luck import SecretKeeper
from referee.run.orders import LOOK_S
from referee.schedule.formats.api import Extent
from referee.schedule.spec import MatchSpec, SeatSpec
from referee.texts import missing_package, one_line, with_seats, without_store
from referee.tournament.attempts import Attempts
from referee.tournament.executor import MatchLost, MatchPlayer
from referee.tournament.machine import EVENT, MachineWatch
from referee.tournament.pace import Pace
from referee.tournament.progress import GivenUp, Reached, RunProgress, Summary
from referee.tournament.steering import Steering

FREE_PROVIDER_VOIDS = 5
"""The number of provider errors of one bot in one run that void a match, where the tournament file allows that. From
then on it loses: only the bot knows whether an error is real, and a bot that is about to lose could claim one, to play
the match on the same luck again."""

MAX_ATTEMPTS = 3
"""Attempts at a match until it is given up; the last one is played alone. A later run of the command tries as often."""

STOP_GRACE_S = 5.0
"""What matches in progress get to finish when the run is stopped."""

_MOST_REASONS = 3
"""Different reasons why one bot does not start that are told in a run of the command."""

MOST_MACHINES = 10
"""Machines on which a match is lost until that counts as an attempt at it: it may be the match that ends them."""

_LOOK_AGAIN_S = 1.0
"""How often it is seen whether the executor has got more slots."""

_LOOK_AHEAD = 8
"""Matches per slot that are looked at to start long ones first where the end is in sight."""

_MOST_LOOK_AHEAD = 2_000

_MOST_WAITING = 10_000
"""Matches that are looked past because their bots are awaited, or play as often as they may."""

_CAP_SLACK_S = 60.0
_PROBE_BYTES = 64 << 10

Playing: TypeAlias = dict[asyncio.Task[MatchResult], MatchSpec]
"""The matches in play."""

_Bots: TypeAlias = tuple[str, ...]
"""Entry ids by seat: of matches of the same bots all or none may begin."""


class Observer(Protocol):
    """Who is told of progress. Calls must return at once."""

    def begun(self, at: Reached) -> None:
        """The first match is about to begin; also when the run is taken up with what was ordered while it played."""

    def reached(self, at: Reached) -> None:
        """Something has changed since."""

    def rated(self, path: Path, record: Record) -> None:
        """A match counts; its record is durable, and was read from `path` just now."""

    def revoked(self, record: Path) -> None:
        """What lay here counted, and does not: its fate was decided at an earlier place. Also before `begun`."""

    def note(self, sentence: str) -> None:
        """Something the user should know."""


@dataclass(slots=True)
class _Tally:
    void: int = 0
    kept: int = 0
    """Matches that count and ended after an order had changed the run."""
    given_up: dict[int, tuple[MatchSpec, GivenUp]] = field(default_factory=dict)


class Runner:
    """One run of the command over one run folder."""

    def __init__(
        self,
        progress: RunProgress,
        folder: RunFolder,
        executor: MatchPlayer,
        journal: Journal,
        observer: Observer,
        planned: Callable[[], Extent],
        attempts: dict[str, Attempts],
        memory_voids: Counter[str],
        provider_voids: Counter[str],
        keeper: SecretKeeper,
        copies: Mapping[str, int] | None = None,
        steering: Steering | None = None,
        watch: MachineWatch | None = None,
    ) -> None:
        """`progress` has been taken; `planned` says how many matches may count by the journal. `attempts` were made
        before; `memory_voids` counts per entry the matches that were void for want of memory, `provider_voids` those
        that were void because it got no answer from its provider; `keeper` tells the secret when all is played.

        Of the entries in `copies` so many play at once, at most: their other matches wait, and those of others go on.
        `steering` has the orders that are taken while it plays; `watch` tells what changes on the machines meanwhile.
        """
        self._progress = progress
        self._folder = folder
        self._executor = executor
        self._journal = journal
        self._observer = observer
        self._planned = planned
        self._extent = planned()
        self._extent_without: tuple[str, ...] = progress.names_set_aside
        self._ready: dict[_Bots, deque[MatchSpec]] = {}
        """Matches that may begin, by their bots: none of these queues is empty."""
        self._waiting = 0
        """How many these are."""
        self._again: list[tuple[int, MatchSpec]] = []
        self._alone: list[tuple[int, MatchSpec]] = []
        self._tally = _Tally()
        self._attempts = attempts
        self._keeper = keeper
        self._memory_voids = memory_voids
        self._provider_voids = provider_voids
        self._pace = Pace()
        self._copies = copies or {}
        self._steering = steering
        self._watch = watch or MachineWatch()
        self._seated = Counter[str]()
        self._quiet: int | None = None
        self._told: Reached | None = None
        self._stop = asyncio.Event()
        self._failed_starts: dict[str, set[str]] = {}
        self._machines_lost = Counter[str]()
        self._slow_starts: set[str] = set()
        self._closing: set[str] = set()
        """The matches that have been played and whose records are being closed. They take no slot, up to as many as
        there are slots."""
        self._room = asyncio.Event()
        """Set when a match joins `_closing`."""
        self.on_given_up: Callable[[MatchSpec, GivenUp, Collection[str]], None] = lambda _spec, _given_up, _named: None
        """Called for each match that is given up, with the entries that it was given up for, if that is known."""

    async def run(self, stop: asyncio.Event) -> Summary:
        """Until all is played or `stop` is set, or until the matches in play have ended after an order has changed the
        run, which is then taken up again. PlatformError when the machine does not let it go on."""
        self.begin(stop)
        playing: Playing = {}
        stopping, room = asyncio.create_task(stop.wait()), asyncio.create_task(self._room.wait())
        look_s = _LOOK_AGAIN_S if self._steering is None else LOOK_S
        try:
            while True:
                self._obey(playing)
                while self._may_begin and (spec := self.next(list(playing.values()))) is not None:
                    self.start(spec, playing)
                if stop.is_set() or not (playing or self._is_held):
                    break
                await asyncio.wait([stopping, room, *playing], timeout=look_s, return_when=asyncio.FIRST_COMPLETED)
                if room.done():
                    self._room.clear()
                    room = asyncio.create_task(self._room.wait())
                self.judge_finished(playing)
            await self.finish(playing)
        finally:
            await cancel([stopping, room, *playing])
        return self.end(stopped=stop.is_set())

    @property
    def _changed(self) -> bool:
        """Whether an order has changed the run: nothing more is begun by this schedule."""
        return self._steering is not None and bool(self._steering.changed_by)

    @property
    def _is_held(self) -> bool:
        """Whether it waits for the order to go on."""
        return self._steering is not None and self._steering.paused and not self._changed

    @property
    def _may_begin(self) -> bool:
        return not (self._stop.is_set() or self._changed or self._is_held)

    def _obey(self, playing: Playing) -> None:
        """Carry out the orders that have come."""
        if self._steering is None:
            return

        def desk() -> Desk:
            self._progress.anchors.flush()  # what counted until now has its line before that of the order
            behind = max([self._progress.behind, *(spec.place + 1 for spec in playing.values())])
            return Desk(self._journal, behind, frozenset(spec.match_id for spec in playing.values()))

        self._steering.obey(desk, playing.values(), self._observer.note, self._revoked)

    def _revoked(self, match_id: str) -> None:
        self._observer.revoked(closed_path(live_path(self._folder.matches, match_id)))

    # The steps of `run`, for who runs several at once.

    def begin(self, stop: asyncio.Event) -> None:
        """Before the first match. Once `stop` is set, what ends was perhaps ended with it."""
        self._stop = stop
        self._told = self._reached()
        self._observer.begun(self._told)

    def start(self, spec: MatchSpec, playing: Playing) -> None:
        """Play a match that `next` has returned."""
        playing[asyncio.create_task(self._play(self._charging(spec, playing.values())))] = spec
        self._seated.update(seat.entry_id for seat in spec.seats)

    async def _play(self, spec: MatchSpec) -> MatchResult:
        """The record of the match is in the run folder at the end."""
        result = await self._executor.play(spec, cap_s(spec), over=partial(self._is_over, spec.match_id))
        if result.record is not None:
            # fsync blocks for milliseconds: other matches go on. Not undone if the run is stopped just now.
            await asyncio.shield(asyncio.to_thread(keep_record, self._folder.matches, spec.match_id, result.record))
        return result

    def _is_over(self, match_id: str) -> None:
        self._closing.add(match_id)
        self._room.set()

    @property
    def voided(self) -> int:
        """Matches that did not count, in this run of the command."""
        return self._tally.void

    @property
    def drains(self) -> bool:
        """Whether a match waits, or is played, for which nothing else may be in play."""
        return bool(self._alone) or self._quiet is not None

    def next(self, playing: Collection[MatchSpec]) -> MatchSpec | None:
        """What to play next; None when nothing can be started now."""
        at_table = [spec for spec in playing if spec.match_id not in self._closing]
        slots = self._executor.slots
        if len(at_table) >= slots or len(playing) >= 2 * slots or self._quiet is not None:
            return None
        spec = None
        while spec is None:
            while (spec := self._pick(at_table)) is not None and self._progress.is_off(spec):
                continue
            if spec is None and not playing:
                spec = self._pick_alone()
            if spec is None and not self._reconsider():  # else the schedule may have more now
                break
        self._tell()
        return spec

    def _pick(self, playing: Collection[MatchSpec]) -> MatchSpec | None:
        """Replays first, then schedule order; where the end is in sight, what takes longest. Only what there is room
        for: a match whose bot is awaited holds up no other one."""
        if (spec := self._pick_again(playing)) is not None:
            return spec
        enough = min(_LOOK_AHEAD * self._executor.slots, _MOST_LOOK_AHEAD)
        fitting = sum(len(queue) for queue in self._ready.values() if self._fits(queue[0], playing))
        while (
            fitting < enough and self._waiting < enough + _MOST_WAITING and (more := self._progress.next()) is not None
        ):
            if more.match_id not in self._attempts:
                self._ready.setdefault(_bots_of(more), deque()).append(more)
                self._waiting += 1
                fitting += self._fits(more, playing)
                continue
            self._try_again(more)
            if (spec := self._pick_again(playing)) is not None:
                return spec
        if not fitting:
            return None
        queues = [queue for queue in self._ready.values() if self._fits(queue[0], playing)]
        if fitting >= enough:
            spec = min((queue[0] for queue in queues), key=_place)
        else:
            spec = self._pace.longest(list(heapq.merge(*queues, key=_place)))
        self._remove(spec)
        return spec

    def _remove(self, spec: MatchSpec) -> None:
        bots = _bots_of(spec)
        self._ready[bots].remove(spec)
        self._waiting -= 1
        if not self._ready[bots]:
            del self._ready[bots]

    def _fits(self, spec: MatchSpec, playing: Collection[MatchSpec]) -> bool:
        """Whether the executor has room for it, and all its bots may begin a process more."""
        wanted = Counter(seat.entry_id for seat in spec.seats if seat.entry_id in self._copies)
        return self._executor.has_room(spec, playing) and all(
            self._seated[id_] + number <= self._copies[id_] for id_, number in wanted.items()
        )

    def _pick_again(self, playing: Collection[MatchSpec]) -> MatchSpec | None:
        """The first of the replays that there is room for."""
        for item in sorted(self._again, key=lambda item: item[0]):
            if self._fits(item[1], playing):
                self._again.remove(item)
                heapq.heapify(self._again)
                return item[1]
        return None

    def _pick_alone(self) -> MatchSpec | None:
        """A last attempt, with nothing else in play until it has ended."""
        while self._alone:
            spec = heapq.heappop(self._alone)[1]
            if not self._progress.is_off(spec):
                self._quiet = spec.place
                return spec
        return None

    def _reached(self) -> Reached:
        progress, extent = self._progress, self._extent_now()
        given_up = len(self._tally.given_up)
        done = progress.found + progress.played + self._tally.kept
        return Reached(extent.most, done, given_up, extent.least != extent.most)

    def _extent_now(self) -> Extent:
        """By the journal; once the schedule has ended and no match is open, by what has become of each. Of a ladder's
        division all that was decided so far."""
        progress = self._progress
        if progress.schedule.journalled or (progress.schedule.ended and progress.all_settled):
            number = progress.schedule.counted - progress.cancelled
            return Extent(number, number)
        if self._extent_without != progress.names_set_aside:
            self._extent, self._extent_without = self._planned(), progress.names_set_aside
        return self._extent

    def _tell(self) -> None:
        now = self._reached()
        if now != self._told:
            self._observer.reached(now)
        self._told = now

    async def finish(self, playing: Playing, grace_s: float = STOP_GRACE_S) -> None:
        """Give what is in progress a moment; what still goes on is abandoned, and starts afresh on resume."""
        if playing:
            await asyncio.wait(playing, timeout=grace_s)
            self.judge_finished(playing)

    def judge_finished(self, playing: Playing) -> None:
        """Take out the matches that have ended, and decide what they are."""
        # In schedule order, so that what is journaled depends as little as can be on who was first by a hair.
        finished = sorted((task for task in playing if task.done()), key=lambda task: playing[task].place)
        for task in finished:
            spec = playing.pop(task)
            self._closing.discard(spec.match_id)
            self._seated.subtract(seat.entry_id for seat in spec.seats)
            self._judge(spec, task)
            self._tell()

    def _judge(self, spec: MatchSpec, task: asyncio.Task[MatchResult]) -> None:
        if self._quiet == spec.place:
            self._quiet = None
        result: MatchResult | None = None
        flood: tuple[int, str] | None = None
        machine = ""
        try:
            result = task.result()
            reason, detail = result.reason, result.detail
            self._warn_of_slow_starts(spec, result)
        except MatchLost as error:
            reason, detail, flood, machine = EndReason.PLATFORM_FAULT, str(error), error.flood, error.machine
            self._folder.records.tidy_match(spec.match_id)
        except RecordError as error:
            reason, detail = EndReason.PLATFORM_FAULT, str(error)
        record = self._folder.records.find(spec.match_id)
        judged = Judged("lost") if record is None else judge(record, spec, (spec.seed,))
        if record is not None and judged.why == COUNTS and self._stop.is_set() and _has_fault(result):
            # Whoever stops a run may be stopping its bots as well: on resume the match starts afresh.
            self._folder.records.set_aside(record, "stopped")
            return
        if record is not None and judged.why == COUNTS:
            record = close_if_live(record)
            self._pace.note(spec, judged.wall_us)
            assert judged.record is not None
            self._observer.rated(record, judged.record)
            self._look_at_machine(judged.record)
            if self._changed:  # what follows from it is decided when the run is taken up with what was ordered
                self._progress.anchors.counted(spec.match_id, judged.digest)
                self._progress.behind = max(self._progress.behind, spec.place + 1)
                self._tally.kept += 1
                return
            self._progress.count(spec, record, judged)
            self._reconsider()
            return
        if self._stop.is_set() and (result is None or result.status == "cancelled"):
            return  # abandoned by us: on resume it starts afresh
        if result is not None and result.status == "rated":
            reason, detail = EndReason.PLATFORM_FAULT, f"the record of the match is {judged.why}"
        if record is not None:
            self._folder.records.set_aside(record, "lost" if result is None else judged.why)
        if reason is EndReason.PLATFORM_FAULT:
            check_disk(self._folder)
        if machine and self._is_lost_with(spec, machine, detail):
            return
        self._void(spec, reason, detail, result, flood)

    def _look_at_machine(self, record: Record) -> None:
        """Tell, and keep, what of the machine has changed since the matches before."""
        changes, machine = self._watch.note(record.header, record.footer.versions if record.footer else ())
        if not (changes or machine):
            return
        # Pages of a ladder show these changes to everyone.
        shown = [change for change in changes if not (self._progress.schedule.journalled and change.is_private)]
        self._journal.append(EVENT, machine=machine, changes=list(map(str, shown)))
        for change in changes:
            self._observer.note(one_line(f"changed while the run goes on: {change}"))

    def _void(
        self,
        spec: MatchSpec,
        reason: EndReason,
        detail: str,
        result: MatchResult | None,
        flood: tuple[int, str] | None,
    ) -> None:
        self._tally.void += 1
        past = self._attempts.setdefault(spec.match_id, Attempts())
        past.number, past.reason, past.detail = past.number + 1, reason, detail
        past.named = _named(spec, result)
        faults = [
            fault
            for fault in (result.faults if result is not None else ())
            if fault is not None and fault.reason is EndReason.START_FAILED
        ]
        failed = [(spec.seats[fault.seat].entry_id, fault.detail) for fault in faults]
        printed = {spec.seats[fault.seat].entry_id: "\n".join(lines) for fault in faults if (lines := _printed(fault))}
        more: dict[str, object] = {"failed_starts": failed} if failed else {}
        if result is not None and result.memory_of is not None:
            more["memory_of"] = spec.seats[result.memory_of].entry_id
            self._memory_voids[spec.seats[result.memory_of].entry_id] += 1
        if unanswered := _without_provider(spec, result):
            more["provider_of"] = [bot.entry_id for bot in unanswered]
            self._provider_voids.update(bot.entry_id for bot in unanswered)
            self._tell_of_providers(spec, past, unanswered)
        if flood is not None:
            seat, why = flood
            more["flood"] = flood
            past.floods[seat] = why
            self._observer.note(
                f"'{spec.seats[seat].name}' loses match {spec.match_id}, which is played again without it: {why}"
            )
        if printed:
            more["last_output"] = printed
        self._journal.append("void", **_event(spec, past), attempt=past.number, **more)
        for fault in faults:
            self._tell_of_failed_start(spec, fault)
        if self._changed:
            return
        for entry_id, why in failed:
            self._progress.failed_to_start(spec, entry_id, why)
        self._try_again(spec)

    def _is_lost_with(self, spec: MatchSpec, machine: str, detail: str) -> bool:
        """Whether only the machine is to blame: then the match is played again, and this was no attempt at it."""
        self._machines_lost[spec.match_id] += 1
        if self._machines_lost[spec.match_id] > MOST_MACHINES:
            return False
        self._journal.append(LOST, match=spec.match_id, place=spec.place, machine=machine, detail=detail)
        heapq.heappush(self._queue_after(self._attempts.get(spec.match_id, Attempts())), (spec.place, spec))
        return True

    def _queue_after(self, past: Attempts) -> list[tuple[int, MatchSpec]]:
        """Where a match that is played again waits, after these attempts."""
        # Other matches in play are not the reason if a bot does not start or its provider fails.
        alone = past.number == MAX_ATTEMPTS - 1 and past.reason not in (
            EndReason.START_FAILED,
            EndReason.PROVIDER_ERROR_VOID,
        )
        return self._alone if alone else self._again

    def _charging(self, spec: MatchSpec, playing: Iterable[MatchSpec]) -> MatchSpec:
        """The match, in which bots lose that have had their share of matches void for want of memory or of answers
        from their provider, or have flooded a worker that played it. No provider error makes the last attempt void."""
        seats = (seat for seat, bot in enumerate(spec.seats) if self._memory_voids[bot.entry_id] >= FREE_MEMORY_VOIDS)
        past = self._attempts.get(spec.match_id)
        floods = () if past is None else tuple(sorted(past.floods.items()))
        charged: tuple[int, ...] = ()
        if spec.faults.provider_errors == "void":
            last = past is not None and past.number >= MAX_ATTEMPTS - 1
            # Each match in play may become void, too.
            may_be = self._provider_voids + Counter(bot.entry_id for other in playing for bot in other.seats)
            charged = tuple(
                seat for seat, bot in enumerate(spec.seats) if last or may_be[bot.entry_id] >= FREE_PROVIDER_VOIDS
            )
        return replace(spec, charged_for_memory=tuple(seats), forfeits=floods, charged_for_provider=charged)

    def _tell_of_providers(self, spec: MatchSpec, past: Attempts, bots: Sequence[SeatSpec]) -> None:
        """Report each void attempt with its bot and the count, because it costs the bot nothing."""
        why = with_seats(past.detail, [seat.name for seat in spec.seats])
        for bot in bots:
            self._observer.note(
                f"match {spec.match_id} is void, attempt {past.number} of {MAX_ATTEMPTS}: {why}; void for"
                f" '{bot.name}' so far: {self._provider_voids[bot.entry_id]} (limit {FREE_PROVIDER_VOIDS}, then it"
                " loses)"
            )

    def _tell_of_failed_start(self, spec: MatchSpec, fault: Fault) -> None:
        """Each reason once, with the end of what the bot printed: mostly that says what to mend."""
        seat = spec.seats[fault.seat]
        told = self._failed_starts.setdefault(seat.entry_id, set())
        if fault.detail in told or len(told) >= _MOST_REASONS:
            return
        told.add(fault.detail)
        lines = _printed(fault)
        end = "; the last lines it printed:" if lines else ""
        self._observer.note(f"'{seat.name}' did not start (match {spec.match_id}): {fault.detail}{end}")
        for line in lines:
            self._observer.note(f"    {line}")
        if advice := missing_package("\n".join(lines)):
            self._observer.note(advice)

    def _warn_of_slow_starts(self, spec: MatchSpec, result: MatchResult) -> None:
        """One warning for a bot."""
        for number, startup_us in enumerate(result.startup_us):
            seat = spec.seats[number]
            warning = slow_start(seat.name, startup_us, spec.limits_of(number).startup_s)
            if warning and seat.entry_id not in self._slow_starts:
                self._slow_starts.add(seat.entry_id)
                self._observer.note(f"warning: {warning}")

    def _try_again(self, spec: MatchSpec) -> None:
        """After a void attempt, of this run of the command or an earlier one."""
        past = self._attempts[spec.match_id]
        if past.number < MAX_ATTEMPTS:
            heapq.heappush(self._queue_after(past), (spec.place, spec))
            return
        names = tuple(seat.name for seat in spec.seats)
        given_up = GivenUp(spec.match_id, spec.place, past.reason.value, past.detail, names)
        self._tally.given_up[spec.place] = spec, given_up
        self._progress.give_up(spec)
        self._reconsider()
        if spec.place in self._tally.given_up:
            self._journal.append("given_up", **_event(spec, past))
            self._observer.note(
                f"match {spec.match_id} did not count in {past.number} attempts: {past.reason}: {past.detail}"
            )
            self.on_given_up(spec, given_up, past.named)

    def _reconsider(self) -> bool:
        """What was given up because of an entry that is out by now is cancelled instead. The result is False if there
        is nothing like that."""
        off = [place for place, (spec, _) in self._tally.given_up.items() if self._progress.is_off(spec)]
        for place in off:
            del self._tally.given_up[place]
        return bool(off)

    def end(self, *, stopped: bool) -> Summary:
        """After the last match: say in the journal how far the run is."""
        given_up = tuple(item for _, (_, item) in sorted(self._tally.given_up.items()))
        schedule = self._progress.schedule
        changed = self._changed
        if schedule.ended and not changed:
            before = len(self._progress.moved)
            self._progress.sweep()
            if paths := self._progress.moved[before:]:
                self._observer.note(_unpaired(paths))
        done = not stopped or self._progress.all_settled
        complete = schedule.ended and not given_up and done and not changed
        extent = self._extent_now()
        summary = Summary(
            total=extent.most,
            found=self._progress.found,
            played=self._progress.played + self._tally.kept,
            void=self._tally.void,
            given_up=given_up,
            cancelled=self._progress.cancelled,
            stopped=stopped,
            complete=complete,
            set_aside=self._progress.names_set_aside,
            decided=schedule.decided,
            placings=tuple(schedule.placings) if complete else (),
            at_most=extent.least != extent.most,
            changed=changed and not stopped,
        )
        if summary.changed:
            self._progress.anchors.flush()
            return summary
        rated = summary.found + summary.played
        kind = "stopped" if stopped and not complete else "finished"
        self._progress.anchors.flush()
        if complete:
            self._keeper.reveal(self._journal)
        self._journal.append(kind, rated=rated, missing=summary.missing)
        return summary


def _bots_of(spec: MatchSpec) -> _Bots:
    return tuple(seat.entry_id for seat in spec.seats)


def _place(spec: MatchSpec) -> int:
    return spec.place


def cap_s(spec: MatchSpec) -> float:
    """Longer than the match can take by its own limits: what is not back then is stuck."""
    players = len(spec.seats)
    decisions = get_game(spec.game).max_decisions(players, spec.options)
    starting_s = players * MOST_STARTS * (spec.limits.startup_s + spec.limits.ready_s) + _CAP_SLACK_S
    if spec.limits.match_s:
        return starting_s + spec.limits.match_s
    clocks = [spec.limits.with_clock(seat.clock) for seat in spec.seats]
    per_match_s = sum(limits.bank_s + limits.total_s for limits in clocks)
    per_move_s = max(
        limits.margin_s + (limits.increment_s if limits.total_s else max(limits.move_s, limits.first_move_s))
        for limits in clocks
    )
    return starting_s + per_match_s + decisions * per_move_s


def check_disk(folder: RunFolder) -> None:
    """PlatformError if nothing can be written: then it was the disk, and no further match could be kept."""
    probe = temporary_beside(folder.path / "probe")
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


async def cancel(tasks: Sequence[asyncio.Task[bool] | asyncio.Task[MatchResult]]) -> None:
    """Cancel them, and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _event(spec: MatchSpec, past: Attempts) -> dict[str, str | int]:
    return {"match": spec.match_id, "place": spec.place, "reason": past.reason.value, "detail": past.detail}


def _has_fault(result: MatchResult | None) -> bool:
    return result is not None and any(fault is not None for fault in result.faults)


def _without_provider(spec: MatchSpec, result: MatchResult | None) -> list[SeatSpec]:
    """The bots for which a match is void because they got no answer from their provider."""
    faults = result.faults if result is not None else ()
    return [spec.seats[fault.seat] for fault in faults if fault and fault.reason is EndReason.PROVIDER_ERROR_VOID]


def _named(spec: MatchSpec, result: MatchResult | None) -> frozenset[str]:
    """The entries for which an attempt was void, as far as that is known."""
    faults = result.faults if result is not None else ()
    return frozenset(spec.seats[fault.seat].entry_id for fault in faults if fault is not None)


def _printed(fault: Fault) -> list[str]:
    """The last lines that the bot printed, with its files as its author knows them."""
    return [without_store(line) for line in fault.last_lines()]


def _unpaired(paths: Sequence[Path]) -> str:
    """A sentence on the records of pairings that have changed."""
    one = len(paths) == 1
    words = "1 earlier match belongs" if one else f"{len(paths)} earlier matches belong"
    state = "its record was" if one else "their records were"
    some = ", ".join(path.name for path in paths[:3]) + (", ..." if len(paths) > 3 else "")
    return f"{words} to no pairing any more; {state} set aside in {paths[0].parent}: {some}"
