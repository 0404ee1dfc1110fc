"""How a check says no, and what a person is told about it."""

from dataclasses import asdict, dataclass
from typing import Any


class CheckFailed(Exception):
    """One check found the game at fault. `check` is a name of `catalogue.CHECKS`."""

    def __init__(self, check: str, message: str) -> None:
        super().__init__(f"{check}: {message}")
        self.check = check
        self.message = message

    def within(self, context: str) -> "CheckFailed":
        """The same finding, told with where it was met."""
        return CheckFailed(self.check, f"{context}: {self.message}")


@dataclass(frozen=True, slots=True)
class Failure:
    """A finding with all that is needed to see it again.

    `players`, `seed` and the numbers after them are None for what is found without a match. `node` counts chance,
    decision and terminal nodes from 0, `decision` the answers given before; `options` is a JSON object of those that
    the seed has set otherwise than by default.
    """

    check: str
    game: str
    message: str
    players: int | None = None
    seed: int | None = None
    node: int | None = None
    decision: int | None = None
    options: str = "{}"
    trace: str = ""

    def command(self) -> str:
        """One line for a shell that shows this failure again."""
        words = ["crosstown", "games", "check", self.game]
        if self.players is not None:
            words += ["--players", str(self.players)]
        if self.seed is not None:
            words += ["--seed", str(self.seed), "--matches", "1"]
        return " ".join(words)

    def to_json(self) -> dict[str, Any]:
        """All fields and the command, as JSON values."""
        return {**asdict(self), "command": self.command()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Failure":
        return cls(**{name: value for name, value in data.items() if name != "command"})
