"""The schedule of a tournament, as far as it is known without results."""

from collections.abc import Iterator

from referee.match.spec import MatchSpec
from referee.tournament.config import Tournament
from referee.tournament.field import extent_of
from referee.tournament.formats.api import Extent
from referee.tournament.identity import describe
from referee.tournament.luck import Luck
from referee.tournament.walk import Walk


def schedule(tournament: Tournament, luck: Luck | None = None) -> Iterator[MatchSpec]:
    """All matches in order, lazily, up to where the format needs results: none of them is looked at.

    Equal tournaments give equal specifications, ids included; a changed one, other ids. Without `luck` no match has a
    seed: then the schedule is a function of the file alone.
    """
    walk = Walk(tournament, luck=luck)
    while (spec := walk.next()) is not None:
        walk.settle(spec)  # forgotten at once, so that memory stays constant
        for _ in walk.in_order():
            pass
        yield spec


def extent(tournament: Tournament) -> Extent:
    """How many matches it has, at least and at most."""
    return extent_of(describe(tournament))


def count(tournament: Tournament) -> int:
    """How many matches the schedule has at most."""
    return extent(tournament).most
