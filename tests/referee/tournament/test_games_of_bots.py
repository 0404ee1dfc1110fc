"""Bots that play only some of the games of a tournament: they are seated in these, and not refused."""

import json
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.errors import ConfigError
from referee.run.folder import RunFolder
from referee.run.run import Run
from referee.schedule.formats import gauntlet, round_robin
from referee.schedule.formats.api import Field, Variant
from referee.schedule.formats.simulate import simulate
from referee.schedule.seat_orders import team_orders
from referee.tournament import play as running
from referee.tournament.entrants import load_tournament
from referee.tournament.identity import config_of

GAMES = ("shibuya", "tic_tac_toe", "toy")
FILE = """
format = "{style}"
seed = 1
{more}
[[games]]
game = "toy"
[[games]]
game = "shibuya"
players = 2
"""


def field_of(style, games, first, blocks=1):
    wanted = {setting.name: setting.default for setting in style.settings if not setting.later}
    variants = tuple(Variant(game, 2, (0, 1), team_orders((0, 1))) for game in GAMES)
    return Field(tuple(f"bot{number}" for number in range(first)), variants, 1, blocks, wanted, tuple(games))


def blocks_of(style, field, joining=()):
    return list(simulate(style, field, lambda result, bots: [1, 2], joining=joining))


some_games = st.lists(st.sampled_from(GAMES), min_size=0, max_size=2, unique=True).map(
    lambda found: tuple(sorted(found))
)


@given(st.lists(some_games, min_size=2, max_size=8), st.integers(0, 3), st.integers(1, 3))
@settings(max_examples=60)
def test_every_two_bots_meet_in_the_games_that_both_play_late_ones_too(games, late, blocks):
    first = max(2, len(games) - late)
    field = field_of(round_robin.FORMAT, games, first, blocks)
    found = blocks_of(round_robin.FORMAT, field, joining=[0] * (len(games) - first))
    met = Counter((GAMES[one.block.variant], frozenset(one.block.group)) for one in found)
    assert met == {
        (game, frozenset(pair)): blocks
        for game in GAMES
        for pair in combinations([bot for bot, plays in enumerate(games) if not plays or game in plays], 2)
    }
    if first == len(games):
        extent = round_robin.FORMAT.extent(field)
        assert extent.least == extent.most == sum(len(one.matches) for one in found)


def test_a_challenger_meets_the_rest_in_the_games_that_both_play():
    field = field_of(gauntlet.FORMAT, [(), ("toy",), ("shibuya", "toy")], 3)
    met = Counter((GAMES[one.block.variant], one.block.group) for one in blocks_of(gauntlet.FORMAT, field))
    assert met == {("toy", (0, 1)): 1, ("toy", (0, 2)): 1, ("shibuya", (0, 2)): 1}
    assert gauntlet.FORMAT.check(field) == (
        "a table of 2 needs one challenger and 1 of the rest, there are 1 challengers and 0 others who play tic_tac_toe"
    )


def test_a_game_that_too_few_play_is_named():
    field = field_of(round_robin.FORMAT, [("toy",), ("toy",), ("shibuya", "toy")], 3)
    said = round_robin.FORMAT.check(field)
    assert said == "a match of shibuya needs 2 bots, the number of bots in the file that play it is 1"


@pytest.fixture
def cup(write_bot, write_file, monkeypatch, fake_executor):
    """cup("round-robin", ann="toy", bob="*") is the file of a tournament with toy and Shibuya."""
    monkeypatch.setattr(running, "LocalExecutor", lambda entries, records, **keys: fake_executor(records))

    def make(style, more="blocks = 2", **games) -> Path:
        lines = [FILE.format(style=style, more=more)]
        for name, played in games.items():
            write_bot(name, games=played)
            lines += ["[[bots]]", f'path = "bots/{name}"']
        return write_file("\n".join(lines) + "\n")

    return make


def test_a_format_in_which_all_play_all_games_refuses_the_bot_and_names_those_that_do_not(cup):
    with pytest.raises(ConfigError) as caught:
        load_tournament(cup("swiss", ann="*", bob="*", cyd="toy"))
    assert "bot 'cyd' plays toy, not shibuya, and in the format swiss every bot plays every game" in str(caught.value)
    assert "formats in which it need not: round-robin, gauntlet" in caught.value.next_step


def test_a_bot_that_plays_none_of_the_games_is_refused(cup):
    with pytest.raises(ConfigError, match="bot 'cyd' plays chess, not toy"):
        load_tournament(cup("round-robin", ann="*", bob="*", cyd="chess"))


def test_only_a_bot_that_does_not_play_all_has_its_games_in_the_configuration(cup):
    config = config_of(load_tournament(cup("round-robin", ann="*", bob="*", cyd="toy")))
    assert config.field.games == ((), (), ("toy",))
    assert config_of(load_tournament(cup("round-robin", ann="*", bob="*"))).field.games == ()


def test_a_run_stops_by_its_rule_though_not_all_play_every_game(cup, command):
    file = cup("round-robin", 'blocks = 500\nstop_when = "precision 100 Elo"', ann="*", bob="*", cyd="toy")
    command("run", file, "--quiet")
    rows = json.loads(command("standings", "cup", "--json"))["standings"]
    assert all(0 < row["played"] < 1_000 for row in rows)


def test_a_run_is_played_taken_up_joined_and_left_by_such_bots(cup, command, tmp_path, write_bot):
    file = cup("round-robin", ann="*", bob="*", cyd="toy")
    assert "16 matches" in command("run", file, "--dry-run")
    command("run", file, "--quiet")
    folder = RunFolder(tmp_path / "runs" / "cup")

    write_bot("dan", games="shibuya")
    command("add", "cup", tmp_path / "bots" / "dan")
    command("run", file, "--quiet")
    tables = {("shibuya", name) for name in ("ann", "bob", "dan")} | {("toy", name) for name in ("ann", "bob", "cyd")}
    rows = json.loads(command("standings", "cup", "--json"))["standings"]
    assert {(row["game"], row["name"]) for row in rows} == tables
    assert {row["played"] for row in rows} == {8}
    combined = command("standings", "cup", "--combined")
    (cyd,) = [line.split() for line in combined.splitlines() if "cyd" in line]
    assert "-" in cyd, "it has no rating in Shibuya"
    command("withdraw", "cup", "cyd")
    (tmp_path / "bots" / "cyd" / "bot.py").unlink()
    (tmp_path / "bots" / "cyd" / "bot.toml").unlink()
    command("run", file, "--quiet")
    run = Run(folder)
    names = [seat.name for seat in run.schedule_config.participants]
    assert dict(zip(names, run.schedule_config.field.games, strict=True)) == {
        "ann": (), "bob": (), "cyd": ("toy",), "dan": ("shibuya",)
    }  # fmt: skip
