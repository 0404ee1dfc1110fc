"""The table of a format: points, and the tie-breaks that the tournament file chooses, in its order.

Every tie-break looks only at results among the bots of the table, so it does not depend on when a match was played.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from referee.schedule.formats.api import BlockResult, Field, Setting
from referee.schedule.formats.points import block_points, pair_points

Key: TypeAlias = tuple[Fraction, ...]
"""What a bot is ranked by, ascending: points, then each tie-break, all with the sign turned."""


@dataclass(slots=True)
class Scores:
    """Points, and per ordered pair of bots that have met what the first got against the second.

    `won` has the matches in which a bot was alone on the first rank. `draws_by_lot` breaks what is still tied.
    """

    points: dict[int, Fraction] = field(default_factory=dict)
    got: dict[tuple[int, int], Fraction] = field(default_factory=dict)
    won: Counter[int] = field(default_factory=Counter)

    def add_block(self, result: BlockResult, blocks: int) -> None:
        """Count a settled block, of which a round has `blocks` per table."""
        for bot, points in block_points(result).items():
            self.add_points(bot, points / blocks)
        for pair, points in pair_points(result).items():
            self.got[pair] = self.got.get(pair, Fraction()) + points / blocks
        for match in result.matches:
            first = [bot for bot, rank in zip(match.bots, match.ranking, strict=False) if rank == 1]
            self.won.update(first if len(first) == 1 else ())

    def add_points(self, bot: int, points: Fraction) -> None:
        self.points[bot] = self.of(bot) + points

    def of(self, bot: int) -> Fraction:
        return self.points.get(bot, Fraction())

    def opponents(self, bot: int) -> list[Fraction]:
        """The points of those whom a bot has met, the lowest first."""
        return sorted(self.of(other) for one, other in self.got if one == bot)

    def keys(self, bots: Sequence[int], tie_breaks: Sequence[str]) -> dict[int, Key]:
        """What these bots are ranked by."""
        found: dict[int, Key] = {bot: (-self.of(bot),) for bot in bots}
        for name in tie_breaks:
            if name == DIRECT_ENCOUNTER:
                values = self._direct(found)
            else:
                values = {bot: TIE_BREAKS[name][0](self, bot) for bot in bots}
            found = {bot: (*key, -values[bot]) for bot, key in found.items()}
        return found

    def _direct(self, keys: Mapping[int, Key]) -> dict[int, Fraction]:
        """Per bot what it got against those that are tied with it; 0 where two of them have not met."""
        values = dict.fromkeys(keys, Fraction())
        groups: dict[Key, list[int]] = {}
        for bot, key in keys.items():
            groups.setdefault(key, []).append(bot)
        for group in groups.values():
            pairs = [(one, other) for one in group for other in group if one != other]
            if all(pair in self.got for pair in pairs):
                for one, other in pairs:
                    values[one] += self.got[one, other]
        return values


def _buchholz(scores: Scores, bot: int) -> Fraction:
    return sum(scores.opponents(bot), Fraction())


def _buchholz_cut_1(scores: Scores, bot: int) -> Fraction:
    return sum(scores.opponents(bot)[1:], Fraction())


def _median_buchholz(scores: Scores, bot: int) -> Fraction:
    return sum(scores.opponents(bot)[1:-1], Fraction())


def _sonneborn_berger(scores: Scores, bot: int) -> Fraction:
    return sum(
        (points * scores.of(other) for (one, other), points in scores.got.items() if one == bot),
        Fraction(),
    )


def _wins(scores: Scores, bot: int) -> Fraction:
    return Fraction(scores.won[bot])


def _unused(scores: Scores, bot: int) -> Fraction:
    raise AssertionError("compared within the group that is tied")


DIRECT_ENCOUNTER = "direct-encounter"

TIE_BREAKS: Mapping[str, tuple[Callable[[Scores, int], Fraction], str]] = {
    "buchholz": (_buchholz, "sum of the points of all opponents"),
    "buchholz-cut-1": (_buchholz_cut_1, "Buchholz without the opponent that has the fewest points"),
    "median-buchholz": (_median_buchholz, "Buchholz without the opponents that have the fewest and the most points"),
    "sonneborn-berger": (_sonneborn_berger, "sum of the opponents' points, each multiplied by the result against it"),
    DIRECT_ENCOUNTER: (_unused, "points against the bots that are still tied with it, if each two of them have met"),
    "wins": (_wins, "matches in which the bot was alone on the first rank; byes do not count"),
}
"""How each is computed, and what docs/formats.md says of it."""

USUAL = ("buchholz", "sonneborn-berger")

TIE_BREAK_SETTING = Setting(
    "tie_breaks",
    "words",
    None,
    f"what breaks a tie in points, in this order; left out: {', '.join(USUAL)}",
    choices=tuple(TIE_BREAKS),
    later=True,
)


def tie_breaks_of(field: Field) -> tuple[str, ...]:
    """Those that the file chooses."""
    chosen = field.settings.get("tie_breaks")
    return USUAL if chosen is None else tuple(chosen)
