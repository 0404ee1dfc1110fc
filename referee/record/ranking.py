"""The ranking of a match that some seats have left, and the default action that the referee takes for a seat.

Both give the same result whenever a record is verified.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any


@dataclass(slots=True)
class Leavings:
    """Numbers those that leave a match, in order; who leaves together has the same number."""

    number: int = 0
    moment: int = -1

    def is_open_at(self, moment: int) -> bool:
        """Whether somebody has left at this moment of the match already."""
        return self.number > 0 and self.moment == moment

    def take(self, moment: int, *, later: bool) -> int:
        """The number of one that leaves now; `later`: after those that have left at this moment."""
        if later or not self.is_open_at(moment):
            self.number, self.moment = self.number + 1, moment
        return self.number


def final_ranking(state_ranking: Sequence[int], teams: Sequence[int], left: Sequence[int | None]) -> tuple[int, ...]:
    """Per seat its rank, 1 the best; ties share a rank and the next one is skipped.

    `state_ranking` is the game's own (read only for seats that stayed), `teams` per seat the number of its team,
    `left` per seat None or when it left, ascending; equal numbers left together. A seat that left ranks behind all that
    stayed, the earlier the worse; a team is behind as soon as its first member has left.
    """
    first_left: dict[int, int] = {}
    for team, when in zip(teams, left, strict=True):
        if when is not None:
            first_left[team] = min(when, first_left.get(team, when))
    keys = [
        (1, -first_left[team]) if team in first_left else (0, rank)
        for team, rank in zip(teams, state_ranking, strict=True)
    ]
    return tuple(1 + sum(other < key for other in keys) for key in keys)


def teams_left(teams: Sequence[int], left: Sequence[int | None]) -> int:
    """How many teams still have all their members."""
    broken = {team for team, when in zip(teams, left, strict=True) if when is not None}
    return len(set(teams) - broken)


def is_decided(teams: Sequence[int], left: Sequence[int | None]) -> bool:
    """Whether those that left have decided the match: no two teams are whole any more, or not the only one there is."""
    return teams_left(teams, left) < min(2, len(set(teams)))


FORFEIT, DEFAULT, RANDOM = "forfeit", "default", "random"


def default_action(policy: str, legal: Sequence[Any], seed: str, seat: int, moment: int) -> Any:
    """The game's default action (the first of the list), or with `random` any, all equally likely.

    `seed` is the match's (hex); `moment` is how many nodes the match has gone through.
    """
    if policy != RANDOM:
        return legal[0]
    # 128 bits: what the remainder favours is below any measure.
    digest = blake2b(f"stand-in\x1f{seat}\x1f{moment}".encode(), digest_size=16, key=bytes.fromhex(seed)).digest()
    return legal[int.from_bytes(digest) % len(legal)]
