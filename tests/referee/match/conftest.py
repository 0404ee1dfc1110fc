"""Matches with bots that are a few lines of a test, under a clock that a test turns."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from crosstown_proto.v1 import referee_pb2 as pb

from referee.games.api import resolve_options
from referee.games.registry import get_game
from referee.match.effort import Effort
from referee.match.play import Match
from referee.match.result import Outcome
from referee.match.seat import Contact, SeatEnd, SeatListener, Wants
from referee.record import Footer, Header, RecordWriter, SeatHeader
from referee.record.format import seed_commitment
from referee.record.reasons import EndReason
from referee.schedule.spec import Faults, Limits, MatchSpec, SeatSpec
from referee.wire import Received

SEED = "0123456789abcdef0123456789abcdef"


@dataclass(order=True)
class Timer:
    when_ns: int
    order: int
    callback: Callable[[], None] = field(compare=False)
    cancelled: bool = field(default=False, compare=False)

    def cancel(self) -> None:
        self.cancelled = True


class FakeClock:
    """Stands still until it is turned. `lag` is what the referee was late by, as far as it knows."""

    def __init__(self) -> None:
        self.ns = 1_000_000_000
        self.lag = self.looked_lag = 0
        self.timers: list[Timer] = []

    def now_ns(self) -> int:
        return self.ns

    def lag_ns(self) -> int:
        return self.lag

    def looked_lag_ns(self) -> int:
        return self.looked_lag

    def call_at(self, when_ns: int, callback: Callable[[], None]) -> Timer:
        timer = Timer(when_ns, len(self.timers), callback)
        self.timers.append(timer)
        return timer

    @property
    def waiting(self) -> list[Timer]:
        return sorted(timer for timer in self.timers if not timer.cancelled)

    async def turn(self, seconds: float) -> None:
        """Let time pass; timers run when they are due, and everybody reacts."""
        end = self.ns + round(seconds * 1e9)
        while self.waiting and self.waiting[0].when_ns <= end:
            timer = self.waiting[0]
            self.ns = max(self.ns, timer.when_ns)
            timer.cancel()
            timer.callback()
            await settle()
        self.ns = end
        await settle()


async def settle() -> None:
    """Let every task react to what has happened."""
    for _ in range(10):
        await asyncio.sleep(0)


class FakeSeat:
    """A bot without a process: keeps what it is sent; a test answers for it, or `auto` does at once."""

    def __init__(self, clock: FakeClock, number: int, wants: Wants) -> None:
        self.clock = clock
        self.number = number
        self.wants = wants
        self.sent: list[pb.RefereeMessage] = []
        self.auto: Callable[[pb.Decide], int] | None = None
        self.auto_ready = True
        self.ending = False
        self.dismissed = False
        self.cpu = self.traffic = 0
        self.asking_takes_ns = 0
        """How long the referee stands still while it sends a question, by this bot's doing."""
        self.waited = self.throttled = 0
        self.idle_from_ns: int | None = 0
        self.stacks_asked = 0
        self.away_s = 0.0
        self.contacted: Contact = "there"
        self.processes = frozenset[str]()
        self.frozen = False
        self.freezes = 0
        self.state = "S"
        self.threads: dict[int, int] = {}
        self.ready_threads: frozenset[int] | None = None
        self.output: Mapping[str, Any] = {"stderr": f"last words of {number}"}
        self.listener: SeatListener | None = None
        self._early: list[pb.BotMessage] = []

    def contact(self, since_ns: int) -> Contact:
        return self.contacted

    def listen(self, listener: SeatListener | None) -> None:
        self.listener = listener

    def send(self, data: bytes) -> None:
        message = pb.RefereeMessage.FromString(data)
        assert not self.frozen, "a frozen bot cannot read"
        self.sent.append(message)
        if message.HasField("decide"):
            self.clock.ns += self.asking_takes_ns
            self.clock.lag += self.asking_takes_ns
            self.traffic += self.asking_takes_ns
        loop = asyncio.get_running_loop()
        if message.HasField("match_start") and self.auto_ready:
            loop.call_soon(self.say, pb.BotMessage(ready=pb.Ready(match=message.match_start.match)))
        elif message.HasField("decide") and self.auto is not None:
            loop.call_soon(self.move, self.auto(message.decide))

    def freeze(self) -> None:
        self.frozen = True
        self.freezes += 1

    def thaw(self) -> None:
        self.frozen = False

    def cpu_ns(self) -> int | None:
        return self.cpu

    def effort(self) -> Effort:
        """Task 1, that ran for `cpu` and waited for a processor for `waited`, of it by its own limit `throttled`; and
        `threads`, by id, that ran for so long."""
        tasks = {1: (self.cpu, self.waited)} | {thread: (ran, 0) for thread, ran in self.threads.items()}
        return Effort(tasks, self.throttled, self.processes)

    def traffic_ns(self) -> int:
        return self.traffic

    def process_state(self) -> str:
        return self.state

    def ready_tasks(self) -> frozenset[int]:
        if self.ready_threads is not None:
            return self.ready_threads
        return frozenset({1} if self.state == "R" else ())

    def ask_for_stacks(self) -> None:
        self.stacks_asked += 1

    def dismiss(self) -> None:
        self.dismissed = True

    async def last_output(self) -> Mapping[str, Any]:
        return self.output

    # What a test has it do

    @property
    def asked(self) -> pb.Decide:
        """The last question."""
        return self.decides[-1]

    @property
    def decides(self) -> list[pb.Decide]:
        return [message.decide for message in self.sent if message.HasField("decide")]

    @property
    def kinds(self) -> list[str]:
        return [str(message.WhichOneof("body")) for message in self.sent]

    @property
    def end(self) -> pb.MatchEnd:
        [message] = [message.match_end for message in self.sent if message.HasField("match_end")]
        return message

    def say(self, message: pb.BotMessage) -> None:
        self.say_raw(message.SerializeToString())

    def say_raw(self, raw: bytes) -> None:
        if self.listener is not None:
            try:
                message = pb.BotMessage.FromString(raw)
            except Exception:
                message = None
            self.listener.on_message(Received(message, raw, self.clock.now_ns()))

    def say_ready(self) -> None:
        self.say(pb.BotMessage(ready=pb.Ready(match="m-1")))

    def move(self, index: int | None = 0, *, action: bytes | None = None, **changes: Any) -> None:
        move = pb.Move(match=self.asked.match, decision=self.asked.decision)
        if action is not None:
            move.action = action
        elif index is not None:
            move.index = index
        for name, value in changes.items():
            setattr(move, name, value)
        self.say(pb.BotMessage(move=move))

    def resign(self) -> None:
        self.say(pb.BotMessage(resign=pb.Resign(match="m-1")))

    def die(self, reason: EndReason = EndReason.CRASHED, detail: str = "exit code 3") -> None:
        self.ending = True
        if self.listener is not None:
            self.listener.on_end(SeatEnd(reason, detail, {"exit_code": 3}))


