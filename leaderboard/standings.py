"""The table: rank, ratings, results, faults and time use of every entry, one table per game and number of players."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from leaderboard.controls import Counted
from leaderboard.live import METHOD as LIVE_METHOD
from leaderboard.live import rate_live
from leaderboard.luce import Strength, strengths
from leaderboard.official import INTERVAL_95, METHOD, Official, rate_results
from leaderboard.records import MatchRow, SeatRow
from leaderboard.results import tally
from leaderboard.skill import Skill

CAPTION = f"Ranked by mu - 3 sigma. {METHOD}; +- is 95 %. Elo: a Plackett-Luce fit, as a cross-check."
LIVE_CAPTION = f"Ranked by mu - 3 sigma. {LIVE_METHOD}."

ALL_POOLED = ("*", 0)
"""Stands for the game and number of players of a table over everything."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One row. Entries with equal ratings share a rank; each table (`game`, `players`) ranks for itself.

    `mu`, `sigma`, `conservative`, `low` and `high` (95 %) are the official rating, `live_mu` and `live_sigma` the live
    one; `elo` and its standard error are the cross-check. `better` is the probability that the entry is stronger than
    the next row's; None in the last row, and beside an entry without a match. What was not rated has None.

    Won: ranked first, alone or with one's team; drawn: first, but not alone; lost: all else, `forfeited` included.
    Times are in milliseconds per answered decision, as charged; None where there was none. The lag beside them was not
    the bot's doing. All but the times is a function of
    the results alone. `note` says what has become of the entry; `settled` is False in a table whose official ratings
    still moved when the computation was given up.
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
    mean_lag_ms: float | None
    worst_lag_ms: float | None
    game: str
    players: int
    low: float | None
    high: float | None
    better: float | None
    elo: float | None
    elo_error: float | None
    live_mu: float | None
    live_sigma: float | None
    forfeited: int
    note: str
    settled: bool = True

    @property
    def rated(self) -> bool:
        """Whether the ratings come from matches: without one they are what everybody begins with."""
        return self.live_mu is not None

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
class Tally:
    """What one entry did in one pool."""

    played: int = 0
    won: int = 0
    drawn: int = 0
    decisions: int = 0
    total_us: int = 0
    worst_us: int = 0
    lag_us: int = 0
    worst_lag_us: int = 0


@dataclass(frozen=True, slots=True)
class Ratings:
    """All that is computed from the results of one pool."""

    official: Official
    live: Mapping[str, Skill]
    check: Mapping[str, Strength]


def standings(
    matches: Sequence[MatchRow] | Counted, entrants: Iterable[Entrant] = (), *, pooled: bool = False
) -> list[Standing]:
    """The tables over rated matches, each best first, by game and number of players; one over all if `pooled`."""
    counted = matches if isinstance(matches, Counted) else Counted(tuple(matches))
    known = list(entrants)
    rows: list[Standing] = []
    pools = pools_of(counted.rows, pooled=pooled) or {("", 0): []}
    for (game, players), pool in pools.items():
        rows += _table(game, players, pool, known, counted, rate_pool(pool))
    return rows


def by_live_rating(table: Iterable[Standing]) -> list[Standing]:
    """The same rows, ranked by the live rating instead, in `mu`, `sigma` and `conservative` too. The interval, the
    cross-check and the comparison with the next row belong to the official one and are left out."""
    pools: dict[tuple[str, int], list[Standing]] = {}
    for row in table:
        skill = Skill() if row.live_mu is None or row.live_sigma is None else Skill(row.live_mu, row.live_sigma)
        pools.setdefault((row.game, row.players), []).append(
            replace(
                row,
                mu=skill.mu,
                sigma=skill.sigma,
                conservative=skill.conservative,
                low=None,
                high=None,
                better=None,
                elo=None,
                elo_error=None,
            )
        )
    ranked: list[Standing] = []
    for rows in pools.values():
        rows.sort(key=lambda row: (-row.conservative, -row.mu, row.name, row.entry_id))
        for position, row in enumerate(rows):
            same = position > 0 and (rows[position - 1].mu, rows[position - 1].sigma) == (row.mu, row.sigma)
            ranked.append(replace(row, rank=ranked[-1].rank if same else position + 1))
    return ranked


def unsettled(table: Iterable[Standing]) -> str:
    """What must be said of official ratings that did not come to rest; '' if all did."""
    moving = dict.fromkeys((row.game, row.players) for row in table if not row.settled)
    which = " and ".join("all games" if pool == ALL_POOLED else "{} with {} players".format(*pool) for pool in moving)
    return f"The official ratings of {which} did not come to rest: take them as rough." if moving else ""


