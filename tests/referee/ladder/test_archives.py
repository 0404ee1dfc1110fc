"""What is refused of an archive, with which sentence, and what is taken."""

import gzip
import io
import os
import stat
import struct
import tarfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import pytest

from referee.ladder.archives import ArchiveError, ArchiveLimits, pack, unpack
from referee.process.manifest import load_manifest
from referee.process.sources import read_all, read_sources

LIMITS = ArchiveLimits(archive_bytes=1 << 20, unpacked_bytes=4 << 20, files=50, depth=5)


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as file:
        for name, content in members:
            file.writestr(name, content)
    return made.getvalue()


def info(name: str, mode: int) -> zipfile.ZipInfo:
    found = zipfile.ZipInfo(name)
    found.create_system, found.external_attr = 3, mode << 16
    return found


def tarred(*members: tuple[tarfile.TarInfo, bytes], format_: int = tarfile.PAX_FORMAT) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", format=format_) as file:
        for member, content in members:
            member.size = len(content)
            file.addfile(member, io.BytesIO(content))
    return made.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "", mode: int = 0o644) -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname, found.mode = kind, target, mode
    return found


def taken(tmp_path: Path, data: bytes, limits: ArchiveLimits = LIMITS) -> Path:
    tmp_path.mkdir(exist_ok=True)
    (tmp_path / "sent").write_bytes(data)
    return unpack(tmp_path / "sent", tmp_path / "unpacked", limits)


def refused(tmp_path: Path, data: bytes, limits: ArchiveLimits = LIMITS) -> str:
    """The sentence. Nothing is left, and nothing was written anywhere else."""
    before = {*tmp_path.rglob("*"), tmp_path / "sent"}
    with pytest.raises(ArchiveError) as caught:
        taken(tmp_path, data, limits)
    assert set(tmp_path.rglob("*")) == before
    assert caught.value.next_step
    return str(caught.value)


Make = Callable[..., bytes]


def as_zip(name: str, content: bytes = b"x") -> bytes:
    return zipped((name, content))


def as_tar(name: str, content: bytes = b"x") -> bytes:
    return tarred((member(name), content))


BOTH = pytest.mark.parametrize("make", [as_zip, as_tar])


@BOTH
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../out", "leads out of the archive by '..'"),
        ("a/../../out", "leads out of the archive by '..'"),
        ("/etc/passwd", "absolute path"),
        ("C:/out", "absolute path"),
        ("a\\..\\out", "backslash"),
        ("a\nb", "control characters"),
        ("1/2/3/4/5/6", "more than 5 folders deep"),
        ("x" * 256, "more than 255 bytes"),
    ],
)
def test_a_path_that_is_no_path_within_the_archive_is_refused(tmp_path: Path, make: Make, name: str, why: str) -> None:
    assert why in refused(tmp_path, make(name))


def test_a_zero_byte_in_a_name_is_refused(tmp_path: Path) -> None:
    data = zipped(("a_b", b"x")).replace(b"a_b", b"a\0b")
    assert "control characters" in refused(tmp_path, data)


@pytest.mark.parametrize(("one", "other"), [("Bot.py", "bot.py"), ("caf\u00e9", "cafe\u0301"), ("a/x", "A/y")])
def test_names_that_some_file_systems_take_for_one_are_refused(tmp_path: Path, one: str, other: str) -> None:
    for data in (zipped((one, b"1"), (other, b"2")), tarred((member(one), b"1"), (member(other), b"2"))):
        assert "differ only in upper and lower case" in refused(tmp_path, data)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_file_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    for data in (zipped(("a", b"1"), ("a", b"2")), tarred((member("a"), b"1"), (member("./a"), b"2"))):
        assert "is there twice" in refused(tmp_path, data)


def test_a_file_within_a_file_is_refused(tmp_path: Path) -> None:
    assert "is a file of the archive" in refused(tmp_path, zipped(("a", b"1"), ("a/b", b"2")))


# Links and what is no file


