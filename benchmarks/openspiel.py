"""Every game of OpenSpiel through our adapter: does it conform, how fast is it, how often is it a draw.

    python benchmarks/openspiel.py                     the table, on standard output
    python benchmarks/openspiel.py --write             into docs/openspiel.md
    python benchmarks/openspiel.py --only chess go     of these games
    python benchmarks/openspiel.py --long              ten to twenty times as much of each

Each game has a process of its own, with a time limit: a game that ends its process, or does not end, is one row of
the table. It plays random matches, some for the speed and the draws, and some with the conformance kit, without the
check of other hash seeds. The speed is that of one core, in processor time: legal actions with their texts, the
observation of who is asked as bytes, and the step. With --write the page is written after each game.
"""

import argparse
import multiprocessing
import platform
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from random import Random

sys.path.pop(0)  # this folder, in which `referee` is another benchmark
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.machine import processor
from referee.games.api import Game, resolve_options
from referee.games.conformance import Plan, run_plan
from referee.games.conformance.run import pilot
from referee.games.keyed import random_outcome
from referee.games.registry import BrokenGame, all_openspiel_ids, get_game, load_game

PAGE = Path(__file__).parents[1] / "docs" / "openspiel.md"
BEGIN, END = "<!-- the table begins -->", "<!-- the table ends -->"
FORK = multiprocessing.get_context("fork")
MOST_COUNTS = 2
TIME_LIMIT_S = 120


@dataclass(frozen=True, slots=True)
class Size:
    """How long each game is played for the speed, and how many nodes the kit sees, some of them with all checks."""

    speed_s: float
    nodes: int
    full_nodes: int


SHORT = Size(0.1, 100, 8)
LONG = Size(1.0, 2000, 150)


@dataclass(frozen=True, slots=True)
class Row:
    """One game. `draws` is the share of matches whose best rank is shared, -1 for one seat; `not_checked` says which
    checks it cannot be put to."""

    name: str
    seats: str
    conforms: str
    speed: float
    draws: float
    matches: int
    not_checked: str


def measure(game_id: str, size: Size) -> Row:
    """In this process."""
    game = get_game(game_id)
    players = 2 if 2 in game.player_counts else game.player_counts[0]
    decisions, matches, draws, spent_s = play(game, players, size.speed_s)
    counts = game.player_counts[:MOST_COUNTS]
    nodes = sum(pilot(game, count, 0, None) for count in counts) / len(counts)
    each = max(1, min(20, int(size.nodes / nodes / len(counts))))
    plan = Plan(
        game_id, counts, 0, each * len(counts), 0, min(1.0, size.full_nodes / (each * len(counts) * nodes)), True
    )
    report = run_plan(game, plan, other_processes=False)
    conforms = "yes" if report.passed else f"{report.failures[0].check}: {report.failures[0].message}"
    return Row(
        game_id.partition("/")[2],
        seats_in_words(game.player_counts),
        conforms,
        decisions / spent_s,
        draws / matches if matches and players > 1 else -1,
        matches,
        "; ".join(f"{name}: {why}" for name, why in report.not_checked.items()),
    )


def play(game: Game, players: int, speed_s: float) -> tuple[int, int, int, float]:
    """Decisions, whole matches, draws and the time they took. Of a match longer than the time, the decisions."""
    options = resolve_options(game.id, game.options, {})
    rng = Random(1)
    decisions = matches = draws = 0
    begin = time.process_time()
    while time.process_time() - begin < speed_s:
        state = game.new_initial_state(players, options)
        while not state.is_terminal():
            if asked := state.decisions():
                answers = {}
                for decision in asked:
                    game.codec.encode_observation(state.observation(decision.seat))
                    answers[decision.seat] = rng.choice(state.legal_actions(decision.seat))
                state.apply(answers)
                decisions += len(asked)
            else:
                state.apply_chance(random_outcome(state.chance_outcomes(), rng))
            if time.process_time() - begin > speed_s:
                break
        else:
            matches += 1
            draws += state.ranking().count(1) > 1
    return decisions, matches, draws, time.process_time() - begin


def seats_in_words(counts: tuple[int, ...]) -> str:
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def measured(game_id: str, size: Size) -> Row | str:
    """In a process of its own, which has all modules already; a sentence if that failed."""
    answers, child_end = FORK.Pipe(duplex=False)
    process = FORK.Process(target=lambda: child_end.send(measure(game_id, size)), daemon=True)
    process.start()
    child_end.close()
    try:
        if not answers.poll(TIME_LIMIT_S):
            return f"did not finish within {TIME_LIMIT_S} s"
        row: Row = answers.recv()
    except EOFError:
        process.join()
        return f"its process ended with {process.exitcode}"
    finally:
        process.kill()
        process.join()
    return row


def table(rows: list[Row], failed: dict[str, str], refused: dict[str, str], size: Size) -> str:
    """The three lists as Markdown."""
    conform = [row for row in rows if row.conforms == "yes"]
    more = sum(row.seats != "1" for row in conform)
    lines = [
        f"Measured with OpenSpiel {version('open_spiel')}, Python {platform.python_version()}, one core of "
        f"{processor()}, by `python benchmarks/openspiel.py --write`: about {size.nodes} nodes of each game, with all"
        f" checks at about {size.full_nodes}. {len(conform)} games conform, {more} of them with two seats or more.",
        "",
        "| game | seats | conforms | leaks tested | decisions/s | draws |",
        "| --- | --- | --- | --- | ---: | ---: |",
    ]
    for row in rows:
        draws = "" if row.draws < 0 or not row.matches else f"{row.draws:.0%} of {row.matches:,}"
        tested = "in part" if "resample" in row.not_checked else "yes"
        conforms = "yes" if row.conforms == "yes" else "no, see below"
        lines.append(f"| `{row.name}` | {row.seats} | {conforms} | {tested} | {row.speed:,.0f} | {draws} |")
    bad = {row.name: row.conforms for row in rows if row.conforms != "yes"} | failed
    if bad:
        lines += ["", "These can be played and do not conform:", ""]
        lines += [f"- `{name}`: {in_short(why)}" for name, why in sorted(bad.items())]
    lines += ["", "These cannot be played:", ""]
    lines += [f"- `{name}`: {why}." for name, why in sorted(refused.items())]
    return "\n".join(lines)


def in_short(why: str) -> str:
    """One line, without the bytes that differ."""
    return why.splitlines()[0].partition(" is b'")[0].partition(' is b"')[0][:300].rstrip(".") + "."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="measure these games")
    parser.add_argument("--write", nargs="?", const=PAGE, type=Path, metavar="PAGE", help="write the table into a page")
    parser.add_argument("--long", action="store_true", help="play and check ten to twenty times as much")
    given = parser.parse_args()
    size = LONG if given.long else SHORT
    rows: list[Row] = []
    failed: dict[str, str] = {}
    found = {game_id.partition("/")[2]: load_game(game_id) for game_id in all_openspiel_ids()}
    refused = {name: game.problem for name, game in found.items() if isinstance(game, BrokenGame)}
    for name in [name for name in found if name not in refused and (not given.only or name in given.only)]:
        row = measured(f"openspiel/{name}", size)
        print(f"{name}: {row}", file=sys.stderr, flush=True)
        if isinstance(row, Row):
            rows.append(row)
        else:
            failed[name] = row
        if given.write:
            write(given.write, table(rows, failed, refused, size))
    if not given.write:
        print(table(rows, failed, refused, size))


def write(page: Path, text: str) -> None:
    """Into the page, between the marks."""
    head, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    page.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
