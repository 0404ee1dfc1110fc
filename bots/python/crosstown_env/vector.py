"""Many matches at once, in this process or over several."""

import json
import operator
import os
import subprocess
import sys
import weakref
from collections.abc import Mapping
from mmap import mmap
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from crosstown_env.stepping import Columns, Stepper, bytes_for, columns_in
from crosstown_env.table import Setup
from crosstown_env.worker import DONE, FAILED, RESET, SEED_BYTES, STEP, read_exactly

_CLOSE_S = 5.0
_WORK = "from crosstown_env.worker import main; main()"


class VectorEnv:
    """`n` matches that are stepped together. Each step overwrites the same arrays; copy what you keep.

    An attribute for each field of `Columns`: `observations`, `masks`, `seats`, `samples`, `rewards`, `dones`, `ranks`,
    `lengths`. A match that ends is followed by a new one in the same row at once.
    """

    def __init__(self, setup: Setup, n: int, seed: int, processes: int) -> None:
        n = operator.index(n)  # TypeError for a fraction
        if n < 1:
            raise ValueError(f"n is {n}; use at least 1 match")
        if not 1 <= processes <= n:
            raise ValueError(f"{processes} processes for {n} matches; use 1 to {n}")
        self.setup = setup
        self.n = n
        self._columns: Columns
        self._work: _Here | _Workers
        if processes == 1:
            self._columns = columns_in(bytearray(bytes_for(setup, n)), setup, n)
            self._work = _Here(Stepper(setup, self._columns, 0))
        else:
            self._work = _Workers(setup, n, processes)
            self._columns = self._work.columns
        self.observations = self._columns.observations
        self.masks = self._columns.masks
        self.seats = self._columns.seats
        self.samples = self._columns.samples
        self.rewards = self._columns.rewards
        self.dones = self._columns.dones
        self.ranks = self._columns.ranks
        self.lengths = self._columns.lengths
        self.reset(seed)

    def reset(self, seed: int) -> None:
        """Restart all matches. The same seed and actions give the same matches, with any number of processes."""
        self._work.reset(seed)

    def step(self, actions: npt.NDArray[np.integer[Any]]) -> None:
        """In each match the seat that is asked takes its action.

        ValueError if an action is illegal; `reset` must follow. ValueError, with which nothing has changed, for
        anything but a whole number of 32 bits for each match: numpy would spread one over all matches, and cut off
        fractions and higher bits.
        """
        given = np.asarray(actions)
        if given.shape != (self.n,) or given.dtype.kind not in "iu":
            what = f"an array of {given.dtype} with the shape {given.shape}"
            raise ValueError(f"step takes {self.n} whole numbers, one for each match, not {what}")
        self._columns.actions[:] = given
        if (self._columns.actions != given).any():
            raise ValueError("step takes numbers of actions, and one of these has more than 32 bits")
        self._work.step()

    @property
    def pids(self) -> list[int]:
        """The ids of its worker processes; none if it plays in this process."""
        return [child.pid for child in self._work.children]

    def close(self) -> None:
        """End the processes, if there are any."""
        self._work.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Here:
    def __init__(self, stepper: Stepper) -> None:
        self.stepper = stepper
        self.children: list[subprocess.Popen[bytes]] = []
        self.reset = stepper.reset
        self.step = stepper.step

    def close(self) -> None:
        """Nothing is held open."""


class _Workers:
    """Processes that fill their rows of columns in shared memory. Single bytes are their commands."""

    def __init__(self, setup: Setup, n: int, processes: int) -> None:
        size = bytes_for(setup, n)
        memory = os.memfd_create("crosstown_env")
        self.children: list[subprocess.Popen[bytes]] = []
        self._finalizer = weakref.finalize(self, _end, self.children)
        try:
            os.ftruncate(memory, size)
            self.columns = columns_in(mmap(memory, size), setup, n)
            for worker in range(processes):
                first = n * worker // processes
                count = n * (worker + 1) // processes - first
                order = {"memory": memory, "n": n, "first": first, "count": count, **setup.order()}
                self.children.append(
                    subprocess.Popen(
                        [sys.executable, "-P", "-c", _WORK, json.dumps(order)],
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        pass_fds=(memory,),
                        bufsize=0,
                        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
                    )
                )
        finally:
            os.close(memory)

    def reset(self, seed: int) -> None:
        self._all(RESET + str(seed).encode().rjust(SEED_BYTES))

    def step(self) -> None:
        self._all(STEP)

    def _all(self, order: bytes) -> None:
        if not self.children:
            raise ValueError("the environment is closed")
        problems = []
        for child in self.children:
            assert child.stdin is not None
            try:
                child.stdin.write(order)
            except BrokenPipeError:
                problems.append(self._lost(child))
        for child in self.children:
            assert child.stdout is not None
            answer = child.stdout.read(1)
            if answer == FAILED:
                length = int.from_bytes(read_exactly(child.stdout, 4), "little")
                problems.append(read_exactly(child.stdout, length).decode())
            elif answer != DONE:
                problems.append(self._lost(child))
        if problems:
            raise ValueError(problems[0])

    @staticmethod
    def _lost(child: "subprocess.Popen[bytes]") -> str:
        return f"a worker process has ended with code {child.wait(_CLOSE_S)}; make the environment again"

    def close(self) -> None:
        self._finalizer()


def _end(children: "list[subprocess.Popen[bytes]]") -> None:
    """A worker ends when its input does."""
    for child in children:
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                stream.close()
    for child in children:
        try:
            child.wait(_CLOSE_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    children.clear()


def vector(
    game: str,
    n: int,
    *,
    players: int | None = None,
    options: Mapping[str, Any] | None = None,
    reward: str = "rank",
    seed: int = 0,
    processes: int = 1,
) -> VectorEnv:
    """`n` matches of the game that are stepped together, divided among `processes` processes.

    The other arguments are those of `crosstown_env.aec`.
    """
    return VectorEnv(Setup(game, players, options, reward), n, seed, processes)
