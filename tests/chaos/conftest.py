"""An arena for each test, after which nothing may be left."""

import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from arena import Arena

from referee.process.sandbox import Profile


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A short path (it has a socket in it), taken by everything temporary meanwhile."""
    tmp_path_factory.getbasetemp()  # made where it always is
    before = tempfile.tempdir
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    tempfile.tempdir = str(folder)
    yield folder
    tempfile.tempdir = before
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def profile() -> Profile:
    """Of all bots of the arena. A test that is parametrised by it plays under others."""
    return "plain"


@pytest.fixture
async def arena(place: Path, tmp_path: Path, profile: Profile) -> AsyncIterator[Arena]:
    """At the end of the test nothing may be left."""
    arena = Arena(place, tmp_path / "records", profile)
    async with arena.new_table() as arena.table:
        yield arena
    await arena.nothing_is_left()
