"""One table over several runs: the same bots by content, all matches in one fit. And one over several games.

The order of the runs changes nothing. Runs that do not fit together are refused, with the reason.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from leaderboard.completeness import gaps_of
from leaderboard.controls import Counted
from leaderboard.ratings.live import LiveTable
from leaderboard.ratings.official import INTERVAL_95, METHOD, rate
from leaderboard.ratings.registry import MODELS
from leaderboard.records import MatchRow
from leaderboard.run_table import counted_matches, entrants
from leaderboard.standings import ALL_POOLED, Entrant, Pool, Ratings, Standing, apart, pools_of, standings
from referee.errors import UsageError
from referee.run.machine_facts import makes_another, most_memory_words
from referee.run.run import Run
from referee.schedule.formats.ladder import NAME as LADDER
from referee.texts import one_line

CAPTION = f"Ranked by mu - 3 sigma. {METHOD}; +- is 95 %. Elo: a Plackett-Luce fit, as a cross-check."

_CONDITIONS = ("limits", "faults", "adjudication", "ponder")
"""Of a run's configuration: under other ones a bot may be stronger or weaker."""
_STRONGER = "bots may be stronger under one than under the other; to join them anyhow: --mixed"


@dataclass(frozen=True, slots=True)
class Joint:
    """Several runs that fit together. `counted` are all their matches that count; `entrants` by game and number of
    players: the bots of the runs that have these. `lost`: how many matches of each run were played and have no good
    record, for the runs that have such."""

    runs: tuple[Run, ...]
    counted: Counted
    entrants: Mapping[Pool, Sequence[Entrant]]
    lost: Mapping[Path, int]


def join(
    runs: Sequence[Run], *, mixed: bool = False, faultless: bool = False, anchors: Mapping[str, float] | None = None
) -> Joint:
    """The runs as one. `mixed`: also if their clocks, limits or rules about faults differ. `anchors` take the place of
    those of the runs. UsageError if they do not fit together."""
    ordered = sorted(runs, key=_age)
    for run in ordered:
        _check(run)
    for one, other in combinations(ordered, 2):
        _check_pair(one, other, mixed=mixed)
    fixed = _anchors(ordered) if anchors is None else dict(anchors)
    found = [counted_matches(run, faultless=faultless) for run in ordered]
    notes: dict[str, list[str]] = {}
    for run, counted in zip(ordered, found, strict=True):
        for entry, note in (counted.notes or {}).items():
            notes.setdefault(entry, []).append(f"in {run.title}: {note}")
    forfeits = sum((Counter(counted.forfeits) for counted in found), Counter[tuple[str, str, int]]())
    together = Counted(
        tuple(row for counted in found for row in counted.rows),
        sum(counted.annulled for counted in found),
        sum(counted.rejudged for counted in found),
        {entry: "; ".join(said) for entry, said in notes.items()},
        dict(forfeits),
        anchors=fixed,
        aside=sum(counted.aside for counted in found),
        undecided=list(dict.fromkeys(name for counted in found for name in counted.undecided)),
    )
    lost = {
        run.folder.path: gaps_of(run).lost
        for run, counted in zip(ordered, found, strict=True)
        if run.finished and len(counted.rows) < run.total - counted.annulled
    }
    return Joint(tuple(ordered), together, _entrants(ordered), {run: number for run, number in lost.items() if number})


def joint_standings(joint: Joint, *, pooled: bool = False) -> list[Standing]:
    """The tables over all matches, by game and number of players; one over all if `pooled`. There is no live rating:
    matches of different runs have no common order."""
    pools = pools_of(joint.counted.rows, pooled=pooled)
    wanted = [ALL_POOLED] if pooled else sorted({*joint.entrants, *pools})
    table: list[Standing] = []
    for pool in wanted:
        rows = pools.get(pool, [])
        counted = replace(joint.counted, rows=tuple(rows))
        everybody = (entrant for found in joint.entrants.values() for entrant in found)
        known = _latest(everybody if pooled else joint.entrants.get(pool, ()))
        ratings = {key: _rate(found, joint.counted.anchors) for key, found in pools_of(rows, pooled=pooled).items()}
        made = standings(counted, known, pooled=pooled, ratings=ratings)
        table += [replace(row, game=pool[0], players=pool[1]) for row in made]
    return table


