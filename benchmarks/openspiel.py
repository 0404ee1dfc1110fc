"""Every game of OpenSpiel through our adapter: does it conform, how fast is it, how often is it a draw.

    python benchmarks/openspiel.py                     the table, on standard output
    python benchmarks/openspiel.py --write             into docs/openspiel.md
    python benchmarks/openspiel.py --only chess go     of these games

Each game has a process of its own, with a time limit: a game that ends its process, or does not end, is one row of
the table. It plays random matches: half a second of them for the speed and the draws, and a few with the conformance
kit, all checks at about forty nodes, without the check of other hash seeds. The speed is that of one core, in processor
time: legal actions with their texts, the observation of who is asked as bytes, and the step.
"""

import argparse
import json
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Any

sys.path.pop(0)  # this folder, in which `referee` is another benchmark
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from referee.games.api import Game, resolve_options
from referee.games.conformance import Plan, run_plan
from referee.games.conformance.run import pilot
from referee.games.keyed import random_outcome
from referee.games.registry import BrokenGame, all_openspiel_ids, get_game, load_game

PAGE = Path(__file__).parents[1] / "docs" / "openspiel.md"
BEGIN, END = "<!-- the table begins -->", "<!-- the table ends -->"
SPEED_S = 0.5
NODES = 600
FULL_NODES = 40
MOST_COUNTS = 2
TIME_LIMIT_S = 600


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


def measure(game_id: str) -> Row:
    """In this process."""
    game = get_game(game_id)
    players = 2 if 2 in game.player_counts else game.player_counts[0]
    decisions, matches, draws, spent_s = play(game, players)
    counts = game.player_counts[:MOST_COUNTS]
    nodes = sum(pilot(game, count, 0, None) for count in counts) / len(counts)
    each = max(1, min(20, int(NODES / nodes / len(counts))))
    plan = Plan(game_id, counts, 0, each * len(counts), 0, min(1.0, FULL_NODES / (each * len(counts) * nodes)), True)
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


def play(game: Game, players: int) -> tuple[int, int, int, float]:
    """Decisions, whole matches, draws and the time they took. Of a match longer than the time, the decisions."""
    options = resolve_options(game.id, game.options, {})
    rng = Random(1)
    decisions = matches = draws = 0
    begin = time.process_time()
    while time.process_time() - begin < SPEED_S:
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
            if time.process_time() - begin > SPEED_S:
                break
        else:
            matches += 1
            draws += state.ranking().count(1) > 1
    return decisions, matches, draws, time.process_time() - begin


def seats_in_words(counts: tuple[int, ...]) -> str:
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def measured(game_id: str) -> Row | str:
    """In a process of its own; a sentence if that failed."""
    command = [sys.executable, __file__, "--measure", game_id]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"did not finish within {TIME_LIMIT_S} s"
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return f"its process ended with {done.returncode}: {last}"
    return Row(**json.loads(done.stdout.splitlines()[-1]))


def table(rows: list[Row], failed: dict[str, str], refused: dict[str, str]) -> str:
    """The three lists as Markdown."""
    conform = [row for row in rows if row.conforms == "yes"]
    more = sum(row.seats != "1" for row in conform)
    lines = [
        f"Measured with OpenSpiel {version('open_spiel')}, Python {platform.python_version()}, one core of "
        f"{cpu()}, by `python benchmarks/openspiel.py --write`. {len(conform)} games conform, {more} of them with two "
        "seats or more.",
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
        lines += [f"- `{name}`: {why.replace('|', '/').splitlines()[0][:300]}" for name, why in sorted(bad.items())]
    lines += ["", "These cannot be played:", ""]
    lines += [f"- `{name}`: {why}." for name, why in sorted(refused.items())]
    return "\n".join(lines)


def cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="measure these games")
    parser.add_argument("--write", action="store_true", help="write the table into docs/openspiel.md")
    parser.add_argument("--measure", metavar="ID", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        row = measure(given.measure)
        print(json.dumps({name: getattr(row, name) for name in Row.__slots__}))
        return
    rows: list[Row] = []
    failed: dict[str, str] = {}
    refused: dict[str, str] = {}
    for game_id in all_openspiel_ids():
        name = game_id.partition("/")[2]
        found: Any = load_game(game_id) if not given.only or name in given.only else None
        if isinstance(found, BrokenGame):
            refused[name] = found.problem
        elif found is not None:
            row = measured(game_id)
            print(f"{name}: {row}", file=sys.stderr, flush=True)
            if isinstance(row, Row):
                rows.append(row)
            else:
                failed[name] = row
    text = table(rows, failed, refused)
    if given.write:
        page = PAGE.read_text(encoding="utf-8")
        head, _, rest = page.partition(BEGIN)
        PAGE.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
