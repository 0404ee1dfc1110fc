"""Plays matches with real bot processes: one gRPC server, a pool of processes, a record for each match."""

import asyncio
import time
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Self

from referee.games.api import Game
from referee.games.registry import get_game, is_compiled
from referee.match.bot import LiveBot, RemoteBotSeat
from referee.match.invitation import Invitation, Seen
from referee.match.play import Match
from referee.match.pool import BotStartError, LostAtStart, Pool
from referee.match.result import Fault, MatchResult, Outcome, SeatStats
from referee.match.seat import SeatLostError
from referee.match.time_control import LoopTimeSource
from referee.process.bot import BotProcess
from referee.process.cgroup import Cgroups
from referee.process.child_reaper import ChildReaper
from referee.process.entry import Entry
from referee.process.limits import holders
from referee.process.outside import Prints, outside_of, runtime_of
from referee.process.sandbox import Sandbox
from referee.record import Footer, Header, RecordError, RecordExistsError, RecordWriter, SeatHeader, Usage
from referee.record.format import seed_commitment
from referee.record.reasons import EndReason
from referee.schedule.spec import IDLE_PROCESSES, MOST_MESSAGE_BYTES, Faults, MatchSpec
from referee.wire import Listen, RemoteServer, WireServer

REMOTE = "remote"
"""In a record's header, where others have their sandbox: this seat's bot is not run by the referee."""


