"""What the filter of system calls says of one, as the kernel would run it, for machines that this one is not."""

import struct

import pytest

from referee.process.seccomp import bot_filter

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOWED, NOTHING, EPERM, EINVAL, ENOTTY, ENOSYS = "allowed", 0, 1, 22, 25, 38
EPROTONOSUPPORT, EOPNOTSUPP, EAFNOSUPPORT = 93, 95, 97
NUMBERS = {  # x86_64, aarch64
    "read": (0, 63),
    "mmap": (9, 222),
    "ioctl": (16, 29),
    "madvise": (28, 233),
    "socket": (41, 198),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "socketpair": (53, 199),
    "setsockopt": (54, 208),
    "fcntl": (72, 25),
    "flock": (73, 32),
    "fsync": (74, 82),
    "prctl": (157, 167),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "getxattr": (191, 8),
    "setrlimit": (160, 164),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "splice": (275, 76),
    "timer_create": (222, 107),
    "timerfd_create": (283, 85),
    "timerfd_settime": (286, 86),
    "timerfd_gettime": (287, 87),
    "signalfd4": (289, 74),
    "prlimit64": (302, 261),
    "sendmmsg": (307, 269),
    "seccomp": (317, 277),
    "memfd_create": (319, 279),
    "clone3": (435, 435),
    "openat2": (437, 437),
    "process_madvise": (440, 440),
    "futex_wait": (455, 455),
    "setxattrat": (463, 463),
    "removexattrat": (466, 466),
    "open_tree_attr": (467, 467),
    "listns": (470, 470),
    "of tomorrow": (600, 600),
    "x32": (0x40000000, 0x40000000),
}
LONG = 1 << 40
"""A pointer with nothing in its lower half."""


