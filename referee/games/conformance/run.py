"""Runs the checks of a game: the plan of matches, worker processes, the progress file, the report."""

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from referee.errors import ExpectedError, why_unread
from referee.games.api import DATA_OPTION, Game, PlayersError, resolve_options
from referee.games.conformance.checks import CheckFailed, Failure
from referee.games.conformance.determinism import check_golden, check_hash_seed
from referee.games.conformance.game_object import (
    check_attributes,
    check_data,
    code_hash,
    not_offered,
    package_of,
    resolve,
)
from referee.games.conformance.match import Job, check_match
from referee.games.conformance.tally import Tally
from referee.games.conformance.trial import apply_step, match_seed, plain_step
from referee.games.keyed import KeyedChance

LONG_MATCHES = 100_000
FULL_MATCHES = 1_000
"""The first matches of a long run have all checks at every node."""
LONG_FULL_SHARE = 0.01
SHORT_NODES = 3_000
SHORT_FULL_NODES = 250
"""A default run plays about SHORT_NODES nodes, with all checks at SHORT_FULL_NODES: under 15 s on one slow core."""
SHORT_MATCHES_PER_COUNT = 2
SHORT_MATCHES = 240
CHUNK_MATCHES = 100
FULL_CHUNK_MATCHES = 10
PILOT_NODES = 100_000
PILOT_GUESS = 100


