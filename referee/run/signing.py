"""Signs the head of a run's journal (Ed25519), so that anybody can see whether the run was changed since.

The signature lies in `tournament.signature` in the run folder, and can be published with the run. The key is the
organiser's, one for all runs: `crosstown/signing.pem` in the user's configuration folder, made at first use.
"""

import json
import os
import shlex
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from referee.errors import JournalError, PlatformError, UsageError
from referee.folders import configuration_folder, temporary_beside
from referee.record.files import read_ordinary
from referee.record.format import RecordError, dumps
from referee.record.journal import LEAVING, Control, JournalLine, anchors_of, controls_of, departures, mismatch
from referee.record.reader import Record, read_record
from referee.run.anchors import AnchorKeeper
from referee.run.folder import RunFolder, is_shorter
from referee.run.head import FORMAT, MOST_HEAD_BYTES, Head, contradiction, parse_head, write_durably
from referee.run.journal import RATINGS, Journal, JournalText, read_journal
from referee.run.lock import RunLock
from referee.run.luck import NO_RIGHTS_BUT_MINE
from referee.run.participants import participants_of
from referee.schedule.config import make_field
from referee.schedule.formats.registry import UnknownFormat, get_format
from referee.schedule.schedule import place_of
from referee.texts import one_line

DECISIONS = ("annulled", "rejudged", "reopened", "withdrawn", "disabled", "reinstated")
"""What an organiser decides about matches that were played: after the signature it changes what was signed."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A head that was signed: by which key (64 hexadecimal digits), when by the signer's word (UTC), and the
    signature."""

    head: Head
    at: str
    public_key: str
    signature: str

    @property
    def shown(self) -> dict[str, str]:
        """For people, by name."""
        return {
            "signed": f"{self.at}, {self.head.lines} lines of the journal, digest {self.head.digest}",
            "public key of the organiser": self.public_key,
        }

    @property
    def holds(self) -> bool:
        """Whether the key has signed just this."""
        try:
            key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.public_key))
            key.verify(bytes.fromhex(self.signature), _message(self.head, self.at))
        except (ValueError, InvalidSignature):
            return False
        return True


def key_file() -> Path:
    """Where the organiser's key is."""
    return configuration_folder() / "signing.pem"


def sign(folder: RunFolder) -> Signature:
    """Sign the journal of a run as it is now, with a digest of each record that counts.

    BusyError while it is played, JournalError, UsageError if records do not match it, PlatformError.
    """
    key = _key()
    with RunLock(folder.lock, wait_s=0):
        text = read_journal(folder.journal)
        if text.created is None:
            raise UsageError(f"the run in {folder.path} has not begun", "play it first: crosstown run FILE")
        with Journal(folder.journal, text) as journal:
            keeper = AnchorKeeper(journal, anchors_of(text.events).digests)
            _check_records(folder, keeper, text)
            keeper.flush()
            head, at = journal.head, datetime.now(UTC).isoformat(timespec="seconds")
        signed = Signature(head, at, key.public_key().public_bytes_raw().hex(), key.sign(_message(head, at)).hex())
        try:
            write_durably(folder.signature, dumps(_values(signed)) + "\n")
        except OSError as error:
            step = "free some space or check the rights of the folder, then sign again"
            raise PlatformError(f"cannot write {folder.signature}: {error.strerror}", step) from error
    return signed


def _check_records(folder: RunFolder, keeper: AnchorKeeper, text: JournalText) -> None:
    """Every record that counts has its digest in the journal, or is put there. UsageError for what does not match."""
    step = f"see what is wrong: crosstown matches verify {shlex.quote(str(folder.path))}"
    files = folder.records.tidy()
    anchored = anchors_of(text.events).digests
    if gone := sorted(anchored.keys() - files.keys()):
        raise UsageError(
            f"the record of match {gone[0]}, which counts by the journal, is not in {folder.matches}", step
        )
    for match_id, path in files.items():
        record = _read(path)
        if record is None or not record.complete or record.footer is None or record.footer.status != "rated":
            raise UsageError(f"{path} is not a complete record of a match that counts", step)
        if what := mismatch(record.digest, anchored.get(match_id, "")):
            raise UsageError(f"{path}: {what}", step)
        keeper.found(match_id, record.digest)


def _read(path: Path) -> Record | None:
    try:
        return read_record(path)
    except RecordError:
        return None


def read_signature(folder: RunFolder) -> Signature | None:
    """The signature of a run; None if it is not signed. JournalError for a file that is no signature."""
    step = "restore the file from a copy, or sign the run again: crosstown sign RUN"
    try:
        values = json.loads(read_ordinary(folder.signature, MOST_HEAD_BYTES))
        return Signature(parse_head(values), str(values["at"]), str(values["public_key"]), str(values["signature"]))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise JournalError(f"cannot read {folder.signature}: {error.strerror}", step) from error
    except (ValueError, TypeError, KeyError, RecursionError):
        raise JournalError(f"{folder.signature} is not a signature of a run", step) from None


