"""The README's tables say what the code does."""

import json
import re
from importlib.resources import files
from typing import Any

from referee.games.manhattan_traffiq import GAME

README = (files("referee.games.manhattan_traffiq") / "README.md").read_text("utf-8")


def test_every_option_is_listed_with_default_confidence_and_meaning_in_order() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| ([A-Za-z, ]+) \| (.*) \|$", README, re.MULTILINE)
    assert [row[:3] for row in rows] == [
        (option.name, json.dumps(option.default).strip('"'), option.confidence) for option in GAME.options
    ]
    for row, option in zip(rows, GAME.options, strict=True):
        assert row[3].startswith(option.doc)


def test_the_bound_on_decisions_is_the_one_stated(options: Any) -> None:
    assert f"{GAME.max_decisions(4, options())} decisions with the defaults and four players" in README
