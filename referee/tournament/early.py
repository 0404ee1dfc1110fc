"""What `crosstown run` starts before it imports the command line and reads the tournament file: the first worker, which
imports as much as the command itself, and the trial of the sandbox."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from referee.tournament.worker_process import WorkerProcess, early_worker

if TYPE_CHECKING:
    from referee.process.checkup import Probe


class Early(NamedTuple):
    """`worker` is None if none could be started, or if none is needed. `probe` waits for the outcome of the trial."""

    worker: WorkerProcess | None
    probe: "Callable[[], Probe]"


@contextmanager
def early_start() -> Iterator[Early]:
    """Both have ended afterwards."""
    with ExitStack() as stack:
        worker = None
        with suppress(OSError):  # the executor tries again, and says what is wrong
            worker = stack.enter_context(early_worker())

        from referee.process.checkup import sandbox_trial  # which takes as long to import as the worker to begin

        yield Early(worker, stack.enter_context(sandbox_trial()))
