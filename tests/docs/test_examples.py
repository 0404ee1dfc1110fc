"""The Python in README, docs and kits runs: bots play a match, the rest is executed, `>>>` lines are doctests.

The examples of docs/records.md, docs/formats.md and docs/add_a_game.md have tests of their own, beside what they are
about.
"""

import doctest
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from referee.games.api import State, resolve_options
from referee.games.keyed import KeyedChance
from referee.games.registry import get_game
from tests.docs.command_lines import ROOT, TEXTS

PAGES = [path for path in TEXTS if path.suffix == ".md"]
BOTS = ("README.md", "docs/writing-a-bot.md", "bots/python/README.md")
ELSEWHERE = {"docs/records.md": 5, "docs/formats.md": 1, "docs/add_a_game.md": 4}
HERE = {"docs/boards.md": 1, "bots/python/random/README.md": 2}


def blocks(page: str) -> list[str]:
    """The Python of a page that is in fences and is no session."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [block for block in found if not block.startswith(">>>")]


def position(game_id: str, decisions: int = 40) -> State:
    """A position in the crossing phase of a match, where seat 0 or 1 is asked."""
    game = get_game(game_id)
    state, chance = game.new_initial_state(2, resolve_options(game_id, game.options, {})), KeyedChance(b"examples")
    rng = random.Random(1)
    while state.chance_outcomes() or (decisions := decisions - 1) > 0:
        if state.chance_outcomes():
            state.apply_chance(chance.choose(state.chance_stream(), state.chance_outcomes()))
        else:
            state.apply({one.seat: rng.choice(list(state.legal_actions(one.seat))) for one in state.decisions()})
    return state


def test_every_block_of_python_is_run_by_some_test() -> None:
    counts = {str(page.relative_to(ROOT)): len(blocks(str(page.relative_to(ROOT)))) for page in PAGES}
    assert {page: count for page, count in counts.items() if count} == {
        **dict.fromkeys(BOTS, 1), **ELSEWHERE, **HERE
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("page", BOTS)
def test_a_bot_of_a_page_plays_a_match(page: str, tmp_path: Path) -> None:
    (bot,) = blocks(page)
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "bot.py").write_text(bot, encoding="utf-8")
    (folder / "bot.toml").write_text(
        'name = "mine"\nversion = "1"\ngames = ["*"]\nrun = ["{python}", "bot.py"]\n', encoding="utf-8"
    )
    command = [sys.executable, "-m", "referee.cli.main", "match", "shibuya", "--sandbox", "plain", "--json",
               "--first-move-s", "30", "--move-s", "10", "--startup-s", "60", "--out", str(tmp_path / "runs"),
               "--seat", str(folder), "--seat", str(ROOT / "bots/python/random")]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["reason"] == "normal"


def test_the_drawings_of_the_page_of_boards_are_drawn() -> None:
    (block,) = blocks("docs/boards.md")
    names = {"game": get_game("shibuya"), "state": position("shibuya"), "players": 2}
    lines = re.sub(r"^draw_board\((.*)\)(  #.*)?$", r"drawn.append(draw_board(\1))", block, flags=re.MULTILINE)
    drawn: list[str] = []
    exec(compile(lines, "docs/boards.md", "exec"), {**names, "drawn": drawn})
    assert len(drawn) == 3
    assert all(board.startswith("<svg") for board in drawn)


def test_the_policies_of_the_page_of_bots_rate_every_action() -> None:
    text = (ROOT / "docs/bots.md").read_text(encoding="utf-8")
    block = re.search(r"^    from crosstown_greedy .*?(?=^\S)", text, flags=re.MULTILINE | re.DOTALL)
    assert block is not None
    state = position("shibuya")
    seat = state.decisions()[0].seat
    names: dict[str, Any] = {"state": state, "seat": seat}
    exec(compile(re.sub("^    ", "", block[0], flags=re.MULTILINE), "docs/bots.md", "exec"), names)
    assert len(names["worths"]) == len(state.legal_actions(seat))


def test_the_examples_of_the_kit_read_a_turn(capsys: pytest.CaptureFixture[str]) -> None:
    from crosstown_proto.v1 import shibuya_pb2 as pb

    game, state = get_game("shibuya"), position("shibuya")
    seat = state.decisions()[0].seat
    observation = game.codec.encode_observation(state.observation(seat))
    legal = game.codec.encode_actions(state.legal_actions(seat))
    turn = SimpleNamespace(
        observation=pb.Observation.FromString(observation), observation_bytes=observation,
        legal_actions=pb.LegalActions.FromString(legal), legal_actions_bytes=legal,
        match=SimpleNamespace(game="shibuya"),
    )  # fmt: skip
    names: dict[str, Any] = {"turn": turn}
    for block in blocks("bots/python/random/README.md"):
        exec(compile(block, "bots/python/random/README.md", "exec"), names)
    assert names["moves"]
    assert tuple(names["actions"]) == tuple(state.legal_actions(seat))
    assert "move(source=" in capsys.readouterr().out


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_sessions_show_what_python_answers(path: Path) -> None:
    assert doctest.testfile(str(path), module_relative=False, optionflags=doctest.ELLIPSIS).failed == 0


def test_there_is_a_session_to_test() -> None:
    assert doctest.testfile(str(ROOT / "docs/python-api.md"), module_relative=False).attempted > 3
