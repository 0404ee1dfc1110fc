"""Plays matches on the machines of a Dask cluster, behind the same protocol as the executor of this machine.

The executor chooses the machine of each match. Dask transports the order there and the answer back (see `relay`). An
order is for one worker of Dask, which has a new address when it comes back. The runner decides which matches are played
again.
"""

import asyncio
import math
import secrets
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias

import dask
from distributed import Client
from distributed.comm.core import CommClosedError

from referee.cluster import tasks
from referee.cluster.archive import MOST_BUILD_BYTES, MOST_PACKED_BYTES, Parcel, fits, pack, pack_build
from referee.cluster.machine import METRIC, Facts, own_platform, own_versions
from referee.cluster.orders import TOPIC, Answer, HandIns, Order, TrialOrder
from referee.cluster.peers import Peer
from referee.cluster.relay import END, ORDER
from referee.cluster.serving import check_versions
from referee.cluster.settings import CONFIG, security_of
from referee.errors import ExpectedError, PlatformError, UsageError
from referee.match.result import Fault, MatchResult
from referee.process.entry import load_stored
from referee.process.store import Built, store_folder
from referee.record.format import RecordError
from referee.record.reader import read_header
from referee.record.reasons import EndReason
from referee.record.store import closed_path, live_path
from referee.run.machines import ClusterState, MachineState
from referee.schedule.spec import MatchSpec
from referee.texts import one_line, plural
from referee.tournament.executor import Executor, MatchLost, nothing
from referee.tournament.messages import BotSetup, Meeting

LOOK_S = 1.0
"""How often the list of machines is read, where no event says that it has changed."""

_WORKERS_PER_S = 200
"""Reading the list of more machines takes longer, and is done less often."""

ANSWER_S = 60.0
"""Time that a busy scheduler has to list its machines before it counts as lost."""

AGAIN_S = 2.0
MOVE_S = 30.0
"""Without any of its machines for this long, the rest of a block goes to others."""

MOST_BLOCKS = 100_000
"""Blocks whose machines are remembered: more than can be open."""

FOLLOWED = 50
"""Matches that are followed live at once."""

CAP_SLACK_S = 30.0
"""Time for the transport of an order and its answer, above the limit of the match."""

MOST_MADE = 1000
"""The number of bots whose builds on this machine are known and held: those that were needed last."""

SENT_AT_ONCE = 2
"""Bots that are packed and sent to machines at the same time: each is in memory."""

SLOTS_PER_TRIAL = 4
"""Trials take at most one slot in this number, and at least one: matches get the others."""

MOST_BRINGS = 3
"""How often a machine gets bots for one match that it says it has not got."""

MOST_FAULTS = 3
"""A machine gets no more matches after it could not play this number of different matches in a row."""

LEAST_MATCHES = 20
"""Matches of a machine, and of all others, that a comparison needs."""

VOID_RATE, TIMES_OTHERS, LAG_SHARE = 0.2, 4.0, 0.05

_Block: TypeAlias = tuple[Path, int]
"""The folder of the records of its run, and its number there."""


@dataclass(slots=True)
class History:
    """Of a machine by its name, over all its connections. `faults` are matches in a row that it could not play. `voids`
    are void matches for which no bot is named; `voids_of` counts the others by the bot, and `bots` are all that played
    there."""

    matches: int = 0
    voids: int = 0
    voids_of: Counter[str] = field(default_factory=Counter)
    bots: set[str] = field(default_factory=set)
    lag_us: int = 0
    wall_us: int = 0
    faults: list[str] = field(default_factory=list)
    drained: str = ""
    unable: dict[str, str] = field(default_factory=dict)
    """For each bot, by content: why it cannot be built or does not start here."""

    @property
    def counted_voids(self) -> int:
        """Those that may be the machine's. No bot has more than its share of them: a bot can see where it plays, and
        have its matches void on one machine alone."""
        share = math.ceil(self.voids_of.total() / max(1, len(self.bots)))
        return self.voids + sum(min(number, share) for number in self.voids_of.values())


@dataclass(slots=True)
class Machine:
    """One that is connected. `busy` are matches of other runs on it. `full` says why it takes no trial, '' if it takes
    some."""

    address: str
    facts: Facts
    history: History
    busy: int = 0
    full: str = ""
    playing: int = 0
    bringing: dict[str, "asyncio.Task[tuple[str, str]]"] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.facts.name

    @property
    def free(self) -> int:
        return max(0, self.facts.slots - self.playing - self.busy) if not self.history.drained else 0


@dataclass(slots=True)
class _Attempt:
    machine: Machine
    over: "asyncio.Future[bytes | str]"
    """The answer of the machine, or in words why there will be none."""
    cap_s: float = 0.0
    live: Path | None = None
    """The file for its live record, if it is followed."""
    begun: bool = False
    news_bytes: int = 0
    limit: asyncio.Timeout | None = None
    hear: Callable[[str, bytes], None] | None = None
    """Callback for the events and the log of a trial."""
    heard: bool = False
    """Whether the trial has said anything: its first event comes before it looks at the bot."""


class _NotThereError(Exception):
    """This machine cannot play the match, another one may."""