def verdict(program: bytes, architecture: int, number: int, arguments: tuple[int, ...]) -> str | int:
    data = struct.pack("=IIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    instructions = list(struct.iter_unpack("=HBBI", program))
    loaded, place = 0, 0
    while True:
        code, yes, no, value = instructions[place]
        place += 1
        if code == 0x06:
            return ALLOWED if value == 0x7FFF0000 else value & 0xFFFF
        if code == 0x20:
            loaded = struct.unpack_from("=I", data, value)[0]
        elif code == 0x54:
            loaded &= value
        else:
            holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
            place += yes if holds else no


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("read", (), ALLOWED),
        ("clone3", (), ALLOWED),
        ("futex_wait", (), ALLOWED),
        ("openat2", (3, LONG, LONG, 24), ENOSYS),
        ("removexattrat", (), ALLOWED),
        ("process_madvise", (), EPERM),
        ("open_tree_attr", (), ENOSYS),
        ("listns", (), ENOSYS),
        ("of tomorrow", (), ENOSYS),
        ("x32", (), ENOSYS),
        ("mmap", (0, 4096, 3, 0x22), ALLOWED),
        ("mmap", (0, 4096, 3, 0x40022), EPERM),
        ("memfd_create", (LONG, 1), ALLOWED),
        ("memfd_create", (LONG, 5), EPERM),
        ("madvise", (LONG, 4096, 4), ALLOWED),  # MADV_DONTNEED, of every allocator
        ("madvise", (LONG, 4096, 21), NOTHING),
        ("madvise", (LONG, 4096, 25), NOTHING),  # MADV_COLLAPSE
        ("ioctl", (1, 0x5401), ALLOWED),  # TCGETS
        ("ioctl", (1, 0x541B), ALLOWED),  # FIONREAD
        ("ioctl", (1, 0x5412), EPERM),
        ("ioctl", (1, 0x8912), ALLOWED),  # SIOCGIFCONF
        ("ioctl", (1, 0x80108906), EPERM),  # SIOCGSTAMP
        ("ioctl", (1, 0xC020660B), ENOTTY),  # FS_IOC_FIEMAP
        ("ioctl", (1, 0xC020662A), ENOTTY),  # EXT4_IOC_GET_ES_CACHE
        ("ioctl", (1, 0x40049409), ENOTTY),  # FICLONE; cp then copies
        ("ioctl", (1, 0xC0406400), ENOTTY),  # DRM_IOCTL_VERSION
        ("fcntl", (3, 2), ALLOWED),
        ("fcntl", (3, 6), NOTHING),
        ("fcntl", (3, 8), ALLOWED),  # F_SETOWN
        ("fcntl", (3, 10), EPERM),  # F_SETSIG
        ("fcntl", (3, 1024), EPERM),  # F_SETLEASE
        ("fcntl", (3, 1026), EPERM),  # F_NOTIFY
        ("fcntl", (3, 1030), ALLOWED),  # F_DUPFD_CLOEXEC
        ("fcntl", (3, 1031), ALLOWED),  # F_SETPIPE_SZ
        ("fcntl", (3, 1033), ALLOWED),  # F_ADD_SEALS
        ("fcntl", (3, 1036), EINVAL),  # F_SET_RW_HINT
        ("fcntl", (3, 1038), EINVAL),  # F_SET_FILE_RW_HINT
        ("fcntl", (3, 1040), EINVAL),  # F_SETDELEG of Linux 6.19
        ("flock", (3, 2), NOTHING),
        ("fsync", (3,), NOTHING),
        ("prctl", (15,), ALLOWED),
        ("prctl", (22, 2), EPERM),
        ("prctl", (35, 14), EPERM),  # PR_SET_MM, with which a program says where its stack begins
        ("prctl", (0x53564D41, 0), NOTHING),  # PR_SET_VMA, with which Go names its memory
        ("mbind", (LONG, 4096, 3), NOTHING),
        ("set_mempolicy", (3,), NOTHING),
        ("sendto", (3, LONG, 9, 0x4000), ALLOWED),  # MSG_NOSIGNAL
        ("sendto", (3, LONG, 9, 0xC000), EPERM),
        ("sendto", (3, LONG, 1, 0x41), EPERM),  # MSG_OOB | MSG_DONTWAIT
        ("sendmsg", (3, LONG, 0x4000), ALLOWED),
        ("sendmsg", (3, LONG, 1), EPERM),
        ("sendmsg", (3, LONG, 0x8000), EPERM),
        ("sendmmsg", (3, LONG, 9, 0), ALLOWED),
        ("sendmmsg", (3, LONG, 9, 0x8000), EPERM),
        ("sendmmsg", (3, LONG, 9, 1), EPERM),
        ("splice", (3, 0, 4, 0, 9, 1), EINVAL),  # libraries then copy
        ("timer_create", (1, LONG, LONG), ENOSYS),
        ("timerfd_create", (1, 0x80000), ENOSYS),  # event loops then have time-outs
        ("timerfd_create", (1, 0x80800), ALLOWED),  # as Netty does
        ("timerfd_settime", (3, 0, LONG, 0), NOTHING),
        ("timerfd_gettime", (3, LONG), ALLOWED),
        ("signalfd4", (0xFFFFFFFF, LONG, 8, 0), ENOSYS),
        ("setxattr", (LONG, LONG, LONG, 9, 0), EOPNOTSUPP),  # as a file system says that has no attributes
        ("lsetxattr", (LONG, LONG, LONG, 9, 0), EOPNOTSUPP),
        ("fsetxattr", (3, LONG, LONG, 9, 0), EOPNOTSUPP),
        ("setxattrat", (3, LONG, 0, LONG, LONG, 24), EOPNOTSUPP),
        ("getxattr", (LONG, LONG, LONG, 9), ALLOWED),
        ("seccomp", (1,), EPERM),
        ("setrlimit", (7,), ALLOWED),
        ("setrlimit", (4,), NOTHING),
        ("prlimit64", (0, 4, 0, LONG), ALLOWED),
        ("prlimit64", (0, 4, LONG, 0), NOTHING),
        ("prlimit64", (0, 4, 4096, 0), NOTHING),
        ("prlimit64", (0, 7, LONG, 0), ALLOWED),
        ("socket", (1, 1, 0), ALLOWED),
        ("socket", (2, 0x80801, 6), ALLOWED),  # SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK
        ("socket", (10, 2, 17), ALLOWED),
        ("socket", (2, 2, 1), ALLOWED),
        ("socket", (2, 1, 132), EPROTONOSUPPORT),  # SCTP
        ("socket", (2, 1, 262), EPROTONOSUPPORT),  # MPTCP
        ("socket", (2, 5, 0), EPROTONOSUPPORT),  # SOCK_SEQPACKET
        ("socket", (16, 3, 0), EAFNOSUPPORT),
        ("socket", (40, 1, 0), EAFNOSUPPORT),
        ("socketpair", (1, 1, 0), ALLOWED),
        ("socketpair", (30, 1, 0), EAFNOSUPPORT),  # AF_TIPC
        ("setsockopt", (3, 1, 2), ALLOWED),  # SO_REUSEADDR
        ("setsockopt", (3, 6, 1), ALLOWED),  # TCP_NODELAY
        ("setsockopt", (3, 41, 26), ALLOWED),  # IPV6_V6ONLY
        ("setsockopt", (3, 17, 14), ALLOWED),
        ("setsockopt", (3, 1, 26), EPERM),
        ("setsockopt", (3, 6, 14), EPERM),
        ("setsockopt", (3, 0, 35), EPERM),
        ("setsockopt", (3, 41, 20), EPERM),
        ("setsockopt", (3, 41, 6), EPERM),
        ("setsockopt", (3, 17, 1), EPERM),
        ("setsockopt", (3, 17, 103), ALLOWED),  # UDP_SEGMENT
        ("setsockopt", (3, 0, 11), NOTHING),  # IP_RECVERR
        ("setsockopt", (3, 41, 25), NOTHING),
        ("setsockopt", (3, 1, 37), NOTHING),
        ("setsockopt", (3, 1, 29), NOTHING),  # SO_TIMESTAMP
        ("setsockopt", (3, 1, 13), NOTHING),  # SO_LINGER
        ("setsockopt", (3, 1, 47), NOTHING),  # SO_MAX_PACING_RATE
        ("setsockopt", (3, 6, 13), NOTHING),  # TCP_CONGESTION
        ("setsockopt", (3, 6, 4), NOTHING),  # TCP_KEEPIDLE
        ("setsockopt", (3, 6, 5), NOTHING),  # TCP_KEEPINTVL
        ("setsockopt", (3, 1, 9), ALLOWED),  # SO_KEEPALIVE
        ("setsockopt", (3, 1, 64), NOTHING),
    ],
)
def test_what_a_call_gives(machine: str, name: str, arguments: tuple[int, ...], expected: str | int) -> None:
    number = NUMBERS[name][list(ARCHITECTURES).index(machine)]
    assert verdict(bot_filter(machine), ARCHITECTURES[machine], number, arguments) == expected


