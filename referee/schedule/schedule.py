"""A schedule: asks the format for blocks, makes matches of them, and brings results back to it in order.

Every match has a place, its index in the schedule. Matches may be settled in any order; what depends on results (the
format, the breaker, a stopping rule) gets them in schedule order only. So a schedule is a pure function of the
configuration, the controls of the journal and the results of matches, whoever plays them when.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import NamedTuple

from referee.record.journal import FINISHING, LEAVING, Control, in_force
from referee.schedule.config import DecidedBlock, ScheduleConfig
from referee.schedule.formats.api import (
    Block,
    BlockResult,
    Byes,
    MatchScore,
    Need,
    Notice,
    Placing,
    RoundResults,
    seatings,
)
from referee.schedule.seeds import MatchSeeds
from referee.schedule.spec import MatchSpec, SeatSpec


@dataclass(slots=True)
class _Open:
    """A block of which not every match is settled yet; `scores` by place."""

    number: int
    place: int
    block: Block
    size: int
    scores: dict[int, MatchScore] = field(default_factory=dict)


@dataclass(slots=True)
class _Absence:
    """A bot is out by this control, up to the place `until`; None: for good."""

    control: Control
    until: int | None = None

    def holds(self, place: int) -> bool:
        """Whether a match at this place that was not played yet is off."""
        finishing = self.control.kind in FINISHING and place < self.control.place
        return not finishing and (self.until is None or place < self.until)

    def breaks(self, place: int) -> bool:
        """Whether a match at this place does not count, played or not: the breaker had set the bot aside before. So it
        does not matter how many others were in play at that moment."""
        return self.control.kind == "breaker" and place >= self.control.place and self.holds(place)


@dataclass(slots=True)
class _Coming:
    """The block that the schedule has come to: who sits where in each of its matches, of which `taken` were taken."""

    number: int
    place: int
    block: Block
    seatings: Sequence[tuple[int, ...]] = ()
    group: int = 0
    own_seeds: bool = False
    taken: int = 0


class Settled(NamedTuple):
    """A match that has come to be known in schedule order. `score` is None if it was given up. `late`: it was played,
    and does not count, since its bot was set aside or the run was decided at an earlier place."""

    place: int
    score: MatchScore | None
    late: bool = False


class Schedule:
    """One way through a schedule, from the first place on."""

    def __init__(
        self,
        config: ScheduleConfig,
        controls: Sequence[Control] = (),
        *,
        seeds: MatchSeeds | None = None,
        keep_blocks: bool = False,
    ) -> None:
        """`controls` are those of the journal; later ones come through `control`. Without `seeds` no match has a seed,
        so none can be played. `keep_blocks`: `settled` yields the blocks of a format that does not look at results,
        too. UnknownFormat if the format is a plug-in that is not installed."""
        style = config.style
        self._config = config
        self._seeds = seeds
        self._seats = list(config.participants)
        self._numbers = {seat.entry_id: number for number, seat in enumerate(self._seats)}
        self._field = config.field
        self._uses_results = style.uses_results
        self._keep_blocks = keep_blocks or style.uses_results
        self._plan = style.plan(self._field)
        self._entered = [0] * self._field.bots + [0] * (len(self._seats) - self._field.bots)
        self._absences: dict[int, list[_Absence]] = {}
        self._annulled: dict[str, Collection[str]] = {}
        """By match id the entries that were out when the match was annulled: only they lose it. Not of the matches
        that an older version annulled, which all that are out by now lose."""
        self._decided = deque(config.decided)
        self.journalled = style.journalled
        """Whether its blocks are decided while the run goes on."""
        self._extended: list[Control] = []
        self._limit: int | None = None
        self._need: Need | None = None
        self._answer: RoundResults | None = None
        self._begun = False
        self._coming = _Coming(0, 0, Block(()))
        self._open: dict[int, _Open] = {}
        self._starts: deque[tuple[int, int]] = deque()
        self._unsettled: dict[int, tuple[int, int]] = {}
        self._early: dict[int, MatchScore | None] = {}
        self._fresh: list[BlockResult] = []
        self._front = 0
        self.places = 0
        """Matches in the schedule so far."""
        self.blocks = 0
        """Blocks in the schedule so far."""
        self.settled_blocks = 0
        """Blocks from the first on of which every match is settled."""
        self.byes: list[Byes] = []
        """Who sits out, in the rounds so far."""
        self.notices: list[str] = []
        """What the format could not do as its settings ask for it, in sentences."""
        self.ended = False
        """Whether the schedule has no more matches."""
        self.placings: Sequence[Placing] = ()
        """The format's own table, once the schedule has ended."""
        for control in in_force(controls):
            self.control(control)

    @property
    def seats(self) -> Sequence[SeatSpec]:
        return self._seats

    @property
    def set_aside(self) -> tuple[str, ...]:
        """Names of the entries that the breaker has put out."""
        left = ((bot, absences[-1]) for bot, absences in self._absences.items())
        return tuple(
            self._seats[bot].name for bot, last in left if last.until is None and last.control.kind == "breaker"
        )

    @property
    def counted(self) -> int:
        """Matches of the schedule that may count: all, but for those beyond the place where the run was decided."""
        return self.places if self._limit is None else min(self.places, self._limit)

    @property
    def unsettled(self) -> int:
        """How many places lie between the first that is not settled and the end of the schedule so far."""
        return self.places - self._front

    def control(self, control: Control) -> None:
        """Something was decided. It holds from its place on, which must not be settled yet."""
        number = self._numbers.get(control.entry_id)
        if control.kind == "added" and number is not None:
            self._entered[number] = control.place
        elif control.kind in LEAVING and number is not None:
            if not self._is_out(number):
                self._absences.setdefault(number, []).append(_Absence(control))
        elif control.kind == "returned" and number is not None:
            if self._is_out(number):
                self._absences[number][-1].until = control.place
        elif control.kind == "decided":
            self._limit = control.place
        elif control.kind == "extended":
            self._extended.append(control)
        elif control.kind == "annulled" and control.out is not None:
            self._annulled[control.match_id] = control.out

    def join(self, seat: SeatSpec) -> None:
        """A bot that was added to a run whose blocks are decided while it goes on."""
        self._numbers[seat.entry_id] = len(self._seats)
        self._seats.append(seat)
        self._entered.append(self.places)

    def key(self, seeds: MatchSeeds) -> None:
        """From the next block on matches have these seeds: those of another epoch."""
        self._seeds = seeds

    def decide(self, block: DecidedBlock) -> None:
        """One more block of such a run."""
        self._decided.append(block)

    def next(self) -> MatchSpec | None:
        """The match at the next place; None if there is none now: `ended`, or results are needed first."""
        while not self.ended:
            if self._limit is not None and self.places >= self._limit:
                self._end(())
                break
            if self._coming.taken < len(self._coming.seatings):
                self.places += 1
                return self._take()
            if not self._advance():
                break
        return None

    def pass_over(self, knows: Callable[[int, Sequence[tuple[str, Sequence[SeatSpec]]]], bool]) -> None:
        """Take the next blocks as settled, as far as `knows` says that all their matches count by their records, and
        that no bot had a fault in them. It gets the first place of a block, and the id and the seats of each match.

        This is quicker than to take and settle each match. It does nothing where blocks are kept, or where results
        before this place are still to come.
        """
        while not (self.ended or self._keep_blocks or self._limit is not None or self._front < self.places):
            coming = self._coming
            if 0 < coming.taken < len(coming.seatings):
                return
            if coming.taken == len(coming.seatings):
                if not self._advance():
                    return
                continue
            seated = [tuple(self._seats[bot] for bot in seating) for seating in coming.seatings]
            places = range(coming.place, coming.place + len(seated))
            ids = [_match_id(self._config.id, place, seats) for place, seats in zip(places, seated, strict=True)]
            if any(self._breaks(coming.block.group, place) for place in places):
                return
            if not knows(coming.place, list(zip(ids, seated, strict=True))):
                return
            coming.taken = len(seated)
            self.places += len(seated)
            self._front = self.places

    def settle(self, spec: MatchSpec, ranking: Sequence[int] = (), faults: Sequence[str] = ()) -> None:
        """How the match at a place ended for good. Without `ranking` it does not count and never will.

        A match that was given up can still be settled.
        """
        number, variant = self._unsettled.pop(spec.place)
        bots = self.bots_of(spec)
        score = MatchScore(
            spec.place,
            spec.match_id,
            spec.game,
            bots,
            tuple(seat.entry_id for seat in spec.seats),
            self._field.variants[variant].teams,
            tuple(ranking),
            tuple(faults),
            () if ranking else self._absent(bots, spec.place, spec.match_id),
        )
        if spec.place >= self._front:
            self._early[spec.place] = score
        if self._keep_blocks:
            self._open[number].scores[spec.place] = score

    def give_up(self, spec: MatchSpec) -> None:
        """The match will not be settled for now: what depends on it waits, what does not goes on."""
        self._early[spec.place] = None

    def in_order(self) -> Iterator[Settled]:
        """Matches that have come to be known in schedule order since the last call."""
        while self._front in self._early:
            place, score = self._front, self._early.pop(self._front)
            self._front += 1
            late = score is not None and score.counts and (self.beyond(place) or self._breaks(score.bots, place))
            if late and score is not None:
                self._revoke(score)
            yield Settled(place, score, late)

    def settled(self) -> Iterator[BlockResult]:
        """Blocks that have come to be settled in schedule order since the last call, no match of which is still to
        come in order."""
        while (
            (first := self._open.get(self.settled_blocks)) is not None
            and len(first.scores) == first.size
            and first.place + first.size <= self._front
        ):
            del self._open[first.number]
            self.settled_blocks += 1
            result = self._result(first)
            if self._uses_results:
                self._fresh.append(result)
            yield result

    def finish(self) -> None:
        """End the schedule here, for one who only looks: `placings` are then the format's own table over the blocks
        that are whole by now."""
        if self.ended:
            return
        known = [self._result(item) for item in self._open.values() if len(item.scores) == item.size]
        if self._need is None or not self._uses_results:
            self._end(())
            return
        so_far = self._results(self.blocks)
        results = sorted((*so_far.results, *known), key=lambda result: result.number)
        try:
            self._plan.send(replace(so_far, results=tuple(results), over=True))
        except StopIteration as end:
            self._end(end.value or ())
        else:
            self._end(())

    def out(self, spec: MatchSpec) -> tuple[SeatSpec, ...]:
        """The seats of a match whose entries are out at its place."""
        bots = zip(spec.seats, self.bots_of(spec), strict=True)
        return tuple(seat for seat, bot in bots if self._absence(bot, spec.place) is not None)

    def absent(self, spec: MatchSpec) -> tuple[str, ...]:
        """The entries because of which a match does not count; none if it was annulled."""
        bots = self.bots_of(spec)
        absent = self._absent(bots, spec.place, spec.match_id)
        return tuple(seat.entry_id for seat, bot in zip(spec.seats, bots, strict=True) if bot in absent)

    def is_broken(self, spec: MatchSpec) -> bool:
        """Whether the match does not count, played or not, since the breaker had set a bot of it aside before."""
        return self._breaks(self.bots_of(spec), spec.place)

    def _absence(self, bot: int, place: int) -> _Absence | None:
        """By what this bot is out of a match at this place."""
        return next((one for one in self._absences.get(bot, ()) if one.holds(place)), None)

    def _is_out(self, bot: int) -> bool:
        """Whether it is out now."""
        return bot in self._absences and self._absences[bot][-1].until is None

    def _breaks(self, bots: Sequence[int], place: int) -> bool:
        return any(absence.breaks(place) for bot in bots for absence in self._absences.get(bot, ()))

    def _revoke(self, score: MatchScore) -> None:
        """The match does not count after all."""
        if self._keep_blocks:
            absent = self._absent(score.bots, score.place, score.match_id)
            block = next(item for item in self._open.values() if score.place in item.scores)
            block.scores[score.place] = replace(score, ranking=(), faults=(), absent=absent)

    @property
    def decided(self) -> bool:
        return self._limit is not None

    def beyond(self, place: int) -> bool:
        """Whether the run was decided before this place."""
        return self._limit is not None and place >= self._limit

    def seeds_of(self, spec: MatchSpec) -> tuple[str, ...]:
        """The seeds that a record of the match may have: one for each epoch of the run."""
        return () if self._seeds is None else self._seeds.seeds_of(spec.game, spec.block)

    def bots_of(self, spec: MatchSpec) -> tuple[int, ...]:
        return tuple(self._numbers[seat.entry_id] for seat in spec.seats)

    def _result(self, block: _Open) -> BlockResult:
        scores = tuple(block.scores[place] for place in sorted(block.scores))
        game = self._field.variants[block.block.variant].game
        present = tuple(
            bot
            for bot in self._field.players(range(len(self._entered)), game)
            if self._entered[bot] <= block.place
            and (bot not in self._absences or self._absence(bot, block.place) is None)
        )
        return BlockResult(block.number, block.place, block.block, scores, present)

    def _advance(self) -> bool:
        """Take the format one step on. False if it waits for results."""
        if self._need is not None:
            wanted = self.blocks if self._need.blocks is None else min(self._need.blocks, self.blocks)
            if self.settled_blocks < wanted:
                return False
            self._answer = self._results(wanted)
            self._need = None
        if self.journalled:
            if not self._decided:
                return False
            block = self._decided.popleft()
            group = tuple(self._numbers[entry_id] for entry_id in block.group)
            self._begin(Block(group, block.variant, seed_group=block.seed_group), own_seeds=block.own_seeds)
            return True
        try:
            step = self._plan.send(self._answer) if self._begun else next(self._plan)
        except StopIteration as end:
            self._end(end.value or ())
            return True
        self._begun, self._answer = True, None
        if isinstance(step, Need):
            self._need = step
        elif isinstance(step, Notice):
            self.notices.append(step.text)
        elif isinstance(step, Byes):
            self.byes.append(step)
        else:
            self._begin(step)
        return True

    def _results(self, wanted: int) -> RoundResults:
        """What a plan may know that asks for the first `wanted` blocks.

        A person's decisions hold from where the schedule stands; the breaker's, which fall while matches beyond are in
        play, only from where results were asked for.
        """
        while self._starts and self._starts[0][0] < wanted:
            self._starts.popleft()
        horizon = 0 if not self._uses_results else self._starts[0][1] if self._starts else self.places
        results = tuple(result for result in self._fresh if result.number < wanted)
        self._fresh = [result for result in self._fresh if result.number >= wanted]
        bots = sum(place <= self.places for place in self._entered)
        absent = frozenset(
            bot
            for bot, absences in self._absences.items()
            if (left := absences[-1]).until is None
            and left.control.place <= (horizon if left.control.kind == "breaker" else self.places)
        )
        length = {name: n for one in self._extended if one.place <= self.places for name, n in one.length.items()}
        return RoundResults(results, bots, absent, length=length)

    def _begin(self, block: Block, *, own_seeds: bool = False) -> None:
        """`own_seeds`: each match is of a seed group of its own, from the block's on."""
        variant = self._field.variants[block.variant]
        group = self.blocks if block.seed_group is None else block.seed_group
        matches = seatings(block, variant)
        if self._keep_blocks:
            self._open[self.blocks] = _Open(self.blocks, self.places, block, len(matches))
        if self._uses_results:
            self._starts.append((self.blocks, self.places))
        self._coming = _Coming(self.blocks, self.places, block, matches, group, own_seeds)
        self.blocks += 1

    def _take(self) -> MatchSpec:
        """The next match of the block at hand."""
        coming = self._coming
        block, place, group = coming.block, coming.place + coming.taken, coming.group + coming.taken * coming.own_seeds
        seats = tuple(self._seats[bot] for bot in coming.seatings[coming.taken])
        coming.taken += 1
        self._unsettled[place] = coming.number, block.variant
        game = self._config.games[block.variant]
        return MatchSpec(
            match_id=_match_id(self._config.id, place, seats),
            game=game.game,
            options=game.options_of(group),
            seats=seats,
            seed="" if self._seeds is None else self._seeds.seed_of(game.game, group),
            limits=self._config.limits,
            tournament=self._config.name,
            place=place,
            block=group,
            faults=self._config.faults,
            ponder=self._config.ponder,
            adjudication=self._config.adjudication,
            round=block.round,
            table=block.table,
            stage=block.stage,
        )

    def _end(self, placings: Sequence[Placing]) -> None:
        self.ended = True
        self.placings = placings
        self._plan.close()

    def _absent(self, bots: Sequence[int], place: int, match_id: str) -> tuple[int, ...]:
        """Because of whom a match is not played: those who were out by then, else whoever left first. Whoever leaves
        later than what was played next, or after the match was annulled, must not change this."""
        out = self._annulled.get(match_id)
        left = {
            bot: absence.control.place
            for bot in bots
            if (absence := self._absence(bot, place)) is not None and (out is None or self._seats[bot].entry_id in out)
        }
        first = min(left.values(), default=0)
        return tuple(bot for bot, when in left.items() if when <= max(place, first))


