"""What a guardian knows of a bot that runs behind bubblewrap."""

# Part of the guardian: few and cheap imports.
# ruff: noqa: PTH115
import _signal as signal  # type: ignore[import-not-found]
import os

from referee.process.processes import children, send


class Inside:
    """What is behind bubblewrap: an init of its own, and below that the bot."""

    def __init__(self, info: int, status: int) -> None:
        self.files = (info, status)
        for file in self.files:
            os.set_blocking(file, False)
        self.told = [b"", b""]
        self.init = 0
        self.init_gone = False

    def find_bot(self) -> int | None:
        """The bot once its program runs."""
        self.listen()
        if self.init:
            try:
                ours = os.readlink(f"/proc/{self.init}/exe")
                for pid in children(self.init):
                    if os.readlink(f"/proc/{pid}/exe") != ours:
                        return pid
            except OSError:
                return None
        return None

    def executed(self) -> bool:
        """Asked after the end: whether the program ever ran."""
        self.listen()
        return b'"exit-code"' in self.told[1]

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
