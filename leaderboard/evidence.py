"""What the referee kept of each fault."""

from dataclasses import dataclass

from referee.record import Record
from referee.texts import clean, one_line

LONGEST = 20_000
"""Characters of one text that a page shows."""

_TEXTS = ("board", "stacks", "stdout", "stderr")


@dataclass(frozen=True, slots=True)
class Evidence:
    """One fault: a sentence, single values by name, and longer texts by name. All of it fit to be shown."""

    seat: int
    reason: str
    said: str
    values: tuple[tuple[str, str], ...]
    texts: tuple[tuple[str, str], ...]


def evidence_of(record: Record) -> list[Evidence]:
    """In the order of the seats."""
    faults = record.footer.faults if record.footer else ()
    found = []
    for seat, fault in enumerate(faults):
        if fault is not None:
            single = {name: value for name, value in fault.items() if name not in (*_TEXTS, "reason", "detail")}
            values = tuple((one_line(name), one_line(_joined(value))) for name, value in single.items())
            texts = tuple((name, clean(fault[name], LONGEST)) for name in _TEXTS if fault.get(name))
            said = one_line(f"{fault.get('reason')}: {fault.get('detail', '')}".removesuffix(": "))
            found.append(Evidence(seat, str(fault.get("reason")), said, values, texts))
    return found


def _joined(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
