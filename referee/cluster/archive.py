"""A bot version as one archive, which moves it from the store of one machine to that of another under the same hash."""

import gzip
import io
import tarfile
import tempfile
from pathlib import Path

from referee.process.manifest import load_manifest
from referee.process.sources import EntryError, read_all, read_sources
from referee.process.store import Version, hold, put


def pack(store: Path, content: str) -> bytes:
    """The sources of a stored version, as a tar.gz. The same bytes each time. EntryError if it is not there."""
    version = hold(store, content)
    if version is None:
        raise EntryError(f"{store / content}: no copy of this bot is there any more", "run the same command again")
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for relative, _ in read_all(version.folder):
            path = version.folder / relative.decode(errors="surrogateescape")
            tar.add(path, str(path.relative_to(version.folder)), recursive=False, filter=_plain)
    return gzip.compress(made.getvalue(), compresslevel=6, mtime=0)


def unpack(store: Path, content: str, archive: bytes) -> Version:
    """The version in this store, unpacked into it unless it is there. EntryError if the archive has another version."""
    if found := hold(store, content):
        return found
    store.mkdir(parents=True, exist_ok=True)
    # Beside the store, which removes what nobody holds.
    with tempfile.TemporaryDirectory(prefix=".sent-", dir=store.parent) as name:
        folder = Path(name).resolve() / "bot"
        folder.mkdir()
        try:
            with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
                tar.extractall(folder, filter="data")
        except (tarfile.TarError, OSError, EOFError) as error:
            raise EntryError(f"a bot arrived damaged, or cannot be unpacked ({error})", "see the disk") from None
        manifest = load_manifest(folder)
        version = put(store, folder, manifest, read_sources(folder, manifest))
    if version.content != content:
        raise EntryError(f"a bot arrived as {version.content}, not {content}", "use the same Crosstown everywhere")
    return version


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """The member without the attributes that differ between machines."""
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mtime = 0
    info.mode = 0o755 if info.mode & 0o111 else 0o644
    return info
