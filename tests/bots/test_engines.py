"""Chess and Go engines as bots: real ones, and fake ones that do everything wrong."""

import asyncio
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from crosstown_bot import Match, Turn
from crosstown_bridge.engines import Engine, Patience, patience_to_start
from crosstown_bridge.gtp import GtpBot, time_left, time_settings
from crosstown_bridge.uci import UciBot, note_of, search_limits
from crosstown_proto.v1 import referee_pb2 as pb

from referee.match import EndReason, Limits, MatchResult
from referee.process.entry import Entry, load_entry
from referee.record import Answer, Record
from referee.schedule.spec import Adjudication

PATIENT = Limits(startup_s=30, ready_s=30, first_move_s=30, move_s=30)
HASTY = Limits(startup_s=30, ready_s=30, first_move_s=1, move_s=1)
CHESS, GO = "openspiel/chess", "openspiel/go"
MATE_NEXT = "6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1"

pytestmark = pytest.mark.asyncio(loop_scope="module")


def engine(hall: Any, protocol: str, body: str, **options: int | str | bool) -> Entry:
    """A Python program that is an engine, behind the bridge."""
    folder = hall.new_folder()
    (folder / "engine.py").write_text(body)
    return bot(folder, protocol, ["{python}", "engine.py"], options)


def bot(folder: Path, protocol: str, command: list[str], options: dict[str, Any]) -> Entry:
    words = ["{python}", "-m", "crosstown_bridge", protocol, "--", *command]
    game = CHESS if protocol == "uci" else GO
    lines = [f"{json.dumps(name)} = {json.dumps(value)}" for name, value in options.items()]
    (folder / "bot.toml").write_text(
        f'name = "{folder.name}"\nversion = "1"\ngames = ["{game}"]\nrun = {json.dumps(words)}\n[options]\n'
        + "\n".join(lines)
    )
    return load_entry(folder)


def installed(name: str) -> str:
    """The path of an engine of Debian's. Where CI has to have it, it is not left out."""
    path = shutil.which(name, path=f"{os.environ['PATH']}:/usr/games")
    if path is None and "CROSSTOWN_REQUIRE_LANGUAGES" not in os.environ:
        pytest.skip(f"{name} is not installed")
    assert path is not None, f"{name} is not installed"
    return path


UCI = """
import sys
import chess
board = chess.Board()
moves = 0
for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    if word == "uci":
        print("id name fake")
        print("option name Ponder type check default true")
        print("option name Skill Level type spin default 20 min 0 max 20")
        print("uciok", flush=True)
    elif word == "isready":
        print("readyok", flush=True)
    elif word == "position":
        where, _, played = rest.partition(" moves ")
        board = chess.Board() if where == "startpos" else chess.Board(where.removeprefix("fen "))
        for move in played.split():
            board.push(chess.Move.from_uci(move))
            assert board.is_valid(), board.status()
    elif word == "setoption" or word == "go":
        print(line.strip(), file=sys.stderr)
    if word == "go":
        moves += 1
        print("info depth 1 score cp 12 nodes 20 time 1 pv e2e4")
        {go}
        sys.stdout.flush()
"""
FIRST_MOVE = "print('bestmove', sorted(move.uci() for move in board.legal_moves)[0], 'ponder e7e5')"


def uci(hall: Any, go: str = FIRST_MOVE, **options: Any) -> Entry:
    return engine(hall, "uci", UCI.replace("{go}", go), **options)


async def play(
    hall: Any, *bots: Entry, game: str = CHESS, limits: Limits = PATIENT, **options: Any
) -> tuple[MatchResult, Record, str]:
    """The result, the record, and all that is kept of faults."""
    result, record = await hall.play(game, *bots, limits=limits, **options)
    return result, record, json.dumps(record.footer.faults, ensure_ascii=False)


async def test_an_engine_gets_every_position_and_its_moves_are_played(hall: Any) -> None:
    """The fake engine refuses a move that is not legal in the position it was told."""
    result, record, faults = await play(hall, uci(hall), uci(hall))
    assert result.reason is EndReason.NORMAL, faults
    answers = [line for line in record.lines if isinstance(line, Answer)]
    assert answers[0].seat == 1
    assert answers[0].note == "cp 12 depth 1 nodes 20 time 1"


