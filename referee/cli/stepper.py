"""Steps through a match with single keys, on a terminal."""

import os
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from referee.cli.match_pages import Frame, Match

CLEAR = "\x1b[H\x1b[2J"
HELP = "n next  p previous  j N jump  g start  e end  q quit"
_NEXT = ("n", " ", "\r", "\n", "\x1b[C", "\x1b[B")
_PREVIOUS = ("p", "b", "\x7f", "\x1b[D", "\x1b[A")


def step_through(match: Match) -> None:
    """Until `q`, Ctrl-C or the end of input."""
    frames = list(match.frames())
    with _single_keys() as key:
        _loop(match, frames, key)


def _loop(match: Match, frames: list[Frame], key: Callable[[], str]) -> None:
    at, last = 0, len(frames) - 1
    while True:
        _show(match, frames, at)
        pressed = key()
        if pressed in ("q", "Q", "\x03", "\x04", ""):
            return
        if pressed in _NEXT:
            at = min(at + 1, last)
        elif pressed in _PREVIOUS:
            at = max(at - 1, 0)
        elif pressed == "g":
            at = 0
        elif pressed in ("e", "G"):
            at = last
        elif pressed == "j":
            at = min(_number(key) or 0, last)


def _show(match: Match, frames: list[Frame], at: int) -> None:
    frame, last = frames[at], len(frames) - 1
    lines = [*match.head(), "", f"step {at} of {last}", *frame.happened, frame.board, ""]
    if at == last:
        lines += [*match.foot(), ""]
    sys.stdout.write(CLEAR + "\r\n".join("\n".join(lines).split("\n")) + "\r\n" + HELP + "\r\n")
    sys.stdout.flush()


def _number(key: Callable[[], str]) -> int | None:
    """Digits up to anything else."""
    sys.stdout.write("jump to step: ")
    sys.stdout.flush()
    digits = ""
    while (pressed := key()).isdecimal():
        digits += pressed
        sys.stdout.write(pressed)
        sys.stdout.flush()
    return int(digits) if digits else None


@contextmanager
def _single_keys() -> Iterator[Callable[[], str]]:
    """Keys as they are pressed; the terminal is put back in any case."""
    file = sys.stdin.fileno()
    before = termios.tcgetattr(file)

    def key() -> str:
        return os.read(file, 8).decode("ascii", "replace")  # an arrow key comes as three bytes at once

    try:
        tty.setraw(file)
        yield key
    finally:
        termios.tcsetattr(file, termios.TCSADRAIN, before)
