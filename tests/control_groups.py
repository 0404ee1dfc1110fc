"""Control groups that a test needs: where the host lets us have none, the test is left out by name."""

import os
from pathlib import Path

import pytest

from referee.process.cgroup import find


def needs_group(controller: str) -> None:
    """Leave out the test that calls this if no control group of this kind can be made. It fails if the host should have
    them."""
    if controller in find().controllers:
        return
    why = f"no control group for {controller}; crosstown doctor says why"
    if os.environ.get("CROSSTOWN_REQUIRE_SANDBOX") and _should_be_there():
        pytest.fail(f"CROSSTOWN_REQUIRE_SANDBOX is set, root may write to control groups, and there is {why}")
    pytest.skip(why)


def _should_be_there() -> bool:
    """Whether we are root, and the control groups are not mounted read-only, as containers often have them."""
    if os.getuid() != 0:
        return False
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        own, _, of_system = line.partition(" - ")
        if of_system.startswith("cgroup") and "rw" in own.split()[5].split(","):
            return True
    return False
