"""All matches of a run folder: from the database where it is up to date, from the records where it is not."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from operator import itemgetter
from pathlib import Path

from leaderboard.records import FileStamp, MatchRow, ReadMatch, match_id_of, read_match
from leaderboard.store import StoreError, read_rows
from referee.record.format import CLOSED_SUFFIX, LIVE_SUFFIX
from referee.record.journal import JOURNAL, Anchors, read_anchors

STRAGGLING = 1000
"""A match that as many later ones have overtaken was given up or cancelled, rather than is still being played."""


@dataclass(frozen=True, slots=True)
class Index:
    """`rows` are the rated matches by place; `unusable` what else lies there and does not count.

    `stale`: the database did not have exactly these rows. `settled`: the place of the first match without a result; of
    matches that more than `STRAGGLING` later ones have overtaken none is waited for.
    """

    rows: tuple[MatchRow, ...]
    unusable: tuple[ReadMatch, ...]
    stale: bool

    @property
    def settled(self) -> int:
        rows = self.rows
        gap = next((place for place, row in enumerate(rows) if row.place != place), len(rows))
        return max(gap, rows[-STRAGGLING].place) if len(rows) >= STRAGGLING else gap


def load_index(matches: Path, database: Path, known: Mapping[str, MatchRow] | None = None) -> Index:
    """What the records in the folder `matches` say. Reads only; never fails because of the database.

    The database only saves time: its row counts if the record's file is unchanged. A record that is read counts if it
    is the one that the journal beside the folder has a digest of, or if the journal has none of that match. `known` are
    rows of before, by match id, to be used instead.
    """
    if known is None:
        try:
            known = {row.match_id: row for row in read_rows(database)} if database.exists() else {}
        except StoreError:
            known = {}
    rows: list[MatchRow] = []
    unusable: list[ReadMatch] = []
    stale = False
    anchors: Anchors | None = None
    for match_id, stamp in listing(matches).items():
        row = known.get(match_id)
        if row is not None and row.stamp == stamp:
            rows.append(row)
            continue
        anchors = anchors or read_anchors(matches.with_name(JOURNAL))
        found = read_match(matches / stamp.name, anchors.digests.get(match_id, ""))
        if found.row is None:
            unusable.append(found)
        else:
            rows.append(found.row)
            stale = True
    rows.sort(key=lambda row: (row.place, row.match_id))
    return Index(tuple(rows), tuple(unusable), stale or len(known) != len(rows))


def listing(matches: Path) -> dict[str, FileStamp]:
    """The record of each match in the folder, by match id, sorted. The closed file wins over a live one beside it."""
    try:
        with os.scandir(matches) as entries:
            names = sorted(((entry.name, entry) for entry in entries), key=itemgetter(0))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    found: dict[str, FileStamp] = {}
    for name, entry in names:  # sorted: x.jsonl comes before x.jsonl.gz, which replaces it
        match_id = match_id_of(name)
        if match_id:
            try:
                found[match_id] = FileStamp.of(name, entry.stat())
            except OSError:  # gone since, or a broken link: reading it will tell
                found[match_id] = FileStamp(name, -1, -1)
    return found


def fingerprint(matches: Path, *more: object) -> str:
    """Of the records in the folder and whatever else a table is computed from: another one, if any file was added,
    taken or changed."""
    lines: list[str] = []
    try:
        with os.scandir(matches) as entries:
            for entry in entries:
                if entry.name.endswith((CLOSED_SUFFIX, LIVE_SUFFIX)):
                    stat = entry.stat(follow_symlinks=False)
                    lines.append(f"{entry.name} {stat.st_size} {stat.st_mtime_ns}")
    except OSError as error:  # no folder yet, or a file that is gone since
        lines.append(str(error))
    lines.sort()
    digest = blake2b(repr(more).encode(), digest_size=16, person=b"crosstown-list")
    digest.update("\n".join(lines).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
