"""How bots started: what kept some of them from starting, and how much of the limit the others took."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from referee.record.control import JournalLine

NEAR_LIMIT = 0.7
"""A process that takes more than this share of the start-up limit is warned about."""


@dataclass(frozen=True, slots=True)
class FailedStart:
    """A bot that did not start in `attempts` attempts at matches. The rest is of the last one.

    `last_output` are the last lines that it printed; '' if there are none, and in journals of older versions.
    """

    entry_id: str
    name: str
    attempts: int
    match_id: str
    when: str
    why: str
    last_output: str

    @property
    def sentence(self) -> str:
        """What happened, without what the bot printed."""
        times = "1 attempt" if self.attempts == 1 else f"{self.attempts} attempts"
        return f"{self.name} did not start in {times}; the last ({self.match_id}): {self.why}"

    @property
    def lines(self) -> list[str]:
        """The sentence, and below it the last lines that the bot printed."""
        return [f"{self.sentence}{'; the last lines it printed:' if self.last_output else ''}", *self.output_lines]

    @property
    def output_lines(self) -> list[str]:
        """The last lines that the bot printed, indented."""
        return [f"    {line}" for line in self.last_output.splitlines()]


def failed_starts(events: Iterable[JournalLine], names: Mapping[str, str]) -> dict[str, FailedStart]:
    """By entry id, in the order of the first one: the failed starts that a journal tells of. `names` by entry id."""
    found: dict[str, FailedStart] = {}
    for line in events:
        if line.kind != "void":
            continue
        printed: Mapping[str, Any] = line.fields.get("last_output", {})
        for entry_id, why in line.fields.get("failed_starts", ()):
            before = found.get(entry_id)
            found[entry_id] = FailedStart(
                entry_id=entry_id,
                name=names.get(entry_id, entry_id[:8]),
                attempts=1 if before is None else before.attempts + 1,
                match_id=str(line.fields["match"]),
                when=line.at,
                why=str(why),
                last_output=str(printed.get(entry_id, "")),
            )
    return found


def slow_start(name: str, startup_us: int, limit_s: float) -> str:
    """A warning about a start that was near its limit; '' about any other."""
    if startup_us <= NEAR_LIMIT * limit_s * 1e6:
        return ""
    return (
        f"'{name}' took {startup_us / 1e6:.1f} s to start, of the {limit_s:g} s that startup_s allows: on a busier"
        " machine it may not start in time; raise startup_s, or let it load less before it says Hello"
    )
