"""Has a part that goes on when the bot is stopped by signals, and prints `ready` once it runs.

Where `way` is "vfork", it is a thread; the main thread waits for a child of vfork(2), which never gets as far as its
program. With "parent" and "group" it is a process that the kernel continues when its parent ends: because it has asked
for SIGCONT then, or because its group is orphaned."""

import ctypes
import json
import os
import signal
import tempfile
import threading

WAY = json.loads(os.environ["CROSSTOWN_OPTIONS"])["way"]
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


def work():
    # The kernel would hand the SIGCHLD of a stopped child to this thread, which would then see its own stop.
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    os.write(1, b"ready\n")
    while True:
        pass


def wait_in_vfork():
    """The child opens a pipe that nobody writes to."""
    fifo = tempfile.mkdtemp() + "/fifo"
    os.mkfifo(fifo)
    actions, pid = ctypes.create_string_buffer(1024), ctypes.c_int()
    LIBC.posix_spawn_file_actions_init(actions)
    LIBC.posix_spawn_file_actions_addopen(actions, 9, fifo.encode(), os.O_RDONLY, 0)
    threading.Thread(target=work).start()
    LIBC.posix_spawn(ctypes.byref(pid), b"/bin/true", actions, None, (ctypes.c_char_p * 2)(b"true"), None)


if WAY == "vfork":
    wait_in_vfork()
else:
    if os.getsid(0) != os.getpid():
        os.setsid()
    if os.fork() == 0:
        os.setpgid(0, 0)
        if os.fork() == 0:
            os.setpgid(0, 0)
            if WAY == "parent":
                LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGCONT)
            work()
    while True:
        signal.pause()