class FakeTable:
    """A match in progress between fake seats."""

    def __init__(
        self,
        folder: Path,
        players: int,
        wants: Wants,
        game: Any,
        limits: Limits,
        clocks: Sequence[Mapping[str, float]],
        faults: Faults,
        ponder: bool,
        charged_for_provider: tuple[int, ...] = (),
        **options: Any,
    ) -> None:
        self.clock = FakeClock()
        self.game = game or get_game("toy")
        self.spec = MatchSpec(
            match_id="m-1",
            game=self.game.id,
            options=resolve_options(self.game.id, self.game.options, options),
            seats=tuple(
                SeatSpec(f"{seat:016x}", f"bot {seat}", "1", clocks[seat] if clocks else {}) for seat in range(players)
            ),
            seed=SEED,
            limits=limits,
            faults=faults,
            ponder=ponder,
            charged_for_provider=charged_for_provider,
        )
        self.seats = [FakeSeat(self.clock, seat, wants) for seat in range(players)]
        self.record = RecordWriter(folder, fake_header(self.spec, self.game))
        self.match = Match(self.spec, self.game, self.seats, self.record, self.clock)
        self.task: asyncio.Task[Outcome] | None = None

    async def start(self) -> None:
        """Up to the first questions."""
        self.task = asyncio.get_running_loop().create_task(self.match.run())
        await settle()

    async def outcome(self) -> Outcome:
        """How it ended; it must have."""
        await settle()
        assert self.task is not None
        assert self.task.done(), "the match is still waiting"
        return self.task.result()

    def finish(self, outcome: Outcome) -> Path:
        """Close the record as a table would."""
        stats = self.match.seat_stats
        footer = Footer(
            outcome.status,
            outcome.reason,
            outcome.detail,
            self.spec.seed,
            outcome.ranking,
            outcome.returns,
            outcome.state_hash,
            stats,
            tuple(None if fault is None else {"reason": fault.reason, **fault.evidence} for fault in self.match.faults),
            sum(row.decisions for row in stats),
        )
        return self.record.close(footer)

    async def play_to(self, kind: str, seat: int | None = None) -> FakeSeat:
        """Answer index 0 until a question of this kind (to this seat) is open; the seat that is asked."""
        for _ in range(200):
            for item in self.open():
                if item.asked.kind == kind and seat in (None, item.number):
                    return item
            for item in self.open():
                item.move(0)
            await settle()
        raise AssertionError(f"nobody was asked {kind}")

    def open(self) -> list[FakeSeat]:
        """Seats with an open question."""
        questions = [seat.question for seat in self.match._controller.seats]
        return [self.seats[q.seat] for q in questions if q is not None and q.open]


