"""Plays matches on the machines of a Dask cluster, behind the same protocol as the executor of this machine.

The executor chooses the machine of each match, has the connection send the order there, and judges the answer. The
runner decides which matches are played again.
"""

import asyncio
import secrets
from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, TypeAlias

from referee.cluster.connection import CAP_SLACK_S, Attempt, Connection, Machine
from referee.cluster.history import stands_out
from referee.cluster.orders import Answer, HandIns, Order
from referee.cluster.peers import Peer
from referee.cluster.sending import BotSender, Made
from referee.cluster.trial_slots import TrialSlots
from referee.errors import PlatformError
from referee.match.result import Fault, MatchResult
from referee.record.format import RecordError
from referee.record.reader import parse_record, read_header
from referee.record.reasons import EndReason, status_of
from referee.record.store import closed_path, live_path
from referee.run.judging import judge_record
from referee.run.machines import ClusterState, MachineState
from referee.schedule.spec import MatchSpec
from referee.texts import listed
from referee.tournament.executor import Executor, MatchLost, nothing
from referee.tournament.messages import BotSetup, Meeting

MOVE_S = 30.0
"""Without any of its machines for this long, the rest of a block goes to others."""

MOST_BLOCKS = 100_000
"""Blocks whose machines are remembered: more than can be open."""

FOLLOWED = 50
"""Matches that are followed live at once."""

MOST_BRINGS = 3
"""How often a machine gets bots for one match that it says it has not got."""

