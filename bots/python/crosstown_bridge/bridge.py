"""The bot between the referee and the program."""

from __future__ import annotations

import argparse
import asyncio
import time
from typing import TYPE_CHECKING, Any

from crosstown_bot import Bot, Match, ProviderError, Result, Turn, run

from crosstown_bridge.child import SILENCE_SHARE, Child, ChildGone, say
from crosstown_bridge.gtp import GtpBot
from crosstown_bridge.lines import NO_INDEX, BadAnswer, JsonLines, TextLines, before_the_question
from crosstown_bridge.terminal import Terminal
from crosstown_bridge.uci import UciBot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_TOLD = 5
"""Different bad answers to one question that are shown."""

LATE_S = 5.0
"""After its end the time for an answer is over by the referee's clock, too, also on a busy machine, whose delays the
referee adds to it. Shorter than a bot has to get ready for its next match."""


class Bridge(Bot):
    """Passes every question on and every answer back, in order."""

    name = "bridge"
    wants_text = True
    prints_stacks = False

    def __init__(self, options: Mapping[str, Any], child: Child | Terminal, lines: JsonLines | TextLines) -> None:
        super().__init__(options)
        self._child = child
        self._lines = lines

    def start(self, match: Match) -> None:
        self._child.listen()
        self._child.tell(self._lines.start(match))

    def end(self, result: Result) -> None:
        self._child.tell(self._lines.end(result))

    async def choose(self, turn: Turn) -> Any:
        """Asks until there is an answer or time is up. Ends the process, with the reason, if none can come: that loses
        the match."""
        question = _Question(turn, time.monotonic() + turn.left_s)
        try:
            self._refuse_surplus(question)
            self._child.tell(self._lines.question(turn))
            while True:
                line = await self._line(question)
                try:
                    answer = self._lines.answer(line, turn)
                except BadAnswer as problem:
                    if not isinstance(self._lines, TextLines):
                        raise
                    question.complain(str(problem))
                    if question.left_s() <= 0:
                        return await _give_up(question)
                    self._child.tell(self._lines.again(problem, turn, question.left_s()))
                else:
                    if answer.problem:
                        say(f"{question.name}: {answer.problem}")
                    turn.note, turn.usage = answer.note, answer.usage
                    if answer.provider_error:
                        raise ProviderError(answer.provider_error)
                    return answer.choice
        except (BadAnswer, ChildGone) as problem:
            raise SystemExit(f"bridge: {question.name}: {problem}") from None

    def _refuse_surplus(self, question: _Question) -> None:
        """A line from before the question is not an answer to it: taken as one, every answer would be one question old.
        BadAnswer in JSON mode; in text mode, where people and models type, it is reported and dropped."""
        for line in self._child.surplus():
            problem = before_the_question(line)
            if not isinstance(self._lines, TextLines):
                raise BadAnswer(problem)
            say(f"{question.name}: {problem}; it was dropped")

    async def _line(self, question: _Question) -> str:
        waiting = asyncio.ensure_future(self._child.line())
        if not question.bad_answers:  # who has answered, if badly, reads and flushes
            done, _ = await asyncio.wait({waiting}, timeout=max(SILENCE_SHARE * question.left_s(), 0))
            if not done:
                say(f"{question.name}, no answer yet: {self._child.silence()}")
        return await waiting


class _Question:
    """One question on its way to an answer, and what was reported to its author about it."""

    def __init__(self, turn: Turn, deadline_s: float) -> None:
        self.name = f"decision {turn.number} of match {turn.match.id}"
        self.bad_answers = 0
        self._deadline_s = deadline_s
        self._told: set[str] = set()

    def left_s(self) -> float:
        return self._deadline_s - time.monotonic()

    def complain(self, problem: str) -> None:
        """Each bad answer once, and not more than a few: the referee keeps only so much of what is printed."""
        self.bad_answers += 1
        if problem in self._told or len(self._told) > MOST_TOLD:
            return
        self._told.add(problem)
        if len(self._told) > MOST_TOLD:
            say(f"{self.name}: more bad answers came, which are not shown")
        else:
            say(f"{self.name}: {problem}")


async def _give_up(question: _Question) -> int:
    """Time is up, and every answer was bad: the referee decides, and it is not asked to judge one more bad answer. This
    one comes too late by far; it tells a referee that waits for it (a match was cancelled) that the bot is free."""
    say(f"{question.name}: time is up; bad answers: {question.bad_answers}, good ones: none")
    await asyncio.sleep(LATE_S)
    return NO_INDEX


ENGINES = {"uci": UciBot, "gtp": GtpBot}
"""First words that say what an engine speaks. A program with such a name is given as ./uci."""


def play_with_engine(protocol: str, words: Sequence[str]) -> int:
    """Play with the engine in `words`; the exit code."""
    parser = argparse.ArgumentParser(prog=f"crosstown bridge {protocol}", description=ENGINES[protocol].__doc__)
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="the engine and its arguments, after --")
    given = parser.parse_args(words)
    try:
        child = Child(given.command)
    except ChildGone as problem:
        say(str(problem))
        return 1
    try:
        run(lambda options: ENGINES[protocol](options, child))
    finally:
        child.close()
    return 0


def main(words: Sequence[str]) -> int:
    """Play with the COMMAND in `words`; the exit code."""
    if words and words[0] in ENGINES:
        return play_with_engine(words[0], words[1:])
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
