"""`crosstown games list | show | check` as a user meets them."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from referee.cli.app import run_command
from referee.games import registry
from referee.games.registry import BrokenGame, load_game


@dataclass(frozen=True)
class Said:
    stdout: str
    stderr: str


EXAMPLE = Path(__file__).parents[3] / "examples" / "my_game" / "my_game"

Games = Callable[..., Said]


@pytest.fixture
def games(capsys: pytest.CaptureFixture[str]) -> Games:
    """games('list', code=0) runs `crosstown games list` and expects that exit code."""

    def games(*words: str, code: int = 0) -> Said:
        capsys.readouterr()
        status = run_command(["games", *words])
        said = Said(*capsys.readouterr())
        assert status == code, said
        return said

    return games


@pytest.fixture
def games_json(games: Games) -> Callable[..., Any]:
    return lambda *words, code=0: json.loads(games(*words, "--json", code=code).stdout)


def test_list_shows_id_title_players_and_rules_version(games: Games) -> None:
    lines = [line.split() for line in games("list").stdout.splitlines()]
    assert ["toy", "Toy", "2,", "3,", "4", "1"] in lines


def test_list_as_json(games_json: Callable[..., Any]) -> None:
    listed = games_json("list")
    toy = next(game for game in listed["games"] if game["id"] == "toy")
    assert toy == {
        "id": "toy",
        "title": "Toy",
        "players": [2, 3, 4],
        "rules_version": 1,
        "draws_possible": True,
    }
    assert listed["broken"] == []


def test_list_names_plug_ins_that_do_not_work(
    games: Games, games_json: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    sad = BrokenGame("sad", "sad:GAME of sad-plug", "ImportError: no library")
    monkeypatch.setattr("referee.games.registry.game_ids", lambda: ["sad", "toy"])
    monkeypatch.setattr("referee.games.registry.load_game", lambda name: sad if name == "sad" else load_game(name))
    result = games("list")
    assert "toy" in result.stdout
    assert "broken: sad (sad:GAME of sad-plug): ImportError: no library" in result.stdout
    assert games_json("list")["broken"] == [
        {"id": "sad", "source": "sad:GAME of sad-plug", "problem": "ImportError: no library"}
    ]


def test_show_prints_notes_options_and_rules(games: Games) -> None:
    shown = games("show", "toy").stdout
    assert "Toy (toy), 2, 3, 4 players, rules version 1" in shown
    assert "Note: A game for tests." in shown
    assert "an integer >= 1 and <= 12" in shown
    assert "Rules as implemented" in shown


def test_show_as_json(games_json: Callable[..., Any]) -> None:
    shown = games_json("show", "toy")
    assert shown["notes"] == ["A game for tests."]
    assert [option["name"] for option in shown["options"]] == ["rounds", "peeking"]
    assert shown["options"][0]["default"] == 4
    assert shown["options"][0]["confidence"] == "OURS"
    assert shown["readme"].startswith("# Toy")


def test_show_data_prints_cards_and_places_in_arrays(games: Games) -> None:
    shown = games("show", "ticket_to_ride_new_york", "--data").stdout
    assert "| R03 | LC | TS | 2 | green | D01 |" in shown
    assert "| `owner` |" in shown
    assert "| `keep` | tickets (171) |" in shown


def test_show_data_as_json_has_box_and_arrays(games_json: Callable[..., Any]) -> None:
    shown = games_json("show", "shibuya", "--data")
    assert set(shown["data"]) == {"tile_sets", "layouts"}
    looks = next(field for field in shown["arrays"]["2"]["observation"] if field["name"] == "looks")
    assert (looks["start"], looks["size"], looks["low"], looks["high"]) == (72, 64, 0, 4)
    move = shown["arrays"]["4"]["actions"][-1]
    assert (move["kind"], move["start"], move["size"]) == ("move", 67, 5760)


def test_show_data_of_a_game_without_arrays_has_its_box(games: Games, games_json: Callable[..., Any]) -> None:
    assert "The game has no arrays." in games("show", "toy", "--data").stdout
    assert "arrays" not in games_json("show", "toy", "--data")


@pytest.mark.parametrize("command", ["show", "check"])
def test_an_unknown_game_is_answered_with_those_there_are(games: Games, command: str) -> None:
    result = games(command, "chess", code=2)
    assert result.stdout == ""
    error, step = result.stderr.splitlines()
    assert error == "error: unknown game 'chess'"
    assert step.startswith("next: installed: ")
    assert "toy" in step


@pytest.mark.parametrize("ref", ["toy_game:NOTHING", "no_such_module:GAME", ":GAME", "toy_game:"])
def test_a_game_that_is_not_at_the_named_place_is_one_line(games: Games, ref: str) -> None:
    result = games("check", ref, code=2)
    assert result.stderr.startswith(f"error: no game at '{ref}': ")
    assert len(result.stderr.splitlines()) == 2


def test_a_game_in_the_working_folder_is_checked_before_it_is_installed(
    games: Games, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "race_in_this_folder"
    shutil.copytree(EXAMPLE, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "__init__.py").write_text("")
    monkeypatch.setattr(sys, "path", list(sys.path))
    missing = games("check", f"{package.name}.game:GAME", code=2)
    assert f"No module named '{package.name}'" in missing.stderr
    assert "next: enter the command in the folder that has the module, or set PYTHONPATH to that" in missing.stderr
    monkeypatch.chdir(tmp_path)
    assert "passed" in games("check", f"{package.name}.game:GAME", "--matches", "1").stdout


@pytest.mark.parametrize(("there", "said"), [(True, True), (False, False)])
def test_the_list_says_where_the_games_of_openspiel_are(
    games: Games, monkeypatch: pytest.MonkeyPatch, there: bool, said: bool
) -> None:
    monkeypatch.setattr(registry, "has_openspiel", lambda: there)
    assert ("the games of OpenSpiel: crosstown games list openspiel" in games("list").stdout) == said


def test_a_check_runs_no_file_of_the_working_directory(
    games: Games, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as that of a bot which brings a module of the name of one of Python's."""
    (tmp_path / "json.py").write_text("raise SystemExit('this is not yours to run')\n")
    monkeypatch.chdir(tmp_path)
    assert "passed" in games("check", "toy", "--matches", "2", "--workers", "2").stdout


