"""Checks a game: the game object, then matches in portions, in this process or several."""

import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from referee.games.api import Game
from referee.games.conformance.digest import check_hash_seed
from referee.games.conformance.failure import CheckFailed, Failure
from referee.games.conformance.golden import check_golden
from referee.games.conformance.plan import Plan, make_plan
from referee.games.conformance.progress import ProgressFile
from referee.games.conformance.statics import check_attributes, check_data
from referee.games.conformance.tally import Tally
from referee.games.conformance.worker import Portion, WorkerProcess, play_portion

MOST_FAILURES = 5
"""After so many the rest is not played."""
PROVEN_ENOUGH = 20
LEAST_RESAMPLED_SHARE = 0.9

OnDone = Callable[[int], None]
"""Told how many matches have been dealt with."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found. `done` of `plan.matches` matches went to their end, `kept` of them in earlier runs."""

    game: str
    plan: Plan
    tally: Tally
    failures: tuple[Failure, ...]
    done: int
    kept: int
    wall_s: float

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

    `progress` keeps finished portions, `golden` is a file of recorded matches to replay. Raises ProgressError before
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
    portions = play_here(game, plan, wanted) if workers <= 1 else play_in_processes(plan, wanted, workers)
    found: list[tuple[int, Failure]] = []
    for numbers, portion in portions:
        tally.merge(portion.tally)
        found += [(numbers.start, failure) for failure in portion.failures]
        seen += len(numbers)
        on_done(seen)
        if file is not None and not portion.failures:
            file.add(numbers.start, portion.tally)
        if len(found) >= MOST_FAILURES:
            break
    failures += [failure for _, failure in sorted(found, key=lambda each: each[0])]
    failures += resample_failures(game, tally)
    named = tuple(replace(failure, game=plan.ref) for failure in failures)
    done = sum(tally["matches"].values())
    return Report(plan.ref, plan, tally, named, done, kept, time.monotonic() - begin)


def static_failures(game: Game, plan: Plan, golden: Path | None, other_processes: bool) -> Iterator[Failure]:
    """What is wrong with the game object, recorded matches, and matches under other hash seeds."""
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
        except Exception as error:  # whatever a game raises is the finding
            yield Failure("crash", game.id, f"without a match: {type(error).__name__}: {error}")


def resample_failures(game: Game, tally: Tally) -> Iterator[Failure]:
    """Whether resample() changed what was proven to be hidden, over all matches."""
    proven, moved = (tally["hidden"][key] for key in ("proven hidden", "proven hidden, resampled otherwise"))
    if proven >= PROVEN_ENOUGH and moved < LEAST_RESAMPLED_SHARE * proven:
        yield Failure(
            "resample",
            game.id,
            f"at {proven} nodes something was proven to be hidden from a viewer; resample() changed it at {moved} of "
            f"them, less than {LEAST_RESAMPLED_SHARE:.0%}: what it leaves alone cannot be tested for leaks",
        )


def play_here(game: Game, plan: Plan, wanted: list[range]) -> Iterator[tuple[range, Portion]]:
    for numbers in wanted:
        yield numbers, play_portion(game, plan, numbers)


def play_in_processes(plan: Plan, wanted: list[range], workers: int) -> Iterator[tuple[range, Portion]]:
    """One thread for each process, all taking from one queue; processes end with the iterator."""
    waiting: queue.SimpleQueue[range] = queue.SimpleQueue()
    for numbers in wanted:
        waiting.put(numbers)
    answers: queue.SimpleQueue[tuple[range, Portion]] = queue.SimpleQueue()
    processes = [WorkerProcess(plan) for _ in range(min(workers, len(wanted)))]
    stop = threading.Event()

    def drive(process: WorkerProcess) -> None:
        while not stop.is_set():
            try:
                numbers = waiting.get_nowait()
            except queue.Empty:
                return
            portion = process.play(numbers)
            if portion is None:
                if not stop.is_set():
                    answers.put((numbers, died(plan, numbers, process.exit_code())))
                return
            answers.put((numbers, portion))

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


def died(plan: Plan, numbers: range, code: int) -> Portion:
    """A process that ended over a portion is a finding, too."""
    first, last = plan.job(numbers.start), plan.job(numbers.stop - 1)
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    message = (
        f"a process died ({how}) playing the matches from {first.players} players, seed {first.seed} to "
        f"{last.players} players, seed {last.seed}"
    )
    return Portion(Tally(), (Failure("crash", plan.ref, message, first.players, first.seed),))
