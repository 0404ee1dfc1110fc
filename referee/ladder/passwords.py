"""Passwords of owners: their hashes, and which passwords are accepted."""

import threading
import unicodedata
from typing import Final

from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from leaderboard.web.hand_ins import HandInRefused, Refusal

LEAST, MOST = 10, 200
"""Characters of a password."""

_HASH: Final = PasswordHash((Argon2Hasher(time_cost=2, memory_cost=19_456, parallelism=1),))
"""argon2id with 19 MiB: the workers play on the same machine."""

_AT_ONCE: Final = threading.BoundedSemaphore(2)
_NOBODYS: Final = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
"""A hash that no password has. It is compared where there is no account, so that the answer takes the same time."""


def hash_password(password: str, owner: str) -> str:
    """For the database. UNUSABLE for one that is too short, too long, or the name."""
    usual = _usual(password)
    if not LEAST <= len(usual) <= MOST:
        raise HandInRefused(
            Refusal.UNUSABLE,
            f"the password has {len(usual)} characters",
            f"choose one of {LEAST} to {MOST} characters: four words that belong to nothing are good",
        )
    if usual.casefold().strip() == owner.casefold() or len(set(usual)) < 4:
        raise HandInRefused(Refusal.UNUSABLE, "the password is easy to guess", "choose another one")
    with _AT_ONCE:
        return _HASH.hash(usual)


def is_right(password: str, kept: str) -> bool:
    """Whether it is the password of this hash; False, after the same time, where there is none."""
    usual = _usual(password)[:MOST]
    with _AT_ONCE:
        return _HASH.verify(usual, kept or _NOBODYS) and bool(kept)


def _usual(password: str) -> str:
    return unicodedata.normalize("NFKC", password)
