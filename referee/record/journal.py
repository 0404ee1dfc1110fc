"""The journal of a tournament for readers: its lines, the control events, and the digests of records that count.

`tournament.jsonl` is written by the runner (`referee.run.journal`). Each line is `[kind, time, {...}, chain]`,
chained like the lines of a record. Some kinds are *controls*: decisions about the tournament that change what counts.
They hold from a place in the schedule on, so that everything derived from them is the same wherever it is derived.

    added       entry_id joins                       withdrawn   entry_id leaves, by its owner's or organiser's wish
    breaker     entry_id was disqualified for faults    disabled    entry_id leaves, because it must not go on
    reinstated  entry_id is back, as if it had not left; the breaker ignores its faults in the matches in `forgiven`
    annulled    match_id does not count              rejudged    match_id counts with `ranking` instead of its own
    reopened    match_id is played again: what was decided about it before was about another record
    decided     the run stopped here by its own statistics, or by its budget or precision
    stopping    from here on the run may stop by the rule in `reason`, and by none if that is empty
    replaced    entry_id leaves for a newer version of the bot, once the blocks that it is in are played
    extended    the schedule has so many `blocks` or `rounds`, or is played to this `precision`
    paused      entry_id leaves for the time being, once the blocks that it is in are played
    absent      entry_id, a remote bot, leaves for the time being; those of its matches that are not in play are off
    returned    entry_id is back from here on; what it missed is not played
    unapproved  the owner of entry_id is not approved: from here on its matches move no ratings but its own
    approved    from here on they move all

For entries that leave, `choice` says what becomes of their matches: `keep` those played, `annul` all of them, or keep
those played and score what they miss as `losses`. A later event about the same entry, at the same place, changes it.

The chain inside a record can be made again by whoever changes the record. So the journal has a digest of every record
that counts, over all its lines; a record with another digest is not the one that counted. Lines of the journal:

    counted     matches that were played and count: the digest of each record, by match id
    found       the same of records that lay there when the run was taken up, and that the journal did not have yet
    uncounted   matches whose records counted and do not any more: why, by match id

The schedule of a ladder's division follows from nothing else than its journal. A line `block` has each block: its
`number`, the `variant` (an index), the entry ids of its `group` in the order of its members, `seed_group`, whether each
match has a seed of its own (`own_seeds`), the `reason` in words, and `seen`, how many lines the journal had when it was
decided.

A match that is annulled or played again by its organiser does not count from there on. A format's own table counts an
annulled one as lost for the entries in `out`, those that were out of the run then, and otherwise as a tie; without
`out`, as older versions wrote it, as lost for those that are out by now.
"""

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Literal, TypeAlias, get_args

from referee.record.files import open_ordinary, read_ordinary
from referee.record.format import CHAIN_START, RecordError, next_chain, open_line

ControlKind: TypeAlias = Literal[
    "added",
    "withdrawn",
    "disabled",
    "breaker",
    "reinstated",
    "annulled",
    "rejudged",
    "reopened",
    "decided",
    "extended",
    "stopping",
    "replaced",
    "paused",
    "absent",
    "returned",
    "unapproved",
    "approved",
]
Choice: TypeAlias = Literal["keep", "annul", "losses"]

LEAVING: tuple[ControlKind, ...] = ("withdrawn", "disabled", "breaker", "replaced", "paused", "absent")
"""Kinds after which an entry plays no more."""

LENGTHS = ("blocks", "rounds", "precision")
"""What says how long a schedule is, by the keys of a tournament file. Each format has some of them."""

FINISHING: tuple[ControlKind, ...] = ("replaced", "paused")
"""Those after which it plays the matches before their place all the same."""

RULES: tuple[ControlKind, ...] = ("breaker", "decided")
"""Kinds that follow from results."""

_KINDS = get_args(ControlKind)
_CHOICES = get_args(Choice)


MOST_JOURNAL_BYTES = 2 << 30
"""No run has as many lines. A file from a stranger that is larger is not read."""


class JournalDamage(RecordError):
    """A line of a journal that cannot be trusted. `line` counts from 1."""

    def __init__(self, path: Path, line: int, why: str) -> None:
        what = f"{path}:{line}: the journal is damaged: {why}"
        super().__init__(what, "restore the file from a copy, or start a new run beside this one with --new")
        self.line = line


@dataclass(frozen=True, slots=True)
class JournalLine:
    """One whole line; `at` is UTC, ISO 8601; `end` the offset in bytes after it, `chain` the chain there."""

    kind: str
    at: str
    fields: Mapping[str, Any]
    chain: str
    end: int


