"""What a runner at work does now, as it says in `status.json` in the run folder, for pages that show it.

Nothing depends on the file: what counts is in the journal and the records.
"""

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from referee.record.files import read_ordinary
from referee.run.folder import RunFolder
from referee.run.head import write_durably
from referee.run.lock import is_run

FRESH_S = 30.0
"""What was said longer ago is not said of now."""


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """A match in play."""

    match_id: str
    game: str
    names: tuple[str, ...]
    since_s: float
    """When it began, in seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Status:
    """`left_s` is how long the run takes on, with `error_s`, which is two standard deviations; None where that is not
    known. `at_most`: it may be less, depending on results. `machine` says in words what the machine does."""

    held: bool = False
    left_s: float | None = None
    error_s: float | None = None
    at_most: bool = False
    playing: tuple[PlayedMatch, ...] = ()
    machine: str = ""


def write_status(folder: RunFolder, status: Status) -> None:
    """Where that does not work, nothing is shown."""
    values = {
        "at_s": time.time(),
        "held": status.held,
        "left_s": status.left_s,
        "error_s": status.error_s,
        "at_most": status.at_most,
        "machine": status.machine,
        "playing": [
            {"match": one.match_id, "game": one.game, "names": list(one.names), "since_s": one.since_s}
            for one in status.playing
        ],
    }
    with suppress(OSError):
        write_durably(folder.path / "status.json", json.dumps(values, indent=1) + "\n")


def end_status(folder: RunFolder) -> None:
    """Nothing is played any more."""
    with suppress(OSError):
        (folder.path / "status.json").unlink()


def read_status(folder: RunFolder) -> Status | None:
    """What the runner at work said last; None without one, or where it has said nothing for long."""
    if not is_run(folder.lock):
        return None
    try:
        found = json.loads(read_ordinary(folder.path / "status.json"))
        if time.time() - float(found["at_s"]) > FRESH_S:
            return None
        return Status(
            bool(found["held"]),
            _number(found["left_s"]),
            _number(found["error_s"]),
            bool(found["at_most"]),
            tuple(map(_match, found["playing"])),
            str(found["machine"]),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _number(value: object) -> float | None:
    return None if value is None else float(value)  # type: ignore[arg-type]  # TypeError for what is none


def _match(values: Mapping[str, Any]) -> PlayedMatch:
    return PlayedMatch(
        str(values["match"]), str(values["game"]), tuple(map(str, values["names"])), float(values["since_s"])
    )
