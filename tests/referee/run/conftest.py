"""The surroundings that all tests here need."""

from pathlib import Path

import pytest

from tests.referee.run.organiser import organiser as organiser


@pytest.fixture(autouse=True)
def surroundings(cache: Path, patient_anchors: None) -> None:
    """Bots play from a cache of the test's own; digests of few matches are in one line of the journal."""