class Table:
    """An async context manager; leaving it ends all its bots. Matches may be played at the same time.

    Entering raises ListenError where it cannot listen.
    """

    def __init__(
        self,
        entries: Mapping[str, Entry],
        *,
        socket_dir: Path | None = None,
        max_idle: int = IDLE_PROCESSES,
        most_memory_mib: int = 0,
        games: Callable[[str], Game] = get_game,
        child_reaper: ChildReaper | None = None,
        sandboxes: Mapping[str, Sandbox] | None = None,
        cgroups: Cgroups | None = None,
        remote_bots: Mapping[str, Invitation] | None = None,
        fresh: Collection[str] = (),
        copies: Mapping[str, int] | None = None,
        listen: Listen | None = None,
        at_once: int | None = None,
        patience_s: float = 0.0,
        on_remote_bot: Callable[[str, str], None] = lambda _entry_id, _what: None,
        machine: Mapping[str, str] | None = None,
        prints: Prints | None = None,
    ) -> None:
        """`entries`, `sandboxes` and `remote_bots` by id; a bot without a sandbox is plain. A remote bot is not started
        but connects (see `bot`), with `listen` from another machine too; `on_remote_bot` gets a sentence about that.
        `patience_s`: see `RemoteServer`.
        `max_idle` processes wait for their next match; `fresh` and `copies`, by id, as in `Pool`.
        At most `at_once` matches are played side by side, without those whose remote bot is awaited.
        `most_memory_mib`: no bot may have more, whatever a match allows; 0 for any. `machine`: what records say of
        where they were played. `prints`: hashes that are known already.
        `child_reaper` only in a process of our own; without `cgroups` no limit is held by control groups. ValueError if
        the socket's path is too long."""
        self._entries = entries
        self._remote_bots = remote_bots or {}
        self._listen = listen
        self._patience_s = patience_s
        self._on_remote_bot = on_remote_bot
        self._turns = None if at_once is None else asyncio.Semaphore(at_once)
        self._remote_server: RemoteServer | None = None
        # Not `or`: a worker that has no bots yet fills its mapping later.
        self._sandboxes = {} if sandboxes is None else sandboxes
        self._cgroups = cgroups or Cgroups()
        self._max_idle = max_idle
        self._fresh, self._copies = fresh, copies
        self._machine = machine or {}
        self._most_memory_mib = most_memory_mib
        self._child_reaper = child_reaper
        self._games = games
        self._server = WireServer(socket_dir)
        self._stack = AsyncExitStack()
        self._prints = prints or Prints()
        self._outside: dict[str, Mapping[str, str]] = {}
        self._playing: dict[str, Sequence[LiveBot | RemoteBotSeat | None]] = {}

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            self._clock = await stack.enter_async_context(LoopTimeSource())
            await stack.enter_async_context(self._server)
            self._pool = Pool(
                self._server,
                self._entries,
                max_idle=self._max_idle,
                clock=self._clock,
                child_reaper=self._child_reaper,
                sandboxes=self._sandboxes,
                cgroups=self._cgroups,
                remote_bots=self._remote_bots,
                fresh=self._fresh,
                copies=self._copies,
                on_remote_bot=self._on_remote_bot,
            )
            if self._listen is not None:
                self._remote_server = await stack.enter_async_context(
                    RemoteServer(self._listen, self._server.remote_bots, patience_s=self._patience_s)
                )
            stack.push_async_callback(self._pool.close)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    @property
    def address(self) -> str:
        """Where the table's bots, and remote bots on this machine, find it: a gRPC target."""
        return self._server.address

    @property
    def remote_address(self) -> str:
        """HOST:PORT for remote bots from elsewhere; '' if there is no way in for them."""
        return "" if self._remote_server is None else self._remote_server.address

    def expect(self, name: str, invited: Invitation) -> None:
        """From now on a remote bot may come: see `Pool`."""
        self._pool.expect(name, invited)

    def turn_away(self, name: str) -> None:
        """The remote bot may come no more; its session ends."""
        self._pool.turn_away(name)

    def seat_as(self, entry_id: str, name: str, version: str) -> None:
        """The entry is the remote bot that is expected under this name, while it says that it is this version."""
        self._pool.seat_as(entry_id, name, version)

    def seen(self) -> dict[str, Seen]:
        """What is known of each remote bot that is expected, by name."""
        return self._pool.seen()

    def waiting(self) -> list[BotProcess]:
        """The bots that wait for their next match, in the order of the seats of the last one. What they printed can be
        asked for when the table is left, too."""
        return self._pool.waiting()

    def traffic_ns(self) -> dict[str, list[int]]:
        """Per match that is being played, by id, and seat: the event loop's time that went into what the bot sent since
        it came."""
        return {
            match_id: [0 if bot is None else bot.traffic_ns() for bot in bots]
            for match_id, bots in self._playing.items()
        }

    async def play(self, spec: MatchSpec, records: Path, *, over: Callable[[], None] = lambda: None) -> MatchResult:
        """Play one match and write `records/<match_id>.jsonl.gz`. Never raises for what a bot does.

        `over` is called when it has ended without a fault and its record is about to be closed: the next match may
        begin.
        The result is durable when it is returned. When the referee itself fails (a game's bug, a full disk) the result
        is a platform fault, and the record holds what could be written. UnknownGame, ValueError and RecordExistsError
        for a specification that cannot be played; CancelledError is passed on, the record then says cancelled.
        """
        game = self._games(spec.game)
        if spec.limits.max_message_bytes > MOST_MESSAGE_BYTES:
            raise ValueError(f"max_message_bytes is {spec.limits.max_message_bytes}, at most {MOST_MESSAGE_BYTES}")
        spec = spec.within_memory(self._most_memory_mib)
        began_ns = time.monotonic_ns()
        for seat in spec.seats:
            self._look_outside(seat.entry_id)
        try:
            record = RecordWriter(records, self._header(spec, game))
        except RecordExistsError:
            raise
        except RecordError as error:
            return _result(spec, _Played(Outcome(EndReason.PLATFORM_FAULT, str(error))), began_ns)
        played = _Played()
        try:
            await self._play(spec, game, record, played)
        except asyncio.CancelledError:
            _close_cancelled(spec, played, record, began_ns)
            raise
        result = _result(spec, played, began_ns)
        if played.outcome.reason == EndReason.NORMAL:  # what a fault leads to is decided before the next match begins
            over()
        try:
            # fsync and compression block for milliseconds: other matches of this loop must not feel them.
            await asyncio.shield(asyncio.to_thread(record.close, _footer(spec, result, played)))
        except RecordError as error:
            record.abandon()
            outcome = Outcome(EndReason.PLATFORM_FAULT, str(error))
            return _result(spec, replace(played, outcome=outcome), began_ns)
        return result

    def forget(self, entry_id: str) -> None:
        """No process of this entry that runs now plays another match: it is to be confined in another way."""
        self._pool.forget(entry_id)

    def _look_outside(self, entry_id: str) -> None:
        """What plays with a bot besides its own files. A process that was started with something else plays no more, so
        that what a record names is what plays."""
        entry = self._entries.get(entry_id)
        if entry is None or not entry.argv:
            return
        found = outside_of(entry, self._sandboxes.get(entry_id, Sandbox()), self._prints)
        if self._outside.setdefault(entry_id, found) != found:
            self._pool.forget(entry_id)
            self._outside[entry_id] = found

    def _header(self, spec: MatchSpec, game: Game) -> Header:
        return Header(
            match_id=spec.match_id,
            tournament=spec.tournament,
            place=spec.place,
            block=spec.block,
            game=spec.game,
            rules_version=game.rules_version,
            options=spec.options,
            players=len(spec.seats),
            seats=tuple(self._seat_header(spec, number) for number in range(len(spec.seats))),
            limits={**spec.limits.in_force(), "starts_at_once": self._pool.starts_at_once},
            seed_commitment=seed_commitment(spec.seed),
            created_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            crosstown=_crosstown_version(),
            policy=_policy(spec),
            machine={**self._machine, "rules": "compiled"} if is_compiled(game) else self._machine,
            round=spec.round,
            table=spec.table,
            stage=spec.stage,
        )

    def _seat_header(self, spec: MatchSpec, number: int) -> SeatHeader:
        """With how the bot is confined, and what runs of an entry that had to be built."""
        seat = spec.seats[number]
        known = SeatHeader(seat.entry_id, seat.name, seat.version, seat.clock)
        if self._pool.is_remote(seat.entry_id):
            return replace(known, sandbox=REMOTE)
        box = self._sandboxes.get(seat.entry_id)
        entry = self._entries.get(seat.entry_id)
        limits = spec.limits_of(number).in_force()
        held = holders(strict=box is not None and box.profile == "strict", controllers=self._cgroups.controllers)
        return replace(
            known,
            sandbox=str(box or ""),
            build="; ".join(map(str, entry.builds)) if entry else "",
            outside=self._outside.get(seat.entry_id, {}),
            runtime=runtime_of(entry) if entry and entry.argv else "",
            held={name: holder for name, holder in held.items() if name in limits},
        )

    async def _play(self, spec: MatchSpec, game: Game, record: RecordWriter, played: "_Played") -> None:
        """Fills in `played`, as far as it gets."""
        async with AsyncExitStack() as turn:
            try:
                bots, played.faults = await self._sit_down(spec, turn)
            except SeatLostError as error:
                played.outcome = Outcome(EndReason.PLATFORM_FAULT, str(error), memory_of=error.memory_of)
                return
            except OSError as error:
                played.outcome = Outcome(EndReason.PLATFORM_FAULT, str(error))
                return
            await self._play_seated(spec, game, record, played, bots)

    async def _play_seated(
        self,
        spec: MatchSpec,
        game: Game,
        record: RecordWriter,
        played: "_Played",
        bots: "Sequence[LiveBot | RemoteBotSeat | None]",
    ) -> None:
        match: Match | None = None
        reusable = False
        self._playing[spec.match_id] = bots
        try:
            played.startup_us = tuple(bot.startup_us if isinstance(bot, LiveBot) else 0 for bot in bots)
            played.versions = tuple(bot.version if isinstance(bot, RemoteBotSeat) else "" for bot in bots)
            if failed := [fault for fault in played.faults if fault]:
                played.outcome = _start_failed(spec, failed)
            else:
                match = Match(spec, game, [bot for bot in bots if bot], record, self._clock)
                played.outcome = await match.run()
                await match.collect_output()
            reusable = played.outcome.reason is not EndReason.PLATFORM_FAULT
        except Exception as error:
            detail = f"{type(error).__name__}: {error}"
            played.outcome = Outcome(EndReason.PLATFORM_FAULT, detail, trouble=traceback.format_exc())
        finally:
            del self._playing[spec.match_id]
            if match is not None:
                played.faults, played.seat_stats, played.usage = match.faults, match.seat_stats, match.usage
            for bot, fault in zip(bots, played.faults, strict=True):
                if bot is not None:
                    self._pool.release(bot, reusable=reusable and fault is None)

    async def _sit_down(
        self, spec: MatchSpec, turn: AsyncExitStack
    ) -> "tuple[list[LiveBot | RemoteBotSeat | None], tuple[Fault | None, ...]]":
        """For each seat its bot, or the fault that it did not come.

        Remote bots are waited for first; then the match takes its turn, and its other bots start side by side.
        """
        block = (spec.tournament, spec.game, spec.block)
        tasks: dict[int, asyncio.Task[LiveBot | RemoteBotSeat]] = {}
        faults: dict[int, Fault] = {}
        try:
            for is_remote in (True, False):
                numbers = [
                    number for number, seat in enumerate(spec.seats) if self._pool.is_remote(seat.entry_id) is is_remote
                ]
                if not is_remote and self._turns is not None and not faults:
                    await turn.enter_async_context(self._turns)
                for number in numbers if not faults else ():
                    entry_id, limits = spec.seats[number].entry_id, spec.limits_of(number)
                    coming = self._pool.acquire(entry_id, limits, spec.game, block, ponder=spec.ponder)
                    tasks[number] = asyncio.ensure_future(coming)
                if numbers and not faults:
                    await asyncio.wait([tasks[number] for number in numbers])
                faults |= _not_come({number: tasks[number] for number in numbers if number in tasks}, spec)
        except BaseException:
            await self._get_up(list(tasks.values()))
            raise
        seats = range(len(spec.seats))
        bots = [tasks[number].result() if number in tasks and number not in faults else None for number in seats]
        return bots, tuple(faults.get(number) for number in seats)

    async def _get_up(self, tasks: "Sequence[asyncio.Task[LiveBot | RemoteBotSeat]]") -> None:
        """The match is not played: bots that came leave, and starts in progress are cancelled."""
        for task in tasks:
            task.cancel()
        for bot in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(bot, LiveBot | RemoteBotSeat):
                self._pool.release(bot, reusable=False)


