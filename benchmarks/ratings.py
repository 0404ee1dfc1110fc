"""What ratings, standings and the database cost, over made-up results.

    python benchmarks/ratings.py [--matches 100000] [--bots 40] [--only NAME]
    python benchmarks/ratings.py --matches 1000000 --bots 2000 --only field

Prints one table. Each figure is the best of `--repeat` runs; every result is made from a fixed seed.
"""

import argparse
import os
import platform
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

if __name__ == "__main__":
    sys.path.pop(0)  # this folder, in which `referee` is another benchmark

import numpy

from leaderboard.ratings.elo import strengths
from leaderboard.ratings.live import continue_live, rate_live
from leaderboard.ratings.official import rate, rate_results
from leaderboard.ratings.skill import BETA, SIGMA
from leaderboard.records import MatchRow, SeatRow
from leaderboard.results import tally
from leaderboard.run_table import keep_table, run_table
from leaderboard.statistics import statistics
from leaderboard.store import Store, find_row, read_rows
from referee.record.store import FileStamp, RecordStore
from referee.run.run import Run


def make_matches(count: int, bots: int, players: int, seed: int = 1) -> list[MatchRow]:
    """Results of performances rounded to whole points, so that some tie; each block is one order of seats."""
    chance = random.Random(seed)
    names = [f"{number:03d}" * 10 for number in range(bots)]
    skills = {name: chance.gauss(0, SIGMA) for name in names}
    rows: list[MatchRow] = []
    for place in range(count):
        seated = chance.sample(names, players)
        points = [round((skills[name] + chance.gauss(0, BETA)) / 2) for name in seated]
        seats = tuple(
            SeatRow(
                seat, name, f"bot {name[:3]}", "1", seat, 1 + sum(other > points[seat] for other in points),
                points[seat], "", 30, 30_000, 2_000, 20_000, "80:20 88:10",
            )
            for seat, name in enumerate(seated)
        )  # fmt: skip
        rows.append(
            MatchRow(
                f"m{place:06d}-00000000", "bench", place, place // 2, "bench", 1, "normal", "", 60, 60_000, "00" * 16,
                "ab" * 16, "2026-01-01T00:00:00Z", FileStamp(f"m{place:06d}-00000000.jsonl.gz", 0, 0), seats,
            )
        )  # fmt: skip
    return rows


Cost: TypeAlias = tuple[float, float]
"""Seconds by the clock, and of processor time, which says more on a machine that is busy with other things."""


def best(action: Callable[[], object], repeat: int) -> Cost:
    """Of the quickest run."""
    costs = []
    for _ in range(repeat):
        started, used = time.perf_counter(), time.process_time()
        action()
        costs.append((time.perf_counter() - started, time.process_time() - used))
    return min(costs, key=lambda cost: cost[1])


