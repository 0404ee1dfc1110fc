"""Unpacks archives from strangers, zip or tar.gz, and packs a bot's sources.

Nothing is written outside of a new folder. Every limit is checked while an archive is read: the sizes that it
states are not trusted. Links are made last, after all writing.
"""

import errno
import gzip
import io
import os
import re
import stat
import struct
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn, Protocol

from referee.errors import ExpectedError
from referee.process.manifest import FILE_NAME, Manifest
from referee.process.sources import read_sources
from referee.process.trees import remove_tree

_READ_BYTES = 1 << 16
_BLOCK_BYTES = 512
_MOST_NAME_BYTES = 255
_MOST_PATH_BYTES = 1000
_MOST_HEADER_BYTES = 1 << 16
"""Of the names and attributes that a tar file has for one member."""
_MOST_HEADERS_BYTES = 8 << 20
"""Of those for all members together: each attribute is looked at, and millions of them pack well."""
_MOST_DIRECTORY_BYTES = 4 << 20
"""Of the list at the end of a zip file, which is read as a whole."""
_RATIO_FROM_BYTES = 1 << 20
"""Below this size the ratio is not checked: a few small files of zeros are no bomb."""
_SKIPPED = "__MACOSX"
"""Entries that macOS adds beside the files."""
_ENTRIES_A_FILE = 4
"""An archive may have so many entries for each file that it may have: folders that are named again, entries that are
skipped, and the headers of a tar file before a member."""

_OTHER_KINDS = {
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a rar archive",
    b"BZh": "compressed with bzip2",
    b"\xfd7zXZ": "compressed with xz",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"%PDF": "a PDF file",
    b"\x7fELF": "a program",
    b"MZ": "a program",
}


class ArchiveError(ExpectedError):
    """An archive that is refused. The sentence for its author names the member."""


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """Of one archive: its size, that of all files in it, the size of these as a multiple of its own, the number of
    files and folders, and how deep these lie."""

    archive_bytes: int = 64 << 20
    unpacked_bytes: int = 256 << 20
    ratio: int = 200
    files: int = 10_000
    depth: int = 30


def unpack(archive: Path, target: Path, limits: ArchiveLimits) -> Path:
    """Unpack a zip or tar.gz file into the new folder `target`; the bot's folder, `target` or the only folder in it.

    After an error `target` is not there. ArchiveError for what the author can correct, OSError for the disk.
    """
    try:
        tree = _Tree(target, limits, archive.stat().st_size)
        with archive.open("rb") as file:
            kind = _kind(file, limits)
            try:
                (_read_zip if kind == "zip" else _read_tar)(file, tree)
            except _DAMAGED as error:
                raise ArchiveError(
                    f"the {kind} file is damaged or cut off ({_why(error)})", "pack and send it again"
                ) from None
        return tree.finish()
    except BaseException:
        remove_tree(target)
        raise


