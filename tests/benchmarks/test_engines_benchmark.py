"""What the benchmark of engines computes: games from PGN files of several programs, and Elo by fastchess's formulas."""

import pytest

from benchmarks.engines import PlayedGame, arguments, counted, pairs_of, read_games

FEN = "rnbqkb1r/pppp1ppp/5n2/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 0 1"
START = FEN.removesuffix(" 0 1")

PGN = f"""[Event "x"]
[White "A"]
[Black "B"]
[Result "1-0"]
[SetUp "1"]
[FEN "{FEN}"]

1. Nxe5 {{[%eval 0.10,3] [%emt 0:00:00.004]}} 1... d6 {{[%emt 0:00:00.004]}} 2. Nf3
1-0

[Event "x"]
[White "B"]
[Black "A"]
[Result "1/2-1/2"]
[FEN "{FEN}"]

1. f3e5 {{+0.10/3 0.004s}} d7d6 {{-0.10/3 0.004s, Draw by 3-fold repetition}} 1/2-1/2
"""


def test_games_of_a_pgn_file_have_moves_as_engines_write_them_and_the_score_of_a(tmp_path):
    (tmp_path / "games.pgn").write_text(PGN)
    assert read_games(tmp_path / "games.pgn") == [
        PlayedGame(START, True, 1.0, ("f3e5", "d7d6", "e5f3")),
        PlayedGame(START, False, 0.5, ("f3e5", "d7d6")),
    ]


def test_elo_and_error_over_pairs_are_those_that_fastchess_printed():
    # Printed by fastchess for a match of 748 games ("Elo: 42.95 +/- 20.35", "Ptnml(0-2): [23, 76, 123, 90, 62]"), in
    # pull request 72 of Kaynoux/thunfisch.
    pairs = [0.0] * 23 + [0.25] * 76 + [0.5] * 123 + [0.75] * 90 + [1.0] * 62
    elo, error = counted(pairs)
    assert (elo, error) == (pytest.approx(42.95, abs=0.005), pytest.approx(20.35, abs=0.005))


def test_a_pair_is_two_games_from_one_opening():
    games = [PlayedGame("one", True, 1.0, ()), PlayedGame("two", True, 0.0, ()), PlayedGame("one", False, 0.5, ())]
    assert pairs_of(games) == [0.75, 0.0]


def test_an_odd_number_of_games_is_refused(capsys):
    with pytest.raises(SystemExit):
        arguments(["--games", "7"])
    assert "--games 7: give an even number" in capsys.readouterr().err