@dataclass(frozen=True, slots=True)
class Control:
    """One decision about a tournament. `place` is the first index of the schedule for which it holds.

    `entry_id` or `match_id` is what it is about, the other one ''. `name` is for people. `ranking` is per seat, for
    `rejudged` only; `forgiven` are match ids, for `reinstated` only; `length` has some of `LENGTHS`, for `extended`
    only; `out`, for `annulled` only, are the entries that were out of the run then, None in older journals. `by` says
    who decided: a person, or the rule.
    """

    kind: ControlKind
    place: int
    entry_id: str = ""
    match_id: str = ""
    choice: Choice = "keep"
    name: str = ""
    by: str = ""
    reason: str = ""
    ranking: tuple[int, ...] = ()
    forgiven: tuple[str, ...] = ()
    length: Mapping[str, float] = field(default_factory=dict)
    out: tuple[str, ...] | None = None
    at: str = ""


def read_lines(path: Path) -> tuple[JournalLine, ...]:
    """All whole lines of the journal at `path`; none if there is no file. A partial last line is dropped.

    JournalDamage names the first line that was changed, lost or inserted. OSError if the file cannot be read.
    """
    try:
        data = read_ordinary(path, MOST_JOURNAL_BYTES)
    except FileNotFoundError:
        return ()
    return parse_lines(path, data)


def parse_lines(
    path: Path, data: bytes, after: Sequence[JournalLine] = (), *, without_digests: bool = False
) -> tuple[JournalLine, ...]:
    """The whole lines of a journal with the content `data`, or those that follow the lines `after`. `path` is for
    messages. `without_digests`: the lines with digests of records have no fields, which is quicker. JournalDamage."""
    if not after:
        return _parse(path, data, CHAIN_START, 0, 1, without_digests=without_digests)
    last = after[-1]
    return _parse(path, data[last.end :], last.chain, last.end, len(after) + 1, without_digests=without_digests)


_TAIL_BYTES = 64


def chain_before(journal: Path, end: int) -> str:
    """The chain in the line that ends at this offset of a journal; '' if none does. OSError."""
    with open_ordinary(journal) as file:
        return _chain_before(file, end)


def _chain_before(file: BinaryIO, end: int) -> str:
    file.seek(max(0, end - _TAIL_BYTES))
    tail = file.read(min(end, _TAIL_BYTES))
    try:
        return open_line(tail.decode("ascii").removesuffix("\n"))[1] if tail.endswith(b"\n") else ""
    except ValueError:
        return ""


def lines_since(path: Path, last: JournalLine, number: int) -> tuple[JournalLine, ...] | None:
    """The whole lines of the journal at `path` that follow the line `last`, its `number`th; None if the journal has
    another one there. What lies before that line is not read. JournalDamage, OSError."""
    with open_ordinary(path) as file:
        if _chain_before(file, last.end) != last.chain:
            return None
        return _parse(path, file.read(), last.chain, last.end, number + 1)


def _parse(
    path: Path, data: bytes, chain: str, end: int, first: int, *, without_digests: bool = False
) -> tuple[JournalLine, ...]:
    """The whole lines in `data`, which begins behind a line with this chain and end; the first has this number."""
    lines: list[JournalLine] = []
    *whole, _partial = data.split(b"\n")
    for number, raw in enumerate(whole, start=first):
        try:
            text = raw.decode("ascii")
            body, stated = open_line(text)
            chain = next_chain(chain, body)
            if without_digests and text.startswith(_DIGEST_LINES):
                _, kind, _, at, _ = text.split('"', 4)
                fields: dict[str, Any] = {}
            else:
                kind, at, fields, _ = json.loads(text)
            if stated != chain:
                raise ValueError("it was changed, or a line before it was lost")
            if type(fields) is not dict:
                raise TypeError(f"its third value is {type(fields).__name__}, not an object")
            end += len(raw) + 1
            lines.append(JournalLine(str(kind), str(at), fields, chain, end))
        except (ValueError, TypeError, RecursionError) as error:
            raise JournalDamage(path, number, str(error)) from None
    return tuple(lines)


def read_controls(path: Path) -> tuple[Control, ...]:
    """The control events of the journal at `path`, in the order in which they were decided.

    JournalDamage as for `read_lines`, and for a control event that lacks a field.
    """
    return controls_of(path, read_lines(path))


def controls_of(path: Path, lines: tuple[JournalLine, ...]) -> tuple[Control, ...]:
    """Those of `lines` that are controls. `path` is for messages."""
    found: list[Control] = []
    for number, line in enumerate(lines, start=1):
        if line.kind in _KINDS:
            try:
                found.append(parse_control(line.kind, line.at, line.fields))
            except (KeyError, TypeError, ValueError) as error:
                raise JournalDamage(path, number, f"a '{line.kind}' line without a usable {error}") from None
    return tuple(found)


