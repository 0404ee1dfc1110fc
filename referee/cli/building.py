"""Builds a bot as every command does it: with the proto files at hand."""

import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from referee.cli.kits import copy_protos
from referee.cli.output import one_line
from referee.process.build import build
from referee.process.built import Built
from referee.process.entry import Entry, EntryError, load_entry
from referee.process.manifest import ManifestError, load_manifest
from referee.process.names import BotNameError


def build_bot(folder: Path, *, again: bool = False) -> tuple[Built, bool]:
    """See `referee.process.build.build`."""
    with tempfile.TemporaryDirectory(prefix="crosstown-") as scratch:
        copy_protos(Path(scratch) / "proto")
        return build(folder, again=again, beside={"proto": Path(scratch) / "proto"})


def load_or_build(folder: Path) -> Entry:
    """The entry of a bot; one whose program is not there yet is built first, and stderr says so."""
    try:
        return load_entry(folder)
    except ManifestError:
        if not (folder.is_dir() and load_manifest(folder).build):
            raise
    print(f"building {one_line(folder)} ...", file=sys.stderr, flush=True)
    build_bot(folder)
    return load_entry(folder)


def build_missing(folders: Iterable[Path]) -> None:
    """Build the bots whose programs are not there yet; whatever else is wrong with one is told when it is loaded."""
    for folder in folders:
        with suppress(ManifestError, EntryError, BotNameError):
            load_or_build(folder)
