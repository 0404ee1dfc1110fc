"""The pictures in docs/images are what docs/make_pictures.py makes."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from referee.games.registry import game_ids

DOCS = Path(__file__).resolve().parents[4] / "docs"
GAMES = ("king_of_new_york", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york")


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_pictures", DOCS / "make_pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("game", GAMES)
def test_a_committed_picture_is_what_the_script_makes(script: Any, game: str) -> None:
    made: dict[str, str] = {}
    script.main(lambda path, content: made.__setitem__(path.name, content))
    committed = (DOCS / "images" / f"{game}.svg").read_text(encoding="utf-8")
    assert made[f"{game}.svg"] == committed, "run python docs/make_pictures.py and look at what changed"


def test_every_shipped_game_has_its_picture(script: Any) -> None:
    made: set[str] = set()
    script.main(lambda path, content: made.add(path.name))
    assert made == {f"{game}.svg" for game in game_ids() if game != "toy"}
    assert made <= {path.name for path in (DOCS / "images").glob("*.svg")}