def in_force(controls: Sequence[Control]) -> tuple[Control, ...]:
    """Those of `controls` that hold, in their order: of several about one match the last, and none that it was reopened
    from; of several by which one entry left the last, and none that it was reinstated from; one that it returned
    from holds up to the place of that. What a rule has decided
    falls with a match before its place that was judged otherwise since, and with an entry that left before its place
    and is back: the rule rested on it, and decides again when the run goes on. So it does when another rule to stop by
    came after it."""
    matches: dict[str, Control] = {}
    leaving: dict[str, Control] = {}
    ended: list[Control] = []
    decided: Control | None = None
    for control in controls:
        if control.match_id:
            matches[control.match_id] = control
        elif control.kind == "reinstated":
            leaving.pop(control.entry_id, None)
        elif control.kind == "returned" and control.entry_id in leaving:
            ended.append(leaving.pop(control.entry_id))
        elif control.kind in LEAVING:
            leaving[control.entry_id] = control
        elif control.kind == "decided":
            decided = control
        elif control.kind == "stopping":
            decided = None
        if control.match_id or control.kind == "reinstated":
            leaving = {entry: left for entry, left in leaving.items() if not brings_down(control, left)}
            ended = [left for left in ended if not brings_down(control, left)]
            decided = None if decided is None or brings_down(control, decided) else decided
    left = {id(control) for control in (*leaving.values(), *ended)}
    return tuple(control for control in controls if _holds(control, matches, left, decided))


def departures(controls: Sequence[Control]) -> dict[str, Control]:
    """By entry id, of those that are out by these controls: how they left."""
    found: dict[str, Control] = {}
    for control in in_force(controls):
        if control.kind in LEAVING:
            found[control.entry_id] = control
        elif control.kind == "returned":
            found.pop(control.entry_id, None)
    return found


def _holds(control: Control, matches: Mapping[str, Control], left: Collection[int], decided: Control | None) -> bool:
    """`left` are the ids, as objects, of the departures that hold."""
    if control.match_id:
        return control is matches[control.match_id] and control.kind != "reopened"
    if control.kind in LEAVING:
        return id(control) in left
    return control.kind != "decided" or control is decided


def brings_down(control: Control, decided: Control) -> bool:
    """Whether a rule has decided this, and rested on what the later `control` changes: a match, or who was out."""
    changes = bool(control.match_id) or control.kind == "reinstated"
    return changes and decided.kind in RULES and control.place < decided.place


Approvals: TypeAlias = Mapping[str, Sequence[tuple[int, bool]]]
"""Entries that were ever not approved: the places from which on they were (True) or were not, as it was decided."""

ALL_APPROVED: Approvals = MappingProxyType({})


def approvals_of(controls: Iterable[Control]) -> dict[str, list[tuple[int, bool]]]:
    """By entry id."""
    found: dict[str, list[tuple[int, bool]]] = {}
    for control in controls:
        if control.kind in ("approved", "unapproved"):
            found.setdefault(control.entry_id, []).append((control.place, control.kind == "approved"))
    return found


def unapproved_among(entries: Iterable[str], place: int, approvals: Approvals) -> frozenset[str]:
    """Those of the entries that were not approved at this place of the schedule."""
    if not approvals:
        return frozenset()
    return frozenset(
        entry
        for entry in entries
        if not next((approved for at, approved in reversed(approvals.get(entry, ())) if at <= place), True)
    )


def forgiven_faults(controls: Sequence[Control]) -> dict[str, set[str]]:
    """By entry that was reinstated: the matches in which the breaker ignores its faults. One that is played again
    counts as any other."""
    found: dict[str, set[str]] = {}
    for control in controls:
        if control.kind == "reinstated":
            found.setdefault(control.entry_id, set()).update(control.forgiven)
        elif control.kind == "reopened":
            for matches in found.values():
                matches.discard(control.match_id)
    return found


def choices_of_people(controls: Sequence[Control]) -> dict[str, Choice]:
    """What somebody has chosen for the matches of entries that the breaker has put out: it holds, too, if what the
    breaker decided falls and it decides so again."""
    found: dict[str, Choice] = {}
    for control in controls:
        if control.kind == "reinstated":
            found.pop(control.entry_id, None)
        elif control.kind == "breaker" and control.by != "rule":
            found[control.entry_id] = control.choice
    return found


def control_fields(control: Control) -> dict[str, Any]:
    """What a journal line says of a control besides its kind and time; inverse of `parse_control`."""
    empty: tuple[object, ...] = ("", (), None)
    fields = {name: value for name, value in asdict(control).items() if name not in ("kind", "at", "length", "out")}
    out = {} if control.out is None else {"out": list(control.out)}
    return {**{name: value for name, value in fields.items() if value not in empty}, **control.length, **out}