def rating_figures(matches: int, bots: int, repeat: int) -> list[tuple[str, Cost]]:
    rows = make_matches(matches, bots, 2)
    many = make_matches(matches, 10 * bots, 2)
    many_of_four = make_matches(matches // 10, bots, 4)
    four = many_of_four[: matches // 20]
    kept, _ = continue_live(rows, None, matches - 100)
    results = tally(rows)
    return [
        (f"official, {matches:,} matches of two, {bots} bots", best(lambda: rate(rows), repeat)),
        (f"official, {matches:,} matches of two, {10 * bots} bots", best(lambda: rate(many), 1)),
        (f"official, {len(four):,} matches of four, {bots} bots", best(lambda: rate(four), 1)),
        (f"cross-check, {matches:,} matches of two", best(lambda: strengths(results), repeat)),
        (f"cross-check, {len(four):,} matches of four", best(lambda: strengths(tally(four)), 1)),
        (f"live, {matches:,} matches of two, from nothing", best(lambda: rate_live(rows), repeat)),
        ("live, the last 100 of them", best(lambda: continue_live(rows, kept, matches - 100), repeat)),
        (f"live, {len(many_of_four):,} matches of four, from nothing", best(lambda: rate_live(many_of_four), 1)),
        (f"statistics, {matches:,} matches of two", best(lambda: statistics(rows), 1)),
    ]


def field_figures(matches: int, bots: int) -> list[tuple[str, Cost]]:
    """The official table of a large field, with the time that the tally takes."""
    figures = []
    for players in (2, 4):
        rows = make_matches(matches, bots, players)
        figures.append((f"official, {matches:,} matches of {players}, {bots} bots", best(partial(rate, rows), 1)))
    return figures


def store_figures(matches: int, bots: int, repeat: int) -> list[tuple[str, Cost]]:
    """A run folder whose records are empty files: only their names, sizes and times are looked at."""
    with tempfile.TemporaryDirectory(prefix="crosstown-bench-") as name:
        folder = Path(name)
        (folder / "matches").mkdir()
        rows = []
        for row in make_matches(matches, bots, 2):
            path = folder / "matches" / row.stamp.name
            path.touch()
            stamp = FileStamp.of(path)
            rows.append(row._replace(stamp=stamp))
        database = folder / "crosstown.db"
        with Store(database) as store:

            def write() -> None:
                for start in range(0, len(rows), 5000):
                    store.put(rows[start : start + 5000])

            written = best(write, 1)
            first = best(lambda: run_table(Run(folder)), 1)
            keep_table(store, run_table(Run(folder)))
        wanted = rows[len(rows) // 2].match_id
        return [
            (f"database: write {matches:,} matches", written),
            ("standings, computed from the database", first),
            (
                "standings, kept with their fingerprint",
                best(lambda: run_table(Run(folder)), repeat),
            ),
            (
                "of which: list and fingerprint the records",
                best(lambda: RecordStore.of_run(folder).fingerprint(), repeat),
            ),
            ("read all matches", best(lambda: read_rows(database), 1)),
            ("find one match", best(lambda: find_row(database, wanted), repeat)),
        ]


def shuffle_figures(bots: int) -> list[tuple[str, float]]:
    """The largest change of a centred mean when matches are shuffled and bots renamed."""
    figures = []
    for players, count in ((2, 2000), (4, 400)):
        rows = make_matches(count, bots, players)
        reference = rate(rows).skills
        chance = random.Random(1)
        most = 0.0
        for _ in range(3):
            chance.shuffle(rows)
            names = list(reference)
            other = dict(zip(names, chance.sample(names, len(names)), strict=True))
            renamed: dict[object, int] = {}
            for result, times in tally(rows).items():
                key = tuple(
                    tuple(sorted(tuple(sorted(other[entry] for entry in team)) for team in group)) for group in result
                )
                renamed[key] = renamed.get(key, 0) + times
            again = rate_results(renamed).skills  # type: ignore[arg-type]
            most = max(most, *(abs(again[other[name]].mu - reference[name].mu) for name in names))
        figures.append((f"largest change of mu over shuffles and names, {players} players", most))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matches", type=int, default=100_000)
    parser.add_argument("--bots", type=int, default=40)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", choices=("ratings", "store", "order", "field"))
    wanted = parser.parse_args()
    print(
        f"Python {platform.python_version()}, numpy {numpy.__version__}, SQLite {sqlite3.sqlite_version},"
        f" {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n"
    )
    print("| what | seconds | of processor time |\n| --- | --- | --- |")
    if wanted.only in (None, "ratings"):
        for what, (wall_s, cpu_s) in rating_figures(wanted.matches, wanted.bots, wanted.repeat):
            print(f"| {what} | {wall_s:.3f} | {cpu_s:.3f} |", flush=True)
    if wanted.only == "field":
        for what, (wall_s, cpu_s) in field_figures(wanted.matches, wanted.bots):
            print(f"| {what} | {wall_s:.3f} | {cpu_s:.3f} |", flush=True)
    if wanted.only in (None, "store"):
        for what, (wall_s, cpu_s) in store_figures(wanted.matches, wanted.bots, wanted.repeat):
            print(f"| {what} | {wall_s:.4f} | {cpu_s:.4f} |", flush=True)
    if wanted.only in (None, "order"):
        print("\n| what | points |\n| --- | --- |")
        for what, value in shuffle_figures(wanted.bots):
            print(f"| {what} | {value:.1e} |", flush=True)


if __name__ == "__main__":
    main()
