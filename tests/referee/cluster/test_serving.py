"""What a scheduler and a worker print, and what a worker removes."""

import logging
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from distributed.comm.core import CommClosedError

from referee.cluster.peers import Peer
from referee.cluster.serving import log_to_stderr, run_worker


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


def test_a_folder_that_is_named_for_matches_in_play_keeps_what_was_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it was removed when the worker ended, and the folder `records` in it when it began."""
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "mine").write_text("results of years")
    used: list[Path] = []

    async def work(_peer: Peer, _facts: Any, _host: str | None, place: Path, _tell: Any) -> None:
        used.append(place)
        (place / "records").mkdir()

    monkeypatch.setattr("referee.cluster.serving._work", work)
    facts: Any = SimpleNamespace(name="east")
    for _ in range(2):
        run_worker(Peer("tcp://127.0.0.1:9"), facts, None, tmp_path, print)
    assert (tmp_path / "records" / "mine").read_text() == "results of years"
    assert [place.parent for place in used] == [tmp_path, tmp_path]
    assert not any(place.exists() for place in used)