@pytest.mark.parametrize("target", ["../out", "/etc/passwd", "a/../../out", "..", "x\\y"])
def test_a_link_that_leads_out_is_refused(tmp_path: Path, target: str) -> None:
    zip_ = zipped((info("link", stat.S_IFLNK | 0o777), target.encode()))
    for data in (zip_, tarred((member("link", tarfile.SYMTYPE, target), b""))):
        assert "links to" in refused(tmp_path, data)


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    links = [("link", stat.S_IFLNK | 0o777, b"../outside"), ("link/file", stat.S_IFREG | 0o644, b"x")]
    refused(tmp_path, zipped(*((info(name, mode), content) for name, mode, content in links)))
    inner = tarred((member("d/a"), b"1"), (member("link", tarfile.SYMTYPE, "d"), b""), (member("link/b"), b"2"))
    assert "which is a link of the archive" in refused(tmp_path, inner)


def test_links_that_lead_out_together_are_refused(tmp_path: Path) -> None:
    data = tarred(
        (member("d/e/file"), b"1"),
        (member("up", tarfile.SYMTYPE, "d/e"), b""),
        (member("d/out", tarfile.SYMTYPE, "../up/../../.."), b""),
    )
    assert "leads out of the archive" in refused(tmp_path, data)


def test_a_link_in_a_circle_or_to_nothing_is_refused(tmp_path: Path) -> None:
    assert "not in the archive" in refused(tmp_path, tarred((member("a", tarfile.SYMTYPE, "b"), b"")))
    circle = tarred((member("a", tarfile.SYMTYPE, "b"), b""), (member("b", tarfile.SYMTYPE, "a"), b""))
    assert "links to" in refused(tmp_path, circle)


def test_a_long_chain_of_links_is_refused(tmp_path: Path) -> None:
    """Chains of 300 links took seconds, and one of 3,000 was a RecursionError."""
    chain = [(member(f"l{number}", tarfile.SYMTYPE, f"l{number + 1}"), b"") for number in range(45)]
    assert "and that to another link, too often" in refused(tmp_path, tarred(*chain, (member("l45"), b"1")))


def test_a_second_name_for_something_outside_is_refused(tmp_path: Path) -> None:
    for target, why in (("../sent", "'..'"), ("/etc/passwd", "absolute"), ("missing", "no file of the archive")):
        assert why in refused(tmp_path, tarred((member("a", tarfile.LNKTYPE, target), b"")))


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (tarfile.CHRTYPE, "a device"),
        (tarfile.BLKTYPE, "a device"),
        (tarfile.FIFOTYPE, "a pipe"),
        (tarfile.GNUTYPE_SPARSE, "a sparse file"),
        (b"Z", "unknown kind"),
    ],
)
def test_what_is_neither_file_nor_folder_nor_link_is_refused(tmp_path: Path, kind: bytes, why: str) -> None:
    assert why in refused(tmp_path, tarred((member("a", kind), b"")))


@pytest.mark.parametrize(
    ("kind", "why"), [(stat.S_IFCHR, "a device"), (stat.S_IFBLK, "a device"), (stat.S_IFIFO, "a pipe")]
)
def test_the_same_in_a_zip_file(tmp_path: Path, kind: int, why: str) -> None:
    assert why in refused(tmp_path, zipped((info("a", kind | 0o644), b"")))


@pytest.mark.parametrize("bit", [stat.S_ISUID, stat.S_ISGID])
def test_set_uid_bits_are_refused(tmp_path: Path, bit: int) -> None:
    assert "set-uid" in refused(tmp_path, zipped((info("a", stat.S_IFREG | bit | 0o755), b"x")))
    assert "set-uid" in refused(tmp_path, tarred((member("a", mode=bit | 0o755), b"x")))


# Bombs


