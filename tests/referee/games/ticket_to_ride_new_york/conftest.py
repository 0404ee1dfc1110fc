"""Loads the helper modules of this folder: readable situations, the naive second implementation, recorded matches."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest


def load(name: str) -> ModuleType:
    full_name = f"ttr_tests_{name}"
    if full_name not in sys.modules:
        spec = spec_from_file_location(full_name, Path(__file__).with_name(f"{name}.py"))
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        sys.modules[full_name] = module
        spec.loader.exec_module(module)
    return sys.modules[full_name]


@pytest.fixture(scope="session")
def sit() -> ModuleType:
    """Situations in words: `situation`, `act`, `come`, `legal` and their kin."""
    return load("situations")


@pytest.fixture(scope="session")
def naive() -> ModuleType:
    """Scores, connections and legal lists by other means, from the box data alone."""
    return load("naive")


@pytest.fixture(scope="session")
def taped() -> ModuleType:
    """Random matches that can be played again in another world."""
    return load("taped")
