"""The referee's choice for a seat that made none, as the fault policy has it: the same whenever it is asked again."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

FORFEIT, DEFAULT, RANDOM = "forfeit", "default", "random"


def stand_in(policy: str, legal: Sequence[Any], seed: str, seat: int, moment: int) -> Any:
    """The game's default action (the first of the list), or with `random` any, all equally likely.

    `seed` is the match's (hex); `moment` is how many nodes the match has gone through.
    """
    if policy != RANDOM:
        return legal[0]
    # 128 bits: what the remainder favours is below any measure.
    digest = blake2b(f"stand-in\x1f{seat}\x1f{moment}".encode(), digest_size=16, key=bytes.fromhex(seed)).digest()
    return legal[int.from_bytes(digest) % len(legal)]
