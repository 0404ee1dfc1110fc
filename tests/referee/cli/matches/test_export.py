"""`crosstown matches export` as a user meets it; what the files hold is tested with `leaderboard.export`."""

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from leaderboard.export import notation
from leaderboard.index import load_index
from referee.games.registry import get_game
from referee.record.replay import ReplayError
from referee.run.run import Run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(here: Path, write: Callable[..., Path]) -> Path:
    """A run with a match that a crash ended, and one that goes on."""
    folder = here / "runs" / "first" / "matches"
    write(folder, "m1", crash_after=4)
    write(folder, "m2", decisions=3, close=False)
    return folder


@pytest.mark.parametrize(
    ("words", "name", "begin"),
    [
        ("", "m1.html", "<!doctype html>"),
        ("page.htm", "page.htm", "<!doctype html>"),
        ("--format json", "m1.json", "{"),
        ("new/folder/match.json", "new/folder/match.json", "{"),
        ("board.svg --step 3 --seat 0 --theme dark", "board.svg", "<svg"),
        ("film.svg --pace 0.5 --seat all", "film.svg", "<svg"),
        ("odd.txt --format svg", "odd.txt", "<svg"),
    ],
)
def test_the_file_is_where_it_was_wanted(
    matches: Any, run: Path, here: Path, words: str, name: str, begin: str
) -> None:
    assert matches("export", "m1", *words.split()).stdout == f"{name}\n"
    assert (here / name).read_text(encoding="utf-8").startswith(begin)
    assert [path.name for path in (here / name).parent.iterdir() if path.name.startswith(".")] == []


def test_a_file_can_go_to_stdout(matches: Any, run: Path, here: Path) -> None:
    document = json.loads(matches("export", "m1", "-", "--format", "json").stdout)
    assert document["header"]["match_id"] == "m1"
    assert document == json.loads(matches("show", "m1", "--json").stdout)
    assert matches("export", "m1", "-", "--format", "svg", "--step", "0").stdout.startswith("<svg")


def test_json_of_a_match_that_goes_on_tells_no_more_than_the_page(matches: Any, run: Path) -> None:
    hidden = json.loads(matches("export", "m2", "-", "--format", "json").stdout)
    whole = json.loads(matches("export", "m2", "-", "--format", "json", "--reveal").stdout)
    told = {"outcome", "action", "note", "detail", "message"}
    assert {line[name] for line in hidden["lines"] for name in told & set(line)} == {""}
    assert all(line["action"] for line in whole["lines"] if line["kind"] == "answer")
    assert hidden["steps"] == whole["steps"]
    assert [line["line"] for line in hidden["lines"]] == [line["line"] for line in whole["lines"]]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("m1 match.txt", "match.txt has no ending that names a format"),
        ("m1 match", "match has no ending that names a format"),
        ("m1 -", "- has no ending that names a format"),
        ("m1 --format gif", "--format 'gif' is not one of html, json, svg"),
        ("m1 m.html --step 3", "are for drawings"),
        ("m1 m.svg --step 999", "there is no step 999"),
        ("m1 m.svg --seat 2", "there is no seat '2'"),
        ("m1 m.svg --seat ann", "there is no seat 'ann'"),
        ("m1 m.svg --theme blue", "there is no theme 'blue'"),
        ("m2 m.svg --seat 0", "the match is not over"),
        ("m2 m.svg --reveal", "--reveal is for JSON"),
        ("m1 m.html --reveal", "--reveal is for JSON"),
        ("m2 m.svg --seat all", "the match is not over"),
        ("m3", "no match 'm3'"),
    ],
)
def test_what_cannot_be_had_is_told_with_a_next_step(
    matches: Any, run: Path, here: Path, words: str, said: str
) -> None:
    before = sorted(here.iterdir())
    stderr = matches("export", *words.split(), code=2).stderr
    assert said in stderr
    assert "next: " in stderr
    assert sorted(here.iterdir()) == before


