"""A filter of system calls for sandboxed bots: what no bot needs and what has opened kernels before.

Namespaces keep a bot apart already; this closes what they do not cover: the kernel's keyrings, io_uring, bpf, ptrace,
and sockets of families that know no network namespace (AF_VSOCK reaches the host of a virtual machine).

A bot's threads stay as ready to run as they were started: what would make one wait for a processor by its own will (a
lower priority, a crowded processor) succeeds and does nothing. Time in which strangers keep a bot from running is given
back, so such a thread would buy time.
"""

import platform
import struct

_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_OFFSET_NUMBER, _OFFSET_ARCH, _OFFSET_FIRST_ARGUMENT = 0, 4, 16
_X32 = 0x40000000
_FAMILIES = (1, 2, 10, 16)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK (which lists one's own interfaces)

# The same number everywhere: io_uring_setup, _enter, _register, open_tree, move_mount, fsopen, fsconfig, fsmount,
# fspick, mount_setattr.
_NEW = (425, 426, 427, 428, 429, 430, 431, 432, 433, 442)
_PRIORITIES = {
    # setpriority, sched_setparam, sched_setscheduler, sched_setaffinity, sched_setattr
    "x86_64": (141, 142, 144, 203, 314),
    "aarch64": (140, 118, 119, 122, 274),
}
_ARCHITECTURES: dict[str, tuple[int, int, dict[str, int]]] = {
    # machine: (audit architecture, number of socket(2), numbers of what is refused)
    "x86_64": (
        0xC000003E,
        41,
        {
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
            "unshare": 272,
            "perf_event_open": 298,
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
    "aarch64": (
        0xC00000B7,
        198,
        {
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
            "perf_event_open": 241,
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


def bot_filter(machine: str | None = None) -> bytes:
    """The filter as `struct sock_filter[]`, as bubblewrap reads it; empty for machines it is not written for."""
    machine = machine or platform.machine()
    known = _ARCHITECTURES.get(machine)
    if known is None:
        return b""
    architecture, socket_number, refused = known
    program: list[tuple[int, str, str, int]] = [
        (_LOAD, "", "", _OFFSET_ARCH),
        (_IF_EQUAL, "", "unknown", architecture),
        (_LOAD, "", "", _OFFSET_NUMBER),
        (_IF_AT_LEAST, "unknown", "", _X32),
        *((_IF_EQUAL, "refused", "", number) for number in sorted({*refused.values(), *_NEW})),
        *((_IF_EQUAL, "done", "", number) for number in _PRIORITIES[machine]),
        (_IF_EQUAL, "", "allowed", socket_number),
        (_LOAD, "", "", _OFFSET_FIRST_ARGUMENT),
        *((_IF_EQUAL, "allowed", "", family) for family in _FAMILIES),
        (_RETURN, "", "", _ERRNO | _EAFNOSUPPORT),
    ]
    ends = {"allowed": _ALLOW, "refused": _ERRNO | _EPERM, "done": _ERRNO, "unknown": _ERRNO | _ENOSYS}
    places = {label: len(program) + number for number, label in enumerate(ends)}
    program += [(_RETURN, "", "", value) for value in ends.values()]

    def jump(here: int, label: str) -> int:
        return places[label] - here - 1 if label else 0

    return b"".join(
        struct.pack("=HBBI", code, jump(here, yes), jump(here, no), value)
        for here, (code, yes, no, value) in enumerate(program)
    )
