"""What a build left: where it is kept, and whether it is whole."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

CACHE_VARIABLE = "CROSSTOWN_CACHE"


@dataclass(frozen=True, slots=True)
class Built:
    """A whole build. `folder` is what runs; `artefacts` is a hash over the files in it that are no sources.

    `toolchain` is what the manifest's command printed, empty without one.
    """

    source_id: str
    folder: Path
    log: Path
    fetch_s: float
    build_s: float
    toolchain: str
    artefacts: str


def cache_folder() -> Path:
    """Where builds are kept: $CROSSTOWN_CACHE, else `crosstown` in the user's cache folder."""
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "crosstown"


def read_built(home: Path) -> Built | None:
    """The build in CACHE/<source id>; None if there is no whole one that can be read."""
    try:
        values = json.loads((home / "built.json").read_bytes())
        built = Built(**{**values, "folder": home / "bot", "log": home / "log.txt"})
    except (OSError, ValueError, TypeError):
        return None
    return built if built.folder.is_dir() else None


def write_built(home: Path, built: Built) -> None:
    """From now on the build is whole."""
    values = {name: value for name, value in asdict(built).items() if name not in ("folder", "log")}
    half = home / "built.half"
    half.write_text(json.dumps(values, indent=2) + "\n")
    half.rename(home / "built.json")
