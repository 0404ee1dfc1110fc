"""The table: rank, ratings, results, faults and time use of every entry, one table per game and number of players."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from leaderboard.controls import Counted
from leaderboard.match_table import Mask, MatchTable, Numbers, pairs_of, table_of
from leaderboard.ratings.approved import approved_parts, rate_parted
from leaderboard.ratings.live import METHOD as LIVE_METHOD
from leaderboard.ratings.live import LiveTable, continue_live
from leaderboard.ratings.official import INTERVAL_95, METHOD, Official, rate
from leaderboard.ratings.registry import MODELS
from leaderboard.ratings.skill import Skill
from leaderboard.records import MatchRow
from leaderboard.usage import Spent, spent
from leaderboard.usage import add as add_usage
from referee.record.format import PERSON
from referee.record.journal import ALL_APPROVED, Approvals
from referee.record.reasons import is_fault
from referee.run.folder import SINGLE
from referee.texts import listed

CAPTION = f"Ranked by mu - 3 sigma. {METHOD}; +- is 95 %. Elo: a Plackett-Luce fit, as a cross-check."
LIVE_CAPTION = f"Ranked by mu - 3 sigma. {LIVE_METHOD}."

Pool: TypeAlias = tuple[str, int]
"""A game and a number of players, which have a table of their own."""

ALL_POOLED: Pool = ("*", 0)
"""Stands for the game and number of players of a table over everything."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One row. Entries with equal ratings share a rank; each table (`game`, `players`) ranks for itself, and so does in
    it each `group` of entries that have met, directly or through others: 1 is the largest.

    `mu`, `sigma`, `conservative`, `low` and `high` (95 %) are the official rating, `live_mu` and `live_sigma` the live
    one; `elo` and its standard error are the cross-check. `better` is the probability that the entry is stronger than
    the next row's; None in the last row of a group. An entry that was not rated comes last, and has None in all of
    them, in `rank` and in `group`.

    A person in a single match has no row. Matches with people count in `played`, and are not rated.

    Won: ranked first, alone or with one's team; drawn: first, but not alone; lost: all else, `forfeited` included.
    `mirrors` are matches of an entry against itself: each counts once in `played`, and is neither won, drawn nor lost.
    Times are in milliseconds per answered decision, as charged; None where there was none. The worst time has decisions
    that timed out in it. The lag beside them was not the bot's doing. All but the times is a function of the results
    alone. `note` says what has become of the entry; `settled` is False in a table whose official ratings
    still moved when the computation was given up. `more` has `mu` and `sigma` of each model that was added to
    `leaderboard.ratings.registry`, by its name. `usage` are the sums of the provider usage that the bot reported
    (see `leaderboard.usage`); None for a bot that reported none.
    """

    rank: int | None
    name: str
    version: str
    entry_id: str
    mu: float | None
    sigma: float | None
    conservative: float | None
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
    mirrors: int = 0
    group: int | None = None
    more: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    usage: Spent | None = None

    @property
    def rated(self) -> bool:
        """Whether there are ratings: they come from matches against others."""
        return self.mu is not None

    def to_dict(self) -> dict[str, Any]:
        """For JSON: numbers as they are, None where there is none, faults by reason; `usage` only for a bot that
        reported it."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "usage"}
        used = {"usage": dict(self.usage)} if self.usage else {}
        return fields | {"faults": dict(self.faults), "rated": self.rated} | used

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Standing":
        """Inverse of `to_dict`. TypeError for what has other fields."""
        return cls(**{name: value for name, value in values.items() if name != "rated"})


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot that is in the tables even before a match was played; of `games` only, if it does not play all games."""

    entry_id: str
    name: str
    version: str
    games: tuple[str, ...] = ()

    def plays(self, game: str) -> bool:
        return not self.games or game in self.games


@dataclass(slots=True)
class Tally:
    """What one entry did in one pool."""

    played: int = 0
    won: int = 0
    drawn: int = 0
    mirrors: int = 0
    decisions: int = 0
    total_us: int = 0
    worst_us: int = 0
    lag_us: int = 0
    worst_lag_us: int = 0
    usage: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Ratings:
    """All that is computed from the results of one pool.

    `settled` is the live table up to the first match that has no result yet: kept, it saves rating those matches again.
    `others` has the ratings of each model in `leaderboard.ratings.registry`.
    """

    official: Official
    live: LiveTable
    settled: LiveTable
    others: Mapping[str, Mapping[str, Skill]]


def standings(
    matches: Sequence[MatchRow] | Counted,
    entrants: Iterable[Entrant] = (),
    *,
    pooled: bool = False,
    ratings: Mapping[Pool, Ratings] | None = None,
) -> list[Standing]:
    """The tables over rated matches, each best first, by game and number of players; one over all if `pooled`.

    `ratings` are those of `rate_pools` for these matches, if they are known.
    """
    counted = matches if isinstance(matches, Counted) else Counted(tuple(matches))
    if ratings is None:
        ratings = rate_pools(counted.rows, pooled=pooled, approvals=counted.approvals, anchors=counted.anchors)
    known = list(entrants)
    rows: list[Standing] = []
    for pool, found in pools_of(counted.rows, pooled=pooled).items():
        here = known if pooled else [one for one in known if one.plays(pool[0])]
        rows += _table(*pool, found, here, counted, ratings[pool])
    return rows or _table("", 0, [], known, counted, rate_pool([]))


def by_live_rating(table: Iterable[Standing]) -> list[Standing]:
    """The same rows, ranked by the live rating instead, in `mu`, `sigma` and `conservative` too. The interval, the
    cross-check and the comparison with the next row belong to the official one and are left out."""
    pools: dict[Pool, list[Standing]] = {}
    for row in table:
        rated = row.live_mu is not None and row.live_sigma is not None
        pools.setdefault((row.game, row.players), []).append(
            replace(
                row,
                mu=row.live_mu,
                sigma=row.live_sigma,
                conservative=Skill(row.live_mu or 0.0, row.live_sigma or 0.0).conservative if rated else None,
                low=None,
                high=None,
                better=None,
                elo=None,
                elo_error=None,
            )
        )
    return [row for rows in pools.values() for row in _ranked(rows)]


def rating_words(row: Standing) -> str:
    """The rating with the half of its 95 % interval, such as "32.1 ± 2.0"; '' for a bot without a rating."""
    if row.mu is None:
        return ""
    return f"{row.mu:.1f}" if row.high is None else f"{row.mu:.1f} ± {row.high - row.mu:.1f}"


def _ranked(rows: Iterable[Standing]) -> list[Standing]:
    """The rows of one table in order, group by group, with their ranks."""
    ranked: list[Standing] = []
    place = 0
    for row in sorted(rows, key=_order):
        last = ranked[-1] if ranked else None
        together = last is not None and last.group == row.group
        place = place + 1 if together else 1
        same = together and last is not None and _are_equal(last.mu, row.mu) and _are_equal(last.sigma, row.sigma)
        ranked.append(replace(row, rank=None if not row.rated else last.rank if same and last else place))
    return ranked


def _order(row: Standing) -> tuple[float, float, float, str, str]:
    if row.group is None or row.conservative is None or row.mu is None:
        return math.inf, 0.0, 0.0, row.name, row.entry_id
    return row.group, -_rounded(row.conservative), -_rounded(row.mu), row.name, row.entry_id


def _rounded(rating: float) -> float:
    """To 9 decimals: the others differ by machine."""
    return round(rating, 9)


def _are_equal(one: float | None, other: float | None) -> bool:
    """Whether they differ by nothing but the rounding of the computation: equal results must have equal ranks."""
    return math.isclose(one or 0.0, other or 0.0, rel_tol=0.0, abs_tol=1e-9)


def apart(table: Iterable[Standing]) -> str:
    """What must be said of bots that have never met, not even through others; '' if all have."""
    parts = [f"{_pool_words(pool)}: {number} groups" for pool, number in split_pools(table).items()]
    if not parts:
        return ""
    return (
        f"Not all bots have met ({'; '.join(parts)}): each group is ranked separately, and the ratings of different"
        " groups cannot be compared."
    )


def split_pools(table: Iterable[Standing]) -> dict[Pool, int]:
    """The tables whose bots have not all met, with the number of their groups: a rank there is one in a group."""
    groups: dict[Pool, set[int]] = {}
    for row in table:
        if row.group is not None:
            groups.setdefault((row.game, row.players), set()).add(row.group)
    return {pool: len(found) for pool, found in groups.items() if len(found) > 1}


def _pool_words(pool: Pool) -> str:
    return "all games" if pool == ALL_POOLED else "{} with {} players".format(*pool)


def unsettled(table: Iterable[Standing]) -> str:
    """What must be said of official ratings that did not come to rest; '' if all did."""
    moving = dict.fromkeys((row.game, row.players) for row in table if not row.settled)
    which = listed(map(_pool_words, moving))
    return f"The official ratings of {which} did not come to rest: take them as rough." if moving else ""


def pools_of(matches: Iterable[MatchRow], *, pooled: bool = False) -> Mapping[Pool, Sequence[MatchRow]]:
    """Matches by game and number of players, which are never rated together unless asked."""
    if isinstance(matches, MatchTable):
        return matches.pools() if not pooled else {ALL_POOLED: matches} if len(matches) else {}
    pools: dict[Pool, list[MatchRow]] = {}
    for match in matches:
        pools.setdefault(ALL_POOLED if pooled else (match.game, len(match.seats)), []).append(match)
    return dict(sorted(pools.items()))


def rate_pools(
    matches: Iterable[MatchRow],
    *,
    pooled: bool = False,
    kept: Mapping[Pool, LiveTable] | None = None,
    settled: int = 0,
    approvals: Approvals = ALL_APPROVED,
    anchors: Mapping[str, float] | None = None,
) -> dict[Pool, Ratings]:
    """The ratings of each pool. `kept` are live tables of before, as far as there are any; matches with a place below
    `settled` are expected not to change. `approvals` say whose matches move whom, `anchors` which ratings are fixed."""
    pools = pools_of(matches, pooled=pooled)
    return {
        pool: rate_pool(found, (kept or {}).get(pool), settled, approvals, anchors) for pool, found in pools.items()
    }


def rate_pool(
    matches: Sequence[MatchRow],
    kept: LiveTable | None = None,
    settled: int = 0,
    approvals: Approvals = ALL_APPROVED,
    anchors: Mapping[str, float] | None = None,
) -> Ratings:
    """The ratings of one pool by all models. Of entries that were never approved only TrueSkill says something. Where
    some are not approved there are no anchors: only ladders have them."""
    prefix, live = continue_live(matches, kept, settled, approvals)
    official = rate_parted(matches, approvals) if approvals else rate(matches, anchors)
    clean = approved_parts(matches, approvals)
    fixed = {} if approvals else anchors or {}
    return Ratings(official, live, prefix, {name: model(clean, fixed) for name, model in MODELS.items()})


def _table(
    game: str, players: int, pool: Sequence[MatchRow], entrants: Iterable[Entrant], counted: Counted, ratings: Ratings
) -> list[Standing]:
    who = {entrant.entry_id: entrant for entrant in entrants}
    tallies: dict[str, Tally] = {entry_id: Tally() for entry_id in who}
    faults: dict[str, Counter[str]] = {}
    table = table_of(pool)
    of_bots = ~_people(table)
    entries, seats = table.seat_entries[of_bots], np.flatnonzero(of_bots)
    there, first = np.unique(entries, return_index=True)
    for seat in seats[first].tolist():
        entry_id, name, version = table.bots[table.numbers["who"][seat]]
        who.setdefault(entry_id, Entrant(entry_id, name, version))
        tallies.setdefault(entry_id, Tally())
    matches = table.match_of_seat[of_bots]
    mirrored = np.zeros(len(table), dtype=np.bool_)
    mirrored[table.mirrors] = True
    mirror = mirrored[matches]
    best = ~mirror & (table.numbers["rank"][of_bots] == 1)
    shared = np.zeros(len(table), dtype=np.bool_)
    shared[table.shared] = True
    twice = np.unique(np.stack((matches[mirror], entries[mirror])), axis=1)[1]
    numbers = {
        "played": _sums(entries, ~mirror, table) + np.bincount(twice, minlength=len(table.entries)),
        "won": _sums(entries, best & ~shared[matches], table),
        "drawn": _sums(entries, best & shared[matches], table),
        "mirrors": np.bincount(twice, minlength=len(table.entries)),
    }
    for name in ("decisions", "total_us", "lag_us"):
        numbers[name] = _sums(entries, table.column(name)[of_bots], table)
    for name in ("worst_us", "worst_lag_us"):
        numbers[name] = np.zeros(len(table.entries), dtype=np.int64)
        np.maximum.at(numbers[name], entries, table.column(name)[of_bots])
    for entry in there.tolist():
        done = tallies[table.entries[entry]]
        for name, column in numbers.items():
            setattr(done, name, int(column[entry]))
    for entry, usage, number in pairs_of(entries, table.column("usage")[of_bots]):
        add_usage(tallies[table.entries[entry]].usage, table.counted_texts[usage], number)
    faulty = table.seats_where("fault", is_fault) & of_bots
    for entry, fault, number in pairs_of(table.seat_entries[faulty], table.column("fault")[faulty]):
        faults.setdefault(table.entries[entry], Counter())[table.texts[fault]] += number
    return make_table(game, players, who, tallies, faults, ratings, counted)


def _people(table: MatchTable) -> Mask:
    """The seats of people (see `leaderboard.results.is_person`)."""
    single = np.array([text == SINGLE for text in table.texts], dtype=np.bool_)
    people = np.array([version == PERSON for _, _, version in table.bots], dtype=np.bool_)
    if not single.any() or not people.any():
        return np.zeros(len(table.numbers["who"]), dtype=np.bool_)
    return people[table.numbers["who"]] & single[table.numbers["tournament"]][table.match_of_seat]


def _sums(entries: Numbers, values: Numbers | Mask, table: MatchTable) -> Numbers:
    """Per entry. Sums of microseconds are exact up to 285 years."""
    return np.bincount(entries, values, len(table.entries)).astype(np.int64)


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
    groups = {entry: number for number, group in enumerate(ratings.official.groups, start=1) for entry in group}
    shifts = _live_shifts(ratings, counted.anchors)
    table: list[Standing] = []
    for entry_id, done in tallies.items():
        skill = skills.get(entry_id)
        live, check = ratings.live.skills.get(entry_id), ratings.others["elo"].get(entry_id)
        margin = INTERVAL_95 * skill.sigma if skill else 0.0
        forfeited = counted.forfeited(entry_id, game, players)
        table.append(
            Standing(
                rank=None,
                name=who[entry_id].name,
                version=who[entry_id].version,
                entry_id=entry_id,
                mu=skill.mu if skill else None,
                sigma=skill.sigma if skill else None,
                conservative=ratings.official.conservative(entry_id) if skill else None,
                played=done.played,
                won=done.won,
                drawn=done.drawn,
                lost=done.played - done.mirrors - done.won - done.drawn + forfeited,
                faults=dict(sorted(faults.get(entry_id, {}).items())),
                mean_move_ms=done.total_us / done.decisions / 1000 if done.decisions else None,
                worst_move_ms=done.worst_us / 1000 if done.decisions or done.worst_us else None,
                mean_lag_ms=done.lag_us / done.decisions / 1000 if done.decisions else None,
                worst_lag_ms=done.worst_lag_us / 1000 if done.decisions or done.worst_us else None,
                game=game,
                players=players,
                low=skill.mu - margin if skill else None,
                high=skill.mu + margin if skill else None,
                better=None,
                elo=check.mu if check else None,
                elo_error=check.sigma if check else None,
                live_mu=live.mu + shifts.get(groups.get(entry_id, 0), 0.0) if live else None,
                live_sigma=live.sigma if live else None,
                forfeited=forfeited,
                note=(counted.notes or {}).get(entry_id, ""),
                settled=ratings.official.settled,
                mirrors=done.mirrors,
                group=groups.get(entry_id),
                more={
                    name: {"mu": found[entry_id].mu, "sigma": found[entry_id].sigma}
                    for name, found in ratings.others.items()
                    if name != "elo" and entry_id in found
                },
                usage=spent(done.usage),
            )
        )
    ranked = _ranked(table)
    return [
        replace(row, better=ratings.official.better(row.entry_id, following.entry_id))
        if following is not None and row.group is not None and row.group == following.group
        else row
        for row, following in zip(ranked, [*ranked[1:], None], strict=False)
    ]


def _live_shifts(ratings: Ratings, anchors: Mapping[str, float]) -> dict[int, float]:
    """By how much the live ratings of each group are moved, so that the mean of its anchors is the official one."""
    shifts: dict[int, float] = {}
    for number, group in enumerate(ratings.official.groups, start=1):
        here = [entry for entry in sorted(group) if entry in anchors and entry in ratings.live.skills]
        if here:
            gaps = [ratings.official.skills[entry].mu - ratings.live.skills[entry].mu for entry in here]
            shifts[number] = sum(gaps) / len(here)
    return shifts