@BOTH
def test_more_bytes_than_a_bot_may_have_are_refused_while_they_are_unpacked(tmp_path: Path, make: Make) -> None:
    content = os.urandom(1 << 10) * (5 << 10)
    limits = ArchiveLimits(archive_bytes=8 << 20, unpacked_bytes=4 << 20, ratio=1 << 20)
    assert "more than 4 MiB" in refused(tmp_path, make("large", content), limits)


@BOTH
def test_a_bomb_is_refused_by_its_ratio(tmp_path: Path, make: Make) -> None:
    limits = ArchiveLimits(unpacked_bytes=1 << 30)
    assert "200 times as large" in refused(tmp_path, make("zeros", bytes(64 << 20)), limits)


def test_members_of_a_zip_file_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    """As in the bombs whose list names one large member many times."""
    content = os.urandom(1 << 10) * 1000
    data = zipped(("a", content))
    start = data.rindex(b"PK\x01\x02")
    entry, end = data[start : data.rindex(b"PK\x05\x06")], data[data.rindex(b"PK\x05\x06") :]
    number = 20
    end = end[:8] + struct.pack("<HHL", number, number, number * len(entry)) + end[16:]
    assert "'a' shares bytes with another file" in refused(tmp_path, data[:start] + entry * number + end)


def tailed(names: Sequence[str], tail: bytes, *, shared: bool) -> bytes:
    """A zip file of members whose compressed content ends in `tail`, blocks that give nothing. `shared`: it is there
    once, for a block of each member has the header of the next one. Each size is stated one too high, so that all is
    read."""
    body, entries, content, size = tail, [], b"", len(tail)
    for name in reversed(names):
        facts = struct.pack("<LLL", zlib.crc32(content), size, len(content) + 1)
        fields = struct.pack("<HHHHH", 20, 0, 8, 0, 33) + facts + struct.pack("<HH", len(name), 0)
        header = b"PK\x03\x04" + fields + name.encode()
        entries.append((fields, name.encode(), len(body) + len(header)))
        body = header + body
        if shared and name != names[0]:
            quote = b"\0" + struct.pack("<HH", len(header), len(header) ^ 0xFFFF)
            content, size, body = header + content, size + len(quote) + len(header), quote + body
        elif name != names[0]:
            body = tail + body
    listed = b"".join(
        b"PK\x01\x02\x14\0" + fields + bytes(10) + struct.pack("<L", len(body) - behind) + name
        for fields, name, behind in entries
    )
    numbers = struct.pack("<HHHHLLH", 0, 0, len(names), len(names), len(listed), len(body), 0)
    return body + listed + b"PK\x05\x06" + numbers


def test_members_of_a_zip_file_that_share_a_tail_which_unpacks_to_nothing_are_refused(tmp_path: Path) -> None:
    """Else 1 MB costs 5 s with 100 members, and a hundred times that with 10,000. The same members with a tail each are
    taken."""
    names, tail = ("a", "b", "c", "d"), bytes.fromhex("000000ffff") * 100 + bytes.fromhex("010000ffff")
    assert "shares bytes with another file" in refused(tmp_path / "shared", tailed(names, tail, shared=True))
    apart = taken(tmp_path / "apart", tailed(names, tail, shared=False))
    assert sorted(path.name for path in apart.iterdir()) == list(names)


def test_a_member_of_a_zip_file_that_lies_outside_of_it_is_refused(tmp_path: Path) -> None:
    data = zipped(("a", b"x"))
    place = data.rindex(b"PK\x01\x02") + 42
    for offset in (5, len(data), 0xFFFFFFF0):
        moved = data[:place] + struct.pack("<L", offset) + data[place + 4 :]
        assert "damaged" in refused(tmp_path / str(offset), moved)


@BOTH
def test_a_size_that_is_stated_wrongly_is_not_believed(tmp_path: Path, make: Make) -> None:
    data = make("a", b"x" * 1000)
    if make is as_zip:
        data = data.replace(struct.pack("<L", 1000), struct.pack("<L", 10))
        assert "damaged" in refused(tmp_path, data)
    else:
        raw = bytearray(gzip.decompress(data))
        raw[124:136] = b"77777777777\0"
        raw[148:156] = f"{sum(raw[:148]) + 256 + sum(raw[156:512]):06o}\0 ".encode()
        assert "damaged or cut off" in refused(tmp_path, gzip.compress(bytes(raw)))