class _NowhereError(Exception):
    """No machine can build or start the bot of this seat."""

    def __init__(self, seat: int, sentence: str) -> None:
        super().__init__(sentence)
        self.seat = seat


class Beside(Executor, Protocol):
    """The executor of this machine."""

    async def play(
        self, spec: MatchSpec, cap_s: float, meeting: Meeting | None = None, *, over: Callable[[], None] = nothing
    ) -> MatchResult: ...


class DaskExecutor:
    """The machines that workers of `crosstown cluster worker` offer through the scheduler at `peer`.

    `bots` by entry id are those of the run. Matches of entries in `beside` are played by the executor `local`, on this
    machine. Bots in `strict` are only played where the sandbox works. `begun` has, for blocks that were begun before
    this runner was started, a match with a record, which says where it was played: the rest of the block is played on
    the same class of machines, or with `same_machine` on the same machine.

    With `ladder` each match comes with a meeting, which has its bots and its folder. The executor `local` plays matches
    with a remote bot. Bots with a strict sandbox are only played where it works. A match that no machine can play does
    not end the ladder: it waits for a machine. If a bot cannot be built anywhere, the match is void, since it did not
    start.

    With `sends_builds` machines of this machine's platform play with the builds that were made here. `hand_ins`: how
    they build what strangers have handed in.
    """

    def __init__(
        self,
        peer: Peer,
        records: Path,
        *,
        bots: Mapping[str, BotSetup] | None = None,
        local: Beside | None = None,
        beside: Collection[str] = (),
        strict: Collection[str] = (),
        same_machine: bool = False,
        begun: MutableMapping[int, str] | None = None,
        note: Callable[[str], None] = lambda _: None,
        on_state: Callable[[ClusterState], None] = lambda _: None,
        ladder: bool = False,
        sends_builds: bool = False,
        hand_ins: HandIns | None = None,
    ) -> None:
        self._peer = peer
        self._records = records
        self._bots = bots or {}
        self._local = local
        self._beside = frozenset(beside)
        self._strict = frozenset(strict)
        self._same_machine = same_machine
        self._begun = {} if begun is None else begun
        self._places: dict[_Block, str] = {}
        """For each block that was begun, the class or the name of the machine that plays it."""
        self._ladder = ladder
        self._sends_builds = sends_builds
        self._hand_ins = "" if hand_ins is None else hand_ins.to_json()
        self._made: dict[str, _Made] = {}
        self._trying = 0
        """Slots that trials have."""
        self._packing = asyncio.Semaphore(SENT_AT_ONCE)
        self._waits_for = ""
        self._waiting = 0
        self._dashboard = ""
        self._note = note
        self._on_state = on_state
        self._client: Client | None = None
        self._stream: Any = None
        """What Dask sends to the scheduler with; another one after it was connected again."""
        self._followed = 0
        self._scheduler_id = ""
        self._told = -1, -1
        self._machines: dict[str, Machine] = {}
        self._are_several_kinds = False
        self._histories: dict[str, History] = {}
        self._refused: set[str] = set()
        self._attempts: dict[str, _Attempt] = {}
        self._changed = asyncio.Event()
        self._look = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None
        self._killed = False
        self._missed_since: dict[str, float] = {}

    # The protocol of executors

    @property
    def slots(self) -> int:
        """Those of all machines, and those of this one for the matches that are played beside the door."""
        there = sum(machine.facts.slots for machine in self._machines.values() if not machine.history.drained)
        return max(1, there) + (self._local.slots if self._local is not None else 0)

    def has_room(self, spec: MatchSpec, playing: Collection[MatchSpec]) -> bool:
        if self._local is not None and self._is_beside(spec):
            return self._local.has_room(spec, [other for other in playing if self._is_beside(other)])
        if not playing:
            return True  # it waits for a machine, and all others with it
        place = self._place(self._records, spec.block)
        return any(
            machine.free and (place is None or place == self._place_of(machine)) for machine in self._machines.values()
        )

    async def play(
        self, spec: MatchSpec, cap_s: float, meeting: Meeting | None = None, *, over: Callable[[], None] = nothing
    ) -> MatchResult:
        """`meeting`: the match is of a ladder, and these are its bots by seat."""
        if self._local is not None and (self._is_beside(spec) or (meeting and any(bot.remote for bot in meeting.bots))):
            return await self._local.play(spec, cap_s, meeting, over=over)
        if meeting is None:
            meeting = Meeting(self._records, tuple(self._bots[seat.entry_id] for seat in spec.seats))
        elif meeting.begun:
            self._recall(meeting.records, spec.block, meeting.begun)
        while True:
            try:
                machine = await self._seat(spec, meeting)
            except _NowhereError as error:
                return _not_started(spec, error.seat, str(error))
            try:
                return await self._play_on(machine, spec, cap_s, meeting)
            except _NotThereError:
                continue
            finally:
                machine.playing -= 1
                self._change()

    def kill(self) -> None:
        self._killed = True
        if self._local is not None:
            self._local.kill()
        for attempt in self._attempts.values():
            _end(attempt, "the run was ended")
        self._change()

    async def __aenter__(self) -> Self:
        await check_versions(self._peer)
        with dask.config.set(CONFIG):
            await self._connect()
        if self._local is not None:
            await self._local.__aenter__()
        self._watching = asyncio.create_task(self._watch())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._watching is not None:
                self._watching.cancel()
                await asyncio.gather(self._watching, return_exceptions=True)
            await self._disconnect()
        finally:
            if self._local is not None:
                await self._local.__aexit__(kind, error, trace)

    @property
    def machines(self) -> tuple[Machine, ...]:
        """Those that are connected, by name."""
        return tuple(sorted(self._machines.values(), key=lambda machine: machine.name))

    @property
    def state(self) -> ClusterState:
        """For people. Only the organiser is to see the dashboard."""
        return ClusterState(
            tuple(
                MachineState(one.name, one.facts.kind, one.facts.slots, one.playing + one.busy, one.history.drained)
                for one in self.machines
            ),
            self._waiting,
            self._dashboard,
        )

    # Trials of a ladder's hand-ins, which take a slot each

    async def seat_trial(self, *, strict: bool, without: Collection[str] = ()) -> Machine | None:
        """The machine for a trial, on which a slot is taken. Waits until there is one; None if there are only those in
        `without`. `strict`: only where the sandbox works. MatchLost at the end."""
        is_noted = False
        while True:
            if self._killed:
                raise MatchLost("the ladder was ended")
            self._changed.clear()
            able = [
                machine
                for machine in self._machines.values()
                if not (machine.history.drained or machine.full or (strict and machine.facts.sandbox != "strict"))
            ]
            if self._machines and not able and not is_noted:
                is_noted = True
                self._note(
                    "a hand-in waits: each machine gets no more matches, its disk is nearly full, or the sandbox does"
                    " not work there; see what is missing with: crosstown doctor, on a machine"
                )
            left = [machine for machine in able if machine.name not in without]
            if able and not left:
                return None
            slots = sum(machine.facts.slots for machine in self._machines.values() if not machine.history.drained)
            free = [machine for machine in left if machine.free]
            if free and self._trying < max(1, slots // SLOTS_PER_TRIAL):
                best = max(free, key=lambda machine: (machine.free / machine.facts.slots, machine.name))
                best.playing += 1
                self._trying += 1
                return best
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._changed.wait()

    def give_back(self, machine: Machine) -> None:
        """The slot of a trial is free again."""
        machine.playing -= 1
        self._trying -= 1
        self._change()

    async def send_trial(self, machine: Machine, order: TrialOrder, hear: Callable[[str, bytes], None]) -> str:
        """How the process of a trial on a machine ended; `hear` is called with what it says. MatchLost, with its name,
        if the machine is lost, or cannot try."""
        attempt = _Attempt(machine, asyncio.get_running_loop().create_future(), hear=hear)
        self._attempts[order.key] = attempt
        said: bytes | str = ""
        try:
            self._post(machine, ORDER, order.key, data=order.to_bytes())
            said = await attempt.over
        finally:
            del self._attempts[order.key]
            if not isinstance(said, bytes):
                with suppress(MatchLost):
                    self._post(machine, END, order.key)
        if isinstance(said, str):
            raise MatchLost(said, machine=machine.name)
        try:
            answer = Answer.from_bytes(said)
            trouble = "" if answer.kind == "tried" and attempt.heard else f"cannot try it: {answer.what}"
        except ValueError as error:
            trouble = f"gave an answer that cannot be used: {error}"
        if trouble:
            what = f"machine '{machine.name}' {trouble}"
            self._fault(machine, order.content, what)
            raise MatchLost(what, machine=machine.name)
        machine.history.faults.clear()
        return answer.what

    # Where a match is played

    def _is_beside(self, spec: MatchSpec) -> bool:
        return any(seat.entry_id in self._beside for seat in spec.seats)

    async def _seat(self, spec: MatchSpec, meeting: Meeting) -> Machine:
        """The machine for a match, on which a slot is taken for it. Waits until there is one. If no connected machine
        can play it: _NowhereError in a ladder, for a bot that cannot be built; PlatformError in a run."""
        while True:
            if self._killed:
                raise MatchLost("the run was ended")
            self._changed.clear()
            if (machine := self._choose(spec, meeting.bots, meeting.records)) is not None:
                machine.playing += 1
                return machine
            self._waiting += 1
            try:
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_S):
                        await self._changed.wait()
            finally:
                self._waiting -= 1

    def _choose(self, spec: MatchSpec, bots: tuple[BotSetup, ...], records: Path | None = None) -> Machine | None:
        block = records or self._records, spec.block
        free = [machine for machine in self._machines.values() if machine.free]
        place = self._place(*block)
        fitting = [
            machine
            for machine in free
            if (place is None or self._place_of(machine) == place)
            and spec.match_id not in machine.history.faults
            and self._is_able(machine, bots)
        ]
        if not fitting:
            fitting = self._choose_among_all(spec, bots, block)
        if not fitting:
            return None
        best = max(fitting, key=lambda machine: (machine.free / machine.facts.slots, machine.name))
        if self._same_machine or self._are_several_kinds:
            self._keep(block, self._place_of(best))
        return best

    def _place(self, records: Path, number: int) -> str | None:
        """Where a block is played, if it was begun, and that is known."""
        if records == self._records and (match_id := self._begun.pop(number, "")):
            self._recall(records, number, match_id)
        return self._places.get((records, number))

    def _recall(self, records: Path, number: int, match_id: str) -> None:
        """Take from the record of a match where its block is played."""
        with suppress(RecordError):
            machine = read_header(closed_path(live_path(records, match_id))).machine
            if place := machine.get("name" if self._same_machine else "class"):
                self._keep((records, number), place)

    def _keep(self, block: _Block, place: str) -> None:
        self._places.setdefault(block, place)
        if len(self._places) > MOST_BLOCKS:
            del self._places[next(iter(self._places))]

    def _choose_among_all(self, spec: MatchSpec, bots: tuple[BotSetup, ...], block: _Block) -> list[Machine]:
        """The free machines for a match that was lost before, or whose machines are full or gone."""
        able = [machine for machine in self._machines.values() if self._is_able(machine, bots)]
        if self._machines and not able:
            self._explain(bots)
        place = self._place(*block)
        if place is not None:
            there = [machine for machine in able if self._place_of(machine) == place]
            if there or not self._may_move(place, able):
                able = there
            else:
                self._note(f"block {spec.block} goes on elsewhere: no machine of {place} is there, or can play it")
                del self._places[block]
        # A match that was lost on a machine is not played there again while another one may have it.
        able = [machine for machine in able if spec.match_id not in machine.history.faults] or able
        return [machine for machine in able if machine.free]

    def _is_able(self, machine: Machine, bots: Iterable[BotSetup]) -> bool:
        if machine.history.drained:
            return False
        weak = machine.facts.sandbox != "strict"
        return not any(bot.content in machine.history.unable or (weak and self._is_strict(bot)) for bot in bots)

    def _is_strict(self, bot: BotSetup) -> bool:
        return bot.sandbox.profile == "strict" if self._ladder else bot.entry_id in self._strict

    def _explain(self, bots: Iterable[BotSetup]) -> None:
        """PlatformError, in a ladder _NowhereError, if waiting is of no use: machines are there, and none can play
        these bots."""
        machines = list(self._machines.values())
        drained = [f"{one.name}: {one.history.drained}" for one in machines if one.history.drained]
        if len(drained) == len(machines):
            self._wait_or_end(f"no machine is left: {'; '.join(drained)}", "repair a machine, and start it again")
            return
        working = [one for one in machines if not one.history.drained]
        for seat, bot in enumerate(bots):
            why = [
                f"on {one.name}: {one.history.unable[bot.content]}"
                for one in working
                if bot.content in one.history.unable
            ]
            if len(why) == len(working):
                what = f"the bot '{bot.name}' cannot play on any machine; {'; '.join(why[:3])}"
                if self._ladder:
                    raise _NowhereError(seat, what)
                raise PlatformError(what, "install what it needs on a machine, and start that again")
            if self._is_strict(bot) and all(one.facts.sandbox != "strict" for one in working):
                what = f"the bot '{bot.name}' is to play in the sandbox, which works on no machine"
                self._wait_or_end(what, "see what is missing with: crosstown doctor, on a machine")
                return

    def _wait_or_end(self, what: str, step: str) -> None:
        """In a ladder say once that matches wait; in a run PlatformError."""
        if not self._ladder:
            raise PlatformError(what, step)
        if what != self._waits_for:
            self._waits_for = what
            self._note(f"matches wait: {what}; {step}")

    def _place_of(self, machine: Machine) -> str:
        return machine.name if self._same_machine else machine.facts.kind

    def _may_move(self, place: str, able: Collection[Machine]) -> bool:
        """Whether what began at a place that cannot go on with it may be taken to another one now."""
        if any(self._place_of(machine) == place for machine in self._machines.values()):
            return bool(able)  # it is there, and one of the bots does not play there
        now_s = asyncio.get_running_loop().time()
        return bool(able) and now_s - self._missed_since.setdefault(place, now_s) >= MOVE_S

    # One attempt

    async def _play_on(self, machine: Machine, spec: MatchSpec, cap_s: float, meeting: Meeting) -> MatchResult:
        bots = meeting.bots
        follow = self._followed < FOLLOWED
        made = {bot.content: await self._made_for(machine, bot) for bot in bots}
        builds = {content: one.own.artefacts for content, one in made.items() if one.own is not None}
        lacking: list[str] = []
        for _ in range(MOST_BRINGS + 1):
            key = f"crosstown-{spec.match_id}-{secrets.token_hex(6)}"
            order = Order(key, spec, cap_s, tuple(replace(bot, folder="") for bot in bots), follow, builds)
            answer = await self._ask(machine, order, meeting.records)
            if answer.kind != "lacks":
                return self._judge(machine, spec, bots, answer)
            missing = [next(bot for bot in bots if bot.content == content) for content in answer.lacks]
            lacking = [bot.name for bot in missing]
            for bot in missing:
                await self._bring(machine, bot, made[bot.content])
        what = f"machine '{machine.name}' took {' and '.join(map(repr, lacking))}, and cannot play with that"
        self._fault(machine, spec.match_id, what)
        raise MatchLost(what, machine=machine.name)

    async def _ask(self, machine: Machine, order: Order, records: Path) -> Answer:
        """The answer of a machine to an order. MatchLost, with its name, if it gives none."""
        cap_s = order.cap_s
        live = live_path(records, order.spec.match_id) if order.follow else None
        attempt = _Attempt(machine, asyncio.get_running_loop().create_future(), cap_s, live)
        self._attempts[order.key] = attempt
        self._followed += order.follow
        data: bytes | str = ""
        try:
            async with asyncio.timeout(None) as attempt.limit:
                self._post(machine, ORDER, order.key, data=order.to_bytes())
                data = await attempt.over
            if isinstance(data, str):
                raise MatchLost(data, machine=machine.name)
            answer = Answer.from_bytes(data)
            if answer.key != order.key:
                raise ValueError(f"it is of another order, {answer.key}")
            return answer
        except TimeoutError:
            what = f"machine '{machine.name}' gave no answer within {cap_s + CAP_SLACK_S:.0f} s"
        except ValueError as error:
            what = f"the answer of machine '{machine.name}' cannot be used: {error}"
        finally:
            del self._attempts[order.key]
            self._followed -= order.follow
            if not isinstance(data, bytes):
                with suppress(MatchLost):
                    self._post(machine, END, order.key)
        self._fault(machine, order.spec.match_id, what)
        raise MatchLost(what, machine=machine.name)

    def _post(self, machine: Machine, kind: str, key: str, **fields: Any) -> None:
        """Send to a machine. MatchLost if that cannot be done."""
        try:
            if self._client is None or machine.address not in self._machines:
                raise CommClosedError("it is gone")
            self._stream.send({"op": kind, "worker": machine.address, "key": key, **fields})
        except CommClosedError as error:
            what = f"machine '{machine.name}' cannot be reached: {one_line(str(error))}"
            raise MatchLost(what, machine=machine.name) from None

    async def _run(self, attempt: _Attempt, key: str, function: Callable[..., Any], *given: Any) -> Any:
        """What a function gives on the machine of the attempt. MatchLost if the machine is lost."""
        client, machine = self._client, attempt.machine
        if client is None or machine.address not in self._machines:
            raise MatchLost(f"machine '{machine.name}' is gone", machine=machine.name)
        future = client.submit(
            function,
            *given,
            key=key,
            workers=[machine.address],
            allow_other_workers=False,
            retries=0,
            pure=False,
        )
        waiting = asyncio.create_task(_outcome(future))
        try:
            either: set[asyncio.Future[Any]] = {waiting, attempt.over}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if attempt.over.done():
                raise MatchLost(str(attempt.over.result()), machine=machine.name)
            value, trouble = waiting.result()
            if trouble:
                raise MatchLost(f"machine '{machine.name}' was lost ({trouble})", machine=machine.name)
            return value
        finally:
            waiting.cancel()
            future.release()  # which ends it on the machine, too, if it goes on

    async def _made_for(self, machine: Machine, bot: BotSetup) -> "_Made":
        """The builds of a bot on this machine with which the other machine is to play."""
        if not self._sends_builds or machine.facts.platform != own_platform():
            return _Made()
        if bot.content not in self._made:
            async with self._packing:
                if bot.content not in self._made:  # it may have been found for another match
                    self._made[bot.content], why = await asyncio.to_thread(_find_builds, bot)
                    if why:
                        self._note(f"machines build '{bot.name}' themselves: {why}")
        made = self._made[bot.content] = self._made.pop(bot.content)  # the last one used is at the end
        if len(self._made) > MOST_MADE:
            del self._made[next(iter(self._made))]
        confined = bot.sandbox.profile == "strict" and machine.facts.sandbox == "strict"
        return _Made() if confined and any(built.sandbox != "strict" for built in made.builds) else made

    async def _bring(self, machine: Machine, bot: BotSetup, made: "_Made") -> None:
        """Let the machine have a bot, once. _NotThereError if the bot cannot play there, MatchLost if the machine
        cannot take it."""
        task = machine.bringing.get(bot.content)
        if task is None:
            task = machine.bringing[bot.content] = asyncio.create_task(self._send(machine, bot, made))
            task.add_done_callback(_heard)
        try:
            kind, why = await asyncio.shield(task)
        finally:
            if task.done():
                machine.bringing.pop(bot.content, None)
        if kind == "broken":
            what = f"machine '{machine.name}' cannot take '{bot.name}': {why}"
            self._fault(machine, bot.content, what)
            raise MatchLost(what, machine=machine.name)
        if kind == "unable":
            if bot.content not in machine.history.unable:
                machine.history.unable[bot.content] = why
                self._note(f"'{bot.name}' cannot play on machine '{machine.name}', and plays on others: {why}")
            raise _NotThereError

    async def _send(self, machine: Machine, bot: BotSetup, made: "_Made") -> tuple[str, str]:
        attempt = _Attempt(machine, asyncio.get_running_loop().create_future())
        key = f"crosstown-bot-{bot.content}-{secrets.token_hex(6)}"
        self._attempts[key] = attempt
        try:
            async with self._packing:  # not while the machine builds, which may take long
                data = await self._transport(machine, bot, made)
            hand_ins = self._hand_ins if bot.handed_in else ""
            told: tuple[str, str] = await self._run(
                attempt, key, tasks.take_bot, bot.content, bot.sandbox.profile, data, hand_ins
            )
            return told
        finally:
            del self._attempts[key]

    async def _transport(self, machine: Machine, bot: BotSetup, made: "_Made") -> Any:
        """Dask's future of the parcel of a bot, which is on the machine. MatchLost."""
        try:
            parcel = await asyncio.to_thread(_packed, bot, made)
        except (ExpectedError, OSError) as error:
            if not self._ladder:
                raise
            raise MatchLost(f"'{bot.name}' cannot be sent: {one_line(str(error))}") from None
        if self._client is None:
            raise MatchLost(f"machine '{machine.name}' is gone", machine=machine.name)
        try:
            return await self._client.scatter(parcel, workers=[machine.address], hash=False)
        except (OSError, ValueError, TimeoutError, KeyError) as error:
            what = f"machine '{machine.name}' was lost ({one_line(str(error))})"
            raise MatchLost(what, machine=machine.name) from None

    # What it was

    def _judge(self, machine: Machine, spec: MatchSpec, bots: tuple[BotSetup, ...], answer: Answer) -> MatchResult:
        if answer.kind == "broken":
            what = f"machine '{machine.name}' cannot play: {answer.what}"
            self._fault(machine, spec.match_id, what)
            raise MatchLost(what, machine=machine.name)
        if answer.kind == "lost" and answer.flood is not None:
            raise MatchLost(answer.what, answer.flood)
        if answer.kind == "lost":
            what = f"on machine '{machine.name}': {answer.what}"
            self._fault(machine, spec.match_id, what)
            raise MatchLost(what, machine=machine.name)
        result = answer.result
        if result is None or result.match_id != spec.match_id:
            raise MatchLost(f"machine '{machine.name}' answered for another match", machine=machine.name)
        if result.reason is EndReason.START_FAILED:
            self._check_start(machine, spec, bots, result)
        if result.reason is EndReason.PLATFORM_FAULT and result.memory_of is None:
            what = f"on machine '{machine.name}': {result.detail}"
            self._fault(machine, spec.match_id, what)
            raise MatchLost(what, machine=machine.name)
        self._count(machine, bots, result)
        return replace(result, record=answer.record or None)

    def _check_start(self, machine: Machine, spec: MatchSpec, bots: tuple[BotSetup, ...], result: MatchResult) -> None:
        """MatchLost while there is a machine on which the bot that did not start was not tried: only when it starts on
        none of them it is the bot's fault."""
        failed = [fault for fault in result.faults if fault is not None and fault.reason is EndReason.START_FAILED]
        for fault in failed:
            bot = bots[fault.seat]
            machine.history.unable[bot.content] = fault.detail
            if any(self._is_able(other, bots) for other in self._machines.values()):
                what = f"'{bot.name}' did not start on machine '{machine.name}': {fault.detail}"
                self._note(f"{what}; it plays on others")
                raise MatchLost(what, machine=machine.name)
        for fault in failed:
            for history in self._histories.values():
                history.unable.pop(bots[fault.seat].content, None)

    def _fault(self, machine: Machine, match_id: str, what: str) -> None:
        """A match that the machine could not play, unless that match fares no better elsewhere. For a bot that it could
        not take or try, `match_id` is its content."""
        history = machine.history
        history.voids += 1
        if not any(match_id in other.faults for other in self._histories.values() if other is not history):
            history.faults.append(match_id)
        if len(set(history.faults)) >= MOST_FAULTS:
            self._drain(machine, what)

    def _count(self, machine: Machine, bots: tuple[BotSetup, ...], result: MatchResult) -> None:
        history = machine.history
        history.faults.clear()
        history.bots.update(bot.content for bot in bots)
        named = {fault.seat for fault in result.faults if fault is not None}
        if result.memory_of is not None:
            named.add(result.memory_of)
        if result.status == "rated":
            history.matches += 1
        elif result.status == "void" and named:
            history.voids_of.update({bots[seat].content for seat in named})
        elif result.status == "void":
            history.voids += 1
        history.lag_us += sum(stats.lag_us or 0 for stats in result.seat_stats)
        history.wall_us += sum(stats.total_us for stats in result.seat_stats)
        others = [other for other in self._histories.values() if other is not history and not other.drained]
        if why := stands_out(history, others):
            self._drain(machine, why)

    def _drain(self, machine: Machine, why: str) -> None:
        if not machine.history.drained:
            machine.history.drained = why
            self._note(f"machine '{machine.name}' gets no more matches: {why}")
            self._change()

    # The connection

    async def _connect(self) -> None:
        """PlatformError or OSError if there is no scheduler now."""
        await check_versions(self._peer)
        client = Client(
            self._peer.address,
            security=security_of(self._peer.certificates),
            asynchronous=True,
            set_as_default=False,
            direct_to_workers=False,
            name="crosstown",
            timeout=10,
        )
        await client
        client.subscribe_topic(TOPIC, self._on_news)
        client.subscribe_topic("all", self._on_event)
        self._client, self._stream = client, client.scheduler_comm
        await self._read_machines()

    async def _disconnect(self) -> None:
        client, self._client, self._scheduler_id = self._client, None, ""
        self._lose(list(self._machines.values()), "the connection to the scheduler was lost")
        if client is not None:
            with suppress(Exception):  # whatever is left of it goes with it
                async with asyncio.timeout(AGAIN_S):
                    await client.close(timeout=1)

    async def _watch(self) -> None:
        """Keep the connection, and the list of machines."""
        lost = False
        while True:
            try:
                if self._client is None:
                    await self._connect()
                    self._note(f"the scheduler {self._peer.address} is there again")
                    lost = False
                elif self._client.status != "running" or self._client.scheduler_comm is not self._stream:
                    raise OSError("the connection ended")
                else:
                    await self._read_machines()
            except UsageError as error:
                self._note(f"{error}; {error.next_step}")
                await self._disconnect()
            except (OSError, TimeoutError, PlatformError, RuntimeError, ValueError) as error:
                if not lost:
                    self._note(
                        f"the scheduler {self._peer.address} is lost ({one_line(str(error))}); the run waits for it:"
                        " start it again, or stop the run"
                    )
                lost = True
                await self._disconnect()
            self._look.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(AGAIN_S if lost else max(LOOK_S, len(self._machines) / _WORKERS_PER_S)):
                    await self._look.wait()

    async def _read_machines(self) -> None:
        assert self._client is not None
        assert self._client.scheduler is not None
        async with asyncio.timeout(ANSWER_S):
            identity = await self._client.scheduler.identity(n_workers=-1)
        if self._scheduler_id not in ("", identity["id"]):
            # Dask's client has connected to it by itself, but the new one knows nothing of what we want to hear.
            raise OSError("it was started again")
        self._scheduler_id = identity["id"]
        there: dict[str, Mapping[str, Any]] = identity["workers"]
        self._lose([machine for address, machine in self._machines.items() if address not in there], "it is gone")
        for address, worker in there.items():
            told = worker["metrics"].get(METRIC)
            if told is None:
                continue
            if address in self._machines:
                self._machines[address].busy = self._others(told["busy"])
                self._machines[address].full = told["full"]
            elif address not in self._refused:
                self._join(address, dict(told))
        port = identity["services"].get("dashboard")
        self._dashboard = f"http://127.0.0.1:{port}/status" if port else ""
        self._change()
        self._tell_machines()
        self._on_state(self.state)

    def _tell_machines(self) -> None:
        """Note the number of machines, whenever it changes."""
        number, slots = len(self._machines), sum(machine.facts.slots for machine in self._machines.values())
        if (number, slots) != self._told:
            self._told = number, slots
            join = f"; each joins with: crosstown cluster worker {shlex.quote(self._peer.address)}"
            said = f"playing on {plural(number, 'machine')} with {plural(slots, 'slot')}"
            self._note(said if number else f"no machine is there, and matches wait for one{join}")

    def _join(self, address: str, told: dict[str, Any]) -> None:
        busy, full = self._others(told.pop("busy", {})), told.pop("full", "")
        try:
            facts = Facts.from_values(told)
        except (KeyError, TypeError):
            self._refused.add(address)
            self._note(f"the worker at {address} has another version of Crosstown, and gets no matches")
            return
        if difference := own_versions().difference(facts.versions):
            self._refused.add(address)
            self._note(f"machine '{facts.name}' gets no matches: it has {difference}")
            return
        if self._ladder:  # it goes on for months, in which machines are repaired and started again
            self._histories[facts.name] = History()
        history = self._histories.setdefault(facts.name, History())
        self._waits_for = ""
        self._machines[address] = Machine(address, facts, history, busy, full)
        self._are_several_kinds = len({machine.facts.kind for machine in self._machines.values()}) > 1
        self._missed_since.pop(facts.name, None)
        self._missed_since.pop(facts.kind, None)
        self._change()

    def _others(self, busy: Mapping[str, int]) -> int:
        """The number of matches of other runs on a machine. The machine tells the number for each Dask client."""
        return sum(number for client, number in busy.items() if self._client is None or client != self._client.id)

    def _lose(self, machines: Iterable[Machine], why: str) -> None:
        for machine in machines:
            self._machines.pop(machine.address, None)
            self._are_several_kinds = len({other.facts.kind for other in self._machines.values()}) > 1
            for attempt in self._attempts.values():
                if attempt.machine is machine:
                    _end(attempt, f"machine '{machine.name}' was lost: {why}")
        self._change()

    def _change(self) -> None:
        self._changed.set()

    def _on_event(self, event: tuple[float, Any]) -> None:
        """Of Dask's scheduler."""
        _, said = event
        if not isinstance(said, Mapping):
            return
        if said.get("action") == "remove-worker" and (machine := self._machines.get(str(said.get("worker")))):
            self._lose([machine], "the scheduler gets no more messages from it")
        if said.get("action") in ("add-worker", "remove-worker"):
            self._look.set()

    def _on_news(self, event: tuple[float, Any]) -> None:
        """Of a machine."""
        _, said = event
        if said.get("kind") == "note":
            self._note(f"machine '{said['machine']}': {one_line(str(said['text']))}")
            return
        attempt = self._attempts.get(str(said.get("key")))
        if attempt is None or said.get("worker") != attempt.machine.address:
            return
        if said["kind"] == "answer":
            if not attempt.over.done():
                attempt.over.set_result(said["data"])
        elif said["kind"] in ("event", "log"):
            attempt.heard = attempt.heard or said["kind"] == "event"
            try:
                if attempt.hear is not None:
                    attempt.hear(said["kind"], said["data"])
            except (ValueError, KeyError, TypeError) as error:
                _end(attempt, f"machine '{attempt.machine.name}' sent a message that cannot be used: {error}")
        elif said["kind"] == "begun":
            if attempt.begun:
                _end(attempt, f"machine '{attempt.machine.name}' began it twice")
            attempt.begun = True
            if attempt.limit is not None:
                now_s = asyncio.get_running_loop().time()
                attempt.limit.reschedule(now_s + attempt.cap_s + CAP_SLACK_S)
        elif said["kind"] == "news" and said["start"] == attempt.news_bytes and attempt.live is not None:
            with suppress(OSError), attempt.live.open("ab") as file:
                file.write(said["lines"])
                attempt.news_bytes += len(said["lines"])