def _rate(rows: Sequence[MatchRow], anchors: Mapping[str, float]) -> Ratings:
    others = {name: model(rows, anchors) for name, model in MODELS.items()}
    return Ratings(rate(rows, anchors), LiveTable(), LiveTable(), others)


@dataclass(frozen=True, slots=True)
class Combined:
    """A bot over several games. `total` is the sum of mu - 3 sigma over the games that it has played; a game without a
    rated match counts 0, which is what a bot has of which nothing is known. `error` is half the 95 % interval of the
    sum of its mu. `games` has the row of each table in which it is rated. `group`: of the bots that have met in some
    game, directly or through others; each is ranked for itself. All four are None for who is not rated in any game."""

    rank: int | None
    group: int | None
    name: str
    version: str
    entry_id: str
    total: float | None
    error: float | None
    games: Mapping[Pool, Standing]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        rated = [
            {
                "game": game,
                "players": players,
                "rank": row.rank,
                "mu": row.mu,
                "sigma": row.sigma,
                "conservative": row.conservative,
                "elo": row.elo,
                "played": row.played,
            }
            for (game, players), row in self.games.items()
        ]
        own = {"rank": self.rank, "name": self.name, "version": self.version, "entry_id": self.entry_id}
        return {**own, "group": self.group, "total": self.total, "error": self.error, "games": rated}


def combined(table: Iterable[Standing]) -> list[Combined]:
    """One row for each bot of several tables: in each group of bots that have met the largest sum first; equal sums
    share a rank. Those without any rating come last."""
    rated: dict[str, dict[Pool, Standing]] = {}
    who: dict[str, Standing] = {}
    for row in table:
        who.setdefault(row.entry_id, row)
        games = rated.setdefault(row.entry_id, {})
        if row.rated:
            games[row.game, row.players] = row
    groups = _met(rated)
    made: list[Combined] = []
    for entry_id, games in rated.items():
        # Rounded as in the tables, or bots that are equal there would differ here by what sums lose.
        total = round(math.fsum(row.conservative or 0.0 for row in games.values()), 9)
        error = INTERVAL_95 * math.sqrt(math.fsum((row.sigma or 0.0) ** 2 for row in games.values()))
        name, version = who[entry_id].name, who[entry_id].version
        known, off = (total, error) if games else (None, None)
        made.append(Combined(None, groups.get(entry_id), name, version, entry_id, known, off, games))
    made.sort(key=lambda one: (one.group is None, one.group or 0, -(one.total or 0.0), one.name, one.entry_id))
    ranked: list[Combined] = []
    place = 0
    for one in made:
        last = ranked[-1] if ranked else None
        place = place + 1 if last is not None and last.group == one.group else 1
        same = last is not None and (last.total, last.group) == (one.total, one.group)
        ranked.append(replace(one, rank=None if one.group is None else last.rank if last and same else place))
    return ranked


def _met(rated: Mapping[str, Mapping[Pool, Standing]]) -> dict[str, int]:
    """By entry that is rated the number of its group, from 1, the largest first: of those that share a group in one of
    the tables, directly or through others."""
    tables: dict[tuple[Pool, int | None], list[str]] = {}
    for entry, games in rated.items():
        for pool, row in games.items():
            tables.setdefault((pool, row.group), []).append(entry)
    groups: list[set[str]] = []
    for members in tables.values():
        joined = {*members}.union(*(group for group in groups if not group.isdisjoint(members)))
        groups = [*(group for group in groups if group.isdisjoint(members)), joined]
    groups.sort(key=lambda group: (-len(group), min(group)))
    return {entry: number for number, group in enumerate(groups, start=1) for entry in group}


