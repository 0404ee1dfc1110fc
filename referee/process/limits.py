"""What a bot process may use, and how long its start and end may take."""

import resource
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """`max_output_bytes` is per stream: half for the head, half for the tail.

    `start_timeout_s` covers guardian and exec, not the bot's own start-up. `kill_timeout_s` is how long the end of a
    process tree may take before the guardian itself is given up. `linger_s` is what descendants get after the bot
    itself has exited. `rlimits` are (name, value) pairs such as ("nofile", 256), for the bot and its descendants.
    """

    max_output_bytes: int = 65536
    start_timeout_s: float = 10.0
    kill_timeout_s: float = 5.0
    linger_s: float = 0.0
    rlimits: tuple[tuple[str, int], ...] = field(default=())

    def __post_init__(self) -> None:
        """ValueError for a negative number or an unknown resource."""
        if min(self.max_output_bytes, self.start_timeout_s, self.kill_timeout_s, self.linger_s) < 0:
            raise ValueError(f"process limits must not be negative: {self}")
        for name, value in self.rlimits:
            if not hasattr(resource, f"RLIMIT_{name.upper()}") or value < 0:
                raise ValueError(f"unknown or negative resource limit {name}={value}")
