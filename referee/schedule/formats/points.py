"""Rank points: what a result is worth to a format, on one scale for any number of seats."""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from referee.schedule.formats.api import BlockResult, MatchScore


def match_points(match: MatchScore) -> dict[int, Fraction]:
    """Per bot the share of its opponents that it beat, ties as a half: 1, 1/2, 0 for two seats.

    Seats of one's own team are no opponents. In a match that does not count because bots are out, those lose together
    and the others tie; if nobody is out (it was annulled), all tie. A bot on several seats gets their mean.
    """
    ranking = match.ranking or tuple(2 if bot in match.absent else 1 for bot in match.bots)
    shares: dict[int, list[Fraction]] = {}
    for bot, team, rank in zip(match.bots, match.teams, ranking, strict=True):
        others = [rank_ for team_, rank_ in zip(match.teams, ranking, strict=True) if team_ != team]
        beaten = Fraction(sum(2 * (rank < other) + (rank == other) for other in others), 2)
        shares.setdefault(bot, []).append(beaten / len(others) if others else Fraction(1, 2))
    return {bot: sum(got, Fraction()) / len(got) for bot, got in shares.items()}


def block_points(result: BlockResult) -> dict[int, Fraction]:
    """Per bot its mean points over the block's matches, 0 to 1."""
    total: dict[int, Fraction] = {}
    for match in result.matches:
        for bot, points in match_points(match).items():
            total[bot] = total.get(bot, Fraction()) + points
    return {bot: points / len(result.matches) for bot, points in total.items()}


def pair_points(result: BlockResult) -> dict[tuple[int, int], Fraction]:
    """Per ordered pair of opponents the mean of what the first got against the second: 1 in front, 1/2 tied, 0."""
    total: dict[tuple[int, int], Fraction] = {}
    for match in result.matches:
        ranking = match.ranking or tuple(2 if bot in match.absent else 1 for bot in match.bots)
        seats = list(zip(match.bots, match.teams, ranking, strict=True))
        for one, team, rank in seats:
            for other, other_team, other_rank in seats:
                if one != other and team != other_team:
                    got = Fraction(2 * (rank < other_rank) + (rank == other_rank), 2)
                    total[one, other] = total.get((one, other), Fraction()) + got
    return {pair: points / len(result.matches) for pair, points in total.items()}


def add_points(total: dict[int, Fraction], results: Iterable[BlockResult]) -> None:
    """Add the points of `results` to `total` in place."""
    for result in results:
        for bot, points in block_points(result).items():
            total[bot] = total.get(bot, Fraction()) + points


def show(points: Fraction) -> str:
    """A sum of points as people read it: 3, 2.5, 1.33."""
    return f"{float(points):.2f}".rstrip("0").rstrip(".")


def ranks(order: Iterable[int], key: Mapping[int, object]) -> list[tuple[int, int]]:
    """(bot, rank) for bots sorted best first; equal keys share a rank and the next one is skipped."""
    found: list[tuple[int, int]] = []
    last: object = None
    for place, bot in enumerate(order, start=1):
        shared = bool(found) and key[bot] == last
        found.append((bot, found[-1][1] if shared else place))
        last = key[bot]
    return found
