"""A filter of system calls for sandboxed bots: what no bot needs and what has opened kernels before.

Namespaces keep a bot apart already. The filter closes what they do not cover: the kernel's keyrings, io_uring, bpf,
ptrace, descriptors of other processes, and sockets of families that know no network namespace (AF_VSOCK reaches the
host of a virtual machine). What lies in netlink sockets counts as nobody's memory, and a bot could fill the machine's
with it: only a bot with the network has them, to list its interfaces. What a socket keeps of some of its options (keys
of TCP, groups that it joins, filters, a queue of errors) is nobody's memory either, nor what UDP holds back until more
comes, pages that splice(2) takes from a socket into a pipe, and policies of memory: these options and calls are
refused, or succeed and do nothing where programs expect them. Filters of system calls are refused, too: their compiled
code counts towards a limit of the whole machine. Protocols other than TCP, UDP and ICMP are
refused, because the kernel would load modules for them.

Numbers of system calls that are newer than this filter do not exist for a bot: libraries fall back to older calls, as
on an older kernel.

Some groups of calls are special:

- Priorities. A bot's threads stay as ready to run as they were started: a call that would make one wait for a processor
  by choice (a lower priority, a crowded processor) succeeds and does nothing. The referee gives back the time in which
  other processes keep a bot from running, so such a thread would gain time.
- File locks. Files that several sandboxes share, such as those in /usr, are the same inodes in each, and a lock on one
  of them carries a bit from one match to another. flock(2) and the lock commands of fcntl(2) succeed and do nothing:
  libraries that lock "just in case" (SQLite, torch) keep working. A build has real locks, because it has several
  processes and shares nothing with a match.
- What others feel: a group of tasks that share no core with strangers (PR_SCHED_CORE), which takes half of a core with
  two threads from them, is refused; sync(2), fsync(2) and their like succeed and do nothing, because they make the
  disk empty its cache even for a file that the bot can only read.
- Watching shared files: leases, inotify, fanotify and questions about the page cache are refused; openat2(2), which
  tells what was looked up, does not exist; advice to drop pages from the cache, to merge equal pages of several
  processes, and to make huge pages of a file's, which stay in the cache for all to see, succeeds and does nothing.
- The limit for core files cannot be changed: its value of 1 is the only one at which the kernel does not start the
  machine's program for core files (see the guardian).
- Huge pages are refused: they are a stock of the whole machine, which no limit counts.
- What the kernel keeps with a file without writing to it: an owner may set how long data will live (F_SET_RW_HINT) even
  where nothing can be written, and ioctl(2) fills and reads a file system's caches. Both stay after the process has
  ended, where the next one of the bot reads them. So commands of fcntl(2) that no bot needs are refused, and ioctl(2)
  knows terminals and sockets only; a bot that is granted devices has theirs, too.
- Files for timers and signals: the kernel calls back each epoll that watches one, in the interrupt of the timer, which
  it charges to the process that runs there. With hundreds of both, half a millisecond of a bot kept a processor in
  interrupts for 50 ms. So setting a timer file does nothing, and one can be made only as Netty makes them, which does
  not start without; it has no use for them since Linux 5.11. Other event loops have time-outs where they get none.
- Signals of files (F_SETSIG): the kernel would send SIGCONT to a process that the referee has stopped, at a time that
  this process has chosen, such as the time-out of a connection.
- Time stamps of packets: while one socket of the machine has them, the kernel stamps the packets of all.
"""

import platform
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