def combined_apart(rows: Sequence[Standing], made: Iterable[Combined]) -> str:
    """What must be said beside `combined` of bots that have never met; '' if all have."""
    if len({one.group for one in made} - {None}) > 1:
        return (
            "Not all bots have met: each group is ranked separately, and the sums of different groups cannot be"
            " compared."
        )
    if apart(rows):
        return (
            "Not all bots have met in each game: the sums have ratings in them that cannot be compared with each other."
        )
    return ""


def _age(run: Run) -> tuple[str, str]:
    """When it began, then where it is."""
    created = run.journal.created
    return (created.at if created is not None else "", str(run.folder.path.resolve()))


def _check(run: Run) -> None:
    """UsageError for a run that has no table which could be joined with another."""
    if run.configuration["format"] == LADDER:
        what = f"{run.folder.path} is a division of a ladder, in which not every match moves every bot"
        raise UsageError(what, "leave it out; its own table: crosstown standings RUN")


def _check_pair(one: Run, other: Run, *, mixed: bool) -> None:
    where = f"{one.folder.path} and {other.folder.path}"
    if one.folder.path.resolve() == other.folder.path.resolve():
        raise UsageError(f"{one.folder.path} is named twice", "name each run once")
    mine, theirs = one.anchors.digests, other.anchors.digests
    if copied := sorted(match for match, digest in mine.items() if theirs.get(match) == digest):
        what = f"{where} have the same record of match {copied[0]} ({len(copied)} in all): one is a copy of the other"
        raise UsageError(what, "name only one of them")
    first, second = one.configuration, other.configuration
    shared = False
    for game in first["games"]:
        for same in [known for known in second["games"] if known["game"] == game["game"]]:
            shared = True
            if game["rules_version"] != same["rules_version"]:
                versions = f"{game['rules_version']} and {same['rules_version']}"
                what = f"{where} do not fit together: they play {game['game']} by the rules of versions {versions}"
                raise UsageError(what, "play one of them again with --new")
            if differ := _difference(game["options"], same["options"]):
                what = f"{where} do not fit together: in {game['game']}, {differ}"
                raise UsageError(what, "games with other options are other games: name runs that have the same")
    if mixed or not shared:
        return
    for key in _CONDITIONS:
        if first.get(key) != second.get(key):
            said = [run.get(key) for run in (first, second)]
            tables = [value for value in said if isinstance(value, Mapping)]
            differ = _difference(*tables) if len(tables) == 2 else f"'{key}' is {' and '.join(map(_shown, said))}"
            what = f"{where} do not fit together: {f'in [{key}], ' if len(tables) == 2 else ''}{differ}"
            raise UsageError(what, _STRONGER)
    here, there = _conditions_of_bots(one), _conditions_of_bots(other)
    for entry in (known for known in here if known in there):
        other_bot = next((words for words, is_another in _changes(one, other, entry) if is_another), "")
        if differ := _difference(here[entry], there[entry]) or other_bot:
            name = next(bot.name for bot in one.participants if bot.entry_id == entry)
            raise UsageError(f"{where} do not fit together: for '{name}', {differ}", _STRONGER)


def _conditions_of_bots(run: Run) -> dict[str, dict[str, Any]]:
    """By entry id: clock and limits that hold for the bot, whether each match has a new process, and its grants."""
    configuration, created = run.configuration, run.journal.created
    here = Path(created.fields["file"]).parent if created is not None and "file" in created.fields else None

    def from_here(path: str) -> str:
        """As a file has it: a bot that was added has whole paths."""
        return str(Path(path).relative_to(here)) if here is not None and Path(path).is_relative_to(here) else path

    found: dict[str, dict[str, Any]] = {}
    for bot in (*configuration["bots"], *(line.fields for line in run.journal.events if line.kind == "added")):
        granted = bot.get("sandbox", {})
        grants: dict[str, Any] = {key: sorted(granted[key]) for key in ("env", "devices") if granted.get(key)}
        if granted.get("read"):
            grants["read"] = sorted(map(from_here, granted["read"]))
        if granted.get("network"):
            grants["network"] = True
        fresh = bot.get("fresh", configuration.get("fresh", False))
        found[bot["entry_id"]] = {**configuration["limits"], **bot.get("clock", {}), "fresh": fresh, **grants}
    return found


