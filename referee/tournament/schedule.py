"""The schedule of a tournament, as far as it is known without results."""

from collections.abc import Container, Iterator
from pathlib import Path

from referee.record.journal import LEAVING, in_force
from referee.run.decisions import ghost, known_bots
from referee.run.journal import JournalText
from referee.run.luck import Luck
from referee.schedule.formats.api import Extent
from referee.schedule.formats.registry import get_format
from referee.schedule.plan import extent_of
from referee.schedule.schedule import Walk
from referee.schedule.spec import Limits, MatchSpec
from referee.tournament.config import Tournament, TournamentConfig
from referee.tournament.identity import describe
from referee.tournament.sections.breaker import BreakerConfig
from referee.tournament.sections.games import GameConfig

WALKED_UP_TO = 20_000
"""Matches of a schedule that is walked through to count those that are cancelled: that takes less than a second."""


def schedule(tournament: Tournament, luck: Luck | None = None) -> Iterator[MatchSpec]:
    """All matches in order, lazily, up to where the format needs results: none of them is looked at.

    Equal tournaments give equal specifications, ids included; a changed one, other ids. Without `luck` no match has a
    seed: then the schedule is a function of the file alone.
    """
    return _walked(Walk(tournament, luck=luck))


def extent(tournament: Tournament) -> Extent:
    """How many matches it has, at least and at most."""
    return extent_of(describe(tournament))


def count(tournament: Tournament) -> int:
    """How many matches the schedule has at most."""
    return extent(tournament).most


def planned(text: JournalText, records: Container[str]) -> Extent:
    """How many matches of a run count once all is played, at least and at most: those of the schedule without those
    that are cancelled, because a bot in them is out or an organiser annulled them. `records` has the ids of matches
    that have a record. `text` is that of a run that has begun.

    Cancelled matches are counted where results do not decide who meets whom, up to `WALKED_UP_TO` matches; beyond that
    they only make `least` smaller.
    """
    description, controls = text.configuration, in_force(text.controls)
    whole = extent_of(description, [bot.name for bot in known_bots(text)])
    for control in controls:
        if control.kind == "decided":
            whole = Extent(min(whole.least, control.place), min(whole.most, control.place))
    out = {control.entry_id: control for control in controls if control.kind in LEAVING}
    annulled = {control.match_id for control in controls if control.kind == "annulled"}
    if not out and not annulled and not any(control.kind == "added" for control in controls):
        return whole
    if get_format(description["format"]).uses_results or whole.most > WALKED_UP_TO:
        return Extent(0, whole.most)

    def counts(spec: MatchSpec) -> bool:
        gone = [out[seat.entry_id] for seat in spec.seats if seat.entry_id in out]
        late = any(control.kind == "breaker" and spec.place >= control.place for control in gone)
        return not late and (spec.match_id in records or not (gone or spec.match_id in annulled))

    number = sum(map(counts, _walked(Walk(stand_in(text), controls, description=description))))
    return Extent(number, number)


def stand_in(text: JournalText) -> Tournament:
    """As much of the tournament of a run as its schedule depends on; nobody plays it."""
    description = text.configuration
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


def _walked(walk: Walk) -> Iterator[MatchSpec]:
    """The matches of a walk, up to where the format needs results, each forgotten at once: memory stays constant."""
    while (spec := walk.next()) is not None:
        walk.settle(spec)
        for _ in walk.in_order():
            pass
        yield spec
