"""Tries to get out of wherever it is put, one way after another, and prints as JSON which ways led somewhere.

`targets` is JSON: what there is to reach, by name.
"""

import ctypes
import errno
import fcntl
import json
import mmap
import os
import resource
import signal
import socket
import struct
import tempfile
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TARGETS: dict[str, Any] = json.loads(json.loads(os.environ["CROSSTOWN_OPTIONS"])["targets"])
LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWUSER = 0x10000000
PTRACE_SEIZE, PTRACE_DETACH = 0x4206, 17


def call(name: str, *words: Any) -> int:
    result: int = getattr(LIBC, name)(*words)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def in_a_child(deed: Callable[[], None]) -> None:
    """What it does to itself must not spoil the other attempts."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            deed()
            code = 0
        finally:
            os._exit(code)
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0:
        raise OSError("the child could not")


def reads(path: str, secret: str) -> None:
    if secret.encode() not in Path(path).read_bytes():
        raise OSError(f"{path} is not what it should be")


def reads_through_a_link(path: str, secret: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        link = Path(folder) / "way-out"
        link.symlink_to(path)
        reads(str(link), secret)


def signals_a_guardian() -> None:
    """Any that it may: other runs of other users may have theirs on the same machine."""
    trouble = OSError("no guardian in sight")
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and b"start_guardian.py" in (folder / "cmdline").read_bytes():
                os.kill(int(folder.name), signal.SIGCONT)
                return
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended since it was listed
        except PermissionError as error:
            trouble = error
    raise trouble


def traces(pid: int) -> None:
    call("ptrace", PTRACE_SEIZE, pid, None, None)


def remembers() -> None:
    """Leaves word for the next process of this bot, which looks for it."""
    note = Path(TARGETS["note"])
    if note.exists():
        return
    note.write_text("what I saw in the other match of this block")
    raise OSError("nothing to remember yet")


def opens_a_key() -> None:
    number = 248 if os.uname().machine == "x86_64" else 217
    call("syscall", number, b"user", b"crosstown-escape", b"x", 1, -1)  # add_key to the process's own keyring


def holds_a_process() -> None:
    """By a descriptor, which stays that of this process whoever gets its number afterwards. Of its own, which it sees
    in any sandbox."""
    os.close(os.pidfd_open(os.getpid()))


def takes_a_descriptor_of_another_process() -> None:
    """Of a child, which it may trace, by the descriptor that clone(2) gives for it: that needs no pidfd_open(2)."""
    clone_pidfd = 0x1000
    out, into = os.pipe()
    held = ctypes.c_int(-1)
    number = 56 if os.uname().machine == "x86_64" else 220  # clone
    child = call("syscall", number, clone_pidfd | signal.SIGCHLD, None, ctypes.byref(held), None, None)
    if child == 0:
        while True:
            signal.pause()
    try:
        taken = call("syscall", 438, held.value, into, 0)  # pidfd_getfd
        os.write(taken, b"x")
        if os.read(out, 1) != b"x":
            raise OSError("it is another file")
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def writes_a_setting() -> None:
    path = Path("/proc/sys/vm/swappiness")
    path.write_text(path.read_text())


def writes_back(path: Path) -> None:
    path.write_text(path.read_text())


def reads_a_descriptor(pid: int, secret: str) -> None:
    """Of the files that another has open, whatever their paths and rights."""
    trouble = OSError("no file of it in sight")
    for place in Path(f"/proc/{pid}/fd").iterdir():
        try:
            with place.open("rb") as file:
                if file.seekable() and secret.encode() in file.read():
                    return
        except OSError as error:
            trouble = error
    raise trouble


def writes_to_a_control_group() -> None:
    """As root it then sets its own limits; any group of this machine will do."""
    trouble = OSError("no control group in sight")
    for path in Path("/sys/fs/cgroup").glob("**/cgroup.procs"):
        try:
            path.open("r+").close()
        except OSError as error:
            trouble = error
        else:
            return
    raise trouble


def fills_a_netlink_socket() -> None:
    """What lies in it is memory of the kernel, and nobody's: eight GiB fit into those of one process."""
    sender, taker = (socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_USERSOCK) for _ in "12")
    with sender, taker:
        for each in (sender, taker):
            each.bind((0, 0))
        data = bytes(50_000)
        sender.sendto(struct.pack("=IHHII", 16 + len(data), 16, 0, 0, 0) + data, (taker.getsockname()[0], 0))


def gives_a_socket_keys_of_tcp() -> None:
    """TCP_MD5SIG: some 1,000 keys for each socket, 128 KiB that the kernel counts as nobody's."""
    address = struct.pack("=H", socket.AF_INET) + struct.pack("!H4s", 0, socket.inet_aton("10.0.0.1"))
    with socket.socket() as line:
        key = struct.pack("=128sBBHi80s", address, 0, 0, 4, 0, b"key!")
        line.setsockopt(socket.IPPROTO_TCP, 14, key)


