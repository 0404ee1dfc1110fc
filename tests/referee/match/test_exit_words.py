"""How the end of a process is told to the author of a bot."""

from typing import Any

import pytest

from referee.match import EndReason
from referee.match.bot import exit_end
from referee.process.bot import Exit
from referee.process.sandbox import Sandbox


@pytest.mark.parametrize(
    ("how", "reason", "detail"),
    [
        (Exit(3, None), EndReason.CRASHED, "the process ended: exit code 3"),
        (
            Exit(None, 9, machine_out_of_memory=True),
            EndReason.PLATFORM_FAULT,
            "a bot's process was killed by the kernel, because the machine had no memory left",
        ),
        (
            Exit(None, 9, out_of_memory=True, peak_memory_bytes=300 << 20),
            EndReason.OUT_OF_MEMORY,
            "the process ended: killed at its memory limit with 300 MiB; memory_mib sets the limit",
        ),
        (
            Exit(None, 9, out_of_memory=True),
            EndReason.OUT_OF_MEMORY,
            "the process ended: killed at its memory limit; memory_mib sets the limit",
        ),
    ],
)
def test_it_says_how_and_what_to_change(how: Exit, reason: EndReason, detail: str) -> None:
    end = exit_end(how, Sandbox())
    assert (end.reason, end.detail) == (reason, detail)


@pytest.mark.parametrize(("profile", "reason"), [("strict", EndReason.PLATFORM_FAULT), ("plain", EndReason.CRASHED)])
def test_a_guardian_that_was_killed_is_the_bots_doing_only_where_it_can_reach_it(
    profile: Any, reason: EndReason
) -> None:
    end = exit_end(Exit(None, 9, guardian_lost=True), Sandbox(profile))
    assert end.reason is reason
    assert "killed together with its guardian" in end.detail
