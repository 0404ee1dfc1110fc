"""The circuit breaker: an entry that faults again and again is set aside, so that it spoils no more matches.

Judged in schedule order, so that it trips at the same place whatever was in play meanwhile. Two rules: `in_a_row`
faults with no sound match in between; or, once it has played `LEAST_PLAYED`, faults in more than a tenth of its last
fifty matches. A bot that does not start counts as a fault for each attempt. Giving up is no fault, nor is one that a
strike paid for.
"""

import math
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from referee.record.journal import Choice
from referee.record.reasons import is_fault
from referee.schedule.formats.api import MatchScore
from referee.tournament.sections import BreakerConfig

LAST = 50
LEAST_PLAYED = 20
MAX_SHARE = 0.1


@dataclass(slots=True)
class _Form:
    in_a_row: int = 0
    last: deque[bool] = field(default_factory=lambda: deque(maxlen=LAST))
    faults: int = 0
    played: int = 0
    last_fault: str = ""


class Breaker:
    """What it has seen of every entry. `note` in schedule order."""

    def __init__(self, config: BreakerConfig) -> None:
        self._config = config
        self._forms: dict[str, _Form] = {}
        self._absent: dict[str, list[tuple[int, float]]] = {}
        """Per entry from where, and up to where, it is out: no more is said of it there."""
        self._back: dict[str, float] = {}
        """Per entry the last return after which it was seen."""
        self._forgiven: Mapping[str, Collection[str]] = {}

    @property
    def choice(self) -> Choice:
        """What becomes of the matches of an entry that is set aside."""
        return self._config.choice

    def note(
        self, score: MatchScore | None, failed_starts: Sequence[tuple[str, str]] = (), place: int = 0
    ) -> list[tuple[str, str]]:
        """One place of the schedule: (entry, reason) for each that is to be set aside now.

        `failed_starts`: (entry, what went wrong) for every attempt at this match for which it did not start.
        """
        if not self._config.enabled:
            return []
        for entry_id in {*(entry_id for entry_id, _ in failed_starts), *(score.entries if score else ())}:
            self._begin_again(entry_id, place)
        for entry_id, detail in failed_starts:
            self._count(entry_id, f"did not start: {detail}")
        seats = zip(score.entries, score.faults or ("",) * len(score.entries), strict=True) if score else ()
        faults: dict[str, str] = {}
        for entry_id, reason in seats if score and score.counts else ():
            if score and reason and score.match_id in self._forgiven.get(entry_id, ()):
                continue
            faults[entry_id] = faults.get(entry_id, "") or (reason if is_fault(reason) else "")
        for entry_id, fault in faults.items():
            self._count(entry_id, fault)
        found = [
            (entry_id, why)
            for entry_id in dict.fromkeys((*(entry_id for entry_id, _ in failed_starts), *faults))
            if (why := self._why(entry_id)) and not self._is_out(entry_id, place)
        ]
        for entry_id, _ in found:
            self._absent.setdefault(entry_id, []).append((place, math.inf))
        return found

    def note_sound(self, matches: Sequence[Collection[str]]) -> bool:
        """The same for consecutive matches, by their entries, in which nobody had a fault and everybody started. False,
        and nothing is noted, where more has to be looked at than that."""
        if not self._config.enabled:
            return True
        entries = {entry_id for match in matches for entry_id in match}
        forms = {entry_id: self._forms.get(entry_id) or _Form() for entry_id in entries}
        has_returned = any(end < math.inf for one in entries for _, end in self._absent.get(one, ()))
        if has_returned or any(form.faults for form in forms.values()):
            return False
        self._forms |= forms
        for match in matches:
            for entry_id in match:
                form = forms[entry_id]
                form.played += 1
                form.last.append(False)
                form.in_a_row = 0
        return True

    def left(self, entry_id: str, place: int) -> None:
        """It is out by a control at this place: say no more of it."""
        absences = self._absent.setdefault(entry_id, [])
        if not absences or absences[-1][1] < math.inf:
            # The breaker trips one place before the control that it writes.
            absences.append((place - 1 if absences else 0, math.inf))

    def returned(self, entry_id: str, place: int) -> None:
        """It is back from this place on: what it did before is forgotten."""
        absences = self._absent.get(entry_id, [])
        if absences and absences[-1][1] == math.inf:
            absences[-1] = absences[-1][0], place

    def _is_out(self, entry_id: str, place: int) -> bool:
        return entry_id in self._absent and any(start <= place < end for start, end in self._absent.get(entry_id, ()))

    def _begin_again(self, entry_id: str, place: int) -> None:
        """Forget what an entry did before it returned, the first time that it is seen after that."""
        if entry_id not in self._absent:
            return
        back = max((end for _, end in self._absent.get(entry_id, ()) if end <= place), default=None)
        if back is not None and self._back.get(entry_id) != back:
            self._back[entry_id] = back
            self._forms.pop(entry_id, None)

    def forgive(self, faults: Mapping[str, Collection[str]]) -> None:
        """By entry: the matches in which a fault of it is not counted."""
        self._forgiven = faults

    def _count(self, entry_id: str, fault: str) -> None:
        form = self._forms.get(entry_id)
        if form is None:
            form = self._forms[entry_id] = _Form()
        form.played += 1
        form.faults += bool(fault) - (len(form.last) == LAST and form.last[0])
        form.last.append(bool(fault))
        form.in_a_row = form.in_a_row + 1 if fault else 0
        form.last_fault = fault or form.last_fault

    def _why(self, entry_id: str) -> str:
        form = self._forms[entry_id]
        if form.in_a_row >= self._config.in_a_row:
            return f"{form.in_a_row} faults in a row, the last: {form.last_fault}"
        if form.faults and form.played >= LEAST_PLAYED and form.faults > MAX_SHARE * len(form.last):
            return f"faults in {form.faults} of its last {len(form.last)} matches, the last: {form.last_fault}"
        return ""
