"""A chess engine against itself: the same games under Crosstown and under other managers of engine matches.

    python benchmarks/engines.py [--games 1000] [--nodes 400 200] [--concurrency 2] [--engine /usr/games/stockfish]
        [--fastchess PATH] [--cutechess PATH] [--ordo PATH] [--keep FOLDER]

Both sides are one engine (UCI), with another number of nodes for each move, so that the sign of the difference is known
and the engine plays the same games everywhere. Each opening is played twice, with the colours swapped. The benchmark
writes the openings: positions after eight random plies that the engine finds about even. A manager that is not there is
left out. `pipes` is the time of the engine alone: the games of Crosstown's records are played again, each position is
sent through a pipe, and the answer is only compared with the move of the record.

`ms a move` is the wall time of a run times the matches at once, by moves; `added` is that less the time of `pipes`. CPU
is that of all processes of a run. With other work on the machine wall times are longer, and CPU stays nearly the same.

The second table has the difference in Elo by each tool, from the same games where that is possible: Crosstown's tables,
Ordo on the PGN file that Crosstown exports, and fastchess's formulas on the same file. The formulas are those of
`app/src/matchmaking/elo` in Disservin/fastchess: the mean score of pairs on the logistic scale, and half of the width
of its 95 % interval there.
"""

import argparse
import json
import math
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

if Path(sys.path[0]).resolve() == Path(__file__).resolve().parent:
    sys.path.pop(0)  # this folder, in which `referee` is another benchmark
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pyspiel

from benchmarks.machine import machine
from leaderboard.sequential import elo_of_score
from referee.record import read_record
from referee.record.format import Answer
from referee.record.store import RecordStore

CROSSTOWN = str(Path(sys.executable).parent / "crosstown")
RESULTS = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}
HASH_MIB = 16
COUNTERS = "0 1"
"""Move counters of a FEN, which a file of openings leaves out."""
PLIES, EVEN_CP, OPENING_NODES = 8, 100, 2000
Z_95 = 1.959963984540054


@dataclass(frozen=True)
class Played:
    """One manager's run. `games` are the games that it played, in any order."""

    name: str
    seconds: float
    cpu_s: float
    games: Sequence["PlayedGame"]
    elo: str = ""
    """The Elo difference that it printed."""

    @property
    def moves(self) -> int:
        return sum(len(game.moves) for game in self.games)


@dataclass(frozen=True)
class PlayedGame:
    """One game. `score` is that of A; `moves` are in UCI form; `start` is a FEN without its counters."""

    start: str
    a_is_white: bool
    score: float
    moves: tuple[str, ...]