def _why(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def _kind(file: BinaryIO, limits: ArchiveLimits) -> str:
    begin = file.read(_BLOCK_BYTES)
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if not begin:
        raise ArchiveError("the file is empty", "send a zip or tar.gz file")
    if size > limits.archive_bytes:
        raise ArchiveError(
            f"the archive has {_mib(size)}, and at most {_mib(limits.archive_bytes)} are taken",
            "leave out what the bot does not need",
        )
    if begin.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if begin.startswith(b"\x1f\x8b"):
        return "tar.gz"
    found = next((words for magic, words in _OTHER_KINDS.items() if begin.startswith(magic)), "something else")
    if begin[257:262] == b"ustar":
        found = "a tar file that is not compressed"
    raise ArchiveError(f"the file is {found}", "pack the bot's folder as a zip or tar.gz file")


class _Tree:
    """The files written below `root`, and the limits that are left."""

    def __init__(self, root: Path, limits: ArchiveLimits, packed_bytes: int) -> None:
        """OSError if `root` cannot be made, or is there."""
        root.mkdir()
        self.limits = limits
        self._root = root
        self._packed_bytes = packed_bytes
        self._bytes = 0
        self._kinds: dict[str, str] = {}
        """By path 'file', 'folder' or 'link'."""
        self._seen: dict[str, str] = {}
        """By the form in which some file systems compare paths the path as it is."""
        self._links: dict[str, str] = {}

    def folder(self, name: str) -> None:
        path = self._place(name)
        if path is not None:
            self._make_folders(path.split("/"), name)

    def file(self, name: str, chunks: Iterable[bytes], mode: int) -> None:
        """`mode`: the bits with which it is to be executed count, and no others."""
        path = self._place(name)
        if mode & (stat.S_ISUID | stat.S_ISGID):
            _fail(name, "is to be run with the rights of its owner or group (set-uid)", "remove that: chmod ug-s")
        if path is None:  # its bytes are read and counted all the same
            for chunk in chunks:
                self._take(chunk, name)
            return
        if path in ("", "."):
            _fail(name, "has no name", "pack the bot's folder again")
        *parents, _ = path.split("/")
        self._make_folders(parents, name)
        self._note(path, "file", name)
        place = self._root / path
        with place.open("xb") as file:
            for chunk in chunks:
                self._take(chunk, name)
                file.write(chunk)
        place.chmod(0o755 if mode & 0o111 else 0o644)

    def link(self, name: str, target: str) -> None:
        path = self._place(name)
        if path is None:
            return
        *parents, _ = path.split("/")
        self._make_folders(parents, name)
        self._note(path, "link", name)
        self._links[path] = self._within(name, parents, target)

    def hard_link(self, name: str, target: str) -> None:
        """Another name for a file of the archive: a copy."""
        path, other = self._place(name), self._place(target)
        if path is None:
            return
        if other is None or self._kinds.get(other) != "file":
            _fail(name, f"is a second name for {_shown(target)}, which is no file of the archive", "copy it in")
        source = self._root / other
        with source.open("rb") as file:
            self.file(name, iter(lambda: file.read(_READ_BYTES), b""), source.stat().st_mode)

    def other(self, name: str, what: str) -> NoReturn:
        _fail(name, f"is {what}", "remove it: a bot has files and folders")

    def finish(self) -> Path:
        """Makes the links. The folder of the bot."""
        for path, target in self._links.items():
            (self._root / path).symlink_to(target)
        root = self._root.resolve()
        for path, target in self._links.items():
            try:
                (self._root / path).stat()  # the system follows no long chain of links, and so do not we
            except OSError as error:
                if error.errno == errno.ELOOP:
                    _fail(path, f"links to {_shown(target)}, and that to another link, too often", "copy the file in")
            real = Path(os.path.realpath(self._root / path))
            if not real.is_relative_to(root):
                _fail(path, f"links to {_shown(target)}, which leads out of the archive", "copy the file in")
            if not real.exists():
                _fail(
                    path, f"links to {_shown(target)}, which is not in the archive", "add the file, or remove the link"
                )
        if not self._kinds:
            raise ArchiveError("the archive has no files", "pack the bot's folder")
        inside = [path for path in self._kinds if "/" not in path]
        if FILE_NAME not in inside and len(inside) == 1 and self._kinds[inside[0]] == "folder":
            return self._root / inside[0]
        return self._root

    def _place(self, name: str) -> str | None:
        """The path of a member from the root, checked; None for what is left out. ArchiveError."""
        if any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
            _fail(name, "has control characters, or bytes that are not UTF-8, in its name", "rename it")
        if "\\" in name:
            _fail(name, "has a backslash in its name", "rename it, or pack with a program that writes '/'")
        if name.startswith("/") or re.match(r"[A-Za-z]:", name):
            _fail(name, "has an absolute path", "pack the bot's folder by a relative path")
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if ".." in parts:
            _fail(name, "leads out of the archive by '..'", "pack the bot's folder from within, or from its parent")
        if len(parts) > self.limits.depth:
            _fail(name, f"lies more than {self.limits.depth} folders deep", "move it up")
        if len(os.fsencode(name)) > _MOST_PATH_BYTES or any(len(os.fsencode(p)) > _MOST_NAME_BYTES for p in parts):
            _fail(
                name,
                f"has a name of more than {_MOST_NAME_BYTES} bytes, or a path of more than {_MOST_PATH_BYTES}",
                "shorten it",
            )
        if parts and parts[0] == _SKIPPED:
            return None
        return "/".join(parts)

    def _make_folders(self, parts: list[str], name: str) -> None:
        """All folders on the way, as far as they are not there."""
        for number in range(1, len(parts) + 1):
            path = "/".join(parts[:number])
            known = self._kinds.get(path)
            if known in ("file", "link"):
                _fail(name, f"lies in {_shown(path)}, which is a {known} of the archive", "rename one of them")
            if path and known is None:
                self._note(path, "folder", name)
                (self._root / path).mkdir()

    def _note(self, path: str, kind: str, name: str) -> None:
        if path in self._kinds:
            _fail(name, "is there twice", "pack the bot's folder again, into a new archive")
        key = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", path).casefold())
        other = self._seen.setdefault(key, path)
        if other != path:
            _fail(
                name,
                f"and {_shown(other)} differ only in upper and lower case, or in how accents are written",
                "rename one of them",
            )
        self._kinds[path] = kind
        self.count()

    def check_entries(self, number: int) -> None:
        """ArchiveError if the archive has so many entries that reading them takes too long."""
        most = _ENTRIES_A_FILE * self.limits.files
        if number > most:
            raise ArchiveError(f"the archive has more than {most:,} entries", "pack the bot's folder again")

    def count(self) -> None:
        if len(self._kinds) > self.limits.files:
            raise ArchiveError(
                f"the archive has more than {self.limits.files:,} files and folders",
                "leave out what the bot does not need, such as packages that its build fetches",
            )

    def _take(self, chunk: bytes, name: str) -> None:
        self._bytes += len(chunk)
        if self._bytes > self.limits.unpacked_bytes:
            raise ArchiveError(
                f"the files of the archive have more than {_mib(self.limits.unpacked_bytes)}, {_shown(name)} among"
                " them",
                "leave out what the bot does not need",
            )
        if self._bytes > max(_RATIO_FROM_BYTES, self.limits.ratio * self._packed_bytes):
            raise ArchiveError(
                f"the files of the archive are more than {self.limits.ratio} times as large as the archive,"
                f" {_shown(name)} among them",
                "leave out files of zeros",
            )

    def _within(self, name: str, parents: list[str], target: str) -> str:
        """The target of a link, which by its text leads to a place within the archive."""
        if not target or target.startswith("/") or "\\" in target or "\0" in target:
            _fail(name, f"links to {_shown(target)}", "link by a relative path, or copy the file in")
        depth = len(parents)
        for part in target.split("/"):
            depth += -1 if part == ".." else 0 if part in ("", ".") else 1
            if depth < 0:
                _fail(name, f"links to {_shown(target)}, which leads out of the archive", "copy the file in")
        if len(os.fsencode(target)) > _MOST_PATH_BYTES:
            _fail(name, f"links to a path of more than {_MOST_PATH_BYTES} bytes", "shorten it")
        return target


def _fail(name: str, what: str, step: str) -> NoReturn:
    raise ArchiveError(f"{_shown(name)} {what}", step)


def _shown(name: str) -> str:
    text = ascii(name) if not name.isprintable() else f"'{name}'"
    return text if len(text) <= 120 else f"{text[:117]}..."


def _mib(number: int) -> str:
    return f"{number / (1 << 20):.4g} MiB"


# Zip

_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    gzip.BadGzipFile,
    EOFError,
    struct.error,
    NotImplementedError,
    RuntimeError,
    OverflowError,
    UnicodeError,
    IndexError,
)
"""Errors of the standard library's readers for a damaged archive."""

_ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_END = b"PK\x05\x06"
_END_BYTES = 22
_LARGE_END = b"PK\x06\x07"
_LARGE_END_BYTES = 20
_LEAST_HEADER_BYTES = 30
"""Before a member, beside its name: at least one byte for each character of it."""
_MOST_COMMENT_BYTES = 1 << 16
_UNIX = 3
_ENCRYPTED = 0x1


def _read_zip(file: BinaryIO, tree: _Tree) -> None:
    _check_directory(file)
    with zipfile.ZipFile(file) as packed:
        tree.check_entries(len(packed.infolist()))
        _check_places(packed)
        for info in packed.infolist():
            _read_zip_member(packed, info, tree)


def _check_places(packed: zipfile.ZipFile) -> None:
    """No two members share bytes, which would be read once for each, and none lies outside of the file. Newer versions
    of Python look for this, too, when a member is opened."""
    members = sorted(packed.infolist(), key=lambda info: info.header_offset)
    free = 0
    for info in members:
        if 0 <= info.header_offset < free:
            _fail(info.orig_filename, "shares bytes with another file of the archive", "pack the bot's folder again")
        free = info.header_offset + _LEAST_HEADER_BYTES + len(info.orig_filename) + info.compress_size
    if free > packed.start_dir or any(info.header_offset < 0 for info in members[:1]):
        raise zipfile.BadZipFile("a file lies outside of it")


