"""Small boards of the matches that are being played now, for the front page."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from leaderboard.frames import last_board
from leaderboard.titles import game_title
from leaderboard.web.watching import live_matches
from referee.record import Header, RecordError, read_record
from referee.run.folder import RunFolder

MOST = 4
STILL_S = 300.0
"""A match whose record has not grown for so long is not shown: its referee may have been killed."""


@dataclass(frozen=True, slots=True)
class LiveBoard:
    """The newest board of a match as a spectator sees it."""

    run: str
    match_id: str
    game: str
    names: Sequence[str]
    begun: str
    """UTC, ISO 8601."""
    board: Markup


class LiveBoards:
    """The boards of the matches whose records grew last. Each is drawn once for each state of its record."""

    def __init__(self) -> None:
        self._drawn: dict[Path, tuple[int, LiveBoard]] = {}

    def of(self, runs: Sequence[RunFolder], may_watch: Callable[[RunFolder, Header], bool]) -> list[LiveBoard]:
        """At most `MOST` of those that `may_watch` lets through, the newest first."""
        found: list[tuple[float, int, RunFolder, str, Path]] = []
        now_s = time.time()
        for run in runs:
            for match in live_matches(run):
                path = run.records.find(match.match_id)
                try:
                    stat = path.stat() if path else None
                except OSError:
                    continue  # the match has just ended
                if path and stat and now_s - stat.st_mtime < STILL_S and may_watch(run, match.header):
                    found.append((stat.st_mtime, stat.st_size, run, match.match_id, path))
        found.sort(key=lambda item: item[0], reverse=True)
        shown = found[:MOST]
        self._drawn = {path: kept for *_, path in shown if (kept := self._drawn.get(path))}
        boards = (self._board(run, match_id, path, size) for _, size, run, match_id, path in shown)
        return [board for board in boards if board]

    def _board(self, run: RunFolder, match_id: str, path: Path, size: int) -> LiveBoard | None:
        kept = self._drawn.get(path)
        if kept and kept[0] == size:
            return kept[1]
        try:
            record = read_record(path)
        except (RecordError, OSError):  # nothing is written yet, or the match has just ended
            return None
        drawn = Markup(last_board(record, None))  # noqa: S704 - escaped where it is drawn
        head = record.header
        board = LiveBoard(run.name, match_id, game_title(head.game), head.names, head.created_at, drawn)
        self._drawn[path] = size, board
        return board
