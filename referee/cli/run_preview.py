"""What `crosstown run --dry-run` prints: how large a schedule is, how even, and how long it may take."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from referee.cli.output import console, duration, print_json, print_table, print_text, table
from referee.record.journal import Control
from referee.run.decisions import length_words
from referee.run.folder import lengthening, run_folders
from referee.run.journal import JournalText
from referee.run.run import Run
from referee.schedule.config import ScheduleConfig
from referee.schedule.formats.api import Extent
from referee.schedule.formats.registry import get_format
from referee.schedule.spec import MatchSpec
from referee.schedule.stopping import rule_in_force
from referee.texts import one_line, plural
from referee.tournament.config import Tournament, TournamentConfig, plays_elsewhere
from referee.tournament.identity import config_of, describe
from referee.tournament.play import choose_run

if TYPE_CHECKING:
    from leaderboard.forecast import Ahead
    from referee.schedule.balance import Balance, Row

COUNTED_UP_TO = 200_000
"""Matches up to which the balance is counted unasked: more take longer than somebody who only looks should wait."""


def preview(tournament: Tournament, out: Path, workers: int, *, new: bool, listed: bool, as_json: bool) -> None:
    """Print how large the schedule is, how even and how long it may take, without playing; the matches too if they
    are to be `listed`. Of a run that has begun: with all that was decided since, and what is left of it."""
    from leaderboard.forecast import estimate, look_ahead

    tournament, folder = choose_run(tournament, out, new=new, to_play=False)
    config = tournament.config
    schedule = config_of(tournament)
    run = Run(folder)
    begun = run.begun
    if begun:
        coming, said = _changes(run.journal, tournament)
        for control in coming:
            run = Run(folder, run.journal.followed_by(control))
        for what in () if as_json else said:
            print_text(f"the run in {folder.path} will be {what}")
    ahead = look_ahead(run, schedule)
    if not begun and config.stop_when is not None:
        ahead = replace(ahead, total=Extent(0, ahead.total.most))
    estimate_s, source = estimate(ahead, schedule, run_folders(out, config.name), workers)
    show = _print_values if as_json else _print_sentences
    show(tournament, schedule, ahead, estimate_s, source, listed=listed)


def _print_values(
    tournament: Tournament,
    schedule: ScheduleConfig,
    ahead: "Ahead",
    estimate_s: float | None,
    source: str,
    *,
    listed: bool,
) -> None:
    balanced = _balance(schedule, ahead, listed=listed)
    rows, spreads = ((), ()) if balanced is None else (balanced.rows, balanced.spreads)
    print_json(
        {
            "name": tournament.config.name,
            "game": tournament.config.game,
            "format": tournament.config.format,
            "total": ahead.total.most,
            "least": ahead.total.least,
            "run": str(ahead.run.folder.path) if ahead.run.begun else None,
            "played": ahead.there,
            "out": list(ahead.out),
            "left_out": [asdict(one) for one in tournament.left_out],
            "known": None if balanced is None else balanced.known,
            "estimate_s": estimate_s,
            "estimate_from": source,
            "balance": [
                {
                    "bot": row.name,
                    "matches": row.matches,
                    "by_seat": list(row.by_seat),
                    "fewest_meetings": row.fewest_meetings,
                    "most_meetings": row.most_meetings,
                }
                for row in rows
            ],
            "spreads": [{"of": what, "achieved": achieved, "lower_bound": bound} for what, achieved, bound in spreads],
        }
        | ({"matches": [*map(_match, ahead.matches())]} if listed else {})
    )


def _print_sentences(
    tournament: Tournament,
    schedule: ScheduleConfig,
    ahead: "Ahead",
    estimate_s: float | None,
    source: str,
    *,
    listed: bool,
) -> None:
    config, run, total = tournament.config, ahead.run, ahead.total
    seats = "/".join(map(str, sorted({number for game in config.games for number in game.players})))
    number = plural(total.most, "match")
    if total.least != total.most:
        number = f"{total.least} to {total.most} matches" if total.least else f"at most {total.most} matches"
    blocks = plural(int(run.journal.length.get("blocks", config.blocks)), "block")
    print_text(
        f"{config.name}: {config.game}, {config.format} of {plural(len(ahead.names), 'bot')},"
        f" {seats} seats, {' '.join([blocks, get_format(config.format).per]).strip()}: {number}"
    )
    if ahead.out:
        print_text(f"out of the run: {', '.join(ahead.out)}")
    for one in tournament.left_out:
        print_text(one_line(one.sentence))
    if run.begun:
        most = "" if total.least == total.most else "at most "
        left = f"{most}{total.most - ahead.there} are to be played"
        have = "has" if ahead.there == 1 else "have"
        print_text(f"{plural(ahead.there, 'match')} of the run in {run.folder.path} {have} been played; {left}")
    if where := _where(config):
        print_text(where)
    took = "no measurement yet" if estimate_s is None else f"about {duration(estimate_s)}"
    print_text(f"time: {took} ({source})")
    balanced = _balance(schedule, ahead, listed=listed)
    if balanced is None:
        print_text(f"how even it is takes a while to count with more than {COUNTED_UP_TO} matches: --list counts it")
        return
    _print_balance(balanced.rows)
    for what, achieved, bound in balanced.spreads:
        best = "none can be less" if achieved <= bound else f"the lower bound is {bound}"
        print_text(f"{what} differ by at most {achieved} ({best})")
    if not ahead.steady:
        print_text("the balance is not compared with the best possible one: bots or matches were taken out or added")
    for spec in ahead.matches() if listed else ():
        print_text(_line(spec))
    if balanced.known < total.most:
        print_text(f"the other matches depend on results; known so far: {balanced.known}")


def _balance(schedule: ScheduleConfig, ahead: "Ahead", *, listed: bool) -> "Balance | None":
    """None if it takes too long to count, and nobody has asked for the matches."""
    from referee.schedule.balance import balance

    if not listed and ahead.total.most > COUNTED_UP_TO:
        return None
    return balance(schedule, ahead.matches(), ahead.names, steady=ahead.steady)


def _where(config: TournamentConfig) -> str:
    """A sentence on where matches are played and bots are built; '' for this machine."""
    given = config.executor
    if given.kind == "local":
        return ""
    cluster = f"the cluster at {given.scheduler}" if given.scheduler else "the cluster that --scheduler names"
    if plays_elsewhere(config):
        return f"played on {cluster}, whose machines build the bots"
    if given.build == "organiser":
        return f"played on {cluster}; bots are built here, and machines of the same platform get these builds"
    return f"played on {cluster}, whose machines build the bots; matches with a remote bot are built and played here"


def _changes(text: JournalText, tournament: Tournament) -> tuple[list[Control], list[str]]:
    """The controls that `crosstown run` will write because the tournament file has changed, and the same in words."""
    controls, said = [], []
    if longer := lengthening(text, describe(tournament)):
        controls.append(Control("extended", 0, length=longer))
        said.append(f"extended to {length_words(longer)}")
    when = tournament.config.stop_when
    if when != rule_in_force(text.controls)[0]:
        controls.append(Control("stopping", 0, reason=str(when or "")))
        said.append(f'continued with stop_when = "{when}"' if when else "continued without stop_when")
    return controls, said


def _print_balance(rows: "tuple[Row, ...]") -> None:
    from rich.text import Text

    out = console()
    made = table(
        [("bot", "left"), ("matches", "right"), ("by seat", "right"), ("meetings per opponent", "right")],
        plain=not out.is_terminal,
    )
    for row in rows:
        few, many = row.fewest_meetings, row.most_meetings
        meetings = str(few) if few == many else f"{few}-{many}"
        made.add_row(Text(row.name), str(row.matches), "/".join(map(str, row.by_seat)), meetings)
    print_table(out, made)


def _match(spec: MatchSpec) -> dict[str, object]:
    return {
        "place": spec.place,
        "match": spec.match_id,
        "stage": spec.stage,
        "round": spec.round or None,
        "table": spec.table or None,
        "block": spec.block,
        "game": spec.game,
        "seats": [seat.name for seat in spec.seats],
    }


def _line(spec: MatchSpec) -> str:
    where = f"block {spec.block:>5}"
    if spec.table:
        where += f"  {spec.stage}{', ' if spec.stage else ''}round {spec.round}, table {spec.table}"
    return f"{spec.place:>6}  {spec.match_id}  {where}  " + " - ".join(seat.name for seat in spec.seats)
