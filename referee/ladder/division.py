"""One division while it is played: its run folder, the bots that come and go, and the next block.

The journal has all of it. A bot that joins is a line `added`, which also says whose it is (`owner`, `house`), which
hand-in it is (`number`), of which sources (`source`, the id that these have alone) and how often it was made active
(`activation`). When the run is taken up, blocks come from the journal, and nothing is decided again.
"""

import asyncio
import math
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Protocol, Self

from referee.errors import ChangedError, UsageError
from referee.garbage import no_collection
from referee.ladder.beliefs import Beliefs
from referee.ladder.bots import Connections, LadderBot, NoConnections
from referee.ladder.chooser import OWNER_SHARE, REMEMBERED, Candidate, Chosen, Idle, Latest, Snapshot, choose
from referee.ladder.config import DivisionConfig, LadderConfig
from referee.ladder.given_up import GivenUpMatches
from referee.ladder.members import Loaded, Member, member_of
from referee.match.result import MatchResult
from referee.record.journal import (
    BLOCK,
    COUNTED,
    FOUND,
    Control,
    ControlKind,
    anchors_of,
    approvals_of,
    control_fields,
    departures,
    provider_voids,
    unapproved_among,
)
from referee.record.store import Packing
from referee.run.anchors import AnchorKeeper
from referee.run.folder import RunFolder, check_configuration, under_other_names
from referee.run.journal import CREATED, EPOCH, FORMAT, Journal, JournalText, read_journal
from referee.run.judging import Judged
from referee.run.lock import RunLock
from referee.run.luck import begin, take_up
from referee.run.machine_facts import Facts
from referee.run.packing import pack_records
from referee.run.run import Run
from referee.schedule.config import DecidedBlock, digest, seat_spec
from referee.schedule.formats import ladder
from referee.schedule.formats.api import Extent, Variant
from referee.schedule.schedule import place_of
from referee.schedule.spec import MatchSpec, SeatSpec
from referee.texts import one_line, without_store
from referee.tournament.attempts import attempts_of, memory_voids
from referee.tournament.executor import MatchLost, nothing
from referee.tournament.machine import EVENT, MachineWatch, machine_changes
from referee.tournament.messages import BotSetup, Meeting
from referee.tournament.progress import GivenUp
from referee.tournament.remembered import Remembering, read_remembered
from referee.tournament.runner import Observer, Playing, Runner
from referee.tournament.session import open_progress

_BACK_AT_ONCE = ("replaced", "paused", "absent")
"""Kinds of controls after which a version plays again as soon as it is to play."""

_MOST_BEGUN = 10_000
"""The number of begun blocks that are remembered when a runner is started."""

_MOST_GIVEN_UP = 10
"""The number of matches in a row that are given up until that is an alarm."""


class Tables(Protocol):
    """Where the matches of all divisions are played."""

    @property
    def slots(self) -> int: ...

    async def play(
        self, spec: MatchSpec, cap_s: float, meeting: Meeting | None = None, *, over: Callable[[], None] = nothing
    ) -> MatchResult: ...


@dataclass(slots=True)
class _OpenBlock:
    """A block of which `left` matches are not settled; `first` is the place of its first match. `shares` has, by pair,
    what the first got against the second."""

    group: tuple[str, ...]
    teams: tuple[int, ...]
    left: int
    first: int
    shares: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    not_lost: dict[str, list[str]] = field(default_factory=dict)
    """By entry id of a remote bot, the matches that count in which it was not behind all others."""
    left_by: set[str] = field(default_factory=set)
    """Remote bots that have left it in the middle."""