class Engine:
    """A UCI engine on pipes."""

    def __init__(self, command: str) -> None:
        self._process = subprocess.Popen([command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask("uci", "uciok")
        self.tell(f"setoption name Hash value {HASH_MIB}")
        self.new_game()

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def ask(self, line: str, until: str) -> list[str]:
        """The lines up to the one that begins with `until`."""
        assert self._process.stdout is not None
        self.tell(line)
        lines: list[str] = []
        while not lines or not lines[-1].startswith(until):
            lines.append(self._process.stdout.readline())
            if not lines[-1]:
                raise SystemExit(f"the engine has ended; expected {until}")
        return lines

    def new_game(self) -> None:
        self.tell("ucinewgame")
        self.ask("isready", "readyok")

    def search(self, start: str, moves: Sequence[str], nodes: int) -> list[str]:
        """Its last `info` line and its answer."""
        played = f" moves {' '.join(moves)}" if moves else ""
        self.tell(f"position fen {start} {COUNTERS}{played}")
        return self.ask(f"go nodes {nodes}", "bestmove")[-2:]

    def close(self) -> None:
        self.tell("quit")
        self._process.wait()


def write_openings(path: Path, number: int, engine: Engine) -> None:
    """Different positions that the engine finds about even."""
    dice, found = random.Random(1), dict[str, None]()
    game = pyspiel.load_game("chess")
    while len(found) < number:
        position = game.new_initial_state()
        for _ in range(PLIES):
            position.apply_action(dice.choice(position.legal_actions()))
        start = without_counters(str(position))
        if position.is_terminal() or start in found:
            continue
        score = re.search(r" score cp (-?\d+) ", engine.search(start, (), OPENING_NODES)[0])
        if score and abs(int(score[1])) <= EVEN_CP:
            found[start] = None
    path.write_text("".join(f"{start}\n" for start in found))


def without_counters(fen: str) -> str:
    return " ".join(fen.split()[:4])


# The managers


def crosstown(folder: Path, options: argparse.Namespace) -> Played:
    bot = folder / "engine"
    bot.mkdir()
    run = ["{python}", "-m", "crosstown_bridge", "uci", "--", options.engine]
    (bot / "bot.toml").write_text(
        f'name = "engine"\nversion = "1"\ngames = ["openspiel/chess"]\nrun = {json.dumps(run)}\n'
        f"[options]\ngo_nodes = 1\nHash = {HASH_MIB}\n"
    )
    sides = "".join(
        f'[[bots]]\npath = "engine"\nname = "{name}"\noptions = {{ go_nodes = {nodes} }}\n'
        for name, nodes in zip("AB", options.nodes, strict=True)
    )
    (folder / "match.toml").write_text(
        f'game = "openspiel/chess"\nformat = "round-robin"\nseed = 1\nblocks = {options.games // 2}\n'
        'openings = "openings.epd"\n[options]\ntensors = false\n'
        f"[clock]\nstartup_s = 120.0\nready_s = 120.0\nfirst_move_s = 60.0\nmove_s = 60.0\n{sides}"
    )
    runs, pgn = str(folder / "runs"), folder / "crosstown.pgn"
    command = [CROSSTOWN, "run", str(folder / "match.toml"), "--out", runs, "--quiet"]
    seconds, cpu_s, _ = measured([*command, "--workers", str(options.concurrency)], folder / "crosstown.log")
    measured([CROSSTOWN, "matches", "export", "all", str(pgn), "--run", run_of(folder)], folder / "export.log")
    return Played("Crosstown", seconds, cpu_s, read_games(pgn))


def run_of(folder: Path) -> str:
    return str(folder / "runs" / "match")


def fastchess(folder: Path, options: argparse.Namespace) -> Played:
    pgn, own = folder / "fastchess.pgn", f"outname={folder / 'fastchess.json'}"
    command = [options.fastchess, *match_of_two(folder, options), "-force-concurrency"]
    seconds, cpu_s, said = measured(
        [*command, "-pgnout", f"file={pgn}", "notation=uci", "-config", own], folder / "fastchess.log"
    )
    elo = re.findall(r"\bElo: (\S+ \+/- [^\s,]+)", said)
    return Played("fastchess", seconds, cpu_s, read_games(pgn), elo[-1])


def cutechess(folder: Path, options: argparse.Namespace) -> Played:
    pgn = folder / "cutechess.pgn"
    command = [options.cutechess, *match_of_two(folder, options), "-pgnout", str(pgn)]
    seconds, cpu_s, said = measured(command, folder / "cutechess.log")
    elo = re.findall(r"Elo difference: (\S+ \+/- [^\s,]+)", said)
    return Played("cutechess-cli", seconds, cpu_s, read_games(pgn), elo[-1])


def match_of_two(folder: Path, options: argparse.Namespace) -> list[str]:
    """The options that fastchess and cutechess-cli have in common."""
    sides = []
    for name, nodes in zip("AB", options.nodes, strict=True):
        sides += ["-engine", f"cmd={options.engine}", f"name={name}", f"nodes={nodes}"]
    return [
        *[*sides, "-each", "proto=uci", "tc=inf", f"option.Hash={HASH_MIB}"],
        *["-openings", f"file={folder / 'openings.epd'}", "format=epd", "order=sequential"],
        *["-rounds", str(options.games // 2), "-games", "2", "-repeat", "-concurrency", str(options.concurrency)],
        *["-ratinginterval", "0"],
    ]


def measured(command: Sequence[str], log: Path) -> tuple[float, float, str]:
    """Wall seconds, CPU seconds of the command and of all processes below it, and what it printed."""
    before, began = children_cpu_s(), time.perf_counter()
    with log.open("w") as out:
        code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL).returncode
    if code:
        raise SystemExit(f"{' '.join(command)}\nended with {code}:\n{log.read_text()[-2000:]}")
    return time.perf_counter() - began, children_cpu_s() - before, log.read_text()


def children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


_GAME = re.compile(r"((?:\[[^\n]*\]\s*\n)+)\s*((?:[^\[\n][^\n]*\n)+)")


def read_games(pgn: Path) -> list[PlayedGame]:
    """The games of a PGN file, with moves as PGN or UCI has them."""
    found, chess = [], pyspiel.load_game("chess")
    for tags_text, text in _GAME.findall(re.sub(r"\{[^}]*\}", " ", pgn.read_text()) + "\n"):
        tags = dict(re.findall(r'\[(\w+) "(.*)"\]', tags_text))
        position, moves = chess.new_initial_state(tags["FEN"]), []
        for word in text.split():
            if word[0].isdigit() or word == "*":  # the number of a move, or the result
                continue
            legal = position.legal_actions()
            names = [pyspiel.chess.action_to_move(action, position.board()).to_lan() for action in legal]
            action = legal[names.index(word)] if word in names else position.parse_move_to_action(word)
            moves.append(names[legal.index(action)])
            position.apply_action(action)
        white, score = tags["White"] == "A", RESULTS[tags["Result"]]
        found.append(PlayedGame(without_counters(tags["FEN"]), white, score if white else 1 - score, tuple(moves)))
    return found


# The engine alone


def pipes(games: Sequence[PlayedGame], options: argparse.Namespace) -> tuple[Played, int]:
    """Play the games again, as many at once; and count the answers that are not the moves of the games."""
    before, began = children_cpu_s() + time.process_time(), time.perf_counter()
    with ThreadPoolExecutor(options.concurrency) as pool:
        parts = [games[place :: options.concurrency] for place in range(options.concurrency)]
        others = sum(pool.map(lambda part: play_again(part, options), parts))
    seconds = time.perf_counter() - began
    return Played("pipes", seconds, children_cpu_s() + time.process_time() - before, games), others


def play_again(games: Sequence[PlayedGame], options: argparse.Namespace) -> int:
    engines = [Engine(options.engine) for _ in "AB"]
    others = 0
    for game in games:
        for engine in engines:
            engine.new_game()
        white = game.start.split()[1] == "w"
        for ply, move in enumerate(game.moves):
            side = 0 if white == game.a_is_white else 1
            answer = engines[side].search(game.start, game.moves[:ply], options.nodes[side])[-1]
            others += answer.split()[1] != move
            white = not white
    for engine in engines:
        engine.close()
    return others


# Elo


def counted(scores: Sequence[float]) -> tuple[float, float]:
    """Elo and half of its 95 % interval, for independent scores between 0 and 1, by fastchess's formulas."""
    mean = sum(scores) / len(scores)
    margin = Z_95 * math.sqrt(sum((score - mean) ** 2 for score in scores)) / len(scores)
    return elo_of_score(mean), (elo_of_score(mean + margin) - elo_of_score(mean - margin)) / 2


def pairs_of(games: Sequence[PlayedGame]) -> list[float]:
    """The mean scores of A in the pairs of games from one opening."""
    sums: Counter[str] = Counter()
    for game in games:
        sums[game.start] += game.score / 2  # type: ignore[assignment]
    return list(sums.values())


def elo_rows(folder: Path, options: argparse.Namespace, ours: Played, others: Sequence[Played]) -> Iterator[str]:
    yield row("Crosstown: `standings`, with its standard error times 1.96", plus_minus(*standings_elo(folder)))
    yield row("Crosstown: `standings --cross`, errors over pairs", plus_minus(*cross_elo(folder)))
    yield row("fastchess's formulas, pairs, on Crosstown's PGN file", plus_minus(*counted(pairs_of(ours.games))))
    yield row(
        "fastchess's formulas, single games, on Crosstown's PGN file",
        plus_minus(*counted([game.score for game in ours.games])),
    )
    if options.ordo:
        yield row("Ordo, 1,000 simulations, on Crosstown's PGN file", ordo_elo(folder, options.ordo))
    for other in others:
        shared = Counter(ours.games) & Counter(other.games)
        same = f"{shared.total():,} of {len(other.games):,} games are the same, move by move"
        yield row(f"{other.name}, its own games; {same}", other.elo.replace("/", ""))


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def plus_minus(elo: float, error: float) -> str:
    return f"{elo:.2f} +- {error:.2f}"


def printed(command: Sequence[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def standings_elo(folder: Path) -> tuple[float, float]:
    """Both sides have the mean 0, so that the difference is twice the Elo of A, and so is its error."""
    table = json.loads(printed([CROSSTOWN, "standings", run_of(folder), "--json"]))["standings"]
    own = next(line for line in table if line["name"] == "A")
    return 2 * own["elo"], 2 * Z_95 * own["elo_error"]


def cross_elo(folder: Path) -> tuple[float, float]:
    pools = json.loads(printed([CROSSTOWN, "standings", run_of(folder), "--cross", "--json"]))["pools"]
    pair = next(pair for pair in pools[0]["pairs"] if pair["name"] == "A")
    return elo_of_score(pair["score"]), (elo_of_score(pair["high"]) - elo_of_score(pair["low"])) / 2


def ordo_elo(folder: Path, ordo: str) -> str:
    table = folder / "ordo.csv"
    command = [ordo, "-p", str(folder / "crosstown.pgn"), "-a", "0", "-A", "B", "-s", "1000", "-c", str(table), "-q"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    found = next(line.split(",") for line in table.read_text().splitlines() if '"A"' in line)
    return plus_minus(float(found[2]), float(found[3]))


# The tables


def speed_rows(alone: Played, played: Sequence[Played], concurrency: int) -> Iterator[str]:
    def ms(run: Played) -> float:
        return run.seconds * concurrency / run.moves * 1000

    yield "| | games/s | moves/s | ms a move | added | CPU ms a move | added |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for run in (alone, *played):
        cpu_ms, of_pipes_ms = run.cpu_s / run.moves * 1000, alone.cpu_s / alone.moves * 1000
        yield row(
            run.name,
            f"{len(run.games) / run.seconds:.2f}",
            f"{run.moves / run.seconds:,.0f}",
            f"{ms(run):.2f}",
            "" if run is alone else f"{ms(run) - ms(alone):.2f}",
            f"{cpu_ms:.2f}",
            "" if run is alone else f"{cpu_ms - of_pipes_ms:.2f}",
        )


def answer_times(folder: Path) -> str:
    """A sentence with the times from question to answer, which Crosstown's records have."""
    answers_us, matches_us, moves = 0, 0, 0
    paths = RecordStore.of_run(Path(run_of(folder))).paths()
    for match_id in paths:
        record = read_record(paths[match_id])
        assert record.footer is not None
        matches_us += record.footer.wall_us
        moves += record.footer.decisions
        answers_us += sum(line.wall_us for line in record.lines if isinstance(line, Answer))
    return (
        f"Crosstown's records: {answers_us / moves / 1000:.2f} ms a move from the question to the answer,"
        f" {matches_us / moves / 1000:.2f} ms in matches."
    )


def described(options: argparse.Namespace) -> str:
    said = subprocess.run([options.engine], input="quit\n", capture_output=True, text=True).stdout
    return f"{machine()}, open_spiel {version('open_spiel')}, grpcio {version('grpcio')}; {said.partition(' by ')[0]}"


def main(options: argparse.Namespace) -> None:
    folder = Path(options.keep or tempfile.mkdtemp(prefix="ct-engines-")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    engine = Engine(options.engine)
    write_openings(folder / "openings.epd", options.games // 2, engine)
    engine.close()
    ours, others = crosstown(folder, options), []
    for name, play in (("fastchess", fastchess), ("cutechess", cutechess)):
        if getattr(options, name):
            others.append(play(folder, options))
        else:
            print(f"{name} is left out: give its program with --{name} PATH", file=sys.stderr)
    alone, unlike = pipes(ours.games, options)
    a, b = options.nodes
    print(f"\n{described(options)}\n")
    print(
        f"{options.games:,} games of A ({a:,} nodes a move) against B ({b:,} nodes), {ours.moves:,} moves under"
        f" Crosstown, {options.concurrency} games at once. Asked again, the engine gave another move {unlike} times.\n"
    )
    print("\n".join(speed_rows(alone, [ours, *others], options.concurrency)))
    print(f"\n{answer_times(folder)}\n")
    print("| Elo of A above B, 95 % | |\n| --- | ---: |")
    print("\n".join(elo_rows(folder, options, ours, others)))
    if not options.keep:
        shutil.rmtree(folder)


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=1000, help="an even number")
    parser.add_argument("--nodes", type=int, nargs=2, default=(400, 200), metavar=("A", "B"))
    parser.add_argument("--concurrency", type=int, default=2, help="games at once")
    parser.add_argument("--engine", default="/usr/games/stockfish", help="UCI engine")
    parser.add_argument("--fastchess", help="program of fastchess")
    parser.add_argument("--cutechess", help="program of cutechess-cli")
    parser.add_argument("--ordo", help="program of Ordo")
    parser.add_argument("--keep", help="folder for openings, records and PGN files, which stay there")
    found = parser.parse_args(given)
    if found.games < 2 or found.games % 2:
        parser.error(f"--games {found.games}: give an even number, because each opening is played with both colours")
    return found


if __name__ == "__main__":
    main(arguments())