@dataclass(slots=True)
class _Played:
    """What is known of a match so far."""

    outcome: Outcome = field(default_factory=lambda: Outcome(EndReason.CANCELLED, "the match was cancelled"))
    faults: tuple[Fault | None, ...] = ()
    seat_stats: tuple[SeatStats, ...] = ()
    startup_us: tuple[int, ...] = ()
    usage: tuple[Usage | None, ...] = ()
    versions: tuple[str, ...] = ()


def _not_come(tasks: "Mapping[int, asyncio.Task[LiveBot | RemoteBotSeat]]", spec: MatchSpec) -> dict[int, Fault]:
    """The fault of each seat whose bot did not come. Raises what else went wrong."""
    faults: dict[int, Fault] = {}
    for number, task in tasks.items():
        try:
            task.result()
        except BotStartError as error:
            faults[number] = Fault(number, EndReason.START_FAILED, str(error), error.evidence)
        except LostAtStart as error:
            if not error.memory:
                raise
            if number not in spec.charged_for_memory:
                raise SeatLostError(f"seat {number}: {error}", number) from None
            faults[number] = Fault(number, EndReason.START_FAILED, str(error))
    return faults


def _start_failed(spec: MatchSpec, faults: Sequence[Fault]) -> Outcome:
    sentence = "; ".join(f"seat {fault.seat} ({spec.seats[fault.seat].name}): {fault.detail}" for fault in faults)
    return Outcome(EndReason.START_FAILED, sentence, fault_seat=faults[0].seat if len(faults) == 1 else None)