async def test_a_match_begins_in_the_position_of_the_option_start(hall: Any) -> None:
    mate = uci(hall, "print('bestmove e1e8')")
    result, record, faults = await play(hall, uci(hall), mate, start=MATE_NEXT)
    assert result.reason is EndReason.NORMAL, faults
    assert record.footer.ranking == (2, 1)


async def test_options_go_to_the_engine_and_pondering_is_off(hall: Any) -> None:
    white = uci(hall, "print('bestmove e1e8')", **{"Skill Level": 3, "Own Book": True, "go_nodes": 500})
    _, _, faults = await play(hall, uci(hall), white, start=MATE_NEXT)
    printed = hall.printed(white)
    assert "setoption name Ponder value false" in printed, faults
    assert "setoption name Skill Level value 3" in printed
    assert "setoption name Own Book value true" in printed
    assert "the engine names no option 'Own Book'" in printed
    assert "go nodes 500" in printed
    assert "go_nodes" not in printed


@pytest.mark.parametrize(
    ("protocol", "options", "sentence"),
    [
        ("uci", {"go_node": 20}, "the bridge has no option 'go_node'; it has: go_nodes, go_depth, go_overhead_ms"),
        ("uci", {"go_nodes": "20"}, "option go_nodes must be a whole number, at least 0, not '20'"),
        ("gtp", {"go_nodes": 20}, "the bridge has no option 'go_nodes'; it has: go_overhead_ms"),
    ],
)
async def test_an_option_that_the_bridge_does_not_have_is_refused_at_the_start(
    protocol: str, options: dict[str, Any], sentence: str
) -> None:
    bots = {"uci": UciBot, "gtp": GtpBot}
    child: Any = None  # it is not reached
    with pytest.raises(SystemExit) as ended:
        await bots[protocol](options, child).start(Match(pb.MatchStart()))
    assert sentence in str(ended.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("go", "reason", "sentence"),
    [
        ("print('bestmove e1e5')", EndReason.ILLEGAL_ACTION, "the engine answered 'e1e5'; legal are: "),
        ("print('bestmove (none)')", EndReason.ILLEGAL_ACTION, "the engine answered '(none)'"),
        ("print('bestmove')", EndReason.ILLEGAL_ACTION, "the engine answered ''"),
        ("sys.exit(3)", EndReason.CRASHED, "exited with code 3"),
        ("raise ValueError('the search is broken')", EndReason.CRASHED, "the search is broken"),
        ("import os; os.kill(os.getpid(), 11)", EndReason.CRASHED, "was ended by SIGSEGV"),
        ("import os; os.close(1); __import__('time').sleep(60)", EndReason.CRASHED, "it closed its output"),
        ("__import__('time').sleep(60)", EndReason.MOVE_TIMEOUT, ""),
        ("[print('info depth', n) for n in range(10**9)]", EndReason.MOVE_TIMEOUT, ""),
    ],
)
async def test_what_an_engine_does_wrong_is_its_fault(hall: Any, go: str, reason: EndReason, sentence: str) -> None:
    result, record, faults = await play(hall, uci(hall), uci(hall, go), limits=HASTY, start=MATE_NEXT)
    assert result.reason is reason, faults
    assert record.footer.ranking == (1, 2)
    assert sentence in faults


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("import time; time.sleep(60)", "no answer from the engine yet; expected uciok"),
        ("print('hello')", "expected uciok"),
    ],
)
async def test_an_engine_that_does_not_speak_the_protocol_does_not_start(hall: Any, body: str, sentence: str) -> None:
    limits = replace(PATIENT, ready_s=3)
    result, record, faults = await play(hall, uci(hall), engine(hall, "uci", body), limits=limits)
    assert result.reason is EndReason.START_FAILED
    assert sentence in faults + record.footer.detail


class Silent:
    """A program that says nothing before it is told to."""

    def __init__(self) -> None:
        self.said: asyncio.Queue[str] = asyncio.Queue()

    async def line(self) -> str:
        return await self.said.get()


async def test_an_engine_has_the_time_that_the_referee_may_give_back(capsys: pytest.CaptureFixture[str]) -> None:
    """On a busy machine up to ten limits; and for its start what the organiser allows."""
    silent = Silent()
    asyncio.get_running_loop().call_later(0.5, silent.said.put_nowait, "bestmove a2a3")
    async with asyncio.timeout(20):
        assert await Engine(silent).line(Patience(0.1), "bestmove") == "bestmove a2a3"  # type: ignore[arg-type]
    assert "no answer from the engine yet; expected bestmove" in capsys.readouterr().err
    match = Match(pb.MatchStart(), ready_limit_s=60)
    assert patience_to_start(match).silent_s - patience_to_start(Match(pb.MatchStart())).silent_s > 40