def parse_control(kind: str, at: str, fields: Mapping[str, Any]) -> Control:
    """KeyError, TypeError or ValueError, with the field's name, for what is no control."""
    if kind not in _KINDS:
        raise ValueError("kind")
    # Comparisons were extended from their beginning, and said no place, before other runs could be.
    place = fields.get("place", 0) if kind == "extended" else fields["place"]
    if type(place) is not int:
        raise TypeError("place")
    choice = fields.get("choice", "keep")
    if choice not in _CHOICES:
        raise ValueError("choice")
    texts: dict[str, str] = {}
    for name in ("entry_id", "match_id", "name", "by", "reason"):
        texts[name] = fields.get(name, "")
        if not isinstance(texts[name], str):
            raise TypeError(name)
    ranking = fields.get("ranking", [])
    if not isinstance(ranking, list) or not all(type(rank) is int for rank in ranking):
        raise TypeError("ranking")
    forgiven = fields.get("forgiven", [])
    if not isinstance(forgiven, list) or not all(isinstance(match_id, str) for match_id in forgiven):
        raise TypeError("forgiven")
    out = fields.get("out") if kind == "annulled" else None
    if out is not None and not (isinstance(out, list) and all(isinstance(entry_id, str) for entry_id in out)):
        raise TypeError("out")
    return Control(
        kind=kind,  # type: ignore[arg-type]  # one of _KINDS
        place=place,
        choice=choice,
        ranking=tuple(ranking),
        forgiven=tuple(forgiven),
        length=_length(fields) if kind == "extended" else {},
        out=None if out is None else tuple(out),
        at=at,
        **texts,
    )


def _length(fields: Mapping[str, Any]) -> dict[str, float]:
    length = {name: fields[name] for name in LENGTHS if name in fields}
    for name, value in length.items():
        if type(value) not in (int, float) or not math.isfinite(value):
            raise TypeError(name)
    return length


BLOCK = "block"

COUNTED = "counted"
FOUND = "found"
UNCOUNTED = "uncounted"

DIGEST_KINDS = frozenset((COUNTED, FOUND, UNCOUNTED))
"""Lines that have digests of records, or take them back."""

_DIGEST_LINES = tuple(f'["{kind}","' for kind in sorted(DIGEST_KINDS))
"""How they begin."""

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
            if line.kind == FOUND:
                found.update(new)
            elif found:
                found.difference_update(new)
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


NEAR_LIMIT = 0.7
"""A process that takes more than this share of the start-up limit is warned about."""


@dataclass(frozen=True, slots=True)
class FailedStart:
    """A bot that did not start in `attempts` attempts at matches. The rest is of the last one.

    `last_output` are the last lines that it printed; '' if there are none, and in journals of older versions.
    """

    entry_id: str
    name: str
    attempts: int
    match_id: str
    when: str
    why: str
    last_output: str

    @property
    def sentence(self) -> str:
        """What happened, without what the bot printed."""
        times = "1 attempt" if self.attempts == 1 else f"{self.attempts} attempts"
        return f"{self.name} did not start in {times}; the last ({self.match_id}): {self.why}"

    @property
    def lines(self) -> list[str]:
        """The sentence, and below it the last lines that the bot printed."""
        return [f"{self.sentence}{'; the last lines it printed:' if self.last_output else ''}", *self.output_lines]

    @property
    def output_lines(self) -> list[str]:
        """The last lines that the bot printed, indented."""
        return [f"    {line}" for line in self.last_output.splitlines()]


def provider_voids(events: Iterable[JournalLine]) -> Counter[str]:
    """Per entry, how many attempts at matches were void because it got no answer from its provider."""
    return Counter(
        entry_id for line in events if line.kind == "void" for entry_id in line.fields.get("provider_of", ())
    )


def failed_starts(events: Iterable[JournalLine], names: Mapping[str, str]) -> dict[str, FailedStart]:
    """By entry id, in the order of the first one: the failed starts that a journal tells of. `names` by entry id."""
    found: dict[str, FailedStart] = {}
    for line in events:
        if line.kind != "void":
            continue
        printed: Mapping[str, Any] = line.fields.get("last_output", {})
        for entry_id, why in line.fields.get("failed_starts", ()):
            before = found.get(entry_id)
            found[entry_id] = FailedStart(
                entry_id=entry_id,
                name=names.get(entry_id, entry_id[:8]),
                attempts=1 if before is None else before.attempts + 1,
                match_id=str(line.fields["match"]),
                when=line.at,
                why=str(why),
                last_output=str(printed.get(entry_id, "")),
            )
    return found


def slow_start(name: str, startup_us: int, limit_s: float) -> str:
    """A warning about a start that was near its limit; '' about any other."""
    if startup_us <= NEAR_LIMIT * limit_s * 1e6:
        return ""
    return (
        f"'{name}' took {startup_us / 1e6:.1f} s to start, of the {limit_s:g} s that startup_s allows: on a busier"
        " machine it may not start in time; raise startup_s, or let it load less before it says Hello"
    )
