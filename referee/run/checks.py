"""What can be checked of a run as a whole, besides missing matches: its luck, journal, heads and signature."""

import shlex
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from referee.errors import JournalError
from referee.record.files import read_ordinary
from referee.record.format import RecordError
from referee.record.journal import MOST_JOURNAL_BYTES, anchors_of, in_force
from referee.record.reader import read_record
from referee.run.anchors import ANNULLED, set_aside_as
from referee.run.folder import RunFolder
from referee.run.head import contradiction, places_of, read_head
from referee.run.journal import JournalText, read_journal
from referee.run.luck import Epoch, epochs_of
from referee.texts import plural


@dataclass(frozen=True, slots=True)
class RunCheck:
    """One run. `wrong` are sentences about what must not be, `notes` about what was and was not checked."""

    run: Path
    wrong: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """For people."""
        return [*(f"{self.run}: wrong: {what}" for what in self.wrong), *(f"{self.run}: {what}" for what in self.notes)]

    def values(self) -> dict[str, Any]:
        """For programs."""
        return {**asdict(self), "run": str(self.run)}


def check_run(folder: RunFolder, text: JournalText, key: str = "", named: Collection[str] = ()) -> RunCheck:
    """What the journal of a run that has begun says of its luck, of its records and of itself."""
    epochs = epochs_of(text)
    wrong = [_broken(epoch) for epoch in epochs if epoch.secret and not epoch.holds]
    notes = [_luck_words(epochs)]
    data = read_ordinary(folder.journal, MOST_JOURNAL_BYTES)
    _check_records(folder, text, named, wrong, notes)
    _check_heads(folder, text, data, wrong, notes)
    _check_signature(folder, text, data, key.strip().lower(), wrong, notes)
    return RunCheck(folder.path, tuple(wrong), tuple(notes))


def _check_records(
    folder: RunFolder, text: JournalText, named: Collection[str], wrong: list[str], notes: list[str]
) -> None:
    """Whether each match that counts by the journal has a record, and the other way round. Which record it is, the
    verdict about that record says."""
    anchors = anchors_of(text.events)
    stamps = folder.records.stamps()
    there = stamps.keys()
    for match_id in sorted(anchors.digests.keys() - there):
        if set_aside_as(folder, match_id, anchors.digests[match_id]) == ANNULLED:
            wrong.append(
                f"match {match_id} counts by the journal, and its record was set aside to play it again: the command"
                f" was stopped before it wrote that. To do that: crosstown annul RUN {shlex.quote(match_id)} --replay"
            )
        elif match_id not in named:
            wrong.append(f"match {match_id} counts by the journal, and its record is not in {folder.matches}")
    annulled = {control.match_id for control in in_force(text.controls) if control.kind == "annulled"} & there
    notes += [
        f"match {match_id} is annulled and does not count; its record is still in {folder.matches}: the command was"
        f" stopped before it set the record aside. To do that: crosstown annul RUN {shlex.quote(match_id)}"
        for match_id in sorted(annulled)
    ]
    bare = sorted(there - anchors.digests.keys() - annulled)
    if not anchors.digests and bare:
        notes.append(
            "its records are not anchored: an older version wrote the journal, which has no digests of them, so a"
            " record that somebody replaced is not detected. To anchor them as they are now: crosstown sign RUN"
        )
        return
    notes.append(f"{plural(len(anchors.digests), 'record')} anchored: the journal has the digest of each")
    if text.last_state in ("stopped", "finished"):  # it wrote all digests before that line
        foreign = [match_id for match_id in bare if _is_rated(folder.records.at(stamps[match_id]))]
        wrong += [
            f"match {match_id} has a record that the run did not write: the journal has no digest of it"
            for match_id in foreign
        ]
        bare = [match_id for match_id in bare if match_id not in foreign]
    if bare:
        notes.append(f"the journal has no digest yet of {plural(len(bare), 'record')}: {_some(bare)}")
    if found := sorted(anchors.found):
        notes.append(
            f"{plural(len(found), 'record')} had no digest before the run was continued or signed, and counted as found"
            f": {_some(found)}"
        )
    again = sorted(anchors.digests.keys() & anchors.uncounted.keys())
    notes += [f"match {name} counted before with another record ({anchors.uncounted[name]})" for name in again]


def _is_rated(path: Path) -> bool:
    """Whether it is a whole record of a match that counts. A run that is stopped leaves others, too."""
    try:
        record = read_record(path)
    except RecordError:
        return False
    return record.complete and record.footer is not None and record.footer.status == "rated"


def _check_heads(folder: RunFolder, text: JournalText, data: bytes, wrong: list[str], notes: list[str]) -> None:
    """Whether the journal goes on from its heads in second places."""
    for place in places_of(folder.journal, text.events):
        try:
            head = read_head(place)
        except JournalError as error:
            wrong.append(str(error))
            continue
        if head is None:
            notes.append(f"there is no {place}: lines that were cut off the end of the journal are not noticed by it")
        elif contradiction(head, place, data, text.events):
            text = read_journal(folder.journal)  # a run that goes on may have written both since
            if what := contradiction(head, place, folder.journal.read_bytes(), text.events):
                wrong.append(what)


def _check_signature(
    folder: RunFolder, text: JournalText, data: bytes, key: str, wrong: list[str], notes: list[str]
) -> None:
    """Whether the run is as it was when its organiser signed it, and what that does not say."""
    if not folder.signature.exists():
        words = "it is not signed: anyone who can write in its folder can have replaced all of it"
        (wrong if key else notes).append(words)
        return
    from referee.run.signing import lines_since_signed, read_signature, since_signed

    try:
        signed = read_signature(folder)
    except JournalError as error:
        wrong.append(str(error))
        return
    assert signed is not None
    changed = list(since_signed(signed, folder, text, data))
    if key and key != signed.public_key:
        changed.append(f"it is signed by the key {signed.public_key}, not by {key}")
    wrong += changed
    if later := lines_since_signed(signed, text):
        number = plural(len(text.events) - signed.head.lines, "line")
        notes.append(f"the signature does not cover {number} of the journal that came after it: {later}")
    if changed:
        return
    who = "" if key else "who has the key (give the one that the organiser published with --key), "
    notes.append(
        f"signed at {signed.at} by the key {signed.public_key}: nothing that counted was changed since. This does not"
        f" prove {who}the time, what happened before it was signed{', and what came after' if later else ''}"
    )


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def _broken(epoch: Epoch) -> str:
    return f"the secret of epoch {epoch.number} that the journal reveals is not the one it is committed to"


def _luck_words(epochs: tuple[Epoch, ...]) -> str:
    if not epochs[0].commitment:
        return "its dice and cards have no secret: anyone who knows the tournament's seed can compute it beforehand"
    kept = next((epoch.number for epoch in epochs if not epoch.secret), None)
    if kept == 0:
        return (
            "the secret of its luck is revealed when the run is finished: until then no seed can be checked against it"
        )
    if kept is not None:
        return (
            f"the secret of epoch {kept} of its luck is revealed when that is over: until then no seed can be checked"
            " of what came to count since it began; all seeds before were checked"
        )
    return "the secret of its luck was committed to before the first match; all seeds were checked against it"
