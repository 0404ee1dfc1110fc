"""Frozen dataclasses made quickly, for the observations that are built at every decision."""

from dataclasses import fields, make_dataclass
from typing import Any


def draft_of(cls: type[Any]) -> Any:
    """A twin of a frozen dataclass with slots that is not frozen.

    The constructor of a frozen class takes five times as long. So the twin is filled, all fields in order, and then
    becomes an instance of the class: `seen = DRAFT(...); seen.__class__ = Observation`.
    """
    return make_dataclass(f"{cls.__name__}Draft", [part.name for part in fields(cls)], slots=True)
