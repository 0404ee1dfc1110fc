"""Canonical action text: one ASCII string `kind(a=..,b=..)` per action, and back.

Values are integers, identifiers, true/false, and flat tuples of these written `[1,2]`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, get_args, get_origin, get_type_hints

from referee.games.api.errors import ActionSyntaxError

_SHAPE = re.compile(r"([a-z][a-z0-9_]*)\((.*)\)", re.ASCII)
_FIELD = re.compile(r"([a-z][a-z0-9_]*)=(\[[^\[\]]*\]|[^,\[\]]+)(?:,|$)", re.ASCII)
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,9}", re.ASCII)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*", re.ASCII)
_NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_QUOTED_CHARACTERS = 200


class ActionText:
    """Formats and parses the action dataclasses of one game.

    Each class is frozen and carries `KIND: ClassVar[str]`; its fields are int, str, bool or tuple[int | str, ...].
    `parse(format(action)) == action`, and text that is accepted is exactly what `format` would print.
    Raises TypeError for classes that cannot be written so.
    """

    def __init__(self, classes: Sequence[type[Any]]) -> None:
        self._classes = {cls.KIND: cls for cls in classes}
        if len(self._classes) != len(classes):
            raise TypeError(f"two action classes of one KIND: {[cls.KIND for cls in classes]}")
        self._readers = {cls.KIND: _readers(cls) for cls in classes}

    def format(self, action: Any) -> str:
        """ASCII without line breaks for any action of these classes.

        A text in it that is no identifier, which only a bot can have sent, is written in quotes and escaped.
        """
        inner = ",".join(f"{name}={_write(getattr(action, name))}" for name in self._readers[action.KIND])
        return f"{action.KIND}({inner})"

    def parse(self, text: str) -> Any:
        """Raises ActionSyntaxError, saying which part of the text is wrong."""
        shape = _SHAPE.fullmatch(text)
        if shape is None:
            raise ActionSyntaxError(f"{_quoted(text)} is not an action: expected kind(name=value,...)")
        kind, inner = shape.groups()
        if kind not in self._classes:
            raise ActionSyntaxError(f"unknown action kind {_quoted(kind)}: expected one of {', '.join(self._classes)}")
        readers = self._readers[kind]
        values: dict[str, Any] = {}
        at = 0
        for name, reader in readers.items():
            match = _FIELD.match(inner, at)
            if match is None or match[1] != name:
                raise ActionSyntaxError(f"{_quoted(text)}: expected {kind}({', '.join(readers)}) in this order")
            values[name] = reader(match[2])
            at = match.end()
        if at != len(inner) or inner.endswith(","):
            raise ActionSyntaxError(f"{_quoted(text)}: unexpected text after the last field of {kind}")
        return self._classes[kind](**values)


def _readers(cls: type[Any]) -> dict[str, Callable[[str], Any]]:
    """Per field the function that reads it. TypeError for what the grammar has no words for."""
    hints = get_type_hints(cls)
    for name in (cls.KIND, *(field.name for field in fields(cls))):
        if _NAME.fullmatch(name) is None:
            raise TypeError(f"{cls.__name__}: {name!r} cannot be written; expected a name like 'a_name'")
    return {field.name: _reader(hints[field.name], f"{cls.__name__}.{field.name}") for field in fields(cls)}


def _write(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ",".join([_write(item) for item in value]) + "]"
    if isinstance(value, str) and _WORD.fullmatch(value) is None:
        return _quoted(value)
    return str(value)


def _quoted(text: str) -> str:
    """For messages: printable ASCII, cut, whatever was sent."""
    return ascii(text[:_QUOTED_CHARACTERS])


def _reader(kind: Any, where: str) -> Callable[[str], Any]:
    readers: dict[Any, Callable[[str], Any]] = {bool: _read_bool, int: _read_int, str: _read_word}
    if get_origin(kind) is tuple:
        item, *rest = get_args(kind) or (None,)
        if rest == [...] and item in readers:
            return lambda text: _read_tuple(text, readers[item])
    elif kind in readers:
        return readers[kind]
    raise TypeError(f"{where}: {kind} cannot be written; expected int, str, bool or tuple[one of these, ...]")


def _read_tuple(text: str, read_item: Callable[[str], Any]) -> tuple[Any, ...]:
    if not text.startswith("["):
        raise ActionSyntaxError(f"{_quoted(text)} is not a list like [1,2]")
    inner = text[1:-1]
    return tuple(read_item(item) for item in inner.split(",")) if inner else ()


def _read_bool(text: str) -> bool:
    if text not in ("true", "false"):
        raise ActionSyntaxError(f"{_quoted(text)} is neither true nor false")
    return text == "true"


def _read_int(text: str) -> int:
    if _INTEGER.fullmatch(text) is None:
        raise ActionSyntaxError(f"{_quoted(text)} is not an integer in canonical form")
    return int(text)


def _read_word(text: str) -> str:
    if _WORD.fullmatch(text) is None:
        raise ActionSyntaxError(f"{_quoted(text)} is not a name")
    return text
