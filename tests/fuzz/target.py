"""A parser that is fuzzed, with good input and the errors it documents."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """`run` returns when the input is good, and raises one of `errors` when it is not; anything else is a bug."""

    name: str
    corpus: Sequence[bytes]
    run: Callable[[bytes], object]
    errors: tuple[type[Exception], ...]


def as_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
