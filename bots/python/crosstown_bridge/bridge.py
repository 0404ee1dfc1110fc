"""The bot between the referee and the program."""

from __future__ import annotations

import argparse
import asyncio
import time
from typing import TYPE_CHECKING, Any

from crosstown_bot import Bot, Match, Result, Turn, run

from crosstown_bridge.child import Child, ChildGone, say
from crosstown_bridge.lines import BadAnswer, JsonLines, TextLines
from crosstown_bridge.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SILENCE_SHARE = 0.8
"""Of the time for an answer: then the author is told what the program's silence looks like."""


class Bridge(Bot):
    """Passes every question on and every answer back, in order."""

    name = "bridge"
    wants_text = True

    def __init__(self, options: Mapping[str, Any], child: Child | Terminal, lines: JsonLines | TextLines) -> None:
        super().__init__(options)
        self._child = child
        self._lines = lines

    def start(self, match: Match) -> None:
        self._child.tell(self._lines.start(match))

    def end(self, result: Result) -> None:
        self._child.tell(self._lines.end(result))

    async def choose(self, turn: Turn) -> Any:
        """Asks until there is an answer. Ends the process, with the reason, if none can come: that loses the match."""
        deadline_s = time.monotonic() + turn.left_s
        try:
            self._child.tell(self._lines.question(turn))
            while True:
                line = await self._line(turn, deadline_s)
                try:
                    answer = self._lines.answer(line, turn)
                except BadAnswer as problem:
                    if not isinstance(self._lines, TextLines):
                        raise
                    self._child.tell(self._lines.again(problem, turn, deadline_s - time.monotonic()))
                else:
                    turn.note = answer.note
                    return answer.choice
        except (BadAnswer, ChildGone) as problem:
            raise SystemExit(f"bridge: decision {turn.number} of match {turn.match.id}: {problem}") from None

    async def _line(self, turn: Turn, deadline_s: float) -> str:
        waiting = asyncio.ensure_future(self._child.line())
        patience_s = SILENCE_SHARE * (deadline_s - time.monotonic())
        done, _ = await asyncio.wait({waiting}, timeout=max(patience_s, 0))
        if not done:
            say(f"decision {turn.number} of match {turn.match.id}, no answer yet: {self._child.silence()}")
        return await waiting


def main(words: Sequence[str]) -> int:
    """Play with the COMMAND in `words`; the exit code."""
    parser = argparse.ArgumentParser(prog="crosstown bridge", description=__doc__)
    parser.add_argument("--text", action="store_true", help="text for people and language models instead of JSON")
    parser.add_argument(
        "--terminal", nargs=2, metavar=("IN", "OUT"), help="instead of COMMAND, a person: read and write these files"
    )
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="the program and its arguments, after --")
    given = parser.parse_args(words)
    if bool(given.command) == bool(given.terminal):
        parser.error("give a COMMAND after --, or --terminal")
    try:
        child = Terminal(*given.terminal) if given.terminal else Child(given.command)
    except ChildGone as problem:
        say(str(problem))
        return 1
    lines = TextLines() if given.text else JsonLines()
    try:
        run(lambda options: Bridge(options, child, lines))
    finally:
        child.close()
    return 0
