"""Shows a match in the terminal while it is played, from its growing record."""

import threading
from collections.abc import Iterator
from pathlib import Path

from referee.cli.match_pages import Match, print_frame
from referee.cli.output import print_text
from referee.record.format import Line
from referee.record.reader import NotARecordError, RecordFollower

LOOK_S = 0.1


def watch_record(path: Path, over: threading.Event) -> None:
    """Prints each step as it comes, until the match is `over` and its record read to the end.

    The record is played again once, along with its growing: a look costs what has come since the one before.
    """
    follower = RecordFollower(path)
    lines = _coming(follower, over)
    first = next(lines, None)  # by then there is a header
    try:
        match = Match(follower.record, reveal=True)  # who watches has started the bots
    except NotARecordError:
        return  # nothing of it was ever written
    for number, frame in enumerate(match.frames(_put_back(first, lines))):
        print_frame(number, frame)
        print_text()


def _coming(follower: RecordFollower, over: threading.Event) -> Iterator[Line]:
    while True:
        last = over.is_set()
        yield from follower.poll()
        if last:
            return
        over.wait(LOOK_S)


def _put_back(first: Line | None, lines: Iterator[Line]) -> Iterator[Line]:
    if first is not None:
        yield first
    yield from lines
