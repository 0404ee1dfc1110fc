"""`crosstown standings`: the leaderboard of a run, also while it goes on."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli.arguments import OUT, Out

if TYPE_CHECKING:
    from leaderboard.standings import Standing
    from referee.run.participants import Participant

COLUMNS = (
    "rank",
    "name",
    "version",
    "entry_id",
    "mu",
    "sigma",
    "conservative",
    "played",
    "won",
    "drawn",
    "lost",
    "faults",
    "mean_move_ms",
    "worst_move_ms",
    "mean_lag_ms",
    "worst_lag_ms",
    "game",
    "players",
    "low",
    "high",
    "better",
    "elo",
    "elo_error",
    "live_mu",
    "live_sigma",
    "forfeited",
    "note",
    "settled",
    "rated",
    "group",
    "mirrors",
    "more",
)


def standings(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN]...",
            help="Tournament file, run folder or name of a run. Several: one table over all of them. Default: the most"
            " recent run.",
            show_default=False,
        ),
    ] = None,
    out: Out = OUT,
    live: Annotated[bool, typer.Option("--live", help="Rank by the live rating instead of the official one.")] = False,
    pooled: Annotated[
        bool, typer.Option("--pooled", help="Rate all games and numbers of players in one table.")
    ] = False,
    faultless: Annotated[
        bool, typer.Option("--faultless", help="Leave out every match in which a bot had a fault.")
    ] = False,
    anchor: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BOT=ELO",
            help="Fix the rating of a bot, such as random=1000. Can be repeated. Default: [ratings] of the file.",
            show_default=False,
        ),
    ] = None,
    combined: Annotated[
        bool,
        typer.Option(
            "--combined", help="Print one row for each bot over all games: its ratings, and the sum of mu - 3 sigma."
        ),
    ] = False,
    mixed: Annotated[
        bool,
        typer.Option("--mixed", help="Join runs even if their clocks, limits or rules about faults differ."),
    ] = False,
    cross: Annotated[
        bool,
        typer.Option("--cross", help="Print the cross table instead: results of each pair, seats, draws and margins."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON, with unrounded numbers.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the table as CSV, with unrounded numbers.")] = False,
) -> None:
    """Print the leaderboard of a run, also while it is being played; or one leaderboard over several runs.

    In several runs, bots with the same files and options are the same bot. Games and numbers of players have tables of
    their own. Runs that do not fit together are refused.

    Example: crosstown standings spring summer --anchor random=1000
    """
    from leaderboard.completeness import gaps_of, lost_words
    from leaderboard.index import load_index
    from leaderboard.run_table import run_table
    from leaderboard.schedule_view import placings_final
    from leaderboard.standings import CAPTION, LIVE_CAPTION, apart, by_live_rating, unsettled
    from leaderboard.stopping import outlook_of
    from referee.cli.find import find_run
    from referee.cli.match_rows import print_failed_starts
    from referee.cli.output import print_csv, print_json, print_standings, print_text
    from referee.cli.standings_pages import print_format_table
    from referee.errors import UsageError
    from referee.schedule.stopping import rule_in_force
    from referee.texts import one_line

    if as_json and as_csv:
        raise UsageError("--json and --csv exclude each other", "give one of them")
    if combined or len(runs or ()) > 1:
        if live or cross or (combined and pooled):
            option = "--live" if live else "--cross" if cross else "--pooled"
            what = f"{option} is not for a table over several {'games' if combined else 'runs'}"
            raise UsageError(what, f"leave {option} out, or name one run")
        from referee.cli.standings_pages import print_joint

        found_runs = [find_run(name, out) for name in runs] if runs else [find_run(None, out)]
        bots = [bot for found in found_runs for bot in found.participants]
        _check_names(bots, anchor or ())
        print_joint(
            found_runs,
            pooled=pooled,
            faultless=faultless,
            mixed=mixed,
            in_one=combined,
            anchors=anchors_of(anchor, bots) if anchor else None,
            as_json=as_json,
            as_csv=as_csv,
        )
        return
    found = find_run(runs[0] if runs else None, out, brief=True)
    if cross:
        from referee.cli.standings_pages import print_cross

        if live or anchor:
            option = "--live" if live else "--anchor"
            raise UsageError(
                f"{option} and --cross exclude each other", "a cross table has no ratings: give one of them"
            )
        print_cross(found, pooled=pooled, faultless=faultless, as_json=as_json, as_csv=as_csv)
        return
    fixed = anchors_of(anchor, found.participants) if anchor else None
    made = run_table(found, pooled=pooled, faultless=faultless, anchors=fixed, keep=True)
    starts = list(found.failed_starts.values())
    extent = found.extent
    total = extent.most - made.annulled
    lost = gaps_of(found).lost if made.matches < total else 0
    ahead = outlook_of(found, load_index(found.folder).rows) if rule_in_force(found.controls)[0] else None
    rows = by_live_rating(made.rows) if live else list(made.rows)
    caption = LIVE_CAPTION if live else CAPTION
    if as_json:
        print_json(
            {
                "run": str(found.folder.path),
                "tournament": found.configuration["name"],
                "game": _games(found.configuration),
                "played": made.matches,
                "total": total,
                "at_most": extent.least != extent.most,
                "lost": lost,
                "machine_changes": found.machine_changes,
                "failed_starts": [asdict(start) for start in starts],
                "standings": [row.to_dict() for row in rows],
                "method": caption,
                "caption": made.caption,
                "apart": apart(rows),
                "settled": all(row.settled for row in rows),
                "stop_when": None if ahead is None else ahead.to_dict(),
                "placings": [dict(row) for row in made.format_table.rows],
                "placings_final": placings_final(made.format_table, found),
                "placings_gap": made.format_table.gap,
                "placings_notes": list(made.format_table.notes),
            }
        )
    elif as_csv:
        for said in (lost_words(found.folder.path, lost) if lost else "", apart(rows)):
            if said:
                print(said, file=sys.stderr)
        own = made.format_table
        added = tuple(own.cells_of(""))
        print_csv([flat(row.to_dict()) | own.cells_of(row.entry_id) for row in rows], (*columns_of(rows), *added))
    else:
        most = "at most " if extent.least != extent.most else ""
        so_far = "" if lost or found.finished else " so far"
        state = "" if made.matches == total else f" {made.matches} of {most}{total} matches{so_far}."
        faults = " Matches with a fault are left out." if faultless else ""
        if lost:
            print_text(lost_words(found.folder.path, lost))
        for sentence in found.machine_changes:
            print_text(sentence)
        print_standings(
            rows,
            " ".join(
                part for part in (caption + state + faults, made.caption, "" if live else unsettled(rows)) if part
            ),
        )
        if ahead is not None:
            print_text(one_line(f"stop_when: {ahead.sentence}"))
        print_format_table(made.format_table)
        print_failed_starts([(found.folder, start) for start in starts])


def anchors_of(words: Sequence[str], bots: Sequence["Participant"]) -> dict[str, float]:
    """The ratings that --anchor fixes, in Elo points by entry id. UsageError."""
    from referee.errors import UsageError
    from referee.run.participants import find_participant
    from referee.tournament.sections import MOST_RATING

    anchors: dict[str, float] = {}
    for word in words:
        name, _, text = word.rpartition("=")
        example = "write, for instance, --anchor random=1000"
        try:
            value = float(text)
        except ValueError:
            name, value = "", 0.0
        if not name:
            raise UsageError(f"--anchor {word!r} is not BOT=ELO", example)
        if not abs(value) <= MOST_RATING:
            what = f"the rating must be a number from {-MOST_RATING} to {MOST_RATING}, not {value}"
            raise UsageError(f"--anchor {word!r}: {what}", example)
        anchors[find_participant(bots, name).entry_id] = value
    return anchors


def _check_names(bots: Sequence["Participant"], words: Sequence[str]) -> None:
    """UsageError if --anchor names a bot by a name that another bot has in another of the runs."""
    from referee.errors import UsageError
    from referee.texts import listed

    for name in (word.rpartition("=")[0] for word in words):
        found = list(dict.fromkeys(bot.entry_id for bot in bots if bot.name == name))
        if len(found) > 1 and name not in found:
            what = f"--anchor {name}=...: {len(found)} bots of these runs have the name, {listed(found)}"
            raise UsageError(what, f"name one by its entry id: --anchor {found[0]}=...")


def _games(configuration: Any) -> str:
    games = configuration.get("games")
    return ", ".join(dict.fromkeys(game["game"] for game in games)) if games else str(configuration["game"])


def flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the table for CSV."""
    from leaderboard.usage import COLUMNS as USAGE_COLUMNS

    faults = ";".join(f"{reason}={number}" for reason, number in row["faults"].items())
    more = ";".join(f"{name}={rating['mu']}+-{rating['sigma']}" for name, rating in row["more"].items())
    used = row.get("usage", {})
    row = {name: value for name, value in row.items() if name != "usage"}
    return row | {"faults": faults, "more": more} | {name: used[name] for name in USAGE_COLUMNS if used}


def columns_of(rows: Iterable["Standing"]) -> tuple[str, ...]:
    """The columns of a table as CSV: those of provider usage only if some bot reported it."""
    from leaderboard.usage import COLUMNS as USAGE_COLUMNS

    return (*COLUMNS, *USAGE_COLUMNS) if any(row.usage for row in rows) else COLUMNS
