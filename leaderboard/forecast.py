"""What would be played of a tournament, and how long it may take."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from leaderboard.controls import annulled_entries, apply_controls
from leaderboard.index import load_index
from referee.record.journal import LEAVING, in_force
from referee.run.folder import RunFolder
from referee.run.run import Run
from referee.schedule.config import ScheduleConfig
from referee.schedule.formats.api import Extent
from referee.schedule.schedule import known_matches
from referee.schedule.spec import MatchSpec
from referee.texts import plural


@dataclass(frozen=True, slots=True)
class Ahead:
    """What would be played: all of a new run, or what is left of one that has begun. `matches` goes through those that
    count once all is played, in order, as far as they are known without more results.

    `names` of its bots, by entry id; `out`: of those that have left. `there`: matches that have been played. `steady`:
    no bot has joined or left, and no match was annulled, so that the balance can be compared with the possible one."""

    run: Run
    matches: Callable[[], Iterator[MatchSpec]]
    total: Extent
    names: Mapping[str, str]
    out: tuple[str, ...] = ()
    there: int = 0
    steady: bool = True


def look_ahead(run: Run, config: ScheduleConfig) -> Ahead:
    """What the journal and the records of the run say of it; what `config` says if it has not begun."""
    if not run.begun:
        names = {seat.entry_id: seat.name for seat in config.participants}
        return Ahead(run, lambda: iter(known_matches(config)), config.extent(), names)
    rows = load_index(run.folder).rows
    controls = in_force(run.controls)
    counted, total = apply_controls(rows, controls), run.extent
    annulled = annulled_entries(controls)

    def matches() -> Iterator[MatchSpec]:
        for spec, state in run.progress(rows):
            if state == "open" or (state == "counts" and annulled.isdisjoint(seat.entry_id for seat in spec.seats)):
                yield spec

    return Ahead(
        run,
        matches,
        Extent(max(0, total.least - counted.annulled), total.most - counted.annulled),
        {bot.entry_id: bot.name for bot in run.participants},
        tuple(bot.name for bot in run.participants if bot.out),
        len(counted.rows),
        steady=not any(control.kind in (*LEAVING, "added", "annulled") for control in controls),
    )


def estimate(
    ahead: Ahead, config: ScheduleConfig, before: Iterable[RunFolder], workers: int
) -> tuple[float | None, str]:
    """Seconds for what is left of the schedule from matches played in runs `before`, and where the number is from."""
    games = {game.game for game in config.games}
    played = [
        row.wall_us
        for folder in dict.fromkeys((*before, ahead.run.folder))
        for row in load_index(folder).rows
        if row.game in games
    ]
    if not played:
        return None, "play some matches first, and the estimate will use their times"
    mean_s = sum(played) / len(played) / 1e6
    source = f"{plural(len(played), 'match')} played before took {mean_s:.2f} s each; {plural(workers, 'worker')}"
    return (ahead.total.most - ahead.there) * mean_s / workers, source
