"""The files in `deploy` as far as this machine can check them: systemd's own checks, TOML and YAML, and all paths."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from referee.ladder.config import load_ladder

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted(path.name for path in DEPLOY.iterdir() if path.suffix in (".service", ".timer"))


def test_the_ladder_is_one_that_can_be_loaded() -> None:
    config = load_ladder(DEPLOY / "ladder.toml")
    assert (config.server.log, config.sandbox.profile, config.server.names) == ("json", "strict", ("games.example",))
    assert [bot.folder.parent.as_posix() for bot in config.bots] == ["/opt/crosstown/house"] * 2


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
@pytest.mark.parametrize("name", UNITS)
def test_systemd_takes_the_unit(tmp_path: Path, name: str) -> None:
    """With a program that is there in the place of the one that is installed."""
    for unit in UNITS:
        text = (DEPLOY / unit).read_text()
        (tmp_path / unit).write_text(text.replace("/opt/crosstown/bin/crosstown", "/bin/true"))
    words = ["systemd-analyze", "verify", "--man=no", str(tmp_path / name)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    said = [line for line in done.stderr.splitlines() if name in line]
    assert (done.returncode, said) == (0, []), done.stderr


def test_units_name_the_same_places_as_the_image_and_the_ladder() -> None:
    unit = (DEPLOY / "crosstown.service").read_text()
    image = (DEPLOY / "Containerfile").read_text()
    config = load_ladder(DEPLOY / "ladder.toml")
    assert "StateDirectory=crosstown" in unit
    assert config.data.is_relative_to("/var/lib/crosstown")
    assert "VOLUME /var/lib/crosstown" in image
    for text in (unit, image):
        assert "/etc/crosstown/ladder.toml" in text
        assert "/opt/crosstown" in text


def test_what_the_image_copies_is_in_the_checkout() -> None:
    image = (DEPLOY / "Containerfile").read_text()
    house = re.search(r"cp -r (.*) /opt/crosstown/house/", image)
    assert house
    for name in [*house[1].split(), "constraints.txt", "bots/python/pyproject.toml", "deploy/ladder.toml"]:
        assert (ROOT / name).exists(), name
    assert (ROOT / ".containerignore").read_text() == (ROOT / ".dockerignore").read_text()


def test_the_stop_of_a_container_and_of_the_unit_waits_for_matches() -> None:
    made: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    ladder = made["services"]["ladder"]
    config = load_ladder(DEPLOY / "ladder.toml")
    needed_s = config.server.drain_s + 30
    unit = (DEPLOY / "crosstown.service").read_text()
    seconds = re.search(r"TimeoutStopSec=(\d+)", unit)
    assert seconds
    assert int(seconds[1]) > needed_s
    assert ladder["stop_grace_period"] == "2m"
    assert needed_s < 120
    assert (DEPLOY / ladder["build"]["context"]).resolve() == ROOT
    assert (ROOT / ladder["build"]["dockerfile"]).is_file()
    assert "./ladder.toml:/etc/crosstown/ladder.toml:ro" in ladder["volumes"]
