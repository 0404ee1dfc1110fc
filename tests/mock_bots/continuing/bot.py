"""Has a thread that goes on when the bot is stopped by signals, and prints `ready` once it runs.

The main thread waits for a child of vfork(2), which never gets as far as its program."""

import ctypes
import os
import signal
import tempfile
import threading

LIBC = ctypes.CDLL(None)


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


wait_in_vfork()
