"""What a sandbox covers: the places that no bot may see and that lie in something it is shown, such as /usr."""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from referee.process.look import is_there
from referee.process.places import SYSTEM


def find_covers(hidden: Iterable[str], shown: Sequence[Path]) -> tuple[Path, ...]:
    """Folders and files to cover, parents before children, by the names that the sandbox has for them.

    `hidden` are real paths, without links. What is in `shown` itself is not covered, nor what lies outside of it and of
    the system's own folders: that is not there at all.
    """
    places = [Path(name) for name in SYSTEM if not Path(name).is_symlink()]
    roots = [(place, os.path.realpath(place)) for place in (*places, *shown)]
    found: set[Path] = set()
    for path in hidden:
        for place, real in roots:
            if path.startswith(f"{real}/") and is_there(Path(path)):
                with suppress(FileNotFoundError):  # it has gone just now
                    found.update(_reachable(place, Path(path).relative_to(real).parts, staged=place in shown))
    return tuple(sorted(_outermost(found, shown), key=lambda path: (len(path.parts), path)))


def _outermost(covers: set[Path], shown: Sequence[Path]) -> Iterator[Path]:
    """Those that lie in no other, unless something in between is shown."""
    for path in covers:
        around = next((parent for parent in path.parents if parent in covers or parent in shown), None)
        if around is None or around in shown:
            yield path


def _reachable(place: Path, names: Sequence[str], *, staged: bool) -> Iterator[Path]:
    """The place `names` lead to from `place`, or the first on the way that the bot's user cannot enter: nothing can be
    laid over what is behind it. `staged`: its owner's files are shown as the bot's (see `stage`)."""
    path = place
    owner = place.stat().st_uid if staged else -1
    for name in names:
        found = path.stat()
        if os.getuid() == 0 and not found.st_mode & stat.S_IXOTH and found.st_uid != owner:
            break
        path /= name
    if path != place:
        yield path
