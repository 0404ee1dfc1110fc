"""What a build left: where it is kept, whether it is whole, and that nobody removes it while it runs.

CACHE/<source id>/lock          held while one builds
CACHE/<source id>/built.json    names the build that counts; written last
CACHE/<source id>/<number>/     one build: bot/ is what runs, log.txt what fetch and build printed
CACHE/homes/, CACHE/bots/       see `homes` and `store`
"""

import fcntl
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from referee.process.trees import remove_tree
from referee.texts import one_line

_MOST_TRIES = 5


@dataclass(frozen=True, slots=True)
class Built:
    """A whole build. `folder` is what runs; `artefacts` is a hash over the files in it that the build made or changed.

    `toolchain` is what the manifest's command printed, empty without one; `sandbox` is the profile it was built under;
    `warm`: it began with what earlier builds of this bot had left in its home (see `homes`).
    """

    source_id: str
    folder: Path
    log: Path
    fetch_s: float
    build_s: float
    toolchain: str
    artefacts: str
    sandbox: str
    warm: bool = False

    def __str__(self) -> str:
        """For records and people: what was made, and with what."""
        # Of a build that an older version kept, the toolchain's words may be raw.
        return f"{self.artefacts} by {one_line(self.toolchain)}" if self.toolchain else self.artefacts


class Hold:
    """As long as this lives, here or in a process that was forked with it, a build, or a bot version in the store, is
    not removed."""

    def __init__(self, home: Path) -> None:
        """OSError if it is gone, or going."""
        self._file = -1
        self._file = os.open(home, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            self._file = -1
            raise

    def is_of(self, home: Path) -> bool:
        """Whether what is held is what lies at `home` now."""
        try:
            return os.path.samestat(os.fstat(self._file), home.stat())
        except OSError:
            return False

    def __del__(self) -> None:
        if self._file >= 0:
            os.close(self._file)


def read_built(place: Path) -> Built | None:
    """The build that counts in CACHE/<source id>; None if there is no whole one that can be read."""
    try:
        values = json.loads((place / "built.json").read_bytes())
        home = place / str(int(values.pop("number")))
        built = Built(**{**values, "folder": home / "bot", "log": home / "log.txt"})
        return built if built.folder.is_dir() else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None


def hold_built(place: Path) -> tuple[Built, Hold] | None:
    """The build that counts in CACHE/<source id>, which now stays; None if there is none."""
    for _ in range(_MOST_TRIES):  # another may take its place, and remove it, between the two
        built = read_built(place)
        if built is None:
            break
        with suppress(OSError):
            hold = Hold(built.folder.parent)
            if read_built(place) == built:
                return built, hold
    return None


def write_built(place: Path, built: Built) -> None:
    """From now on this is the build that counts."""
    values = {name: value for name, value in asdict(built).items() if name not in ("folder", "log")}
    half = place / "built.half"
    half.write_text(json.dumps({"number": int(built.folder.parent.name), **values}, indent=2) + "\n")
    half.rename(place / "built.json")


def next_home(place: Path) -> Path:
    """The folder for a new build, which is made."""
    numbers = [int(path.name) for path in place.iterdir() if path.name.isdecimal()]
    home = place / str(max(numbers, default=0) + 1)
    home.mkdir()
    return home


def remove_older(place: Path, but: Path | None) -> None:
    """Removes all builds but one, whole or not, if nobody plays from them."""
    for path in place.iterdir():
        if path == but or not path.is_dir():
            continue
        with suppress(OSError):
            file = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_tree(path)
            finally:
                os.close(file)
