"""What the journal says of attempts at matches that do not count yet: a run that was killed goes on counting."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from referee.record.journal import JournalLine
from referee.record.reasons import EndReason


@dataclass(slots=True)
class Attempts:
    """At one match, since it was last given up, annulled or reopened, or a bot that did not start was reinstated.

    `reason` and `detail` are of the last attempt; `failed_starts` has (entry, what went wrong) for every one that was
    lost because a bot did not start; `floods` tells, by seat, of bots that kept a worker busy until it died. `named`
    are the entries that the last attempt was void for, as far as this runner has seen it.
    """

    number: int = 0
    reason: EndReason = EndReason.PLATFORM_FAULT
    detail: str = ""
    failed_starts: list[tuple[str, str]] = field(default_factory=list)
    floods: dict[int, str] = field(default_factory=dict)
    named: frozenset[str] = frozenset()


def memory_voids(events: Iterable[JournalLine]) -> Counter[str]:
    """Per entry, how many matches were void because the machine had no memory left for its process."""
    return Counter(line.fields["memory_of"] for line in events if line.kind == "void" and "memory_of" in line.fields)


def attempts_of(events: Iterable[JournalLine]) -> dict[str, Attempts]:
    """Per match id, as far as there were any."""
    found: dict[str, Attempts] = {}
    for line in events:
        if line.kind == "void" and "attempt" in line.fields:
            past = found.setdefault(line.fields["match"], Attempts())
            past.number = line.fields["attempt"]
            past.reason, past.detail = EndReason(line.fields["reason"]), line.fields["detail"]
            past.failed_starts += [(entry_id, why) for entry_id, why in line.fields.get("failed_starts", ())]
            if "flood" in line.fields:
                seat, why = line.fields["flood"]
                past.floods[seat] = why
        elif line.kind == "given_up":
            found.pop(line.fields["match"], None)
        elif line.kind in ("annulled", "reopened"):
            found.pop(line.fields["match_id"], None)
        elif line.kind == "reinstated":
            for past in found.values():
                _forgive(past, line.fields["entry_id"])
    return found


def _forgive(past: Attempts, entry_id: str) -> None:
    """The attempts that were lost because this entry did not start count no more, neither for it nor for the match."""
    others = [(entry, why) for entry, why in past.failed_starts if entry != entry_id]
    if len(others) < len(past.failed_starts):
        past.number = 0
    past.failed_starts = others
