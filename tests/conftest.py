"""Options every test folder shares, and the toy game as an installed plug-in."""

import sys
from pathlib import Path

import pytest

# In front, so that importlib.metadata finds the entry point of `toy` as it would one in site-packages.
sys.path.insert(0, str(Path(__file__).parent / "toy_game"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run the tests marked long (minutes)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--long"):
        left_out = [item for item in items if "long" in item.keywords]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if "long" not in item.keywords]