def pools_of(matches: Iterable[MatchRow], *, pooled: bool = False) -> dict[tuple[str, int], list[MatchRow]]:
    """Matches by game and number of players, which are never rated together unless asked."""
    pools: dict[tuple[str, int], list[MatchRow]] = {}
    for match in matches:
        pools.setdefault(ALL_POOLED if pooled else (match.game, len(match.seats)), []).append(match)
    return dict(sorted(pools.items()))


def rate_pool(matches: Sequence[MatchRow]) -> Ratings:
    """Official, live and cross-check ratings of one pool."""
    results = tally(matches)
    return Ratings(rate_results(results), rate_live(matches), strengths(results))


def _table(
    game: str, players: int, pool: Sequence[MatchRow], entrants: Iterable[Entrant], counted: Counted, ratings: Ratings
) -> list[Standing]:
    who = {entrant.entry_id: entrant for entrant in entrants}
    tallies: dict[str, Tally] = {entry_id: Tally() for entry_id in who}
    faults: dict[str, Counter[str]] = {}
    for match in pool:
        for seat in match.seats:
            who.setdefault(seat.entry_id, Entrant(seat.entry_id, seat.name, seat.version))
            _count(tallies.setdefault(seat.entry_id, Tally()), match, seat)
            if seat.fault:
                faults.setdefault(seat.entry_id, Counter())[seat.fault] += 1
    return make_table(game, players, who, tallies, faults, ratings, counted)


def make_table(
    game: str,
    players: int,
    who: Mapping[str, Entrant],
    tallies: Mapping[str, Tally],
    faults: Mapping[str, Mapping[str, int]],
    ratings: Ratings,
    counted: Counted,
) -> list[Standing]:
    """The rows of one table, from what was counted and rated."""
    skills = ratings.official.skills
    order = sorted(tallies, key=lambda entry_id: _order(skills.get(entry_id, Skill()), who[entry_id]))
    table: list[Standing] = []
    for position, entry_id in enumerate(order):
        skill = skills.get(entry_id, Skill())
        same = table and (table[-1].mu, table[-1].sigma) == (skill.mu, skill.sigma)
        following = order[position + 1] if position + 1 < len(order) else ""
        done = tallies[entry_id]
        live, check = ratings.live.get(entry_id), ratings.check.get(entry_id)
        both = entry_id in skills and following in skills
        margin = INTERVAL_95 * skill.sigma
        forfeited = (counted.forfeits or {}).get(entry_id, 0)
        table.append(
            Standing(
                rank=table[-1].rank if same else len(table) + 1,
                name=who[entry_id].name,
                version=who[entry_id].version,
                entry_id=entry_id,
                mu=skill.mu,
                sigma=skill.sigma,
                conservative=skill.conservative,
                played=done.played,
                won=done.won,
                drawn=done.drawn,
                lost=done.played - done.won - done.drawn + forfeited,
                faults=dict(sorted(faults.get(entry_id, {}).items())),
                mean_move_ms=done.total_us / done.decisions / 1000 if done.decisions else None,
                worst_move_ms=done.worst_us / 1000 if done.decisions else None,
                mean_lag_ms=done.lag_us / done.decisions / 1000 if done.decisions else None,
                worst_lag_ms=done.worst_lag_us / 1000 if done.decisions else None,
                game=game,
                players=players,
                low=skill.mu - margin if entry_id in skills else None,
                high=skill.mu + margin if entry_id in skills else None,
                better=ratings.official.better(entry_id, following) if both else None,
                elo=check.elo if check else None,
                elo_error=check.error if check else None,
                live_mu=live.mu if live else None,
                live_sigma=live.sigma if live else None,
                forfeited=forfeited,
                note=(counted.notes or {}).get(entry_id, ""),
                settled=ratings.official.settled,
            )
        )
    return table


def _order(skill: Skill, entrant: Entrant) -> tuple[float, float, str, str]:
    return (-skill.conservative, -skill.mu, entrant.name, entrant.entry_id)


def _count(tally_: Tally, match: MatchRow, seat: SeatRow) -> None:
    tally_.played += 1
    if seat.rank == 1:
        if any(other.rank == 1 and other.team != seat.team for other in match.seats):
            tally_.drawn += 1
        else:
            tally_.won += 1
    tally_.decisions += seat.decisions
    tally_.total_us += seat.total_us
    tally_.worst_us = max(tally_.worst_us, seat.worst_us)
    tally_.lag_us += seat.lag_us
    tally_.worst_lag_us = max(tally_.worst_lag_us, seat.worst_lag_us)