def test_a_place_that_cannot_be_written_is_told(matches: Any, run: Path, here: Path) -> None:
    (here / "file").write_text("")
    os.mkfifo(here / "pipe.html")
    for place, why in (("file/m.html", "File exists"), ("pipe.html", "it is not an ordinary file"), ("runs", "")):
        stderr = matches("export", "m1", place, "--format", "html", code=2).stderr
        assert why in stderr
        assert "next: name another file" in stderr


def test_matches_of_games_without_the_notation_are_left_out_and_named(
    matches: Any, here: Path, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = get_game("toy")
    chess: Any = copy.copy(toy)
    chess.id, chess.notations = "chess", {"pgn": lambda played: f"[Match {played.match_id}]\n"}
    monkeypatch.setattr(notation, "game_of", lambda header: chess if header.match_id == "m2" else toy)
    folder = here / "runs" / "first" / "matches"
    for match_id in ("m1", "m2", "m3"):
        write(folder, match_id)
    said = matches("export", "all", "games.pgn")
    assert (here / "games.pgn").read_text() == "[Match m2]\n"
    assert said.stderr == "left out: 2 matches: toy has no notation 'pgn'; it has none\n"
    monkeypatch.setattr(notation, "game_of", lambda header: chess)
    refused = matches("export", "all", "games.sgf", code=2)
    assert "error: chess has no notation 'sgf'; it has: pgn" in refused.stderr
    assert "next: choose --format pgn, html, json or svg" in refused.stderr
    assert not (here / "games.sgf").exists()


def test_a_match_that_is_unfinished_or_cannot_be_played_again_is_left_out_of_a_notation_and_named(
    matches: Any, here: Path, run: Path, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(run, "m3")

    def told(record: Any, *_: Any) -> Any:
        if record.header.match_id == "m1":
            raise ReplayError(7, "the game refuses the set-up")
        return SimpleNamespace(match_id=record.header.match_id)

    chess: Any = copy.copy(get_game("toy"))
    chess.id, chess.notations = "chess", {"pgn": lambda played: f"[Match {played.match_id}]\n"}
    monkeypatch.setattr(notation, "game_of", lambda _header: chess)
    monkeypatch.setattr(notation, "_played", told)
    said = matches("export", "all", "games.pgn").stderr
    assert (here / "games.pgn").read_text() == "[Match m3]\n"
    assert said.splitlines() == [
        "left out: 1 match: its moves cannot be played again: line 7: the game refuses the set-up",
        "left out: 1 match: it has no result",
    ]
    alone = matches("export", "m1", "game.pgn", code=2).stderr
    assert "error: its moves cannot be played again: line 7: the game refuses the set-up" in alone


def test_a_notation_has_the_results_that_count_and_no_match_of_a_bot_that_was_annulled(
    make_run: Any, crosstown: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a rating program reads from the file is what the tables rest on."""
    chess: Any = copy.copy(get_game("toy"))
    shown = lambda played: f"{played.round} {' '.join(played.names)} {played.ranking}\n"  # noqa: E731
    chess.id, chess.notations = "chess", {"pgn": shown}
    monkeypatch.setattr(notation, "game_of", lambda _header: chess)
    folder = make_run(style="swiss", blocks=1, played=100, others=("cyd", "dan"))
    first = load_index(folder).rows[0]
    names = " ".join(seat.name for seat in first.seats)
    Run(folder).rejudge(first.match_id, (1, 1), by="eve", reason="")
    crosstown("matches", "export", first.match_id, "one.pgn")
    assert (tmp_path / "one.pgn").read_text() == f"1.1 {names} (1, 1)\n"
    everything = crosstown("matches", "export", "all", "games.pgn", "--run", "cup")
    lines = (tmp_path / "games.pgn").read_text().split("\n\n")
    assert (len(lines), everything.err) == (len(load_index(folder).rows), "")
    assert f"1.1 {names} (1, 1)" in [line.rstrip() for line in lines]
    assert crosstown("withdraw", "cup", "cyd", "--choice", "annul").code == 0
    said = crosstown("matches", "export", "all", "games.pgn", "--run", "cup").err
    assert "left out: 4 matches: all matches of one of their bots are annulled" in said
    assert not any("cyd" in line for line in (tmp_path / "games.pgn").read_text().splitlines() if line)
