"""Small tournaments of the toy game, and an executor that makes records up instead of playing: for tests of schedules,
runs and the runner."""

import asyncio
import gzip
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from referee.match.result import Fault, MatchResult
from referee.record import Footer, Header, Record, RecordWriter, SeatHeader, SeatStats
from referee.record.format import seed_commitment
from referee.record.reasons import EndReason, status_of
from referee.run.folder import RunFolder
from referee.run.head import head_file
from referee.schedule.seeds import MatchSeeds
from referee.schedule.spec import MatchSpec
from referee.tournament.config import Tournament
from referee.tournament.entrants import load_tournament
from referee.tournament.executor import MatchLost, nothing
from referee.tournament.machine import Machine
from referee.tournament.progress import Decide
from referee.tournament.runner import Reached, Summary
from referee.tournament.session import run_session
from referee.tournament.steering import Steering


@pytest.fixture
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where bots play from, in place of the user's cache: tests damage what is in there."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("CROSSTOWN_CACHE", str(folder))
    return folder


@pytest.fixture
def patient_anchors(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine, too, digests of few matches are in one line of the journal."""
    monkeypatch.setattr("referee.run.anchors.BATCH_S", 3600.0)


@pytest.fixture
def write_bot(tmp_path: Path) -> Callable[..., Path]:
    """write_bot("ann") makes the folder bots/ann with a manifest of that name."""

    def write(folder: str, name: str | None = None, run: str = "{python}", games: str = "*", options: str = "") -> Path:
        path = tmp_path / "bots" / folder
        path.mkdir(parents=True, exist_ok=True)
        manifest = f'name = "{name or folder}"\nversion = "1"\ngames = ["{games}"]\nrun = ["{run}", "bot.py"]\n'
        (path / "bot.toml").write_text(manifest + options, encoding="utf-8")
        (path / "bot.py").write_text(f"# {folder}\n", encoding="utf-8")
        return path

    return write


@pytest.fixture
def write_file(tmp_path: Path) -> Callable[..., Path]:
    """write_file(text) leaves the text as cup.toml."""

    def write(text: str, name: str = "cup.toml") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def make_tournament(write_bot, write_file) -> Callable[..., Tournament]:
    """make_tournament(bots=3, blocks=2, seed=1, ...) with the bots bot0, bot1, ..."""

    def make(bots: int = 2, *, more: str = "", **keys: Any) -> Tournament:
        values = {"game": "toy", "seed": 1, "blocks": 2} | keys
        lines = [
            f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}" for key, value in values.items()
        ]
        for number in range(bots):
            write_bot(f"bot{number}")
            lines += ["[[bots]]", f'path = "bots/bot{number}"']
        return load_tournament(write_file("\n".join(lines) + "\n" + more))

    return make


Behaviour = str
"""What a made-up match does: rated (the default), struck (a strike pays for a fault), void, lost (no footer),
cut (amid a line), hang, machine (it is lost, and with it the match),
'dies at the end' (the record is complete, but neither compressed nor told)."""


FLOODED = "reading what it sent took all of the referee's time"


@dataclass
class FakeExecutor:
    """Makes records up: the outcome is a function of seed and seats.

    `script` has per place what each attempt does, the last one for all that follow; `order` says how long a match
    takes; the bots of the entries `absent` (one, or several) do not start, or only where `absent_at` says so of a match
    and an attempt, which takes `absent_for`; that of `crashes` crashes in the matches whose place (an index
    among its own) is in `crashes_at`, or in all. `company` has per place how many others were in play during its last
    attempt. `startup_us` are the start-up times of every match. `remote` are names of bots that dial in.
    The kernel takes the bot of the entry `starved` in every match, because the machine has no memory left; that of
    `floods` keeps the worker busy until it dies. That of `unanswered` gets no answer from its provider, or only where
    `unanswered_at` says so of a match and an attempt.
    """

    records: Path
    slots: int = 1
    script: Mapping[int, Sequence[Behaviour]] = field(default_factory=dict)
    order: Callable[[MatchSpec], float] | None = None
    absent: str | Collection[str] = ""
    absent_at: Callable[[MatchSpec, int], bool] = lambda spec, attempt: True
    absent_for: Callable[[MatchSpec], int] = lambda spec: 0
    crashes: str = ""
    crashes_at: Callable[[MatchSpec], bool] = lambda spec: True
    started: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    in_play: set[int] = field(default_factory=set)
    moments: list[set[int]] = field(default_factory=list)
    """What was in play whenever a match began."""
    most_at_once: int = 0
    company: dict[int, int] = field(default_factory=dict)
    killed: asyncio.Event = field(default_factory=asyncio.Event)
    attempts: dict[int, int] = field(default_factory=dict)
    startup_us: tuple[int, ...] = ()
    remote: frozenset[str] = frozenset()
    asked: int = 0
    """How often `has_room` was."""
    starved: str = ""
    floods: str = ""
    unanswered: str = ""
    unanswered_at: Callable[[MatchSpec, int], bool] = lambda spec, attempt: True
    closing: int = 0
    """For how many turns of the loop a match that is over goes on, because its record is being closed."""
    ended_before: list[int] = field(default_factory=list)
    """Per match that was begun, how many had ended by then."""
    brings: bool = False
    """Whether results bring their records, as from other machines: then none is in the run folder."""

    async def __aenter__(self) -> "FakeExecutor":
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    def kill(self) -> None:
        self.killed.set()

    def has_room(self, spec: MatchSpec, playing: Collection[MatchSpec]) -> bool:
        """A match with a remote bot is played beside all others, one of a bot at a time."""
        self.asked += 1
        remote = {seat.name for seat in spec.seats} & self.remote
        local = [other for other in playing if not {seat.name for seat in other.seats} & self.remote]
        if not remote:
            return len(local) < self.slots - len(self.remote)
        return not any(remote & {seat.name for seat in other.seats} for other in playing)

    async def play(self, spec: MatchSpec, cap_s: float, *, over: Callable[[], None] = nothing) -> MatchResult:
        assert cap_s > 0
        self.started.append(spec.place)
        self.ended_before.append(len(self.ended))
        self.in_play.add(spec.place)
        self.moments.append(set(self.in_play))
        self.company[spec.place] = 0
        for place in self.in_play:
            self.company[place] = max(self.company[place], len(self.in_play) - 1)
        self.most_at_once = max(self.most_at_once, len(self.in_play))
        try:
            result = replace(await self._play(spec), startup_us=self.startup_us)
            if self.brings:
                made = self.records / f"{spec.match_id}.jsonl.gz"
                result = replace(result, record=made.read_bytes())
                made.unlink()
            if self.closing:
                over()
            for _ in range(self.closing):
                await asyncio.sleep(0)
            return result
        finally:
            self.in_play.discard(spec.place)
            self.ended.append(spec.place)

    async def _play(self, spec: MatchSpec) -> MatchResult:
        attempt = self.attempts[spec.place] = self.attempts.get(spec.place, 0) + 1
        behaviours = self.script.get(spec.place, ())
        behaviour = behaviours[min(attempt, len(behaviours)) - 1] if behaviours else "rated"
        absent = {self.absent} if isinstance(self.absent, str) else self.absent
        missing = [seat for seat, who in enumerate(spec.seats) if who.entry_id in absent]
        if missing and self.absent_at(spec, attempt):
            for _ in range(self.absent_for(spec)):
                await asyncio.sleep(0)
            return make_record(self.records, spec, "start_failed", missing[0])
        starved = [seat for seat, who in enumerate(spec.seats) if who.entry_id == self.starved]
        if starved and starved[0] in spec.charged_for_memory:
            return make_record(self.records, spec, "out_of_memory", starved[0])
        if starved:
            return replace(make_record(self.records, spec, "void"), memory_of=starved[0])
        flooding = [seat for seat, who in enumerate(spec.seats) if who.entry_id == self.floods]
        if flooding and spec.forfeits:
            assert spec.forfeits == ((flooding[0], FLOODED),)
            return make_record(self.records, spec, "disconnected", flooding[0])
        if flooding:
            RecordWriter(self.records, header_of(spec)).abandon()
            raise MatchLost("the worker was killed by signal 9", (flooding[0], FLOODED))
        unanswered = [seat for seat, who in enumerate(spec.seats) if who.entry_id == self.unanswered]
        if unanswered and self.unanswered_at(spec, attempt):
            void = spec.faults.provider_errors == "void" and unanswered[0] not in spec.charged_for_provider
            reason = "provider_error_void" if void else "provider_error"
            return make_record(self.records, spec, reason, unanswered[0])
        crashed = [seat for seat, who in enumerate(spec.seats) if who.entry_id == self.crashes]
        if crashed and self.crashes_at(spec) and behaviour == "rated":
            await asyncio.sleep(0)
            return make_record(self.records, spec, "crashed", crashed[0])
        for _ in range(int(self.order(spec)) if self.order else 0):
            await asyncio.sleep(0)
        if behaviour == "hang":
            await self.killed.wait()
            raise MatchLost("killed")
        if behaviour == "machine":
            raise MatchLost("the machine 'b' is gone", machine="b")
        if behaviour == "dies at the end":
            make_record(self.records, spec)
            closed = self.records / f"{spec.match_id}.jsonl.gz"
            (self.records / f"{spec.match_id}.jsonl").write_bytes(gzip.decompress(closed.read_bytes()))
            closed.rename(self.records / f".{spec.match_id}.jsonl.99.tmp")
            raise MatchLost("the worker was killed by signal 9")
        return make_record(self.records, spec, behaviour)


def make_record(records: Path, spec: MatchSpec, behaviour: Behaviour = "rated", absent: int = 0) -> MatchResult:
    """Write what a match of this behaviour leaves, and return (or raise) what a table would."""
    writer = RecordWriter(records, header_of(spec))
    if behaviour in ("lost", "cut"):
        writer.abandon()
        if behaviour == "cut":
            writer.path.write_bytes(writer.path.read_bytes()[:-9])
        raise MatchLost("the worker was killed by signal 9")
    named = {"void": EndReason.PLATFORM_FAULT, "rated": EndReason.NORMAL, "struck": EndReason.NORMAL}
    reason = named.get(behaviour) or EndReason(behaviour)
    status = status_of(reason)
    rated = status == "rated"
    winner = blake2b((spec.seed + spec.seats[0].entry_id).encode()).digest()[0] % len(spec.seats)
    ranking = tuple(1 if seat == winner else 2 for seat in range(len(spec.seats))) if rated else ()
    failed = None
    if reason is EndReason.PROVIDER_ERROR_VOID:
        failed = Fault(absent, reason, "no answer from its provider")
    elif reason in (EndReason.CRASHED, EndReason.OUT_OF_MEMORY, EndReason.DISCONNECTED, EndReason.PROVIDER_ERROR):
        ranking = tuple(2 if seat == absent else 1 for seat in range(len(spec.seats)))
        failed = Fault(absent, reason, "it ended")
    elif behaviour == "struck":
        failed = Fault(absent, EndReason.MOVE_TIMEOUT, "it was late", {"strikes": 1})
    elif reason is EndReason.START_FAILED:
        failed = Fault(absent, reason, "it does not start", {"stderr": "no weights\n"})
    result = MatchResult(
        match_id=spec.match_id,
        status=status,
        reason=reason,
        detail="" if rated else "as the script says",
        ranking=ranking,
        returns=tuple(10 - rank for rank in ranking),
        faults=tuple(failed if seat == absent else None for seat in range(len(spec.seats))),
        seat_stats=(SeatStats(),) * len(spec.seats),
        decisions=0,
        wall_s=0.001,
        state_hash="ab" if rated else "",
    )
    writer.close(
        Footer(
            status=status,
            reason=reason,
            detail=result.detail,
            seed=spec.seed,
            ranking=ranking,
            returns=result.returns,
            state_hash=result.state_hash,
            seat_stats=result.seat_stats,
            faults=tuple(
                None if fault is None else {"reason": fault.reason, **fault.evidence} for fault in result.faults
            ),
        )
    )
    return result


def header_of(spec: MatchSpec) -> Header:
    return Header(
        match_id=spec.match_id,
        tournament=spec.tournament,
        place=spec.place,
        block=spec.block,
        round=spec.round,
        table=spec.table,
        stage=spec.stage,
        game=spec.game,
        rules_version=1,
        options=spec.options,
        players=len(spec.seats),
        seats=tuple(SeatHeader(seat.entry_id, seat.name, seat.version) for seat in spec.seats),
        limits=asdict(spec.limits),
        seed_commitment=seed_commitment(spec.seed),
        created_at="2026-01-01T00:00:00Z",
        crosstown="0",
    )


@dataclass
class Log:
    """An observer that remembers."""

    steps: list[Reached] = field(default_factory=list)
    records: list[Path] = field(default_factory=list)
    revoked_records: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def begun(self, at: Reached) -> None:
        self.steps.append(at)

    def reached(self, at: Reached) -> None:
        assert self.steps
        assert at != self.steps[-1]
        self.steps.append(at)

    def rated(self, path: Path, record: Record) -> None:
        self.records.append(path)

    def revoked(self, record: Path) -> None:
        self.revoked_records.append(record)

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)


SECRETS = tuple(bytes([number]) * 16 for number in range(1, 9))
"""Of the epochs of runs in these tests, so that equal runs can be told."""


@pytest.fixture
def luck() -> MatchSeeds:
    """That of the first epoch of a run of `make_tournament` that `play` plays."""
    return MatchSeeds(1, SECRETS[:1])


@pytest.fixture
def unfinish(run_folder: RunFolder) -> Callable[[], None]:
    """unfinish() leaves the run as a kill after its last match does: its luck is not revealed yet."""

    def cut() -> None:
        lines = run_folder.journal.read_bytes().splitlines(keepends=True)
        last = max(number for number, line in enumerate(lines) if line.startswith(b'["revealed"'))
        run_folder.journal.write_bytes(b"".join(lines[:last]))
        head_file(run_folder.journal).unlink()  # which is of the whole journal

    return cut


@dataclass
class Run:
    """What a run of the command left."""

    summary: Summary
    log: Log
    executor: FakeExecutor | None


@pytest.fixture
def fake_executor() -> type[FakeExecutor]:
    return FakeExecutor


@pytest.fixture
def make_log() -> Callable[[], Log]:
    return Log


@pytest.fixture
def run_folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "runs" / "cup")


@pytest.fixture
def play(run_folder: RunFolder) -> Callable[..., Run]:
    """play(tournament, slots=.., script=.., order=..) is one run of the command in `run_folder`; `log` another observer
    than a new `Log`; `machine` is what comes from this machine; `elsewhere`: others play, too; `secrets` others
    than `SECRETS`."""

    def run(
        tournament: Tournament,
        decide: Decide | None = None,
        log: Log | None = None,
        secrets: Sequence[bytes] = SECRETS,
        machine: Machine | None = None,
        accept_weaker: bool = False,
        head_file: Path | None = None,
        steering: Steering | None = None,
        elsewhere: bool = False,
        most_memory: Callable[[int], int] | None = None,
        **executor_keys: Any,
    ) -> Run:
        made: list[FakeExecutor] = []

        def make(missing: int, lock_fd: int) -> FakeExecutor:
            assert missing > 0
            assert lock_fd >= 0
            made.append(FakeExecutor(run_folder.matches, **executor_keys))
            return made[0]

        log = log or Log()
        summary = run_session(
            tournament,
            run_folder,
            make,
            log,
            decide,
            secrets,
            machine=machine,
            accept_weaker=accept_weaker,
            head_file=head_file,
            steering=steering,
            elsewhere=elsewhere,
            most_memory=most_memory,
        )
        return Run(summary, log, made[0] if made else None)

    return run


@pytest.fixture
def leave_record() -> Callable[..., MatchResult]:
    """leave_record(folder, spec, behaviour) writes a record, and returns or raises what a table would."""
    return make_record
