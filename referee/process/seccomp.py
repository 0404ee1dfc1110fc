"""A filter of system calls for sandboxed bots: what no bot needs and what has opened kernels before.

Namespaces keep a bot apart already. The filter closes what they do not cover: the kernel's keyrings, io_uring, bpf,
ptrace, descriptors of other processes, and sockets of families that know no network namespace (AF_VSOCK reaches the
host of a virtual machine). What lies in netlink sockets counts as nobody's memory, and a bot could fill the machine's
with it: only a bot with the network has them, to list its interfaces.

Four groups of calls are special:

- Priorities. A bot's threads stay as ready to run as they were started: a call that would make one wait for a processor
  by choice (a lower priority, a crowded processor) succeeds and does nothing. The referee gives back the time in which
  other processes keep a bot from running, so such a thread would gain time.
- File locks. Files that several sandboxes share, such as those in /usr, are the same inodes in each, and a lock on one
  of them carries a bit from one match to another. flock(2) and the lock commands of fcntl(2) succeed and do nothing:
  libraries that lock "just in case" (SQLite, torch) keep working. A build has real locks, because it has several
  processes and shares nothing with a match.
- What others feel: a group of tasks that share no core with strangers (PR_SCHED_CORE), which takes half of a core with
  two threads from them, is refused; sync(2) and syncfs(2), which make all files of the machine be written, succeed and
  do nothing.
- Watching shared files: leases, inotify, fanotify and questions about the page cache are refused; advice to drop pages
  from the cache succeeds and does nothing.
"""

import platform
import struct
from dataclasses import dataclass
from typing import TypeAlias

_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_OFFSET_NUMBER, _OFFSET_ARCH, _OFFSET_FIRST_ARGUMENT, _ARGUMENT_BYTES = 0, 4, 16, 8
_X32 = 0x40000000
_FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6
_AF_NETLINK, _NETLINK_ROUTE = 16, 0  # lists one's own interfaces
_PR_SCHED_CORE = 62
_LOCK_COMMANDS = (6, 7, 37, 38)  # F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW
_WATCH_COMMANDS = (1024, 1026)  # F_SETLEASE, F_NOTIFY

# The same number everywhere: io_uring_setup, _enter, _register, open_tree, move_mount, fsopen, fsconfig, fsmount,
# fspick, pidfd_open, pidfd_getfd, mount_setattr, cachestat.
_NEW = (425, 426, 427, 428, 429, 430, 431, 432, 433, 434, 438, 442, 451)


@dataclass(frozen=True, slots=True)
class _Architecture:
    """Numbers of system calls. `without_effect` succeed and do nothing; of `fcntl`, `prctl` and `socket` it depends on
    an argument; preadv2 with flags asks whether a page is in memory."""

    audit: int
    socket: int
    fcntl: int
    flock: int
    preadv2: int
    prctl: int
    without_effect: tuple[int, ...]
    refused: dict[str, int]


_ARCHITECTURES = {
    "x86_64": _Architecture(
        audit=0xC000003E,
        socket=41,
        fcntl=72,
        flock=73,
        preadv2=327,
        prctl=157,
        # setpriority, sched_setparam, sched_setscheduler, sync, sched_setaffinity, fadvise64, syncfs, sched_setattr
        without_effect=(141, 142, 144, 162, 203, 221, 306, 314),
        refused={
            "mincore": 27,
            "ptrace": 101,
            "syslog": 103,
            "pivot_root": 155,
            "acct": 163,
            "mount": 165,
            "umount2": 166,
            "swapon": 167,
            "swapoff": 168,
            "reboot": 169,
            "init_module": 175,
            "delete_module": 176,
            "quotactl": 179,
            "kexec_load": 246,
            "add_key": 248,
            "request_key": 249,
            "keyctl": 250,
            "io_setup": 206,
            "inotify_init": 253,
            "unshare": 272,
            "inotify_init1": 294,
            "perf_event_open": 298,
            "fanotify_init": 300,
            "fanotify_mark": 301,
            "name_to_handle_at": 303,
            "open_by_handle_at": 304,
            "setns": 308,
            "process_vm_readv": 310,
            "process_vm_writev": 311,
            "kcmp": 312,
            "finit_module": 313,
            "kexec_file_load": 320,
            "bpf": 321,
            "userfaultfd": 323,
        },
    ),
    "aarch64": _Architecture(
        audit=0xC00000B7,
        socket=198,
        fcntl=25,
        flock=32,
        preadv2=286,
        prctl=167,
        # sync, sched_setparam, sched_setscheduler, sched_setaffinity, setpriority, fadvise64, syncfs, sched_setattr
        without_effect=(81, 118, 119, 122, 140, 223, 267, 274),
        refused={
            "io_setup": 0,
            "inotify_init1": 26,
            "umount2": 39,
            "mount": 40,
            "pivot_root": 41,
            "quotactl": 60,
            "acct": 89,
            "unshare": 97,
            "kexec_load": 104,
            "init_module": 105,
            "delete_module": 106,
            "syslog": 116,
            "ptrace": 117,
            "reboot": 142,
            "add_key": 217,
            "request_key": 218,
            "keyctl": 219,
            "swapon": 224,
            "swapoff": 225,
            "mincore": 232,
            "perf_event_open": 241,
            "fanotify_init": 262,
            "fanotify_mark": 263,
            "name_to_handle_at": 264,
            "open_by_handle_at": 265,
            "setns": 268,
            "process_vm_readv": 270,
            "process_vm_writev": 271,
            "kcmp": 272,
            "finit_module": 273,
            "bpf": 280,
            "userfaultfd": 282,
            "kexec_file_load": 294,
        },
    ),
}


