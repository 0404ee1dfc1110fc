"""The README's tables say what the code does."""

import json
import re
from importlib.resources import files

from referee.games.shibuya import GAME

README = (files("referee.games.shibuya") / "README.md").read_text("utf-8")


def test_every_option_is_listed_with_default_and_confidence_in_order() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| ([A-Z/]+) \|", README, re.MULTILINE)
    assert rows == [(option.name, json.dumps(option.default).strip('"'), option.confidence) for option in GAME.options]


def test_the_bound_on_decisions_is_the_one_stated() -> None:
    assert f"{GAME.max_decisions(2, {})} with the defaults" in README
