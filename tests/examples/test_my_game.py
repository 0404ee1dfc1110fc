"""The example of a game in a package of its own: it conforms, and the page 'Add a game' shows it as it is."""

import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from referee.games.api import Event, IllegalAction, Roll, resolve_options
from referee.games.conformance import Plan, run_plan
from referee.games.keyed import KeyedChance
from tests.docs.command_lines import ROOT

PACKAGE = ROOT / "examples" / "my_game"
PAGE = ROOT / "docs" / "add_a_game.md"
DIE = "def chance_outcomes"


def blocks() -> list[str]:
    """The Python of the page."""
    return re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)


@pytest.fixture
def game(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """As if the package were installed."""
    monkeypatch.syspath_prepend(str(PACKAGE))
    found = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]["entry-points"]["crosstown.games"]
    module, _, name = found["my_game"].partition(":")
    yield getattr(import_module(module), name)
    for loaded in [loaded for loaded in sys.modules if loaded.partition(".")[0] == "my_game"]:
        del sys.modules[loaded]


def test_it_conforms(game: Any) -> None:
    plan = Plan("my_game:GAME", game.player_counts, 0, 12, 0, 0.3, True)
    report = run_plan(game, plan, other_processes=False)
    assert [f"{failure.check}: {failure.message}" for failure in report.failures] == []


def test_the_seat_that_reaches_the_goal_wins(game: Any) -> None:
    state = game.new_initial_state(2, resolve_options(game.id, game.options, {"goal": 4}))
    first, last = state.legal_actions(0)[0], state.legal_actions(0)[-1]
    state.apply({0: last})
    with pytest.raises(IllegalAction):
        state.apply({0: first})
    state.apply({1: first})
    assert (state.ranking(), state.returns()) == ((2, 1), (0, 1))


def test_the_page_shows_lines_of_the_example() -> None:
    code = (PACKAGE / "my_game" / "game.py").read_text()
    shown = [block for block in blocks() if not block.startswith(DIE)]
    assert len(shown) == 3
    for block in shown:
        assert block in code


def test_the_die_of_the_page_rolls_each_time_under_another_name() -> None:
    (die,) = (block for block in blocks() if block.startswith(DIE))
    names: dict[str, Any] = {"Roll": Roll, "Event": Event, "IllegalAction": IllegalAction, "Rolled": lambda *seen: seen}
    exec(die, names)
    state = SimpleNamespace(rolling=True, turn_seat=1, turn_number=3, rolls=0)
    streams, chance = [], KeyedChance(b"a die")
    for _ in range(3):
        state.rolling = True
        streams.append(names["chance_stream"](state))
        outcome = chance.choose(streams[-1], names["chance_outcomes"](state))
        with pytest.raises(IllegalAction):
            names["apply_chance"](state, 7)
        assert names["apply_chance"](state, outcome) == [Event((1, outcome))]
        assert names["chance_outcomes"](state) == ()
    assert streams == [Roll("die", 1, 3, number) for number in range(3)]


def test_every_file_of_the_package_is_named_on_the_page() -> None:
    page = PAGE.read_text()
    for path in Path(PACKAGE).rglob("*"):
        if path.is_file() and path.suffix in (".py", ".toml", ".md"):
            assert path.name in page
