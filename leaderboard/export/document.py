"""A match as JSON. `docs/match.schema.json` describes it."""

from dataclasses import asdict
from typing import Any

from leaderboard.frames import frames_of
from referee.record import Answer, Chance, Dropped, FaultLine, Record, Strike
from referee.record.format import Line
from referee.record.replay import FIRST_LINE
from referee.record.store import is_live

VERSION = 1
"""Goes up when a field changes its meaning or goes away; new fields may come without that."""

_KINDS: dict[type[Line], str] = {
    Chance: "chance",
    Answer: "answer",
    FaultLine: "fault",
    Strike: "strike",
    Dropped: "dropped",
}


_HIDDEN = frozenset({"outcome", "action", "note", "detail", "message"})
"""Fields of lines that may say what seats hide from each other."""


def match_document(record: Record, *, reveal: bool = False) -> dict[str, Any]:
    """The whole record, and what everybody saw happen at each step as far as it can be followed.

    Of a match that is not over, texts that may say what a seat must not know yet are empty, unless `reveal`.
    Texts are unchanged from the record: a caller that shows them must escape them.
    """
    frames = list(frames_of(record))
    secret = is_live(record.path) and not reveal
    return {
        "version": VERSION,
        "complete": record.complete,
        "problems": [asdict(problem) for problem in record.problems],
        "header": asdict(record.header),
        "lines": [
            {"line": number, "kind": _KINDS[type(line)], **_shown(asdict(line), secret=secret)}
            for number, line in enumerate(record.lines, FIRST_LINE)
        ],
        "footer": None if record.footer is None else asdict(record.footer),
        "steps": [{"step": frame.step, "events": list(frame.events)} for frame in frames if not frame.wrong],
        "wrong": frames[-1].wrong,
    }


def _shown(line: dict[str, Any], *, secret: bool) -> dict[str, Any]:
    return {name: "" if secret and name in _HIDDEN else value for name, value in line.items()}