@dataclass(frozen=True, slots=True)
class Plan:
    """`matches` matches that take the player counts in turn, with seeds from `seed` upwards.

    `full_share` of the nodes get all checks; in the first `full_matches` every node does. The replay is checked for
    these and, if `replay_all`, for all others.
    """

    ref: str
    player_counts: tuple[int, ...]
    seed: int
    matches: int
    full_matches: int
    full_share: float
    replay_all: bool
    data: Any = None

    def job(self, number: int) -> Job:
        """Match `number`, from 0."""
        full = number < self.full_matches
        return Job(
            self.player_counts[number % len(self.player_counts)],
            self.seed + number // len(self.player_counts),
            1.0 if full else self.full_share,
            full or self.replay_all,
            self.data,
        )

    def chunks(self) -> Iterator[range]:
        """Match numbers in chunks that take minutes at most; at least twenty chunks for a long run."""
        first = 0
        while first < self.matches:
            most = FULL_CHUNK_MATCHES if first < self.full_matches else CHUNK_MATCHES
            end = min(first + min(most, max(1, self.matches // 20)), self.matches)
            yield range(first, end)
            first = end


def make_plan(
    game: Game, ref: str, *, players: int | None = None, seed: int = 0, matches: int | None = None, data: Any = None
) -> Plan:
    """A plan of `matches` matches, all checks in the first thousand; without `matches`, a short run.

    PlayersError for a number of players the game does not have.
    """
    if players is not None and players not in game.player_counts:
        counts = ", ".join(str(count) for count in game.player_counts)
        raise PlayersError(f"{game.id} is for {counts} players, not {players!r}")
    chosen = game.player_counts if players is None else (players,)
    if matches is not None:
        full = min(FULL_MATCHES, matches)
        return Plan(ref, chosen, seed, matches, full, LONG_FULL_SHARE, False, data)
    nodes = sum(pilot(game, count, seed, data) for count in chosen) / len(chosen)
    fitting = max(SHORT_MATCHES_PER_COUNT * len(chosen), min(SHORT_MATCHES, int(SHORT_NODES / nodes)))
    full_share = min(1.0, SHORT_FULL_NODES / (fitting * nodes))
    return Plan(ref, chosen, seed, fitting, 0, full_share, True, data)


def pilot(game: Game, players: int, seed: int, data: Any) -> int:
    """The number of nodes of one random match with default options.

    PILOT_GUESS if the match cannot be played, since the checks will say why.
    """
    try:
        return plain_match(game, players, seed, data)
    except Exception:  # a broken game may raise anything; the checks report it
        return PILOT_GUESS


def plain_match(game: Game, players: int, seed: int, data: Any) -> int:
    """Play one random match without checks and return the number of its nodes."""
    rng = Random(f"{game.id}/{players}/{seed}/pilot")
    options = resolve_options(game.id, game.options, {} if data is None else {DATA_OPTION: data})
    state = game.new_initial_state(players, options)
    chance = KeyedChance(match_seed(game.id, players, seed))
    nodes = 1
    while nodes < PILOT_NODES and not state.is_terminal():
        apply_step(state, plain_step(state, chance, rng))
        nodes += 1
    return nodes


FORMAT = 1


class ProgressError(ExpectedError):
    """The file belongs to another run, or is not a progress file. The message says which."""

    def __init__(self, what: str, next_step: str = "name another file, or delete this one to start again") -> None:
        super().__init__(what, next_step)


class ProgressFile:
    """The progress file of a long run: one JSON line for the plan, one for each finished chunk, only appended to.

    `finished` maps the first match number of each finished chunk to its tally. A chunk with a failure is not kept: the
    next run plays it again.
    """

    def __init__(self, path: Path, plan: Plan, game: Game) -> None:
        self._path = path
        self.finished: dict[int, Tally] = {}
        header = {
            "format": FORMAT,
            "game": game.id,
            "rules_version": game.rules_version,
            "code": code_hash(package_of(game)),
            "kit": code_hash(__package__),
            "plan": json.loads(json.dumps(asdict(plan))),
        }
        try:
            lines, whole = self._whole_lines(header)
            if lines:
                self._check_header(lines[0], header)
                for line in lines[1:]:
                    self.finished[line["first"]] = Tally.from_json(line["tally"])
            with path.open("ab") as file:
                file.truncate(whole)
            if not lines:
                self._append(header)
        except OSError as error:
            raise ProgressError(f"{path}: cannot be written ({error.strerror})", "name another file") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ProgressError(f"{path}: not a progress file that can be used: {why_unread(error)}") from error

    def add(self, first: int, tally: Tally) -> None:
        """Append a finished chunk and sync the file to disk."""
        self._append({"first": first, "tally": tally.to_json()})

    def _append(self, line: dict[str, Any]) -> None:
        with self._path.open("ab") as file:
            file.write(_line(line))
            file.flush()
            os.fsync(file.fileno())

    def _whole_lines(self, header: dict[str, Any]) -> tuple[list[dict[str, Any]], int]:
        """All complete lines, and their size in bytes. A last line without a newline is dropped: a kill cut it off."""
        if not self._path.exists():
            return [], 0
        if not self._path.is_file():  # a pipe would be waited for without end
            raise ValueError("it is not an ordinary file")
        data = self._path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if not whole and not _line(header).startswith(data):
            raise ValueError("it is another file")
        lines = [json.loads(line) for line in data[:whole].splitlines()]
        if not all(isinstance(line, dict) for line in lines):
            raise ValueError("a line is not a JSON object")
        return lines, whole

    def _check_header(self, found: dict[str, Any], expected: dict[str, Any]) -> None:
        """ProgressError with the differences if the file was written for another run."""
        if found == expected:
            return
        differing = [name for name in expected if found.get(name) != expected[name]]
        meaning = {
            "code": "the game's files have changed since",
            "kit": "the conformance kit has changed since",
            "plan": "it is of a run with other numbers",
        }
        reasons = "; ".join(meaning.get(name, f"its {name} is {found.get(name)!r}") for name in differing)
        raise ProgressError(f"{self._path}: cannot continue with this file: {reasons}")


def _line(values: dict[str, Any]) -> bytes:
    return json.dumps(values, separators=(",", ":")).encode() + b"\n"


FAILURES_PER_CHUNK = 3
PARENT_CHECKED_EVERY_S = 0.5


@dataclass(frozen=True, slots=True)
class ChunkResult:
    """The tally and failures of one chunk of matches."""

    tally: Tally
    failures: tuple[Failure, ...]


def play_chunk(game: Game, plan: Plan, numbers: Iterable[int]) -> ChunkResult:
    """Play these matches of the plan, up to a few failures."""
    tally = Tally()
    failures: list[Failure] = []
    for number in numbers:
        failure = check_match(game, plan.job(number), tally)
        if failure is not None:
            failures.append(failure)
            if len(failures) == FAILURES_PER_CHUNK:
                break
    return ChunkResult(tally, tuple(failures))


class WorkerProcess:
    """A process that plays chunks. `play` returns None if the process died.

    It reads one JSON line with the plan from stdin, then one line with match numbers for each chunk, and answers each
    with a line on stdout. It ends at the end of stdin.
    """

    def __init__(self, plan: Plan) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", f"from {__name__} import play_chunks_from_stdin; play_chunks_from_stdin()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,  # Ctrl-C reaches the parent only, which then ends this process
        )
        self._send(asdict(plan))

    def play(self, numbers: range) -> ChunkResult | None:
        self._send([numbers.start, numbers.stop])
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            return None
        answer = json.loads(line)
        failures = tuple(Failure.from_json(failure) for failure in answer["failures"])
        return ChunkResult(Tally.from_json(answer["tally"]), failures)

    def exit_code(self) -> int:
        return self._process.wait()

    def end(self) -> None:
        """Kill the process at once."""
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue
        self._process.wait()

    def _send(self, message: Any) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return  # it died: `play` then reads no answer


def exit_with_parent(parent: int) -> None:
    """End this process soon after its parent has died, in the middle of a chunk if need be."""
    while os.getppid() == parent:
        time.sleep(PARENT_CHECKED_EVERY_S)
    os._exit(1)


def play_chunks_from_stdin() -> None:
    """The worker process: plays the chunks that its stdin names."""
    threading.Thread(target=exit_with_parent, args=(os.getppid(),), daemon=True).start()
    fields = json.loads(sys.stdin.readline())
    plan = Plan(**{**fields, "player_counts": tuple(fields["player_counts"])})
    game = resolve(plan.ref)
    for line in sys.stdin:
        first, end = json.loads(line)
        chunk = play_chunk(game, plan, range(first, end))
        failures = [failure.to_json() for failure in chunk.failures]
        print(json.dumps({"tally": chunk.tally.to_json(), "failures": failures}), flush=True)


MOST_FAILURES = 5
"""A run stops after this many failures."""
PROVEN_ENOUGH = 20
LEAST_RESAMPLED_SHARE = 0.9

OnDone = Callable[[int], None]
"""Called with the number of matches played so far."""


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a run. `done` of `plan.matches` matches reached their end, `kept` of them in earlier runs."""

    game: str
    plan: Plan
    tally: Tally
    failures: tuple[Failure, ...]
    done: int
    kept: int
    wall_s: float
    not_checked: Mapping[str, str] = field(default_factory=dict)
    """Checks that the game cannot be put to, with the reasons: see `game_object.not_offered`."""

    @property
    def passed(self) -> bool:
        return not self.failures and self.done == self.plan.matches


def check_game(game: Game, ref: str | None = None, **plan: Any) -> Report:
    """Check `game` in this process; `plan` are the arguments of `make_plan`.

    `ref` (an id or `module:ATTRIBUTE`) lets other processes find it, without which `hash_seed` is not checked.
    """
    chosen = make_plan(game, ref or game.id, **plan)
    return run_plan(game, chosen, other_processes=ref is not None)


def run_plan(
    game: Game,
    plan: Plan,
    *,
    workers: int = 1,
    progress: Path | None = None,
    golden: Path | None = None,
    on_done: OnDone = lambda done: None,
    other_processes: bool = True,
) -> Report:
    """Play `plan`, in `workers` processes if more than one.

    `progress` keeps finished chunks, `golden` is a file of recorded matches to replay. Raises ProgressError before
    anything is played.
    """
    begin = time.monotonic()
    file = None if progress is None else ProgressFile(progress, plan, game)
    finished = {} if file is None else file.finished
    tally = Tally()
    failures = list(static_failures(game, plan, golden, other_processes))
    kept = 0
    wanted = []
    for numbers in plan.chunks():
        if numbers.start in finished:
            tally.merge(finished[numbers.start])
            kept += len(numbers)
        else:
            wanted.append(numbers)
    on_done(kept)
    seen = kept
    chunks = play_here(game, plan, wanted) if workers <= 1 else play_in_processes(plan, wanted, workers)
    found: list[tuple[int, Failure]] = []
    for numbers, chunk in chunks:
        tally.merge(chunk.tally)
        found += [(numbers.start, failure) for failure in chunk.failures]
        seen += len(numbers)
        on_done(seen)
        if file is not None and not chunk.failures:
            file.add(numbers.start, chunk.tally)
        if len(found) >= MOST_FAILURES:
            break
    failures += [failure for _, failure in sorted(found, key=lambda each: each[0])]
    failures += resample_failures(game, tally)
    named = tuple(replace(failure, game=plan.ref) for failure in failures)
    done = sum(tally["matches"].values())
    return Report(plan.ref, plan, tally, named, done, kept, time.monotonic() - begin, not_offered(game))


def static_failures(game: Game, plan: Plan, golden: Path | None, other_processes: bool) -> Iterator[Failure]:
    """Failures of the game object, of golden matches, and of matches under other hash seeds."""
    checks: list[Callable[[], None]] = [lambda: check_attributes(game), lambda: check_data(game)]
    if golden is not None:
        checks.append(lambda: check_golden(game, golden))
    if other_processes:
        checks.append(lambda: check_hash_seed(plan.ref, plan.seed))
    for check in checks:
        try:
            check()
        except CheckFailed as failed:
            yield Failure(failed.check, game.id, failed.message)
        except Exception as error:  # any other exception of the game is a finding
            yield Failure("crash", game.id, f"without a match: {type(error).__name__}: {error}")


def resample_failures(game: Game, tally: Tally) -> Iterator[Failure]:
    """A failure if resample() too seldom changed what was proven to be hidden, over all matches."""
    if "resample" in not_offered(game):
        return
    proven, moved = (tally["hidden"][key] for key in ("proven hidden", "proven hidden, resampled otherwise"))
    if proven >= PROVEN_ENOUGH and moved < LEAST_RESAMPLED_SHARE * proven:
        yield Failure(
            "resample",
            game.id,
            f"at {proven} nodes something was proven to be hidden from a viewer; resample() changed it at {moved} of "
            f"them, less than {LEAST_RESAMPLED_SHARE:.0%}: what it leaves alone cannot be tested for leaks",
        )


def play_here(game: Game, plan: Plan, wanted: list[range]) -> Iterator[tuple[range, ChunkResult]]:
    for numbers in wanted:
        yield numbers, play_chunk(game, plan, numbers)


def play_in_processes(plan: Plan, wanted: list[range], workers: int) -> Iterator[tuple[range, ChunkResult]]:
    """Play the chunks in worker processes, one thread for each. The processes end with the iterator."""
    waiting: queue.SimpleQueue[range] = queue.SimpleQueue()
    for numbers in wanted:
        waiting.put(numbers)
    answers: queue.SimpleQueue[tuple[range, ChunkResult]] = queue.SimpleQueue()
    processes = [WorkerProcess(plan) for _ in range(min(workers, len(wanted)))]
    stop = threading.Event()

    def drive(process: WorkerProcess) -> None:
        while not stop.is_set():
            try:
                numbers = waiting.get_nowait()
            except queue.Empty:
                return
            chunk = process.play(numbers)
            if chunk is None:
                if not stop.is_set():
                    answers.put((numbers, crashed_chunk(plan, numbers, process.exit_code())))
                return
            answers.put((numbers, chunk))

    threads = [threading.Thread(target=drive, args=(process,), daemon=True) for process in processes]
    try:
        for thread in threads:
            thread.start()
        for _ in wanted:
            while True:
                try:
                    yield answers.get(timeout=0.2)
                except queue.Empty:
                    if not any(thread.is_alive() for thread in threads) and answers.empty():
                        return  # all processes died, each with its failure reported
                    continue
                break
    finally:
        stop.set()
        for process in processes:
            process.end()


def crashed_chunk(plan: Plan, numbers: range, code: int) -> ChunkResult:
    """The failure to report for a worker process that died while it played a chunk."""
    first, last = plan.job(numbers.start), plan.job(numbers.stop - 1)
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    message = (
        f"a process died ({how}) playing the matches from {first.players} players, seed {first.seed} to "
        f"{last.players} players, seed {last.seed}"
    )
    return ChunkResult(Tally(), (Failure("crash", plan.ref, message, first.players, first.seed),))
