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


class ActionText:
    """Formats and parses the action dataclasses of one game.

    Each class is frozen and carries `KIND: ClassVar[str]`; its fields are int, str, bool or tuple[int | str, ...].
    `parse(format(action)) == action`, and text that is accepted is exactly what `format` would print.
    """

    def __init__(self, classes: Sequence[type[Any]]) -> None:
        self._classes = {cls.KIND: cls for cls in classes}
        self._readers = {
            cls.KIND: {f.name: _reader(get_type_hints(cls)[f.name]) for f in fields(cls)} for cls in classes
        }

    def format(self, action: Any) -> str:
        inner = ",".join(f"{name}={_write(getattr(action, name))}" for name in self._readers[action.KIND])
        return f"{action.KIND}({inner})"

    def parse(self, text: str) -> Any:
        """Raises ActionSyntaxError, saying which part of the text is wrong."""
        shape = _SHAPE.fullmatch(text)
        if shape is None:
            raise ActionSyntaxError(f"{text[:200]!r} is not an action: expected kind(name=value,...)")
        kind, inner = shape.groups()
        if kind not in self._classes:
            raise ActionSyntaxError(
                f"unknown action kind '{kind}': expected one of {', '.join(self._classes)}"
            )
        readers = self._readers[kind]
        values: dict[str, Any] = {}
        at = 0
        for name, reader in readers.items():
            match = _FIELD.match(inner, at)
            if match is None or match[1] != name:
                raise ActionSyntaxError(
                    f"{text[:200]!r}: expected {kind}({', '.join(readers)}) in this order"
                )
            values[name] = reader(match[2])
            at = match.end()
        if at != len(inner) or inner.endswith(","):
            raise ActionSyntaxError(f"{text[:200]!r}: unexpected text after the last field of {kind}")
        return self._classes[kind](**values)


def _write(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ",".join(_write(item) for item in value) + "]"
    return str(value)


def _reader(kind: Any) -> Callable[[str], Any]:
    if get_origin(kind) is tuple:
        read_item = _reader(get_args(kind)[0])
        return lambda text: _read_tuple(text, read_item)
    readers: dict[Any, Callable[[str], Any]] = {bool: _read_bool, int: _read_int, str: _read_word}
    return readers[kind]


def _read_tuple(text: str, read_item: Callable[[str], Any]) -> tuple[Any, ...]:
    if not text.startswith("["):
        raise ActionSyntaxError(f"{text!r} is not a list like [1,2]")
    inner = text[1:-1]
    return tuple(read_item(item) for item in inner.split(",")) if inner else ()


def _read_bool(text: str) -> bool:
    if text not in ("true", "false"):
        raise ActionSyntaxError(f"{text!r} is neither true nor false")
    return text == "true"


def _read_int(text: str) -> int:
    if _INTEGER.fullmatch(text) is None:
        raise ActionSyntaxError(f"{text!r} is not an integer in canonical form")
    return int(text)


def _read_word(text: str) -> str:
    if _WORD.fullmatch(text) is None:
        raise ActionSyntaxError(f"{text!r} is not a name")
    return text