def since_signed(signed: Signature, folder: RunFolder, text: JournalText, data: bytes) -> Iterator[str]:
    """Sentences on what of a run is not as it was when it was signed. `data` is the journal's content."""
    if not signed.holds:
        yield f"the signature in {folder.signature} was not made by the key {signed.public_key} for this"
        return
    if what := contradiction(signed.head, folder.signature, data, text.events):
        yield what
        return
    first = text.events[: signed.head.lines]
    before = JournalText(first, controls_of(folder.journal, first))
    then, now = anchors_of(first), anchors_of(text.events)
    for match_id, digest in then.digests.items():
        if match_id not in now.digests:
            yield f"match {match_id} counted when the run was signed, and does not now: {now.uncounted[match_id]}"
        elif now.digests[match_id] != digest:
            yield f"match {match_id} was played again since the run was signed"
    behind = 1 + max((place for match_id in then.digests if (place := place_of(match_id)) is not None), default=-1)
    if before.finish is not None:  # then no match before that place was still to be played
        for match_id in sorted({*now.digests, *folder.records.stamps()} - then.digests.keys()):
            if (place := place_of(match_id)) is None or place < behind:
                yield f"match {match_id} did not count when the finished run was signed, and has a record now"
    settled = _settled(before)
    for number, line in enumerate(text.events[signed.head.lines :], start=signed.head.lines + 1):
        controls = controls_of(folder.journal, (line,))
        said_of_signed = line.kind == RATINGS or (line.kind == "void" and line.fields.get("match") in then.digests)
        if said_of_signed or any(_reaches_back(control, behind, before, settled) for control in controls):
            yield f"line {number} of the journal was decided since the run was signed: {_decision(line)}"


def lines_since_signed(signed: Signature, text: JournalText) -> str:
    """The lines of the journal that the signature does not cover, by kind, with their numbers; '' if there are none."""
    numbers: dict[str, list[int]] = {}
    for number, line in enumerate(text.events[signed.head.lines :], start=signed.head.lines + 1):
        numbers.setdefault(line.kind, []).append(number)
    return one_line(", ".join(f"{kind} ({_place_words(found)})" for kind, found in numbers.items()))


def _place_words(numbers: Sequence[int]) -> str:
    return f"line {numbers[0]}" if len(numbers) == 1 else f"{len(numbers)} lines, the first is line {numbers[0]}"


def _reaches_back(control: Control, behind: int, before: JournalText, settled: Mapping[str, Collection[str]]) -> bool:
    """Whether this changes what matches before the place `behind` count for: by its kind, by its place, or because it
    is about all matches of an entry. `before` is the journal as it was signed, `settled` what follows from it."""
    if control.kind in DECISIONS or control.choice != "keep" or control.entry_id in settled.get(control.kind, ()):
        return True
    if control.kind == "extended":
        return _changes_length(control, behind, before)
    if control.kind == "decided" and before.finish is not None:  # right behind, it takes the format's table away
        return control.place <= behind
    return control.kind != "stopping" and control.place < behind


def _settled(before: JournalText) -> Mapping[str, Collection[str]]:
    """The entries that a control of each kind must not be about, wherever it holds: `added` a bot that the run has, and
    what follows a departure one whose matches were annulled, or scored as losses. They would count again."""
    left = departures(before.controls).items()
    taken = {entry for entry, control in left if control.choice != "keep"}
    return {"added": {bot.entry_id for bot in participants_of(before)}, **dict.fromkeys((*LEAVING, "returned"), taken)}


def _changes_length(control: Control, behind: int, before: JournalText) -> bool:
    """Whether an extension makes the schedule shorter than it was, or, of a format that looks at results, reaches into
    what was played."""
    begun = before.begun_with
    try:
        style = get_format(begun["format"])
    except UnknownFormat:
        return control.place < behind
    length = {**style.lengths(make_field(begun)), **before.length}
    shorter = any(is_shorter(name, value, length.get(name, value)) for name, value in control.length.items())
    return shorter or (control.place < behind and style.uses_results)


def _decision(line: JournalLine) -> str:
    fields = ("match_id", "match", "name", "entry_id")
    about = next((line.fields[name] for name in fields if line.fields.get(name)), "")
    return f"{line.kind} {about}".rstrip()


def _key() -> Ed25519PrivateKey:
    """The organiser's key, made if there is none. UsageError for a file that is none or that others can read,
    PlatformError."""
    path = key_file()
    step = f"move {path} away, and a new key is made: runs that were signed before keep the old public key"
    try:
        if not path.exists():
            _make_key(path)
        if stat.S_IMODE(path.stat().st_mode) & NO_RIGHTS_BUT_MINE:
            what = f"the key in {path} can be read by others"
            rights = f"make it readable by you alone: chmod 600 {shlex.quote(str(path))}"
            raise UsageError(what, f"{rights}; or, if it may have been read, {step}")
        key = load_pem_private_key(read_ordinary(path, MOST_HEAD_BYTES), password=None)
    except OSError as error:
        what = f"cannot use the signing key {error.filename or path}: {error.strerror}"
        raise PlatformError(what, "check the folder and its rights, or name another one in XDG_CONFIG_HOME") from error
    except (ValueError, TypeError):
        raise UsageError(f"{path} is not a key in PEM form without a password", step) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"the key in {path} is not an Ed25519 key", step)
    return key


def _make_key(path: Path) -> None:
    pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = temporary_beside(path)
    fresh.unlink(missing_ok=True)
    try:
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
        os.link(fresh, path)  # of two that make one at the same time, the first one's is used by both
    except FileExistsError:
        pass
    finally:
        fresh.unlink(missing_ok=True)


def _message(head: Head, at: str) -> bytes:
    """What is signed."""
    return dumps(["crosstown journal head", *asdict(head).values(), at]).encode("ascii")


def _values(signed: Signature) -> Mapping[str, Any]:
    rest = {"at": signed.at, "public_key": signed.public_key, "signature": signed.signature}
    return {"format": FORMAT, **asdict(signed.head), **rest}