@BOTH
def test_too_many_files_are_refused(tmp_path: Path, make: Make) -> None:
    names = [f"{number}" for number in range(51)]
    many = zipped(*((name, b"") for name in names)) if make is as_zip else tarred(*((member(n), b"") for n in names))
    assert "more than 50 files" in refused(tmp_path, many)


def test_folders_count_as_files_do(tmp_path: Path) -> None:
    assert "more than 50 files" in refused(tmp_path, zipped(*((f"{number}/a/b", b"") for number in range(20))))


def test_a_list_of_files_that_would_fill_the_memory_is_refused_before_it_is_read(tmp_path: Path) -> None:
    end = zipped()
    data = b"PK\x03\x04" + bytes(6 << 20) + end[:12] + struct.pack("<L", 5 << 20) + end[16:]
    assert "list of files has 5 MiB" in refused(tmp_path, data, ArchiveLimits())


def test_a_zip64_file_is_refused(tmp_path: Path) -> None:
    data = zipped(("a", b"x"))
    place = data.rindex(b"PK\x05\x06")
    data = data[:place] + b"PK\x06\x07" + bytes(16) + data[place:]
    assert "ZIP64" in refused(tmp_path, data)


def test_a_header_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    data = tarred((member("a", tarfile.XHDTYPE), b"1 x=" + bytes(1 << 18)))
    assert "header of the archive has" in refused(tmp_path, data)


def header(name: bytes, kind: bytes, content: bytes = b"") -> bytes:
    """A member of a tar file, with its content."""
    block = tarfile.TarInfo(name.decode())
    block.type, block.size = kind, len(content)
    return block.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % 512)


@pytest.mark.parametrize("size", [b"99999999999\0", b"-0000000001\0", b"\xff" * 12], ids=["digits", "sign", "binary"])
@pytest.mark.parametrize(
    "kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.REGTYPE]
)
def test_a_size_that_is_no_number_is_refused(tmp_path: Path, kind: bytes, size: bytes) -> None:
    """It was read without end."""
    block = bytearray(header(b"x", kind))
    block[124:136] = size
    block[148:156] = b"%06o\0 " % (sum(block[:148]) + 256 + sum(block[156:512]))
    assert "a size is no number" in refused(tmp_path, gzip.compress(block + bytes(1024)))


def test_attributes_of_all_members_together_that_would_take_long_to_read_are_refused(tmp_path: Path) -> None:
    attributes = header(b"x", tarfile.XHDTYPE, b"6 a=b\n" * 10_000)
    bot = header(b"bot.py", tarfile.REGTYPE, b"x") + bytes(1024)
    few, many = (gzip.compress(attributes * number + bot) for number in (50, 140))
    limits = ArchiveLimits(unpacked_bytes=32 << 20)
    assert taken(tmp_path / "few", few, limits).is_dir()
    assert "names and attributes in the archive have more than 8 MiB" in refused(tmp_path / "many", many, limits)


@pytest.mark.parametrize(
    ("name", "kind"),
    [(b"__MACOSX/a", tarfile.REGTYPE), (b"a/b", tarfile.DIRTYPE), (b"g", tarfile.XGLTYPE), (b"x", tarfile.XHDTYPE)],
)
def test_entries_without_end_are_refused_even_if_none_of_them_is_a_file(
    tmp_path: Path, name: bytes, kind: bytes
) -> None:
    bot = header(b"bot.py", tarfile.REGTYPE, b"x")
    few, many = (gzip.compress(header(name, kind) * number + bot + bytes(1024)) for number in (190, 200))
    assert taken(tmp_path / "few", few).is_dir()
    assert "has more than 200 entries" in refused(tmp_path / "many", many)