async def test_an_engine_of_chess_refuses_another_game_by_name(hall: Any) -> None:
    result, record, faults = await play(hall, uci(hall), uci(hall), game="openspiel/tic_tac_toe")
    assert result.reason is EndReason.START_FAILED
    assert "it plays openspiel/chess; this match is openspiel/tic_tac_toe" in faults + record.footer.detail


def turn_of(clock: dict[str, int], left_us: int, **more: int) -> Turn:
    match = Match(pb.MatchStart(clock=pb.Clock(**clock)))
    return Turn(match, pb.Decide(clock=pb.Clock(left_us=left_us, **more)))


@pytest.mark.parametrize(
    ("turn", "options", "words"),
    [
        (turn_of({"move_us": 1_000_000}, 1_000_000), {}, "movetime 970"),
        (turn_of({"move_us": 1_000_000}, 5_000_000), {}, "movetime 970"),
        (turn_of({"move_us": 1_000_000}, 1_000_000), {"go_overhead_ms": 100}, "movetime 900"),
        (turn_of({"move_us": 1_000_000}, 1_000_000), {"go_overhead_ms": 0}, "movetime 1000"),
        (turn_of({"move_us": 1_000_000}, 1_000_000), {"go_nodes": 20000}, "nodes 20000"),
        (turn_of({"move_us": 1_000_000}, 1_000_000), {"go_depth": 6}, "depth 6"),
        (
            turn_of({"total_us": 60_000_000, "increment_us": 500_000}, 60_000_000, total_left_us=42_000_000),
            {},
            "wtime 41970 btime 41970 winc 500 binc 500",
        ),
        (
            turn_of({"total_us": 60_000_000, "first_move_us": 5_000_000}, 5_000_000, total_left_us=60_000_000),
            {},
            "wtime 4970 btime 4970 winc 0 binc 0",
        ),
        (turn_of({"move_us": 10_000}, 10_000), {}, "movetime 1"),
    ],
)
async def test_the_clock_of_the_referee_is_the_engines(turn: Turn, options: dict[str, int], words: str) -> None:
    assert search_limits(turn, options) == words


async def test_the_note_holds_the_score_and_what_it_cost() -> None:
    assert note_of("info depth 20 seldepth 30 multipv 1 score mate -3 nodes 99 nps 5 time 7 pv a2a3") == (
        "mate -3 depth 20 nodes 99 time 7"
    )
    assert note_of("") == ""


async def test_stockfish_plays_itself(hall: Any) -> None:
    path = installed("stockfish")
    bots = [bot(hall.new_folder(), "uci", [path], {"go_nodes": 200, "Hash": 16, "Skill Level": n}) for n in (0, 20)]
    result, record, faults = await play(hall, *bots)
    assert result.reason is EndReason.NORMAL, faults
    assert all(line.note.startswith(("cp ", "mate ")) for line in record.lines if isinstance(line, Answer))


GTP = """
import sys
empty = []
for line in sys.stdin:
    word, *rest = line.split()
    print(line.strip(), file=sys.stderr)
    answer = ""
    if word == "known_command":
        answer = "true"
    elif word == "boardsize":
        size = int(rest[0])
        empty = [f"{letter}{row}" for letter in "ABCDEFGHJKLMNOPQRST"[:size] for row in range(1, size + 1)]
    elif word == "play" and rest[1].lower() != "pass":
        empty.remove(rest[1].upper())
    elif word == "genmove":
        {genmove}
    print("=", answer, end="\\n\\n", flush=True)
"""
TEN_STONES = "answer = empty.pop(0) if len(empty) > 15 else 'PASS'"


def gtp(hall: Any, genmove: str = TEN_STONES, **options: Any) -> Entry:
    return engine(hall, "gtp", GTP.replace("{genmove}", genmove), **options)


