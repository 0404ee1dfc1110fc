"""The pictures of the documentation can be made, are small, and show every page and game."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
IMAGES = ROOT / "docs" / "images"


def test_the_script_makes_every_picture_of_the_documentation(tmp_path: Path, chromium: object) -> None:
    script = ROOT / "docs" / "screenshots.py"
    subprocess.run([sys.executable, script, tmp_path], check=True, timeout=300)
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {path.name for path in IMAGES.glob("*.jpg")}
    for path in (*tmp_path.iterdir(), *IMAGES.glob("*.jpg")):
        assert 2_000 < path.stat().st_size < 150_000, path.name


@pytest.mark.parametrize("name", sorted(path.name for path in IMAGES.glob("*.jpg")))
def test_a_picture_is_shown_on_the_page_of_the_web(name: str) -> None:
    assert f"images/{name}" in (ROOT / "docs" / "web.md").read_text()
