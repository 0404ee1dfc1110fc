"""Writes into the journal which records count, by their digests (`referee.record.journal`).

A record is durable before its match counts. Its digest follows in the journal, together with those of other matches,
so that a match costs no further wait for the disk. A runner that is killed in between leaves records that the journal
does not have: they count when the run is taken up, and the journal says that they were found then.
"""

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from itertools import islice

from referee.errors import PlatformError
from referee.record.format import RecordError
from referee.record.journal import COUNTED, FOUND, LOST, UNCOUNTED
from referee.record.reader import read_record
from referee.record.store import why_aside
from referee.run.folder import RunFolder
from referee.run.journal import Journal

BATCH_MATCHES = 64
BATCH_S = 2.0
"""A line of digests is written when a match counts and there are so many, or the first has waited so long."""

HEAD_MATCHES = 512
"""The journal's head is written to its second place after so many matches, and whenever the run stops."""

_LINE_MATCHES = 1000


class AnchorKeeper:
    """The digests that a journal has, and those that are still to be written into it."""

    def __init__(
        self, journal: Journal, digests: Mapping[str, str], time_s: Callable[[], float] = time.monotonic
    ) -> None:
        """`digests`: of the records that count by the journal, by match id."""
        self._journal = journal
        self._digests = dict(digests)
        self._counted: dict[str, str] = {}
        self._found: dict[str, str] = {}
        self._uncounted: dict[str, str] = {}
        self._time_s = time_s
        self._since_s = time_s()
        self._without_head = 0

    @property
    def digests(self) -> Mapping[str, str]:
        """Of the records that count, by match id."""
        return self._digests

    def fits(self, match_id: str, digest: str) -> bool:
        """Whether a record may be the one that counted: the journal has its digest, or none of that match."""
        return self._digests.get(match_id, digest) == digest

    def counted(self, match_id: str, digest: str) -> None:
        """A match counts from here on. PlatformError."""
        if not self._counted:
            self._since_s = self._time_s()
        self._digests[match_id] = self._counted[match_id] = digest
        if len(self._counted) >= BATCH_MATCHES or self._time_s() - self._since_s >= BATCH_S:
            self.flush()

    def found(self, match_id: str, digest: str) -> None:
        """The record of a match that counts lay there when the run was taken up."""
        if match_id not in self._digests:
            self._digests[match_id] = self._found[match_id] = digest

    def uncounted(self, match_id: str, why: str) -> None:
        """A match does not count any more, if it did."""
        if self._digests.pop(match_id, None) is None:
            return
        if self._counted.pop(match_id, None) is None and self._found.pop(match_id, None) is None:
            self._uncounted[match_id] = why

    def flush(self) -> None:
        """Write what is not in the journal yet, and its head from time to time. PlatformError."""
        self._without_head += len(self._counted)
        for kind, waiting in ((UNCOUNTED, self._uncounted), (FOUND, self._found), (COUNTED, self._counted)):
            while waiting:
                some = dict(islice(waiting.items(), _LINE_MATCHES))
                self._journal.append(kind, matches=some)
                for match_id in some:
                    del waiting[match_id]
        if self._without_head >= HEAD_MATCHES:
            self._without_head = 0
            with suppress(PlatformError):  # said when the run stops: no reason to stop it
                self._journal.write_head()

    def miss(self, folder: RunFolder, there: Collection[str]) -> list[str]:
        """Take out the matches that counted and have no record, `there` being those that have one. Returns the ids of
        those whose record was not set aside either: nobody knows where it is."""
        lost = []
        for match_id in sorted(self._digests.keys() - there):
            why = set_aside_as(folder, match_id, self._digests[match_id])
            self.uncounted(match_id, why or LOST)
            if not why:
                lost.append(match_id)
        return lost


ANNULLED = "annulled"
"""Why a record is set aside of a match that its organiser annulled, or has played again."""


def set_aside_as(folder: RunFolder, match_id: str, digest: str) -> str:
    """Why the record of a match that has this digest was set aside, by its name; '' if it was not."""
    for path in folder.records.aside_of(match_id):
        try:
            if read_record(path).digest == digest:
                return why_aside(path)
        except RecordError:
            continue
    return ""
