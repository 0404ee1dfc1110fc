"""The one action of these games, and its text `play(id=796,text='e2e4')`."""

import re
from dataclasses import dataclass, field
from typing import ClassVar

from referee.games.api import ActionSyntaxError

LARGEST_ID = (1 << 63) - 1
LONGEST_TEXT = 200
_SHAPE = re.compile(r"play\(id=(0|[1-9][0-9]{0,18})(?:,text='([ -&(-\[\]-~]{1,200})')?\)", re.ASCII)
_UNWRITABLE = re.compile(r"['\\]")


@dataclass(frozen=True, slots=True)
class Play:
    """OpenSpiel's action `id`. Actions with equal ids are equal: `text` is only its meaning in this position."""

    KIND: ClassVar[str] = "play"
    id: int
    text: str = field(default="", compare=False)


def format_action(action: Play) -> str:
    """`play(id=796,text='e2e4')`, or `play(id=796)` where the action has no text."""
    return f"play(id={action.id},text='{action.text}')" if action.text else f"play(id={action.id})"


def parse_action(text: str) -> Play:
    """Inverse of `format_action`. Raises ActionSyntaxError."""
    found = _SHAPE.fullmatch(text)
    if found is None or int(found[1]) > LARGEST_ID:
        raise ActionSyntaxError(f"{text[:LONGEST_TEXT]!a} is not an action: expected play(id=1,text='a1')")
    return Play(int(found[1]), found[2] or "")


def checked_play(number: int, text: str) -> Play:
    """The action that a message holds. Raises ActionSyntaxError for one that cannot be written."""
    action = Play(number, text)
    if number > LARGEST_ID or _SHAPE.fullmatch(format_action(action)) is None:
        raise ActionSyntaxError(f"action {number}: the text {text[:LONGEST_TEXT]!a} is none that a game writes")
    return action


def writable(text: str) -> str:
    """The text of an action, without the characters that `format_action` cannot write."""
    return _UNWRITABLE.sub(".", text)[:LONGEST_TEXT]
