"""The pictures of the documentation can be made, are small, and show every page and game."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
IMAGES = ROOT / "docs" / "images"
SCRIPT = ROOT / "docs" / "screenshots.py"


def test_the_script_makes_every_picture_of_the_documentation(tmp_path: Path, chromium: object) -> None:
    subprocess.run([sys.executable, SCRIPT, tmp_path], check=True, timeout=300)
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {path.name for path in IMAGES.glob("*.jpg")}
    for path in (*tmp_path.iterdir(), *IMAGES.glob("*.jpg")):
        assert 2_000 < path.stat().st_size < 200_000, path.name


@pytest.mark.parametrize("name", sorted(path.name for path in IMAGES.glob("*.jpg")))
def test_a_picture_is_shown_on_the_page_of_the_web(name: str) -> None:
    assert f"images/{name}" in (ROOT / "docs" / "web.md").read_text()


@pytest.fixture
def page(chromium: Any) -> Any:
    page = chromium.new_page()
    yield page
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "heading", "said"),
    [
        ("/runs/gone", "gone", "status 404, 'Not found' where 'gone'"),
        ("/runs/gone", "Not found", "status 404"),
        ("/runs", "Matches", "status 200, 'Tournaments' where 'Matches'"),
    ],
)
def test_an_error_page_and_a_page_of_another_heading_are_no_picture(
    server: str, page: Any, path: str, heading: str, said: str
) -> None:
    spec = importlib.util.spec_from_file_location("screenshots", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    with pytest.raises(SystemExit, match=said):
        script.visit(page, server + path, heading)
    script.visit(page, server + "/runs", "Tournaments")
