"""How many processes of bots a worker keeps and starts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from referee.schedule.spec import IDLE_PROCESSES


@dataclass(frozen=True, slots=True)
class Processes:
    """Of a worker `idle` processes at most wait for their next match. Entries in `fresh` have a new process for each
    match; of those in `copies` there are at most so many processes at once, over all workers. By entry id."""

    idle: int = IDLE_PROCESSES
    fresh: frozenset[str] = frozenset()
    copies: Mapping[str, int] = field(default_factory=dict)
