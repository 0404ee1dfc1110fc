"""Finds formats by name: our own, and others' through the entry-point group `crosstown.formats`. Each is imported when
it is asked for."""

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from referee.errors import ExpectedError
from referee.schedule.formats import ladder
from referee.schedule.formats.api import Format

GROUP = "crosstown.formats"
_MODULES = {
    "round-robin": "round_robin",
    "gauntlet": "gauntlet",
    "swiss": "swiss",
    "knockout": "knockout",
    "league": "league",
    "stages": "stages",
    "compare": "comparison",
}
OWN = tuple(_MODULES)
"""The names of our own that a tournament file can have."""


_BROKEN = "correct its package, or remove it"


class UnknownFormat(ExpectedError, LookupError):
    """No format of this name, or its plug-in is broken. The message says which and why."""


@cache
def _plugins() -> tuple[EntryPoint, ...]:
    """Those of installed packages, all of which are looked through."""
    return tuple(entry_points(group=GROUP))


def format_names() -> list[str]:
    """All that can be asked for: our own first, then plug-ins, sorted."""
    return [*OWN, *sorted({entry.name for entry in _plugins()} - {*OWN, ladder.NAME})]


def own_formats() -> list[Format]:
    """Our own that a tournament file can name."""
    return [get_format(name) for name in OWN]


def by_game_formats() -> list[str]:
    """Our own in which a bot need not play every game."""
    return [item.name for item in own_formats() if item.by_game]


def get_format(name: str) -> Format:
    """The working format of this name. Our own cannot be replaced. Raises UnknownFormat."""
    if name == ladder.NAME:
        return ladder.FORMAT
    if name in _MODULES:
        own: Format = import_module(f"referee.schedule.formats.{_MODULES[name]}").FORMAT
        return own
    found = [entry for entry in _plugins() if entry.name == name]
    if not found:
        raise UnknownFormat(f"unknown format '{name}'", f"the formats are: {', '.join(format_names())}")
    try:
        loaded = found[0].load()
    except (Exception, SystemExit) as error:  # whatever a foreign module raises at import is its problem, named
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise UnknownFormat(f"format '{name}' ({found[0].value}) cannot be loaded: {reason}", _BROKEN) from None
    if not isinstance(loaded, Format) or loaded.name != name:
        raise UnknownFormat(f"format '{name}' ({found[0].value}) is not a Format of that name", _BROKEN)
    return loaded
