"""Opening positions of chess from files, and how blocks take them."""

from contextlib import suppress

import chess
import pytest

from referee.games.api import DataError
from referee.games.openspiel.chess import fault_of_start
from referee.games.openspiel.openings import read_openings

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
PGN = """
[Event "one"]
[Result "1-0"]

1. e4 {best by test} e5 2. Nf3 (2. f4 exf4 (2... d5)) 2... Nc6! $1 3. Bb5 a6 1-0

[Event "two"]
[FEN "4k3/8/8/8/8/8/4P3/4K2R w K - 3 9"]

1. O-O Kd7 *
"""


def test_each_line_of_an_epd_file_is_a_position() -> None:
    text = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - id "start"; c0 "x";\n\n# note\n' + START + "\n"
    assert read_openings("book.epd", text) == (START, START)


def test_the_end_of_each_game_of_a_pgn_file_is_a_position() -> None:
    first, second = read_openings("book.PGN", PGN)
    assert first == "r1bqkbnr/1ppp1ppp/p1n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 0 4"
    assert second.startswith("8/3k4/8/8/8/8/4P3/5RK1 w - -")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("book.epd", "", "it holds no position"),
        ("book.epd", "\nhello\n", "line 2: 'hello' has 1 fields; expected an EPD or FEN line"),
        ("book.epd", "8/8/8/8/8/8/8/8 w - - 0 1", "line 1: .*one king of each colour"),
        ("book.epd", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "line 1: .*the game is over there"),
        ("book.epd", "k7/8/K8/8 x - - 0 1", "line 1: .*a FEN has six fields"),
        ("book.pgn", "1. e4 e5 2. Ke3 *", "game 1: move 3, 'Ke3', is not legal"),
        ("book.pgn", '[FEN "nothing"]\n\n1. e4 *', "game 1: 'nothing' is no position to begin with"),
    ],
)
def test_what_is_no_position_is_refused_with_its_place(name: str, text: str, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        read_openings(name, text)


@pytest.mark.parametrize(
    ("fen", "fault"),
    [
        (START, ""),
        ("8/8/8/8 w - - 0 1", "eight rows"),
        ("rnbqkbnr/ppppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "eight rows"),
        ("4k3/8/8/8/8/8/8/4KP2 w - - 0 1", "a pawn stands"),
        ("4k3/8/8/8/8/8/8/4K3 w K - 0 1", "castling 'K'"),
        ("4k3/8/8/8/8/8/8/4K3 w - e3 0 1", "en passant"),
        ("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", "in check"),
        ("4k3/8/8/1B6/8/8/8/4K3 w - - 0 1", "in check"),
        ("4k3/3P4/8/8/8/8/8/4K3 w - - 0 1", "in check"),
        ("4k3/8/3N4/8/8/8/8/4K3 w - - 0 1", "in check"),
        ("8/8/8/8/8/8/3kK3/8 w - - 0 1", "in check"),
        ("4k3/4R3/8/8/8/8/8/4K3 b - - 0 1", ""),
        ("4k3/8/4p3/8/4R3/8/8/4K3 w - - 0 1", ""),
        ("", "six fields"),
        ("8" * 80 + " w - - 0 1", "six fields"),
    ],
)
def test_a_position_is_checked_before_openspiel_sees_it(fen: str, fault: str) -> None:
    """OpenSpiel ends the process for some of these. Where python-chess can read one, it says the same."""
    assert fault in fault_of_start(fen)
    assert bool(fault) == bool(fault_of_start(fen))
    with suppress(ValueError):
        assert chess.Board(fen).is_valid() == (not fault)
