"""The ranking of a match that seats have left by their own fault."""

from collections.abc import Sequence


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
