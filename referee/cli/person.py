"""A person at a seat: the bridge's JSON lines on the one side, on the other what a page shows and chooses."""

import base64
import importlib
import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from google.protobuf.json_format import ParseDict

from leaderboard.web.host import Question, Standpoint
from referee.games.api import Game

ANSWERS, QUESTIONS = "answers", "questions"
"""Named pipes in the bot's folder, which the bridge of this seat reads and writes."""

RUN = ("{python}", "-m", "crosstown_bridge", "--terminal", ANSWERS, QUESTIONS)
NO_HURRY_S = 3600.0
"""A limit from here on is none to a person."""

_READ_BYTES = 1 << 20


class Person:
    """A `HumanSeat`. The loop that plays the match reads the pipe, the pages ask and answer from other threads."""

    def __init__(self, folder: Path, game: Game, match_id: str, seat: int, names: Sequence[str]) -> None:
        """Makes the pipes in `folder`. OSError."""
        self.match_id = match_id
        self.game = game.id
        self.seat = seat
        self.names = tuple(names)
        self.key = secrets.token_urlsafe(16)
        self.number = 0
        self._game = game
        self._asked: dict[str, Any] | None = None
        self._asked_at_s = 0.0
        self._question: Question | None = None
        self._events: list[Any] = []
        self._over = ""
        self._lock = threading.Lock()
        self._received = b""
        self._pipes: list[int] = []
        for name in (ANSWERS, QUESTIONS):
            os.mkfifo(folder / name, 0o600)
            # For reading and writing, so that neither end waits for the other, nor ends with it.
            self._pipes.append(os.open(folder / name, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC))

    @property
    def pipe(self) -> int:
        """What is to be read when there is something: call `take` then."""
        return self._pipes[1]

    def take(self) -> None:
        """Takes what the bridge has written."""
        try:
            self._received += os.read(self.pipe, _READ_BYTES)
        except BlockingIOError:
            return
        *lines, self._received = self._received.split(b"\n")
        for line in lines:
            said = json.loads(line)
            if said["type"] == "decide":
                with self._lock:
                    self._asked, self._question = said, None
                    self._asked_at_s = time.monotonic()
                    self.number += 1

    def now(self) -> Standpoint:
        with self._lock:
            if self._asked is not None and self._question is None:
                self._question = self._decoded(self._asked)
            return Standpoint(self.number, self._timed(), tuple(self._events), self._over)

    def answer(self, decision: int, index: int | None) -> bool:
        with self._lock:
            asked = self._asked
            if asked is None or asked["decision"] != decision:
                return False
            if index is not None and not 0 <= index < asked["legal_count"]:
                return False
            said = {"resign": True} if index is None else {"index": index}
            os.write(self._pipes[0], json.dumps(said).encode() + b"\n")
            self._asked = self._question = None
            self.number += 1
            return True

    def end(self, how: str) -> None:
        """The match is over; closes the pipes."""
        with self._lock:
            self._asked = self._question = None
            self._over = how
            self.number += 1
            for pipe in self._pipes:
                os.close(pipe)

    def _decoded(self, asked: dict[str, Any]) -> Question:
        codec = self._game.codec
        self._events += codec.decode_events(self._bytes("Events", asked["events"]))
        return Question(
            decision=asked["decision"],
            kind=asked["kind"],
            observation=codec.decode_observation(self._bytes("Observation", asked["observation"])),
            legal=codec.decode_actions(self._bytes("LegalActions", asked["legal_actions"])),
            left_s=None,
        )

    def _timed(self) -> Question | None:
        question, asked = self._question, self._asked
        if question is None or asked is None or asked["left_s"] >= NO_HURRY_S:
            return question
        left_s = max(0.0, asked["left_s"] - (time.monotonic() - self._asked_at_s))
        return Question(question.decision, question.kind, question.observation, question.legal, left_s)

    def _bytes(self, name: str, shown: Any) -> bytes:
        """A message of the game from what the bridge shows of it: an object, or base64 where it cannot."""
        if isinstance(shown, str):
            return base64.b64decode(shown)
        make: Callable[[], Any] = getattr(importlib.import_module(f"crosstown_proto.v1.{self._game.id}_pb2"), name)
        data: bytes = ParseDict(shown, make()).SerializeToString()
        return data
