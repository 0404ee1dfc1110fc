"""A person at a seat: the bridge's JSON lines on the one side, on the other what a page shows and chooses."""

import asyncio
import base64
import importlib
import json
import math
import os
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from crosstown_bridge.lines import NO_HURRY_S
from google.protobuf.json_format import ParseDict

from leaderboard.web.play_host import Question, Standpoint
from referee.games.api import Game

ANSWERS, QUESTIONS = "answers", "questions"
"""Named pipes in the bot's folder, which the bridge of this seat reads and writes."""

RUN = ("{python}", "-m", "crosstown_bridge", "--terminal", ANSWERS, QUESTIONS)
LATE_S = 1.0
"""After its end the time for an answer is over by the referee's clock, too, which has what the way takes in it."""

_READ_BYTES = 1 << 20
_LATE = "Your time was over: the referee continues without your answer."


class Person:
    """A `HumanSeat`. The loop that plays the match reads the pipe, the pages ask and answer from other threads."""

    def __init__(self, folder: Path, game: Game, match_id: str, seat: int, names: Sequence[str]) -> None:
        """Makes the pipes in `folder`. OSError."""
        self.match_id = match_id
        self.game = game.id
        self.seat = seat
        self.names = tuple(names)
        self.begun_at = datetime.now(UTC).isoformat(timespec="seconds")
        self.key = secrets.token_urlsafe(16)
        self.number = 0
        self._game = game
        self._asked: dict[str, Any] | None = None
        self._asked_at_s = 0.0
        self._question: Question | None = None
        self._events: list[Any] = []
        self._unread: list[dict[str, Any]] = []
        self._seen: Any = None
        self._notice = ""
        self.over = ""
        self.seen_s = time.monotonic()
        """When somebody last followed its page."""
        self._lock = threading.Lock()
        self._received = b""
        self._pipes: list[int] = []
        try:
            for name in (ANSWERS, QUESTIONS):
                os.mkfifo(folder / name, 0o600)
                # For reading and writing, so that neither end waits for the other, nor ends with it.
                self._pipes.append(os.open(folder / name, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC))
        except BaseException:
            self._close()
            raise

    @property
    def pipe(self) -> int:
        """What is to be read when there is something: call `take` then."""
        return self._pipes[1]

    def seen(self) -> None:
        self.seen_s = time.monotonic()

    def take(self) -> None:
        """Takes what the bridge has written. In the loop that plays the match, which also minds the person's clock."""
        try:
            self._received += os.read(self.pipe, _READ_BYTES)
        except BlockingIOError:
            return
        *lines, self._received = self._received.split(b"\n")
        for line in lines:
            said = json.loads(line)
            if said["type"] == "decide":
                self._ask(said)
            elif said["type"] == "match_end":
                with self._lock:
                    self._notice = "The match is over for you."
                    self.number += 1

    def _ask(self, said: dict[str, Any]) -> None:
        with self._lock:
            self._asked, self._question, self._notice = said, None, ""
            self._unread.append(said)
            self._asked_at_s = time.monotonic()
            self.number += 1
        if said["left_s"] < NO_HURRY_S:
            loop = asyncio.get_running_loop()
            loop.call_later(said["left_s"], self._expire, said)
            loop.call_later(said["left_s"] + LATE_S, self._release, said)

    def _expire(self, said: dict[str, Any]) -> None:
        with self._lock:
            if self._asked is said:
                self._asked = self._question = None
                self._notice = _LATE
                self.number += 1

    def _release(self, said: dict[str, Any]) -> None:
        """Nobody answered in time: the bridge waits for a line all the same, and hears nothing before it has one. The
        referee drops what it sends then."""
        with self._lock:
            if self._notice == _LATE and self._asked is None and not self.over:
                self._write({"index": 0})

    def now(self) -> Standpoint:
        with self._lock:
            codec = self._game.codec
            for said in self._unread:
                self._events += codec.decode_events(self._bytes("Events", said["events"]))
                self._seen = codec.decode_observation(self._bytes("Observation", said["observation"]))
            self._unread.clear()
            if self._asked is not None and self._question is None:
                self._question = self._decoded(self._asked)
            return Standpoint(self.number, self._timed(), tuple(self._events), self.over, self._notice, self._seen)

    def answer(self, decision: int, index: int | None) -> bool:
        with self._lock:
            asked = self._asked
            if asked is None or asked["decision"] != decision:
                return False
            if index is not None and not 0 <= index < asked["legal_count"]:
                return False
            if self._left_s(asked) <= 0 or not self._write({"resign": True} if index is None else {"index": index}):
                return False
            self._asked = self._question = None
            self.number += 1
            return True

    def end(self, how: str) -> None:
        """The match is over; closes the pipes."""
        with self._lock:
            self._asked = self._question = None
            self.over = how
            self.number += 1
            self._close()

    def _close(self) -> None:
        for pipe in self._pipes:
            os.close(pipe)
        self._pipes.clear()

    def _write(self, said: dict[str, Any]) -> bool:
        """False if the bridge does not read any more."""
        try:
            os.write(self._pipes[0], json.dumps(said).encode() + b"\n")
        except BlockingIOError:
            return False
        return True

    def _left_s(self, asked: dict[str, Any]) -> float:
        if asked["left_s"] >= NO_HURRY_S:
            return math.inf
        left_s: float = asked["left_s"] - (time.monotonic() - self._asked_at_s)
        return max(0.0, left_s)

    def _decoded(self, asked: dict[str, Any]) -> Question:
        codec = self._game.codec
        return Question(
            decision=asked["decision"],
            kind=asked["kind"],
            observation=codec.decode_observation(self._bytes("Observation", asked["observation"])),
            legal=codec.decode_actions(self._bytes("LegalActions", asked["legal_actions"])),
            left_s=None,
        )

    def _timed(self) -> Question | None:
        question, asked = self._question, self._asked
        if question is None or asked is None or math.isinf(left_s := self._left_s(asked)):
            return question
        return replace(question, left_s=left_s)

    def _bytes(self, name: str, shown: Any) -> bytes:
        """A message of the game from what the bridge shows of it: an object, or base64 where it cannot."""
        if isinstance(shown, str):
            return base64.b64decode(shown)
        make: Callable[[], Any] = getattr(importlib.import_module(f"crosstown_proto.v1.{self._game.id}_pb2"), name)
        data: bytes = ParseDict(shown, make()).SerializeToString()
        return data
