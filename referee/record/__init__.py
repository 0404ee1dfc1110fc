"""Match records: the file that says everything about a match.

Append-only JSON lines, each ending in a chained hash; plain while the match is live, compressed when it is closed.
Knows games, not matches or processes, so that leaderboards can read and verify without them.
"""

from referee.record.format import (
    FORMAT,
    Answer,
    Chance,
    Dropped,
    FaultLine,
    Footer,
    Header,
    RecordError,
    RecordExistsError,
    SeatHeader,
    SeatStats,
    Strike,
    Usage,
)
from referee.record.reader import Problem, Record, RecordFollower, read_record
from referee.record.verify import Verdict, verify, verify_record
from referee.record.writer import RecordWriter, close_record, keep_record

__all__ = [
    "FORMAT",
    "Answer",
    "Chance",
    "Dropped",
    "FaultLine",
    "Footer",
    "Header",
    "Problem",
    "Record",
    "RecordError",
    "RecordExistsError",
    "RecordFollower",
    "RecordWriter",
    "SeatHeader",
    "SeatStats",
    "Strike",
    "Usage",
    "Verdict",
    "close_record",
    "keep_record",
    "read_record",
    "verify",
    "verify_record",
]