def _check_directory(file: BinaryIO) -> None:
    """The list of members is read as a whole, before anything can be counted."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END_BYTES - _MOST_COMMENT_BYTES - _LARGE_END_BYTES))
    tail = file.read()
    place = len(tail) - _END_BYTES
    if place < 0 or tail[place : place + 4] != _END or tail[-2:] != b"\0\0":
        place = tail.rfind(_END, max(0, len(tail) - _END_BYTES - _MOST_COMMENT_BYTES))
    if place < 0 or place + _END_BYTES > len(tail):
        raise zipfile.BadZipFile("its list of files is not there")
    if tail[max(0, place - _LARGE_END_BYTES) :].startswith(_LARGE_END):
        raise ArchiveError("the archive is a ZIP64 file, for more than 65,535 files or 4 GiB", "pack fewer files")
    (directory_bytes,) = struct.unpack_from("<L", tail, place + 12)
    if directory_bytes > _MOST_DIRECTORY_BYTES:
        raise ArchiveError(
            f"the archive's list of files has {_mib(directory_bytes)}, and at most {_mib(_MOST_DIRECTORY_BYTES)} are"
            " taken",
            "pack fewer files",
        )
    file.seek(0)


def _read_zip_member(packed: zipfile.ZipFile, info: zipfile.ZipInfo, tree: _Tree) -> None:
    name = info.orig_filename  # `filename` ends at a zero byte
    if info.flag_bits & _ENCRYPTED:
        _fail(name, "is encrypted", "pack without a password")
    if info.compress_type not in _ZIP_METHODS:
        _fail(name, f"is compressed by method {info.compress_type}", "pack with the usual one, deflate")
    mode = info.external_attr >> 16 if info.create_system == _UNIX else 0
    kind = stat.S_IFMT(mode)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
        tree.other(name, _special(kind))
    if name.endswith("/") or kind == stat.S_IFDIR:
        tree.folder(name)
        return
    with packed.open(info) as member:
        if kind == stat.S_IFLNK:
            tree.link(name, member.read(_MOST_PATH_BYTES + 1).decode("utf-8"))
        else:
            tree.file(name, iter(lambda: member.read(_READ_BYTES), b""), mode)


def _special(kind: int) -> str:
    return {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}.get(kind, "a device")


# tar.gz. The standard library's reader keeps headers of any size in memory, and knows forms (sparse files) that
# nobody packs a bot with.

_TYPES = {b"3": "a device", b"4": "a device", b"6": "a pipe", b"S": "a sparse file", b"V": "the label of a volume"}
_FILE_TYPES = (b"0", b"\0", b"7")
_KEYS = (b"path", b"linkpath", b"size")
_SPARSE = "GNU.sparse"
"""How all keys of a sparse file begin."""

_LENGTH_BYTES = 9
"""Of the length of a record and the space after it, at most."""


class _Reads(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Gunzipped:
    """The content of a gzip file of one member. Python's own reader takes any number of them, and is kept busy by
    millions that are empty."""

    def __init__(self, file: _Reads) -> None:
        self._file = file
        self._unpacker = zlib.decompressobj(wbits=31)

    def read(self, size: int, /) -> bytes:
        """Up to so many bytes; none at the end. EOFError if it is cut off."""
        unpacker = self._unpacker
        while not unpacker.eof:
            packed = unpacker.unconsumed_tail or self._file.read(_READ_BYTES)
            if found := unpacker.decompress(packed, size):
                return found
            if not packed and not unpacker.eof:
                raise EOFError("it ends too early")
        if unpacker.unused_data or self._file.read(1):
            raise ArchiveError("something follows the end of the archive", "pack the bot's folder again")
        return b""


class _Unzipped:
    """The bytes of a tar file, counted: headers and padding are no files, and can be a bomb all the same."""

    def __init__(self, file: _Reads, most_bytes: int) -> None:
        self._file = file
        self._most_bytes = most_bytes
        self._bytes = 0
        self._header_bytes = 0

    def read(self, size: int) -> bytes:
        """So many bytes; fewer at the end."""
        found = bytearray()
        while len(found) < size and (chunk := self._file.read(min(_READ_BYTES, size - len(found)))):
            found += chunk
            self._bytes += len(chunk)
            if self._bytes > self._most_bytes:
                raise ArchiveError(
                    f"the archive unpacks to more than {_mib(self._most_bytes)}", "leave out what the bot does not need"
                )
        return bytes(found)

    def exactly(self, size: int) -> bytes:
        found = self.read(size)
        if len(found) < size:
            raise EOFError("it ends too early")
        return found

    def chunks(self, size: int) -> Iterator[bytes]:
        """The content of a member, and the padding after it."""
        left = size
        while left:
            chunk = self.exactly(min(_READ_BYTES, left))
            left -= len(chunk)
            yield chunk
        self.exactly(-size % _BLOCK_BYTES)

    def header(self, size: int) -> bytes:
        """The content of a header before a member. EOFError if its size is no number."""
        if size < 0:
            raise EOFError("a size is no number")
        if size > _MOST_HEADER_BYTES:
            raise ArchiveError(f"a header of the archive has {size} bytes", "pack the bot's folder again")
        self._header_bytes += size
        if self._header_bytes > _MOST_HEADERS_BYTES:
            raise ArchiveError(
                f"the names and attributes in the archive have more than {_mib(_MOST_HEADERS_BYTES)} together",
                "pack the bot's folder without extended attributes",
            )
        return b"".join(self.chunks(size))

    def drain(self) -> None:
        """To the end, where the checksum is compared."""
        while self.read(_READ_BYTES):
            pass


def _read_tar(file: BinaryIO, tree: _Tree) -> None:
    limits = tree.limits
    most_bytes = limits.unpacked_bytes + limits.files * _ENTRIES_A_FILE * _BLOCK_BYTES + (1 << 20)
    stream = _Unzipped(_Gunzipped(file), most_bytes)
    extra: dict[str, str] = {}
    entries = 0
    while any(block := stream.exactly(_BLOCK_BYTES)):
        entries += 1
        tree.check_entries(entries)
        extra = _read_tar_member(block, stream, tree, extra)
    stream.drain()


def _read_tar_member(block: bytes, stream: _Unzipped, tree: _Tree, extra: dict[str, str]) -> dict[str, str]:
    """`extra`: what a header before says of this member; returned is what this one says of the next."""
    if _number(block[148:156]) not in (sum(block[:148]) + 256 + sum(block[156:]), _signed_sum(block)):
        raise EOFError("a checksum does not match")
    kind = block[156:157]
    size = _number(block[124:136])
    if kind in (b"x", b"g", b"L", b"K"):
        content = stream.header(size)
        if kind == b"g":
            return extra
        if kind == b"x":
            return {**extra, **_records(content)}
        text = content.rstrip(b"\0").decode("utf-8", "surrogateescape")
        return {**extra, ("path" if kind == b"L" else "linkpath"): text}
    name = extra.get("path") or _tar_name(block)
    target = extra.get("linkpath") or _text(block[157:257])
    if "size" in extra:
        size = int(extra["size"]) if re.fullmatch(r"[0-9]{1,18}", extra["size"], re.ASCII) else -1
    if size < 0:
        raise EOFError("a size is no number")
    if _SPARSE in extra:
        kind = b"S"
    mode = _number(block[100:108])
    if kind == b"5" or (kind in _FILE_TYPES and name.endswith("/")):
        tree.folder(name)
        for _ in stream.chunks(size):
            pass
    elif kind in _FILE_TYPES:
        tree.file(name, stream.chunks(size), mode)
    elif kind == b"2":
        tree.link(name, target)
    elif kind == b"1":
        tree.hard_link(name, target)
    else:
        tree.other(name, _TYPES.get(kind, f"of an unknown kind {kind!a}"))
    return {}


def _records(content: bytes) -> dict[str, str]:
    """Of a pax header, lines of LENGTH KEY=VALUE, those that matter here. The others are not kept: an archive may have
    millions of them."""
    found, at = {}, 0
    while at < len(content):
        length, space, _ = content[at : at + _LENGTH_BYTES].partition(b" ")
        number = int(length) if length.isdigit() else 0
        if not space or not len(length) + 3 <= number <= len(content) - at:
            raise EOFError("a header is not well formed")
        key, _, value = content[at + len(length) + 1 : at + number - 1].partition(b"=")
        if key.startswith(_SPARSE.encode()):
            found[_SPARSE] = ""
        elif key in _KEYS:
            found[key.decode()] = value.decode("utf-8", "surrogateescape")
        at += number
    return found


def _tar_name(block: bytes) -> str:
    name, prefix = _text(block[:100]), _text(block[345:500])
    return f"{prefix}/{name}" if prefix and block[257:263] == b"ustar\0" else name


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "surrogateescape")


def _number(field: bytes) -> int:
    """Octal digits, or a binary number after a set bit. -1 for neither."""
    if field[0] & 0x80:
        return int.from_bytes(field, "big") - (0x80 << 8 * (len(field) - 1)) if field[0] == 0x80 else -1
    digits = field.strip(b" \0")
    return int(digits, 8) if re.fullmatch(rb"[0-7]*", digits) and digits else 0 if not digits else -1


def _signed_sum(block: bytes) -> int:
    """As some old programs count."""
    return sum(byte - 256 if byte > 127 else byte for byte in block[:148] + block[156:]) + 256


# Packing


def pack(folder: Path, manifest: Manifest, out: BinaryIO) -> None:
    """The sources of a bot, which are what its hash covers, as a tar.gz file: the same bytes for the same sources.

    EntryError; ArchiveError for a name that no server accepts; OSError.
    """
    sources = read_sources(folder, manifest)
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w|", format=tarfile.PAX_FORMAT) as tar,
    ):
        for relative, _ in sources:
            try:
                name = relative.decode("utf-8")
            except UnicodeDecodeError:
                raise ArchiveError(f"{relative!a}: is not UTF-8", "rename the file") from None
            path = folder / name
            info = tarfile.TarInfo(name)
            if path.is_symlink():
                info.type, info.mode = tarfile.SYMTYPE, 0o777
                info.linkname = os.path.relpath(path.resolve(), path.parent.resolve())
                tar.addfile(info)
                continue
            content = path.read_bytes()
            info.size, info.mode = len(content), 0o755 if path.stat().st_mode & 0o111 else 0o644
            tar.addfile(info, io.BytesIO(content))