_EPERM, _EINVAL, _ENOTTY, _ENOSYS, _EPROTONOSUPPORT, _EOPNOTSUPP, _EAFNOSUPPORT = 1, 22, 25, 38, 93, 95, 97
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_OFFSET_NUMBER, _OFFSET_ARCH, _OFFSET_FIRST_ARGUMENT, _ARGUMENT_BYTES = 0, 4, 16, 8
_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_AF_NETLINK, _NETLINK_ROUTE = 16, 0  # lists one's own interfaces
_TYPE_BITS, _TYPES = 0xF, (1, 2)  # SOCK_STREAM, SOCK_DGRAM
_PROTOCOLS = (0, 1, 6, 17, 58)  # the usual one, ICMP, TCP, UDP, ICMPv6
_SOCKET_OPTIONS = {
    # SOL_SOCKET: SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF and _EBPF, SO_ZEROCOPY, SO_TXTIME
    1: (26, 50, 51, 52, 60, 61),
    # IPPROTO_IP: IP_BLOCK_SOURCE, IP_ADD_MEMBERSHIP, IP_ADD_SOURCE_MEMBERSHIP, IP_MSFILTER, and the MCAST_ ones
    0: (35, 38, 39, 41, 42, 43, 46, 48),
    # IPPROTO_IPV6: IPV6_2292PKTOPTIONS, IPV6_ADD_MEMBERSHIP, IPV6_JOIN_ANYCAST, IPV6_FLOWLABEL_MGR, the MCAST_ ones,
    # IPV6_RTHDR
    41: (6, 20, 27, 32, 42, 43, 46, 48, 57),
    # IPPROTO_TCP: TCP_MD5SIG, TCP_ULP, TCP_MD5SIG_EXT, TCP_AO_ADD_KEY
    6: (14, 31, 32, 38),
    # IPPROTO_UDP: UDP_CORK
    17: (1,),
}
"""By level: options for which the kernel keeps memory that it counts as nobody's, up to 128 KiB a socket."""

_SILENT_OPTIONS = {
    # SO_LINGER; SO_TIMESTAMPING, in its two forms; SO_TIMESTAMP and SO_TIMESTAMPNS, in theirs; SO_MAX_PACING_RATE
    1: (13, 37, 65, 29, 63, 35, 64, 47),
    6: (13,),  # TCP_CONGESTION: some of these pace packets, too
    0: (11, 26),  # IP_RECVERR, IP_RECVERR_RFC4884: resolvers set it, and give up where it is refused
    41: (25, 31),  # IPV6_RECVERR, IPV6_RECVERR_RFC4884
}
"""Those that fill a queue of errors, as long as the socket's buffer for receiving, which is nobody's either; and those
that make the kernel stamp the packets of all sockets of the machine. And SO_LINGER, with which closing a socket takes
long: a bot may pass one to the referee over its socket, where the kernel lets it (see `refuse_descriptors`). And those
that make packets leave in interrupts of timers, whose work is charged to nobody."""

_TCP, _KEEPALIVE = 6, (4, 5)  # TCP_KEEPIDLE, TCP_KEEPINTVL
"""How often the kernel asks the other end of a connection whether it is there, in interrupts: every two hours, or as
often as the bot says. Only bots with the network have other ends that may be gone."""

_MSG_MORE, _MSG_OOB = 0x8000, 1
"""A UDP socket keeps what is sent with the first, up to 64 KiB, as nobody's memory. A byte that is sent with the second
wakes the referee, who then finds nothing to read, and nothing to charge the bot for."""

_PRCTL = (22, 35, 62, 67)  # PR_SET_SECCOMP, PR_SET_MM, PR_SCHED_CORE, PR_SET_MEMORY_MERGE
_NAME_MEMORY = 0x53564D41  # PR_SET_VMA
_ADVICE = (12, 20, 21, 25)  # MADV_MERGEABLE, MADV_COLD, MADV_PAGEOUT, MADV_COLLAPSE
_RLIMIT_CORE = 4
_TIMER_OF_NETTY = 0o2004000  # TFD_CLOEXEC | TFD_NONBLOCK
_MAP_HUGETLB, _MFD_HUGETLB, _SHM_HUGETLB = 0x40000, 4, 0o4000
_REQUESTS = (
    *(0x5412, 0x541C, 0x5423),  # TIOCSTI, TIOCLINUX, TIOCSETD: types for others, and loads modules
    *(0x8940, 0x8941, 0x8982, 0x8983),  # SIOCGIFBR, SIOCSIFBR, SIOCGIFVLAN, SIOCSIFVLAN: load modules
    *(0x8906, 0x8907, 0x80108906, 0x80108907),  # SIOCGSTAMP, SIOCGSTAMPNS: stamp all packets from then on
)
_REQUEST_TYPE = 0xFF00
_TERMINALS, _SOCKETS = 0x5400, 0x8900
_FILE_SYSTEMS = (
    *(0x6600, 0x7600, 0x5800),  # 'f' and 'v' (ext4 and all others), 'X' (xfs and all others)
    *(0x6E00, 0x9400, 0x9700, 0xF500),  # nilfs, btrfs, ceph, f2fs
)
"""Types of requests of file systems, which a bot with devices has not either."""

