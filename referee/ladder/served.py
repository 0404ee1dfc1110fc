"""Where `crosstown serve` serves a ladder's pages now: its options may differ from the ladder's file."""

import json
import os
from contextlib import suppress
from pathlib import Path

from referee.ladder.config import LadderConfig
from referee.run.head import write_durably
from referee.run.lock import started


def note_address(config: LadderConfig) -> None:
    """Write it for the commands that print links, while this process lives. `config` is as this process serves it."""
    values = {"address": config.pages_address, "pid": os.getpid(), "started": started(os.getpid())}
    with suppress(OSError):  # a full disk: the pages say so, and links are as the file says
        write_durably(_file(config.data), json.dumps(values) + "\n")


def pages_address(config: LadderConfig) -> str:
    """The address of the pages without a slash at its end: as they are served now, else as the file says."""
    try:
        found = json.loads(_file(config.data).read_text(encoding="ascii"))
        if found["started"] and started(int(found["pid"])) == found["started"]:
            return str(found["address"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return config.pages_address


def _file(data: Path) -> Path:
    return data / "serve.json"
