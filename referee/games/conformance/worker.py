"""Plays portions of matches, in this process or in one of its own.

The process reads one JSON line with the plan from stdin, then one line with match numbers per portion, and answers
each with a line on stdout. It ends when stdin does.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from referee.games.api import Game
from referee.games.conformance.failure import Failure
from referee.games.conformance.match import check_match
from referee.games.conformance.plan import Plan
from referee.games.conformance.refs import resolve
from referee.games.conformance.tally import Tally

FAILURES_PER_PORTION = 3
PARENT_CHECKED_EVERY_S = 0.5


@dataclass(frozen=True, slots=True)
class Portion:
    """What came of some matches."""

    tally: Tally
    failures: tuple[Failure, ...]


def play_portion(game: Game, plan: Plan, numbers: Iterable[int]) -> Portion:
    """Play these matches of the plan, up to a few failures."""
    tally = Tally()
    failures: list[Failure] = []
    for number in numbers:
        failure = check_match(game, plan.job(number), tally)
        if failure is not None:
            failures.append(failure)
            if len(failures) == FAILURES_PER_PORTION:
                break
    return Portion(tally, tuple(failures))


class WorkerProcess:
    """A process that plays portions; `play` returns None if it died over one."""

    def __init__(self, plan: Plan) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,  # Ctrl-C is for the parent, which then ends this one
        )
        self._send(asdict(plan))

    def play(self, numbers: range) -> Portion | None:
        self._send([numbers.start, numbers.stop])
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            return None
        answer = json.loads(line)
        failures = tuple(Failure.from_json(failure) for failure in answer["failures"])
        return Portion(Tally.from_json(answer["tally"]), failures)

    def exit_code(self) -> int:
        return self._process.wait()

    def end(self) -> None:
        """At once, whatever it is doing."""
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
            return  # it died; the missing answer tells


def end_with(parent: int) -> None:
    """End this process soon after its parent was killed: a portion can take minutes that nobody waits for."""
    while os.getppid() == parent:
        time.sleep(PARENT_CHECKED_EVERY_S)
    os._exit(1)


def main() -> None:
    """For a process of its own."""
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    fields = json.loads(sys.stdin.readline())
    plan = Plan(**{**fields, "player_counts": tuple(fields["player_counts"])})
    game = resolve(plan.ref)
    for line in sys.stdin:
        first, end = json.loads(line)
        portion = play_portion(game, plan, range(first, end))
        failures = [failure.to_json() for failure in portion.failures]
        print(json.dumps({"tally": portion.tally.to_json(), "failures": failures}), flush=True)