def fake_header(spec: MatchSpec, game: Any) -> Header:
    return Header(
        match_id=spec.match_id,
        tournament="",
        place=0,
        block=0,
        game=spec.game,
        rules_version=game.rules_version,
        options=spec.options,
        players=len(spec.seats),
        seats=tuple(SeatHeader(seat.entry_id, seat.name, seat.version) for seat in spec.seats),
        limits={},
        seed_commitment=seed_commitment(spec.seed),
        created_at="",
        crosstown="",
        policy={"policy": spec.faults.policy, "strikes": spec.faults.strikes},
    )


@pytest.fixture
def sit(tmp_path: Path) -> Callable[..., FakeTable]:
    """Seats `players` fakes at a toy match; the limits are 5 s for the first move and 1 s for others, margin 10 ms."""

    def build(
        players: int = 2,
        wants: Wants | None = None,
        game: Any = None,
        limits: Limits | None = None,
        clocks: Sequence[Mapping[str, float]] = (),
        faults: Faults | None = None,
        ponder: bool = True,
        **options: Any,
    ) -> FakeTable:
        return FakeTable(
            tmp_path, players, wants or Wants(), game, limits or Limits(), clocks, faults or Faults(), ponder, **options
        )

    return build


@pytest.fixture
def spawn() -> Iterator[Callable[[str, int], int]]:
    """Starts a shell with a Python program below it; the shell's id, once the program has so many tasks."""
    shells: list[subprocess.Popen[bytes]] = []

    def start(program: str, tasks: int) -> int:
        command = ["/bin/sh", "-c", '"$0" -I -S -c "$1"; true', sys.executable, program]
        shell = subprocess.Popen(command, start_new_session=True)
        shells.append(shell)
        end_s = time.monotonic() + 20
        while sum(1 for _ in Path("/proc").glob("[0-9]*/task/*") if _session(_) == shell.pid) <= tasks:
            assert time.monotonic() < end_s
            time.sleep(0.02)
        return shell.pid

    yield start
    for shell in shells:
        os.killpg(shell.pid, signal.SIGKILL)
        shell.wait()


def _session(task: Path) -> int:
    try:
        return int((task / "stat").read_text().rpartition(")")[2].split()[3])
    except OSError:
        return 0
