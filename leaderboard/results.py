"""What a match says about strength, and nothing else: who finished before whom."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from leaderboard.records import MatchRow, SeatRow
from referee.record.format import PERSON, Header, SeatHeader
from referee.run.folder import SINGLE
from referee.texts import listed

Team: TypeAlias = tuple[str, ...]
"""Entry ids, sorted."""

Result: TypeAlias = tuple[tuple[Team, ...], ...]
"""Teams by rank, best first; teams that tie stand together, sorted. Seats, places and times do not matter here, so that
equal results of the same entries are the same value."""


def result_of(match: MatchRow) -> Result | None:
    """None where the match says nothing: one team alone, an entry that sits twice, or a person in a seat."""
    seats = match.seats
    if has_people(match):
        return None
    if len(seats) == 2 and seats[0].team != seats[1].team:  # most matches by far
        one, other = seats
        if one.entry_id == other.entry_id:
            return None
        if one.rank == other.rank:
            first, second = sorted((one.entry_id, other.entry_id))
            return (((first,), (second,)),)
        better, worse = (one, other) if one.rank < other.rank else (other, one)
        return ((better.entry_id,),), ((worse.entry_id,),)
    members: dict[int, list[str]] = {}
    ranks: dict[int, int] = {}
    for seat in seats:
        members.setdefault(seat.team, []).append(seat.entry_id)
        ranks[seat.team] = seat.rank
    if len(members) < 2 or is_mirror(match):
        return None
    by_rank: dict[int, list[Team]] = {}
    for team, ids in members.items():
        by_rank.setdefault(ranks[team], []).append(tuple(sorted(ids)))
    return tuple(tuple(sorted(by_rank[rank])) for rank in sorted(by_rank))


def tally(matches: Iterable[MatchRow]) -> Counter[Result]:
    """How often each result came about. Matches that say nothing are left out."""
    from leaderboard.match_table import MatchTable

    if isinstance(matches, MatchTable):
        return matches.results
    return Counter(result for match in matches if (result := result_of(match)) is not None)


def groups_of(results: Iterable[Result]) -> list[frozenset[str]]:
    """The entries that have met, directly or through others, the largest group first. Between two groups there is no
    result, so nothing is known of which one is stronger."""
    leads_to: dict[str, str] = {}
    """By entry another one of its group, nearer to the one that stands for all of it, which leads to itself."""

    def stands_for(entry: str) -> str:
        while (nearer := leads_to.setdefault(entry, entry)) != entry:
            leads_to[entry] = leads_to[nearer]
            entry = nearer
        return entry

    for result in results:
        first, *others = (entry for rank in result for team in rank for entry in team)
        one = stands_for(first)
        for other in others:
            leads_to[stands_for(other)] = one
    groups: dict[str, list[str]] = {}
    for entry in leads_to:
        groups.setdefault(stands_for(entry), []).append(entry)
    return sorted(map(frozenset, groups.values()), key=lambda found: (-len(found), min(found)))


def is_mirror(match: MatchRow) -> bool:
    """Whether an entry has more than one seat: the match changes no rating."""
    return len({seat.entry_id for seat in match.seats}) < len(match.seats)


def is_person(match: MatchRow | Header, seat: SeatRow | SeatHeader) -> bool:
    """Whether a person plays this seat of the match."""
    return match.tournament == SINGLE and seat.version == PERSON


def has_people(match: MatchRow | Header) -> bool:
    """Whether a person plays in it: the match changes no rating."""
    return match.tournament == SINGLE and any(seat.version == PERSON for seat in match.seats)


def tied_pairs(results: Mapping[Result, int]) -> tuple[int, int]:
    """Pairs of teams that tied, and all pairs of teams that met."""
    ties = pairs = 0
    for result, times in results.items():
        teams = sum(map(len, result))
        pairs += times * teams * (teams - 1) // 2
        ties += times * sum(len(group) * (len(group) - 1) // 2 for group in result)
    return ties, pairs


def outcome_for(match: MatchRow, entry_id: str) -> str:
    """What a match was for an entry: "won" (first, alone or with its team), "drawn" (first, but not alone), "lost", or
    "mirror" for a match against itself."""
    if is_mirror(match):
        return "mirror"
    seat = next(seat for seat in match.seats if seat.entry_id == entry_id)
    if seat.rank > 1:
        return "lost"
    return "drawn" if any(other.rank == 1 and other.team != seat.team for other in match.seats) else "won"


def result_words(row: MatchRow) -> str:
    """Who won a match: 'Ada beats Bob', 'Ada and Bob draw', 'Ada beats Bob, Cyd'."""
    seats = sorted(row.seats, key=lambda seat: (seat.rank, seat.seat))
    first = [seat.name for seat in seats if seat.rank == seats[0].rank]
    others = [seat.name for seat in seats if seat.rank != seats[0].rank]
    if not others:
        return f"{listed(first)} draw"
    return f"{listed(first)} {'beats' if len(first) == 1 else 'beat'} {', '.join(others)}"
