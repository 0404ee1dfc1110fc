"""When a run has been played enough: what `stop_when` in a tournament file says."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from referee.record.journal import Control

EXAMPLES = ("ranking 95 %", "precision 30 Elo")


@dataclass(frozen=True, slots=True)
class StopWhen:
    """`ranking`: each bot of the table is stronger than the next one with at least this probability, in percent;
    `precision`: half of the 95 % interval of every bot's Elo is at most this."""

    kind: Literal["ranking", "precision"]
    value: float

    def __str__(self) -> str:
        return f"ranking {self.value:g} %" if self.kind == "ranking" else f"precision {self.value:g} Elo"


def parse_stop_when(text: str) -> StopWhen:
    """ValueError with what is wrong."""
    ranking = re.fullmatch(r"\s*ranking\s+([0-9.]+)\s*%\s*", text)
    precision = re.fullmatch(r"\s*precision\s+([0-9.]+)\s*(?:Elo|elo)\s*", text)
    found = ranking or precision
    try:
        value = float(found[1] if found else "")
    except ValueError:
        raise ValueError(f"it must be {' or '.join(EXAMPLES)}") from None
    if ranking and not 50 < value < 100:
        raise ValueError("the probability must be between 50 % and 100 %")
    if precision and not 0 < value <= 10_000:
        raise ValueError("the precision must be above 0 and at most 10000 Elo")
    return StopWhen("ranking" if ranking else "precision", value)


def rule_in_force(controls: Sequence[Control]) -> tuple[StopWhen | None, int]:
    """The rule of a run by the controls of its journal, and the place from which on it may stop the run."""
    said = [control for control in controls if control.kind == "stopping"]
    if not said or not said[-1].reason:
        return None, 0
    return parse_stop_when(said[-1].reason), said[-1].place
