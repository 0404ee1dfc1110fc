"""Match seeds: keyed hashes of the tournament's typed seed, the game and the seed group.

The key is a secret of the run (see `referee.run.luck`), so that nobody can compute the dice and cards of a match before
it is played. All matches of a seed group have one seed, whoever enters.
"""

from dataclasses import dataclass, field
from hashlib import blake2b

_COMMITMENT_BYTES = 32


def block_seed(secret: bytes, seed: int, game: str, group: int) -> str:
    """The match seed of a seed group, 32 hex digits. Does not depend on who enters."""
    text = f"{seed}\x1f{game}\x1f{group}"
    return blake2b(text.encode("ascii"), digest_size=16, key=secret, person=b"crosstown-block").hexdigest()


def public_block_seed(seed: int, game: str, group: int) -> str:
    """The same in runs of before there were secrets: whoever knows or guesses the typed seed can compute it."""
    text = f"{seed}\x1f{game}\x1f{group}"
    return blake2b(text.encode("ascii"), digest_size=16, person=b"crosstown-block").hexdigest()


def match_seed(secret: bytes, name: str) -> str:
    """The seed of a match that belongs to no tournament, 32 hex digits; `name` tells such matches apart."""
    return blake2b(name.encode(), digest_size=16, key=secret, person=b"crosstown-match").hexdigest()


def commitment(secret: bytes) -> str:
    """What the journal says of a secret before it is revealed, 64 hex digits."""
    return blake2b(secret, digest_size=_COMMITMENT_BYTES, person=b"crosstown-secret").hexdigest()


@dataclass(frozen=True, slots=True)
class MatchSeeds:
    """The match seeds of a run: from the typed seed and the secret of each epoch, the last of them in force. None is
    the first epoch of a run from before there were secrets."""

    seed: int
    secrets: tuple[bytes | None, ...] = field(repr=False)

    def seed_of(self, game: str, group: int) -> str:
        """The seed that matches of a seed group are played on now."""
        return self._seed(self.secrets[-1], game, group)

    def seeds_of(self, game: str, group: int) -> tuple[str, ...]:
        """The seed of a seed group in each epoch: a record may be of any."""
        return tuple(self._seed(secret, game, group) for secret in self.secrets)

    def _seed(self, secret: bytes | None, game: str, group: int) -> str:
        if secret is None:
            return public_block_seed(self.seed, game, group)
        return block_seed(secret, self.seed, game, group)
