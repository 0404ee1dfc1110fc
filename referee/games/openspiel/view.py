"""A position as OpenSpiel's text, actions and events as sentences."""

import re
from collections.abc import Sequence

from referee.games.api import ID_LIKE, seat_name
from referee.games.openspiel.actions import Play
from referee.games.openspiel.events import Acted, Chanced, OpenSpielEvent
from referee.games.openspiel.observation import Observation

_WIDTH = 100
_MOST_LINES = 200
_LONGEST = 250
_BY_NUMBER = re.compile(r"\bseat (?=\d)", re.IGNORECASE)


class TextView:
    """See `referee.games.api.View`."""

    def __init__(self, title: str) -> None:
        self._title = title

    def text_board(self, observation: Observation, names: Sequence[str] = ()) -> str:
        """At most 100 columns: a headline, and OpenSpiel's text with longer lines broken."""
        lines = [f"{self._title}: {headline(observation, names)}", ""]
        if observation.text:
            lines += observation.text.split("\n")
        elif observation.seat < 0:
            lines.append("What the seats see is hidden from spectators.")
        if observation.information and observation.information != observation.text:
            lines += ["", "All that this seat has seen:", *observation.information.split("\n")]
        wrapped = [part for line in lines for part in _broken(worded(line))]
        if len(wrapped) > _MOST_LINES:
            wrapped = [*wrapped[: _MOST_LINES - 1], f"and {len(wrapped) - _MOST_LINES + 1} more lines"]
        return "\n".join(wrapped)

    def action_sentence(self, action: Play, observation: Observation, names: Sequence[str] = ()) -> str:
        """The action as OpenSpiel writes it."""
        return _sentence(action.text or f"Action {action.id}")

    def event_sentence(self, payload: OpenSpielEvent, observation: Observation, names: Sequence[str] = ()) -> str:
        if isinstance(payload, Chanced):
            return _sentence(f"chance: {payload.text or payload.id}")
        who = seat_name(names, payload.seat)
        if isinstance(payload, Acted):
            return _sentence(f"{who} plays {_after(worded(payload.text)) or payload.id}")
        return f"{who} leaves the match"


def headline(observation: Observation, names: Sequence[str]) -> str:
    """Who is to act, or the result."""
    if observation.over:
        points = ", ".join(f"{seat_name(names, seat)} {points}" for seat, points in enumerate(observation.returns))
        return f"over, points: {points}"
    if not observation.asked:
        return "chance decides"
    who = [seat_name(names, seat) for seat in observation.asked]
    return f"{' and '.join(who)} to act"


def worded(line: str) -> str:
    """The line without what looks like an id: current_player becomes 'current player', T10 'T 10'."""
    while found := ID_LIKE.search(line):
        text = found[0]
        line = line.replace(text, text.replace("_", " ") if "_" in text else f"{text[0]} {text[1:]}")
    return line


def _after(text: str) -> str:
    """Names stand where OpenSpiel has the numbers of seats."""
    return _BY_NUMBER.sub("player ", text)


def _sentence(text: str) -> str:
    sentence = _after(worded(text))
    return sentence if len(sentence) <= _LONGEST else f"{sentence[:_LONGEST]}..."


def _broken(line: str) -> list[str]:
    """The line in pieces that fit."""
    pieces = []
    rest = line.rstrip()
    while len(rest) > _WIDTH:
        at = rest.rfind(" ", 1, _WIDTH + 1)
        at = at if at > _WIDTH // 2 else _WIDTH
        pieces.append(rest[:at].rstrip())
        rest = rest[at:].lstrip()
    return [*pieces, rest]
