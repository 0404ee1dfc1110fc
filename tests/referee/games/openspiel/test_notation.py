"""PGN that python-chess reads, and SGF that sgfmill reads, without an error."""

import io
from typing import Any

import chess
import chess.pgn
import pytest
from sgfmill import boards, sgf, sgf_moves

from referee.games.api import resolve_options
from referee.games.openspiel.notation import PlayedMatch, PlayedMove, SeatClock, write_pgn, write_sgf
from referee.games.registry import get_game

CASTLING = "4k3/1P6/8/8/8/8/8/4K2R w K - 0 5"


def played(game_id: str, texts: str, *, notes: tuple[str, ...] = (), left: bool = False, **more: Any) -> PlayedMatch:
    game: Any = get_game(game_id)
    options = resolve_options(game_id, game.options, more.pop("options", {}))
    state = game.new_initial_state(2, options)
    begin, moves = state.clone(), []
    for number, text in enumerate(texts.split(",")):
        seat = state.decisions()[0].seat
        action = next(action for action in state.legal_actions(seat) if action.text == text.strip())
        state.apply({seat: action})
        note = notes[number] if number < len(notes) else ""
        moves.append(PlayedMove(seat, action.id, action.text, 1_500_000, 3_723_004_000 if left else None, note))
    values = {
        "event": 'The "cup"',
        "match_id": "m000001-ab",
        "date": "2026.11.29",
        "round": "1",
        "names": ("black bot", "white"),
        "ranking": (2, 1),
        "reason": "normal",
        "clocks": [SeatClock(0.0, 0.0, 1.0)] * 2,
    }
    return PlayedMatch(**{**values, "begin": begin, "moves": moves, **more})


def read(match: PlayedMatch) -> chess.pgn.Game:
    game = chess.pgn.read_game(io.StringIO(write_pgn(match)))
    assert game is not None
    assert game.errors == []
    return game


def test_moves_tags_scores_and_clocks_are_read_back() -> None:
    texts = "e2e4, e7e5, g1f3, b8c6, f1b5, a7a6, e1g1, g8f6"
    notes = ("cp 35 depth 12 nodes 9", "cp 20 depth 11", "mate 3 depth 5", "mate -3")
    clocks = [SeatClock(60.0, 0.5, 1.0)] * 2
    game = read(played("openspiel/chess", texts, notes=notes, left=True, clocks=clocks))
    assert [move.uci() for move in game.mainline_moves()] == texts.split(", ")
    assert (game.headers["White"], game.headers["Black"]) == ("white", "black bot")
    assert (game.headers["Event"], game.headers["Result"]) == ("The 'cup'", "1-0")
    assert game.headers["TimeControl"] == "60+0.5"
    nodes = list(game.mainline())
    scores = [node.eval() for node in nodes[:4]]
    assert [score.white().score(mate_score=1000) for score in scores if score is not None] == [35, -20, 997, 997]
    assert nodes[0].eval_depth() == 12
    assert nodes[0].clock() == pytest.approx(3723.004)
    assert nodes[0].emt() == pytest.approx(1.5)
    assert nodes[4].eval() is None


def test_sides_with_different_clocks_have_a_tag_each() -> None:
    clocks = [SeatClock(0.0, 0.0, 2.0), SeatClock(60.0, 0.5, 1.0)]
    headers = read(played("openspiel/chess", "e2e4", clocks=clocks)).headers
    assert headers["White"] == "white"
    assert (headers["WhiteTimeControl"], headers["BlackTimeControl"]) == ("60+0.5", "*2")
    assert "TimeControl" not in headers


@pytest.mark.parametrize(("totals", "said"), [((60, 60), "TM[60]"), ((60, 30), ""), ((60, 0), ""), ((0, 0), "")])
def test_a_game_of_go_says_the_time_for_the_match_where_both_have_the_same(totals: tuple[int, int], said: str) -> None:
    written = write_sgf(played("openspiel/go", "B d4", clocks=[SeatClock(total, 0, 1) for total in totals]))
    assert said in written
    assert bool(said) == ("TM[" in written)


def test_a_game_that_begins_elsewhere_has_its_position() -> None:
    game = read(played("openspiel/chess", "e1g1, e8d7, b7b8n", options={"start": CASTLING}, ranking=(1, 1)))
    assert game.headers["FEN"] == CASTLING
    assert game.headers["Result"] == "1/2-1/2"
    assert [node.san() for node in game.mainline()] == ["O-O", "Kd7", "b8=N+"]


def test_a_game_with_black_to_move_is_numbered_so() -> None:
    start = "4k3/8/8/8/8/8/4P3/4K3 b - - 0 7"
    match = played("openspiel/chess", "e8d7, e2e4", options={"start": start}, ranking=(), reason="cancelled")
    assert "7... Kd7" in write_pgn(match)
    assert "8. e4" in write_pgn(match)
    assert read(match).headers["Result"] == "*"


def test_no_line_is_broken_within_a_comment() -> None:
    texts = ", ".join(["g1f3, g8f6, f3g1, f6g8"] * 1)
    for line in write_pgn(played("openspiel/chess", texts, notes=("cp 1 depth 9",) * 4, left=True)).splitlines():
        assert line.count("{") == line.count("}")


@pytest.mark.parametrize(
    ("reason", "termination", "how"),
    [
        ("normal", "normal", "W+"),
        ("move_timeout", "time forfeit", "W+T"),
        ("illegal_action", "rules infraction", "W+F"),
        ("crashed", "abandoned", "W+F"),
        ("resigned", "normal", "W+R"),
    ],
)
def test_the_end_reason_is_said(reason: str, termination: str, how: str) -> None:
    assert read(played("openspiel/chess", "e2e4", reason=reason)).headers["Termination"] == termination
    assert f"RE[{how}]" in write_sgf(played("openspiel/go", "B d4", reason=reason))


def test_a_game_of_go_is_read_back() -> None:
    options = {"board_size": 9, "komi": "6.5"}
    match = played("openspiel/go", "B c3, W j9, B PASS, W a1", options=options, notes=("a] \\ note: 1",), left=True)
    game = sgf.Sgf_game.from_bytes(write_sgf(match).encode())
    assert (game.get_size(), game.get_komi(), game.get_winner()) == (9, 6.5, "w")
    assert game.get_player_name("b") == "black bot"
    board, moves = sgf_moves.get_setup_and_moves(game)
    assert isinstance(board, boards.Board)
    assert moves == [("b", (2, 2)), ("w", (8, 8)), ("b", None), ("w", (0, 0))]
    assert game.get_main_sequence()[1].get("C") == "a] \\ note: 1"