async def test_a_go_engine_gets_the_board_and_every_move(hall: Any) -> None:
    """The fake engine refuses a stone on a point that it knows to be taken."""
    black, white = gtp(hall), gtp(hall)
    result, _, faults = await play(hall, black, white, game=GO, board_size=5, komi="0.5")
    assert result.reason is EndReason.NORMAL, faults
    printed = hall.printed(white)
    for command in ("boardsize 5", "komi 0.5", "clear_board", "time_settings 0 29 1", "play B a1", "genmove W"):
        assert command in printed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("genmove", "reason", "sentence"),
    [
        ("answer = 'resign'", EndReason.RESIGNED, ""),
        ("answer = 'Z99'", EndReason.ILLEGAL_ACTION, "the engine answered 'Z99'"),
        ("print('? cannot think'); print(); continue", EndReason.CRASHED, "answered '? cannot think' to 'genmove B'"),
        ("sys.exit(4)", EndReason.CRASHED, "exited with code 4"),
        ("__import__('time').sleep(60)", EndReason.MOVE_TIMEOUT, ""),
    ],
)
async def test_what_a_go_engine_does_wrong_is_its_fault(
    hall: Any, genmove: str, reason: EndReason, sentence: str
) -> None:
    genmove = genmove.replace("continue", "sys.stdout.flush(); continue")
    result, record, faults = await play(hall, gtp(hall, genmove), gtp(hall), game=GO, limits=HASTY, board_size=5)
    assert result.reason is reason, faults
    assert record.footer.ranking == (2, 1)
    assert sentence in faults


async def test_the_time_of_a_go_engine_is_the_referees() -> None:
    assert time_settings(Match(pb.MatchStart(clock=pb.Clock(move_us=5_000_000))), {}) == "time_settings 0 4 1"
    assert time_settings(Match(pb.MatchStart(clock=pb.Clock(total_us=60_000_000))), {}) == "time_settings 59 0 0"
    none = {"go_overhead_ms": 0}
    assert time_settings(Match(pb.MatchStart(clock=pb.Clock(total_us=60_000_000))), none) == "time_settings 60 0 0"
    total = turn_of({"total_us": 60_000_000}, 42_000_000, total_left_us=42_000_000)
    assert (time_left(total, {}), time_left(total, {"go_overhead_ms": 3000})) == (41, 39)
    first = turn_of({"total_us": 60_000_000, "first_move_us": 5_000_000}, 5_000_000, total_left_us=60_000_000)
    assert time_left(first, {}) == 4
    short = turn_of({"move_us": 20_000_000, "first_move_us": 5_000_000}, 5_000_000)
    assert time_left(short, {}) == 4


@pytest.mark.parametrize(("first_move_s", "told"), [(5, True), (30, False)], ids=["less time", "more time"])
async def test_a_go_engine_is_told_that_it_has_less_time_for_its_first_move(
    hall: Any, first_move_s: float, told: bool
) -> None:
    black, white = gtp(hall), gtp(hall)
    limits = replace(PATIENT, first_move_s=first_move_s, move_s=20)
    result, _, faults = await play(hall, black, white, game=GO, board_size=5, komi="0.5", limits=limits)
    assert result.reason is EndReason.NORMAL, faults
    printed = hall.printed(white)
    assert "time_settings 0 19 1" in printed
    assert printed.count("time_left W 4 1") == int(told)


async def test_gnu_go_plays_itself(hall: Any) -> None:
    words = [installed("gnugo"), "--mode", "gtp", "--level", "1", "--chinese-rules"]
    bots = [bot(hall.new_folder(), "gtp", [*words, "--seed", str(number)], {}) for number in (1, 2)]
    result, _, faults = await play(hall, *bots, game=GO, board_size=5, komi="0.5")
    assert result.reason in (EndReason.NORMAL, EndReason.RESIGNED), faults


AHEAD = "print('info depth 9 score cp', 900 if board.turn else -900); " + FIRST_MOVE


async def test_scores_of_both_engines_end_a_match_if_the_file_says_so(hall: Any) -> None:
    """White says that it is ahead, and Black that it is behind. The record verifies: `hall.play` asserts it."""
    rules = Adjudication(win_score=600, win_moves=3)
    result, record = await hall.play(CHESS, uci(hall, AHEAD), uci(hall, AHEAD), limits=PATIENT, adjudication=rules)
    assert result.reason is EndReason.ADJUDICATED
    assert record.footer.ranking == (2, 1)
    assert len([line for line in record.lines if isinstance(line, Answer)]) == 6
    assert record.header.policy["adjudicate_win_moves"] == 3
