"""For processes above the guardians (workers, runner): what a killed guardian leaves behind comes to them.

A bot whose guardian was killed dies by its parent-death signal, but what it had double-forked becomes a child of the
nearest subreaper. `become_subreaper` makes this process the one; `sweep_orphans` ends what has come.
"""

import os
import time
from collections.abc import Collection

from referee.process.guardian import become_subreaper, children_by_parent, stop_then_kill

_PAUSE_S = 0.002


def sweep_orphans(keep: Collection[int], *, timeout_s: float = 2.0) -> int:
    """Kills every child of this process that is not in `keep`, with all below it; `keep` and what is below it stay.

    `keep` must name all children this process has started itself (guardians, workers). Never goes by name. Returns
    how many processes were killed; a few that cannot die at once may be left after `timeout_s`.
    """
    spare = frozenset(keep)
    killed = 0
    end_s = time.monotonic() + timeout_s
    while True:
        count = stop_then_kill(spare)
        killed = max(killed, count)
        if count == 0 or time.monotonic() >= end_s:
            return killed
        _reap(spare)
        time.sleep(_PAUSE_S)


def _reap(spare: frozenset[int]) -> None:
    for pid in children_by_parent().get(os.getpid(), ()):
        if pid not in spare:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                continue


__all__ = ["become_subreaper", "sweep_orphans"]