def stands_out(history: History, others: Iterable[History]) -> str:
    """Why a machine is to get no more matches: it voids or lags far more than all others together; '' if not so."""
    rest = list(others)
    matches, voids = sum(one.matches for one in rest), sum(one.counted_voids for one in rest)
    total = history.matches + history.counted_voids
    if total < LEAST_MATCHES or matches + voids < LEAST_MATCHES:
        return ""
    rate, usual = history.counted_voids / total, voids / (matches + voids)
    if rate > VOID_RATE and rate > TIMES_OTHERS * usual:
        return f"{rate:.0%} of its matches were void, {usual:.0%} of those of the other machines"
    if min(history.matches, matches) < LEAST_MATCHES:
        return ""
    lag = history.lag_us / max(1, history.wall_us)
    usual = sum(one.lag_us for one in rest) / max(1, sum(one.wall_us for one in rest))
    if lag > LAG_SHARE and lag > TIMES_OTHERS * usual:
        return f"{lag:.0%} of the thinking time there was the machine's lag, {usual:.0%} on the other machines"
    return ""


@dataclass(frozen=True, slots=True)
class _Made:
    """Builds of a bot that were made here: its `own`, and all, with that of its packages. `holds` keeps them."""

    own: Built | None = None
    builds: tuple[Built, ...] = ()
    holds: tuple[object, ...] = ()


