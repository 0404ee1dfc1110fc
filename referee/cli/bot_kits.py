"""Begins a bot from a kit."""

import json
import re
import shlex
import shutil
from difflib import get_close_matches
from pathlib import Path

from referee.cli.kits import KITS, copy_kit
from referee.errors import UsageError
from referee.process.manifest import FILE_NAME, check_name, load_manifest
from referee.process.sources import PROTO, copy_protos


def begin(name: str, language: str, at: Path) -> tuple[Path, bool]:
    """The new folder, and whether its bot must be built. UsageError, BotNameError or OSError."""
    inside, slash, last = name.rstrip("/").rpartition("/")
    if slash and last not in ("", ".", ".."):
        words = ["crosstown", "bots", "new", last, "--lang", language, "--in", str(at / (inside or "/"))]
        raise UsageError(f"'{name}' is a name and a place", f"give them separately: {shlex.join(words)}")
    check_name(name)
    if "/" in name or name in (".", ".."):
        raise UsageError(f"'{name}' is also the name of a folder", "choose a name without '/'")
    if language not in KITS:
        near = get_close_matches(language, KITS, n=1)
        raise UsageError(
            f"there is no kit for '{language}'",
            f"did you mean {near[0]}?" if near else f"take one of: {', '.join(KITS)}",
        )
    folder = at / name
    if folder.exists():
        raise UsageError(f"{folder} exists already", "choose another name, or another place with --in")
    try:
        copy_kit(language, folder)
        manifest = folder / FILE_NAME
        text, count = re.subn(
            r"^name = .*$", lambda _: f"name = {json.dumps(name, ensure_ascii=False)}", manifest.read_text(), flags=re.M
        )
        assert count == 1, f"{manifest} has {count} lines that begin with 'name ='"
        manifest.write_text(text)
        builds = bool(load_manifest(folder).build)
        if builds:
            copy_protos(folder / PROTO)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder, builds