_LOCK_COMMANDS = (6, 7, 37, 38)  # F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW
_WATCH_COMMANDS = (1024, 1026)  # F_SETLEASE, F_NOTIFY
_SET_SIGNAL = 10  # F_SETSIG
_SPECIAL_COMMANDS_FROM = 1024
"""The commands of fcntl(2) that only Linux has."""

# F_GETLEASE, F_DUPFD_QUERY, F_CREATED_QUERY, F_DUPFD_CLOEXEC, F_SETPIPE_SZ, F_GETPIPE_SZ, F_ADD_SEALS, F_GET_SEALS,
# F_GET_RW_HINT
_SPECIAL_COMMANDS = (1025, 1027, 1028, 1030, 1031, 1032, 1033, 1034, 1035)

# The same number everywhere: io_uring_setup, _enter, _register, open_tree, move_mount, fsopen, fsconfig, fsmount,
# fspick, pidfd_open, pidfd_getfd, process_madvise, mount_setattr, quotactl_fd, memfd_secret, process_mrelease,
# cachestat, statmount, listmount.
_NEW = (425, 426, 427, 428, 429, 430, 431, 432, 433, 434, 438, 440, 442, 443, 447, 448, 451, 457, 458)
_OPENAT2 = 437
"""It says of any name in /usr whether somebody has looked it up, and leaves that as it was (RESOLVE_CACHED). Libraries
have openat(2)."""

_SETXATTRAT = 463
_UNKNOWN_FROM = 467
"""open_tree_attr of Linux 6.15: from here on nobody has looked at what a bot could do with a call."""


@dataclass(frozen=True, slots=True)
class _Architecture:
    """Numbers of system calls. `splice` fails as for a file that it cannot take from, and `attributes` (setxattr,
    lsetxattr, fsetxattr) as on a file system that has none. `without_effect` succeed and do nothing, `absent` fail as
    on a kernel without them. Of those in `by_argument`, what happens depends on one; preadv2 with flags asks whether a
    page is there.
    """

    audit: int
    flock: int
    splice: int
    attributes: tuple[int, ...]
    by_argument: dict[str, int]
    without_effect: tuple[int, ...]
    absent: tuple[int, ...]
    refused: dict[str, int]


_ARCHITECTURES = {
    "x86_64": _Architecture(
        audit=0xC000003E,
        flock=73,
        splice=275,
        attributes=(188, 189, 190),
        by_argument={
            "mmap": 9,
            "ioctl": 16,
            "madvise": 28,
            "shmget": 29,
            "socket": 41,
            "sendto": 44,
            "sendmsg": 46,
            "socketpair": 53,
            "setsockopt": 54,
            "fcntl": 72,
            "prctl": 157,
            "setrlimit": 160,
            "timerfd_create": 283,
            "prlimit64": 302,
            "sendmmsg": 307,
            "memfd_create": 319,
            "preadv2": 327,
        },
        # msync, fsync, fdatasync, setpriority, sched_setparam, sched_setscheduler, sync, sched_setaffinity, fadvise64,
        # mbind, set_mempolicy, sync_file_range, timerfd_settime, syncfs, sched_setattr, set_mempolicy_home_node
        without_effect=(26, 74, 75, 141, 142, 144, 162, 203, 221, 237, 238, 277, 286, 306, 314, 450),
        absent=(222, 282, 289),  # timer_create, signalfd, signalfd4
        refused={
            "mincore": 27,
            "modify_ldt": 154,
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
            "migrate_pages": 256,
            "unshare": 272,
            "move_pages": 279,
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
            "seccomp": 317,
            "kexec_file_load": 320,
            "bpf": 321,
            "userfaultfd": 323,
        },
    ),
    "aarch64": _Architecture(
        audit=0xC00000B7,
        flock=32,
        splice=76,
        attributes=(5, 6, 7),
        by_argument={
            "fcntl": 25,
            "ioctl": 29,
            "timerfd_create": 85,
            "setrlimit": 164,
            "prctl": 167,
            "shmget": 194,
            "socket": 198,
            "socketpair": 199,
            "sendto": 206,
            "setsockopt": 208,
            "sendmsg": 211,
            "mmap": 222,
            "madvise": 233,
            "prlimit64": 261,
            "sendmmsg": 269,
            "memfd_create": 279,
            "preadv2": 286,
        },
        # sync, fsync, fdatasync, sync_file_range, timerfd_settime, sched_setparam, sched_setscheduler,
        # sched_setaffinity, setpriority, fadvise64, msync, mbind, set_mempolicy, syncfs, sched_setattr,
        # set_mempolicy_home_node
        without_effect=(81, 82, 83, 84, 86, 118, 119, 122, 140, 223, 227, 235, 237, 267, 274, 450),
        absent=(74, 107),  # signalfd4, timer_create
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
            "migrate_pages": 238,
            "move_pages": 239,
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
            "seccomp": 277,
            "bpf": 280,
            "userfaultfd": 282,
            "kexec_file_load": 294,
        },
    ),
}