def joins_a_group() -> None:
    """Each socket may join thousands of them under IPv6; the kernel counts what it keeps of each as nobody's."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        place = struct.pack("=4s4si", socket.inet_aton("230.0.0.1"), bytes(4), 1)
        line.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, place)


def gives_memory_a_policy() -> None:
    """The kernel keeps one for each page of a file in memory, there or not, and counts them as nobody's. Here one that
    there is not, to see whether the kernel looks at it."""
    number = 237 if os.uname().machine == "x86_64" else 235
    address = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(mmap.mmap(-1, 4096))))
    try:
        call("syscall", number, address, ctypes.c_ulong(4096), 99, None, ctypes.c_ulong(0), 0)  # mbind
    except OSError as error:
        if error.errno == errno.EINVAL:
            return
        raise
    raise OSError("nothing is done")


def gives_a_socket_options_of_ipv6() -> None:
    """IPV6_2292PKTOPTIONS: up to 64 KiB for each socket, of any content."""
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as line:
        line.setsockopt(socket.IPPROTO_IPV6, 6, struct.pack("=Qii", 60_000, 1000, 1) + bytes(60_000 - 16))


def holds_datagrams_back() -> None:
    """Each UDP socket keeps up to 64 KiB, which are not counted before they are sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.sendto(bytes(60_000), 0x8000, ("127.0.0.1", 9))  # MSG_MORE


def holds_datagrams_back_by_an_option() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.setsockopt(socket.IPPROTO_UDP, 1, 1)  # UDP_CORK


def fills_a_queue_of_errors() -> None:
    """With all that was sent and did not arrive, up to the size of the buffer for receiving."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.setsockopt(socket.IPPROTO_IP, 11, 1)  # IP_RECVERR
        line.sendto(b"x", ("127.0.0.1", 9))  # nobody is there
        line.recvmsg(1, 1024, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)


def takes_pages_from_a_socket() -> None:
    """One byte in a pipe keeps all that lies beside it, 32 KiB, after the socket has given them up."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as sender:
        taker, _ = server.accept()
        out, into = os.pipe()
        with taker:
            sender.send(b"x")
            os.splice(taker.fileno(), into, 1)
        os.close(out)
        os.close(into)


def gives_a_file_an_access_list() -> None:
    """Up to 64 KiB for each file in memory, and twice that for a folder. On a memfd, as where the file system of the
    folder for temporary files has none."""
    users = [(2, 7, os.getuid())] * 100
    entries = [(1, 7, -1), *users, (4, 7, -1), (16, 7, -1), (32, 7, -1)]
    found = struct.pack("=I", 2) + b"".join(struct.pack("=HHi", *entry) for entry in entries)
    os.setxattr(os.memfd_create("listed"), "system.posix_acl_access", found)


def filter_program() -> tuple[bytes, Any]:
    """A filter that lets everything through, and what must live as long as it is used."""
    code = ctypes.create_string_buffer(struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000))
    return struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)), code


def gives_a_socket_a_filter() -> None:
    program, _code = filter_program()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.setsockopt(socket.SOL_SOCKET, 26, program)  # SO_ATTACH_FILTER


def filters_its_own_calls() -> None:
    """The code of a thousand of these is all that this machine has room for, and other bots cannot start."""
    program, _code = filter_program()
    pointer = ctypes.create_string_buffer(program)
    call("prctl", 38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    call("prctl", 22, 2, ctypes.c_ulong(ctypes.addressof(pointer)), 0, 0)  # PR_SET_SECCOMP


def makes_a_pair_of_a_rare_family() -> None:
    """The kernel makes the two, for which it may load a module, before it says that they cannot be a pair."""
    try:
        socket.socketpair(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    except OSError as error:
        if error.errno != errno.EOPNOTSUPP:
            raise


def asks_for_huge_pages() -> None:
    try:
        mmap.mmap(-1, 1 << 21, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000).close()
    except OSError as error:
        if error.errno != errno.ENOMEM:  # there are none now; an organiser may have made some
            raise


def reaches_the_disk() -> None:
    """Whether it is asked at all to write what it has, of a file that is none."""
    try:
        call("fsync", -1)
    except OSError as error:
        if error.errno == errno.EBADF:
            return
        raise
    raise OSError("nothing is done")


def drops_pages() -> None:
    """Whether MADV_PAGEOUT is looked at, for an address where no page begins."""
    try:
        call("madvise", ctypes.c_void_p(1), ctypes.c_size_t(1), 21)
    except OSError as error:
        if error.errno == errno.EINVAL:
            return
        raise
    raise OSError("nothing is done")


def sets_a_timer_file() -> None:
    """When it expires, the kernel calls back each epoll that watches it, in an interrupt."""
    timer = call("timerfd_create", 1, os.O_CLOEXEC | os.O_NONBLOCK)
    call("timerfd_settime", timer, 0, struct.pack("4q", 0, 0, 3600, 0), None)
    left = ctypes.create_string_buffer(32)
    call("timerfd_gettime", timer, left)
    os.close(timer)
    if left.raw == bytes(32):
        raise OSError("nothing is done")


def makes_a_timer() -> None:
    """When it expires, the kernel looks in an interrupt at each thread that may take the signal."""
    timer = ctypes.c_int()
    call("syscall", 222 if os.uname().machine == "x86_64" else 107, 1, None, ctypes.byref(timer))


def has_its_connections_looked_after() -> None:
    """By the kernel, in interrupts, as often as each connection says: at most once a second."""
    with socket.socket() as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)
        if line.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL) != 1:
            raise OSError("nothing is done")


