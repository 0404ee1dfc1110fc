"""All matches of a run folder: from the database where it is up to date, from the records where it is not."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from leaderboard.records import MatchRow, ReadMatch, read_match
from leaderboard.store import StoreError, read_rows
from referee.record.journal import Anchors, read_anchors
from referee.run.folder import RunFolder

STRAGGLING = 1000
"""A match that as many later ones have overtaken was given up or cancelled, rather than is still being played."""


@dataclass(frozen=True, slots=True)
class Index:
    """`rows` are the rated matches by place; `unusable` what else lies there and does not count.

    `stale`: the database did not have exactly these rows; `read` are those that it lacked. `settled`: the place of the
    first match without a result; of matches that more than `STRAGGLING` later ones have overtaken none is waited for.
    """

    rows: tuple[MatchRow, ...]
    unusable: tuple[ReadMatch, ...]
    stale: bool
    read: tuple[MatchRow, ...] = ()

    @property
    def settled(self) -> int:
        rows = self.rows
        gap = next((place for place, row in enumerate(rows) if row.place != place), len(rows))
        return max(gap, rows[-STRAGGLING].place) if len(rows) >= STRAGGLING else gap


def load_index(
    run: RunFolder,
    known: Mapping[str, MatchRow] | None = None,
    database: Path | None = None,
    *,
    check: Callable[[], None] = lambda: None,
) -> Index:
    """What the records of a run say. Reads only; never fails because of the database.

    The database (that of the run, or another one) only saves time: its row counts if the record's file is unchanged. A
    record that is read counts if it is the one that the journal has a digest of, or if the journal has none of that
    match. `known` are rows of before, by match id, to be used instead of the database. `check` is called before each
    record that is read; it may raise what shall end this.
    """
    database = database or run.database
    if known is None:
        try:
            known = {row.match_id: row for row in read_rows(database)} if database.exists() else {}
        except StoreError:
            known = {}
    rows: list[MatchRow] = []
    read: list[MatchRow] = []
    unusable: list[ReadMatch] = []
    anchors: Anchors | None = None
    for match_id, stamp in run.records.stamps().items():
        row = known.get(match_id)
        if row is not None and row.stamp == stamp:
            rows.append(row)
            continue
        check()
        anchors = anchors or read_anchors(run.journal)
        found = read_match(run.records.at(stamp), anchors.digests.get(match_id, ""))
        if found.row is None:
            unusable.append(found)
        else:
            rows.append(found.row)
            read.append(found.row)
    rows.sort(key=lambda row: (row.place, row.match_id))
    return Index(tuple(rows), tuple(unusable), bool(read) or len(known) != len(rows), tuple(read))
