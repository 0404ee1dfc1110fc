"""Seals what a run keeps to save time, so that nothing but what this user computed is ever taken from there.

A seal is a keyed hash (BLAKE2b). The key is this user's own, `seal.key` in the cache folder, made at first use. A cache
that is cut, changed or forged, or was copied from another run or another user, has no seal that fits: it is not used,
and what it would have said is computed from records and journal.
"""

import os
import secrets
import stat
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from hmac import compare_digest
from pathlib import Path

from referee.folders import FolderError, cache_folder, temporary_beside

KEY_BYTES = 32
_SEAL_BYTES = 16
SEAL_CHARS = 2 * _SEAL_BYTES


def seal_of(purpose: str, *content: str | bytes) -> str:
    """32 hexadecimal digits. `purpose` tells kinds of caches apart."""
    hasher = blake2b(key=_key(), digest_size=_SEAL_BYTES)
    for part in (purpose, *content):
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        hasher.update(len(data).to_bytes(8))
        hasher.update(data)
    return hasher.hexdigest()


class Sealer:
    """Makes many seals of one kind, quicker."""

    def __init__(self, purpose: str, run: str) -> None:
        begin = f"{len(purpose)} {purpose} {run}".encode() + b"\x00"
        self._begun = blake2b(begin, key=_key(), digest_size=_SEAL_BYTES)

    def seal_of(self, content: bytes) -> str:
        hasher = self._begun.copy()
        hasher.update(content)
        return hasher.hexdigest()


def is_sealed(seal: object, purpose: str, *content: str | bytes) -> bool:
    """Whether this is the seal of the content."""
    return isinstance(seal, str) and seal.isascii() and compare_digest(seal, seal_of(purpose, *content))


def _key() -> bytes:
    try:
        return _key_at(cache_folder() / "seal.key")
    except FolderError:
        return _key_of_this_process()


@lru_cache
def _key_of_this_process() -> bytes:
    """Where no key can be kept: then no other process can use what this one seals."""
    return secrets.token_bytes(KEY_BYTES)


@lru_cache
def _key_at(path: Path) -> bytes:
    with suppress(OSError):
        if key := _read(path):
            return key
        fresh = temporary_beside(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(secrets.token_bytes(KEY_BYTES))
            with suppress(FileExistsError):  # another process was quicker
                os.link(fresh, path)
        finally:
            fresh.unlink(missing_ok=True)
        if key := _read(path):
            return key
    return _key_of_this_process()


def _read(path: Path) -> bytes:
    """The key; nothing if there is none, or one that somebody else has made or can read."""
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            data = file.read(KEY_BYTES + 1)
    except FileNotFoundError:
        return b""
    private = stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    return data if private and len(data) == KEY_BYTES else b""