_Instruction: TypeAlias = tuple[int, str, str, int]
"""Code, label to jump to if the comparison holds, label if it does not ("" is the next instruction), value."""


def bot_filter(
    machine: str | None = None, *, file_locks: bool = False, network: bool = False, devices: bool = False
) -> bytes:
    """The filter as `struct sock_filter[]`, as bubblewrap reads it; empty for machines it is not written for.

    `file_locks`: locks on files work, which is for builds alone. `network`: its interfaces can be listed. `devices`:
    those that it sees can be controlled.
    """
    machine = machine or platform.machine()
    known = _ARCHITECTURES.get(machine)
    if known is None:
        return b""
    silent = known.without_effect if file_locks else (*known.without_effect, known.flock)
    program: list[_Instruction | str] = [
        (_LOAD, "", "", _OFFSET_ARCH),
        (_IF_EQUAL, "", "unknown", known.audit),
        (_LOAD, "", "", _OFFSET_NUMBER),
        (_IF_AT_LEAST, "unknown", "", _UNKNOWN_FROM),  # the numbers of x32, another set of calls, are higher
        *_switch("refused", *sorted({*known.refused.values(), *_NEW})),
        *_switch("without effect", *silent),
        *_switch("unknown", *known.absent, _OPENAT2),
        *_switch("invalid", known.splice),
        *_switch("no attributes", *known.attributes, _SETXATTRAT),
        *((_IF_EQUAL, name, "", number) for name, number in known.by_argument.items()),
        *_ENDS,
        *_by_argument(() if file_locks else _LOCK_COMMANDS, network=network, devices=devices),
        *_ENDS,
    ]
    return _assemble(program)


_ENDS: tuple[_Instruction | str, ...] = (
    "allowed",
    (_RETURN, "", "", _ALLOW),
    "refused",
    (_RETURN, "", "", _ERRNO | _EPERM),
    "without effect",
    (_RETURN, "", "", _ERRNO),
    "unknown",
    (_RETURN, "", "", _ERRNO | _ENOSYS),
    "invalid",
    (_RETURN, "", "", _ERRNO | _EINVAL),
    "no such request",
    (_RETURN, "", "", _ERRNO | _ENOTTY),
    "no attributes",
    (_RETURN, "", "", _ERRNO | _EOPNOTSUPP),
    "no family",
    (_RETURN, "", "", _ERRNO | _EAFNOSUPPORT),
    "no protocol",
    (_RETURN, "", "", _ERRNO | _EPROTONOSUPPORT),
)


