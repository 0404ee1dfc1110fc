"""`crosstown run --dry-run`: the exact list of matches, who meets whom how often, and how long it may take."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product
from pathlib import Path

from leaderboard.index import load_index
from leaderboard.records import MatchRow
from referee.cli.output import console, duration, plural, print_json, print_table, print_text, table
from referee.cli.run_account import Course
from referee.cli.running import choose_run
from referee.cli.runs import Run
from referee.record.journal import LEAVING, in_force
from referee.run.decisions import known_bots
from referee.run.folder import RunFolder, run_folders
from referee.run.journal import JournalText, read_journal
from referee.schedule.formats.api import Extent
from referee.schedule.formats.registry import get_format
from referee.schedule.plan import make_field
from referee.schedule.spec import MatchSpec
from referee.tournament.config import Tournament
from referee.tournament.identity import describe
from referee.tournament.schedule import extent, schedule


@dataclass(frozen=True, slots=True)
class Row:
    """How evenly one bot is treated: its matches, those in each seat, and the extremes over its opponents."""

    name: str
    matches: int
    by_seat: tuple[int, ...]
    fewest_meetings: int
    most_meetings: int


@dataclass(frozen=True, slots=True)
class Balance:
    """Counted over the schedule as far as it is known. `spreads` has (what, most minus least, least possible)."""

    known: int
    rows: tuple[Row, ...]
    spreads: tuple[tuple[str, int, int], ...]


COUNTED_UP_TO = 200_000
"""Matches up to which the balance is counted unasked: more take longer than somebody who only looks should wait."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """What would be played: all of a new run, or what is left of one that has begun.

    `names` of its bots, by entry id; `out`: of those that have left. `there`: matches that have been played. `steady`:
    nobody has joined or left, and no match was annulled, so that the balance can be compared with the possible one."""

    folder: RunFolder
    text: JournalText
    rows: Sequence[MatchRow]
    total: Extent
    names: Mapping[str, str]
    out: tuple[str, ...] = ()
    there: int = 0
    steady: bool = True

    def matches(self, tournament: Tournament) -> Iterator[MatchSpec]:
        """The matches that count once all is played, in order, as far as they are known without more results."""
        if self.text.created is None:
            return iter(schedule(tournament))
        return (spec for spec, state in Course(self.text, self.rows) if state in ("counts", "open"))


def look_ahead(tournament: Tournament, folder: RunFolder) -> Ahead:
    """What the journal and the records in `folder` say of the tournament; what its file says if they say nothing."""
    text = read_journal(folder.journal)
    if text.created is None:
        names = {entry.id: entry.name for entry in tournament.entries}
        return Ahead(folder, text, (), extent(tournament), names)
    rows = load_index(folder.matches, folder.database).rows
    controls = in_force(text.controls)
    annulled = {control.match_id for control in controls if control.kind == "annulled"}
    bots = known_bots(text)
    return Ahead(
        folder,
        text,
        rows,
        Run(folder, text).extent,
        {bot.entry_id: bot.name for bot in bots},
        tuple(bot.name for bot in bots if bot.out),
        sum(row.match_id not in annulled for row in rows),
        steady=not any(control.kind in (*LEAVING, "added", "annulled") for control in controls),
    )


def preview(tournament: Tournament, out: Path, workers: int, *, new: bool, listed: bool, as_json: bool) -> None:
    """Print how large the schedule is, how even and how long it may take, without playing; the matches too if they
    are to be `listed`. Of a run that has begun: with all that was decided since, and what is left of it."""
    tournament, folder = choose_run(tournament, out, new=new, to_play=False)
    config = tournament.config
    ahead = look_ahead(tournament, folder)
    begun = ahead.text.created is not None
    total = ahead.total
    estimate_s, source = estimate(tournament, out, workers, ahead)
    counted = listed or total.most <= COUNTED_UP_TO
    if as_json:
        balanced = balance(tournament, ahead) if counted else Balance(0, (), ())
        print_json(
            {
                "name": config.name,
                "game": config.game,
                "format": config.format,
                "total": total.most,
                "least": total.least,
                "run": str(folder.path) if begun else None,
                "played": ahead.there,
                "out": list(ahead.out),
                "known": balanced.known if counted else None,
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
                    for row in balanced.rows
                ],
                "spreads": [
                    {"of": what, "achieved": achieved, "lower_bound": bound}
                    for what, achieved, bound in balanced.spreads
                ],
            }
            | ({"matches": [*map(_match, ahead.matches(tournament))]} if listed else {})
        )
        return
    seats = "/".join(map(str, sorted({number for game in config.games for number in game.players})))
    number = plural(total.most, "match")
    if total.least != total.most:
        number = f"{total.least} to {total.most} matches" if total.least else f"at most {total.most} matches"
    print_text(
        f"{config.name}: {config.game}, {config.format} of {plural(len(ahead.names), 'bot')},"
        f" {seats} seats, {' '.join([plural(config.blocks, 'block'), get_format(config.format).per]).strip()}: {number}"
    )
    if ahead.out:
        print_text(f"out of the run: {', '.join(ahead.out)}")
    if begun:
        most = "" if total.least == total.most else "at most "
        left = f"{most}{total.most - ahead.there} are to be played"
        print_text(f"{plural(ahead.there, 'match')} of the run in {folder.path} have been played; {left}")
    took = "no measurement yet" if estimate_s is None else f"about {duration(estimate_s)}"
    print_text(f"time: {took} ({source})")
    if not counted:
        print_text(f"how even it is takes a while to count with more than {COUNTED_UP_TO} matches: --list counts it")
        return
    balanced = balance(tournament, ahead)
    _print_balance(balanced.rows)
    for what, achieved, bound in balanced.spreads:
        best = "none can be less" if achieved <= bound else f"the lower bound is {bound}"
        print_text(f"{what} differ by at most {achieved} ({best})")
    if not ahead.steady:
        print_text("the balance is not compared with the best possible one: bots or matches were taken out or added")
    for spec in ahead.matches(tournament) if listed else ():
        print_text(_line(spec))
    if balanced.known < total.most:
        print_text(f"the other matches depend on results; known so far: {balanced.known}")


def balance(tournament: Tournament, ahead: Ahead) -> Balance:
    """Counted over the schedule itself, as far as it is known without more results."""
    numbers = {entry_id: number for number, entry_id in enumerate(ahead.names)}
    bots = range(len(numbers))
    matches: Counter[int] = Counter()
    seats: Counter[tuple[int, int]] = Counter()
    kinds: Counter[tuple[int, str, int]] = Counter()
    meetings: Counter[tuple[int, int]] = Counter()
    met: Counter[tuple[frozenset[int], str, int]] = Counter()
    sat: Counter[tuple[int, str, int, int]] = Counter()
    known = 0
    for spec in ahead.matches(tournament):
        known += 1
        here = [numbers[seat.entry_id] for seat in spec.seats]
        for number, one in enumerate(here):
            seats[one, number] += 1
            sat[one, spec.game, len(here), number] += 1
        for one in set(here):
            matches[one] += 1
            kinds[one, spec.game, len(here)] += 1
            meetings.update((one, other) for other in set(here) if other != one)
        met.update((frozenset(pair), spec.game, len(here)) for pair in combinations(sorted(set(here)), 2))
    rows = tuple(
        Row(
            name,
            matches[bot],
            tuple(seats[bot, number] for number in range(tournament.config.players)),
            min((meetings[bot, other] for other in bots if other != bot), default=0),
            max((meetings[bot, other] for other in bots if other != bot), default=0),
        )
        for bot, name in enumerate(ahead.names.values())
    )
    return Balance(known, rows, tuple(_spreads(tournament, kinds, met, sat)) if ahead.steady else ())


def _spreads(
    tournament: Tournament,
    kinds: Mapping[tuple[int, str, int], int],
    met: Mapping[tuple[frozenset[int], str, int], int],
    sat: Mapping[tuple[int, str, int, int], int],
) -> Iterator[tuple[str, int, int]]:
    """What was achieved against what is possible, each among those that the format treats alike, per game and number of
    seats. Whoever is in a block is in all its matches, so numbers come in whole blocks."""
    field = make_field(describe(tournament))
    alike = get_format(tournament.config.format).classes
    classes = alike(field) if alike else {"bot": range(field.bots)}
    for variant in field.variants:
        game, players, step = variant.game, variant.players, len(variant.orders)
        what = f"matches of {game} with {players} seats"
        for name, bots in classes.items():
            counts = [kinds.get((bot, game, players), 0) for bot in bots]
            if sum(counts):
                yield _spread(f"{what} per {name}", counts, step)
        for one, other in combinations_with_replacement(classes, 2):
            pairs = combinations(classes[one], 2) if one == other else product(classes[one], classes[other])
            counts = [met.get((frozenset(pair), game, players), 0) for pair in pairs]
            if sum(counts):
                pair = "two bots" if len(classes) == 1 else f"a {one} and a {other}"
                yield _spread(f"meetings of {pair} in {game} with {players} seats", counts, step)
        seats = [[sat.get((bot, game, players, seat), 0) for seat in range(players)] for bot in range(field.bots)]
        if any(map(sum, seats)):
            yield f"seats of a bot in {game} with {players} seats", max(max(one) - min(one) for one in seats), 0


def _spread(what: str, counts: list[int], step: int) -> tuple[str, int, int]:
    """Most minus least; numbers that come in steps and add up to the same sum cannot be more even than their mean,
    rounded both ways to whole steps."""
    achieved = max(counts) - min(counts)
    # A bot that meets itself plays one match of such a block, and may even things out.
    return what, achieved, min(achieved, step) if sum(counts) % (step * len(counts)) else 0


def estimate(tournament: Tournament, out: Path, workers: int, ahead: Ahead) -> tuple[float | None, str]:
    """Seconds for what is left of the schedule from matches played before under this name, and where the number is
    from."""
    played = [
        row.wall_us
        for folder in dict.fromkeys((*run_folders(out, tournament.config.name), ahead.folder))
        for row in load_index(folder.matches, folder.database).rows
        if row.game in {game.game for game in tournament.config.games}
    ]
    if not played:
        return None, "play some matches first, and the estimate will use their times"
    mean_s = sum(played) / len(played) / 1e6
    source = f"{plural(len(played), 'match')} played before took {mean_s:.2f} s each; {plural(workers, 'worker')}"
    return (ahead.total.most - ahead.there) * mean_s / workers, source


def _print_balance(rows: tuple[Row, ...]) -> None:
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
        "block": spec.block,
        "game": spec.game,
        "seats": [seat.name for seat in spec.seats],
    }


def _line(spec: MatchSpec) -> str:
    return f"{spec.place:>6}  {spec.match_id}  block {spec.block:>5}  " + " - ".join(seat.name for seat in spec.seats)
