"""`idle`, `fresh` and a bot's `fresh` and `copies`: which processes are kept, and how many there may be."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from referee.schedule.spec import IDLE_PROCESSES
from referee.tournament.reading import TomlFile, dotted, show

BOT_KEYS = ("fresh", "copies")
MOST = 4096

Where = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Processes:
    """Of a worker `idle` processes at most wait for their next match. Entries in `fresh` have a new process for each
    match; of those in `copies` there are at most so many processes at once, over all workers. By entry id."""

    idle: int = IDLE_PROCESSES
    fresh: frozenset[str] = frozenset()
    copies: Mapping[str, int] = field(default_factory=dict)


def read_idle(file: TomlFile) -> int:
    """Raises ConfigError."""
    return file.integer("idle", minimum=0, maximum=MOST, default=IDLE_PROCESSES, example="idle = 4")


def read_fresh(file: TomlFile, *where: str | int) -> bool | None:
    """Of the tournament or of a bot; None where nothing is said. Raises ConfigError."""
    fresh = file.get(*where, "fresh")
    if fresh is not None and not isinstance(fresh, bool):
        what = f"'{dotted(*where, 'fresh')}' must be true or false, not {show(fresh)}"
        file.fail((*where, "fresh"), what, "write fresh = true for a new process in each match, or nothing")
    return None if fresh is None else fresh is True


def read_copies(file: TomlFile, here: Where) -> int:
    """Of a bot; 0 for any number. Raises ConfigError."""
    return file.integer(*here, "copies", minimum=1, maximum=MOST, default=0, example="copies = 1")