def changes_between(runs: Sequence[Run]) -> list[str]:
    """A sentence for each fact of the machine that differs for a bot between a run and the last one before it."""
    ordered = sorted(runs, key=_age)
    said: list[str] = []
    for number, later in enumerate(ordered):
        if number and (words := _memory_words(ordered[number - 1], later)):
            said.append(f"changed between these runs: {words}")
        for entry, name in ((bot.entry_id, bot.name) for bot in later.participants):
            before = next((run for run in reversed(ordered[:number]) if entry in run.machine_facts), None)
            changes = [] if before is None else _changes(before, later, entry)
            said += [one_line(f"changed between these runs: '{name}': {words}") for words, _ in changes]
    return said


def _memory_words(one: Run, other: Run) -> str:
    """What no bot could exceed on the machine, if that differs at the end of the two runs."""
    here, there = (run.journal.most_memory_mib for run in (one, other))
    words = f"{most_memory_words(here)} in {one.folder.name}, {most_memory_words(there)} in {other.folder.name}"
    return "" if here == there else one_line(f"most memory of a bot: {words}")


def _changes(one: Run, other: Run, entry: str) -> list[tuple[str, bool]]:
    """What the machine had otherwise for a bot in two runs, and for each whether it may make it another bot."""
    here, there = (run.machine_facts.get(entry, {}) for run in (one, other))
    return [
        (f"{what}: {here[what]} in {one.folder.name}, {there[what]} in {other.folder.name}", makes_another(what))
        for what in here
        if what in there and here[what] != there[what]
    ]


def _difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """The first key in which they differ, with both values; '' if there is none."""
    keys = [*one, *(key for key in other if key not in one)]
    key = next((key for key in keys if one.get(key) != other.get(key)), None)
    return "" if key is None else f"'{key}' is {_shown(one.get(key))} and {_shown(other.get(key))}"


def _shown(value: object) -> str:
    text = "not set" if value is None else f"{value}"
    return text if len(text) <= 40 else f"{text[:37]}..."


def _anchors(runs: Sequence[Run]) -> dict[str, float]:
    """Those of all runs. UsageError if two of them fix a bot at different ratings."""
    fixed: dict[str, float] = {}
    said: dict[str, Run] = {}
    for run in runs:
        for entry, value in run.rating_anchors.items():
            if fixed.setdefault(entry, value) != value:
                name = next((bot.name for bot in run.participants if bot.entry_id == entry), entry)
                what = f"{said[entry].folder.path} fixes '{name}' at {fixed[entry]:g}, {run.folder.path} at {value:g}"
                raise UsageError(what, f"say which holds: --anchor '{name}={fixed[entry]:g}'")
            said.setdefault(entry, run)
    return fixed


def _entrants(runs: Sequence[Run]) -> dict[Pool, Sequence[Entrant]]:
    listed: dict[Pool, list[Entrant]] = {}
    for run in runs:
        bots = entrants(run)
        for game in run.configuration["games"]:
            for players in game["players"]:
                listed.setdefault((game["game"], players), []).extend(bot for bot in bots if bot.plays(game["game"]))
    return {pool: _latest(found) for pool, found in listed.items()}


def _latest(entrants: Iterable[Entrant]) -> list[Entrant]:
    """Each bot once, as it is called in the last run that has it."""
    return list({entrant.entry_id: entrant for entrant in entrants}.values())