def test_calls_of_another_architecture_do_not_exist() -> None:
    assert verdict(bot_filter("x86_64"), ARCHITECTURES["aarch64"], 63, ()) == ENOSYS


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_a_build_has_real_locks(machine: str) -> None:
    place = list(ARCHITECTURES).index(machine)
    program = bot_filter(machine, file_locks=True)
    for name, arguments in (("flock", (3, 2)), ("fcntl", (3, 6))):
        assert verdict(program, ARCHITECTURES[machine], NUMBERS[name][place], arguments) == ALLOWED


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_who_is_granted_the_network_keeps_its_connections_alive(machine: str) -> None:
    """Programs that wait minutes for a model's answer do, as a router forgets idle connections."""
    place = list(ARCHITECTURES).index(machine)
    program = bot_filter(machine, network=True)
    for option, expected in ((4, ALLOWED), (5, ALLOWED), (13, NOTHING)):
        assert verdict(program, ARCHITECTURES[machine], NUMBERS["setsockopt"][place], (3, 6, option)) == expected


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_who_is_granted_devices_controls_them_and_no_file_system(machine: str) -> None:
    place = list(ARCHITECTURES).index(machine)
    program = bot_filter(machine, devices=True)
    # DRM_IOCTL_VERSION, of an NVIDIA device, UVM_INITIALIZE; FS_IOC_FIEMAP, FS_IOC_FSSETXATTR, BTRFS_IOC_INO_LOOKUP
    requests = {0xC0406400: ALLOWED, 0xC020462A: ALLOWED, 0x30000001: ALLOWED}
    requests |= {0xC020660B: ENOTTY, 0x401C5820: ENOTTY, 0xD0009412: ENOTTY}
    found = {
        request: verdict(program, ARCHITECTURES[machine], NUMBERS["ioctl"][place], (3, request)) for request in requests
    }
    assert found == requests


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_filter_fits_into_the_smallest_pipe(machine: str) -> None:
    """A user who has many pipes gets those of one page, and the guardian writes the filter before anybody reads."""
    assert 0 < len(bot_filter(machine, file_locks=True, network=True, devices=True)) <= 4096
