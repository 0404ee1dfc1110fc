"""Steps through a match with single keys, on a terminal; it can also play by itself."""

import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from referee.cli.match_pages import Frame, Match
from referee.cli.output import fold
from referee.record import Record
from referee.record.store import is_live

CLEAR = "\x1b[H\x1b[2J"
HELP = "n next  p previous  j N jump  f next fault  v view  a play  + - faster, slower  g start  e end  q quit"
PACES_S = (4.0, 2.0, 1.0, 0.5, 0.2, 0.1)
"""Seconds per step when it plays by itself, from slow to fast."""

_NEXT = ("n", " ", "\r", "\n", "\x1b[C", "\x1b[B")
_PREVIOUS = ("p", "b", "\x7f", "\x1b[D", "\x1b[A")
_QUIT = ("q", "Q", "\x03", "\x04", "")

Key: TypeAlias = Callable[[float | None], str | None]
"""The next key that is pressed within so many seconds, None if there is none; '' at the end of input."""


def step_through(record: Record, seat: int | None, *, playing: bool = False, reveal: bool = False) -> None:
    """Until `q`, Ctrl-C or the end of input. UsageError if there is no such seat, or no view of it yet: see `Match`."""
    stepper = Stepper(record, seat, playing=playing, reveal=reveal)
    with _single_keys() as key:
        stepper.run(key, sys.stdout.write, sys.stdout.flush)


@dataclass(slots=True)
class _View:
    """What one viewer sees of the match."""

    match: Match
    frames: list[Frame] = field(default_factory=list)


class Stepper:
    """Where somebody is in a match, and whose view it is."""

    def __init__(self, record: Record, seat: int | None, *, playing: bool = False, reveal: bool = False) -> None:
        self._record = record
        self._reveal = reveal
        self._seats = (None,) if is_live(record.path) and not reveal else (None, *range(record.header.players))
        self._views: dict[int | None, _View] = {}
        self._seat = seat
        self._at = 0
        self._pace = PACES_S.index(1.0)
        self._playing = playing
        self._look(seat)

    def run(self, key: Key, write: Callable[[str], object], flush: Callable[[], object]) -> None:
        while True:
            write(self._screen())
            flush()
            pressed = key(PACES_S[self._pace] if self._playing else None)
            if pressed is None:
                self._at += 1
            elif pressed in _QUIT:
                return
            elif pressed == "j":
                write("jump to step: ")
                flush()
                self._at = _number(key, write, flush) or 0
                self._playing = False
            else:
                self._obey(pressed)
            self._at = min(max(self._at, 0), self._last)
            self._playing = self._playing and self._at < self._last

    @property
    def _frames(self) -> list[Frame]:
        return self._views[self._seat].frames

    @property
    def _last(self) -> int:
        return len(self._frames) - 1

    def _obey(self, pressed: str) -> None:
        targets = {"g": 0, "e": self._last, "G": self._last, "f": self._next_fault()}
        targets |= dict.fromkeys(_NEXT, self._at + 1) | dict.fromkeys(_PREVIOUS, self._at - 1)
        if pressed in targets:
            self._at = targets[pressed]
            self._playing = False
        elif pressed == "a":
            self._playing = not self._playing
            if self._playing and self._at == self._last:
                self._at = 0
        elif pressed == "v":
            self._look(self._seats[(self._seats.index(self._seat) + 1) % len(self._seats)])
        elif pressed in ("+", "-"):
            self._pace = min(max(self._pace + (1 if pressed == "+" else -1), 0), len(PACES_S) - 1)

    def _next_fault(self) -> int:
        """Where it is if there is none further on."""
        return next((at for at in range(self._at + 1, self._last + 1) if self._frames[at].fault), self._at)

    def _look(self, seat: int | None) -> None:
        if seat not in self._views:
            match = Match(self._record, seat, reveal=self._reveal)
            self._views[seat] = _View(match, list(match.frames()))
        self._seat = seat

    def _screen(self) -> str:
        match, frame = self._views[self._seat].match, self._frames[self._at]
        view = "everybody" if self._seat is None else f"seat {self._seat + 1}"
        pace = f", playing, {1 / PACES_S[self._pace]:g} steps/s" if self._playing else ""
        lines = [
            *_folded(match.head()),
            "",
            f"step {self._at} of {self._last}{'' if self._at else ' (the start)'}, view of {view}{pace}",
        ]
        lines += [*_folded(frame.happened), frame.board, ""]
        if self._at == self._last:
            lines += [*_folded(match.foot()), ""]
        return CLEAR + "\r\n".join("\n".join(lines).split("\n")) + "\r\n" + HELP + "\r\n"


def _folded(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield from fold(line)


def _number(key: Key, write: Callable[[str], object], flush: Callable[[], object]) -> int | None:
    """Digits up to anything else."""
    digits = ""
    while (pressed := key(None)) and pressed.isdecimal():
        digits += pressed
        write(pressed)
        flush()
    return int(digits[:9]) if digits else None


@contextmanager
def _single_keys() -> Iterator[Key]:
    """Keys as they are pressed; the terminal is put back in any case."""
    file = sys.stdin.fileno()
    before = termios.tcgetattr(file)

    def key(limit_s: float | None) -> str | None:
        if not select.select([file], [], [], limit_s)[0]:
            return None
        return os.read(file, 8).decode("ascii", "replace")  # an arrow key comes as three bytes at once

    try:
        tty.setraw(file)
        yield key
    finally:
        termios.tcsetattr(file, termios.TCSADRAIN, before)
