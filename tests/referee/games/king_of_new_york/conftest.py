"""Loads the helper modules of this folder: scenes on the board, random matches, the naive second implementation."""

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


def load(name: str) -> ModuleType:
    full_name = f"king_of_new_york_tests_{name}"
    if full_name not in sys.modules:
        spec = spec_from_file_location(full_name, Path(__file__).with_name(f"{name}.py"))
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        sys.modules[full_name] = module
        spec.loader.exec_module(module)
    return sys.modules[full_name]


@pytest.fixture(scope="session")
def scene() -> Callable[..., Any]:
    """`scene(...)`: a match about to roll the first dice of a turn, see `scenes.Scene`."""
    make: Callable[..., Any] = load("scenes").Scene
    return make


@pytest.fixture(scope="session")
def wander() -> Callable[..., Any]:
    """Play a random match, see `matches.wander`."""
    play: Callable[..., Any] = load("matches").wander
    return play


@pytest.fixture(scope="session")
def matches() -> ModuleType:
    return load("matches")


@pytest.fixture(scope="session")
def naive() -> ModuleType:
    return load("naive")


@pytest.fixture(scope="session")
def leaving() -> ModuleType:
    """The naive reckoning of a seat's leaving, see `naive_leaving`."""
    return load("naive_leaving")
