"""Walks the schedule of a run as far as its records go, for what only the schedule can tell of it.

The journal is enough: neither the tournament file nor the bots need to be there any more.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from leaderboard.account import Account, FormatTable, Look
from leaderboard.records import MatchRow
from referee.match.spec import Limits, MatchSpec
from referee.record.control import LEAVING, Control, in_force
from referee.tournament.config import Tournament, TournamentConfig
from referee.tournament.controls import ghost, known_bots
from referee.tournament.formats.registry import UnknownFormat, get_format
from referee.tournament.journal import JournalText
from referee.tournament.sections.breaker import BreakerConfig
from referee.tournament.sections.games import GameConfig
from referee.tournament.walk import Walk


def looking(text: JournalText) -> Look:
    """What `leaderboard.run_table` asks."""
    return lambda rows: account_of(text, rows)


def account_of(text: JournalText, rows: Sequence[MatchRow]) -> Account:
    """The account of a run with these rated matches. The schedule is walked only if someone who has left loses what it
    misses, or the format has a table of its own."""
    if text.created is None:
        return Account()
    description = text.created.fields["configuration"]
    controls = in_force(text.controls)
    lost = {control.entry_id for control in controls if control.kind in LEAVING and control.choice == "losses"}
    try:
        style = get_format(description["format"])
    except UnknownFormat:  # a plug-in that is gone since
        return Account()
    if not lost and not style.has_table:
        return Account()
    walk = Walk(_stand_in(text, description), controls, description=description)
    missed: list[tuple[str, ...]] = []
    found = _Results(controls, rows)
    while (spec := walk.next()) is not None:
        found.settle(walk, spec)
        if lost and spec.match_id not in found.annulled and spec.match_id not in found.there:
            out = {seat.entry_id for seat in walk.out(spec)}
            if out & lost:
                missed.append(tuple(seat.entry_id for seat in spec.seats))
        _follow(walk)
    final = walk.ended and found.whole
    if style.has_table:
        walk.finish()
    placed = [
        {"rank": row.rank, "name": walk.seats[row.bot].name, "entry_id": walk.seats[row.bot].entry_id}
        | dict(row.columns)
        for row in walk.placings
    ]
    return Account(tuple(missed), FormatTable(style.name, tuple(placed), final))


class _Results:
    """How each match ended: what the runner would make of the same records and controls."""

    def __init__(self, controls: Sequence[Control], rows: Sequence[MatchRow]) -> None:
        """`controls` are those in force."""
        self.there = {row.match_id: row for row in rows}
        self.annulled = {control.match_id for control in controls if control.kind == "annulled"}
        self._rejudged = {control.match_id: control.ranking for control in controls if control.kind == "rejudged"}
        self.whole = True
        """Whether every match is settled, so far."""

    def settle(self, walk: Walk, spec: MatchSpec) -> None:
        row = self.there.get(spec.match_id)
        if row is not None and spec.match_id not in self.annulled:
            ranking = self._rejudged.get(spec.match_id) or tuple(seat.rank for seat in row.seats)
            walk.settle(spec, ranking, tuple(seat.fault for seat in row.seats))
        elif spec.match_id in self.annulled or walk.out(spec):
            walk.settle(spec)
        else:
            walk.give_up(spec)
            self.whole = False


def _follow(walk: Walk) -> None:
    for _, score in walk.in_order():
        if score is not None and score.counts and walk.broken(score):
            walk.revoke(score)
    for _ in walk.settled():
        pass


def _stand_in(text: JournalText, description: Mapping[str, Any]) -> Tournament:
    """As much of the tournament as its schedule depends on; nobody plays it."""
    games = tuple(
        GameConfig(game["game"], game["rules_version"], game["options"], tuple(game["players"]))
        for game in description["games"]
    )
    config = TournamentConfig(
        path=Path(),
        name=description["name"],
        games=games,
        format=description["format"],
        settings=description["settings"],
        seed=description["seed"],
        blocks=description["blocks"],
        limits=Limits(),
        breaker=BreakerConfig(),
        bots=(),
    )
    return Tournament(config, tuple(ghost(bot) for bot in known_bots(text)))
