"""Where runs and records are. Names that come in a URL are looked up or checked, never joined to a path as they are."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from referee.record.format import CLOSED_SUFFIX, LIVE_SUFFIX

_MATCH_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}")


@dataclass(frozen=True, slots=True)
class RunPlace:
    """One run folder: a folder with `matches` in it."""

    name: str
    path: Path

    @property
    def matches(self) -> Path:
        return self.path / "matches"

    @property
    def database(self) -> Path:
        return self.path / "crosstown.db"

    @property
    def journal(self) -> Path:
        return self.path / "tournament.jsonl"

    def changed(self) -> tuple[int, int, int]:
        """Another value when a record came or went, or something was decided. A live record that grows changes
        nothing."""
        return _mtime_ns(self.matches), _mtime_ns(self.journal), _size(self.journal)


def runs_in(folder: Path) -> list[RunPlace]:
    """All runs, the one that changed last first."""
    found = [RunPlace(path.name, path) for path in _folders(folder) if (path / "matches").is_dir()]
    return sorted(found, key=lambda run: (-max(run.changed()[:2]), run.name))


def find_match(run: RunPlace, match_id: str) -> Path | None:
    """The record of a match, also of one that was set aside. The closed file wins over a live one beside it."""
    if not _MATCH_ID.fullmatch(match_id):
        return None
    for folder in (run.matches, run.matches / "void"):
        for suffix in (CLOSED_SUFFIX, LIVE_SUFFIX):
            path = folder / f"{match_id}{suffix}"
            if path.is_file():
                return path
    return None


def _folders(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            found = [Path(entry.path) for entry in entries if entry.is_dir()]
    except OSError:
        return
    yield from found


def _mtime_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
