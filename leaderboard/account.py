"""What only the schedule of a run can tell a table: who misses what, and the format's own table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from leaderboard.records import MatchRow


@dataclass(frozen=True, slots=True)
class FormatTable:
    """A format's own table: per row `rank`, `name`, `entry_id` and its figures, best first.

    `final`: the schedule has ended. Otherwise it is the table as it stands, over whole blocks. `gap`: the first match
    without a result, if others beyond it have one. `notes` are sentences that explain figures.
    """

    format: str
    rows: Sequence[Mapping[str, Any]] = ()
    final: bool = True
    gap: str = ""
    notes: Sequence[str] = ()

    @property
    def title(self) -> str:
        """What to write above it."""
        if self.final:
            return self.format
        return f"{self.format}, as it stands{f' up to the round with a gap at match {self.gap}' if self.gap else ''}"

    @property
    def columns(self) -> tuple[str, ...]:
        """What to show of each row."""
        return tuple(name for name in (self.rows[0] if self.rows else ()) if name != "entry_id")


NO_TABLE = FormatTable("")


@dataclass(frozen=True, slots=True)
class Account:
    """`missed` has the entries of each match that will not be played because one has left and loses what it misses;
    `rounds`, by match id, the rounds of a format that pairs round by round, counted from 1."""

    missed: Sequence[Sequence[str]] = field(default=())
    table: FormatTable = NO_TABLE
    rounds: Mapping[str, int] = field(default_factory=dict)


Look: TypeAlias = Callable[[Sequence[MatchRow]], Account]
"""Computes the account from the rated matches as they are in the records, no control applied."""


def no_account(rows: Sequence[MatchRow]) -> Account:
    """For records without a tournament."""
    return Account()
