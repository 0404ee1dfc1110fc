"""Who sits at which table in a round: as rows for people, as CSV, and as a page to print."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from leaderboard.records import MatchRow
from leaderboard.results import outcome_for
from leaderboard.schedule_view import Pairing, ScheduleView
from referee.texts import clean

_POINTS = {"won": 1.0, "drawn": 0.5}


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a round. `points` are matches won, a draw as a half, per name; None before the first result. `left`
    is how many of its matches are still to be played; at table 0 a bot has a bye."""

    number: int
    names: tuple[str, ...]
    points: tuple[float | None, ...]
    left: int

    @property
    def result(self) -> str:
        """Such as "1.5 - 0.5", "bye", or "no result" where all is cancelled or annulled; '' before the first result."""
        if not self.number:
            return "bye"
        if any(one is None for one in self.points):
            return "" if self.left else "no result"
        return " - ".join(f"{one:g}" for one in self.points)


@dataclass(frozen=True, slots=True)
class RoundOfTables:
    """A round of a format that pairs in rounds; `stage` is '' where the run has none."""

    stage: str
    number: int
    tables: Sequence[Table]

    @property
    def title(self) -> str:
        return f"{self.stage}, round {self.number}" if self.stage else f"Round {self.number}"


def rounds_with_tables(view: ScheduleView, rows: Sequence[MatchRow]) -> list[RoundOfTables]:
    """All rounds that are known, in the order of the schedule; the groups of a stage apart. `rows` are the matches that
    the format pairs by."""
    played = {row.match_id: row for row in rows}
    found: dict[tuple[str, int], list[Table]] = {}
    for pairing in view.pairings:
        found.setdefault((pairing.stage, pairing.round), []).append(_table(pairing, view.names, played))
    return [RoundOfTables(stage, number, tables) for (stage, number), tables in found.items()]


def _table(pairing: Pairing, names: Mapping[str, str], played: Mapping[str, MatchRow]) -> Table:
    done = [played[match_id] for match_id in pairing.matches if match_id in played]
    points = tuple(
        sum(_POINTS.get(outcome_for(row, entry), 0.0) for row in done) if done else None for entry in pairing.entries
    )
    shown = tuple(names[entry] for entry in pairing.entries)
    left = [match_id for match_id in pairing.matches if match_id not in played and match_id not in pairing.cancelled]
    return Table(pairing.table, shown, points, len(left))


def pairing_rows(rounds: Sequence[RoundOfTables]) -> list[dict[str, Any]]:
    """One plain mapping for each table, the same keys in each."""
    seats = max((len(table.names) for one in rounds for table in one.tables), default=0)
    return [
        {"stage": one.stage, "round": one.number, "table": table.number or None}
        | {f"bot {seat + 1}": table.names[seat] if seat < len(table.names) else "" for seat in range(seats)}
        | {"result": table.result, "matches_left": table.left}
        for one in rounds
        for table in one.tables
    ]


def pairings_page(title: str, rounds: Sequence[RoundOfTables]) -> str:
    """A page without scripts and links that prints well: one table for each round."""
    loader = FileSystemLoader(Path(__file__).parent / "templates")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    environment.filters["plain"] = clean
    return environment.get_template("pairings.html").render(title=title, rounds=rounds)