def _find_builds(bot: BotSetup) -> tuple[_Made, str]:
    """The builds of a bot that can be sent, or why none can."""
    try:
        entry = load_stored(bot.content, Path(bot.folder), bot.name, bot.options)
        if not fits(entry.builds):
            most = f"{MOST_BUILD_BYTES >> 20} MiB, or {MOST_PACKED_BYTES >> 20} MiB packed"
            return _Made(), f"its build has more than {most}"
    except (ExpectedError, OSError) as error:
        return _Made(), one_line(str(error))
    return _Made(entry.built, entry.builds, (*entry.holds, entry.environment)), ""


def _packed(bot: BotSetup, made: _Made) -> bytes:
    """The parcel of a bot, from the store or else from the folder that it was read from."""
    entry = load_stored(bot.content, Path(bot.folder), bot.name, bot.options, elsewhere=True)
    builds = tuple((built, pack_build(built)) for built in made.builds)
    return Parcel(pack(store_folder(), entry.content), builds).to_bytes()


def _not_started(spec: MatchSpec, seat: int, why: str) -> MatchResult:
    """A match that was not begun, since a bot cannot be built or started."""
    faults = tuple(
        Fault(number, EndReason.START_FAILED, why) if number == seat else None for number in range(len(spec.seats))
    )
    return MatchResult(spec.match_id, "void", EndReason.START_FAILED, why, (), (), faults, (), 0, 0.0, "")


async def _outcome(future: Any) -> tuple[Any, str]:
    """What a task of Dask gave, or what was wrong in words."""
    try:
        return await future, ""
    except BaseException as error:  # that a task of Dask was cancelled comes as the cancelling of ours
        task = asyncio.current_task()
        if isinstance(error, KeyboardInterrupt | SystemExit) or (task is not None and task.cancelling()):
            raise
        return None, one_line(f"{type(error).__name__}: {error}")


def _heard(task: "asyncio.Task[tuple[str, str]]") -> None:
    """The caller may have been cancelled; then no code asks for its error."""
    if not task.cancelled():
        task.exception()


def _end(attempt: _Attempt, why: str) -> None:
    if not attempt.over.done():
        attempt.over.set_result(why)
