"""Tables on stdout: the leaderboard, a format's own table and the cross table."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from leaderboard.completeness import lost_words
from leaderboard.joint import (
    CAPTION,
    Combined,
    changes_between,
    combined,
    combined_apart,
    join,
    joint_standings,
)
from leaderboard.match_table import table_of
from leaderboard.run_table import counted_table
from leaderboard.schedule_view import FormatTable
from leaderboard.standings import Pool, Standing, apart, pools_of, rating_words, unsettled
from leaderboard.statistics import Score, Statistics, Versus, statistics
from referee.cli.match_rows import print_failed_starts
from referee.cli.output import console, print_csv, print_json, print_standings, print_table, print_text, table
from referee.cli.standings import columns_of, flat
from referee.record.journal import FailedStart
from referee.run.folder import RunFolder
from referee.run.run import Run
from referee.texts import one_line, plural


def print_format_table(shown: FormatTable) -> None:
    """On stdout; nothing where the format has none."""
    if not shown.rows:
        return
    from rich.text import Text

    out = console()
    columns = [(name, "left" if name == "name" else "right") for name in shown.columns]
    made = table(columns, plain=not out.is_terminal)
    for row in shown.rows:
        made.add_row(*[Text(one_line(str(row[name]))) for name in shown.columns])
    print_text(f"\n{shown.title}:")
    print_table(out, made)
    for note in shown.notes:
        print_text(one_line(note))


def print_joint(
    runs: Sequence[Run],
    *,
    pooled: bool,
    faultless: bool,
    mixed: bool,
    in_one: bool,
    anchors: Mapping[str, float] | None,
    as_json: bool,
    as_csv: bool,
) -> None:
    """The tables over several runs; `in_one`: one row for each bot over all games. UsageError."""
    joint = join(runs, mixed=mixed, faultless=faultless, anchors=anchors)
    rows = joint_standings(joint, pooled=pooled)
    said = f"{plural(len(joint.counted.rows), 'match')} of {plural(len(runs), 'run')}."
    whole = combined(rows) if in_one else []
    groups = combined_apart(rows, whole) if in_one else apart(rows)
    if as_json:
        values: dict[str, Any] = {
            "runs": [str(run.folder.path) for run in joint.runs],
            "played": len(joint.counted.rows),
            "lost": {str(run): number for run, number in joint.lost.items()},
            "standings": [row.to_dict() for row in rows],
            "method": CAPTION,
            "caption": joint.counted.caption(),
            "apart": apart(rows),
            "settled": all(row.settled for row in rows),
            "machine_changes": [*(said for run in runs for said in run.machine_changes), *changes_between(runs)],
            "failed_starts": [{"run": str(folder.path), **asdict(start)} for folder, start in _failed_starts(runs)],
        }
        sums = {"combined": [row.to_dict() for row in whole], "combined_apart": groups} if in_one else {}
        print_json(values | sums)
        return
    lost = [lost_words(run, number) for run, number in joint.lost.items()]
    for sentence in [*lost, *filter(None, [groups])] if as_csv else ():
        print(sentence, file=sys.stderr)
    for sentence in () if as_csv else lost:
        print_text(sentence)
    if as_csv and in_one:
        pools = list(dict.fromkeys((row.game, row.players) for row in rows))
        columns = ["rank", "name", "version", "entry_id", "total", "error", *(_mu_of(pool) for pool in pools), "group"]
        print_csv([_combined_cells(row, pools) for row in whole], columns)
    elif as_csv:
        print_csv([flat(row.to_dict()) for row in rows], columns_of(rows))
    elif in_one:
        _print_combined(rows, whole)
        print_text(" ".join(part for part in (_COMBINED, said, joint.counted.caption(), groups) if part))
    else:
        print_standings(
            rows, " ".join(part for part in (CAPTION, said, joint.counted.caption(), unsettled(rows)) if part)
        )
    if not as_csv:
        for run in runs:
            for sentence in run.machine_changes:
                print_text(one_line(f"{run.folder.name}: {sentence}"))
        for sentence in changes_between(runs):
            print_text(sentence)
        print_failed_starts(_failed_starts(runs))


def _failed_starts(runs: Sequence[Run]) -> list[tuple[RunFolder, FailedStart]]:
    return [(run.folder, start) for run in runs for start in run.failed_starts.values()]


_COMBINED = (
    "Ranked by the sum of mu - 3 sigma over the games that a bot has played; a game without a rated match counts 0."
    " +- is 95 %, of the sum of mu."
)


def _mu_of(pool: Pool) -> str:
    return "mu of {} with {}".format(*pool)


def _combined_cells(row: Combined, pools: Sequence[Pool]) -> dict[str, object]:
    own = {"rank": row.rank, "name": row.name, "version": row.version, "entry_id": row.entry_id}
    found = {_mu_of(pool): row.games[pool].mu if pool in row.games else "" for pool in pools}
    return {**own, "total": row.total, "error": row.error, **found, "group": row.group}


def _print_combined(rows: Sequence[Standing], whole: Sequence[Combined]) -> None:
    from rich.text import Text

    pools = list(dict.fromkeys((row.game, row.players) for row in rows))
    out = console()
    titles = [f"{game}, {plural(players, 'player')}" if players else "all games" for game, players in pools]
    several = len({row.group for row in whole} - {None}) > 1
    headings = [*([("group", "right")] if several else []), ("rank", "right"), ("bot", "left"), ("version", "left")]
    headings += [("entry", "left"), ("sum", "right"), ("+-", "right"), *[(title, "right") for title in titles]]
    made = table(headings, plain=not out.is_terminal)
    for row in whole:
        cells = [rating_words(row.games[pool]) if pool in row.games else "-" for pool in pools]
        words = [*([str(row.group or "-")] if several else []), str(row.rank or "-")]
        words += [row.name, row.version, row.entry_id[:8]]
        words += ["-" if number is None else f"{number:.2f}" for number in (row.total, row.error)]
        words += cells
        made.add_row(*(Text(one_line(word)) for word in words))
    print_table(out, made)


PAIR_COLUMNS = (
    "game",
    "players",
    "name",
    "entry_id",
    "opponent",
    "opponent_id",
    "won",
    "drawn",
    "lost",
    "score",
    "error",
    "low",
    "high",
    "blocks",
    "margin",
)


def print_cross(run: Run, *, pooled: bool, faultless: bool, as_json: bool, as_csv: bool) -> None:
    """One table for each game and number of players. Errors are over blocks, whose matches share their seed."""
    counted = counted_table(run, faultless=faultless)
    names = {entry_id: name for entry_id, name, _ in table_of(counted.rows).bots}
    pools = [(key, statistics(rows)) for key, rows in pools_of(counted.rows, pooled=pooled).items()]
    if as_csv:
        print_csv([row for key, found in pools for row in _pairs(key, found, names)], PAIR_COLUMNS)
    elif as_json:
        starts = [asdict(start) for start in run.failed_starts.values()]
        tables = [_pool(key, found, names) for key, found in pools]
        print_json({"run": str(run.folder.path), "pools": tables, "failed_starts": starts})
    else:
        for key, found in pools:
            _print_pool(key, found, names)
        print_text(counted.caption() if pools else "No match counts yet.")
        print_failed_starts(_failed_starts([run]))


def _pairs(key: tuple[str, int], found: Statistics, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for (one, other), cell in sorted(found.cross.items(), key=lambda item: _order(item[0], names)):
        yield {
            "game": key[0],
            "players": key[1],
            "name": names[one],
            "entry_id": one,
            "opponent": names[other],
            "opponent_id": other,
            "won": cell.won,
            "drawn": cell.drawn,
            "lost": cell.lost,
            **_score(cell.score),
            "margin": cell.margin,
        }


def _pool(key: tuple[str, int], found: Statistics, names: Mapping[str, str]) -> dict[str, Any]:
    return {
        "game": key[0],
        "players": key[1],
        "matches": found.matches,
        "blocks": found.blocks,
        "whole_blocks": found.whole_blocks,
        "draws": found.draws,
        "reasons": dict(found.reasons),
        "seats": [{"seat": seat, **_score(score)} for seat, score in found.seats.items()],
        "entries": [
            {
                "name": names[facts.entry_id],
                "entry_id": facts.entry_id,
                "matches": facts.matches,
                "faults": dict(facts.faults),
                "move_ms": {str(percent): value for percent, value in facts.move_ms.items()},
                "by_seat": [{"seat": seat, **_score(score)} for seat, score in facts.by_seat.items()],
            }
            for facts in found.entries.values()
        ],
        "pairs": [
            {name: value for name, value in row.items() if name not in ("game", "players")}
            for row in _pairs(key, found, names)
        ],
    }


def _print_pool(key: tuple[str, int], found: Statistics, names: Mapping[str, str]) -> None:
    from rich.text import Text

    out = console()
    order = sorted(found.entries, key=lambda entry: (names[entry], entry))
    print_text(one_line(f"{key[0]}, {plural(key[1], 'player')}" if key[1] else "all games"))
    headings = [("", "right"), ("bot", "left"), *((str(place), "right") for place in range(1, len(order) + 1))]
    made = table(headings, plain=not out.is_terminal)
    for place, entry in enumerate(order, start=1):
        cells = [found.cross.get((entry, other)) for other in order]
        made.add_row(str(place), Text(one_line(names[entry])), *[_cell(cell) for cell in cells])
    print_table(out, made)
    draws = "-" if found.draws is None else f"{found.draws:.1%}"
    print_text(
        f"score of the row against the column (a win 1, a draw 1/2) +- its standard error over blocks, won-drawn-lost;"
        f" {plural(found.matches, 'match')} in {plural(found.blocks, 'block')}, without a single winner {draws}"
    )
    print_text("by seat: " + ", ".join(f"{seat + 1}: {_short(score)}" for seat, score in found.seats.items()))


def _cell(cell: Versus | None) -> str:
    return "" if cell is None else f"{_short(cell.score)} {cell.won}-{cell.drawn}-{cell.lost}"


def _short(score: Score | None) -> str:
    if score is None:
        return "-"
    return f"{score.mean:.3f}" if score.error is None else f"{score.mean:.3f} +-{score.error:.3f}"


def _score(score: Score | None) -> dict[str, Any]:
    low, high = (score.interval if score else None) or (None, None)
    return {
        "score": score.mean if score else None,
        "error": score.error if score else None,
        "low": low,
        "high": high,
        "blocks": score.blocks if score else 0,
    }


def _order(pair: tuple[str, str], names: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(part for entry in pair for part in (names[entry], entry))
