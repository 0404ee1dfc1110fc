"""A schedule with the results that are there: what counts, what is off, and what is still open."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Literal, Protocol, TypeAlias

from referee.record.journal import Control, departures, in_force
from referee.schedule.config import ScheduleConfig
from referee.schedule.formats.api import BlockResult, Extent
from referee.schedule.schedule import Schedule, matches_of
from referee.schedule.spec import MatchSpec, SeatSpec
from referee.schedule.stopping import rule_in_force

MatchState: TypeAlias = Literal["counts", "annulled", "off", "open"]
"""Of a match of the schedule: it has a record; it never counts; it has no record and a bot of it is out; it has none
and is still to be played."""


COUNTED_UP_TO = 20_000
"""Matches of a schedule that is gone through to count those that are cancelled: that takes less than a second."""

COUNTED_WHILE_DECIDED = 1000
"""The same of a schedule whose blocks are decided while it is played: it is another one after each block."""


class Result(Protocol):
    """How a rated match ended, as its record says: ranking and fault reasons ('' for none) are per seat."""

    @property
    def match_id(self) -> str: ...
    @property
    def place(self) -> int: ...
    @property
    def ranking(self) -> Sequence[int]: ...
    @property
    def faults(self) -> Sequence[str]: ...


class ScheduleProgress:
    """One way through a schedule with its results, exactly as the runner goes through it. Iterate once.

    Ends where the schedule does, or where what follows depends on matches that are open.
    """

    def __init__(
        self,
        config: ScheduleConfig,
        controls: Sequence[Control],
        results: Iterable[Result],
        on_block: Callable[[BlockResult], None] | None = None,
        *,
        skip_counted: bool = False,
    ) -> None:
        """`controls` are all of the journal, `results` those of the records, before any control is applied. `on_block`
        is called with every settled block, in schedule order. `skip_counted`: where the format does not look at
        results, blocks all of whose matches count are passed over, which is quicker. UnknownFormat if the format is a
        plug-in that is not installed."""
        self.schedule = Schedule(config, controls, keep_blocks=on_block is not None)
        self._on_block = on_block
        self._skip_counted = skip_counted
        self.whole = True
        """Whether no match is open, so far."""
        self.gap = ""
        """The first match that is open, if there is a record of one beyond it."""
        self._results = {result.match_id: result for result in results}
        self._last = max((result.place for result in self._results.values()), default=-1)
        self._verdicts = {control.match_id: control for control in in_force(controls) if control.match_id}

    def __iter__(self) -> Iterator[tuple[MatchSpec, MatchState]]:
        schedule = self.schedule
        while (spec := self._next()) is not None:
            yield spec, self._settle(spec)
            for _ in schedule.in_order():
                pass
            for block in schedule.settled():
                if self._on_block is not None:
                    self._on_block(block)

    def _next(self) -> MatchSpec | None:
        if self._skip_counted:
            self.schedule.pass_over(self._counts)
        return self.schedule.next()

    def _counts(self, _first: int, matches: Sequence[tuple[str, Sequence[SeatSpec]]]) -> bool:
        return all(match_id in self._results and match_id not in self._verdicts for match_id, _ in matches)

    def _settle(self, spec: MatchSpec) -> MatchState:
        verdict = self._verdicts.get(spec.match_id)
        result = self._results.get(spec.match_id)
        if verdict is not None and verdict.kind == "annulled":
            self.schedule.settle(spec)
            return "annulled"
        if result is not None:
            self.schedule.settle(spec, result.ranking if verdict is None else verdict.ranking, result.faults)
            return "counts"
        if self.schedule.out(spec):
            self.schedule.settle(spec)
            return "off"
        self.schedule.give_up(spec)
        if self.whole and spec.place < self._last:
            self.gap = spec.match_id
        self.whole = False
        return "open"


def planned(config: ScheduleConfig, controls: Sequence[Control], recorded: Container[str]) -> Extent:
    """How many matches of a run count once all is played, at least and at most: those of the schedule without those
    that are cancelled, because a bot in them is out or an organiser annulled them. `recorded` has the ids of matches
    that have a record.

    Cancelled matches are counted where results do not decide who meets whom, up to `COUNTED_UP_TO` matches
    (`COUNTED_WHILE_DECIDED`); beyond that they only make `least` smaller.
    """
    controls = in_force(controls)
    whole = config.extent()
    if rule_in_force(controls)[0] is not None:
        whole = Extent(0, whole.most)
    for control in controls:
        if control.kind == "decided":
            whole = Extent(min(whole.least, control.place), min(whole.most, control.place))
    out = departures(controls)
    annulled = {control.match_id for control in controls if control.kind == "annulled"}
    journalled = config.style.journalled
    if not out and not annulled and (journalled or not any(control.kind == "added" for control in controls)):
        return whole
    if config.style.uses_results or whole.most > (COUNTED_WHILE_DECIDED if journalled else COUNTED_UP_TO):
        return Extent(0, whole.most)

    schedule = Schedule(config, controls)

    def counts(spec: MatchSpec) -> bool:
        if schedule.is_broken(spec):
            return False
        return spec.match_id in recorded or not (schedule.out(spec) or spec.match_id in annulled)

    number = sum(map(counts, matches_of(schedule)))
    return Extent(number, number)


def cancelled(
    config: ScheduleConfig, controls: Sequence[Control], recorded: Container[str]
) -> tuple[int, tuple[str, ...]]:
    """How many matches of the schedule are not played since a bot in them is out, and the entry ids of these bots.
    (0, ()) where `planned` does not count cancelled matches."""
    controls = in_force(controls)
    most = COUNTED_WHILE_DECIDED if config.style.journalled else COUNTED_UP_TO
    if not departures(controls) or config.style.uses_results or config.extent().most > most:
        return 0, ()
    schedule = Schedule(config, controls)
    number = 0
    out: dict[str, None] = {}
    for spec in matches_of(schedule):
        seats = schedule.out(spec)
        if schedule.is_broken(spec) or (seats and spec.match_id not in recorded):
            number += 1
            out |= dict.fromkeys(seat.entry_id for seat in seats)
    return number, tuple(out)
