"""The entry of a bot that the referee does not start: what can be said of it without a folder."""

import json
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType

from referee.process.entry import Entry
from referee.process.manifest import ANY_GAME, Manifest
from referee.process.names import check_name

_ID_BYTES = 8
_NO_VERSION = "remote"


def guest_entry(name: str, version: str = "", games: Sequence[str] = (ANY_GAME,)) -> Entry:
    """Named by what its author says: name and version. That the same program is behind them nobody can check.

    Raises BotNameError.
    """
    name, shown = check_name(name), version or _NO_VERSION
    said = ["guest", name, shown] if version != _NO_VERSION else ["guest", name, shown, "said"]
    text = json.dumps(said)
    return Entry(
        id=blake2b(text.encode(), digest_size=_ID_BYTES, person=b"crosstown-guest").hexdigest(),
        name=name,
        folder=Path(),
        manifest=Manifest(name, shown, tuple(games), ()),
        options=MappingProxyType({}),
        argv=(),
        home=Path(),
    )