class Division:
    """A context manager: it holds the lock of the run folder. Everything is done in the caller's thread."""

    def __init__(
        self,
        config: LadderConfig,
        division: DivisionConfig,
        tables: Tables,
        observer: Observer,
        connections: Connections | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        time_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.config = division
        self.folder = RunFolder(config.folder_of(division))
        self.playing: Playing = {}
        self.used_s = 0.0
        """Worker time that its matches have used, so that all divisions get equal time."""
        self.idle = Idle("")
        """Why nothing was begun when that was looked at last."""
        self.frozen = False
        """Whether no block is decided any more: those that are decided are played to their end."""
        self.paused = ""
        """Why no new blocks are decided; '' while they are."""
        self.new_epoch = False
        """Whether a new epoch is to begin although the day is the same."""
        self._ladder = config
        self._tables = tables
        self._observer = observer
        self._connections = connections or NoConnections()
        self._now = now
        self._time_s = time_s
        self._last_match_s = time_s()
        self._begun_s: dict[str, float] = {}
        self._begun_at: dict[str, str] = {}
        self._stack = ExitStack()
        self._members: dict[str, Member] = {}
        self._machine: dict[str, Facts] = {}
        """By entry id, what the journal has last of what comes from this machine."""
        self.beliefs = Beliefs()
        """Of the strength of all versions that ever joined."""
        self._open: dict[int, _OpenBlock] = {}
        self._begun: dict[int, str] = {}
        """For the last blocks that were begun before this runner was started, a match that was played."""
        self._block_of: dict[int, int] = {}
        self._latest: deque[Latest] = deque(maxlen=REMEMBERED)
        self._variants: Sequence[Variant] = ()
        self._blocks = 0
        self._groups = 0
        self._places = 0
        self._taken: dict[str, tuple[int, Sequence[str], Sequence[int]]] | None = {}
        """By match, place, entries and ranking of what was found when the run is taken up, until that is learned."""
        self._broken: list[LadderBot] = []
        self._approvals: dict[str, list[tuple[int, bool]]] = {}
        self._met: dict[str, Counter[str]] = {}
        """By name of a bot: its blocks against each owner; all of them under ''."""
        self._unfair: list[tuple[str, str]] = []
        """Matches that a remote bot did not lose, of blocks that it has left, and its name: they are to be annulled."""
        self._bars: dict[str, tuple[str, ...]] = {}
        """By name of a bot: the owners that it has met in too large a share of its blocks, until it has another one."""
        self._given_up = GivenUpMatches(config.breaker.in_a_row)
        self._last_given_up = ""

    # Begin and end

    def __enter__(self) -> Self:
        """Take up the run, or begin it. TournamentError."""
        with ExitStack() as stack:
            self.folder.make()
            stack.enter_context(RunLock(self.folder.lock))
            with no_collection():
                self._take_up(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _take_up(self, stack: ExitStack) -> None:
        text = read_journal(self.folder.journal)
        description = describe(self._ladder, self.config)
        seed = self._ladder.matchmaking.seed
        if changed := check_configuration(self.folder, text, description):
            step = "undo the change in the ladder's file, or give the division another name: a new one begins"
            raise ChangedError(str(changed), step, changed.changes)
        self.begun_at = datetime.fromisoformat(text.created.at) if text.created is not None else datetime.now(UTC)
        """When its run, which is that of this season, was begun."""
        if text.created is None:
            self._tell_other_names(description)
            self._keeper = begin(self.folder.secrets, seed)
            self._journal = stack.enter_context(Journal(self.folder.journal, text))
            self._journal.append(
                CREATED,
                format=FORMAT,
                hash=digest(description),
                configuration=description,
                file=str(self._ladder.path.resolve()),
                folders=[],
                contents=[],
                machine={},
                commitment=self._keeper.commitment,
            )
            self._journal.write_head()
            self._epoch_day = self._day()
        else:
            self._keeper = take_up(self.folder.secrets, text, seed)
            self._journal = stack.enter_context(Journal(self.folder.journal, text))
            began = (line.at for _, line in reversed(text.steps) if line.kind in (CREATED, EPOCH))
            self._epoch_day = next(began)[:10]
        again = text.created is not None
        anchors = AnchorKeeper(self._journal, anchors_of(text.events).digests)
        files = self.folder.records.tidy()
        lost = anchors.miss(self.folder, files)
        if lost:
            self._observer.note(f"{len(lost)} matches that counted have no record any more; they are played again")
        run = Run(self.folder, text if again else None)
        self._read(run)
        events = [line for _, line in text.steps]
        attempts = attempts_of(events)
        self.progress = open_progress(
            run.schedule_config,
            self._ladder.breaker,
            self.folder,
            self._keeper.seeds,
            text.controls,
            attempts,
            self._on_control,
            self._observer.revoked,
            anchors,
        )
        self.progress.on_settled = self._on_settled
        self.progress.remembered = read_remembered(self.folder.path, run.journal.identity)
        self.progress.on_judged = stack.enter_context(Remembering(self.folder.path, run.journal.identity)).note
        self.progress.on_found = self._on_found
        self.progress.take(files)
        self._replay(text)
        if again:
            set_aside = [path.name for path in self.progress.moved]
            self._journal.append("resumed", rated=self.progress.found, set_aside=set_aside)
        anchors.flush()
        self._keeper.commit(self.folder.secrets, self._journal)
        self.progress.schedule.key(self._keeper.seeds)
        self.runner = Runner(
            self.progress,
            self.folder,
            self,
            self._journal,
            self._observer,
            lambda: Extent(0, 0),  # what was decided so far is counted instead
            attempts,
            memory_voids(events),
            provider_voids(events),
            self._keeper,
            watch=MachineWatch(self._machine),
        )
        self.runner.on_given_up = self._on_given_up

    def _tell_other_names(self, description: Mapping[str, Any]) -> None:
        """Tell of a run of just this division that the ladder's file does not name any more: it was renamed, maybe."""
        named = {division.name for division in self._ladder.divisions}
        for folder, configuration in under_other_names(self.folder.path.parent, description):
            if configuration["name"] not in named:
                self._observer.note(
                    f"a new division begins; if it was called '{configuration['name']}' before, stop the ladder and"
                    f" give it that name back, and the run in {folder.path} continues"
                )

    def _read(self, run: Run) -> None:
        """The members and blocks of a run that is taken up."""
        self._variants = run.schedule_config.field.variants
        left = departures(run.controls)
        self._machine = dict(run.journal.machine)
        self._approvals = approvals_of(run.controls)
        activations = {
            line.fields["entry_id"]: line.fields.get("activation", 1)
            for _, line in run.journal.steps
            if line.kind in ("added", "returned")
        }
        blocks = iter(run.journal.blocks)
        for line in run.journal.events:
            if line.kind == "added":
                member = member_of(line.fields, activations[line.fields["entry_id"]], self._ladder.content)
                if control := left.get(member.entry_id):
                    member.out, member.reason = control.kind, control.reason
                self._members[member.entry_id] = member
            elif line.kind == BLOCK:
                self._remember(next(blocks))
        last = max((place for changes in self._approvals.values() for place, _ in changes), default=0)
        for entry_id in unapproved_among(self._members, last, self._approvals):
            member = self._members[entry_id]
            member.bot = replace(member.bot, approved=False)

    def _on_found(self, spec: MatchSpec) -> None:
        self._begun[spec.block] = spec.match_id
        if len(self._begun) > _MOST_BEGUN:
            del self._begun[next(iter(self._begun))]

    def _replay(self, text: JournalText) -> None:
        """Learn from the results that are there, in the order in which they came: then the next decision is the one
        that would have been made without a restart."""
        taken, self._taken = self._taken or {}, None
        for line in text.events:
            if line.kind in ("added", "returned"):
                self.beliefs.joined(line.fields["entry_id"], line.fields["name"])
            elif line.kind in (COUNTED, FOUND):
                for match_id in line.fields["matches"]:
                    if (found := taken.pop(match_id, None)) is not None:
                        self._learn(match_id, *found)
        for match_id, found in taken.items():
            self._learn(match_id, *found)

    def begin(self, stop: asyncio.Event) -> None:
        """Before the first match is played."""
        self.runner.begin(stop)

    def stop(self) -> None:
        """After its matches have ended: say so in the journal."""
        self.runner.end(stopped=True)
        self._journal.write_head()

    def pack(self, until: datetime, stop: Callable[[], bool]) -> Packing:
        """Pack the records of settled blocks that were closed before `until`, except those behind a block in play. May
        be called in a thread of its own. PlatformError, RecordError."""
        first_open = min((block.first for block in self._open.copy().values()), default=self._places)
        paths = self.folder.records.paths()
        settled = (match_id for match_id in paths if (place := place_of(match_id)) is not None and place < first_open)
        return pack_records(self.folder, settled, self.progress.anchors.digests, until, stop)

    # An executor, as the runner of one run sees it

    @property
    def slots(self) -> int:
        return self._tables.slots

    def has_room(self, spec: MatchSpec, _playing: Collection[MatchSpec]) -> bool:
        """The runner asks only where there is room. A match waits for its remote bots, and holds up no
        other one; one that will not be played is taken at once, to be put aside."""
        if self.progress.schedule.out(spec):
            return True
        members = (self._members.get(seat.entry_id) for seat in spec.seats)
        return all(member is None or self._is_there(member.bot) for member in members)

    def _is_there(self, bot: LadderBot) -> bool:
        """Whether it can be seated now."""
        return not bot.remote or (self._connections.connected(bot) and not self._connections.busy(bot))

    async def play(self, spec: MatchSpec, cap_s: float, *, over: Callable[[], None] = nothing) -> MatchResult:
        try:
            setups = tuple(self._confined(self._members[seat.entry_id].setup) for seat in spec.seats)
        except KeyError as error:  # a journal that was written by hand
            raise MatchLost(f"the journal does not say what the bot {error} is") from None
        begun = self._begun.pop(spec.block, "")
        meeting = Meeting(self.folder.matches.resolve(), setups, begun)
        return await self._tables.play(spec, cap_s, meeting, over=over)

    def _confined(self, setup: BotSetup) -> BotSetup:
        """The bot as it plays: it sees nothing of the ladder, of which its journal says nothing."""
        return replace(setup, sandbox=replace(setup.sandbox, hidden=self._ladder.unseen))

    # Who is there

    def reconcile(self, active: Sequence[LadderBot], load: Callable[[LadderBot], Loaded]) -> list[tuple[str, str]]:
        """Write down who joined, came back, was replaced or is paused since: `active` are the bots that are to play.
        Returns the names of bots that do not play for faults of theirs, with the reason."""
        kept_out: list[tuple[str, str]] = []
        wanted: set[str] = set()
        for bot in active:
            loaded = load(bot)
            if loaded.trouble:
                kept_out += [] if loaded.waits else [(bot.name, loaded.trouble)]
                continue
            member = self._members.get(loaded.bot_id)
            wanted.add(loaded.bot_id)
            if member is not None:
                self._meet_machine(member, loaded)
                member.setup = loaded.setup  # the ladder's folder, or how bots are confined, may be others since
            if member is not None and (member.bot.owner, member.bot.approved) != (bot.owner, bot.approved):
                member.bot = replace(member.bot, owner=bot.owner)
                self._approve(member, approved=bot.approved)
            if bot.away:
                if member is not None and not member.out:
                    self._go(member, "it is not connected")
            elif member is None:
                self._join(bot, loaded)
                self._approve(self._members[loaded.bot_id], approved=bot.approved)
            elif member.out and (member.out in _BACK_AT_ONCE or bot.activation > member.bot.activation):
                self._return(member, bot)
            elif member.out:
                kept_out.append((bot.name, member.reason))
            for other in self._members.values():
                if other.bot.name == bot.name and other.entry_id != loaded.bot_id and not other.out:
                    reason = f"version {bot.version} plays in its place"
                    self._go(other, reason) if other.bot.remote else self._leave(other, "replaced", reason)
        for member in self._members.values():
            if not member.out and member.entry_id not in wanted:
                reason = "it is not active in the ladder"
                self._go(member, reason) if member.bot.remote else self._leave(member, "paused", reason)
        return kept_out

    def _join(self, bot: LadderBot, loaded: Loaded) -> None:
        place = self.progress.schedule.places
        if bot.house:  # nobody counts its versions but the division that it plays in
            earlier = sum(member.bot.name == bot.name for member in self._members.values())
            bot = replace(bot, version=1 + earlier)
        fields: dict[str, Any] = {
            "version": str(bot.version),
            "number": bot.version,
            "options": dict(loaded.options),
            "folder": loaded.setup.folder,
            "content": loaded.setup.content,
            "source": loaded.setup.entry_id,
            "owner": bot.owner,
            "house": bot.house,
            "activation": bot.activation,
            "sandbox": asdict(loaded.setup.sandbox),
            "fresh": loaded.setup.fresh,
        }
        if bot.remote:
            fields["remote"] = {"version": bot.label}
        if loaded.clock:
            fields["clock"] = dict(loaded.clock)
        if loaded.machine:
            fields["machine"] = {loaded.bot_id: loaded.machine}
            self._machine[loaded.bot_id] = loaded.machine
        control = Control("added", place, entry_id=loaded.bot_id, name=bot.name, by="rule")
        self._journal.append(control.kind, **control_fields(control), **fields)
        seat = seat_spec({"entry_id": loaded.bot_id, "name": bot.name, **fields})
        self.progress.schedule.join(seat)
        self._members[loaded.bot_id] = Member(loaded.bot_id, bot, loaded.setup)
        self.beliefs.joined(loaded.bot_id, bot.name)

    def _meet_machine(self, member: Member, loaded: Loaded) -> None:
        """Write down what this machine has for the bot, and tell what the division had otherwise so far."""
        entry_id, now = member.entry_id, loaded.machine
        before = self._machine.get(entry_id)
        if not now or before == now:
            return
        if before is None:  # an older version kept the profile alone
            before = {"profile": member.setup.sandbox.profile}
        changes = machine_changes({entry_id: before}, {entry_id: now}, {entry_id: member.bot.name})
        self._machine[entry_id] = now
        # Pages show these changes to everyone, so they leave out paths of this machine and values of variables.
        shown = [str(change) for change in changes if not change.is_private]
        self._journal.append(EVENT, machine={entry_id: now}, changes=shown)
        for change in changes:
            self._observer.note(one_line(f"changed since it played last: {change}"))

    def _approve(self, member: Member, *, approved: bool) -> None:
        """From the next block on, the matches of the version move all ratings, or its own alone."""
        place = self.progress.schedule.places
        before = not unapproved_among([member.entry_id], place, self._approvals)
        member.bot = replace(member.bot, approved=approved)
        if approved != before:
            kind: ControlKind = "approved" if approved else "unapproved"
            reason = "the organiser has approved its owner" if approved else "the organiser has not approved its owner"
            control = Control(kind, place, entry_id=member.entry_id, name=member.bot.name, by="rule", reason=reason)
            self._journal.control(control)
            self._approvals.setdefault(member.entry_id, []).append((place, approved))

    def _return(self, member: Member, bot: LadderBot) -> None:
        control = Control("returned", self.progress.schedule.places, entry_id=member.entry_id, name=bot.name, by="rule")
        self._journal.append(control.kind, **control_fields(control), activation=bot.activation)
        self.progress.schedule.control(control)
        self.progress.breaker.returned(member.entry_id, control.place)
        self._given_up.forget(member.entry_id)
        member.bot, member.out, member.reason = bot, "", ""
        self.beliefs.joined(member.entry_id, bot.name)

    def _go(self, member: Member, reason: str) -> None:
        """A remote bot may not be there for the rest of its blocks, and nothing waits for it. Of a block that it leaves
        in the middle only those matches count that it lost: else it could play from the seats that it likes."""
        in_play = Counter(self._block_of.get(spec.place) for spec in self.playing.values())
        for number, block in self._open.items():
            if member.entry_id in block.group and block.left > in_play[number]:
                block.left_by.add(member.entry_id)
                self._unfair += [(match_id, member.bot.name) for match_id in block.not_lost.pop(member.entry_id, ())]
        self._leave(member, "absent", reason)
        self._annul_unfair()

    def _annul_unfair(self) -> None:
        for match_id, name in self._unfair:
            self.annul(
                match_id, by="rule", reason=f"'{name}' left in the middle of the block and had not lost this one"
            )
        self._unfair.clear()

    def _leave(self, member: Member, kind: ControlKind, reason: str, place: int | None = None) -> None:
        """It is out from this place on, by default from the next block on."""
        control = Control(
            kind,
            self.progress.schedule.places if place is None else place,
            entry_id=member.entry_id,
            name=member.bot.name,
            by="rule",
            reason=reason,
        )
        self._journal.control(control)
        self.progress.schedule.control(control)
        self.progress.breaker.left(member.entry_id, control.place)
        member.out, member.reason = kind, reason

    def _on_control(self, control: Control) -> None:
        """The breaker has decided."""
        self._journal.control(control)
        member = self._members.get(control.entry_id)
        if control.kind == "breaker" and member is not None:
            member.out, member.reason = control.kind, control.reason
            self.broken.append(member.bot)
            self._observer.note(f"'{control.name}' is paused in {self.config.name}: {control.reason}")

    @property
    def broken(self) -> list[LadderBot]:
        """Bots that the breaker has paused, until the reader of the list empties it."""
        return self._broken

    # What comes next

    def next(self) -> MatchSpec | None:
        """The next match to play, for which a block is decided if that is needed; None if there is none now."""
        if (spec := self.runner.next(self.playing.values())) is not None:
            return spec
        if self.frozen:
            self.idle = Idle("the season ends")
            return None
        if self.paused:
            self.idle = Idle(f"the organiser has paused it: {self.paused}")
            return None
        if self.runner.drains or not self._may_decide():
            return None
        decision = choose(self.snapshot())
        if isinstance(decision, Idle):
            self.idle = decision
            return None
        self.decide(decision)
        return self.runner.next(self.playing.values())

    def used_until(self, now_s: float) -> float:
        """What its matches have taken of the tables, those in play included."""
        return self.used_s + sum(now_s - began_s for began_s in self._begun_s.values())

    @property
    def bots(self) -> int:
        """How many bots play in it."""
        return sum(not member.out for member in self._members.values())

    @property
    def has_open_blocks(self) -> bool:
        """Whether a block that is decided has matches that are not settled."""
        return bool(self._open)

    @property
    def contents(self) -> frozenset[str]:
        """Of the sources of all versions that play, or are in a block that is not over."""
        return frozenset(
            member.setup.content for member in self._members.values() if not member.out or member.playing > 0
        )

    @property
    def awaits_first_match(self) -> bool:
        """Whether an owner's bot, not a house bot, was never chosen for a block."""
        return any(not member.out and not member.blocks and member.bot.owner for member in self._members.values())

    def in_play(self) -> list[tuple[str, str]]:
        """The matches in play, and when each began."""
        return sorted(self._begun_at.items())

    def annul(self, match_id: str, *, by: str, reason: str) -> None:
        """A match that was played does not count. Its record is kept aside. UsageError."""
        record = self.folder.records.find(match_id)
        place = place_of(match_id)
        if place is None or record is None or any(spec.match_id == match_id for spec in self.playing.values()):
            raise UsageError(f"no match {match_id!r} counts in {self.config.name}", "copy its id from its page")
        # What matchmaking has learned from it stays until the next start; no table has it from now on.
        control = Control("annulled", place, match_id=match_id, by=by, reason=reason)
        self._journal.control(control)
        self.progress.verdicts[match_id] = control
        self.folder.records.set_aside(record, "annulled")
        self._observer.revoked(record)

    def has_annulled(self, match_id: str) -> bool:
        """Whether the journal says that this match is annulled."""
        verdict = self.progress.verdicts.get(match_id)
        return verdict is not None and verdict.kind == "annulled"

    def start(self, spec: MatchSpec) -> None:
        """Play a match that `next` has returned."""
        self._begun_s[spec.match_id] = self._time_s()
        self._begun_at[spec.match_id] = self._now().isoformat(timespec="seconds")
        self.runner.start(spec, self.playing)

    def judge_finished(self) -> None:
        """Take out the matches that have ended."""
        before = [spec.match_id for spec in self.playing.values()]
        self.runner.judge_finished(self.playing)
        there = {spec.match_id for spec in self.playing.values()}
        self._annul_unfair()
        now_s = self._time_s()
        for match_id in before:
            if match_id not in there:
                self.used_s += now_s - self._begun_s.pop(match_id)
                del self._begun_at[match_id]
                self._last_match_s = now_s

    def alarm(self) -> str:
        """A sentence if nothing has ended for long although something could be played, or what ends does not count; ''
        otherwise."""
        if (number := self._given_up.since_last) >= _MOST_GIVEN_UP:
            return f"the last {number} matches of {self.config.name} were given up, the last: {self._last_given_up}"
        waits_s = self._time_s() - self._last_match_s
        if waits_s < 60 * self._ladder.matchmaking.alarm_min or not (self.playing or self._open or self.idle.waiting):
            return ""
        why = "matches are in play" if self.playing else self.idle.reason
        return f"no match of {self.config.name} has ended for {waits_s / 60:.0f} minutes: {why}"

    def snapshot(self) -> Snapshot:
        """What the next decision depends on."""
        known = self.beliefs.known
        bots = tuple(
            Candidate(
                member.entry_id,
                member.bot.name,
                member.bot.owner,
                known[member.entry_id].mu,
                known[member.entry_id].sigma,
                member.blocks,
                member.playing,
                member.last,
                not member.bot.remote or self._connections.connected(member.bot),
                member.bot.remote and (member.playing > 0 or self._connections.busy(member.bot)),
                tuple(member.scores),
                member.bot.approved,
                self._bars_of(member.bot.name),
            )
            for member in self._members.values()
            if not member.out
        )
        return Snapshot(self._blocks, self.config.game.players, bots, tuple(self._latest), self._ladder.matchmaking)

    def _may_decide(self) -> bool:
        """Not while an epoch is to end: its secret is published when all of its matches are settled."""
        if not self.new_epoch and self._day() == self._epoch_day:
            return True
        if self.playing or not self.progress.all_settled:
            self.idle = Idle("the secret of the seeds is changed when the blocks in play are over")
            return False
        self._keeper.reveal(self._journal)
        self._keeper = take_up(self.folder.secrets, read_journal(self.folder.journal), self._ladder.matchmaking.seed)
        self._keeper.commit(self.folder.secrets, self._journal)
        self.progress.schedule.key(self._keeper.seeds)
        self._epoch_day, self.new_epoch = self._day(), False
        return True

    def decide(self, chosen: Chosen) -> None:
        """The block is in the journal before its first match is played, behind all results that the decision saw."""
        self.progress.anchors.flush()
        block = DecidedBlock(
            self._blocks,
            chosen.variant,
            chosen.group,
            self._groups,
            not self.config.shares_seeds,
            chosen.reason,
            self._journal.lines,
        )
        self._journal.append(BLOCK, **asdict(block))
        self.progress.schedule.decide(block)
        self._remember(block)

    def _remember(self, block: DecidedBlock) -> None:
        variant = self._variants[block.variant]
        first = self._places
        for _ in variant.orders:
            self._block_of[self._places] = block.number
            self._places += 1
        self._open[block.number] = _OpenBlock(block.group, variant.teams, len(variant.orders), first)
        for entry_id in block.group:
            if member := self._members.get(entry_id):
                member.blocks, member.playing, member.last = member.blocks + 1, member.playing + 1, block.number
        for entry_id in block.group:
            if member := self._members.get(entry_id):
                self._note_met(member.bot, block.group)
        asked = self._members.get(block.group[0])
        self._latest.append(Latest(block.group, asked.bot.owner if asked else ""))
        self._blocks = block.number + 1
        self._groups = block.seed_group + (len(variant.orders) if block.own_seeds else 1)

    def _note_met(self, bot: LadderBot, group: Sequence[str]) -> None:
        """One more block of this bot."""
        owners = {self._members[other].bot.owner for other in group if other in self._members}
        met = self._met.setdefault(bot.name, Counter())
        for owner in owners:
            if owner not in ("", bot.owner):
                met[owner] += 1
        met[""] += 1
        self._bars.pop(bot.name, None)

    def _bars_of(self, name: str) -> tuple[str, ...]:
        if name not in self._bars:
            met = self._met.get(name, Counter[str]())
            most = math.ceil(OWNER_SHARE * (met[""] + 1))
            self._bars[name] = tuple(owner for owner, blocks in met.items() if owner and blocks + 1 > most)
        return self._bars[name]

    def _on_settled(self, place: int, match_id: str, seats: Sequence[SeatSpec], judged: Judged | None) -> None:
        """A match is over, or will not be played for now."""
        if judged is None:
            self._close(place)
            return
        entries = [seat.entry_id for seat in seats]
        self._given_up.counted(entries, place)
        if self._taken is None:
            self._learn(match_id, place, entries, judged.ranking)
        else:
            self._taken[match_id] = place, entries, judged.ranking

    def _on_given_up(self, spec: MatchSpec, what: GivenUp, named: Collection[str]) -> None:
        """Pause a bot that is alone with that."""
        entries = [seat.entry_id for seat in spec.seats]
        self._last_given_up = one_line(without_store(f"{what.reason}: {what.detail}"))
        alone = self._given_up.given_up(entries, named, spec.place)
        for entry_id, place in alone if self._ladder.breaker.enabled else ():
            member = self._members.get(entry_id)
            if member is not None and not member.out:
                number = self._given_up.in_a_row
                reason = (
                    f"{number} of its matches were given up and none has counted since the first, while matches of its"
                    f" opponents counted; the last: {self._last_given_up}"
                )
                self._leave(member, "breaker", reason, place)
                self.broken.append(member.bot)
                self._observer.note(f"'{member.bot.name}' is paused in {self.config.name}: {reason}")

    def _learn(self, match_id: str, place: int, entries: Sequence[str], ranking: Sequence[int]) -> None:
        number = self._block_of.get(place)
        if number is not None:
            block = self._open[number]
            first, last = min(ranking), max(ranking)
            for one, rank in zip(entries, ranking, strict=True):
                member = self._members.get(one)
                if rank == last != first or member is None or not member.bot.remote:
                    continue
                if one in block.left_by:
                    self._unfair.append((match_id, member.bot.name))
                else:
                    block.not_lost.setdefault(one, []).append(match_id)
            for seat, one in enumerate(entries):
                if self._is_placed(one):
                    continue
                for rank, other in zip(ranking, entries, strict=True):
                    if one != other:
                        own = ranking[seat]
                        share = 1.0 if own < rank else 0.5 if own == rank else 0.0
                        block.shares.setdefault((one, other), []).append(share)
            unapproved = unapproved_among(entries, place, self._approvals)
            self.beliefs.apply(entries, block.teams, ranking, unapproved)
        self._close(place)

    def _close(self, place: int) -> None:
        """One match less of its block."""
        number = self._block_of.pop(place, None)
        if number is None:
            return
        block = self._open[number]
        block.left -= 1
        if block.left:
            return
        del self._open[number]
        for entry_id in block.group:
            if member := self._members.get(entry_id):
                member.playing -= 1
                if not self._is_placed(entry_id):
                    shares = ((other, block.shares.get((entry_id, other), [])) for other in block.group)
                    member.scores += [(other, sum(found) / len(found)) for other, found in shares if found]

    def _is_placed(self, entry_id: str) -> bool:
        """Whether its results are no longer needed, since its placement series is over."""
        member = self._members.get(entry_id)
        return member is None or len(member.scores) >= self._ladder.matchmaking.placement_blocks

    def _day(self) -> str:
        return self._now().date().isoformat()


def describe(config: LadderConfig, division: DivisionConfig) -> dict[str, Any]:
    """Everything a result of the division depends on, as the configuration in the first line of its journal."""
    game = division.game
    return {
        "name": division.name,
        "game": game.game,
        "games": [game.fields()],
        "format": ladder.NAME,
        "settings": {},
        "seed": config.matchmaking.seed,
        "blocks": 1,
        "limits": division.limits.in_force(),
        "faults": config.faults.fields(),
        "ponder": config.ponder,
        **({"fresh": True} if config.fresh else {}),
        "breaker": asdict(config.breaker),
        "bots": [],
    }