def wakes_a_reader_for_nothing() -> None:
    """With a byte out of band, of which who reads gets to know nothing."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.send(b"x", socket.MSG_OOB)


def chooses_the_signal_of_a_file() -> None:
    """Such as SIGCONT, for when a connection times out: so it goes on after it was stopped."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        fcntl.fcntl(ours, fcntl.F_SETSIG, signal.SIGCONT)


def knows_which_names_were_looked_up() -> None:
    """By any process of this machine, at any time: openat2(2) with RESOLVE_CACHED asks no file system."""
    path = b"/usr/nobody-%d" % time.time_ns()
    how = struct.pack("=3Q", os.O_PATH, 0, 0x20)

    def look() -> int:
        try:
            return call("syscall", 437, -100, path, how, ctypes.c_size_t(len(how)))
        except OSError as error:
            return error.errno or 0

    before = look()
    Path(os.fsdecode(path)).exists()
    if (before, look()) != (errno.EAGAIN, errno.ENOENT):
        raise OSError("it is not told")


def has_a_line_printed_again() -> None:
    """By a thread of the kernel, in no group of ours, each time a byte of this program asks for it."""
    main, side = os.openpty()
    settings = termios.tcgetattr(side)
    settings[3] |= termios.ICANON | termios.ECHO | termios.IEXTEN
    termios.tcsetattr(side, termios.TCSANOW, settings)
    os.write(main, b"abc\x12")
    seen = b""
    while not seen.endswith(b"\nabc"):
        seen += os.read(main, 100)


def changes_a_terminal() -> None:
    """Its line discipline, for which the kernel may load a module; here the usual one."""
    for file in os.openpty():
        fcntl.ioctl(file, 0x5423, struct.pack("i", 0))  # TIOCSETD


def starts_the_machines_program_for_core_files() -> None:
    """At a limit of 0 the kernel starts it, as root and in nobody's limits; at 1 it does not."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if resource.getrlimit(resource.RLIMIT_CORE) != (0, 0):
        raise OSError("nothing is done")


def reads_through_a_root(path: str, secret: str) -> None:
    """That of any process it sees: one of them might still have the machine's."""
    trouble = OSError("no root leads there")
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                reads(f"{place}/root{path}", secret)
            except OSError as error:
                trouble = error
            else:
                return
    raise trouble


def reads_of_any(name: str, secret: str) -> None:
    """Of any process it sees: its own sandbox is one."""
    trouble = OSError("no process tells it")
    for place in Path("/proc").iterdir():
        if place.name.isdigit() and int(place.name) != os.getpid():
            try:
                reads(f"{place}/{name}", secret)
            except OSError as error:
                trouble = error
            else:
                return
    raise trouble


def replaces(path: Path) -> None:
    """The next bot would talk to this one."""
    own = path.with_name("mine.sock")
    with socket.socket(socket.AF_UNIX) as mine:
        mine.bind(str(own))
        own.rename(path)


def leaves_a_file(folder: str) -> None:
    """Whoever owns the folder, or is root, may do so though it is read-only; on a mount that is, nobody may."""
    Path(folder).chmod(0o755)
    path = Path(folder) / "left-behind"
    path.write_text("x")
    path.unlink()