_Instruction: TypeAlias = tuple[int, str, str, int]
"""Code, label to jump to if the comparison holds, label if it does not ("" is the next instruction), value."""


def bot_filter(machine: str | None = None, *, file_locks: bool = False, network: bool = False) -> bytes:
    """The filter as `struct sock_filter[]`, as bubblewrap reads it; empty for machines it is not written for.

    `file_locks`: locks on files work, which is for builds alone. `network`: its interfaces can be listed.
    """
    machine = machine or platform.machine()
    known = _ARCHITECTURES.get(machine)
    if known is None:
        return b""
    silent = known.without_effect if file_locks else (*known.without_effect, known.flock)
    commands = () if file_locks else _LOCK_COMMANDS
    program: list[_Instruction | str] = [
        (_LOAD, "", "", _OFFSET_ARCH),
        (_IF_EQUAL, "", "unknown", known.audit),
        (_LOAD, "", "", _OFFSET_NUMBER),
        (_IF_AT_LEAST, "unknown", "", _X32),
        *((_IF_EQUAL, "refused", "", number) for number in sorted({*known.refused.values(), *_NEW})),
        *((_IF_EQUAL, "without effect", "", number) for number in silent),
        (_IF_EQUAL, "fcntl", "", known.fcntl),
        (_IF_EQUAL, "preadv2", "", known.preadv2),
        (_IF_EQUAL, "prctl", "", known.prctl),
        (_IF_EQUAL, "", "allowed", known.socket),
        _load_argument(0),
        *((_IF_EQUAL, "allowed", "", family) for family in _FAMILIES),
        (_IF_EQUAL, "netlink" if network else "no family", "no family", _AF_NETLINK),
        "netlink",
        _load_argument(2),
        (_IF_EQUAL, "allowed", "", _NETLINK_ROUTE),
        "no family",
        (_RETURN, "", "", _ERRNO | _EAFNOSUPPORT),
        "fcntl",
        _load_argument(1),
        *((_IF_EQUAL, "without effect", "", command) for command in commands),
        *((_IF_EQUAL, "refused", "", command) for command in _WATCH_COMMANDS),
        (_RETURN, "", "", _ALLOW),
        "preadv2",
        _load_argument(5),
        (_IF_EQUAL, "allowed", "refused", 0),
        "prctl",
        _load_argument(0),
        (_IF_EQUAL, "refused", "allowed", _PR_SCHED_CORE),
        "allowed",
        (_RETURN, "", "", _ALLOW),
        "refused",
        (_RETURN, "", "", _ERRNO | _EPERM),
        "without effect",
        (_RETURN, "", "", _ERRNO),
        "unknown",
        (_RETURN, "", "", _ERRNO | _ENOSYS),
    ]
    return _assemble(program)


def _load_argument(number: int) -> _Instruction:
    """Its lower half, all that the kernel looks at of an int."""
    return (_LOAD, "", "", _OFFSET_FIRST_ARGUMENT + number * _ARGUMENT_BYTES)


def _assemble(program: list[_Instruction | str]) -> bytes:
    instructions: list[_Instruction] = []
    places: dict[str, int] = {}
    for item in program:
        if isinstance(item, str):
            places[item] = len(instructions)
        else:
            instructions.append(item)

    def jump(here: int, label: str) -> int:
        return places[label] - here - 1 if label else 0

    return b"".join(
        struct.pack("=HBBI", code, jump(here, yes), jump(here, no), value)
        for here, (code, yes, no, value) in enumerate(instructions)
    )
