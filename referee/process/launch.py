"""How a bot is started: its environment, and the command line of its guardian."""

import json
import os
import resource
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from referee.process import start_guardian
from referee.process.entry import Entry
from referee.process.limits import ProcessLimits

_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


def environment(entry: Entry, *, address: str, token: str, scratch: Path, granted: Mapping[str, str]) -> dict[str, str]:
    """All that a bot sees of an environment: nothing of the referee's but PATH and LANG.

    `granted` comes from the tournament file and cannot replace the CROSSTOWN_ names.
    """
    return {
        "PATH": os.environ.get("PATH", _DEFAULT_PATH),
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **granted,
        "CROSSTOWN_ADDRESS": address,
        "CROSSTOWN_TOKEN": token,
        "CROSSTOWN_OPTIONS": json.dumps(dict(entry.options)),
    }


def guardian_argv(entry: Entry, *, limits: ProcessLimits, scratch: Path, launcher: Sequence[str] = ()) -> list[str]:
    """The guardian's command line. `launcher` is put before the bot's own argv: the place for a sandbox."""
    rlimits = [f"rlimit={getattr(resource, f'RLIMIT_{name.upper()}')}:{value}" for name, value in limits.rlimits]
    return [
        sys.executable,
        "-I",
        "-S",
        start_guardian.__file__,
        f"cwd={entry.folder}",
        f"scratch={scratch}",
        f"linger_ms={round(limits.linger_s * 1000)}",
        *rlimits,
        "--",
        *launcher,
        *entry.argv,
    ]
