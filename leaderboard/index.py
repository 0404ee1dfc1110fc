"""All matches of a run folder: from the database where it is up to date, from the records where it is not."""

from dataclasses import dataclass
from pathlib import Path

from leaderboard.records import FileStamp, MatchRow, ReadMatch, match_files, read_match
from leaderboard.store import StoreError, read_rows


@dataclass(frozen=True, slots=True)
class Index:
    """`rows` are the rated matches by place; `unusable` what else lies there and does not count.

    `stale`: the database did not have exactly these rows.
    """

    rows: tuple[MatchRow, ...]
    unusable: tuple[ReadMatch, ...]
    stale: bool


def load_index(matches: Path, database: Path) -> Index:
    """What the records in the folder `matches` say. Reads only; never fails because of the database.

    The database only saves time: its row counts if the record's file is unchanged.
    """
    try:
        known = {row.match_id: row for row in read_rows(database)} if database.exists() else {}
    except StoreError:
        known = {}
    rows: list[MatchRow] = []
    unusable: list[ReadMatch] = []
    stale = False
    files = match_files(matches)
    for match_id, path in files.items():
        row = known.get(match_id)
        if row is not None and row.stamp == _stamp(path):
            rows.append(row)
            continue
        found = read_match(path)
        if found.row is None:
            unusable.append(found)
        else:
            rows.append(found.row)
            stale = True
    rows.sort(key=lambda row: (row.place, row.match_id))
    return Index(tuple(rows), tuple(unusable), stale or len(known) != len(rows))


def _stamp(path: Path) -> FileStamp | None:
    try:
        return FileStamp.of(path.name, path.stat())
    except OSError:
        return None