def test_check_passes_with_its_coverage(games: Games) -> None:
    shown = games("check", "toy", "--matches", "3").stdout
    assert "matches: 2 players 1, 3 players 1, 4 players 1\n" in shown
    assert "passed toy: 3 of 3 matches" in shown


def test_check_as_json_tells_the_plan_and_the_coverage(games_json: Callable[..., Any]) -> None:
    report = games_json("check", "toy", "--matches", "2", "--players", "3", "--seed", "7")
    assert report["passed"] is True
    assert report["plan"]["player_counts"] == [3]
    assert report["plan"]["seed"] == 7
    assert report["coverage"]["matches"] == {"3": 2}
    assert report["failures"] == []


def test_check_of_a_broken_game_fails_with_the_line_that_shows_it_again(games: Games) -> None:
    result = games("check", "toy_game.mutants:LEAKING", "--matches", "1", "--players", "2", code=1)
    assert "non_interference" in result.stdout
    assert (
        "see it again: crosstown games check toy_game.mutants:LEAKING --players 2 --seed 0 --matches 1" in result.stdout
    )
    assert "FAILED toy_game.mutants:LEAKING: 0 of 1 matches" in result.stdout


def test_check_of_a_broken_game_as_json(games_json: Callable[..., Any]) -> None:
    report = games_json("check", "toy_game.mutants:LEAKING", "--matches", "1", code=1)
    assert report["passed"] is False
    failure = report["failures"][0]
    assert failure["check"] == "non_interference"
    assert failure["command"].startswith("crosstown games check toy_game.mutants:LEAKING --players 2 --seed 0")


def test_check_refuses_a_number_of_players_the_game_does_not_have(games: Games) -> None:
    assert games("check", "toy", "--players", "9", code=2).stderr.startswith(
        "error: toy is for 2, 3, 4 players, not 9\n"
    )


def test_check_goes_on_from_a_progress_file(games: Games, tmp_path: Path) -> None:
    words = ("check", "toy", "--matches", "2", "--progress", str(tmp_path / "toy.jsonl"))
    games(*words)
    assert "2 of 2 matches, 2 of them in earlier runs" in games(*words).stdout
    assert "it is of a run with other numbers" in games(*words, "--seed", "1", code=2).stderr


def test_check_plays_with_the_data_of_a_box_owner(games_json: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "box.toml"
    path.write_text("cards = [0, 0, 0, 0, 30]\n[weather]\nsun = 1\nrain = 0\nstorm = 0\n")
    report = games_json("check", "toy", "--matches", "1", "--data", str(path))
    assert report["passed"] is True


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            "box.json",
            '{"cards": [1, 1, 1, 1, 1], "weather": {"sun": 1, "rain": 1, "storm": 1}}',
            "at least 12 are needed",
        ),
        ("box.json", "{", "Expecting property name"),
        ("box.toml", "cards = ", "Invalid value"),
    ],
)
def test_check_refuses_data_that_does_not_fit(games: Games, tmp_path: Path, name: str, text: str, told: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    result = games("check", "toy", "--data", str(path), code=2)
    assert result.stderr.startswith(f"error: {path}: ")
    assert told in result.stderr


def test_check_of_data_that_is_not_there_is_one_line(games: Games, tmp_path: Path) -> None:
    result = games("check", "toy", "--data", str(tmp_path / "none.json"), code=2)
    assert "No such file" in result.stderr


def test_check_of_a_pipe_as_data_does_not_wait_for_its_other_end(games: Games, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    result = games("check", "toy", "--data", str(tmp_path / "pipe.json"), code=2)
    assert "pipe.json: cannot be read (it is not an ordinary file)" in result.stderr


@pytest.mark.slow
def test_check_records_matches_and_replays_them(games: Games, tmp_path: Path) -> None:
    path = str(tmp_path / "toy.jsonl")
    games("check", "toy", "--matches", "1", "--golden", path, "--write-golden")
    games("check", "toy", "--matches", "1", "--golden", path)
    result = games("check", "toy_game.mutants:KINDER_DIE", "--matches", "1", "--golden", path, code=1)
    assert "golden: the recorded match of" in result.stdout
    assert "needs a file" in games("check", "toy", "--write-golden", code=2).stderr


def test_matches_are_not_recorded_into_a_tournament_file(games: Games, tmp_path: Path) -> None:
    """It was written over without a word."""
    file = tmp_path / "cup.toml"
    file.write_text("seed = 1\n")
    said = games("check", "toy", "--golden", str(file), "--write-golden", code=2).stderr
    assert f"cannot write {file}: it is there, and may be a tournament file" in said
    assert file.read_text() == "seed = 1\n"


@pytest.mark.parametrize(
    ("progress", "step"),
    [(True, "run the same command again to continue"), (False, "add --progress FILE to be able to")],
)
def test_check_that_is_interrupted_tells_how_to_go_on(
    games: Games, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, progress: bool, step: str
) -> None:
    def interrupt(*words: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("referee.games.conformance.run_plan", interrupt)
    words = ("--progress", str(tmp_path / "toy.jsonl")) if progress else ()
    said = games("check", "toy", "--matches", "1", *words, code=130)
    assert said.stderr.startswith(f"error: interrupted\nnext: {step}")