def test_entries_without_end_are_refused_in_a_zip_file_too(tmp_path: Path) -> None:
    few, many = (zipped(("bot.py", b"x"), *((f"__MACOSX/{n}", b"") for n in range(number))) for number in (199, 200))
    assert taken(tmp_path / "few", few).is_dir()
    assert "has more than 200 entries" in refused(tmp_path / "many", many)


def test_attributes_that_nobody_asks_for_are_not_kept(tmp_path: Path) -> None:
    """Millions of them fit into an archive."""
    attributes = iter(f"18 x{number:011x}=y\n".encode() for number in range(250_000))
    parts = iter(lambda: b"".join(islice(attributes, 3600)), b"")
    headers = b"".join(header(b"x", tarfile.XHDTYPE, part) for part in parts)
    name = header(b"x", tarfile.XHDTYPE, b"15 path=bot.py\n")
    data = gzip.compress(headers + name + header(b"other", tarfile.REGTYPE, b"x") + bytes(1024))
    tracemalloc.start()
    try:
        folder = taken(tmp_path, data, ArchiveLimits(unpacked_bytes=4 << 20))
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [path.name for path in folder.iterdir()] == ["bot.py"]
    assert peak_bytes < 4 << 20


@pytest.mark.parametrize(
    "last",
    [gzip.compress(b""), gzip.compress(b"more"), bytes(9), b"x"],
    ids=["an empty member", "a member", "zeros", "a letter"],
)
def test_what_follows_the_end_of_a_gzip_file_is_refused(tmp_path: Path, last: bytes) -> None:
    """Of empty members 64 MiB hold millions, which take Python's own reader 9 s."""
    data = tarred((member("bot.toml"), b"x"))
    assert "follows the end" in refused(tmp_path / "after", data + last)
    assert taken(tmp_path / "control", data)


def test_a_gzip_file_whose_first_member_is_empty_is_refused(tmp_path: Path) -> None:
    data = tarred((member("bot.toml"), b"x"))
    assert "follows the end" in refused(tmp_path, gzip.compress(b"") * 3 + data)


def test_padding_without_end_is_refused(tmp_path: Path) -> None:
    data = gzip.compress(gzip.decompress(tarred((member("a"), b"x"))) + bytes(16 << 20))
    assert "unpacks to more than" in refused(tmp_path, data)


def test_sparse_files_are_refused_however_they_are_written(tmp_path: Path) -> None:
    sparse = member("a")
    sparse.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "99999999999"}
    assert "a sparse file" in refused(tmp_path, tarred((sparse, b"x" * 600)))


# What is no archive


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "the file is empty"),
        (b"hello", "something else"),
        (b"7z\xbc\xaf\x27\x1c" + bytes(100), "a 7z archive"),
        (b"Rar!\x1a\x07", "a rar archive"),
        (b"\x7fELF" + bytes(100), "a program"),
        (gzip.decompress(tarred((member("a"), b"x"))), "a tar file that is not compressed"),
        (gzip.compress(b"hello"), "damaged or cut off"),
        (zipped(), "no files"),
        (tarred(), "no files"),
    ],
    ids=["empty", "text", "7z", "rar", "program", "tar", "gzip", "empty zip", "empty tar.gz"],
)
def test_a_file_that_is_no_archive_is_named(tmp_path: Path, data: bytes, why: str) -> None:
    assert why in refused(tmp_path, data)


@pytest.mark.parametrize("make", [as_zip, as_tar])
def test_half_an_upload_is_refused_wherever_it_was_cut(tmp_path: Path, make: Make) -> None:
    data = make("a", os.urandom(2000))
    for cut in range(1, len(data), 97):
        assert refused(tmp_path, data[:cut])


def test_a_changed_byte_is_found(tmp_path: Path) -> None:
    content = os.urandom(2000)
    for data in (zipped(("a", content), method=zipfile.ZIP_STORED), tarred((member("a"), content))):
        place = len(data) // 2
        broken = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        assert "damaged" in refused(tmp_path, broken)