ATTEMPTS: dict[str, Callable[[], Any]] = {
    "read the database": lambda: reads(TARGETS["database"], TARGETS["secret"]),
    "read another bot": lambda: reads(TARGETS["other_bot"], TARGETS["secret"]),
    "read a live record": lambda: reads(TARGETS["record"], TARGETS["secret"]),
    "read the seed": lambda: reads(TARGETS["seed"], TARGETS["secret"]),
    "read the secret of the luck": lambda: reads(TARGETS["luck"], TARGETS["secret"]),
    "read the seed in its own folder": lambda: reads("cup.toml", TARGETS["secret"]),
    "read the PATH of the referee": lambda: reads_of_any("environ", TARGETS["own_path"]),
    "read where what is hidden lies": lambda: reads_of_any("cmdline", TARGETS["hidden"]),
    "read the host's /tmp": lambda: reads(TARGETS["host_tmp"], TARGETS["secret"]),
    "read the referee's environment": lambda: reads(f"/proc/{TARGETS['referee']}/environ", TARGETS["secret"]),
    "see the referee's process": lambda: reads(f"/proc/{TARGETS['referee']}/cmdline", "stand-in"),
    "signal the referee": lambda: os.kill(TARGETS["referee"], signal.SIGCONT),
    "signal the guardian": signals_a_guardian,
    "trace the referee": lambda: in_a_child(lambda: traces(TARGETS["referee"])),
    "hold a process by a descriptor": holds_a_process,
    "take a descriptor of another process": lambda: in_a_child(takes_a_descriptor_of_another_process),
    "connect over the network": lambda: socket.create_connection(("127.0.0.1", TARGETS["port"]), 5).close(),
    "connect to an abstract socket": lambda: socket.socket(socket.AF_UNIX).connect("\0" + TARGETS["abstract"]),
    "remove the referee's socket": lambda: Path(TARGETS["socket"]).unlink(),
    "write its own folder": lambda: leaves_a_file("."),
    "write to the host's disk": lambda: Path(TARGETS["home"], "escaped").write_text("x"),
    "make a user namespace": lambda: in_a_child(lambda: call("unshare", CLONE_NEWUSER)),
    "use the kernel's keyring": lambda: in_a_child(opens_a_key),
    "write a kernel setting": writes_a_setting,
    "remember an earlier match": remembers,
    "see a bot that plays beside it": lambda: reads(f"/proc/{TARGETS['playing']}/cmdline", "bot.py"),
    "read the token of a bot that plays beside it": lambda: reads(
        f"/proc/{TARGETS['playing']}/environ", TARGETS["token"]
    ),
    "signal a bot that plays beside it": lambda: os.kill(TARGETS["playing"], signal.SIGCONT),
    "read what the referee has open": lambda: reads_a_descriptor(TARGETS["referee"], TARGETS["secret"]),
    "read through another's root": lambda: reads_through_a_root(TARGETS["record"], TARGETS["secret"]),
    "follow a link of its own": lambda: reads_through_a_link(TARGETS["record"], TARGETS["secret"]),
    "read the cache of builds": lambda: reads(TARGETS["built"], TARGETS["secret"]),
    "change the rights of the socket's folder": lambda: Path(TARGETS["socket"]).parent.chmod(0o711),
    "replace the referee's socket": lambda: replaces(Path(TARGETS["socket"])),
    "write to a control group": writes_to_a_control_group,
    "keep memory that no group counts": fills_a_netlink_socket,
    "keep keys of TCP that no group counts": gives_a_socket_keys_of_tcp,
    "join groups that no group counts": joins_a_group,
    "keep filters of sockets that no group counts": gives_a_socket_a_filter,
    "keep policies of memory that no group counts": gives_memory_a_policy,
    "keep options of IPv6 that no group counts": gives_a_socket_options_of_ipv6,
    "keep datagrams that no group counts": holds_datagrams_back,
    "keep datagrams by an option that no group counts": holds_datagrams_back_by_an_option,
    "keep errors that no group counts": fills_a_queue_of_errors,
    "keep pages of a socket that no group counts": takes_pages_from_a_socket,
    "keep access lists of files that no group counts": gives_a_file_an_access_list,
    "use up the machine's room for filters": lambda: in_a_child(filters_its_own_calls),
    "open a socket of a rare protocol": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).close(),
    "make sockets of a rare family as a pair": makes_a_pair_of_a_rare_family,
    "use up huge pages": asks_for_huge_pages,
    "make the disk empty its cache": reaches_the_disk,
    "drop a page from memory by advice": drops_pages,
    "set a timer file": sets_a_timer_file,
    "make a timer": makes_a_timer,
    "have its connections looked after": has_its_connections_looked_after,
    "wake a reader for nothing": wakes_a_reader_for_nothing,
    "choose the signal of a file": chooses_the_signal_of_a_file,
    "know which names were looked up": knows_which_names_were_looked_up,
    "have a line printed again on a terminal": has_a_line_printed_again,
    "change the discipline of a terminal": changes_a_terminal,
    "start the machine's program for core files": starts_the_machines_program_for_core_files,
    "change when the kernel takes it": lambda: writes_back(Path("/proc/self/oom_score_adj")),
}


def main() -> None:
    outcome = {}
    for name, attempt in ATTEMPTS.items():
        try:
            attempt()
        except Exception as error:
            outcome[name] = f"{type(error).__name__}: {error}"
        else:
            outcome[name] = "done"
    print(json.dumps(outcome), flush=True)


main()
