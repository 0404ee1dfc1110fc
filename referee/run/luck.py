"""The luck secrets of a run, which key its match seeds (`referee.schedule.seeds`).

A run has one or more epochs, each with a secret of 128 random bits. The journal commits to the secret by its hash
before the first match of the epoch is played, and reveals it when no match of the epoch is left to play. What is played
after that, because the run was extended or a match is played again, belongs to a new epoch.

The secrets lie in `luck.secret` in the run folder, one line of 32 hexadecimal digits for each epoch, readable by the
organiser alone. Only the runner reads that file: workers get match seeds, and the pairings depend on the typed seed.
"""

import os
import secrets
import shlex
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from referee.errors import JournalError, PlatformError, UsageError
from referee.record.files import read_ordinary
from referee.record.journal import COUNTED, FOUND
from referee.record.sync_folder import sync_folder
from referee.run.journal import EPOCH, REVEALED, Journal, JournalText
from referee.schedule.seeds import MatchSeeds, commitment

SECRET_BYTES = 16
NO_RIGHTS_BUT_MINE = 0o077
_MOST_SECRET_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Epoch:
    """One epoch as the journal has it. `secret` (hex) is '' until it is revealed. `commitment` is '' for the first
    epoch of a run of before there were secrets: it is over once the run has finished."""

    number: int
    commitment: str
    secret: str = ""
    over: bool = False

    @property
    def is_public(self) -> bool:
        """Whether no secret keys its luck."""
        return self.number == 0 and not self.commitment

    @property
    def holds(self) -> bool:
        """Whether the secret that was revealed is the one that was committed to."""
        try:
            return commitment(bytes.fromhex(self.secret)) == self.commitment
        except ValueError:
            return False


def epochs_of(text: JournalText) -> tuple[Epoch, ...]:
    """The epochs of a run that has begun."""
    assert text.created is not None
    found = [Epoch(0, str(text.created.fields.get("commitment", "")))]
    public_over = False
    for _, line in text.steps:
        if line.kind == EPOCH:
            found.append(Epoch(len(found), str(line.fields.get("commitment", ""))))
        elif line.kind == REVEALED:
            number = line.fields.get("epoch")
            if type(number) is not int or not 0 <= number < len(found):
                raise JournalError(f"the journal reveals the secret of epoch {number}, which it does not have", _COPY)
            found[number] = Epoch(number, found[number].commitment, str(line.fields.get("secret", "")), over=True)
        elif line.kind == "finished":
            public_over = not line.fields["missing"]
        elif line.kind == "resumed":
            public_over = False
    if not found[0].commitment:
        found[0] = Epoch(0, "", over=public_over or len(found) > 1)
    return tuple(found)


_COPY = "restore the journal from a copy, or start a new run beside this one with --new"


@dataclass(slots=True)
class SecretKeeper:
    """The luck of one run of the command. `drawn`: the secret in force belongs to an epoch that the journal does not
    have yet, and never has if there is nothing to play."""

    seeds: MatchSeeds
    drawn: bool
    public: bool = False
    """Whether the epoch in force is one of before there were secrets."""

    @property
    def epoch(self) -> int:
        return len(self.seeds.secrets) - 1

    @property
    def commitment(self) -> str:
        return commitment(self._secret)

    def commit(self, path: Path, journal: Journal) -> None:
        """Begin the epoch in force, if the journal does not have it yet: the secret is on the disk first."""
        if self.drawn:
            keep_secrets(path, self.seeds.secrets)
            journal.append(EPOCH, epoch=self.epoch, commitment=self.commitment)
            self.drawn = False

    def reveal(self, journal: Journal) -> None:
        """Tell the secret in force: nothing more is played with it. Nothing happens where there is none to tell."""
        if not self.drawn and not self.public:
            journal.append(REVEALED, epoch=self.epoch, secret=self._secret.hex())
            self.public = True

    @property
    def _secret(self) -> bytes:
        secret = self.seeds.secrets[-1]
        assert secret is not None
        return secret


def begin(path: Path, seed: int, given: Sequence[bytes] = ()) -> SecretKeeper:
    """The luck of a new run, its secret on the disk at `path`. The journal's first line has to commit to it."""
    secret = _next_secret(0, given)
    keep_secrets(path, (secret,))
    return SecretKeeper(MatchSeeds(seed, (secret,)), drawn=False)


def take_up(path: Path, text: JournalText, seed: int, given: Sequence[bytes] = ()) -> SecretKeeper:
    """The luck of a run that has begun, whose secrets lie at `path`, or are `given`. PlatformError if the secret in
    force is lost or another one; UsageError if `given` are not those of this run."""
    epochs = epochs_of(text)
    known: list[bytes | None] = [_revealed(epoch) if epoch.commitment else None for epoch in epochs if epoch.over]
    now = epochs[-1]
    if now.over:
        return SecretKeeper(MatchSeeds(seed, (*known, _next_secret(len(epochs), given))), drawn=True)
    if not now.commitment:
        return SecretKeeper(MatchSeeds(seed, (None,)), drawn=False, public=True)
    if given:
        if len(given) <= now.number or commitment(given[now.number]) != now.commitment:
            raise UsageError(
                f"the run in {path.parent} has a secret of its own, and the one given is another",
                "to repeat the tournament with this secret, add --new; to continue that run, leave --secret out",
            )
        known.append(given[now.number])
        if not path.exists():
            keep_secrets(path, known)
    else:
        known.append(_kept(path, now))
    return SecretKeeper(MatchSeeds(seed, tuple(known)), drawn=False)