def test_an_archive_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    assert "at most 1 MiB" in refused(tmp_path, b"PK\x03\x04" + bytes(1 << 20))


def test_an_encrypted_member_is_refused(tmp_path: Path) -> None:
    data = bytearray(zipped(("a", b"x")))
    data[6] |= 1
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    assert "encrypted" in refused(tmp_path, bytes(data))


def test_an_unusual_compression_is_refused(tmp_path: Path) -> None:
    assert "compressed by method" in refused(tmp_path, zipped(("a", b"x"), method=zipfile.ZIP_LZMA))


# What is taken


@BOTH
def test_the_only_folder_of_an_archive_is_the_bot(tmp_path: Path, make: Make) -> None:
    assert taken(tmp_path, make("mine/bot.toml")) == tmp_path / "unpacked" / "mine"


def test_what_macos_adds_is_left_out(tmp_path: Path) -> None:
    folder = taken(tmp_path, zipped(("mine/bot.toml", b"x"), ("__MACOSX/mine/._bot.toml", b"y")))
    assert folder.name == "mine"
    assert not (tmp_path / "unpacked" / "__MACOSX").exists()


def test_a_folder_beside_the_manifest_is_part_of_the_bot(tmp_path: Path) -> None:
    assert taken(tmp_path, zipped(("bot.toml", b"x"), ("lib/a.py", b"y"))) == tmp_path / "unpacked"


def test_files_keep_whether_they_are_executed_and_no_other_right(tmp_path: Path) -> None:
    folder = taken(tmp_path, tarred((member("run", mode=0o777), b"x"), (member("data", mode=0o666), b"y")))
    assert [stat.S_IMODE((folder / name).stat().st_mode) for name in ("run", "data")] == [0o755, 0o644]


def test_links_within_the_archive_are_kept(tmp_path: Path) -> None:
    folder = taken(tmp_path, tarred((member("b/link", tarfile.SYMTYPE, "../a"), b""), (member("a"), b"x")))
    assert (folder / "b" / "link").readlink() == Path("../a")
    assert (folder / "b" / "link").read_bytes() == b"x"


def test_a_second_name_for_a_file_is_a_copy(tmp_path: Path) -> None:
    folder = taken(tmp_path, tarred((member("a"), b"x"), (member("b", tarfile.LNKTYPE, "a"), b"")))
    assert (folder / "b").read_bytes() == b"x"
    assert not (folder / "a").samefile(folder / "b")


@pytest.mark.parametrize("format_", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_long_and_foreign_names_are_read_in_every_form_of_tar(tmp_path: Path, format_: int) -> None:
    names = ["häuser/" + "x" * 90, "y" * 60 + "/" + "z" * 80]
    folder = taken(tmp_path, tarred(*((member(name), name.encode()) for name in names), format_=format_))
    assert [(folder / name).read_bytes() for name in names] == [name.encode() for name in names]


def test_what_is_packed_has_the_sources_and_nothing_else(tmp_path: Path) -> None:
    bot = tmp_path / "bot"
    (bot / "lib").mkdir(parents=True)
    (bot / ".git").mkdir()
    (bot / ".git" / "config").write_text("[secret]")
    (bot / "bot.toml").write_text('name = "a"\nversion = "1"\ngames = ["*"]\nrun = ["./run.sh"]\n')
    (bot / "run.sh").write_text("#!/bin/sh\n")
    (bot / "run.sh").chmod(0o755)
    (bot / "lib" / ("long" * 50)).write_bytes(os.urandom(100))
    (bot / "link").symlink_to("lib")
    made = io.BytesIO()
    pack(bot, load_manifest(bot), made)
    again = io.BytesIO()
    pack(bot, load_manifest(bot), again)
    assert made.getvalue() == again.getvalue()
    folder = taken(tmp_path, made.getvalue())
    assert read_all(folder) == read_sources(bot, load_manifest(bot))
    assert (folder / "run.sh").stat().st_mode & 0o111
