"""Cores are shared out, bound before anything starts, and missed in words."""

import os
import subprocess
import sys

import pytest

from referee.errors import UsageError
from referee.tournament.entrants import load_tournament
from referee.tournament.resources import available_cores, pinned, split_cores, too_many_threads


@pytest.mark.parametrize(
    ("workers", "cores", "sets"),
    [
        (1, [0, 1], [(0, 1)]),
        (2, [3, 1], [(1,), (3,)]),
        (2, [0, 1, 2, 3, 4], [(0, 1), (2, 3)]),
        (3, [0, 1, 2, 3, 4, 5, 6, 7], [(0, 1), (2, 3), (4, 5)]),
    ],
)
def test_tables_get_disjoint_sets_of_equal_size_sch20(workers, cores, sets):
    assert split_cores(workers, cores) == sets


def test_more_workers_than_cores_cannot_be_pinned():
    with pytest.raises(UsageError, match="3 workers and 2 cores") as caught:
        split_cores(3, [0, 1])
    assert "--workers 2" in caught.value.next_step


def test_the_affinity_is_set_before_exec_so_that_every_thread_has_it_sch22():
    core = available_cores()[-1]
    code = (
        "import os, threading; t = threading.Thread(target=lambda: print(os.sched_getaffinity(0))); t.start(); t.join()"
    )
    command = pinned((sys.executable, "-c", code), [core])
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == f"{{{core}}}"
    assert os.sched_getaffinity(0) == set(available_cores())


@pytest.mark.parametrize(
    ("workers", "cores", "threads", "words"),
    [
        (2, 2, 1, ""),
        (3, 2, 1, "3 workers with 1 thread each share 2 cores"),
        (1, 2, 4, "1 workers with up to 4 threads each share 2 cores"),
        (2, 8, 4, ""),
    ],
)
def test_more_threads_than_cores_are_warned_of_sch22(make_tournament, write_bot, workers, cores, threads, words):
    path = make_tournament(2).config.path
    write_bot("bot1", options=f"[options]\nthreads = {threads}\n")
    said = too_many_threads(load_tournament(path), workers, cores)
    assert said.startswith(words)
    assert bool(said) == bool(words)
