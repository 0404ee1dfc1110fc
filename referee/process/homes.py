"""The home folder of a bot's builds, kept between builds with what package managers and compilers cache in it.

CACHE/homes/<key>/lock       held during a build
CACHE/homes/<key>/home/      the HOME of strict builds; a plain build has the user's HOME and only `build`'s files here
CACHE/homes/<key>/kept.json  the owner and the disk space; its modification time is the last use

A bot finds again what it leaves in its home, and no other bot does: the key is the bot's folder, name and profile. A
folder that was deleted and made again counts as another folder, because its author may be another. An organiser who
puts another author's bot into an existing folder says so with `clean`. The referee treats the home as untrusted and
follows no link in it.
"""

import fcntl
import json
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from referee.process.paths import identity
from referee.process.sandbox import Profile
from referee.process.sources import LEAST_BYTES, mib_of
from referee.process.trees import remove_tree, walk

HOMES = "homes"
MOST_VARIABLE = "CROSSTOWN_HOMES_MIB"
MOST_MIB = 10240

_KEY_BYTES = 8
_KEY = re.compile(f"[0-9a-f]{{{2 * _KEY_BYTES}}}")


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose home it is: the bot in `folder`, resolved, called `name`, built under `profile`."""

    folder: Path
    name: str
    profile: Profile

    @property
    def key(self) -> str:
        text = json.dumps([str(self.folder), identity(self.folder), self.name, self.profile])
        return blake2b(text.encode(), digest_size=_KEY_BYTES, person=b"crosstown-home").hexdigest()


@dataclass(frozen=True, slots=True)
class Home:
    """A folder to be HOME; `warm` if it has what earlier builds left."""

    folder: Path
    warm: bool


def most_mib() -> int:
    """What all homes may take of the disk together: $CROSSTOWN_HOMES_MIB, else 10240. Raises EntryError."""
    return mib_of(MOST_VARIABLE, MOST_MIB, ", or 0 to keep nothing")


@contextmanager
def keep_home(cache: Path, owner: Owner, *, most_bytes: int, clean: bool = False) -> Iterator[Home | None]:
    """The owner's home, for as long as this lasts; None if somebody builds with it just now.

    `clean`: emptied before. Afterwards all in it is ours, and homes are removed until they take no more than
    `most_bytes`, those first that were used longest ago. Raises OSError.
    """
    place = cache / HOMES / owner.key
    place.mkdir(mode=0o700, parents=True, exist_ok=True)  # nobody but us passes, whoever owns what is in it
    with _locked(place) as mine:
        if not mine:
            yield None
            return
        home = place / "home"
        if clean or _is_of_the_future(place):
            remove_tree(home)
        warm = home.is_dir()
        home.mkdir(mode=0o700, exist_ok=True)
        home.chmod(0o700)
        try:
            yield Home(home, warm)
        finally:
            size = take_back(home)
            if size is None:
                remove_tree(home)
            _note(place, owner, size or 0)
            _remove_oldest(cache / HOMES, most_bytes, place)


def take_back(folder: Path) -> int | None:
    """The bytes on disk of `folder` with all in it; None if not all of it can be read.

    Where we are root it is given to us: builds have a user of their own, and the next bot may get the same one. What is
    ours must not be written by others, nor run with our rights (set-uid).
    """
    root, total, linked = os.getuid() == 0, 0, set[tuple[int, int]]()

    try:
        if root:
            os.lchown(folder, 0, 0)
        for entry in walk(folder):
            found = entry.stat(follow_symlinks=False)
            if root and found.st_uid != 0:
                os.lchown(entry.path, 0, 0)
            if not entry.is_symlink() and (mode := stat.S_IMODE(found.st_mode)) & ~0o755:
                Path(entry.path).chmod(mode & 0o755)
            if (found.st_dev, found.st_ino) in linked:
                continue
            if found.st_nlink > 1 and not entry.is_dir(follow_symlinks=False):
                linked.add((found.st_dev, found.st_ino))
            total += max(found.st_blocks * 512, LEAST_BYTES)
    except OSError:
        return None
    return total


@contextmanager
def _locked(place: Path) -> Iterator[bool]:
    """Whether the home is ours now. The lock stays when the home goes, so that no two have it."""
    with (place / "lock").open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            mine = False
        else:
            mine = True
        yield mine


def _is_of_the_future(place: Path) -> bool:
    """The clock was set back: what tools compiled before might pass for younger than sources that are new."""
    with suppress(OSError):
        return (place / "kept.json").stat().st_mtime > time.time()
    return False


def _note(place: Path, owner: Owner, size: int) -> None:
    values = {"folder": str(owner.folder), "name": owner.name, "profile": owner.profile, "bytes": size}
    half = place / "kept.half"
    half.write_text(json.dumps(values, indent=2) + "\n")
    half.rename(place / "kept.json")


def _remove_oldest(homes: Path, most_bytes: int, mine: Path) -> None:
    found = sorted(filter(None, map(_account, homes.iterdir())))
    total = sum(size or 0 for _, _, size in found)
    for _, place, size in found:
        if size is not None and total <= most_bytes:
            continue
        if place == mine:
            remove_tree(place / "home")
        else:
            with suppress(OSError), _locked(place) as free:
                if not free:
                    continue
                remove_tree(place / "home")
        total -= size or 0


def _account(place: Path) -> tuple[float, Path, int | None] | None:
    """When a home was used last, where it is, and its bytes, None if nobody counted them; None if it is not there, or
    not named as ours is: the folder of the cache may be one that holds the homes of users."""
    if not _KEY.fullmatch(place.name) or not (place / "home").is_dir():
        return None
    try:
        used_s = (place / "kept.json").stat().st_mtime
        size = int(json.loads((place / "kept.json").read_bytes())["bytes"])
    except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
        # Its first build goes on, or was killed.
        return 0.0, place, None
    return used_s, place, size
