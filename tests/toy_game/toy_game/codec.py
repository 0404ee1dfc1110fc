"""The toy game's codec: JSON bytes. The contract asks for bytes, not for protobuf."""

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, get_args, get_origin, get_type_hints

from referee.games.api import ActionSyntaxError
from toy_game.actions import ACTION_CLASSES
from toy_game.seen import PAYLOAD_CLASSES, Observation


class ToyCodec:
    def encode_observation(self, observation: Any) -> bytes:
        return _encode(observation)

    def decode_observation(self, data: bytes) -> Any:
        return _decode(_parse(data), (Observation,))

    def encode_action(self, action: Any) -> bytes:
        return _encode(action)

    def decode_action(self, data: bytes) -> Any:
        return _decode(_parse(data), ACTION_CLASSES)

    def encode_actions(self, actions: Sequence[Any]) -> bytes:
        return b"[" + b",".join(_encode(action) for action in actions) + b"]"

    def decode_actions(self, data: bytes) -> tuple[Any, ...]:
        return tuple(_decode(item, ACTION_CLASSES) for item in _parse_list(data))

    def encode_events(self, payloads: Sequence[Any]) -> bytes:
        return b"[" + b",".join(_encode(payload) for payload in payloads) + b"]"

    def decode_events(self, data: bytes) -> tuple[Any, ...]:
        return tuple(_decode(item, PAYLOAD_CLASSES) for item in _parse_list(data))


def _encode(value: Any) -> bytes:
    named = {"kind": value.KIND} | {field.name: getattr(value, field.name) for field in fields(value)}
    return json.dumps(named, separators=(",", ":")).encode("ascii")


def _parse(data: bytes) -> Any:
    try:
        return json.loads(data.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise ActionSyntaxError(f"not JSON: {error}") from None


def _parse_list(data: bytes) -> list[Any]:
    parsed = _parse(data)
    if not isinstance(parsed, list):
        raise ActionSyntaxError("expected a JSON list")
    return parsed


def _decode(item: Any, classes: Sequence[type[Any]]) -> Any:
    if not isinstance(item, dict):
        raise ActionSyntaxError(f"expected a JSON object, not {type(item).__name__}")
    for cls in classes:
        if item.get("kind") == cls.KIND:
            hints = get_type_hints(cls)
            names = [field.name for field in fields(cls)]
            if set(item) != {"kind", *names}:
                raise ActionSyntaxError(f"{cls.KIND} has the fields {', '.join(names) or '(none)'}")
            return cls(**{name: _value(item[name], hints[name]) for name in names})
    raise ActionSyntaxError(f"unknown kind {item.get('kind')!r}")


def _value(value: Any, kind: Any) -> Any:
    if get_origin(kind) is tuple:
        if isinstance(value, list):
            return tuple(_value(each, get_args(kind)[0]) for each in value)
    elif type(value) is kind:
        return value
    raise ActionSyntaxError(f"{value!r} is not of type {kind}")
