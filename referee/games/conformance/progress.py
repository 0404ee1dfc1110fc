"""The progress file of a long run: one JSON line for the plan, one for each finished portion; only appended to."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from referee.games.api import Game
from referee.games.conformance.plan import Plan
from referee.games.conformance.source import code_hash, package_of
from referee.games.conformance.tally import Tally

FORMAT = 1


class ProgressError(Exception):
    """The file is of another run, or is no progress file. The message says which."""


class ProgressFile:
    """Opened for `plan`: `finished` holds the tallies of the portions that are done, by first match number.

    A portion in which something failed is not kept, so that a run after the repair plays it again.
    """

    def __init__(self, path: Path, plan: Plan, game: Game) -> None:
        self._path = path
        self.finished: dict[int, Tally] = {}
        header = {
            "format": FORMAT,
            "game": game.id,
            "rules_version": game.rules_version,
            "code": code_hash(package_of(game)),
            "kit": code_hash(__package__),
            "plan": json.loads(json.dumps(asdict(plan))),
        }
        try:
            lines, whole = self._whole_lines()
            if lines:
                self._check_header(lines[0], header)
                for line in lines[1:]:
                    self.finished[line["first"]] = Tally.from_json(line["tally"])
            with path.open("ab") as file:
                file.truncate(whole)
            if not lines:
                self._append(header)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ProgressError(f"{path}: not a progress file that can be used: {error}") from error

    def add(self, first: int, tally: Tally) -> None:
        """Keep a portion, durably."""
        self._append({"first": first, "tally": tally.to_json()})

    def _append(self, line: dict[str, Any]) -> None:
        with self._path.open("ab") as file:
            file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _whole_lines(self) -> tuple[list[dict[str, Any]], int]:
        """All lines that end in a newline, and how many bytes they are; a cut last line is dropped."""
        if not self._path.exists():
            return [], 0
        data = self._path.read_bytes()
        whole = data.rfind(b"\n") + 1
        lines = [json.loads(line) for line in data[:whole].splitlines()]
        if not all(isinstance(line, dict) for line in lines):
            raise ValueError("a line is no JSON object")
        return lines, whole

    def _check_header(self, found: dict[str, Any], expected: dict[str, Any]) -> None:
        """ProgressError naming what differs."""
        if found == expected:
            return
        differing = [name for name in expected if found.get(name) != expected[name]]
        meaning = {
            "code": "the game's files have changed since",
            "kit": "the conformance kit has changed since",
            "plan": "it is of a run with other numbers",
        }
        reasons = "; ".join(meaning.get(name, f"its {name} is {found.get(name)!r}") for name in differing)
        raise ProgressError(f"{self._path}: cannot go on with this file: {reasons}")