def place_of(match_id: str) -> int | None:
    """The place in the id of a match, by its form alone; None for an id that no schedule gives."""
    digits = match_id[1:].partition("-")[0]
    return int(digits) if match_id.startswith("m") and digits.isascii() and digits.isdigit() else None


def _match_id(plan_id: str, place: int, seats: Sequence[SeatSpec]) -> str:
    """Short, in schedule order when sorted, and not to be taken for another match at this place: of another
    tournament, or of other bots where the pairing depends on results."""
    text = "\x1f".join((plan_id, str(place), *(seat.entry_id for seat in seats)))
    return f"m{place:06d}-{blake2b(text.encode('ascii'), digest_size=4).hexdigest()}"


def known_matches(
    config: ScheduleConfig, seeds: MatchSeeds | None = None, controls: Sequence[Control] = ()
) -> Iterator[MatchSpec]:
    """All matches in order, lazily, up to where the format needs results. Equal configurations give equal matches, ids
    included; a changed one, other ids. Without `seeds` no match has a seed."""
    return matches_of(Schedule(config, controls, seeds=seeds))


def matches_of(schedule: Schedule) -> Iterator[MatchSpec]:
    """The same of a schedule that nobody has gone through."""
    while (spec := schedule.next()) is not None:
        schedule.settle(spec)  # forgotten at once, so that memory stays constant
        for _ in schedule.in_order():
            pass
        yield spec
