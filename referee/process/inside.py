"""What a guardian knows of a bot that runs behind bubblewrap."""

# Part of the guardian: few and cheap imports.
# ruff: noqa: PTH115
import _signal as signal  # type: ignore[import-not-found]
import os
import sys

from referee.process.processes import children, send

_GET_INFO = 0xC040FF0B
"""PIDFD_GET_INFO (Linux 6.13) for 64 bytes of struct pidfd_info. The first 8 say what is wanted, then what is there."""
_INFO_EXIT = 8
"""Wanted and there (Linux 6.15), the last 4 bytes are the status of a process that somebody, anybody, has reaped."""


class Inside:
    """What is behind bubblewrap: an init of its own, and below that the bot."""

    def __init__(self, info: int, status: int) -> None:
        self.files = (info, status)
        for file in self.files:
            os.set_blocking(file, False)
        self.told = [b"", b""]
        self.init = 0
        self.init_gone = False
        self.bot_file: int | None = None

    def find_bot(self) -> int | None:
        """The bot once its program runs."""
        self.listen()
        if self.init:
            try:
                ours = os.readlink(f"/proc/{self.init}/exe")
                for pid in children(self.init):
                    if self.bot_file is None:  # the first is to become the bot, and may be gone very soon
                        self.bot_file = open_process(pid)
                    if os.readlink(f"/proc/{pid}/exe") != ours:
                        return pid
            except OSError:
                return None
        return None

    def executed(self) -> bool:
        """Asked after the end: whether the program ever ran."""
        self.listen()
        return b'"exit-code"' in self.told[1]

    def how_it_ended(self, code: int) -> int:
        """Of what bubblewrap exited with: its exit code, or negative the signal that killed it.

        Bubblewrap tells a signal N as 128 + N, as shells do, and a program may exit with that number by itself. The
        kernel knows; if it does not tell (before Linux 6.15, or of a bot that was gone before it was seen), what can be
        a signal is taken for one.
        """
        if code <= 128:
            return code
        status = None if self.bot_file is None else exit_status(self.bot_file)
        if status is not None and (known := os.waitstatus_to_exitcode(status)) in (code, 128 - code):
            return known
        return 128 - code if code - 128 in signal.valid_signals() else code

    def kill(self) -> None:
        """Everything in the namespace ends with its init."""
        self.listen()
        if self.init and not self.init_gone:
            send(self.init, signal.SIGKILL)

    def listen(self) -> None:
        for place, file in enumerate(self.files):
            try:
                while chunk := os.read(file, 4096):
                    self.told[place] += chunk
            except BlockingIOError:
                continue
        if not self.init:
            digits = self.told[0].partition(b'"child-pid":')[2].split(b",")[0].split(b"}")[0].strip()
            self.init = int(digits) if digits.isdigit() and b"}" in self.told[0] else 0


def open_process(pid: int) -> int | None:
    """A file that stands for a process; None if it is gone, or before Linux 5.3."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def exit_status(file: int) -> int | None:
    """Of a process that is dead and was reaped by its parent; None if the kernel does not tell."""
    import fcntl

    info = bytearray(_INFO_EXIT.to_bytes(8, sys.byteorder) + bytes(56))
    try:
        fcntl.ioctl(file, _GET_INFO, info)
    except OSError:
        return None
    there = int.from_bytes(info[:8], sys.byteorder) & _INFO_EXIT
    return int.from_bytes(info[60:], sys.byteorder) if there else None
