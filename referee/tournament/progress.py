"""What a run folder has of the schedule: each match in order, found, cancelled, or still to be played.

A record is claimed when the schedule comes to its match, so that a schedule that depends on results is taken up as
exactly as one that does not. What was decided in schedule order (the breaker, a stopping rule) is decided again from
the same results, and comes out the same.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from referee.record.journal import CHANGED, Choice, Control
from referee.record.store import FileStamp, Records
from referee.run.anchors import AnchorKeeper
from referee.run.folder import RunFolder
from referee.run.judging import COUNTS, Judged, close_if_live, judge
from referee.schedule.formats.api import BlockResult, MatchScore, Placing
from referee.schedule.schedule import Schedule, place_of
from referee.schedule.spec import MatchSpec, SeatSpec
from referee.tournament.breaker import Breaker
from referee.tournament.remembered import Remembered


@dataclass(frozen=True, slots=True)
class Reached:
    """Where a run stands: of `total` matches `done` count, and `off` were given up in this run of the command. Matches
    that were cancelled are no part of the total. `at_most`: results to come, or bots that are out, may make it smaller.
    """

    total: int
    done: int
    off: int
    at_most: bool = False


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A match that stayed void. `detail` tells of the last attempt; `names` are those of the seats in it."""

    match_id: str
    place: int
    reason: str
    detail: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """How a run of the command went. `found` were there before, `played` came to count now; `void` attempts did not.

    `given_up` are missing still, as is the rest if `stopped`. `cancelled` will never be played: entries that are out,
    matches that were annulled. `set_aside` are the names of entries that the breaker has put out, now or
    before. `placings` is the format's own table, if it has one and the schedule has ended. `total` is without what was
    `cancelled`; `at_most`: results to come, or bots that are out, may make it smaller. `changed`: an order has changed
    the run, which goes on when it is taken up with that.
    """

    total: int
    found: int
    played: int
    void: int
    given_up: tuple[GivenUp, ...]
    cancelled: int
    stopped: bool
    complete: bool
    set_aside: tuple[str, ...] = ()
    decided: bool = False
    placings: tuple[Placing, ...] = ()
    at_most: bool = False
    changed: bool = False

    @property
    def missing(self) -> int:
        """Matches that are still to be played."""
        return self.total - self.found - self.played


def after(before: Summary, then: Summary) -> Summary:
    """How one run of the command went that took the run up twice."""
    played = max(0, then.found + then.played - before.found)
    return replace(then, found=then.found + then.played - played, played=played, void=before.void + then.void)


Decide = Callable[[BlockResult], bool]
"""Asked about every complete block, in schedule order, each once. True: the question is settled, play no more."""

MAX_OPEN = 10_000
"""Matches without a record that are held in memory while later ones are looked for."""