def read_secrets(path: Path) -> tuple[bytes, ...]:
    """The secrets in a file that the user gives: a line of 32 hexadecimal digits for each epoch. UsageError."""
    make = f"make one, such as: (umask 077; openssl rand -hex 16 > {shlex.quote(str(path))})"
    try:
        if not path.is_dir() and stat.S_IMODE(path.stat().st_mode) & NO_RIGHTS_BUT_MINE:
            what = f"the secret in {path} can be read by others"
            raise UsageError(what, f"make it readable by you alone: chmod 600 {shlex.quote(str(path))}")
        lines = read_ordinary(path, _MOST_SECRET_BYTES).decode("ascii").split()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not ASCII text"
        raise UsageError(f"cannot read the secret in {path}: {why}", make) from None
    found = [_parsed(line) for line in lines]
    wrong = next((number for number, secret in enumerate(found, start=1) if secret is None), None)
    if wrong is not None or not found:
        where = f"line {wrong} of {path}" if wrong else str(path)
        raise UsageError(f"{where} is not a secret: expected {2 * SECRET_BYTES} hexadecimal digits", make)
    return tuple(secret for secret in found if secret is not None)


def known_words(path: Path) -> str:
    """What a user who gives a secret is told."""
    return f"everybody who has {path} knows the luck: keep it from the authors of the bots"


def keep_secrets(path: Path, known: Sequence[bytes | None]) -> None:
    """Write the secrets of all epochs, durably, for the organiser alone. An epoch without one is an empty line.
    PlatformError."""
    text = "".join(f"{'' if secret is None else secret.hex()}\n" for secret in known)
    fresh = path.with_name(f".{path.name}.new")
    try:
        fresh.unlink(missing_ok=True)
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise PlatformError(
            f"cannot write {path}: {error.strerror}",
            "free some space or check the rights of the folder, then run the same command again",
        ) from error


def _next_secret(number: int, given: Sequence[bytes]) -> bytes:
    if not given:
        return secrets.token_bytes(SECRET_BYTES)
    if number < len(given):
        return given[number]
    raise UsageError(
        f"the secret file has {len(given)} of the {number + 1} secrets that this run needs: it goes on after the secret"
        " before was revealed",
        f"add a line of {2 * SECRET_BYTES} hexadecimal digits, or leave --secret out",
    )


def _kept(path: Path, epoch: Epoch) -> bytes:
    step = "restore the file from a copy, or give it with --secret FILE; or start a new run with --new"
    try:
        path.chmod(0o600)
        lines = read_ordinary(path).decode("ascii").split("\n")
    except FileNotFoundError:
        what = f"the secret of this run, {path}, is lost: without it the rest cannot be played on the luck promised"
        raise PlatformError(what, step) from None
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not ASCII text"
        raise PlatformError(f"cannot read the secret of this run, {path}: {why}", step) from None
    secret = _parsed(lines[epoch.number]) if epoch.number < len(lines) else None
    if secret is None or commitment(secret) != epoch.commitment:
        raise PlatformError(f"{path} does not have the secret that this run's journal is committed to", step)
    return secret


def _revealed(epoch: Epoch) -> bytes:
    if not epoch.holds:
        raise JournalError(
            f"the journal reveals a secret of epoch {epoch.number} that is not the one it is committed to", _COPY
        )
    return bytes.fromhex(epoch.secret)


def _parsed(line: str) -> bytes | None:
    try:
        secret = bytes.fromhex(line)
    except ValueError:
        return None
    return secret if len(secret) == SECRET_BYTES else None


def seeds_of(text: JournalText) -> tuple[MatchSeeds, int]:
    """The match seeds that follow from the secrets of its first epochs, up to the first that is not revealed, and how
    many epochs there are."""
    assert text.created is not None
    epochs = epochs_of(text)
    configuration: Mapping[str, Any] = text.created.fields["configuration"]
    known = takewhile(lambda epoch: epoch.holds or epoch.is_public, epochs)
    revealed = tuple(None if epoch.is_public else bytes.fromhex(epoch.secret) for epoch in known)
    return MatchSeeds(int(configuration["seed"]), revealed), len(epochs)


def epochs_when_counted(text: JournalText) -> dict[str, int]:
    """By match id, how many epochs there were when its record came to count: it is of one of these. What an epoch that
    began later is committed to says nothing about it. Empty for a run of one epoch."""
    if not any(line.kind == EPOCH for _, line in text.steps):
        return {}
    found: dict[str, int] = {}
    epochs = 1
    for line in text.events:
        if line.kind == EPOCH:
            epochs += 1
        elif line.kind in (COUNTED, FOUND):
            found |= dict.fromkeys(line.fields["matches"], epochs)
    return found
