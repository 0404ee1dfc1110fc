"""Quotas: the disk space for the versions of one owner, and the order in which their files are removed.

Files that several owners handed in alike are kept once, and count for each of them. The files of a version are those
that were handed in and what was built of them. They go only if no version that plays, may be made active again, or is
on its way has them. Records and tables need none of them.
"""

import time
from collections import defaultdict
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from leaderboard.web.hand_ins import HandInRefused, Refusal
from referee.ladder.store import KeptVersion, LadderStore
from referee.process.entry import source_id
from referee.process.manifest import ManifestError, load_manifest
from referee.process.packages import read_requirements
from referee.process.sources import EntryError, read_sources
from referee.process.store import discard, discard_builds, read_built
from referee.process.trees import walk

ORPHAN_S = 3600.0
"""Files that belong to no version are removed when they are so old."""

GOING = ("retired", "rejected")
"""Whose files may be removed."""

_RETRY_S = 600


class Quotas:
    """Sizes are kept: files in the content store, and whole builds, do not change. Calls wait for the disk."""

    def __init__(self, store: LadderStore, content: Path, cache: Path, owner_mib: int) -> None:
        self._store = store
        self._content = content
        self._cache = cache
        self._owner_mib = owner_mib
        self._builds: dict[str, frozenset[str]] = {}
        self._build_sizes: dict[Path, int] = {}

    def check(self, owner: str) -> None:
        """TOO_MANY if what cannot be removed of the owner's versions takes all that an owner may have."""
        staying = [version for version in self._store.kept_versions(owner) if version.status not in GOING]
        taken = self._taken(staying).get(owner, 0)
        if taken >= self._owner_mib << 20:
            raise HandInRefused(
                Refusal.TOO_MANY,
                f"the versions of '{owner}' and their builds take {taken / 2**20:.0f} MiB, and {self._owner_mib} MiB"
                " are allowed",
                "retire versions that need not play again; their files are removed within some minutes",
                _RETRY_S,
            )

    def evict(self) -> list[KeptVersion]:
        """Remove what was built of retired and rejected versions; of each owner who then has more than an owner may
        have, their files, too, the oldest first. The versions whose files are gone now."""
        versions = self._store.kept_versions()
        staying = {version.content for version in versions if version.status not in GOING}
        going = [version for version in versions if version.content not in staying]
        kept = frozenset[str]().union(*map(self._builds_of, staying))
        for build in frozenset[str]().union(*(self._builds_of(version.content) for version in going)) - kept:
            if (self._cache / build).is_dir():
                discard_builds(self._cache / build)
        self._remove_orphans({version.content for version in versions})
        taken = self._taken(versions)
        removed: list[KeptVersion] = []
        for version in going:
            size = self._size(version.content)
            over = taken[version.owner] > self._owner_mib << 20
            if over and size and discard(self._content, version.content):
                taken[version.owner] -= size
                removed.append(version)
        return removed

    def _remove_orphans(self, known: Collection[str]) -> None:
        """What a kill left between the files of a hand-in and its line in the database, and nobody handed in again."""
        with suppress(OSError):
            for path in self._content.iterdir():
                if path.name not in known and not path.name.startswith("."):
                    with suppress(OSError):
                        if time.time() - (path / "size").stat().st_mtime > ORPHAN_S:
                            discard(self._content, path.name)

    def _taken(self, versions: Iterable[KeptVersion]) -> dict[str, int]:
        """Bytes by owner."""
        contents: dict[str, set[str]] = defaultdict(set)
        for version in versions:
            contents[version.owner].add(version.content)
        return {owner: self._bytes(found) for owner, found in contents.items()}

    def _bytes(self, contents: Collection[str]) -> int:
        built = frozenset[str]().union(*map(self._builds_of, contents))
        return sum(map(self._size, contents)) + sum(map(self._build_size, built))

    def _size(self, content: str) -> int:
        """0 where the files are gone."""
        with suppress(OSError, ValueError):
            return int((self._content / content / "size").read_text())
        return 0

    def _builds_of(self, content: str) -> frozenset[str]:
        """The names in the cache of its build and of the environment with its packages; none of what is no bot, or
        whose files are gone."""
        if content not in self._builds:
            folder = self._content / content / "bot"
            found: set[str] = set()
            try:
                manifest = load_manifest(folder)
                if manifest.build:
                    found.add(source_id(folder, manifest, read_sources(folder, manifest)))
                if (requirements := read_requirements(folder, manifest)) is not None:
                    found.add(requirements.id)
            except (ManifestError, EntryError, OSError):
                if not folder.is_dir():
                    return frozenset()  # its files may come again
            self._builds[content] = frozenset(found)
        return self._builds[content]

    def _build_size(self, build_id: str) -> int:
        built = read_built(self._cache / build_id)
        if built is None:
            return 0
        if built.folder not in self._build_sizes:
            size = 0
            with suppress(OSError):
                for entry in walk(built.folder.parent):
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
            self._build_sizes[built.folder] = size
        return self._build_sizes[built.folder]
