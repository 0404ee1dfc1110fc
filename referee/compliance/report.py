"""The results of the drills."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Outcome = Literal["passed", "failed", "note"]


class Failed(Exception):
    """The bot did not do what a drill asks. One sentence: what it did, what was expected, what to do."""


class Silent(Failed):
    """It did not answer in time: each further question to it would last as long."""


@dataclass(frozen=True, slots=True)
class Row:
    """One drill. `game` is empty if it is about no game; a note is worth knowing, and no failure."""

    drill: str
    game: str
    outcome: Outcome
    detail: str
    took_s: float


@dataclass(frozen=True, slots=True)
class Report:
    """All drills in order, and what the bot printed in the one that failed first (else in the last)."""

    bot: str
    rows: tuple[Row, ...]
    stdout: str
    stderr: str

    @property
    def passed(self) -> bool:
        return all(row.outcome != "failed" for row in self.rows)

    @property
    def first_failure(self) -> Row | None:
        """What to correct first: later failures often come from it."""
        return next((row for row in self.rows if row.outcome == "failed"), None)

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        first = self.first_failure
        return {
            "bot": self.bot,
            "passed": self.passed,
            "first_to_mend": None if first is None else asdict(first),
            "drills": [asdict(row) for row in self.rows],
            "stdout": self.stdout,
            "stderr": self.stderr,
        }