_Block: TypeAlias = tuple[Path, int]
"""The folder of the records of its run, and its number there."""


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
    machine. Bots in `strict` are only played where the sandbox works; with `keeps_sandbox` so are those that have
    played in the sandbox since. `begun` has, for blocks that were begun before this runner was started, a match with a
    record, which says where it was played: the rest of the block is played on the same class of machines, or with
    `same_machine` on the same machine.

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
        keeps_sandbox: bool = False,
        same_machine: bool = False,
        begun: MutableMapping[int, str] | None = None,
        note: Callable[[str], None] = lambda _: None,
        on_state: Callable[[ClusterState], None] = lambda _: None,
        ladder: bool = False,
        sends_builds: bool = False,
        hand_ins: HandIns | None = None,
    ) -> None:
        self._records = records
        self._bots = bots or {}
        self._local = local
        self._beside = frozenset(beside)
        self._strict = set(strict)
        self._keeps_sandbox = keeps_sandbox
        self._told_weak: set[str] = set()
        self._told_idle: set[str] = set()
        self._told_memory: set[tuple[str, int]] = set()
        self._same_machine = same_machine
        self._begun = {} if begun is None else begun
        self._places: dict[_Block, str] = {}
        """For each block that was begun, the class or the name of the machine that plays it."""
        self._missed_since: dict[str, float] = {}
        self._ladder = ladder
        self._waits_for = ""
        self._waiting = 0
        self._followed = 0
        self._note = note
        # A ladder goes on for months, in which machines are repaired and started again.
        self._connection = Connection(
            peer, note, forgets=ladder, on_join=self._on_join, on_look=lambda: on_state(self.state)
        )
        self._sender = BotSender(self._connection, note, sends_builds=sends_builds, ladder=ladder, hand_ins=hand_ins)
        self.trials = TrialSlots(self._connection, note)
        """Of a ladder's hand-ins."""

    # The protocol of executors

    @property
    def slots(self) -> int:
        """Those of all machines, and those of this one for the matches that are played beside the door."""
        there = sum(machine.facts.slots for machine in self._connection.machines if not machine.history.drained)
        return max(1, there) + (self._local.slots if self._local is not None else 0)

    def has_room(self, spec: MatchSpec, playing: Collection[MatchSpec]) -> bool:
        if self._local is not None and self._is_beside(spec):
            return self._local.has_room(spec, [other for other in playing if self._is_beside(other)])
        if not playing:
            return True  # it waits for a machine, and all others with it
        place = self._place(self._records, spec.block)
        return any(
            machine.free and (place is None or place == self._place_of(machine))
            for machine in self._connection.machines
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
                self._connection.change()

    def kill(self) -> None:
        if self._local is not None:
            self._local.kill()
        self._connection.kill()

    async def __aenter__(self) -> Self:
        await self._connection.open()
        if self._local is not None:
            await self._local.__aenter__()
        self._connection.watch()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._connection.close()
        finally:
            if self._local is not None:
                await self._local.__aexit__(kind, error, trace)

    @property
    def machines(self) -> tuple[Machine, ...]:
        """Those that are connected, by name."""
        return tuple(sorted(self._connection.machines, key=lambda machine: machine.name))

    @property
    def state(self) -> ClusterState:
        """For people. Only the organiser is to see the dashboard."""
        return ClusterState(
            tuple(
                MachineState(one.name, one.facts.kind, one.facts.slots, one.playing + one.busy, one.history.drained)
                for one in self.machines
            ),
            self._waiting,
            self._connection.dashboard,
        )

    def _on_join(self, machine: Machine) -> None:
        self._waits_for = ""
        self._missed_since.pop(machine.name, None)
        self._missed_since.pop(machine.facts.kind, None)
        if machine.facts.sandbox != "strict" and self._keeps_sandbox and machine.name not in self._told_idle:
            self._told_idle.add(machine.name)
            what = "the sandbox does not work there, so it plays no bot that plays in the sandbox elsewhere"
            self._note(f"{machine.name}: {what}; to let it: --accept-weaker-sandbox")

    # Where a match is played

    def _is_beside(self, spec: MatchSpec) -> bool:
        return any(seat.entry_id in self._beside for seat in spec.seats)

    async def _seat(self, spec: MatchSpec, meeting: Meeting) -> Machine:
        """The machine for a match, on which a slot is taken for it. Waits until there is one. If no connected machine
        can play it: _NowhereError in a ladder, for a bot that cannot be built; PlatformError in a run."""
        while True:
            if self._connection.ended:
                raise MatchLost("the run was ended")
            self._connection.look_for_changes()
            if (machine := self._choose(spec, meeting.bots, meeting.records)) is not None:
                machine.playing += 1
                self._note_sandbox(machine, meeting.bots)
                return machine
            self._waiting += 1
            try:
                await self._connection.changed()
            finally:
                self._waiting -= 1

    def _note_sandbox(self, machine: Machine, bots: Iterable[BotSetup]) -> None:
        """What follows from a match of a run that is played there: a bot that has played in the sandbox does not play
        without it later."""
        confined = [bot for bot in bots if bot.sandbox.profile == "strict"]
        if self._ladder or not confined:
            return
        if machine.facts.sandbox == "strict":
            if self._keeps_sandbox:
                self._strict.update(bot.known_as or bot.entry_id for bot in confined)
        elif machine.name not in self._told_weak:
            self._told_weak.add(machine.name)
            self._note(f"warning: on {machine.name} bots play WITHOUT A SANDBOX, which does not work there")

    def _choose(self, spec: MatchSpec, bots: tuple[BotSetup, ...], records: Path | None = None) -> Machine | None:
        block = records or self._records, spec.block
        free = [machine for machine in self._connection.machines if machine.free]
        place = self._place(*block)
        fitting = [
            machine
            for machine in free
            if (place is None or self._place_of(machine) == place)
            and not _has_failed(machine, spec, bots)
            and self._is_able(machine, bots)
        ]
        if not fitting:
            fitting = self._choose_among_all(spec, bots, block)
        if not fitting:
            return None
        best = max(fitting, key=lambda machine: (machine.free / machine.facts.slots, machine.name))
        if self._same_machine or self._connection.are_several_kinds:
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
        able = [machine for machine in self._connection.machines if self._is_able(machine, bots)]
        if self._connection.machines and not able:
            self._explain(bots)
        place = self._place(*block)
        if place is not None:
            there = [machine for machine in able if self._place_of(machine) == place]
            if there or not self._may_move(place, able):
                able = there
            else:
                self._note(f"block {spec.block} goes on elsewhere: no machine of {place} is there, or can play it")
                del self._places[block]
        # What was lost on a machine is not played there again while another one may have it.
        able = [machine for machine in able if not _has_failed(machine, spec, bots)] or able
        return [machine for machine in able if machine.free]

    def _is_able(self, machine: Machine, bots: Iterable[BotSetup]) -> bool:
        if machine.history.drained:
            return False
        weak = machine.facts.sandbox != "strict"
        return not any(bot.content in machine.history.unable or (weak and self._is_strict(bot)) for bot in bots)

    def _is_strict(self, bot: BotSetup) -> bool:
        """Whether the bot plays in the sandbox alone. In a run it does also where a machine is there in which the
        sandbox works: one table would mix both."""
        confined = bot.sandbox.profile == "strict"
        if self._ladder:
            return confined
        works = any(one.facts.sandbox == "strict" for one in self._connection.machines if not one.history.drained)
        return (bot.known_as or bot.entry_id) in self._strict or (confined and self._keeps_sandbox and works)

    def _explain(self, bots: Iterable[BotSetup]) -> None:
        """PlatformError, in a ladder _NowhereError, if waiting is of no use: machines are there, and none can play
        these bots."""
        machines = list(self._connection.machines)
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
                step = "see what is missing with: crosstown doctor, on a machine"
                if not self._ladder:
                    step += "; a run that began with the sandbox goes on without it by --accept-weaker-sandbox"
                self._wait_or_end(what, step)
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
        if any(self._place_of(machine) == place for machine in self._connection.machines):
            return bool(able)  # it is there, and one of the bots does not play there
        now_s = asyncio.get_running_loop().time()
        return bool(able) and now_s - self._missed_since.setdefault(place, now_s) >= MOVE_S

    # One attempt

    async def _play_on(self, machine: Machine, spec: MatchSpec, cap_s: float, meeting: Meeting) -> MatchResult:
        bots = meeting.bots
        self._tell_of_memory(machine, spec)
        follow = self._followed < FOLLOWED
        made = {bot.content: await self._sender.made_for(machine, bot) for bot in bots}
        builds = {content: one.own.artefacts for content, one in made.items() if one.own is not None}
        lacking: list[str] = []
        for _ in range(MOST_BRINGS + 1):
            key = f"crosstown-{spec.match_id}-{secrets.token_hex(6)}"
            order = Order(key, spec, cap_s, tuple(replace(bot, folder="") for bot in bots), follow, builds)
            answer = await self._ask(machine, order, meeting.records)
            if answer.kind != "lacks":
                await self._check_record(machine, spec, answer)
                return self._judge(machine, spec, bots, answer)
            missing = [next(bot for bot in bots if bot.content == content) for content in dict.fromkeys(answer.lacks)]
            lacking = [bot.name for bot in missing]
            for bot in missing:
                await self._bring(machine, bot, made[bot.content])
        what = f"machine '{machine.name}' took {listed(map(repr, lacking))}, and cannot play with that"
        self._connection.fault(machine, spec.match_id, what)
        raise MatchLost(what, machine=machine.name)

    def _tell_of_memory(self, machine: Machine, spec: MatchSpec) -> None:
        """Once for each machine and number of bots whose limits do not fit together there."""
        share = machine.facts.share(len(spec.seats))
        if (told := (machine.name, share.mib)) not in self._told_memory and spec.within_memory(share.mib) != spec:
            self._told_memory.add(told)
            self._note(f"{machine.name}: {share.lowered_words('give the machine fewer slots, or more memory')}")

    async def _ask(self, machine: Machine, order: Order, records: Path) -> Answer:
        """The answer of a machine to an order. MatchLost, with its name, if it gives none."""
        live = live_path(records, order.spec.match_id) if order.follow else None
        self._followed += order.follow
        attempt = Attempt(machine, order.spec.match_id, order.cap_s, live)
        try:
            answer = Answer.from_bytes(await self._connection.ask(attempt, order.key, order.to_bytes()))
            if answer.key != order.key:
                raise ValueError(f"it is of another order, {answer.key}")
            _check_answer(answer, order)
            return answer
        except TimeoutError:
            did_not = "gave no answer to" if attempt.begun else "did not begin"
            what = f"machine '{machine.name}' {did_not} the match within {order.cap_s + CAP_SLACK_S:.0f} s"
        except ValueError as error:
            what = f"the answer of machine '{machine.name}' cannot be used: {error}"
        finally:
            self._followed -= order.follow
        self._connection.fault(machine, order.spec.match_id, what)
        raise MatchLost(what, machine=machine.name)

    async def _check_record(self, machine: Machine, spec: MatchSpec, answer: Answer) -> None:
        """MatchLost, with the machine's name, if it calls a match rated and sends no record that counts for it: no bot
        is to blame for that, and another machine may do better."""
        if answer.kind != "played" or answer.result is None or answer.result.status != "rated":
            return
        if why := await asyncio.to_thread(_why_not_counted, answer.record, spec):
            what = f"the record that machine '{machine.name}' sent does not count: it is {why}"
            self._connection.fault(machine, spec.match_id, what)
            raise MatchLost(what, machine=machine.name)

    async def _bring(self, machine: Machine, bot: BotSetup, made: Made) -> None:
        """Let the machine have a bot. _NotThereError if the bot cannot play there, MatchLost if the machine cannot take
        it."""
        kind, why = await self._sender.bring(machine, bot, made)
        if kind == "broken":
            what = f"machine '{machine.name}' cannot take '{bot.name}': {why}"
            self._connection.fault(machine, bot.content, what)
            raise MatchLost(what, machine=machine.name)
        if kind == "unable":
            if bot.content not in machine.history.unable:
                machine.history.unable[bot.content] = why
                self._note(f"'{bot.name}' cannot play on machine '{machine.name}', and plays on others: {why}")
            raise _NotThereError

    # What it was

    def _judge(self, machine: Machine, spec: MatchSpec, bots: tuple[BotSetup, ...], answer: Answer) -> MatchResult:
        if answer.kind == "broken":
            what = f"machine '{machine.name}' cannot play: {answer.what}"
            self._connection.fault(machine, spec.match_id, what)
            raise MatchLost(what, machine=machine.name)
        if answer.kind == "lost" and answer.flood is not None:
            raise MatchLost(answer.what, answer.flood)
        if answer.kind == "lost":
            what = f"on machine '{machine.name}': {answer.what}"
            self._connection.fault(machine, spec.match_id, what)
            raise MatchLost(what, machine=machine.name)
        result = answer.result
        assert result is not None
        if result.status != "rated":
            self._check_start(machine, spec, bots, result)
        if result.reason is EndReason.PLATFORM_FAULT and result.memory_of is None:
            what = f"on machine '{machine.name}': {result.detail}"
            self._connection.fault(machine, spec.match_id, what)
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
            if any(self._is_able(other, bots) for other in self._connection.machines):
                what = f"'{bot.name}' did not start on machine '{machine.name}': {fault.detail}"
                self._note(f"{what}; it plays on others")
                raise MatchLost(what, machine=machine.name)
        for fault in failed:
            for history in self._connection.histories.values():
                history.unable.pop(bots[fault.seat].content, None)

    def _count(self, machine: Machine, bots: tuple[BotSetup, ...], result: MatchResult) -> None:
        history = machine.history
        history.faults.clear()
        history.lost.clear()
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
        others = [other for other in self._connection.histories.values() if other is not history and not other.drained]
        if why := stands_out(history, others):
            self._connection.drain(machine, why)


def _has_failed(machine: Machine, spec: MatchSpec, bots: Iterable[BotSetup]) -> bool:
    """Whether the machine could not play this match, was lost with it, or could not take a bot of it, and has played
    none since."""
    history = machine.history
    failed = (what in history.faults for what in (spec.match_id, *(bot.content for bot in bots)))
    return spec.match_id in history.lost or any(failed)


def _check_answer(answer: Answer, order: Order) -> None:
    """ValueError for an answer that is about another match, or about seats or bots that the match does not have."""
    result, players = answer.result, len(order.spec.seats)
    named = [] if answer.flood is None else [answer.flood[0]]
    if answer.kind == "played" and (result is None or result.match_id != order.spec.match_id):
        raise ValueError("it is about another match")
    if answer.kind == "tried":
        raise ValueError("it is about a hand-in, not about a match")
    if not {*answer.lacks} <= {bot.content for bot in order.bots}:
        raise ValueError("it lacks a bot that the match does not have")
    if result is not None:
        lists = (result.ranking, result.returns, result.faults, result.seat_stats, result.startup_us, result.usage)
        if any(len(one) not in (0, players) for one in lists):
            raise ValueError("it is about another number of seats")
        if result.status == "cancelled":
            raise ValueError("it has cancelled the match")  # only the runner does, and waits for no answer then
        if result.status != status_of(result.reason):
            raise ValueError(f"it says that a match with the end reason '{result.reason}' is {result.status!a:.20}")
        named += [fault.seat for fault in result.faults if fault is not None]
        named += [] if result.memory_of is None else [result.memory_of]
    if any(type(seat) is not int or not 0 <= seat < players for seat in named):
        raise ValueError(f"it names seats {named} of {players}")


def _why_not_counted(record: bytes, spec: MatchSpec) -> str:
    """One word on why a record is not the rated result of a match; '' if it is."""
    try:
        found = parse_record(closed_path(live_path(Path(), spec.match_id)), record)
    except RecordError:
        return "damaged"
    return judge_record(found, spec, (spec.seed,)).why


def _not_started(spec: MatchSpec, seat: int, why: str) -> MatchResult:
    """A match that was not begun, since a bot cannot be built or started."""
    faults = tuple(
        Fault(number, EndReason.START_FAILED, why) if number == seat else None for number in range(len(spec.seats))
    )
    return MatchResult(spec.match_id, "void", EndReason.START_FAILED, why, (), (), faults, (), 0, 0.0, "")