def _by_argument(lock_commands: Sequence[int], *, network: bool, devices: bool) -> list[_Instruction | str]:
    """For each call in `by_argument` what to do with it, under its name."""
    program: list[_Instruction | str] = [
        "mmap",
        *_refuse_bits(3, _MAP_HUGETLB),
        "memfd_create",
        *_refuse_bits(1, _MFD_HUGETLB),
        "shmget",
        *_refuse_bits(2, _SHM_HUGETLB),
        "madvise",
        _load_argument(2),
        *_switch("without effect", *_ADVICE),
        _go("allowed"),
        "ioctl",
        _load_argument(1),
        *_switch("refused", *_REQUESTS),
        (_AND, "", "", _REQUEST_TYPE),
        *_switch("allowed", _TERMINALS, _SOCKETS),
        *_switch("no such request", *_FILE_SYSTEMS),
        _go("allowed" if devices else "no such request"),
        "fcntl",
        _load_argument(1),
        *_switch("without effect", *lock_commands),
        *_switch("refused", *_WATCH_COMMANDS, _SET_SIGNAL),
        (_IF_AT_LEAST, "", "allowed", _SPECIAL_COMMANDS_FROM),
        *_switch("allowed", *_SPECIAL_COMMANDS),
        _go("invalid"),
        "preadv2",
        _load_argument(5),
        (_IF_EQUAL, "allowed", "refused", 0),
        "prctl",
        _load_argument(0),
        *_switch("refused", *_PRCTL),
        *_switch("without effect", _NAME_MEMORY),
        _go("allowed"),
        "timerfd_create",
        _load_argument(1),
        (_IF_EQUAL, "allowed", "unknown", _TIMER_OF_NETTY),
        "setrlimit",
        _load_argument(0),
        (_IF_EQUAL, "without effect", "allowed", _RLIMIT_CORE),
        # A program that gives it no new limit, a null pointer, only asks for the old one.
        "prlimit64",
        _load_argument(1),
        (_IF_EQUAL, "", "allowed", _RLIMIT_CORE),
        _load_argument(2),
        (_IF_EQUAL, "", "without effect", 0),
        _load_argument(2, upper=True),
        (_IF_EQUAL, "allowed", "without effect", 0),
        "sendto",
        "sendmmsg",
        *_refuse_bits(3, _MSG_MORE | _MSG_OOB),
        "sendmsg",
        *_refuse_bits(2, _MSG_MORE | _MSG_OOB),
        "socketpair",
        _load_argument(0),
        (_IF_EQUAL, "allowed", "no family", _AF_UNIX),
        "socket",
        _load_argument(0),
        (_IF_EQUAL, "allowed", "", _AF_UNIX),
        *_switch("internet", _AF_INET, _AF_INET6),
        (_IF_EQUAL, "netlink" if network else "no family", "no family", _AF_NETLINK),
        "netlink",
        _load_argument(2),
        (_IF_EQUAL, "allowed", "no family", _NETLINK_ROUTE),
        "internet",
        _load_argument(1),
        (_AND, "", "", _TYPE_BITS),
        *_switch("protocol", *_TYPES),
        _go("no protocol"),
        "protocol",
        _load_argument(2),
        *_switch("allowed", *_PROTOCOLS),
        _go("no protocol"),
        "setsockopt",
        _load_argument(1),
        *((_IF_EQUAL, f"level {level}", "", level) for level in _SOCKET_OPTIONS),
        _go("allowed"),
    ]
    for level, options in _SOCKET_OPTIONS.items():
        silent = (*_SILENT_OPTIONS.get(level, ()), *(_KEEPALIVE if level == _TCP and not network else ()))
        program += [f"level {level}", _load_argument(2), *_switch("refused", *options)]
        program += [*_switch("without effect", *silent), _go("allowed")]
    return program


def _switch(label: str, *values: int) -> Iterator[_Instruction]:
    """Jumps to `label` if what was loaded is one of `values`."""
    return ((_IF_EQUAL, label, "", value) for value in values)


def _refuse_bits(argument: int, bits: int) -> tuple[_Instruction, _Instruction]:
    """Refuses the call if its argument has one of these bits."""
    return _load_argument(argument), (_IF_ANY_BIT, "refused", "allowed", bits)


def _go(label: str) -> _Instruction:
    return (_IF_EQUAL, label, label, 0)


def _load_argument(number: int, *, upper: bool = False) -> _Instruction:
    """Its lower half, all that the kernel looks at of an int, or its upper one."""
    return (_LOAD, "", "", _OFFSET_FIRST_ARGUMENT + number * _ARGUMENT_BYTES + upper * _ARGUMENT_BYTES // 2)


def _assemble(program: list[_Instruction | str]) -> bytes:
    """A label may be there several times: a jump, which can only lead forward, and not far, leads to the next."""
    instructions: list[_Instruction] = []
    places: dict[str, list[int]] = {}
    for item in program:
        if isinstance(item, str):
            places.setdefault(item, []).append(len(instructions))
        else:
            instructions.append(item)

    def jump(here: int, label: str) -> int:
        return min(place for place in places[label] if place > here) - here - 1 if label else 0

    return b"".join(
        struct.pack("=HBBI", code, jump(here, yes), jump(here, no), value)
        for here, (code, yes, no, value) in enumerate(instructions)
    )
