"""The table: rank, rating, results, faults and time use of every entry."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.ratings import Skill, rate
from leaderboard.records import MatchRow, SeatRow


@dataclass(frozen=True, slots=True)
class Standing:
    """One row. Entries with equal ratings share a rank.

    Won: ranked first, alone or with one's team; drawn: first, but not alone; lost: all else.
    Times are in milliseconds per answered decision; None where there was none. All but the times is a function of
    the results alone.
    """

    rank: int
    name: str
    version: str
    entry_id: str
    mu: float
    sigma: float
    conservative: float
    played: int
    won: int
    drawn: int
    lost: int
    faults: Mapping[str, int]
    mean_move_ms: float | None
    worst_move_ms: float | None

    def to_dict(self) -> dict[str, Any]:
        """For JSON: numbers as they are, faults by reason."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {"faults": dict(self.faults)}


@dataclass(frozen=True, slots=True)
class Entrant:
    """Someone who is in the table even before a match was played."""

    entry_id: str
    name: str
    version: str


@dataclass(slots=True)
class _Tally:
    played: int = 0
    won: int = 0
    drawn: int = 0
    decisions: int = 0
    total_us: int = 0
    worst_us: int = 0


def standings(matches: Sequence[MatchRow], entrants: Iterable[Entrant] = ()) -> list[Standing]:
    """The table over rated matches, best first. `matches` in any order."""
    skills = rate(matches)
    who = {entrant.entry_id: entrant for entrant in entrants}
    tallies: dict[str, _Tally] = {entry_id: _Tally() for entry_id in who}
    faults: dict[str, Counter[str]] = {}
    for match in matches:
        for seat in match.seats:
            who.setdefault(seat.entry_id, Entrant(seat.entry_id, seat.name, seat.version))
            _count(tallies.setdefault(seat.entry_id, _Tally()), match, seat)
            if seat.fault:
                faults.setdefault(seat.entry_id, Counter())[seat.fault] += 1
    order = sorted(tallies, key=lambda entry_id: _order(skills.get(entry_id, Skill()), who[entry_id]))
    table: list[Standing] = []
    for entry_id in order:
        skill = skills.get(entry_id, Skill())
        same = table and (table[-1].mu, table[-1].sigma) == (skill.mu, skill.sigma)
        rank = table[-1].rank if same else len(table) + 1
        reasons = dict(sorted(faults.get(entry_id, Counter()).items()))
        table.append(_standing(rank, who[entry_id], skill, tallies[entry_id], reasons))
    return table


def _order(skill: Skill, entrant: Entrant) -> tuple[float, float, str, str]:
    return (-skill.conservative, -skill.mu, entrant.name, entrant.entry_id)


def _count(tally: _Tally, match: MatchRow, seat: SeatRow) -> None:
    tally.played += 1
    if seat.rank == 1:
        if any(other.rank == 1 and other.team != seat.team for other in match.seats):
            tally.drawn += 1
        else:
            tally.won += 1
    tally.decisions += seat.decisions
    tally.total_us += seat.total_us
    tally.worst_us = max(tally.worst_us, seat.worst_us)


def _standing(rank: int, entrant: Entrant, skill: Skill, tally: _Tally, faults: Mapping[str, int]) -> Standing:
    return Standing(
        rank=rank,
        name=entrant.name,
        version=entrant.version,
        entry_id=entrant.entry_id,
        mu=skill.mu,
        sigma=skill.sigma,
        conservative=skill.conservative,
        played=tally.played,
        won=tally.won,
        drawn=tally.drawn,
        lost=tally.played - tally.won - tally.drawn,
        faults=faults,
        mean_move_ms=tally.total_us / tally.decisions / 1000 if tally.decisions else None,
        worst_move_ms=tally.worst_us / 1000 if tally.decisions else None,
    )
