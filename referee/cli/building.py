"""Builds a bot as every command does it: with the proto files at hand."""

import tempfile
from pathlib import Path

from referee.cli.kits import copy_protos
from referee.process.build import build
from referee.process.built import Built
from referee.process.entry import Entry, load_entry
from referee.process.manifest import ManifestError, load_manifest


def build_bot(folder: Path, *, again: bool = False) -> tuple[Built, bool]:
    """See `referee.process.build.build`."""
    with tempfile.TemporaryDirectory(prefix="crosstown-") as scratch:
        copy_protos(Path(scratch) / "proto")
        return build(folder, again=again, beside={"proto": Path(scratch) / "proto"})


def load_or_build(folder: Path) -> Entry:
    """The entry of a bot; one whose program is not there yet is built first."""
    try:
        return load_entry(folder)
    except ManifestError:
        if not (folder.is_dir() and load_manifest(folder).build):
            raise
    build_bot(folder)
    return load_entry(folder)
