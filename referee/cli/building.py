"""Builds a bot as every command does it: with the proto files at hand."""

import tempfile
from pathlib import Path

from referee.cli.kits import copy_protos
from referee.process.build import build
from referee.process.built import Built


def build_bot(folder: Path, *, again: bool = False) -> tuple[Built, bool]:
    """See `referee.process.build.build`."""
    with tempfile.TemporaryDirectory(prefix="crosstown-") as scratch:
        copy_protos(Path(scratch) / "proto")
        return build(folder, again=again, beside={"proto": Path(scratch) / "proto"})