def _close_cancelled(spec: MatchSpec, played: _Played, record: RecordWriter, began_ns: int) -> None:
    try:
        record.close(_footer(spec, _result(spec, played, began_ns), played))
    except RecordError:
        record.abandon()


@cache
def _crosstown_version() -> str:
    return version("crosstown-arena")


def _policy(spec: MatchSpec) -> dict[str, str | int | bool]:
    """What was agreed on besides limits, without what is the default."""
    policy: dict[str, str | int | bool] = {} if spec.faults == Faults() else dict(spec.faults.fields())
    policy.update(spec.adjudication.policy())
    return policy if spec.ponder else {**policy, "ponder": False}


def _result(spec: MatchSpec, played: _Played, began_ns: int) -> MatchResult:
    outcome, players = played.outcome, len(spec.seats)
    stats = played.seat_stats or (SeatStats(),) * players
    return MatchResult(
        match_id=spec.match_id,
        status=outcome.status,
        reason=outcome.reason,
        detail=outcome.detail,
        ranking=outcome.ranking,
        returns=outcome.returns,
        faults=played.faults or (None,) * players,
        seat_stats=stats,
        decisions=sum(row.decisions for row in stats),
        wall_s=(time.monotonic_ns() - began_ns) / 1e9,
        state_hash=outcome.state_hash,
        startup_us=played.startup_us if any(played.startup_us) else (),
        usage=played.usage if any(played.usage) else (),
        memory_of=outcome.memory_of,
    )


def _footer(spec: MatchSpec, result: MatchResult, played: _Played) -> Footer:
    return Footer(
        status=result.status,
        reason=result.reason,
        detail=result.detail,
        seed=spec.seed,
        ranking=result.ranking,
        returns=result.returns,
        state_hash=result.state_hash,
        seat_stats=result.seat_stats,
        faults=tuple(
            None if fault is None else {"reason": fault.reason, "detail": fault.detail, **fault.evidence}
            for fault in result.faults
        ),
        decisions=result.decisions,
        wall_us=int(result.wall_s * 1e6),
        trouble=played.outcome.trouble,
        startup_us=result.startup_us,
        usage=result.usage,
        versions=played.versions if any(played.versions) else (),
    )
