"""Anchors: the digests by which a run's journal knows the records that count.

The chain inside a record can be made anew by whoever changes the record. So the journal has a digest of every record
that counts, over all its lines; a record with another digest is not the one that counted. Lines of the journal:

    counted     matches that were played and count: the digest of each record, by match id
    found       the same of records that lay there when the run was taken up, and that the journal did not have yet
    uncounted   matches whose records counted and do not any more: why, by match id

A match that is annulled or played again by its organiser (`referee.record.control`) does not count from there on.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from referee.record.control import JournalDamage, JournalLine, read_lines

COUNTED = "counted"
FOUND = "found"
UNCOUNTED = "uncounted"

LOST = "lost"
"""Why a match does not count any more whose record was gone when the run was taken up."""

CHANGED = "changed"
"""The same where another record lay in its place."""

NOT_THE_ONE = "this is not the record that counted"

JOURNAL = "tournament.jsonl"
"""In a run folder, beside the folder of its records."""

DIGEST_BYTES = 32


def digest_of(data: bytes) -> str:
    """BLAKE2b of 256 bits, as 64 hexadecimal digits: what `b2sum --length 256` prints."""
    return blake2b(data, digest_size=DIGEST_BYTES).hexdigest()


@dataclass(frozen=True, slots=True)
class Anchors:
    """What a journal says of the records that count, by match id. `found` are those of `digests` that lay there when
    the run was taken up; `uncounted` says why those do not count any more that once did."""

    digests: Mapping[str, str] = field(default_factory=dict)
    found: frozenset[str] = frozenset()
    uncounted: Mapping[str, str] = field(default_factory=dict)


def anchors_of(lines: Iterable[JournalLine]) -> Anchors:
    """What these lines of a journal say; nothing of a journal that was written before there were anchors."""
    digests: dict[str, str] = {}
    found: set[str] = set()
    uncounted: dict[str, str] = {}
    for line in lines:
        if line.kind in (COUNTED, FOUND):
            new = _texts(line.fields.get("matches"))
            digests |= new
            found = found | new.keys() if line.kind == FOUND else found - new.keys()
        elif line.kind == UNCOUNTED:
            _take_out(_texts(line.fields.get("matches")), digests, uncounted)
        elif line.kind in ("annulled", "reopened"):
            _take_out({str(line.fields.get("match_id")): line.kind}, digests, uncounted)
    return Anchors(digests, frozenset(found & digests.keys()), uncounted)


def read_anchors(journal: Path) -> Anchors:
    """Those of the journal at this path; none where it is damaged or cannot be read: `matches verify` says why."""
    try:
        return anchors_of(read_lines(journal))
    except (JournalDamage, OSError):
        return Anchors()


def mismatch(digest: str, anchored: str) -> str:
    """A sentence if a record with `digest` is not the one that the journal is anchored to; '' if it is, or if the
    journal has no anchor of it."""
    if anchored in ("", digest):
        return ""
    return f"{NOT_THE_ONE}: its digest is {digest}, the journal of the run has {anchored}"


def _take_out(gone: Mapping[str, str], digests: dict[str, str], uncounted: dict[str, str]) -> None:
    for match_id, why in gone.items():
        if digests.pop(match_id, None) is not None:
            uncounted[match_id] = why


def _texts(value: object) -> dict[str, str]:
    return {str(name): str(text) for name, text in value.items()} if isinstance(value, dict) else {}
