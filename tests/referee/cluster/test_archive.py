"""A bot version on its way from one store to another."""

import gzip

import pytest

from referee.cluster import archive as archive_module
from referee.cluster.archive import pack, unpack
from referee.process.manifest import load_manifest
from referee.process.sources import EntryError, read_sources
from referee.process.store import evict, put


@pytest.fixture
def folder(tmp_path):
    bot = tmp_path / "bot"
    (bot / "data").mkdir(parents=True)
    (bot / "bot.toml").write_text('name = "Ada"\nversion = "1"\ngames = ["*"]\nrun = ["./play.sh"]\n')
    (bot / "play.sh").write_text("#!/bin/sh\n")
    (bot / "play.sh").chmod(0o755)
    (bot / "data" / "weights").write_bytes(bytes(range(256)) * 100)
    (bot / "weights").symlink_to("data/weights")
    return bot


def stored(store, folder):
    manifest = load_manifest(folder)
    return put(store, folder, manifest, read_sources(folder, manifest))


def test_a_version_has_the_same_hash_in_the_other_store(tmp_path, folder):
    version = stored(tmp_path / "one", folder)
    there = unpack(tmp_path / "other", version.content, pack(tmp_path / "one", version.content))
    assert there.content == version.content
    assert (there.folder / "play.sh").stat().st_mode & 0o111
    assert (there.folder / "weights").readlink().as_posix() == "data/weights"
    assert (there.folder / "data" / "weights").read_bytes() == (folder / "data" / "weights").read_bytes()
    assert not list(tmp_path.glob("**/.sent-*"))


def test_a_version_arrives_while_the_store_is_tidied(tmp_path, folder, monkeypatch):
    """Other processes remove what nobody holds there."""
    version = stored(tmp_path / "one", folder)
    archive = pack(tmp_path / "one", version.content)
    read = archive_module.load_manifest

    def tidied(place):
        evict(tmp_path / "other", most_bytes=0, most_versions=0)
        return read(place)

    monkeypatch.setattr(archive_module, "load_manifest", tidied)
    assert unpack(tmp_path / "other", version.content, archive).content == version.content


def test_a_version_is_packed_to_the_same_bytes_each_time(tmp_path, folder):
    version = stored(tmp_path / "one", folder)
    again = stored(tmp_path / "two", folder)
    assert pack(tmp_path / "one", version.content) == pack(tmp_path / "two", again.content)


def test_a_version_that_is_there_already_is_not_unpacked(tmp_path, folder):
    version = stored(tmp_path / "one", folder)
    assert unpack(tmp_path / "one", version.content, b"nothing").content == version.content


def test_an_archive_of_another_version_is_refused(tmp_path, folder):
    one = stored(tmp_path / "one", folder)
    (folder / "play.sh").write_text("#!/bin/sh\nexit 1\n")
    other = stored(tmp_path / "one", folder)
    with pytest.raises(EntryError, match=f"arrived as {other.content}, not {one.content}"):
        unpack(tmp_path / "other", one.content, pack(tmp_path / "one", other.content))


@pytest.mark.parametrize("archive", [b"", b"nothing", gzip.compress(b"nothing", mtime=0), b"\x1f\x8b\x08\0"])
def test_a_damaged_archive_is_refused(tmp_path, folder, archive):
    version = stored(tmp_path / "one", folder)
    with pytest.raises(EntryError, match="arrived damaged"):
        unpack(tmp_path / "other", version.content, archive)


def test_what_the_store_has_lost_cannot_be_packed(tmp_path):
    (tmp_path / "one").mkdir()
    with pytest.raises(EntryError, match="no copy of this bot"):
        pack(tmp_path / "one", "ab" * 16)
