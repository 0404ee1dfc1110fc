"""Each system call that the filter refuses whatever its arguments: named here once more, and called by a real bot."""

import asyncio
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from referee.process.bot import BotProcess
from referee.process.entry import load_entry
from referee.process.launch import LaunchContext
from referee.process.limits import ProcessLimits
from referee.process.sandbox import Sandbox
from referee.process.seccomp import bot_filter
from tests.referee.process.test_seccomp import ALLOWED, ARCHITECTURES, ENOSYS, EOPNOTSUPP, EPERM, NOTHING, verdict

EINVAL = 22
FIRST_UNKNOWN = 467

# By name: numbers of x86_64 and aarch64. None: that machine has no such call. They come from the kernel's own tables
# (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h).
REFUSED: dict[str, tuple[int | None, int | None]] = {
    "mincore": (27, 232),
    "ptrace": (101, 117),
    "syslog": (103, 116),
    "modify_ldt": (154, None),
    "pivot_root": (155, 41),
    "acct": (163, 89),
    "mount": (165, 40),
    "umount2": (166, 39),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "init_module": (175, 105),
    "delete_module": (176, 106),
    "quotactl": (179, 60),
    "io_setup": (206, 0),
    "kexec_load": (246, 104),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "inotify_init": (253, None),
    "migrate_pages": (256, 238),
    "unshare": (272, 97),
    "move_pages": (279, 239),
    "inotify_init1": (294, 26),
    "perf_event_open": (298, 241),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "setns": (308, 268),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "finit_module": (313, 273),
    "seccomp": (317, 277),
    "kexec_file_load": (320, 294),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
    "mount_setattr": (442, 442),
    "quotactl_fd": (443, 443),
    "memfd_secret": (447, 447),
    "process_mrelease": (448, 448),
    "cachestat": (451, 451),
    "statmount": (457, 457),
    "listmount": (458, 458),
}
WITHOUT_EFFECT: dict[str, tuple[int | None, int | None]] = {
    "msync": (26, 227),
    "flock": (73, 32),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "setpriority": (141, 140),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sync": (162, 81),
    "sched_setaffinity": (203, 122),
    "fadvise64": (221, 223),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "sync_file_range": (277, 84),
    "timerfd_settime": (286, 86),
    "syncfs": (306, 267),
    "sched_setattr": (314, 274),
    "set_mempolicy_home_node": (450, 450),
}
ABSENT: dict[str, tuple[int | None, int | None]] = {
    "timer_create": (222, 107),
    "signalfd": (282, None),
    "signalfd4": (289, 74),
    "openat2": (437, 437),
}
OTHERS: dict[str, tuple[int | None, int | None]] = {
    "splice": (275, 76),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
}
BY_ARGUMENT = {
    "x86_64": {9, 16, 28, 29, 41, 44, 46, 53, 54, 72, 157, 160, 283, 302, 307, 319, 327},
    "aarch64": {25, 29, 85, 164, 167, 194, 198, 199, 206, 208, 211, 222, 233, 261, 269, 279, 286},
}
"""What these give depends on an argument: see `test_seccomp.py`."""

CALLS_EACH = """
import ctypes, json, sys
libc, found = ctypes.CDLL(None, use_errno=True), {}
for name, number in json.loads(sys.argv[1]).items():
    ctypes.set_errno(0)
    done = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6)
    found[name] = ctypes.get_errno() if done == -1 else 0
print(json.dumps(found))
"""
"""No call has a use for these arguments, so none of them does anything, wherever it is allowed."""

FREE_OUTSIDE = ("mincore", "pidfd_open", "timer_create", "fsync")
"""What needs no right, and what containers allow."""


def expected(machine: str) -> dict[int, str | int]:
    place = list(ARCHITECTURES).index(machine)
    found: dict[int, str | int] = {}
    for calls, answer in ((REFUSED, EPERM), (WITHOUT_EFFECT, NOTHING), (ABSENT, ENOSYS)):
        found |= {number: answer for numbers in calls.values() if (number := numbers[place]) is not None}
    for name, numbers in OTHERS.items():
        number = numbers[place]
        assert number is not None
        found[number] = EINVAL if name == "splice" else EOPNOTSUPP
    return found


@pytest.mark.parametrize("granted", [{}, {"network": True}, {"devices": True}, {"file_locks": True}], ids=str)
@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_filter_refuses_what_is_listed_here_and_nothing_else(machine: str, granted: dict[str, bool]) -> None:
    """So that neither a call that is taken out of the filter goes unnoticed, nor one that is added."""
    program, wanted = bot_filter(machine, **granted), expected(machine)
    if "file_locks" in granted:
        del wanted[73 if machine == "x86_64" else 32]
    found = {
        number: answer
        for number in range(FIRST_UNKNOWN)
        if number not in BY_ARGUMENT[machine]
        and (answer := verdict(program, ARCHITECTURES[machine], number, (0,))) != ALLOWED
    }
    assert found == wanted


def of_this_machine(calls: dict[str, tuple[int | None, int | None]]) -> dict[str, int]:
    place = list(ARCHITECTURES).index(platform.machine())
    return {name: number for name, numbers in calls.items() if (number := numbers[place]) is not None}


@pytest.mark.strict_sandbox
@pytest.mark.skipif(platform.machine() not in ARCHITECTURES, reason="the filter is not written for this machine")
async def test_a_strict_bot_that_calls_each_of_them_gets_nothing(write_bot: Any, mark: Any, tmp_path: Path) -> None:
    calls = of_this_machine({**REFUSED, **WITHOUT_EFFECT, **ABSENT, **OTHERS})
    words = json.dumps(json.dumps(calls))
    folder = write_bot({"bot.py": f"import sys\nsys.argv[1:] = [{words}]\n{CALLS_EACH}"})
    async with await BotProcess.start(
        load_entry(folder),
        address="unix:/nowhere",
        token=mark.value,
        limits=ProcessLimits(start_timeout_s=60),
        env=mark.env,
        context=LaunchContext(Sandbox("strict")),
    ) as bot:
        await bot.wait()
    said = bot.output()
    assert said.stdout_text(), said.stderr_text()
    inside: dict[str, int] = json.loads(said.stdout_text())
    wanted = expected(platform.machine())
    assert inside == {name: wanted[number] for name, number in calls.items()}
    outside = json.loads(
        await asyncio.to_thread(
            subprocess.check_output,
            [sys.executable, "-c", CALLS_EACH, json.dumps({name: calls[name] for name in FREE_OUTSIDE})],
            env=dict(os.environ),
            text=True,
        )
    )
    assert {name for name in FREE_OUTSIDE if outside[name] != inside[name]} == set(FREE_OUTSIDE)
