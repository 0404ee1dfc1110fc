"""Archives that authors hand in to a ladder."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from weakref import finalize

from target import Target

from referee.ladder.archives import ArchiveError, ArchiveLimits, unpack
from referee.process.trees import remove_tree

_BLOCK_BYTES = 512
_LIMITS = ArchiveLimits(archive_bytes=1 << 20, unpacked_bytes=1 << 20, files=40, depth=8)


def handed_in_targets(folder: Path) -> list[Target]:
    memory = Path("/dev/shm")
    place = Path(mkdtemp(dir=memory if memory.is_dir() else folder))
    unpacked = _unpacked(place)
    finalize(unpacked, remove_tree, place)

    def unpacked_tar(data: bytes) -> object:
        return unpacked(gzip.compress(_resealed(data), 1))

    return [
        Target("zip file of a hand-in", [_zip()], unpacked, (ArchiveError,)),
        Target("tar file of a hand-in", [_tar()], unpacked_tar, (ArchiveError,)),
    ]


def _unpacked(place: Path) -> Callable[[bytes], object]:
    """Whatever is in there: nothing is written beside the new folder, and nothing is left of what is refused."""

    def run(data: bytes) -> object:
        sent, new = place / "sent", place / "new"
        sent.write_bytes(data)
        try:
            return unpack(sent, new, _LIMITS)
        except ArchiveError:
            assert not new.exists()
            raise
        finally:
            remove_tree(new)
            assert [path.name for path in place.iterdir()] == ["sent"]

    return run


def _zip() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("mine/bot.toml", "name")
        file.writestr("mine/lib/a.py", "x = 1\n" * 20)
        link = zipfile.ZipInfo("mine/b.py")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        file.writestr(link, "lib/a.py")
    return made.getvalue()


def _tar() -> bytes:
    """Each header and each content has one block."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.GNU_FORMAT) as file:
        for name in ("mine/bot.toml", "mine/" + "long/" * 3 + "l" * 110, "mine/lib/a.py"):
            info = tarfile.TarInfo(name)
            info.size = 4
            file.addfile(info, io.BytesIO(b"name"))
        for kind, name, target in (
            (tarfile.SYMTYPE, "mine/b.py", "lib/a.py"),
            (tarfile.LNKTYPE, "mine/c.py", "mine/lib/a.py"),
            (tarfile.DIRTYPE, "mine/empty", ""),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            file.addfile(info)
        pax = b"20 path=mine/pax.py\n"
        info = tarfile.TarInfo("pax")
        info.type, info.size = tarfile.XHDTYPE, len(pax)
        file.addfile(info, io.BytesIO(pax))
        info = tarfile.TarInfo("short")
        info.size = 4
        file.addfile(info, io.BytesIO(b"name"))
    return made.getvalue()


def _resealed(data: bytes) -> bytes:
    """With the checksums of what may be headers made right, so that a mutated one is read."""
    blocks = [bytearray(data[place : place + _BLOCK_BYTES]) for place in range(0, len(data), _BLOCK_BYTES)]
    for block in blocks:
        if len(block) == _BLOCK_BYTES and any(block[:100]) and block[257:262] == b"ustar":
            block[148:156] = f"{sum(block[:148]) + 256 + sum(block[156:]):06o}\0 ".encode()
    return b"".join(blocks)