@dataclass(slots=True)
class RunProgress:
    """The schedule, and what is known of its matches. `anchors` has the digests of the records that count.

    `on_control` hands on what has to be written down, `on_revoked` where a record lay that counts no more. `verdicts`
    has, by match, what an organiser has decided about it: annulled, or judged again; `failed_starts`, (entry, why) of
    earlier attempts.
    """

    folder: RunFolder
    schedule: Schedule
    breaker: Breaker
    on_control: Callable[[Control], None]
    on_revoked: Callable[[Path], None]
    anchors: AnchorKeeper
    decide: Decide | None = None
    verdicts: dict[str, Control] = field(default_factory=dict)
    failed_starts: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    choices: Mapping[str, Choice] = field(default_factory=dict)
    """What an organiser has chosen for the matches of entries that the breaker had set aside before."""
    on_settled: Callable[[int, str, Sequence[SeatSpec], Judged | None], None] | None = None
    """Called with place, id and seats of each match when its fate is known, whatever that of earlier ones is; without a
    result if it does not count, or is given up for now."""
    remembered: Remembered = field(default_factory=Remembered)
    """What was judged before of the record in a file: it is not read again while it is that file."""
    on_judged: Callable[[str, Path, Judged], None] = lambda _match_id, _record, _judged: None
    """Called for each record that counts and was read."""
    on_found: Callable[[MatchSpec], None] = lambda _spec: None
    """Called for each match whose record was found and counts, but not for blocks that `remembered` settles whole."""
    lead: int | None = None
    found: int = 0
    played: int = 0
    cancelled: int = 0
    behind: int = 0
    """The first place behind every match that has a record."""
    moved: list[Path] = field(default_factory=list)
    _open: deque[MatchSpec] = field(default_factory=deque)
    _files: dict[str, FileStamp] = field(default_factory=dict)
    _failed_starts: dict[int, list[tuple[str, str]]] = field(default_factory=dict)
    _early: dict[int, tuple[Path, bool]] = field(default_factory=dict)

    def take(self, files: Records) -> None:
        """Go through what lies there, as the store has tidied it. What can belong to no match any more is set aside."""
        self._files = dict(files.stamps)
        last = max((place for name in self._files if (place := place_of(name)) is not None), default=-1)
        self.behind = last + 1
        while self._files and self.schedule.places <= last and len(self._open) < MAX_OPEN:
            spec = self._look()
            if spec is None:
                break
            self._open.append(spec)
        if self.schedule.ended or self.schedule.places > last:
            self.sweep()
        self.remembered = Remembered()

    def next(self) -> MatchSpec | None:
        """The next match to play, in schedule order; None if there is none now."""
        while self._open:
            spec = self._open.popleft()
            if not self.is_off(spec):
                return spec
        return self._look()

    def put_back(self, spec: MatchSpec) -> None:
        """Undo the last `next`."""
        self._open.appendleft(spec)

    @property
    def all_settled(self) -> bool:
        """Whether every match of the schedule so far is settled or given up."""
        return self.schedule.unsettled == 0

    @property
    def names_set_aside(self) -> tuple[str, ...]:
        """Names of the entries that the breaker has put out."""
        return self.schedule.set_aside

    def count(self, spec: MatchSpec, record: Path, judged: Judged, *, found: bool = False) -> None:
        """A match counts by its record, unless its fate is decided at an earlier place."""
        self.found += found
        self.played += not found
        self.behind = max(self.behind, spec.place + 1)
        self._early[spec.place] = record, found
        (self.anchors.found if found else self.anchors.counted)(spec.match_id, judged.digest)
        verdict = self.verdicts.get(spec.match_id)
        ranking = judged.ranking if verdict is None else verdict.ranking
        self.schedule.settle(spec, ranking, judged.faults)
        if judged.record is not None:
            self.on_judged(spec.match_id, record, judged)
        if found:
            self.on_found(spec)
        self._tell(spec, judged if verdict is None else replace(judged, ranking=ranking))
        self.follow()

    def _tell(self, spec: MatchSpec, judged: Judged | None) -> None:
        if self.on_settled is not None:
            self.on_settled(spec.place, spec.match_id, spec.seats, judged)

    def failed_to_start(self, spec: MatchSpec, entry_id: str, detail: str) -> None:
        """One attempt at `spec` was lost because of this entry. It is judged when the match's turn comes."""
        self._failed_starts.setdefault(spec.place, []).append((entry_id, detail))

    def give_up(self, spec: MatchSpec) -> None:
        """No more attempts for now."""
        self.schedule.give_up(spec)
        self._tell(spec, None)
        self.follow()

    def is_off(self, spec: MatchSpec) -> bool:
        """Whether a match without a record will never be played; it is then settled."""
        off = self._annulled(spec) or self.schedule.beyond(spec.place) or bool(self.schedule.out(spec))
        if off:
            self.cancelled += not self.schedule.beyond(spec.place)
            self.schedule.settle(spec)
            self._tell(spec, None)
            self.follow()
        return off

    def follow(self) -> None:
        """Judge what has come to be known in schedule order."""
        for place, score, late in self.schedule.in_order():
            record, found = self._early.pop(place, (None, False))
            if late and score is not None and record is not None:
                self._revoke(score, record, found=found)
                continue
            if self.schedule.beyond(place):
                continue
            for entry_id, why in self.breaker.note(score, self._failed_starts.pop(place, ()), place):
                self._set_aside(entry_id, place + 1, why)
            for block in self.schedule.settled():
                self._ask(block)
        for block in self.schedule.settled():  # of matches that were given up before
            self._ask(block)

    def _ask(self, block: BlockResult) -> None:
        if self.decide is None or not block.complete or self.schedule.beyond(block.place):
            return
        if self.decide(block) and not self.schedule.decided:
            end = block.place + len(block.matches)
            self._decided(Control("decided", end, by="rule", reason=f"after block {block.number}"))

    def _revoke(self, score: MatchScore, record: Path, *, found: bool) -> None:
        """A match was in play when its fate was decided. Its record is kept, and does not count."""
        self.found -= found
        self.played -= not found
        self.cancelled += not self.schedule.beyond(score.place)
        self._move(record, score.match_id, "late")
        self.on_revoked(record)

    def sweep(self) -> None:
        """Set aside what no match of the schedule has claimed."""
        for match_id, stamp in self._files.items():
            self._move(self.folder.records.at(stamp), match_id, "foreign")
        self._files.clear()

    def _move(self, record: Path, match_id: str, why: str) -> None:
        """Set a record aside, which counts no more if it has."""
        self.moved.append(self.folder.records.set_aside(record, why))
        self.anchors.uncounted(match_id, why)

    def _look(self) -> MatchSpec | None:
        """Go on to the next match that has to be played."""
        while not (self.lead is not None and self.schedule.unsettled >= self.lead):
            if self.remembered:
                self.schedule.pass_over(self._know)
            spec = self.schedule.next()
            if spec is None:
                return None
            if earlier := self.failed_starts.get(spec.match_id):
                self._failed_starts[spec.place] = list(earlier)
            stamp = self._files.pop(spec.match_id, None)
            if stamp is not None and self._claim(spec, stamp):
                continue
            if not self.is_off(spec):
                self._reopen(spec)
                return spec
        return None

    def _know(self, first: int, matches: Sequence[tuple[str, Sequence[SeatSpec]]]) -> bool:
        """Whether the matches of a block, which begins at the place `first`, count by what is remembered of their
        records, and nothing else is known of them; they are then counted."""
        known: list[Judged] = []
        for match_id, seats in matches:
            stamp = self._files.get(match_id)
            if stamp is None or match_id in self.verdicts or match_id in self.failed_starts:
                return False
            digest = self.anchors.digests.get(match_id, "")
            judged = self.remembered.judged_sound(match_id, stamp, digest, len(seats))
            if judged is None:
                return False
            known.append(judged)
        if self._failed_starts or not self.breaker.note_sound([{s.entry_id for s in seats} for _, seats in matches]):
            return False
        self.found += len(matches)
        for place, ((match_id, seats), judged) in enumerate(zip(matches, known, strict=True), start=first):
            del self._files[match_id]
            if self.on_settled is not None:
                self.on_settled(place, match_id, seats, judged)
        return True

    def _annulled(self, spec: MatchSpec) -> bool:
        return spec.match_id in self.verdicts and self.verdicts[spec.match_id].kind == "annulled"

    def _reopen(self, spec: MatchSpec) -> None:
        """A match that was judged again, and whose record is gone, is played again: the ranking was that record's."""
        if self.verdicts.pop(spec.match_id, None) is not None:
            why = "the record that was judged again is gone"
            self.on_control(Control("reopened", spec.place, match_id=spec.match_id, by="rule", reason=why))

    def _claim(self, spec: MatchSpec, stamp: FileStamp) -> bool:
        """Whether the record settles the match; if not, it is set aside."""
        path = self.folder.records.at(stamp)
        known = self.anchors.digests.get(spec.match_id, "")
        judged = self.remembered.judged(spec.match_id, stamp, known, len(spec.seats))
        judged = judged or judge(path, spec, self.schedule.seeds_of(spec))
        why = "annulled" if judged.why == COUNTS and self._annulled(spec) else judged.why
        if why == COUNTS and not self.anchors.fits(spec.match_id, judged.digest):
            why = CHANGED
        if why != COUNTS:
            self._move(path, spec.match_id, why)
            return False
        self.count(spec, close_if_live(path), judged, found=True)
        return True

    def _set_aside(self, entry_id: str, place: int, why: str) -> None:
        known = {seat.entry_id: seat.name for seat in self.schedule.seats}
        choice = self.choices.get(entry_id, self.breaker.choice)
        self._decided(
            Control("breaker", place, entry_id=entry_id, choice=choice, name=known[entry_id], by="rule", reason=why)
        )

    def _decided(self, control: Control) -> None:
        self.schedule.control(control)
        self.on_control(control)
