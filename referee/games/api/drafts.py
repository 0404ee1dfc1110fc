"""What makes values quick that are built, or written as messages, at every decision."""

from dataclasses import fields, make_dataclass
from functools import lru_cache
from typing import Any

from referee.games.api.contract import Event


def draft_of(cls: type[Any]) -> Any:
    """A twin of a frozen dataclass with slots that is not frozen.

    The constructor of a frozen class takes five times as long. So the twin is filled, all fields in order, and then
    becomes an instance of the class: `seen = DRAFT(...); seen.__class__ = Observation`.
    """
    return make_dataclass(f"{cls.__name__}Draft", [part.name for part in fields(cls)], slots=True)


class EncodedOnce:
    """Base of a frozen dataclass with slots whose values are sent again and again.

    It adds one slot, no part of the value, where the codec keeps the value's bytes (a class with slots has room for its
    fields only). Reading `encoded` before it was kept raises AttributeError.
    """

    __slots__ = ("encoded",)

    encoded: bytes

    def keep_encoded(self, data: bytes) -> bytes:
        """Keep the bytes with the value; returns them."""
        object.__setattr__(self, "encoded", data)
        return data


@lru_cache(maxsize=65536)
def event(payload_class: type[Any], *values: Any) -> Event:
    """The shared event with this payload, the same for every viewer."""
    return Event(payload_class(*values))
