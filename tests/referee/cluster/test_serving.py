"""What a scheduler and a worker print."""

import logging
import sys

from distributed.comm.core import CommClosedError

from referee.cluster.serving import log_to_stderr


def test_a_runner_that_has_ended_is_no_traceback_of_the_scheduler() -> None:
    """Each run that ended had one in the output of `crosstown cluster local`."""
    log_to_stderr()
    logger = logging.getLogger("distributed.scheduler")

    def shown(error: Exception) -> bool:
        try:
            raise error
        except type(error):
            line = logger.makeRecord(logger.name, logging.CRITICAL, "", 0, "Closed comm", (), sys.exc_info())
        return bool(logger.filter(line))

    assert not shown(CommClosedError("already closed"))
    assert shown(ValueError("a real one"))
    assert logger.filter(logger.makeRecord(logger.name, logging.ERROR, "", 0, "one without", (), None))
